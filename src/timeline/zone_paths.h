/* zone_paths.h - call paths of zones, added up while they are told: calls of each, and their time
 * with all that is inside them. It holds ZONE_PATHS_MAX paths, none deeper than
 * ZONE_PATHS_DEPTH_MAX; a call on a further one is counted, and its time stays with the path around
 * it.
 *
 *	uint32_t outer = zone_paths_child(&p, 0, 7), inner = zone_paths_child(&p, outer, 9);
 *	zone_paths_add(&p, inner, 1, 1200);
 *	zone_paths_put(&p, "zones", "Zones by their call paths", name_of, self, b, err);
 *	zone_paths_done(&p);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_PATHS_H
#define TIMELINE_ZONE_PATHS_H

#include "record/build.h"
#include "timeline/kept.h"

enum { ZONE_PATHS_MAX = 1 << 20, ZONE_PATHS_DEPTH_MAX = 1025 };
#define ZONE_PATH_NONE UINT32_MAX

typedef struct zone_path {
	uint32_t parent, name; /* parent 0: outermost */
	/* The child that was asked for last; the one that was asked for after this path when it was
	 * last left: mostly that is so again. 0: none. */
	uint32_t child, after;
	uint16_t depth; /* an outermost one has 1 */
	bool again;	/* inside one of the same name */
	uint64_t calls, total_ns;
} zone_path;

typedef struct zone_paths {
	kept_map children; /* by parent and name */
	zone_path *rows;   /* @owned; 0 is what the outermost ones are in */
	uint32_t n, room;  /* rows */
	uint64_t lost;	   /* calls */
	bool failed;	   /* for want of memory */
} zone_paths;		   /* {0} at first */

void zone_paths_done(zone_paths *p);
/* Whether a range of that name is open where one of `path` is the innermost. */
bool zone_paths_inside(const zone_paths *p, uint32_t path, uint32_t name);
/* Where the guess below was wrong. */
uint32_t zone_paths_find(zone_paths *p, uint32_t parent, uint32_t name);
/* The path through `parent` (0: none) to that name, which is not UINT32_MAX; ZONE_PATH_NONE: it is
 * not kept. */
static inline uint32_t zone_paths_child(zone_paths *p, uint32_t parent, uint32_t name)
{
	if (parent < p->n) {
		uint32_t last = p->rows[parent].child;

		if (p->rows[last].name == name)
			return last;
	}
	return zone_paths_find(p, parent, name);
}
/* So many calls more of that path, which took so long together. */
static inline void zone_paths_add(zone_paths *p, uint32_t path, unsigned calls, uint64_t ns)
{
	if (path < p->n) {
		p->rows[path].calls += calls;
		p->rows[path].total_ns += ns;
	} else {
		p->lost += calls;
	}
}
/* A tree of that name; nothing when there is no path. name_of may return NULL. */
dck_status zone_paths_put(const zone_paths *p, const char *name, const char *title,
			  const char *(*name_of)(void *self, uint32_t name), void *self,
			  record_builder *b, dck_err *err);

#endif
