/* generate_record.c - makes the record: the statistics of each case, over its requests.
 *
 * A request gives one value of TTFT, TPOT, end-to-end time and growth, and these series have the
 * intervals of stat.h, corrected for autocorrelation. The gaps of all requests together give the
 * percentiles of ITL, each request a cluster (stat_starts_quantile()): requests whose gaps differ
 * from each other widen the interval, however many tokens they have. A percentile whose interval
 * is not covered by so few requests is absent.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/results.h"
#include "study/generate/generate_job.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "base/units.h"
#include "measure/method.h"
#include "stat/stat.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TAG_SIZE 64

typedef enum generate_value {
	GEN_TTFT,
	GEN_TTFT_P90,
	GEN_TTFT_P99,
	GEN_TPOT,
	GEN_ITL_P50,
	GEN_ITL_P90,
	GEN_ITL_P99,
	GEN_E2E,
	GEN_TOKENS,
	GEN_PREFILL,
	GEN_GROWTH,
	GEN_ENGINE,
	GEN_VALUES
} generate_value;

/* How each is computed: a statistic of a member of generate_times, a percentile of the gaps, or the
 * tokens of a request over one that is. */
static const struct value_row {
	const char *family; /* of the metric */
	const char *column, *title;
	dck_unit unit;
	size_t member; /* of generate_times; SIZE_MAX: the gaps */
	double p;      /* percentile; 0: the mean */
	bool prompt;   /* a rate of the prompt's tokens */
} value_rows[GEN_VALUES] = {
    [GEN_TTFT] = {"ttft", "ttft", "TTFT", DCK_UNIT_NS, offsetof(generate_times, ttft), 0.5, false},
    [GEN_TTFT_P90] = {"ttft_p90", "ttft_p90", "TTFT p90", DCK_UNIT_NS,
		      offsetof(generate_times, ttft), 0.9, false},
    [GEN_TTFT_P99] = {"ttft_p99", "ttft_p99", "TTFT p99", DCK_UNIT_NS,
		      offsetof(generate_times, ttft), 0.99, false},
    [GEN_TPOT] = {"tpot", "tpot", "TPOT", DCK_UNIT_NS, offsetof(generate_times, tpot), 0.5, false},
    [GEN_ITL_P50] = {"itl_p50", "itl_p50", "ITL p50", DCK_UNIT_NS, SIZE_MAX, 0.5, false},
    [GEN_ITL_P90] = {"itl_p90", "itl_p90", "ITL p90", DCK_UNIT_NS, SIZE_MAX, 0.9, false},
    [GEN_ITL_P99] = {"itl_p99", "itl_p99", "ITL p99", DCK_UNIT_NS, SIZE_MAX, 0.99, false},
    [GEN_E2E] = {"e2e", "e2e", "end to end", DCK_UNIT_NS, offsetof(generate_times, e2e), 0.5,
		 false},
    [GEN_TOKENS] = {"tokens", "tokens", "rate", DCK_UNIT_TOKEN_PER_S, offsetof(generate_times, e2e),
		    0, false},
    [GEN_PREFILL] = {"prefill", "prefill", "prompt", DCK_UNIT_TOKEN_PER_S,
		     offsetof(generate_times, ttft), 0.5, true},
    [GEN_GROWTH] = {"growth", "growth", "growth/token", DCK_UNIT_NS,
		    offsetof(generate_times, growth), 0.5, false},
    [GEN_ENGINE] = {"engine_share", "engine_share", "in engine", DCK_UNIT_ONE,
		    offsetof(generate_times, engine_share), 0.5, false},
};

typedef struct case_view {
	const generate_job *j;
	const generate_case *c;
	stat_estimate value[GEN_VALUES];
} case_view;

/* --- the statistics */

typedef struct view_space {
	double *x, *scratch;
	stat_start *clusters;
} view_space;

static void space_done(view_space *s)
{
	mem_free(s->x);
	mem_free(s->scratch);
	mem_free(s->clusters);
}

