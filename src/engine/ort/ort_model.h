/* ort_model.h - private header of the engine 'ort': its model and the functions of its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_MODEL_H
#define ENGINE_ORT_MODEL_H

#include "engine/ort/ort_lib.h"
#include "engine/ort/ort_setup.h"
#include "engine/ort/ort_watch.h"

struct dck_engine_model {
	ort_lib lib;
	ort_session *session;
	ort_run_options *run_options;
	mem_arena *arena;
	ort_setup setup;
	dck_tensor_info *in, *out;
	size_t nin, nout;
	dck_kv *facts;
	size_t nfacts;
	uint64_t library_ns, session_ns;
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
	/* Requested observations; 0 for a model that is timed. */
	uint32_t observe; /* DCK_OBSERVE_... */
	size_t nvalues;	  /* number of values exposed as outputs, the last ones */
	ort_runs runs;
	ort_counter *counter;
	ort_profile_files files;
	dck_profile profile; /* once it has ended */
	bool has_profile;
};

/* ort_context.c */
dck_status ort_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err);
void ort_context_free(dck_engine_context *c);
dck_status ort_bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err);
dck_status ort_bind_output(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err);
dck_status ort_prepare(dck_engine_context *c, dck_err *err);
dck_status ort_run(dck_engine_context *c, dck_err *err);
dck_status ort_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err);

/* ort_probe.c */
dck_status ort_probe(const char *library_path, const dck_kv **ret, size_t *ret_n, dck_err *err);

#endif
