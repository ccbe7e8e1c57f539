/* perf_decode.h - decodes a record of perf_event, in the format requested by os/perf_sampling.h,
 * into an event.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_PERF_DECODE_H
#define SAMPLE_PERF_DECODE_H

#include "profiler/sample/sample_event.h"

#include <linux/perf_event.h>

/* The user's registers that samples hold, as bits; 0: this processor's are not known here. */
uint64_t perf_registers(void);
/* Returns the record's time; 0: none. h->size bytes are readable. */
uint64_t perf_record_time(const struct perf_event_header *h);
/* Decodes the event; SAMPLE_NOTHING if it is irrelevant or malformed. `leaving`: the period of
 * samples at which a thread leaves its CPU. *ret borrows from the record. */
void perf_record_decode(const struct perf_event_header *h, uint64_t leaving, sample_event *ret);

#endif
