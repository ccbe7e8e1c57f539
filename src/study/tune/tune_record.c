/* tune_record.c - the record of a search for the fastest configuration: the answer, the Pareto
 * front, the effect of each value, every configuration with its end, and what applies the best.
 *
 * tune_write() is the order: the judgement (race_judge.c), facts, metrics, the answer, tables,
 * notes. No statistic is computed here; a speed-up is the reciprocal of a ratio of times. A latency
 * in a table is the default's times the ratio, so that a change of the machine during the search
 * does not move one row; where requests in flight are varied the ratio is one of means, and the
 * latency is that of the row's own trials. Texts are in an arena for the call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "measure/subject/subject_facts.h"
#include "os/os.h"
#include "record/copy.h"
#include "record/record_begin.h"
#include "study/tune/tune_run.h"
#include <math.h>
#include <string.h>

#define FAILURES_SHOWN 3
/* An end of an interval that is farther from the value by this factor bounds nothing: few trials
 * give such ends. */
#define BOUND_MOST 100

typedef struct tuned {
	const tune_run *r;
	record_builder *b;
	mem_arena *a;
	race_result result;
	race_number value, latency; /* of the default */
	size_t best;		    /* the winner, or the default */
	const char *command;	    /* that measures it */
} tuned;

static const char *arm_text(const tuned *m, size_t arm)
{
	return space_text(&m->r->space, race_arm_get(m->r->race, arm)->value, m->a);
}

static bool is_throughput(const tuned *m)
{
	return m->r->config->goal == TUNE_THROUGHPUT;
}

/* Times as fast: the reciprocal of a ratio of times. */
static race_number speedup_of(race_number x)
{
	return (race_number){1 / x.value, 1 / x.hi, 1 / x.lo, x.n};
}

/* Drops an interval that bounds nothing. */
static race_number tune_bounded(race_number x)
{
	if (!(x.hi < BOUND_MOST * x.value && x.lo > x.value / BOUND_MOST))
		x.lo = x.hi = NAN;
	return x;
}

static race_number arm_speedup(const tuned *m, size_t arm)
{
	return tune_bounded(speedup_of(race_ratio(m->r->race, arm)));
}

/* --- cells */

static const char *why_not_measured(const race_arm *a)
{
	return a->skipped && a->why[0] ? "its engine failed"
	       : a->skipped	       ? "there was no time for it"
	       : a->end != RACE_OK     ? "it failed"
				       : "it was in no complete round";
}

static void cell_speedup(tuned *m, size_t arm)
{
	const race_number x = arm_speedup(m, arm);

	if (isnan(x.value))
		record_cell_absent(m->b, why_not_measured(race_arm_get(m->r->race, arm)));
	else
		record_cell_interval(m->b, x.value, x.lo, x.hi,
				     isnan(x.lo) ? 0 : m->r->config->level);
}

static void cell_latency(tuned *m, size_t arm)
{
	const double ratio = race_ratio(m->r->race, arm).value;
	const double items = race_items(m->r->race, arm);

	if (arm == 0 && !isnan(m->latency.value))
		record_cell_interval(m->b, m->latency.value, m->latency.lo, m->latency.hi,
				     isnan(m->latency.lo) ? 0 : m->r->config->level);
	else if (isnan(ratio) || isnan(items))
		record_cell_absent(m->b, why_not_measured(race_arm_get(m->r->race, arm)));
	else if (space_varies_in_flight(&m->r->space))
		/* The values are means then, of which pauses are a part, and the medians their own.
		 */
		record_cell_real(m->b, race_latency(m->r->race, arm));
	else
		record_cell_real(m->b, m->value.value * ratio * items);
}

static void cell_rate(tuned *m, size_t arm)
{
	const double ratio = race_ratio(m->r->race, arm).value;

	record_cell(m->b, isnan(ratio)
			      ? RECORD_ABSENT(why_not_measured(race_arm_get(m->r->race, arm)))
			      : RECORD_REAL(1e9 / (m->value.value * ratio)));
}

