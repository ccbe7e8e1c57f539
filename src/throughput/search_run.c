/* search_run.c - the search of dck_throughput(): what was asked made definite, then visit after
 * visit until nothing is left to find out or the time is over.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "throughput/search_run.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/units.h"
#include "tally/counted.h"
#include "measure/worker.h"
#include "os/os.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX 256
/* Of what is there now the rest of the machine keeps a little. */
#define MEMORY_SHARE 0.9
#define FAILURES_MAX 2

const char *const dck_throughput_statistics[] = {"median", "mean", NULL};

const dck_opt dck_throughput_options[] = {
    DCK_OPTION(TEXT, dck_throughput_config, batch, "batch", "N,N...", NULL,
	       "measure exactly these batch sizes instead of searching", .letter = 'b'),
    DCK_OPTION(COUNT, dck_throughput_config, min_batch, "min-batch", "N", "1",
	       "where the search begins", .min = 1, .max = 1e9, .excludes = "batch"),
    DCK_OPTION(COUNT, dck_throughput_config, max_batch, "max-batch", "N", "1024",
	       "the largest batch size that is tried", .min = 1, .max = 1e9, .excludes = "batch"),
    DCK_OPTION(TEXT, dck_throughput_config, batch_dim, "batch-dim", "SYMBOL", NULL,
	       "the model's symbolic dimension that is the batch; by itself axis 0 of the inputs"),
    DCK_OPTION(TEXT, dck_throughput_config, threads, "threads", "N,N...", NULL,
	       "threads inside an operator; several are all searched", .letter = 'j'),
    DCK_OPTION(TEXT, dck_throughput_config, streams, "streams", "N,N...", NULL,
	       "requests that are served at the same time; several are all searched"),
    DCK_OPTION(TEXT, dck_throughput_config, slo, "slo", "STAT<=TIME", NULL,
	       "only batch sizes whose latency keeps to this, such as p99<=20ms"),
    DCK_OPTION(BYTES, dck_throughput_config, memory_bytes, "memory", "BYTES", NULL,
	       "memory that a measurement may have; by itself nearly all that is free", .min = 1,
	       .max = 1e15),
    DCK_OPTION(CHOICE, dck_throughput_config, statistic, "statistic", "WHICH", "median",
	       "throughput is the batch over this latency; with --streams always the mean",
	       .choices = dck_throughput_statistics),
    DCK_OPTION(SHARE, dck_throughput_config, precision, "precision", "SHARE", "1%",
	       "how well differences between batch sizes shall be known", .min = 1e-6, .max = 1),
    DCK_OPTION(SHARE, dck_throughput_config, level, "level", "SHARE", "95%",
	       "confidence level of every interval", .min = 0.5, .max = 0.9999),
    DCK_OPTION(COUNT, dck_throughput_config, rounds, "rounds", "N", "3",
	       "rounds over the sizes that matter, at least; up to three times as many", .min = 2,
	       .max = 32),
    DCK_OPTION(TIME, dck_throughput_config, point_time_ns, "point-time", "TIME", "1s",
	       "measure at most so long in each visit; half of it may be warm-up before",
	       .min = 1e6, .max = 1e13),
    DCK_OPTION(TIME, dck_throughput_config, max_time_ns, "max-time", "TIME", "5m",
	       "end the search then and report what is known", .min = 1, .max = 1e15),
    DCK_OPTION(TEXT, dck_throughput_config, resume, "resume", "FILE", NULL,
	       "keep a journal in FILE, and go on where it ends when it exists"),
    {0},
};

void dck_throughput_config_init(dck_throughput_config *c)
{
	const dck_status status = dck_opt_defaults(dck_throughput_options, c, NULL);

	assert(status == DCK_OK);
	(void)status;
	c->program = NULL;
	c->title = NULL;
}

/* --- what was asked */

/* "1,2,4" into *ret, ascending and each once. */
static dck_status list_parse(const char *option, const char *text, uint64_t *ret, size_t max,
			     size_t *ret_n, dck_err *err)
{
	size_t n = 0;

	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		const size_t length = strcspn(at, ",");
		char word[32];
		uint64_t v;
		size_t k;

		snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 0), at);
		if (units_parse_count(word, &v, NULL) != DCK_OK || v == 0 || v > 1000000000)
			DCK_FAIL(
			    err, E_ARG,
			    "--%s is '%.100s': give whole numbers above 0 with commas between, "
			    "such as 1,2,4",
			    option, text);
		if (n == max)
			DCK_FAIL(err, E_LIMIT, "--%s has more than %zu numbers", option, max);
		for (k = n; k > 0 && ret[k - 1] > v; k--)
			ret[k] = ret[k - 1];
		if (k > 0 && ret[k - 1] == v) {
			memmove(ret + k, ret + k + 1, (n - k) * sizeof *ret);
			continue;
		}
		ret[k] = v;
		n++;
	}
	*ret_n = n;
	return DCK_OK;
}

