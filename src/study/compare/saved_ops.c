/* saved_ops.c - compares the operators of two profiles: changes with their intervals.
 *
 * Two records name the same work differently: an engine fuses nodes in one and not in the other. So
 * groups are compared: operators of either record that have a node of the model in common, directly
 * or through others. In graphs that are alike each group is one operator on each side.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "base/err.h"
#include "study/compare/verdict.h"
#include "base/name_index.h"
#include "base/units.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 25
/* Fewer groups do not show how far unchanged operators scatter. */
#define SPREAD_MIN 10
/* Uncertainty of an operator's time, as a share of the profiler's step, at 95 %: the calibration of
 * the overhead varies by this share between starts (docs/commands/compare.md). */
#define STEP_SHARE 0.3
/* A run of 30 years. */
#define TIME_MAX_NS 1e18

enum { FROM, TO, SIDES };

/* Operators of one record in a group. */
typedef struct group_part {
	const dck_op *most; /* that takes most of its time */
	size_t n, untimed;
	double ns, lo, hi; /* sums; intervals add up as if their errors were one */
	double level;	   /* 0: one of them has no interval */
} group_part;

typedef struct group {
	group_part side[SIDES];
	size_t order;	  /* of first sight */
	const char *type; /* "Conv", "Conv > FusedConv" */
	size_t members;	  /* groups that this is the sum of */
	/* 95 % half-widths of the ratio's logarithm and of the difference. */
	double log_ratio, log_half, half_ns;
	double lo, hi; /* of the ratio, at `level` */
	double level, level_ns_lo, level_ns_hi;
	verdict verdict;
	bool open, has_interval;
} group;

typedef struct matching {
	const dck_record *record[SIDES];
	mem_arena *arena;
	name_index names, types;
	size_t *parent; /* of each name: a tree, whose root is the group's */
	size_t *group_of;
	group *groups;
	size_t n;
	group *kinds; /* paired groups of the same types taken together */
	size_t nkinds;
	size_t renamed, only[SIDES], paired;
	double step_ns, spread;
	double total[SIDES];
} matching;

static size_t saved_root_of(matching *m, size_t i)
{
	while (m->parent[i] != i)
		i = m->parent[i] = m->parent[m->parent[i]];
	return i;
}

/* Merges the names of an operator into one group. NAME_INDEX_NONE: it has none. */
static size_t op_root(matching *m, const dck_op *op)
{
	size_t root = NAME_INDEX_NONE;

	for (size_t i = 0; i <= op->norigins; i++) {
		const char *name = i < op->norigins ? op->origins[i] : op->name;
		const size_t known = m->names.n;
		size_t id;

		if (!name || !name[0])
			continue;
		id = name_index_intern(&m->names, name);
		if (m->names.n > known)
			m->parent[id] = id;
		id = saved_root_of(m, id);
		if (root != NAME_INDEX_NONE)
			m->parent[id] = root;
		else
			root = id;
	}
	return root;
}

/* A file may contain any number as a time. Sums of times accepted here stay finite. */
static bool saved_is_timed(const dck_op *op)
{
	const double ns = dck_value_number(&op->time_ns);

	return ns >= 0 && ns <= TIME_MAX_NS;
}

static void saved_part_add(group_part *p, const dck_op *op)
{
	const double ns = dck_value_number(&op->time_ns);
	const bool sound = op->time_level > 0 && op->time_lo_ns <= ns && ns <= op->time_hi_ns;

	if (p->n == 0)
		p->level = sound ? op->time_level : 0;
	if (p->n == 0 || (saved_is_timed(op) && !(dck_value_number(&p->most->time_ns) >= ns)))
		p->most = op;
	p->n++;
	if (!saved_is_timed(op)) {
		p->untimed++;
		return;
	}
	p->ns += ns;
	if (!sound || fabs(op->time_level - p->level) > 1e-9)
		p->level = 0;
	p->lo += sound ? op->time_lo_ns : ns;
	p->hi += sound ? op->time_hi_ns : ns;
}

