/* interleaved_candidate.c - one candidate of a live comparison: opened, warmed up, and measured
 * trial by trial.
 *
 * A trial in this process has some runs that do not count, because the caches have another
 * candidate's data, and then runs for the time --trial; its result is their median, mean or
 * minimum, or with --undisturbed the median of those in which no thread waited for a processor; a
 * trial without such a run has none. A trial of a program is one run. A `remote` candidate is
 * opened and measured so in a process that is started for the round (trial_process.c). With --fresh
 * a trial is a measurement in a worker process, which opens the subject too.
 *
 * The first opening warms up to a steady state and checks a rebatched model; later ones, in each
 * round, warm up for REWARM_NS and trust that check. Facts of the subject are recorded at the first
 * opening of all, the usual inputs of each model once. The times of every opening are stored, for
 * the cost of a start. A candidate that fails is closed; interleaved_candidate_done() frees its
 * arrays.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/trial_process.h"
#include "study/compare/saved.h"
#include "base/err.h"
#include "base/mem.h"
#include "record/copy.h"
#include "measure/run_delays.h"
#include "measure/subject/subject_facts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Runs before the counted ones: another subject's weights are in the caches, and its workers may
 * still spin. */
#define SETTLE_NS   3000000.0
#define REWARM_NS   10000000u
#define SAMPLES_MIN 3
#define SAMPLES_MAX 4096
/* With --undisturbed a trial is at most this number of times as long as without. */
#define UNDISTURBED_TRIES 10

static bool is_command(const interleaved_candidate *candidate)
{
	return candidate->session.target.engine.ops->caps & DCK_CAP_COMMAND;
}

static dck_status opened_keep(interleaved_candidate *candidate, dck_err *err)
{
	const size_t bytes = (candidate->nopened + 1) * sizeof(double);
	double *session = mem_resize(candidate->session_ns, bytes);
	double *first;

	if (session)
		candidate->session_ns = session;
	first = mem_resize(candidate->first_ns, bytes);
	if (first)
		candidate->first_ns = first;
	DCK_NEED(session && first, err, "for the times of openings");
	session[candidate->nopened] = (double)candidate->session.target.session_ns;
	first[candidate->nopened] = (double)candidate->session.phases.first_run_ns;
	candidate->nopened++;
	return DCK_OK;
}

/* Chooses how many samples fill the time of a trial, from the time of runs in the warm-up. */
static void samples_choose(const interleaved *v, interleaved_candidate *candidate)
{
	const measure_loop *l = &candidate->session.phases.loop;
	const double sample_ns = fmax(1, l->run_ns * (double)l->group);
	const double fit = (double)v->asked->trial_ns / sample_ns;

	/* Every run of a program is a new process, so one run is a trial. */
	candidate->samples =
	    is_command(candidate) ? 1 : (uint64_t)fmin(SAMPLES_MAX, fmax(SAMPLES_MIN, fit));
}

/* A model that --vary lists several times is noted once. */
static bool is_new_subject(const interleaved *v, const interleaved_candidate *candidate)
{
	const char *text = candidate->what->subject->text;

	return v->notes && candidate->nopened == 0 && text &&
	       !(v->noted && strcmp(v->noted, text) == 0);
}