static dck_status batches_read(search_run *r, dck_err *err)
{
	const dck_throughput_config *c = r->config;

	r->plan.min_batch = c->min_batch;
	r->plan.max_batch = c->max_batch;
	if (c->batch) {
		DCK_TRY(list_parse("batch", c->batch, r->batches, SEARCH_BATCHES_MAX,
				   &r->plan.nbatches, err));
		r->plan.batches = r->batches;
	}
	if (c->min_batch < 1 || c->min_batch > c->max_batch)
		DCK_FAIL(err, E_ARG, "--min-batch is %llu and --max-batch %llu: it cannot be more",
			 (unsigned long long)c->min_batch, (unsigned long long)c->max_batch);
	return DCK_OK;
}

/* Every number of threads with every number of streams. */
static dck_status settings_read(search_run *r, dck_err *err)
{
	uint64_t threads[SEARCH_SETTINGS_MAX] = {0}, streams[SEARCH_SETTINGS_MAX] = {1};
	size_t nthreads = 1, nstreams = 1;

	if (r->config->threads)
		DCK_TRY(list_parse("threads", r->config->threads, threads, SEARCH_SETTINGS_MAX,
				   &nthreads, err));
	if (r->config->streams)
		DCK_TRY(list_parse("streams", r->config->streams, streams, SEARCH_SETTINGS_MAX,
				   &nstreams, err));
	if (nthreads * nstreams > SEARCH_SETTINGS_MAX)
		DCK_FAIL(err, E_LIMIT, "--threads and --streams make %zu settings, more than %d",
			 nthreads * nstreams, SEARCH_SETTINGS_MAX);
	for (size_t i = 0; i < nthreads * nstreams; i++)
		r->settings[i] = (search_setting){threads[i / nstreams], streams[i % nstreams]};
	r->plan.settings = (unsigned)(nthreads * nstreams);
	return DCK_OK;
}

static dck_status asked_read(search_run *r, dck_err *err)
{
	const dck_throughput_config *c = r->config;

	if (r->subject->kind != DCK_SUBJECT_MODEL)
		DCK_FAIL(err, E_ARG, "only a model has a batch size: give a file or zoo:NAME");
	if (!c->program)
		DCK_FAIL(err, E_UNSUP,
			 "each batch size is measured in fresh processes, which need the deepclock "
			 "program (dck_throughput_config.program)");
	if (!(c->precision > 0) || !(c->level > 0 && c->level < 1) || c->rounds < 2 ||
	    c->point_time_ns == 0)
		DCK_FAIL(err, E_ARG,
			 "precision and point_time_ns must be above 0, level between 0 and 1, "
			 "rounds at least 2");
	DCK_TRY(batches_read(r, err));
	DCK_TRY(settings_read(r, err));
	if (c->slo)
		DCK_TRY(search_slo_parse(c->slo, &r->slo, err));
	/* What several streams make together is known as a mean alone. */
	r->median = c->statistic == 0 && !c->streams;
	r->plan.level = c->level;
	r->plan.precision = c->precision;
	r->plan.limit_ns = r->slo.limit_ns;
	r->plan.held_max = r->slo.is_max;
	r->plan.held_upper = r->slo.is_upper;
	r->plan.rounds_min =
	    c->rounds < SEARCH_ROUNDS_MAX ? (unsigned)c->rounds : SEARCH_ROUNDS_MAX;
	r->plan.rounds_max =
	    3 * r->plan.rounds_min < SEARCH_ROUNDS_MAX ? 3 * r->plan.rounds_min : SEARCH_ROUNDS_MAX;
	r->plan.longest_ns = (double)c->point_time_ns;
	r->plan.seed = r->subject->model.seed;
	r->memory_bytes = c->memory_bytes
			      ? c->memory_bytes
			      : (uint64_t)(MEMORY_SHARE * (double)os_memory_available());
	return DCK_OK;
}

/* --- a model whose batch is fixed */

/* Some input leaves its first axis open, with what the user gives. */
static bool batch_is_open(const tally_counted *c)
{
	for (size_t i = 0; i < c->cost->ninputs; i++) {
		const val *v = c->cost->inputs[i];

		if (v->rank < 0 || (v->rank > 0 && !num_known(v->dims[0])))
			return true;
	}
	return c->cost->ninputs == 0;
}

/* The model is freed for a batch that it does not have, and what comes out is looked at once, in a
 * process of its own like every visit; each visit then frees it for its batch. */
