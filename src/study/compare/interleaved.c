/* interleaved.c - dck_compare() and dck_rank(): several subjects compared live, interleaved in
 * randomised blocks. This file checks the configuration, runs the steps in order and makes the
 * record.
 *
 * Order: the checks; hooks that run once; outputs compared with --check-outputs, before anything is
 * timed; then one comparison (interleaved_rounds.c), or with --over one for each size
 * (interleaved_over.c). With --aa the first half of the time compares the first subject with itself
 * (an A/A test), and the far end of that interval becomes the least difference that is claimed.
 * Last comes the record (interleaved_record.c, of a ranking interleaved_rank.c).
 *
 * Candidates and results are arrays on the stack of dck_compare(). Sessions are closed before the
 * log and the clock that they share (measure_context). A failure after the first whole round
 * becomes a note of an incomplete record; before it, it is returned.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/interleaved_look.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/common_prefix.h"
#include "base/decimal.h"
#include "measure/verify/output_compare.h"
#include "record/record_begin.h"
#include "record/host.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WARMUP_NS_MOST	2000000000u
#define WARMUP_NS_LEAST 300000000u

static dck_status processes_check(const dck_alternative *all, size_t n, const dck_compare_config *c,
				  dck_err *err)
{
	for (size_t i = 0; i < n && c->processes > 1; i++)
		if (all[i].subject->kind == DCK_SUBJECT_FUNCTION)
			DCK_FAIL(err, E_ARG,
				 "--processes is %llu, and functions as '%s' are compared in one "
				 "process: leave it out, or compare programs that call them",
				 (unsigned long long)c->processes, all[i].name);
	if (c->processes > 1)
		DCK_FAIL(err, E_ARG,
			 "--processes is %llu, and takes 1: without it the models of each round "
			 "are in fresh processes; --rounds is the number of rounds",
			 (unsigned long long)c->processes);
	return DCK_OK;
}

static dck_status interleaved_check(const dck_alternative *all, size_t n,
				    const dck_compare_config *c, dck_err *err)
{
	if (n < 2)
		DCK_FAIL(err, E_ARG, "a comparison needs at least two subjects");
	if (n > DCK_ALTERNATIVES_MAX)
		DCK_FAIL(err, E_ARG, "%zu subjects are too many to compare: at most %d", n,
			 DCK_ALTERNATIVES_MAX);
	const size_t least = interleaved_look_least(c->ranking ? n : 2, c->level);
	if (c->ranking && c->rounds > 0 && c->rounds < least)
		DCK_FAIL(err, E_ARG,
			 "--runs is %llu: the ratios of %zu subjects have intervals from %zu runs "
			 "of each on",
			 (unsigned long long)c->rounds, n, least);
	if (!c->ranking && c->rounds > 0 && c->rounds < least)
		DCK_FAIL(err, E_ARG,
			 "--rounds is %llu: with fewer than %zu no interval has a level of %s",
			 (unsigned long long)c->rounds, least, PERCENT_TEXT(6, c->level));
	if (c->metric && strcmp(c->metric, ITEMS_METRIC) != 0 &&
	    (strncmp(c->metric, "latency/", 8) != 0 ||
	     strcmp(c->metric + 8, dck_compare_statistics[c->statistic]) != 0))
		DCK_FAIL(
		    err, E_ARG,
		    "--metric is '%.80s': subjects measured now are compared by latency/%s or " ITEMS_METRIC
		    "; other metrics need saved records",
		    c->metric, dck_compare_statistics[c->statistic]);
	for (size_t i = 0; i < n; i++) {
		if (!all[i].name)
			DCK_FAIL(err, E_ARG, "subject %zu has no name", i + 1);
		DCK_TRY(subject_valid(all[i].subject, err));
	}
	DCK_TRY(processes_check(all, n, c, err));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(all[i].name, all[k].name) == 0)
				DCK_FAIL(err, E_ARG, "two subjects are called '%s'", all[i].name);
	if (c->ranking && c->undisturbed)
		DCK_FAIL(err, E_ARG,
			 "a ranking is of all runs: compare decides by undisturbed ones");
	if (c->ranking && (c->over || c->aa))
		DCK_FAIL(err, E_ARG, "a ranking has no baseline: --over and --aa need one");
	if (c->over && c->undisturbed)
		DCK_FAIL(err, E_ARG,
			 "--undisturbed is of one comparison, --over makes several: give one of "
			 "them");
	if (c->over && c->aa)
		DCK_FAIL(err, E_ARG,
			 "--aa applies to one comparison, --over makes several: give one of them");
	/* Pinning holds for the whole process, so of two pinnings only the last would hold. */
	for (size_t i = 1; i < n && !c->fresh; i++) {
		const char *a = all[0].subject->model.cpus, *b = all[i].subject->model.cpus;

		if (a != b && (!a || !b || strcmp(a, b) != 0))
			DCK_FAIL(err, E_ARG,
				 "'%s' and '%s' are pinned to different processors, "
				 "which one process cannot be: add --fresh",
				 all[0].name, all[i].name);
	}
	return DCK_OK;
}

