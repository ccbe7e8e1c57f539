/* test_lap.c - stopwatches inside a program. No duration is asserted, only necessary relations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/unstable.h"
#include "os/os.h"
#include "profiler/lap/tensorboard.h"
#include "scratch.h"
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include <cmocka.h>

static int forget(void **state)
{
	(void)state;
	dck_laps_reset();
	return 0;
}

static dck_record *laps(void)
{
	dck_record *r = NULL;

	assert_int_equal(dck_laps_record(&r, NULL), DCK_OK);
	return r;
}

/* The cell in row `name` and column `key` of the table `laps`. */
static const dck_cell *cell(const dck_record *r, const char *name, const char *key)
{
	const dck_table *t = dck_record_table(r, "laps");

	assert_non_null(t);
	for (size_t i = 0; i < t->nrows; i++)
		for (size_t k = 0; k < t->ncolumns; k++)
			if (strcmp(t->cells[i * t->ncolumns].value.as.text, name) == 0 &&
			    strcmp(t->columns[k].key, key) == 0)
				return &t->cells[i * t->ncolumns + k];
	fail_msg("no row %s with %s", name, key);
	return NULL;
}

static void spend(uint64_t ns)
{
	const uint64_t until = os_now_ns() + ns;

	while (os_now_ns() < until)
		;
}

static void what_a_lap_was_is_told(void **state)
{
	dck_lap_result told;
	char open[DCK_LAP_LINE_SIZE];

	(void)state;
	for (uint64_t i = 1; i <= 2; i++) {
		dck_lap *l = dck_lap_begin("epoch");

		spend(1000000);
		assert_string_equal(dck_laps_open_line(1, open, sizeof open), "");
		dck_lap_end_result(l, &told);
		assert_int_equal(told.index, i);
		assert_in_range(told.wall_ns, 1000000, UINT64_MAX);
		assert_true(told.cpu_ns > 0);
		assert_memory_equal(told.line, i == 1 ? "epoch | " : "epoch 2 | ", i == 1 ? 8 : 10);
	}
	dck_lap *l = dck_lap_begin("epoch");
	dck_lap_total(l, 5);
	while (dck_lap_elapsed_ns(l) < 1050000000)
		usleep(10000);
	assert_memory_equal(dck_laps_open_line(1, open, sizeof open), "epoch 3/5 1.", 12);
	dck_lap_end(l);
	dck_lap_end_result(NULL, &told);
	assert_int_equal(told.wall_ns, 0);
	assert_string_equal(told.line, "");
}

static void laps_lie_inside_laps(void **state)
{
	char line[DCK_LAP_LINE_SIZE];
	dck_lap *experiment = dck_lap_begin("experiment");

	(void)state;
	for (int epoch = 0; epoch < 3; epoch++) {
		dck_lap *e = dck_lap_begin("epoch");

		dck_lap_total(e, 3);
		for (int step = 0; step < 4; step++) {
			dck_lap *s = dck_lap_begin("step");

			spend(10000);
			dck_lap_end_line(s, line, sizeof line);
			/* counted within its epoch, and the first line has no number */
			assert_int_equal(strncmp(line, "step ", 5), 0);
			assert_int_equal(line[5], step ? '1' + step : '|');
		}
		dck_lap_value(e, "loss", 0.21034, NULL);
		dck_lap_value(e, "items", 100, NULL);
		dck_lap_end_line(e, line, sizeof line);
		assert_int_equal(line[6], '1' + epoch);
		assert_non_null(strstr(line, "/3 | loss 0.2103 | "));
		assert_non_null(strstr(line, " wall, "));
		assert_non_null(strstr(line, " cpu | "));
		assert_non_null(strstr(line, " items/s"));
		assert_int_equal(strstr(line, " | left ") != NULL, epoch < 2);
	}
	dck_lap_end_line(experiment, line, sizeof line);
	assert_int_equal(strncmp(line, "experiment | ", 13), 0);

	dck_record *r = laps();
	assert_int_equal(cell(r, "step", "laps")->value.as.i, 12);
	assert_int_equal(cell(r, "epoch", "laps")->value.as.i, 3);
	assert_int_equal(dck_record_value(r, "lap/count/experiment"), 1);
	assert_true(cell(r, "experiment", "total")->value.as.r >=
		    cell(r, "epoch", "total")->value.as.r);
	assert_true(cell(r, "epoch", "total")->value.as.r >= cell(r, "step", "total")->value.as.r);
	assert_true(cell(r, "step", "min")->value.as.r >= 10000);
	assert_true(dck_record_value(r, "lap/wall/step") >= 10000);
	const double rate = dck_record_value(r, "lap/rate/epoch");
	assert_true(fabs(rate * cell(r, "epoch", "total")->value.as.r / 1e9 / 300 - 1) < 1e-9);
	assert_int_equal(dck_record_metric(r, "lap/rate/step")->value.kind, DCK_VALUE_ABSENT);
	const dck_series *loss = dck_record_series(r, "laps/epoch/loss");
	assert_int_equal(loss->n, 3);
	assert_true(loss->values[2] == 0.21034);
	assert_true(loss->at_ns[0] < loss->at_ns[1]);
	dck_record_free(r);
}

