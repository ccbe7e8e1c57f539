/* engine.h - finds an engine by its name: one that is built in, or a plug-in that is loaded. Both
 * have the same form, the table dck_engine of deepclock/plugin.h.
 *
 *	engine_handle h;
 *
 *	DCK_TRY(engine_find("ort", &h, err));
 *	... h.ops->open(...), h.ops->run(...) ...
 *	engine_release(&h);
 *
 * An engine that was found has all mandatory members and an ABI that is supported, so that callers
 * do not check again. Members that came with a later ABI are called through the functions below,
 * which refuse in a sentence where they are missing. An engine never prints; it fills dck_err.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "deepclock/plugin.h"

extern const dck_engine *const engine_table[]; /* NULL-ended: ort, command, null */

/* "ort", "null", "command" or "plugin:FILE" / a path that ends in ".so". The handle keeps a
 * plug-in's library open. Checks the table once (mandatory members, ABI), so that callers ask
 * nothing later. *ret is owned: engine_release(). */
typedef struct engine_handle {
	const dck_engine *ops;
	void *library; /* os_dl handle of a plug-in, or NULL */
} engine_handle;
dck_status engine_find(const char *name, engine_handle *ret, dck_err *err);
void engine_release(engine_handle *h);

/* Refuses a table that lacks mandatory members or has another ABI. */
dck_status engine_check(const dck_engine *e, const char *from, dck_err *err);

/* The members of the table, called and their answers checked (engine_checked.c). A failure without
 * a sentence, or with one that has no end, gets one; an answer that cannot be is E_ENGINE. Members
 * that are optional and not there answer with nothing. */
dck_status engine_open(const dck_engine *e, const dck_open_params *p, dck_engine_model **ret,
		       dck_err *err);
dck_status engine_open_times(const dck_engine *e, dck_engine_model *m, dck_open_times *ret,
			     dck_err *err);
/* No two inputs have one name. */
dck_status engine_describe(const dck_engine *e, dck_engine_model *m, const dck_tensor_info **ret_in,
			   size_t *ret_nin, const dck_tensor_info **ret_out, size_t *ret_nout,
			   dck_err *err);
dck_status engine_facts(const dck_engine *e, dck_engine_model *m, const dck_kv **ret, size_t *ret_n,
			dck_err *err);
/* The engine must have it. */
dck_status engine_probe(const dck_engine *e, const char *library_path, const dck_kv **ret,
			size_t *ret_n, dck_err *err);
dck_status engine_context_new(const dck_engine *e, dck_engine_model *m, dck_engine_context **ret,
			      dck_err *err);
dck_status engine_bind_input(const dck_engine *e, dck_engine_context *c, size_t index,
			     const dck_tensor *t, dck_err *err);
dck_status engine_prepare(const dck_engine *e, dck_engine_context *c, dck_err *err);
/* Not for what is timed, which calls run() itself: engine_why_begin() before, and afterwards
 * engine_answer() with what run() filled. */
dck_status engine_run(const dck_engine *e, dck_engine_context *c, dck_err *err);
void engine_why_begin(dck_err *why);
/* A text that an engine gives is there, and ends within 64 KiB. */
bool engine_text_ends(const char *text);
/* what: the member's name. Returns the status, one that there is. */
dck_status engine_answer(const dck_engine *e, const char *what, dck_status status,
			 const dck_err *why, dck_err *err);
/* The engine must have it. rank is 0 to DCK_RANK_MAX, no dimension below 0, and where elements have
 * a fixed size, data holds as many as the shape says. */
dck_status engine_output(const dck_engine *e, dck_engine_context *c, size_t index, dck_tensor *ret,
			 dck_err *err);
dck_status engine_usage(const dck_engine *e, dck_engine_context *c, dck_usage *ret, dck_err *err);

/* Members that came after the first ABI. E_UNSUP: the table is older, or the engine does not offer
 * it. */
dck_status engine_profile(const dck_engine *e, dck_engine_model *m, dck_profile *ret, dck_err *err);
dck_status engine_memory(const dck_engine *e, dck_engine_model *m, dck_memory *ret, dck_err *err);
/* E_UNSUP when the engine cannot observe what `observe` asks for; asked before open(), as an engine
 * of an older ABI would overlook it. */
dck_status engine_can_observe(const dck_engine *e, uint32_t observe, dck_err *err);

/* The value of an option key, or NULL. */
const char *engine_option(const dck_open_params *p, const char *key);
/* The value of a key as a whole number; `ret` keeps its value when the key is not there. E_ARG: not
 * a number, or outside min to max. */
dck_status engine_option_count(const dck_open_params *p, const char *key, uint64_t min,
			       uint64_t max, uint64_t *ret, dck_err *err);
/* E_ARG on keys that are not in e->options (naming the nearest), on a key given twice, and on a
 * value that is none of those listed ("0|1"; a word with a capital stands for any value). Every
 * engine calls it first. */
dck_status engine_options_check(const dck_engine *e, const dck_open_params *p, dck_err *err);

#endif
