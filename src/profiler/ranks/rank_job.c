/* rank_job.c - analyses the parts of all ranks; rank_job.h defines the terms.
 *
 * Order: the members (ranks with steps), their clocks and nodes; the number of steps that all have;
 * for each member one pass over its ranges, which are in the order of time: collectives are given
 * to steps and numbered by name, parts lose the time that collectives cover; then, some steps at a
 * time, the costs of ranks, and of nodes (a node arrives with its last rank); then the tests, each
 * at half of the probability of a false accusation.
 *
 * Memory: the ranges of one member at a time, the arrivals of some steps (all are in a file), sums
 * for each rank, and a few numbers for each step.
 *
 * Ranks of one boot of one machine share CLOCK_BOOTTIME, so that their exchanges would only add the
 * noise of the network. They are used all the same if they contradict it, as in a time namespace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_job.h"

#include "base/err.h"
#include "base/name_index.h"
#include "profiler/ranks/rank_arrivals.h"

#include <math.h>
#include <string.h>

typedef struct job_builder {
	rank_job *j;
	size_t **number;  /* [member]: of its names, in the job */
	name_index names; /* of all ranks */
	size_t *part_of;  /* by name: index of a part, plus one */
	size_t *operation_of;
	uint32_t *ordinal; /* by name: collectives of it in the current step */
	uint64_t *ordinal_step;
	double *step_ns; /* [step]: means over the ranks */
	rank_arrivals arrivals;
	/* Of one member at a time. */
	rank_buffer buffer;
	const rank_range *ranges;
	rank_range *step; /* its steps in the order of time, then the union of its collectives */
	rank_range *busy;
	size_t nbusy, cap;
} job_builder;

