/* test_engine_profile.c - events grouped into runs, also those of a real ONNX Runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_watch.h"

#include "device/cuda_work.h"
#include "engine/ort/ort_trace.h"
#include "fault_alloc.h"

#include <pthread.h>

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
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu:%.*s%s", i ? " " : "",
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
	assert_int_equal(g.p.run_begin_ns[0], 8000);
	assert_int_equal(g.p.run_begin_ns[1], 38000);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(g.p.threads[i], 1);
	done(&g);
}

/* With short runs, the microsecond in which one run ends is the start of the next. */
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
	/* The third run started, and then the profiler was full. */
	grouped g =
	    group(OPS(OP("a", 10, 2, NULL, 1), OP("a", 20, 2, NULL, 1), OP("a", 30, 2, NULL, 1)),
		  RUNS({1, 9, 5, 1}, {1, 19, 5, 2}), NULL);
	assert_string_equal(told(&g), "0:a 1:a");
	assert_int_equal(g.p.flags, DCK_PROFILE_TRUNCATED);
	done(&g);
	/* The profiler was full right after the second run: the file has no mark of it. */
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
	/* The first event of a lost run starts where the previous run ended. */
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
	/* The same, when ONNX Runtime does not write failed runs. */
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
	/* Side by side is not nested: another thread, or an operator without a graph inside. */
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
	/* Worker threads ran the operators of both runs. */
	g = group(OPS(OP("a", 12, 2, NULL, 7), OP("b", 13, 2, NULL, 8)),
		  RUNS({1, 9, 8, 2}, {2, 10, 8, 2}), NULL);
	assert_int_equal(g.err.code, DCK_E_UNSUP);
	assert_non_null(strstr(g.err.msg, "one run at a time"));
	done(&g);
	/* Worker threads, but one run after the other. */
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
	ops[0].device_ns = 77000;
	grouped g = group(ops, 3, RUNS({1, 9, 8, 3}), NULL);

	(void)state;
	assert_int_equal(g.p.flags, DCK_PROFILE_DEVICE_TIME);
	assert_int_equal(g.p.events[0].duration_ns, 77000);
	assert_int_equal(g.p.events[1].duration_ns, 0);
	assert_int_equal(g.p.events[2].duration_ns, 2000);
	done(&g);
	/* Without times of the device, those of a provider whose kernels are only launched. */
	ops[0].has_device = false;
	g = group(ops, 3, RUNS({1, 9, 8, 3}), NULL);
	assert_int_equal(g.p.flags, DCK_PROFILE_LAUNCH_TIME);
	done(&g);
	ops[0].provider = ops[1].provider = "XnnpackExecutionProvider";
	g = group(ops, 3, RUNS({1, 9, 8, 3}), NULL);
	assert_int_equal(g.p.flags, 0);
	done(&g);
}

/* Calls at 11.5 us, 20.2 us and so on since the trace began, at 1 s; work begins 2 us later. */
#define CALL(us, ns)                                                                       \
	{                                                                                  \
		1000000000 + (uint64_t)((us)*1000), ns, 1000002000 + (uint64_t)((us)*1000) \
	}

