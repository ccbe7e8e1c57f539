/* lap_store.c - names, series and places of laps, under one mutex (lap_store.h).
 *
 * Names, columns and places are searched linearly: there are at most LAP_NAMES_MAX names with
 * LAP_VALUES_MAX values, and a lap takes a microsecond or more.
 *
 * A series is downsampled by decimation: when LAP_KEPT_MAX laps are retained, every second one is
 * dropped and the interval `every` doubles. So retained laps stay equally spaced, memory is
 * bounded, and the cost is amortised O(1) per lap. Number, sum and extremes cover all laps. NaN
 * marks a value that a lap does not have, also in a column that is added later, or that is not
 * finite, which a record cannot have.
 *
 * pthread_atfork(3) handlers hold the mutex across fork(), so that the child has consistent laps
 * and a free lock. Names stay allocated until lap_forget().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/lap/lap_store.h"
#include "base/mem.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static lap_state state;

static void laps_lock_write(void)
{
	pthread_mutex_lock(&lock);
}

/* A child of fork() has a copy of the laps, and a free lock; its CPU clocks start at 0. */
static void laps_child_begins(void)
{
	for (dck_lap *l = state.oldest; l; l = l->newer)
		l->begin_cpu_ns = l->begin_thread_ns = 0;
	lap_unlock();
}

static void prepare_for_fork(void)
{
	(void)pthread_atfork(laps_lock_write, lap_unlock, laps_child_begins);
}

lap_state *lap_lock(void)
{
	pthread_once(&once, prepare_for_fork);
	laps_lock_write();
	return &state;
}

void lap_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

lap_state *dck_laps_lock(size_t bytes)
{
	return bytes == sizeof(lap_state) ? lap_lock() : NULL;
}

void dck_laps_unlock(void)
{
	lap_unlock();
}

static bool column_init(lap_name *n, const char *name, const char *unit)
{
	lap_column *c = &n->column[n->ncolumns];

	*c = (lap_column){.name = mem_dup(name), .unit = unit ? mem_dup(unit) : NULL};
	if (n->cap > 0)
		c->kept = mem_alloc(n->cap * sizeof *c->kept);
	if (!c->name || (unit && !c->unit) || (n->cap > 0 && !c->kept)) {
		mem_free(c->name);
		mem_free(c->unit);
		mem_free(c->kept);
		return false;
	}
	for (size_t i = 0; i < n->kept; i++)
		c->kept[i] = NAN;
	n->ncolumns++;
	return true;
}

static void name_free(lap_name *n)
{
	for (size_t i = 0; i < n->ncolumns; i++) {
		mem_free(n->column[i].name);
		mem_free(n->column[i].unit);
		mem_free(n->column[i].kept);
	}
	mem_free(n->at_ns);
	mem_free(n->text);
	mem_free(n);
}

static const char *const own_names[LAP_OWN_COLUMNS] = {
    [LAP_WALL] = "wall", [LAP_CPU] = "cpu", [LAP_THREAD_CPU] = "thread_cpu"};

lap_name *lap_name_get(lap_state *s, const char *name)
{
	lap_name **at = &s->names;

	for (; *at; at = &(*at)->next)
		if (strcmp((*at)->text, name) == 0)
			return *at;
	if (s->nnames == LAP_NAMES_MAX)
		return NULL;
	lap_name *n = mem_zalloc(1, sizeof *n);
	if (!n)
		return NULL;
	n->text = mem_dup(name);
	n->every = 1;
	n->depth = UINT32_MAX;
	bool made = n->text != NULL;
	for (size_t i = 0; made && i < LAP_OWN_COLUMNS; i++)
		made = column_init(n, own_names[i], "ns");
	if (!made) {
		name_free(n);
		return NULL;
	}
	*at = n;
	s->nnames++;
	return n;
}

lap_child *lap_child_get(lap_state *s, dck_lap *parent, lap_name *name)
{
	lap_child **first = parent ? &parent->children : &s->outermost;

	for (lap_child *c = *first; c; c = c->next)
		if (c->name == name)
			return c;
	lap_child *c = mem_zalloc(1, sizeof *c);
	if (!c)
		return NULL;
	c->name = name;
	c->next = *first;
	*first = c;
	return c;
}

size_t lap_value_column(lap_name *n, const char *name, const char *unit)
{
	char other[32];

	/* Its series would be that of the measured time. */
	for (size_t i = 0; i < LAP_OWN_COLUMNS; i++)
		if (strcmp(own_names[i], name) == 0) {
			snprintf(other, sizeof other, "%s_value", own_names[i]);
			name = other;
		}
	for (size_t i = LAP_OWN_COLUMNS; i < n->ncolumns; i++)
		if (strcmp(n->column[i].name, name) == 0)
			return i - LAP_OWN_COLUMNS;
	if (n->ncolumns == LAP_OWN_COLUMNS + LAP_VALUES_MAX || !column_init(n, name, unit))
		return LAP_VALUES_MAX;
	return n->ncolumns - 1 - LAP_OWN_COLUMNS;
}

