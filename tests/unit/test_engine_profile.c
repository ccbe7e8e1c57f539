/* test_engine_profile.c - events sorted into runs, what is allocated counted, and both asked of a
 * real ONNX Runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "engine/ort_trace.h"
#include "engine/ort_watch.h"
#include "deepclock/model.h"
#include "fault_alloc.h"

#include <dirent.h>
#include <pthread.h>

extern const dck_engine engine_ort;

/* --- runs */

typedef struct grouped {
	mem_arena *arena;
	dck_profile p;
	dck_err err;
} grouped;

static grouped group(const ort_trace_op *ops, size_t nops, const ort_trace_run *runs, size_t nruns,
		     const ort_runs *made)
{
	grouped g = {.arena = mem_arena_new(0)};
	ort_trace_op op[32];
	ort_trace_run run[8];

	assert_true(nops <= 32 && nruns <= 8);
	for (size_t i = 0; i < nops; i++)
		op[i] = ops[i];
	for (size_t i = 0; i < nruns; i++)
		run[i] = runs[i];
	const ort_trace t = {.ops = op, .nops = nops, .runs = run, .nruns = nruns};
	if (ort_profile_group(&t, made, g.arena, &g.p, &g.err) == DCK_OK)
		assert_int_equal(g.err.code, DCK_OK);
	return g;
}

static void done(grouped *g)
{
	mem_arena_free(g->arena);
}

/* name, begin, duration, type, thread */
#define OP(n, b, d, t, th)                                                           \
	{                                                                            \
		.name = n, .type = t, .thread = th, .begin_us = b, .duration_us = d, \
		.memory_bytes = INT64_MIN                                            \
	}
#define OPS(...)                             \
	(const ort_trace_op[]){__VA_ARGS__}, \
	    sizeof((ort_trace_op[]){__VA_ARGS__}) / sizeof(ort_trace_op)
#define RUNS(...)                             \
	(const ort_trace_run[]){__VA_ARGS__}, \
	    sizeof((ort_trace_run[]){__VA_ARGS__}) / sizeof(ort_trace_run)

/* "0:a 0:b 1:a": run and name of each, in order; '>' for each level of depth. */
static const char *told(const grouped *g)
{
	static char text[1000];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < g->p.nevents; i++) {
		const dck_op_event *e = &g->p.events[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llu:%.*s%s", i ? " " : "",
				      (unsigned long long)e->run, (int)e->depth, ">>>>", e->name);
	}
	return text;
}

static void runs_have_their_operators(void **state)
{
	grouped g = group(OPS(OP("a", 10, 5, "Add", 1), OP("b", 16, 3, NULL, 1),
			      OP("a", 40, 5, "Add", 1), OP("b", 46, 3, NULL, 1)),
			  RUNS({1, 8, 14, 2}, {1, 38, 16, 4}), NULL);

	(void)state;
	assert_string_equal(told(&g), "0:a 0:b 1:a 1:b");
	assert_int_equal(g.p.flags, 0);
	assert_int_equal(g.p.nruns, 2);
	assert_int_equal(g.p.run_ns[0], 14000);
	assert_int_equal(g.p.run_ns[1], 16000);
	assert_int_equal(g.p.resolution_ns, 1000);
	assert_int_equal(g.p.events[0].begin_ns, 10000);
	assert_int_equal(g.p.events[0].duration_ns, 5000);
	assert_string_equal(g.p.events[0].type, "Add");
	assert_string_equal(g.p.events[1].type, "");
	assert_null(g.p.events[0].provider);
	assert_true(g.p.events[0].memory_bytes == INT64_MIN);
	assert_null(g.p.model_path);
	done(&g);
}

/* Of short runs, the microsecond in which one ends is the one in which the next begins. */
static void the_order_of_ends_decides_at_a_border(void **state)
{
	grouped g = group(OPS(OP("a", 10, 2, NULL, 1), OP("b", 12, 1, NULL, 1),
			      OP("a", 13, 0, NULL, 1), OP("b", 13, 2, NULL, 1)),
			  RUNS({1, 10, 3, 2}, {1, 13, 2, 4}), NULL);

	(void)state;
	assert_string_equal(told(&g), "0:a 0:b 1:b 1:a");
	assert_int_equal(g.p.flags, 0);
	done(&g);
}

