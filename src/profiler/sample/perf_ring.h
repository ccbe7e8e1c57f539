/* perf_ring.h - merges the records of the kernel's ring buffers, one per CPU, in order of time.
 *
 *	perf_rings r = {.ring = ..., .n = ...};
 *
 *	perf_rings_begin(&r);
 *	while ((record = perf_rings_next(&r, until_ns)))
 *		...
 *	perf_rings_end(&r);
 *
 * A record that wraps around the end of its ring is returned contiguous. A ring with invalid
 * records (the program cannot write there, but that is not trusted) is emptied, and counted as
 * damaged.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_PERF_RING_H
#define SAMPLE_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: this CPU has none */
	const unsigned char *data;
	size_t bytes; /* a power of two */
	uint64_t head, tail;
	uint64_t next_ns; /* time of the record at tail; UINT64_MAX: none */
} perf_ring;

typedef struct perf_rings {
	perf_ring *ring; /* n of them, the caller's */
	size_t n;
	uint64_t damaged;
	unsigned char *whole; /* PERF_RECORD_BYTES of the caller's, for records in two pieces */
} perf_rings;

enum { PERF_RECORD_BYTES = 1 << 16 };

void perf_rings_begin(perf_rings *r); /* reads the records available now */
/* Returns the oldest record of until_ns or earlier; NULL: none. Borrowed until the next call. */
const struct perf_event_header *perf_rings_next(perf_rings *r, uint64_t until_ns);
void perf_rings_end(perf_rings *r); /* returns the space of the read records to the kernel */

#endif
