/* ov_profile.c - the times of nodes that OpenVINO reports for the last run of a request.
 *
 * OpenVINO gives durations in whole microseconds, in the order of execution and without beginnings.
 * Nodes that were fused into others, or did no work, have no event. A name is that of the model's
 * node, or of its output where the node has none.
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

static size_t nodes_read(const ov_node_times *t, op_time *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const ov_node_time *node = &t->node[i];

		if (node->status != OV_EXECUTED || !node->name || !node->type || node->real_us < 0)
			continue;
		ret[n++] = (op_time){node->name, ov_name_length(node->name), node->type,
				     node->implementation, (uint64_t)node->real_us * 1000};
	}
	return n;
}

dck_status ov_profile_take(dck_engine_model *m, const ov_request *r, uint64_t run_ns, dck_err *err)
{
	ov_node_times t = {NULL, 0};

	DCK_TRY(ov_check(&m->lib, m->lib.api.infer_request_get_profiling_info(r, &t), err,
			 "cannot read the times of nodes"));
	op_time *times = mem_zalloc(t.n + 1, sizeof *times);
	const dck_status status =
	    times ? op_events_run(&m->profile, m->arena, run_ns, times, nodes_read(&t, times), err)
		  : ERR_NO_MEMORY(err, "for the times of nodes");
	mem_free(times);
	m->lib.api.profiling_info_list_free(&t);
	return status;
}

dck_status ov_profile_get(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	if (!(m->observe & DCK_OBSERVE_OPERATORS))
		DCK_FAIL(err, E_ARG, "the model was not opened to be profiled");
	*ret = op_events_profile(&m->profile);
	return DCK_OK;
}
