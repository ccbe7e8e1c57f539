/* profile.c - dck_profile_model(): measures a model's latency and its breakdown by operator.
 *
 *	deepclock profile model.onnx
 *
 * It first measures the latency as bench does. Then it opens the model again under the engine's
 * profiler for the operators' times, and once more to count memory. Last it combines the times with
 * the counts of src/study/cost_report and the limits of src/study/roofline.
 *
 * The latency is never that of a profiled run, because profiling makes runs slower. Without limits
 * of the machine, or without memory figures, the record is made all the same, and a note has the
 * reason.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/profile.h"
#include "base/dtype.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "record/tree/module_tree.h"
#include "base/observer.h"
#include "base/units.h"
#include "record/record_begin.h"
#include "record/copy.h"
#include "study/cost_report/observed_shapes.h"
#include "study/cost_report/operator_roofs.h"
#include "study/profile/profile_rows.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The engine's profiler stores a bounded number of events. */
#define EVENTS_MAX     900000
#define RUNS_MIN       10
#define RUNS_MAX       1000
#define PASS_NS	       2e9
#define MEMORY_RUNS    3
#define WARM_RUNS_MIN  3
#define WARM_RUNS_MAX  50
#define WARM_PASS_PART 5 /* of the runs that count */

const dck_opt dck_profile_options[] = {
    DCK_OPTION(COUNT, dck_profile_config, profile_runs, "profile-runs", "N", NULL,
	       "runs under the engine's profiler; default: as many as fit into two seconds",
	       .min = 1, .max = 1e6),
    DCK_FLAG(dck_profile_config, no_roofs, "no-roofs",
	     "do not compare with this machine's limits, nor measure them"),
    DCK_FLAG(dck_profile_config, no_memory, "no-memory",
	     "omit the session that counts allocations"),
    {0},
};

void dck_profile_config_init_sized(dck_profile_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_profile_options);
}

typedef struct job {
	const dck_subject *subject;
	const dck_plan *plan;
	const dck_profile_config *config;
	const dck_observer *watch;
	dck_record *base; /* of the latency */
	record_builder *b;
	model_cost model, ran;
	dck_roofline limits;
	profile_input in;
	profile_pass pass;
	dck_profile profile;
	bool interrupted;    /* in the profiled runs, of which enough were made */
	char no_limits[600]; /* of a device */
} job;

static void profile_show(const job *j, const char *phase)
{
	const dck_progress p = progress_indeterminate(phase);

	observer_show(j->watch, &p);
}

/* Reads the inputs of the profiled session, in which open dimensions have sizes. */
static dck_status inputs_real(const job *j, mem_arena *a, tally_real *ret, dck_err *err)
{
	const subject_target *t = &j->pass.session.target;

	*ret = (tally_real){.inputs = mem_arena_array(a, t->nin, sizeof *ret->inputs),
			    .contents = mem_arena_array(a, t->nin, sizeof *ret->contents)};
	DCK_NEED(ret->inputs && ret->contents, err, "for the inputs' shapes");
	for (size_t i = 0; i < t->nin; i++) {
		const dck_tensor *x = subject_inputs_get(t->inputs, 0, i);
		ret->inputs[ret->ninputs++] = (cost_shape){.name = t->in[i].name,
							   .dtype = dtype_onnx(x->dtype),
							   .rank = x->rank,
							   .dims = x->dim};
		const size_t width = dck_dtype_bytes(x->dtype), n = width ? x->bytes / width : 0;
		const int64_t *whole =
		    n <= ONNX_INTS_MAX ? values_whole(x->dtype, x->data, n, a) : NULL;
		if (whole)
			ret->contents[ret->ncontents++] =
			    (cost_content){.name = t->in[i].name, .ints = whole, .n = n};
	}
	return DCK_OK;
}

static uint64_t runs_choose(const job *j)
{
	const int64_t nodes = record_get_int(j->base, "subject", "nodes");
	double per_run = j->in.latency_ns;

	/* The profiler costs some microseconds for each operator. */
	per_run += 5e3 * (double)(nodes > 0 ? nodes : 1);
	double runs = PASS_NS / per_run;
	runs = fmin(fmax(runs, RUNS_MIN), RUNS_MAX);
	if (j->config->profile_runs)
		runs = (double)j->config->profile_runs;
	runs = fmin(runs, (double)EVENTS_MAX / (double)nodes);
	return runs < 1 ? 1 : (uint64_t)runs;
}