static void cell_memory(tuned *m, size_t arm)
{
	const race_arm *a = race_arm_get(m->r->race, arm);

	record_cell(m->b, a->peak_rss_bytes > 0
			      ? RECORD_INT((int64_t)a->peak_rss_bytes)
			      : RECORD_ABSENT(a->trials > 0 ? "the system does not report it"
							    : why_not_measured(a)));
}

static void cell_error(tuned *m, size_t arm)
{
	const race_arm *a = race_arm_get(m->r->race, arm);

	if (arm == 0)
		record_cell_absent(m->b, m->r->config->labels ? "the others are tested"
							      : "the others are compared with it");
	else if (a->outputs == RACE_UNKNOWN)
		record_cell_absent(m->b, a->outputs_why);
	else if (a->outputs == RACE_NOT_COMPARED)
		record_cell_absent(m->b, "its outputs were not compared");
	else if (m->r->config->labels)
		record_cell_real(m->b, 1 - a->error);
	else if (isinf(a->error))
		record_cell_absent(m->b, a->outputs_why[0] ? a->outputs_why
							   : "infinite or NaN in one of both");
	else
		record_cell_real(m->b, a->error);
}

/* With a limit, whether the configuration meets it. */
static void cell_limit(tuned *m, size_t arm)
{
	const race_arm *a = race_arm_get(m->r->race, arm);

	record_cell(m->b, a->limited > 0
			      ? RECORD_TEXT(latency_limit_word(race_holds(m->r->race, arm)))
			      : RECORD_ABSENT(why_not_measured(a)));
}

/* "12 of 80 independent runs took longer" */
static const char *tune_over_text(const tuned *m, size_t arm)
{
	const race_arm *a = race_arm_get(m->r->race, arm);

	if (a->limited == 0)
		return "it has no trial that counts";
	switch (m->r->limit.kind) {
	case LIMIT_MEAN:
		return mem_arena_fmt(m->a, "the mean is %s", UNITS_TIME(a->sum_ns / a->limited));
	case LIMIT_MAX:
		return a->over > 0 ? "a run took longer" : "no run took longer";
	case LIMIT_PERCENTILE:
		break;
	}
	return mem_arena_fmt(m->a, "%.3g of %.0f independent runs took longer", a->over, a->runs);
}

static bool is_violated(const tuned *m, size_t arm)
{
	return m->r->limit.ns > 0 && race_holds(m->r->race, arm) == DCK_VERDICT_VIOLATED;
}

static const char *tune_status(const tuned *m, size_t arm)
{
	static const char *const ends[] = {
	    [RACE_MEMORY] = "memory", [RACE_ERROR] = "failed", [RACE_TIME] = "too slow"};
	const race_arm *a = race_arm_get(m->r->race, arm);

	if (arm == 0)
		return "default";
	if (a->end != RACE_OK)
		return ends[a->end];
	if (a->outputs == RACE_DIFFER)
		return m->r->config->labels ? "inaccurate" : "outputs differ";
	if (is_violated(m, arm))
		return "violated";
	if (m->result.found && arm == m->result.winner)
		return "best";
	return a->trials > 0 ? "ok" : "not tried";
}

/* --- tables */

static size_t common_columns(const tuned *m, dck_column *c)
{
	size_t n = 0;

	c[n++] = (dck_column){"configuration", "configuration", DCK_UNIT_NONE};
	c[n++] = (dck_column){"speedup", "times as fast", DCK_UNIT_ONE};
	c[n++] = (dck_column){"latency", "latency", DCK_UNIT_NS};
	if (is_throughput(m))
		c[n++] = (dck_column){"throughput", "throughput", DCK_UNIT_ITEM_PER_S};
	c[n++] = (dck_column){"memory", "memory", DCK_UNIT_BYTE};
	if (m->r->config->labels)
		c[n++] = (dck_column){"accuracy", "accuracy", DCK_UNIT_ONE};
	else
		c[n++] = (dck_column){"error", "error", DCK_UNIT_ONE};
	if (m->r->limit.ns > 0)
		c[n++] = (dck_column){"limit", m->r->limit.text, DCK_UNIT_NONE};
	return n;
}