double lap_items(const dck_lap *l, const char **ret_unit)
{
	for (size_t i = LAP_OWN_COLUMNS; i < l->name->ncolumns; i++) {
		const lap_column *c = &l->name->column[i];

		if (strcmp(c->name, "items") != 0)
			continue;
		*ret_unit = c->unit ? c->unit : "items";
		return l->value[i - LAP_OWN_COLUMNS];
	}
	return NAN;
}

static bool store_grow(lap_name *n)
{
	const size_t cap = n->cap ? 2 * n->cap : 64;
	uint64_t *at_ns = mem_resize(n->at_ns, cap * sizeof *at_ns);

	if (!at_ns)
		return false;
	n->at_ns = at_ns;
	for (size_t i = 0; i < n->ncolumns; i++) {
		double *kept = mem_resize(n->column[i].kept, cap * sizeof *kept);

		if (!kept)
			return false;
		n->column[i].kept = kept;
	}
	n->cap = cap;
	return true;
}

/* Drops every second lap, so that the retained ones stay equally spaced. */
static void thin(lap_name *n)
{
	for (size_t i = 0; i < n->kept / 2; i++) {
		n->at_ns[i] = n->at_ns[2 * i];
		for (size_t k = 0; k < n->ncolumns; k++)
			n->column[k].kept[i] = n->column[k].kept[2 * i];
	}
	n->kept /= 2;
	n->every *= 2;
}

bool lap_keep(lap_state *s, dck_lap *l, const lap_times *t)
{
	const double own[LAP_OWN_COLUMNS] = {
	    [LAP_WALL] = t->wall_ns, [LAP_CPU] = t->cpu_ns, [LAP_THREAD_CPU] = t->thread_cpu_ns};
	lap_name *n = l->name;
	const char *unit;
	const double items = lap_items(l, &unit);

	if (n->ended == 0 || t->wall_ns < n->wall_min_ns)
		n->wall_min_ns = t->wall_ns;
	if (n->ended == 0 || t->wall_ns > n->wall_max_ns)
		n->wall_max_ns = t->wall_ns;
	n->wall_sum_ns += t->wall_ns;
	n->depth = l->depth < n->depth ? l->depth : n->depth;
	l->place->ended++;
	l->place->wall_sum_ns += t->wall_ns;
	if (!isnan(items)) {
		n->items_sum += items;
		n->items_wall_ns += t->wall_ns;
	}
	if (n->ended++ % n->every != 0)
		return true;
	if (n->kept == LAP_KEPT_MAX)
		thin(n);
	if (n->kept == n->cap && !store_grow(n))
		return false;
	n->at_ns[n->kept] = l->begin_ns - s->base_ns;
	for (size_t i = 0; i < n->ncolumns; i++) {
		const double v = i < LAP_OWN_COLUMNS ? own[i] : l->value[i - LAP_OWN_COLUMNS];

		n->column[i].kept[n->kept] = isfinite(v) ? v : NAN;
	}
	n->kept++;
	return true;
}

static void lap_names_mark(lap_state *s)
{
	for (lap_name *n = s->names; n; n = n->next)
		n->in_use = false;
	for (const dck_lap *open = s->oldest; open; open = open->newer)
		for (const dck_lap *l = open; l; l = l->parent)
			l->name->in_use = true;
}

static void lap_places_forget(lap_child **at)
{
	while (*at) {
		lap_child *c = *at;

		if (c->name->in_use) {
			*c = (lap_child){.next = c->next, .name = c->name};
			at = &c->next;
		} else {
			*at = c->next;
			mem_free(c);
		}
	}
}

static void lap_names_forget(lap_state *s)
{
	for (lap_name **at = &s->names; *at;) {
		lap_name *n = *at;

		if (n->in_use) {
			n->ended = 0;
			n->wall_sum_ns = n->items_sum = n->items_wall_ns = 0;
			n->begun = n->kept = 0;
			n->every = 1;
			at = &n->next;
		} else {
			*at = n->next;
			name_free(n);
			s->nnames--;
		}
	}
}

/* Open laps point to their names and places, and so do ended ones that are around open ones. */
void lap_forget(lap_state *s)
{
	lap_names_mark(s);
	lap_places_forget(&s->outermost);
	for (dck_lap *open = s->oldest; open; open = open->newer)
		for (dck_lap *l = open; l; l = l->parent)
			lap_places_forget(&l->children);
	lap_names_forget(s);
	s->lost = s->unnamed = s->values_lost = 0;
}
