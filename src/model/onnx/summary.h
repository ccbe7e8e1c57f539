/* summary.h - summary of a model file, with facts that the engine does not report: the valid range
 * of integer inputs, without which the model cannot run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_SUMMARY_H
#define MODEL_SUMMARY_H

#include "model/onnx/onnx.h"

/* An input or output of the model, as the file declares it. */
typedef struct model_value {
	const char *name;
	const char *kind; /* "tensor", "sparse tensor", "sequence", "optional", "map"; "": none */
	int64_t dtype;	  /* onnx_dtype, of a tensor; 0: not stated */
	int rank;	  /* below 0: not stated */
	const int64_t *dims;	    /* -1: open */
	const char *const *symbols; /* of open dimensions, as in the file, or NULL */
	/* A recurrent layer takes it as [time or directions, batch, features]. */
	bool time_major;
} model_value;

/* Inputs that are not initializers, and outputs. All of it is in `a`. */
typedef struct model_values {
	const model_value *in, *out;
	size_t nin, nout;
} model_values;
dck_status model_values_read(const onnx_graph *g, mem_arena *a, model_values *ret, dck_err *err);

typedef struct model_input {
	const char *name;
	bool has_range;	   /* its use limits the values */
	int64_t low, high; /* both inclusive */
	bool is_compared;  /* Equal compares it with a constant, the largest of which is: */
	int64_t compared;
	const char *decides; /* the operator whose amount of work its values are, "Loop"; or NULL */
	/* What makes it all of that work, of sizes of the inputs: "past + seq - 1"; or NULL. */
	const char *work;
	int64_t work_most; /* with `work`: the most that the operator takes */
	const char *why;   /* "indexes 30522 rows of 'embeddings.word.weight' (Gather)" */
} model_input;

typedef struct model_summary {
	const char *producer; /* NULL: not stated */
	int64_t ir_version, opset;
	uint64_t nodes, initializers, weight_bytes; /* top-level graph; bytes of initializer data */
	const model_input *inputs;		    /* graph inputs that are not initializers */
	size_t ninputs;
	model_values values;
	const char *path; /* of the file; NULL: it was read from memory */
} model_summary;

/* Reads the structure without loading tensor data. Hostile input gives E_FORMAT with the byte
 * offset, or E_LIMIT; memory is bounded by the arena's limit, which the function sets. A file in
 * ORT's own flatbuffer format gives E_UNSUP. All of *ret is in `a`. */
dck_status model_summary_read_file(const char *path, mem_arena *a, model_summary *ret,
				   dck_err *err);
dck_status model_summary_read_bytes(const void *bytes, size_t n, mem_arena *a, model_summary *ret,
				    dck_err *err);

/* A node that failed, and the input of the model whose integers it takes last. */
typedef struct model_failed {
	const char *node, *op, *input;
} model_failed;
/* Finds the node that an engine's message names in that file, and the input. False: none. Texts are
 * in the arena, whose limit it sets. */
bool model_failed_input(const char *path, const char *message, mem_arena *a, model_failed *ret);

#endif
