/* generate.c - dck_generate(): a decoder with past keys and values, generating token by token.
 *
 * Order: the options are checked before the clock is calibrated; the model is opened with all sizes
 * open; each case (a prompt length with a batch) makes its warm-up requests; then rounds, in which
 * each case that is not done makes one request, in random order, so that a drift of the machine is
 * not mistaken for an effect of a length; then the record (generate_record.c).
 *
 * generate_measure() closes the steps, the session and the shared log in this order on every path,
 * because the engine may log until it is closed. The job is on the heap, since the engine holds
 * pointers into it, and is freed last.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/generate/generate_job.h"
#include "base/commas.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/opt_text.h"
#include "base/rng.h"
#include "base/units.h"
#include "measure/subject/shape_resolve.h"
#include "record/record_begin.h"
#include <string.h>

#define REQUESTS_LEAST 6 /* unless the number is given: an interval of a median needs them */
#define GAPS_MAX       (1u << 22) /* of a case: 32 MiB */

/* --- the options, checked */

/* Writes the different lengths, at most `most` of them, and returns their number. */
static size_t prompt_lengths(const prompt_ids *p, uint64_t *ret, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (i > 0 && p->prompt[i].n == p->prompt[i - 1].n)
			continue;
		if (n < most)
			ret[n] = p->prompt[i].n;
		n++;
	}
	return n;
}

static void case_add(generate_job *j, uint64_t prompt, uint64_t batch)
{
	const prompt_ids *p = &j->prompts;
	generate_case c = {.prompt = prompt, .batch = batch};

	while (c.first < p->n && p->prompt[c.first].n != prompt)
		c.first++;
	while (c.first + c.given < p->n && p->prompt[c.first + c.given].n == prompt)
		c.given++;
	j->cases[j->ncases++] = c;
}

static dck_status cases_make(generate_job *j, dck_err *err)
{
	const dck_generate_config *c = j->config;
	uint64_t prompts[GENERATE_LIST], batches[GENERATE_LIST];
	size_t nprompts, nbatches;

	DCK_TRY(units_parse_counts("batch", c->batch, batches, GENERATE_LIST, &nbatches, err));
	if (c->prompt_file)
		DCK_TRY(prompt_ids_read(c->prompt_file, &j->prompts, err));
	if (c->prompt_file)
		nprompts = prompt_lengths(&j->prompts, prompts, GENERATE_LIST);
	else
		DCK_TRY(units_parse_counts("prompt-length", c->prompt_length, prompts,
					   GENERATE_LIST, &nprompts, err));
	if (nprompts > GENERATE_LIST)
		DCK_FAIL(err, E_ARG,
			 "the prompts of '%s' have %zu lengths, each of which is measured, and at "
			 "most %d are possible: cut them to a few lengths",
			 c->prompt_file, nprompts, GENERATE_LIST);
	for (size_t i = 0; i < nprompts; i++)
		for (size_t k = 0; k < nbatches; k++)
			case_add(j, prompts[i], batches[k]);
	j->prompt_max = prompts[nprompts - 1];
	j->batch_max = batches[nbatches - 1];
	if (j->prompt_max > GENERATE_TOKENS_MAX * 10)
		DCK_FAIL(err, E_ARG, "a prompt of %llu tokens is too long: at most %d",
			 (unsigned long long)j->prompt_max, GENERATE_TOKENS_MAX * 10);
	if (j->batch_max * (j->prompt_max + c->new_tokens) > GENERATE_TOKENS_MAX * 100)
		DCK_FAIL(err, E_ARG,
			 "a prompt of %llu tokens and %llu new ones with a batch of %llu are too "
			 "many: at most %d together",
			 (unsigned long long)j->prompt_max, (unsigned long long)c->new_tokens,
			 (unsigned long long)j->batch_max, GENERATE_TOKENS_MAX * 100);
	return DCK_OK;
}

/* Refuses options of models that would change nothing. */
static dck_status model_options_check(const dck_model_config *m, dck_err *err)
{
	static const char inputs[] = "the inputs of a decoder follow from --prompt-length, "
				     "--new-tokens and --batch";
	static const struct model_option {
		const char *name, *why;
	} without[] = {
	    {"transfers", "each step copies its tokens to the device and the scores back, and "
			  "leaves the cache there"},
	    {"items", "the results count tokens, not items"},
	    {"batch", inputs},
	    {"no-batch-check", inputs},
	    {"shape", inputs},
	    {"input", inputs},
	    {"input-pool", inputs},
	    {"image-size", inputs},
	    {"seq", inputs},
	};
	dck_subject plain;

	dck_subject_init(&plain);
	for (const dck_opt *o = dck_model_options; o->name; o++)
		for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
			if (strcmp(without[i].name, o->name) == 0 && !opt_same(o, m, &plain.model))
				DCK_FAIL(err, E_ARG, "--%s has no effect here: %s", o->name,
					 without[i].why);
	return DCK_OK;
}

