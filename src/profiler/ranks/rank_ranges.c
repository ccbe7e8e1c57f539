/* rank_ranges.c - the steps, parts and collectives of a rank, from the trace of its program: a
 * trace_format into which perfetto_read() emits the file.
 *
 * Each track has the stack of its open ranges. A range without a nesting of its own (a lap, a range
 * of Python's start()) may end on another track, and belongs to the track on which it began; its
 * end may be read first, since the events come by track. A part
 * is an outermost range in a step, or between two steps, of its track: a range in which a step
 * begins, such as an epoch, is none, and the ranges in it may be parts from then on. Ranges of
 * several tracks are collected with their tracks; at the end the track with most steps is chosen,
 * and what other tracks have is dropped, except for collectives of the same process, which may run
 * on threads of a framework. A range that never ended, as in a program that was killed, is left
 * out. If the name of the steps is that of a collective, a step lasts from the end of one to the
 * end of the next: a program without other ranges has steps so.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_part.h"

#include "base/err.h"
#include "base/id_table.h"
#include "profiler/preload/mpi/mpi_delay.h"
#include "profiler/read/perfetto/perfetto_read.h"
#include "profiler/read/trace_align.h"
#include "profiler/timeline/pending_ranges.h"
#include "profiler/write/formats.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN_MAX = 512 }; /* nested ranges of a track; deeper ones are left out */

/* What a name makes of its range. */
typedef enum range_role {
	ROLE_OTHER,
	ROLE_STEP,
	ROLE_COLLECTIVE,
	ROLE_STEP_END, /* a collective that ends a step, and begins the next one */
	ROLE_WAIT
} range_role;

typedef struct range_open {
	uint64_t ns;
	uint32_t name;
	uint32_t begun; /* steps that had begun on the track */
	bool part;
} range_open;

typedef struct range_track {
	int32_t pid;
	uint32_t begun, steps; /* steps that have begun, and ended */
	uint32_t in_part;      /* open parts */
	uint64_t step_ns;      /* begin of the step that a collective will end */
	uint32_t depth;
	size_t cap;
	range_open *open; /* @owned */
} range_track;

typedef struct async_open {
	range_open range;
	uint32_t track; /* 0: only its end was read, at range.ns */
} async_open;

typedef struct range_found {
	rank_range range; /* times since the trace's base */
	uint32_t track;
} range_found;

typedef struct range_collect {
	const rank_names *how;
	string_table names;	/* by their number in the trace */
	id_table roles, tracks; /* range_role; range_track */
	hash_map async;		/* id to the row in async_rows, plus one */
	id_table async_rows;
	uint32_t nasync, free_async[64], nfree;
	range_found *found; /* @owned */
	size_t n, cap;
	uint64_t left_out, last_ns;
	uint32_t delays;		 /* track of MPI_DELAY_COUNTER; 0: none */
	double delay_first_ns, delay_ns; /* its first and its greatest value */
	uint64_t delay_from_ns, delay_to_ns;
	bool failed;
	dck_sink sink;
} range_collect;

static range_role range_role_of(const rank_names *how, const char *name)
{
	const bool step = strcmp(name, how->step) == 0;
	bool collective =
	    strncmp(name, RANK_COLLECTIVE_PREFIX, sizeof RANK_COLLECTIVE_PREFIX - 1) == 0;

	for (size_t i = 0; how->collectives && i < how->collectives->n; i++)
		collective = collective || strcmp(name, how->collectives->item[i]) == 0;
	if (collective)
		return step ? ROLE_STEP_END : ROLE_COLLECTIVE;
	return step ? ROLE_STEP : trace_is_wait(name) ? ROLE_WAIT : ROLE_OTHER;
}

static void ranges_track(trace_out *o, const trace_track *from)
{
	range_collect *c = (range_collect *)o;
	range_track *t = id_table_row(&c->tracks, from->id);

	if (t)
		t->pid = from->pid;
	if (from->kind == TRACE_COUNTER_TRACK && from->name &&
	    strcmp(from->name, MPI_DELAY_COUNTER) == 0)
		c->delays = from->id;
}

