/* chrome_emit.c - sorts the stored Chrome trace events and emits them to a format.
 *
 * An end (E) belongs to the innermost open begin (B) of its thread, of its name where it has one;
 * one that finds none is left out. Ranges with a duration become begins and ends. A range that
 * overlaps the open range without nesting is emitted on a second track; a range inside several
 * belongs to the one that started last. Ends are emitted late: at the next event of the track. On a
 * track with ranges that have a duration a begin without an end ends with the range around it,
 * marked as unended.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/chrome/chrome_reading.h"
#include "profiler/timeline/perfetto.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };
#define NO_END UINT64_MAX /* of a range that ends with the file */

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

/* --- begins and ends */

enum { NAMED_MAX = 256 }; /* open ranges among which that of a named end is looked for */
#define PAIRED UINT64_C(1) << 63

/* Whether an end with that name (a text; 0: none) may be that of the range that began in r. */
static bool chrome_may_end(const chrome_reader *x, const chrome_row *r, uint32_t text)
{
	return !text || !r->name || chrome_name_text(x, r->name) == text;
}

/* Finds the range that ends in row i: the innermost open one, of that name if the end has one. Its
 * row then has the number of its end, and has left the list of the open ones. */
static void chrome_pair(chrome_reader *x, uint32_t i)
{
	chrome_row *r = &x->rows[i];
	chrome_track *k = chrome_track_at(x, r->track);
	chrome_row *around = NULL;
	uint32_t at = k->begun;

	for (int n = 0; at && n < NAMED_MAX; n++) {
		chrome_row *begun = &x->rows[at - 1];
		const uint32_t outer = (uint32_t)begun->as.place;

		if (chrome_may_end(x, begun, r->name)) {
			if (around) {
				around->as.place = outer;
				k->complete = true; /* the ranges inside do not end before it */
			} else {
				k->begun = outer;
			}
			begun->as.place = PAIRED | i;
			r->as.place = 1;
			return;
		}
		around = begun;
		at = outer;
	}
	k->complete |= k->begun > 0; /* this end is not that of the innermost range */
}

/* Links the open begins of each track, and finds their ends. */
static void chrome_pairs_find(chrome_reader *x)
{
	for (uint32_t i = 0; i < x->nrows; i++) {
		chrome_row *r = &x->rows[i];
		chrome_track *k = chrome_track_at(x, r->track);

		if (r->kind == CHROME_BEGIN) {
			r->as.place = k->begun;
			k->begun = i + 1;
		} else if (r->kind == CHROME_END) {
			r->as.place = 0;
			chrome_pair(x, i);
		} else if (r->kind == CHROME_INSTANT) {
			/* What is inside a range that begins then follows it; all else precedes. */
			r->as.place =
			    k->begun && x->rows[k->begun - 1].ns == r->ns ? range_place(0) : 0;
		}
	}
}

/* Adds the numbers of a range's end to those of its begin. */
static dck_status chrome_numbers_join(chrome_reader *x, chrome_row *r, const chrome_row *end)
{
	const uint32_t n = r->nnumbers, all = n + end->nnumbers;

	if (!end->nnumbers)
		return DCK_OK;
	DCK_NEED(mem_reserve(&x->numbers, &x->numbers_cap, x->nnumbers + (size_t)all,
			     sizeof *x->numbers),
		 x->err, "for the numbers of a trace");
	chrome_number *to = x->numbers + x->nnumbers;
	memcpy(to, x->numbers + r->numbers, n * sizeof *to);
	memcpy(to + n, x->numbers + end->numbers, end->nnumbers * sizeof *to);
	r->numbers = x->nnumbers;
	r->nnumbers = all;
	x->nnumbers += all;
	return DCK_OK;
}

/* Makes a begin and its end a range with a duration, since on a track that has such ranges, or ones
 * that cross, an end need not be that of the range that began last. */
static dck_status chrome_pair_join(chrome_reader *x, chrome_row *r)
{
	if (r->kind == CHROME_END && !r->as.place) {
		r->kind = CHROME_REMOVED;
		x->facts->skipped++;
	}
	if (r->kind != CHROME_BEGIN)
		return DCK_OK;
	if (!(r->as.place & PAIRED)) { /* encloses all */
		r->as.place = 0;
		x->unended =
		    x->unended
			? x->unended
			: chrome_name(x, chrome_text(x, PF_UNENDED, sizeof PF_UNENDED - 1), 0);
		return x->unended ? DCK_OK : x->err->code;
	}
	chrome_row *end = &x->rows[(uint32_t)r->as.place];

	r->kind = CHROME_COMPLETE;
	r->as.duration_ns = (uint64_t)end->ns - (uint64_t)r->ns;
	end->kind = CHROME_REMOVED;
	return chrome_numbers_join(x, r, end);
}

