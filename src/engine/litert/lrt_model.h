/* lrt_model.h - private header of the engine 'litert': its model and the functions of its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_LITERT_LRT_MODEL_H
#define ENGINE_LITERT_LRT_MODEL_H

#include "engine/litert/lrt_lib.h"
#include "engine/op_events.h"
#include "engine/runtime_model.h"

struct dck_engine_model {
	RUNTIME_MODEL;
	lrt_lib lib;
	lrt_model *model;
	lrt_compiled *spare; /* for the next context; NULL: it compiles one */
	os_fair_lock lock;   /* of spare */
	void *map, *copy;    /* the file, or a copy of the bytes that the host gave */
	size_t nbytes;
	const char *options; /* of the processor's kernels, in TOML */
	uint64_t threads;
	size_t signature; /* its index */
	op_events profile;
};

/* lrt_compile.c */
/* Compiles the model: an object for the runs of one thread. */
dck_status lrt_compile(dck_engine_model *m, lrt_compiled **ret, dck_err *err);

/* lrt_context.c */
dck_status lrt_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err);
void lrt_context_free(dck_engine_context *c);
dck_status lrt_bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err);
dck_status lrt_prepare(dck_engine_context *c, dck_err *err);
dck_status lrt_run(dck_engine_context *c, dck_err *err);
dck_status lrt_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err);

/* lrt_profile.c */
/* Appends the operators since the last call, of a run that took run_ns. From any thread. */
dck_status lrt_profile_take(dck_engine_model *m, lrt_profiler *p, uint64_t run_ns, dck_err *err);
dck_status lrt_profile_get(dck_engine_model *m, dck_profile *ret, dck_err *err);

#endif