static void lost_events_are_told(void **state)
{
	ort_runs made = {0};

	(void)state;
	/* The third run began, and then the profiler was full. */
	grouped g =
	    group(OPS(OP("a", 10, 2, NULL, 1), OP("a", 20, 2, NULL, 1), OP("a", 30, 2, NULL, 1)),
		  RUNS({1, 9, 5, 1}, {1, 19, 5, 2}), NULL);
	assert_string_equal(told(&g), "0:a 1:a");
	assert_int_equal(g.p.flags, DCK_PROFILE_TRUNCATED);
	done(&g);
	/* It was full right after the second: nothing in the file says so. */
	made.ended = 3;
	g = group(OPS(OP("a", 10, 2, NULL, 1), OP("a", 20, 2, NULL, 1)),
		  RUNS({1, 9, 5, 1}, {1, 19, 5, 2}), &made);
	assert_string_equal(told(&g), "0:a 1:a");
	assert_int_equal(g.p.flags, DCK_PROFILE_TRUNCATED);
	done(&g);
	made.ended = 2;
	g = group(OPS(OP("a", 10, 2, NULL, 1), OP("a", 20, 2, NULL, 1)),
		  RUNS({1, 9, 5, 1}, {1, 19, 5, 2}), &made);
	assert_int_equal(g.p.flags, 0);
	done(&g);
	/* The first event of a run that is lost begins where the run before it ended. */
	g = group(OPS(OP("a", 10, 2, NULL, 1), OP("a", 14, 2, NULL, 1)), RUNS({1, 9, 5, 1}), NULL);
	assert_string_equal(told(&g), "0:a");
	assert_int_equal(g.p.flags, DCK_PROFILE_TRUNCATED);
	done(&g);
}

static void runs_that_failed_are_left_out(void **state)
{
	ort_runs made = {.ended = 3, .failures = 1, .failed = {1}};

	(void)state;
	grouped g =
	    group(OPS(OP("a", 10, 2, NULL, 1), OP("x", 20, 2, NULL, 1), OP("a", 30, 2, NULL, 1)),
		  RUNS({1, 9, 5, 1}, {1, 19, 5, 2}, {1, 29, 6, 3}), &made);
	assert_string_equal(told(&g), "0:a 1:a");
	assert_int_equal(g.p.flags, 0);
	assert_int_equal(g.p.nruns, 2);
	assert_int_equal(g.p.run_ns[1], 6000);
	done(&g);
	/* The same, when ONNX Runtime does not write runs that failed. */
	g = group(OPS(OP("a", 10, 2, NULL, 1), OP("x", 20, 2, NULL, 1), OP("a", 30, 2, NULL, 1)),
		  RUNS({1, 9, 5, 1}, {1, 29, 6, 3}), &made);
	assert_string_equal(told(&g), "0:a 1:a");
	assert_int_equal(g.p.flags, 0);
	done(&g);
	made.failures = made.ended = ORT_FAILURES_MAX + 1;
	g = group(OPS(OP("a", 10, 2, NULL, 1)), RUNS({1, 9, 5, 1}), &made);
	assert_int_equal(g.err.code, DCK_E_ENGINE);
	assert_non_null(strstr(g.err.msg, "more than 64 runs failed"));
	done(&g);
}

static void bodies_are_within_their_operators(void **state)
{
	grouped g = group(OPS(OP("first", 10, 2, "Add", 1), OP("body", 21, 3, "Add", 1),
			      OP("then", 27, 2, "Neg", 1), OP("if", 26, 4, "If", 1),
			      OP("body", 31, 3, "Add", 1), OP("loop", 20, 16, "Loop", 1),
			      OP("last", 36, 1, "Add", 1)),
			  RUNS({1, 9, 40, 7}), NULL);

	(void)state;
	assert_string_equal(told(&g), "0:first 0:loop 0:>body 0:>if 0:>>then 0:>body 0:last");
	done(&g);
	/* Side by side is not within: another thread, or no graph inside. */
	g = group(OPS(OP("b", 21, 3, "Add", 2), OP("c", 22, 3, "Add", 1), OP("a", 20, 9, "Conv", 1),
		      OP("l", 20, 9, "Loop", 3)),
		  RUNS({1, 9, 40, 4}), NULL);
	assert_string_equal(told(&g), "0:l 0:a 0:b 0:c");
	done(&g);
}