static size_t clusters_make(const case_view *v, stat_start *ret)
{
	const size_t gaps = (size_t)v->j->config->new_tokens - 1;

	for (size_t i = 0; i < v->c->n; i++)
		ret[i] = (stat_start){v->c->gaps + i * gaps, gaps};
	return v->c->n;
}

static bool space_init(const case_view *v, view_space *ret)
{
	const size_t n = v->c->n;
	view_space s = {.x = mem_zalloc(n, sizeof *s.x),
			.clusters = mem_zalloc(n, sizeof *s.clusters)};
	size_t need = stat_scratch(n);

	if (s.clusters) {
		const size_t own = stat_starts_scratch(s.clusters, clusters_make(v, s.clusters));

		need = own > need ? own : need;
	}
	s.scratch = mem_zalloc(need, sizeof *s.scratch);
	*ret = s;
	return s.x && s.clusters && s.scratch;
}

static void gaps_estimate(const case_view *v, double p, view_space *s, stat_estimate *ret)
{
	const size_t n = clusters_make(v, s->clusters);
	stat_estimate e;

	if (v->j->config->new_tokens < 2) {
		*ret = (stat_estimate){.why = "one new token has no gap"};
		return;
	}
	stat_starts_quantile(p, s->clusters, n, v->j->config->level, s->scratch, &e);
	if (!e.present)
		mem_print(e.why, sizeof e.why,
			  "%g %% needs %.0f independent gaps, and the %zu requests have fewer",
			  100 * p, stat_quantile_runs(p, v->j->config->level), n);
	else if (!e.has_interval)
		mem_print(e.why, sizeof e.why,
			  "the gaps of %zu requests are too few for an interval of %g %%", n,
			  100 * p);
	else
		snprintf(e.how, sizeof e.how, "of the gaps of %zu requests, each a cluster", n);
	e.present = e.has_interval;
	*ret = e;
}

/* Turns a time into the rate of the tokens made in it. */
static void rate_of_time(stat_estimate *e, double tokens)
{
	const double lo = e->lo;

	if (!e->present)
		return;
	e->value = tokens * 1e9 / e->value;
	e->lo = tokens * 1e9 / e->hi;
	e->hi = tokens * 1e9 / lo;
	e->has_interval &= lo > 0;
}

static void value_estimate(const case_view *v, const struct value_row *row, view_space *s,
			   stat_estimate *ret)
{
	const generate_case *c = v->c;
	const double level = v->j->config->level;
	const uint64_t new_tokens = v->j->config->new_tokens;

	if (row->member == SIZE_MAX) {
		gaps_estimate(v, row->p, s, ret);
		return;
	}
	for (size_t i = 0; i < c->n; i++)
		memcpy(&s->x[i], (const char *)&c->times[i] + row->member, sizeof *s->x);
	if (isnan(s->x[0])) {
		*ret = (stat_estimate){0};
		snprintf(ret->why, sizeof ret->why, "%llu new token%s too few",
			 (unsigned long long)new_tokens, new_tokens == 1 ? " is" : "s are");
		return;
	}
	if (row->p > 0)
		stat_estimate_quantile(row->p, s->x, c->n, level, s->scratch, ret);
	else
		stat_estimate_one(STAT_MEAN, s->x, c->n, level, s->scratch, ret);
	if (row->unit == DCK_UNIT_TOKEN_PER_S)
		rate_of_time(ret,
			     (double)c->batch * (double)(row->prompt ? c->prompt : new_tokens));
}

/* false: no memory. */
static bool case_estimate(case_view *v)
{
	view_space s;
	const bool ok = space_init(v, &s);

	for (int i = 0; ok && i < GEN_VALUES; i++)
		value_estimate(v, &value_rows[i], &s, &v->value[i]);
	space_done(&s);
	return ok;
}

/* --- metrics and the table */

static const char *case_tag(const generate_case *c, const char *family, char buf[TAG_SIZE])
{
	snprintf(buf, TAG_SIZE, "generate/%s/%llux%llu", family, (unsigned long long)c->prompt,
		 (unsigned long long)c->batch);
	return buf;
}

