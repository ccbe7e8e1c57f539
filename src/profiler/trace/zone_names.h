/* zone_names.h - interns the names of ranges, marks and counters. Names are copied, so that a
 * library with sites may be unloaded; a name has one id at all sites, also after the library is
 * loaded again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ZONE_NAMES_H
#define TRACE_ZONE_NAMES_H

#include "deepclock/zone.h"
#include "profiler/timeline/timeline.h"

enum { ZONE_NAMES_MAX = 65536 };

/* Once, before anything records; again: nothing happens. false: no memory. */
bool zone_names_init(void);

/* The number of that name, from 1 on, below ZONE_NAMES_MAX; 1, "(other names)", when there are
 * too many. May run in a signal handler. */
uint32_t zone_name_intern(const char *name, const char *file, uint32_t line);

/* The same; the first category of a name is retained. NULL: none. */
uint32_t zone_name_intern_in(const char *category, const char *name, const char *file,
			     uint32_t line);

/* The number of a site's name, which is stored there. */
static inline uint32_t zone_site_name(dck_zone_site *site, const char *category)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	if (!id) {
		id = zone_name_intern_in(category, site->name, site->file, site->line);
		__atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
	}
	return id;
}

/* Returns the name with this id of zone_name_intern(). The pointer stays valid until the process
 * exits. File and line are the name's first site. */
const trace_name *zone_name_get(uint32_t id);

/* Writes the interned names, at most `max`; returns their number. */
size_t zone_names_list(const char **ret, size_t max);

#endif
