/* rank_job.c - analyses the parts of all ranks; rank_job.h defines the terms.
 *
 * Order: the members (ranks with steps), their clocks and nodes; the number of steps that all have;
 * for each member one pass over its ranges, which are in the order of time: collectives are given
 * to steps and numbered by name, parts lose the time that collectives cover; then the costs of
 * ranks, and of nodes (a node arrives with its last rank), and the tests, each at half of the
 * probability of a false accusation.
 *
 * Ranks of one boot of one machine share CLOCK_BOOTTIME, so that their exchanges would only add the
 * noise of the network. They are used all the same if they contradict it, as in a time namespace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_job.h"

#include "base/err.h"
#include "base/name_index.h"

#include <math.h>
#include <string.h>

/* A member's steps, as ranges. */
typedef struct member_steps {
	rank_range *step; /* in the order of time */
	rank_range *busy; /* union of its collectives */
	size_t nbusy;
	size_t *number; /* of its names, in the job */
} member_steps;

typedef struct job_builder {
	rank_job *j;
	member_steps *of;
	name_index names; /* of all ranks */
	size_t *part_of;  /* by name: index of a part, plus one */
	size_t *operation_of;
	rank_arrival *arrivals;
	size_t narrivals;
	uint32_t *ordinal; /* by name: collectives of it in the current step */
	uint32_t *ordinal_step;
} job_builder;

static size_t kind_count(const rank_part *p, rank_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nranges; i++)
		n += p->ranges[i].kind == (uint32_t)kind;
	return n;
}

static void member_clock(rank_member *m, const rank_part *first)
{
	const rank_part *p = m->part;

	m->same_boot = rank_part_clock(p, first, &m->clock);
	m->within_ns = p->within_ns + (m->same_boot ? 0 : m->clock.within_ns);
}

static void member_node(rank_job *j, rank_member *m)
{
	size_t k = 0;

	while (k < j->nodes && strcmp(j->node[k], m->part->host) != 0)
		k++;
	if (k == j->nodes)
		j->node[j->nodes++] = m->part->host;
	m->node = (uint32_t)k;
}

static dck_status members_find(job_builder *b, const rank_part *parts, uint32_t size,
			       const rank_job_config *config, dck_err *err)
{
	rank_job *j = b->j;
	size_t least = SIZE_MAX, most = 0;

	j->member = mem_arena_array(j->arena, size, sizeof *j->member);
	j->node = mem_arena_array(j->arena, size, sizeof *j->node);
	DCK_NEED(j->member && j->node, err, "for %u ranks", size);
	for (uint32_t r = 0; r < size; r++) {
		const size_t steps = parts[r].arena ? kind_count(&parts[r], RANK_STEP) : 0;
		rank_member *m = &j->member[j->n];

		if (!steps)
			continue;
		*m = (rank_member){.rank = r, .part = &parts[r], .steps = steps};
		member_clock(m, &parts[0]);
		member_node(j, m);
		least = steps < least ? steps : least;
		most = steps > most ? steps : most;
		j->n++;
	}
	j->uneven = j->n > 0 && least != most;
	j->steps = j->n > 0 ? least : 0;
	j->skipped = config->warmup < j->steps / 4 ? config->warmup : j->steps / 4;
	j->steps -= j->skipped;
	return DCK_OK;
}

/* Reserves the union of a member's collectives, its steps, and the job's numbers of its names. */
static dck_status member_prepare(job_builder *b, size_t at, dck_err *err)
{
	const rank_part *p = b->j->member[at].part;
	member_steps *s = &b->of[at];
	size_t k = 0;

	s->step = mem_arena_array(b->j->arena, b->j->steps, sizeof *s->step);
	s->busy = mem_arena_array(b->j->arena, kind_count(p, RANK_COLLECTIVE), sizeof *s->busy);
	s->number = mem_arena_array(b->j->arena, p->nnames, sizeof *s->number);
	DCK_NEED(s->step && s->busy && s->number, err, "for the steps of a rank");
	for (size_t i = 0; i < p->nnames; i++)
		s->number[i] = name_index_intern(&b->names, p->names[i]);
	for (size_t i = 0; i < p->nranges; i++) {
		const rank_range *r = &p->ranges[i];
		rank_range *last = s->nbusy ? &s->busy[s->nbusy - 1] : NULL;

		if (r->kind == RANK_STEP) {
			if (k >= b->j->skipped && k - b->j->skipped < b->j->steps)
				s->step[k - b->j->skipped] = *r;
			k++;
		} else if (r->kind == RANK_COLLECTIVE && last && r->begin_ns <= last->end_ns) {
			last->end_ns = r->end_ns > last->end_ns ? r->end_ns : last->end_ns;
		} else if (r->kind == RANK_COLLECTIVE) {
			s->busy[s->nbusy++] = *r;
		}
	}
	return DCK_OK;
}

