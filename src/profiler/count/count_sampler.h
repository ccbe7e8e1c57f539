/* count_sampler.h - estimates the self times of a counted program whose hooks read no clock
 * (COUNT_TIMES=sampled): a thread of the observer looks at the innermost call of each of the
 * program's threads, about a thousand times a second.
 *
 *	count_sampler *s;
 *
 *	DCK_TRY(count_sampler_start(directory, &s, err));
 *	... the program runs, with its files in the directory ...
 *	count_sampler_stop(s);
 *	count_sampler_times(s, path, lane);	its nodes then have their self times, in ns
 *	count_sampler_free(s);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_COUNT_SAMPLER_H
#define COUNT_COUNT_SAMPLER_H

#include "deepclock/base.h"
#include "profiler/count/thread_cct.h"

enum { COUNT_SAMPLED_PATHS = 1 << 21 }; /* paths with samples */

typedef struct count_sampler count_sampler;

typedef struct count_sampled {
	uint64_t samples; /* a thread was inside a function */
	double effective; /* effective sample size, since the intervals differ; at most `samples` */
	uint64_t left_out; /* samples beyond the limit on paths */
	double period_ns;  /* mean of the intervals between looks; 0: there were none */
	double used;	   /* the observer's share of one processor */
} count_sampled;

/* Makes an observer without its thread: the caller looks. The directory is borrowed. NULL: no
 * memory. */
count_sampler *count_sampler_new(const char *directory, uint64_t now_ns);
/* Charges the time since the last look to the innermost call of each thread. */
void count_sampler_look(count_sampler *s, uint64_t now_ns);
dck_status count_sampler_start(const char *directory, count_sampler **ret,
			       dck_err *err) DCK_MUST_USE;
void count_sampler_stop(count_sampler *s); /* NULL is allowed */
void count_sampler_free(count_sampler *s); /* NULL is allowed */

/* Replaces the self times of a lane, a private copy of that file, by those sampled, in ns. */
void count_sampler_times(const count_sampler *s, const char *path, thread_cct *lane);
count_sampled count_sampler_sums(const count_sampler *s);

#endif
