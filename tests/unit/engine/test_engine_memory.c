/* test_engine_memory.c - counted allocations, and the memory that a real ONNX Runtime reports.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_watch.h"

#include <pthread.h>

/* --- the counting allocator, wrapped around a fake library */

static const ort_provider cpu_provider = {.name = "cpu"};

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
	memset(&fake, 0, sizeof fake);
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
	dck_memory m = {.struct_size = sizeof m};
	dck_err err;

	assert_int_equal(ort_memory_get(l, NULL, &cpu_provider, NULL, c, &m, &err), DCK_OK);
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
	ort_counter_settle(c); /* one call is enough */

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

	/* Blocks that remain from the previous run count as present when the next starts. */
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
	assert_non_null(strstr(err.msg, "only for one model at a time"));
	assert_null(c);
	assert_int_equal(fake.made, 0);
}

static void old_libraries_have_no_statistics(void **state)
{
	ort_lib l = fake_lib();
	dck_memory m;
	dck_err err;

	(void)state;
	assert_int_equal(ort_memory_get(&l, NULL, &cpu_provider, NULL, NULL, &m, &err),
			 DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "ONNX Runtime 1.22.0 does not report how much memory"));
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

static void need_statistics(dck_status status, const dck_err *err)
{
	if (status != DCK_E_UNSUP)
		return;
	print_message("skipped: %s\n", err->msg);
	skip();
}

/* N x 3 numbers in and N x 3 numbers out: 12 N bytes each. */
static void memory_is_counted_exactly(void **state)
{
	wire_out w = model_of("Exp", "x", ELEMENT_FLOAT, DIMS(-1, 3), ELEMENT_FLOAT, DIMS(-1, 3));
	static float x[3000];
	dck_tensor t = floats(x, 2, 1000, 3);
	dck_memory m = {.struct_size = sizeof m};
	opened o, other;
	dck_err err = {0};

	(void)state;
	need_ort();
	ear e = ear_open();
	assert_int_equal(open_watched(&o, &w, DCK_OBSERVE_MEMORY, NULL, &err), DCK_OK);
	/* A second model of either kind may be opened while the first is open. */
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
	/* Each run allocates its output again. */
	assert_int_equal(engine_ort.run(o.c, &err), DCK_OK);
	assert_int_equal(engine_ort.memory(o.m, &m, &err), DCK_OK);
	assert_int_equal(m.run_peak_bytes, 12000);
	assert_int_equal(m.allocs, 1);
	assert_int_equal(m.in_use_bytes, 12000);
	/* A later session is not counted and has an arena. */
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

int test_engine_memory(void);
int test_engine_memory(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(allocations_are_counted),
	    cmocka_unit_test(only_one_counter_is_made_at_a_time),
	    cmocka_unit_test(old_libraries_have_no_statistics),
	    cmocka_unit_test(threads_may_allocate_at_a_time),
	    SCRATCH_TEST(memory_is_counted_exactly),
	    SCRATCH_TEST(no_arena_keeps_no_account),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