static void runs_side_by_side_are_told_apart_by_threads(void **state)
{
	grouped g =
	    group(OPS(OP("a", 10, 2, NULL, 1), OP("a", 11, 2, NULL, 2), OP("b", 13, 2, NULL, 1),
		      OP("b", 14, 2, NULL, 2), OP("a", 21, 2, NULL, 1)),
		  RUNS({1, 9, 8, 3}, {2, 10, 8, 4}, {1, 20, 4, 5}), NULL);

	(void)state;
	assert_string_equal(told(&g), "0:a 0:b 1:a 1:b 2:a");
	assert_int_equal(g.p.events[0].begin_ns, 10000);
	assert_int_equal(g.p.events[2].begin_ns, 11000);
	done(&g);
	/* Workers made the operators of both. */
	g = group(OPS(OP("a", 12, 2, NULL, 7), OP("b", 13, 2, NULL, 8)),
		  RUNS({1, 9, 8, 2}, {2, 10, 8, 2}), NULL);
	assert_int_equal(g.err.code, DCK_E_UNSUP);
	assert_non_null(strstr(g.err.msg, "one run at a time"));
	done(&g);
	/* Workers, but one run after the other. */
	g = group(OPS(OP("a", 12, 2, NULL, 7), OP("b", 22, 2, NULL, 8)),
		  RUNS({1, 9, 8, 1}, {2, 17, 8, 2}), NULL);
	assert_string_equal(told(&g), "0:a 1:b");
	done(&g);
}

static void devices_give_their_own_time(void **state)
{
	ort_trace_op ops[] = {OP("a", 10, 2, NULL, 1), OP("b", 12, 2, NULL, 1),
			      OP("c", 14, 2, NULL, 1)};
	ops[0].provider = ops[1].provider = "CUDAExecutionProvider";
	ops[2].provider = "CPUExecutionProvider";
	ops[0].has_device = true;
	ops[0].device_us = 77;
	grouped g = group(ops, 3, RUNS({1, 9, 8, 3}), NULL);

	(void)state;
	assert_int_equal(g.p.flags, DCK_PROFILE_DEVICE_TIME);
	assert_int_equal(g.p.events[0].duration_ns, 77000);
	assert_int_equal(g.p.events[1].duration_ns, 0);
	assert_int_equal(g.p.events[2].duration_ns, 2000);
	done(&g);
}

static void nothing_gives_nothing(void **state)
{
	grouped g = {.arena = mem_arena_new(0)};
	const ort_trace t = {0};

	(void)state;
	assert_int_equal(ort_profile_group(&t, NULL, g.arena, &g.p, &g.err), DCK_OK);
	assert_int_equal(g.p.nruns, 0);
	assert_int_equal(g.p.nevents, 0);
	assert_int_equal(g.p.flags, 0);
	done(&g);
}

/* --- the counting allocator, with a library of ours around it */

static struct {
	ort_allocator_table *registered;
	int made, entries;
	bool refuse;
} fake;

static ort_status *fake_memory_info(const char *name, int allocator, int id, int type,
				    ort_memory **ret)
{
	assert_string_equal(name, "Cpu");
	assert_true(allocator == ORT_ALLOCATOR_DEVICE && id == 0 && type == ORT_MEMORY_DEFAULT);
	fake.made++;
	*ret = (ort_memory *)&fake;
	return NULL;
}

static void fake_memory_release(ort_memory *m)
{
	assert_ptr_equal(m, &fake);
	fake.made--;
}

static ort_status *fake_entry(ort_options *o, const char *key, const char *value)
{
	(void)o;
	assert_string_equal(key, "session.use_env_allocators");
	assert_string_equal(value, "1");
	fake.entries++;
	return NULL;
}

