/* sample_beside.h - samples a program that the caller starts and waits for, e.g. a recorder: its
 * threads sample themselves in signal handlers, driven by perf_event if the kernel permits it, else
 * by timers.
 *
 *	DCK_TRY(sample_beside_open(997, argv, log, &s, err));
 *	DCK_TRY(sample_beside_start(s, err));
 *	... the program, with sample_beside_environment(), until it has ended ...
 *	status = sample_beside_end(s, &usage, &record, err);
 *	for (sample_moment m; sample_beside_next(s, &m);)
 *		...
 *	sample_beside_close(s);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_BESIDE_H
#define SAMPLE_SAMPLE_BESIDE_H

#include "deepclock/record.h"

#include "base/mem.h"
#include "os/os.h"
#include "profiler/sample/sample_moment.h"
#include "record/tree/cct.h"

typedef struct sample_beside sample_beside;

/* Prepares the sampling. log: a file to create for the times of the samples, 32 bytes each.
 * E_UNSUP: no library can be preloaded into that program; the message gives the reason. */
dck_status sample_beside_open(uint64_t rate, char *const *argv, const char *log,
			      sample_beside **ret, dck_err *err) DCK_MUST_USE;
/* Variables of its environment into set[*n...], at most max; the first is LD_PRELOAD. */
void sample_beside_environment(sample_beside *s, mem_arena *a, const char **set, size_t max,
			       size_t *n);
dck_status sample_beside_start(sample_beside *s, dck_err *err) DCK_MUST_USE;
/* Ends sampling after the program's exit, and returns the record of `deepclock sample`. E_IO: no
 * space for the times of the samples. */
dck_status sample_beside_end(sample_beside *s, const os_child_usage *used, dck_record **ret,
			     dck_err *err) DCK_MUST_USE;
/* The samples, nearly in the order of time; path: in sample_beside_paths(). false: no more. */
bool sample_beside_next(sample_beside *s, sample_moment *ret);
const cct *sample_beside_paths(const sample_beside *s);
void sample_beside_close(sample_beside *s); /* NULL is allowed */

#endif
