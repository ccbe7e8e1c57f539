/* lrt_profile.c - the times of operators that LiteRT's profiler recorded in a run.
 *
 * Durations are in whole microseconds, in the order of execution. Operators of a delegate (XNNPACK)
 * have the delegate's names and no beginnings. Neither they nor the interpreter's have the names of
 * the model's tensors, so that an operator is named by its kind and its position in the run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/litert/lrt_model.h"

#include <string.h>

/* Returns the length of the kind: "Fully Connected (NC, F32) GEMM" is a "Fully Connected". */
static size_t kind_length(const char *tag)
{
	const char *end = strstr(tag, " (");

	return end ? (size_t)(end - tag) : strlen(tag);
}

static bool is_operator(const lrt_event *e)
{
	/* A delegate as a whole is no operator. */
	return (e->type == LRT_EVENT_OPERATOR || e->type == LRT_EVENT_DELEGATE_OPERATOR) &&
	       e->tag && strncmp(e->tag, "TfLiteXNNPack", 13) != 0;
}

/* Makes the operators of a run; their texts are in `a`. */
static dck_status operators_append(dck_engine_model *m, const lrt_event *event, size_t count,
				   uint64_t run_ns, mem_arena *a, dck_err *err)
{
	op_time *times = mem_arena_array(a, count + 1, sizeof *times);
	size_t n = 0;

	DCK_NEED(times, err, "for the times of operators");
	for (size_t i = 0; i < count; i++) {
		const lrt_event *e = &event[i];

		if (!is_operator(e))
			continue;
		op_time *t = &times[n];
		t->name = mem_arena_fmt(a, "%s %zu", e->tag, n);
		t->type = mem_arena_dup_n(a, e->tag, kind_length(e->tag));
		DCK_NEED(t->name && t->type, err, "for the times of operators");
		t->name_bytes = strlen(t->name);
		t->provider = e->type == LRT_EVENT_OPERATOR ? "LiteRT" : "XNNPACK";
		t->ns = e->duration_us * 1000;
		n++;
	}
	return op_events_run(&m->profile, m->arena, run_ns, times, n, err);
}

static dck_status events_read(dck_engine_model *m, lrt_profiler *p, uint64_t run_ns, mem_arena *a,
			      dck_err *err)
{
	const lrt_api *api = &m->lib.api;
	int n = 0;

	DCK_TRY(
	    lrt_check(api->GetNumProfilerEvents(p, &n), err, "cannot read the times of operators"));
	const size_t count = n > 0 ? (size_t)n : 0;
	lrt_event *event = mem_arena_array(a, count + 1, sizeof *event);
	DCK_NEED(event, err, "for the times of operators");
	if (count > 0)
		DCK_TRY(lrt_check(api->GetProfilerEvents(p, n, event), err,
				  "cannot read the times of operators"));
	DCK_TRY(operators_append(m, event, count, run_ns, a, err));
	/* A reset stops the profiler. */
	DCK_TRY(lrt_check(api->ResetProfiler(p), err, "cannot reset the times of operators"));
	return lrt_check(api->StartProfiler(p), err, "cannot time operators");
}

dck_status lrt_profile_take(dck_engine_model *m, lrt_profiler *p, uint64_t run_ns, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);

	DCK_NEED(a, err, "for the times of operators");
	const dck_status status = events_read(m, p, run_ns, a, err);
	mem_arena_free(a);
	return status;
}

dck_status lrt_profile_get(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	if (!(m->observe & DCK_OBSERVE_OPERATORS))
		DCK_FAIL(err, E_ARG, "the model was not opened to be profiled");
	*ret = op_events_profile(&m->profile);
	return DCK_OK;
}
