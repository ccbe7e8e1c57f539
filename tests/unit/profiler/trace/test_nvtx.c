/* test_nvtx.c - the calls of a program annotated with NVTX, made like those of its header: through
 * the tables that an injected library fills.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "scratch.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <cmocka.h>

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

typedef void (*any_function)(void);
static any_function core[16], core2[16];
static any_function *core_table[16], *core2_table[16];

static int get_module(int module, any_function ***ret_table, unsigned *ret_size)
{
	*ret_table = module == 1 ? core_table : core2_table;
	*ret_size = 16;
	return module == 1 || module == 5;
}

static const void *get_table(uint32_t id)
{
	static const struct {
		size_t struct_size;
		int (*get)(int module, any_function ***ret_table, unsigned *ret_size);
	} callbacks = {sizeof callbacks, get_module};

	return id == 1 ? &callbacks : NULL;
}

static const void *no_table(uint32_t id)
{
	(void)id;
	return NULL;
}

/* nvtxEventAttributes_t */
typedef struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t colour_kind;
	uint32_t colour;
	int32_t payload_kind, reserved;
	union {
		double d;
		int32_t i;
	} payload;
	int32_t message_kind;
	const void *message;
} attributes;

#define CALL(table, number, type) ((type)(table)[number])
typedef int push_fn(const char *);
typedef int push_wide_fn(const wchar_t *);
typedef int push_ex_fn(const attributes *);
typedef int pop_fn(void);
typedef uint64_t start_fn(const char *);
typedef void end_fn(uint64_t);
typedef void mark_fn(const char *);
typedef void *name_fn(const char *);
typedef void *register_fn(void *, const char *);
typedef int domain_push_fn(void *, const attributes *);
typedef int domain_pop_fn(void *);
typedef void category_fn(uint32_t, const char *);
typedef void domain_category_fn(void *, uint32_t, const wchar_t *);
typedef void thread_fn(uint32_t, const wchar_t *);
typedef void destroy_fn(void *);

static int inject(void **state)
{
	for (int i = 0; i < 16; i++) {
		core_table[i] = i == 0 ? NULL : &core[i];
		core2_table[i] = i == 0 ? NULL : &core2[i];
	}
	return scratch_begin(state) || InitializeInjectionNvtx2(get_table) != 1;
}

static int64_t calls(const dck_record *r, const char *name)
{
	const dck_table *t = dck_record_table(r, "zones");

	assert_non_null(t);
	for (size_t i = 0; i < t->nrows; i++)
		if (strcmp(t->cells[i * t->ncolumns].value.as.text, name) == 0)
			return t->cells[i * t->ncolumns + 1].value.as.i;
	return 0;
}

static void ranges_are_recorded(void **state)
{
	const dck_trace_config c = {0};
	dck_record *r = NULL;

	(void)state;
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(CALL(core, 9, push_fn *)("outer"), 0);
		assert_int_equal(CALL(core, 10, push_wide_fn *)(L"größe"), 1);
		const attributes a = {
		    .payload_kind = 5, .payload.i = 7, .message_kind = 1, .message = "ex"};
		assert_int_equal(CALL(core, 8, push_ex_fn *)(&a), 2);
		assert_int_equal(CALL(core, 11, pop_fn *)(), 2);
		assert_int_equal(CALL(core, 11, pop_fn *)(), 1);
		assert_int_equal(CALL(core, 11, pop_fn *)(), 0);
		const uint64_t id = CALL(core, 5, start_fn *)("apart");
		assert_true(id != 0);
		CALL(core, 2, mark_fn *)("mark");
		CALL(core, 7, end_fn *)(id);
	}
	assert_true(CALL(core, 11, pop_fn *)() < 0); /* nothing is open */
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	assert_int_equal(calls(r, "outer"), 10);
	assert_int_equal(calls(r, "größe"), 10);
	assert_int_equal(calls(r, "ex"), 10);
	assert_int_equal(calls(r, "apart"), 10);
	dck_record_free(r);
}