static dck_status batch_try(search_run *r, int64_t was, dck_err *err)
{
	freed_model f = {0};
	dck_subject s = *r->subject;
	mem_arena *a = mem_arena_new(0);
	worker_result result;
	dck_status status;
	dck_plan plan;

	if (!a)
		DCK_FAIL(err, E_NOMEM, "no memory to look at the model");
	dck_plan_init(&plan);
	plan.runs = 1;
	plan.warmup = "0";
	plan.program = r->config->program;
	s.model.batch = was == 2 ? 3 : 2;
	status = freed_make(s.text, &s.model, true, a, &f, err);
	r->freed = freed_facts(&f, 0);
	r->freed.done = false;
	freed_done(&f);
	mem_arena_free(a);
	if (status != DCK_OK)
		return status;
	DCK_TRY(worker_run(&(worker_job){.subject = &s, .plan = &plan, .watch = r->watch}, &result,
			   err));
	if (result.end != WORKER_DONE)
		return err_set(err, result.why.code, __FILE__, __LINE__, "%s", result.why.msg);
	const dck_fact *looked = dck_record_fact(result.record, "subject", "batch_checked");
	if (looked && looked->value.kind == DCK_VALUE_TEXT)
		snprintf(r->freed.looked, sizeof r->freed.looked, "%s", looked->value.as.text);
	dck_record_free(result.record);
	r->freed.done = true;
	return DCK_OK;
}

/* A file that cannot be counted is left to the engine, which says more. A built-in network is made
 * with any batch. */
static dck_status batch_check(search_run *r, dck_err *err)
{
	const char *text = r->subject->text;
	dck_subject s = *r->subject;
	tally_counted counted = {0};
	dck_err why;
	dck_status status = DCK_OK;
	mem_arena *a;
	int64_t was = 0;

	if (strncmp(text, "zoo:", 4) == 0) {
		if (r->config->batch_dim)
			DCK_FAIL(err, E_ARG,
				 "--batch-dim is for models from files: a built-in network's batch "
				 "is axis 0");
		return DCK_OK;
	}
	s.model.batch = 0;
	if (r->config->batch_dim) {
		a = mem_arena_new(0);
		if (!a)
			DCK_FAIL(err, E_NOMEM, "no memory to look at the model");
		status = search_subject(r, 1, 0, a, &s, err);
		/* The symbol is the user's: one that the model lacks would change nothing. */
		if (status == DCK_OK &&
		    (status = tally_counted_open(&counted, &s, NULL, &why)) == DCK_E_ARG && err)
			*err = why;
		mem_arena_free(a);
		tally_counted_close(&counted);
		return status == DCK_E_ARG || status == DCK_E_NOMEM ? status : DCK_OK;
	}
	if (tally_counted_open(&counted, &s, NULL, &why) != DCK_OK)
		return DCK_OK;
	const bool open = batch_is_open(&counted);
	tally_counted_close(&counted);
	if (open)
		return DCK_OK;
	if (freed_fixed(text, &was))
		return batch_try(r, was, err);
	DCK_FAIL(
	    err, E_ARG,
	    "the batch of '%s' is fixed: axis 0 of every input has its size already; export it "
	    "with a symbolic batch dimension (torch.onnx.export: dynamic_axes), name another "
	    "symbol with --batch-dim, or measure it as it is with 'deepclock bench'",
	    text);
}

/* --- the journal's key */

/* Two files that differ have, with all likelihood, two hashes. In parts: a child begins with our
 * peak of memory as its own. */
static uint64_t file_hash(const char *path)
{
	unsigned char part[65536];
	uint64_t h = HASH_START;
	FILE *f = fopen(path, "rbe");

	if (!f)
		return 0;
	for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
		h = hash_bytes(h, part, n);
	fclose(f);
	return h;
}

/* Everything that makes the search what it is, a word a line. */
static dck_status key_make(const search_run *r, mem_arena *a, const char **ret, dck_err *err)
{
	dck_throughput_config c = *r->config, plain;
	dck_model_config m = r->subject->model;
	const char *words[WORDS_MAX];
	char *key;
	os_host host;
	size_t n = 0;

	/* How long it may take changes nothing of what a visit says. */
	dck_throughput_config_init(&plain);
	c.max_time_ns = plain.max_time_ns;
	c.resume = NULL;
	m.batch = 0;
	DCK_TRY(worker_words(a, dck_throughput_options, &c, words, WORDS_MAX, &n, err));
	DCK_TRY(worker_words(a, dck_model_options, &m, words, WORDS_MAX, &n, err));
	os_host_get(&host);
	key = mem_arena_fmt(a, "deepclock %s\n%s\ncontent %016llx\n%s", dck_version(),
			    r->subject->text,
			    (unsigned long long)(strncmp(r->subject->text, "zoo:", 4) == 0
						     ? 0
						     : file_hash(r->subject->text)),
			    host.cpu);
	for (size_t i = 0; key && i < n; i++)
		key = mem_arena_fmt(a, "%s\n%s", key, words[i]);
	if (!key)
		DCK_FAIL(err, E_NOMEM, "no memory for a journal");
	*ret = key;
	return DCK_OK;
}