/* Says why the size of the engine's cache is not known. */
static const char *cache_unknown(const generate_job *j)
{
	if (j->engine_generates)
		return "the engine does not report it";
	return j->layout.runs ? "it stays in the device's memory, unread"
			      : "the engine has no tensors";
}

static void case_metrics(const case_view *v)
{
	record_builder *b = v->j->b;
	char tag[TAG_SIZE];

	for (int i = 0; i < GEN_VALUES; i++) {
		const stat_estimate *e = &v->value[i];

		case_tag(v->c, value_rows[i].family, tag);
		if (!e->present)
			record_metric_absent(b, tag, e->why);
		else if (e->has_interval)
			record_metric_interval(b, tag, e->value, e->lo, e->hi, e->level, e->how);
		else
			record_metric_real(b, tag, e->value, e->how);
		record_metric_narrow(b, tag, stat_undercoverage_text(e->narrow));
	}
	const uint64_t tokens = v->c->prompt + v->j->config->new_tokens - 1;

	case_tag(v->c, "cache_computed", tag);
	record_metric_if(!v->j->engine_generates, b, tag,
			 RECORD_REAL(decoder_cache_bytes(&v->j->layout, v->c->batch, tokens)),
			 "from the declared shapes", "the engine declares no shapes");
	case_tag(v->c, "cache", tag);
	record_metric_if(v->c->cache_bytes > 0, b, tag, RECORD_REAL(v->c->cache_bytes),
			 "of the tensors that the engine returned last", cache_unknown(v->j));
}

static void generate_cell(record_builder *b, const stat_estimate *e)
{
	if (!e->present)
		record_cell_absent(b, e->why);
	else if (e->has_interval)
		record_cell_interval(b, e->value, e->lo, e->hi, e->level);
	else
		record_cell_real(b, e->value);
}

#define TABLE_FIXED 4 /* columns before the values */
static void lengths_table(const generate_job *j, const case_view *views, size_t n)
{
	dck_column columns[TABLE_FIXED + GEN_VALUES + 1] = {
	    {"case", "prompt x batch", DCK_UNIT_NONE},
	    {"prompt", "prompt", DCK_UNIT_ONE},
	    {"batch", "batch", DCK_UNIT_ONE},
	    {"requests", "requests", DCK_UNIT_ONE},
	    [TABLE_FIXED + GEN_VALUES] = {"cache", "cache", DCK_UNIT_BYTE},
	};

	for (int i = 0; i < GEN_VALUES; i++)
		columns[TABLE_FIXED + i] =
		    (dck_column){value_rows[i].column, value_rows[i].title, value_rows[i].unit};
	RECORD_TABLE(j->b, "generate/lengths", "Generation by prompt length and batch", columns);
	record_summary_columns(j->b, "requests ttft tpot itl_p99 tokens growth cache");
	for (size_t i = 0; i < n; i++) {
		const generate_case *c = views[i].c;

		record_cell_fmt(j->b, "%llu x %llu", (unsigned long long)c->prompt,
				(unsigned long long)c->batch);
		record_cell_int(j->b, (int64_t)c->prompt);
		record_cell_int(j->b, (int64_t)c->batch);
		record_cell_int(j->b, (int64_t)c->n);
		for (int k = 0; k < GEN_VALUES; k++)
			generate_cell(j->b, &views[i].value[k]);
		record_cell(j->b, c->cache_bytes > 0 ? RECORD_REAL(c->cache_bytes)
						     : RECORD_ABSENT(cache_unknown(j)));
	}
}

