/* engine.h - looks up an inference engine by name: a built-in engine, or a plug-in (shared
 * library). Both are a table of function pointers, dck_engine of deepclock/plugin.h.
 *
 *	engine_handle h;
 *
 *	DCK_TRY(engine_find("ort", &h, err));
 *	... h.ops->open(...), h.ops->run(...) ...
 *	engine_release(&h);
 *
 * engine_find() checks that the table has all mandatory members and a supported ABI, so callers
 * need no check. Members of a later ABI are called through the functions below, which fail with a
 * message if the member is missing. An engine never prints; it fills dck_err.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/mem.h"
#include "deepclock/plugin.h"

/* The first members of the table of an engine that is part of deepclock. */
#define ENGINE_BUILT_IN(own_name)                                                                  \
	.struct_size = sizeof(dck_engine), .abi_major = DCK_ABI_MAJOR, .abi_minor = DCK_ABI_MINOR, \
	.name = (own_name), .version = DCK_VERSION

extern const dck_engine
    *const engine_table[]; /* NULL-ended: ort, openvino, litert, genai, command, null */

/* The engine of a model for which none is named. */
#define ENGINE_USUAL "ort"

/* Finds an engine: a built-in one by its name (NULL: ENGINE_USUAL), "plugin:FILE" or a path that
 * ends in
 * ".so". Checks its table (mandatory members, ABI). A plug-in's library stays open with the handle;
 * the caller owns *ret: engine_release(). */
typedef struct engine_handle {
	const dck_engine *ops;
	void *library; /* handle of a plug-in's library (os_library_open()), or NULL */
} engine_handle;
dck_status engine_find(const char *name, engine_handle *ret, dck_err *err);
void engine_release(engine_handle *h);
/* Returns whether the engine of that name can be found and has the option key. */
bool engine_has(const char *name, const char *key);

/* Checks that a table has all mandatory members and a supported ABI; `from` is for messages. */
dck_status engine_check(const dck_engine *e, const char *from, dck_err *err);

/* Wrappers that call a member of the table and validate its result (engine_checked.c). A failure
 * without a terminated message gets one; an invalid result is E_ENGINE. A missing optional member
 * gives an empty result. */
dck_status engine_open(const dck_engine *e, const dck_open_params *p, dck_engine_model **ret,
		       dck_err *err);
dck_status engine_open_times(const dck_engine *e, dck_engine_model *m, dck_open_times *ret,
			     dck_err *err);
/* Returns the inputs and outputs. The names of the inputs are unique. */
dck_status engine_describe(const dck_engine *e, dck_engine_model *m, const dck_tensor_info **ret_in,
			   size_t *ret_nin, const dck_tensor_info **ret_out, size_t *ret_nout,
			   dck_err *err);
dck_status engine_facts(const dck_engine *e, dck_engine_model *m, const dck_kv **ret, size_t *ret_n,
			dck_err *err);
/* Returns facts about an engine's library; the engine must have this member. */
dck_status engine_probe(const dck_engine *e, const char *library_path, const dck_kv **ret,
			size_t *ret_n, dck_err *err);
dck_status engine_context_new(const dck_engine *e, dck_engine_model *m, dck_engine_context **ret,
			      dck_err *err);
dck_status engine_bind_input(const dck_engine *e, dck_engine_context *c, size_t index,
			     const dck_tensor *t, dck_err *err);
dck_status engine_prepare(const dck_engine *e, dck_engine_context *c, dck_err *err);
/* Runs the model once, untimed. A timed loop calls run() directly, between engine_why_begin() and
 * engine_answer() on the dck_err that run() filled. */
dck_status engine_run(const dck_engine *e, dck_engine_context *c, dck_err *err);
void engine_why_begin(dck_err *why);
/* Returns whether a text from an engine is not NULL and is terminated within 64 KiB. */
bool engine_text_ends(const char *text);
/* Validates the status and error of the member named `what`. Returns the status; E_ENGINE if it is
 * not a valid one. */
dck_status engine_answer(const dck_engine *e, const char *what, dck_status status,
			 const dck_err *why, dck_err *err);
/* Reads an output; the engine must have this member. The rank is 0 to DCK_RANK_MAX and no dimension
 * is negative; for elements of a fixed size, data has the size that the shape implies. */
dck_status engine_output(const dck_engine *e, dck_engine_context *c, size_t index, dck_tensor *ret,
			 dck_err *err);
dck_status engine_usage(const dck_engine *e, dck_engine_context *c, dck_usage *ret, dck_err *err);