static dck_status observe(job *j, dck_err *err)
{
	uint64_t runs = runs_choose(j), warm = runs / WARM_PASS_PART;
	double *ns;

	warm = warm < WARM_RUNS_MIN ? WARM_RUNS_MIN : warm > WARM_RUNS_MAX ? WARM_RUNS_MAX : warm;
	profile_show(j, "profiled session");
	DCK_TRY(profile_pass_open(&j->pass, j->subject, DCK_OBSERVE_OPERATORS, j->watch, err));
	ns = mem_alloc(2 * runs * sizeof *ns);
	DCK_NEED(ns, err, "for %llu runs", (unsigned long long)runs);
	profile_show(j, "profiled runs");
	dck_status status = profile_pass_run(&j->pass, warm, NULL, err);
	for (uint64_t i = 0; status == DCK_OK && i < runs; i++) {
		status = profile_pass_run(&j->pass, 1, ns + i, err);
		if (status != DCK_E_CANCEL || i < RUNS_MIN)
			continue;
		j->interrupted = true;
		runs = i;
		status = DCK_OK;
	}
	if (status == DCK_OK) {
		winsorize_upper(ns, runs, ns + runs);
		for (uint64_t i = 0; i < runs; i++)
			j->in.observed_ns += ns[i] / (double)runs;
		j->in.perturbation = stat_quantile_sorted(ns + runs, runs, 0.5) /
				     dck_record_value(j->base, "latency/median");
		j->in.runs = runs;
	}
	mem_free(ns);
	DCK_TRY(status);
	profile_show(j, "reading the profile");
	j->profile.struct_size = sizeof j->profile;
	const subject_target *t = &j->pass.session.target;
	DCK_TRY(engine_profile(t->engine.ops, t->model, &j->profile, err));
	return device_profile_check(t->engine.ops, t->context, &j->profile, j->in.latency_ns, err);
}

static dck_status profile_count(job *j, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	tally_real real;
	dck_status status;

	DCK_NEED(a, err, "to count the model");
	if (j->in.no_structure) {
		mem_arena_free(a);
		return model_cost_none(&j->model, err);
	}
	status = inputs_real(j, a, &real, err);
	DCK_NEXT(status, model_cost_open(&j->model, j->subject, &real, err));
	if (status == DCK_OK && j->profile.model_path)
		status = model_cost_file(&j->ran, j->profile.model_path, &real, err);
	mem_arena_free(a);
	return status;
}

/* Returns the number of threads of the limits; 0: all processors, because further threads do not
 * raise the limits. */
static uint64_t threads_of_roofs(const job *j)
{
	const int64_t allowed = record_get_int(j->base, "host", "cpus_allowed");
	const char *engine = record_get_text(j->base, "engine", "threads");
	uint64_t threads = j->subject->model.threads;

	/* The default is that of the processors to which the model was pinned. */
	if (threads == 0 && j->subject->model.cpus && engine)
		(void)units_parse_count(engine, &threads, NULL);

	return threads > 1 && threads < (uint64_t)allowed ? threads : 0;
}

static void limits_measured(job *j, const dck_record *machine)
{
	const char *measured = record_get_text(machine, "machine", "measured");
	char now[RECORD_TIME_SIZE];

	record_time_text(os_unix_ns(), now); /* a device is measured each time */
	j->in.limits = &j->limits;
	record_fact_text(j->b, "profile", "roofs_measured", measured ? measured : now);
	operator_roofs_facts(j->b, &j->limits);
	operator_roofs_doubt(j->b, machine);
}

/* Measures the limits of the device whose times the operators have. */
static void device_limits_get(job *j)
{
	const char *device = j->subject->model.device;
	dck_machine_config c;
	dck_record *machine = NULL;
	dck_err err = {0};

	if (!(j->profile.flags & DCK_PROFILE_DEVICE_TIME) || !device || j->config->no_roofs ||
	    j->in.no_structure)
		return;
	dck_machine_init(&c);
	c.device = device;
	c.quick = true;
	profile_show(j, "limits of this device");
	if (dck_machine(&c, j->watch, &machine, &err) != DCK_OK) {
		snprintf(j->no_limits, sizeof j->no_limits,
			 "the limits of this device could not be measured: %s", err.msg);
		j->in.no_limits = j->no_limits;
		return;
	}
	dck_roofline_read(machine, false, &j->limits);
	record_fact_text(j->b, "profile", "roofs_of", device);
	limits_measured(j, machine);
	dck_record_free(machine);
}