static dck_status compare_candidate_open(interleaved *v, interleaved_candidate *candidate,
					 dck_err *err)
{
	const bool again = v->again || candidate->nopened > 0;
	dck_subject copy;
	const dck_subject *s =
	    again ? rebatched_trusted(candidate->what->subject, &copy) : candidate->what->subject;
	const dck_observer *watch = again ? &v->shared.quiet : v->shared.watch;
	measure_plan plan = v->plan;
	dck_status status;

	/* The machine is warm then; the session is not. */
	if (again) {
		plan.warmup = MEASURE_WARMUP_TIME;
		plan.warmup_amount = REWARM_NS;
	}
	DCK_TRY(measure_session_open(&candidate->session, &v->shared, s, &plan, watch, err));
	if (v->facts) {
		if (!v->asked->ranking) /* its subjects are several */
			subject_facts_of(v->facts, s, &candidate->session.target);
		subject_facts_engine(v->facts, &candidate->session.target);
		v->facts = NULL;
		v->noted = v->asked->ranking ? NULL : s->text;
	}
	if (is_new_subject(v, candidate)) {
		subject_facts_usual(v->notes, s->text, candidate->session.target.usual);
		v->noted = s->text;
	}
	candidate->items = candidate->session.target.items;
	status = measure_session_warm(&candidate->session, err);
	if (candidate->nopened == 0)
		candidate->steady = candidate->session.phases.steady;
	samples_choose(v, candidate);
	return status == DCK_OK ? opened_keep(candidate, err) : status;
}

static dck_status remote_open(interleaved *v, interleaved_candidate *candidate, dck_err *err)
{
	trial_result opened;

	DCK_TRY(trial_process_open(&candidate->link, v, candidate->what->subject, &opened, err));
	candidate->items = opened.items;
	candidate->session.target.session_ns = opened.session_ns;
	candidate->session.phases.first_run_ns = opened.first_run_ns;
	return opened_keep(candidate, err);
}

dck_status interleaved_candidate_open(interleaved *v, interleaved_candidate *candidate,
				      dck_err *err)
{
	const dck_status status = v->asked->fresh     ? DCK_OK
				  : candidate->remote ? remote_open(v, candidate, err)
						      : compare_candidate_open(v, candidate, err);

	candidate->open = status == DCK_OK;
	if (status != DCK_OK)
		interleaved_candidate_close(candidate);
	return status;
}

void interleaved_candidate_close(interleaved_candidate *candidate)
{
	worker_link_close(&candidate->link);
	measure_session_close(&candidate->session);
	candidate->open = false;
}

void interleaved_candidate_done(interleaved_candidate *candidate)
{
	interleaved_candidate_close(candidate);
	mem_free(candidate->session_ns);
	mem_free(candidate->first_ns);
	mem_free(candidate->inner_ns);
	*candidate = (interleaved_candidate){0};
}

static double statistic_of(const measure_samples *s, int statistic, double *scratch)
{
	double sum = 0;

	if (s->n == 0)
		return NAN;
	if (statistic == 2)
		return s->min;
	for (size_t i = 0; i < s->n; i++)
		sum += s->value[i];
	if (statistic == 1)
		return sum / (double)s->n;
	memcpy(scratch, s->value, s->n * sizeof *scratch);
	stat_sort(scratch, s->n);
	return stat_quantile_sorted(scratch, s->n, 0.5);
}

/* Takes the trial's runs, and again as many until one of them is undisturbed: opening a subject
 * takes longer. Whether it goes on depends on the disturbances and not on how fast a run was. NaN:
 * there is none, or it is not known which one is. */
static dck_status trial_undisturbed(interleaved_candidate *candidate, double *ret_ns, dck_err *err)
{
	measure_phases *p = &candidate->session.phases;
	const uint64_t begin_ns = os_now_ns();
	unsigned tries = 0;
	phase_samples sinks;
	dck_status status;
	run_delays u;

	*ret_ns = NAN;
	measure_samples_clear(&p->delay);
	run_delays_begin(&u, p);
	sinks = (phase_samples){.latency = &p->latency, .delay = p->sinks.delay};
	do {
		status = measure_loop_take(&p->loop, &sinks, candidate->samples, err);
		if (status == DCK_OK && u.delay)
			*ret_ns = run_delays_median(&u, p, os_now_ns() - begin_ns);
	} while (status == DCK_OK && u.delay && isnan(*ret_ns) && ++tries < UNDISTURBED_TRIES &&
		 p->latency.n + candidate->samples < SAMPLES_MAX);
	snprintf(candidate->unknown, sizeof candidate->unknown, "%s", u.why);
	p->sinks.delay = NULL;
	run_delays_end(&u);
	return status;
}

