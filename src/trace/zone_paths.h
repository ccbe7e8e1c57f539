/* zone_paths.h - call paths of zones, added up while they are told: calls and own time of each. It
 * holds ZONE_PATHS_MAX paths; calls on further ones are counted, and are in none.
 *
 *	uint32_t outer = zone_paths_child(&p, 0, 7), inner = zone_paths_child(&p, outer, 9);
 *	zone_paths_add(&p, inner, 1, 1200);
 *	zone_paths_put(&p, name_of, self, b, err);
 *	zone_paths_done(&p);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ZONE_PATHS_H
#define TRACE_ZONE_PATHS_H

#include "record/build.h"
#include "trace/kept.h"

enum { ZONE_PATHS_MAX = 1 << 20 };
#define ZONE_PATH_NONE UINT32_MAX

typedef struct zone_path {
	uint32_t parent, name; /* parent 0: outermost */
	uint32_t child;	       /* the last that was asked for: mostly the next one is the same */
	uint64_t calls, self_ns;
} zone_path;

typedef struct zone_paths {
	kept_map children; /* by parent and name */
	kept_table rows;   /* of zone_path, from 1 on */
	uint32_t n;
	uint64_t lost; /* calls */
} zone_paths;

void zone_paths_init(zone_paths *p);
void zone_paths_done(zone_paths *p);
/* The path through `parent` (0: none) to that name; ZONE_PATH_NONE: it is not kept. */
uint32_t zone_paths_child(zone_paths *p, uint32_t parent, uint32_t name);
/* So many calls more of that path, with so much time of their own. */
void zone_paths_add(zone_paths *p, uint32_t path, unsigned calls, uint64_t self_ns);
/* The tree "zones"; nothing when there is no path. name_of may return NULL. */
dck_status zone_paths_put(const zone_paths *p, const char *(*name_of)(void *self, uint32_t name),
			  void *self, record_builder *b, dck_err *err);

#endif