static dck_status chrome_pairs_join(chrome_reader *x)
{
	for (uint32_t i = 0; i < x->nrows; i++) {
		chrome_row *r = &x->rows[i];
		const bool complete = chrome_track_at(x, r->track)->complete;

		/* An arrow belongs to what begins with it. */
		r->behind = r->kind >= CHROME_FLOW_BEGIN && complete;
		if (complete)
			DCK_TRY(chrome_pair_join(x, r));
		else if (r->kind == CHROME_BEGIN || r->kind == CHROME_END ||
			 r->kind == CHROME_INSTANT)
			r->as.place = 0;
	}
	return DCK_OK;
}

/* Sorts by time, then by the order in the file; where a range with a duration begins, the events of
 * that time by their places. */
static dck_status put_in_order(chrome_reader *x)
{
	bool sorted = true;

	for (uint32_t i = 1; i < x->nrows && sorted; i++)
		sorted = x->rows[i - 1].ns <= x->rows[i].ns;
	if (!sorted)
		qsort(x->rows, x->nrows, sizeof *x->rows, chrome_rows_by_time);
	chrome_pairs_find(x);
	DCK_TRY(chrome_pairs_join(x));
	for (uint32_t i = 0, n; i < x->nrows; i += n) {
		bool complete = false;
		for (n = 0; i + n < x->nrows && x->rows[i + n].ns == x->rows[i].ns; n++)
			complete |= x->rows[i + n].kind == CHROME_COMPLETE;
		if (complete && n > 1)
			qsort(x->rows + i, n, sizeof *x->rows, chrome_rows_by_place);
	}
	return DCK_OK;
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

	for (; k->nopen && k->open[k->nopen - 1].end_ns <= until_ns; k->nopen--) {
		const chrome_open *top = &k->open[k->nopen - 1];

		if (top->unended)
			event_buffer(t, row,
				     &(trace_event){.ns = top->end_ns,
						    .kind = TRACE_ANNOTATION,
						    .name = t->x->unended,
						    .as.real = 1});
		event_buffer(t, row, &(trace_event){.ns = top->end_ns, .kind = TRACE_END});
	}
}

static bool is_around(const chrome_track *k, uint64_t end_ns, uint64_t slack_ns)
{
	const uint64_t around_ns = k->nopen ? k->open[k->nopen - 1].end_ns : 0;

	return k->nopen && (end_ns <= around_ns || end_ns - around_ns <= slack_ns);
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

/* Begins a range that is in the list of the open ones of its track. */
static dck_status chrome_emit_begin(emitter *t, uint32_t row, const chrome_row *r,
				    const chrome_open *open)
{
	chrome_track *k = chrome_track_at(t->x, row);

	DCK_NEED(mem_reserve(&k->open, &k->cap, k->nopen + (size_t)1, sizeof *k->open), t->x->err,
		 "for the ranges of a trace");
	k->open[k->nopen++] = *open;
	event_buffer(t, row,
		     &(trace_event){.ns = open->begin_ns, .kind = TRACE_BEGIN, .name = r->name});
	chrome_emit_numbers(t, row, r, open->begin_ns);
	return DCK_OK;
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
		t->x->facts->cut_short += !is_around(k, end_ns, t->slack_ns);
		end_ns = k->open[k->nopen - 1].end_ns;
	}
	return chrome_emit_begin(t, row, r, &(chrome_open){ns, end_ns, annotation, false});
}

/* A begin without an end: of a track that has ranges with a duration it ends with the one around
 * it. */
static dck_status chrome_emit_endless(emitter *t, const chrome_row *r, uint64_t ns)
{
	const chrome_track *k = chrome_track_at(t->x, r->track);
	const uint64_t end_ns = k->nopen ? k->open[k->nopen - 1].end_ns : NO_END;

	chrome_track_at(t->x, r->track)->last = r->track;
	return chrome_emit_begin(t, r->track, r, &(chrome_open){ns, end_ns, false, true});
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
		if (chrome_track_at(t->x, r->track)->complete) {
			DCK_TRY(chrome_emit_endless(t, r, ns));
		} else {
			event_buffer(
			    t, r->track,
			    &(trace_event){.ns = ns, .kind = TRACE_BEGIN, .name = r->name});
			chrome_emit_numbers(t, r->track, r, ns);
		}
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
	case CHROME_REMOVED:
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

	DCK_TRY(put_in_order(x));
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
		chrome_emit_ends(&t, row, NO_END - 1);
	chrome_batch_flush(&t);
	return DCK_OK;
}
