/* sample_sums.h - adds up the samples of a timeline by their call paths.
 *
 *	DCK_TRY(sample_sums_init(&s, err));
 *	sample_sums_add(&s, paths, samples, n);	as trace_format.samples
 *	... s.paths, with the weights of cct_sample_weights ...
 *	sample_sums_done(&s);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_SAMPLE_SUMS_H
#define TIMELINE_SAMPLE_SUMS_H

#include "profiler/timeline/timeline.h"
#include "record/tree/cct.h"

typedef struct sample_sums {
	cct paths;
	cct_map map;
	uint64_t n; /* samples */
} sample_sums;

dck_status sample_sums_init(sample_sums *s, dck_err *err) DCK_MUST_USE;
void sample_sums_done(sample_sums *s); /* {0} is allowed */
/* from: the same tree until sample_sums_next(). Lack of memory is sticky in `paths`. */
void sample_sums_add(sample_sums *s, const cct *from, const trace_sample *one, size_t n);
/* The following samples belong to another tree. */
void sample_sums_next(sample_sums *s);

#endif
