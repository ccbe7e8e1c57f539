/* load_limits.c - latency limits (service-level objectives) in the record: verdicts, tables, notes
 * and the answer, at one load or over the rates of a search.
 *
 * The tests are in load_point.c and stat/; here their results become rows and sentences. A limit
 * is met, violated, or inconclusive. At one load the verdict is the worst of the limits. A
 * search holds where some rate was shown to hold; it is broken where the unloaded service, or the
 * lowest rate that was tried, breaks a limit.
 *
 * A share over a limit has the exact binomial interval of Clopper and Pearson (Biometrika 26, 1934)
 * at the effective sample size. That and the count are real numbers, so its ends are quantiles of
 * beta distributions. Tables have at most LOAD_LIMITS columns more; texts are in fixed buffers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_url.h"
#include "study/load/load_view.h"
#include "base/sink.h"
#include "base/units.h"
#include "base/mem.h"
#include "measure/results.h"
#include "stat/dist.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

dck_verdict load_verdict(const load_job *j)
{
	if (!j->config->find_peak)
		return j->shown->verdict;
	if (j->peak.held > 0)
		return DCK_VERDICT_MET;
	if (j->unloaded.verdict == DCK_VERDICT_VIOLATED)
		return DCK_VERDICT_VIOLATED;
	/* The lowest rate that was tried decides for all lower ones that could be tried. */
	return j->npoints > 0 && isinf(j->peak.open_lo) && !isinf(j->peak.broken)
		   ? DCK_VERDICT_VIOLATED
		   : DCK_VERDICT_INCONCLUSIVE;
}

const char *load_rate_text(double rate, char buf[32])
{
	if (rate >= 1000)
		return dck_text_count((int64_t)round(rate), buf, 32);
	mem_print(buf, 32, "%.3g", rate);
	return buf;
}

/* --- tables */

void load_cell(record_builder *b, const stat_estimate *e, bool interval)
{
	if (!e->present)
		record_cell_absent(b, e->why);
	else if (interval && e->has_interval)
		record_cell_interval(b, e->value, fmax(0, e->lo), e->hi, e->level);
	else
		record_cell_real(b, e->value);
}

/* Returns whether the queue grows while the load lasts. */
static bool load_is_unbounded(const load_result *r)
{
	return r->unstable || r->answers.overload_rate > 0;
}

/* Returns whether the limit needs a column: the table of rates always has one for the median. */
static bool has_column(const latency_limit *limit)
{
	return strcmp(limit->statistic, "median") != 0;
}

void load_points_table(const load_view *v)
{
	const load_job *j = v->j;
	dck_column columns[6 + LOAD_LIMITS] = {{"rate", "rate", DCK_UNIT_HERTZ},
					       {"served", "served", DCK_UNIT_HERTZ},
					       {"requests", "requests", DCK_UNIT_ONE}};
	size_t n = 3;

	if (!j->config->find_peak || j->npoints == 0)
		return;
	if (!j->pool.url) /* how busy a server is cannot be seen */
		columns[n++] = (dck_column){"utilisation", "busy", DCK_UNIT_ONE};
	columns[n++] = (dck_column){"median", "median", DCK_UNIT_NS};
	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (has_column(&j->limits[i]))
			columns[n++] = (dck_column){j->limits[i].statistic, j->limits[i].statistic,
						    DCK_UNIT_NS};
	columns[n++] = (dck_column){"verdict", "limits", DCK_UNIT_NONE};
	record_table(v->b, "load/steps", "Rates that were tried", columns, n);
	record_summary_columns(v->b, "served median p90 p95 p99 p999 max mean verdict");
	for (size_t k = 0; k < j->npoints; k++) {
		const load_point *s = &j->points[k];

		record_cell_real(v->b, s->rate);
		record_cell_real(v->b, s->achieved);
		record_cell_int(v->b, (int64_t)s->seen[0].n);
		if (!j->pool.url)
			record_cell_real(v->b, s->utilisation);
		load_cell(v->b, &s->median, false);
		for (size_t i = 0; i < j->ask.nlimits; i++)
			if (has_column(&j->limits[i]))
				load_cell(v->b, &s->statistic[i], true);
		record_cell_text(v->b, load_is_unbounded(&s->result)
					   ? "unstable"
					   : latency_limit_word(s->verdict));
		if (s->rate == j->peak.held || s->rate == j->peak.broken ||
		    s->rate == j->peak.open_lo || s->rate == j->peak.open_hi)
			record_summary_row(v->b);
	}
}

