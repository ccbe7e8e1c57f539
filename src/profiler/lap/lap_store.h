/* lap_store.h - the store of open and ended laps, under one lock: laps are for work of a
 * microsecond and more.
 *
 *	lap_lock();
 *	lap_name *name = lap_name_get("epoch");
 *	...
 *	lap_unlock();
 *
 * All other functions require the lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAP_LAP_STORE_H
#define LAP_LAP_STORE_H

#include "deepclock/device_zone.h"
#include "deepclock/lap.h"
#include "deepclock/zone.h"

enum {
	LAP_NAMES_MAX = 1000,
	LAP_VALUES_MAX = 16, /* values per name of laps */
	LAP_KEPT_MAX = 65536 /* laps of one name in the series */
};

/* The columns of every lap; the columns of its values follow. */
enum { LAP_WALL, LAP_CPU, LAP_THREAD_CPU, LAP_OWN_COLUMNS };

typedef struct lap_column {
	char *name, *unit; /* unit NULL: none */
	double *kept;	   /* NaN: the lap has no such value, or none that is finite */
} lap_column;

/* All laps of one name that have ended. */
typedef struct lap_name {
	struct lap_name *next; /* in the order of their first laps */
	char *text;
	unsigned depth; /* smallest number of enclosing laps */
	uint64_t begun, ended;
	double wall_sum_ns, wall_min_ns, wall_max_ns;
	double items_sum, items_wall_ns; /* sums over the laps with items */
	lap_column column[LAP_OWN_COLUMNS + LAP_VALUES_MAX];
	size_t ncolumns;
	bool in_use;	 /* in lap_forget(): open laps point to it */
	uint64_t *at_ns; /* starts of the stored laps, from the first lap of all */
	size_t kept, cap;
	uint64_t every; /* one of this number of laps is stored */
} lap_name;

/* Laps of one name inside one enclosing lap, or outside of all: the current series of them. */
typedef struct lap_child {
	struct lap_child *next;
	lap_name *name;
	uint64_t begun, ended, total;
	double wall_sum_ns;
} lap_child;

struct dck_lap {
	struct dck_lap *parent, *older, *newer; /* open laps are a list, oldest first */
	lap_name *name;
	lap_child *place;
	lap_child *children;
	uint64_t index, step;	 /* among laps of its name: in its parent, in all; from 1 */
	unsigned depth, holders; /* references: laps inside it, and itself until it ends */
	uint64_t begin_ns, begin_cpu_ns, begin_thread_ns;
	uint64_t thread;	      /* id of the thread that called dck_lap_begin() */
	dck_range range;	      /* on the timeline, while one is recorded */
	dck_device_span *span;	      /* of dck_lap_device(); NULL: none */
	double value[LAP_VALUES_MAX]; /* by the name's columns; NaN if not given */
	bool given[LAP_VALUES_MAX];
};

/* The times of one lap. */
typedef struct lap_times {
	double wall_ns, cpu_ns, thread_cpu_ns; /* thread_cpu_ns NaN: another thread ended it */
} lap_times;

/* The global state; {0} at first. */
typedef struct lap_state {
	lap_name *names;
	size_t nnames;
	dck_lap *oldest, *newest;
	lap_child *outermost;	      /* laps without a parent */
	uint64_t lost, open, threads; /* threads: number of threads with laps */
	uint64_t unnamed;	      /* laps beyond LAP_NAMES_MAX */
	uint64_t values_lost;	      /* values beyond LAP_VALUES_MAX */
	uint64_t base_ns;	      /* start of the first lap; 0: none */
	int64_t base_unix_ns;
} lap_state;

/* Exported: where a process has two copies of the laps (libdeepclock_zones and libdeepclock), the
 * record is made of the first. bytes: sizeof(lap_state); NULL, and no lock: the copy has another
 * version. */
DCK_API lap_state *dck_laps_lock(size_t bytes);
DCK_API void dck_laps_unlock(void);
lap_state *lap_lock(void);
void lap_unlock(void);

/* Returns the name's row, and creates it if missing; NULL: no memory, or too many names. */
lap_name *lap_name_get(lap_state *s, const char *name);
/* Returns the row of laps of that name inside `parent` (NULL: no parent); NULL: no memory. */
lap_child *lap_child_get(lap_state *s, dck_lap *parent, lap_name *name);
/* Returns the column of that value; LAP_VALUES_MAX: too many. */
size_t lap_value_column(lap_name *n, const char *name, const char *unit);
/* Returns the lap's number of items; NaN: not given. *ret_unit: "items" or its unit. */
double lap_items(const dck_lap *l, const char **ret_unit);
/* Adds an ended lap; false: no memory for its series. */
bool lap_keep(lap_state *s, dck_lap *l, const lap_times *t);
/* Discards all ended laps, and the names of which none is open. */
void lap_forget(lap_state *s);

#endif
