/* test_itt.c - the calls of a program annotated with ITT, made like those of its static part:
 * through the pointers that a collector fills.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "scratch.h"
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

typedef void (*any_function)(void);

/* __itt_global */
typedef struct part {
	unsigned char magic[8];
	unsigned long version[3];
	long initialized, mutex_initialized, counter;
	pthread_mutex_t mutex;
	void *library, *error_handler, *path;
	struct api {
		const char *name;
		any_function *function;
		any_function init, null;
		int group;
	} * api;
} part;

void __itt_api_init(part *p, int groups);

typedef struct domain { /* __itt_domain */
	int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2, *next;
} domain;

typedef struct string { /* __itt_string_handle */
	const char *text;
	void *wide;
	int extra1;
	void *extra2, *next;
} string;

typedef struct task_id {
	unsigned long long d[3];
} task_id;

typedef struct counter counter;

static const task_id none;

static struct calls {
	domain *(*domain_create)(const char *);
	string *(*string_create)(const char *);
	counter *(*counter_create)(const char *, const char *);
	counter *(*counter_create_typed)(const char *, const char *, int);
	counter *(*counter_create_in)(const domain *, const char *, int);
	void (*begin)(const domain *, task_id, task_id, string *);
	void (*begin_fn)(const domain *, task_id, task_id, void *);
	void (*end)(const domain *);
	void (*begin_overlapped)(const domain *, task_id, task_id, string *);
	void (*end_overlapped)(const domain *, task_id);
	void (*frame_begin)(const domain *, const task_id *);
	void (*frame_end)(const domain *, const task_id *);
	void (*marker)(const domain *, task_id, string *, int);
	void (*metadata)(const domain *, task_id, string *, int, size_t, void *);
	void (*counter_set)(counter *, const void *);
	void (*counter_inc)(counter *);
	void (*counter_dec_by)(counter *, unsigned long long);
	int (*event_create)(const char *, int);
	int (*event_start)(int);
	int (*event_end)(int);
	void (*thread_name)(const char *);
	any_function unknown;
} itt;

static void nobody(void)
{
}

static struct api list[] = {
#define HAS(text, member)                                                           \
	{                                                                           \
		"__itt_" text, (any_function *)(void *)&itt.member, nobody, NULL, 1 \
	}
    HAS("domain_create", domain_create),
    HAS("string_handle_create", string_create),
    HAS("counter_create", counter_create),
    HAS("counter_create_typed", counter_create_typed),
    HAS("counter_create_v3", counter_create_in),
    HAS("task_begin", begin),
    HAS("task_begin_fn", begin_fn),
    HAS("task_end", end),
    HAS("task_begin_overlapped", begin_overlapped),
    HAS("task_end_overlapped", end_overlapped),
    HAS("frame_begin_v3", frame_begin),
    HAS("frame_end_v3", frame_end),
    HAS("marker", marker),
    HAS("metadata_add", metadata),
    HAS("counter_set_value", counter_set),
    HAS("counter_inc", counter_inc),
    HAS("counter_dec_delta", counter_dec_by),
    HAS("event_create", event_create),
    HAS("event_start", event_start),
    HAS("event_end", event_end),
    HAS("thread_set_name", thread_name),
    {"__itt_of_a_later_version", &itt.unknown, nobody, nobody, 1},
    {0},
#undef HAS
};

static part program = {.magic = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
		       .version = {3, 0, 20180723},
		       .api = list};

static int attach(void **state)
{
	__itt_api_init(&program, -1);
	for (const struct api *a = list; a->name; a++)
		if (!*a->function)
			return 1;
	return scratch_begin(state);
}

static const dck_cell *row(const dck_record *r, const char *name)
{
	const dck_table *t = dck_record_table(r, "zones");

	assert_non_null(t);
	for (size_t i = 0; i < t->nrows; i++)
		if (strcmp(t->cells[i * t->ncolumns].value.as.text, name) == 0)
			return &t->cells[i * t->ncolumns];
	fail_msg("no row %s", name);
	return NULL;
}