/* Gets the record of the machine's limits; measures it if none is cached. */
static void limits_get(job *j)
{
	dck_machine_config c;
	dck_record *machine = NULL;
	dck_err err = {0};
	const char *threads = record_get_text(j->base, "engine", "threads");
	bool one = j->subject->model.threads == 1 || (threads && strcmp(threads, "1") == 0);

	if (j->config->no_roofs) {
		j->in.no_limits = "not requested (--no-roofs)";
		return;
	}
	if (j->in.no_structure) {
		j->in.no_limits = j->in.no_structure;
		return;
	}
	if (strcmp(j->subject->model.device ? j->subject->model.device : "cpu", "cpu") != 0) {
		j->in.no_limits = "only times on the device are compared with its limits";
		return;
	}
	dck_machine_init(&c);
	c.threads = threads_of_roofs(j);
	c.cached_only = true;
	if (dck_machine(&c, NULL, &machine, NULL) != DCK_OK) {
		c.cached_only = false;
		profile_show(j, "limits of this machine");
		if (dck_machine(&c, j->watch, &machine, &err) != DCK_OK) {
			record_note(j->b, "no-roofs",
				    "the limits of this machine could not be measured: %s",
				    err.msg);
			j->in.no_limits = "the limits of this machine could not be measured";
			return;
		}
	}
	dck_roofline_read(machine, one, &j->limits);
	if (one || !c.threads)
		record_fact_text(j->b, "profile", "roofs_of", one ? "1 thread" : "all threads");
	else
		record_fact_fmt(j->b, "profile", "roofs_of", "%llu threads",
				(unsigned long long)c.threads);
	limits_measured(j, machine);
	dck_record_free(machine);
}

/* --- memory */

static void memory_metric(record_builder *b, const char *tag, bool known, uint64_t v,
			  const char *how)
{
	record_metric_if(known, b, tag, RECORD_INT(v > INT64_MAX ? INT64_MAX : (int64_t)v), how,
			 "the engine does not report it");
}

static dck_status memory_pass(job *j, dck_err *err)
{
	dck_memory m = {.struct_size = sizeof m};
	profile_pass p;

	profile_show(j, "memory");
	DCK_TRY(profile_pass_open(&p, j->subject, DCK_OBSERVE_MEMORY, j->watch, err));
	dck_status status = profile_pass_run(&p, MEMORY_RUNS, NULL, err);
	DCK_NEXT(status,
		 engine_memory(p.session.target.engine.ops, p.session.target.model, &m, err));
	profile_pass_close(&p);
	DCK_TRY(status);
	memory_metric(j->b, "memory/arena_in_use", m.valid & DCK_MEMORY_IN_USE, m.in_use_bytes,
		      "the engine's arena, after the runs of a separate session");
	memory_metric(j->b, "memory/arena_peak", m.valid & DCK_MEMORY_PEAK, m.peak_bytes,
		      "the engine's arena");
	memory_metric(j->b, "memory/arena_reserved", m.valid & DCK_MEMORY_RESERVED,
		      m.reserved_bytes, "the engine's arena, rounded up by its growth");
	memory_metric(j->b, "memory/activation_peak", m.valid & DCK_MEMORY_RUN, m.run_peak_bytes,
		      "a counting allocator, the last run");
	memory_metric(j->b, "memory/allocs", m.valid & DCK_MEMORY_ALLOCS, m.allocs,
		      "a counting allocator, the last run");
	return DCK_OK;
}

static void memory(job *j)
{
	dck_err err = {0};

	const bool counted = j->model.cost && !j->in.no_structure;
	if (counted && sym_known(j->model.cost->weight_bytes))
		record_metric_int(j->b, "memory/weights", j->model.cost->weight_bytes.v,
				  "initializers of the model's file");
	if (counted && sym_known(j->model.cost->peak_activation_bytes))
		record_metric_int(j->b, "cost/peak_activation_bytes",
				  j->model.cost->peak_activation_bytes.v,
				  "liveness in the order of the file, without the engine");
	if (j->interrupted) {
		record_set_incomplete(j->b, true);
		record_note(
		    j->b, "interrupted",
		    "interrupted in run %zu under the profiler: "
		    "the operators' times come from the runs before it; memory was not measured",
		    j->in.runs + 1);
		return;
	}
	if (j->config->no_memory || memory_pass(j, &err) == DCK_OK)
		return;
	if (err.code == DCK_E_CANCEL) {
		record_set_incomplete(j->b, true);
		record_note(j->b, "interrupted", "interrupted before the memory was measured");
		return;
	}
	record_note(j->b, "engine-memory-unknown", "the engine's memory is not known: %s", err.msg);
}

