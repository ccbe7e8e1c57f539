/* tune_measure.c - one step of a search: a trial of a configuration in a worker process, or its
 * outputs compared with the default's in a forked child.
 *
 * A trial is a short `bench`, since what varies is between trials and not within one. A
 * configuration that fails, crashes, needs more memory than --max-memory or takes longer than
 * ask.limit_ns is an outcome with its reason. The process of a late one is ended as by Ctrl-C, and
 * killed if that does not help (os_wait()). Errors are an interruption, and a failure of the
 * default before anything was measured, which all others would repeat.
 *
 * With several requests in flight a trial is a `load`, whose rate is of all together; then every
 * trial counts by its mean, so that both are the same quantity. Of a limit the trial's runs over it
 * count, at its effective sample size.
 *
 * Outputs are compared in a child since a crash or a hang of an engine must not end the search; it
 * answers by one line. The reference is the default with the configuration's batch. The error is
 * the largest difference of an element over the root mean square of its output in the reference:
 * a relative error that does not depend on elements near 0. With labels the error is the share of
 * items that the configuration predicts wrongly.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/accuracy.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/sink.h"
#include "base/units.h"
#include "measure/subject/subject_facts.h"
#include "measure/verify/output_compare.h"
#include "measure/worker.h"
#include "os/os.h"
#include "stat/stat.h"
#include "study/tune/tune_run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MIN     3
#define KEEP	     512
#define SHOW_NS	     250000000u
#define ANSWER_BYTES 600
#define OUTPUT_LINE  "%.17g %d %s"

/* --- progress */

static void tune_show(tune_run *r)
{
	dck_progress p = progress_indeterminate(r->phase);
	const double now_ns = race_used_ns(r->race) + (double)(os_now_ns() - r->trial_begin_ns);

	p.elapsed_ns = os_now_ns() - r->begin_ns;
	p.done_ratio = fmin(1, now_ns / (double)r->config->max_time_ns);
	p.eta_ns = fmax(0, (double)r->config->max_time_ns - now_ns);
	r->shown_ns = os_now_ns();
	observer_show(r->watch, &p);
}

static bool tune_asked(void *self)
{
	tune_run *r = self;

	if (os_now_ns() - r->shown_ns >= SHOW_NS)
		tune_show(r);
	r->late |= (double)(os_now_ns() - r->trial_begin_ns) > r->trial_limit_ns;
	return r->late || observer_cancelled(r->watch);
}

static void late_outcome(const tune_run *r, race_outcome *o)
{
	o->end = RACE_TIME;
	snprintf(o->why, sizeof o->why, "it did not end within %s", UNITS_TIME(r->trial_limit_ns));
}

/* --- a trial */

static void tune_plan_make(const tune_run *r, dck_plan *p)
{
	const uint64_t trial_ns = r->trial_ns;

	dck_plan_init(p);
	p->max_time_ns = trial_ns;
	p->min_time_ns = trial_ns;
	p->min_runs = RUNS_MIN;
	p->max_warmup_ns = trial_ns / 2 > 0 ? trial_ns / 2 : 1;
	p->keep = KEEP;
	p->processes = 1;
	p->program = r->config->program;
}

/* Reads what is to be small: the latency, or the time of an item. */
static double value_read(const tune_run *r, const dck_record *rec, uint64_t in_flight)
{
	const dck_fact *items = dck_record_fact(rec, "subject", "items_per_run");
	const double n = items ? dck_value_number(&items->value) : 1;

	if (r->config->goal != TUNE_THROUGHPUT)
		return dck_record_value(rec, "latency/median");
	if (in_flight > 1)
		return 1e9 / dck_record_value(rec, "throughput/items");
	return dck_record_value(rec, space_varies_in_flight(&r->space) ? "latency/mean"
								       : "latency/median") /
	       (n > 0 ? n : 1);
}

/* Counts the runs over the limit. */
static dck_status limited_read(const tune_run *r, const dck_record *rec, race_outcome *o,
			       dck_err *err)
{
	const dck_series *x = dck_record_series(rec, "latency");
	const size_t n = x ? x->n - x->warmup : 0;
	double *scratch, over = 0;

	o->mean_ns = dck_record_value(rec, "latency/mean");
	o->runs = (double)n;
	if (r->limit.kind == LIMIT_MAX)
		o->over = dck_record_value(rec, "latency/max") > r->limit.ns;
	if (n == 0 || r->limit.kind != LIMIT_PERCENTILE)
		return DCK_OK;
	scratch = mem_zalloc(stat_scratch(n), sizeof *scratch);
	DCK_NEED(scratch, err, "for a percentile");
	o->runs = stat_limit_runs(x->values + x->warmup, n, r->limit.p, r->limit.ns,
				  r->config->level, scratch);
	mem_free(scratch);
	for (size_t i = x->warmup; i < x->n; i++)
		over += x->values[i] > r->limit.ns;
	o->over = o->runs * over / (double)n;
	return DCK_OK;
}