/* Writes Clopper and Pearson's exact interval of a share, at the effective sample size. */
static void cell_share(const load_view *v, const stat_limit *l)
{
	const double half = (1 - v->j->config->level) / 2, k = l->share * l->n_eff, n = l->n_eff;

	record_cell_interval(v->b, l->share, k > 0 ? stat_beta_quantile(half, k, n - k + 1) : 0,
			     k < n ? stat_beta_quantile(1 - half, k + 1, n - k) : 1,
			     v->j->config->level);
}

const char *load_unknown_text(const load_result *r)
{
	return r->answers.counted > 0
		   ? "no answer took time after its first token"
		   : "the server reports no numbers of tokens (usage), so that TPOT is not known";
}

void load_limits_table(const load_view *v)
{
	const load_job *j = v->j;
	dck_column columns[6] = {
	    {"limit", "limit", DCK_UNIT_NONE},
	    {"over", "over it", DCK_UNIT_ONE},
	    {"share", "share", DCK_UNIT_ONE},
	    {"worth", "worth", DCK_UNIT_ONE},
	};
	size_t n = 4;
	bool needed = false;

	if (j->ask.nlimits == 0)
		return;
	for (size_t i = 0; i < j->ask.nlimits; i++)
		needed |= v->point->seen[i].n > 0 && v->point->limit[i].n_needed > 0;
	if (needed)
		columns[n++] = (dck_column){"needed", "needed", DCK_UNIT_ONE};
	columns[n++] = (dck_column){"verdict", "verdict", DCK_UNIT_NONE};
	record_table(v->b, "load/limits", "Limits", columns, n);
	for (size_t i = 0; i < j->ask.nlimits; i++) {
		const stat_limit *l = &v->point->limit[i];

		record_cell_text(v->b, j->limits[i].text);
		record_cell_int(v->b, (int64_t)v->point->seen[i].over);
		if (v->point->seen[i].n > 0)
			cell_share(v, l);
		else
			record_cell_absent(v->b, load_unknown_text(v->r));
		record_cell_int(v->b, (int64_t)floor(l->n_eff));
		if (needed && v->point->seen[i].n > 0 && l->n_needed > 0)
			record_cell_int(v->b, (int64_t)ceil(l->n_needed));
		else if (needed)
			record_cell_absent(v->b, "it is decided, or cannot be foreseen");
		record_cell_text(v->b, latency_limit_word(l->verdict));
	}
}

/* --- notes on one load */

/* Returns "p90 is 12 ms"; or, where it would be a failed request's time, what that counts as. */
static const char *limits_value_text(const load_job *j, const load_point *point, size_t i,
				     char buf[64])
{
	const latency_limit *limit = &j->limits[i];
	const stat_estimate *e = &point->statistic[i];
	const bool failed =
	    point->result.answers.failed > 0 &&
	    (limit->kind == LIMIT_MEAN || !e->present || e->value >= j->pool.url->timeout_ns);

	if (failed)
		return "a failed one counts as longer than any limit";
	snprintf(buf, 64, "%s is %s", limit->statistic,
		 e->present ? UNITS_TIME(e->value) : "not known");
	return buf;
}

/* "12 of 3000 requests took longer" */
static void seen_text(const load_view *v, size_t i, char *buf, size_t size)
{
	const limit_stats *seen = &v->point->seen[i];
	const unsigned long long n = seen->n, over = seen->over, failed = v->r->answers.failed;

	if (v->j->limits[i].kind == LIMIT_MEAN && failed > 0)
		snprintf(buf, size, "%llu of %llu requests failed", failed, n);
	else if (v->j->limits[i].kind == LIMIT_MEAN)
		snprintf(buf, size, "the mean of %llu requests is %s", n,
			 UNITS_TIME(seen->sum / (double)seen->n));
	else if (failed > 0 && over == failed)
		snprintf(buf, size, "%llu of %llu requests failed, and no other took longer",
			 failed, n);
	else if (failed > 0)
		snprintf(buf, size, "%llu of %llu requests failed, and %llu others took longer",
			 failed, n, over - failed);
	else
		snprintf(buf, size, "%llu of %llu requests took longer", over, n);
}

