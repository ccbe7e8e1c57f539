/* zone_aggregate.c - matches the beginnings and ends of ranges, and adds them up by name
 * (zone_stats.h) and by call path (a calling-context tree, record/tree/path_trie.h).
 *
 * A track has a stack of open ranges. A range that ends adds its duration to `inside_ns` of the
 * range around it; own time is duration minus that. The total of a name has only its outermost
 * ranges, so recursion counts once: a path stores whether its name is on it already, and for ranges
 * beyond the limit of paths the map `hidden` counts open ranges by name.
 *
 * A range in pieces ends as `continued` and waits on a stack of at most ZONE_PIECES_MAX; a range of
 * its name that begins at that time continues it. Ranges that any thread may end are matched by id
 * in a hash table (open_ranges.c), whichever end comes first.
 *
 * The path of an arrow is in one of two hash maps; when the newer one is full, the older one is
 * dropped. So an arrow may end several times, as a graph of kernels does, and memory has a bound.
 * A device's range adds its self time to its path, so that ranges in it that have a separate arrow
 * count once.
 *
 * Bounds: ZONE_DEPTH_MAX open ranges on a track, deeper ones are counted; HISTOGRAMS_BYTES; the
 * limits of path_trie.h. An event costs O(1), beyond the limit of paths O(depth). One thread uses a
 * zone_aggregate; a failed allocation is stored in `failed`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_aggregate.h"

#include "base/mem.h"

#include <string.h>

/* The bytes of all histograms together. */
enum { HISTOGRAMS_BYTES = 64 << 20 };

void zone_aggregate_want(zone_aggregate *s, const zone_percentiles *p)
{
	s->percentiles = *p;
	s->histogram_cap = HISTOGRAMS_BYTES;
}

static void stats_free(zone_stats *z)
{
	if (!z)
		return;
	if (z->histogram)
		zone_histogram_done(z->histogram);
	mem_free(z->histogram);
	zone_stats_done(z);
	mem_free(z);
}

void zone_aggregate_done(zone_aggregate *s)
{
	for (uint32_t i = 0; i < s->nstats; i++)
		stats_free(s->stats[i]);
	mem_free(s->stats);
	path_trie_done(&s->paths);
	open_ranges_done(&s->ranges);
	hash_map_done(&s->flows[0]);
	hash_map_done(&s->flows[1]);
	*s = (zone_aggregate){0};
}

void zone_stack_done(zone_stack *t)
{
	mem_free(t->frames);
	mem_free(t->pieces);
	hash_map_done(&t->hidden);
	*t = (zone_stack){0};
}

/* --- by name */

static zone_stats *stats_new(zone_aggregate *s, uint32_t name)
{
	zone_stats *z = mem_zalloc(1, sizeof *z);

	if (z && s->limit_of)
		z->limit_ns = s->limit_of(s->limits, name);
	if (z && s->is_wait)
		z->wait = s->is_wait(s->names, name);
	if (!z || !s->percentiles.n)
		return z;
	z->histogram = mem_zalloc(1, sizeof *z->histogram);
	if (!z->histogram) {
		mem_free(z);
		return NULL;
	}
	z->histogram->cap = &s->histogram_cap;
	return z;
}

zone_stats *zone_aggregate_make(zone_aggregate *s, uint32_t name)
{
	if (mem_reserve_zeroed(&s->stats, &s->nstats, name + (size_t)1, sizeof *s->stats) &&
	    !s->stats[name])
		s->stats[name] = stats_new(s, name);
	if (name < s->nstats && s->stats[name])
		return s->stats[name];
	s->failed = true;
	return NULL;
}

static void zone_accumulate(zone_aggregate *s, const zone_frame *f, uint64_t took, uint64_t self,
			    bool outermost, bool finished)
{
	zone_stats *z = s->paths_only ? NULL : zone_aggregate_row(s, f->name);

	if (z)
		z->bytes += f->bytes;

	if (z && f->in_pieces)
		zone_stats_add_pieces(z, &f->before, took, self, outermost, finished);
	else if (z && finished)
		zone_stats_add(z, took, self, outermost);
	else if (z)
		zone_stats_add_unfinished(z, took, self, outermost);
}

static void closed_notify(const zone_aggregate *s, const zone_stack *t, const zone_frame *f,
			  uint64_t took, uint64_t self, bool outermost, bool whole)
{
	s->ended(s->listener, &(zone_closed){.track = t ? t->track : 0,
					     .name = f->name,
					     .depth = t ? (uint32_t)t->depth : 0,
					     .begin_ns = f->begin_ns,
					     .took_ns = took,
					     .self_ns = self,
					     .outermost = outermost,
					     .whole = whole});
}

