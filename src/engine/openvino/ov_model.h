/* ov_model.h - private header of the engine 'openvino': its model and the functions of its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_OPENVINO_OV_MODEL_H
#define ENGINE_OPENVINO_OV_MODEL_H

#include "engine/op_events.h"
#include "engine/openvino/ov_lib.h"
#include "engine/openvino/ov_setup.h"
#include "engine/runtime_model.h"
#include <stdatomic.h>

struct dck_engine_model {
	RUNTIME_MODEL;
	ov_lib lib;
	ov_model *model;
	ov_compiled *compiled;
	ov_setup setup;
	atomic_uint contexts; /* that are open */
	op_events profile;
};

/* ov_context.c */
dck_status ov_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err);
void ov_context_free(dck_engine_context *c);
dck_status ov_bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err);
dck_status ov_run(dck_engine_context *c, dck_err *err);
dck_status ov_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err);

/* ov_profile.c */
/* Appends the nodes of the last run of r, which took run_ns. From any thread. */
dck_status ov_profile_take(dck_engine_model *m, const ov_request *r, uint64_t run_ns, dck_err *err);
dck_status ov_profile_get(dck_engine_model *m, dck_profile *ret, dck_err *err);

/* ov_probe.c */
dck_status ov_probe(const char *library_path, const dck_kv **ret, size_t *ret_n, dck_err *err);

#endif
