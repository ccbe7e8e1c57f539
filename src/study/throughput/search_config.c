/* search_config.c - the options of a search, and the resolution of their defaults.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search_run.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/units.h"
#include "measure/subject/target.h"
#include "os/os.h"
#include "deepclock/unstable.h"

/* Share of the available memory; the rest is for other processes. */
#define MEMORY_SHARE 0.9

const char *const dck_throughput_statistics[] = {"median", "mean", NULL};

const dck_opt dck_throughput_options[] = {
    DCK_OPTION(TEXT, dck_throughput_config, batch, "batch", "N,N...", NULL,
	       "measure exactly these batch sizes instead of searching", .letter = 'b'),
    DCK_OPTION(COUNT, dck_throughput_config, min_batch, "min-batch", "N", "1",
	       "where the search begins", .min = 1, .max = 1e9, .excludes = "batch"),
    DCK_OPTION(COUNT, dck_throughput_config, max_batch, "max-batch", "N", "1024",
	       "the largest batch size that is tried", .min = 1, .max = 1e9, .excludes = "batch"),
    DCK_OPTION(TEXT, dck_throughput_config, batch_dim, "batch-dim", "SYMBOL", NULL,
	       "the model's symbolic dimension that is the batch; default: axis 0 of the inputs"),
    DCK_OPTION(TEXT, dck_throughput_config, threads, "threads", "N,N...", NULL,
	       "threads inside an operator; several are all searched", .letter = 'j'),
    DCK_OPTION(TEXT, dck_throughput_config, in_flight, "in-flight", "N,N...", NULL,
	       "requests that run at the same time in one session; several are all searched"),
    DCK_OPTION(
	TEXT, dck_throughput_config, slo, "slo", "STAT<=TIME", NULL,
	"only batch sizes whose latency meets this limit, such as p99<=20ms; mean, max, median or any percentile",
	.max = 1),
    DCK_OPTION(BYTES, dck_throughput_config, memory_bytes, "memory", "BYTES", NULL,
	       "memory limit of a measurement; default: nearly all free memory", .min = 1,
	       .max = 1e15),
    DCK_OPTION(CHOICE, dck_throughput_config, statistic, "statistic", "WHICH", "median",
	       "throughput is the batch over this latency; with --in-flight always the mean",
	       .choices = dck_throughput_statistics),
    DCK_OPTION(SHARE, dck_throughput_config, precision, "precision", "SHARE", "1%",
	       "precision of the differences between batch sizes", .min = 1e-6, .max = 1),
    DCK_OPTION(SHARE, dck_throughput_config, level, "level", "SHARE", "95%",
	       "confidence level of every interval", .min = 0.5, .max = 0.9999),
    DCK_OPTION(COUNT, dck_throughput_config, rounds, "rounds", "N", "3",
	       "rounds over the sizes that matter, at least; up to three times as many", .min = 2,
	       .max = 32),
    DCK_OPTION(TIME, dck_throughput_config, point_time_ns, "point-time", "TIME", "1s",
	       "maximum measuring time of a trial; up to half as much warm-up before", .min = 1e6,
	       .max = 1e13),
    DCK_OPTION(TIME, dck_throughput_config, max_time_ns, "max-time", "TIME", "5m",
	       "end the search then and report its results", .min = 1, .max = 1e15),
    DCK_OPTION(TEXT, dck_throughput_config, resume, "resume", "FILE", NULL,
	       "write a journal to FILE, and resume from it if it exists"),
    {0},
};

void dck_throughput_config_init_sized(dck_throughput_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_throughput_options);
}

/* --- the configuration */

static dck_status batches_read(search_run *r, dck_err *err)
{
	const dck_throughput_config *c = r->config;

	r->plan.min_batch = c->min_batch;
	r->plan.max_batch = c->max_batch;
	if (c->batch) {
		DCK_TRY(units_parse_counts("batch", c->batch, r->batches, SEARCH_BATCHES_MAX,
					   &r->plan.nbatches, err));
		r->plan.batches = r->batches;
	}
	if (c->min_batch > c->max_batch)
		DCK_FAIL(err, E_ARG, "--min-batch is %llu and --max-batch %llu: it cannot be more",
			 (unsigned long long)c->min_batch, (unsigned long long)c->max_batch);
	return DCK_OK;
}

