/* lazy_jansson.h - lazy loading of jansson, when a record is first read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_LAZY_JANSSON_H
#define RECORD_LAZY_JANSSON_H

#include "os/process/lazy_library.h"

/* These of its functions, which are not used here, have names of base/json/json_write.h. */
#define json_array  jansson_array
#define json_object jansson_object
#define json_real   jansson_real
#include <jansson.h>
#undef json_array
#undef json_object
#undef json_real

#define JANSSON_FUNCTIONS(X)      \
	X(json_, array_get)       \
	X(json_, array_size)      \
	X(json_, delete)          \
	X(json_, get_alloc_funcs) \
	X(json_, integer_value)   \
	X(json_, loadb)           \
	X(json_, number_value)    \
	X(json_, object_get)      \
	X(json_, set_alloc_funcs) \
	X(json_, string_length)   \
	X(json_, string_value)

struct jansson_functions {
	JANSSON_FUNCTIONS(OS_LAZY_MEMBER)
};

/* Written once, by the first jansson_load(). */
extern struct jansson_functions record_jansson;
static const struct jansson_functions *const jansson = &record_jansson;

/* Loads jansson. E_ABSENT: it is not installed. */
dck_status jansson_load(dck_err *err);
/* Parses the text into a tree, which the caller frees with delete; after jansson_load(). NULL: the
 * text is invalid JSON, and *ret_at is the reason, or there is not enough memory. */
json_t *jansson_read(const char *text, size_t n, json_error_t *ret_at, bool *ret_no_memory);

#endif
