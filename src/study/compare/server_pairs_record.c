/* server_pairs_record.c - the record of a comparison of two servers.
 *
 * The first server is A, the second B. Nothing of headers or bodies is written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/server_pairs.h"
#include "base/units.h"
#include "measure/method.h"
#include <math.h>
#include <stdio.h>

/* The client's own time is in both times, and moves their ratio towards 1. */
#define FLOOR_SHARE_MOST 0.5

static const char *const sides[] = {"A", "B"};

static double pairs_median(const server_pairs *s, size_t side, size_t q)
{
	double *scratch = mem_alloc((s->r.done + 1) * sizeof *scratch);
	const double v =
	    scratch && s->r.done > 0 ? stat_median(s->time_ns[side][q], s->r.done, scratch) : NAN;

	mem_free(scratch);
	return v;
}

static double pairs_floor(const server_pairs *s)
{
	return fmax(s->server[0].floor_ns, s->server[1].floor_ns);
}

/* Returns why the client limits the result; NULL: it does not. */
static const char *pairs_client_bound(const server_pairs *s)
{
	const double floor = pairs_floor(s);

	return s->r.done > 0 &&
		       floor > FLOOR_SHARE_MOST * fmin(pairs_median(s, 0, 0), pairs_median(s, 1, 0))
		   ? "client-bound: the client alone needs more than half of the time"
		   : NULL;
}

/* Returns the server that is shown to fail more often, by McNemar's exact test of the pairs in
 * which one failed; -1: neither is. */
static int pairs_fails_more(const server_pairs *s)
{
	const double n = (double)(s->alone[0] + s->alone[1]);

	for (int side = 0; side < 2; side++)
		if (n > 0 && stat_binomial_at_least((double)s->alone[side], n, 0.5) <=
				 (1 - s->v.asked->level) / 2)
			return side;
	return -1;
}

static void pairs_failures_text(const server_pairs *s, int more, const char *before, char to[160])
{
	snprintf(to, 160, "%s%s failed %llu of %llu requests and %s %llu of %llu", before,
		 sides[more], (unsigned long long)s->failed[more], (unsigned long long)s->pairs,
		 sides[1 - more], (unsigned long long)s->failed[1 - more],
		 (unsigned long long)s->pairs);
}

/* --- facts */

static void pairs_facts_server(record_builder *b, const server_pairs *s, size_t side)
{
	const server_session *u = &s->server[side];
	char key[32];

	snprintf(key, sizeof key, "subject/%s", sides[side]);
	record_fact_fmt(b, "compare", key, "%s, model %s", s->request[side].url,
			u->generates ? s->request[side].served_model : u->address.model);
	snprintf(key, sizeof key, "end_of_sequence/%s", sides[side]);
	if (u->generates)
		record_fact_text(b, "compare", key, server_end_text(u, s->early[side] > 0));
	snprintf(key, sizeof key, "failed/%s", sides[side]);
	record_fact_int(b, "compare", key, DCK_UNIT_ONE, (int64_t)s->failed[side]);
}

static void pairs_facts(record_builder *b, const server_pairs *s)
{
	const dck_compare_config *c = s->v.asked;

	record_fact_text(b, "subject", "kind", "servers");
	record_fact_fmt(b, "compare", "subjects", "A %s, B %s", s->request[0].url,
			s->request[1].url);
	for (size_t side = 0; side < 2; side++)
		pairs_facts_server(b, s, side);
	record_fact_options(b, "plan", dck_server_options, &s->request[0]);
	record_fact_real(b, "compare", "margin", DCK_UNIT_ONE, c->margin);
	if (!s->server[0].generates)
		record_fact_text(b, "compare", "inputs", "the same random tensors in each request");
	else if (s->server[0].prompts.n > 0)
		record_fact_fmt(b, "compare", "prompts",
				"%zu of a file, in turn, the same to both servers",
				s->server[0].prompts.n);
	else
		record_fact_text(b, "compare", "prompts",
				 s->own_prompts
				     ? "of each server its own, because they have one address"
				     : "the same to both servers, different in each pair");
	method_clock(b, &s->v.shared.clock);
	record_fact_text(
	    b, "method", "compare",
	    "paired: one request to each server, one after the other, in random order, "
	    "every second pair in reverse");
	record_fact_text(b, "method", "enclosed", "from when the client turns to the request");
	record_fact_text(b, "method", "interval",
			 c->rounds > 0
			     ? "exact sign test on the pairs' ratios, one look"
			     : "exact sign test on the pairs' ratios, repeated looks, O'Brien and "
			       "Fleming's spending of the error");
	record_fact_text(b, "method", "several", "Holm's procedure over the quantities");
	record_fact_text(b, "method", "failures",
			 "McNemar's exact test of the pairs in which one server failed");
	record_fact_real(b, "method", "level", DCK_UNIT_ONE, c->level);
	record_fact_int(b, "method", "order_seed", DCK_UNIT_ONE, (int64_t)c->seed);
	record_fact_int(b, "method", "pairs", DCK_UNIT_ONE, (int64_t)s->r.done);
	record_fact_int(b, "method", "pairs_planned", DCK_UNIT_ONE, (int64_t)s->r.planned);
	record_fact_int(b, "method", "pairs_lost", DCK_UNIT_ONE, (int64_t)s->lost);
	record_fact_int(b, "method", "looks", DCK_UNIT_ONE, (int64_t)s->r.looks);
	record_fact_text(b, "method", "stop",
			 s->r.failed != DCK_OK	    ? "it failed or was interrupted"
			 : s->r.stopped		    ? "time or the planned pairs were over"
			 : s->r.done < s->r.planned ? "all is decided"
						    : "all planned pairs were made");
}