/* Call members added after the first ABI. E_UNSUP: the table is older, or lacks the member. */
dck_status engine_profile(const dck_engine *e, dck_engine_model *m, dck_profile *ret, dck_err *err);
dck_status engine_memory(const dck_engine *e, dck_engine_model *m, dck_memory *ret, dck_err *err);
/* Returns whether the engine has the members for devices; if not, only engine_barriers() may be
 * called. */
bool engine_may_enqueue(const dck_engine *e);
/* Lists the barriers of a context, whose last is certain; *ret_n 0: every run ends within its call,
 * as with an engine without these members. */
dck_status engine_barriers(const dck_engine *e, dck_engine_context *c, const char **names,
			   unsigned max, unsigned *ret_n, dck_err *err);
dck_status engine_enqueue(const dck_engine *e, dck_engine_context *c, dck_err *err);
/* Returns whether engine_bind_from() may be called. */
bool engine_may_bind_from(const dck_engine *e);
dck_status engine_bind_from(const dck_engine *e, dck_engine_context *c, size_t index,
			    dck_engine_context *from, size_t output, dck_err *err);
/* Returns whether the engine generates tokens by itself: the next three may be called. */
bool engine_may_generate(const dck_engine *e);
dck_status engine_generation(const dck_engine *e, dck_engine_context *c, dck_generation *ret,
			     dck_err *err);
dck_status engine_generate_begin(const dck_engine *e, dck_engine_context *c, const int64_t *ids,
				 size_t batch, size_t n, size_t most, dck_err *err);
dck_status engine_generate_next(const dck_engine *e, dck_engine_context *c, int64_t *ret,
				dck_err *err);
dck_status engine_wait(const dck_engine *e, dck_engine_context *c, unsigned barrier, dck_err *err);
dck_status engine_transfer(const dck_engine *e, dck_engine_context *c, bool to_device,
			   uint64_t *ret_bytes, dck_err *err);
/* Fails with E_UNSUP if the engine cannot observe what `observe` requests. Call it before open(),
 * because an engine of an older ABI ignores the request. */
dck_status engine_can_observe(const dck_engine *e, uint32_t observe, dck_err *err);

/* Returns whether the engine reads files with the ending of `path` although they are not ONNX. */
bool engine_reads(const dck_engine *e, const char *path);
/* Returns the number of threads that engines use unless one is given: the cores that this process
 * may use, within a container's quota. */
uint64_t engine_threads_default(void);
/* Divides these cores between threads within an operator and operators side by side, where the
 * user gave 0 for one of them. Without `parallel` one operator runs at a time. */
void engine_threads_divide(bool parallel, uint64_t *threads, uint64_t *interop_threads);
/* Checks that a tensor has the type, the shape and the bytes that the model declares; `what`:
 * "input". */
dck_status engine_tensor_check(const char *what, const dck_tensor_info *want, const dck_tensor *t,
			       dck_err *err);

/* Returns whether a dimension of the tensor, or their number, is not known. */
bool engine_is_open(const dck_tensor_info *t);

/* The number that a runtime has for an element type. */
typedef struct engine_type {
	int number;
	dck_dtype type;
} engine_type;
/* Return the type of a number among n rows (DCK_DTYPE_OTHER: there is none), and the number of a
 * type (0: there is none). */
dck_dtype engine_type_of(const engine_type *all, size_t n, int number);
int engine_type_number(const engine_type *all, size_t n, dck_dtype t);

/* Returns the options as "KEY=VALUE KEY=VALUE" in `a`; NULL: no memory. */
const char *engine_options_text(mem_arena *a, const dck_open_params *p);
/* Returns the engine's option of that key; NULL: it has none. */
const dck_engine_option *engine_option_row(const dck_engine *e, const char *key);
/* Returns the value of an option key, or NULL. */
const char *engine_option(const dck_open_params *p, const char *key);
/* Reads the value of a key as an integer; *ret is unchanged if the key is absent. E_ARG: not an
 * integer, or outside min to max. */
dck_status engine_option_count(const dck_open_params *p, const char *key, uint64_t min,
			       uint64_t max, uint64_t *ret, dck_err *err);
/* Returns the name and the value of the property of OpenVINO that an option of the engine
 * 'openvino' sets, in `a`; false: it sets none. NULL: no memory. */
bool engine_openvino_property(mem_arena *a, const char *key, const char *value,
			      const char **ret_name, const char **ret_value);
/* Checks the option keys and values; every engine calls it first. E_ARG: a key that is not in
 * e->options (the message names the nearest), a repeated key, or a value that is not listed ("0|1";
 * a word in capitals represents any value). */
dck_status engine_options_check(const dck_engine *e, const dck_open_params *p, dck_err *err);

#endif
