/* rows.h - rows of the table of `make bench`: one for each work and way, with the value of every
 * round. bench/table.py collects them; bench/rows.py is the same for Python.
 *
 *	const bench_row row = {.work = "a zone, recorded", .unit = "times two time stamps"};
 *
 *	bench_row_put(&row, ratio, ROUNDS);
 *	return bench_status();
 *
 * Environment: DEEPCLOCK_BENCH_ROWS is the file that rows are appended to as lines of JSON;
 * DEEPCLOCK_BENCH_QUICK asks for a run of few rounds, in which no limit counts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_row {
	const char *work; /* without the peer's name: peers of one work have the same */
	const char *unit;
	const char *peer;   /* NULL: deepclock */
	const char *absent; /* of a peer: the command that installs it; there are no values */
	double most, least; /* limits of the value; 0: none */
	bool none_allowed;  /* the limit is 0 */
	const double *now;  /* the value, if it is not the median of the rounds */
} bench_row;

/* Prints the row as a line, and appends it to the file. */
void bench_row_put(const bench_row *row, const double *values, size_t n);
/* Returns `all`, or a few in a quick run. */
size_t bench_rounds(size_t all);
bool bench_quick(void);
/* Returns the exit status: 3 if a row missed its limit, 0 otherwise and in a quick run. */
int bench_status(void);

#endif
