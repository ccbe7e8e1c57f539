/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/nesting.h"

#include "base/mem.h"
#include "os/os.h"
#include "trace/perfetto.h"
#include "trace/zone_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS_TRACK = 1, COUNTERS_MAX = 65536 };

/* --- growing */

/* Room for `need` members of `size` in the array that the pointer at `array` points to, the new
 * ones zeroed. The pointer is copied, since it may be of any type. */
static bool reserve(void *array, size_t *cap, size_t need, size_t size)
{
	size_t more = *cap ? *cap : 16;
	char *was, *got;

	if (need <= *cap)
		return true;
	while (more < need)
		more *= 2;
	memcpy(&was, array, sizeof was);
	got = mem_resize(was, more * size);
	if (!got)
		return false;
	memset(got + *cap * size, 0, (more - *cap) * size);
	memcpy(array, &got, sizeof got);
	*cap = more;
	return true;
}

static bool reserve_name(nesting *f, uint32_t name)
{
	size_t cap = f->cap;

	if (name < f->nnames)
		return true;
	if (!reserve(&f->names, &cap, name + (size_t)1, sizeof *f->names))
		return false;
	if (!reserve(&f->stats, &f->cap, name + (size_t)1, sizeof *f->stats))
		return false;
	f->nnames = f->cap;
	return true;
}

/* --- telling */

static void tell_name(nesting *f, uint32_t name)
{
	if (!f->to.intern || !reserve_name(f, name) || f->names[name].told)
		return;
	f->names[name].told = true;
	f->to.intern(f->to.self, name, zone_name_get(name));
}

/* Writes the members one by one into the batch: this is done for each event, and a struct that is
 * made and then copied costs several times as much. */
static inline void tell(nesting *f, nesting_thread *t, uint64_t ns, trace_kind kind, uint32_t name,
			uint64_t value)
{
	if (!f->to.events)
		return;
	if (f->nbatch == NESTING_BATCH)
		nesting_flush(f, t);
	if (name && (name >= f->nnames || !f->names[name].told))
		tell_name(f, name);
	trace_event *e = &f->batch[f->nbatch++];
	e->ns = ns;
	e->name = name;
	e->kind = kind;
	e->as.id = value;
}

static uint64_t bits_of(double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	return bits;
}

void nesting_flush(nesting *f, nesting_thread *t)
{
	if (f->nbatch)
		f->to.events(f->to.self, t->track, f->batch, f->nbatch);
	f->nbatch = 0;
}

void nesting_init(nesting *f, const nesting_thread *threads, const drain_listener *to)
{
	*f = (nesting){.tracks = PROCESS_TRACK,
		       .threads = threads,
		       .unfinished = zone_name_intern(PF_UNENDED, __FILE__, __LINE__),
		       .continued = zone_name_intern(PF_CONTINUED, __FILE__, __LINE__)};
	zone_paths_init(&f->paths);
	if (to)
		f->to = *to;
	trace_track process = {.id = PROCESS_TRACK,
			       .name = program_invocation_short_name,
			       .kind = TRACE_PROCESS,
			       .pid = (int32_t)os_process_id()};
	if (f->to.track)
		f->to.track(f->to.self, &process);
}

void nesting_done(nesting *f)
{
	for (size_t i = 0; i < f->nnames; i++)
		mem_free(f->stats[i]);
	mem_free(f->stats);
	mem_free(f->names);
	mem_free(f->counters);
	open_ranges_done(&f->ranges);
	kept_map_done(&f->thread_names);
	zone_paths_done(&f->paths);
}

void nesting_thread_done(nesting_thread *t)
{
	mem_free(t->frames);
	mem_free(t->pieces);
	mem_free(t->open);
	*t = (nesting_thread){0};
}

static void tell_thread(nesting *f, const nesting_thread *t, const char *name)
{
	trace_track track = {.id = t->track,
			     .parent = PROCESS_TRACK,
			     .kind = TRACE_THREAD,
			     .pid = (int32_t)os_process_id(),
			     .tid = (int32_t)t->tid,
			     .name = name};

	if (f->to.track)
		f->to.track(f->to.self, &track);
}

void nesting_thread_begin(nesting *f, nesting_thread *t, const lane *l)
{
	nesting_thread_done(t);
	t->serial = l->serial;
	t->track = ++f->tracks;
	t->tid = (uint32_t)l->tid;
	f->counts.threads++;
	const uint32_t name = kept_map_find(&f->thread_names, t->tid);
	tell_thread(f, t, name ? zone_name_get(name)->text : l->name[0] ? l->name : NULL);
	kept_map_remove(&f->thread_names, t->tid);
}

/* The program says what a thread of it is called. */
static void name_thread(nesting *f, uint32_t tid, uint32_t name)
{
	for (size_t i = 0; i < lanes_used(); i++)
		if (f->threads[i].serial && f->threads[i].tid == tid) {
			tell_thread(f, &f->threads[i], zone_name_get(name)->text);
			return;
		}
	if (f->thread_names.n < NESTING_NAMES_MAX && !kept_map_put(&f->thread_names, tid, name))
		f->counts.lost++;
}