static void broken_note(const load_view *v, size_t i, const char *seen)
{
	const latency_limit *limit = &v->j->limits[i];
	const stat_limit *l = &v->point->limit[i];
	double percent = 100 * v->j->config->confidence;
	char buf[64], may[48] = "";
	const char *value = limits_value_text(v->j, v->point, i, buf);

	if (limit->kind == LIMIT_PERCENTILE) {
		mem_print(may, sizeof may, " (%.3g %%), %.3g %% may", 100 * l->share,
			  100 * (1 - limit->p));
		percent = 100 * fmin(1 - l->p_broken, 0.9999);
	}
	if (v->r->unstable)
		record_note(v->b, "slo-violated", "%s is violated: the queue grows without bound",
			    limit->text);
	else if (v->r->answers.overload_rate > 0)
		record_note(v->b, "slo-violated",
			    "%s is violated: %s, and the queue grows without bound", limit->text,
			    seen);
	else if (limit->kind == LIMIT_MAX)
		record_note(v->b, "slo-violated", "%s is violated: %s; %s", limit->text, seen,
			    value);
	else
		record_note(v->b, "slo-violated", "%s is violated: %s%s; %s (confidence %.4g %%)",
			    limit->text, seen, may, value, percent);
}

static void open_note(const load_view *v, size_t i, const char *seen)
{
	const latency_limit *limit = &v->j->limits[i];
	const stat_limit *l = &v->point->limit[i];
	const double percent = 100 * v->j->config->confidence;

	if (load_limit_unknown(v->r, i))
		record_note(v->b, "slo-inconclusive", "%s is inconclusive: %s", limit->text,
			    load_unknown_text(v->r));
	else if (limit->kind == LIMIT_MAX) {
		record_note(v->b, "slo-inconclusive",
			    "%s is not violated: %s; but no number of requests shows "
			    "that none ever will",
			    limit->text, seen);
		record_remedy(v->b, "limit a percentile, such as p99.9");
	} else if (v->r->answers.overload_rate > 0)
		record_note(v->b, "slo-inconclusive",
			    "%s is inconclusive: %s, but they take longer the longer it lasts",
			    limit->text, seen);
	else if (v->r->answers.crowded)
		record_note(v->b, "slo-inconclusive",
			    "%s is inconclusive: %s, until %d were in flight, the most of this "
			    "client",
			    limit->text, seen, HTTP_IN_FLIGHT_MAX);
	else if (l->n_needed > 0) {
		record_note(
		    v->b, "slo-inconclusive",
		    "%s is inconclusive at %.4g %% confidence: %s, with an effective sample size "
		    "of %.0f",
		    limit->text, percent, seen, floor(l->n_eff));
		record_remedy(
		    v->b,
		    "about %.0f times as many would decide (--time, --requests), or accept a "
		    "lower --confidence",
		    fmax(2, ceil(l->n_needed / l->n_eff)));
	} else if (v->r->abandoned > 0)
		record_note(
		    v->b, "slo-inconclusive",
		    "%s is inconclusive: %s, but %llu more were given up when it ended early",
		    limit->text, seen, (unsigned long long)v->r->abandoned);
	else
		record_note(v->b, "slo-inconclusive",
			    "%s is inconclusive at %.4g %% confidence: %s", limit->text, percent,
			    limit->kind == LIMIT_MEAN ? seen
						      : "just as many requests took longer as may");
}

static void limit_note(const load_view *v, size_t i)
{
	const latency_limit *limit = &v->j->limits[i];
	const stat_limit *l = &v->point->limit[i];
	const double sure =
	    limit->kind == LIMIT_MEAN ? v->j->config->confidence : fmin(1 - l->p_held, 0.9999);
	char seen[128];

	seen_text(v, i, seen, sizeof seen);
	if (l->verdict == DCK_VERDICT_VIOLATED)
		broken_note(v, i, seen);
	else if (l->verdict == DCK_VERDICT_INCONCLUSIVE)
		open_note(v, i, seen);
	else
		record_note(v->b, "slo-met",
			    "%s is met: %s, effective sample size %.0f (confidence %.4g %%)",
			    limit->text, seen, floor(l->n_eff), 100 * sure);
}

/* --- notes on a search */

