/* test_search_journal.c - a search's journal: written, read back, truncated, damaged, of another
 * search.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search_journal.h"
#include "base/err.h"
#include "record/record_begin.h"
#include "os/os.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#define KEY "deepclock 1\nzoo:x\n--max-batch=32"

typedef struct directory {
	char dir[OS_TEMP_SIZE], path[OS_TEMP_SIZE + 16];
} directory;

static void directory_make(directory *f)
{
	assert_int_equal(os_temp_dir(f->dir, NULL), DCK_OK);
	snprintf(f->path, sizeof f->path, "%s/journal", f->dir);
}

static search *search_make(void)
{
	const search_config c = {.min_batch = 1,
				 .max_batch = 32,
				 .settings = 1,
				 .level = 0.95,
				 .precision = 0.01,
				 .rounds_min = 3,
				 .rounds_max = 9,
				 .seed = 1};
	search *s = search_new(&c);

	assert_non_null(s);
	return s;
}

static search_outcome outcome_of(const search_ask *ask)
{
	const double r = 100.0 / 3 * (double)ask->batch;

	if (ask->batch > 16)
		return (search_outcome){.end = SEARCH_MEMORY, .why = "none \"left\"\n"};
	return (search_outcome){.rate = {r, r * 0.9, NAN},
				.mean_rate = {r / 7, NAN, NAN},
				.latency = {1e9 / r, 0.9e9 / r, 1.1e9 / r},
				.held = {NAN, 5, NAN},
				.peak_rss_bytes = (uint64_t)1 << 40};
}

static dck_record *facts_make(void)
{
	record_builder *b = record_begin(NULL);
	dck_record *r;

	record_fact_text(b, "subject", "kind", "model");
	record_fact_text(b, "host", "cpu", "one");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

/* Opens the journal, makes the trials given, closes it. Returns the total of trials. */
static size_t go_on(const directory *f, size_t more_trials, bool *ret_had_facts)
{
	search *s = search_make();
	line_journal *j;
	dck_record *facts = NULL;
	dck_err err = {0};
	search_ask ask;
	bool more;
	size_t n;

	if (search_journal_open(f->path, KEY, s, &j, &facts, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	if (ret_had_facts)
		*ret_had_facts = facts != NULL;
	for (size_t i = 0; i < more_trials; i++) {
		assert_int_equal(search_next(s, &more, &ask, NULL), DCK_OK);
		if (!more)
			break;
		const search_outcome o = outcome_of(&ask);
		dck_record *first = !facts && search_ntrials(s) == 0 ? facts_make() : NULL;

		assert_int_equal(search_journal_add(j, &ask, &o, first, NULL), DCK_OK);
		assert_int_equal(search_tell(s, &o, NULL), DCK_OK);
		dck_record_free(first);
	}
	n = search_ntrials(s);
	dck_record_free(facts);
	line_journal_close(j);
	search_free(s);
	return n;
}

static void refused(const directory *f, const char *key, dck_status code, const char *part)
{
	search *s = search_make();
	line_journal *j = NULL;
	dck_record *facts = NULL;
	dck_buffer before = {0}, after = {0};
	dck_err err = {0};

	assert_int_equal(os_read_file(f->path, 1 << 20, &before, NULL), DCK_OK);
	assert_int_equal(search_journal_open(f->path, key, s, &j, &facts, &err), code);
	if (!strstr(err.msg, part))
		fail_msg("%s", err.msg);
	assert_null(j);
	assert_null(facts);
	/* A foreign file stays unchanged. */
	assert_int_equal(os_read_file(f->path, 1 << 20, &after, NULL), DCK_OK);
	assert_int_equal(before.n, after.n);
	if (before.n > 0)
		assert_memory_equal(before.data, after.data, before.n);
	dck_buffer_done(&before);
	dck_buffer_done(&after);
	search_free(s);
}

static void write_text(const directory *f, const char *text)
{
	FILE *out = fopen(f->path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, strlen(text), out), strlen(text));
	assert_int_equal(fclose(out), 0);
}

static void test_round_trip(void **state)
{
	search *s = search_make();
	line_journal *j;
	dck_record *facts;
	bool had_facts;
	directory f;

	(void)state;
	directory_make(&f);
	assert_int_equal(go_on(&f, 4, &had_facts), 4);
	assert_false(had_facts);
	assert_int_equal(go_on(&f, 3, &had_facts), 7);
	assert_true(had_facts);
	const size_t all = go_on(&f, 1000, NULL);
	assert_true(all > 10);
	assert_int_equal(go_on(&f, 1000, NULL), all);

	/* Every number is equal, including unknown ones. */
	assert_int_equal(search_journal_open(f.path, KEY, s, &j, &facts, NULL), DCK_OK);
	assert_non_null(dck_record_fact(facts, "host", "cpu"));
	for (size_t i = 0; i < all; i++) {
		const search_trial *v = search_trial_get(s, i);
		const search_ask ask = {.batch = search_get(s, v->point)->batch};
		const search_outcome want = outcome_of(&ask), *o = &v->outcome;

		assert_int_equal(o->end, want.end);
		if (o->end != SEARCH_OK) {
			assert_string_equal(o->why, "none \"left\"\n");
			continue;
		}
		assert_memory_equal(&o->rate.value, &want.rate.value, sizeof(double));
		assert_memory_equal(&o->rate.lo, &want.rate.lo, sizeof(double));
		assert_memory_equal(&o->mean_rate.value, &want.mean_rate.value, sizeof(double));
		assert_memory_equal(&o->latency, &want.latency, sizeof want.latency);
		assert_true(isnan(o->rate.hi) && isnan(o->held.value) && isnan(o->held.hi));
		assert_true(o->held.lo >= 5 && o->held.lo <= 5);
		assert_int_equal(o->peak_rss_bytes, want.peak_rss_bytes);
	}
	dck_record_free(facts);
	line_journal_close(j);
	search_free(s);
	os_temp_dir_remove(f.dir);
}

/* A kill may truncate the last line anywhere. */
static void test_cut(void **state)
{
	dck_buffer whole = {0};
	size_t last = 0;
	directory f;

	(void)state;
	directory_make(&f);
	go_on(&f, 5, NULL);
	assert_int_equal(os_read_file(f.path, 1 << 20, &whole, NULL), DCK_OK);
	for (size_t i = 0; i + 1 < whole.n; i++)
		if (whole.data[i] == '\n')
			last = i + 1;
	for (size_t n = whole.n; n >= last; n -= n == last + 1 ? 1 : 37) {
		if (n < last + 37 && n > last + 1)
			n = last + 1;
		FILE *out = fopen(f.path, "w");
		assert_non_null(out);
		assert_int_equal(fwrite(whole.data, 1, n, out), n);
		fclose(out);
		assert_int_equal(go_on(&f, 0, NULL), n == whole.n ? 5 : 4);
		assert_int_equal(go_on(&f, 1, NULL), n == whole.n ? 6 : 5);
		assert_int_equal(go_on(&f, 0, NULL), n == whole.n ? 6 : 5);
		if (n == last)
			break;
	}
	dck_buffer_done(&whole);
	os_temp_dir_remove(f.dir);
}

static void test_refused(void **state)
{
	directory f;

	(void)state;
	directory_make(&f);
	go_on(&f, 3, NULL);
	refused(&f, "deepclock 1\nzoo:x\n--max-batch=64", DCK_E_ARG,
		"is the journal of another search: it has '--max-batch=32', this one has "
		"'--max-batch=64'");
	refused(&f, "deepclock 1\nzoo:x", DCK_E_ARG,
		"it has '--max-batch=32', this one has 'nothing'");
	refused(&f, KEY "\n--slo=p99<=1ms", DCK_E_ARG,
		"it has 'nothing', this one has '--slo=p99<=1ms'");
	/* One key equals the other plus a newline. */
	refused(&f, KEY "\n", DCK_E_ARG, "it has 'nothing', this one has ''");
	write_text(&f, "some text\n");
	refused(&f, KEY, DCK_E_FORMAT, "is not a journal of a search (line 1 is not a record)");
	write_text(&f, "some text without an end");
	refused(&f, KEY, DCK_E_FORMAT, "is not a journal of a search");
	write_text(&f, "{\"schema\": 1, \"deepclock\": \"0\", \"id\": \"0\"}\n");
	refused(&f, KEY, DCK_E_FORMAT, "is not a journal of a search");
	os_temp_dir_remove(f.dir);
}

/* Lines that are records, but not trials of this search. */
static void test_other_trials(void **state)
{
	dck_buffer whole = {0};
	char *at;
	directory f;

	(void)state;
	directory_make(&f);
	go_on(&f, 3, NULL);
	assert_int_equal(os_read_file(f.path, 1 << 20, &whole, NULL), DCK_OK);
	at = strstr(whole.data, "\"batch\"");
	assert_non_null(at);
	at = strstr(at, "1");
	*at = '7';
	write_text(&f, whole.data);
	refused(&f, KEY, DCK_E_ARG, "line 2 of");
	*at = '1';
	at = strstr(whole.data, "\"ok\"");
	assert_non_null(at);
	at[1] = 'x';
	write_text(&f, whole.data);
	refused(&f, KEY, DCK_E_FORMAT, "is damaged in line 2");
	dck_buffer_done(&whole);
	os_temp_dir_remove(f.dir);
}

/* Simulates a full disk: further writes fail. The existing trials stay readable. */
static void test_full_disk(void **state)
{
	const search_ask ask = {.batch = 1};
	const search_outcome o = outcome_of(&ask);
	const struct rlimit none = {.rlim_cur = 600, .rlim_max = RLIM_INFINITY};
	struct rlimit before;
	search *s = search_make();
	line_journal *j = NULL;
	dck_record *facts = NULL;
	dck_err err = {0};
	directory f;

	(void)state;
	assert_int_equal(search_journal_open("/no/such/folder/j", KEY, s, &j, &facts, &err),
			 DCK_E_IO);
	directory_make(&f);
	assert_int_equal(search_journal_open(f.path, KEY, s, &j, &facts, NULL), DCK_OK);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	const dck_status status = search_journal_add(j, &ask, &o, NULL, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, DCK_E_IO);
	assert_non_null(strstr(err.msg, "cannot write to"));
	line_journal_close(j);
	search_free(s);
	assert_int_equal(go_on(&f, 2, NULL), 2);
	os_temp_dir_remove(f.dir);
}

int test_search_journal(void);
int test_search_journal(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_refused),    cmocka_unit_test(test_other_trials),
	    cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests_name("search_journal", tests, scratch_begin, scratch_end);
}