static ort_status *fake_register(ort_env *e, ort_allocator_table *a)
{
	(void)e;
	if (fake.refuse)
		return (ort_status *)&fake;
	assert_null(fake.registered);
	fake.registered = a;
	return NULL;
}

static ort_status *fake_unregister(ort_env *e, const ort_memory *m)
{
	(void)e;
	assert_ptr_equal(m, &fake);
	assert_non_null(fake.registered);
	fake.registered = NULL;
	return NULL;
}

static const char *fake_message(const ort_status *s)
{
	(void)s;
	return "it is there already";
}

static int fake_code(const ort_status *s)
{
	(void)s;
	return 1;
}

static void fake_release(ort_status *s)
{
	(void)s;
}

static ort_lib fake_lib(void)
{
	memset(&fake, 0, sizeof(fake));
	return (ort_lib){.api = {.CreateMemoryInfo = fake_memory_info,
				 .ReleaseMemoryInfo = fake_memory_release,
				 .AddSessionConfigEntry = fake_entry,
				 .RegisterAllocator = fake_register,
				 .UnregisterAllocator = fake_unregister,
				 .GetErrorMessage = fake_message,
				 .GetErrorCode = fake_code,
				 .ReleaseStatus = fake_release},
			 .version = "1.22.0"};
}

static dck_memory counted(const ort_lib *l, const ort_counter *c)
{
	dck_memory m = {.struct_size = sizeof(m)};
	dck_err err;

	assert_int_equal(ort_memory_get(l, NULL, "cpu", 0, c, &m, &err), DCK_OK);
	assert_int_equal(m.valid,
			 DCK_MEMORY_IN_USE | DCK_MEMORY_PEAK | DCK_MEMORY_ALLOCS | DCK_MEMORY_RUN);
	return m;
}

static void allocations_are_counted(void **state)
{
	ort_lib l = fake_lib();
	ort_counter *c;
	dck_err err;

	(void)state;
	assert_int_equal(ort_counter_new(&l, NULL, &c, &err), DCK_OK);
	ort_allocator_table *a = fake.registered;
	assert_non_null(a);
	assert_int_equal(a->version, ORT_ALLOCATOR_VERSION);
	assert_ptr_equal(a->info(a), &fake);
	ort_counter_settle(c);
	assert_null(fake.registered);
	ort_counter_settle(c); /* once is enough */

	void *weights = a->reserve(a, 1000);
	ort_counter_run_begins(c);
	unsigned char *x = a->alloc(a, 100), *y = a->alloc(a, 50);
	assert_int_equal((uintptr_t)x % 256, 0);
	assert_int_equal((uintptr_t)y % 256, 0);
	memset(x, 1, 100);
	memset(y, 2, 50);
	a->free(a, x);
	void *z = a->alloc(a, 60);
	dck_memory m = counted(&l, c);
	assert_int_equal(m.in_use_bytes, 1110);
	assert_int_equal(m.peak_bytes, 1150);
	assert_int_equal(m.run_peak_bytes, 150);
	assert_int_equal(m.allocs, 3);

	/* What is left over from the run before is there when the next begins. */
	ort_counter_run_begins(c);
	a->free(a, z);
	z = a->alloc(a, 80);
	m = counted(&l, c);
	assert_int_equal(m.run_peak_bytes, 20);
	assert_int_equal(m.peak_bytes, 1150);
	assert_int_equal(m.allocs, 1);
	assert_null(a->alloc(a, 0));
	assert_null(a->alloc(a, SIZE_MAX - 10));
	a->free(a, NULL);
	a->free(a, y);
	a->free(a, z);
	a->free(a, weights);
	assert_int_equal(counted(&l, c).in_use_bytes, 0);
	ort_counter_free(c);
	assert_int_equal(fake.made, 0);
	ort_counter_free(NULL);
}

static void only_one_counter_is_made_at_a_time(void **state)
{
	ort_lib l = fake_lib();
	ort_counter *c = NULL;
	dck_err err;

	(void)state;
	fake.refuse = true;
	assert_int_equal(ort_counter_new(&l, NULL, &c, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "one model at a time can be opened so"));
	assert_null(c);
	assert_int_equal(fake.made, 0);
}