static void domains_and_registered_strings(void **state)
{
	const dck_trace_config c = {0};
	dck_record *r = NULL;

	(void)state;
	void *domain = CALL(core2, 12, name_fn *)("torch");
	void *text = CALL(core2, 10, register_fn *)(domain, "conv");
	const attributes registered = {.message_kind = 3, .message = text};
	const attributes plain = {.message_kind = 1, .message = "relu"}, none = {0};
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	CALL(core2, 4, domain_push_fn *)(domain, &registered);
	CALL(core2, 4, domain_push_fn *)(domain, &plain);
	CALL(core2, 4, domain_push_fn *)(NULL, &none);
	assert_int_equal(CALL(core2, 5, domain_pop_fn *)(NULL), 0);
	assert_int_equal(CALL(core2, 5, domain_pop_fn *)(domain), 1);
	assert_int_equal(CALL(core2, 5, domain_pop_fn *)(domain), 0);
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	assert_int_equal(calls(r, "torch:conv"), 1);
	assert_int_equal(calls(r, "torch:relu"), 1);
	assert_int_equal(calls(r, "(no name)"), 1);
	dck_record_free(r);
}

static const dck_cell *row(const dck_record *r, const char *name)
{
	const dck_table *t = dck_record_table(r, "zones");

	for (size_t i = 0; i < t->nrows; i++)
		if (strcmp(t->cells[i * t->ncolumns].value.as.text, name) == 0)
			return &t->cells[i * t->ncolumns];
	fail_msg("no row %s", name);
	return NULL;
}

static double value(const dck_cell *c)
{
	return c->value.kind == DCK_VALUE_INT ? (double)c->value.as.i : c->value.as.r;
}

static void naps(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* Each domain nests separately: the first opened ends first. The record and the file read back are
 * equal. */
static void domains_may_overlap(void **state)
{
	const dck_trace_config c = {.path = "overlap.pftrace"};
	const attributes a = {.message_kind = 1, .message = "range"};
	dck_record *r = NULL, *of_file = NULL;

	(void)state;
	void *one = CALL(core2, 12, name_fn *)("one"), *two = CALL(core2, 12, name_fn *)("two");
	assert_ptr_equal(CALL(core2, 12, name_fn *)("one"), one);
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (int i = 0; i < 12; i++) {
		assert_int_equal(CALL(core2, 4, domain_push_fn *)(one, &a), 0);
		naps();
		assert_int_equal(CALL(core2, 4, domain_push_fn *)(two, &a), 0);
		DCK_PUSH("zone");
		naps();
		assert_int_equal(CALL(core2, 5, domain_pop_fn *)(one), 0);
		naps();
		DCK_POP();
		assert_int_equal(CALL(core2, 5, domain_pop_fn *)(two), 0);
		assert_true(CALL(core2, 5, domain_pop_fn *)(two) < 0);
	}
	CALL(core2, 14, destroy_fn *)(two);
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	assert_int_equal(dck_trace_read(c.path, &of_file, NULL), DCK_OK);
	const char *const names[] = {"one:range", "two:range", "zone"};
	const double least[][2] = {{4e6, 2e6}, {4e6, 0}, {4e6, 4e6}}; /* total, self of each */
	for (int i = 0; i < 3; i++) {
		const dck_cell *x = row(r, names[i]), *y = row(of_file, names[i]);

		assert_int_equal(value(&x[1]), 12);
		assert_true(value(&x[2]) >= 12 * least[i][0] && value(&x[3]) >= 12 * least[i][1]);
		for (int k = 1; k < 7; k++)
			assert_true(value(&x[k]) == value(&y[k]));
	}
	/* The time inside "one" and "two" is not their self time. */
	assert_true(value(&row(r, "one:range")[3]) <= value(&row(r, "one:range")[2]) - 12 * 2e6);
	assert_true(value(&row(r, "two:range")[3]) <= value(&row(r, "two:range")[2]) - 12 * 4e6);
	dck_record_free(r);
	dck_record_free(of_file);
}

/* Whether a text file contains a text. */
static bool contains(const char *path, const char *text)
{
	static char all[65536];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	const size_t n = fread(all, 1, sizeof all - 1, f);
	fclose(f);
	all[n] = '\0';
	return strstr(all, text);
}

static void categories_and_threads_have_names(void **state)
{
	const dck_trace_config c = {.path = "names.json"};
	attributes a = {.category = 7, .message_kind = 1, .message = "in seven"};

	(void)state;
	void *domain = CALL(core2, 12, name_fn *)("categories");
	CALL(core, 12, category_fn *)(7, "the seventh");
	CALL(core2, 9, domain_category_fn *)(domain, 7, L"größe");
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	CALL(core, 8, push_ex_fn *)(&a);
	CALL(core, 11, pop_fn *)();
	CALL(core2, 4, domain_push_fn *)(domain, &a);
	CALL(core2, 5, domain_pop_fn *)(domain);
	a.category = 8;
	a.message = "in eight";
	CALL(core, 8, push_ex_fn *)(&a);
	CALL(core, 11, pop_fn *)();
	CALL(core, 15, thread_fn *)((uint32_t)gettid(), L"ünnamed worker");
	assert_int_equal(dck_trace_stop(NULL, NULL), DCK_OK);
	assert_true(contains(c.path, "\"cat\":\"the seventh\",\"name\":\"in seven\""));
	assert_true(contains(c.path, "\"cat\":\"größe\",\"name\":\"categories:in seven\""));
	assert_true(contains(c.path, "\"cat\":\"8\",\"name\":\"in eight\""));
	assert_true(contains(c.path, "ünnamed worker"));
}

/* Any number of them, repeatedly. */
static void many_categories_and_domains(void **state)
{
	const dck_trace_config c = {0};
	dck_record *r = NULL;
	char text[32];

	(void)state;
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(text, sizeof text, "domain %u", i % 100);
		void *domain = CALL(core2, 12, name_fn *)(text);
		const attributes a = {
		    .category = i, .message_kind = 1, .message = "x", .payload_kind = 99};
		CALL(core, 12, category_fn *)(i, text);
		CALL(core2, 4, domain_push_fn *)(domain, &a);
		CALL(core2, 5, domain_pop_fn *)(domain);
	}
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	assert_int_equal(dck_record_table(r, "zones")->nrows, 100);
	assert_int_equal(calls(r, "domain 42:x"), 100);
	dck_record_free(r);
}