static void unloaded_notes(const load_view *v)
{
	const load_job *j = v->j;
	char value[64];

	for (size_t i = 0; i < j->ask.nlimits; i++)
		if (j->unloaded.limit[i].verdict == DCK_VERDICT_VIOLATED)
			record_note(
			    v->b, "slo-not-met", "no rate meets %s: unloaded, without a queue, %s",
			    j->limits[i].text, limits_value_text(j, &j->unloaded, i, value));
}

/* No rate was shown to hold the limits. */
static void none_note(const load_view *v)
{
	char rate[32], served[32], busy[80] = "the queue is full before a request is served";

	if (load_verdict(v->j) == DCK_VERDICT_VIOLATED) {
		if (v->j->pool.url && load_is_unbounded(v->r))
			snprintf(busy, sizeof busy, "the queue grows without bound");
		else if (v->j->pool.url)
			snprintf(busy, sizeof busy, "the server answers %s",
				 load_rate_text(v->point->achieved, served));
		else if (v->point != &v->j->unloaded)
			mem_print(busy, sizeof busy, "a stream is busy %.2g %% of the time",
				  100 * v->point->utilisation);
		record_note(v->b, "slo-not-met",
			    "no rate that was tried meets the limits: "
			    "they break even at %s requests a second, where %s",
			    load_rate_text(v->j->peak.broken, rate), busy);
		return;
	}
	if (v->j->ended)
		return; /* a note has the reason */
	const size_t by = v->j->needed_by;
	const double n_eff = fmax(1, v->point->limit[by].n_eff), n = (double)v->point->seen[by].n;
	const double seconds =
	    fmax(v->j->needed, v->point->limit[by].n_needed) / n_eff * n / v->point->rate;

	if (isfinite(seconds)) {
		record_note(
		    v->b, "slo-inconclusive",
		    "at %s requests/s, the lowest rate that was tried, %.0f requests had an "
		    "effective sample size of %.0f, and %s needs %.0f to be shown with %.4g %% "
		    "confidence",
		    load_rate_text(v->point->rate, rate), n, floor(n_eff), v->j->limits[by].text,
		    v->j->needed, 100 * v->j->config->confidence);
		record_remedy(
		    v->b,
		    "give --time %.0fs with a --max-time of several times as much, or a lower "
		    "--confidence",
		    ceil(seconds));
	} else {
		record_note(
		    v->b, "slo-inconclusive",
		    "no rate was measured for long enough to show that the limits are met with "
		    "%.4g %% confidence",
		    100 * v->j->config->confidence);
		record_remedy(v->b, "give more --max-time");
	}
}

static void search_note(const load_view *v)
{
	const load_job *j = v->j;
	const load_peak *p = &j->peak;
	char open[96] = "", held[32], broken[32], from[32], to[32];

	if (p->open_hi > 0 &&
	    strcmp(load_rate_text(p->open_lo, from), load_rate_text(p->open_hi, to)) == 0)
		snprintf(open, sizeof open, ", at %s inconclusive", to);
	else if (p->open_hi > 0)
		snprintf(open, sizeof open, ", from %s to %s inconclusive", from, to);
	if (j->unloaded.verdict == DCK_VERDICT_VIOLATED)
		unloaded_notes(v);
	else if (j->npoints > 0 && p->held == 0)
		none_note(v);
	else if (j->npoints > 0 && isinf(p->broken))
		record_note(v->b, "peak-open",
			    "the limits are met at %s requests a second; "
			    "no rate was shown to break them%s, so the peak may be higher",
			    load_rate_text(p->held, held), open);
	else if (j->npoints > 0)
		record_note(v->b, "peak-bracket",
			    "the limits are met at %s requests a second and violated at %s%s; "
			    "each of these verdicts has %.4g %% confidence",
			    load_rate_text(p->held, held), load_rate_text(p->broken, broken), open,
			    100 * j->config->confidence);
}

void load_limits_notes(const load_view *v)
{
	const load_job *j = v->j;

	for (size_t i = 0; !j->config->find_peak && i < j->ask.nlimits; i++)
		limit_note(v, i);
	if (j->config->find_peak)
		search_note(v);
	if (j->cut[0]) {
		record_note(v->b, "search-cut", "the search ended early: %s", j->cut);
		if (j->out_of_time)
			record_remedy(v->b, "give more --max-time");
	}
}

/* --- the answer */