static dck_status tables_make(matching *m, dck_err *err)
{
	size_t nops = 0, nnames = 1;

	for (int k = FROM; k < SIDES; k++)
		for (size_t i = 0; i < m->record[k]->nops; i++) {
			nops++;
			nnames += m->record[k]->ops[i].norigins + 1;
		}
	m->parent = mem_arena_array(m->arena, nnames, sizeof *m->parent);
	m->group_of = mem_arena_array(m->arena, nnames, sizeof *m->group_of);
	m->groups = mem_arena_array(m->arena, nops + 1, sizeof *m->groups);
	DCK_NEED(m->parent && m->group_of && m->groups &&
		     name_index_init(&m->names, m->arena, nnames) &&
		     name_index_init(&m->types, m->arena, nops + 1),
		 err, "to compare the operators");
	return DCK_OK;
}

static group *group_new(matching *m)
{
	m->groups[m->n].order = m->n;
	return &m->groups[m->n++];
}

static void groups_make(matching *m)
{
	for (int k = FROM; k < SIDES; k++)
		for (size_t i = 0; i < m->record[k]->nops; i++)
			(void)op_root(m, &m->record[k]->ops[i]);
	memset(m->group_of, 0xff, (m->names.n + 1) * sizeof *m->group_of);
	for (int k = FROM; k < SIDES; k++)
		for (size_t i = 0; i < m->record[k]->nops; i++) {
			const dck_op *op = &m->record[k]->ops[i];
			const size_t root = op_root(m, op);
			group *g;

			if (root == NAME_INDEX_NONE) {
				g = group_new(m);
			} else {
				if (m->group_of[root] == SIZE_MAX)
					m->group_of[root] = (size_t)(group_new(m) - m->groups);
				g = &m->groups[m->group_of[root]];
			}
			saved_part_add(&g->side[k], op);
			if (saved_is_timed(op))
				m->total[k] += dck_value_number(&op->time_ns);
		}
}

/* --- operators under new names */

static const char *saved_type_of(const group *g)
{
	const dck_op *op = g->side[FROM].n ? g->side[FROM].most : g->side[TO].most;

	return op->type ? op->type : "";
}

static bool saved_alone(const group *g, int side)
{
	return g->side[side].n == 1 && g->side[!side].n == 0;
}

/* Pairs operators that were renamed: where both records have as many operators of a type left,
 * these are paired in their order. Where the numbers differ, the pairs are unknown. */
static dck_status renamed_match(matching *m, dck_err *err)
{
	/* Per type: the number left in each record, and a list of those left in the second. */
	size_t *left[SIDES], *head = mem_arena_array(m->arena, m->n + 1, sizeof *head);
	size_t *next = mem_arena_array(m->arena, m->n + 1, sizeof *next);

	left[FROM] = mem_arena_array(m->arena, m->n + 1, sizeof *left[FROM]);
	left[TO] = mem_arena_array(m->arena, m->n + 1, sizeof *left[TO]);
	DCK_NEED(head && next && left[FROM] && left[TO], err, "to compare the operators");
	for (size_t i = m->n; i-- > 0;)
		for (int k = FROM; k < SIDES; k++) {
			size_t type;

			if (!saved_alone(&m->groups[i], k))
				continue;
			type = name_index_intern(&m->types, saved_type_of(&m->groups[i]));
			left[k][type]++;
			if (k == TO) {
				next[i] = head[type];
				head[type] = i + 1; /* 0 ends the list */
			}
		}
	for (size_t i = 0; i < m->n; i++) {
		group *g = &m->groups[i], *other;
		size_t type;

		if (!saved_alone(g, FROM))
			continue;
		type = name_index_find(&m->types, saved_type_of(g));
		if (left[FROM][type] != left[TO][type])
			continue;
		other = &m->groups[head[type] - 1];
		head[type] = next[head[type] - 1];
		g->side[TO] = other->side[TO];
		other->side[TO] = (group_part){0};
		m->renamed++;
	}
	return DCK_OK;
}

/* Removes the groups that renamed_match() emptied, and counts the others. */
static void groups_tidy(matching *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		const group *g = &m->groups[i];

		if (g->side[FROM].n == 0 && g->side[TO].n == 0)
			continue;
		m->paired += g->side[FROM].n > 0 && g->side[TO].n > 0;
		m->only[FROM] += g->side[TO].n == 0;
		m->only[TO] += g->side[FROM].n == 0;
		m->groups[n++] = *g;
	}
	m->n = n;
}

