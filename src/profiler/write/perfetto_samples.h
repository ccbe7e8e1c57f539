/* perfetto_samples.h - writes stack samples as Perfetto packets, to be appended to a timeline's
 * file: each packet is complete, on a separate sequence.
 *
 *	DCK_TRY(perfetto_samples_open(&sink, paths, 997, &s, err));
 *	perfetto_samples_put(s, &(perfetto_sample){...});
 *	DCK_TRY(perfetto_samples_close(s, err));	the sink's failures are the sink's
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PERFETTO_SAMPLES_H
#define EXPORT_PERFETTO_SAMPLES_H

#include "record/tree/cct.h"

typedef struct perfetto_samples perfetto_samples;

typedef struct perfetto_sample {
	uint64_t boottime_ns, weight_ns; /* weight_ns: CPU time that the sample represents */
	int32_t pid, tid;
	uint32_t path; /* id in `paths`; 0: unknown stack */
} perfetto_sample;

/* paths: borrowed, not changed. */
dck_status perfetto_samples_open(dck_sink *out, const cct *paths, uint64_t rate,
				 perfetto_samples **ret, dck_err *err) DCK_MUST_USE;
void perfetto_samples_put(perfetto_samples *s, const perfetto_sample *one);
dck_status perfetto_samples_close(perfetto_samples *s, dck_err *err) DCK_MUST_USE;

#endif
