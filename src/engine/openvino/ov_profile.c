/* ov_profile.c - the times of nodes that OpenVINO reports for the last run of a request.
 *
 * OpenVINO gives durations in whole microseconds, in the order of execution and without beginnings:
 * an event begins where the one before it ended. Nodes that were fused into others, or did no work,
 * have no event. A name is that of the model's node, or of its output where the node has none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "engine/openvino/ov_model.h"

#include <string.h>

/* What OpenVINO appends to the name of a node that it split. */
static const char *const ov_suffixes[] = {"/WithoutBiases", "/DequantizationMultiply"};

static size_t ov_name_length(const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < sizeof ov_suffixes / sizeof *ov_suffixes; i++) {
		const size_t k = strlen(ov_suffixes[i]);
		if (n > k && strcmp(name + n - k, ov_suffixes[i]) == 0)
			return n - k;
	}
	return n;
}

static bool reserve(void **list, size_t size, size_t need, size_t *cap)
{
	const size_t more = need > *cap ? 2 * need : *cap;
	void *grown = more > *cap ? mem_resize(*list, more * size) : *list;

	if (!grown)
		return false;
	*list = grown;
	*cap = more;
	return true;
}

/* Returns a copy of a text, or the text of the same event of the run before, which is the same. */
static const char *ov_text_keep(mem_arena *a, const char *before, const char *text, size_t n)
{
	return before && strncmp(before, text, n) == 0 && before[n] == '\0'
		   ? before
		   : mem_arena_dup_n(a, text, n);
}

static dck_status nodes_append(dck_engine_model *m, const ov_node_times *t, uint64_t run_ns,
			       dck_err *err)
{
	ov_profile *p = &m->profile;
	const size_t begin = p->nevents;
	uint64_t at_ns = 0;
	void *events = p->events, *runs = p->run_ns;
	const bool room =
	    reserve(&events, sizeof *p->events, p->nevents + t->n + 1, &p->events_cap) &&
	    reserve(&runs, sizeof *p->run_ns, p->nruns + 1, &p->runs_cap);

	p->events = events;
	p->run_ns = runs;
	DCK_NEED(room, err, "for the times of nodes");
	for (size_t i = 0; i < t->n; i++) {
		const ov_node_time *node = &t->node[i];
		const size_t twin = p->last + (p->nevents - begin);
		const dck_op_event *before = twin < begin ? &p->events[twin] : NULL;

		if (node->status != OV_EXECUTED || !node->name || !node->type || node->real_us < 0)
			continue;
		const uint64_t ns = (uint64_t)node->real_us * 1000;
		p->events[p->nevents++] = (dck_op_event){
		    .name = ov_text_keep(m->arena, before ? before->name : NULL, node->name,
					 ov_name_length(node->name)),
		    .type = ov_text_keep(m->arena, before ? before->type : NULL, node->type,
					 strlen(node->type)),
		    .provider =
			node->implementation
			    ? ov_text_keep(m->arena, before ? before->provider : NULL,
					   node->implementation, strlen(node->implementation))
			    : NULL,
		    .run = p->nruns,
		    .begin_ns = at_ns,
		    .duration_ns = ns,
		    .memory_bytes = INT64_MIN,
		};
		at_ns += ns;
	}
	p->last = begin;
	p->run_ns[p->nruns++] = run_ns;
	DCK_NEED(!mem_arena_failed(m->arena), err, "for the times of nodes");
	return DCK_OK;
}

dck_status ov_profile_take(dck_engine_model *m, const ov_request *r, uint64_t run_ns, dck_err *err)
{
	ov_node_times t = {NULL, 0};

	DCK_TRY(ov_check(&m->lib, m->lib.api.infer_request_get_profiling_info(r, &t), err,
			 "cannot read the times of nodes"));
	os_fair_lock_take(&m->profile.lock);
	const dck_status status = nodes_append(m, &t, run_ns, err);
	os_fair_lock_give(&m->profile.lock);
	m->lib.api.profiling_info_list_free(&t);
	return status;
}

dck_status ov_profile_get(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	const ov_profile *p = &m->profile;

	if (!(m->observe & DCK_OBSERVE_OPERATORS))
		DCK_FAIL(err, E_ARG, "the model was not opened to be profiled");
	*ret = (dck_profile){
	    .struct_size = sizeof *ret,
	    .resolution_ns = 1000,
	    .events = p->events,
	    .nevents = p->nevents,
	    .nruns = p->nruns,
	    .run_ns = p->run_ns,
	};
	return DCK_OK;
}

void ov_profile_done(ov_profile *p)
{
	mem_free(p->events);
	mem_free(p->run_ns);
}
