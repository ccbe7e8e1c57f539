/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_add.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool text_add(char *buf, size_t size, const char *fmt, ...)
{
	const size_t used = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(buf + used, size - used, fmt, ap);
	va_end(ap);
	return n >= 0 && (size_t)n < size - used;
}