static void delay_take(range_collect *c, const trace_event *e)
{
	if (!(e->as.real >= 0 && e->as.real < 1e18))
		return;
	if (c->delay_to_ns == 0) {
		c->delay_from_ns = e->ns;
		c->delay_first_ns = e->as.real;
	}
	c->delay_to_ns = e->ns;
	c->delay_ns = e->as.real > c->delay_ns ? e->as.real : c->delay_ns;
}

static void ranges_intern(trace_out *o, uint32_t id, const trace_name *name)
{
	range_collect *c = (range_collect *)o;
	range_role *role = id_table_row(&c->roles, id);

	string_name_put(&c->names, id, name->text, name->n);
	const string_name own = string_name_of(&c->names, id);
	if (role && own.text)
		*role = range_role_of(c->how, own.text);
}

static range_role collect_role(const range_collect *c, uint32_t name)
{
	const range_role *role = id_table_find(&c->roles, name);

	return role ? *role : ROLE_OTHER;
}

static void range_append(range_collect *c, uint32_t track, const range_open *r, rank_kind kind,
			 uint64_t end_ns)
{
	if (c->n >= RANK_RANGES_MAX) {
		c->left_out++;
		return;
	}
	if (!mem_reserve(&c->found, &c->cap, c->n + 1, sizeof *c->found)) {
		c->failed = true;
		return;
	}
	c->found[c->n++] = (range_found){
	    {(int64_t)r->ns, (int64_t)(end_ns > r->ns ? end_ns : r->ns), r->name, kind}, track};
}

/* A range opens on a track. Returns it; it is a part unless a step begins before it ends. */
static range_open track_range_begin(range_collect *c, range_track *t, const trace_event *e)
{
	const range_role role = collect_role(c, e->name);
	range_open r = {.ns = e->ns, .name = e->name};

	if (role == ROLE_STEP) {
		t->begun++;
		t->in_part = 0;
	}
	r.begun = t->begun;
	r.part = role == ROLE_OTHER && t->in_part == 0;
	t->in_part += r.part;
	return r;
}

/* A collective that ends a step has ended. */
static void step_by_collective(range_collect *c, uint32_t track, range_track *t, uint32_t name,
			       uint64_t end_ns)
{
	const range_open step = {.ns = t->step_ns, .name = name};

	if (t->begun++ > 0) {
		t->steps++;
		range_append(c, track, &step, RANK_STEP, end_ns);
	}
	t->step_ns = end_ns;
	t->in_part = 0;
}

/* It closes. track: that on which it began. */
static void track_range_end(range_collect *c, uint32_t track, const range_open *r, uint64_t ns)
{
	range_track *t = id_table_find(&c->tracks, track);
	const range_role role = collect_role(c, r->name);

	if (!t)
		return;
	if (role == ROLE_STEP) {
		t->steps++;
		range_append(c, track, r, RANK_STEP, ns);
	} else if (role == ROLE_COLLECTIVE || role == ROLE_STEP_END) {
		range_append(c, track, r, RANK_COLLECTIVE, ns);
		if (role == ROLE_STEP_END)
			step_by_collective(c, track, t, r->name, ns);
	} else if (r->part && r->begun == t->begun) {
		t->in_part = 0;
		if (t->begun > 0)
			range_append(c, track, r, RANK_PART, ns);
	}
}

static void stack_push(range_collect *c, range_track *t, const trace_event *e)
{
	if (t->depth < OPEN_MAX &&
	    !mem_reserve(&t->open, &t->cap, t->depth + (size_t)1, sizeof *t->open)) {
		c->failed = true;
		return;
	}
	if (t->depth < t->cap)
		t->open[t->depth] = track_range_begin(c, t, e);
	t->depth++;
}

static void stack_pop(range_collect *c, uint32_t track, range_track *t, uint64_t ns)
{
	if (t->depth == 0 || t->depth-- > t->cap)
		return;
	const range_open r = t->open[t->depth];
	track_range_end(c, track, &r, ns);
}

static void async_keep(range_collect *c, uint64_t id, const async_open *one)
{
	const uint32_t row = c->nfree ? c->free_async[--c->nfree] : c->nasync++;
	async_open *a = id_table_row(&c->async_rows, row);

	if (a && hash_map_put(&c->async, id, row + 1))
		*a = *one;
	else
		c->failed = true;
}