/* --- how sure */

static bool is_paired(const group *g)
{
	return g->side[FROM].n > 0 && g->side[TO].n > 0 && g->side[FROM].untimed == 0 &&
	       g->side[TO].untimed == 0;
}

static double change_of(const group *g)
{
	return g->side[TO].ns - g->side[FROM].ns;
}

static double at_95(double half, double level)
{
	return half * stat_normal_quantile(0.975) / stat_normal_quantile(0.5 + level / 2);
}

static void group_interval(const matching *m, group *g)
{
	const group_part *a = &g->side[FROM], *b = &g->side[TO];
	const double step = m->step_ns * (double)(a->n > b->n ? a->n : b->n);
	double half[SIDES];

	g->verdict = VERDICT_UNDECIDED;
	g->lo = g->hi = NAN;
	if (!is_paired(g) || !(a->ns > 0) || !(b->ns > 0))
		return;
	g->log_ratio = log(b->ns / a->ns);
	if (!(a->level > 0) || !(b->level > 0) || !isfinite(g->log_ratio))
		return;
	half[FROM] = at_95((a->hi - a->lo) / 2, a->level);
	half[TO] = at_95((b->hi - b->lo) / 2, b->level);
	g->half_ns = saved_square_add(half[FROM], half[TO], step);
	g->log_half =
	    saved_square_add(half[FROM] / a->ns, half[TO] / b->ns, step / fmin(a->ns, b->ns));
	g->has_interval = isfinite(g->log_half) && g->log_half > 0;
}

static dck_status saved_type_name(matching *m, group *g, dck_err *err)
{
	const char *from = g->side[FROM].n > 0 ? g->side[FROM].most->type : NULL;
	const char *to = g->side[TO].n > 0 ? g->side[TO].most->type : NULL;

	from = from ? from : "?";
	to = to ? to : "?";
	g->type = strcmp(from, to) == 0 ? from : mem_arena_fmt(m->arena, "%s > %s", from, to);
	return g->type ? DCK_OK : ERR_NO_MEMORY(err, "to compare the operators");
}

static void part_sum(group_part *sum, const group_part *one)
{
	if (sum->n == 0)
		*sum = (group_part){.most = one->most, .level = one->level};
	sum->n += one->n;
	sum->ns += one->ns;
	sum->lo += one->lo;
	sum->hi += one->hi;
	if (fabs(sum->level - one->level) > 1e-9)
		sum->level = 0;
}

/* The errors of operators of one type are added up, not averaged, because the same floor and the
 * same start are in all of them. */
static dck_status kinds_make(matching *m, dck_err *err)
{
	name_index kinds;

	m->kinds = mem_arena_array(m->arena, m->paired + 1, sizeof *m->kinds);
	DCK_NEED(m->kinds && name_index_init(&kinds, m->arena, m->paired + 1), err,
		 "to compare the operators");
	for (size_t i = 0; i < m->n; i++) {
		group *g = &m->groups[i], *kind;

		if (!is_paired(g))
			continue;
		DCK_TRY(saved_type_name(m, g, err));
		kind = &m->kinds[name_index_intern(&kinds, g->type)];
		kind->type = g->type;
		kind->order = (size_t)(kind - m->kinds);
		kind->members++;
		for (int k = FROM; k < SIDES; k++)
			part_sum(&kind->side[k], &g->side[k]);
	}
	m->nkinds = kinds.n;
	for (size_t i = 0; i < m->nkinds; i++)
		group_interval(m, &m->kinds[i]);
	return DCK_OK;
}

/* The intervals of a record's operators come from one process, and two starts of a program differ
 * by more than these intervals. How much more shows in the operators themselves, because most of
 * them did not change: each log ratio is divided by half of its interval, and the spread of these
 * quotients about their median is 1 where the intervals are right. Operators that did change move a
 * median deviation little. This is an empirical null distribution: Efron, JASA 99 (2004). */
