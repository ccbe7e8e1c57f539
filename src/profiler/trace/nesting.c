/* nesting.c - state of each thread's open ranges: feeds the sums
 * (zone_aggregate.c), and emits a properly nested timeline in batches of NESTING_BATCH events.
 *
 * Ranges of one stack (zones, a domain of NVTX) nest, but ranges of two stacks of a thread may
 * cross. pop_crossing() splits the ranges above the one that ends: they end as pieces, the
 * innermost first, and begin again at the same time in reverse order. It costs O(n) for n ranges,
 * at most ZONE_PIECES_MAX. A push whose pop follows at once is the common case and has a fast path
 * (leaf()). A gap replays pops and pushes that a thread could not write; the pushes are ZONE_LOST.
 *
 * Times of a thread never decrease: an event that is late gets the last emitted time, and is
 * counted as moved. Any thread may set a counter, so counters are collected in a round and sorted
 * by name, time and arrival. Arrows connect a start and an end on two threads by a hash map of ids,
 * `starts`, whichever the drain meets first.
 *
 * Only the drain's thread calls this. A name or track is emitted before its first use. Memory is
 * bounded by names, open ranges, COUNTERS_MAX and NESTING_STARTS_MAX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/nesting.h"

#include "base/mem.h"
#include "os/os.h"
#include "profiler/timeline/perfetto.h"
#include "profiler/trace/zone_names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS_MAX = 65536 };

/* --- growing */

static bool reserve_name(nesting *f, uint32_t name)
{
	return mem_reserve_zeroed(&f->names, &f->nnames, name + (size_t)1, sizeof *f->names);
}

/* --- emitting */

static void tell_name(nesting *f, uint32_t name)
{
	if (!f->to.intern || !reserve_name(f, name) || f->names[name].emitted)
		return;
	f->names[name].emitted = true;
	f->to.intern(f->to.self, name, zone_name_get(name));
}

/* Writes the members one by one: this is done for each event, and a struct that is made and then
 * copied costs several times as much. */
static inline void event_init(trace_event *e, uint64_t ns, trace_kind kind, uint32_t name,
			      uint64_t value)
{
	e->ns = ns;
	e->name = name;
	e->kind = kind;
	e->as.id = value;
}

static void event_append(nesting *f, nesting_thread *t, uint64_t ns, trace_kind kind, uint32_t name,
			 uint64_t value)
{
	if (!f->to.events)
		return;
	if (f->nbatch == NESTING_BATCH)
		nesting_flush(f, t);
	if (name && (name >= f->nnames || !f->names[name].emitted))
		tell_name(f, name);
	event_init(&f->batch[f->nbatch++], ns, kind, name, value);
}

void nesting_flush(nesting *f, nesting_thread *t)
{
	if (f->nbatch && t->first_ns > f->batch[0].ns)
		t->first_ns = f->batch[0].ns;
	if (f->nbatch)
		f->to.events(f->to.self, t->track, f->batch, f->nbatch);
	f->nbatch = 0;
}

static bool nesting_is_wait(const void *unused, uint32_t name)
{
	(void)unused;
	return trace_is_wait(zone_name_get(name)->text);
}

static bool nesting_is_call(const void *unused, uint32_t name)
{
	(void)unused;
	return trace_is_cuda_call(zone_name_get(name)->text);
}

void nesting_init(nesting *f, const drain_listener *to)
{
	const unsigned rank = os_rank();
	char name[64];

	*f = (nesting){.sums.is_wait = nesting_is_wait,
		       .sums.is_call = nesting_is_call,
		       .unfinished = zone_name_intern(PF_UNENDED, __FILE__, __LINE__),
		       .continued = zone_name_intern(PF_CONTINUED, __FILE__, __LINE__)};
	f->device.enqueuers = &f->sums;
	if (to)
		f->to = *to;
	thread_watch_begin(&f->watch, to);
	if (rank == OS_NO_RANK)
		snprintf(name, sizeof name, "%s", program_invocation_short_name);
	else
		snprintf(name, sizeof name, "rank %u: %s", rank, program_invocation_short_name);
	trace_track process = {.id = WATCH_PROCESS_TRACK,
			       .name = name,
			       .kind = TRACE_PROCESS,
			       .pid = (int32_t)os_process_id()};
	if (f->to.track)
		f->to.track(f->to.self, &process);
}

