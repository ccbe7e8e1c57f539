/* profile_rows.c - from the events of a profile to a row for each operator: its time, its costs and
 * its roof (the roofline model: Williams, Waterman and Patterson, CACM 52, 2009).
 *
 * Order: a row for each operator of the engine's graph, with the same index; events_take() finds
 * the row of each event by name, and subtracts the time of a nested operator from the enclosing
 * one's; times_scale() makes of each row a mean over the runs, winsorised and less the profiler's
 * overhead, and scales all rows to the part of the latency that operators explain; members_make()
 * lists the model's nodes that each row owns (profile_map.c), whose costs are summed; then come
 * rates against roofs, metrics and notes.
 *
 * Invariants: events are in the order of runs, as engine_profile() checks, so that a row has at
 * most one time for each run. Operators that are not in the saved graph get rows too, at most 256,
 * or those of a run without a graph; the time of further ones is between operators. A
 * rate above its roof is absent, since one of both is wrong. Names are found by hash tables; rows,
 * lists and texts are in an arena that is freed at the end, after the builder has made its copies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/profile/profile_rows.h"
#include "study/profile/profile_position.h"
#include "base/err.h"
#include "model/onnx/module_path.h"
#include "study/cost_report/operator_roofs.h"
#include "study/profile/profile_gain.h"
#include "study/profile/profile_map.h"
#include "study/profile/profile_notes.h"
#include "base/name_index.h"
#include "base/units.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
	const cost_op *ran; /* NULL: an operator that is not in the graph */
	const char *name, *type;
	const char *reported; /* the type by the engine, where it gives no graph; NULL: as above */
	bool fused;	      /* the model's operator is in another row */
	bool unsure;	      /* both branches of an If have one of its name */
	size_t inside;	      /* the row of the operator around it; SIZE_MAX: none */
	size_t joined;	      /* the row that has its time: this one, or one of the graph */
	unsigned branches;    /* of an If: bits of those that ran */
	double *ns;	      /* of each run that it was in, without what ran inside it */
	size_t n, events;
	uint64_t run;		  /* the last of them */
	double value, half_ratio; /* scaled; half of its interval over it, NaN: none */
	double flops, bytes;	  /* NaN: not known */
	int64_t memory;		  /* that the engine held when it ended, in the last run */
	bool has_memory;
	dck_roof roof;
} row;

typedef struct table {
	const profile_input *in;
	mem_arena *arena;
	row *rows;
	size_t n, cap;
	name_index names;
	size_t *first, *next, *used; /* rows of a name, in order; how many of them this run had */
	size_t *owner;		     /* of the model's operators: a row */
	size_t *member, *sibling;    /* of a row: its first operator of the model; the next one */
	const char **scope;	     /* of a row: its module; NULL: none */
	const onnx_node **place;     /* of a row: the node that computes most; NULL: none */
	name_index outputs;	     /* names of what operators of the main graph compute */
	size_t *output_of;	     /* of such a name: a row */
	profile_positions positions; /* of the model's operators */
	name_index bodies;	     /* paths of the bodies in the engine's graph */
	name_index types;	     /* of the operators as the engine runs them */
	double *type_ns;
	size_t *type_n;
	double *scratch, *sorted;
	double *inside, *events; /* of each run: its operators' times, and how many they are */
	double scale, explained;
	const char *no_roof; /* why the first operator without a roof has none; NULL: all have */
} table;

#define BRANCH_NONE 3 /* of operators that are not in the graph */

/* Returns the key of a name. Names are unique within one graph at most: in a body they follow the
 * row of its control operator and the branch. */
static const char *row_key(table *t, size_t inside, int branch, const char *name)
{
	return inside == SIZE_MAX ? name
				  : mem_arena_fmt(t->arena, "%zu.%d\n%s", inside, branch, name);
}

#define KEY_SEVERAL (NAME_INDEX_NONE - 1)

/* Finds the key of an operator of the graph. KEY_SEVERAL: both branches of an If have the name.
 * decide: of those, only branches count that other names show to have run. */
static size_t key_find(table *t, size_t inside, const char *name, bool decide)
{
	size_t found = NAME_INDEX_NONE;
	unsigned have = 0;

	if (inside == SIZE_MAX)
		return name_index_find(&t->names, name);
	unsigned *ran = &t->rows[inside].branches;
	for (int i = 0; i < BRANCH_NONE; i++) {
		const char *key = row_key(t, inside, i, name);
		const size_t at = key ? name_index_find(&t->names, key) : NAME_INDEX_NONE;

		if (at == NAME_INDEX_NONE || (decide && !(*ran >> i & 1)))
			continue;
		have |= 1U << i;
		found = at;
	}
	if (have & (have - 1))
		return KEY_SEVERAL;
	*ran |= have;
	return found;
}

