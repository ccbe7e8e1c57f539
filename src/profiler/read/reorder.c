/* reorder.c - brings events into the order of tracks and times.
 *
 * Each track has a list of its events, threaded through one array, so that a file which is in order
 * already, as most are, is never sorted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/reorder.h"
#include "base/err.h"

#include <stdlib.h>

typedef struct entry {
	trace_event e;
	uint64_t end_ns;
	uint32_t track;
	uint32_t next; /* next entry of the track, plus one; in `one`: the original index */
} entry;

typedef struct reorder_row {
	uint32_t first, last; /* entries, plus one; 0: none */
	bool gave;
	uint64_t last_ns; /* given away */
} reorder_row;

struct reorder_buffer {
	entry *held, *one; /* @owned; one: of the track that is given */
	trace_event *out;  /* @owned */
	uint32_t n;
	uint32_t *touched; /* @owned: tracks that have entries, in order of the first */
	uint32_t ntouched;
	uint64_t first_ns, late;
	id_table rows;
};

dck_status reorder_new(reorder_buffer **ret, dck_err *err)
{
	reorder_buffer *a = mem_zalloc(1, sizeof *a);

	DCK_NEED(a, err, "for a trace");
	a->rows.row_bytes = sizeof(reorder_row);
	a->first_ns = UINT64_MAX;
	a->held = mem_alloc(REORDER_MAX * sizeof *a->held);
	a->one = mem_alloc(REORDER_MAX * sizeof *a->one);
	a->out = mem_alloc(REORDER_MAX * sizeof *a->out);
	a->touched = mem_alloc(REORDER_MAX * sizeof *a->touched);
	if (!a->held || !a->one || !a->out || !a->touched) {
		reorder_free(a);
		return ERR_NO_MEMORY(err, "for %d events of a trace", (int)REORDER_MAX);
	}
	*ret = a;
	return DCK_OK;
}

void reorder_free(reorder_buffer *a)
{
	if (!a)
		return;
	mem_free(a->held);
	mem_free(a->one);
	mem_free(a->out);
	mem_free(a->touched);
	id_table_done(&a->rows);
	mem_free(a);
}

bool reorder_push(reorder_buffer *a, uint32_t track, const trace_event *e, uint64_t end_ns)
{
	if (a->n == REORDER_MAX)
		return false;
	a->held[a->n++] = (entry){.e = *e, .end_ns = end_ns, .track = track};
	if (e->ns < a->first_ns)
		a->first_ns = e->ns;
	return true;
}

uint64_t reorder_first_ns(const reorder_buffer *a)
{
	return a->first_ns;
}

static int reorder_by_time(const void *x, const void *y)
{
	const entry *a = x, *b = y;

	if (a->e.ns != b->e.ns)
		return a->e.ns < b->e.ns ? -1 : 1;
	return (a->next > b->next) - (a->next < b->next);
}

static int reorder_by_end(const void *x, const void *y)
{
	const entry *a = x, *b = y;

	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return (a->next > b->next) - (a->next < b->next);
}

/* Of ranges that begin at one time the outer one comes first. */
static void reorder_nest(entry *one, uint32_t n)
{
	for (uint32_t i = 0, end; i < n; i = end) {
		bool sorted = true;
		for (end = i + 1;
		     end < n && one[i].end_ns && one[end].end_ns && one[end].e.ns == one[i].e.ns;
		     end++)
			sorted = sorted && one[end].end_ns <= one[end - 1].end_ns;
		if (!sorted)
			qsort(one + i, end - i, sizeof *one, reorder_by_end);
	}
}

/* Appends an entry to the list of its track. */
static void reorder_link(reorder_buffer *a, uint32_t track, uint32_t at)
{
	reorder_row *r = id_table_row(&a->rows, track);

	if (!r) /* reported by reorder_failed() */
		return;
	if (r->first)
		a->held[r->last - 1].next = at + 1;
	else
		a->touched[a->ntouched++] = track;
	r->first = r->first ? r->first : at + 1;
	r->last = at + 1;
}

/* The events of one track, in order; returns how many. */
static uint32_t reorder_collect(reorder_buffer *a, reorder_row *r, uint64_t base_ns)
{
	uint64_t last = 0;
	uint32_t n = 0;
	bool sorted = true;

	for (uint32_t at = r->first; at; n++) {
		entry *one = &a->one[n];
		*one = a->held[at - 1];
		at = one->next;
		one->next = n;
		sorted = sorted && one->e.ns >= last;
		last = one->e.ns;
	}
	if (!sorted)
		qsort(a->one, n, sizeof *a->one, reorder_by_time);
	reorder_nest(a->one, n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = a->one[i].e.ns;
		const uint64_t least = r->gave ? r->last_ns : 0;
		a->out[i] = a->one[i].e;
		a->late += ns < base_ns || ns - base_ns < least;
		ns = ns < base_ns ? 0 : ns - base_ns;
		a->out[i].ns = ns < least ? least : ns;
	}
	r->last_ns = a->out[n - 1].ns;
	r->gave = true;
	r->first = r->last = 0;
	return n;
}

void reorder_flush(reorder_buffer *a, uint64_t base_ns, const reorder_to *to, void *self)
{
	for (uint32_t i = 0; i < a->n; i++)
		reorder_link(a, to->track_of(self, a->held[i].track, &a->held[i].e), i);
	for (uint32_t i = 0; i < a->ntouched; i++) {
		reorder_row *r = id_table_find(&a->rows, a->touched[i]);
		const uint32_t n = reorder_collect(a, r, base_ns);
		to->give(self, a->touched[i], a->out, n);
	}
	a->n = a->ntouched = 0;
	a->first_ns = UINT64_MAX;
}

uint64_t reorder_late(const reorder_buffer *a)
{
	return a->late;
}

bool reorder_failed(const reorder_buffer *a)
{
	return a->rows.failed;
}