void nesting_done(nesting *f)
{
	zone_aggregate_done(&f->sums);
	zone_aggregate_done(&f->device);
	thread_watch_done(&f->watch);
	hash_map_done(&f->starts);
	mem_free(f->names);
	mem_free(f->counters);
}

void nesting_thread_done(nesting_thread *t)
{
	zone_stack_done(&t->open);
	*t = (nesting_thread){0};
}

void nesting_thread_begin(nesting *f, nesting_thread *t, const thread_buffer *l)
{
	nesting_thread_done(t);
	t->serial = l->serial;
	t->track = thread_watch_lane(&f->watch, l);
	t->tid = (uint32_t)l->tid;
	t->device = l->device;
	t->open.stream = t->device && trace_is_stream(zone_name_get(l->device)->text);
	t->first_ns = UINT64_MAX;
}

/* --- ranges of a thread */

/* A device's time is not a thread's. */
static inline zone_aggregate *nesting_sums(nesting *f, const nesting_thread *t)
{
	return t->device ? &f->device : &f->sums;
}

static void nesting_push(nesting *f, nesting_thread *t, uint64_t ns, uint32_t name, uint32_t stack)
{
	if (!zone_aggregate_begin(nesting_sums(f, t), &t->open, ns, name)) {
		f->counts.lost++;
		return;
	}
	zone_stack_top(&t->open)->stack = stack;
	if (name != ZONE_LOST)
		event_append(f, t, ns, TRACE_BEGIN, name, 0);
}

/* Ends the innermost range. */
static void pop_top(nesting *f, nesting_thread *t, uint64_t ns, bool finished)
{
	switch (zone_aggregate_end(nesting_sums(f, t), &t->open, ns, finished)) {
	case ZONE_ENDED:
		if (!finished) {
			f->counts.unfinished++;
			event_append(f, t, ns, TRACE_ANNOTATION, f->unfinished,
				     thread_buffer_bits(1));
		}
		event_append(f, t, ns, TRACE_END, 0, 0);
		break;
	case ZONE_ENDED_LOST:
		break;
	case ZONE_UNMATCHED:
		f->counts.unmatched++;
		break;
	case ZONE_TOO_DEEP:
		f->counts.lost++;
		break;
	}
}

/* Ends the innermost range of that stack, which is not the innermost of all: each range inside it
 * ends a piece and starts the next one. */
static void pop_crossing(nesting *f, nesting_thread *t, uint64_t ns, uint32_t stack)
{
	uint32_t names[ZONE_PIECES_MAX], stacks[ZONE_PIECES_MAX];
	const zone_frame *top = zone_stack_top(&t->open);
	size_t n = 0;

	/* A range whose beginning was lost may belong to any stack. */
	for (; n < t->open.depth && top->name != ZONE_LOST && top->stack != stack; n++, top--)
		if (n < ZONE_PIECES_MAX) {
			names[n] = top->name;
			stacks[n] = top->stack;
		}
	if (n == t->open.depth || n > ZONE_PIECES_MAX) {
		f->counts.unmatched++;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		zone_stack_top(&t->open)->continued = true;
		event_append(f, t, ns, TRACE_ANNOTATION, f->continued, thread_buffer_bits(1));
		pop_top(f, t, ns, true);
	}
	pop_top(f, t, ns, true);
	while (n-- > 0)
		nesting_push(f, t, ns, names[n], stacks[n]);
}

static void nesting_pop(nesting *f, nesting_thread *t, uint64_t ns, uint32_t stack)
{
	const zone_frame *top = zone_stack_top(&t->open);

	if (!top || t->open.too_deep || top->stack == stack)
		pop_top(f, t, ns, true);
	else
		pop_crossing(f, t, ns, stack);
}

static void gap(nesting *f, nesting_thread *t, uint64_t ns, uint64_t value)
{
	/* No thread wrote more pops than there are open ranges: the rest is damage. */
	for (uint64_t n = value >> 32; n > 0 && (t->open.depth || t->open.too_deep); n--)
		pop_top(f, t, ns, false);
	for (uint64_t n = (uint32_t)value; n > 0; n--)
		nesting_push(f, t, ns, ZONE_LOST, 0);
}

void nesting_thread_close(nesting *f, nesting_thread *t, uint64_t ns)
{
	t->open.too_deep = 0;
	if (ns < t->last_ns)
		ns = t->last_ns;
	while (t->open.depth)
		pop_top(f, t, ns, false);
	nesting_flush(f, t);
}