static void old_libraries_have_no_statistics(void **state)
{
	ort_lib l = fake_lib();
	dck_memory m;
	dck_err err;

	(void)state;
	assert_int_equal(ort_memory_get(&l, NULL, "cpu", 0, NULL, &m, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "ONNX Runtime 1.22.0 does not tell how much memory"));
}

#define THREADS 4
#define TIMES	2000

static void *allocate_often(void *self)
{
	ort_allocator_table *a = self;

	for (int i = 0; i < TIMES; i++) {
		char *p = a->alloc(a, 64), *q = a->alloc(a, 36);
		p[0] = q[0] = 1;
		a->free(a, p);
		a->free(a, q);
	}
	return NULL;
}

static void threads_may_allocate_at_a_time(void **state)
{
	ort_lib l = fake_lib();
	ort_counter *c;
	pthread_t thread[THREADS];
	dck_err err;

	(void)state;
	assert_int_equal(ort_counter_new(&l, NULL, &c, &err), DCK_OK);
	ort_allocator_table *a = fake.registered;
	ort_counter_settle(c);
	ort_counter_run_begins(c);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, allocate_often, a), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	dck_memory m = counted(&l, c);
	assert_int_equal(m.in_use_bytes, 0);
	assert_int_equal(m.allocs, THREADS * TIMES * 2);
	assert_true(m.run_peak_bytes >= 100 && m.run_peak_bytes <= THREADS * 100);
	ort_counter_free(c);
}

/* --- a real library */

static char folder[] = "profile-XXXXXX";

static int folder_make(void **state)
{
	(void)state;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	return mkdtemp(folder) == NULL;
}

static int folder_remove(void **state)
{
	DIR *d = opendir(folder);

	(void)state;
	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	return rmdir(folder);
}

typedef struct opened {
	dck_engine_model *m;
	dck_engine_context *c;
	char log[1000];
} opened;

static void hear(void *self, dck_log_level level, const char *text)
{
	opened *o = self;

	(void)level;
	snprintf(o->log, sizeof(o->log), "%s", text);
}

static dck_status open_watched(opened *o, const wire_out *w, uint32_t observe, const dck_kv *option,
			       dck_err *err)
{
	const dck_kv options[] = {{"threads", "1"}, option ? *option : (dck_kv){"opt", "all"}};
	const dck_open_params p = {.struct_size = sizeof(p),
				   .model_bytes = w->data,
				   .model_bytes_n = w->n,
				   .options = options,
				   .noptions = 2,
				   .log = hear,
				   .log_self = o,
				   .observe = observe,
				   .work_dir = folder};

	*o = (opened){0};
	return engine_ort.open(&p, &o->m, err);
}

static void bind(opened *o, const dck_tensor *t)
{
	dck_err err = {0};

	if (!o->c)
		assert_int_equal(engine_ort.context_new(o->m, &o->c, &err), DCK_OK);
	assert_int_equal(engine_ort.bind_input(o->c, 0, t, &err), DCK_OK);
	assert_int_equal(engine_ort.prepare(o->c, &err), DCK_OK);
}

static void closed(opened *o)
{
	engine_ort.context_free(o->c);
	engine_ort.close(o->m);
}

/* y = Relu(Neg(x)), in a loop of three; nodes have the names that no format likes. */
#define ODD_NAME "a \"b\", \\c\nd\",\"args\" : {"

static void put_named(wire_out *w, const char *op, const char *inputs, const char *outputs,
		      const char *name)
{
	size_t at = node_begin(w, op, inputs, outputs);

	wire_put_text(w, 3, name);
	wire_end(w, at);
}

/* An initializer of one element without dimensions. */
static void put_scalar(wire_out *w, const char *name, int64_t dtype, int64_t v)
{
	size_t at = wire_begin(w, 5);

	wire_put_int(w, 2, dtype);
	wire_put_int(w, dtype == ONNX_INT64 ? 7 : 5, v);
	wire_put_text(w, 8, name);
	wire_end(w, at);
}