/* The expected laps, twice: a notebook's cell that is run again. */
static void complete_laps_begin_anew(void **state)
{
	static const char *const begins[] = {"epoch 1/2 |", "epoch 2/2 |", "epoch 1/2 |",
					     "epoch 2/2 |"};
	dck_lap_result result;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		dck_lap *e = dck_lap_begin("epoch");

		dck_lap_total(e, 2);
		dck_lap_end_result(e, &result);
		assert_int_equal(strncmp(result.line, begins[i], strlen(begins[i])), 0);
		assert_int_equal(result.index, i % 2 + 1);
		assert_int_equal(strstr(result.line, " | left ") != NULL, i % 2 == 0);
	}

	dck_record *r = laps();
	assert_int_equal(cell(r, "epoch", "laps")->value.as.i, 4);
	assert_int_equal(dck_record_series(r, "laps/epoch/wall")->n, 4);
	dck_record_free(r);
}

static void several_at_once_and_out_of_order(void **state)
{
	char line[DCK_LAP_LINE_SIZE];
	dck_lap *a = dck_lap_begin("a"), *b = dck_lap_begin("b"), *c = dck_lap_begin("c");

	(void)state;
	dck_lap_end(a); /* the laps inside stay open */
	assert_true(dck_lap_elapsed_ns(c) <= dck_lap_elapsed_ns(b));
	dck_lap *d = dck_lap_begin("c"); /* the second one named c, inside c */
	dck_lap_end(c);
	dck_lap_end_line(d, line, sizeof line);
	assert_int_equal(strncmp(line, "c | ", 4), 0);
	dck_record *r = laps();
	assert_int_equal(dck_record_fact(r, "laps", "open")->value.as.i, 1);
	dck_record_free(r);
	dck_lap_end(b);
	dck_lap_end(NULL);
	assert_string_equal(dck_lap_end_line(NULL, line, sizeof line), "");
	assert_int_equal(dck_lap_elapsed_ns(NULL), 0);
	dck_lap_value(NULL, "x", 1, NULL);
	dck_lap_total(NULL, 1);
}

