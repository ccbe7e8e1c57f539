/* count_zones.h - the zones of a program that is counted: ranges by macros of deepclock, NVTX or
 * ITT. The program records them itself, as under `deepclock trace`, and their calls and times are
 * added to those of its functions.
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
	char folder[OS_TEMP_SIZE]; /* "": none */
	uint64_t calls, dropped;
	double price_ns;	 /* of one */
	uint32_t processes, cut; /* cut: came to no end of their own */
} count_zones;

/* A directory for them, and the environment by which the program records. */
dck_status count_zones_begin(count_zones *z, mem_arena *a, const char **set, size_t max, size_t *n,
			     dck_err *err) DCK_MUST_USE;
/* Of all processes that left zones. */
dck_status count_zones_add(count_zones *z, count_functions *f, dck_err *err) DCK_MUST_USE;
/* Facts and notes; nothing where there were no zones. */
void count_zones_put(const count_zones *z, record_builder *b);
void count_zones_done(count_zones *z); /* {0} is allowed */

#endif
