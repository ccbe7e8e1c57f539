/* perfetto_emit.c - sorts the events of a Perfetto trace and emits them to a format.
 *
 * perfetto_put() adds events to the reorder buffer, and before them the ends of complete ranges up
 * to their time. When the buffer is full, or the file has ended, perfetto_flush() emits what it
 * holds track by track. Both ends of a range that any track may end are emitted on one track, that
 * of the first begin of its key; the ids of nested ranges follow from the sorted events.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/perfetto/perfetto_reading.h"
#include "profiler/write/formats.h"

#include <string.h>

/* Ends of ranges that are held back, on all tracks; further ones are emitted at once. */
enum { ENDS_MAX = 1 << 20 };
/* So is one that belongs before more than these, so that each takes bounded time. */
enum { ENDS_MOVED_MAX = 1 << 14 };
enum { SAMPLES_HELD = 1 << 14 };

/* The base is the first snapshot, or the first event that is held where that is earlier. */
static dck_status perfetto_open_format(perfetto_reader *x)
{
	const uint64_t first = reorder_first_ns(x->events), boottime = x->about.boottime_ns;
	const uint64_t back = x->has_snapshot && first < boottime ? boottime - first : 0;

	x->about.boottime_ns -= back;
	x->about.monotonic_ns -= back < x->about.monotonic_ns ? back : x->about.monotonic_ns;
	x->about.unix_ns -= back < (uint64_t)x->about.unix_ns ? (int64_t)back : x->about.unix_ns;
	if (!x->has_snapshot && first != UINT64_MAX)
		x->about.boottime_ns = first;
	else if (!x->has_snapshot && x->nsamples)
		x->about.boottime_ns = (uint64_t)x->samples[0].ns;
	x->base_ns = x->about.boottime_ns;
	x->facts->dated = x->has_snapshot;
	x->facts->snapshot_boottime_ns = boottime;
	x->facts->about = x->about;
	return x->format->open(&x->out, x->sink, &x->about, x->err);
}

/* Returns the parent of a track: the process of a thread, the thread or process of a counter; 0:
 * none. */
static uint32_t perfetto_emitted_parent(const perfetto_reader *x, const perfetto_track *t)
{
	const uint32_t carrier = perfetto_carrier_of(x, t->parent);
	const bool counter = t->kind == PERFETTO_COUNTER;

	if (carrier && (counter || perfetto_track_at(x, carrier)->kind == PERFETTO_PROCESS))
		return carrier;
	return counter && !t->pid ? 0 : hash_map_find(&x->process_rows, (uint32_t)t->pid);
}

static void perfetto_emit_track(perfetto_reader *x, uint32_t row)
{
	static const trace_track_kind kinds[] = {
	    [PERFETTO_UNDESCRIBED] = TRACE_THREAD, [PERFETTO_PROCESS] = TRACE_PROCESS,
	    [PERFETTO_THREAD] = TRACE_THREAD,	   [PERFETTO_COUNTER] = TRACE_COUNTER_TRACK,
	    [PERFETTO_TRACK] = TRACE_THREAD,	   [PERFETTO_DEVICE] = TRACE_DEVICE};
	perfetto_track *t = perfetto_track_at(x, row);
	uint32_t parent = 0;

	if (!t->changed)
		return;
	t->changed = false;
	if (t->kind != PERFETTO_PROCESS)
		parent = perfetto_emitted_parent(x, t);
	if (parent) {
		const perfetto_track *p = perfetto_track_at(x, parent);

		t->pid = p->pid;
		if (t->kind == PERFETTO_COUNTER)
			t->tid = p->kind == PERFETTO_THREAD ? p->tid : 0;
		perfetto_emit_track(x, parent);
	}
	x->format->track(x->out, &(trace_track){.id = row,
						.parent = parent,
						.kind = kinds[t->kind],
						.pid = t->pid,
						.tid = t->tid,
						.name = string_name_of(&x->texts, t->name).text,
						.unit = t->unit});
}

/* Makes the ids of nested ranges, which have one key, differ: possible only in the order of their
 * times. */
static void emit_async_ids(perfetto_reader *x, trace_event *e, size_t n)
{
	for (size_t i = 0; i < n; i++, e++) {
		const uint64_t key = e->as.id;

		if (e->kind != TRACE_ASYNC_BEGIN && e->kind != TRACE_ASYNC_END)
			continue;
		x->async_failed |=
		    !kept_nested_id(&x->async_depths, key, e->kind == TRACE_ASYNC_END, &e->as.id);
		if (!hash_map_find(&x->async_depths, key))
			hash_map_remove(&x->async_rows, key);
	}
}

static void perfetto_emit_events(void *self, uint32_t row, trace_event *e, size_t n)
{
	perfetto_reader *x = self;

	perfetto_emit_track(x, row);
	emit_async_ids(x, e, n);
	x->format->events(x->out, row, e, n);
}

/* An end may be in the file before the begin that determines its row. */
static uint32_t emit_row_of(void *self, uint32_t row, const trace_event *e)
{
	const perfetto_reader *x = self;
	const uint32_t known =
	    e->kind == TRACE_ASYNC_END ? hash_map_find(&x->async_rows, e->as.id) : 0;

	return known ? known : row;
}