static void works_belong_to_the_operators_around_their_calls(void **state)
{
	/* "b" begins as "a" ends; the loop has "c" inside it. */
	ort_trace_op ops[] = {OP("a", 10, 10, NULL, 1), OP("b", 20, 5, NULL, 1),
			      OP("c", 32, 4, NULL, 1), OP("loop", 30, 20, NULL, 1)};
	const ort_trace t = {.ops = ops, .nops = 4};
	const cuda_work w[] = {CALL(-3, 999), CALL(5, 1000),  CALL(11.5, 100),
			       CALL(12, 20),  CALL(20.2, 50), CALL(31.5, 30),
			       CALL(33, 40),  CALL(44, 60),   CALL(60, 700)};
	dck_err err;
	double share;

	(void)state;
	ort_trace changed = t;
	assert_int_equal(ort_device_time_add(&changed, 1000000000, w, 9, &share, &err), DCK_OK);
	assert_int_equal(ops[0].device_ns, 120);
	assert_int_equal(ops[1].device_ns, 50);
	assert_int_equal(ops[2].device_ns, 40);
	assert_int_equal(ops[3].device_ns, 130);
	assert_true(ops[0].has_device && ops[3].has_device);
	assert_true(share == 300. / 2000);
	assert_int_equal(ops[0].device_begin_ns, 13500);
	assert_int_equal(ops[0].device_end_ns, 14020);
	assert_int_equal(ops[2].device_begin_ns, 35000);
	assert_int_equal(ops[2].device_end_ns, 35040);
	assert_int_equal(ops[3].device_begin_ns, 33500);
	assert_int_equal(ops[3].device_end_ns, 46060);
	assert_int_equal(ort_device_time_add(&changed, 1000000000, NULL, 0, &share, &err), DCK_OK);
	assert_true(share == 0);
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

/* --- a real library */

/* y = Relu(Neg(x)), in a loop of three; node names have characters that need escapes. */
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
	dck_profile p = {.struct_size = sizeof p}, again;
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
		/* A node without a name gets its type and its index. */
		assert_int_equal(count_of(&p, run, "Neg_2", 0), 1);
		for (size_t i = 0; i < p.nevents; i++)
			if (p.events[i].run == run && p.events[i].depth == 0)
				sum_ns += p.events[i].duration_ns;
		assert_true(sum_ns <= p.run_ns[run] + p.resolution_ns);
	}
	for (size_t i = 0; i < p.nevents; i++)
		assert_string_equal(p.events[i].provider, "CPUExecutionProvider");
	/* The optimised graph that ran. */
	assert_non_null(p.model_path);
	mem_arena *a = mem_arena_new(0);
	assert_int_equal(onnx_read_file(p.model_path, a, &graph, &err), DCK_OK);
	assert_int_equal(graph->graph->nnodes, 3);
	assert_string_equal(graph->graph->nodes[0].name, ODD_NAME);
	mem_arena_free(a);
	/* A second query returns the same. */
	assert_int_equal(engine_ort.profile(o.m, &again, &err), DCK_OK);
	assert_memory_equal(&p, &again, sizeof p);
	closed(&o);
	wire_out_done(&w);
}

#define THREADS 3
#define TIMES	40

typedef struct runner {
	pthread_t thread;
	dck_engine_model *m;
	float x[6];
	dck_status status;
} runner;

static void *run_often(void *self)
{
	runner *r = self;
	dck_tensor t = floats(r->x, 2, 2, 3);
	dck_engine_context *c = NULL;

	r->status = engine_ort.context_new(r->m, &c, NULL);
	if (r->status == DCK_OK)
		r->status = engine_ort.bind_input(c, 0, &t, NULL);
	for (int i = 0; r->status == DCK_OK && i < TIMES; i++)
		r->status = engine_ort.run(c, NULL);
	engine_ort.context_free(c);
	return NULL;
}

static void contexts_may_run_at_a_time(void **state)
{
	wire_out w = model_loop();
	runner runners[THREADS];
	dck_profile p;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	assert_int_equal(
	    open_watched(&o, &w, DCK_OBSERVE_OPERATORS | DCK_OBSERVE_MEMORY, NULL, &err), DCK_OK);
	for (int i = 0; i < THREADS; i++) {
		runners[i] = (runner){.m = o.m, .x = {1, 2, 3, 4, 5, 6}};
		assert_int_equal(pthread_create(&runners[i].thread, NULL, run_often, &runners[i]),
				 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(runners[i].thread, NULL);
		assert_int_equal(runners[i].status, DCK_OK);
	}
	assert_int_equal(engine_ort.profile(o.m, &p, &err), DCK_OK);
	assert_int_equal(p.nruns, THREADS * TIMES);
	assert_int_equal(p.flags, 0);
	assert_int_equal(p.nevents, THREADS * TIMES * (3 + 3 * 2));
	for (uint64_t run = 0; run < p.nruns; run++) {
		assert_int_equal(count_of(&p, run, ODD_NAME, 0), 1);
		assert_int_equal(count_of(&p, run, "loop", 0), 1);
		assert_int_equal(count_of(&p, run, "inside", 1), 3);
		assert_int_equal(count_of(&p, run, "Neg_2", 0), 1);
	}
	closed(&o);
	wire_out_done(&w);
}

/* Worker threads run the operators, each in a separate thread. */
static void operators_side_by_side_are_of_their_run(void **state)
{
	wire_out w = model_loop();
	float x[6] = {1, 2, 3, 4, 5, 6};
	dck_tensor t = floats(x, 2, 2, 3);
	dck_profile p;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	assert_int_equal(
	    open_watched(&o, &w, DCK_OBSERVE_OPERATORS, &(dck_kv){"interop_threads", "2"}, &err),
	    DCK_OK);
	bind(&o, &t);
	for (int i = 0; i < 20; i++)
		assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.profile(o.m, &p, &err), DCK_OK);
	assert_int_equal(p.nruns, 20);
	assert_int_equal(p.flags, 0);
	for (uint64_t run = 0; run < p.nruns; run++) {
		assert_int_equal(count_of(&p, run, ODD_NAME, 0), 1);
		assert_int_equal(count_of(&p, run, "loop", 0), 1);
		assert_int_equal(count_of(&p, run, "inside", 1), 3);
		assert_int_equal(count_of(&p, run, "Neg_2", 0), 1);
	}
	closed(&o);
	wire_out_done(&w);
}

