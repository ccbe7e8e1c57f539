/* rank_check_record.c - the record of a check: a row for each rank, the slow ones in the answer.
 *
 * Kernels are compared among all ranks that answered. Exchanges are compared among the ranks on
 * other nodes than rank 0's, because those of its own node use no network; two such ranks are too
 * few to show which link is slow, since each would be the other's measure. All intervals share one
 * probability (rank_slow.h). If all ranks of a node are slow at the same, the answer names the
 * node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_check_record.h"
#include "base/units.h"

#include "base/err.h"
#include "base/mem.h"
#include "profiler/ranks/rank_job.h"
#include "record/host.h"
#include "record/record_begin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINKS_LEAST = 3, NAMED_MAX = 3, ROWS_SHOWN = 8 };

static const struct {
	const char *name;   /* in the answer */
	double least;	    /* ratio to the others' median from which on a rank is slow */
	const char *absent; /* why a rank that answered has no ratio */
} quantities[RANK_QUANTITIES] = {
    [RANK_COMPUTE] = {"arithmetic takes", 1.1, "one rank answered"},
    [RANK_STREAM] = {"reading of memory takes", 1.1, "one rank answered"},
    [RANK_ECHO_TIME] = {"exchange with rank 0 takes", 1.5,
			"fewer than three ranks on other nodes than rank 0's"},
};

static const dck_column check_columns[] = {
    {"rank", "rank", DCK_UNIT_ONE},	    {"node", "node", DCK_UNIT_NONE},
    {"compute", "arithmetic", DCK_UNIT_NS}, {"compute_ratio", "arithmetic ratio", DCK_UNIT_ONE},
    {"memory", "memory", DCK_UNIT_NS},	    {"memory_ratio", "memory ratio", DCK_UNIT_ONE},
    {"link", "exchange", DCK_UNIT_NS},	    {"link_ratio", "exchange ratio", DCK_UNIT_ONE},
    {"state", "state", DCK_UNIT_NONE},
};

typedef struct check_ratios {
	const rank_check_result *of;
	rank_ratio *ratio[RANK_QUANTITIES]; /* by rank; ratio 0: not compared */
	size_t compared;
	size_t slow;
} check_ratios;

static bool rank_answered(const rank_check_result *r, uint32_t rank)
{
	return r->parts[rank].arena && !r->check->lost[rank];
}

static bool rank_is_remote(const rank_check_result *r, uint32_t rank)
{
	const rank_part *p = &r->parts[rank], *first = &r->parts[0];

	return strcmp(p->boot, first->boot) != 0 || strcmp(p->host, first->host) != 0;
}

/* Collects the ranks that are compared in a quantity; returns their number. */
static size_t members_collect(const rank_check_result *r, rank_quantity q, size_t *ret)
{
	size_t n = 0;

	for (uint32_t rank = 0; rank < r->at->size; rank++)
		if (rank_answered(r, rank) && (q != RANK_ECHO_TIME || rank_is_remote(r, rank)))
			ret[n++] = rank;
	return n < (q == RANK_ECHO_TIME ? LINKS_LEAST : 2) || r->check->rounds == 0 ? 0 : n;
}

static dck_status ratios_find(check_ratios *c, mem_arena *a, dck_err *err)
{
	const rank_check_result *r = c->of;
	const uint32_t size = r->at->size;
	size_t n[RANK_QUANTITIES], tests = 0;
	size_t *member = mem_arena_array(a, RANK_QUANTITIES * (size_t)size, sizeof *member);
	rank_ratio *found = mem_arena_array(a, size, sizeof *found);

	DCK_NEED(member && found, err, "for the check of %u ranks", size);
	for (int q = 0; q < RANK_QUANTITIES; q++) {
		n[q] = members_collect(r, (rank_quantity)q, member + (size_t)q * size);
		tests += n[q];
	}
	for (int q = 0; q < RANK_QUANTITIES; q++) {
		const size_t *of = member + (size_t)q * size;

		c->ratio[q] = mem_arena_array(a, size, sizeof *c->ratio[q]);
		DCK_NEED(c->ratio[q], err, "for the check of %u ranks", size);
		if (n[q])
			DCK_TRY(rank_slow_find(r->check->x[q], of, n[q], RANK_CHECK_ROUNDS, tests,
					       RANK_JOB_ALPHA, quantities[q].least, found, err));
		for (size_t i = 0; i < n[q]; i++) {
			c->ratio[q][of[i]] = found[i];
			c->slow += found[i].slow;
			c->compared++;
		}
	}
	return DCK_OK;
}

