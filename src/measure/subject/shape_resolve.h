/* shape_resolve.h - resolves symbolic shapes of a model's inputs: dimensions that the model fixes,
 * leaves open, or the user gives. The rules are the same for all code that opens a model, with an
 * engine or without.
 *
 * A dimension is fixed by, in this order: the model, given values, --shape, --dim, --batch. Equal
 * symbols are equal sizes, and a symbol "past + 1" follows from its parts; "?" is not a symbol.
 * --batch is the first axis of every input that leaves it open, unless the model names another
 * dimension batch, or a recurrent layer takes the second one as the batch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_SHAPE_RESOLVE_H
#define SUBJECT_SHAPE_RESOLVE_H

#include "deepclock/bench.h"
#include "model/onnx/summary.h"

#define SIZES_SYMBOLS_MAX 256

/* One input. */
typedef struct subject_sized {
	dck_tensor_info info;	   /* as declared; a symbol that is not a name is NULL */
	int64_t dim[DCK_RANK_MAX]; /* -1: still open */
	size_t rank;
	uint32_t batch;	    /* bits of axes that --shape calls N: the size that --batch gives */
	bool time_major;    /* as in model_value: axis 1 is the batch */
	const char *shaped; /* source of rank and dims: --shape or a file; NULL: none */
	const char *fed;    /* value of --input, a number or a file; NULL: none */
} subject_sized;

typedef struct subject_symbol {
	const char *name;
	int64_t size;
	const char *from; /* the option or file that fixed it, for messages */
} subject_symbol;

typedef struct shape_resolve {
	mem_arena *arena;
	subject_sized *input; /* [n] */
	size_t n;
	bool any;  /* --shape may change fixed sizes, since nothing runs */
	bool sure; /* all symbols are known: an unknown one is an error */
	subject_symbol symbol[SIZES_SYMBOLS_MAX];
	size_t nsymbols;
	uint64_t batch;	  /* value of --batch; 0: not given */
	const char *path; /* path of the model, for examples in messages; NULL: none */
	/* 1 + the place of a symbol called batch, of one with its letter; 0: not searched yet. */
	int called_place, letter_place;
} shape_resolve;

/* Initialises z from the inputs that the engine describes and the model file declares (m NULL:
 * nothing). Borrowed arguments must outlive z. */
dck_status shape_resolve_init(shape_resolve *z, mem_arena *a, const dck_tensor_info *in, size_t n,
			      const model_summary *m, dck_err *err);
/* Initialises z from the model file only. */
dck_status shape_resolve_declared(shape_resolve *z, mem_arena *a, const model_values *v,
				  const char *path, dck_err *err);

/* Fails with E_UNSUP if values of an input can be neither made nor read: text, a sequence. */
dck_status shape_resolve_types(mem_arena *a, const model_values *v, dck_err *err);

/* Returns REST of "NAME=REST"; NULL: another name. */
const char *subject_pair_rest(const char *text, const char *name);
/* Splits "NAME=REST", or REST alone if the model has one input; *ret_rest points into text. Names
 * and files may contain '=': the first one after the name of an input counts. `form`: the format of
 * REST, for messages. */
dck_status shape_resolve_pair(shape_resolve *z, const char *option, const char *form,
			      const char *text, size_t *ret_input, const char **ret_rest,
			      dck_err *err);
/* Parses "SYMBOL=N" of --dim; the only parser. A symbol may contain '='. *ret_symbol lives in the
 * arena. */
dck_status subject_dim_read(mem_arena *a, const char *text, const char **ret_symbol,
			    int64_t *ret_size, dck_err *err);
/* Sets the shape of an input, which must agree with the dimensions that the model fixes; -1: stays
 * open. */
dck_status shape_resolve_give(shape_resolve *z, size_t input, const int64_t *dim, size_t rank,
			      const char *from, dck_err *err);
/* Reads --shape, --dim and --batch. Other dimensions stay open. */
/* v: sizes of outputs too, if known; NULL: none. */
dck_status shape_resolve_read(shape_resolve *z, const model_values *v, const dck_model_config *c,
			      dck_err *err);
/* Returns whether --input names a file, which has a shape. */
bool shape_resolve_from_files(shape_resolve *z, const dck_model_config *c);
/* Evaluates sums and products of numbers and of bound symbols, "past + 2*new"; * binds before + and
 * -. False: a symbol is open, or the result is negative. */
bool shape_resolve_sum(const shape_resolve *z, const char *text, int64_t *ret);
const subject_symbol *shape_resolve_symbol(const shape_resolve *z, const char *name);
/* Returns the batch axis of an input; DCK_RANK_MAX: none. */
size_t shape_resolve_batch_axis(const shape_resolve *z, size_t input);

/* Fails with E_ARG if a size is open; the message names all of them and the options to give.
 * `command`: the typed command, which the message repeats with the missing options; NULL: only the
 * options. */
dck_status shape_resolve_closed(const shape_resolve *z, const char *command, dck_err *err);
/* Usual values of open dimensions, as options: sizes, and numbers that select a part of the model.
 * They come from the graph if it decides them, else from names; of several usual sizes those that
 * contradict the graph least are chosen. {0}: nothing is open. False: too many options, or no
 * memory. */
typedef struct subject_usual {
	uint64_t batch; /* 0: none */
	dck_list dim, shape, input;
	bool cut; /* an option would need more than DCK_LIST_MAX words */
} subject_usual;
bool subject_usual_find(const shape_resolve *z, subject_usual *ret);
/* Returns "--batch 1 --dim seq=128", each word quoted for a shell; "": none. In the arena; NULL: no
 * memory. */
const char *subject_usual_text(mem_arena *a, const subject_usual *u);
const char *subject_shell_word(mem_arena *a, const char *text); /* quoted for a shell */

/* Returns the items that one run processes, and how that is known. v: see above. */
uint64_t shape_resolve_items(const shape_resolve *z, const model_values *v,
			     const dck_model_config *c, const char **ret_how);

/* Returns "1x3x224x224", "Nx3x?x?" or "a scalar". */
const char *subject_dims_text(mem_arena *a, const int64_t *dim, const char *const *symbols,
			      size_t rank);

#endif
