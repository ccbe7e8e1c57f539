/* summary.h - what a model file says of its inputs that the engine does not: the range in which
 * integers must lie so that the model can run at all.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_SUMMARY_H
#define MODEL_SUMMARY_H

#include "model/onnx/onnx.h"

/* What the file states of an input or output of the model. */
typedef struct model_value {
	const char *name;
	const char *kind; /* "tensor", "sparse tensor", "sequence", "optional", "map"; "": none */
	int64_t dtype;	  /* onnx_dtype, of a tensor; 0: not stated */
	int rank;	  /* below 0: not stated */
	const int64_t *dims;	    /* -1: open */
	const char *const *symbols; /* of open ones, as they stand there, or NULL */
} model_value;

/* Inputs that are no initializers, and outputs. All of it lives in `a`. */
typedef struct model_values {
	const model_value *in, *out;
	size_t nin, nout;
} model_values;
dck_status model_values_read(const onnx_graph *g, mem_arena *a, model_values *ret, dck_err *err);

typedef struct model_input {
	const char *name;
	bool has_range;	   /* for integer inputs whose use limits them */
	int64_t low, high; /* both inclusive */
	bool is_compared;  /* Equal compares it with a constant, the largest of which is: */
	int64_t compared;
	const char *why; /* "indexes 30522 rows of 'embeddings.word.weight' (Gather)" */
} model_input;

typedef struct model_summary {
	const char *producer; /* NULL: not stated */
	int64_t ir_version, opset;
	uint64_t nodes, initializers, weight_bytes; /* top-level graph; bytes of initializer data */
	const model_input *inputs;		    /* graph inputs that are no initializers */
	size_t ninputs;
	model_values values;
	const char *path; /* of the file; NULL: it was read from memory */
} model_summary;

/* Reads the structure without loading tensor data. Hostile input gives E_FORMAT with the byte
 * offset, or E_LIMIT; memory is bounded by the arena's limit, which it sets itself. A file in
 * ORT's own flatbuffer format gives E_UNSUP. All in *ret lives in `a`. */
dck_status model_summary_read_file(const char *path, mem_arena *a, model_summary *ret,
				   dck_err *err);
dck_status model_summary_read_bytes(const void *bytes, size_t n, mem_arena *a, model_summary *ret,
				    dck_err *err);

#endif