/* Returns why all trials are in this process; NULL: those of models may be in fresh ones. */
static const char *one_process_why(const dck_alternative *all, size_t n,
				   const dck_compare_config *c)
{
	const char *why = NULL;

	if (c->processes == 1)
		return "--processes is 1";
	if (c->keep_sessions)
		return "--keep-sessions opens each subject once";
	for (size_t i = 0; i < n && !why; i++) {
		why = worker_obstacle(all[i].subject, c->clock);
		if (all[i].subject->kind == DCK_SUBJECT_PLUGIN)
			why = "plug-ins are measured in this process";
	}
	return why;
}

/* Finds the program of fresh processes, if some may be started and the caller names none. */
static dck_status fresh_program_find(interleaved *v, dck_compare_config *c, mem_arena *a,
				     dck_err *err)
{
	const char *why = NULL;

	if (c->program || (v->one_process && !c->fresh))
		return DCK_OK;
	c->program = worker_program_find(a, &why);
	if (!c->program)
		v->one_process = why ? why : "no memory";
	if (!c->program && c->fresh)
		return ERR_SET(err, E_UNSUP, "%s", v->one_process);
	return DCK_OK;
}

/* Warm-ups, and in fresh processes trials, are measurements as `bench` makes them. */
static dck_status interleaved_plan_make(interleaved *v, dck_err *err)
{
	const dck_compare_config *c = v->asked;
	dck_plan plan;

	dck_plan_init(&plan);
	plan.keep = 4096;
	/* Trials are interleaved, so a drift that is left slows all candidates alike. */
	plan.max_warmup_ns = c->max_time_ns / 20;
	if (plan.max_warmup_ns > WARMUP_NS_MOST)
		plan.max_warmup_ns = WARMUP_NS_MOST;
	if (plan.max_warmup_ns < WARMUP_NS_LEAST)
		plan.max_warmup_ns = WARMUP_NS_LEAST;
	if (c->warmup)
		plan.warmup = c->warmup;
	if (c->max_warmup_ns > 0)
		plan.max_warmup_ns = c->max_warmup_ns;
	plan.clock = c->clock;
	plan.program = c->program;
	if (c->fresh) {
		plan.max_time_ns = c->trial_ns > 200000000u ? c->trial_ns : 200000000u;
		plan.min_time_ns = plan.max_time_ns;
		plan.min_runs = 3;
	}
	return measure_plan_check(&plan, &v->plan, err);
}

static dck_status interleaved_compare(interleaved *v, interleaved_rounds *r,
				      interleaved_rounds *self, const dck_alternative *a,
				      dck_err *err)
{
	const uint64_t begin = v->shared.origin_ns;

	r->margin = v->asked->margin;
	if (v->asked->aa) {
		self->margin = v->asked->margin;
		self->phase = "A and A";
		self->n = 2;
		self->candidates[0].what = self->candidates[1].what = a;
		v->deadline_ns = begin + v->asked->max_time_ns / 2;
		DCK_TRY(interleaved_rounds_run(v, self, err));
		r->floor = interleaved_floor(self);
		r->failed = self->failed;
		r->why = self->why;
		if (self->failed != DCK_OK)
			return DCK_OK; /* the comparison itself has not begun */
	}
	r->phase = "rounds";
	v->deadline_ns = begin + v->asked->max_time_ns;
	return interleaved_rounds_run(v, r, err);
}