static wire_out model_loop(void)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w), node, attribute, body;

	put_named(&w, "Exp", "x", "e", ODD_NAME);
	node = node_begin(&w, "Loop", "n more e", "l");
	wire_put_text(&w, 3, "loop");
	attribute = wire_begin(&w, 5);
	wire_put_text(&w, 1, "body");
	wire_put_int(&w, 20, ONNX_ATTR_GRAPH);
	body = wire_begin(&w, 6);
	put_named(&w, "Identity", "c", "c2", "keep");
	put_named(&w, "Relu", "s", "s2", "inside");
	wire_put_text(&w, 2, "body");
	put_value(&w, 11, "i", ONNX_INT64, 0, NULL);
	put_value(&w, 11, "c", ONNX_BOOL, 0, NULL);
	put_value(&w, 11, "s", ONNX_FLOAT, DIMS(-1, 3));
	put_value(&w, 12, "c2", ONNX_BOOL, 0, NULL);
	put_value(&w, 12, "s2", ONNX_FLOAT, DIMS(-1, 3));
	wire_end(&w, body);
	wire_end(&w, attribute);
	wire_end(&w, node);
	put_node(&w, "Neg", "l", "y");
	wire_put_text(&w, 2, "g");
	put_scalar(&w, "n", ONNX_INT64, 3);
	put_scalar(&w, "more", ONNX_BOOL, 1);
	put_value(&w, 11, "x", ONNX_FLOAT, DIMS(-1, 3));
	put_value(&w, 12, "y", ONNX_FLOAT, DIMS(-1, 3));
	graph_end(&w, graph);
	assert_false(w.failed);
	return w;
}

static size_t count_of(const dck_profile *p, uint64_t run, const char *name, uint32_t depth)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nevents; i++)
		n += p->events[i].run == run && p->events[i].depth == depth &&
		     strcmp(p->events[i].name, name) == 0;
	return n;
}

static void profiles_tell_every_run(void **state)
{
	wire_out w = model_loop();
	float x[6] = {1, 2, 3, 4, 5, 6};
	dck_tensor t = floats(x, 2, 2, 3);
	dck_profile p = {.struct_size = sizeof(p)}, again;
	onnx_model *graph;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	ear e = ear_open();
	assert_int_equal(open_watched(&o, &w, DCK_OBSERVE_OPERATORS, NULL, &err), DCK_OK);
	bind(&o, &t);
	for (int i = 0; i < 5; i++)
		assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.profile(o.m, &p, &err), DCK_OK);
	ear_close_silent(e);
	assert_string_equal(o.log, "");
	assert_int_equal(p.nruns, 5);
	assert_int_equal(p.flags, 0);
	assert_int_equal(p.nevents, 5 * (3 + 3 * 2));
	for (uint64_t run = 0; run < 5; run++) {
		uint64_t sum_ns = 0;

		assert_int_equal(count_of(&p, run, ODD_NAME, 0), 1);
		assert_int_equal(count_of(&p, run, "loop", 0), 1);
		assert_int_equal(count_of(&p, run, "inside", 1), 3);
		assert_int_equal(count_of(&p, run, "keep", 1), 3);
		/* One without a name gets its type and its place. */
		assert_int_equal(count_of(&p, run, "Neg_2", 0), 1);
		for (size_t i = 0; i < p.nevents; i++)
			if (p.events[i].run == run && p.events[i].depth == 0)
				sum_ns += p.events[i].duration_ns;
		assert_true(sum_ns <= p.run_ns[run] + p.resolution_ns);
	}
	for (size_t i = 0; i < p.nevents; i++)
		assert_string_equal(p.events[i].provider, "CPUExecutionProvider");
	/* The graph that ran. */
	assert_non_null(p.model_path);
	mem_arena *a = mem_arena_new(0);
	assert_int_equal(onnx_read_file(p.model_path, a, &graph, &err), DCK_OK);
	assert_int_equal(graph->graph->nnodes, 3);
	assert_string_equal(graph->graph->nodes[0].name, ODD_NAME);
	mem_arena_free(a);
	/* Asked again, it is the same. */
	assert_int_equal(engine_ort.profile(o.m, &again, &err), DCK_OK);
	assert_memory_equal(&p, &again, sizeof(p));
	closed(&o);
	wire_out_done(&w);
}

