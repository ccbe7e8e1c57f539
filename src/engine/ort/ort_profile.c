/* ort_profile.c - ONNX Runtime's own profiler: its settings, and its events assigned to runs.
 *
 * ort_profile_apply() switches the profiler on and has the optimised graph saved without its large
 * weights, which go to a symbolic link to /dev/null.
 *
 * ort_profile_group() assigns each operator to the run that contains it in time. Runs are sorted by
 * beginning with the running maximum of their ends: a bisection finds the last run that begins
 * early enough, and a scan backwards stops where no earlier run can reach the operator. This takes
 * O(log runs) for each operator, besides the runs that overlap it. An operator's event is written
 * before that of its run, and a run on the operator's own thread is preferred. Where concurrent
 * runs leave it ambiguous, the profile fails (E_UNSUP); it is never guessed.
 *
 * Depth is found after a sort by run, beginning, longest first, last to end first, so that an
 * operator with a body precedes the operators inside; up to BODIES_MAX open ones are tracked.
 *
 * Times are microseconds, rounded down by ONNX Runtime; hence the 1 added to ends. The counters in
 * ort_runs are atomic, because any thread may finish a run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/commas.h"
#include "base/err.h"
#include "engine/ort/ort_trace.h"
#include "engine/ort/ort_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the settings of a session */

#define WEIGHTS "weights"

dck_status ort_profile_plan(const char *work_dir, mem_arena *a, ort_profile_files *ret,
			    dck_err *err)
{
	if (!work_dir || !*work_dir)
		DCK_FAIL(err, E_ARG, "a profile needs a directory to work in");
	ret->prefix = mem_arena_fmt(a, "%s/profile", work_dir);
	ret->graph = mem_arena_fmt(a, "%s/graph.onnx", work_dir);
	/* The graph is saved without its weights, which may be gigabytes: they go to a separate
	 * file, which is a link to /dev/null. */
	const char *weights = mem_arena_fmt(a, "%s/" WEIGHTS, work_dir);
	DCK_NEED(!mem_arena_failed(a), err, "for a profile");
	if (!os_file_swallow(weights))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot write a profile into '%s'", work_dir);
	return DCK_OK;
}

dck_status ort_profile_apply(const ort_lib *l, const ort_profile_files *f, bool with_graph,
			     ort_options *o, dck_err *err)
{
	static const char *const config[][2] = {
	    {"session.save_model_format", "ONNX"},
	    {"session.optimized_model_external_initializers_file_name", WEIGHTS},
	    /* Smaller ones stay in the file: shapes, axes and scales show what a node does. */
	    {"session.optimized_model_external_initializers_min_size_in_bytes", "8193"},
	};

	DCK_TRY(ort_check(l, l->api.EnableProfiling(o, f->prefix), err, "cannot profile"));
	if (!with_graph || !f->graph)
		return DCK_OK;
	DCK_TRY(ort_check(l, l->api.SetOptimizedModelFilePath(o, f->graph), err,
			  "cannot save the optimised graph"));
	for (size_t i = 0; i < sizeof(config) / sizeof *config; i++)
		DCK_TRY(ort_check(l, l->api.AddSessionConfigEntry(o, config[i][0], config[i][1]),
				  err, "ONNX Runtime refuses %s=%s", config[i][0], config[i][1]));
	return DCK_OK;
}

/* --- runs */

typedef struct run {
	const ort_trace_run *of;
	uint64_t end_us, last_end_us; /* last: the greatest of this run and of all earlier ones */
	bool left_out;
	uint64_t number; /* among the runs that are not left out */
} run;

static uint64_t profile_end_of(const ort_trace_run *r)
{
	return r->begin_us + r->duration_us + 1; /* both are rounded down */
}

static int profile_by_begin(const void *a, const void *b)
{
	const ort_trace_run *x = ((const run *)a)->of, *y = ((const run *)b)->of;

	if (x->begin_us != y->begin_us)
		return x->begin_us < y->begin_us ? -1 : 1;
	return (x > y) - (x < y);
}

