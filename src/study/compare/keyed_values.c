/* SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/keyed_values.h"
#include "base/mem.h"
#include <string.h>

dck_status keyed_values_read(const char *option, const char *form, const char *text,
			     keyed_values *ret, dck_err *err)
{
	const char *equals = strchr(text, '=');
	keyed_values v = {.n = 1};
	char *to;

	if (!equals || equals == text || !equals[1])
		DCK_FAIL(err, E_ARG, "%s is '%s': write it as %s", option, text, form);
	v.text = mem_dup(text);
	DCK_NEED(v.text, err, "for %s", option);
	v.key = v.text;
	to = v.text + (equals - text);
	*to++ = '\0';
	v.value[0] = to;
	for (const char *at = equals + 1; *at; at++) {
		if (at[0] == '\\' && at[1] == ',') {
			*to++ = *++at;
		} else if (*at == ',') {
			*to++ = '\0';
			if (v.n < KEYED_VALUES_MAX)
				v.value[v.n] = to;
			v.n++;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	*ret = v;
	return DCK_OK;
}

void keyed_values_done(keyed_values *v)
{
	mem_free(v->text);
	*v = (keyed_values){0};
}