static void common_cells(tuned *m, size_t arm)
{
	record_cell_text(m->b, arm_text(m, arm));
	cell_speedup(m, arm);
	cell_latency(m, arm);
	if (is_throughput(m))
		cell_rate(m, arm);
	cell_memory(m, arm);
	cell_error(m, arm);
	if (m->r->limit.ns > 0)
		cell_limit(m, arm);
}

static void table_front(tuned *m)
{
	size_t front[RACE_FRONT_MAX];
	const size_t n = race_front(m->r->race, front);
	dck_column columns[9];
	bool has_default = false;

	record_table(m->b, "tune/front", "Not beaten in time, memory and error at once", columns,
		     common_columns(m, columns));
	record_summary_columns(m->b, "speedup latency throughput memory error accuracy limit");
	for (size_t i = 0; i < n; i++) {
		common_cells(m, front[i]);
		has_default |= front[i] == 0;
	}
	if (!has_default && n < RACE_FRONT_MAX)
		common_cells(m, 0);
}

/* Values of a single option; `which` is 0 for all others than the default. */
static const char *effect_verdict(const tuned *m, size_t arm)
{
	const race_number x = arm_speedup(m, arm);
	const double margin = 1 + m->r->config->margin;

	if (isnan(x.lo))
		return "not known";
	return x.lo > 1				    ? "faster"
	       : x.hi < 1			    ? "slower"
	       : x.lo > 1 / margin && x.hi < margin ? "same"
						    : "no difference shown";
}

static void table_effects(tuned *m)
{
	static const dck_column columns[] = {
	    {"option", "one option changed", DCK_UNIT_NONE},
	    {"speedup", "times as fast", DCK_UNIT_ONE},
	    {"verdict", "verdict", DCK_UNIT_NONE},
	};
	bool begun = false;

	for (size_t i = 1; i < race_narms(m->r->race); i++) {
		if (race_arm_get(m->r->race, i)->changes != 1)
			continue;
		if (!begun)
			RECORD_TABLE(m->b, "tune/effects", "Effect of each option", columns);
		begun = true;
		record_cell_text(m->b, arm_text(m, i));
		cell_speedup(m, i);
		record_cell_text(m->b, effect_verdict(m, i));
	}
}

static void table_configurations(tuned *m)
{
	dck_column columns[12];
	size_t n = common_columns(m, columns);

	columns[n++] = (dck_column){"status", "status", DCK_UNIT_NONE};
	columns[n++] = (dck_column){"trials", "trials", DCK_UNIT_ONE};
	columns[n++] = (dck_column){"why", "reason", DCK_UNIT_NONE};
	record_table(m->b, "tune/configurations", "Every configuration", columns, n);
	for (size_t i = 0; i < race_narms(m->r->race); i++) {
		const race_arm *a = race_arm_get(m->r->race, i);

		common_cells(m, i);
		record_cell_text(m->b, tune_status(m, i));
		record_cell_int(m->b, a->trials);
		if (a->why[0])
			record_cell_text(m->b, a->why);
		else if (a->outputs == RACE_DIFFER && a->outputs_why[0])
			record_cell_text(m->b, a->outputs_why);
		else if (is_violated(m, i))
			record_cell_text(m->b, tune_over_text(m, i));
		else
			record_cell_absent(m->b,
					   a->trials > 0 ? "nothing failed" : why_not_measured(a));
	}
}

/* --- facts and metrics */

