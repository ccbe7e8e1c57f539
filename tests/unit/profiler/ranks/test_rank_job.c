/* test_rank_job.c - the job of simulated ranks whose clocks differ; parts as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "profiler/ranks/rank_timeline.h"
#include "counted.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

int test_rank_job(void);

enum { SIZE_MAX_RANKS = 8, STEPS = 60, RANGES = STEPS * 5, EXCHANGES = 60 };
enum { NAME_STEP, NAME_FORWARD, NAME_BACKWARD, NAME_REDUCE, NAME_DATA, NAMES };

static const char *const names[NAMES] = {"step", "forward", "backward", "collective:all_reduce",
					 "data"};

typedef struct plan {
	uint32_t size;
	uint32_t slow; /* rank with the delay; size: none */
	double slow_ns;
	uint32_t slow_part;  /* NAME_FORWARD, NAME_BACKWARD; NAME_STEP: between steps */
	uint32_t per_node;   /* ranks of a node; all of a node are slow: slow_node */
	int32_t slow_node;   /* below 0: none */
	bool separate_boots; /* clocks are wrong, and known by exchanges */
} plan;

/* Offset and drift of a rank's clock: rank 0's time less the rank's. */
static double clock_offset(const plan *p, uint32_t rank)
{
	return p->separate_boots && rank ? 1e9 * rank : 0;
}

static double clock_drift(const plan *p, uint32_t rank)
{
	return p->separate_boots && rank ? 20e-6 * rank : 0;
}

static int64_t local(const plan *p, uint32_t rank, double truth)
{
	return (int64_t)((truth - clock_offset(p, rank)) / (1 + clock_drift(p, rank)));
}

static double work(const plan *p, uint32_t rank, uint32_t part, uint64_t *random)
{
	const bool slow = rank == p->slow || (p->slow_node >= 0 && p->per_node &&
					      (int32_t)(rank / p->per_node) == p->slow_node);

	return 5e6 + 3e5 * (double)(rng_next(random) >> 11) / 9007199254740992.0 +
	       (slow && part == p->slow_part ? p->slow_ns : 0);
}

static void part_begin(const plan *p, uint32_t rank, rank_part *part)
{
	char text[32];

	*part = (rank_part){.arena = mem_arena_new(0)};
	assert_non_null(part->arena);
	snprintf(text, sizeof text, "node%u", p->per_node ? rank / p->per_node : 0);
	part->host = mem_arena_dup(part->arena, text);
	snprintf(text, sizeof text, "boot%u", p->separate_boots ? rank : 0);
	part->boot = mem_arena_dup(part->arena, text);
	part->names = mem_arena_array(part->arena, NAMES, sizeof *part->names);
	memcpy(part->names, names, sizeof names);
	part->nnames = NAMES;
	part->ranges = mem_arena_array(part->arena, RANGES, sizeof *part->ranges);
	part->exchanges = mem_arena_array(part->arena, EXCHANGES, sizeof *part->exchanges);
	part->within_ns = 50;
}

static void range_add(const plan *p, uint32_t rank, rank_part *part, double from, double to,
		      uint32_t name, rank_kind kind)
{
	part->ranges[part->nranges++] =
	    (rank_range){local(p, rank, from), local(p, rank, to), name, kind};
}

