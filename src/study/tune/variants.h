/* variants.h - int8 and fp16 variants of a model, which ONNX Runtime's own Python tools make in
 * another process, as values of an option that `tune` varies.
 *
 *	DCK_TRY(variants_make(subject, "variants", watch, arena, &v, err));
 *	for each i below VARIANTS: v.path[i], or NULL, because of v.why[i]
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_VARIANTS_H
#define TUNE_VARIANTS_H

#include "deepclock/tune.h"
#include "base/mem.h"

enum { VARIANTS = 3 };

typedef struct variant_row {
	const char *name;
	/* The line of Python that makes it, and its modules; %1$s: the model's file, %2$s: the
	 * variant's. */
	const char *python, *modules;
} variant_row;
extern const variant_row variant_rows[VARIANTS];

typedef struct variants {
	const char *model; /* the file that they are made of; of a network written for it */
	const char *path[VARIANTS]; /* NULL: it was not made */
	const char *why[VARIANTS];
	bool no_tools; /* there is no Python with ONNX Runtime's tools */
	double took_ns;
} variants;

/* Writes the variants of the model of s into a directory, which is made, over files of the same
 * names. Texts live in the arena. A variant that cannot be made has a reason. Errors: E_ARG (not an
 * ONNX model), E_IO (the directory), E_CANCEL, those of a network that is written, E_NOMEM. */
dck_status variants_make(const dck_subject *s, const dck_tune_config *c, const dck_observer *watch,
			 mem_arena *a, variants *ret, dck_err *err);

#endif