/* Marks failed runs, which lack operators. They are identified by the order of the runs' ends,
 * which is the file's order unless ONNX Runtime does not write failed runs. */
static void failed_leave_out(const ort_trace *t, const ort_runs *runs, run *r)
{
	uint64_t failures = runs ? atomic_load(&runs->failures) : 0;

	if (failures == 0 || t->nruns + failures == atomic_load(&runs->ended))
		return;
	for (uint64_t i = 0; i < failures && i < ORT_FAILURES_MAX; i++) {
		uint64_t at = atomic_load(&runs->failed[i]);
		if (at < t->nruns)
			r[at].left_out = true;
	}
}

/* Sorts the runs by their beginnings and numbers the runs that are not omitted. */
static run *runs_order(const ort_trace *t, const ort_runs *runs, mem_arena *a, size_t *ret_kept)
{
	run *r = mem_arena_array(a, t->nruns + 1, sizeof *r);
	uint64_t last = 0;

	if (!r)
		return NULL;
	for (size_t i = 0; i < t->nruns; i++)
		r[i] = (run){.of = &t->runs[i], .end_us = profile_end_of(&t->runs[i])};
	failed_leave_out(t, runs, r);
	qsort(r, t->nruns, sizeof *r, profile_by_begin);
	*ret_kept = 0;
	for (size_t i = 0; i < t->nruns; i++) {
		if (r[i].end_us > last)
			last = r[i].end_us;
		r[i].last_end_us = last;
		if (!r[i].left_out)
			r[i].number = (*ret_kept)++;
	}
	return r;
}

/* Returns how many runs begin at `us` or earlier. */
static size_t runs_until(const run *r, size_t n, uint64_t us)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (r[mid].of->begin_us <= us)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Finds the run of operator i: it ran within that run, and its event was written before the run's.
 * One thread runs all operators of a run, unless they run in parallel. *ret NULL: no run matches.
 */
static dck_status run_of(const ort_trace *t, const run *r, size_t i, const run **ret, dck_err *err)
{
	const ort_trace_op *op = &t->ops[i];
	const run *best = NULL;
	bool unsure = false;

	for (size_t k = runs_until(r, t->nruns, op->begin_us);
	     k > 0 && r[k - 1].last_end_us >= op->begin_us; k--) {
		const run *now = &r[k - 1];
		if (now->end_us < op->begin_us || now->of->ops_before <= i)
			continue;
		bool mine = now->of->thread == op->thread;
		if (best && (best->of->thread == op->thread) == mine) {
			unsure |= !mine && best->of->begin_us + 1 < now->end_us &&
				  now->of->begin_us + 1 < best->end_us;
			if (now->of->ops_before >= best->of->ops_before)
				continue;
		} else if (best && !mine) {
			continue;
		} else {
			unsure = false;
		}
		best = now;
	}
	if (unsure)
		DCK_FAIL(
		    err, E_UNSUP,
		    "several runs overlapped, each with concurrent operators: the run of an operator is unknown; profile with one run at a time");
	*ret = best;
	return DCK_OK;
}

/* --- events */

typedef struct entry {
	uint64_t run, begin_us, duration_us;
	size_t op; /* index in the trace, which is in the order of ends */
} entry;

/* Orders an operator before the operators inside it: it begins no later, takes at least as long and
 * ends last. */
static int by_run(const void *a, const void *b)
{
	const entry *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->begin_us != y->begin_us)
		return x->begin_us < y->begin_us ? -1 : 1;
	if (x->duration_us != y->duration_us)
		return x->duration_us > y->duration_us ? -1 : 1;
	return (x->op < y->op) - (x->op > y->op);
}

/* Whether operators of this type hold graphs, in ONNX or in ONNX Runtime's own domain. */
static bool has_body(const char *type)
{
	return type &&
	       commas_have("If,Loop,Scan,BeamSearch,GreedySearch,Sampling,WhisperBeamSearch", type);
}

