/* profile_pass.c - a session in which the engine profiles itself, and the overhead of that profiler
 * by calibration.
 *
 * The calibration model is a chain of CHAIN Adds of one number, written here as an ONNX file
 * (protobuf encoding; IR version 8, opset 13). It runs CHAIN_RUNS times with and without the
 * profiler. The time that the profiler reports for an operator, less the run without it per
 * operator, is the overhead inside the reported times; the runs' difference per operator is the
 * overhead around them. Neither is below 0.
 *
 * Run times are winsorised at their 95 % quantile (winsorize_upper()) and events above 50 us are
 * left out, because other programs preempt both. CHAIN_RUNS / 4 runs before them warm up. The
 * directory of the model is removed on every path. A profile_pass may not be moved while it is
 * open, since its session points to its clock and log.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/profile/profile_pass.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/sink.h"
#include "deepclock/unstable.h"
#include "model/onnx/onnx.h"
#include "base/wire.h"
#include "stat/stat.h"
#include <stdio.h>
#include <string.h>

dck_status profile_pass_open(profile_pass *p, const dck_subject *s, uint32_t observe,
			     const dck_observer *watch, dck_err *err)
{
	dck_subject one = *s;
	dck_clock clock;

	*p = (profile_pass){.session.target.observe = observe};
	one.model.input_pool = 1;
	one.model.skip_batch_check = true; /* the latency was measured before */
	os_clock_monotonic(&clock);
	measure_context_begin(&p->shared, &clock, watch, false);
	const dck_status status =
	    measure_session_open(&p->session, &p->shared, &one, NULL, &p->shared.quiet, err);
	if (status != DCK_OK)
		profile_pass_close(p);
	return status;
}

dck_status profile_pass_run(profile_pass *p, uint64_t n, double *ns, dck_err *err)
{
	const subject_target *t = &p->session.target;

	for (uint64_t i = 0; i < n; i++) {
		if (observer_cancelled(p->shared.watch))
			DCK_FAIL(err, E_CANCEL, "interrupted");
		const uint64_t begin = measure_context_now(&p->shared);
		DCK_TRY(subject_target_failed(t, engine_run(t->engine.ops, t->context, err), err));
		if (ns)
			ns[i] = (double)(measure_context_now(&p->shared) - begin);
	}
	return DCK_OK;
}

void profile_pass_close(profile_pass *p)
{
	measure_session_close(&p->session);
	measure_context_end(&p->shared);
}

/* --- the floor */

#define CHAIN	   64
#define CHAIN_RUNS 200

static void pass_put_value(wire_out *w, uint32_t field, const char *name)
{
	size_t value = wire_begin(w, field), type, tensor, shape, dim;

	wire_put_text(w, 1, name);
	type = wire_begin(w, 2);
	tensor = wire_begin(w, 1);
	wire_put_int(w, 1, ONNX_FLOAT);
	shape = wire_begin(w, 2);
	dim = wire_begin(w, 1);
	wire_put_int(w, 1, 1);
	wire_end(w, dim);
	wire_end(w, shape);
	wire_end(w, tensor);
	wire_end(w, type);
	wire_end(w, value);
}

/* y = x + b + b + ... */
static void chain_put(wire_out *w)
{
	char from[16] = "x", to[16];
	size_t graph, node;

	wire_put_int(w, 1, 8);
	graph = wire_begin(w, 7);
	for (int i = 0; i < CHAIN; i++) {
		snprintf(to, sizeof to, i + 1 == CHAIN ? "y" : "v%d", i);
		node = wire_begin(w, 1);
		wire_put_text(w, 1, from);
		wire_put_text(w, 1, "b");
		wire_put_text(w, 2, to);
		wire_put_text(w, 3, to);
		wire_put_text(w, 4, "Add");
		wire_end(w, node);
		memcpy(from, to, sizeof from);
	}
	wire_put_text(w, 2, "chain");
	pass_put_value(w, 11, "x");
	pass_put_value(w, 11, "b");
	pass_put_value(w, 12, "y");
	wire_end(w, graph);
	size_t opset = wire_begin(w, 8);
	wire_put_text(w, 1, "");
	wire_put_int(w, 2, 13);
	wire_end(w, opset);
}