/* --- results */

static void pairs_how(const server_pairs *s, const interleaved_result *x, verdict_outcome *o)
{
	if (!x->has_interval)
		snprintf(o->how, sizeof o->how, "median of %zu paired ratios", x->judged);
	else
		snprintf(o->how, sizeof o->how,
			 "median of %zu paired ratios, exact sign-test interval (%s)%s", x->judged,
			 s->v.asked->rounds > 0 ? "one look" : "sequential",
			 x->tau > 1 ? ", widened for what pairs may depend on each other" : "");
}

/* A row for each quantity, with both servers in it. */
static void pairs_table(record_builder *b, const server_pairs *s, const verdict_outcome *all)
{
	const dck_column columns[] = {
	    {"quantity", "quantity", DCK_UNIT_NONE},   {"a", "A, median", DCK_UNIT_NS},
	    {"b", "B, median", DCK_UNIT_NS},	       {"ratio", VERSUS_RATIO_TITLE, DCK_UNIT_ONE},
	    {"difference", "difference", DCK_UNIT_NS}, {"verdict", "verdict", DCK_UNIT_NONE}};

	RECORD_TABLE(b, "compare/servers", "Compared, pair by pair", columns);
	record_summary_columns(b, "a b ratio verdict");
	for (size_t q = 0; q + 1 < s->r.n; q++) {
		record_cell_text(b, s->quantity[q]->title);
		record_cell_real(b, pairs_median(s, 0, q));
		record_cell_real(b, pairs_median(s, 1, q));
		verdict_cell_put(b, &all[q].ratio);
		verdict_cell_put(b, &all[q].difference);
		record_cell_text(b, verdict_texts[all[q].verdict]);
	}
}

static void pairs_outcomes(record_builder *b, server_pairs *s)
{
	verdict_outcome all[SERVER_QUANTITIES] = {0};
	char label[SERVER_QUANTITIES][24];
	const size_t n = s->r.n - 1;

	for (size_t q = 0; q < n; q++) {
		s->result[q + 1].time_ns = pairs_median(s, 1, q);
		snprintf(label[q], sizeof label[q], "%s of B", s->quantity[q]->title);
		all[q] = interleaved_outcome(&s->result[q + 1], false, s->quantity[q]->key,
					     label[q], pairs_median(s, 0, q), s->v.asked->level);
		pairs_how(s, &s->result[q + 1], &all[q]);
	}
	const int more = pairs_fails_more(s);
	char failures[160] = "";

	if (more >= 0)
		pairs_failures_text(s, more, more == 0 ? "; " : "", failures);
	if (more == 1)
		all[0].gate = DCK_VERDICT_VIOLATED;
	verdict_metrics(b, all, n);
	verdict_facts(b, all, n, true);
	/* Ratios of the times that failures count as are no answer. */
	if (more == 1)
		record_answer(b, "B is worse: %s", failures);
	else
		verdict_answer(b, "A", all, n, s->r.margin, NULL, more == 0 ? failures : "");
	pairs_table(b, s, all);
}