/* An engine may name an operator by what it computes. */
static dck_status outputs_index(table *t, dck_err *err)
{
	const cost_result *r = t->in->ran->cost;
	size_t n = 0;

	for (size_t i = 0; i < r->nops; i++)
		n += r->ops[i].nout;
	t->output_of = mem_arena_array(t->arena, n + 1, sizeof *t->output_of);
	DCK_NEED(t->output_of && name_index_init(&t->outputs, t->arena, n + 1), err,
		 "for the operators' times");
	for (size_t i = 0; i < r->nops; i++)
		for (size_t k = 0; !r->ops[i].scope && k < r->ops[i].nout; k++)
			if (r->ops[i].out[k])
				t->output_of[name_index_intern(&t->outputs,
							       r->ops[i].out[k]->name)] = i;
	return DCK_OK;
}

static dck_status profile_rows_make(table *t, dck_err *err)
{
	const cost_result *r = t->in->ran->cost;
	size_t *last = mem_arena_array(t->arena, r->nops + 1, sizeof *last); /* row of a name */

	t->cap = r->nops + 256;
	if (t->in->no_structure && t->in->profile->nruns > 0)
		t->cap += t->in->profile->nevents / t->in->profile->nruns;
	t->rows = mem_arena_array(t->arena, t->cap, sizeof *t->rows);
	t->first = mem_arena_array(t->arena, t->cap, sizeof *t->first);
	t->next = mem_arena_array(t->arena, t->cap, sizeof *t->next);
	t->used = mem_arena_array(t->arena, t->cap, sizeof *t->used);
	DCK_NEED(last && t->rows && t->first && t->next && t->used &&
		     name_index_init(&t->names, t->arena, t->cap) &&
		     name_index_init(&t->bodies, t->arena, t->cap),
		 err, "for the operators' times");
	DCK_TRY(profile_positions_find(&t->positions, t->in->model->cost, t->arena, err));
	memset(t->first, 0xff, t->cap * sizeof *t->first);
	memset(t->next, 0xff, t->cap * sizeof *t->next);
	/* A row for each operator of the graph, so that their indices are the same. */
	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *c = &r->ops[i];
		t->rows[i] = (row){.ran = c,
				   .type = c->node->op,
				   .run = UINT64_MAX,
				   .inside = c->inside,
				   .joined = i};
		t->n = i + 1;
		if (c->scope)
			name_index_intern(&t->bodies, c->scope);
		const char *name = c->node->name && *c->node->name
				       ? c->node->name
				       : profile_position_name(&t->positions, c),
			   *key = name ? row_key(t, c->inside, c->branch, name) : NULL;
		DCK_NEED(key, err, "for the operators' times");
		t->rows[i].name = name;
		const size_t at = name_index_intern(&t->names, key);
		*(t->first[at] == SIZE_MAX ? &t->first[at] : &t->next[last[at]]) = i;
		last[at] = i;
	}
	return outputs_index(t, err);
}

/* Returns the row of an event. inside: the row of the operator around it; SIZE_MAX: none. */
static row *profile_row_of(table *t, const dck_op_event *e, size_t inside)
{
	size_t at = key_find(t, inside, e->name, false), k;

	if (at == NAME_INDEX_NONE && inside == SIZE_MAX) {
		const size_t output = name_index_find(&t->outputs, e->name);
		if (output != NAME_INDEX_NONE)
			return &t->rows[t->output_of[output]];
	}
	if (at >= KEY_SEVERAL) {
		const char *key = row_key(t, inside, BRANCH_NONE, e->name);
		at = key ? name_index_find(&t->names, key) : NAME_INDEX_NONE;
		if (at == NAME_INDEX_NONE) {
			/* Made by the engine after the graph was saved: a copy between devices. */
			if (t->n == t->cap || !key)
				return NULL;
			at = name_index_intern(&t->names, key);
			t->first[at] = t->n;
			t->rows[t->n] = (row){.name = e->name,
					      .type = e->type,
					      .run = UINT64_MAX,
					      .inside = inside,
					      .joined = t->n};
			t->n++;
		}
	}
	k = t->first[at];
	for (size_t i = 0; i < t->used[at] && t->next[k] != SIZE_MAX; i++)
		k = t->next[k];
	t->used[at]++;
	return &t->rows[k];
}

#define OPEN_MAX 64

