/* tune.c - dck_tune(): the fastest configuration of a model, with the same outputs. This file is
 * the loop around the pure state machine of race.c.
 *
 * Order: the options are checked; the space is made (space.c), which may probe engines; a journal
 * is opened and replayed; then tune_steps() takes a question from the race, measures
 * (tune_measure.c), writes the outcome to the journal and only then gives it to the race; then the
 * record is made (tune_record.c). All time counts by the costs of the steps, those of the journal
 * too; what the first step needs (probes of engines, the files of labels) counts with it.
 *
 * An interruption after the first step gives a record of what was measured. A journal that cannot
 * be written is given up with a note, since the measurement matters more. Everything is owned by
 * dck_tune(), which frees it on every path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/opt_text.h"
#include "measure/worker.h"
#include "os/os.h"
#include "study/tune/tune_run.h"
#include <string.h>

/* Times of other starts differ more than those of longer trials, so that short trials give more for
 * their time; but a limit needs many runs, and a rate several requests of each place in flight. */
#define TRIAL_NS      50000000
#define TRIAL_LONG_NS 200000000

/* The files are read in trials alone: without them no configuration would be tested. */
static dck_status labels_check(const dck_tune_config *c, dck_err *err)
{
	if (c->labels && !os_file_exists(c->labels))
		DCK_FAIL(err, E_ABSENT, "there is no file '%s' (--labels)", c->labels);
	for (size_t i = 0; c->labels && i < c->inputs.n; i++) {
		const char *text = c->inputs.item[i], *equals = strchr(text, '=');

		if (!os_file_exists(text) && !(equals && os_file_exists(equals + 1)))
			DCK_FAIL(err, E_ABSENT, "there is no file '%s' (--inputs)",
				 equals ? equals + 1 : text);
	}
	return DCK_OK;
}

static dck_status tune_check(tune_run *r, dck_err *err)
{
	const dck_tune_config *c = r->config;

	if (r->subject->kind != DCK_SUBJECT_MODEL)
		DCK_FAIL(err, E_ARG, "only a model has configurations: give a file or zoo:NAME");
	if (c->only && c->skip)
		DCK_FAIL(err, E_ARG, "--only and --skip exclude each other: give one of them");
	if (c->labels && c->inputs.n == 0)
		DCK_FAIL(err, E_ARG, "--labels need --inputs FILE.npy, the items that have them");
	if (c->labels && c->min_accuracy == 0)
		DCK_FAIL(err, E_ARG,
			 "--labels need --min-accuracy: configurations that predict less than this "
			 "share of the items correctly are out");
	if (c->slo)
		DCK_TRY(latency_limit_parse(c->slo, false, &r->limit, err));
	if (r->subject->model.arrays.n > 0)
		DCK_FAIL(err, E_UNSUP,
			 "fresh processes do not see '%s', which is in memory here: save it with "
			 "numpy.save() and give the file",
			 r->subject->model.arrays.item[0].name);
	return labels_check(c, err);
}

static dck_status tune_step(tune_run *r, const race_ask *ask, dck_err *err)
{
	const bool had_facts = r->facts != NULL;
	race_outcome o;

	DCK_TRY(tune_measure(r, ask, &o, err));
	if (race_ntrials(r->race) == 0)
		o.before_ns = r->before_ns;
	/* The measurement matters more than the journal. */
	if (r->journal && tune_journal_add(r, ask, &o, had_facts ? NULL : r->facts,
					   &r->journal_failed) != DCK_OK) {
		line_journal_close(r->journal);
		r->journal = NULL;
	}
	race_tell(r->race, &o);
	return DCK_OK;
}

static dck_status tune_steps(tune_run *r, dck_err *err)
{
	race_ask ask;

	while (race_next(r->race, &ask)) {
		const dck_status status =
		    observer_cancelled(r->watch) ? DCK_E_CANCEL : tune_step(r, &ask, err);

		if (status != DCK_OK && status != DCK_E_CANCEL)
			return status;
		if (status == DCK_OK)
			continue;
		r->interrupted = true;
		if (race_arm_get(r->race, 0)->trials == 0)
			DCK_FAIL(err, E_CANCEL, "interrupted before anything was measured");
		return DCK_OK;
	}
	return DCK_OK;
}

/* Numbers of threads are those of a process that is pinned as the trials are. */
static dck_status tune_space_make(tune_run *r, dck_err *err)
{
	const dck_tune_config *c = r->config;
	const char *cpus = r->subject->model.cpus;

	if (cpus)
		DCK_TRY(os_pin_cpus(cpus, err));
	const dck_status status =
	    space_make(r->subject, c, c->quantize ? &r->variants : NULL, r->arena, &r->space, err);
	if (cpus)
		os_unpin_cpus();
	return status;
}

static dck_status tune_run_all(tune_run *r, dck_record **ret, dck_err *err)
{
	const dck_tune_config *c = r->config;
	race_config plan = {.level = c->level,
			    .margin = c->margin,
			    .budget_ns = (double)c->max_time_ns,
			    .verify = true,
			    .limit = r->limit,
			    .seed = r->subject->model.seed};
	dck_status status;

	if (c->quantize)
		DCK_TRY(variants_make(r->subject, c, r->watch, r->arena, &r->variants, err));
	r->begin_ns = os_now_ns();
	DCK_TRY(tune_space_make(r, err));
	DCK_TRY(tune_labels_check(r, err));
	r->trial_ns = c->trial_ns > 0					     ? c->trial_ns
		      : r->limit.ns > 0 || space_varies_in_flight(&r->space) ? TRIAL_LONG_NS
									     : TRIAL_NS;
	space_race(&r->space, &plan);
	r->race = race_new(&plan);
	DCK_NEED(r->race, err, "for a search");
	r->before_ns = (double)(os_now_ns() - r->begin_ns);
	DCK_TRY(tune_journal_open(r, err));
	record_others_begin(&r->others, 0);
	status = tune_steps(r, err);
	record_others_end(&r->others);
	return status == DCK_OK ? tune_record(r, ret, err) : status;
}

dck_status dck_tune(const dck_subject *s, const dck_tune_config *c, const dck_observer *watch,
		    dck_record **ret, dck_err *err)
{
	dck_tune_config own;
	tune_run r = {.subject = s, .config = &own, .watch = watch};
	const char *why = NULL;
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_tune_config_init, err, dck_tune_options));
	DCK_TRY(subject_valid(s, err));
	DCK_TRY(tune_check(&r, err));
	r.arena = mem_arena_new(0);
	DCK_NEED(r.arena, err, "for a search");
	if (!own.program)
		own.program = worker_program_find(r.arena, &why);
	if (own.program)
		status = tune_run_all(&r, ret, err);
	else
		status = ERR_SET(err, E_UNSUP, "%s",
				 why ? why : "fresh processes need the deepclock program");
	line_journal_close(r.journal);
	race_free(r.race);
	dck_record_free(r.facts);
	mem_arena_free(r.arena);
	return status;
}
