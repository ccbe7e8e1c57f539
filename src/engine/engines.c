/* engines.c - every engine there is. A new one is a file here and a line below.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/err.h"
#include "deepclock/unstable.h"
#include "engine/plugin_open.h"
#include "os/os.h"

#include <string.h>

extern const dck_engine engine_ort;
extern const dck_engine engine_openvino;
extern const dck_engine engine_litert;
extern const dck_engine engine_genai;
extern const dck_engine engine_command;
extern const dck_engine engine_null;

const dck_engine *const engine_table[] = {&engine_ort,	 &engine_openvino, &engine_litert,
					  &engine_genai, &engine_command,  &engine_null,
					  NULL};

#define ENGINES (sizeof(engine_table) / sizeof(*engine_table) - 1)

static bool engines_ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n > k && strcmp(text + n - k, end) == 0;
}

dck_status engine_find(const char *name, engine_handle *ret, dck_err *err)
{
	const char *names[ENGINES];

	if (!name)
		name = ENGINE_USUAL;
	if (strncmp(name, "plugin:", 7) == 0)
		return plugin_open(name + 7, ret, err);
	for (size_t i = 0; i < ENGINES; i++) {
		names[i] = engine_table[i]->name;
		if (strcmp(names[i], name) == 0) {
			DCK_TRY(engine_check(engine_table[i], names[i], err));
			*ret = (engine_handle){engine_table[i], NULL};
			return DCK_OK;
		}
	}
	if (engines_ends_in(name, ".so"))
		return plugin_open(name, ret, err);
	const char *nearest = dck_nearest(name, names, ENGINES);
	if (nearest)
		DCK_FAIL(err, E_ARG, "there is no engine '%s'; did you mean '%s'?", name, nearest);
	DCK_FAIL(err, E_ARG,
		 "there is no engine '%s'; 'deepclock engines' lists them, "
		 "and plugin:FILE.so is one of yours",
		 name);
}

void engine_release(engine_handle *h)
{
	os_library_close(h->library);
	*h = (engine_handle){0};
}

bool engine_has(const char *name, const char *key)
{
	engine_handle h;
	bool has;

	if (engine_find(name, &h, NULL) != DCK_OK)
		return false;
	has = engine_option_row(h.ops, key);
	engine_release(&h);
	return has;
}