static void member_clock(rank_member *m, const rank_part *first)
{
	const rank_part *p = m->part;

	m->clock = p->clock;
	m->same_boot = rank_part_same_clock(p, first);
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

/* Counts a rank's steps, and numbers the names of its parts and collectives. */
static dck_status job_member_add(job_builder *b, const rank_part *parts, uint32_t rank,
				 dck_err *err)
{
	const rank_part *p = &parts[rank];
	rank_job *j = b->j;
	rank_member *m = &j->member[j->n];
	size_t steps = 0, *number;

	DCK_TRY(rank_part_ranges(p, &b->buffer, &b->ranges, err));
	for (size_t i = 0; i < p->nranges; i++)
		steps += b->ranges[i].kind == RANK_STEP;
	if (!steps)
		return DCK_OK;
	*m = (rank_member){.rank = rank, .part = p, .steps = steps};
	member_clock(m, &parts[0]);
	member_node(j, m);
	number = b->number[j->n++] = mem_arena_array(j->arena, p->nnames, sizeof *number);
	DCK_NEED(number, err, "for the names of ranges");
	for (size_t i = 0; i < p->nnames; i++)
		number[i] = name_index_intern(&b->names, p->names[i]);
	for (size_t i = 0; i < p->nranges; i++) {
		const rank_range *r = &b->ranges[i];
		const size_t name = number[r->name];

		if (r->kind == RANK_PART && !b->part_of[name]) {
			j->part[j->nparts++] = b->names.name[name];
			b->part_of[name] = j->nparts;
		} else if (r->kind == RANK_COLLECTIVE && !b->operation_of[name]) {
			j->operation[j->noperations++].name = b->names.name[name];
			b->operation_of[name] = j->noperations;
		}
	}
	return DCK_OK;
}

/* Reserves what depends on the number of names. */
static dck_status names_reserve(job_builder *b, size_t n, dck_err *err)
{
	rank_job *j = b->j;

	b->part_of = mem_arena_array(j->arena, n, sizeof *b->part_of);
	b->operation_of = mem_arena_array(j->arena, n, sizeof *b->operation_of);
	b->ordinal = mem_arena_array(j->arena, n, sizeof *b->ordinal);
	b->ordinal_step = mem_arena_array(j->arena, n, sizeof *b->ordinal_step);
	j->part = mem_arena_array(j->arena, n + 2, sizeof *j->part);
	j->operation = mem_arena_array(j->arena, n, sizeof *j->operation);
	DCK_NEED(!mem_arena_failed(j->arena) && name_index_init(&b->names, j->arena, n), err,
		 "for the names of ranges");
	return DCK_OK;
}

static dck_status members_find(job_builder *b, const rank_part *parts, uint32_t size,
			       const rank_job_config *config, dck_err *err)
{
	rank_job *j = b->j;
	size_t least = SIZE_MAX, most = 0, names = 0;

	j->member = mem_arena_array(j->arena, size, sizeof *j->member);
	j->node = mem_arena_array(j->arena, size, sizeof *j->node);
	b->number = mem_arena_array(j->arena, size, sizeof *b->number);
	DCK_NEED(j->member && j->node && b->number, err, "for %u ranks", size);
	for (uint32_t r = 0; r < size; r++)
		names += parts[r].arena ? parts[r].nnames : 0;
	DCK_TRY(names_reserve(b, names, err));
	for (uint32_t r = 0; r < size; r++)
		if (parts[r].arena)
			DCK_TRY(job_member_add(b, parts, r, err));
	for (size_t at = 0; at < j->n; at++) {
		const size_t steps = j->member[at].steps;

		least = steps < least ? steps : least;
		most = steps > most ? steps : most;
	}
	j->uneven = j->n > 0 && least != most;
	j->steps = j->n > 0 ? least : 0;
	j->skipped = config->warmup < j->steps / 4 ? config->warmup : j->steps / 4;
	j->steps -= j->skipped;
	j->part[j->nparts++] = "rest of the step";
	j->part[j->nparts++] = "between steps";
	return DCK_OK;
}

/* Loads a member's ranges: its steps, and the union of its collectives. */
static dck_status member_load(job_builder *b, size_t at, dck_err *err)
{
	const rank_job *j = b->j;
	const rank_part *p = j->member[at].part;
	const size_t cap = j->steps + p->nranges;
	size_t k = 0;

	DCK_TRY(rank_part_ranges(p, &b->buffer, &b->ranges, err));
	if (cap > b->cap) {
		mem_free(b->step);
		b->step = mem_alloc(cap * sizeof *b->step);
		b->cap = b->step ? cap : 0;
		DCK_NEED(b->step, err, "for the steps of a rank");
	}
	b->busy = b->step + j->steps;
	b->nbusy = 0;
	for (size_t i = 0; i < p->nranges; i++) {
		const rank_range *r = &b->ranges[i];
		rank_range *last = b->nbusy ? &b->busy[b->nbusy - 1] : NULL;

		if (r->kind == RANK_STEP) {
			if (k >= j->skipped && k - j->skipped < j->steps)
				b->step[k - j->skipped] = *r;
			k++;
		} else if (r->kind == RANK_COLLECTIVE && last && r->begin_ns <= last->end_ns) {
			last->end_ns = r->end_ns > last->end_ns ? r->end_ns : last->end_ns;
		} else if (r->kind == RANK_COLLECTIVE) {
			b->busy[b->nbusy++] = *r;
		}
	}
	return DCK_OK;
}

/* Returns how long the member was in collectives from one time to another. *at: a row of `busy` at
 * or before the first that matters. */
static double busy_within(const job_builder *b, size_t *at, int64_t from, int64_t to)
{
	double sum = 0;

	while (*at < b->nbusy && b->busy[*at].end_ns <= from)
		++*at;
	for (size_t i = *at; i < b->nbusy && b->busy[i].begin_ns < to; i++) {
		const int64_t begin = b->busy[i].begin_ns > from ? b->busy[i].begin_ns : from;
		const int64_t end = b->busy[i].end_ns < to ? b->busy[i].end_ns : to;

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
	const size_t name = b->number[at][r->name];
	rank_operation *o = &b->j->operation[b->operation_of[name] - 1];
	const uint64_t mark = (uint64_t)at * b->j->steps + step + 1;

	if (b->ordinal_step[name] != mark)
		b->ordinal[name] = 0;
	b->ordinal_step[name] = mark;
	o->time_ns += (double)(r->end_ns - r->begin_ns);
	o->calls++;
	rank_arrivals_append(
	    &b->arrivals, &(rank_arrival){.step = (uint32_t)step,
					  .collective = b->ordinal[name]++ * (uint32_t)b->names.n +
							(uint32_t)name,
					  .unit = (uint32_t)at,
					  .at_ns = rank_member_time(m, r->begin_ns),
					  .end_ns = rank_member_time(m, r->end_ns),
					  .within_ns = m->within_ns});
}

/* The times of the member's steps, and its work in and between them outside of collectives. */
static void member_steps_add(job_builder *b, double *rest, double *between)
{
	const size_t steps = b->j->steps;
	size_t busy = 0;

	for (size_t k = 0; k < steps; k++) {
		const rank_range *own = &b->step[k];
		const bool more = k + 1 < steps;
		const int64_t end = more ? own[1].begin_ns : own->end_ns;

		b->step_ns[k] += (double)(end - own->begin_ns) / (double)b->j->n;
		*rest += (double)(own->end_ns - own->begin_ns) -
			 busy_within(b, &busy, own->begin_ns, own->end_ns);
		if (more && own[1].begin_ns > own->end_ns)
			*between += (double)(own[1].begin_ns - own->end_ns) -
				    busy_within(b, &busy, own->end_ns, own[1].begin_ns);
	}
}

/* Work of the member's parts, of the rest of its steps and between them, as sums; and arrivals. */
static dck_status member_add(job_builder *b, size_t at, dck_err *err)
{
	rank_job *j = b->j;
	rank_member *m = &j->member[at];
	double *part = j->part_ns + at * j->nparts, *rest = &part[j->nparts - 2];
	double *between = &part[j->nparts - 1];
	size_t step = 0, busy = 0;
	bool begun = false;

	DCK_TRY(member_load(b, at, err));
	member_steps_add(b, rest, between);
	for (size_t i = 0; i < m->part->nranges; i++) {
		const rank_range *r = &b->ranges[i];

		while (step + 1 < j->steps && r->begin_ns >= b->step[step + 1].begin_ns)
			step++;
		begun = begun || r->begin_ns >= b->step[0].begin_ns;
		if (!begun || (step + 1 == j->steps && r->begin_ns >= b->step[step].end_ns))
			continue;
		if (r->kind == RANK_COLLECTIVE)
			collective_add(b, at, step, r);
		if (r->kind != RANK_PART)
			continue;
		const double work = (double)(r->end_ns - r->begin_ns) -
				    busy_within(b, &busy, r->begin_ns, r->end_ns);
		part[b->part_of[b->number[at][r->name]] - 1] += work;
		*(r->begin_ns < b->step[step].end_ns ? rest : between) -= work;
	}
	for (size_t k = 0; k < j->nparts; k++) {
		part[k] = fmax(part[k], 0) / (double)j->steps;
		m->work_ns += part[k];
	}
	return DCK_OK;
}

/* Estimates the time of a step. */
static dck_status job_step_estimate(job_builder *b, dck_err *err)
{
	rank_job *j = b->j;
	double *scratch = mem_alloc(stat_scratch(j->steps) * sizeof *scratch);

	DCK_NEED(scratch, err, "for the times of %zu steps", j->steps);
	stat_estimate_one(STAT_MEDIAN, b->step_ns, j->steps, 0.95, scratch, &j->step);
	mem_free(scratch);
	return DCK_OK;
}

/* Makes of n arrivals of ranks, sorted by step and collective, those of nodes: of the ranks of a
 * node at a collective the last one counts. Returns their number. */
static size_t nodes_arrive(const rank_job *j, rank_arrival *all, size_t count)
{
	size_t n = 0;

	/* A node's earlier arrival is found among the few before. */
	for (size_t i = 0; i < count; i++) {
		rank_arrival a = all[i];
		size_t k = n;

		a.unit = j->member[a.unit].node;
		while (k > 0 && all[k - 1].step == a.step &&
		       all[k - 1].collective == a.collective && all[k - 1].unit != a.unit)
			k--;
		rank_arrival *had = k > 0 ? &all[k - 1] : NULL;
		if (!had || had->step != a.step || had->collective != a.collective)
			all[n++] = a;
		else if (a.at_ns > had->at_ns)
			*had = a;
	}
	return n;
}

/* Adds the costs of all steps, of some at a time: `most` arrivals, or those of one step. */
static dck_status costs_add(job_builder *b, size_t most, dck_err *err)
{
	rank_job *j = b->j;
	const uint64_t total = b->arrivals.n ? b->arrivals.n : 1;
	const uint64_t wanted = (uint64_t)most * j->steps / total;
	const size_t width = wanted ? (size_t)wanted : 1;

	for (size_t until = 0; until < j->steps;) {
		rank_arrival *a;
		size_t n;

		until = j->steps - until > width ? until + width : j->steps;
		DCK_TRY(rank_arrivals_read(&b->arrivals, until, &a, &n, err));
		DCK_TRY(rank_costs_add(&j->costs, a, n, err));
		if (j->nodes > 1)
			DCK_TRY(rank_costs_add(&j->node_costs, a, nodes_arrive(j, a, n), err));
	}
	return DCK_OK;
}

/* Returns the number of ranks on the node and the processors of a member; 0: not known. */
static size_t ranks_sharing(const rank_job *j, const rank_member *m)
{
	const uint64_t known = UINT64_C(1) << RANK_CPU_SET;
	const rank_usage *usage = &m->part->usage;
	size_t n = 0;

	for (size_t at = 0; at < j->n; at++) {
		const rank_usage *other = &j->member[at].part->usage;

		n += j->member[at].node == m->node && usage->known & other->known & known &&
		     usage->n[RANK_CPU_SET] == other->n[RANK_CPU_SET];
	}
	return n;
}

/* Ranks that are more than their processors take them from each other, and the scheduler does not
 * divide them evenly. There the time in the run queue is not a rank's own: without it the work of
 * the accused rank must be longer than that of the others by a share that counts. */
static dck_status sharing_judge(rank_job *j, dck_err *err)
{
	const rank_member *accused = &j->member[j->blame.unit];
	double *queue, *work, *scratch, own = NAN;
	size_t known = 0;

	if (j->blame.verdict != BLAME_ONE)
		return DCK_OK;
	j->sharing = ranks_sharing(j, accused);
	j->cpus = (size_t)accused->part->usage.n[RANK_CPUS];
	if (j->sharing <= j->cpus)
		return DCK_OK;
	queue = mem_alloc(3 * j->n * sizeof *queue);
	DCK_NEED(queue, err, "for the work of %zu ranks", j->n);
	work = queue + j->n;
	scratch = work + j->n;
	for (size_t at = 0; at < j->n; at++) {
		const rank_member *m = &j->member[at];
		const rank_usage *u = &m->part->usage;
		const double step_ns = m->work_ns + m->wait_ns,
			     ready_ns = rank_usage_share(u, RANK_WORK_QUEUE) * step_ns,
			     wait_ns = rank_usage_share(u, RANK_WORK_WAIT) * step_ns;

		if (at == j->blame.unit) {
			j->queue_own_ns = ready_ns;
			own = step_ns - wait_ns - ready_ns;
		} else if (!isnan(ready_ns + wait_ns)) {
			queue[known] = ready_ns;
			work[known++] = step_ns - wait_ns - ready_ns;
		}
	}
	if (known > 0) {
		j->queue_others_ns = stat_median(queue, known, scratch);
		if (own - stat_median(work, known, scratch) < BLAME_SHARE_LEAST * j->step.value)
			j->blame.verdict = BLAME_SHARED;
	}
	mem_free(queue);
	return DCK_OK;
}

static dck_status job_judge(job_builder *b, const rank_job_config *config, dck_err *err)
{
	rank_job *j = b->j;
	const size_t most = RANK_RUNS_ALL_MAX / j->n,
		     runs = most < RANK_RUNS_MAX ? most : RANK_RUNS_MAX;
	const double alpha = j->nodes > 1 ? RANK_JOB_ALPHA / 2 : RANK_JOB_ALPHA;

	j->node_blame = (rank_blame){.verdict = BLAME_NOBODY, .p = NAN, .lo_ns = NAN, .hi_ns = NAN};
	DCK_TRY(rank_costs_init(j->n, j->steps, runs < j->steps ? runs : j->steps, j->step.value,
				&j->costs, err));
	if (j->nodes > 1)
		DCK_TRY(rank_costs_init(j->nodes, j->steps, 0, j->step.value, &j->node_costs, err));
	DCK_TRY(costs_add(b, config->arrivals ? config->arrivals : RANK_ARRIVALS_USUAL, err));
	for (size_t at = 0; at < j->n; at++)
		j->member[at].wait_ns = j->costs.wait[at] / (double)j->steps;
	for (size_t i = 0; i < j->noperations; i++)
		if (j->operation[i].calls)
			j->operation[i].time_ns /= (double)j->operation[i].calls;
	DCK_TRY(rank_blame_find(&j->costs, alpha, &j->blame, err));
	DCK_TRY(sharing_judge(j, err));
	return j->nodes > 1 ? rank_blame_find(&j->node_costs, alpha, &j->node_blame, err) : DCK_OK;
}

static dck_status job_build(job_builder *b, const rank_job_config *config, dck_err *err)
{
	rank_job *j = b->j;

	j->part_ns = mem_arena_array(j->arena, j->n * j->nparts, sizeof *j->part_ns);
	b->step_ns = mem_arena_array(j->arena, j->steps, sizeof *b->step_ns);
	DCK_NEED(j->part_ns && b->step_ns, err, "for the steps of %zu ranks", j->n);
	DCK_TRY(rank_arrivals_open(config->directory, j->n, &b->arrivals, err));
	for (size_t at = 0; at < j->n; at++)
		DCK_TRY(member_add(b, at, err));
	DCK_TRY(rank_arrivals_flush(&b->arrivals, err));
	rank_buffer_done(&b->buffer);
	DCK_TRY(job_step_estimate(b, err));
	return job_judge(b, config, err);
}

dck_status rank_job_analyse(const rank_part *parts, uint32_t size, const rank_job_config *config,
			    rank_job *ret, dck_err *err)
{
	rank_job j = {.arena = mem_arena_new(0),
		      .blame = {.verdict = BLAME_FEW, .p = NAN, .lo_ns = NAN, .hi_ns = NAN}};
	job_builder b = {.j = &j, .arrivals = {.fd = -1}};

	DCK_NEED(j.arena, err, "for %u ranks", size);
	dck_status status = members_find(&b, parts, size, config, err);
	if (status == DCK_OK && j.n > 0)
		status = job_build(&b, config, err);
	rank_arrivals_done(&b.arrivals);
	rank_buffer_done(&b.buffer);
	mem_free(b.step);
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
