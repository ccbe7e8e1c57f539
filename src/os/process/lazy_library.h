/* lazy_library.h - lazy loading of libraries (dlopen on first use; never unloaded). This library is
 * preloaded into programs that have their own libraries: libraries that it needs for other work
 * must not interfere with theirs.
 *
 *	#define LIBRARY(X) X(sqlite3_, step) X(sqlite3_, reset)
 *	struct functions { LIBRARY(OS_LAZY_MEMBER) } sqlite;
 *	static const char *const names[] = {LIBRARY(OS_LAZY_NAME)};
 *	static os_lazy_library library = OS_LAZY("libsqlite3.so.0", "the history", names, sqlite);
 *
 *	DCK_TRY(os_lazy_load(&library, err));
 *	sqlite.step(statement);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_LAZY_LIBRARY_H
#define PROCESS_LAZY_LIBRARY_H

#include "deepclock/base.h"

#include <stdatomic.h>
#include <stddef.h>

#define OS_LAZY_MEMBER(prefix, f) __typeof__(prefix##f) *f;
#define OS_LAZY_NAME(prefix, f)	  #prefix #f,

typedef struct os_lazy_library {
	const char *file, *use; /* soname; its purpose */
	const char *const *names;
	size_t n;
	void *functions; /* a struct of n pointers, in the order of the names */
	void (*ready)(
	    void); /* called once after loading, before any other thread can call a function */
	_Atomic bool loaded;
} os_lazy_library;

#define OS_LAZY_THEN(file, use, names, functions, ready)                                       \
	{                                                                                      \
		file, use, names, sizeof names / sizeof names[0], (void *)&(functions), ready, \
		    false                                                                      \
	}
#define OS_LAZY(file, use, names, functions) OS_LAZY_THEN(file, use, names, functions, NULL)

/* Loads the library; call it before the first use of its functions. Further calls, also of several
 * threads, do nothing. E_ABSENT: the library is missing, or lacks a function. */
dck_status os_lazy_load(os_lazy_library *l, dck_err *err);

#endif