static double own_median(const rank_check_result *r, rank_quantity q, uint32_t rank,
			 double scratch[RANK_CHECK_ROUNDS])
{
	return stat_median(r->check->x[q] + rank * (size_t)RANK_CHECK_ROUNDS, r->check->rounds,
			   scratch);
}

static void quantity_cells_put(record_builder *b, const check_ratios *c, rank_quantity q,
			       uint32_t rank)
{
	const rank_ratio *x = &c->ratio[q][rank];
	double scratch[RANK_CHECK_ROUNDS];

	if (q == RANK_ECHO_TIME && rank == 0) {
		record_cell_absent(b, "it is rank 0");
		record_cell_absent(b, "it is rank 0");
		return;
	}
	record_cell_real(b, own_median(c->of, q, rank, scratch));
	if (!(x->ratio > 0))
		record_cell_absent(b, q == RANK_ECHO_TIME && !rank_is_remote(c->of, rank)
					  ? "it is on rank 0's node"
					  : quantities[q].absent);
	else if (isnan(x->lo))
		record_cell_real(b, x->ratio);
	else
		record_cell_interval(b, x->ratio, x->lo, x->hi, 1 - RANK_JOB_ALPHA);
}

static bool rank_is_slow(const check_ratios *c, uint32_t rank)
{
	for (int q = 0; q < RANK_QUANTITIES; q++)
		if (c->ratio[q][rank].slow)
			return true;
	return false;
}

static void check_rows_put(record_builder *b, const check_ratios *c)
{
	const rank_check_result *r = c->of;
	size_t shown = 0;

	RECORD_TABLE(b, "check", "Ranks: times, and their ratios to the median of the other ranks",
		     check_columns);
	for (uint32_t rank = 0; rank < r->at->size; rank++) {
		const rank_part *p = &r->parts[rank];
		const char *why = p->arena ? "it did not answer to the end" : p->why;

		record_cell_int(b, (int64_t)rank);
		record_cell(b, p->arena ? RECORD_TEXT(p->host) : RECORD_ABSENT(why));
		for (int q = 0; q < RANK_QUANTITIES; q++) {
			if (rank_answered(r, rank) && r->check->rounds) {
				quantity_cells_put(b, c, (rank_quantity)q, rank);
				continue;
			}
			record_cell_absent(b, why);
			record_cell_absent(b, why);
		}
		record_cell_text(b, !rank_answered(r, rank) ? why
				    : rank_is_slow(c, rank) ? "slow"
							    : "as the others");
		if (shown < ROWS_SHOWN && (r->at->size <= ROWS_SHOWN || rank_is_slow(c, rank))) {
			record_summary_row(b);
			shown++;
		}
	}
	record_summary_columns(b, "node compute_ratio memory_ratio link link_ratio");
}

/* Returns whether a node has two ranks or more, all of them slow at the same, and others have not.
 */
static bool node_is_slow(const check_ratios *c, rank_quantity q, uint32_t rank)
{
	const rank_check_result *r = c->of;
	size_t own = 0, slow = 0, others = 0;

	for (uint32_t k = 0; k < r->at->size; k++) {
		if (!rank_answered(r, k))
			continue;
		if (strcmp(r->parts[k].host, r->parts[rank].host) != 0) {
			others++;
		} else {
			own++;
			slow += c->ratio[q][k].slow;
		}
	}
	return others > 0 && own > 1 && slow == own;
}

/* Returns whether an earlier rank of its node exists, with which all of it was named. */
static bool node_is_named(const check_ratios *c, uint32_t rank)
{
	for (uint32_t k = 0; k < rank; k++)
		if (rank_answered(c->of, k) &&
		    strcmp(c->of->parts[k].host, c->of->parts[rank].host) == 0)
			return true;
	return false;
}

/* "node b's arithmetic takes 1.52 times [1.48, 1.60] as long as that of the others" */
static void accusation_text(const check_ratios *c, rank_quantity q, uint32_t rank, char *ret,
			    size_t size)
{
	const rank_ratio *x = &c->ratio[q][rank];
	const rank_part *p = &c->of->parts[rank];
	char who[160];

	if (node_is_slow(c, q, rank))
		snprintf(who, sizeof who, "node %.100s", p->host);
	else if (strcmp(p->host, c->of->parts[0].host) != 0)
		snprintf(who, sizeof who, "rank %u on %.100s", rank, p->host);
	else
		snprintf(who, sizeof who, "rank %u", rank);
	mem_print(ret, size, "%s is slow: its %s %.3g times as long as the others' [%.3g, %.3g]",
		  who, quantities[q].name, x->ratio, x->lo, x->hi);
}

