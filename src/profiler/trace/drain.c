/* drain.c - consumer of the threads' event buffers (thread_buffer.h): reads the entries of each
 * thread in the order of their times, converts ticks to nanoseconds, and passes them to nesting.c.
 *
 * One thread, the recorder's, reads all lanes in rounds. A writer stores an entry's word last
 * (release) and the drain loads it first (acquire); 0 means not written yet. Full blocks come from
 * a lock-free stack, which one atomic exchange empties, and are reversed into a queue, the oldest
 * first. `cut`, the time when a round began, ends what the round reads, so all threads are read up
 * to one time.
 *
 * Events of a signal handler may precede an earlier event of the code that it interrupted, so each
 * CHUNK of entries is sorted by insertion: O(n) for entries in order, which is the usual case. An
 * event that is late beyond its chunk gets the last emitted time (nesting.c).
 *
 * With capture windows (capture.h) each chunk is split at their borders, and ranges that are open
 * at the end of a window are closed there. Each thread has an index of its window.
 *
 * The address space for LANES_MAX threads is reserved once; a page takes memory when its thread is
 * first met. Blocks return to the pool when they have been read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/drain.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "profiler/trace/capture.h"
#include "profiler/trace/nesting.h"
#include "profiler/trace/waiting.h"
#include "profiler/trace/zone_limits.h"
#include "profiler/trace/zone_names.h"

#include <string.h>

enum { CHUNK = 256, PREFETCH = 512 };

struct drain {
	uint64_t base, ns_per_tick_q32;
	nesting nesting;
	size_t nthreads;		   /* lanes that were ever drained */
	nesting_thread threads[LANES_MAX]; /* by lane; untouched beyond those */
};

/* A function of LeakSanitizer for memory that is not from malloc(); without it what is reachable
 * only from a drain passes for leaked where the recording is still active when the program is
 * checked: at its exit, before the destructors of libraries. */
typedef void leak_region(const void *p, size_t n);

static struct leak_regions {
	bool sought; /* a child of fork() does not search again */
	leak_region *add, *remove;
} leak_regions;

static leak_region *leak_region_find(const char *name)
{
	leak_region *ret = NULL;
	void *found = os_symbol_default(name);

	if (found)
		memcpy(&ret, &found, sizeof ret); /* ISO C has no cast of it */
	return ret;
}

static void leak_region_add(struct leak_regions *s, const drain *d)
{
	if (!s->sought) {
		s->add = leak_region_find("__lsan_register_root_region");
		s->remove = leak_region_find("__lsan_unregister_root_region");
		s->sought = true;
	}
	if (s->add && s->remove)
		s->add(d, sizeof *d);
}

static void leak_region_remove(const struct leak_regions *s, const drain *d)
{
	if (s->add && s->remove)
		s->remove(d, sizeof *d);
}

dck_status drain_new(drain **ret, uint64_t base, uint64_t ns_per_tick_q32,
		     const drain_listener *listener, dck_err *err)
{
	drain *d = os_pages_reserve(sizeof *d);

	DCK_NEED(d, err, "to record");
	leak_region_add(&leak_regions, d);
	d->base = base;
	d->ns_per_tick_q32 = ns_per_tick_q32;
	nesting_init(&d->nesting, listener);
	*ret = d;
	return DCK_OK;
}

static uint64_t drain_limit_of(const void *limits, uint32_t name)
{
	return zone_limit_of(limits, zone_name_get(name)->text);
}

void drain_limit(drain *d, const dck_list *limits)
{
	d->nesting.sums.limits = limits;
	d->nesting.sums.limit_of = limits->n ? drain_limit_of : NULL;
}

void drain_want(drain *d, const zone_percentiles *p)
{
	zone_aggregate_want(&d->nesting.sums, p);
	zone_aggregate_want(&d->nesting.device, p);
}