/* The operators around the current event: the last one of each depth on each thread. */
typedef struct open_rows {
	struct {
		int64_t thread;
		uint32_t depth;
		row *of;
	} open[OPEN_MAX];
	size_t n;
} open_rows;

/* Returns the row of the operator around an event of that depth; NULL: none. Operators that ended
 * are removed. */
static row *row_around(open_rows *o, int64_t thread, uint32_t depth)
{
	size_t kept = 0;
	row *around = NULL;

	for (size_t i = 0; i < o->n; i++) {
		if (o->open[i].thread == thread && o->open[i].depth >= depth)
			continue;
		if (o->open[i].thread == thread && o->open[i].depth + 1 == depth)
			around = o->open[i].of;
		o->open[kept++] = o->open[i];
	}
	o->n = kept;
	return around;
}

static void row_time_add(row *r, uint64_t run, double ns)
{
	if (r->run != run)
		r->ns[r->n++] = 0;
	r->run = run;
	r->ns[r->n - 1] += ns;
}

/* Adds one event; the time of a nested operator is subtracted from the enclosing one's. */
static dck_status event_take(table *t, const dck_op_event *e, int64_t thread, uint64_t run,
			     size_t runs, open_rows *open, dck_err *err)
{
	const profiler_overhead *floor = &t->in->floor;
	row *around = row_around(open, thread, e->depth);
	row *r = e->depth && !around
		     ? NULL
		     : profile_row_of(t, e, around ? (size_t)(around - t->rows) : SIZE_MAX);

	if (!r) /* its time is part of the operator's around it */
		return mem_arena_failed(t->arena) ? ERR_NO_MEMORY(err, "for the operators' times")
						  : DCK_OK;
	if (!r->ns && !(r->ns = mem_arena_array(t->arena, runs, sizeof *r->ns)))
		return ERR_NO_MEMORY(err, "for the operators' times");
	row_time_add(r, run, (double)e->duration_ns);
	if (t->in->model == t->in->ran && *e->type)
		r->reported = e->type;
	r->events++;
	if (e->memory_bytes >= 0) {
		r->memory = e->memory_bytes;
		r->has_memory = true;
	}
	t->events[run]++;
	t->inside[run] += (double)e->duration_ns;
	if (around) {
		const double whole =
		    (double)e->duration_ns + fmax(floor->around_ns - floor->inside_ns, 0);
		row_time_add(around, run, -whole);
		t->inside[run] -= whole;
	}
	if (open->n < OPEN_MAX) {
		open->open[open->n].thread = thread;
		open->open[open->n].depth = e->depth;
		open->open[open->n++].of = r;
	}
	return DCK_OK;
}

static dck_status events_take(table *t, dck_err *err)
{
	const dck_profile *p = t->in->profile;
	size_t skip = p->nruns > t->in->runs ? p->nruns - t->in->runs : 0, runs = p->nruns - skip;
	open_rows open = {.n = 0};
	uint64_t run = UINT64_MAX;

	if (!runs)
		DCK_FAIL(err, E_ENGINE, "the engine's profile has no whole run");
	t->scratch = mem_alloc(stat_scratch(runs) * sizeof(double));
	t->sorted = mem_alloc(runs * sizeof(double));
	t->inside = mem_arena_array(t->arena, runs, sizeof *t->inside);
	t->events = mem_arena_array(t->arena, runs, sizeof *t->events);
	DCK_NEED(t->scratch && t->sorted && t->inside && t->events, err,
		 "for the operators' times");
	for (size_t i = 0; i < p->nevents; i++) {
		const dck_op_event *e = &p->events[i];
		if (e->run < skip || e->run - skip >= runs)
			continue;
		if (e->run != run) {
			memset(t->used, 0, t->cap * sizeof *t->used);
			open.n = 0;
		}
		run = e->run;
		DCK_TRY(
		    event_take(t, e, p->threads ? p->threads[i] : 0, run - skip, runs, &open, err));
	}
	return DCK_OK;
}

/* Returns the row around row `at`; SIZE_MAX: none. */
static size_t row_outer(const table *t, size_t at)
{
	const size_t inside = t->rows[at].inside;

	return inside < t->n ? t->rows[inside].joined : SIZE_MAX;
}

/* Returns whether row `at` of the graph has no name in it, and no time. */
static bool row_unnamed(const table *t, size_t at, const char *type, size_t inside)
{
	const row *r = &t->rows[at];

	return !r->n && r->ran && r->inside == inside && r->ran->node->name &&
	       !*r->ran->node->name && strcmp(r->type, type) == 0;
}