static void values_are_kept_as_they_are(void **state)
{
	char line[DCK_LAP_LINE_SIZE];
	dck_lap *l = dck_lap_begin("v");

	(void)state;
	dck_lap_value(l, "bytes", 3 << 20, "B");
	dck_lap_value(l, "wait", 2500000, "ns");
	dck_lap_value(l, "lr", 1e-3, NULL);
	dck_lap_value(l, "bad", NAN, NULL);
	dck_lap_value(l, "worse", INFINITY, NULL);
	dck_lap_value(l, "low", -INFINITY, "B");
	dck_lap_value(l, "step", -1234567, NULL);
	dck_lap_value(l, "norm", 1, "m");
	dck_lap_value(l, "norm", 2, "m"); /* replaces the previous value */
	dck_lap_value(l, "items", 5, "tokens");
	dck_lap_value(l, "wall", 8, NULL);
	dck_lap_end_line(l, line, sizeof line);
	assert_non_null(
	    strstr(line, " | bytes 3.00 MiB | wait 2.50 ms | lr 0.001 | bad nan | worse inf | "
			 "low -inf | step -1,234,567 | norm 2 m | "));
	assert_non_null(strstr(line, " tokens/s"));
	l = dck_lap_begin("v");
	dck_lap_value(l, "late", 7, NULL); /* the first lap has none */
	dck_lap_end(l);
	dck_record *r = laps();
	assert_null(dck_record_series(r, "laps/v/bad"));
	assert_int_equal(dck_record_series(r, "laps/v/late")->n, 1);
	assert_int_equal(dck_record_series(r, "laps/v/norm")->n, 1);
	assert_int_equal(dck_record_series(r, "laps/v/wall")->n, 2);
	assert_int_equal(dck_record_series(r, "laps/v/wall_value")->n, 1);
	assert_int_equal(dck_record_series(r, "laps/v/bytes")->unit, DCK_UNIT_BYTE);
	dck_record_free(r);
	char small[9];
	assert_string_equal(dck_lap_end_line(dck_lap_begin("a long name"), small, sizeof small),
			    "a long n");
	dck_lap_end(dck_lap_begin(""));
	r = laps();
	assert_non_null(dck_record_metric(r, "lap/wall/lap"));
	dck_record_free(r);
	/* A line stays one line, whatever the names are. */
	l = dck_lap_begin("two\nlines\033[2J");
	dck_lap_value(l, "a\nb", 1, NULL);
	dck_lap_end_line(l, line, sizeof line);
	assert_null(strpbrk(line, "\n\033"));
	assert_non_null(strstr(line, "two lines [2J | a b 1 | "));
}

static void a_series_is_bounded_and_sums_are_exact(void **state)
{
	const int n = 200000;

	(void)state;
	for (int i = 0; i < n; i++) {
		dck_lap *l = dck_lap_begin("many");

		dck_lap_value(l, "i", i, NULL);
		dck_lap_end(l);
	}
	dck_record *r = laps();
	const dck_series *s = dck_record_series(r, "laps/many/i");
	assert_int_equal(cell(r, "many", "laps")->value.as.i, n);
	assert_true(s->n > 32768 && s->n <= 65536);
	for (size_t i = 0; i < s->n; i++)
		assert_true(s->values[i] == 4.0 * (double)i); /* evenly spaced from the first on */
	dck_record_free(r);
}

static void names_are_bounded(void **state)
{
	char name[32];

	(void)state;
	for (int i = 0; i < 1100; i++) {
		snprintf(name, sizeof name, "name %d", i);
		dck_lap_end(dck_lap_begin(name));
	}
	dck_record *r = laps();
	assert_true(dck_record_table(r, "laps")->nrows <= 1000);
	assert_true(dck_record_fact(r, "laps", "lost")->value.as.i >= 100);
	assert_non_null(dck_record_note(r, "laps-lost"));
	dck_record_free(r);
	/* A reset removes the names, but for those of open laps and of laps in which they are. */
	dck_laps_reset();
	dck_lap *outer = dck_lap_begin("outer"), *inner = dck_lap_begin("inner");
	dck_lap_end(outer);
	for (int i = 0; i < 1100; i++) {
		snprintf(name, sizeof name, "other %d", i);
		dck_lap_end(dck_lap_begin(name));
	}
	dck_laps_reset();
	dck_lap_end(inner);
	dck_lap_end(dck_lap_begin("new"));
	r = laps();
	assert_int_equal(dck_record_table(r, "laps")->nrows, 2);
	assert_int_equal(cell(r, "inner", "laps")->value.as.i, 1);
	assert_int_equal(cell(r, "new", "laps")->value.as.i, 1);
	assert_null(dck_record_note(r, "laps-lost"));
	dck_record_free(r);
}

static void values_are_bounded(void **state)
{
	char name[32];

	(void)state;
	dck_lap *l = dck_lap_begin("values");
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "value %d", i);
		dck_lap_value(l, name, i, NULL);
	}
	dck_lap_end(l);
	dck_record *r = laps();
	assert_non_null(dck_record_series(r, "laps/values/value 15"));
	assert_null(dck_record_series(r, "laps/values/value 16"));
	assert_int_equal(dck_record_fact(r, "laps", "values_lost")->value.as.i, 4);
	const dck_note *n = dck_record_note(r, "laps-lost");
	assert_non_null(strstr(n->text, "16 others: 4"));
	assert_string_equal(n->remedy,
			    "fewer values in a lap, or another name for laps with other values");
	dck_record_free(r);
}

