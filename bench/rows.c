/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK_ROUNDS = 2, MISSED = 3 };

static bool missed;

bool bench_quick(void)
{
	return getenv("DEEPCLOCK_BENCH_QUICK") != NULL;
}

size_t bench_rounds(size_t all)
{
	return bench_quick() && all > QUICK_ROUNDS ? QUICK_ROUNDS : all;
}

int bench_status(void)
{
	return missed && !bench_quick() ? MISSED : 0;
}

static int rows_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void text_put(FILE *f, const char *key, const char *text)
{
	fprintf(f, ", \"%s\": \"", key);
	for (; *text; text++)
		fprintf(f, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	fputc('"', f);
}

/* A line in one write, because benchmarks may run side by side. */
static void append(const bench_row *row, const double *values, size_t n)
{
	const char *path = getenv("DEEPCLOCK_BENCH_ROWS");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!path)
		return;
	if (!f || setvbuf(f, NULL, _IOFBF, 1 << 16) != 0) {
		fprintf(stderr, "cannot write %s\n", path);
		exit(1);
	}
	fprintf(f, "{\"values\": [");
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s%.17g", i ? ", " : "", values[i]);
	fputc(']', f);
	text_put(f, "work", row->work);
	text_put(f, "unit", row->unit);
	if (row->peer)
		text_put(f, "peer", row->peer);
	if (row->absent)
		text_put(f, "absent", row->absent);
	if (row->most > 0 || row->none_allowed)
		fprintf(f, ", \"most\": %.17g", row->most);
	if (row->least > 0)
		fprintf(f, ", \"least\": %.17g", row->least);
	if (row->now)
		fprintf(f, ", \"now\": %.17g", *row->now);
	fputs("}\n", f);
	fclose(f);
}

void bench_row_put(const bench_row *row, const double *values, size_t n)
{
	double *sorted = malloc((n + 1) * sizeof *sorted);

	n = row->absent ? 0 : n;
	append(row, values, n);
	printf("  %s%s%s: ", row->work, row->peer ? ", " : "", row->peer ? row->peer : "");
	if (row->absent || n == 0 || !sorted) {
		printf("absent: %s\n", row->absent ? row->absent : "no round");
		free(sorted);
		return;
	}
	memcpy(sorted, values, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, rows_by_value);
	const double middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
	const double now = row->now ? *row->now : middle;
	const bool above = (row->most > 0 || row->none_allowed) && !(now <= row->most);
	const bool below = row->least > 0 && !(now >= row->least);

	printf("%.4g (%.4g to %.4g) %s%s\n", now, sorted[0], sorted[n - 1], row->unit,
	       above || below ? ": MISSED" : "");
	fflush(stdout);
	missed = missed || above || below;
	free(sorted);
}