/* Returns whether a row that is not in the graph has a name that the engine made at its start of
 * the type and a number: "Mul_15". */
static bool row_numbered(const table *t, size_t at, const char *type, size_t inside)
{
	const row *r = &t->rows[at];
	const size_t n = strlen(type);

	return r->n && !r->ran && !r->unsure && row_outer(t, at) == inside &&
	       strcmp(r->type, type) == 0 && strncmp(r->name, type, n) == 0 && r->name[n] == '_' &&
	       r->name[n + 1] && strspn(r->name + n + 1, "0123456789") == strlen(r->name + n + 1);
}

/* Moves the time of row `from`, which is not in the graph, to row `to` of the graph. */
static void profile_row_join(table *t, size_t from, size_t to)
{
	row *f = &t->rows[from], *r = &t->rows[to];

	r->ns = f->ns;
	r->n = f->n;
	r->events = f->events;
	r->memory = f->memory;
	r->has_memory = f->has_memory;
	r->branches |= f->branches;
	f->n = 0;
	f->joined = to;
}

/* Gives operators of a type that have no name in the graph the times of those that the engine named
 * after it saved the graph. Both lists are in the order in which operators run; where one is
 * longer, it is not known which belong together. */
static void rows_of_type_join(table *t, const char *type, size_t inside)
{
	const size_t graph = t->in->ran->cost->nops;
	size_t here = 0, there = 0, to = 0;

	for (size_t k = 0; k < t->n; k++) {
		here += k < graph && row_unnamed(t, k, type, inside);
		there += k >= graph && row_numbered(t, k, type, inside);
	}
	for (size_t k = graph; here == there && k < t->n; k++) {
		if (!row_numbered(t, k, type, inside))
			continue;
		while (!row_unnamed(t, to, type, inside))
			to++;
		profile_row_join(t, k, to);
	}
}

/* Finds operators of the graph for rows inside others that have none, once the operator around them
 * or its branch is known. Outer ones are before inner ones. */
static void profile_rows_join(table *t, bool decide)
{
	const size_t graph = t->in->ran->cost->nops;

	for (size_t i = graph; i < t->n; i++) {
		row *r = &t->rows[i];
		const size_t outer = row_outer(t, i), at = r->n && outer < graph
							       ? key_find(t, outer, r->name, decide)
							       : NAME_INDEX_NONE;

		r->unsure |= at == KEY_SEVERAL;
		if (at < KEY_SEVERAL && !t->rows[t->first[at]].n &&
		    t->next[t->first[at]] == SIZE_MAX)
			profile_row_join(t, i, t->first[at]);
		else if (t->in->model != t->in->ran && !t->in->parallel &&
			 row_numbered(t, i, r->type, outer))
			rows_of_type_join(t, r->type, outer);
	}
}

/* Estimates the time of a row: a mean, since means add up to the run's and resolve more than the
 * profiler's steps of 1 us; the slowest twentieth counts no more than its fastest. */
static void row_time(table *t, row *r, size_t runs)
{
	double floor_ns = t->in->floor.inside_ns;
	stat_estimate e;

	r->half_ratio = NAN;
	if (!r->n)
		return;
	floor_ns *= (double)r->events / (double)r->n;
	winsorize_upper(r->ns, r->n, t->sorted);
	stat_estimate_one(STAT_MEAN, r->ns, r->n, t->in->level, t->scratch, &e);
	/* A node that runs twice in a run, or not in each, counts as often as it does. */
	double often = (double)r->n / (double)runs;
	r->value = e.present && e.value > floor_ns ? (e.value - floor_ns) * often : 0;
	if (e.present && e.has_interval && e.value > floor_ns)
		r->half_ratio = (e.hi - e.lo) / 2 / (e.value - floor_ns);
}

/* Returns the part of a run that its operators explain: the median over the runs, each by the
 * engine's own clock and without the profiler's overhead. The operators' means would not do: other
 * work of the machine is cut off from them, but not from the runs, and would count as time between
 * operators. */
static double explained(table *t, size_t runs)
{
	const profile_input *in = t->in;
	const uint64_t *run_ns = in->profile->run_ns + (in->profile->nruns - runs);

	for (size_t i = 0; i < runs; i++) {
		double whole = (double)run_ns[i] - t->events[i] * in->floor.around_ns;
		double part = t->inside[i] - t->events[i] * in->floor.inside_ns;
		t->sorted[i] = part < whole ? fmax(part, 0) / whole : 1;
	}
	stat_sort(t->sorted, runs);
	return stat_quantile_sorted(t->sorted, runs, 0.5);
}