/* A new shape makes ONNX Runtime refuse the old output, and our engine run again. */
static void failed_runs_are_no_part_of_a_profile(void **state)
{
	wire_out w = model_nonzero();
	float x[4] = {1, 0, 1, 1};
	dck_tensor t = floats(x, 1, 4, 0);
	dck_profile p;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	assert_int_equal(open_watched(&o, &w, DCK_OBSERVE_OPERATORS, NULL, &err), DCK_OK);
	bind(&o, &t);
	assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	x[0] = 0;
	assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.profile(o.m, &p, &err), DCK_OK);
	assert_int_equal(p.nruns, 3);
	assert_int_equal(p.nevents, 3);
	assert_int_equal(p.flags, 0);
	closed(&o);
	wire_out_done(&w);
}

static void what_was_not_asked_for_is_not_told(void **state)
{
	wire_out w = model_twice();
	dck_open_params params = {.struct_size = sizeof(params),
				  .model_bytes = w.data,
				  .model_bytes_n = w.n,
				  .observe = DCK_OBSERVE_OPERATORS};
	dck_engine_model *m = NULL;
	dck_profile p;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	assert_int_equal(engine_ort.open(&params, &m, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "a profile needs a folder"));
	assert_int_equal(open_watched(&o, &w, 0, NULL, &err), DCK_OK);
	assert_int_equal(engine_ort.profile(o.m, &p, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "was not opened to be profiled"));
	closed(&o);
	wire_out_done(&w);
}

/* It opens all the same, and says that there is no graph. */
static void a_graph_that_cannot_be_saved_is_told(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3};
	dck_tensor t = floats(x, 2, 1, 3);
	char in_the_way[100];
	dck_profile p;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	snprintf(in_the_way, sizeof(in_the_way), "%s/graph.onnx", folder);
	unlink(in_the_way);
	assert_int_equal(symlink("no/such/folder/x", in_the_way), 0);
	ear e = ear_open();
	assert_int_equal(open_watched(&o, &w, DCK_OBSERVE_OPERATORS, NULL, &err), DCK_OK);
	assert_non_null(strstr(o.log, "the optimised graph could not be saved"));
	bind(&o, &t);
	assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.profile(o.m, &p, &err), DCK_OK);
	ear_close_silent(e);
	assert_null(p.model_path);
	assert_int_equal(p.nevents, 1);
	closed(&o);
	unlink(in_the_way);
	/* A model that is none fails for its own reason. */
	const wire_out bad = {.data = (uint8_t *)"\001\002\003", .n = 3};
	assert_int_equal(open_watched(&o, &bad, DCK_OBSERVE_OPERATORS, NULL, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "refuses the model"));
	wire_out_done(&w);
}

static void need_statistics(dck_status status, const dck_err *err)
{
	if (status != DCK_E_UNSUP)
		return;
	print_message("skipped: %s\n", err->msg);
	skip();
}

