/* origin.h - which initializers are parameters of the network, as PyTorch's newer exporter
 * (dynamo=True) writes it into the file: the names of the parameters and buffers into the graph's
 * metadata, and the names that a constant was folded from into the metadata of its value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_ORIGIN_H
#define COST_ORIGIN_H

#include "model/onnx/onnx.h"

typedef enum tensor_origin {
	ORIGIN_UNSTATED = 0, /* the file does not state its parameters */
	ORIGIN_PARAMETER,
	ORIGIN_MOVED,	/* a parameter alone, as transposed: as many elements */
	ORIGIN_MIXED,	/* folded from parameters and others, as gathered by constant indices */
	ORIGIN_UNKNOWN, /* none of the parameters, and what made it is not stated */
	ORIGIN_BUFFER,
	ORIGIN_CONSTANT /* folded from no parameter */
} tensor_origin;

typedef struct origins origins;

/* Reads them; in the arena. NULL: the file does not state its parameters, or no memory, which the
 * arena notes. */
origins *origins_read(const onnx_model *m, mem_arena *a);
/* o may be NULL. */
tensor_origin origins_find(const origins *o, const onnx_tensor *x);
/* The same. *ret_counted: another tensor was counted for the same parameters; otherwise this
 * tensor is counted for them from now on. */
tensor_origin origins_take(origins *o, const onnx_tensor *x, bool *ret_counted);

#endif
