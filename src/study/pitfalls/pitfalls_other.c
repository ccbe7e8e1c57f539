/* pitfalls_other.c - mistakes in the timed region, in concurrent load, and in the inputs.
 *
 * Within the clock: inputs made or bound in each run, memory of inputs and outputs allocated in
 * each run (a new context), and a run that returns before its results are ready (asynchronous
 * execution without synchronisation; on a device pitfalls_device.c). Next to it: the profiler, more
 * threads than processors, busy threads of others, subnormal inputs, one input for all runs, a
 * larger batch. Each function of pitfall.h builds a mistaken trial and gives it with an honest one
 * to pitfall_pair_find().
 *
 * A trial that binds other inputs to the honest session binds its inputs back on every path, before
 * the others are freed. Subnormal numbers (IEEE 754: an exponent of 0) are slow on many processors.
 * neighbour_work() runs in other threads: it reads `stop`, an atomic flag, and all are joined
 * before the trial returns. They are at most NEIGHBOURS_MAX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/pitfalls/pitfall.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "base/units.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define BATCH	       8
#define POOL	       16
#define NEIGHBOURS_MAX 1024

static dck_status tensors_needed(const pitfall *p, dck_err *err)
{
	if (!p->session.target.inputs || p->session.target.nin == 0)
		DCK_FAIL(err, E_UNSUP, "the subject has no inputs to pass");
	return DCK_OK;
}

/* Only a model can be opened in another setting. */
static dck_status model_needed(const pitfall *p, dck_err *err)
{
	if (p->subject->kind != DCK_SUBJECT_MODEL && p->subject->kind != DCK_SUBJECT_PLUGIN)
		DCK_FAIL(err, E_UNSUP, "only a model can be opened in another setting");
	return DCK_OK;
}

/* --- within the clock: inputs */

static dck_status inputs_new(const pitfall *p, const dck_model_config *c, subject_inputs **ret,
			     dck_err *err)
{
	const subject_target *t = &p->session.target;

	return subject_inputs_new(t->in, t->nin, t->has_summary ? &t->summary : NULL, c, ret, err);
}

/* Binds other inputs to the honest session. */
static dck_status inputs_bind(pitfall *p, subject_inputs *inputs, dck_err *err)
{
	p->session.target.inputs = inputs;
	p->session.target.next_set = 0;
	return subject_target_next_input(&p->session.target, err);
}

/* Inputs that are made in each run; the old ones may go once new ones are bound. */
typedef struct maker {
	subject_inputs *own, *made, *old;
} maker;

static dck_status make_and_run(pitfall *p, void *self, dck_err *err)
{
	maker *m = self;

	m->old = m->made;
	m->made = NULL;
	DCK_TRY(inputs_new(p, &p->subject->model, &m->made, err));
	DCK_TRY(inputs_bind(p, m->made, err));
	return pitfall_step_run(p, NULL, err);
}

static dck_status made_free(pitfall *p, void *self, dck_err *err)
{
	maker *m = self;

	(void)p, (void)err;
	subject_inputs_free(m->old);
	m->old = NULL;
	return DCK_OK;
}

dck_status pitfall_inputs(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	maker m = {.own = p->session.target.inputs};
	pitfall_step plain = {.step = pitfall_step_run};
	pitfall_step making = {.step = make_and_run, .after = made_free, .self = &m};
	dck_status status, back;

	DCK_TRY(tensors_needed(p, err));
	status = pitfall_pair_find(p, (pitfall_trial){pitfall_trial_step, &plain},
				   (pitfall_trial){pitfall_trial_step, &making}, ret, err);
	back = inputs_bind(p, m.own, status == DCK_OK ? err : NULL);
	subject_inputs_free(m.made);
	subject_inputs_free(m.old);
	return status == DCK_OK ? back : status;
}

static dck_status bind_and_run(pitfall *p, void *self, dck_err *err)
{
	(void)self;
	DCK_TRY(subject_target_next_input(&p->session.target, err));
	return pitfall_step_run(p, NULL, err);
}