/* Scales times under the profiler to times without it. */
static void times_scale(table *t)
{
	const profile_input *in = t->in;
	size_t runs = in->profile->nruns < in->runs ? in->profile->nruns : in->runs;
	double sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		row_time(t, &t->rows[i], runs);
		sum += t->rows[i].value;
	}
	if (profile_of_device(t->in)) {
		/* The profiler's cost is the host's: a kernel takes as long without it. */
		t->scale = 1;
		t->explained = fmin(sum / in->latency_ns, 1);
		return;
	}
	t->explained = sum > 0 ? explained(t, runs) : 0;
	t->scale = sum > 0 ? t->explained * in->latency_ns / sum : 0;
	for (size_t i = 0; i < t->n; i++)
		t->rows[i].value *= t->scale;
}

/* --- costs */

static double profile_number(sym_int n)
{
	return sym_known(n) ? (double)n.v : NAN;
}

/* Returns the row that has the time of an operator: where the engine reports no times inside a
 * control operator, that operator's. */
static size_t owner_timed(const table *t, size_t at)
{
	while (at != PROFILE_NONE && !t->rows[at].n && t->rows[at].ran->inside < at)
		at = t->rows[at].ran->inside;
	return at;
}

/* Finds the row that owns each of the model's operators. */
static size_t *owners_find(table *t)
{
	const cost_result *model = t->in->model->cost, *ran = t->in->ran->cost;

	if (model != ran)
		return profile_map(model, ran, t->arena);
	const char **types = mem_arena_array(t->arena, model->nops, sizeof *types);
	for (size_t i = 0; types && i < model->nops; i++)
		types[i] = !t->rows[i].n ? NULL : t->rows[i].reported ? t->rows[i].reported : "";
	return types ? profile_map_timed(model, types, t->arena) : NULL;
}

/* Returns whether a node is directly in the branch that an If of the main graph always takes. */
static bool in_only_branch(const table *t, const cost_op *c)
{
	const cost_result *model = t->in->model->cost;
	const cost_op *around = c->inside < model->nops ? &model->ops[c->inside] : NULL;

	return around && !around->scope && !around->either && strcmp(around->node->op, "If") == 0;
}

/* Returns whether a node may name the operator of the engine that computes it. */
static bool is_origin(const table *t, const cost_op *c)
{
	return strcmp(c->node->op, "Constant") != 0 &&
	       (!c->scope || name_index_find(&t->bodies, c->scope) != NAME_INDEX_NONE ||
		in_only_branch(t, c));
}

static bool computes_more(const cost_op *a, const cost_op *b)
{
	return profile_number(a->macs) > profile_number(b->macs) ||
	       (sym_same(a->macs, b->macs) && profile_number(a->flops) > profile_number(b->flops));
}

/* Gives rows without the engine's graph the operator of the model that computes most in them: its
 * shapes are those of the work. */
static void rows_name(table *t)
{
	const cost_result *model = t->in->model->cost;

	for (size_t i = 0; model == t->in->ran->cost && i < model->nops; i++) {
		const cost_op *most = NULL;

		for (size_t k = t->member[i]; k != PROFILE_NONE; k = t->sibling[k])
			if (is_origin(t, &model->ops[k]) &&
			    (!most || computes_more(&model->ops[k], most)))
				most = &model->ops[k];
		t->rows[i].ran = most ? most : t->rows[i].ran;
		t->rows[i].fused = t->member[i] == PROFILE_NONE && !t->rows[i].n;
	}
}

/* Makes lists of the model's operators by the row that owns them, in the order of the model. */
static dck_status members_make(table *t, dck_err *err)
{
	size_t n = t->in->model->cost->nops;

	t->owner = owners_find(t);
	t->member = mem_arena_array(t->arena, t->cap, sizeof *t->member);
	t->sibling = mem_arena_array(t->arena, n, sizeof *t->sibling);
	DCK_NEED(t->owner && t->member && t->sibling, err, "for the operators' times");
	for (size_t i = 0; i < n; i++)
		t->owner[i] = owner_timed(t, t->owner[i]);
	memset(t->member, 0xff, t->cap * sizeof *t->member);
	for (size_t i = n; i-- > 0;) {
		if (t->owner[i] == PROFILE_NONE || t->in->model->cost->ops[i].expanded)
			continue;
		t->sibling[i] = t->member[t->owner[i]];
		t->member[t->owner[i]] = i;
	}
	rows_name(t);
	return DCK_OK;
}

/* Returns the deepest module that holds all nodes of the row which have one: casts and copies that
 * the exporter wrote between modules have none. Where only the model holds them, such as a first
 * convolution with its activation, returns that of the node which computes most. */