static dck_status journal_open(search_run *r, dck_err *err)
{
	mem_arena *a;
	const char *key = NULL;
	dck_status status;

	if (!r->config->resume)
		return DCK_OK;
	a = mem_arena_new(0);
	if (!a)
		DCK_FAIL(err, E_NOMEM, "no memory for a journal");
	status = key_make(r, a, &key, err);
	if (status == DCK_OK)
		status = search_journal_open(r->config->resume, key, r->search, &r->journal,
					     &r->facts, err);
	mem_arena_free(a);
	r->replayed = search_nvisits(r->search);
	for (size_t i = 0; i < r->replayed; i++)
		r->well += search_visit_get(r->search, i)->outcome.end == SEARCH_OK;
	return status;
}

/* --- visits */

static void phase_say(search_run *r, const search_ask *ask)
{
	static const char *const names[] = {
	    [SEARCH_GROW] = "grow", [SEARCH_REFINE] = "refine", [SEARCH_ROUNDS] = "round"};
	char round[16] = "", setting[48] = "";

	if (ask->phase == SEARCH_ROUNDS)
		snprintf(round, sizeof round, " %u", ask->round);
	if (r->plan.settings > 1)
		search_setting_text(r, ask->setting, setting, sizeof setting);
	snprintf(r->phase, sizeof r->phase, "%s%s: batch %llu%s", names[ask->phase], round,
		 (unsigned long long)ask->batch, setting);
}

static dck_status visit(search_run *r, const search_ask *ask, dck_err *err)
{
	const bool had_facts = r->facts != NULL;
	search_outcome o;

	phase_say(r, ask);
	DCK_TRY(search_measure(r, ask, &o, err));
	/* What is measured is worth more than the journal. */
	if (r->journal && search_journal_add(r->journal, ask, &o, had_facts ? NULL : r->facts,
					     &r->journal_failed) != DCK_OK) {
		search_journal_close(r->journal);
		r->journal = NULL;
	}
	r->measured++;
	r->well += o.end == SEARCH_OK;
	r->failures = o.end == SEARCH_ERROR && ask->phase == SEARCH_ROUNDS ? r->failures + 1 : 0;
	return search_tell(r->search, &o, err);
}

static dck_status visits(search_run *r, dck_err *err)
{
	search_ask ask;
	bool more;

	r->begin_ns = os_now_ns();
	for (;;) {
		DCK_TRY(search_next(r->search, &more, &ask, err));
		if (!more)
			return DCK_OK;
		if (observer_cancelled(r->watch))
			break;
		if (r->measured > 0 && os_now_ns() - r->begin_ns >= r->config->max_time_ns) {
			r->out_of_time = true;
			return DCK_OK;
		}
		const dck_status status = visit(r, &ask, err);

		if (status == DCK_E_CANCEL)
			break;
		if (status != DCK_OK)
			return status;
		/* Not one size, but all that had run: the subject itself fails now. */
		r->failed = r->failures == FAILURES_MAX;
		if (r->failed)
			return DCK_OK;
	}
	r->interrupted = true;
	if (search_nvisits(r->search) == 0)
		DCK_FAIL(err, E_CANCEL, "interrupted before anything was measured");
	return DCK_OK;
}

static dck_status run(search_run *r, dck_record **ret, dck_err *err)
{
	DCK_TRY(asked_read(r, err));
	DCK_TRY(batch_check(r, err));
	r->search = search_new(&r->plan);
	if (!r->search)
		DCK_FAIL(err, E_NOMEM, "no memory for a search");
	DCK_TRY(journal_open(r, err));
	DCK_TRY(visits(r, err));
	return search_record(r, ret, err);
}

dck_status dck_throughput(const dck_subject *s, const dck_throughput_config *c,
			  const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_throughput_config defaults;
	search_run r = {.subject = s, .config = c, .watch = watch};
	dck_status status;

	if (!c) {
		dck_throughput_config_init(&defaults);
		r.config = &defaults;
	}
	status = run(&r, ret, err);
	search_journal_close(r.journal);
	search_free(r.search);
	dck_record_free(r.facts);
	return status;
}