void nesting_thread_end(nesting *f, nesting_thread *t, uint64_t ns, const thread_buffer *ended)
{
	nesting_thread_close(f, t, ns);
	if (t->tid)
		thread_watch_lane_end(&f->watch, &(watch_end){.tid = (int)t->tid,
							      .ended = ended,
							      .first_ns = t->first_ns,
							      .ns = ns,
							      .zones = t->open.zones,
							      .waited_ns = t->open.waited_ns});
	t->tid = 0;
}

void nesting_thread_left(nesting *f, const thread_buffer *ended, uint64_t ns)
{
	if (!ended->guest)
		thread_watch_lane_end(&f->watch, &(watch_end){.tid = ended->tid,
							      .ended = ended,
							      .first_ns = UINT64_MAX,
							      .ns = ns});
}

/* --- ranges of no thread */

/* Emits an arrow from the range around a start to the range around its end on another thread. If
 * the drain meets the end first, the two are on two threads, since each thread is in order. */
static void flow(nesting *f, nesting_thread *t, uint64_t ns, bool starts, uint64_t id)
{
	/* Not tracks: it has ended; it started where no range was open. */
	const uint32_t ended = UINT32_MAX, outside = UINT32_MAX - 1;
	const uint32_t other = hash_map_find(&f->starts, id);
	const uint32_t mine = !starts ? ended : t->open.depth ? t->track : outside;
	bool known = other != 0;

	if (!f->to.events)
		return;
	if (known)
		hash_map_remove(&f->starts, id);
	else if (f->starts.n < NESTING_STARTS_MAX)
		known = hash_map_put(&f->starts, id, mine);
	if (known && t->open.depth && (starts || (other != t->track && other != outside)))
		event_append(f, t, ns, starts ? TRACE_FLOW_BEGIN : TRACE_FLOW_END, 0, id);
}

static void nesting_range(nesting *f, nesting_thread *t, uint64_t ns, uint32_t name, uint64_t id)
{
	if (!id)
		return;
	event_append(f, t, ns, name ? TRACE_ASYNC_BEGIN : TRACE_ASYNC_END, name, id);
	flow(f, t, ns, name != 0, id);
	if (zone_aggregate_range(&f->sums, t->track, id, !name, name, ns))
		return;
	if (f->sums.ranges.n >= OPEN_RANGES_MAX)
		f->counts.lost++;
	else
		f->counts.unmatched++;
}

void nesting_end(nesting *f, uint64_t ns)
{
	uint64_t unmatched;

	f->counts.unfinished += zone_aggregate_close_ranges(&f->sums, ns, NULL, &unmatched);
	f->counts.unmatched += unmatched;
}

/* --- counters */