/* --- time of devices */

void zone_aggregate_enqueued(zone_aggregate *s, const zone_stack *t, uint64_t flow)
{
	const zone_frame *top = zone_stack_top(t);

	if (!flow || !top || !top->path || top->path == PATH_NONE)
		return;
	if (s->nflows == ZONE_FLOWS_MAX) {
		const hash_map newer = s->flows[0];

		s->flows[0] = s->flows[1];
		s->flows[1] = newer;
		hash_map_clear(&s->flows[0]);
		s->nflows = 0;
	}
	s->failed |= !hash_map_put(&s->flows[0], flow, top->path);
	s->nflows++;
}

/* Adds the time of a device to the zones around the beginning of an arrow. */
static void device_time_add(zone_aggregate *s, uint64_t flow, uint64_t ns, bool stream)
{
	uint32_t path = hash_map_find(&s->flows[0], flow), outermost_name = 0;

	if (!path)
		path = hash_map_find(&s->flows[1], flow);
	const bool known = path && stream && s->is_call;
	for (; path; path = s->paths.rows[path].parent) {
		const path_node *p = &s->paths.rows[path];
		zone_stats *z = p->recursive ? NULL : zone_aggregate_row(s, p->name);

		if (z)
			*(stream ? &z->device_ns : &z->device_zone_ns) += ns;
		outermost_name = p->name;
	}
	s->device_ns += known ? ns : 0;
	s->device_outside_ns += known && s->is_call(s->names, outermost_name) ? ns : 0;
}

/* --- pieces */

/* Stores a range that continues. Returns false if it cannot be stored. */
static bool piece_end(zone_aggregate *s, zone_stack *t, const zone_frame *f, uint64_t ns,
		      uint64_t took, uint64_t self, bool outermost)
{
	if (!t->pieces)
		t->pieces = mem_alloc(ZONE_PIECES_MAX * sizeof *t->pieces);
	s->failed |= !t->pieces;
	if (!t->pieces || t->npieces == ZONE_PIECES_MAX)
		return false;
	zone_frame *p = &t->pieces[t->npieces++];
	*p = *f;
	p->begin_ns = ns;
	p->in_pieces = true;
	p->before.took_ns += took;
	p->before.self_ns += self;
	p->before.total_ns += outermost ? took : 0;
	path_trie_add(&s->paths, f->path, 0, took);
	return true;
}

static void pieces_drop(zone_aggregate *s, zone_stack *t)
{
	while (t->npieces) {
		const zone_frame *f = &t->pieces[--t->npieces];

		if (s->ended)
			s->ended(s->listener, &(zone_closed){.track = t->track,
							     .name = f->name,
							     .depth = ZONE_DEPTH_MAX,
							     .begin_ns = f->begin_ns,
							     .whole = true});
		path_trie_add(&s->paths, f->path, 1, 0);
		zone_accumulate(s, f, 0, 0, false, true);
	}
}

/* Starts the range f: as the next piece of the range that ended last, or as a new range. */
static void piece_begin(zone_aggregate *s, zone_stack *t, zone_frame *f)
{
	const zone_frame *p = &t->pieces[t->npieces - 1];

	if (p->name == f->name && p->begin_ns == f->begin_ns) {
		f->in_pieces = true;
		f->before = p->before;
		t->npieces--;
	} else {
		pieces_drop(s, t);
	}
}

/* --- ranges of a track */

static bool zone_room_for_one(zone_stack *t)
{
	return mem_reserve(&t->frames, &t->cap, t->depth + 1, sizeof *t->frames);
}

/* Changes the number of open ranges of that name that are on no path. Returns the previous one. */
static uint32_t hide(zone_aggregate *s, zone_stack *t, uint32_t name, int more)
{
	const uint64_t key = name + UINT64_C(1);
	const uint32_t was = hash_map_find(&t->hidden, key), is = was + (uint32_t)more;

	t->pathless += (uint32_t)more;
	if (is)
		s->failed |= !hash_map_put(&t->hidden, key, is);
	else
		hash_map_remove(&t->hidden, key);
	return was;
}

bool zone_aggregate_begin(zone_aggregate *s, zone_stack *t, uint64_t ns, uint32_t name)
{
	if (t->too_deep || t->depth == ZONE_DEPTH_MAX || !zone_room_for_one(t)) {
		s->failed |= !t->too_deep && t->depth < ZONE_DEPTH_MAX;
		t->too_deep++;
		return false;
	}
	/* A range whose beginning was lost has the path of its caller. */
	uint32_t path = t->depth ? t->frames[t->depth - 1].path : t->root;
	if (name != ZONE_LOST)
		path = path_trie_child(&s->paths, path, name);
	const uint64_t flow = t->depth ? t->frames[t->depth - 1].flow : 0;
	t->frames[t->depth++] =
	    (zone_frame){.name = name, .path = path, .begin_ns = ns, .flow = flow};
	if (path == PATH_NONE)
		hide(s, t, name, 1);
	if (t->npieces)
		piece_begin(s, t, zone_stack_top(t));
	return true;
}

