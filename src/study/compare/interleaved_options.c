/* interleaved_options.c - the options of an interleaved comparison.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/compare.h"
#include "base/opt_text.h"
#include <stddef.h>

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