static dck_status spread_find(matching *m, dck_err *err)
{
	double *z = mem_arena_array(m->arena, m->n + 1, sizeof *z);
	const double one = stat_normal_quantile(0.975);
	size_t n = 0;
	double centre;

	DCK_NEED(z, err, "to compare the operators");
	m->spread = 1;
	for (size_t i = 0; i < m->n; i++)
		if (m->groups[i].has_interval)
			z[n++] = m->groups[i].log_ratio / m->groups[i].log_half * one;
	if (n < SPREAD_MIN)
		return DCK_OK;
	stat_sort(z, n);
	centre = stat_quantile_sorted(z, n, 0.5);
	for (size_t i = 0; i < n; i++)
		z[i] = fabs(z[i] - centre);
	stat_sort(z, n);
	/* The median of |normal| is its 75 % quantile. */
	m->spread = fmax(1, stat_quantile_sorted(z, n, 0.5) / stat_normal_quantile(0.75));
	return DCK_OK;
}

static void group_judge(const matching *m, group *g, double level, double margin)
{
	const double stretch =
	    m->spread * stat_normal_quantile(0.5 + level / 2) / stat_normal_quantile(0.975);

	g->level = level;
	g->lo = exp(g->log_ratio - stretch * g->log_half);
	g->hi = exp(g->log_ratio + stretch * g->log_half);
	g->level_ns_lo = change_of(g) - stretch * g->half_ns;
	g->level_ns_hi = change_of(g) + stretch * g->half_ns;
	g->verdict = verdict_of(g->lo, g->hi, margin);
	g->open = g->verdict == VERDICT_UNDECIDED;
}

/* Holm's procedure over the operators, as saved_ops_judge() in saved.c has it over records. */
static void saved_ops_judge(const matching *m, group *groups, size_t n, const dck_compare_config *c)
{
	size_t open = 0, before;

	for (size_t i = 0; i < n; i++) {
		groups[i].open = groups[i].has_interval;
		open += groups[i].open;
	}
	while (open > 0) {
		const double level = 1 - (1 - c->level) / (double)open;

		before = open;
		for (size_t i = 0; i < n; i++) {
			if (!groups[i].open)
				continue;
			group_judge(m, &groups[i], level, c->margin);
			open -= !groups[i].open;
		}
		if (open == before)
			break;
	}
}

/* --- the tables */

static int saved_by_change(const void *x, const void *y)
{
	const group *a = x, *b = y;
	const double p = fabs(change_of(a)), q = fabs(change_of(b));

	if (is_paired(a) != is_paired(b))
		return is_paired(b) - is_paired(a);
	if (p != q)
		return p < q ? 1 : -1;
	return a->order < b->order ? -1 : 1;
}

static const char *saved_name_of(const group_part *p)
{
	return p->most->name && p->most->name[0] ? p->most->name : "(no name)";
}

/* "a +2": two more operators do the same work. */
static void cell_name(record_builder *b, const group *g)
{
	const group_part *from = &g->side[FROM], *to = &g->side[TO];
	const size_t more = (from->n > to->n ? from->n : to->n) - 1;

	if (more > 0)
		record_cell_fmt(b, "%s +%zu", saved_name_of(from), more);
	else
		record_cell_text(b, saved_name_of(from));
}

/* The change, how sure, and both times. */
static void cells_change(record_builder *b, const matching *m, const group *g)
{
	const double total = m->total[TO] - m->total[FROM];
	const double level = g->has_interval ? g->level : 0;

	record_cell_interval(b, change_of(g), g->level_ns_lo, g->level_ns_hi, level);
	record_cell(b, total != 0 ? RECORD_REAL(change_of(g) / total)
				  : RECORD_ABSENT("the sum did not change"));
	if (g->side[FROM].ns > 0)
		record_cell_interval(b, g->side[TO].ns / g->side[FROM].ns, g->lo, g->hi, level);
	else
		record_cell_absent(b, "its time in the first is 0");
	record_cell_text(b, verdict_texts[g->verdict]);
	record_cell_real(b, g->side[FROM].ns);
	record_cell_real(b, g->side[TO].ns);
}