static const char *row_module(table *t, size_t index, const onnx_node **ret_place)
{
	model_cost *m = t->in->model;
	const cost_op *most = NULL, *computing = NULL;
	const char *common = NULL, *of_most = NULL;
	size_t n = 0;

	for (size_t i = t->member[index]; i != PROFILE_NONE; i = t->sibling[i]) {
		const cost_op *c = &m->cost->ops[i];
		if (is_origin(t, c) && (!computing || computes_more(c, computing)))
			computing = c;
		const char *path = is_origin(t, c) ? model_cost_scope(m, c) : NULL;
		if (!path)
			continue;
		n = common ? module_path_common(common, path) : strlen(path);
		common = mem_arena_dup_n(t->arena, common ? common : path, n);
		if (!common)
			return NULL;
		if (!most || computes_more(c, most)) {
			most = c;
			of_most = path;
		}
	}
	*ret_place = computing ? computing->node : NULL;
	return common && *common ? common : of_most;
}

/* An operator that the engine added, such as a change of layout, belongs to the operator that made
 * its data. */
static dck_status modules_find(table *t, dck_err *err)
{
	const cost_result *ran = t->in->ran->cost;

	t->scope = mem_arena_array(t->arena, t->cap, sizeof *t->scope);
	t->place = mem_arena_array(t->arena, t->cap, sizeof *t->place);
	t->type_ns = mem_arena_array(t->arena, t->cap, sizeof *t->type_ns);
	t->type_n = mem_arena_array(t->arena, t->cap, sizeof *t->type_n);
	DCK_NEED(t->scope && t->place && t->type_ns && t->type_n &&
		     name_index_init(&t->types, t->arena, t->cap),
		 err, "for the operators' times");
	for (size_t i = 0; i < t->n; i++)
		t->scope[i] = row_module(t, i, &t->place[i]);
	for (size_t i = 0; i < ran->nops; i++) {
		const val *data = ran->ops[i].nin ? ran->ops[i].in[0] : NULL;
		if (!data || data->def >= i)
			continue;
		if (!t->scope[i])
			t->scope[i] = t->scope[data->def];
		if (!t->place[i])
			t->place[i] = t->place[data->def];
	}
	return DCK_OK;
}

/* Sums costs over the nodes that the operator computes. */
static void costs_sum(table *t, size_t index, dck_op *op)
{
	model_cost *m = t->in->model;
	sym_table *nums = m->cost->nums;
	sym_int macs = sym_const(0), flops = sym_const(0), params = sym_const(0),
		weights = sym_const(0);
	const row *r = &t->rows[index];
	const cost_op *most = NULL;
	size_t n = 0;

	if (t->in->no_structure) {
		op->macs = op->flops = op->params = op->weight_bytes = op->read_bytes =
		    op->write_bytes = RECORD_ABSENT(t->in->no_structure);
		t->rows[index].flops = t->rows[index].bytes = NAN;
		return;
	}
	for (size_t i = t->member[index]; i != PROFILE_NONE; i = t->sibling[i])
		n++;
	const char **origins = mem_arena_array(t->arena, n, sizeof *origins);
	if (!origins)
		return;
	for (size_t i = t->member[index]; i != PROFILE_NONE; i = t->sibling[i]) {
		const cost_op *c = &m->cost->ops[i];
		macs = sym_add(nums, macs, c->macs);
		flops = sym_add(nums, flops, c->flops);
		params = sym_add(nums, params, c->params);
		weights = sym_add(nums, weights, c->weight_bytes);
		if (!is_origin(t, c))
			continue;
		origins[op->norigins++] = model_cost_name(m, c->node);
		if (!most || computes_more(c, most))
			most = c;
	}
	if (!r->ran && !n && m != t->in->ran && !profile_map_moves(r->type)) {
		op->macs = op->flops = op->params = op->weight_bytes =
		    RECORD_ABSENT(r->unsure ? "which branch ran is not known"
					    : "the engine's graph has no operator of this name");
		t->rows[index].flops = t->rows[index].bytes = NAN;
		return;
	}
	/* Readers know the names of their model: it is named by the node which computes most. */
	if (most)
		op->name = model_cost_name(m, most->node);
	op->macs = model_cost_value(m, macs);
	op->flops = model_cost_value(m, flops);
	op->params = model_cost_value(m, params);
	op->weight_bytes = model_cost_value(m, weights);
	op->origins = origins;
	if (op->norigins == 1 && strcmp(origins[0], op->name) == 0)
		op->norigins = 0;
	t->rows[index].flops = profile_number(flops);
	t->rows[index].bytes =
	    r->ran ? profile_number(r->ran->read_bytes) + profile_number(r->ran->write_bytes) : NAN;
}

