/* search_measure.c - one trial of a search: a batch size and a setting, measured in a worker
 * process; of a function, in this process.
 *
 * search_measure() makes a short plan, since what varies is between trials and not within one; a
 * limit on a percentile needs more runs, and more time. worker_measure() starts `bench`, or of
 * several requests in flight `load`, with a limit of memory; the outcome is read from its record:
 * rate, latency and the limited statistic, with intervals.
 *
 * A worker that runs out of memory, or fails, is an outcome (SEARCH_MEMORY, SEARCH_ERROR) and not
 * an error. Errors are an interruption, and a failure before any trial has ended well, which later
 * trials would repeat. While the worker runs, measure_on_asked() is called to see whether it is
 * cancelled, and shows progress at most every SHOW_NS. Of a worker's record the codes of its
 * warnings are counted, and the first gives the facts of all trials (r->facts); the record is freed
 * here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/sink.h"
#include "measure/subject/subject_facts.h"
#include "study/throughput/search_run.h"
#include "deepclock/unstable.h"
#include "measure/worker.h"
#include "os/os.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RUNS_MIN     10
#define MIN_TIME_NS  300000000u
#define SLO_TIME_MAX 60000000000u
#define SHOW_NS	     250000000u

/* --- the subject and its plan */

dck_status search_subject(const search_run *r, uint64_t batch, unsigned setting, mem_arena *a,
			  dck_subject *ret, dck_err *err)
{
	dck_subject s = *r->subject;

	s.model.batch = r->config->batch_dim ? 0 : batch;
	s.model.skip_batch_check |= r->rebatched.done;
	if (r->settings[setting].threads > 0)
		s.model.threads = r->settings[setting].threads;
	if (r->config->batch_dim) {
		if (s.model.dim.n == DCK_LIST_MAX)
			DCK_FAIL(err, E_LIMIT, "--dim is given more than %d times",
				 DCK_LIST_MAX - 1);
		s.model.dim.item[s.model.dim.n] =
		    mem_arena_fmt(a, "%s=%llu", r->config->batch_dim, (unsigned long long)batch);
		if (!s.model.dim.item[s.model.dim.n++])
			return ERR_NO_MEMORY(err, "for a subject");
	}
	*ret = s;
	return DCK_OK;
}

void search_setting_text(const search_run *r, unsigned setting, char *buf, size_t size)
{
	const search_setting *s = &r->settings[setting];

	buf[0] = '\0';
	if (r->config->threads)
		text_add(buf, size, ", %llu thread%s", (unsigned long long)s->threads,
			 s->threads == 1 ? "" : "s");
	if (r->config->in_flight)
		text_add(buf, size, ", %llu in flight", (unsigned long long)s->in_flight);
}

/* Estimates the time of a run, from earlier trials of the batch or of the nearest smaller one; 0:
 * not known. */
static double expected_ns(const search_run *r, const search_ask *ask)
{
	size_t nearest = SIZE_MAX;

	for (size_t i = 0; i < search_npoints(r->search); i++) {
		const search_point *p = search_get(r->search, i);

		if (p->trials > 0 && p->setting == ask->setting && p->batch <= ask->batch &&
		    (nearest == SIZE_MAX || p->batch > search_get(r->search, nearest)->batch))
			nearest = i;
	}
	return nearest == SIZE_MAX ? 0
				   : search_latency(r->search, nearest).value * (double)ask->batch /
					 (double)search_get(r->search, nearest)->batch;
}

/* Plans the runs that a percentile needs, times 1.5 because adjacent runs are autocorrelated, and
 * their time; at most their time at the limit, because a point that violates it needs no precision.
 */
static void plan_limit(const search_run *r, const search_ask *ask, dck_plan *p)
{
	const latency_limit *limit = &r->plan.limit;
	const double least =
	    limit->kind == LIMIT_PERCENTILE ? stat_quantile_runs(limit->p, r->plan.level) : 0;
	const double runs = fmax(RUNS_MIN, least);
	const double need = fmin(2 * runs * expected_ns(r, ask), 2 * runs * limit->ns);

	p->min_runs = (uint64_t)(1.5 * runs);
	if (need > (double)p->max_time_ns)
		p->max_time_ns = need < SLO_TIME_MAX ? (uint64_t)need : SLO_TIME_MAX;
}

/* The measurement is short, because what matters varies between trials and not within one. */
static void measure_plan_make(const search_run *r, const search_ask *ask, dck_plan *ret)
{
	const dck_throughput_config *c = r->config;
	dck_plan p;

	dck_plan_init(&p);
	p.statistic = r->median ? "median" : "mean";
	p.precision = c->precision;
	p.level = c->level;
	p.min_runs = RUNS_MIN;
	p.min_time_ns = c->point_time_ns < MIN_TIME_NS ? c->point_time_ns : MIN_TIME_NS;
	p.max_time_ns = c->point_time_ns;
	p.max_warmup_ns = c->point_time_ns / 2 > 0 ? c->point_time_ns / 2 : 1;
	p.program = c->program;
	if (r->plan.limit.ns > 0)
		plan_limit(r, ask, &p);
	*ret = p;
}

