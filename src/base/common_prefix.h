/* common_prefix.h - common prefix of several names that are shown side by side without it; whether
 * a text has a prefix.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_COMMON_PREFIX_H
#define BASE_COMMON_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns the length of the common prefix of the n names, up to the last common '/':
 * "/a/b/m1.onnx" and "/a/b/m2.onnx" have "/a/b/". Fewer than two names: 0. */
size_t common_prefix(const char *const *names, size_t n);

static inline bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

#endif
