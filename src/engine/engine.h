/* engine.h - the table of built-in engines, and plug-ins loaded into the same form. */
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

/* The value of an option key, or NULL. */
const char *engine_option(const dck_open_params *p, const char *key);
/* E_ARG on keys that are not in e->options, naming the nearest. Every engine calls it first. */
dck_status engine_options_check(const dck_engine *e, const dck_open_params *p, dck_err *err);

#endif