/* All ranks leave a step's all-reduce together; the step ends with it. */
static void job_simulate(const plan *p, uint64_t seed, rank_part *parts)
{
	double now[SIZE_MAX_RANKS], leave = 1e9;

	for (uint32_t r = 0; r < p->size; r++) {
		part_begin(p, r, &parts[r]);
		now[r] = leave;
		for (uint32_t i = 0; r > 0 && i < EXCHANGES; i++) {
			const double sent = 1e8 * i, way = 2e4 + (double)rng_below(&seed, 3000);

			parts[r].exchanges[i] = (rank_exchange){
			    local(p, r, sent), (int64_t)(sent + way), (int64_t)(sent + way + 1e3),
			    local(p, r, sent + 2 * way + 1e3), i};
		}
		parts[r].nexchanges = r > 0 ? EXCHANGES : 0;
		rank_clock_fit(parts[r].exchanges, parts[r].nexchanges, &parts[r].clock);
	}
	for (uint32_t s = 0; s < STEPS; s++) {
		double begin[SIZE_MAX_RANKS], mid[SIZE_MAX_RANKS], arrive[SIZE_MAX_RANKS];

		for (uint32_t r = 0; r < p->size; r++) {
			begin[r] = now[r] + work(p, r, NAME_STEP, &seed) - 5e6;
			mid[r] = begin[r] + work(p, r, NAME_FORWARD, &seed);
			arrive[r] = mid[r] + work(p, r, NAME_BACKWARD, &seed);
			leave = r == 0 || arrive[r] > leave ? arrive[r] : leave;
		}
		for (uint32_t r = 0; r < p->size; r++) {
			now[r] = leave + 1e5;
			range_add(p, r, &parts[r], begin[r], now[r], NAME_STEP, RANK_STEP);
			range_add(p, r, &parts[r], begin[r], mid[r], NAME_FORWARD, RANK_PART);
			/* It has the all-reduce inside, as in frameworks. */
			range_add(p, r, &parts[r], mid[r], now[r], NAME_BACKWARD, RANK_PART);
			range_add(p, r, &parts[r], arrive[r], now[r], NAME_REDUCE, RANK_COLLECTIVE);
		}
	}
}

static void parts_free(rank_part *parts, uint32_t size)
{
	for (uint32_t r = 0; r < size; r++)
		rank_part_done(&parts[r]);
}

static const rank_job_config usual = {.warmup = 2, .directory = "."};

/* Rank 2 costs 8 ms of a step of 18 ms. Ranks that share too few processors take them from each
 * other: rank 2 had none for `queue` of its time, the others for 5 %, so that without it the work
 * is equally long for 50 %. */
static void ranks_that_share_processors(void **state)
{
	static const struct {
		double queue;
		int64_t cpus, set; /* set: of rank 2; that of the others is 1 */
		rank_verdict verdict;
		size_t sharing;
	} cases[] = {
	    {0.50, 2, 1, BLAME_SHARED, 4}, /* all of the cost */
	    {0.40, 2, 1, BLAME_ONE, 4},	   /* a part of it */
	    {0.04, 2, 1, BLAME_ONE, 4},	   /* less than the others */
	    {0.50, 4, 1, BLAME_ONE, 4},	   /* enough processors */
	    {0.50, 1, 7, BLAME_ONE, 1},	   /* one of its own, which another program takes */
	    {0.50, 0, 0, BLAME_ONE, 0},	   /* not known */
	};
	const plan p = {4, 2, 8e6, NAME_FORWARD, 0, -1, false};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		rank_part parts[SIZE_MAX_RANKS];
		rank_job job;

		job_simulate(&p, 1, parts);
		for (uint32_t r = 0; r < p.size && cases[k].cpus; r++) {
			rank_usage *u = &parts[r].usage;

			rank_usage_put(u, RANK_CPUS, (uint64_t)cases[k].cpus);
			rank_usage_put(u, RANK_CPU_SET, r == 2 ? (uint64_t)cases[k].set : 1);
			/* Of 18.9 ms the others are 8.1 ms in the collective. */
			rank_usage_put(u, RANK_WORK_TIME, 1000000000);
			rank_usage_put(u, RANK_WORK_WAIT, r == 2 ? 5300000 : 429000000);
			rank_usage_put(u, RANK_WORK_QUEUE,
				       (uint64_t)(1e9 * (r == 2 ? cases[k].queue : 0.05)));
		}
		assert_int_equal(rank_job_analyse(parts, p.size, &usual, &job, NULL), DCK_OK);
		assert_int_equal(job.blame.unit, 2);
		assert_int_equal(job.blame.verdict, cases[k].verdict);
		assert_int_equal(job.sharing, cases[k].sharing);
		rank_job_done(&job);
		parts_free(parts, p.size);
	}
}