/* --- ranges of a thread */

static zone_stats *stats_of(nesting *f, uint32_t name)
{
	if (name >= f->nnames && !reserve_name(f, name))
		return NULL;
	if (!f->stats[name])
		f->stats[name] = mem_zalloc(1, sizeof **f->stats);
	return f->stats[name];
}

static void push(nesting *f, nesting_thread *t, uint64_t ns, uint32_t name, uint32_t stack)
{
	if (t->depth == NESTING_DEPTH_MAX || t->too_deep ||
	    (t->depth == t->cap &&
	     !reserve(&t->frames, &t->cap, t->depth + 1, sizeof *t->frames)) ||
	    (name >= t->nopen &&
	     !reserve(&t->open, &t->nopen, name + (size_t)1, sizeof *t->open))) {
		t->too_deep++;
		f->counts.lost++;
		return;
	}
	uint32_t above = t->depth ? t->frames[t->depth - 1].path : 0;
	nesting_frame *top = &t->frames[t->depth++];
	top->name = name;
	/* One that was lost is a path of its caller's. */
	top->path = name ? zone_paths_child(&f->paths, above, name) : above;
	top->begin_ns = ns;
	top->inside_ns = 0;
	top->stack = stack;
	top->in_pieces = false;
	t->open[name]++;
	if (name)
		tell(f, t, ns, TRACE_BEGIN, name, 0);
}

/* Ends the innermost range. */
static void pop_top(nesting *f, nesting_thread *t, uint64_t ns, bool finished)
{
	nesting_frame *top = &t->frames[--t->depth];
	bool outermost = --t->open[top->name] == 0;
	if (!top->name)
		return;
	uint64_t took = ns - top->begin_ns;
	uint64_t self = took - (top->inside_ns < took ? top->inside_ns : took);
	zone_stats *z = stats_of(f, top->name);
	if (t->depth)
		t->frames[t->depth - 1].inside_ns += took;
	if (!finished) {
		f->counts.unfinished++;
		tell(f, t, ns, TRACE_NUMBER, f->unfinished, bits_of(1));
	}
	tell(f, t, ns, TRACE_END, 0, 0);
	zone_paths_add(&f->paths, top->path, 1, self);
	if (!z)
		f->counts.lost++;
	else if (top->in_pieces)
		zone_stats_add_pieces(z, &t->pieces[t->depth], took, self, outermost, finished);
	else if (finished)
		zone_stats_add(z, took, self, outermost);
	else
		zone_stats_add_unfinished(z, took, self, outermost);
}

/* Ends a piece of the innermost range. */
static void piece_end(nesting *f, nesting_thread *t, uint64_t ns)
{
	nesting_frame *top = &t->frames[--t->depth];
	zone_pieces *before = &t->pieces[t->depth];
	const bool outermost = --t->open[top->name] == 0;
	const uint64_t took = ns - top->begin_ns;
	const uint64_t self = took - (top->inside_ns < took ? top->inside_ns : took);

	if (!top->in_pieces)
		*before = (zone_pieces){0};
	top->in_pieces = true;
	before->took_ns += took;
	before->self_ns += self;
	before->total_ns += outermost ? took : 0;
	if (t->depth)
		t->frames[t->depth - 1].inside_ns += took;
	tell(f, t, ns, TRACE_NUMBER, f->continued, bits_of(1));
	tell(f, t, ns, TRACE_END, 0, 0);
	zone_paths_add(&f->paths, top->path, 0, self);
}

/* And begins the next one, in its new place. */
static void piece_begin(nesting *f, nesting_thread *t, uint64_t ns, const nesting_frame *was,
			const zone_pieces *before)
{
	const uint32_t above = t->depth ? t->frames[t->depth - 1].path : 0;
	nesting_frame *top = &t->frames[t->depth];

	t->pieces[t->depth++] = *before;
	*top = *was;
	top->begin_ns = ns;
	top->inside_ns = 0;
	t->open[top->name]++;
	top->path = zone_paths_child(&f->paths, above, top->name);
	tell(f, t, ns, TRACE_BEGIN, top->name, 0);
}

/* Ends the innermost range of that stack, which is not the innermost of all. */
static void pop_crossing(nesting *f, nesting_thread *t, uint64_t ns, uint32_t stack)
{
	nesting_frame was[NESTING_PIECES_MAX];
	zone_pieces before[NESTING_PIECES_MAX];
	size_t n = 0;

	/* One whose beginning was lost may be of any stack. */
	while (n < t->depth && t->frames[t->depth - 1 - n].name &&
	       t->frames[t->depth - 1 - n].stack != stack)
		n++;
	if (n == t->depth || n > NESTING_PIECES_MAX ||
	    !reserve(&t->pieces, &t->npieces, t->depth, sizeof *t->pieces)) {
		f->counts.unmatched++;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		piece_end(f, t, ns);
		was[i] = t->frames[t->depth];
		before[i] = t->pieces[t->depth];
	}
	pop_top(f, t, ns, true);
	while (n-- > 0)
		piece_begin(f, t, ns, &was[n], &before[n]);
}