static dck_status generate_check(generate_job *j, dck_err *err)
{
	const dck_generate_config *c = j->config;

	if (j->subject->kind != DCK_SUBJECT_MODEL)
		DCK_FAIL(err, E_ARG, "generation needs a model: give a file or zoo:llama_mini");
	if (!c->prompt_length || !c->batch)
		DCK_FAIL(err, E_ARG, "--prompt-length and --batch have no value");
	DCK_TRY(model_options_check(&j->subject->model, err));
	return cases_make(j, err);
}

/* --- the requests */

static bool case_is_open(const generate_job *j, const generate_case *c)
{
	const dck_generate_config *g = j->config;

	if (g->requests > 0)
		return c->n < g->requests;
	if (c->n * g->new_tokens > GAPS_MAX)
		return false;
	return c->n < REQUESTS_LEAST || c->spent_ns < (double)g->time_ns;
}

static void generate_progress(const generate_job *j, const char *phase)
{
	double done = 0;
	dck_progress p;

	for (size_t i = 0; i < j->ncases; i++) {
		const generate_case *c = &j->cases[i];
		const double share = j->config->requests > 0
					 ? (double)c->n / (double)j->config->requests
					 : c->spent_ns / (double)j->config->time_ns;
		done += share < 1 ? share : 1;
	}
	p = progress_fraction(phase, (uint64_t)(1000 * done), 1000 * j->ncases,
			      measure_context_now(&j->shared) - j->shared.origin_ns);
	observer_show(j->watch, &p);
}

static dck_status generate_warm(generate_job *j, dck_err *err)
{
	observer_phase((void *)(uintptr_t)j->watch, "warm-up");
	for (size_t i = 0; i < j->ncases; i++)
		for (uint64_t k = 0; k < j->config->warmup; k++)
			DCK_TRY(generate_request(j, &j->cases[i], false, err));
	return DCK_OK;
}

/* Makes one request of each case that is not done, in random order; *ret_any: there was one. */
static dck_status generate_round(generate_job *j, uint64_t *state, bool *ret_any, dck_err *err)
{
	size_t order[GENERATE_CASES];

	*ret_any = false;
	for (size_t i = 0; i < j->ncases; i++) {
		const size_t k = rng_below(state, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (size_t i = 0; i < j->ncases; i++) {
		generate_case *c = &j->cases[order[i]];

		if (!case_is_open(j, c))
			continue;
		*ret_any = true;
		DCK_TRY(generate_request(j, c, true, err));
		generate_progress(j, "generate");
	}
	return DCK_OK;
}

static dck_status rounds_run(generate_job *j, dck_err *err)
{
	uint64_t state = rng_mix(j->config->seed);
	bool any = true;

	record_others_begin(&j->others, 0);
	while (any)
		DCK_TRY(generate_round(j, &state, &any, err));
	return DCK_OK;
}

/* A failure after the first counted request leaves a record of those before. */
static dck_status generate_stopped(generate_job *j, dck_status status, dck_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < j->ncases; i++)
		n += j->cases[i].n;
	if (status == DCK_OK || n == 0)
		return status;
	record_set_incomplete(j->b, true);
	if (status == DCK_E_CANCEL)
		record_note(j->b, "interrupted",
			    "interrupted after %zu %s: this is what was measured until then", n,
			    COUNTED(n, "request", "requests"));
	else
		record_note(j->b, "engine-failed",
			    "request %zu failed: %s; this is what was measured until then", n + 1,
			    err->msg);
	return DCK_OK;
}

/* --- opening */

static bool symbol_is_open(const model_values *v, const char *name)
{
	for (size_t i = 0; i < v->nin; i++)
		for (int d = 0; d < v->in[i].rank; d++)
			if (v->in[i].symbols[d] && strcmp(v->in[i].symbols[d], name) == 0)
				return true;
	return false;
}

/* Refuses a size for a symbol that no input has, which an engine would ignore. */
static dck_status dims_check(const generate_job *j, dck_err *err)
{
	const subject_target *t = &j->session.target;
	const dck_list *dims = &j->subject->model.dim;

	for (size_t i = 0; t->has_summary && i < dims->n; i++) {
		const char *name;
		int64_t size;

		DCK_TRY(subject_dim_read(t->arena, dims->item[i], &name, &size, err));
		if (!symbol_is_open(&t->summary.values, name))
			DCK_FAIL(err, E_ARG, "no input of the model has an open dimension '%s'",
				 name);
	}
	return DCK_OK;
}

/* Refuses a token of the file that the model does not have. */
static dck_status prompts_check(const generate_job *j, dck_err *err)
{
	const prompt_ids *p = &j->prompts;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->prompt[i].n; k++)
			if (p->ids[p->prompt[i].from + k] >= j->layout.vocabulary)
				DCK_FAIL(err, E_ARG,
					 "'%s' has the token %d in line %lu, and the model's "
					 "vocabulary ends at %lld",
					 j->config->prompt_file, (int)p->ids[p->prompt[i].from + k],
					 p->prompt[i].line, (long long)j->layout.vocabulary - 1);
	return DCK_OK;
}