static void pairs_none(record_builder *b, const server_pairs *s, const char *why)
{
	char failures[160];

	record_metric_absent(b, "compare/ratio", why);
	record_fact_text(b, "compare", "verdict", verdict_texts[VERDICT_UNDECIDED]);
	if (pairs_fails_more(s) == 1) {
		pairs_failures_text(s, 1, "", failures);
		record_answer(b, "B is worse: %s; the times are undecided: %s", failures, why);
		verdict_gate(b, DCK_VERDICT_VIOLATED);
		return;
	}
	record_answer(b, "undecided: %s", why);
	verdict_gate(b, DCK_VERDICT_INCONCLUSIVE);
}

static void pairs_series(record_builder *b, const server_pairs *s)
{
	char tag[64];

	for (size_t q = 0; q + 1 < s->r.n; q++)
		for (size_t side = 0; side < 2; side++) {
			snprintf(tag, sizeof tag, "compare/pairs/%s/%s", s->quantity[q]->key,
				 sides[side]);
			record_series(b, tag, DCK_UNIT_NS, NULL, s->time_ns[side][q], s->r.done, 0);
		}
}

/* --- notes */

static void pairs_note_undecided(record_builder *b, const server_pairs *s)
{
	for (size_t q = 0; q + 1 < s->r.n; q++)
		if (s->result[q + 1].verdict == VERDICT_UNDECIDED)
			interleaved_note_undecided(b, &s->result[q + 1], s->quantity[q]->title,
						   s->r.margin, "pair");
}

static void pairs_note_failed(record_builder *b, const server_pairs *s)
{
	if (s->failed[0] + s->failed[1] > 0)
		record_note(b, "requests-failed",
			    "%llu %s to A and %llu to B failed and count as ones that took "
			    "--timeout, but where both of a pair did; the first: %s",
			    (unsigned long long)s->failed[0],
			    COUNTED(s->failed[0], "request", "requests"),
			    (unsigned long long)s->failed[1], s->why);
}

static void pairs_note_answers(record_builder *b, const server_pairs *s)
{
	if (s->early[0] + s->early[1] > 0)
		record_note(
		    b, "stopped-early",
		    "%llu %s of A and %llu of B ended before %llu %s: times end to "
		    "end are of different lengths",
		    (unsigned long long)s->early[0], COUNTED(s->early[0], "answer", "answers"),
		    (unsigned long long)s->early[1], (unsigned long long)s->request[0].new_tokens,
		    COUNTED(s->request[0].new_tokens, "token", "tokens"));
	if (s->cached[0] + s->cached[1] > 0 && !(s->request[0].shared_prefix > 0))
		record_note(
		    b, "prefix-cache",
		    "A had more than a tenth of %llu prompts in its cache and B of %llu, %s: its "
		    "times to the first token are shorter by that",
		    (unsigned long long)s->cached[0], (unsigned long long)s->cached[1],
		    s->server[0].prompts.n > 0
			? "as prompts of a file may be sent several times, or begin alike"
			: "although the prompts differ");
	if (s->r.failed != DCK_OK) {
		record_set_incomplete(b, true);
		record_note(b, s->r.failed == DCK_E_CANCEL ? "interrupted" : "engine-failed",
			    "pair %llu: %s; this is what was measured until then",
			    (unsigned long long)s->pairs + 1, s->r.why.msg);
	}
}

void server_pairs_record(record_builder *b, server_pairs *s)
{
	const char *bound = pairs_client_bound(s);

	pairs_facts(b, s);
	if (s->r.done == 0)
		pairs_none(b, s, "in no pair was a request answered");
	else if (bound)
		pairs_none(b, s, bound);
	else
		pairs_outcomes(b, s);
	record_metric_if(pairs_floor(s) > 0, b, "load/client_floor", RECORD_REAL(pairs_floor(s)),
			 "median of one connection to the null server in this process",
			 "the null server has no TLS");
	record_metric_int(b, "runs/count", (int64_t)(2 * s->pairs), "requests");
	record_metric_int(b, "runs/warmup", (int64_t)(s->server[0].probes + s->server[1].probes),
			  "requests before");
	if (s->r.done > 0)
		pairs_series(b, s);
	pairs_note_failed(b, s);
	if (bound)
		record_note(b, "client-bound", "%s", bound);
	else if (s->r.done > 0)
		pairs_note_undecided(b, s);
	pairs_note_answers(b, s);
	record_others_put(&s->v.others, b, "pairs", false);
}