static dck_status chain_write(const char *path, dck_err *err)
{
	wire_out w = {0};
	dck_replace *file;
	dck_sink out;
	dck_status status;
	int fd;

	chain_put(&w);
	status =
	    w.failed ? ERR_NO_MEMORY(err, "for a model") : dck_replace_open(path, &file, &fd, err);
	if (status != DCK_OK)
		goto done;
	dck_sink_fd(&out, fd);
	sink_put(&out, w.data, w.n);
	if (dck_sink_finish(&out, NULL) == DCK_OK) {
		status = dck_replace_commit(file, err);
	} else {
		dck_replace_abort(file);
		status = ERR_SET(err, E_IO, "cannot write the model that calibrates the profiler");
	}
done:
	wire_out_done(&w);
	return status;
}

void winsorize_upper(double *ns, size_t n, double *sorted)
{
	memcpy(sorted, ns, n * sizeof *ns);
	stat_sort(sorted, n);
	double most = stat_quantile_sorted(sorted, n, 0.95);
	for (size_t i = 0; i < n; i++)
		if (ns[i] > most)
			ns[i] = most;
}

static double tame_mean(double *ns, size_t n)
{
	double sorted[CHAIN_RUNS], sum = 0;

	winsorize_upper(ns, n, sorted);
	for (size_t i = 0; i < n; i++)
		sum += ns[i];
	return sum / (double)n;
}

/* Returns whether an operator belongs to the chain: an engine that runs a different model than the
 * given one reports others. */
static bool of_chain(const char *name)
{
	return strcmp(name, "y") == 0 ||
	       (name[0] == 'v' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1));
}

static dck_status chain_time(const dck_subject *s, uint32_t observe, const dck_observer *watch,
			     double *ret_run, double *ret_inside, dck_err *err)
{
	double ns[CHAIN_RUNS], inside = 0;
	dck_profile profile = {.struct_size = sizeof profile};
	size_t counted = 0;
	profile_pass p;

	DCK_TRY(profile_pass_open(&p, s, observe, watch, err));
	dck_status status = profile_pass_run(&p, CHAIN_RUNS / 4, NULL, err);
	DCK_NEXT(status, profile_pass_run(&p, CHAIN_RUNS, ns, err));
	if (status == DCK_OK && observe)
		status = engine_profile(p.session.target.engine.ops, p.session.target.model,
					&profile, err);
	if (status == DCK_OK) {
		*ret_run = tame_mean(ns, CHAIN_RUNS);
		for (size_t i = 0; i < profile.nevents; i++) {
			const dck_op_event *e = &profile.events[i];
			/* Preempted operators are not evidence of the profiler's cost. */
			if (e->run < CHAIN_RUNS / 4 || e->depth || e->duration_ns > 50000 ||
			    !of_chain(e->name))
				continue;
			inside += (double)e->duration_ns;
			counted++;
		}
		if (counted)
			*ret_inside = inside / (double)counted;
		else if (observe)
			status = ERR_SET(err, E_ENGINE,
					 "the engine's profile does not contain the operators "
					 "of the model that calibrates it");
	}
	profile_pass_close(&p);
	return status;
}

dck_status profiler_overhead_measure(const dck_subject *s, const dck_observer *watch,
				     profiler_overhead *ret, dck_err *err)
{
	char dir[OS_TEMP_SIZE], path[OS_TEMP_SIZE + 16];
	dck_subject chain = *s;
	double plain, observed, inside, none;

	DCK_TRY(os_temp_dir(dir, err));
	snprintf(path, sizeof path, "%s/chain.onnx", dir);
	chain.text = path;
	chain.model.shape.n = chain.model.dim.n = chain.model.input.n = 0;
	chain.model.batch = chain.model.seq = 0;
	chain.model.image_size = NULL;
	dck_status status = chain_write(path, err);
	DCK_NEXT(status, chain_time(&chain, 0, watch, &plain, &none, err));
	DCK_NEXT(status, chain_time(&chain, DCK_OBSERVE_OPERATORS, watch, &observed, &inside, err));
	os_temp_dir_remove(dir);
	DCK_TRY(status);
	plain /= CHAIN;
	observed /= CHAIN;
	ret->inside_ns = inside > plain ? inside - plain : 0;
	ret->around_ns = observed > plain ? observed - plain : 0;
	ret->runs = CHAIN_RUNS;
	return DCK_OK;
}