dck_status pitfall_binding(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	pitfall_step plain = {.step = pitfall_step_run}, binding = {.step = bind_and_run};

	DCK_TRY(tensors_needed(p, err));
	return pitfall_pair_find(p, (pitfall_trial){pitfall_trial_step, &plain},
				 (pitfall_trial){pitfall_trial_step, &binding}, ret, err);
}

/* A run in a new context, whose inputs and outputs have new memory. */
static dck_status allocate_and_run(pitfall *p, void *self, dck_err *err)
{
	const subject_target *t = &p->session.target;
	const dck_engine *e = t->engine.ops;
	size_t *set = self;
	dck_engine_context *c;
	dck_status status;

	DCK_TRY(engine_context_new(e, t->model, &c, err));
	status = subject_target_bind(t, c, t->inputs, set, err);
	DCK_NEXT(status, engine_run(e, c, err));
	e->context_free(c);
	return status;
}

dck_status pitfall_allocation(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	size_t set = 0;
	pitfall_step reusing = {.step = bind_and_run};
	pitfall_step allocating = {.step = allocate_and_run, .self = &set};

	DCK_TRY(tensors_needed(p, err));
	return pitfall_pair_find(p, (pitfall_trial){pitfall_trial_step, &reusing},
				 (pitfall_trial){pitfall_trial_step, &allocating}, ret, err);
}

/* --- a run that returns before its results are ready */

static dck_status outputs_fetch(pitfall *p, dck_err *err)
{
	const subject_target *t = &p->session.target;
	dck_tensor out;

	for (size_t i = 0; i < t->nout; i++)
		DCK_TRY(engine_output(t->engine.ops, t->context, i, &out, err));
	return DCK_OK;
}

/* It spins, because caches would cool in a pause. */
static void wait_ns(double ns)
{
	const uint64_t begin = os_now_ns();

	while ((double)(os_now_ns() - begin) < ns)
		;
}

/* Measures what fetching outputs costs when they have long been ready. */
static dck_status look_late(pitfall *p, double run_ns, double *ret_ns, dck_err *err)
{
	uint64_t begin;

	DCK_TRY(pitfall_step_run(p, NULL, err));
	wait_ns(2 * run_ns);
	begin = measure_context_now(&p->shared);
	DCK_TRY(outputs_fetch(p, err));
	*ret_ns = (double)(measure_context_now(&p->shared) - begin);
	return DCK_OK;
}

/* Times a run, the fetching of its outputs, and fetching when they are ready: outputs that are not
 * must be waited for. */
static dck_status ready_once(pitfall *p, unsigned barrier, pitfall_wait *ret, dck_err *err)
{
	const dck_clock *c = &p->shared.clock;
	uint64_t begin, returned, end;

	(void)barrier;
	DCK_TRY(pitfall_step_run(p, NULL, err)); /* the wait has let workers fall asleep */
	begin = c->now_ns(c->self);
	DCK_TRY(pitfall_step_run(p, NULL, err));
	returned = c->now_ns(c->self);
	DCK_TRY(outputs_fetch(p, err));
	end = c->now_ns(c->self);
	ret->call_ns = (double)(returned - begin);
	ret->wait_ns = (double)(end - returned);
	return look_late(p, (double)(end - begin), &ret->idle_ns, err);
}

dck_status pitfall_no_sync(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	const char *device = p->subject->model.device ? p->subject->model.device : "cpu";

	if (pitfall_is_command(p))
		DCK_FAIL(err, E_UNSUP, "a program is waited for until it has ended");
	if (pitfall_on_device(p))
		return pitfall_enqueue_only(p, ret, err);
	if (strcmp(device, "cpu") != 0)
		DCK_FAIL(err, E_UNSUP,
			 "each run copies its outputs from the device and ends within its call: "
			 "the engine cannot enqueue one without that");
	if (!p->session.target.engine.ops->output || p->session.target.nout == 0)
		DCK_FAIL(err, E_UNSUP,
			 "the engine hands out no outputs, by which to see whether they are ready");
	DCK_TRY(pitfall_ready_find(p, ready_once, 0, ret, err));
	snprintf(ret->seen, sizeof ret->seen,
		 "a run returns after %s, its outputs are complete after %s",
		 UNITS_TIME(ret->number_ns), UNITS_TIME(ret->honest_ns));
	p->not_waiting = ret->has_interval && ret->hi < 1 - fmax(p->asked->margin, p->resolution);
	return DCK_OK;
}