static dck_status tune_record_take(tune_run *r, const dck_record *rec, uint64_t in_flight,
				   race_outcome *o, dck_err *err)
{
	if (rec->incomplete) {
		o->end = RACE_ERROR;
		worker_incomplete_text(rec, o->why, sizeof o->why);
		return DCK_OK;
	}
	o->latency_ns = dck_record_value(rec, "latency/median");
	o->value_ns = value_read(r, rec, in_flight);
	if (!(o->value_ns > 0) || !(o->latency_ns > 0)) {
		o->end = RACE_ERROR;
		snprintf(o->why, sizeof o->why, "the runs took no time that the clock can see");
		return DCK_OK;
	}
	if (r->limit.ns > 0)
		DCK_TRY(limited_read(r, rec, o, err));
	return r->facts ? DCK_OK : subject_facts_of_all(rec, &r->facts, err);
}

static dck_status tune_result_take(tune_run *r, const worker_result *w, uint64_t in_flight,
				   race_outcome *o, dck_err *err)
{
	o->peak_rss_bytes = w->peak_rss_bytes;
	if (r->late) {
		late_outcome(r, o);
		return DCK_OK;
	}
	if (w->end == WORKER_CANCELLED ||
	    (w->record && w->record->incomplete && dck_record_note(w->record, "interrupted")))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	if (w->end == WORKER_DONE)
		return tune_record_take(r, w->record, in_flight, o, err);
	o->end = w->end == WORKER_MEMORY ? RACE_MEMORY : RACE_ERROR;
	snprintf(o->why, sizeof o->why, "%.*s", (int)sizeof o->why - 1, w->why.msg);
	return DCK_OK;
}

/* Nothing is compared with a default that does not run: its error is the search's. */
static dck_status default_failed(const tune_run *r, const worker_result *w, const race_outcome *o,
				 dck_err *err)
{
	if (o->end == RACE_TIME)
		DCK_FAIL(err, E_LIMIT,
			 "one trial of the default takes longer than --max-time: give more");
	if (o->end == RACE_MEMORY && r->config->max_memory_bytes > 0)
		DCK_FAIL(err, E_NOMEM, "the default needs more than --max-memory: %s", o->why);
	/* The outcome has the beginning of a long reason. */
	if (w->why.code != DCK_OK)
		return err_pass(w->why.code, &w->why, err);
	DCK_FAIL(err, E_ENGINE, "%s", o->why);
}

static dck_status tune_trial(tune_run *r, const dck_subject *s, const race_arm *arm, bool first,
			     race_outcome *o, dck_err *err)
{
	const dck_observer watch = {.self = r, .cancelled = tune_asked};
	const uint64_t in_flight = space_in_flight(&r->space, arm->value);
	worker_result result = {0};
	dck_load_config load;
	dck_plan plan;
	worker_job job = {.subject = s,
			  .plan = &plan,
			  .memory_bytes = r->config->max_memory_bytes,
			  .watch = &watch,
			  .quiet = true};
	dck_status status;

	tune_plan_make(r, &plan);
	if (in_flight > 1) {
		dck_load_in_flight(&plan, in_flight, &load);
		job.command = "load";
		job.options = dck_load_options;
		job.config = &load;
	}
	DCK_TRY(worker_run(&job, &result, err));
	status = tune_result_take(r, &result, in_flight, o, err);
	if (status == DCK_OK && first && o->end != RACE_OK)
		status = default_failed(r, &result, o, err);
	dck_record_free(result.record);
	return status;
}

/* --- outputs */

typedef struct outputs_job {
	const dck_subject *reference, *other;
	const dck_tune_config *config;
	dck_observer watch;
} outputs_job;

/* Returns the largest difference over the root mean square of its output. */
static double error_of(const compared *x)
{
	double most = NAN;

	for (size_t i = 0; i < x->noutputs; i++) {
		const compared_output *o = &x->outputs[i];
		const double rms = sqrt((double)(o->sum.aa / (long double)o->sum.finite));

		/* One that only one of both has, or that has another shape, is not equal. */
		if (!o->compared && o->verdict == AGREE_DIFFERENT)
			return INFINITY;
		if (!o->compared || o->sum.n == 0)
			continue;
		if (o->sum.unlike > 0)
			return INFINITY;
		if (o->sum.finite > 0)
			most = fmax(most, o->sum.max_abs > 0 ? o->sum.max_abs / rms : 0);
	}
	return most;
}