/* Prepares the loop of deepclock, which chooses the tokens. */
static dck_status steps_prepare(generate_job *j, dck_err *err)
{
	DCK_TRY(dims_check(j, err));
	DCK_TRY(decoder_layout_find(&j->session.target, &j->subject->model.dim,
				    j->session.target.arena, &j->layout, err));
	return decoder_steps_open(&j->steps, &j->session.target, &j->shared.clock, &j->layout,
				  (decoder_sizes){.batch = j->batch_max,
						  .prompt = j->prompt_max,
						  .tokens = j->prompt_max + j->config->new_tokens,
						  .device = j->subject->model.device},
				  err);
}

static dck_status generate_open(generate_job *j, dck_err *err)
{
	const subject_target *t = &j->session.target;

	j->session.target.bare = true;
	DCK_TRY(measure_session_open(&j->session, &j->shared, j->subject, NULL, j->watch, err));
	j->engine_generates = engine_may_generate(t->engine.ops);
	if (j->engine_generates) {
		DCK_TRY(engine_generation(t->engine.ops, t->context, &j->generation, err));
		j->layout = (decoder_layout){.vocabulary = j->generation.vocabulary, .runs = true};
	} else {
		DCK_TRY(steps_prepare(j, err));
	}
	DCK_TRY(prompts_check(j, err));
	for (size_t i = 0; i < j->ncases && j->layout.batch > 0; i++)
		if (j->cases[i].batch != (uint64_t)j->layout.batch)
			DCK_FAIL(err, E_ARG,
				 "the model has a fixed batch of %lld, and --batch has %llu",
				 (long long)j->layout.batch, (unsigned long long)j->cases[i].batch);
	return generate_request_init(j, err);
}

static dck_status generate_job_run(generate_job *j, dck_err *err)
{
	os_host_get(&j->host);
	record_set_began(j->b, os_unix_ns());
	DCK_TRY(generate_open(j, err));
	DCK_TRY(generate_warm(j, err));
	const dck_status status = rounds_run(j, err);
	record_others_end(&j->others);
	DCK_TRY(generate_stopped(j, status, err));
	return generate_record(j, err);
}

static dck_status generate_measure(generate_job *j, dck_record **ret, dck_err *err)
{
	dck_err why = {0};
	dck_status status;

	measure_context_begin(&j->shared, j->config->clock, j->watch, false);
	j->b = record_begin(j->config->title);
	status = j->b ? generate_job_run(j, &why) : ERR_NO_MEMORY(&why, "for a record");
	record_others_end(&j->others);
	if (status == DCK_OK)
		measure_notes_show(j->watch, j->b);
	decoder_steps_close(&j->steps);
	measure_session_close(&j->session);
	measure_context_end(&j->shared);
	return record_finish_if(err_pass(status, &why, err), j->b, ret, err);
}

dck_status dck_generate(const dck_subject *s, const dck_generate_config *config,
			const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_generate_config own;
	generate_job *j;
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_generate_config_init, err, dck_generate_options));
	j = mem_zalloc(1, sizeof *j);
	DCK_NEED(j, err, "for a measurement");
	j->subject = s;
	j->config = &own;
	j->watch = watch;
	/* Invalid configurations are rejected before the clock is calibrated. */
	status = generate_check(j, err);
	DCK_NEXT(status, generate_measure(j, ret, err));
	generate_request_done(j);
	mem_free(j);
	return status;
}