static void the_straggler_and_its_part(void **state)
{
	static const struct {
		plan p;
		const char *part;
	} cases[] = {
	    {{4, 2, 8e6, NAME_FORWARD, 0, -1, false}, "forward"},
	    {{4, 1, 8e6, NAME_BACKWARD, 0, -1, false}, "backward"},
	    {{4, 0, 8e6, NAME_STEP, 0, -1, false}, "between steps"},
	    {{2, 1, 8e6, NAME_FORWARD, 0, -1, true}, "forward"},
	    {{8, 5, 4e6, NAME_BACKWARD, 4, -1, true}, "backward"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		const plan *p = &cases[k].p;
		rank_part parts[SIZE_MAX_RANKS];
		rank_job j;
		double more;

		job_simulate(p, k + 1, parts);
		assert_int_equal(rank_job_analyse(parts, p->size, &usual, &j, NULL), DCK_OK);
		assert_int_equal(j.n, p->size);
		assert_int_equal(j.skipped, 2);
		assert_int_equal(j.steps, STEPS - 2);
		assert_int_equal(j.blame.verdict, BLAME_ONE);
		assert_int_equal(j.member[j.blame.unit].rank, p->slow);
		assert_true(fabs(j.blame.cost_ns - p->slow_ns) < 1e6);
		const size_t part = rank_job_part(&j, j.blame.unit, &more);
		assert_true(part < j.nparts);
		assert_string_equal(j.part[part], cases[k].part);
		assert_true(fabs(more - p->slow_ns) < 1e6);
		assert_int_equal(j.nodes, p->per_node ? 2 : 1);
		for (size_t i = 0; i < j.n; i++) {
			assert_int_equal(j.member[i].same_boot, !p->separate_boots || i == 0);
			assert_true(j.member[i].within_ns < 1e5);
		}
		rank_job_done(&j);
		parts_free(parts, p->size);
	}
}

/* Two steps on one clock: the one with the longest waits first; all leave its all-reduce at once.
 */
static void two_steps_of_all_ranks(void **state)
{
	const plan p = {4, 1, 8e6, NAME_FORWARD, 0, -1, true};
	rank_part parts[SIZE_MAX_RANKS];
	rank_timeline t;
	rank_job j;

	(void)state;
	job_simulate(&p, 9, parts);
	assert_int_equal(rank_job_analyse(parts, p.size, &usual, &j, NULL), DCK_OK);
	assert_int_equal(rank_timeline_make(&j, &t, NULL), DCK_OK);
	assert_int_equal(t.n, 2 * 4 * 4);
	assert_int_equal(t.ranks_left_out + t.spans_left_out, 0);
	for (size_t k = 0; k < 2; k++) {
		const rank_span *s = t.span + 16 * k;
		int64_t first = INT64_MAX;

		for (size_t i = 0; i < 16; i++) {
			assert_int_equal(s[i].member, i / 4);
			assert_int_equal(s[i].step, s[0].step);
			first = s[i].begin_ns < first ? s[i].begin_ns : first;
			if (i % 4 == 0)
				assert_int_equal(s[i].kind, RANK_STEP);
			assert_string_equal(s[i].name, names[i % 4]);
			/* Within the uncertainty of the clocks. */
			if (i % 4 == 3)
				assert_true(fabs((double)(s[i].end_ns - s[3].end_ns)) < 1e5);
		}
		assert_int_equal(first, 0);
	}
	assert_int_not_equal(t.span[0].step, t.span[16].step);
	for (size_t k = 0; k < j.steps; k++)
		assert_true(j.costs.step_wait[k] <= j.costs.step_wait[t.span[0].step]);
	rank_job_done(&j);
	parts_free(parts, p.size);
}

/* All ranks of a node are equally slow: none of them alone holds the others up, the node does. */
static void a_slow_node(void **state)
{
	const plan p = {8, 8, 8e6, NAME_FORWARD, 4, 1, false};
	rank_part parts[SIZE_MAX_RANKS];
	rank_job j;

	(void)state;
	job_simulate(&p, 7, parts);
	assert_int_equal(rank_job_analyse(parts, p.size, &usual, &j, NULL), DCK_OK);
	assert_int_equal(j.blame.verdict, BLAME_NOBODY);
	assert_int_equal(j.node_blame.verdict, BLAME_ONE);
	assert_string_equal(j.node[j.node_blame.unit], "node1");
	assert_true(fabs(j.node_blame.cost_ns - 8e6) < 1e6);
	rank_job_done(&j);
	parts_free(parts, p.size);
}

static void a_healthy_job(void **state)
{
	const plan p = {4, 4, 0, NAME_FORWARD, 2, -1, true};

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		rank_part parts[SIZE_MAX_RANKS];
		rank_job j;

		job_simulate(&p, seed, parts);
		assert_int_equal(rank_job_analyse(parts, p.size, &usual, &j, NULL), DCK_OK);
		assert_int_equal(j.blame.verdict, BLAME_NOBODY);
		assert_int_equal(j.node_blame.verdict, BLAME_NOBODY);
		rank_job_done(&j);
		parts_free(parts, p.size);
	}
}

