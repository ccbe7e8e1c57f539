/* count_zones.h - zones of a counted program: ranges by macros of deepclock, NVTX or ITT. The
 * program records them itself, as under `deepclock trace`, and their calls and times are added to
 * the table of its functions.
 *
 *	count_zones z;
 *
 *	DCK_TRY(count_zones_begin(&z, a, set, max, &n, err));
 *	... the program runs ...
 *	status = count_zones_add(&z, &functions, err);
 *	count_zones_put(&z, b);
 *	count_zones_done(&z);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COUNT_COUNT_ZONES_H
#define COUNT_COUNT_ZONES_H

#include "base/mem.h"
#include "profiler/count/count_functions.h"
#include "os/os.h"

typedef struct count_zones {
	char directory[OS_TEMP_SIZE]; /* "": none */
	uint64_t calls, dropped;
	double price_ns; /* of one zone */
	uint32_t processes,
	    cut; /* cut: recordings that were not closed, perhaps without a zone in their files */
} count_zones;

/* Creates their directory, and the environment that starts the recorder in the program. */
dck_status count_zones_begin(count_zones *z, mem_arena *a, const char **set, size_t max, size_t *n,
			     dck_err *err) DCK_MUST_USE;
/* Adds the zones of all processes. */
dck_status count_zones_add(count_zones *z, count_functions *f, dck_err *err) DCK_MUST_USE;
/* Writes facts and notes. */
void count_zones_put(const count_zones *z, record_builder *b);
void count_zones_done(count_zones *z); /* {0} is allowed */

#endif