static void tune_facts(tuned *m)
{
	const tune_run *r = m->r;
	const space *p = &r->space;

	if (r->facts) {
		record_copy_facts(m->b, r->facts);
		subject_facts_usual_copy(m->b, r->facts);
	}
	record_fact_options(m->b, "plan", dck_tune_options, r->config);
	for (size_t d = 0; d < p->n; d++) {
		const char *list = NULL;

		for (size_t i = 1; i < p->dims[d].n; i++)
			list = mem_arena_fmt(m->a, "%s%s%s", list ? list : "", list ? ", " : "",
					     p->dims[d].value[i]);
		record_fact_text(m->b, "space", p->dims[d].name, list);
	}
	if (*p->fixed)
		record_fact_text(m->b, "tune", "given", p->fixed);
	if (*p->absent)
		record_fact_text(m->b, "tune", "engines_absent", p->absent);
	for (size_t i = 0; p->files && i < VARIANTS; i++) {
		const char *key = mem_arena_fmt(m->a, "variant_%s", variant_rows[i].name);
		if (key && p->files->path[i])
			record_fact_text(m->b, "tune", key, p->files->path[i]);
		else if (key)
			record_fact_absent(m->b, "tune", key, p->files->why[i]);
	}
	if (p->files)
		record_fact_real(m->b, "tune", "variants_elapsed", DCK_UNIT_NS, p->files->took_ns);
	record_fact_text(
	    m->b, "method", "trial",
	    "a fresh process; rounds of one trial of each configuration in random order");
	record_fact_text(
	    m->b, "method", "search",
	    "one option at a time, then pairs of values at random, then combinations of the faster "
	    "values by sequential halving; those shown to be slower leave at once");
	if (m->r->limit.ns > 0) {
		record_fact_text(m->b, "method", "limit",
				 "exact binomial test of the runs over it in all trials, at their "
				 "effective sample size, simultaneous by Bonferroni");
		record_fact_text(m->b, "tune", "verdict",
				 latency_limit_word(race_holds(r->race, m->best)));
		record_fact_text(m->b, "tune", "verdict_default",
				 latency_limit_word(race_holds(r->race, 0)));
		record_gate(m->b, race_holds(r->race, m->best));
	}
	record_fact_text(m->b, "method", "confirmation",
			 "fresh pairs of the winner and the default; Hodges-Lehmann shift and "
			 "signed-rank test on the logarithms of their ratios, repeated looks");
	record_fact_text(m->b, "method", "interval",
			 "of effects: Student's t on logarithms, the error pooled over "
			 "configurations, simultaneous by Bonferroni");
	if (!r->config->labels)
		record_fact_text(m->b, "method", "error",
				 "largest difference of an output over its root mean square");
	record_fact_int(m->b, "method", "trial_time", DCK_UNIT_NS, (int64_t)r->trial_ns);
	record_fact_int(m->b, "method", "trials", DCK_UNIT_ONE, (int64_t)race_ntrials(r->race));
	if (r->config->resume)
		record_fact_int(m->b, "method", "trials_resumed", DCK_UNIT_ONE,
				(int64_t)r->replayed);
	record_fact_int(m->b, "method", "pairs", DCK_UNIT_ONE, (int64_t)m->result.ratio.n);
	record_fact_real(m->b, "method", "elapsed", DCK_UNIT_NS, race_used_ns(r->race));
	record_fact_text(m->b, "tune", "configuration", arm_text(m, m->best));
	if (m->command)
		record_fact_text(m->b, "tune", "command", m->command);
	record_fact_int(m->b, "tune", "unresolved", DCK_UNIT_ONE, (int64_t)m->result.unresolved);
}

