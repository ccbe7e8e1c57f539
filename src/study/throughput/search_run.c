/* search_run.c - dck_throughput(): the loop of a search for the best batch size, around the pure
 * state machine of search.c.
 *
 * Order: the options become a plan (search_config.c); a model whose batch is fixed is rebatched and
 * checked once, in a worker (batch_try()); a journal is opened and replayed; then trials() takes a
 * trial from the search, measures it (search_measure.c), writes it to the journal and only then
 * gives it to the search. It ends when nothing is left to find out, time is over, the user cancels,
 * or FAILURES_MAX trials in a row fail that had run before; then the record is made.
 *
 * The time limit is checked between trials, and never before the first. A journal that cannot be
 * written is given up with a note, since the measurement matters more. Its key is everything that
 * decides the trials: version, model with a hash of its content, processor and options, but not the
 * time limit. Journal, search and facts are owned by dck_throughput(), which frees them on every
 * path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search_run.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/mem.h"
#include "base/observer.h"
#include "study/cost_report/model_cost.h"
#include "measure/worker.h"
#include "os/os.h"
#include <stdio.h>
#include <string.h>

#define FAILURES_MAX 2

/* --- a model whose batch is fixed */

/* The model is rebatched for a batch that it does not have, and its outputs are checked once, in a
 * separate process like every trial; each trial then rebatches it for its batch. */
static dck_status batch_try(search_run *r, int64_t was, dck_err *err)
{
	rebatched_model f = {0};
	dck_subject s = *r->subject;
	mem_arena *a = mem_arena_new(0);
	dck_record *record;
	dck_status status;
	dck_plan plan;

	DCK_NEED(a, err, "to read the model");
	dck_plan_init(&plan);
	plan.runs = 1;
	plan.warmup = "0";
	plan.program = r->config->program;
	s.model.batch = was == 2 ? 3 : 2;
	status = rebatched_make(s.text, &s.model, true, a, &f, err);
	r->rebatched = rebatched_facts(&f, 0);
	r->rebatched.done = false;
	rebatched_done(&f);
	mem_arena_free(a);
	DCK_TRY(status);
	DCK_TRY(worker_record(&(worker_job){.subject = &s, .plan = &plan, .watch = r->watch},
			      &record, err));
	const char *looked = record_get_text(record, "subject", "batch_checked");
	if (looked)
		snprintf(r->rebatched.looked, sizeof r->rebatched.looked, "%s", looked);
	dck_record_free(record);
	r->rebatched.done = true;
	return DCK_OK;
}

/* Returns a --shape whose axis 0 is a number, which fixes the batch; NULL: none. */
static const char *shape_fixed(const dck_model_config *c)
{
	for (size_t i = 0; i < c->shape.n; i++) {
		const char *equals = strrchr(c->shape.item[i], '=');
		const char *dims = equals ? equals + 1 : c->shape.item[i];

		if (*dims >= '0' && *dims <= '9')
			return c->shape.item[i];
	}
	return NULL;
}

static dck_status shape_refuse(const char *shape, dck_err *err)
{
	DCK_FAIL(err, E_ARG,
		 "--shape %.80s fixes axis 0, the batch, which varies here: write N for it, as in "
		 "input=Nx784",
		 shape);
}

/* Returns whether only the batch that the model has is to be measured. */
static bool is_only_batch(const search_run *r, int64_t was)
{
	return r->plan.batches && r->plan.nbatches == 1 && (int64_t)r->plan.batches[0] == was;
}

/* A file that cannot be counted is left to the engine, which reports more. A built-in network is
 * made with any batch. */
static dck_status search_batch_check(search_run *r, dck_err *err)
{
	const char *text = r->subject->text, *shape = shape_fixed(&r->subject->model);
	dck_subject s = *r->subject;
	model_cost counted = {0};
	dck_err why;
	dck_status status = DCK_OK;
	mem_arena *a;
	int64_t was = 0;

	if (strncmp(text, "zoo:", 4) == 0) {
		if (r->config->batch_dim)
			DCK_FAIL(err, E_ARG,
				 "--batch-dim is for models from files: "
				 "a built-in network's batch is axis 0");
		return shape ? shape_refuse(shape, err) : DCK_OK;
	}
	s.model.batch = 0;
	if (r->config->batch_dim) {
		a = mem_arena_new(0);
		DCK_NEED(a, err, "to read the model");
		status = search_subject(r, 1, 0, a, &s, err);
		/* The symbol is the user's: one that the model lacks would change nothing. */
		if (status == DCK_OK &&
		    (status = model_cost_open(&counted, &s, NULL, &why)) == DCK_E_ARG && err)
			*err = why;
		mem_arena_free(a);
		model_cost_close(&counted);
		return status == DCK_E_ARG || status == DCK_E_NOMEM ? status : DCK_OK;
	}
	if (model_cost_open(&counted, &s, NULL, &why) != DCK_OK)
		return DCK_OK;
	const bool open = model_cost_batch_open(&counted, &s.model);
	model_cost_close(&counted);
	if (open)
		return DCK_OK;
	if (shape)
		return shape_refuse(shape, err);
	if (rebatched_fixed(text, &was))
		return is_only_batch(r, was) ? DCK_OK : batch_try(r, was, err);
	DCK_FAIL(
	    err, E_ARG,
	    "the batch of '%s' is fixed: no input leaves its batch axis open; "
	    "export it with a symbolic batch dimension (torch.onnx.export: dynamic_axes), "
	    "name another symbol with --batch-dim, or measure it as it is with 'deepclock bench'",
	    text);
}