static void roofs(table *t, row *r, dck_op *op, size_t *above)
{
	const profile_input *in = t->in;

	op->rate = op->roof = RECORD_ABSENT(in->no_limits ? in->no_limits : "not known");
	r->roof = (dck_roof){.least_ns = NAN, .attainable = NAN};
	double rate = r->flops > 0 && r->value > 0 ? 1e9 * r->flops / r->value : NAN;
	if (isnan(rate))
		op->rate =
		    RECORD_ABSENT(r->flops > 0	  ? "its time is below the profiler's resolution"
				  : r->flops >= 0 ? "it computes nothing"
						  : "its FLOPs are not known");
	else
		op->rate = RECORD_REAL(rate);
	if (!in->limits)
		return;
	dck_roof_get(in->limits, operator_roofs_dtype(r->ran), r->flops, r->bytes, &r->roof);
	op->bound = r->roof.bound;
	if (isnan(r->roof.attainable)) {
		const char *why = operator_roofs_why(in->limits, operator_roofs_dtype(r->ran),
						     r->flops, r->bytes, t->arena);
		op->roof = RECORD_ABSENT(why ? why : "not known");
		if (isnan(r->roof.least_ns) && !t->no_roof)
			t->no_roof = why;
		return;
	}
	if (rate > r->roof.attainable && profile_of_device(t->in)) {
		/* TF32, caches and faster products of matrices are not measured. */
		op->roof =
		    RECORD_ABSENT("it is faster than the measured peak and memory of the device, "
				  "by TF32 or a cache, which are not measured");
		op->bound = NULL;
		t->no_roof = t->no_roof ? t->no_roof : op->roof.as.text;
		r->roof = (dck_roof){.least_ns = NAN, .attainable = NAN};
		return;
	}
	op->roof = RECORD_REAL(r->roof.attainable);
	if (rate > r->roof.attainable) {
		op->rate = RECORD_ABSENT("above the roof of this machine: "
					 "its time is too short to be believed, "
					 "or its FLOPs were not all computed");
		(*above)++;
	}
}

static void profile_rows_put(table *t, record_builder *b, size_t *above,
			     const char **ret_first_above)
{
	const profile_input *in = t->in;
	/* Times that are not scaled by the latency do not have its uncertainty. */
	double latency_half = in->latency_lo_ns > 0 && !profile_of_device(t->in)
				  ? (in->latency_hi_ns - in->latency_lo_ns) / 2 / in->latency_ns
				  : 0;
	double sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		row *r = &t->rows[i];
		dck_op op = {0};
		size_t before = *above;
		if (!r->name || r->fused || (!r->n && (!r->ran || r->ran->folded || r->ran->scope)))
			continue;
		if (r->ran)
			model_cost_op(in->ran, r->ran, &op);
		op.name = r->ran ? op.name : r->name;
		op.type = r->reported ? r->reported : r->ran ? op.type : r->type;
		costs_sum(t, i, &op);
		r->name = op.name;
		op.scope = t->scope[i];
		if (t->place[i])
			model_cost_place(t->place[i], &op);
		if (!r->n) {
			op.time_ns = RECORD_ABSENT("the profile has no time of it");
			op.rate = op.roof = RECORD_ABSENT("it has no time");
			record_op(b, &op);
			continue;
		}
		op.time_ns = RECORD_REAL(r->value);
		op.memory_bytes = r->has_memory ? RECORD_INT(r->memory)
						: RECORD_ABSENT("the engine does not report it");
		double half = sqrt(r->half_ratio * r->half_ratio + latency_half * latency_half);
		if (!isnan(half) && half < 1) {
			op.time_lo_ns = r->value * (1 - half);
			op.time_hi_ns = r->value * (1 + half);
			op.time_level = in->level;
		}
		roofs(t, r, &op, above);
		if (*above > before && !*ret_first_above)
			*ret_first_above = r->name;
		sum += r->value;
		const size_t type = name_index_intern(&t->types, op.type ? op.type : "?");
		t->type_ns[type] += r->value;
		t->type_n[type]++;
		record_op(b, &op);
	}
	/* Sums of rounded times differ in their last digits. */
	if (in->latency_ns - sum > 1e-9 * in->latency_ns)
		profile_rest_put(in, in->latency_ns - sum, b);
}

/* --- metrics, facts and notes */

