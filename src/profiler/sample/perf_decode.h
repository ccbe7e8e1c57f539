/* perf_decode.h - a record of perf_event, as os/perf_sampling.h asks for them, as an event.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_PERF_DECODE_H
#define SAMPLE_PERF_DECODE_H

#include "profiler/sample/sample_event.h"

#include <linux/perf_event.h>

/* The user's registers that samples hold, as bits; 0: this processor's are not known here. */
uint64_t perf_registers(void);
/* When it was made; 0: it does not say. h->size bytes are there. */
uint64_t perf_record_time(const struct perf_event_header *h);
/* Its event; SAMPLE_NOTHING for what is of no interest or malformed. `leaving`: the period of
 * samples that are made when a thread leaves its CPU. *ret borrows from the record. */
void perf_record_decode(const struct perf_event_header *h, uint64_t leaving, sample_event *ret);

#endif
