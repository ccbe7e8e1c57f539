/* op_events.c - the list of operators of profiled runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/op_events.h"

#include "base/err.h"

#include <string.h>

/* Returns a copy of a text, or `before`, the text of the same operator of the last run, if equal.
 */
static const char *op_text_keep(mem_arena *a, const char *before, const char *text, size_t n)
{
	return before && strncmp(before, text, n) == 0 && before[n] == '\0'
		   ? before
		   : mem_arena_dup_n(a, text, n);
}

static dck_op_event op_event_of(const op_time *t, mem_arena *a, const dck_op_event *before)
{
	const dck_op_event none = {.name = NULL};

	if (!before)
		before = &none;
	return (dck_op_event){
	    .name = op_text_keep(a, before->name, t->name, t->name_bytes),
	    .type = op_text_keep(a, before->type, t->type, strlen(t->type)),
	    .provider = t->provider
			    ? op_text_keep(a, before->provider, t->provider, strlen(t->provider))
			    : NULL,
	    .duration_ns = t->ns,
	    .memory_bytes = INT64_MIN,
	};
}

static dck_status run_append(op_events *p, mem_arena *a, uint64_t run_ns, const op_time *times,
			     size_t n, dck_err *err)
{
	const size_t begin = p->nevents;
	uint64_t at_ns = 0;

	DCK_NEED(mem_reserve(&p->events, &p->events_cap, p->nevents + n + 1, sizeof *p->events) &&
		     mem_reserve(&p->run_ns, &p->runs_cap, p->nruns + 1, sizeof *p->run_ns),
		 err, "for the times of operators");
	for (size_t i = 0; i < n; i++) {
		const size_t twin = p->last + i;
		dck_op_event *e = &p->events[p->nevents++];
		*e = op_event_of(&times[i], a, twin < begin ? &p->events[twin] : NULL);
		e->run = p->nruns;
		e->begin_ns = at_ns;
		at_ns += times[i].ns;
	}
	p->last = begin;
	p->run_ns[p->nruns++] = run_ns;
	DCK_NEED(!mem_arena_failed(a), err, "for the times of operators");
	return DCK_OK;
}

dck_status op_events_run(op_events *p, mem_arena *a, uint64_t run_ns, const op_time *times,
			 size_t n, dck_err *err)
{
	os_fair_lock_take(&p->lock);
	const dck_status status = run_append(p, a, run_ns, times, n, err);
	os_fair_lock_give(&p->lock);
	return status;
}

dck_profile op_events_profile(const op_events *p)
{
	return (dck_profile){
	    .struct_size = sizeof(dck_profile),
	    .resolution_ns = 1000,
	    .events = p->events,
	    .nevents = p->nevents,
	    .nruns = p->nruns,
	    .run_ns = p->run_ns,
	};
}

void op_events_done(op_events *p)
{
	mem_free(p->events);
	mem_free(p->run_ns);
	*p = (op_events){0};
}