static void tune_metrics(tuned *m)
{
	const race_number x = speedup_of(m->result.ratio);
	const race_arm *a = race_arm_get(m->r->race, m->best);

	if (m->result.ratio.n > 0)
		record_metric_interval(
		    m->b, "tune/speedup", x.value, x.lo, x.hi,
		    isnan(x.lo) ? 0 : m->r->config->level,
		    mem_arena_fmt(m->a,
				  "Hodges-Lehmann shift of %zu fresh pairs of %s and the default",
				  m->result.ratio.n, arm_text(m, m->result.winner)));
	else
		record_metric_absent(m->b, "tune/speedup",
				     m->result.winner == 0 && m->result.excluded > 0
					 ? "no configuration with the same outputs seemed faster "
					   "than the default"
				     : m->result.winner == 0
					 ? "no configuration seemed faster than the default"
				     : m->r->interrupted ? "it was interrupted before"
							 : "there was no time to confirm it");
	if (m->best > 0 && a->outputs == RACE_AGREE && m->r->config->labels)
		record_metric_real(m->b, "tune/accuracy", 1 - a->error,
				   "share of the labelled items that it predicts correctly");
	else if (m->best > 0 && a->outputs == RACE_AGREE)
		record_metric_real(m->b, "tune/error", a->error,
				   "largest difference of an output over its root mean square");
	else
		record_metric_absent(m->b, m->r->config->labels ? "tune/accuracy" : "tune/error",
				     m->best > 0	    ? a->outputs_why
				     : m->r->config->labels ? "the default was not tested"
							    : "the default is the reference");
}

/* --- the answer */

static const char *tune_interval_text(const tuned *m, race_number x)
{
	return isnan(x.lo) ? "" : mem_arena_fmt(m->a, " [%.2f, %.2f]", x.lo, x.hi);
}

static const char *outputs_text(const tuned *m)
{
	const race_arm *a = race_arm_get(m->r->race, m->best);

	if (a->outputs != RACE_AGREE)
		return m->r->config->labels ? "; its accuracy is not known"
					    : "; its outputs could not be compared";
	if (m->r->config->labels)
		return mem_arena_fmt(m->a, "; it predicts %.4g %% of the items correctly",
				     100 * (1 - a->error));
	return a->error > 0 ? mem_arena_fmt(m->a, "; outputs agree to %.0e", a->error)
			    : "; its outputs are identical";
}

/* "; p99<=20ms is met, and violated by the default" */
static const char *limit_text(const tuned *m)
{
	static const char *const words[] = {[DCK_VERDICT_MET] = "is met",
					    [DCK_VERDICT_VIOLATED] = "is violated",
					    [DCK_VERDICT_INCONCLUSIVE] =
						"is neither met nor violated"};

	if (!(m->r->limit.ns > 0))
		return "";
	return mem_arena_fmt(m->a, "; %s %s%s", m->r->limit.text,
			     words[race_holds(m->r->race, m->best)],
			     m->best == 0	 ? " by the default"
			     : is_violated(m, 0) ? ", and violated by the default"
						 : "");
}

static void tune_answer(tuned *m)
{
	const race_number x = speedup_of(m->result.ratio);
	const char *limit = limit_text(m);

	if (m->result.found)
		record_answer(m->b, "%s is %.2f times as fast as the default%s%s%s",
			      arm_text(m, m->best), x.value, tune_interval_text(m, x),
			      outputs_text(m), limit);
	else if (m->result.ratio.n > 0 && is_violated(m, m->result.winner))
		record_answer(
		    m->b,
		    "no configuration is shown to be faster than the default: %s violates "
		    "the limit%s",
		    arm_text(m, m->result.winner), limit);
	else if (m->result.ratio.n > 0 &&
		 race_arm_get(m->r->race, m->result.winner)->end != RACE_OK)
		record_answer(m->b,
			      "no configuration is shown to be faster than the default: %s failed "
			      "in the confirmation%s",
			      arm_text(m, m->result.winner), limit);
	else if (m->result.ratio.n > 0)
		record_answer(m->b,
			      "no configuration is shown to be faster than the default: %s is %.2f "
			      "times as fast%s%s",
			      arm_text(m, m->result.winner), x.value, tune_interval_text(m, x),
			      limit);
	else
		record_answer(m->b, "no configuration is shown to be faster than the default%s",
			      limit);
}

/* --- notes */

