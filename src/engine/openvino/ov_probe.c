/* ov_probe.c - what OpenVINO is found here, and its devices.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/probe_facts.h"
#include "engine/openvino/ov_model.h"

static dck_status devices_probe(probe_facts *f, const ov_lib *l, dck_err *err)
{
	ov_devices d = {NULL, 0};

	probe_facts_library(f, l->library, l->how, l->version);
	probe_facts_put(f, "build", mem_arena_dup(f->arena, l->build));
	DCK_TRY(ov_check(l, l->api.core_get_available_devices(l->core, &d), err,
			 "cannot list OpenVINO's devices"));
	for (size_t i = 0; i < d.n; i++) {
		const char *name = ov_device_property(l, d.name[i], "FULL_DEVICE_NAME", f->arena);
		probe_facts_put(f, mem_arena_fmt(f->arena, "device/%s", d.name[i]),
				name ? name : "ok");
	}
	l->api.available_devices_free(&d);
	DCK_NEED(!mem_arena_failed(f->arena), err, "for the results of the search");
	return DCK_OK;
}

dck_status ov_probe(const char *library_path, const dck_kv **ret, size_t *ret_n, dck_err *err)
{
	/* The interface lends the pairs until the next probe. */
	static probe_facts last;
	ov_lib l;

	DCK_NEED(probe_facts_begin(&last), err, "to search OpenVINO");
	DCK_TRY(ov_lib_open(library_path, last.arena, NULL, &l, err));
	const dck_status status = devices_probe(&last, &l, err);
	ov_lib_close(&l);
	DCK_TRY(status);
	*ret = last.facts;
	*ret_n = last.n;
	return DCK_OK;
}
