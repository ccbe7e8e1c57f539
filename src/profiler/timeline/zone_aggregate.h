/* zone_aggregate.h - follows which ranges are open on each track, and adds up those that ended: by
 * name (zone_stats.h) and by call path (calls/path_trie.h). What records, what reads a file, and
 * the formats of call paths all ask this one.
 *
 *	zone_aggregate s = {0};
 *	zone_stack thread = {0};
 *
 *	zone_aggregate_begin(&s, &thread, 100, 7);
 *	zone_aggregate_end(&s, &thread, 350, true);
 *	... s.paths, zone_aggregate_of(&s, 7) ...
 *	zone_stack_done(&thread);
 *	zone_aggregate_done(&s);
 *
 * A range may be told in pieces: one ends, marked as `continued`, and where the next range begins
 * at the same time on the same track, and has its name, that is the next piece. In the table it is
 * one range.
 *
 * The times of one track do not go back. Memory is bounded by the names, the paths, and the depth
 * of open ranges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_SUMS_H
#define TIMELINE_ZONE_SUMS_H

#include "profiler/timeline/open_ranges.h"
#include "record/tree/path_trie.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/zone_percentiles.h"
#include "profiler/timeline/zone_stats.h"

enum { ZONE_DEPTH_MAX = 65536, ZONE_PIECES_MAX = 64 };
/* The name of a range whose beginning was lost: it is in no sum. */
#define ZONE_LOST UINT32_MAX

typedef struct zone_frame {
	uint32_t name, path;
	uint64_t begin_ns, inside_ns;
	uint32_t stack; /* whose it is, for the producer */
	/* The producer knows that it did not end; that it goes on. */
	bool unended, continued;
	bool in_pieces; /* `before` counts */
	zone_pieces before;
} zone_frame;

/* The open ranges of a track, the outermost first. */
typedef struct zone_stack {
	zone_frame *frames; /* @owned */
	size_t depth, room;
	uint32_t root;	   /* the path that all of them are in */
	uint32_t pathless; /* so many of the last are on no path */
	uint64_t too_deep; /* and so many inside them are not followed */
	hash_map hidden;   /* by name: calls that are open on no path */
	/* Ranges that go on, the next to begin last; begin_ns: when. */
	zone_frame *pieces; /* @owned */
	uint32_t npieces;
	uint64_t zones, waited_ns; /* ranges that ended, and the time of those that are waits */
	uint32_t track;		   /* for who listens */
} zone_stack;			   /* {0} at first */

/* A range that ended, or a piece of one, for the listener. */
typedef struct zone_closed {
	uint32_t track; /* 0: it may end on any */
	uint32_t name;
	uint32_t depth; /* how many are open around it; ZONE_DEPTH_MAX: it has no place */
	uint64_t begin_ns, took_ns;
	uint64_t self_ns; /* ZONE_SELF_UNKNOWN: of no track */
	bool outermost;	  /* it is inside none of its name */
	bool whole;	  /* false: a piece, and another one is to come */
} zone_closed;

typedef struct zone_aggregate {
	path_trie paths;
	zone_stats **stats; /* @owned, by name; NULL: none yet */
	uint32_t nstats;
	/* The path that ranges of no track are in; 0: they are in none, since threads do at the
	 * same time what they span, and their time would count twice. */
	uint32_t async_root;
	bool paths_only;	      /* nothing is wanted by name */
	zone_percentiles percentiles; /* that are wanted */
	uint64_t histogram_room;      /* bytes left for them */
	/* How long a call of that name may take, 0: as it likes; asked once. NULL: all may. */
	uint64_t (*limit_of)(const void *limits, uint32_t name);
	const void *limits;
	/* Whether a range of that name is a wait; asked once. NULL: none is. */
	bool (*is_wait)(const void *names, uint32_t name);
	const void *names;
	/* Called for every range that ended, before it is added up; NULL: no listener. Not called
	 * for leaves of zone_aggregate_leaf(). */
	void (*ended)(void *listener, const zone_closed *r);
	void *listener;
	bool failed; /* for want of memory something is missing */
	open_ranges ranges;
} zone_aggregate; /* {0} at first */

/* How a range ended: normally; the one whose beginning was lost; none was open; it
 * was nested too deep to be followed. */
typedef enum zone_end { ZONE_ENDED, ZONE_ENDED_LOST, ZONE_UNMATCHED, ZONE_TOO_DEEP } zone_end;

void zone_aggregate_done(zone_aggregate *s);
/* Before the first range. */
void zone_aggregate_want(zone_aggregate *s, const zone_percentiles *p);
void zone_stack_done(zone_stack *t);
static inline zone_frame *zone_stack_top(const zone_stack *t)
{
	return t->depth ? &t->frames[t->depth - 1] : NULL;
}

/* NULL: no call of that name. */
static inline const zone_stats *zone_aggregate_of(const zone_aggregate *s, uint32_t name)
{
	return name < s->nstats ? s->stats[name] : NULL;
}

/* false: it is too deep. */
bool zone_aggregate_begin(zone_aggregate *s, zone_stack *t, uint64_t ns, uint32_t name);
zone_end zone_aggregate_end(zone_aggregate *s, zone_stack *t, uint64_t ns, bool finished);
/* Closes what is open on a track, as unfinished; nothing more comes for it. */
void zone_aggregate_close(zone_aggregate *s, zone_stack *t, uint64_t ns);

/* One end of a range that any track may end; name 0: its end. Both may come first. false: it cannot
 * be matched. */
bool zone_aggregate_range(zone_aggregate *s, uint64_t id, uint32_t name, uint64_t ns);
/* Of those ranges: how many have not ended, and count as unfinished now; how many have not begun.
 */
uint64_t zone_aggregate_close_ranges(zone_aggregate *s, uint64_t ns, uint64_t *ret_unmatched);

/* --- a range with nothing inside it: begin and end in one, for most ranges are such. */

zone_stats *zone_aggregate_make(zone_aggregate *s, uint32_t name); /* NULL: no memory */
static inline zone_stats *zone_aggregate_row(zone_aggregate *s, uint32_t name)
{
	return name < s->nstats && s->stats[name] ? s->stats[name] : zone_aggregate_make(s, name);
}

/* false: nothing was done, since it is one of the rare ones. */
static inline bool zone_aggregate_leaf(zone_aggregate *s, zone_stack *t, uint64_t begin_ns,
				       uint64_t end_ns, uint32_t name)
{
	zone_frame *top = zone_stack_top(t);
	const uint32_t path = path_trie_child(&s->paths, top ? top->path : t->root, name);
	const uint64_t took = end_ns - begin_ns;

	if (path == PATH_SUM_NONE || t->depth == ZONE_DEPTH_MAX || t->npieces)
		return false;
	zone_stats *z = zone_aggregate_row(s, name);
	if (!z)
		return false;
	if (top)
		top->inside_ns += took;
	path_trie_add(&s->paths, path, 1, took);
	zone_stats_add(z, took, took, !s->paths.rows[path].again);
	t->zones++;
	t->waited_ns += z->wait ? took : 0;
	return true;
}

#endif