/* Compares outputs before anything is timed, because the speed of a wrong model is useless. */
static dck_status outputs_check(const dck_alternative *all, size_t n, const dck_observer *watch,
				record_builder *b, dck_err *err)
{
	compared list[DCK_ALTERNATIVES_MAX] = {0};
	dck_status status = DCK_OK;

	for (size_t i = 1; i < n && status == DCK_OK; i++) {
		status = compared_subjects(all[0].subject, all[i].subject, NULL, watch,
					   &list[i - 1], err);
		list[i - 1].label = all[i].name;
		if (status != DCK_OK && status != DCK_E_CANCEL)
			err_while(err, status, "checking the outputs of '%s'", all[i].name);
	}
	if (status == DCK_OK)
		(void)compared_record(b, list, n - 1);
	for (size_t i = 0; i < n; i++)
		compared_done(&list[i]);
	return status;
}

/* Names different subjects for the headline; the other facts come from the first. */
static void subjects_put(record_builder *b, const dck_alternative *all, size_t n, size_t from)
{
	const dck_subject *first = all[0].subject;
	char text[1024];
	bool differ = false;

	for (size_t i = 1; i < n; i++)
		differ |=
		    all[i].subject->text != first->text || all[i].subject->argv != first->argv;
	if (!differ)
		return;
	interleaved_names_text(all, n, from, text, sizeof text);
	record_fact_text(b, "compare", "subjects", text);
}

/* Whether --over OPTION=VALUE,... varies this option. */
static bool over_is(const char *over, const char *option)
{
	const size_t n = strlen(option);

	return over && strncmp(over, option, n) == 0 && over[n] == '=';
}

/* Records the options in which the subjects differ: the headline names only those that hold for
 * all. */
static void varies_put(record_builder *b, const dck_alternative *all, size_t n, const char *over)
{
	const dck_model_config *first = &all[0].subject->model;
	bool engine = over_is(over, "engine"), device = over_is(over, "device");
	bool threads = over_is(over, "threads") || over_is(over, "cpus");
	char text[64];

	for (size_t i = 1; i < n; i++) {
		const dck_model_config *m = &all[i].subject->model;

		engine |=
		    all[i].subject->kind != all[0].subject->kind ||
		    strcmp(m->engine ? m->engine : "", first->engine ? first->engine : "") != 0;
		device |=
		    strcmp(m->device ? m->device : "", first->device ? first->device : "") != 0;
		threads |= m->threads != first->threads ||
			   strcmp(m->cpus ? m->cpus : "", first->cpus ? first->cpus : "") != 0;
	}
	snprintf(text, sizeof text, "%s%s%s", engine ? " engine device threads" : "",
		 device && !engine ? " device" : "", threads && !engine ? " threads" : "");
	if (text[0])
		record_fact_text(b, "compare", "varies", text + 1);
}

static size_t shared_of(const dck_alternative *all, size_t n)
{
	const char *names[DCK_ALTERNATIVES_MAX];

	for (size_t i = 0; i < n; i++)
		names[i] = all[i].name;
	return common_prefix(names, n);
}

