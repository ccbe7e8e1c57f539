/* chrome_emit.c - sorts the stored Chrome trace events and emits them to a format.
 *
 * Ranges with a duration become begins and ends. A range that overlaps the open range without
 * nesting is emitted on a second track; a range inside several belongs to the one that started
 * last. Ends are emitted late: at the next event of the track.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/chrome/chrome_reading.h"

#include <stdlib.h>

enum { BATCH = 512 };

typedef struct emitter {
	chrome_reader *x;
	int64_t base_ns;
	uint64_t slack_ns; /* an end may be this much too late, by rounding */
	uint32_t track, n; /* of the batch's events */
	trace_event batch[BATCH];
} emitter;

/* --- order */

/* Of ranges that start together on a track, the longest encloses the others. */
static uint64_t range_place(uint64_t duration_ns)
{
	return UINT64_MAX - 1 - duration_ns;
}

static uint64_t second_key(const chrome_row *r)
{
	switch ((chrome_kind)r->kind) {
	case CHROME_COMPLETE:
		return range_place(r->as.duration_ns);
	case CHROME_BEGIN:
	case CHROME_END:
	case CHROME_INSTANT:
		return r->as.place;
	default:
		return r->behind ? UINT64_MAX : 0;
	}
}

static int chrome_rows_by_time(const void *a, const void *b)
{
	const chrome_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int chrome_rows_by_place(const void *a, const void *b)
{
	const chrome_row *x = a, *y = b;
	const uint64_t p = second_key(x), q = second_key(y);

	if (p != q)
		return p < q ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Sets the place of a begin, end or instant on a track that also has ranges with a duration: that
 * of a begin is known at its end, and links the open begins until then. */
static void chrome_place(chrome_reader *x, uint32_t i)
{
	chrome_row *r = &x->rows[i];
	chrome_track *k = chrome_track_at(x, r->track);
	chrome_row *begun = k->begun ? &x->rows[k->begun - 1] : NULL;

	if (r->kind == CHROME_BEGIN) {
		r->as.place = k->begun;
		k->begun = i + 1;
		return;
	}
	/* What is inside a range that begins then follows it; all else precedes the begins. */
	r->as.place = begun && begun->ns == r->ns ? range_place(0) : 0;
	if (begun && r->kind == CHROME_END) {
		k->begun = (uint32_t)begun->as.place;
		begun->as.place = range_place((uint64_t)r->ns - (uint64_t)begun->ns);
	}
}

/* A range without an end encloses all. */
static void chrome_place_open(chrome_reader *x, chrome_track *k)
{
	while (k->begun) {
		chrome_row *begun = &x->rows[k->begun - 1];
		k->begun = (uint32_t)begun->as.place;
		begun->as.place = 0;
	}
}

/* Sorts by time, then by the order in the file; where a range with a duration begins, the events of
 * that time by their places. */
static void put_in_order(chrome_reader *x)
{
	bool sorted = true;

	for (uint32_t i = 1; i < x->nrows && sorted; i++)
		sorted = x->rows[i - 1].ns <= x->rows[i].ns;
	if (!sorted)
		qsort(x->rows, x->nrows, sizeof *x->rows, chrome_rows_by_time);
	for (uint32_t i = 0; i < x->nrows; i++) {
		chrome_row *r = &x->rows[i];
		const bool complete = chrome_track_at(x, r->track)->complete;
		/* An arrow belongs to what begins with it. */
		r->behind = r->kind >= CHROME_FLOW_BEGIN && complete;
		if (complete &&
		    (r->kind == CHROME_BEGIN || r->kind == CHROME_END || r->kind == CHROME_INSTANT))
			chrome_place(x, i);
	}
	for (uint32_t row = 1; row <= x->ntracks; row++)
		chrome_place_open(x, chrome_track_at(x, row));
	for (uint32_t i = 0, n; i < x->nrows; i += n) {
		bool complete = false;
		for (n = 0; i + n < x->nrows && x->rows[i + n].ns == x->rows[i].ns; n++)
			complete |= x->rows[i + n].kind == CHROME_COMPLETE;
		if (complete && n > 1)
			qsort(x->rows + i, n, sizeof *x->rows, chrome_rows_by_place);
	}
}

/* --- batches */

static void chrome_batch_flush(emitter *t)
{
	if (t->n == 0)
		return;
	chrome_emit_track(t->x, t->track);
	t->x->format->events(t->x->out, t->track, t->batch, t->n);
	t->n = 0;
}

static void event_buffer(emitter *t, uint32_t track, const trace_event *e)
{
	if (t->n == BATCH || track != t->track)
		chrome_batch_flush(t);
	t->track = track;
	t->batch[t->n++] = *e;
	t->x->facts->events++;
}

static void chrome_emit_numbers(emitter *t, uint32_t track, const chrome_row *r, uint64_t ns)
{
	for (uint32_t i = 0; i < r->nnumbers; i++) {
		const chrome_number *n = &t->x->numbers[r->numbers + i];
		event_buffer(
		    t, track,
		    &(trace_event){
			.ns = ns, .kind = TRACE_ANNOTATION, .name = n->name, .as.real = n->real});
	}
}

/* --- ranges with a duration */

static void chrome_emit_ends(emitter *t, uint32_t row, uint64_t until_ns)
{
	chrome_track *k = chrome_track_at(t->x, row);

	while (k->nopen && k->open[k->nopen - 1].end_ns <= until_ns)
		event_buffer(t, row,
			     &(trace_event){.ns = k->open[--k->nopen].end_ns, .kind = TRACE_END});
}

static bool is_around(const chrome_track *k, uint64_t end_ns, uint64_t slack_ns)
{
	return k->nopen && end_ns <= k->open[k->nopen - 1].end_ns + slack_ns;
}

/* In torch.profiler's files a user annotation begins inside the call that begins it, and ends
 * inside the call that ends it, and both calls are in the file if Python functions are recorded. If
 * two ranges overlap slightly in this way, the first ends where the second begins. */
static void end_at_annotation(emitter *t, uint32_t row, uint64_t ns, uint64_t end_ns, bool is_one)
{
	chrome_track *k = chrome_track_at(t->x, row);

	while (k->nopen) {
		const chrome_open *top = &k->open[k->nopen - 1];
		const uint64_t first = top->end_ns - top->begin_ns, second = end_ns - ns;
		const uint64_t longer = first > second ? first : second;

		if ((!is_one && !top->annotation) || is_around(k, end_ns, t->slack_ns) ||
		    top->begin_ns == ns || top->end_ns - ns > longer / 10)
			return;
		k->nopen--;
		t->x->facts->joined++;
		event_buffer(t, row, &(trace_event){.ns = ns, .kind = TRACE_END});
	}
}

/* Returns the track of an overlapping range: the track whose open range contains it and started
 * last; else a track without an open range, created if missing. 0: failed. */
static uint32_t chrome_row_for(emitter *t, uint32_t row, uint64_t ns, uint64_t end_ns)
{
	uint32_t best = 0, empty = 0, last = row, n = 0;
	uint64_t begin_ns = 0;

	for (uint32_t at = row; at; at = chrome_track_at(t->x, at)->beside, n++) {
		chrome_emit_ends(t, at, ns);
		const chrome_track *k = chrome_track_at(t->x, at);
		last = at;
		if (!k->nopen)
			empty = empty ? empty : at;
		else if (is_around(k, end_ns, t->slack_ns) &&
			 (!best || k->open[k->nopen - 1].begin_ns > begin_ns)) {
			best = at;
			begin_ns = k->open[k->nopen - 1].begin_ns;
		}
	}
	if (best || empty || n == CHROME_BESIDE_MAX)
		return best ? best : empty ? empty : row;
	const uint32_t made = chrome_beside(t->x, row);
	if (made)
		chrome_track_at(t->x, last)->beside = made;
	return made;
}

static dck_status put_complete(emitter *t, const chrome_row *r, uint64_t ns)
{
	uint64_t end_ns = ns + r->as.duration_ns;
	const bool annotation = chrome_is_annotation(t->x, r->name);

	chrome_emit_ends(t, r->track, ns);
	end_at_annotation(t, r->track, ns, end_ns, annotation);
	const uint32_t row = chrome_row_for(t, r->track, ns, end_ns);

	if (!row)
		return t->x->err->code;
	chrome_track_at(t->x, r->track)->last = row;
	chrome_track *k = chrome_track_at(t->x, row);
	if (k->nopen && end_ns > k->open[k->nopen - 1].end_ns) {
		t->x->facts->cut_short += end_ns > k->open[k->nopen - 1].end_ns + t->slack_ns;
		end_ns = k->open[k->nopen - 1].end_ns;
	}
	DCK_NEED(mem_reserve(&k->open, &k->cap, k->nopen + 1, sizeof *k->open), t->x->err,
		 "for the ranges of a trace");
	k->open[k->nopen++] = (chrome_open){ns, end_ns, annotation};
	event_buffer(t, row, &(trace_event){.ns = ns, .kind = TRACE_BEGIN, .name = r->name});
	chrome_emit_numbers(t, row, r, ns);
	return DCK_OK;
}

/* --- one event */

static void chrome_emit_flow(emitter *t, const chrome_row *r, uint64_t ns, trace_kind kind)
{
	const uint32_t last = chrome_track_at(t->x, r->track)->last;
	const chrome_track *k = last ? chrome_track_at(t->x, last) : NULL;
	uint32_t row = r->track;

	if (k && k->nopen && k->open[k->nopen - 1].begin_ns == ns)
		row = last;
	if (ns > 0) /* ranges that end at that time still count */
		chrome_emit_ends(t, row, ns - 1);
	event_buffer(t, row, &(trace_event){.ns = ns, .kind = kind, .as.id = r->as.id});
}

static dck_status chrome_emit_async(emitter *t, const chrome_row *r, uint64_t ns)
{
	const bool ends = r->kind == CHROME_ASYNC_END;
	trace_event e = {
	    .ns = ns, .kind = ends ? TRACE_ASYNC_END : TRACE_ASYNC_BEGIN, .name = r->name};

	DCK_NEED(kept_nested_id(&t->x->depths, r->as.id, ends, &e.as.id), t->x->err,
		 "for the ranges of a trace");
	chrome_emit_ends(t, r->track, ns);
	event_buffer(t, r->track, &e);
	return DCK_OK;
}

/* The arrows that wait for the next range of their track. */
static void put_flows_held(emitter *t, const chrome_row *r, uint64_t ns)
{
	chrome_track *k = chrome_track_at(t->x, r->track);

	while (k->flow) {
		const chrome_row *flow = &t->x->rows[k->flow - 1];
		event_buffer(
		    t, k->last && r->kind == CHROME_COMPLETE ? k->last : r->track,
		    &(trace_event){.ns = ns, .kind = TRACE_FLOW_END, .as.id = flow->as.id});
		k->flow = flow->numbers;
	}
}

static dck_status put_row(emitter *t, chrome_row *r)
{
	const uint64_t ns = (uint64_t)r->ns - (uint64_t)t->base_ns;
	chrome_track *k;

	switch ((chrome_kind)r->kind) {
	case CHROME_COMPLETE:
		DCK_TRY(put_complete(t, r, ns));
		put_flows_held(t, r, ns);
		return DCK_OK;
	case CHROME_BEGIN:
		chrome_emit_ends(t, r->track, ns);
		event_buffer(t, r->track,
			     &(trace_event){.ns = ns, .kind = TRACE_BEGIN, .name = r->name});
		chrome_emit_numbers(t, r->track, r, ns);
		put_flows_held(t, r, ns);
		return DCK_OK;
	case CHROME_END:
		chrome_emit_ends(t, r->track, ns);
		chrome_emit_numbers(t, r->track, r, ns);
		event_buffer(t, r->track, &(trace_event){.ns = ns, .kind = TRACE_END});
		return DCK_OK;
	case CHROME_INSTANT:
		if (ns > 0) /* it is inside ranges that end at that time */
			chrome_emit_ends(t, r->track, ns - 1);
		event_buffer(t, r->track,
			     &(trace_event){.ns = ns, .kind = TRACE_INSTANT, .name = r->name});
		chrome_emit_numbers(t, r->track, r, ns);
		return DCK_OK;
	case CHROME_COUNTER:
		event_buffer(
		    t, r->track,
		    &(trace_event){.ns = ns, .kind = TRACE_COUNTER, .as.real = r->as.real});
		return DCK_OK;
	case CHROME_ASYNC_BEGIN:
	case CHROME_ASYNC_END:
		return chrome_emit_async(t, r, ns);
	case CHROME_FLOW_BEGIN:
	case CHROME_FLOW_STEP:
	case CHROME_FLOW_END:
		chrome_emit_flow(t, r, ns,
				 (trace_kind)(TRACE_FLOW_BEGIN + (r->kind - CHROME_FLOW_BEGIN)));
		return DCK_OK;
	case CHROME_FLOW_END_NEXT:
		k = chrome_track_at(t->x, r->track);
		r->numbers = k->flow;
		k->flow = (uint32_t)(r - t->x->rows) + 1;
		return DCK_OK;
	}
	return DCK_OK;
}

/* --- all of them */

/* Files written by deepclock state their base; for others the first event is the base. */
static dck_status chrome_open_format(emitter *t)
{
	static const int64_t year_2001 = 1000000000000000000;
	chrome_reader *x = t->x;
	const int64_t first = x->nrows ? x->rows[0].ns : 0;
	trace_header *about = &x->facts->about;

	t->base_ns = x->base_unix_ns && !x->has_schema && first >= 0 ? 0 : first;
	if (x->base_unix_ns)
		about->unix_ns = (int64_t)((uint64_t)x->base_unix_ns + (uint64_t)t->base_ns);
	else if (first > year_2001) /* they count from 1970 */
		about->unix_ns = first;
	if (about->unix_ns < 0)
		about->unix_ns = 0;
	return x->format->open(&x->out, x->sink, about, x->err);
}

dck_status chrome_emit(chrome_reader *x)
{
	emitter t = {.x = x, .slack_ns = x->parts ? 1 : 1000};

	put_in_order(x);
	/* What found names and tracks again is not needed any more. */
	hash_map *const maps[] = {&x->name_rows, &x->thread_rows, &x->process_rows,
				  &x->counter_rows};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hash_map_done(maps[i]);
	DCK_TRY(chrome_open_format(&t));
	chrome_emit_names(x);
	for (uint32_t i = 0; i < x->nrows; i++)
		DCK_TRY(put_row(&t, &x->rows[i]));
	for (uint32_t row = 1; row <= x->ntracks; row++)
		chrome_emit_ends(&t, row, UINT64_MAX);
	chrome_batch_flush(&t);
	return DCK_OK;
}