/* Missing ranks, ranks without steps, and fewer steps cost their own part. */
static void incomplete_jobs(void **state)
{
	const plan p = {4, 2, 8e6, NAME_FORWARD, 0, -1, false};
	rank_part parts[SIZE_MAX_RANKS];
	rank_job j;

	(void)state;
	job_simulate(&p, 3, parts);
	rank_part_done(&parts[1]);
	parts[1].why = "it never connected to rank 0";
	parts[3].nranges -= 40; /* ten steps */
	assert_int_equal(rank_job_analyse(parts, p.size, &usual, &j, NULL), DCK_OK);
	assert_int_equal(j.n, 3);
	assert_true(j.uneven);
	assert_int_equal(j.steps, STEPS - 12);
	assert_int_equal(j.member[j.blame.unit].rank, 2);
	assert_int_equal(j.blame.verdict, BLAME_ONE);
	rank_job_done(&j);
	/* Rank 0's is missing: the others still compare. */
	rank_part_done(&parts[0]);
	assert_int_equal(rank_job_analyse(parts, p.size, &usual, &j, NULL), DCK_OK);
	assert_int_equal(j.n, 2);
	rank_job_done(&j);
	parts[2].nranges = parts[3].nranges = 0;
	assert_int_equal(rank_job_analyse(parts, p.size, &usual, &j, NULL), DCK_OK);
	assert_int_equal(j.n, 0);
	assert_int_equal(j.blame.verdict, BLAME_FEW);
	rank_job_done(&j);
	parts_free(parts, p.size);
}

/* A time namespace shares the boot, and has another clock. */
static void a_shifted_clock_of_the_same_boot(void **state)
{
	const plan p = {2, 1, 8e6, NAME_FORWARD, 0, -1, true};
	rank_part parts[SIZE_MAX_RANKS];
	rank_job j;

	(void)state;
	job_simulate(&p, 5, parts);
	parts[1].boot = parts[0].boot;
	assert_int_equal(rank_job_analyse(parts, p.size, &usual, &j, NULL), DCK_OK);
	assert_false(j.member[1].same_boot);
	assert_true(fabs(j.member[1].clock.offset_ns - 1e9) < 1e7);
	assert_int_equal(j.blame.verdict, BLAME_ONE);
	assert_int_equal(j.blame.unit, 1);
	rank_job_done(&j);
	parts_free(parts, p.size);
}

/* Reads a part from bytes, which go to a file. */
static dck_status bytes_read(const void *bytes, size_t n, rank_part *ret)
{
	return rank_part_read(scratch_file("rank.part", bytes, n), ret, NULL);
}