/* Answers with the type that takes most of the time, and with the time that roofs allow. */
static void profile_answer_put(const table *t, record_builder *b, double least)
{
	const profile_input *in = t->in;
	char attainable[96] = "", interval[80] = "";
	size_t most = 0;

	for (size_t i = 1; i < t->types.n; i++)
		if (t->type_ns[i] > t->type_ns[most])
			most = i;
	if (!t->types.n || !(t->type_ns[most] > 0))
		return;
	if (in->latency_lo_ns > 0)
		snprintf(interval, sizeof interval, " [%s, %s]", UNITS_TIME(in->latency_lo_ns),
			 UNITS_TIME(in->latency_hi_ns));
	if (in->limits && least >= 1) /* a nanosecond: else almost nothing has a roof */
		snprintf(attainable, sizeof attainable,
			 "; if every operator reached its roof, the model would take %s",
			 UNITS_TIME(least));
	record_answer(b, "%zu %s take%s %.1f %% of %s%s%s", t->type_n[most], t->types.name[most],
		      t->type_n[most] == 1 ? "s" : "", 100 * t->type_ns[most] / in->latency_ns,
		      UNITS_TIME(in->latency_ns), interval, attainable);
}

static profile_gains gains_make(const table *t)
{
	profile_gains g = {.of = mem_arena_array(t->arena, t->n, sizeof *g.of),
			   .latency_ns = t->in->latency_ns,
			   .no_roof = t->no_roof,
			   .arena = t->arena};

	for (size_t i = 0; g.of && i < t->n; i++) {
		const row *r = &t->rows[i];
		if (r->n)
			g.of[g.n++] = (profile_gain){r->name, r->type, r->roof.bound, r->value,
						     r->roof.least_ns};
	}
	return g;
}

static void profile_metrics(table *t, record_builder *b)
{
	const profile_input *in = t->in;
	const profile_gains gains = gains_make(t);
	const char *why;
	const double least = profile_gain_least(&gains, &why);

	record_metric_real(b, "profile/perturbation", in->perturbation,
			   "median run under the profiler over the median latency");
	record_metric_real(
	    b, "profile/coverage", t->explained,
	    "sum of the operators' times over a run, the profiler's own cost taken off");
	profile_answer_put(t, b, least);
	if (in->limits && !isnan(least))
		record_metric_real(
		    b, "profile/attainable", least,
		    "sum over the operators of max(FLOPs / peak, bytes / bandwidth), at most the "
		    "measured time");
	else
		record_metric_absent(b, "profile/attainable", in->limits ? why : in->no_limits);
}

static void profile_facts(const table *t, record_builder *b)
{
	const profile_input *in = t->in;
	size_t mapped = 0, nodes = 0;

	profile_facts_put(in, t->scale, b);
	for (size_t i = 0; i < in->model->cost->nops; i++) {
		const cost_op *c = &in->model->cost->ops[i];
		if (c->folded || (c->scope && !is_origin(t, c)))
			continue;
		nodes++;
		mapped += t->owner[i] != PROFILE_NONE;
	}
	record_fact_int(b, "profile", "nodes", DCK_UNIT_ONE, (int64_t)nodes);
	record_fact_int(b, "profile", "nodes_mapped", DCK_UNIT_ONE, (int64_t)mapped);
	record_fact_bool(b, "profile", "device_time", profile_of_device(t->in));
}

dck_status profile_rows(record_builder *b, const profile_input *in, dck_err *err)
{
	table t = {.in = in, .arena = mem_arena_new(1 << 18)};
	const char *first_above = NULL;
	size_t above = 0;

	DCK_NEED(t.arena, err, "for the operators' times");
	dck_status status = profile_rows_make(&t, err);
	DCK_NEXT(status, events_take(&t, err));
	if (status == DCK_OK) /* first, what names alone show */
		for (int decide = 0; decide < 2; decide++)
			profile_rows_join(&t, decide);
	DCK_NEXT(status, members_make(&t, err));
	if (status != DCK_OK)
		goto done;
	times_scale(&t);
	status = modules_find(&t, err);
	if (status != DCK_OK)
		goto done;
	profile_rows_put(&t, b, &above, &first_above);
	profile_metrics(&t, b);
	profile_facts(&t, b);
	const profile_gains gains = gains_make(&t);
	profile_notes(in, &gains, t.explained, above, first_above, b);
	if (mem_arena_failed(t.arena))
		status = ERR_NO_MEMORY(err, "for the operators' times");
done:
	mem_free(t.scratch);
	mem_free(t.sorted);
	mem_arena_free(t.arena);
	return status;
}