/* --- the outcome */

static search_number measure_metric_get(const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);
	search_number x = {dck_record_value(r, tag), NAN, NAN};

	if (m && m->level > 0) {
		x.lo = m->lo;
		x.hi = m->hi;
	}
	return x;
}

/* A percentile is estimated here: the record has metrics of a few alone. */
static dck_status quantile_read(const search_run *r, const dck_record *rec, search_number *ret,
				dck_err *err)
{
	const dck_series *x = dck_record_series(rec, "latency");
	const size_t n = x ? x->n - x->warmup : 0;
	double *scratch = mem_zalloc(stat_scratch(n), sizeof *scratch);
	stat_estimate e;

	DCK_NEED(scratch, err, "for a percentile");
	stat_estimate_quantile(r->plan.limit.p, x ? x->values + x->warmup : NULL, n, r->plan.level,
			       scratch, &e);
	mem_free(scratch);
	if (e.present)
		*ret = (search_number){e.value, e.has_interval ? e.lo : NAN,
				       e.has_interval ? e.hi : NAN};
	return DCK_OK;
}

static dck_status held_read(const search_run *r, const dck_record *rec, search_number *ret,
			    dck_err *err)
{
	if (!(r->plan.limit.ns > 0))
		return DCK_OK;
	switch (r->plan.limit.kind) {
	case LIMIT_PERCENTILE:
		return quantile_read(r, rec, ret, err);
	case LIMIT_MEAN:
		*ret = measure_metric_get(rec, "latency/mean");
		break;
	case LIMIT_MAX:
		*ret = measure_metric_get(rec, "latency/max");
		ret->lo = ret->hi = ret->value;
		break;
	}
	return DCK_OK;
}

/* With several requests in flight the rate is of all of them together, in items. */
static search_number rate_in_flight(const dck_record *rec, double batch)
{
	const search_number x = measure_metric_get(rec, "throughput/items");
	const dck_fact *f = dck_record_fact(rec, "subject", "items_per_run");
	const double items = f && f->value.kind == DCK_VALUE_INT ? (double)f->value.as.i : batch;

	return (search_number){x.value * batch / items, x.lo * batch / items, x.hi * batch / items};
}

static search_number rate_of_runs(const dck_record *rec, const char *tag, double batch)
{
	const search_number t = measure_metric_get(rec, tag);

	return (search_number){batch * 1e9 / t.value, batch * 1e9 / t.hi, batch * 1e9 / t.lo};
}

static bool measure_outcome_read(const search_run *r, const search_ask *ask, const dck_record *rec,
				 search_outcome *o)
{
	const double batch = (double)ask->batch;

	o->latency = measure_metric_get(rec, "latency/median");
	o->mean_rate = r->settings[ask->setting].in_flight > 1
			   ? rate_in_flight(rec, batch)
			   : rate_of_runs(rec, "latency/mean", batch);
	o->rate = r->median ? rate_of_runs(rec, "latency/median", batch) : o->mean_rate;
	if (o->rate.value > 0 && o->latency.value > 0 && isfinite(o->rate.value))
		return true;
	o->end = SEARCH_ERROR;
	snprintf(o->why, sizeof o->why, "the runs took no time that the clock can see");
	return false;
}

static void notes_count(search_run *r, const dck_record *rec)
{
	for (size_t i = 0; i < rec->nnotes; i++) {
		const dck_note *note = &rec->notes[i];
		size_t k = 0;

		if (note->severity != DCK_WARN || dck_record_note(rec, note->code) != note)
			continue;
		while (k < r->nnotes && strcmp(r->notes[k].code, note->code) != 0)
			k++;
		if (k == SEARCH_NOTES_MAX)
			continue;
		if (k == r->nnotes) {
			r->notes[k] = (search_note){0};
			snprintf(r->notes[k].code, sizeof r->notes[k].code, "%s", note->code);
			r->nnotes++;
		}
		r->notes[k].trials++;
	}
}

/* --- the trial */

/* Shows how long the search will continue, also while the process runs. */
static void measure_show(search_run *r)
{
	const uint64_t now_ns = os_now_ns(), elapsed = now_ns - r->begin_ns;
	const double done = (double)r->measured, left = (double)search_left(r->search);
	const double rest = (double)r->config->max_time_ns - (double)elapsed;
	dck_progress p = progress_indeterminate(r->phase);

	p.elapsed_ns = elapsed;
	p.done_ratio = done / (done + left);
	if (done > 0)
		p.eta_ns = fmax(0, fmin((double)elapsed / done * (done + left) - (double)elapsed,
					fmax(rest, 0)));
	r->shown_ns = now_ns;
	observer_show(r->watch, &p);
}

static bool measure_on_asked(void *self)
{
	search_run *r = self;

	if (os_now_ns() - r->shown_ns >= SHOW_NS)
		measure_show(r);
	return observer_cancelled(r->watch);
}