/* --- next to a run */

static dck_status candidate_measure(pitfall *p, measure_session *l, pitfall_finding *ret,
				    dck_err *err)
{
	const dck_status status = pitfall_pair_find(
	    p, pitfall_honest(p), (pitfall_trial){pitfall_trial_loop, &l->phases.loop}, ret, err);

	measure_session_close(l);
	return status;
}

dck_status pitfall_profiler(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	measure_session l;

	DCK_TRY(engine_can_observe(p->session.target.engine.ops, DCK_OBSERVE_OPERATORS, err));
	DCK_TRY(pitfall_candidate_open(p, &l, p->subject, DCK_OBSERVE_OPERATORS, err));
	return candidate_measure(p, &l, ret, err);
}

dck_status pitfall_threads(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	dck_subject s = *p->subject;
	measure_session l;

	DCK_TRY(model_needed(p, err));
	s.model.threads = 2 * (uint64_t)os_cpus_allowed();
	DCK_TRY(pitfall_candidate_open(p, &l, &s, 0, err));
	DCK_TRY(candidate_measure(p, &l, ret, err));
	text_add(ret->seen, sizeof ret->seen, "; %llu threads on %u processors",
		 (unsigned long long)s.model.threads, os_cpus_allowed());
	return DCK_OK;
}

typedef struct neighbours {
	pthread_t thread[NEIGHBOURS_MAX];
	size_t n;
	atomic_bool stop;
} neighbours;

static void *neighbour_work(void *self)
{
	neighbours *all = self;
	volatile double x = 1;

	while (!atomic_load_explicit(&all->stop, memory_order_relaxed))
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
	return NULL;
}

static dck_status neighbour_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	neighbours *all = self;
	const unsigned wanted = os_cpus_allowed();
	dck_status status = DCK_OK;

	atomic_store(&all->stop, false);
	for (all->n = 0; all->n < wanted && all->n < NEIGHBOURS_MAX; all->n++)
		if (pthread_create(&all->thread[all->n], NULL, neighbour_work, all) != 0)
			break;
	if (all->n == 0)
		status = ERR_SET(err, E_NOMEM, "no thread can be started as other load");
	DCK_NEXT(status, pitfall_trial_mean(p, &p->session.phases.loop, ret_ns, err));
	atomic_store(&all->stop, true);
	while (all->n > 0)
		pthread_join(all->thread[--all->n], NULL);
	return status;
}

dck_status pitfall_neighbour(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	neighbours *all = mem_zalloc(1, sizeof *all);
	dck_status status;

	DCK_NEED(all, err, "for neighbours");
	status = pitfall_pair_find(p, (pitfall_trial){pitfall_trial_mean, &p->session.phases.loop},
				   (pitfall_trial){neighbour_trial, all}, ret, err);
	mem_free(all);
	DCK_TRY(status);
	text_add(ret->seen, sizeof ret->seen,
		 " of mean times, with a busy thread on each of %u processors", os_cpus_allowed());
	return status;
}

/* --- other inputs */

/* Fills the tensor with positive numbers below the smallest normal one: their exponent is 0. */
static bool denormals_fill(const dck_tensor *t)
{
	const size_t bytes = dck_dtype_bytes(t->dtype), n = bytes > 0 ? t->bytes / bytes : 0;

	if ((t->dtype.code != DCK_DTYPE_FLOAT && t->dtype.code != DCK_DTYPE_BFLOAT) || n == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (bytes == 2)
			((uint16_t *)t->data)[i] = (uint16_t)(1 + i % 127);
		else if (bytes == 4)
			((uint32_t *)t->data)[i] = (uint32_t)(10000 + i % 100000);
		else if (bytes == 8)
			((uint64_t *)t->data)[i] = (uint64_t)1 << 40 | i;
		else
			return false;
	}
	return true;
}

typedef struct swap {
	subject_inputs *own, *tiny;
} swap;