static void a_part_as_bytes(void **state)
{
	const plan p = {2, 1, 8e6, NAME_FORWARD, 0, -1, true};
	rank_part parts[SIZE_MAX_RANKS], read;
	wire_out bytes = {0};
	rank_buffer buffer = {0};
	const rank_range *ranges;

	(void)state;
	job_simulate(&p, 5, parts);
	parts[1].exit_code = -1;
	parts[1].signal = 9;
	parts[1].why = "it \xe2\x80\xa6";
	parts[1].usage.n[RANK_MEMORY] = 123;
	parts[1].usage.known = 1 << RANK_MEMORY;
	rank_part_write(&parts[1], &bytes);
	assert_false(bytes.failed);
	assert_int_equal(bytes_read(bytes.data, bytes.n, &read), DCK_OK);
	assert_string_equal(read.host, "node0");
	assert_string_equal(read.boot, "boot1");
	assert_string_equal(read.why, parts[1].why);
	assert_int_equal(read.exit_code, -1);
	assert_memory_equal(&read.usage, &parts[1].usage, sizeof read.usage);
	assert_int_equal(read.signal, 9);
	assert_true(read.within_ns == 50);
	assert_int_equal(read.nnames, NAMES);
	assert_string_equal(read.names[NAME_REDUCE], names[NAME_REDUCE]);
	assert_int_equal(read.nranges, parts[1].nranges);
	assert_int_equal(rank_part_ranges(&read, &buffer, &ranges, NULL), DCK_OK);
	assert_memory_equal(ranges, parts[1].ranges, read.nranges * sizeof *ranges);
	assert_int_equal(read.clock.rounds, EXCHANGES);
	assert_memory_equal(&read.clock, &parts[1].clock, sizeof read.clock);
	rank_buffer_done(&buffer);
	/* The file is gone, as on a disk that fails. */
	assert_int_equal(remove("rank.part"), 0);
	assert_int_equal(rank_part_ranges(&read, &buffer, &ranges, NULL), DCK_E_IO);
	rank_buffer_done(&buffer);
	rank_part_done(&read);
	wire_out_done(&bytes);
	parts_free(parts, p.size);
}

/* Bytes from a stranger: an error, or a part whose every index is valid. */
static void hostile_bytes(void **state)
{
	const plan p = {2, 1, 8e6, NAME_FORWARD, 0, -1, true};
	rank_part parts[SIZE_MAX_RANKS], read;
	wire_out bytes = {0};
	uint64_t random = 1;
	unsigned refused = 0;

	(void)state;
	job_simulate(&p, 5, parts);
	parts[1].nranges = 12;
	parts[1].nexchanges = 3;
	rank_part_write(&parts[1], &bytes);
	for (size_t n = 0; n < bytes.n; n++) /* cut off */
		if (bytes_read(bytes.data, n, &read) == DCK_OK)
			rank_part_done(&read);
		else
			refused++;
	assert_true(refused > 100);
	for (unsigned i = 0; i < 1000; i++) {
		const size_t at = rng_below(&random, bytes.n);
		const uint8_t was = bytes.data[at];
		rank_job j;

		bytes.data[at] = (uint8_t)rng_next(&random);
		if (bytes_read(bytes.data, bytes.n, &read) == DCK_OK) {
			const rank_part both[] = {parts[0], read};

			assert_int_equal(rank_job_analyse(both, 2, &usual, &j, NULL), DCK_OK);
			rank_job_done(&j);
			rank_part_done(&read);
		}
		bytes.data[at] = was;
	}
	wire_out_done(&bytes);
	parts_free(parts, p.size);
}

/* What a job's results are does not depend on how many steps are in memory at a time. */
static void some_steps_at_a_time(void **state)
{
	static const size_t arrivals[] = {1, 100, 0};
	const plan p = {8, 5, 4e6, NAME_BACKWARD, 4, -1, true};
	rank_part parts[SIZE_MAX_RANKS];
	rank_job j[3];

	(void)state;
	job_simulate(&p, 11, parts);
	for (size_t k = 0; k < 3; k++) {
		rank_job_config how = usual;

		how.arrivals = arrivals[k];
		assert_int_equal(rank_job_analyse(parts, p.size, &how, &j[k], NULL), DCK_OK);
	}
	assert_int_equal(j[0].blame.verdict, BLAME_ONE);
	for (size_t k = 1; k < 3; k++) {
		const rank_costs *a = &j[0].costs, *b = &j[k].costs;

		assert_memory_equal(a->cost, b->cost, a->units * sizeof *a->cost);
		assert_memory_equal(a->run_wait, b->run_wait,
				    a->units * a->runs * sizeof *a->run_wait);
		assert_memory_equal(a->step_wait, b->step_wait, a->steps * sizeof *a->step_wait);
		assert_memory_equal(a->last, b->last, a->units * sizeof *a->last);
		assert_true(a->skew_ns == b->skew_ns);
		assert_true(j[0].blame.p == j[k].blame.p && j[0].blame.lo_ns == j[k].blame.lo_ns);
		assert_int_equal(j[0].blame.steps, j[k].blame.steps);
		assert_true(j[0].node_blame.cost_ns == j[k].node_blame.cost_ns);
	}
	assert_int_not_equal(access("arrivals", F_OK), 0);
	const rank_job_config nowhere = {.directory = "no-such"};
	assert_int_equal(rank_job_analyse(parts, p.size, &nowhere, &j[0], NULL), DCK_E_IO);
	for (size_t k = 0; k < 3; k++)
		rank_job_done(&j[k]);
	parts_free(parts, p.size);
}