static void check_answer_put(record_builder *b, const check_ratios *c)
{
	const rank_check_result *r = c->of;
	char text[NAMED_MAX][360], all[NAMED_MAX * 364 + 40] = "";
	size_t named = 0, more = 0, used = 0;

	for (uint32_t rank = 0; rank < r->at->size; rank++)
		for (int q = 0; q < RANK_QUANTITIES; q++) {
			const rank_quantity of = (rank_quantity)q;

			if (!c->ratio[q][rank].slow ||
			    (node_is_slow(c, of, rank) && node_is_named(c, rank)))
				continue;
			if (named == NAMED_MAX)
				more++;
			else
				accusation_text(c, of, rank, text[named++], sizeof text[0]);
		}
	for (size_t i = 0; i < named; i++)
		used +=
		    (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? "; " : "", text[i]);
	if (more)
		snprintf(all + used, sizeof all - used, "; and %zu more", more);
	if (named)
		record_answer(b, "%s", all);
	else if (c->compared)
		record_answer(
		    b,
		    "no rank is slow: none of %u takes over %.0f %% longer than the median "
		    "of the others, or %.0f %% for an exchange over the network",
		    r->at->size, 100 * (quantities[RANK_COMPUTE].least - 1),
		    100 * (quantities[RANK_ECHO_TIME].least - 1));
	else
		record_answer(b, "no other rank answered, so nothing was compared");
}

static void check_facts_put(record_builder *b, const rank_check_result *r)
{
	record_fact_text(b, "subject", "kind", "ranks-check");
	record_fact_text(b, "job", "launcher", r->at->launcher ? r->at->launcher : "");
	record_fact_int(b, "job", "ranks", DCK_UNIT_ONE, r->at->size);
	record_fact_int(b, "job", "rounds", DCK_UNIT_ONE, (int64_t)r->check->rounds);
	record_fact_text(b, "method", "kernel",
			 "dependent multiplications and additions of 64 bits; the sum of 8 MiB; "
			 "fastest of 4 in each round");
	record_fact_int(b, "method", "exchange", DCK_UNIT_BYTE, RANK_ECHO_BYTES);
	record_fact_text(b, "method", "test",
			 "ratio to the median of the other ranks, round by round; sign test of its "
			 "median, Bonferroni over all ranks and quantities");
	record_fact_real(b, "method", "alpha", DCK_UNIT_ONE, RANK_JOB_ALPHA);
	record_fact_real(b, "method", "slow_ratio", DCK_UNIT_ONE, quantities[RANK_COMPUTE].least);
	record_fact_real(b, "method", "slow_link_ratio", DCK_UNIT_ONE,
			 quantities[RANK_ECHO_TIME].least);
}

static void check_missing_put(record_builder *b, const rank_check_result *r)
{
	uint32_t missing = 0, first = 0;

	for (uint32_t rank = r->at->size; rank-- > 0;)
		if (!rank_answered(r, rank)) {
			missing++;
			first = rank;
		}
	if (!missing)
		return;
	record_note(b, "ranks-missing", "%u of %u ranks did not answer; rank %u: %s", missing,
		    r->at->size, first,
		    r->parts[first].arena ? "its connection ended" : r->parts[first].why);
	record_remedy(b, "%s",
		      r->parts[first].remedy ? r->parts[first].remedy
					     : "look at that rank's output");
	record_set_incomplete(b, true);
}

dck_status rank_check_record_make(const rank_check_result *r, dck_record **ret, dck_err *err)
{
	record_builder *b;
	check_ratios c = {.of = r};
	mem_arena *a = mem_arena_new(0);
	dck_status status = DCK_OK;
	char title[64];

	snprintf(title, sizeof title, "check of %u ranks", r->at->size);
	b = record_begin(title);
	if (!a || !b)
		status = ERR_NO_MEMORY(err, "for the record of a check");
	else
		status = ratios_find(&c, a, err);
	if (status == DCK_OK) {
		record_host_here(b);
		check_facts_put(b, r);
		check_answer_put(b, &c);
		check_rows_put(b, &c);
		if (c.slow)
			record_note(b, "ranks-slow", "%zu of %zu comparisons %s a slow rank",
				    c.slow, c.compared, COUNTED(c.slow, "shows", "show"));
		check_missing_put(b, r);
		record_gate(b, c.slow ? DCK_VERDICT_VIOLATED : DCK_VERDICT_MET);
	}
	mem_arena_free(a);
	return record_finish_if(status, b, ret, err);
}
