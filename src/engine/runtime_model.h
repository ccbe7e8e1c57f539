/* runtime_model.h - what the models of all runtimes have, and the members of dck_engine that only
 * read it: tensors and facts, and the times of opening.
 *
 *	struct dck_engine_model {
 *		RUNTIME_MODEL;
 *		... of this runtime ...
 *	};
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_RUNTIME_MODEL_H
#define ENGINE_RUNTIME_MODEL_H

#include "engine/engine.h"
#include "os/os.h"

#include <stdarg.h>

/* Bytes of the part of an error before the runtime's own reason: a model's path may be long. */
#define RUNTIME_WHAT 260

/* Formats that part; one that is longer ends in "..." after a whole character. */
void runtime_what(char buf[RUNTIME_WHAT], const char *fmt, va_list ap) DCK_PRINTF(2, 0);

#define RUNTIME_MODEL_MEMBERS                                                \
	mem_arena *arena; /* owns texts, tensors and facts */                \
	dck_tensor_info *in, *out;                                           \
	size_t nin, nout;                                                    \
	dck_kv *facts;                                                       \
	size_t nfacts;                                                       \
	uint64_t library_ns, session_ns; /* what loading and opening took */ \
	uint32_t observe;		 /* DCK_OBSERVE_...; 0: it is timed */

typedef struct runtime_model {
	RUNTIME_MODEL_MEMBERS
} runtime_model;

/* First member of a dck_engine_model, whose members can be used directly. */
#define RUNTIME_MODEL                         \
	union {                               \
		runtime_model runtime;        \
		struct {                      \
			RUNTIME_MODEL_MEMBERS \
		};                            \
	}

/* Checks the options of e, makes a zeroed model of `bytes` with an arena, and calls open(); if that
 * fails, e->close(). */
dck_status runtime_model_open(const dck_engine *e, const dck_open_params *p, size_t bytes,
			      dck_status (*open)(dck_engine_model *m, const dck_open_params *p,
						 dck_err *err),
			      dck_engine_model **ret, dck_err *err);

/* Adds a fact, whose texts are borrowed. value NULL or "": none is added. Lack of memory shows in
 * mem_arena_failed(). */
void runtime_model_fact(dck_engine_model *m, const char *key, const char *value);
/* Adds the facts about the library. */
void runtime_model_library(dck_engine_model *m, const os_library *l, const char *how,
			   const char *version);

/* Members of dck_engine. */
dck_status runtime_model_describe(dck_engine_model *m, const dck_tensor_info **ret_in,
				  size_t *ret_nin, const dck_tensor_info **ret_out,
				  size_t *ret_nout, dck_err *err);
dck_status runtime_model_facts(dck_engine_model *m, const dck_kv **ret, size_t *ret_n,
			       dck_err *err);
void runtime_model_open_times(dck_engine_model *m, dck_open_times *ret);

#endif