static void note_failures(tuned *m)
{
	size_t shown = 0, more = 0;

	for (size_t i = 1; i < race_narms(m->r->race); i++) {
		const race_arm *a = race_arm_get(m->r->race, i);

		if (a->end == RACE_OK)
			continue;
		if (shown++ < FAILURES_SHOWN)
			record_note(m->b, "configuration-failed", "%s is out: %s", arm_text(m, i),
				    a->why);
		else
			more++;
	}
	if (more > 0)
		record_note(m->b, "configuration-failed",
			    "%zu more %s failed; the table has the reasons", more,
			    COUNTED(more, "configuration", "configurations"));
}

static void note_outputs(tuned *m)
{
	for (size_t i = 1; i < race_narms(m->r->race); i++) {
		const race_arm *a = race_arm_get(m->r->race, i);

		if (a->outputs == RACE_DIFFER)
			record_note(m->b, "configuration-differs",
				    m->r->config->labels ? "%s is out: %s"
							 : "%s is out, its outputs differ: %s",
				    arm_text(m, i),
				    a->outputs_why[0] ? a->outputs_why
						      : mem_arena_fmt(m->a, "by %.2g", a->error));
		else if (i == m->best && a->outputs == RACE_UNKNOWN)
			record_note(
			    m->b, "outputs-not-compared",
			    m->r->config->labels
				? "the accuracy of %s is not known: %s"
				: "the outputs of %s could not be compared with the default's: %s",
			    arm_text(m, i), a->outputs_why);
	}
}

static void note_limit(tuned *m)
{
	const latency_limit *limit = &m->r->limit;
	const dck_verdict verdict = race_holds(m->r->race, m->best);
	const char *who = m->best == 0 ? "the default" : arm_text(m, m->best);
	size_t n = 0;

	if (!(limit->ns > 0))
		return;
	for (size_t i = 1; i < race_narms(m->r->race); i++)
		n += is_violated(m, i);
	if (n > 0)
		record_note(m->b, "configuration-violates",
			    "%zu configuration%s out: shown to violate %s", n,
			    n == 1 ? " is" : "s are", limit->text);
	if (verdict == DCK_VERDICT_VIOLATED)
		record_note(m->b, "slo-not-met", "%s is violated by %s: %s", limit->text, who,
			    tune_over_text(m, m->best));
	else if (verdict == DCK_VERDICT_INCONCLUSIVE) {
		record_note(m->b, "slo-inconclusive", "whether %s meets %s is not known: %s", who,
			    limit->text, tune_over_text(m, m->best));
		record_remedy(m->b, "'deepclock load --slo' tests it");
	}
}

/* Names the options whose values all made no difference that matters. */
static void note_no_effect(tuned *m)
{
	const char *list = NULL;
	size_t n = 0;

	for (size_t d = 0; d < m->r->space.n; d++) {
		bool any = false, none = true;

		for (size_t i = 1; i < race_narms(m->r->race); i++) {
			const race_arm *a = race_arm_get(m->r->race, i);

			if (a->changes != 1 || a->value[d] == 0)
				continue;
			const race_number x = arm_speedup(m, i);

			any |= !isnan(x.lo);
			none &= isnan(x.lo) || (x.lo <= 1 && x.hi >= 1);
		}
		if (!any || !none || race_arm_get(m->r->race, m->best)->value[d] > 0)
			continue;
		n++;
		list = mem_arena_fmt(m->a, "%s%s%s", list ? list : "", list ? ", " : "",
				     m->r->space.dims[d].name);
	}
	if (n > 0 && list)
		record_note(m->b, "tune-no-effect", "no effect of %s is shown: left at the default",
			    list);
}

static void note_unresolved_arms(tuned *m)
{
	if (m->result.found && m->result.unresolved > 0)
		record_note(m->b, "tune-unresolved",
			    "%zu other configuration%s of the last rounds may be faster than it by "
			    "more than %g %%",
			    m->result.unresolved, m->result.unresolved == 1 ? "" : "s",
			    100 * m->r->config->margin);
}