/* Of N x 3 numbers in, as many come out: 12 N bytes. */
static void memory_is_counted_exactly(void **state)
{
	wire_out w = model_of("Exp", "x", ELEMENT_FLOAT, DIMS(-1, 3), ELEMENT_FLOAT, DIMS(-1, 3));
	static float x[3000];
	dck_tensor t = floats(x, 2, 1000, 3);
	dck_memory m = {.struct_size = sizeof(m)};
	opened o, other;
	dck_err err = {0};

	(void)state;
	need_ort();
	ear e = ear_open();
	assert_int_equal(open_watched(&o, &w, DCK_OBSERVE_MEMORY, NULL, &err), DCK_OK);
	/* Another one may be opened while the first is there, of either kind. */
	assert_int_equal(open_watched(&other, &w, DCK_OBSERVE_MEMORY, NULL, &err), DCK_OK);
	closed(&other);
	bind(&o, &t);
	assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.memory(o.m, &m, &err), DCK_OK);
	assert_int_equal(m.valid,
			 DCK_MEMORY_IN_USE | DCK_MEMORY_PEAK | DCK_MEMORY_ALLOCS | DCK_MEMORY_RUN);
	assert_int_equal(m.run_peak_bytes, 12000);
	assert_int_equal(m.allocs, 1);
	assert_int_equal(m.in_use_bytes, 12000);
	/* The output is there already. */
	assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.memory(o.m, &m, &err), DCK_OK);
	assert_int_equal(m.run_peak_bytes, 0);
	assert_int_equal(m.allocs, 0);
	/* A session of later is not counted with, and has an arena. */
	assert_int_equal(open_watched(&other, &w, 0, NULL, &err), DCK_OK);
	bind(&other, &t);
	assert_int_equal(engine_ort.run(other.c, &err), DCK_OK);
	assert_int_equal(engine_ort.memory(o.m, &m, &err), DCK_OK);
	assert_int_equal(m.in_use_bytes, 12000);
	closed(&o);
	dck_status status = engine_ort.memory(other.m, &m, &err);
	closed(&other);
	ear_close_silent(e);
	wire_out_done(&w);
	need_statistics(status, &err);
	assert_int_equal(status, DCK_OK);
	assert_int_equal(m.valid, DCK_MEMORY_IN_USE | DCK_MEMORY_PEAK | DCK_MEMORY_RESERVED);
	assert_true(m.in_use_bytes >= 12000 && m.in_use_bytes <= m.peak_bytes);
	assert_true(m.peak_bytes <= m.reserved_bytes);
}

static void no_arena_keeps_no_account(void **state)
{
	wire_out w = model_twice();
	dck_memory m;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	assert_int_equal(open_watched(&o, &w, 0, &(dck_kv){"arena", "0"}, &err), DCK_OK);
	dck_status status = engine_ort.memory(o.m, &m, &err);
	closed(&o);
	wire_out_done(&w);
	need_statistics(status, &err);
	assert_int_equal(status, DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "its arena is off"));
}

static void each_allocation_may_fail(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3};
	dck_tensor t = floats(x, 2, 1, 3);
	size_t n = 1;

	(void)state;
	need_ort();
	for (bool good = false; !good; n++) {
		fault_alloc f;
		dck_profile p;
		opened o;
		dck_err err = {0};

		assert_true(n < 1000);
		fault_alloc_begin(&f, n);
		dck_status status = open_watched(&o, &w, DCK_OBSERVE_OPERATORS, NULL, &err);
		if (status == DCK_OK)
			status = engine_ort.context_new(o.m, &o.c, &err);
		if (status == DCK_OK)
			status = engine_ort.bind_input(o.c, 0, &t, &err);
		if (status == DCK_OK)
			status = engine_ort.run(o.c, &err);
		if (status == DCK_OK)
			status = engine_ort.profile(o.m, &p, &err);
		good = f.calls < n;
		/* The search for the library does without some of its memory. */
		if (status != DCK_OK)
			assert_int_equal(status, DCK_E_NOMEM);
		closed(&o);
		assert_int_equal(f.out, 0);
		dck_set_allocator(NULL);
	}
	assert_true(n > 15);
	wire_out_done(&w);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_have_their_operators),
	    cmocka_unit_test(the_order_of_ends_decides_at_a_border),
	    cmocka_unit_test(lost_events_are_told),
	    cmocka_unit_test(runs_that_failed_are_left_out),
	    cmocka_unit_test(bodies_are_within_their_operators),
	    cmocka_unit_test(runs_side_by_side_are_told_apart_by_threads),
	    cmocka_unit_test(devices_give_their_own_time),
	    cmocka_unit_test(nothing_gives_nothing),
	    cmocka_unit_test(allocations_are_counted),
	    cmocka_unit_test(only_one_counter_is_made_at_a_time),
	    cmocka_unit_test(old_libraries_have_no_statistics),
	    cmocka_unit_test(threads_may_allocate_at_a_time),
	    IN_FOLDER(profiles_tell_every_run),
	    IN_FOLDER(failed_runs_are_no_part_of_a_profile),
	    IN_FOLDER(what_was_not_asked_for_is_not_told),
	    IN_FOLDER(a_graph_that_cannot_be_saved_is_told),
	    IN_FOLDER(memory_is_counted_exactly),
	    IN_FOLDER(no_arena_keeps_no_account),
	    IN_FOLDER(each_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