#define COLUMNS_CHANGE                                                               \
	{"change", "change", DCK_UNIT_NS}, {"share", "of change", DCK_UNIT_ONE},     \
	    {"ratio", "ratio", DCK_UNIT_ONE}, {"verdict", "verdict", DCK_UNIT_NONE}, \
	    {"first", "first", DCK_UNIT_NS},                                         \
	{                                                                            \
		"second", "second", DCK_UNIT_NS                                      \
	}

static void table_paired(record_builder *b, const matching *m, const char *name)
{
	static const dck_column columns[] = {{"operator", "operator", DCK_UNIT_NONE},
					     COLUMNS_CHANGE,
					     {"type", "type", DCK_UNIT_NONE}};

	if (m->paired == 0)
		return;
	RECORD_TABLE(b, name, "Operators, by what their time changed", columns);
	for (size_t i = 0; i < m->n && i < SHOWN_MAX && is_paired(&m->groups[i]); i++) {
		cell_name(b, &m->groups[i]);
		cells_change(b, m, &m->groups[i]);
		record_cell_text(b, m->groups[i].type);
	}
}

/* A model that repeats its blocks has the same change many times: this table adds them up. */
static void table_kinds(record_builder *b, const matching *m, const char *name)
{
	static const dck_column columns[] = {
	    {"type", "type", DCK_UNIT_NONE}, {"n", "n", DCK_UNIT_ONE}, COLUMNS_CHANGE};

	if (m->nkinds == 0 || m->nkinds == m->paired)
		return;
	RECORD_TABLE(b, name, "Operators by type", columns);
	for (size_t i = 0; i < m->nkinds && i < SHOWN_MAX; i++) {
		record_cell_text(b, m->kinds[i].type);
		record_cell_int(b, (int64_t)m->kinds[i].members);
		cells_change(b, m, &m->kinds[i]);
	}
}

static void table_alone(record_builder *b, const matching *m, const char *name)
{
	static const dck_column columns[] = {
	    {"operator", "operator", DCK_UNIT_NONE},
	    {"type", "type", DCK_UNIT_NONE},
	    {"record", "only in", DCK_UNIT_NONE},
	    {"time", "time", DCK_UNIT_NS},
	};
	size_t shown = 0;

	if (m->only[FROM] + m->only[TO] == 0)
		return;
	RECORD_TABLE(b, name, "Operators of one record alone", columns);
	for (size_t i = 0; i < m->n && shown < SHOWN_MAX; i++) {
		const group *g = &m->groups[i];
		const int k = g->side[FROM].n > 0 ? FROM : TO;

		if (g->side[!k].n > 0)
			continue;
		record_cell_text(b, saved_name_of(&g->side[k]));
		record_cell_text(b, saved_type_of(g));
		record_cell_text(b, k == FROM ? "first" : "second");
		record_cell(b, g->side[k].untimed > 0 ? RECORD_ABSENT("not measured")
						      : RECORD_REAL(g->side[k].ns));
		shown++;
	}
}

static void saved_ops_facts(record_builder *b, const matching *m, const char *suffix)
{
	const struct {
		const char *key;
		double value;
		dck_unit unit;
	} all[] = {
	    {"compared", (double)m->paired, DCK_UNIT_ONE},
	    {"renamed", (double)m->renamed, DCK_UNIT_ONE},
	    {"only_in_first", (double)m->only[FROM], DCK_UNIT_ONE},
	    {"only_in_second", (double)m->only[TO], DCK_UNIT_ONE},
	    {"first_total", m->total[FROM], DCK_UNIT_NS},
	    {"second_total", m->total[TO], DCK_UNIT_NS},
	    {"spread", m->spread, DCK_UNIT_ONE},
	    {"step", m->step_ns, DCK_UNIT_NS},
	};
	char key[192];

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		snprintf(key, sizeof key, "%s%s", all[i].key, suffix);
		if (i < 4)
			record_fact_int(b, "operators", key, all[i].unit, (int64_t)all[i].value);
		else
			record_fact_real(b, "operators", key, all[i].unit, all[i].value);
	}
}