/* Returns how long the member was in collectives from one time to another. *at: a row of `busy` at
 * or before the first that matters. */
static double busy_within(const member_steps *s, size_t *at, int64_t from, int64_t to)
{
	double sum = 0;

	while (*at < s->nbusy && s->busy[*at].end_ns <= from)
		++*at;
	for (size_t i = *at; i < s->nbusy && s->busy[i].begin_ns < to; i++) {
		const int64_t begin = s->busy[i].begin_ns > from ? s->busy[i].begin_ns : from;
		const int64_t end = s->busy[i].end_ns < to ? s->busy[i].end_ns : to;

		sum += end > begin ? (double)(end - begin) : 0;
	}
	return sum;
}

int64_t rank_member_time(const rank_member *m, int64_t ns)
{
	return m->same_boot ? ns : rank_clock_map(&m->clock, ns);
}

static void collective_add(job_builder *b, size_t at, size_t step, const rank_range *r)
{
	const rank_member *m = &b->j->member[at];
	const size_t name = b->of[at].number[r->name];
	rank_operation *o = &b->j->operation[b->operation_of[name] - 1];
	const uint32_t mark = (uint32_t)(at * b->j->steps + step + 1);

	if (b->ordinal_step[name] != mark)
		b->ordinal[name] = 0;
	b->ordinal_step[name] = mark;
	o->time_ns += (double)(r->end_ns - r->begin_ns);
	o->calls++;
	b->arrivals[b->narrivals++] =
	    (rank_arrival){.step = (uint32_t)step,
			   .collective = b->ordinal[name]++ * (uint32_t)b->names.n + (uint32_t)name,
			   .unit = (uint32_t)at,
			   .at_ns = rank_member_time(m, r->begin_ns),
			   .end_ns = rank_member_time(m, r->end_ns),
			   .within_ns = m->within_ns};
}

/* Work of the member's parts, of the rest of its steps and between them, as sums; and arrivals. */
static void member_add(job_builder *b, size_t at)
{
	rank_job *j = b->j;
	rank_member *m = &j->member[at];
	const rank_part *p = m->part;
	const member_steps *s = &b->of[at];
	double *part = j->part_ns + at * j->nparts, *rest = &part[j->nparts - 2];
	double *between = &part[j->nparts - 1];
	size_t step = 0, busy = 0, busy_part = 0;
	bool begun = false;

	for (size_t k = 0; k < j->steps; k++) {
		const rank_range *own = &s->step[k];
		const bool more = k + 1 < j->steps;

		*rest += (double)(own->end_ns - own->begin_ns) -
			 busy_within(s, &busy, own->begin_ns, own->end_ns);
		if (more && own[1].begin_ns > own->end_ns)
			*between += (double)(own[1].begin_ns - own->end_ns) -
				    busy_within(s, &busy, own->end_ns, own[1].begin_ns);
	}
	for (size_t i = 0; i < p->nranges; i++) {
		const rank_range *r = &p->ranges[i];

		while (step + 1 < j->steps && r->begin_ns >= s->step[step + 1].begin_ns)
			step++;
		begun = begun || r->begin_ns >= s->step[0].begin_ns;
		if (!begun || (step + 1 == j->steps && r->begin_ns >= s->step[step].end_ns))
			continue;
		if (r->kind == RANK_COLLECTIVE)
			collective_add(b, at, step, r);
		if (r->kind != RANK_PART)
			continue;
		const double work = (double)(r->end_ns - r->begin_ns) -
				    busy_within(s, &busy_part, r->begin_ns, r->end_ns);
		part[b->part_of[s->number[r->name]] - 1] += work;
		*(r->begin_ns < s->step[step].end_ns ? rest : between) -= work;
	}
	for (size_t k = 0; k < j->nparts; k++) {
		part[k] = fmax(part[k], 0) / (double)j->steps;
		m->work_ns += part[k];
	}
}