/* --- the journal's key */

/* Makes the key: the identity of the search, one word per line. */
static dck_status search_key_make(const search_run *r, mem_arena *a, const char **ret, dck_err *err)
{
	dck_throughput_config c = *r->config, plain;
	dck_subject s = *r->subject;

	/* The time limit changes nothing in a trial. */
	dck_throughput_config_init(&plain);
	c.max_time_ns = plain.max_time_ns;
	c.resume = NULL;
	s.model.batch = 0;
	return worker_key(a, &s, dck_throughput_options, &c, ret, err);
}

static dck_status journal_open(search_run *r, dck_err *err)
{
	mem_arena *a;
	const char *key = NULL;
	dck_status status;

	if (!r->config->resume)
		return DCK_OK;
	a = mem_arena_new(0);
	DCK_NEED(a, err, "for a journal");
	status = search_key_make(r, a, &key, err);
	DCK_NEXT(status, search_journal_open(r->config->resume, key, r->search, &r->journal,
					     &r->facts, err));
	mem_arena_free(a);
	r->replayed = search_ntrials(r->search);
	for (size_t i = 0; i < r->replayed; i++)
		r->well += search_trial_get(r->search, i)->outcome.end == SEARCH_OK;
	return status;
}

/* --- trials */

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

static dck_status trial(search_run *r, const search_ask *ask, dck_err *err)
{
	const bool had_facts = r->facts != NULL;
	search_outcome o;

	phase_say(r, ask);
	DCK_TRY(search_measure(r, ask, &o, err));
	/* The measurement matters more than the journal. */
	if (r->journal && search_journal_add(r->journal, ask, &o, had_facts ? NULL : r->facts,
					     &r->journal_failed) != DCK_OK) {
		line_journal_close(r->journal);
		r->journal = NULL;
	}
	r->measured++;
	r->well += o.end == SEARCH_OK;
	r->failures = o.end == SEARCH_ERROR && ask->phase == SEARCH_ROUNDS ? r->failures + 1 : 0;
	return search_tell(r->search, &o, err);
}

static dck_status trials(search_run *r, dck_err *err)
{
	search_ask ask;
	bool more;

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
		const dck_status status = trial(r, &ask, err);

		if (status == DCK_E_CANCEL)
			break;
		DCK_TRY(status);
		/* Not one size, but all that had run: the subject itself fails now. */
		r->failed = r->failures == FAILURES_MAX;
		if (r->failed)
			return DCK_OK;
	}
	r->interrupted = true;
	if (search_ntrials(r->search) == 0)
		DCK_FAIL(err, E_CANCEL, "interrupted before anything was measured");
	return DCK_OK;
}

static dck_status search_loop(search_run *r, dck_record **ret, dck_err *err)
{
	DCK_TRY(search_asked_read(r, err));
	if (r->subject->kind == DCK_SUBJECT_MODEL)
		DCK_TRY(search_batch_check(r, err));
	r->search = search_new(&r->plan);
	DCK_NEED(r->search, err, "for a search");
	DCK_TRY(journal_open(r, err));
	r->begin_ns = os_now_ns();
	record_others_begin(&r->others, 0);
	const dck_status status = trials(r, err);
	record_others_end(&r->others);
	DCK_TRY(status);
	return search_record(r, ret, err);
}

dck_status dck_throughput(const dck_subject *s, const dck_throughput_config *c,
			  const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_throughput_config own;
	search_run r = {.subject = s, .config = &own, .watch = watch};
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_throughput_config_init, err, dck_throughput_options));
	status = search_loop(&r, ret, err);
	line_journal_close(r.journal);
	search_free(r.search);
	dck_record_free(r.facts);
	return status;
}