/* Adds the gap over the position: its median over the requests. */
static void positions_series(const generate_job *j, const generate_case *c)
{
	const size_t gaps = (size_t)j->config->new_tokens - 1;
	double *values, *x;
	char tag[TAG_SIZE];

	if (gaps == 0 || c->n == 0)
		return;
	x = mem_zalloc(2 * c->n, sizeof *x);
	if (x && record_series_room(j->b, case_tag(c, "gap_by_position", tag), DCK_UNIT_NS, gaps, 0,
				    &values, NULL))
		for (size_t k = 0; k < gaps; k++) {
			for (size_t i = 0; i < c->n; i++)
				x[i] = c->gaps[i * gaps + k];
			values[k] = stat_median(x, c->n, x + c->n);
		}
	mem_free(x);
}

/* --- the answer */

static void answer_one(const case_view *v)
{
	const stat_estimate *tpot = &v->value[GEN_TPOT];
	char first[96], next[96], of[64] = "";

	if (v->c->batch > 1)
		snprintf(of, sizeof of, " of each of %llu sequences",
			 (unsigned long long)v->c->batch);
	measure_result_text(&v->value[GEN_TTFT], first);
	if (tpot->present)
		record_answer(v->j->b,
			      "after a prompt of %llu %s the first token%s comes in %s, each "
			      "further one in %s",
			      (unsigned long long)v->c->prompt,
			      COUNTED(v->c->prompt, "token", "tokens"), of, first,
			      measure_result_text(tpot, next));
	else
		record_answer(v->j->b, "after a prompt of %llu %s the first token%s comes in %s",
			      (unsigned long long)v->c->prompt,
			      COUNTED(v->c->prompt, "token", "tokens"), of, first);
}

static void answer_several(const case_view *views, size_t n)
{
	const case_view *v = views, *most = views, *last = &views[n - 1];

	for (size_t i = 1; i < n; i++)
		if (views[i].value[GEN_TOKENS].value > most->value[GEN_TOKENS].value)
			most = &views[i];
	record_answer(
	    v->j->b,
	    "the first token comes in %s after %llu %s (batch %llu), in %s after %llu (batch "
	    "%llu); prompt %llu, batch %llu gives the most, %.4g tokens/s",
	    UNITS_TIME(v->value[GEN_TTFT].value), (unsigned long long)v->c->prompt,
	    COUNTED(v->c->prompt, "token", "tokens"), (unsigned long long)v->c->batch,
	    UNITS_TIME(last->value[GEN_TTFT].value), (unsigned long long)last->c->prompt,
	    (unsigned long long)last->c->batch, (unsigned long long)most->c->prompt,
	    (unsigned long long)most->c->batch, most->value[GEN_TOKENS].value);
}

/* --- facts */

/* Adds the tokens of the first request, for a comparison with another program's. */
static void tokens_fact(const generate_job *j)
{
	char text[GENERATE_SHOWN * 12 + 1] = "";

	if (!j->layout.runs) {
		record_fact_absent(j->b, "generate", "first_tokens", "the engine has no tensors");
		return;
	}
	if (j->cases[0].n == 0) {
		record_fact_absent(
		    j->b, "generate", "first_tokens",
		    "it ended before the first counted request of the shortest prompt");
		return;
	}
	for (size_t i = 0; i < j->nshown; i++)
		text_add(text, sizeof text, "%s%lld", i ? " " : "", (long long)j->shown[i]);
	record_fact_text(j->b, "generate", "first_tokens", text);
}