static void saved_ops_notes(record_builder *b, const matching *m)
{
	size_t count[4] = {0};
	double sum[4] = {0};
	const group *worst = NULL;

	for (size_t i = 0; i < m->n; i++) {
		const group *g = &m->groups[i];

		if (!is_paired(g))
			continue;
		count[g->verdict]++;
		sum[g->verdict] += change_of(g);
		if (!worst && g->verdict == VERDICT_SLOWER)
			worst = g;
	}
	if (worst)
		record_note(b, "operators-slower",
			    "%zu operator%s got slower, by %s together; '%.80s' (%.40s) most",
			    count[VERDICT_SLOWER], count[VERDICT_SLOWER] > 1 ? "s" : "",
			    UNITS_TIME(sum[VERDICT_SLOWER]), saved_name_of(&worst->side[FROM]),
			    saved_type_of(worst));
	if (m->paired == 0)
		record_note(b, "operators-unmatched",
			    "no operator of one profile is in the other: the models differ");
	if (m->spread > 1.5)
		record_note(b, "operators-scatter",
			    "the operators' ratios scatter %.1f times as far as their intervals, "
			    "as two starts do: the intervals are widened by that",
			    m->spread);
	if (m->n > SHOWN_MAX && m->paired > SHOWN_MAX)
		record_note(b, "operators-cut",
			    "%zu operators were compared; the %d whose time changed most are shown",
			    m->paired, SHOWN_MAX);
}

static double fact_real(const dck_record *r, const char *key)
{
	const double v = record_get_real(r, "profile", key);

	return isnan(v) ? 0 : v;
}

/* The profiler subtracts its overhead, the floor, from the time of each operator. The floor is
 * known only to a part of the step. If the floors of the two records differ by more than that,
 * their difference is the uncertainty. */
static double saved_step_of(const dck_record *a, const dck_record *b)
{
	const double step =
	    STEP_SHARE * fmax(fact_real(a, "resolution"), fact_real(b, "resolution"));
	const double floors = fabs(fact_real(a, "floor") - fact_real(b, "floor"));
	const double most = fmax(step, floors);

	return isfinite(most) && most > 0 ? most : 0;
}

static bool saved_timed(const dck_record *r)
{
	for (size_t i = 0; i < r->nops; i++)
		if (saved_is_timed(&r->ops[i]))
			return true;
	return false;
}

static dck_status match(matching *m, dck_err *err)
{
	DCK_TRY(tables_make(m, err));
	groups_make(m);
	DCK_TRY(renamed_match(m, err));
	groups_tidy(m);
	for (size_t i = 0; i < m->n; i++)
		group_interval(m, &m->groups[i]);
	DCK_TRY(kinds_make(m, err));
	return spread_find(m, err);
}

dck_status saved_operators(record_builder *b, const dck_record *from, const dck_record *to,
			   const char *suffix, const dck_compare_config *c, dck_err *err)
{
	matching m = {.record = {from, to}, .step_ns = saved_step_of(from, to)};
	dck_status status;

	if (!saved_timed(from) || !saved_timed(to))
		return DCK_OK;
	m.arena = mem_arena_new(1 << 18);
	DCK_NEED(m.arena, err, "to compare the operators");
	status = match(&m, err);
	if (status == DCK_OK) {
		const char *paired = mem_arena_fmt(m.arena, "compare/operators%s", suffix);
		const char *kinds = mem_arena_fmt(m.arena, "compare/operator_types%s", suffix);
		const char *single = mem_arena_fmt(m.arena, "compare/operators_alone%s", suffix);

		saved_ops_judge(&m, m.groups, m.n, c);
		qsort(m.groups, m.n, sizeof *m.groups, saved_by_change);
		saved_ops_judge(&m, m.kinds, m.nkinds, c);
		if (m.nkinds > 0)
			qsort(m.kinds, m.nkinds, sizeof *m.kinds, saved_by_change);
		saved_ops_facts(b, &m, suffix);
		if (paired && kinds && single) {
			table_kinds(b, &m, kinds);
			table_paired(b, &m, paired);
			table_alone(b, &m, single);
		}
		saved_ops_notes(b, &m);
		if (mem_arena_failed(m.arena))
			status = ERR_NO_MEMORY(err, "to compare the operators");
	}
	mem_arena_free(m.arena);
	return status;
}