/* ": p90 is 10.2 ms, over 5 ms" */
static void over_text(const load_view *v, char *buf, size_t size)
{
	char value[128], offered[32], served[32];

	buf[0] = '\0';
	if (load_is_unbounded(v->r))
		snprintf(buf, size, ": %s requests/s arrive, %s are served",
			 load_rate_text(v->point->offered, offered),
			 load_rate_text(v->r->answers.overload_rate > 0
					    ? v->r->answers.overload_rate
					    : v->point->achieved,
					served));
	for (size_t i = 0; i < v->j->ask.nlimits && !buf[0]; i++) {
		const latency_limit *limit = &v->j->limits[i];
		const stat_estimate *e = &v->point->statistic[i];

		if (v->point->limit[i].verdict != DCK_VERDICT_VIOLATED)
			continue;
		if (v->r->answers.failed > 0) {
			seen_text(v, i, value, sizeof value);
			snprintf(buf, size, ": %s", value);
		} else if (e->present)
			snprintf(buf, size, ": %s, over %s",
				 limits_value_text(v->j, v->point, i, value),
				 UNITS_TIME(limit->ns));
		else
			snprintf(buf, size, ": %llu of %llu requests took longer than %s",
				 (unsigned long long)v->point->seen[i].over,
				 (unsigned long long)v->point->seen[i].n, UNITS_TIME(limit->ns));
	}
	if (v->r->answers.failed > 0 && !strstr(buf, "failed"))
		text_add(buf, size, "; %llu of %llu requests failed",
			 (unsigned long long)v->r->answers.failed,
			 (unsigned long long)v->r->served);
}

void load_verdict_facts(const load_view *v)
{
	const load_job *j = v->j;

	if (j->ask.nlimits > 0) {
		record_gate(v->b, load_verdict(j));
		record_fact_text(v->b, "load", "verdict", latency_limit_word(load_verdict(j)));
	}
	for (size_t i = 0; i < j->ask.nlimits; i++) {
		char key[64];

		snprintf(key, sizeof key, "verdict/%s", j->limits[i].text);
		record_fact_text(v->b, "load", key, latency_limit_word(v->point->limit[i].verdict));
	}
}

/* Of a closed loop without limits the latency is the answer. */
static void server_answer(const load_view *v)
{
	char median[96], offered[32], served[32];

	load_rate_text(v->point->offered, offered);
	load_rate_text(v->point->achieved, served);
	if (v->r->unstable)
		record_answer(v->b,
			      "unstable: of %s requests/s %s are served, so the times depend on "
			      "how long this lasts",
			      offered, served);
	else if (v->all[STAT_MEDIAN].present)
		record_answer(v->b, "a request takes %s; %s requests/s arrive, %s are served",
			      measure_result_text(&v->all[STAT_MEDIAN], median), offered, served);
}

void load_answer(const load_view *v)
{
	const load_job *j = v->j;
	const load_peak *p = &j->peak;
	const char *word = latency_limit_word(load_verdict(j));
	char limits[200] = "", held[32], broken[64] = "", rate[32], over[160];

	if (j->ask.nlimits == 0) {
		if (v->server)
			server_answer(v);
		return;
	}
	/* "p99<=50ms and p90<=20ms" */
	for (size_t i = 0; i < j->ask.nlimits; i++)
		text_add(limits, sizeof limits, "%s%s", i > 0 ? " and " : "", j->limits[i].text);
	over_text(v, over, sizeof over);
	if (j->unloaded.verdict == DCK_VERDICT_VIOLATED)
		snprintf(broken, sizeof broken, "; one request at a time violates it");
	else if (!isinf(p->broken))
		snprintf(broken, sizeof broken, "; %s/s violates it",
			 load_rate_text(p->broken, rate));
	else if (p->held > 0)
		snprintf(broken, sizeof broken, "; no rate violated it");
	if (j->config->find_peak && p->held > 0)
		record_answer(v->b, "holds %s requests/s with %s%s", load_rate_text(p->held, held),
			      limits, broken);
	else if (j->config->find_peak)
		record_answer(v->b, "no rate was shown to meet %s%s", limits, broken);
	else if (v->server)
		record_answer(v->b, "%s: %s at %s requests/s%s", limits, word,
			      load_rate_text(v->point->rate, rate), over);
	else
		record_answer(v->b, "%s: %s%s", limits, word, over);
}
