/* perfetto_samples.h - writes stack samples as Perfetto packets, inside a timeline's file or at its
 * end: each packet is complete, on a separate sequence.
 *
 *	DCK_TRY(perfetto_samples_open(&sink, base_boottime_ns, &s, err));
 *	perfetto_samples_put(s, paths, &(trace_sample){...});
 *	DCK_TRY(perfetto_samples_close(s, err));	the sink's failures are the sink's
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PERFETTO_SAMPLES_H
#define EXPORT_PERFETTO_SAMPLES_H

#include "profiler/timeline/timeline.h"
#include "record/tree/cct.h"

typedef struct perfetto_samples perfetto_samples;

dck_status perfetto_samples_open(dck_sink *out, uint64_t boottime_ns, perfetto_samples **ret,
				 dck_err *err) DCK_MUST_USE;
/* paths: the same tree in each call; it may grow. The rate is that of the first sample. */
void perfetto_samples_put(perfetto_samples *s, const cct *paths, const trace_sample *one);
dck_status perfetto_samples_close(perfetto_samples *s, dck_err *err) DCK_MUST_USE;

#endif