/* Numbers the names of parts and of collectives. */
static dck_status names_number(job_builder *b, dck_err *err)
{
	rank_job *j = b->j;
	const size_t n = b->names.n;

	b->part_of = mem_arena_array(j->arena, n, sizeof *b->part_of);
	b->operation_of = mem_arena_array(j->arena, n, sizeof *b->operation_of);
	b->ordinal = mem_arena_array(j->arena, n, sizeof *b->ordinal);
	b->ordinal_step = mem_arena_array(j->arena, n, sizeof *b->ordinal_step);
	j->part = mem_arena_array(j->arena, n + 2, sizeof *j->part);
	j->operation = mem_arena_array(j->arena, n, sizeof *j->operation);
	DCK_NEED(!mem_arena_failed(j->arena), err, "for the names of ranges");
	for (size_t at = 0; at < j->n; at++)
		for (size_t i = 0; i < j->member[at].part->nranges; i++) {
			const rank_range *r = &j->member[at].part->ranges[i];
			const size_t name = b->of[at].number[r->name];

			if (r->kind == RANK_PART && !b->part_of[name]) {
				j->part[j->nparts++] = b->names.name[name];
				b->part_of[name] = j->nparts;
			} else if (r->kind == RANK_COLLECTIVE && !b->operation_of[name]) {
				j->operation[j->noperations++].name = b->names.name[name];
				b->operation_of[name] = j->noperations;
			}
		}
	j->part[j->nparts++] = "rest of the step";
	j->part[j->nparts++] = "between steps";
	j->part_ns = mem_arena_array(j->arena, j->n * j->nparts, sizeof *j->part_ns);
	DCK_NEED(j->part_ns, err, "for the parts of steps");
	return DCK_OK;
}

/* Estimates the time of a step: of each the mean over the ranks. */
static dck_status job_step_estimate(job_builder *b, dck_err *err)
{
	rank_job *j = b->j;
	double *x = mem_arena_array(j->arena, j->steps, sizeof *x);
	double *scratch = mem_alloc(stat_scratch(j->steps) * sizeof *scratch);

	if (!x || !scratch) {
		mem_free(scratch);
		return ERR_NO_MEMORY(err, "for the times of %zu steps", j->steps);
	}
	for (size_t at = 0; at < j->n; at++)
		for (size_t k = 0; k < j->steps; k++) {
			const rank_range *s = &b->of[at].step[k];
			const int64_t end = k + 1 < j->steps ? s[1].begin_ns : s->end_ns;

			x[k] += (double)(end - s->begin_ns) / (double)j->n;
		}
	stat_estimate_one(STAT_MEDIAN, x, j->steps, 0.95, scratch, &j->step);
	mem_free(scratch);
	return DCK_OK;
}

/* The nodes' arrivals: of the ranks of a node at a collective the last one counts. */
static dck_status nodes_judge(job_builder *b, dck_err *err)
{
	rank_job *j = b->j;
	size_t n = 0;

	j->node_blame = (rank_blame){.verdict = BLAME_NOBODY, .p = NAN, .lo_ns = NAN, .hi_ns = NAN};
	if (j->nodes < 2)
		return DCK_OK;
	/* Sorted by step and collective; a node's earlier arrival is found among the few before. */
	for (size_t i = 0; i < b->narrivals; i++) {
		rank_arrival a = b->arrivals[i];
		size_t k = n;

		a.unit = j->member[a.unit].node;
		while (k > 0 && b->arrivals[k - 1].step == a.step &&
		       b->arrivals[k - 1].collective == a.collective &&
		       b->arrivals[k - 1].unit != a.unit)
			k--;
		rank_arrival *had = k > 0 ? &b->arrivals[k - 1] : NULL;
		if (!had || had->step != a.step || had->collective != a.collective)
			b->arrivals[n++] = a;
		else if (a.at_ns > had->at_ns)
			*had = a;
	}
	DCK_TRY(rank_costs_find(b->arrivals, n, j->nodes, j->steps, &j->node_costs, err));
	return rank_blame_find(&j->node_costs, j->step.value, RANK_JOB_ALPHA / 2, &j->node_blame,
			       err);
}

