/* shape_resolve.h - how large a model's inputs are: what the model fixes, what it leaves open, and
 * what the user gives. The same rules for everything that opens a model, with an engine or without.
 *
 * A dimension is fixed by, in this order: the model, values that were given, --shape, --dim,
 * --batch. Equal symbols are equal sizes, and a symbol "past + 1" follows from its parts; what only
 * looks like a symbol ("?") is none. --batch is the first axis of every input that leaves it open,
 * unless the model calls another dimension batch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_SIZES_H
#define SUBJECT_SIZES_H

#include "deepclock/bench.h"
#include "model/onnx/summary.h"

#define SIZES_SYMBOLS_MAX 256

/* One input. */
typedef struct subject_sized {
	dck_tensor_info info;	   /* as declared; symbols are NULL where they are no names */
	int64_t dim[DCK_RANK_MAX]; /* -1: still open */
	size_t rank;
	uint32_t batch;	    /* bits of axes that --shape calls N: the size that --batch gives */
	const char *shaped; /* what made rank and dims definite: --shape or a file; NULL: nothing */
	const char *fed;    /* what --input gives it, a number or a file; NULL: nothing */
} subject_sized;

typedef struct subject_symbol {
	const char *name;
	int64_t size;
	const char *from; /* who fixed it, for sentences */
} subject_symbol;

typedef struct shape_resolve {
	mem_arena *arena;
	subject_sized *input; /* [n] */
	size_t n;
	bool any;  /* --shape may change what the model fixes, since nothing runs */
	bool sure; /* all symbols are known: one that is not there can be refused */
	subject_symbol symbol[SIZES_SYMBOLS_MAX];
	size_t nsymbols;
	uint64_t batch;	  /* as --batch says; 0: it was not given */
	const char *path; /* of the model, for examples that fit it; NULL: none */
} shape_resolve;

/* From what an engine says, and what the file says of the same names (m NULL: nothing). All that is
 * borrowed lives as long as z. */
dck_status shape_resolve_init(shape_resolve *z, mem_arena *a, const dck_tensor_info *in, size_t n,
			      const model_summary *m, dck_err *err);
/* From the file alone. */
dck_status shape_resolve_declared(shape_resolve *z, mem_arena *a, const model_values *v,
				  const char *path, dck_err *err);

/* E_UNSUP: an input of which no values can be made or read: text, a sequence. */
dck_status shape_resolve_types(mem_arena *a, const model_values *v, dck_err *err);

/* REST of "NAME=REST"; NULL: it begins with another name. */
const char *subject_pair_rest(const char *text, const char *name);
/* "NAME=REST", and REST alone where the model has one input: *ret_rest points into text. Names and
 * files may hold '=' themselves: the first that ends an input's name counts. `form`: how REST is
 * written, for sentences. */
dck_status shape_resolve_pair(shape_resolve *z, const char *option, const char *form,
			      const char *text, size_t *ret_input, const char **ret_rest,
			      dck_err *err);
/* "SYMBOL=N" of --dim, the only place where it is read; a symbol may hold '=' itself. *ret_symbol
 * lives in the arena. */
dck_status subject_dim_read(mem_arena *a, const char *text, const char **ret_symbol,
			    int64_t *ret_size, dck_err *err);
/* A shape, which must agree with what the model fixes; -1: that one stays open. */
dck_status shape_resolve_give(shape_resolve *z, size_t input, const int64_t *dim, size_t rank,
			      const char *from, dck_err *err);
/* --shape, --dim and --batch. What is not fixed stays open. */
/* v: outputs too, as far as they are known; NULL: not at all. */
dck_status shape_resolve_read(shape_resolve *z, const model_values *v, const dck_model_config *c,
			      dck_err *err);
/* --input names a file, which brings a shape of its own. */
bool shape_resolve_from_files(shape_resolve *z, const dck_model_config *c);
const subject_symbol *shape_resolve_symbol(const shape_resolve *z, const char *name);
/* The axis of an input that --batch is; DCK_RANK_MAX: none. */
size_t shape_resolve_batch_axis(const shape_resolve *z, size_t input);

/* E_ARG when a size is open: names all of them and what to give. command: what was typed, which
 * the sentence repeats with the missing options; NULL: it names the options alone. */
dck_status shape_resolve_closed(const shape_resolve *z, const char *command, dck_err *err);
/* Usual values of what is open, as these options would give them: sizes, and numbers that select a
 * part of the model. What the graph decides is taken from the graph, the rest by names, and of
 * several usual sizes those that contradict the graph least. {0}: nothing is open. False: it takes
 * more options than there may be, or there is no memory. */
typedef struct subject_usual {
	uint64_t batch; /* 0: none */
	dck_list dim, shape, input;
} subject_usual;
bool subject_usual_find(const shape_resolve *z, subject_usual *ret);
/* "--batch 1 --dim seq=128", each word as a shell takes it; "": none. In the arena; NULL: no
 * memory. */
const char *subject_usual_text(mem_arena *a, const subject_usual *u);
const char *subject_shell_word(mem_arena *a, const char *text); /* as a shell takes it */

/* Items that one run processes, and how that is known. v as above. */
uint64_t shape_resolve_items(const shape_resolve *z, const model_values *v,
			     const dck_model_config *c, const char **ret_how);

/* "1x3x224x224", "Nx3x?x?", "a scalar". */
const char *subject_dims_text(mem_arena *a, const int64_t *dim, const char *const *symbols,
			      size_t rank);

#endif