/* Every number of threads with every number of requests in flight. */
static dck_status settings_read(search_run *r, dck_err *err)
{
	uint64_t threads[SEARCH_SETTINGS_MAX] = {0}, in_flight[SEARCH_SETTINGS_MAX] = {1};
	size_t nthreads = 1, nflights = 1;
	/* Each request in flight is a stream of a load. */
	const dck_opt *streams = dck_opt_find(dck_load_options, "streams");

	if (r->config->threads)
		DCK_TRY(units_parse_counts("threads", r->config->threads, threads,
					   SEARCH_SETTINGS_MAX, &nthreads, err));
	if (r->config->in_flight)
		DCK_TRY(units_parse_counts("in-flight", r->config->in_flight, in_flight,
					   SEARCH_SETTINGS_MAX, &nflights, err));
	if (nthreads * nflights > SEARCH_SETTINGS_MAX)
		DCK_FAIL(err, E_LIMIT, "--threads and --in-flight make %zu settings, more than %d",
			 nthreads * nflights, SEARCH_SETTINGS_MAX);
	for (size_t i = 0; i < nflights; i++)
		if ((double)in_flight[i] > streams->max)
			DCK_FAIL(err, E_ARG,
				 "--in-flight has %llu: at most %.0f requests run at once",
				 (unsigned long long)in_flight[i], streams->max);
	for (size_t i = 0; i < nthreads * nflights; i++)
		r->settings[i] = (search_setting){threads[i / nflights], in_flight[i % nflights]};
	r->plan.settings = (unsigned)(nthreads * nflights);
	return DCK_OK;
}

static dck_status subject_check(const search_run *r, dck_err *err)
{
	const dck_throughput_config *c = r->config;
	const bool function = r->subject->kind == DCK_SUBJECT_FUNCTION && c->batches;
	const char *option = c->in_flight   ? "in-flight"
			     : c->batch_dim ? "batch-dim"
			     : c->resume    ? "resume"
					    : NULL;

	if (function && option)
		DCK_FAIL(err, E_UNSUP, "--%s is for models: a function is measured in this process",
			 option);
	if (r->subject->kind != DCK_SUBJECT_MODEL && !function)
		DCK_FAIL(err, E_ARG, "only a model has a batch size: give a file or zoo:NAME");
	if (!function && r->subject->model.items > 0)
		DCK_FAIL(
		    err, E_ARG,
		    "--items states the items of a run, which the batch decides here: leave it "
		    "out, items/s are those of the batch");
	if (!c->program && !function)
		DCK_FAIL(err, E_UNSUP,
			 "each batch size is measured in fresh processes, "
			 "which need the deepclock program (dck_throughput_config.program)");
	return subject_valid(r->subject, err);
}

/* The budget without --memory. */
static uint64_t memory_there(const search_run *r)
{
	const uint64_t free_bytes = (uint64_t)(MEMORY_SHARE * (double)os_memory_available(""));

	if (r->subject->kind != DCK_SUBJECT_FUNCTION || free_bytes == 0)
		return free_bytes;
	return r->config->batches->memory_bytes ? r->config->batches->memory_bytes
						: os_resident_bytes() + free_bytes;
}

dck_status search_asked_read(search_run *r, dck_err *err)
{
	const dck_throughput_config *c = r->config;

	DCK_TRY(subject_check(r, err));
	DCK_TRY(batches_read(r, err));
	DCK_TRY(settings_read(r, err));
	if (c->slo)
		DCK_TRY(latency_limit_parse(c->slo, false, &r->plan.limit, err));
	/* The throughput of several requests in flight is known only as a mean. */
	r->median = c->statistic == 0 && !c->in_flight;
	r->plan.level = c->level;
	r->plan.precision = c->precision;
	r->plan.rounds_min =
	    c->rounds < SEARCH_ROUNDS_MAX ? (unsigned)c->rounds : SEARCH_ROUNDS_MAX;
	r->plan.rounds_max =
	    3 * r->plan.rounds_min < SEARCH_ROUNDS_MAX ? 3 * r->plan.rounds_min : SEARCH_ROUNDS_MAX;
	r->plan.longest_ns = (double)c->point_time_ns;
	r->plan.seed = r->subject->model.seed;
	r->memory_bytes = c->memory_bytes ? c->memory_bytes : memory_there(r);
	return DCK_OK;
}