static dck_status tiny_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	const swap *s = self;
	dck_status status = inputs_bind(p, s->tiny, err), back;

	DCK_NEXT(status, pitfall_trial_loop(p, &p->session.phases.loop, ret_ns, err));
	back = inputs_bind(p, s->own, status == DCK_OK ? err : NULL);
	return status == DCK_OK ? back : status;
}

dck_status pitfall_denormals(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	swap s = {.own = p->session.target.inputs};
	bool any = false;
	dck_status status = DCK_OK;

	DCK_TRY(tensors_needed(p, err));
	DCK_TRY(inputs_new(p, &p->subject->model, &s.tiny, err));
	for (size_t set = 0; set < subject_inputs_pool(s.tiny); set++)
		for (size_t i = 0; i < p->session.target.nin; i++)
			any |= denormals_fill(subject_inputs_get(s.tiny, set, i));
	if (!any)
		status = ERR_SET(err, E_UNSUP, "no input has floating-point numbers");
	DCK_NEXT(status, pitfall_pair_find(p, pitfall_honest(p), (pitfall_trial){tiny_trial, &s},
					   ret, err));
	subject_inputs_free(s.tiny);
	return status;
}

/* Inputs whose sets are bound in turn, outside the clock. */
typedef struct sets {
	const subject_inputs *inputs;
	bool first; /* the first set alone, in every run */
	size_t next;
} sets;

static dck_status set_bind(pitfall *p, void *self, dck_err *err)
{
	const subject_target *t = &p->session.target;
	sets *s = self;

	s->next = s->first ? 0 : s->next;
	return subject_target_bind(t, t->context, s->inputs, &s->next, err);
}

/* Both ways bind an input between any two runs, in one session: only which one differs. */
dck_status pitfall_one_input(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	subject_inputs *own = p->session.target.inputs, *made = NULL;
	dck_model_config several = p->subject->model;
	dck_status status, back;

	DCK_TRY(tensors_needed(p, err));
	if (p->session.phases.loop.group > 1)
		DCK_FAIL(err, E_UNSUP,
			 "runs are too short to be timed one by one, each with another input");
	if (several.input_pool < 2) {
		several.input_pool = POOL;
		DCK_TRY(inputs_new(p, &several, &made, err));
	}
	sets one = {.inputs = own, .first = true}, all = {.inputs = made ? made : own};
	pitfall_step same = {.step = pitfall_step_run, .after = set_bind, .self = &one};
	pitfall_step changing = {.step = pitfall_step_run, .after = set_bind, .self = &all};

	status = pitfall_pair_find(p, (pitfall_trial){pitfall_trial_step, &changing},
				   (pitfall_trial){pitfall_trial_step, &same}, ret, err);
	back = inputs_bind(p, own, status == DCK_OK ? err : NULL);
	subject_inputs_free(made);
	return status == DCK_OK ? back : status;
}

typedef struct batch_candidate {
	measure_session session;
	double items; /* items of its run over the items of a reference run */
} batch_candidate;

static dck_status batch_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	batch_candidate *b = self;

	DCK_TRY(pitfall_trial_loop(p, &b->session.phases.loop, ret_ns, err));
	*ret_ns /= b->items;
	return DCK_OK;
}

dck_status pitfall_batch(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	dck_subject s = *p->subject;
	batch_candidate b;
	const char *how;
	dck_status status;

	DCK_TRY(model_needed(p, err));
	DCK_TRY(tensors_needed(p, err));
	/* The batch, which --items does not change. */
	const uint64_t own = subject_inputs_items(p->session.target.inputs, &how);
	s.items = s.model.items = 0;
	s.model.batch = BATCH * own;
	DCK_TRY(pitfall_candidate_open(p, &b.session, &s, 0, err));
	b.items = (double)b.session.target.items / (double)own;
	if (b.session.target.items != BATCH * own)
		status = ERR_SET(err, E_UNSUP, "the model does not take a larger batch");
	else
		status = pitfall_pair_find(p, pitfall_honest(p), (pitfall_trial){batch_trial, &b},
					   ret, err);
	measure_session_close(&b.session);
	DCK_TRY(status);
	text_add(ret->seen, sizeof ret->seen, "; a batch of %llu takes %.3g times as long",
		 (unsigned long long)s.model.batch, ret->factor * b.items);
	return DCK_OK;
}