/* Returns the error; *ret_differs: it is too large; why->msg: the reason of both, or of NaN. */
static double outputs_error(const outputs_job *job, bool *ret_differs, dck_err *why)
{
	const double most = job->config->max_error;
	double error;
	compared x;

	if (compared_subjects(job->reference, job->other, NULL, &job->watch, &x, why) != DCK_OK)
		return NAN;
	error = error_of(&x);
	*ret_differs = most > 0 ? error > most : x.verdict == AGREE_DIFFERENT;
	for (size_t i = 0; *ret_differs && i < x.noutputs && !*why->msg; i++)
		if (x.outputs[i].verdict == AGREE_DIFFERENT && x.outputs[i].why)
			snprintf(why->msg, sizeof why->msg, "%s", x.outputs[i].why);
	if (isnan(error))
		snprintf(why->msg, sizeof why->msg, "no output is of numbers");
	compared_done(&x);
	return error;
}

static dck_status labels_predict(const outputs_job *job, const dck_observer *watch,
				 dck_record **ret, dck_err *err)
{
	const dck_alternative subject = {"configuration", job->other};
	dck_accuracy_config c;

	dck_accuracy_config_init(&c);
	c.labels = job->config->labels;
	c.inputs = job->config->inputs;
	return dck_accuracy(&subject, 1, &c, watch, ret, err);
}

/* The same for the share of the labelled items that are predicted wrongly. */
static double labels_error(const outputs_job *job, bool *ret_differs, dck_err *why)
{
	dck_record *record;
	double share;

	if (labels_predict(job, &job->watch, &record, why) != DCK_OK)
		return NAN;
	share = dck_record_value(record, "accuracy/overall");
	/* The items before a failure may be of one class. */
	if (record->incomplete) {
		worker_incomplete_text(record, why->msg, sizeof why->msg);
		dck_record_free(record);
		return NAN;
	}
	*ret_differs = share < job->config->min_accuracy;
	if (*ret_differs)
		mem_print(why->msg, sizeof why->msg, "it predicts %.4g of the items correctly",
			  share);
	if (isnan(share))
		snprintf(why->msg, sizeof why->msg, "its predictions are not numbers");
	dck_record_free(record);
	return 1 - share;
}

/* The observer of a prediction that ends before its first item. */
typedef struct labels_until {
	const dck_observer *outer;
	bool there;
} labels_until;

static void labels_progress_look(void *self, const dck_progress *p)
{
	labels_until *u = self;

	u->there |= strcmp(p->phase, "items") == 0;
}

static bool labels_asked(void *self)
{
	const labels_until *u = self;

	return u->there || observer_cancelled(u->outer);
}

static void labels_child(void *self, dck_sink *out)
{
	const outputs_job *job = self;
	labels_until until = {.outer = &job->watch};
	const dck_observer watch = {
	    .self = &until, .progress = labels_progress_look, .cancelled = labels_asked};
	dck_record *record = NULL;
	char line[ANSWER_BYTES];
	dck_err why = {0};
	const dck_status status = labels_predict(job, &watch, &record, &why);

	snprintf(line, sizeof line, "%d %s", until.there ? DCK_OK : status, why.msg);
	sink_put(out, line, strlen(line) + 1);
}

dck_status tune_labels_check(tune_run *r, dck_err *err)
{
	outputs_job job = {.other = r->subject, .config = r->config};
	dck_buffer line = {0};
	dck_err why = {0};
	dck_status status;
	char *rest = NULL;
	long code;

	if (!r->config->labels)
		return DCK_OK;
	if (r->watch) {
		job.watch.self = r->watch->self;
		job.watch.cancelled = r->watch->cancelled;
	}
	observer_phase((void *)(uintptr_t)r->watch, "labels");
	status = os_in_child(labels_child, &job, r->config->max_time_ns, ANSWER_BYTES, &line, &why);
	if (observer_cancelled(r->watch))
		status = ERR_SET(&why, E_CANCEL, "interrupted before anything was measured");
	else if (status == DCK_OK && line.n > 0 && line.data[line.n - 1] == '\0') {
		code = strtol(line.data, &rest, 10);
		if (code < 0 && code >= DCK_E_CANCEL)
			status = err_set(&why, (dck_status)code, __FILE__, __LINE__, "%s",
					 rest + strspn(rest, " "));
	}
	dck_buffer_done(&line);
	return err_pass(status, &why, err);
}

