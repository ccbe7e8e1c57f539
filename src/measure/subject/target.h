/* target.h - opens the subject of a measurement, ready to run: the engine, the compiled model, and
 * one context with its inputs bound. An in-process function is opened in the same way, through the
 * table subject_function_engine.
 *
 *	subject_target t = {0};
 *
 *	DCK_TRY(subject_target_open(&t, subject, &clock, NULL, NULL, NULL, err));
 *	status = t.engine.ops->run(t.context, err);
 *	subject_target_close(&t);
 *
 * Nothing is timed or evaluated here: opening ends before the first run. All code that runs,
 * measures or compares a subject opens it here, so options, inputs and errors are the same
 * everywhere. A failed open leaves nothing to close, and closing twice is safe.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_TARGET_H
#define SUBJECT_TARGET_H

#include "deepclock/bench.h"
#include "base/mem.h"
#include "measure/subject/hooks.h"
#include "measure/subject/rebatched.h"
#include "measure/subject/inputs.h"
#include "measure/subject/shape_resolve.h"
#include "engine/engine.h"
#include "model/onnx/summary.h"

typedef struct subject_target {
	engine_handle engine;
	dck_engine_model *model;
	dck_engine_context *context;
	subject_inputs *inputs; /* NULL: the engine takes none */
	const dck_tensor_info *in, *out;
	size_t nin, nout;
	size_t pool, next_set; /* number of input sets; index of the next one to bind */
	uint64_t items;	       /* per run */
	const char *items_how;
	/* Options with usual values for dimensions that the model leaves open and no option gives;
	 * "", NULL: none. */
	const char *usual;
	bool sizes_given; /* set before opening: open dimensions must be given */
	bool bare;	  /* set before opening: sizes stay open, and no input is made or bound */
	model_summary summary; /* of a model file */
	bool has_summary;
	rebatch_info rebatched; /* of a model exported for fewer items than requested */
	bool pinned;		/* the thread that opened it, until it is closed */
	mem_arena *arena;
	subject_hook *prepare; /* before each run; NULL: none */
	/* Durations of the phases, for the record; 0: no such phase. */
	uint64_t library_ns, session_ns, inputs_ns;
	/* Callback for the engine's warnings, which go to the record. */
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
	/* Requested observations, set before opening; 0: none, as in every timed run. With
	 * DCK_OBSERVE_VALUES every value of the main graph becomes an output. */
	uint32_t observe;     /* DCK_OBSERVE_... */
	const char *work_dir; /* for the engine's files, with DCK_OBSERVE_OPERATORS */
	/* Compares a rebatched model with the original before it is opened; set before opening;
	 * NULL: no check. verify/rebatch_check.h sets it. */
	dck_status (*check)(const dck_subject *s, const rebatched_model *f,
			    const dck_observer *watch, rebatch_info *ret, dck_err *err);
} subject_target;

/* E_ARG: a model or plug-in without a text, a command without words, or a choice that is none. */
dck_status subject_valid(const dck_subject *s, dck_err *err);

/* Opens everything up to the first run. Calls phase(self, name) at the start of each phase. On
 * failure *t is released. The caller may set log, log_self, observe and work_dir before. */
dck_status subject_target_open(subject_target *t, const dck_subject *s, const dck_clock *clock,
			       const dck_observer *watch,
			       void (*phase)(void *self, const char *name), void *phase_self,
			       dck_err *err);
void subject_target_close(subject_target *t); /* {0} is allowed */
/* Returns a fact of the engine about the model; NULL: it reports none. */
const char *subject_target_fact(const subject_target *t, const char *key);

/* Returns the built-in engine that a text names as "ENGINE:..."; NULL: none. */
const dck_engine *subject_engine_named(const char *text);
/* Resolves the sizes of a model file's inputs as opening it does: by the model, the options, and
 * usual values for what they leave open. *ret_dim (NULL: not wanted): the sizes by name, as of
 * --dim, that the engine then gets. Texts live in `a`; path and c must outlive *ret. */
dck_status subject_sizes_find(const char *path, const dck_model_config *c, mem_arena *a,
			      shape_resolve *ret, dck_list *ret_dim, dck_err *err);
/* Returns the index of the tensor of that name; SIZE_MAX: none has it. */
size_t subject_tensor_find(const dck_tensor_info *list, size_t n, const char *name);

/* Binds the next set of inputs, if there are several; call it between runs. */
dck_status subject_target_next_input(subject_target *t, dck_err *err);
/* Binds inputs to any context on the target's model; *set becomes the next set. */
dck_status subject_target_bind(const subject_target *t, dck_engine_context *c,
			       const subject_inputs *inputs, size_t *set, dck_err *err);

/* Returns the unit of the rate: runs for a program, items for a model. */
dck_unit subject_rate_unit(const subject_target *t);

/* Adds to the message of a failed first run which inputs may be the cause. Returns status. */
dck_status subject_target_failed(const subject_target *t, dck_status status, dck_err *err);

extern const dck_engine subject_function_engine;

#endif