/* Runs everything between the hooks that are run once. */
static dck_status compare_all(interleaved *v, interleaved_rounds *r, interleaved_rounds *self,
			      const dck_alternative *all, size_t n, record_builder *b, dck_err *err)
{
	os_host host;

	os_host_get(&host);
	record_host(b, &host);
	v->notes = b;
	if (v->asked->ranking)
		interleaved_rank_facts(b, all, n);
	else
		subjects_put(b, all, n, r->shared);
	v->facts = b;
	v->models = v->programs = true;
	for (size_t i = 0; i < n; i++) {
		v->models &= all[i].subject->kind == DCK_SUBJECT_MODEL;
		v->programs &= all[i].subject->kind == DCK_SUBJECT_COMMAND;
	}
	varies_put(b, all, n, v->asked->over);
	if (v->asked->check_outputs)
		DCK_TRY(outputs_check(all, n, v->shared.watch, b, err));
	record_others_begin(&v->others, 0);
	if (v->asked->over) {
		DCK_TRY(interleaved_over(v, all, n, b, &r->place, err));
		interleaved_facts_method(b, v, &r->place, NULL);
		return DCK_OK;
	}
	DCK_TRY(interleaved_compare(v, r, self, &all[0], err));
	record_others_end(&v->others);
	if (v->asked->ranking)
		interleaved_rank_record(b, v, r);
	else
		interleaved_record(b, v, r, v->asked->aa ? self : NULL);
	return DCK_OK;
}

/* Compares with a complete configuration. */
static dck_status interleaved_run(interleaved *v, const dck_alternative *all, size_t n,
				  const dck_observer *watch, dck_record **ret, dck_err *err)
{
	interleaved_candidate candidates[DCK_ALTERNATIVES_MAX] = {0}, self_candidates[2] = {0};
	interleaved_result results[DCK_ALTERNATIVES_MAX] = {0}, self_results[2] = {0};
	interleaved_rounds r = {.candidates = candidates, .results = results, .n = n};
	interleaved_rounds self = {.candidates = self_candidates, .results = self_results};
	record_builder *b;
	const dck_subject *whole[DCK_ALTERNATIVES_MAX];
	dck_subject bare[DCK_ALTERNATIVES_MAX];
	dck_alternative bare_all[DCK_ALTERNATIVES_MAX];
	dck_err cleanup;
	dck_status status;

	v->random = v->asked->seed;
	for (size_t i = 0; i < n; i++) {
		whole[i] = all[i].subject;
		bare_all[i] = (dck_alternative){all[i].name, &bare[i]};
		candidates[i].what = &bare_all[i];
	}
	r.shared = shared_of(all, n);
	b = record_begin(v->asked->title);
	DCK_NEED(b, err, "for a record");
	measure_context_begin(&v->shared, v->asked->clock, watch, false);
	status = subject_hooks_begin(whole, n, watch, bare, err);
	if (status != DCK_OK)
		goto done;
	record_set_began(b, os_unix_ns());
	status = compare_all(v, &r, &self, bare_all, n, b, err);
	interleaved_rounds_done(&self);
	interleaved_rounds_done(&r);
	subject_hooks_end(whole, n, &cleanup);
	if (status == DCK_OK) {
		subject_hooks_note(b, &cleanup);
		measure_notes_show(watch, b);
	}
done:
	record_others_end(&v->others);
	measure_context_end(&v->shared);
	return record_finish_if(status, b, ret, err);
}

dck_status dck_compare(const dck_alternative *all, size_t n, const dck_compare_config *c,
		       const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_compare_config own;
	interleaved v = {.asked = &own};
	dck_status status;
	mem_arena *a;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_compare_config_init, err, dck_compare_options,
			       dck_compare_live_options));
	DCK_TRY(interleaved_check(all, n, &own, err));
	v.one_process = one_process_why(all, n, &own);
	a = mem_arena_new(0);
	DCK_NEED(a, err, "to find the deepclock program");
	status = fresh_program_find(&v, &own, a, err);
	DCK_NEXT(status, interleaved_plan_make(&v, err));
	DCK_NEXT(status, interleaved_run(&v, all, n, watch, ret, err));
	mem_arena_free(a);
	return status;
}

dck_status dck_rank(const dck_alternative *all, size_t n, const dck_compare_config *c,
		    const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_compare_config own;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_compare_config_init, err, dck_compare_options,
			       dck_compare_live_options));
	own.ranking = true;
	return dck_compare(all, n, &own, watch, ret, err);
}