enum { MANY_RANKS = 32, MANY_RANGES = 3 };

/* Stores the part of a rank with that number of steps, each of which ends with a collective. */
static const char *many_steps_part(uint32_t rank, size_t steps)
{
	static const char *some[] = {"step", "forward", "collective:all_reduce"};
	rank_range *r = malloc(steps * MANY_RANGES * sizeof *r);
	rank_part p = {.host = "a", .boot = "b", .names = some, .nnames = MANY_RANGES, .ranges = r};
	static char path[32];
	wire_out bytes = {0};

	assert_non_null(r);
	for (size_t k = 0; k < steps; k++) {
		const int64_t at = (int64_t)k * 100000000, last = at + 90000000;

		r[p.nranges++] = (rank_range){at, last, 0, RANK_STEP};
		r[p.nranges++] = (rank_range){at, at + 50000000 + rank * 1000, 1, RANK_PART};
		r[p.nranges++] =
		    (rank_range){at + 50000000 + rank * 1000, last, 2, RANK_COLLECTIVE};
	}
	rank_part_write(&p, &bytes);
	assert_false(bytes.failed);
	snprintf(path, sizeof path, "rank-%u.part", rank);
	scratch_file(path, bytes.data, bytes.n);
	wire_out_done(&bytes);
	free(r);
	return path;
}

/* Returns the greatest memory in which the job of MANY_RANKS is read and analysed. */
static size_t job_memory(size_t steps)
{
	rank_job_config how = usual;
	rank_part parts[MANY_RANKS];
	rank_timeline t;
	rank_job j;

	how.arrivals = 1000;
	for (uint32_t r = 0; r < MANY_RANKS; r++)
		(void)many_steps_part(r, steps);
	counted_begin();
	for (uint32_t r = 0; r < MANY_RANKS; r++) {
		char path[32];

		snprintf(path, sizeof path, "rank-%u.part", r);
		assert_int_equal(rank_part_read(path, &parts[r], NULL), DCK_OK);
	}
	assert_int_equal(rank_job_analyse(parts, MANY_RANKS, &how, &j, NULL), DCK_OK);
	assert_int_equal(rank_timeline_make(&j, &t, NULL), DCK_OK);
	assert_int_equal(j.steps, steps - 2);
	assert_int_equal(j.costs.collectives, j.steps);
	assert_int_equal(t.n, 2 * MANY_RANKS * MANY_RANGES);
	rank_job_done(&j);
	parts_free(parts, MANY_RANKS);
	return counted_end();
}

/* Memory grows by what one rank records, not by what all do. */
static void memory_of_many_steps(void **state)
{
	enum { FEW = 100, MANY = 2100 };
	const size_t rank_bytes = (size_t)(MANY - FEW) * MANY_RANGES * sizeof(rank_range);

	(void)state;
	const size_t few = job_memory(FEW), many = job_memory(MANY);
	assert_true(many > few);
	assert_true(many - few < 4 * rank_bytes);
}

int test_rank_job(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_straggler_and_its_part),
	    cmocka_unit_test(ranks_that_share_processors),
	    cmocka_unit_test(two_steps_of_all_ranks),
	    cmocka_unit_test(a_slow_node),
	    cmocka_unit_test(a_healthy_job),
	    cmocka_unit_test(incomplete_jobs),
	    cmocka_unit_test(a_shifted_clock_of_the_same_boot),
	    cmocka_unit_test(a_part_as_bytes),
	    cmocka_unit_test(hostile_bytes),
	    cmocka_unit_test(some_steps_at_a_time),
	    cmocka_unit_test(memory_of_many_steps),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