static void generate_facts(const generate_job *j)
{
	record_builder *b = j->b;

	method_subject(b, j->subject, &j->session.target, &j->host, dck_generate_options,
		       j->config);
	/* The models' option of the name "batch" is another one. */
	record_fact_options(b, "plan", dck_generate_options, j->config);
	method_clock(b, &j->shared.clock);
	record_fact_text(b, "method", "enclosed",
			 "from the prompt as token ids until the token is known");
	record_fact_text(b, "method", "unit", "the request: its tokens depend on each other");
	record_fact_text(b, "method", "interval",
			 "within this process, over requests, corrected for autocorrelation");
	record_fact_text(b, "method", "order",
			 "one request at a time; lengths and batches in "
			 "rounds of random order");
	record_fact_text(b, "generate", "sampling", "greedy: the highest score");
	record_fact_text(b, "generate", "loop",
			 j->engine_generates
			     ? j->generation.loop
			     : "deepclock's: binding, run and the search for the highest score");
	record_fact_text(b, "generate", "end_of_sequence",
			 j->engine_generates ? j->generation.end_of_sequence : "ignored");
	if (j->prompts.n > 0)
		record_fact_fmt(b, "generate", "prompts",
				"%zu of a file, those of a length in turn", j->prompts.n);
	else
		record_fact_text(b, "generate", "prompts",
				 "random token ids, different in each request");
	record_fact_int(b, "generate", "vocabulary", DCK_UNIT_ONE, j->layout.vocabulary);
	record_fact_int(b, "generate", "tokens_asked", DCK_UNIT_ONE,
			(int64_t)j->config->new_tokens);
	record_fact_int(b, "generate", "tokens_delivered", DCK_UNIT_ONE,
			(int64_t)j->config->new_tokens);
	record_fact_text(b, "generate", "cache",
			 j->engine_generates ? "the engine's own"
			 : !j->layout.runs   ? "none: the engine has no tensors"
			 : j->steps.on_device
			     ? "in the device's memory, not copied: the outputs of one context are "
			       "the inputs of the other"
			     : "not copied: the outputs of one context are the inputs of the "
			       "other");
	if (j->steps.on_device)
		record_fact_text(b, "device", "barrier",
				 j->layout.out[j->layout.logits].dim[1] == 1
				     ? "the copy of the scores to the host, in each step"
				     : "the copy of the scores to the host, in each step; in the "
				       "first those of all tokens of the prompts");
	tokens_fact(j);
}

static void scores_note(const generate_job *j)
{
	if (j->steps.unscored > 0)
		record_note(j->b, "scores-nan",
			    "the scores of %llu of %llu tokens %s all NaN, and token 0 was taken: "
			    "the model computes no answers",
			    (unsigned long long)j->steps.unscored,
			    (unsigned long long)j->steps.chosen,
			    COUNTED(j->steps.unscored, "was", "were"));
}

static void generate_phases(const generate_job *j)
{
	const subject_target *t = &j->session.target;
	size_t n = 0, warmup = 0;

	for (size_t i = 0; i < j->ncases; i++) {
		n += j->cases[i].n;
		warmup += (size_t)j->config->warmup;
	}
	record_metric_int(j->b, "runs/count", (int64_t)n, "requests that are counted");
	record_metric_int(j->b, "runs/warmup", (int64_t)warmup, "requests before");
	if (t->library_ns > 0)
		record_metric_int(j->b, "time/library", (int64_t)t->library_ns, "wall time");
	record_metric_int(j->b, "time/session", (int64_t)t->session_ns, "wall time");
	record_metric_real(j->b, "time/first_run", j->first_ns,
			   "the first token of the very first request");
	record_metric_real(j->b, "time/measured", j->measured_ns, "all counted requests");
}

dck_status generate_record(generate_job *j, dck_err *err)
{
	case_view *views = mem_zalloc(j->ncases, sizeof *views);
	size_t n = 0;
	bool ok = views != NULL;

	generate_facts(j);
	for (size_t i = 0; ok && i < j->ncases; i++) {
		if (j->cases[i].n == 0)
			continue;
		views[n] = (case_view){.j = j, .c = &j->cases[i]};
		ok = case_estimate(&views[n++]);
	}
	if (ok) {
		if (n == 1)
			answer_one(views);
		else
			answer_several(views, n);
		for (size_t i = 0; i < n; i++)
			case_metrics(&views[i]);
		generate_phases(j);
		lengths_table(j, views, n);
		for (size_t i = 0; i < n; i++)
			positions_series(j, views[i].c);
	}
	scores_note(j);
	record_others_put(&j->others, j->b, "generate", true);
	measure_context_notes(&j->shared, j->b);
	mem_free(views);
	return ok ? DCK_OK : ERR_NO_MEMORY(err, "for the statistics");
}
