/* ort_find.h - searches for ONNX Runtime's C library. Nothing is loaded or run here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_FIND_H
#define ENGINE_ORT_FIND_H

#include "base/mem.h"
#include "deepclock/base.h"

typedef struct ort_place {
	const char *path; /* a file, or a bare name for the loader's own search */
	const char *how;  /* "--engine-lib", "DEEPCLOCK_ORT", "next to deepclock" */
	bool asked;	  /* given by the user: a failure is final, no other is tried */
	bool trusted;	  /* --engine-lib names it: loaded whatever its owner and mode */
} ort_place;

#define ORT_PLACES_MAX 32
typedef struct ort_places {
	/* Pattern below the directory of Python's packages; NULL: ONNX Runtime's. */
	const char *file;
	ort_place place[ORT_PLACES_MAX];
	size_t n;
	const char *old_wheel; /* a Python package without the C library; NULL: none found */
	const char *python;    /* the interpreter whose packages were searched, or NULL */
} ort_places;

/* Lists the existing files, best first; texts live in `a`. asked NULL: searches. E_ABSENT,
 * E_VERSION: `asked`, or the file that an environment variable names, does not exist or is another
 * library. */
dck_status ort_find(const char *asked, mem_arena *a, ort_places *ret, dck_err *err);

/* Finds the library of an execution provider that has its own Python package: `file` of `package`.
 * asked: a file or its directory; NULL: searches the directory of ONNX Runtime's `library`, then
 * the directories of Python's packages. Lists the existing files as above. */
dck_status ort_find_provider(const char *package, const char *file, const char *library,
			     const char *asked, mem_arena *a, ort_places *ret, dck_err *err);

/* Adds the libraries in the directory of deepclock's file `self`, and in the packages that it is
 * installed in. */
void ort_find_beside(ort_places *p, mem_arena *a, const char *self);

#endif