/* A new shape makes ONNX Runtime refuse the old output, and our engine runs again. */
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
	dck_open_params params = {.struct_size = sizeof params,
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
	assert_non_null(strstr(err.msg, "a profile needs a directory"));
	params.work_dir = "no/such/folder";
	assert_int_equal(engine_ort.open(&params, &m, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "cannot write a profile into 'no/such/folder': No such"));
	assert_int_equal(open_watched(&o, &w, 0, NULL, &err), DCK_OK);
	assert_int_equal(engine_ort.profile(o.m, &p, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "was not opened to be profiled"));
	closed(&o);
	wire_out_done(&w);
}

/* It opens nevertheless, and reports that the graph is missing. */
static void a_graph_that_cannot_be_saved_is_told(void **state)
{
	wire_out w = model_twice();
	float x[3] = {1, 2, 3};
	dck_tensor t = floats(x, 2, 1, 3);
	dck_profile p;
	opened o;
	dck_err err = {0};

	(void)state;
	need_ort();
	assert_int_equal(symlink("no/such/folder/x", "graph.onnx"), 0);
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
	/* An invalid model fails for its own reason. */
	const wire_out bad = {.data = (uint8_t *)"\001\002\003", .n = 3};
	assert_int_equal(open_watched(&o, &bad, DCK_OBSERVE_OPERATORS, NULL, &err), DCK_E_ENGINE);
	assert_non_null(strstr(err.msg, "refuses the model"));
	wire_out_done(&w);
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
		/* The library search tolerates some failed allocations. */
		if (status != DCK_OK)
			assert_int_equal(status, DCK_E_NOMEM);
		closed(&o);
		assert_int_equal(f.out, 0);
		dck_set_allocator(NULL);
	}
	assert_true(n > 15);
	wire_out_done(&w);
}

int test_engine_profile(void);
int test_engine_profile(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_have_their_operators),
	    cmocka_unit_test(the_order_of_ends_decides_at_a_border),
	    cmocka_unit_test(lost_events_are_told),
	    cmocka_unit_test(runs_that_failed_are_left_out),
	    cmocka_unit_test(bodies_are_within_their_operators),
	    cmocka_unit_test(runs_side_by_side_are_told_apart_by_threads),
	    cmocka_unit_test(devices_give_their_own_time),
	    cmocka_unit_test(works_belong_to_the_operators_around_their_calls),
	    cmocka_unit_test(nothing_gives_nothing),
	    SCRATCH_TEST(profiles_tell_every_run),
	    SCRATCH_TEST(contexts_may_run_at_a_time),
	    SCRATCH_TEST(operators_side_by_side_are_of_their_run),
	    SCRATCH_TEST(failed_runs_are_no_part_of_a_profile),
	    SCRATCH_TEST(what_was_not_asked_for_is_not_told),
	    SCRATCH_TEST(a_graph_that_cannot_be_saved_is_told),
	    SCRATCH_TEST(each_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