static dck_status job_judge(job_builder *b, dck_err *err)
{
	rank_job *j = b->j;

	DCK_TRY(rank_costs_find(b->arrivals, b->narrivals, j->n, j->steps, &j->costs, err));
	for (size_t at = 0; at < j->n; at++)
		for (size_t k = 0; k < j->steps; k++)
			j->member[at].wait_ns +=
			    j->costs.wait[at * j->steps + k] / (double)j->steps;
	for (size_t i = 0; i < j->noperations; i++)
		if (j->operation[i].calls)
			j->operation[i].time_ns /= (double)j->operation[i].calls;
	DCK_TRY(rank_blame_find(&j->costs, j->step.value,
				j->nodes > 1 ? RANK_JOB_ALPHA / 2 : RANK_JOB_ALPHA, &j->blame,
				err));
	return nodes_judge(b, err);
}

static dck_status job_build(job_builder *b, dck_err *err)
{
	rank_job *j = b->j;
	size_t names = 0, collectives = 0;

	for (size_t at = 0; at < j->n; at++) {
		names += j->member[at].part->nnames;
		collectives += kind_count(j->member[at].part, RANK_COLLECTIVE);
	}
	b->of = mem_arena_array(j->arena, j->n, sizeof *b->of);
	b->arrivals = mem_arena_array(j->arena, collectives, sizeof *b->arrivals);
	DCK_NEED(b->of && b->arrivals && name_index_init(&b->names, j->arena, names), err,
		 "for the ranges of %zu ranks", j->n);
	for (size_t at = 0; at < j->n; at++)
		DCK_TRY(member_prepare(b, at, err));
	DCK_TRY(names_number(b, err));
	for (size_t at = 0; at < j->n; at++)
		member_add(b, at);
	DCK_TRY(job_step_estimate(b, err));
	return job_judge(b, err);
}

dck_status rank_job_analyse(const rank_part *parts, uint32_t size, const rank_job_config *config,
			    rank_job *ret, dck_err *err)
{
	rank_job j = {.arena = mem_arena_new(0),
		      .blame = {.verdict = BLAME_FEW, .p = NAN, .lo_ns = NAN, .hi_ns = NAN}};
	job_builder b = {.j = &j};

	DCK_NEED(j.arena, err, "for %u ranks", size);
	dck_status status = members_find(&b, parts, size, config, err);
	if (status == DCK_OK && j.n > 0)
		status = job_build(&b, err);
	if (status == DCK_OK)
		*ret = j;
	else
		rank_job_done(&j);
	return status;
}

void rank_job_done(rank_job *j)
{
	rank_costs_done(&j->costs);
	rank_costs_done(&j->node_costs);
	mem_arena_free(j->arena);
	*j = (rank_job){0};
}

size_t rank_job_part(const rank_job *j, size_t member, double *ret_more_ns)
{
	double *others = mem_alloc(2 * (j->n + 1) * sizeof *others);
	size_t found = j->nparts;

	*ret_more_ns = 0;
	for (size_t k = 0; others && j->n > 1 && k < j->nparts; k++) {
		size_t n = 0;

		for (size_t at = 0; at < j->n; at++)
			if (at != member)
				others[n++] = j->part_ns[at * j->nparts + k];
		const double more =
		    j->part_ns[member * j->nparts + k] - stat_median(others, n, others + j->n);
		if (more > *ret_more_ns) {
			*ret_more_ns = more;
			found = k;
		}
	}
	mem_free(others);
	return found;
}
