/* interleaved_options.c - the options of an interleaved comparison.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/compare.h"
#include "base/commas.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "deepclock/unstable.h"
#include <stddef.h>
#include <string.h>

const char *const dck_compare_statistics[] = {"median", "mean", "min", NULL};
const char *const dck_compare_scalings[] = {"none", "weak", "strong", NULL};

const dck_opt dck_compare_options[] = {
    DCK_OPTION(SHARE, dck_compare_config, margin, "margin", "SHARE", "1%",
	       "differences up to it do not matter", .max = 10),
    DCK_OPTION(SHARE, dck_compare_config, level, "level", "SHARE", "95%",
	       "confidence level of all verdicts together", .min = 0.5, .max = 0.9999),
    DCK_OPTION(CHOICE, dck_compare_config, statistic, "statistic", "WHICH", "median",
	       "statistic of a trial's runs; for records: the compared metric",
	       .choices = dck_compare_statistics),
    DCK_FLAG(dck_compare_config, undisturbed, "undisturbed",
	     "decide by the runs in which no thread waited for a processor (latency/undisturbed)",
	     .excludes = "statistic metric"),
    {0},
};

const dck_opt dck_compare_live_options[] = {
    DCK_OPTION(COUNT, dck_compare_config, rounds, "rounds", "N", NULL,
	       "exactly this number of rounds, tested once; 0: until all is decided", .max = 10000),
    DCK_OPTION(COUNT, dck_compare_config, max_rounds, "max-rounds", "N", "400", "rounds at most",
	       .min = 12, .max = 10000, .excludes = "rounds"),
    DCK_OPTION(TIME, dck_compare_config, max_time_ns, "max-time", "TIME", "30s",
	       "time at most, warm-ups included; one round is made in any case", .min = 1,
	       .max = 1e15),
    DCK_OPTION(TIME, dck_compare_config, trial_ns, "trial", "TIME", "10ms",
	       "how long one trial of a model takes; at least three runs", .max = 1e12),
    DCK_OPTION(COUNT, dck_compare_config, trials, "trials", "N", NULL,
	       "trials of each subject in a round; 0: 2, or more where opening takes long",
	       .max = 1000),
    DCK_FLAG(dck_compare_config, keep_sessions, "keep-sessions",
	     "open each subject once, not again for every round: faster, but chance differences "
	     "of one start count as differences"),
    DCK_FLAG(dck_compare_config, fresh, "fresh",
	     "every trial in a fresh process, so that no start is compared with another's luck"),
    DCK_OPTION(COUNT, dck_compare_config, processes, "processes", "N", NULL,
	       "1: all trials in this process; default: models in fresh processes for every "
	       "round, if starting is quick",
	       .min = 1, .excludes = "fresh"),
    DCK_FLAG(dck_compare_config, aa, "aa",
	     "first run an A/A comparison; no verdict claims a difference smaller than its result",
	     .excludes = "over"),
    DCK_OPTION(TEXT, dck_compare_config, over, "over", "OPTION=V,V", NULL,
	       "compare at each of these values, e.g. batch=1,8,64, and report where another "
	       "becomes the faster"),
    DCK_FLAG(dck_compare_config, check_outputs, "check-outputs",
	     "also compare the outputs of each with the first's; a difference is a failure"),
    DCK_OPTION(COUNT, dck_compare_config, seed, "order-seed", "N", "1", "of the order of trials",
	       .max = 9e15),
    {0},
};

const dck_opt dck_compare_saved_options[] = {
    DCK_OPTION(TEXT, dck_compare_config, metric, "metric", "TAG", NULL,
	       "the compared metric, e.g. latency/p99; default: the latency of --statistic, or "
	       "items per second where the runs differ in items"),
    DCK_OPTION(SHARE, dck_compare_config, run_to_run, "run-to-run", "SHARE", "5%",
	       "variation between recordings at different times (covers 95 % of unchanged pairs), "
	       "added to the interval of times and rates",
	       .max = 10),
    DCK_FLAG(dck_compare_config, force, "force",
	     "also when machine or method of the records differ"),
    DCK_OPTION(
	CHOICE, dck_compare_config, scaling, "scaling", "WHICH", "none",
	"of jobs of different numbers of ranks: weak, each rank has the same work, or strong, "
	"all together have",
	.choices = dck_compare_scalings, .excludes = "metric pool"),
    DCK_FLAG(dck_compare_config, pool, "pool",
	     "the last record against all before it: the interval includes their scatter"),
    {0},
};

void dck_compare_config_init_sized(dck_compare_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_compare_options, dck_compare_live_options,
			dck_compare_saved_options);
}

/* --- rankings: options of one subject do not apply to several */

