/* target.h - opens what the user wants to measure, so that it is ready to run: the engine, the
 * compiled model, and one context with its inputs bound. A function in memory is opened in the
 * same way, through the table subject_function_engine.
 *
 *	subject_target t = {0};
 *
 *	DCK_TRY(subject_target_open(&t, subject, &clock, NULL, NULL, NULL, err));
 *	status = t.engine.ops->run(t.context, err);
 *	subject_target_close(&t);
 *
 * Nothing is timed or judged here: opening ends before the first run. Whatever runs, measures or
 * compares a subject opens it here, so that all of them see the same options, inputs and refusals.
 * A failed open leaves nothing to close, and closing twice does no harm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_TARGET_H
#define SUBJECT_TARGET_H

#include "deepclock/bench.h"
#include "base/mem.h"
#include "measure/subject/hooks.h"
#include "measure/subject/rebatched.h"
#include "measure/subject/inputs.h"
#include "engine/engine.h"
#include "model/onnx/summary.h"

typedef struct subject_target {
	engine_handle engine;
	dck_engine_model *model;
	dck_engine_context *context;
	subject_inputs *inputs; /* NULL: the engine takes none */
	const dck_tensor_info *in, *out;
	size_t nin, nout;
	size_t pool, next_set; /* different input sets; the one to bind next */
	uint64_t items;	       /* per run */
	const char *items_how;
	/* Options with usual values of what the model leaves open and no option gives; "", NULL:
	 * none.
	 */
	const char *usual;
	bool sizes_given;      /* set before opening: what the model leaves open must be given */
	model_summary summary; /* of a model file */
	bool has_summary;
	rebatch_info rebatched; /* of a model that was exported for fewer items than asked for */
	mem_arena *arena;
	subject_hook *prepare; /* before each run; NULL: none */
	/* Durations of the phases, for the record; 0: there was no such phase. */
	uint64_t library_ns, session_ns, inputs_ns;
	/* How the engine's warnings reach the record. */
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
	/* What the engine shall report besides, set before opening; 0: nothing, as for everything
	 * that is timed. With DCK_OBSERVE_VALUES every value of the main graph becomes an output.
	 */
	uint32_t observe;     /* DCK_OBSERVE_... */
	const char *work_dir; /* for the engine's files, with DCK_OBSERVE_OPERATORS */
	/* How a model that was rebatched is compared with the original before it is opened, set
	 * before opening; NULL: it is trusted. verify/rebatch_check.h sets it. */
	dck_status (*check)(const dck_subject *s, const rebatched_model *f,
			    const dck_observer *watch, rebatch_info *ret, dck_err *err);
} subject_target;

/* Opens everything up to the first run. phase(self, name) is called as each begins. On failure
 * *t is released. `t` may hold log, log_self, observe and work_dir before. */
dck_status subject_target_open(subject_target *t, const dck_subject *s, const dck_clock *clock,
			       const dck_observer *watch,
			       void (*phase)(void *self, const char *name), void *phase_self,
			       dck_err *err);
void subject_target_close(subject_target *t); /* {0} is allowed */

/* The engine has an option of that name. */
bool subject_engine_takes(const dck_engine *e, const char *key);

/* Between runs: binds the next set of inputs when there are several. */
dck_status subject_target_next_input(subject_target *t, dck_err *err);
/* The same of any context on the target's model, and of any inputs for it; *set becomes the next.
 */
dck_status subject_target_bind(const subject_target *t, dck_engine_context *c,
			       const subject_inputs *inputs, size_t *set, dck_err *err);

/* Of the rate: a program is run, a model is given items. */
dck_unit subject_rate_unit(const subject_target *t);

/* The first run failed: adds to the sentence what of the inputs may be why. Returns status. */
dck_status subject_target_failed(const subject_target *t, dck_status status, dck_err *err);

extern const dck_engine subject_function_engine;

#endif