static int64_t calls(const dck_record *r, const char *name)
{
	return row(r, name)[1].value.as.i;
}

/* Created before the collector was loaded: by the static part. */
static domain early = {.flags = 1, .name = "early"};
static string early_string = {.text = "task"};

static void tasks_are_ranges(void **state)
{
	const dck_trace_config c = {0};
	dck_record *r = NULL;

	(void)state;
	domain *mine = itt.domain_create("mine"), *other = itt.domain_create("other");
	string *outer = itt.string_create("outer"), *inner = itt.string_create("inner");
	assert_ptr_equal(itt.domain_create("mine"), mine);
	assert_ptr_equal(itt.string_create("outer"), outer);
	assert_true(mine->flags && !strcmp(mine->name, "mine") && !strcmp(outer->text, "outer"));
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (int i = 0; i < 10; i++) {
		itt.begin(mine, none, none, outer);
		itt.begin(mine, none, none, inner);
		itt.begin(other, none, none, inner); /* the same string in another domain */
		itt.end(mine);
		itt.end(other);
		itt.end(mine);
		itt.begin(&early, none, none, &early_string);
		itt.begin_fn(&early, none, none, &program);
		itt.end(&early);
		itt.end(&early);
		itt.end(&early); /* nothing is open */
	}
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	const char *const names[] = {"mine:outer", "mine:inner", "other:inner", "early:task",
				     "early:(no name)"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_int_equal(calls(r, names[i]), 10);
	assert_int_equal(dck_record_table(r, "zones")->nrows, 5);
	dck_record_free(r);
}

static void ranges_of_any_thread(void **state)
{
	const dck_trace_config c = {0};
	dck_record *r = NULL;

	(void)state;
	domain *mine = itt.domain_create("mine");
	string *first = itt.string_create("first"), *second = itt.string_create("second");
	const task_id one = {{1, 2, 3}}, two = {{1, 2, 4}};
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	const int event = itt.event_create("event", 5), later = itt.event_create("later", 5);
	assert_true(event > 0 && later > event);
	for (int i = 0; i < 10; i++) {
		itt.begin_overlapped(mine, one, none, first);
		itt.begin_overlapped(mine, two, none, second);
		itt.frame_begin(mine, NULL);
		itt.event_start(event);
		itt.event_start(later);
		itt.end_overlapped(mine, one);
		itt.event_end(event);
		itt.frame_end(mine, NULL);
		itt.event_end(later);
		itt.end_overlapped(mine, two);
	}
	itt.event_start(0);
	itt.event_end(-5);
	itt.event_start(1 << 30);
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	const char *const names[] = {"mine:first", "mine:second", "mine:frame", "event", "later"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_int_equal(calls(r, names[i]), 10);
		/* All of them have ended. */
		assert_int_not_equal(row(r, names[i])[5].value.kind, DCK_VALUE_ABSENT);
	}
	dck_record_free(r);
}

/* Counts the occurrences of a text in a text file. */
static int count(const char *path, const char *text)
{
	static char all[65536];
	FILE *f = fopen(path, "r");
	int n = 0;

	assert_non_null(f);
	all[fread(all, 1, sizeof all - 1, f)] = '\0';
	fclose(f);
	for (const char *p = all; (p = strstr(p, text)); p++)
		n++;
	return n;
}

static void numbers_marks_and_threads(void **state)
{
	const dck_trace_config c = {.path = "numbers.json"};
	const double d = 0.5;
	const float f = 0.25f;
	const int16_t s = -3;
	const uint64_t u = 12;

	(void)state;
	domain *mine = itt.domain_create("mine");
	string *text = itt.string_create("marked"), *key = itt.string_create("size");
	counter *untyped = itt.counter_create("untyped", "mine");
	counter *real = itt.counter_create_typed("real", "mine", 8);
	counter *single = itt.counter_create_in(mine, "single", 7);
	counter *shorter = itt.counter_create_typed("shorter", NULL, 6);
	counter *odd = itt.counter_create_typed("odd", NULL, 99), *n = itt.counter_create("n", "m");
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	itt.thread_name("the main one");
	itt.marker(mine, none, text, 1);
	itt.counter_set(untyped, &u);
	itt.counter_set(real, &d);
	itt.counter_set(single, &f);
	itt.counter_set(shorter, &s);
	itt.counter_set(odd, &u);
	itt.counter_set(NULL, &u);
	itt.counter_set(real, NULL);
	for (int i = 0; i < 5; i++)
		itt.counter_inc(n);
	itt.counter_dec_by(n, 7);
	itt.begin(mine, none, none, text);
	itt.metadata(mine, none, key, 6, 1, (void *)(uintptr_t)&s);
	itt.metadata(mine, (task_id){{1, 0, 0}}, key, 1, 1, (void *)(uintptr_t)&u); /* no task */
	itt.metadata(mine, none, key, 1, 0, NULL);
	itt.end(mine);
	assert_int_equal(dck_trace_stop(NULL, NULL), DCK_OK);
	assert_int_equal(count(c.path, "the main one"), 1);
	assert_int_equal(count(c.path, "\"ph\":\"i\""), 1);
	assert_int_equal(count(c.path, "\"name\":\"mine:untyped\",\"args\":{\"value\":12.0}"), 1);
	assert_int_equal(count(c.path, "\"name\":\"mine:real\",\"args\":{\"value\":0.5}"), 1);
	assert_int_equal(count(c.path, "\"name\":\"mine:single\",\"args\":{\"value\":0.25}"), 1);
	assert_int_equal(count(c.path, "\"name\":\"shorter\",\"args\":{\"value\":-3.0}"), 1);
	assert_int_equal(count(c.path, "\"name\":\"odd\",\"args\":{\"value\":12.0}"), 1);
	assert_int_equal(count(c.path, "\"name\":\"m:n\",\"args\":{\"value\":5.0}"), 1);
	assert_int_equal(count(c.path, "\"name\":\"m:n\",\"args\":{\"value\":-2.0}"), 1);
	assert_int_equal(count(c.path, "\"size\":-3.0"), 1);
	assert_int_equal(count(c.path, "\"size\""), 1);
}

static void more_than_is_kept(void **state)
{
	const dck_trace_config c = {0};
	dck_record *r = NULL;
	char text[32];
	int event = 1;

	(void)state;
	domain *mine = itt.domain_create("many");
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof text, "string %d", i);
		string *s = itt.string_create(text);
		assert_true(!strcmp(s->text, text) || !strcmp(s->text, "(other names)"));
		if (i % 1000 == 0) {
			itt.begin(mine, none, none, s);
			itt.end(mine);
		}
	}
	for (int i = 0; i < 3000; i++)
		event = itt.event_create("x", 1);
	assert_int_equal(event, 0);
	itt.begin(mine, none, none, NULL);
	itt.end(mine);
	assert_null(itt.string_create(NULL));
	assert_null(itt.domain_create(NULL));
	assert_null(itt.counter_create(NULL, NULL));
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	assert_int_equal(calls(r, "many:(no name)"), 1);
	dck_record_free(r);
}

/* The collector does not modify it. */
static void a_part_of_another_kind(void **state)
{
	any_function here = nobody;
	struct api one[] = {{"__itt_task_end", &here, nobody, NULL, 1}, {0}};
	part p = program;

	(void)state;
	p.api = one;
	p.version[0] = 2;
	__itt_api_init(&p, -1);
	p.version[0] = 3;
	p.magic[7]++;
	__itt_api_init(&p, -1);
	__itt_api_init(NULL, -1);
	assert_ptr_equal(here, nobody);
	p.magic[7]--;
	__itt_api_init(&p, -1);
	assert_ptr_not_equal(here, nobody);
}

int test_itt(void);
int test_itt(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_are_ranges),	      cmocka_unit_test(ranges_of_any_thread),
	    SCRATCH_TEST(numbers_marks_and_threads),  cmocka_unit_test(more_than_is_kept),
	    cmocka_unit_test(a_part_of_another_kind),
	};

	return cmocka_run_group_tests(tests, attach, scratch_end);
}
