/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/perf_ring.h"

#include "profiler/sample/perf_decode.h"

#include <string.h>

/* Returns n bytes at an offset of the ring, contiguous. */
static const void *piece(const perf_ring *r, uint64_t at, size_t n, unsigned char *whole)
{
	const size_t from = (size_t)(at & (r->bytes - 1)), first = r->bytes - from;

	if (n <= first)
		return r->data + from;
	memcpy(whole, r->data + from, first);
	memcpy(whole + first, r->data, n - first);
	return whole;
}

/* Returns the record at the tail, validated; NULL: none, or invalid. */
static const struct perf_event_header *record_at(perf_rings *all, perf_ring *r)
{
	struct perf_event_header h;
	unsigned char head[sizeof h];

	if (r->head - r->tail < sizeof h)
		return NULL;
	memcpy(&h, piece(r, r->tail, sizeof h, head), sizeof h);
	if (h.size < sizeof h || h.size % 8 != 0 || h.size > r->head - r->tail)
		return NULL;
	return piece(r, r->tail, h.size, all->whole);
}

static void next_time_update(perf_rings *all, perf_ring *r)
{
	const struct perf_event_header *h;

	r->next_ns = UINT64_MAX;
	if (r->head == r->tail)
		return;
	h = record_at(all, r);
	if (h) {
		const uint64_t at = perf_record_time(h);

		r->next_ns = at < UINT64_MAX ? at : UINT64_MAX - 1;
		return;
	}
	all->damaged++;
	r->tail = r->head;
}

void perf_rings_begin(perf_rings *r)
{
	for (size_t i = 0; i < r->n; i++) {
		perf_ring *one = &r->ring[i];

		if (!one->page) {
			one->next_ns = UINT64_MAX;
			continue;
		}
		/* Records are whole words. */
		one->head = __atomic_load_n(&one->page->data_head, __ATOMIC_ACQUIRE) & ~UINT64_C(7);
		if (one->head - one->tail > one->bytes) { /* no kernel writes over our tail */
			r->damaged++;
			one->tail = one->head;
		}
		next_time_update(r, one);
	}
}

const struct perf_event_header *perf_rings_next(perf_rings *r, uint64_t until_ns)
{
	perf_ring *oldest = NULL;
	const struct perf_event_header *h;

	for (size_t i = 0; i < r->n; i++)
		if (r->ring[i].next_ns <= until_ns && r->ring[i].next_ns != UINT64_MAX &&
		    (!oldest || r->ring[i].next_ns < oldest->next_ns))
			oldest = &r->ring[i];
	if (!oldest)
		return NULL;
	/* Reading the next record's time may need the buffer for wrapped records. */
	const uint64_t at = oldest->tail;
	h = record_at(r, oldest);
	if (!h)
		return NULL;
	const uint16_t size = h->size;
	oldest->tail += size;
	next_time_update(r, oldest);
	return piece(oldest, at, size, r->whole);
}

void perf_rings_end(perf_rings *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->ring[i].page)
			__atomic_store_n(&r->ring[i].page->data_tail, r->ring[i].tail,
					 __ATOMIC_RELEASE);
}
