/* exec_list.h - the list of arguments of execl() and its relatives, as an array on the stack: no
 * memory may be allocated after vfork().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXECS_EXEC_LIST_H
#define EXECS_EXEC_LIST_H

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Counts first, and what follows it up to NULL, which counts too. */
static inline size_t exec_list_length(const char *first, va_list *rest)
{
	va_list left;
	size_t n = 1;

	va_copy(left, *rest);
	for (const char *text = first; text; n++)
		text = va_arg(left, const char *);
	va_end(left);
	return n;
}

/* Collects them, NULL included. */
static inline void exec_list(char **ret, const char *first, va_list *rest)
{
	const char *text = first;

	for (;; ret++) {
		memcpy(ret, &text, sizeof text); /* exec() takes them as not const */
		if (!text)
			return;
		text = va_arg(*rest, const char *);
	}
}

#endif