static int by_name_and_time(const void *a, const void *b)
{
	const nesting_counter *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static uint32_t counter_track(nesting *f, uint32_t name)
{
	if (!f->names[name].counter) {
		f->names[name].counter = ++f->watch.tracks;
		f->to.track(f->to.self, &(trace_track){.id = f->watch.tracks,
						       .parent = WATCH_PROCESS_TRACK,
						       .kind = TRACE_COUNTER_TRACK,
						       .pid = (int32_t)os_process_id(),
						       .name = zone_name_get(name)->text});
	}
	return f->names[name].counter;
}

void nesting_flush_counters(nesting *f)
{
	if (f->ncounters)
		qsort(f->counters, f->ncounters, sizeof *f->counters, by_name_and_time);
	for (size_t i = 0; i < f->ncounters;) {
		uint32_t name = f->counters[i].name;
		trace_event e[64];
		size_t n = 0;

		tell_name(f, name);
		for (; i < f->ncounters && f->counters[i].name == name && n < 64; i++) {
			uint64_t *last = &f->names[name].counter_ns;

			if (f->counters[i].ns > *last)
				*last = f->counters[i].ns;
			e[n++] = (trace_event){.ns = *last,
					       .name = name,
					       .kind = TRACE_COUNTER,
					       .as.real = f->counters[i].value};
		}
		f->to.events(f->to.self, counter_track(f, name), e, n);
	}
	f->ncounters = 0;
}

static void counter(nesting *f, uint64_t ns, uint32_t name, double value)
{
	if (!f->to.events || !f->to.track)
		return;
	if (f->ncounters == COUNTERS_MAX)
		nesting_flush_counters(f);
	if (!reserve_name(f, name) ||
	    !mem_reserve(&f->counters, &f->counters_cap, f->ncounters + 1, sizeof *f->counters)) {
		f->counts.lost++;
		return;
	}
	f->counters[f->ncounters] = (nesting_counter){
	    .ns = ns, .name = name, .order = (uint32_t)f->ncounters, .value = value};
	f->ncounters++;
}

/* --- events */

/* Adds a push and the pop that follows at once. Returns false if it did nothing. */
static inline bool leaf(nesting *f, nesting_thread *t, uint64_t begin_ns, uint64_t end_ns,
			uint32_t name)
{
	if (t->open.too_deep ||
	    !zone_aggregate_leaf(nesting_sums(f, t), &t->open, begin_ns, end_ns, name))
		return false;
	if (!f->to.events)
		return true;
	if (f->nbatch + 2 > NESTING_BATCH)
		nesting_flush(f, t);
	if (name >= f->nnames || !f->names[name].emitted)
		tell_name(f, name);
	event_init(&f->batch[f->nbatch], begin_ns, TRACE_BEGIN, name, 0);
	event_init(&f->batch[f->nbatch + 1], end_ns, TRACE_END, 0, 0);
	f->nbatch += 2;
	return true;
}

static void event(nesting *f, nesting_thread *t, uint64_t ns, uint64_t word, uint64_t value)
{
	const uint32_t name = (uint32_t)word;
	zone_frame *top = zone_stack_top(&t->open);
	double real;

	switch (LANE_KIND(word)) {
	case LANE_PUSH:
		nesting_push(f, t, ns, name, LANE_STACK_OF(word));
		break;
	case LANE_POP:
		nesting_pop(f, t, ns, LANE_STACK_OF(word));
		break;
	case LANE_MARK:
		event_append(f, t, ns, TRACE_INSTANT, name, 0);
		break;
	case LANE_NUMBER:
		memcpy(&real, &value, sizeof real);
		if (!isfinite(real)) {
			f->counts.not_finite++;
			break;
		}
		if (top && t->device && trace_is_bytes(zone_name_get(name)->text))
			top->bytes += real;
		if (top && top->name != ZONE_LOST && !t->open.too_deep)
			event_append(f, t, ns, TRACE_ANNOTATION, name, value);
		else
			f->counts.unmatched++;
		break;
	case LANE_COUNTER:
		memcpy(&real, &value, sizeof real);
		if (isfinite(real))
			counter(f, ns, name, real);
		else
			f->counts.not_finite++;
		break;
	case LANE_START:
	case LANE_END:
		nesting_range(f, t, ns, name, value);
		break;
	case LANE_GAP:
		f->counts.events--; /* ours, not the program's */
		gap(f, t, ns, value);
		break;
	case LANE_FLOW_BEGIN:
		zone_aggregate_enqueued(&f->sums, &t->open, value);
		if (top)
			event_append(f, t, ns, TRACE_FLOW_BEGIN, 0, value);
		break;
	case LANE_FLOW_END:
		if (!top)
			break;
		top->flow = value;
		event_append(f, t, ns, TRACE_FLOW_END, 0, value);
		break;
	case LANE_THREAD:
		thread_watch_name(&f->watch, (int)(uint32_t)value, name);
		break;
	}
}

/* Returns the time of an event, at least that of the last emitted one. */
static inline uint64_t nesting_time_of(nesting *f, nesting_thread *t, uint64_t ns)
{
	if (ns < t->last_ns)
		f->counts.moved++;
	else
		t->last_ns = ns;
	return t->last_ns;
}

void nesting_events(nesting *f, nesting_thread *t, const nesting_input *e, size_t n)
{
	const nesting_input *end = e + n;

	f->counts.events += n;
	if (!f->to.events && n && t->first_ns == UINT64_MAX)
		t->first_ns = e->ns;
	for (; e < end; e++) {
		const uint64_t ns = nesting_time_of(f, t, e->ns);

		if (LANE_KIND(e->word) == LANE_PUSH && e + 1 < end &&
		    (e[1].word ^ e->word) >> 32 == (LANE_PUSH ^ LANE_POP) && e[1].ns >= ns &&
		    leaf(f, t, ns, e[1].ns, (uint32_t)e->word))
			t->last_ns = (++e)->ns;
		else
			event(f, t, ns, e->word, e->value);
	}
}