static void a_recording_has_the_laps(void **state)
{
	const dck_trace_config c = {0};
	dck_record *r = NULL;

	(void)state;
	dck_lap *before = dck_lap_begin("before"); /* started before any recording */
	assert_int_equal(dck_trace_start(&c, NULL), DCK_OK);
	for (int i = 0; i < 5; i++)
		dck_lap_end(dck_lap_begin("epoch"));
	dck_lap_end(before);
	assert_int_equal(dck_trace_stop(&r, NULL), DCK_OK);
	const dck_table *t = dck_record_table(r, "zones");
	assert_int_equal(t->nrows, 1);
	assert_string_equal(t->cells[0].value.as.text, "epoch");
	assert_int_equal(t->cells[1].value.as.i, 5);
	dck_record_free(r);
}

static void *in_thread(void *self)
{
	for (int i = 0; i < 1000; i++) {
		dck_lap *outer = dck_lap_begin("thread"), *inner = dck_lap_begin(self);

		dck_lap_value(inner, "i", i, NULL);
		dck_lap_end(inner);
		dck_lap_end(outer);
	}
	return NULL;
}

static void *end_it(void *self)
{
	dck_lap_end(self);
	return NULL;
}

static void any_thread_may_use_them(void **state)
{
	char names[4][8];
	pthread_t thread[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		snprintf(names[i], sizeof names[i], "t%u", (unsigned)i % 10);
		assert_int_equal(pthread_create(&thread[i], NULL, in_thread, names[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(pthread_create(&thread[0], NULL, end_it, dck_lap_begin("handed over")), 0);
	pthread_join(thread[0], NULL);
	dck_record *r = laps();
	assert_int_equal(cell(r, "thread", "laps")->value.as.i, 4000);
	assert_int_equal(cell(r, "t2", "laps")->value.as.i, 1000);
	/* Its CPU time does not belong to a single thread. */
	assert_null(dck_record_series(r, "laps/handed over/thread_cpu"));
	assert_non_null(dck_record_series(r, "laps/handed over/cpu"));
	dck_record_free(r);
}

static void lines_come_by_themselves(void **state)
{
	char text[4096] = "";
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	const dck_laps_config c = {.fd = fd[1], .depth = 1, .live = true, .stamps = true};
	assert_int_equal(dck_laps_start(&c, NULL), DCK_OK);
	dck_lap *outer = dck_lap_begin("outer");
	dck_lap_end(dck_lap_begin("inner"));
	dck_lap_end(outer);
	/* A child's laps stay in the child. */
	const pid_t child = fork();
	if (child == 0) {
		dck_lap_end(dck_lap_begin("child"));
		_exit(dck_laps_stop(NULL) == DCK_OK ? 0 : 1);
	}
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(dck_laps_stop(NULL), DCK_OK);
	dck_lap_end(dck_lap_begin("after"));
	close(fd[1]);
	assert_true(read(fd[0], text, sizeof text - 1) > 0);
	close(fd[0]);
	/* "2026-11-22 09:40:12 outer | ...": no live line, because a pipe is not a terminal. */
	assert_int_equal(text[4], '-');
	assert_int_equal(text[13], ':');
	assert_int_equal(strncmp(text + 20, "outer | ", 8), 0);
	assert_int_equal(strchr(text, '\n')[1], '\0');
}

static void a_full_disk_is_said_at_the_end(void **state)
{
	dck_laps_config c = {.fd = -1, .depth = 1};
	dck_err err = {0};

	(void)state;
	assert_int_equal(dck_laps_start(&c, NULL), DCK_OK);
	dck_lap_end(dck_lap_begin("x"));
	assert_int_equal(dck_laps_stop(&err), DCK_E_IO);
	assert_true(err.msg[0]);
	assert_int_equal(dck_laps_stop(&err), DCK_OK);
	c.tensorboard = "/dev/null/folder";
	assert_int_equal(dck_laps_start(&c, &err), DCK_E_IO);
}

/* The event that TensorFlow's own writer makes of a scalar, with its checksums. */
static void tensorboard_events_are_those_of_the_format(void **state)
{
	static const unsigned char version[] = {0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22};
	static const unsigned char scalar[] = {
	    0x20, 0,	0,    0,    0,	  0,   0,    0,	   0x29, 0xed, 0xa9, 0x50,
	    0x09, 0,	0,    0,    0,	  0,   0,    0xf0, 0x3f, 0x10, 0x01, 0x2a,
	    0x13, 0x0a, 0x11, 0x0a, 0x0a, 'l', 'a',  't',  'e',	 'n',  'c',  'y',
	    '_',  'm',	's',  0x15, 0,	  0,   0xc0, 0x3f, 0x59, 0xfe, 0xdd, 0x3e};
	unsigned char bytes[256];
	tensorboard *t = NULL;

	(void)state;
	assert_int_equal(tensorboard_open("runs/first", &t, NULL), DCK_OK);
	tensorboard_scalar(t, "latency_ms", 1, 1000000000, 1.5);
	assert_int_equal(tensorboard_flush(t, NULL), DCK_OK);
	tensorboard_close(t);
	tensorboard_close(NULL);
	assert_int_equal(system("cat runs/first/events.out.tfevents.[0-9]* > all"), 0);
	FILE *f = fopen("all", "rb");
	assert_non_null(f);
	assert_int_equal(fread(bytes, 1, sizeof bytes, f), 88);
	fclose(f);
	assert_memory_equal(bytes, version, sizeof version);
	assert_memory_equal(bytes + 40, scalar, sizeof scalar);
}

/* A reader stops at a partial event: none is left when the disk is full. */
static void half_an_event_is_taken_back(void **state)
{
	const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct rlimit before, few;
	tensorboard *t = NULL;
	dck_err err = {0};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(tensorboard_open("full", &t, NULL), DCK_OK);
	tensorboard_scalar(t, "a", 1, 0, 1);
	assert_int_equal(tensorboard_flush(t, NULL), DCK_OK);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	few = before;
	few.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	for (uint64_t i = 0; i < 10; i++)
		tensorboard_scalar(t, "a", 2 + i, 0, 1);
	assert_int_equal(tensorboard_flush(t, &err), DCK_E_IO);
	assert_int_equal(
	    setrlimit(RLIMIT_FSIZE, before.rlim_max == RLIM_INFINITY ? &none : &before), 0);
	assert_non_null(strstr(err.msg, "full/events.out.tfevents."));
	tensorboard_scalar(t, "a", 20, 0, 1);
	assert_int_equal(tensorboard_flush(t, NULL), DCK_OK);
	tensorboard_close(t);
	/* The header of 40 bytes, and two events of 39. */
	assert_int_equal(system("[ $(cat full/* | wc -c) -eq 118 ]"), 0);
}

int test_lap(void);
int test_lap(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(what_a_lap_was_is_told, forget),
	    cmocka_unit_test_setup(laps_lie_inside_laps, forget),
	    cmocka_unit_test_setup(complete_laps_begin_anew, forget),
	    cmocka_unit_test_setup(several_at_once_and_out_of_order, forget),
	    cmocka_unit_test_setup(values_are_kept_as_they_are, forget),
	    cmocka_unit_test_setup(a_series_is_bounded_and_sums_are_exact, forget),
	    cmocka_unit_test_setup(a_recording_has_the_laps, forget),
	    cmocka_unit_test_setup(any_thread_may_use_them, forget),
	    cmocka_unit_test_setup(lines_come_by_themselves, forget),
	    cmocka_unit_test_setup(a_full_disk_is_said_at_the_end, forget),
	    SCRATCH_TEST(tensorboard_events_are_those_of_the_format),
	    SCRATCH_TEST(half_an_event_is_taken_back),
	    cmocka_unit_test_setup(names_are_bounded, forget),
	    cmocka_unit_test_setup(values_are_bounded, forget),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