static void outputs_child(void *self, dck_sink *out)
{
	const outputs_job *job = self;
	char line[ANSWER_BYTES];
	bool differs = false;
	dck_err why = {0};
	const double error =
	    (job->config->labels ? labels_error : outputs_error)(job, &differs, &why);

	snprintf(line, sizeof line, OUTPUT_LINE, error, differs, why.msg);
	sink_put(out, line, strlen(line) + 1);
}

/* Reads the child's line. */
static bool outputs_read(const char *line, race_outcome *o)
{
	char *at;

	o->error = strtod(line, &at);
	if (at == line || *at != ' ')
		return false;
	o->differs = at[1] == '1';
	snprintf(o->why, sizeof o->why, "%s", strlen(at) > 3 ? at + 3 : "");
	return true;
}

static dck_status tune_outputs(const tune_run *r, const dck_subject *s, race_outcome *o,
			       dck_err *err)
{
	dck_subject reference = *r->subject;
	outputs_job job = {.reference = &reference, .other = s, .config = r->config};
	dck_buffer line = {0};
	dck_err why = {0};
	dck_status status;

	if (r->watch) { /* without its progress, which is not the child's to show */
		job.watch.self = r->watch->self;
		job.watch.cancelled = r->watch->cancelled;
	}
	reference.model.batch = s->model.batch;
	status = os_in_child(outputs_child, &job, (uint64_t)r->trial_limit_ns, ANSWER_BYTES, &line,
			     &why);
	if (status == DCK_E_NOMEM) {
		dck_buffer_done(&line);
		return ERR_NO_MEMORY(err, "to compare outputs");
	}
	if (status != DCK_OK || line.n == 0 || line.data[line.n - 1] != '\0' ||
	    !outputs_read(line.data, o)) {
		o->error = NAN;
		snprintf(o->why, sizeof o->why, "%.*s", (int)sizeof o->why - 1,
			 why.msg[0] ? why.msg : "the process that compared them ended too early");
	}
	dck_buffer_done(&line);
	/* The child was interrupted too: what it did not compare is not unknown for that. */
	if (isnan(o->error) && observer_cancelled(r->watch))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	return DCK_OK;
}

/* --- the step */

static void phase_make(tune_run *r, const race_ask *ask, mem_arena *a)
{
	static const char *const names[] = {
	    [RACE_PILOT] = "try",      [RACE_SCREEN] = "options",  [RACE_RACE] = "best of them",
	    [RACE_VERIFY] = "outputs", [RACE_CONFIRM] = "confirm", [RACE_REST] = "outputs",
	    [RACE_DONE] = ""};
	const char *arm = space_text(&r->space, race_arm_get(r->race, ask->arm)->value, a);

	if (ask->round > 0)
		snprintf(r->phase, sizeof r->phase, "%s %u: %s", names[ask->stage], ask->round,
			 arm);
	else
		snprintf(r->phase, sizeof r->phase, "%s: %s", names[ask->stage], arm);
}

dck_status tune_measure(tune_run *r, const race_ask *ask, race_outcome *ret, dck_err *err)
{
	const race_arm *arm = race_arm_get(r->race, ask->arm);
	const bool first = ask->arm == 0 && arm->trials == 0;
	const double left_ns = (double)r->config->max_time_ns - race_used_ns(r->race);
	race_outcome o = {.error = NAN};
	mem_arena *a = mem_arena_new(0);
	dck_subject s;
	dck_status status;

	DCK_NEED(a, err, "for a trial");
	r->late = false;
	/* The default is given all the time there is. */
	r->trial_limit_ns = fmin(ask->limit_ns, 1.05 * (double)r->config->max_time_ns);
	/* Labelled items may take much longer than a trial: half of the time that is left. */
	if (ask->outputs && r->config->labels)
		r->trial_limit_ns = fmax(r->trial_limit_ns, left_ns / 2);
	r->trial_begin_ns = os_now_ns();
	phase_make(r, ask, a);
	tune_show(r);
	status = space_subject(&r->space, r->subject, arm->value, a, &s, err);
	DCK_NEXT(status, ask->outputs ? tune_outputs(r, &s, &o, err)
				      : tune_trial(r, &s, arm, first, &o, err));
	o.cost_ns = (double)(os_now_ns() - r->trial_begin_ns);
	mem_arena_free(a);
	if (status == DCK_OK)
		*ret = o;
	return status;
}
