/* exec_list.h - the list of arguments of execl() and its relatives, as an array. No memory may be
 * allocated after vfork(), and C promises only 127 arguments of a call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXECS_EXEC_LIST_H
#define EXECS_EXEC_LIST_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define EXEC_LIST_MAX 1024

/* Collects first, and what follows it up to NULL. false: they do not fit (errno). */
static inline bool exec_list(char *ret[EXEC_LIST_MAX], const char *first, va_list *rest)
{
	const char *text = first;

	for (size_t n = 0; n < EXEC_LIST_MAX; n++) {
		memcpy(&ret[n], &text, sizeof text); /* exec() takes them as not const */
		if (!text)
			return true;
		text = va_arg(*rest, const char *);
	}
	errno = E2BIG;
	return false;
}

#endif