static dck_status profile_operators(job *j, dck_err *err)
{
	const dck_metric *m;
	/* The statistic that is shown first, unless it is a tail's, because operators do not add up
	 * to that. */
	bool mean = j->plan->statistic && strcmp(j->plan->statistic, "mean") == 0;

	m = dck_record_metric(j->base, mean ? "latency/mean" : "latency/median");
	if (!m || m->value.kind != DCK_VALUE_REAL || !(m->value.as.r > 0))
		DCK_FAIL(err, E_ENGINE, "the latency is not known");
	j->in.latency_ns = m->value.as.r;
	j->in.latency_lo_ns = m->level > 0 ? m->lo : 0;
	j->in.latency_hi_ns = m->level > 0 ? m->hi : 0;
	j->in.level = j->plan->level;
	j->in.parallel = j->subject->model.interop_threads > 1;
	limits_get(j);
	dck_err why = {0};
	/* The profiler's cost is on the host, so it is in no time of a device. */
	if (!dck_record_fact(j->base, "device", "barrier"))
		profile_show(j, "the profiler's own cost");
	if (!dck_record_fact(j->base, "device", "barrier") &&
	    profiler_overhead_measure(j->subject, j->watch, &j->in.floor, &why) != DCK_OK) {
		if (why.code == DCK_E_CANCEL)
			return err_pass(why.code, &why, err);
		record_note(j->b, "profiler-not-calibrated",
			    "the profiler's cost per operator could not be measured, and is in "
			    "every time: %s",
			    why.msg);
	}
	DCK_TRY(observe(j, err));
	device_limits_get(j);
	DCK_TRY(profile_count(j, err));
	j->in.profile = &j->profile;
	j->in.model = &j->model;
	j->in.ran = j->ran.cost ? &j->ran : &j->model;
	return profile_rows(j->b, &j->in, err);
}

static void failed_note(job *j, dck_status status, const dck_err *why)
{
	record_set_incomplete(j->b, true);
	if (status == DCK_E_CANCEL)
		record_note(
		    j->b, "interrupted",
		    "interrupted before the operators were measured: this is the latency alone");
	else
		record_note(j->b, "profile-failed",
			    "the operators could not be measured: %s; this is the latency alone",
			    why->msg);
}

static dck_status can_profile(job *j, dck_err *err)
{
	const dck_subject *s = j->subject;
	engine_handle h;

	if (s->kind != DCK_SUBJECT_MODEL)
		DCK_FAIL(err, E_ARG,
			 "only a model has operators to profile: give a file or zoo:NAME");
	DCK_TRY(engine_find(s->model.engine, &h, err));
	dck_status status = engine_can_observe(h.ops, DCK_OBSERVE_OPERATORS, err);
	if (engine_reads(h.ops, s->text))
		j->in.no_structure = "only the engine reads files of this format";
	engine_release(&h);
	return status;
}

dck_status dck_profile_model(const dck_subject *s, const dck_plan *plan,
			     const dck_profile_config *config, const dck_observer *watch,
			     dck_record **ret, dck_err *err)
{
	dck_plan own_plan;
	dck_profile_config own;
	job j = {.subject = s, .watch = watch};
	dck_err why = {0};

	DCK_TRY(OPT_CONFIG_GET(plan, &own_plan, dck_plan_init, err, NULL));
	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_profile_config_init, err, dck_profile_options));
	DCK_TRY(subject_valid(s, err));
	if (own_plan.processes == 0)
		own_plan.processes = 1; /* as its operators */
	plan = &own_plan;
	config = &own;
	j.plan = plan;
	j.config = config;
	DCK_TRY(can_profile(&j, err));
	DCK_TRY(dck_bench(s, plan, watch, &j.base, err));
	j.b = record_begin(plan->title);
	if (!j.b) {
		dck_record_free(j.base);
		return ERR_NO_MEMORY(err, "for a record");
	}
	record_copy(j.b, j.base);
	record_fact_options(j.b, "plan", dck_profile_options, config);
	if (!j.base->incomplete) {
		dck_status status = profile_operators(&j, &why);
		profile_pass_close(&j.pass);
		if (status == DCK_OK)
			memory(&j);
		else
			failed_note(&j, status, &why);
	}
	model_cost_close(&j.model);
	model_cost_close(&j.ran);
	dck_record_free(j.base);
	if (module_tree_put(j.b, &why) == DCK_OK)
		return record_finish(j.b, ret, err);
	record_drop(j.b);
	return ERR_NO_MEMORY(err, "for the tree of modules");
}