uint64_t drain_over(const drain *d)
{
	const zone_aggregate *s = &d->nesting.sums;
	uint64_t over = 0;

	for (uint32_t i = 0; s->limit_of && i < s->nstats; i++)
		over += s->stats[i] ? s->stats[i]->over : 0;
	return over;
}

void drain_free(drain *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nthreads; i++)
		nesting_thread_done(&d->threads[i]);
	nesting_done(&d->nesting);
	leak_region_remove(&leak_regions, d);
	os_pages_free(d, sizeof *d);
}

uint64_t drain_ns(const drain *d, uint64_t ticks)
{
	uint64_t t = ticks > d->base ? ticks - d->base : 0, q = d->ns_per_tick_q32;

	/* (t * q) >> 32 without a type of 128 bits: exact, since a part of it that is shifted out
	 * is at most 2^32 - 1. */
	return (t >> 32) * q +
	       (((t & 0xffffffffu) * (q >> 32)) + (((t & 0xffffffffu) * (q & 0xffffffffu)) >> 32));
}

/* Reads up to CHUNK events of a block, from *at on, that are written and not after `cut`. Handler
 * events may precede the interrupted event in the buffer, so they are sorted by time. Times are
 * ticks. */
static size_t chunk_read(event_chunk *b, uint32_t *at, uint32_t end, uint64_t cut, nesting_input *g)
{
	uint64_t last = 0;
	uint32_t from = *at;
	size_t n = 0;

	while (from < end && n < CHUNK) {
		thread_buffer_entry *e = (thread_buffer_entry *)((char *)b + from);
		/* The entries are in the cache of another processor. */
		__builtin_prefetch((const char *)e + PREFETCH);
		const uint64_t word = atomic_load_explicit(&e->word, memory_order_acquire);
		const uint64_t ticks = atomic_load_explicit(&e->ticks, memory_order_relaxed);

		if (!word || ticks > cut)
			break;
		size_t i = n++;
		if (ticks < last)
			for (; i > 0 && g[i - 1].ns > ticks; i--)
				g[i] = g[i - 1];
		else
			last = ticks;
		g[i].ns = ticks;
		g[i].word = word;
		from += sizeof(thread_buffer_entry);
		if (LANE_HAS_VALUE(word)) {
			g[i].value = atomic_load_explicit(&e[1].ticks, memory_order_relaxed);
			from += sizeof(thread_buffer_entry);
		}
	}
	*at = from;
	return n;
}

/* Converts ticks to times, and passes the events on. */
static void ticks_convert(drain *d, nesting_thread *t, nesting_input *g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		g[i].ns = drain_ns(d, g[i].ns);
	nesting_events(&d->nesting, t, g, n);
}

/* --- windows (capture.h) */

/* Moves the thread to the window of its next event, at `ticks`. Returns the time up to which
 * further events are inside or outside as that one is. */
static uint64_t window_follow(drain *d, nesting_thread *t, uint64_t ticks)
{
	const uint32_t released = capture_released();
	capture_window w, next = {.begin = UINT64_MAX};

	if ((int32_t)(released - t->window) > 0) /* it was not inside: windows_release() */
		t->window = released;
	if (!capture_window_get(t->window, &w))
		return UINT64_MAX;
	while (capture_window_get(t->window + 1, &next) && next.begin <= ticks) {
		w.end = next.begin < w.end ? next.begin : w.end;
		if (t->inside)
			nesting_thread_close(&d->nesting, t, drain_ns(d, w.end));
		t->inside = false;
		t->window++;
		w = next;
		next.begin = UINT64_MAX;
	}
	if (t->inside && ticks > w.end)
		nesting_thread_close(&d->nesting, t, drain_ns(d, w.end));
	t->inside = w.begin <= ticks && ticks <= w.end;
	if (ticks < w.begin)
		return w.begin - 1;
	return t->inside && w.end < next.begin ? w.end : next.begin - 1;
}

