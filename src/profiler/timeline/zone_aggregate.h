/* zone_aggregate.h - tracks the open ranges of each track, and aggregates the ended ones: by name
 * (zone_stats.h) and by call path (record/tree/path_trie.h). The recorder, the file readers and the
 * formats of call paths all use it.
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
 * A range may arrive in pieces: a piece ends, marked as `continued`, and the next range of the same
 * name that begins at the same time on the same track is the next piece. In the table it is one
 * range.
 *
 * Time of devices: a range on a device's track belongs to the path from which its arrow came, and
 * counts in every zone of that path. The device's ranges have a separate aggregate:
 *
 *	zone_aggregate_enqueued(&threads, &thread, flow);
 *	device.enqueuers = &threads;
 *	zone_aggregate_begin(&device, &queue, 400, 8);
 *	zone_stack_top(&queue)->flow = flow;
 *	zone_aggregate_end(&device, &queue, 700, true);
 *	... zone_stats_device_ns(zone_aggregate_of(&threads, 7)) ...
 *
 * The times of a track are monotonic. Memory is bounded by the names, the paths, and the depth of
 * open ranges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_AGGREGATE_H
#define TIMELINE_ZONE_AGGREGATE_H

#include "profiler/timeline/open_ranges.h"
#include "profiler/timeline/process_ends.h"
#include "record/tree/path_trie.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/zone_percentiles.h"
#include "profiler/timeline/zone_stats.h"

enum { ZONE_DEPTH_MAX = 65536, ZONE_PIECES_MAX = 64, ZONE_FLOWS_MAX = 1 << 19 };
/* The name of a range whose beginning was lost: it is not aggregated. */
#define ZONE_LOST UINT32_MAX

typedef struct zone_frame {
	uint32_t name, path;
	uint64_t begin_ns, inside_ns;
	uint64_t flow;	/* of a device's range: the arrow that ends in it or around it; 0: none */
	double bytes;	/* that it moved */
	uint32_t stack; /* owner, for the producer */
	/* Set by the producer: it did not end; it continues. */
	bool unended, continued;
	bool in_pieces; /* `before` counts */
	zone_pieces before;
} zone_frame;

/* The open ranges of a track, the outermost first. */
typedef struct zone_stack {
	zone_frame *frames; /* @owned */
	size_t depth, cap;
	uint64_t too_deep; /* number of ranges inside them that are not tracked */
	hash_map hidden;   /* by name: open calls without a path */
	/* Pieces to be continued, the next one last; begin_ns: its start. */
	zone_frame *pieces;	   /* @owned */
	uint64_t zones, waited_ns; /* ended ranges, and the total time of waits */
	uint32_t root;		   /* the path that contains all of them */
	uint32_t pathless;	   /* number of innermost frames without a path */
	uint32_t npieces;
	uint32_t track; /* set for the listener */
	bool stream;	/* of a device: its ranges are kernels and copies (trace_is_stream()) */
} zone_stack;		/* {0} at first; there may be one for each event */

/* A range that ended, or a piece of one, for the listener. */
typedef struct zone_closed {
	uint32_t track; /* 0: a range that may end on any track */
	uint32_t name;
	uint32_t depth; /* number of enclosing ranges; ZONE_DEPTH_MAX: none defined */
	uint64_t begin_ns, took_ns;
	uint64_t self_ns; /* ZONE_SELF_UNKNOWN: no track */
	bool outermost;	  /* no enclosing range has its name */
	bool whole;	  /* false: a piece, and another follows */
} zone_closed;

