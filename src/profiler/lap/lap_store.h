/* lap_store.h - the laps that are open and those that have ended. One lock guards all of it: laps
 * are for work that takes a microsecond and more.
 *
 *	lap_lock();
 *	lap_name *name = lap_name_get("epoch");
 *	...
 *	lap_unlock();
 *
 * Every function but these two wants the lock held.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAP_LAP_STORE_H
#define LAP_LAP_STORE_H

#include "deepclock/lap.h"
#include "deepclock/zone.h"

enum {
	LAP_NAMES_MAX = 1000,
	LAP_VALUES_MAX = 16, /* of laps of one name */
	LAP_KEPT_MAX = 65536 /* laps of one name in the series */
};

/* The columns that every lap has; those of its values follow. */
enum { LAP_WALL, LAP_CPU, LAP_THREAD_CPU, LAP_OWN_COLUMNS };

typedef struct lap_column {
	char *name, *unit; /* unit NULL: none */
	double *kept;	   /* NaN: that lap has none */
} lap_column;

/* All laps of one name that have ended. */
typedef struct lap_name {
	struct lap_name *next; /* in the order in which they first began */
	char *text;
	unsigned depth; /* the least number of laps that one of them lay inside */
	uint64_t begun, ended;
	double wall_sum_ns, wall_min_ns, wall_max_ns;
	double items_sum, items_wall_ns; /* of those laps that counted items */
	lap_column column[LAP_OWN_COLUMNS + LAP_VALUES_MAX];
	size_t ncolumns;
	uint64_t *at_ns; /* when those kept began, since the first lap of all */
	size_t kept, room;
	uint64_t every; /* one of so many is kept */
} lap_name;

/* How laps of one name went inside one enclosing lap, or outside of all. */
typedef struct lap_child {
	struct lap_child *next;
	const lap_name *name;
	uint64_t begun, ended, total;
	double wall_sum_ns;
} lap_child;

struct dck_lap {
	struct dck_lap *parent, *older, *newer; /* open laps are a list, oldest first */
	lap_name *name;
	lap_child *place;
	lap_child *children;
	uint64_t index, step;	 /* of its name: where it lies, and of all; from 1 on */
	unsigned depth, holders; /* laps inside it, and it itself until it ends */
	uint64_t begin_ns, begin_cpu_ns, begin_thread_ns;
	uint64_t thread;	      /* that began it */
	dck_range range;	      /* on the timeline, while one is recorded */
	double value[LAP_VALUES_MAX]; /* by the name's columns; NaN: not given */
};

/* What one lap measured. */
typedef struct lap_times {
	double wall_ns, cpu_ns, thread_cpu_ns; /* the last: NaN when another thread ended it */
} lap_times;

/* The state of all; {0} at first. */
typedef struct lap_state {
	lap_name *names;
	size_t nnames;
	dck_lap *oldest, *newest;
	lap_child *outermost;	      /* laps that lie in no other */
	uint64_t lost, open, threads; /* threads: that have begun one */
	uint64_t base_ns;	      /* when the first lap began; 0: there was none */
	int64_t base_unix_ns;
} lap_state;

lap_state *lap_lock(void);
void lap_unlock(void);

/* The name's row, made when there is none; NULL: no memory, or too many names. */
lap_name *lap_name_get(lap_state *s, const char *name);
/* How laps of that name go inside `parent` (NULL: in none); NULL: no memory. */
lap_child *lap_child_get(lap_state *s, dck_lap *parent, const lap_name *name);
/* The column of that value; LAP_VALUES_MAX: no room. */
size_t lap_value_column(lap_name *n, const char *name, const char *unit);
/* The number of items of the lap; NaN: none was given. *ret_unit: "items" or its unit. */
double lap_items(const dck_lap *l, const char **ret_unit);
/* One more has ended; false: no memory for its place in the series. */
bool lap_keep(lap_state *s, dck_lap *l, const lap_times *t);
/* Forgets what has ended. */
void lap_forget(lap_state *s);

#endif
