/* rank_arrivals.h - the arrivals of all ranks at collectives: written rank after rank, read step
 * after step. They are in a file, because there are as many of them as ranks times steps.
 *
 *	rank_arrivals_open(directory, units, &a, err);
 *	rank_arrivals_append(&a, &arrival);	// rank after rank, in the order of their steps
 *	rank_arrivals_flush(&a, err);
 *	rank_arrivals_read(&a, until, &rows, &n, err);	// until = 10, 20, 30, ...
 *	rank_arrivals_done(&a);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_ARRIVALS_H
#define RANKS_RANK_ARRIVALS_H

#include "base/sink.h"
#include "profiler/ranks/rank_blame.h"

typedef struct rank_arrivals {
	char path[4096];
	int fd;	      /* to write, then to read */
	dck_sink out; /* its failure is sticky */
	size_t units;
	struct arrival_span {
		uint64_t next, end; /* those of a unit that were not read, by their number */
	} * unit;		    /* @owned */
	uint64_t n;
	rank_arrival *row; /* @owned; of some steps */
	size_t cap;
} rank_arrivals;

/* Makes a file in the directory. E_IO, E_NOMEM. Else rank_arrivals_done() is not needed. */
dck_status rank_arrivals_open(const char *directory, size_t units, rank_arrivals *ret,
			      dck_err *err);
/* Appends one, of the unit of the last one or a later unit, of its step or a later one. */
void rank_arrivals_append(rank_arrivals *a, const rank_arrival *arrival);
/* Ends the writing. E_IO: the file could not be written. */
dck_status rank_arrivals_flush(rank_arrivals *a, dck_err *err);
/* Reads those of all units in steps below `until` that were not read yet, unit after unit. *ret is
 * borrowed until the next call, which may write to it. E_IO, E_NOMEM. */
dck_status rank_arrivals_read(rank_arrivals *a, size_t until, rank_arrival **ret, size_t *ret_n,
			      dck_err *err);
void rank_arrivals_done(rank_arrivals *a); /* removes the file */

#endif