/* Removes what was kept of an id, its begin or its end. false: nothing was. */
static bool async_take(range_collect *c, uint64_t id, bool ends, async_open *ret)
{
	const uint32_t row = hash_map_find(&c->async, id);
	const async_open *a = row ? id_table_find(&c->async_rows, row - 1) : NULL;

	if (!a || (a->track == 0) != ends)
		return false;
	*ret = *a;
	hash_map_remove(&c->async, id);
	if (c->nfree < sizeof c->free_async / sizeof c->free_async[0])
		c->free_async[c->nfree++] = row - 1;
	return true;
}

static void async_begin(range_collect *c, uint32_t track, range_track *t, const trace_event *e)
{
	const async_open begun = {track_range_begin(c, t, e), track};
	async_open end;

	if (async_take(c, e->as.id, true, &end))
		track_range_end(c, track, &begun.range, end.range.ns);
	else
		async_keep(c, e->as.id, &begun);
}

static void async_end(range_collect *c, const trace_event *e)
{
	async_open begun;

	if (async_take(c, e->as.id, false, &begun))
		track_range_end(c, begun.track, &begun.range, e->ns);
	else if (c->async.n < KEPT_IDS_MAX)
		async_keep(c, e->as.id, &(async_open){.range = {.ns = e->ns}});
}

static void ranges_events(trace_out *o, uint32_t track, const trace_event *e, size_t n)
{
	range_collect *c = (range_collect *)o;

	for (size_t i = 0; i < n; i++) {
		range_track *t = id_table_find(&c->tracks, track);

		if (!t)
			return;
		if (e[i].kind != TRACE_ANNOTATION && e[i].ns > c->last_ns)
			c->last_ns = e[i].ns;
		if (e[i].kind == TRACE_COUNTER && track == c->delays)
			delay_take(c, &e[i]);
		else if (e[i].kind == TRACE_BEGIN)
			stack_push(c, t, &e[i]);
		else if (e[i].kind == TRACE_END)
			stack_pop(c, track, t, e[i].ns);
		else if (e[i].kind == TRACE_ASYNC_BEGIN)
			async_begin(c, track, t, &e[i]);
		else if (e[i].kind == TRACE_ASYNC_END)
			async_end(c, &e[i]);
	}
}

static dck_status ranges_close(trace_out *o, dck_err *err)
{
	const range_collect *c = (range_collect *)o;

	DCK_NEED(!c->failed && !c->tracks.failed && !c->roles.failed && !c->async_rows.failed &&
		     !string_table_failed(&c->names),
		 err, "for the ranges of a rank");
	return DCK_OK;
}

static const trace_format collect_format = {
    .name = "ranks",
    .suffix = "",
    .help = "",
    .open = trace_format_open_self,
    .track = ranges_track,
    .intern = ranges_intern,
    .events = ranges_events,
    .close = ranges_close,
};