static void note_untried(tuned *m)
{
	size_t n = 0;

	for (size_t i = 1; i < race_narms(m->r->race); i++)
		n += race_arm_get(m->r->race, i)->skipped &&
		     race_arm_get(m->r->race, i)->why[0] == '\0';
	if (n > 0) {
		record_note(
		    m->b, "tune-out-of-time",
		    "%zu configuration%s not tried: a round of all does not fit into the part "
		    "of --max-time that the confirmation leaves",
		    n, n == 1 ? " was" : "s were");
		record_remedy(m->b, "give more --max-time, or fewer options (--only, --skip)");
	}
}

/* Variants that were not made; one reason of all is written once. */
static void note_variants(const tuned *m)
{
	const variants *v = m->r->space.files;
	const char *text = "";
	size_t absent = 0;
	bool same = true;

	for (size_t i = 0; v && text && i < VARIANTS; i++) {
		if (v->path[i])
			continue;
		text = mem_arena_fmt(m->a, "%s%s%s (%s)", text, *text ? ", " : "",
				     variant_rows[i].name, v->why[i]);
		same &= strcmp(v->why[i], v->why[0]) == 0;
		absent++;
	}
	if (absent == VARIANTS && same)
		text = mem_arena_fmt(m->a, "all variants: %s", v->why[0]);
	if (absent > 0)
		record_note(m->b, "variant-absent", "not made: %s", text ? text : "");
	if (absent > 0 && v->no_tools)
		record_remedy(m->b, "pip install onnxruntime onnx, for the python3 of PATH");
}

static void tune_notes(tuned *m)
{
	const tune_run *r = m->r;

	if (r->interrupted) {
		record_set_incomplete(m->b, true);
		record_note(m->b, "interrupted",
			    "interrupted after %zu %s: this is what was measured until then",
			    race_ntrials(r->race),
			    COUNTED(race_ntrials(r->race), "trial", "trials"));
		if (r->journal)
			record_remedy(m->b, "run it again to resume");
	}
	if (m->result.out_of_time) {
		record_note(m->b, "tune-out-of-time",
			    "--max-time left no time to confirm that %s is faster",
			    arm_text(m, m->result.winner));
		record_remedy(m->b, "give more, or fewer options (--only, --skip)");
	}
	note_untried(m);
	if (m->command && m->result.found) {
		record_note(m->b, "tune-apply", "%s", m->command);
		record_remedy(m->b, "lines for Python and C: --details");
	}
	note_unresolved_arms(m);
	note_limit(m);
	note_outputs(m);
	note_failures(m);
	note_no_effect(m);
	if (*r->space.absent)
		record_note(m->b, "engine-absent", "not tried: %s", r->space.absent);
	note_variants(m);
	record_others_put(&r->others, m->b, "tune", true);
	if (r->journal_failed.code != DCK_OK)
		record_note(m->b, "journal-failed",
			    "the journal could not be written: %s; the search cannot be resumed",
			    r->journal_failed.msg);
}

static void tune_write(tuned *m)
{
	race_judge(m->r->race, &m->result);
	m->best = m->result.found ? m->result.winner : 0;
	m->value = race_default_value(m->r->race);
	m->latency = tune_bounded(race_default_latency(m->r->race));
	table_front(m);
	table_effects(m);
	table_configurations(m);
	m->command = tune_apply(m->b, m->r, m->best, m->a);
	tune_facts(m);
	tune_metrics(m);
	tune_answer(m);
	tune_notes(m);
}

dck_status tune_record(const tune_run *r, dck_record **ret, dck_err *err)
{
	tuned m = {.r = r, .a = mem_arena_new(0), .b = record_begin(r->config->title)};
	bool ok = m.a && m.b;

	if (ok) {
		tune_write(&m);
		record_set_began(m.b, os_unix_ns() - (int64_t)(os_now_ns() - r->begin_ns));
		ok = !mem_arena_failed(m.a);
	}
	mem_arena_free(m.a);
	return record_finish_if(ok ? DCK_OK : ERR_NO_MEMORY(err, "for a record"), m.b, ret, err);
}