#define BODIES_MAX 64

/* The operators with bodies that enclose the current one, in one run. A body is run by the thread
 * of its operator. */
typedef struct bodies {
	const entry *open[BODIES_MAX];
	size_t n;
} bodies;

static uint32_t profile_depth_of(const ort_trace *t, bodies *b, const entry *e)
{
	const ort_trace_op *op = &t->ops[e->op];
	size_t kept = 0;
	uint32_t depth = 0;

	for (size_t i = 0; i < b->n; i++) {
		const entry *o = b->open[i];
		if (o->run != e->run || o->begin_us + o->duration_us + 1 < e->begin_us)
			continue;
		b->open[kept++] = o;
		depth += t->ops[o->op].thread == op->thread && o->op > e->op;
	}
	b->n = kept;
	if (has_body(op->type) && b->n < BODIES_MAX)
		b->open[b->n++] = e;
	return depth;
}

/* Returns the time of an operator. On a device it is the time of its kernels, which is 0 if it has
 * none. */
static uint64_t op_duration_ns(const ort_trace_op *op, bool of_device)
{
	if (op->has_device)
		return op->device_ns;
	if (of_device && op->provider && strcmp(op->provider, "CPUExecutionProvider") != 0)
		return 0;
	return op->duration_us * 1000;
}

/* Events, and the arrays beside them. */
typedef struct event_lists {
	dck_op_event *events;
	int64_t *threads;
	uint64_t *begin_ns, *end_ns; /* on a device */
} event_lists;

static void events_fill(const ort_trace *t, const entry *e, size_t n, bool of_device,
			const event_lists *ret)
{
	bodies around = {.n = 0};

	for (size_t i = 0; i < n; i++) {
		const ort_trace_op *op = &t->ops[e[i].op];
		ret->threads[i] = op->thread;
		ret->begin_ns[i] = op->has_device ? op->device_begin_ns : 0;
		ret->end_ns[i] = op->has_device ? op->device_end_ns : 0;
		ret->events[i] = (dck_op_event){.name = op->name,
						.type = op->type ? op->type : "",
						.provider = op->provider,
						.run = e[i].run,
						.begin_ns = op->begin_us * 1000,
						.duration_ns = op_duration_ns(op, of_device),
						.memory_bytes = op->memory_bytes,
						.depth = profile_depth_of(t, &around, &e[i])};
	}
}

static dck_status entries_make(const ort_trace *t, const run *r, entry *e, size_t *ret_n,
			       size_t *ret_lost, dck_err *err)
{
	size_t n = 0, lost = 0;

	for (size_t i = 0; i < t->nops; i++) {
		const run *of = NULL;
		DCK_TRY(run_of(t, r, i, &of, err));
		lost += of == NULL;
		if (of && !of->left_out)
			e[n++] = (entry){of->number, t->ops[i].begin_us, t->ops[i].duration_us, i};
	}
	qsort(e, n, sizeof *e, by_run);
	*ret_n = n;
	*ret_lost = lost;
	return DCK_OK;
}

/* Returns whether ONNX Runtime's time of an operator is that of launching it, by its provider. */
static bool is_launched(const char *provider)
{
	static const char *const providers[] = {
	    "CUDA", "Tensorrt", "NvTensorRTRTX", "ROCM", "MIGraphX", "WebGpu", "Dml"};

	for (size_t i = 0; provider && i < sizeof providers / sizeof *providers; i++)
		if (strncmp(provider, providers[i], strlen(providers[i])) == 0)
			return true;
	return false;
}

