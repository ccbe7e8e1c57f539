/* test_trace_merge.c - the clocks of a trace file, and files merged by them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "os/os.h"
#include "scratch.h"
#include "profiler/read/trace_align.h"
#include "profiler/read/perfetto/perfetto_read.h"
#include "profiler/read/zone_collect.h"
#include "profiler/write/formats.h"

/* --- the clocks of a file */

static trace_read_facts facts_of(const char *path)
{
	trace_read_facts facts;
	wire_source source;
	zone_collect *c;
	dck_sink sink;
	dck_err err;

	assert_int_equal(zone_collect_new(&c, NULL), DCK_OK);
	zone_collect_sink(c, &sink);
	assert_int_equal(wire_source_open(path, &wire_perfetto, &source, NULL), DCK_OK);
	if (perfetto_read(&source, &zone_collect_format, &sink, &facts, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	wire_source_close(&source);
	zone_collect_free(c);
	return facts;
}

static void record(const dck_trace_config *config, long ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000};

	assert_int_equal(dck_trace_start(config, NULL), DCK_OK);
	DCK_PUSH("around");
	nanosleep(&pause, NULL);
	DCK_POP();
	assert_int_equal(dck_trace_stop(NULL, NULL), DCK_OK);
}

static void a_file_says_how_exact_its_clocks_are(void **state)
{
	const dck_trace_config all = {.path = "all.pftrace"},
			       last = {.path = "last.pftrace", .last = 1 << 20};
	char boot[40];

	(void)state;
	os_boot_id(boot);
	for (int i = 0; i < 2; i++) {
		const uint64_t before = os_boottime_ns();
		record(i ? &last : &all, 50);
		const uint64_t after = os_boottime_ns();
		const trace_read_facts f = facts_of(i ? last.path : all.path);

		assert_true(f.dated);
		assert_string_equal(f.about.boot, boot);
		assert_in_range(f.about.boottime_ns, before, after);
		assert_true(f.about.width_ns > 0);
		/* The end of the recording: by the events' clock and by the others. */
		assert_true(f.own_ns >= 50000000 && f.own_width_ns > 0);
		assert_in_range(f.own_boottime_ns, f.about.boottime_ns + 49000000, after);
	}
}

/* --- alignment of files */

static trace_place place(const char *boot, uint64_t boottime_ns, int64_t unix_ns)
{
	trace_place p = {.path = "f", .last_ns = 1000000000};

	p.facts.dated = true;
	p.facts.about =
	    (trace_header){.unix_ns = unix_ns, .boottime_ns = boottime_ns, .width_ns = 30};
	p.facts.snapshot_boottime_ns = boottime_ns;
	p.facts.own_ns = 1000000000;
	p.facts.own_boottime_ns = boottime_ns + 1000000000;
	p.facts.own_width_ns = 20;
	snprintf(p.facts.about.boot, sizeof p.facts.about.boot, "%s", boot);
	return p;
}

static void files_of_one_boot_lie_exactly(void **state)
{
	/* The wall clock was set in between; it is not used. */
	trace_place p[] = {place("a", 5000, 70000), place("a", 9000, 10000)};

	(void)state;
	assert_int_equal(trace_align(p, 2, NULL), DCK_OK);
	assert_int_equal(p[1].base_ns, 4000);
	assert_true(p[1].same_boot);
	assert_true(p[1].within_ns == 2 * (30 + 20));
	assert_int_equal(trace_place_ns(&p[1], 500), 4500);
}

static void drift_is_taken_back(void **state)
{
	trace_place p[] = {place("a", 5000, 0), place("a", 5000, 0), place("a", 5000, 0)};

	(void)state;
	p[1].facts.own_boottime_ns += 100000;	  /* 100 ppm slow */
	p[2].facts.own_boottime_ns += 5000000000; /* the machine was suspended */
	assert_int_equal(trace_align(p, 3, NULL), DCK_OK);
	assert_int_equal(trace_place_ns(&p[1], 1000000000), 1000100000);
	assert_int_equal(trace_place_ns(&p[1], 500000000), 500050000);
	assert_true(p[1].within_ns < 1000);
	assert_int_equal(trace_place_ns(&p[2], 1000000000), 1000000000);
	assert_true(p[2].within_ns >= 5e9);
	/* The program was killed: only a bound of its clock's drift is known. */
	p[1] = place("a", 5000, 0);
	p[1].facts.own_ns = 0;
	assert_int_equal(trace_align(p, 2, NULL), DCK_OK);
	assert_true(p[1].within_ns >= 500000 && p[1].within_ns < 501000);
}

static void files_of_several_machines_lie_by_the_time_of_day(void **state)
{
	trace_place p[] = {place("a", 5000, 70000), place("b", 900000, 71000),
			   place("b", 900500, 1), place("", 1, 70001)};

	(void)state;
	assert_int_equal(trace_align(p, 4, NULL), DCK_OK);
	assert_int_equal(p[1].base_ns, 1000);
	assert_false(p[1].same_boot);
	assert_true(isnan(p[1].within_ns));
	assert_int_equal(p[2].base_ns, 1500); /* same boot as the second */
	assert_int_equal(p[3].base_ns, 1);
	p[0].facts.about.unix_error_ns = 3000;
	p[1].facts.about.unix_error_ns = 4000;
	assert_int_equal(trace_align(p, 2, NULL), DCK_OK);
	assert_true(p[1].within_ns == 7000 + 100);
}

/* Exchanges of time stamps are better than the time of day, and needed without it. */
static void a_known_line_places_a_file(void **state)
{
	/* At 900000 of its clock the first file's is 700000 less; it gains 10 ppm. */
	const trace_clock_line line = {
	    .base_ns = 900000, .offset_ns = -700000, .drift = 1e-5, .within_ns = 250};
	trace_place p[] = {place("a", 5000, 70000), place("b", 1900000, 0)};

	(void)state;
	p[1].line = &line;
	assert_int_equal(trace_align(p, 2, NULL), DCK_OK);
	assert_false(p[1].same_boot);
	assert_int_equal(p[1].base_ns, 1900000 - 700000 + 10 - 5000);
	assert_int_equal(trace_place_ns(&p[1], 1000000000), p[1].base_ns + 1000010000);
	assert_true(p[1].within_ns == 2 * (30 + 20) + 250);
}

static void without_a_clock_in_common_they_are_refused(void **state)
{
	trace_place p[] = {place("a", 5000, 70000), place("b", 900000, 0)};
	dck_err err;

	(void)state;
	assert_int_equal(trace_align(p, 2, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "no clock in common"));
	p[1] = place("a", 1, 1);
	p[1].facts.dated = false;
	assert_int_equal(trace_align(p, 2, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "no snapshot"));
	p[1] = place("a", UINT64_MAX - 3, 1);
	assert_int_equal(trace_align(p, 2, &err), DCK_E_FORMAT);
}

/* --- merging */

static const dck_cell *row(const dck_record *r, const char *table, size_t column, const char *text)
{
	const dck_table *t = dck_record_table(r, table);

	for (size_t i = 0; t && i < t->nrows; i++) {
		const dck_cell *cells = &t->cells[i * t->ncolumns];
		if (strcmp(cells[column].value.as.text, text) == 0)
			return cells;
	}
	fail_msg("no row %s", text);
	return NULL;
}

/* Changes the boot id in the file, as if from another machine. */
static void move_elsewhere(const char *from, const char *to)
{
	static char bytes[1 << 16];
	char boot[40];
	FILE *f = fopen(from, "rb");
	const size_t n = fread(bytes, 1, sizeof bytes, f);
	size_t moved = 0;

	fclose(f);
	os_boot_id(boot);
	for (size_t i = 0; i + strlen(boot) <= n; i++)
		if (memcmp(bytes + i, boot, strlen(boot)) == 0) {
			bytes[i] = bytes[i] == 'f' ? 'e' : 'f';
			moved++;
		}
	assert_true(moved >= 2);
	f = fopen(to, "wb");
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static dck_status merged(const char *const *paths, size_t n, const char *to, dck_record **ret,
			 dck_err *err)
{
	dck_sink out;
	FILE *f = fopen(to, "wb");

	dck_sink_fd(&out, fileno(f));
	const dck_status st = dck_trace_merge(paths, n, "perfetto", false, &out, ret, err);
	assert_int_equal(dck_sink_finish(&out, NULL), DCK_OK);
	fclose(f);
	return st;
}

static void processes_come_onto_one_timeline(void **state)
{
	static const char *const paths[] = {"a.pftrace", "b.pftrace", "c.pftrace"};
	static const char *const twice[] = {"a.pftrace", "./a.pftrace"};
	static const char *const copied[] = {"a.pftrace", "copy.pftrace"};
	const dck_trace_config a = {.path = "a.pftrace"}, b = {.path = "b.pftrace"};
	dck_record *r = NULL, *read = NULL;
	dck_err err;

	(void)state;
	record(&a, 20);
	record(&b, 20); /* the same process, later */
	move_elsewhere("a.pftrace", "c.pftrace");
	if (merged(paths, 3, "all.pftrace", &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(row(r, "zones", 0, "around")[1].value.as.i, 3);
	const dck_cell *x = row(r, "processes", 5, "a.pftrace"),
		       *y = row(r, "processes", 5, "b.pftrace");
	const dck_cell *z = row(r, "processes", 5, "c.pftrace");
	assert_int_equal(x[1].value.as.i, (int64_t)getpid());
	assert_int_equal(y[1].value.as.i, (int64_t)getpid());
	assert_int_equal(z[1].value.as.i, (int64_t)getpid() + 10000000); /* another process */
	assert_true(y[3].value.as.i >= x[4].value.as.i); /* it started after the other had ended */
	assert_int_equal(y[2].value.as.i, 1);
	/* Generous, because a busy machine may interrupt every clock reading. */
	assert_true(y[6].value.as.i > 0 && y[6].value.as.i < 50000000);
	assert_int_equal(dck_trace_read("all.pftrace", &read, NULL), DCK_OK);
	assert_int_equal(row(read, "zones", 0, "around")[1].value.as.i, 3);
	assert_int_equal(dck_record_fact(read, "trace", "threads")->value.as.i, 3);
	dck_record_free(r);
	dck_record_free(read);
	assert_int_equal(merged(twice, 2, "all.pftrace", NULL, &err), DCK_E_ARG);
	assert_int_equal(system("cp a.pftrace copy.pftrace"), 0);
	assert_int_equal(merged(copied, 2, "all.pftrace", NULL, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "at the same time"));
}

/* What a file of foreign_write() has, besides its process. */
typedef struct foreign_parts {
	const char *name, *signal;
	bool first_cut;
} foreign_parts;

/* A trace of one range, with this process id, from another machine. */
static void foreign_write(const char *path, char boot, int32_t pid, foreign_parts parts)
{
	const trace_format *f = trace_format_find("perfetto");
	const trace_event events[] = {{.ns = 10, .name = 1, .kind = TRACE_BEGIN},
				      {.ns = 20, .kind = TRACE_END}};
	const char *called = parts.name ? parts.name : "a";
	trace_header about = {.unix_ns = 1700000000000000000,
			      .monotonic_ns = 1000,
			      .boottime_ns = 1000,
			      .boot = {boot, '\0'},
			      .width_ns = 1,
			      .unix_error_ns = 1,
			      .losses = {.cut = parts.first_cut, .first_cut = parts.first_cut}};
	FILE *file = fopen(path, "wb");
	dck_sink sink;
	trace_out *o;

	snprintf(about.losses.signal, sizeof about.losses.signal, "%s",
		 parts.signal ? parts.signal : "");
	dck_sink_fd(&sink, fileno(file));
	assert_int_equal(f->open(&o, &sink, &about, NULL), DCK_OK);
	f->intern(o, 1, &(trace_name){.text = called, .n = strlen(called)});
	f->track(o, &(trace_track){.id = 1, .kind = TRACE_PROCESS, .pid = pid, .name = "p"});
	f->track(
	    o, &(trace_track){.id = 2, .parent = 1, .kind = TRACE_THREAD, .pid = pid, .tid = pid});
	f->events(o, 2, events, 2);
	if (trace_losses_any(&about.losses))
		f->clocks(o, 20, &about);
	assert_int_equal(f->close(o, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	fclose(file);
}

static void numbers_of_processes_end(void **state)
{
	static const char *const paths[] = {"a.pftrace", "b.pftrace"};
	const int32_t fits = INT32_MAX - 10000000;
	dck_record *r = NULL;
	dck_err err;

	(void)state;
	foreign_write(paths[0], 'a', fits, (foreign_parts){0});
	foreign_write(paths[1], 'b', fits, (foreign_parts){0});
	if (merged(paths, 2, "all.pftrace", &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(row(r, "processes", 5, paths[1])[1].value.as.i, INT32_MAX);
	dck_record_free(r);
	foreign_write(paths[0], 'a', fits + 1, (foreign_parts){0});
	foreign_write(paths[1], 'b', fits + 1, (foreign_parts){0});
	assert_int_equal(merged(paths, 2, "all.pftrace", NULL, &err), DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, "too many of the files have a process 2137483648"));
}

/* Long names that differ at their end are two. */
static void long_names_stay_apart(void **state)
{
	static const char *const paths[] = {"a.pftrace", "b.pftrace"};
	static char names[2][3000];
	dck_record *r = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		memset(names[i], 'q', sizeof names[i] - 1);
		names[i][sizeof names[i] - 2] = (char)('x' + i);
		foreign_write(paths[i], 'a', 10 + i, (foreign_parts){.name = names[i]});
	}
	assert_int_equal(merged(paths, 2, "all.pftrace", &r, NULL), DCK_OK);
	dck_record_free(r);
	assert_int_equal(dck_trace_read("all.pftrace", &r, NULL), DCK_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(row(r, "zones", 0, names[i])[1].value.as.i, 1);
	dck_record_free(r);
}

static bool has_note(const dck_record *r, const char *code)
{
	bool has = false;

	for (size_t i = 0; i < r->nnotes; i++)
		has |= strcmp(r->notes[i].code, code) == 0;
	return has;
}

/* The signal of any process is in the whole, which is incomplete by that of the first alone. */
static void the_signal_of_a_process_stays(void **state)
{
	static const char *const paths[] = {"a.pftrace", "b.pftrace"};
	static const struct {
		foreign_parts parts[2];
		const char *signal;
		bool incomplete;
	} cases[] = {
	    {{{0}, {.signal = "SIGSEGV"}}, "SIGSEGV", false},
	    {{{.signal = "SIGBUS"}, {.signal = "SIGSEGV"}}, "SIGBUS", true},
	    {{{.first_cut = true}, {.signal = "SIGSEGV"}}, NULL, true},
	    {{{0}, {.first_cut = true}}, NULL, false},
	};
	dck_record *r = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (int k = 0; k < 2; k++)
			foreign_write(paths[k], 'a', 10 + k, cases[i].parts[k]);
		assert_int_equal(merged(paths, 2, "all.pftrace", NULL, NULL), DCK_OK);
		assert_int_equal(dck_trace_read("all.pftrace", &r, NULL), DCK_OK);
		const dck_fact *signal = dck_record_fact(r, "trace", "signal");
		assert_int_equal(signal != NULL, cases[i].signal != NULL);
		if (signal)
			assert_string_equal(signal->value.as.text, cases[i].signal);
		assert_int_equal(r->incomplete, cases[i].incomplete);
		assert_int_equal(has_note(r, "program-killed"), signal && cases[i].incomplete);
		assert_true(has_note(r, "trace-child-cut"));
		dck_record_free(r);
	}
}

int test_trace_merge(void);
int test_trace_merge(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(a_file_says_how_exact_its_clocks_are),
	    cmocka_unit_test(files_of_one_boot_lie_exactly),
	    cmocka_unit_test(drift_is_taken_back),
	    cmocka_unit_test(files_of_several_machines_lie_by_the_time_of_day),
	    cmocka_unit_test(a_known_line_places_a_file),
	    cmocka_unit_test(without_a_clock_in_common_they_are_refused),
	    SCRATCH_TEST(processes_come_onto_one_timeline),
	    SCRATCH_TEST(numbers_of_processes_end),
	    SCRATCH_TEST(long_names_stay_apart),
	    SCRATCH_TEST(the_signal_of_a_process_stays),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
