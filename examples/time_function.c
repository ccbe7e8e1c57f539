/* time_function.c - how long one call of a function takes, and how sure that is.
 *
 *     time_function [RECORD.json]
 *
 * Measures a product of two 64x64 matrices. Progress goes to stderr, the report to stdout, and the
 * whole record, raw samples included, to the file.
 *
 *     cc time_function.c $(pkg-config --cflags --libs deepclock) -o time_function
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/deepclock.h>
#include <math.h>
#include <stdio.h>

#define N 64

typedef struct matrices {
	float a[N][N], b[N][N], c[N][N];
} matrices;

/* One run. Its result must be observable (here: memory that an argument points to), or the compiler
 * removes the computation. */
static int multiply(void *arg)
{
	matrices *m = arg;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;

			for (int k = 0; k < N; k++)
				sum += m->a[i][k] * m->b[k][j];
			m->c[i][j] = sum;
		}
	return 0; /* anything else: the run failed */
}

/* Called between runs, a few times a second, never while the clock runs. */
static void show_progress(void *self, const dck_progress *p)
{
	char estimate[32];

	(void)self;
	if (isnan(p->estimate_ns)) /* not known yet */
		fprintf(stderr, "%s\n", p->phase);
	else
		fprintf(stderr, "%-9s %8llu runs   %s\n", p->phase, (unsigned long long)p->runs,
			dck_text_time(p->estimate_ns, estimate, sizeof estimate));
}

/* A warning about the numbers, with what to do. */
static void show_note(void *self, const dck_note *note)
{
	(void)self;
	fprintf(stderr, "note: %s (%s)\n", note->text, note->code);
}

/* One metric: its value and its interval, or the reason of absence. */
static void show_metric(const dck_record *record, const char *tag)
{
	const dck_metric *m = dck_record_metric(record, tag);
	char value[32], lo[32], hi[32];

	if (!m)
		fprintf(stderr, "%s: not measured\n", tag);
	else if (m->value.kind == DCK_VALUE_ABSENT)
		fprintf(stderr, "%s: %s\n", tag, m->value.as.text);
	else if (m->level == 0)
		fprintf(stderr, "%s: %s\n", tag,
			dck_text_time(dck_record_value(record, tag), value, sizeof value));
	else
		fprintf(stderr, "%s: %s, between %s and %s at %g %%\n", tag,
			dck_text_time(dck_record_value(record, tag), value, sizeof value),
			dck_text_time(m->lo, lo, sizeof lo), dck_text_time(m->hi, hi, sizeof hi),
			100 * m->level);
}

int main(int argc, char **argv)
{
	static matrices m;
	const dck_observer watch = {.progress = show_progress, .note = show_note};
	dck_subject subject;
	dck_plan plan;
	dck_record *record;
	dck_err err;
	dck_status status;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			m.a[i][j] = (float)(i + j) / N;
			m.b[i][j] = (float)(i - j) / N;
		}

	dck_subject_init(&subject);
	subject.kind = DCK_SUBJECT_FUNCTION;
	subject.text = "64x64 matrix product";
	subject.function = multiply;
	subject.arg = &m;

	dck_plan_init(&plan);
	plan.max_time_ns = 2000000000; /* stop after 2 s even if the median is not known to 1 % */
	plan.title = "time_function";

	if (dck_bench(&subject, &plan, &watch, &record, &err) != DCK_OK) {
		fprintf(stderr, "time_function: %s\n", err.msg);
		return 1;
	}
	show_metric(record, "latency/median");
	show_metric(record, "latency/p99");

	status = dck_print(record, 1, &err);
	if (status == DCK_OK && argc > 1)
		status = dck_record_save(record, argv[1], &err);
	dck_record_free(record);
	if (status != DCK_OK) {
		fprintf(stderr, "time_function: %s\n", err.msg);
		return 1;
	}
	return 0;
}