/* Moves the events that count outside of windows too to the front: names of threads, and the ends
 * of ranges that any thread may end, which were written only if the range began inside a window. */
static size_t outside_keep(nesting_input *g, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (LANE_KIND(g[i].word) == LANE_END || LANE_KIND(g[i].word) == LANE_THREAD)
			g[kept++] = g[i];
	return kept;
}

static void windows_tell(drain *d, nesting_thread *t, nesting_input *g, size_t n)
{
	while (n > 0) {
		const uint64_t until = window_follow(d, t, g->ns);
		size_t some = 1;

		while (some < n && g[some].ns <= until)
			some++;
		ticks_convert(d, t, g, t->inside ? some : outside_keep(g, some));
		g += some;
		n -= some;
	}
}

/* A device's work is recorded if it was enqueued inside a window, whenever it runs
 * (device_track.h). */
static void events_dispatch(drain *d, nesting_thread *t, nesting_input *g, size_t n)
{
	(capture_armed() && !t->device ? windows_tell : ticks_convert)(d, t, g, n);
}

/* Releases old windows, after closing the ranges that are open in them. */
static void windows_release(drain *d, uint64_t cut)
{
	const uint32_t before = capture_releasable(cut);
	capture_window w;

	if (before == capture_released())
		return;
	for (size_t i = 0; i < thread_buffers_used(); i++) {
		nesting_thread *t = &d->threads[i];

		if (!t->serial || !t->inside || (int32_t)(before - t->window) <= 0)
			continue;
		if (capture_window_get(t->window, &w))
			nesting_thread_close(&d->nesting, t, drain_ns(d, w.end));
		t->inside = false;
	}
	capture_release(before);
}

/* Returns whether all entries up to `end` are read. */
static bool block_read(drain *d, nesting_thread *t, event_chunk *b, uint32_t end, uint64_t cut)
{
	nesting_input g[CHUNK];
	size_t n;

	while ((n = chunk_read(b, &b->read, end, cut, g))) {
		size_t before = 0; /* entries from before the recording */

		while (before < n && g[before].ns < d->base)
			before++;
		events_dispatch(d, t, g + before, n - before);
	}
	return b->read >= end;
}