static dck_status ranking_check(const dck_plan *plan, const dck_opt_given *given, size_t n,
				dck_err *err)
{
	static const struct {
		const char *name, *instead;
	} of_one[] = {
	    {"time", "give --runs or --max-time"},
	    {"min-time", "rounds are made until the ratios are known to --precision"},
	    {"min-runs", "rounds are made until the ratios are known to --precision"},
	    {"group", "a trial of a short model is several runs"},
	    {"idle", "measure them one by one"},
	    {"keep", "all rounds are kept"},
	    {"pin-start", "measure them one by one"},
	    {"trace", "measure them one by one"},
	};
	const dck_opt *rounds = dck_opt_find(dck_compare_live_options, "rounds");

	for (size_t i = 0; i < sizeof of_one / sizeof of_one[0]; i++)
		if (dck_opt_is_given(given, n, of_one[i].name))
			DCK_FAIL(err, E_ARG,
				 "--%s applies to one subject, and several are measured "
				 "interleaved: %s",
				 of_one[i].name, of_one[i].instead);
	if (plan->processes > 1)
		DCK_FAIL(err, E_ARG,
			 "--processes N applies to one subject, and several are measured "
			 "interleaved, each in a fresh process for every round: give "
			 "--processes 1 or none");
	if ((double)plan->runs > rounds->max)
		DCK_FAIL(err, E_ARG,
			 "--runs is %llu: of several subjects at most %.0f are measured",
			 (unsigned long long)plan->runs, rounds->max);
	if (plan->runs > 0 && plan->max_time_given)
		DCK_FAIL(err, E_ARG,
			 "several subjects are measured in rounds: give --runs or --max-time");
	if (plan->statistic && strcmp(plan->statistic, "median") != 0 &&
	    strcmp(plan->statistic, "mean") != 0)
		DCK_FAIL(err, E_ARG,
			 "several subjects are ranked by their median or mean: measure them one by "
			 "one for another statistic");
	return DCK_OK;
}

dck_status dck_plan_ranking(const dck_plan *plan, const dck_opt_given *given, size_t n,
			    size_t subjects, dck_compare_config *ret, dck_err *err)
{
	dck_compare_config r;

	DCK_TRY(ranking_check(plan, given, n, err));
	dck_compare_config_init(&r);
	r.margin = plan->precision;
	r.level = plan->level;
	for (int i = 0; dck_compare_statistics[i]; i++)
		if (plan->statistic && strcmp(dck_compare_statistics[i], plan->statistic) == 0)
			r.statistic = i;
	r.rounds = plan->runs;
	r.max_time_ns = plan->max_time_ns * subjects;
	if (dck_opt_is_given(given, n, "warmup"))
		r.warmup = plan->warmup;
	if (dck_opt_is_given(given, n, "max-warmup"))
		r.max_warmup_ns = plan->max_warmup_ns;
	r.check_outputs = plan->check_outputs;
	r.clock = plan->clock;
	r.processes = plan->processes;
	r.program = plan->program;
	r.title = plan->title;
	*ret = r;
	return DCK_OK;
}

/* --- options of one kind of comparison */

/* Returns whether an option applies to a measurement and not to saved records. */
static bool is_of_measuring(const char *name)
{
	const dck_opt *const tables[] = {dck_compare_live_options, dck_model_options,
					 dck_command_options, dck_hook_options};
	bool found = commas_have("vary,modes,scan,url,model", name);

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		found |= dck_opt_find(tables[i], name) != NULL;
	return found;
}

dck_status dck_compare_given_check(const dck_opt_given *given, size_t n, bool records, dck_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = given[i].row->name;

		if (records && is_of_measuring(name))
			DCK_FAIL(err, E_ARG,
				 "--%s applies to a measurement, and saved records are not "
				 "measured again: leave it out",
				 name);
		if (!records && strcmp(name, "metric") != 0 &&
		    dck_opt_find(dck_compare_saved_options, name))
			DCK_FAIL(err, E_ARG, "--%s applies to saved records: leave it out", name);
	}
	return DCK_OK;
}
