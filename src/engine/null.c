/* null.c - an engine that does no work: for tests, and to measure the overhead of the measurement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/commas.h"
#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NS_MAX 3600000000000u /* an hour */

/* A fictitious operator, and its reported duration. */
typedef struct null_op {
	const char *name;
	uint64_t ns;
} null_op;

struct dck_engine_model {
	uint64_t busy_ns, sleep_ns, fail_at;
	mem_arena *arena; /* of the operators, or NULL */
	null_op *operators;
	size_t noperators;
	atomic_size_t runs; /* successful runs of all contexts */
};

struct dck_engine_context {
	dck_engine_model *model;
	uint64_t runs;
};

extern const dck_engine engine_null;

/* "NAME:NS,NAME:NS" */
static dck_status operators_read(dck_engine_model *m, const char *text, dck_err *err)
{
	m->operators = mem_arena_array(m->arena, commas_count(text), sizeof *m->operators);
	DCK_NEED(m->operators, err, "for the engine 'null'");
	for (commas_item item; commas_next(&text, &item);) {
		char *at = mem_arena_fmt(m->arena, "%.*s", (int)item.n, item.text);
		DCK_NEED(at, err, "for the engine 'null'");
		char *colon = strrchr(at, ':'), *end = NULL;
		unsigned long long ns = colon ? strtoull(colon + 1, &end, 10) : 0;
		if (!colon || colon == at || end == colon + 1 || *end || ns > NS_MAX)
			DCK_FAIL(err, E_ARG,
				 "option 'operators' has '%s': write NAME:NS, with commas between",
				 at);
		*colon = '\0';
		m->operators[m->noperators++] = (null_op){at, ns};
	}
	return DCK_OK;
}

static void null_close(dck_engine_model *m)
{
	if (!m)
		return;
	mem_arena_free(m->arena);
	mem_free(m);
}

static dck_status null_model_read(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	const char *operators = engine_option(p, "operators");

	DCK_TRY(engine_option_count(p, "ns", 0, NS_MAX, &m->busy_ns, err));
	DCK_TRY(engine_option_count(p, "sleep_ns", 0, NS_MAX, &m->sleep_ns, err));
	DCK_TRY(engine_option_count(p, "fail_at", 0, UINT64_MAX, &m->fail_at, err));
	if (!operators)
		return DCK_OK;
	m->arena = mem_arena_new(0);
	DCK_NEED(m->arena, err, "for the engine 'null'");
	return operators_read(m, operators, err);
}

static dck_status null_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	DCK_TRY(engine_can_observe(&engine_null, p->observe, err));
	DCK_TRY(engine_options_check(&engine_null, p, err));
	dck_engine_model *m = mem_zalloc(1, sizeof *m);
	DCK_NEED(m, err, "for the engine 'null'");
	dck_status status = null_model_read(m, p, err);
	if (status == DCK_OK)
		*ret = m;
	else
		null_close(m);
	return status;
}

static dck_status null_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "for a context of the engine 'null'");
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void null_context_free(dck_engine_context *c)
{
	mem_free(c);
}

static dck_status null_run(dck_engine_context *c, dck_err *err)
{
	dck_engine_model *m = c->model;

	if (++c->runs == m->fail_at)
		DCK_FAIL(err, E_ENGINE, "run %llu fails, as requested by option 'fail_at'",
			 (unsigned long long)c->runs);
	if (m->sleep_ns > 0)
		os_sleep_ns(m->sleep_ns, NULL, NULL);
	if (m->busy_ns > 0)
		for (uint64_t begin_ns = os_now_ns(); os_now_ns() - begin_ns < m->busy_ns;)
			;
	if (m->operators)
		atomic_fetch_add(&m->runs, 1);
	return DCK_OK;
}

/* Every run is the same, one right after the other: what reads a profile is tested to exact numbers
 * with it. */
static dck_status null_profile(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	const size_t nruns = atomic_load(&m->runs), n = nruns * m->noperators;
	uint64_t now_ns = 0;

	if (!m->operators)
		DCK_FAIL(err, E_ABSENT,
			 "the engine 'null' has no operators: give them with option 'operators'");
	dck_op_event *events = mem_arena_array(m->arena, n, sizeof *events);
	uint64_t *run_ns = mem_arena_array(m->arena, nruns, sizeof *run_ns);
	uint64_t *run_begin_ns = mem_arena_array(m->arena, nruns, sizeof *run_begin_ns);
	int64_t *threads = mem_arena_array(m->arena, n, sizeof *threads);
	DCK_NEED(!mem_arena_failed(m->arena), err, "for %zu events of operators", n);
	for (size_t i = 0; i < n; i++) {
		const null_op *o = &m->operators[i % m->noperators];
		const size_t run = i / m->noperators;
		events[i] = (dck_op_event){.name = o->name,
					   .type = "",
					   .run = run,
					   .begin_ns = now_ns,
					   .duration_ns = o->ns,
					   .memory_bytes = INT64_MIN};
		if (i % m->noperators == 0)
			run_begin_ns[run] = now_ns;
		threads[i] = os_thread_id();
		now_ns += o->ns;
		run_ns[run] += o->ns;
	}
	*ret = (dck_profile){.struct_size = sizeof *ret,
			     .resolution_ns = 1,
			     .events = events,
			     .nevents = n,
			     .nruns = nruns,
			     .run_ns = run_ns,
			     .run_begin_ns = run_begin_ns,
			     .threads = threads};
	return DCK_OK;
}

static const dck_engine_option null_options[] = {
    {"ns", "N", "busy time of each run in nanoseconds; default 0"},
    {"sleep_ns", "N", "sleep of each run before that, in nanoseconds; default 0"},
    {"fail_at", "N", "the N-th run of a context fails; 0: none does"},
    {"operators", "LIST", "NAME:NS,NAME:NS...: the operators of each run in a profile"},
    {NULL, NULL, NULL},
};

const dck_engine engine_null = {
    ENGINE_BUILT_IN("null"),
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .help = "does nothing, for a requested time: for tests and for the overhead of measuring",
    .options = null_options,
    .open = null_open,
    .close = null_close,
    .context_new = null_context_new,
    .context_free = null_context_free,
    .run = null_run,
    .profile = null_profile,
};