static dck_status trial_here(interleaved *v, interleaved_candidate *candidate, double *ret_ns,
			     dck_err *err)
{
	measure_phases *p = &candidate->session.phases;
	phase_samples sinks = {.latency = &p->latency};
	const double sample_ns = fmax(1, p->loop.run_ns * (double)p->loop.group);

	if (!is_command(candidate)) {
		DCK_TRY(measure_loop_take(
		    &p->loop, &sinks, (uint64_t)fmax(1, fmin(SAMPLES_MAX, SETTLE_NS / sample_ns)),
		    err));
	}
	measure_samples_clear(&p->latency);
	if (v->asked->undisturbed)
		return trial_undisturbed(candidate, ret_ns, err);
	DCK_TRY(measure_loop_take(&p->loop, &sinks, candidate->samples, err));
	*ret_ns = statistic_of(&p->latency, v->asked->statistic, p->scratch);
	return DCK_OK;
}

static dck_status trial_remote(interleaved *v, interleaved_candidate *candidate, double *ret_ns,
			       dck_err *err)
{
	trial_result made;

	DCK_TRY(trial_process_take(&candidate->link, v, &made, err));
	memcpy(candidate->unknown, made.unknown, sizeof candidate->unknown);
	*ret_ns = made.ns;
	return DCK_OK;
}

static dck_status trial_fresh(interleaved *v, interleaved_candidate *candidate, double *ret_ns,
			      dck_err *err)
{
	const dck_subject *s = candidate->what->subject;
	dck_subject copy;
	const worker_job job = {.subject = candidate->nopened > 0 ? rebatched_trusted(s, &copy) : s,
				.plan = &v->plan.asked,
				.watch = v->shared.watch};
	static const char *const tags[] = {"latency/median", "latency/mean", "latency/min"};
	worker_result result;
	dck_status status = DCK_OK;

	DCK_TRY(worker_run(&job, &result, err));
	if (result.end != WORKER_DONE)
		return err_set(err, result.why.code, __FILE__, __LINE__, "%s", result.why.msg);
	if (v->facts) {
		record_copy_facts(v->facts, result.record);
		v->facts = NULL;
	}
	if (is_new_subject(v, candidate)) {
		subject_facts_usual_copy(v->notes, result.record);
		v->noted = s->text;
	}
	*ret_ns = dck_record_value(
	    result.record, v->asked->undisturbed ? UNDISTURBED_METRIC : tags[v->asked->statistic]);
	candidate->items = (uint64_t)saved_items(result.record);
	candidate->peak_bytes =
	    fmax(candidate->peak_bytes, dck_record_value(result.record, "memory/peak_rss"));
	candidate->session.target.session_ns =
	    (uint64_t)fmax(0, dck_record_value(result.record, "time/session"));
	candidate->session.phases.first_run_ns =
	    (uint64_t)fmax(0, dck_record_value(result.record, "time/first_run"));
	if (result.record->incomplete || (isnan(*ret_ns) && !v->asked->undisturbed)) {
		const dck_note *note = dck_record_note(result.record, "engine-failed");

		status = err_set(err, note ? DCK_E_ENGINE : DCK_E_CANCEL, __FILE__, __LINE__, "%s",
				 note ? note->text : "interrupted");
	}
	dck_record_free(result.record);
	return status == DCK_OK ? opened_keep(candidate, err) : status;
}

dck_status interleaved_candidate_trial(interleaved *v, interleaved_candidate *candidate,
				       double *ret_ns, dck_err *err)
{
	return v->asked->fresh	   ? trial_fresh(v, candidate, ret_ns, err)
	       : candidate->remote ? trial_remote(v, candidate, ret_ns, err)
				   : trial_here(v, candidate, ret_ns, err);
}