static void pop(nesting *f, nesting_thread *t, uint64_t ns, uint32_t stack)
{
	if (t->too_deep) {
		t->too_deep--;
		f->counts.lost++;
	} else if (!t->depth) {
		f->counts.unmatched++;
	} else if (t->frames[t->depth - 1].stack == stack) {
		pop_top(f, t, ns, true);
	} else {
		pop_crossing(f, t, ns, stack);
	}
}

static void gap(nesting *f, nesting_thread *t, uint64_t ns, uint64_t value)
{
	/* More than were ever open, or may be, is nothing that a thread wrote. */
	for (uint64_t n = value >> 32; n > 0 && (t->depth || t->too_deep); n--) {
		if (t->too_deep)
			pop(f, t, ns, 0);
		else
			pop_top(f, t, ns, false);
	}
	for (uint64_t n = (uint32_t)value; n > 0; n--)
		push(f, t, ns, 0, 0);
}

void nesting_thread_end(nesting *f, nesting_thread *t, uint64_t ns)
{
	t->too_deep = 0;
	if (ns < t->last_ns)
		ns = t->last_ns;
	while (t->depth)
		pop_top(f, t, ns, false);
	nesting_flush(f, t);
	t->tid = 0;
}

/* --- ranges of no thread */

static void range_ended(nesting *f, uint32_t name, uint64_t begin_ns, uint64_t end_ns)
{
	zone_stats *z = stats_of(f, name);
	uint64_t took = end_ns > begin_ns ? end_ns - begin_ns : 0;

	if (z)
		zone_stats_add(z, took, ZONE_SELF_UNKNOWN, true);
	else
		f->counts.lost++;
}

static void range(nesting *f, nesting_thread *t, const open_range *r)
{
	open_range other;
	bool lost;

	if (!r->id)
		return;
	tell(f, t, r->ns, r->name ? TRACE_ASYNC_BEGIN : TRACE_ASYNC_END, r->name, r->id);
	if (open_ranges_match(&f->ranges, r, &other, &lost)) {
		if (r->name)
			range_ended(f, r->name, r->ns, other.ns);
		else
			range_ended(f, other.name, other.ns, r->ns);
	} else if (lost) {
		f->counts.unmatched++;
	}
}

void nesting_end(nesting *f, uint64_t ns)
{
	for (size_t i = 0; i < f->ranges.cap; i++) {
		const open_range *r = &f->ranges.slots[i];
		zone_stats *z = r->id && r->name ? stats_of(f, r->name) : NULL;
		uint64_t took = ns > r->ns ? ns - r->ns : 0;

		if (!r->id)
			continue;
		if (!r->name) {
			f->counts.unmatched++;
			continue;
		}
		f->counts.unfinished++;
		if (z)
			zone_stats_add_unfinished(z, took, ZONE_SELF_UNKNOWN, true);
	}
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
		f->names[name].counter = ++f->tracks;
		f->to.track(f->to.self, &(trace_track){.id = f->tracks,
						       .parent = PROCESS_TRACK,
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
	    !reserve(&f->counters, &f->counters_cap, f->ncounters + 1, sizeof *f->counters)) {
		f->counts.lost++;
		return;
	}
	f->counters[f->ncounters] = (nesting_counter){
	    .ns = ns, .name = name, .order = (uint32_t)f->ncounters, .value = value};
	f->ncounters++;
}

/* --- one event */

void nesting_event(nesting *f, nesting_thread *t, uint64_t ns, uint64_t word, uint64_t value)
{
	const uint32_t name = (uint32_t)word;
	const lane_kind kind = LANE_KIND(word);
	double real;

	f->counts.events++;
	if (ns < t->last_ns) {
		f->counts.moved++;
		ns = t->last_ns;
	}
	t->last_ns = ns;
	memcpy(&real, &value, sizeof real);
	switch (kind) {
	case LANE_PUSH:
		push(f, t, ns, name, LANE_STACK_OF(word));
		break;
	case LANE_POP:
		pop(f, t, ns, LANE_STACK_OF(word));
		break;
	case LANE_MARK:
		tell(f, t, ns, TRACE_INSTANT, name, 0);
		break;
	case LANE_NUMBER:
		if (t->depth && t->frames[t->depth - 1].name && !t->too_deep)
			tell(f, t, ns, TRACE_NUMBER, name, value);
		else
			f->counts.unmatched++;
		break;
	case LANE_COUNTER:
		counter(f, ns, name, real);
		break;
	case LANE_START:
	case LANE_END:
		range(f, t, &(open_range){.id = value, .name = name, .track = t->track, .ns = ns});
		break;
	case LANE_GAP:
		f->counts.events--; /* ours, not the program's */
		gap(f, t, ns, value);
		break;
	case LANE_THREAD:
		name_thread(f, (uint32_t)value, name);
		break;
	}
}
