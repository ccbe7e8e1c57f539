/* keyed_values.h - "KEY=a,b,c", as --vary, --over and --scan take it. A comma that belongs to a
 * value is written "\,".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_KEYED_VALUES_H
#define COMPARE_KEYED_VALUES_H

#include "base/err.h"
#include <stddef.h>

#define KEYED_VALUES_MAX 32 /* that are kept */

typedef struct keyed_values {
	char *text; /* what the others point into */
	const char *key;
	const char *value[KEYED_VALUES_MAX];
	size_t n; /* as many as were given, also those that are not kept */
} keyed_values;

/* option, form: for the sentence, "--vary", "OPTION=VALUE,VALUE". E_ARG: there is no key or nothing
 * behind it. */
dck_status keyed_values_read(const char *option, const char *form, const char *text,
			     keyed_values *ret, dck_err *err);
void keyed_values_done(keyed_values *v); /* {0} is allowed */

#endif