dck_status ort_profile_group(const ort_trace *t, const ort_runs *runs, mem_arena *a,
			     dck_profile *ret, dck_err *err)
{
	const uint64_t failures = runs ? atomic_load(&runs->failures) : 0;
	size_t kept = 0, n = 0, lost = 0;
	bool of_device = false, launched = false, timed = false;

	if (failures > ORT_FAILURES_MAX)
		DCK_FAIL(err, E_ENGINE, "more than %d runs failed: the profile is too small",
			 ORT_FAILURES_MAX);
	run *r = runs_order(t, runs, a, &kept);
	uint64_t *run_ns = mem_arena_array(a, kept, sizeof *run_ns);
	uint64_t *run_begin_ns = mem_arena_array(a, kept, sizeof *run_begin_ns);
	const event_lists lists = {.events = mem_arena_array(a, t->nops, sizeof *lists.events),
				   .threads = mem_arena_array(a, t->nops, sizeof *lists.threads),
				   .begin_ns = mem_arena_array(a, t->nops, sizeof *lists.begin_ns),
				   .end_ns = mem_arena_array(a, t->nops, sizeof *lists.end_ns)};
	entry *e = mem_zalloc(t->nops + 1, sizeof *e);
	if (!r || !e || mem_arena_failed(a)) {
		mem_free(e);
		return ERR_NO_MEMORY(err, "for %zu events of operators", t->nops);
	}
	dck_status status = entries_make(t, r, e, &n, &lost, err);
	if (status == DCK_OK) {
		for (size_t i = 0; i < t->nops; i++) {
			of_device |= t->ops[i].has_device;
			timed |= t->ops[i].has_device && t->ops[i].device_end_ns > 0;
			launched |= is_launched(t->ops[i].provider);
		}
		events_fill(t, e, n, of_device, &lists);
	}
	mem_free(e);
	DCK_TRY(status);
	for (size_t i = 0; i < t->nruns; i++) {
		if (r[i].left_out)
			continue;
		run_ns[r[i].number] = r[i].of->duration_us * 1000;
		run_begin_ns[r[i].number] = r[i].of->begin_us * 1000;
	}
	bool truncated = runs ? t->nruns + failures < atomic_load(&runs->ended) : lost > 0;
	*ret = (dck_profile){
	    .struct_size = sizeof *ret,
	    .flags = (truncated || (lost > 0 && failures == 0) ? DCK_PROFILE_TRUNCATED : 0) |
		     (of_device	 ? DCK_PROFILE_DEVICE_TIME
		      : launched ? DCK_PROFILE_LAUNCH_TIME
				 : 0),
	    .resolution_ns = of_device ? 1 : 1000,
	    .events = lists.events,
	    .nevents = n,
	    .nruns = kept,
	    .run_ns = run_ns,
	    .run_begin_ns = run_begin_ns,
	    .threads = lists.threads,
	    .device_begin_ns = timed ? lists.begin_ns : NULL,
	    .device_end_ns = timed ? lists.end_ns : NULL,
	};
	return DCK_OK;
}

/* --- the file of a session */

/* Names were not escaped in versions before this one. */
#define ESCAPED_SINCE 31u

dck_status ort_profile_end(const ort_lib *l, ort_session *s, const ort_runs *runs, bool device,
			   mem_arena *a, dck_profile *ret, dck_err *err)
{
	ort_trace trace = {0};
	char *path = NULL;
	uint64_t start_ns = 0;

	if (device)
		DCK_TRY(ort_check(l, l->api.SessionGetProfilingStartTimeNs(s, &start_ns), err,
				  "cannot read when the profile began"));
	DCK_TRY(ort_check(l, l->api.SessionEndProfiling(s, l->allocator, &path), err,
			  "cannot end the profile"));
	dck_status status =
	    path && *path ? ort_trace_read_file(path, l->minor >= ESCAPED_SINCE, a, &trace, err)
			  : ERR_SET(err, E_ABSENT, "ONNX Runtime made no profile");
	if (path)
		ort_check(l, l->api.AllocatorFree(l->allocator, path), NULL, "unused");
	DCK_TRY(status);
	if (device)
		DCK_TRY(ort_device_time(&trace, start_ns, err));
	return ort_profile_group(&trace, runs, a, ret, err);
}