static int found_compare(const void *a, const void *b)
{
	const rank_range *x = &((const range_found *)a)->range;
	const rank_range *y = &((const range_found *)b)->range;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Returns the track with most steps, else that of the first collective; 0: neither. */
static uint32_t track_choose(const range_collect *c)
{
	uint32_t best = c->n ? c->found[0].track : 0, most = 0;

	for (uint32_t id = 1; id < c->tracks.n; id++) {
		const range_track *t = id_table_find(&c->tracks, id);

		if (t->steps > most) {
			most = t->steps;
			best = id;
		}
	}
	return best;
}

/* Copies the ranges of the chosen track and process, with times of CLOCK_BOOTTIME, and their names,
 * with new numbers. */
static dck_status ranges_copy(range_collect *c, const trace_place *place, rank_part *p,
			      dck_err *err)
{
	const int64_t base = (int64_t)place->facts.about.boottime_ns;
	const uint32_t chosen = track_choose(c);
	const range_track *on = id_table_find(&c->tracks, chosen);
	uint32_t *number = mem_arena_array(p->arena, c->names.table.n + 1, sizeof *number);

	p->names = mem_arena_array(p->arena, c->names.table.n + 1, sizeof *p->names);
	p->ranges = mem_arena_array(p->arena, c->n + 1, sizeof *p->ranges);
	DCK_NEED(number && p->names && p->ranges, err, "for the ranges of a rank");
	if (c->n > 0)
		qsort(c->found, c->n, sizeof *c->found, found_compare);
	for (size_t i = 0; i < c->n; i++) {
		rank_range r = c->found[i].range;
		const range_track *t = id_table_find(&c->tracks, c->found[i].track);

		if (c->found[i].track != chosen &&
		    (r.kind != RANK_COLLECTIVE || !on || !t || t->pid != on->pid))
			continue;
		if (!number[r.name]) {
			const char *text = string_name_of(&c->names, r.name).text;

			p->names[p->nnames++] = mem_arena_dup(p->arena, text ? text : "?");
			number[r.name] = (uint32_t)p->nnames;
		}
		r.name = number[r.name] - 1;
		r.begin_ns = base + trace_place_ns(place, (uint64_t)r.begin_ns);
		r.end_ns = base + trace_place_ns(place, (uint64_t)r.end_ns);
		p->ranges[p->nranges++] = r;
	}
	p->left_out = c->left_out;
	p->within_ns = place->within_ns;
	return mem_arena_failed(p->arena) ? ERR_NO_MEMORY(err, "for the ranges of a rank") : DCK_OK;
}

/* What is known of the time between the first and the last value of the counter. */
static void delay_put(const range_collect *c, rank_usage *u)
{
	uint64_t until = c->delay_from_ns, waited = 0;

	if (c->delay_to_ns <= c->delay_from_ns)
		return;
	for (size_t i = 0; i < c->n; i++) { /* by their begin */
		const rank_range *r = &c->found[i].range;
		const uint64_t begin =
		    (uint64_t)r->begin_ns > until ? (uint64_t)r->begin_ns : until;
		const uint64_t end =
		    (uint64_t)r->end_ns < c->delay_to_ns ? (uint64_t)r->end_ns : c->delay_to_ns;

		if (r->kind != RANK_COLLECTIVE || end <= begin)
			continue;
		waited += end - begin;
		until = end;
	}
	rank_usage_put(u, RANK_WORK_QUEUE, (uint64_t)(c->delay_ns - c->delay_first_ns));
	rank_usage_put(u, RANK_WORK_TIME, c->delay_to_ns - c->delay_from_ns);
	rank_usage_put(u, RANK_WORK_WAIT, waited);
}

static void collect_done(range_collect *c)
{
	for (uint32_t id = 0; id < c->tracks.n; id++)
		mem_free(((range_track *)id_table_find(&c->tracks, id))->open);
	string_table_done(&c->names);
	id_table_done(&c->roles);
	id_table_done(&c->tracks);
	id_table_done(&c->async_rows);
	hash_map_done(&c->async);
	mem_free(c->found);
}

dck_status rank_ranges_read(const char *path, const rank_names *names, rank_part *p, dck_err *err)
{
	range_collect c = {.how = names,
			   .roles = {.row_bytes = sizeof(range_role)},
			   .tracks = {.row_bytes = sizeof(range_track)},
			   .async_rows = {.row_bytes = sizeof(async_open)}};
	trace_place place = {.path = path};
	wire_source source;

	c.sink = (dck_sink){.self = &c};
	DCK_TRY(wire_source_open(path, &wire_perfetto, &source, err));
	dck_status status = string_table_init(&c.names, err);
	DCK_NEXT(status, perfetto_read(&source, &collect_format, &c.sink, &place.facts, err));
	wire_source_close(&source);
	place.last_ns = c.last_ns;
	if (status == DCK_OK && !place.facts.dated)
		status = ERR_SET(err, E_FORMAT, "its trace has no snapshot of its clocks");
	DCK_NEXT(status, trace_align(&place, 1, err));
	DCK_NEXT(status, ranges_copy(&c, &place, p, err));
	if (status == DCK_OK)
		delay_put(&c, &p->usage);
	collect_done(&c);
	return status;
}
