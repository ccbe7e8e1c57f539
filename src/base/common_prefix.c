/* SPDX-License-Identifier: Apache-2.0 */
#include "base/common_prefix.h"
#include <string.h>

size_t common_prefix(const char *const *names, size_t n)
{
	size_t same = n > 1 ? strlen(names[0]) : 0;

	for (size_t i = 1; i < n; i++) {
		size_t k = 0;
		while (k < same && names[i][k] == names[0][k])
			k++;
		same = k;
	}
	while (same > 0 && names[0][same - 1] != '/')
		same--;
	/* A program with its arguments is not a path. */
	return !memchr(names[0], ' ', same) ? same : 0;
}