static void long_and_broken_names(void **state)
{
	const dck_trace_config c = {0};
	static char text[5000];
	static wchar_t wide[5000];
	dck_record *r = NULL;

	(void)state;
	memset(text, 'x', sizeof text - 1);
	wmemset(wide, (wchar_t)0x7fffffff, 4999);
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	CALL(core, 9, push_fn *)(text);
	CALL(core, 10, push_wide_fn *)(wide);
	CALL(core, 9, push_fn *)(NULL);
	CALL(core, 8, push_ex_fn *)(NULL);
	for (int i = 0; i < 3; i++)
		CALL(core, 11, pop_fn *)();
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	assert_int_equal(dck_record_table(r, "zones")->nrows, 3);
	dck_record_free(r);
}

static void nothing_is_recorded_while_it_is_off(void **state)
{
	(void)state;
	assert_true(CALL(core, 9, push_fn *)("x") < 0);
	assert_true(CALL(core, 11, pop_fn *)() < 0);
	assert_int_equal(CALL(core, 5, start_fn *)("x"), 0);
	assert_int_equal(InitializeInjectionNvtx2(NULL), 0);
	assert_int_equal(InitializeInjectionNvtx2(no_table), 0);
}

int test_nvtx(void);
int test_nvtx(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges_are_recorded),
	    cmocka_unit_test(domains_and_registered_strings),
	    SCRATCH_TEST(domains_may_overlap),
	    SCRATCH_TEST(categories_and_threads_have_names),
	    cmocka_unit_test(many_categories_and_domains),
	    cmocka_unit_test(long_and_broken_names),
	    cmocka_unit_test(nothing_is_recorded_while_it_is_off),
	};

	return cmocka_run_group_tests(tests, inject, scratch_end);
}