/* Returns whether the range that just ended was in no other range of its name. */
static bool outermost(zone_aggregate *s, zone_stack *t, const zone_frame *f)
{
	if (f->path != PATH_NONE) /* 0, perhaps without a row: its beginning was lost */
		return f->path && !s->paths.rows[f->path].recursive;
	if (hide(s, t, f->name, -1) > 1)
		return false;
	const uint32_t last =
	    t->depth > t->pathless ? t->frames[t->depth - t->pathless - 1].path : t->root;
	return last == PATH_NONE || !path_trie_inside(&s->paths, last, f->name);
}

zone_end zone_aggregate_end(zone_aggregate *s, zone_stack *t, uint64_t ns, bool finished)
{
	if (t->too_deep) {
		t->too_deep--;
		return ZONE_TOO_DEEP;
	}
	if (!t->depth)
		return ZONE_UNMATCHED;
	const zone_frame f = t->frames[--t->depth];
	const bool outer = outermost(s, t, &f);
	zone_frame *above = zone_stack_top(t);
	/* If its beginning was lost, only the time of ranges inside it is known. */
	if (f.name == ZONE_LOST) {
		if (above)
			above->inside_ns += f.inside_ns;
		return ZONE_ENDED_LOST;
	}
	const uint64_t took = ns > f.begin_ns ? ns - f.begin_ns : 0;
	const uint64_t self = took > f.inside_ns ? took - f.inside_ns : 0;
	if (above)
		above->inside_ns += took;
	if (f.flow && s->enqueuers)
		device_time_add(s->enqueuers, f.flow, self, t->stream);
	const bool whole = !f.continued || !piece_end(s, t, &f, ns, took, self, outer);
	if (s->ended)
		closed_notify(s, t, &f, took, self, outer, whole);
	if (whole) {
		path_trie_add(&s->paths, f.path, 1, took);
		zone_accumulate(s, &f, took, self, outer, finished);
	}
	t->zones += whole;
	const zone_stats *z = zone_aggregate_of(s, f.name);
	t->waited_ns += z && z->wait ? took : 0;
	return ZONE_ENDED;
}

void zone_aggregate_close(zone_aggregate *s, zone_stack *t, uint64_t ns)
{
	t->too_deep = 0;
	while (t->depth)
		zone_aggregate_end(s, t, ns, false);
	pieces_drop(s, t);
}

/* --- ranges of no track */

static void range_ended(zone_aggregate *s, uint32_t name, uint64_t begin_ns, uint64_t end_ns,
			bool finished)
{
	const uint64_t took = end_ns > begin_ns ? end_ns - begin_ns : 0;

	const zone_frame f = {.name = name, .begin_ns = begin_ns};

	if (s->ended)
		closed_notify(s, NULL, &f, took, ZONE_SELF_UNKNOWN, true, true);
	if (s->async_root)
		path_trie_add(&s->paths, path_trie_child(&s->paths, s->async_root, name), 1, took);
	zone_accumulate(s, &f, took, ZONE_SELF_UNKNOWN, true, finished);
}

bool zone_aggregate_range(zone_aggregate *s, uint32_t track, uint64_t id, bool ends, uint32_t name,
			  uint64_t ns)
{
	const open_range one = {.id = id, .name = name, .track = track, .ns = ns, .ends = ends};
	open_range other;
	bool lost;

	if (!open_ranges_match(&s->ranges, &one, &other, &lost)) {
		s->failed |= s->ranges.failed;
		return !lost;
	}
	if (ends)
		range_ended(s, other.name, other.ns, ns, true);
	else
		range_ended(s, name, ns, other.ns, true);
	return true;
}

uint64_t zone_aggregate_close_ranges(zone_aggregate *s, uint64_t ns, const process_ends *ends,
				     uint64_t *ret_unmatched)
{
	const size_t n = open_ranges_order(&s->ranges);
	uint64_t unfinished = 0, unmatched = 0;

	for (size_t i = 0; i < n; i++) {
		const open_range *r = &s->ranges.slots[i];

		unmatched += r->ends;
		if (r->ends)
			continue;
		unfinished++;
		range_ended(s, r->name, r->ns, ends ? process_ends_of(ends, r->track) : ns, false);
	}
	open_ranges_done(&s->ranges);
	*ret_unmatched = unmatched;
	return unfinished;
}