/* Appends the lane's full blocks to its queue. Returns whether `current` is one of them. */
static bool full_blocks_take(thread_buffer *l, const event_chunk *current)
{
	event_chunk *newest = atomic_exchange(&l->full, NULL), *oldest = NULL, *last = newest;
	bool there = false;

	while (newest) {
		event_chunk *next = newest->next;

		there = there || newest == current;
		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	if (!oldest)
		return false;
	if (l->todo)
		l->todo_last->next = oldest;
	else
		l->todo = oldest;
	l->todo_last = last;
	return there;
}

/* Emits a wait that is not over as the beginning of a range. A thread with a later event does not
 * wait any more. */
static void wait_read(drain *d, thread_buffer *l, nesting_thread *t, uint64_t now)
{
	const uint64_t begin = atomic_load_explicit(&l->wait_begin, memory_order_acquire);
	const uint32_t name = atomic_load_explicit(&l->wait_name, memory_order_relaxed);
	nesting_input push = {.ns = begin, .word = LANE_WORD(LANE_PUSH, name)};

	if (!begin || begin >= now || !waits_are_recorded(now - begin) ||
	    (t->serial == l->serial && drain_ns(d, begin) < t->last_ns))
		return;
	if (t->serial != l->serial) {
		if (!l->name[0])
			os_thread_name_of(l->tid, l->name);
		nesting_thread_begin(&d->nesting, t, l);
	}
	events_dispatch(d, t, &push, 1);
}

/* ended: its lane; NULL: only the recording ends. */
static void thread_end(drain *d, nesting_thread *t, uint64_t ticks, const thread_buffer *ended)
{
	if (capture_armed() && !t->device)
		window_follow(d, t, ticks);
	nesting_thread_end(&d->nesting, t, drain_ns(d, ticks), ended);
}

static bool drain_lane_read(drain *d, thread_buffer *l, nesting_thread *t, uint64_t cut)
{
	int state = atomic_load(&l->state);
	bool whole = false;

	if (state != LANE_LIVE && state != LANE_ENDED)
		return false;
	/* With a later end the thread still ran when the round began. */
	bool ended = state == LANE_ENDED && l->end_ticks <= cut;
	event_chunk *current = atomic_load(&l->current);
	const bool current_is_full = full_blocks_take(l, current);
	/* A thread without events has no track. */
	if (t->serial != l->serial && (current || l->todo))
		nesting_thread_begin(&d->nesting, t, l);
	if (current_is_full)
		current = NULL;
	while (l->todo) {
		event_chunk *b = l->todo;

		/* What an ended thread did not write is never written. */
		if (!block_read(d, t, b, b->end, ended ? UINT64_MAX : cut) && !ended)
			break;
		l->todo = b->next;
		chunk_free(b);
		whole = true;
	}
	if (current && !l->todo)
		block_read(d, t, current, LANE_BLOCK, cut);
	if (ended) {
		wait_read(d, l, t, l->end_ticks);
		if (t->serial == l->serial)
			thread_end(d, t, l->end_ticks, l);
		else
			nesting_thread_left(&d->nesting, l, drain_ns(d, l->end_ticks));
		thread_buffer_release(l);
	}
	nesting_flush(&d->nesting, t);
	return whole;
}

/* Returns whether the buffer belongs to a thread or to a device; -1: neither yet. Other members
 * are read only after the state, because its thread writes them. */
static int drain_lane_kind(thread_buffer *l)
{
	const int state = atomic_load(&l->state);

	return state != LANE_LIVE && state != LANE_ENDED ? -1 : l->device != 0;
}

bool drain_round(drain *d)
{
	const uint64_t cut = ticks_now();
	bool more = false;

	d->nthreads = thread_buffers_used();
	/* Threads first, so that an arrow starts before the device's range at which it ends. */
	for (int devices = 0; devices < 2; devices++)
		for (size_t i = 0; i < d->nthreads; i++) {
			thread_buffer *l = thread_buffers_at(i);

			if (drain_lane_kind(l) == devices)
				more = drain_lane_read(d, l, &d->threads[i], cut) || more;
		}
	nesting_flush_counters(&d->nesting);
	if (capture_armed())
		windows_release(d, cut);
	return more;
}

static bool range_is_open(const drain *d)
{
	bool open = d->nesting.sums.ranges.n > 0;

	for (size_t i = 0; i < d->nthreads && !open; i++)
		open = d->threads[i].open.depth > 0;
	return open;
}

void drain_poll_threads(drain *d, const watch_look *how, uint64_t ticks)
{
	watch_look now = *how;

	now.ns = drain_ns(d, ticks);
	now.beat = how->beat && range_is_open(d);
	thread_watch_look(&d->nesting.watch, &now);
}

void drain_end(drain *d, uint64_t ticks)
{
	for (size_t i = 0; i < d->nthreads; i++) {
		if (atomic_load(&thread_buffers_at(i)->state) == LANE_LIVE)
			wait_read(d, thread_buffers_at(i), &d->threads[i], ticks);
		if (d->threads[i].serial)
			thread_end(d, &d->threads[i], ticks, NULL);
	}
	nesting_end(&d->nesting, drain_ns(d, ticks));
}

const zone_aggregate *drain_sums(const drain *d)
{
	return &d->nesting.sums;
}

const zone_aggregate *drain_device_sums(const drain *d)
{
	return &d->nesting.device;
}

const drain_counts *drain_counted(const drain *d)
{
	return &d->nesting.counts;
}

const thread_watch *drain_watch(const drain *d)
{
	return &d->nesting.watch;
}