/* Flushes the reorder buffer. */
static dck_status perfetto_flush(perfetto_reader *x)
{
	static const reorder_to to = {emit_row_of, perfetto_emit_events};

	if (!x->out)
		DCK_TRY(perfetto_open_format(x));
	perfetto_emit_names(x);
	reorder_flush(x->events, x->base_ns, &to, x);
	DCK_NEED(!x->async_failed, x->err, "for the ranges of a trace");
	return DCK_OK;
}

static dck_status perfetto_hold(perfetto_reader *x, uint32_t row, const trace_event *e,
				uint64_t end_ns)
{
	x->facts->events++;
	if (reorder_push(x->events, row, e, end_ns))
		return DCK_OK;
	DCK_TRY(perfetto_flush(x));
	reorder_push(x->events, row, e, end_ns);
	return DCK_OK;
}

dck_status perfetto_async_row(perfetto_reader *x, uint32_t row, uint64_t key, bool ends,
			      uint32_t *ret)
{
	const uint32_t known = hash_map_find(&x->async_rows, key);

	*ret = known ? known : row;
	if (!known && !ends && x->async_rows.n < KEPT_IDS_MAX)
		DCK_NEED(hash_map_put(&x->async_rows, key, row), x->err,
			 "for the ranges of a trace");
	return DCK_OK;
}

static dck_status emit_end(perfetto_reader *x, uint32_t row, const perfetto_end *end)
{
	return perfetto_hold(x, row,
			     &(trace_event){.ns = end->ns,
					    .kind = end->async ? TRACE_ASYNC_END : TRACE_END,
					    .as.id = end->key},
			     0);
}

/* The ends of ranges of this track up to a time. */
static dck_status perfetto_emit_ends(perfetto_reader *x, uint32_t row, uint64_t ns)
{
	perfetto_track *t = perfetto_track_at(x, row);

	for (; t->nends > 0 && t->ends[t->nends - 1].ns <= ns; x->nends--)
		DCK_TRY(emit_end(x, row, &t->ends[--t->nends]));
	return DCK_OK;
}

dck_status perfetto_put(perfetto_reader *x, uint32_t row, const trace_event *e, uint64_t end_ns)
{
	const perfetto_track *t = perfetto_track_at(x, row);
	const uint32_t owner =
	    t->kind == PERFETTO_COUNTER ? perfetto_carrier_of(x, t->parent) : row;
	uint32_t process;

	if (t->nends > 0 && e->kind != TRACE_ANNOTATION)
		DCK_TRY(perfetto_emit_ends(x, row, e->ns));
	t = perfetto_track_at(x, owner);
	if (owner && t->kind == PERFETTO_THREAD)
		DCK_TRY(perfetto_process_of(t->pid, &process, x));
	return perfetto_hold(x, row, e, end_ns);
}

dck_status perfetto_put_end(perfetto_reader *x, uint32_t row, const perfetto_end *end)
{
	perfetto_track *t = perfetto_track_at(x, row);
	uint32_t at = t->nends;

	/* Nearly always the new one ends before all others. */
	while (at > 0 && t->ends[at - 1].ns < end->ns && t->nends - at < ENDS_MOVED_MAX)
		at--;
	if (x->nends == ENDS_MAX || t->nends - at == ENDS_MOVED_MAX)
		return emit_end(x, row, end);
	DCK_NEED(mem_reserve(&t->ends, &t->ends_cap, t->nends + 1, sizeof *t->ends), x->err,
		 "for the ranges of a trace");
	memmove(&t->ends[at + 1], &t->ends[at], (t->nends - at) * sizeof *t->ends);
	t->ends[at] = *end;
	t->nends++;
	x->nends++;
	return DCK_OK;
}

/* --- samples */

static dck_status samples_flush(perfetto_reader *x)
{
	if (!x->out)
		DCK_TRY(perfetto_open_format(x));
	for (uint32_t i = 0; i < x->nsamples; i++)
		x->samples[i].ns = (int64_t)((uint64_t)x->samples[i].ns - x->base_ns);
	if (x->nsamples && trace_format_has_samples(x->format))
		x->format->samples(x->out, &x->stacks, x->samples, x->nsamples);
	x->nsamples = 0;
	return DCK_OK;
}

dck_status perfetto_put_sample(perfetto_reader *x, const trace_sample *s)
{
	x->facts->samples++;
	if (!x->samples)
		x->samples = mem_alloc(SAMPLES_HELD * sizeof *x->samples);
	DCK_NEED(x->samples, x->err, "for the samples of a trace");
	if (x->nsamples == SAMPLES_HELD)
		DCK_TRY(samples_flush(x));
	x->samples[x->nsamples++] = *s;
	return DCK_OK;
}

dck_status perfetto_emit(perfetto_reader *x)
{
	for (uint32_t row = 1; x->nends > 0 && row <= x->ntracks; row++)
		DCK_TRY(perfetto_emit_ends(x, row, UINT64_MAX));
	DCK_TRY(perfetto_flush(x));
	DCK_TRY(samples_flush(x));
	x->about.losses = x->facts->losses;
	if (x->format->clocks && trace_losses_any(&x->about.losses))
		x->format->clocks(x->out, 0, &x->about);
	return DCK_OK;
}