static dck_status record_take(search_run *r, const search_ask *ask, const dck_record *rec,
			      search_outcome *o, dck_err *err)
{
	if (rec->incomplete && dck_record_note(rec, "interrupted"))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	if (rec->incomplete) {
		o->end = SEARCH_ERROR;
		worker_incomplete_text(rec, o->why, sizeof o->why);
		return DCK_OK;
	}
	notes_count(r, rec);
	DCK_TRY(held_read(r, rec, &o->held, err));
	return measure_outcome_read(r, ask, rec, o) && !r->facts
		   ? subject_facts_of_all(rec, &r->facts, err)
		   : DCK_OK;
}

static dck_status result_take(search_run *r, const search_ask *ask, const worker_result *w,
			      search_outcome *o, dck_err *err)
{
	switch (w->end) {
	case WORKER_DONE:
		/* What one that was stopped needs is not known. */
		o->peak_rss_bytes = w->peak_rss_bytes;
		return record_take(r, ask, w->record, o, err);
	case WORKER_CANCELLED:
		DCK_FAIL(err, E_CANCEL, "interrupted");
	case WORKER_MEMORY:
	case WORKER_FAILED:
		break;
	}
	o->end = w->end == WORKER_MEMORY ? SEARCH_MEMORY : SEARCH_ERROR;
	snprintf(o->why, sizeof o->why, "%s", w->why.msg);
	/* Nothing was measured yet and nothing will be: a file that is missing, an option that is
	 * wrong. Its error code is the program's. */
	if (r->well == 0 && w->end == WORKER_FAILED)
		return err_pass(w->why.code, &w->why, err);
	return DCK_OK;
}

static dck_status worker_measure(search_run *r, const search_ask *ask, const dck_plan *plan,
				 search_outcome *o, dck_err *err)
{
	const dck_observer watch = {.self = r, .cancelled = measure_on_asked};
	const char *device = r->subject->model.device;
	const bool reserves = device && strcmp(device, "cpu") != 0;
	worker_job job = {
	    .plan = plan, .memory_bytes = r->memory_bytes, .watch = &watch, .quiet = true};
	mem_arena *a = mem_arena_new(0);
	dck_subject subject;
	dck_load_config load;
	worker_result result = {0};
	dck_status status;

	DCK_NEED(a, err, "for a trial");
	status = search_subject(r, ask->batch, ask->setting, a, &subject, err);
	job.subject = &subject;
	if (r->settings[ask->setting].in_flight > 1) {
		dck_load_in_flight(plan, r->settings[ask->setting].in_flight, &load);
		job.command = "load";
		job.options = dck_load_options;
		job.config = &load;
	}
	/* Engines reserve more memory than they touch; device drivers reserve far more. */
	if (r->config->memory_bytes > 0 && !reserves)
		job.data_bytes = 2 * r->memory_bytes;
	DCK_NEXT(status, worker_run(&job, &result, err));
	if (status == DCK_OK) {
		status = result_take(r, ask, &result, o, err);
		dck_record_free(result.record);
	}
	mem_arena_free(a);
	return status;
}

/* Measures a function in this process; its caller has the reason of failed runs. */
static dck_status function_measure(search_run *r, const search_ask *ask, const dck_plan *plan,
				   search_outcome *o, dck_err *err)
{
	const dck_observer watch = {.self = r, .cancelled = measure_on_asked};
	const dck_batches *b = r->config->batches;
	worker_result result = {.end = WORKER_FAILED};
	dck_subject s = *r->subject;
	dck_status status, ended;

	s.items = ask->batch;
	status = b->prepare(b->self, ask->batch, r->settings[ask->setting].threads, r->memory_bytes,
			    &result.why);
	DCK_NEXT(status, dck_bench(&s, plan, &watch, &result.record, &result.why));
	ended = b->finish(b->self, &result.peak_rss_bytes, &result.why);
	status = ended == DCK_OK ? status : ended;
	if (status == DCK_OK)
		result.end = WORKER_DONE;
	else if (status == DCK_E_CANCEL)
		result.end = WORKER_CANCELLED;
	else if (status == DCK_E_NOMEM)
		result.end = WORKER_MEMORY;
	status = result_take(r, ask, &result, o, err);
	dck_record_free(result.record);
	return status;
}

dck_status search_measure(search_run *r, const search_ask *ask, search_outcome *ret, dck_err *err)
{
	search_outcome o = {
	    .rate = {NAN, NAN, NAN}, .latency = {NAN, NAN, NAN}, .held = {NAN, NAN, NAN}};
	dck_plan plan;
	dck_status status;

	measure_plan_make(r, ask, &plan);
	measure_show(r);
	status = r->subject->kind == DCK_SUBJECT_FUNCTION ? function_measure(r, ask, &plan, &o, err)
							  : worker_measure(r, ask, &plan, &o, err);
	if (status == DCK_OK && r->well == 0 && o.end == SEARCH_ERROR)
		return ERR_SET(err, E_ENGINE, "%s", o.why);
	if (status == DCK_OK)
		*ret = o;
	return status;
}
