/* keyed_values.h - parses "KEY=a,b,c" of --vary, --over and --scan. A comma in a value is written
 * "\,".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_KEYED_VALUES_H
#define COMPARE_KEYED_VALUES_H

#include "base/err.h"
#include <stddef.h>

#define KEYED_VALUES_MAX 32 /* values stored */

typedef struct keyed_values {
	char *text; /* storage of the other members */
	const char *key;
	const char *value[KEYED_VALUES_MAX];
	size_t n; /* number of given values, stored or not */
} keyed_values;

/* Parses the text. option, form: for the message, "--vary" and its syntax, "OPTION=VALUE,VALUE".
 * E_ARG: no key, or no value after it. */
dck_status keyed_values_read(const char *option, const char *form, const char *text,
			     keyed_values *ret, dck_err *err);
void keyed_values_done(keyed_values *v); /* {0} is allowed */

#endif