typedef struct zone_aggregate {
	path_trie paths;
	zone_stats **stats; /* @owned, by name; NULL: none yet */
	size_t nstats;
	/* The path of ranges without a track; 0: none, because threads work during these ranges,
	 * and the time would count twice. */
	uint32_t async_root;
	bool paths_only;	      /* do not aggregate by name */
	zone_percentiles percentiles; /* requested percentiles */
	uint64_t histogram_cap;	      /* bytes left for them */
	/* Returns the limit of a call of that name, 0: none; called once per name. NULL: no
	 * limits. */
	uint64_t (*limit_of)(const void *limits, uint32_t name);
	const void *limits;
	/* Returns whether a range of that name is a wait; called once per name. NULL: none is. */
	bool (*is_wait)(const void *names, uint32_t name);
	const void *names;
	/* Returns whether a range of that name is a call of a device's library, not a zone. NULL:
	 * none is. */
	bool (*is_call)(const void *names, uint32_t name);
	/* Called for every ended range before it is aggregated, except for leaves of
	 * zone_aggregate_leaf(); NULL: no listener. */
	void (*ended)(void *listener, const zone_closed *r);
	void *listener;
	/* Paths by arrow: the newest, and those before, up to ZONE_FLOWS_MAX each. */
	hash_map flows[2];
	uint32_t nflows;
	struct zone_aggregate *enqueuers; /* of a device's: the threads' */
	/* Time of devices: of all work, and of the work whose call was in no zone. */
	uint64_t device_ns, device_outside_ns;
	bool failed; /* out of memory: the sums are incomplete */
	open_ranges ranges;
} zone_aggregate; /* {0} at first */

/* How a range ended: normally; its beginning was lost; none was open; it was nested too deep to be
 * tracked. */
typedef enum zone_end { ZONE_ENDED, ZONE_ENDED_LOST, ZONE_UNMATCHED, ZONE_TOO_DEEP } zone_end;

void zone_aggregate_done(zone_aggregate *s);
/* Sets the requested percentiles, before the first range. */
void zone_aggregate_want(zone_aggregate *s, const zone_percentiles *p);
void zone_stack_done(zone_stack *t);
static inline zone_frame *zone_stack_top(const zone_stack *t)
{
	return t->depth ? &t->frames[t->depth - 1] : NULL;
}

/* Returns the statistics of a name; NULL: no call. */
static inline const zone_stats *zone_aggregate_of(const zone_aggregate *s, uint32_t name)
{
	return name < s->nstats ? s->stats[name] : NULL;
}

/* Start and end a range. false: nested too deep. */
bool zone_aggregate_begin(zone_aggregate *s, zone_stack *t, uint64_t ns, uint32_t name);
zone_end zone_aggregate_end(zone_aggregate *s, zone_stack *t, uint64_t ns, bool finished);
/* Closes the open ranges of a track, as unfinished; no events may follow. */
void zone_aggregate_close(zone_aggregate *s, zone_stack *t, uint64_t ns);

/* An arrow begins in the innermost range of the stack. */
void zone_aggregate_enqueued(zone_aggregate *s, const zone_stack *t, uint64_t flow);

/* Adds the begin or end of a range that any track may end; its name counts at the begin. Either may
 * come first. false: it cannot be matched. */
bool zone_aggregate_range(zone_aggregate *s, uint32_t track, uint64_t id, bool ends, uint32_t name,
			  uint64_t ns);
/* Closes these ranges at `ns`, or where `ends` is not NULL with their processes: returns the number
 * without an end, which count as unfinished; *ret_unmatched: the number without a start. */
uint64_t zone_aggregate_close_ranges(zone_aggregate *s, uint64_t ns, const process_ends *ends,
				     uint64_t *ret_unmatched);

/* --- leaf ranges: begin and end in one call, because most ranges are leaves */

zone_stats *zone_aggregate_make(zone_aggregate *s, uint32_t name); /* NULL: no memory */
static inline zone_stats *zone_aggregate_row(zone_aggregate *s, uint32_t name)
{
	return name < s->nstats && s->stats[name] ? s->stats[name] : zone_aggregate_make(s, name);
}

/* Adds a leaf range; false: a rare case, nothing was done. */
static inline bool zone_aggregate_leaf(zone_aggregate *s, zone_stack *t, uint64_t begin_ns,
				       uint64_t end_ns, uint32_t name)
{
	zone_frame *top = zone_stack_top(t);
	const uint32_t path = path_trie_child(&s->paths, top ? top->path : t->root, name);
	const uint64_t took = end_ns - begin_ns;

	if (path == PATH_NONE || t->depth == ZONE_DEPTH_MAX || t->npieces)
		return false;
	zone_stats *z = zone_aggregate_row(s, name);
	if (!z)
		return false;
	if (top)
		top->inside_ns += took;
	path_trie_add(&s->paths, path, 1, took);
	zone_stats_add(z, took, took, !s->paths.rows[path].recursive);
	t->zones++;
	t->waited_ns += z->wait ? took : 0;
	return true;
}

#endif
