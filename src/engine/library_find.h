/* library_find.h - searches the C library of a runtime that an engine calls, and loads the first
 * file that works. The kind has all that differs between runtimes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_LIBRARY_FIND_H
#define ENGINE_LIBRARY_FIND_H

#include "base/mem.h"
#include "deepclock/plugin.h"

typedef struct library_kind {
	const char *runtime; /* "ONNX Runtime", in messages */
	const char *file;    /* pattern of the library's name */
	const char
	    *package; /* its directory below that of Python's packages: "onnxruntime/capi/" */
	const char *const *inside; /* NULL-ended: where a directory that the user names has it */
	const char *const
	    *variables;	    /* NULL-ended: environment variables of the user, best first */
	const char *python; /* variable that the Python package deepclock sets */
	const char *own;    /* the directory next to deepclock in which the build installs it */
	const char *const *loader; /* NULL-ended: bare names for the loader's own search */
	const char *const *system; /* NULL-ended: patterns below / */
	/* Beginning of the name of a module that packages without the C library have, and what is
	 * wrong with them; NULL: there are none. */
	const char *module, *module_fault, *module_remedy;
} library_kind;

typedef struct library_place {
	const char *path; /* a file, or a bare name for the loader's own search */
	const char *how;  /* "--engine-lib", "DEEPCLOCK_ORT", "next to deepclock" */
	bool asked;	  /* given by the user: a failure is final, no other is tried */
	bool trusted;	  /* --engine-lib names it: loaded whatever its owner and mode */
} library_place;

#define LIBRARY_PLACES_MAX 32
typedef struct library_places {
	const library_kind *kind;
	const char *file; /* pattern below the directory of Python's packages */
	library_place place[LIBRARY_PLACES_MAX];
	size_t n;
	const char *old_wheel; /* a Python package without the C library; NULL: none found */
	const char *python;    /* the interpreter whose packages were searched, or NULL */
} library_places;

/* Lists the existing files, best first; texts live in `a`. asked NULL: searches. E_ABSENT,
 * E_VERSION: `asked`, or the file that an environment variable names, does not exist or is another
 * library. */
dck_status library_find(const library_kind *kind, const char *asked, mem_arena *a,
			library_places *ret, dck_err *err);

/* Finds a library that has its own Python package and belongs to another one: `file` of `package`.
 * asked: a file or its directory; NULL: searches the directory of the other `library`, then the
 * directories of Python's packages. Lists the existing files as above. */
dck_status library_find_package(const library_kind *kind, const char *package, const char *file,
				const char *library, const char *asked, mem_arena *a,
				library_places *ret, dck_err *err);

/* Adds the libraries in the directory of deepclock's file `self`, and in the packages that it is
 * installed in. */
void library_find_beside(library_places *p, mem_arena *a, const char *self);

/* Searches and calls `load` for one place after the other until it succeeds. A place that the user
 * named is the only one tried; the failure of any other is logged, and the first failure is
 * returned if no place works. A file that others can modify is refused before it is loaded. */
dck_status library_load(const library_kind *kind, const char *asked, mem_arena *a,
			const dck_open_params *log,
			dck_status (*load)(void *self, const library_place *place, dck_err *err),
			void *self, dck_err *err);

/* Returns the version of the Python package that has the library, for one that exports none: from
 * the name of the package's directory of metadata, or from the file METADATA that the build stores
 * beside the library. "": unknown. */
const char *library_version(mem_arena *a, const char *library, const char *package);

#endif
