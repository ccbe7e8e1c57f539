/* model_cost.h - static cost of a model (FLOPs, bytes, parameters) with the sizes that the user
 * gave. Converts the numbers of src/model/cost to values and rows of a record; cost_report.c makes
 * the whole record.
 *
 *	model_cost c;
 *
 *	DCK_TRY(model_cost_open(&c, subject, NULL, err));
 *	dck_value v = model_cost_value(&c, n);
 *	model_cost_close(&c);
 *
 * The model is counted as in the file, rebatched if more items are requested. A number that depends
 * on an unknown size is absent, with its formula as the reason. All texts and arrays live as long
 * as c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_REPORT_MODEL_COST_H
#define COST_REPORT_MODEL_COST_H

#include "deepclock/bench.h"
#include "measure/subject/rebatched.h"
#include "model/cost/cost_model.h"
#include "record/record_internal.h"
#include "deepclock/record.h"

typedef struct model_cost {
	mem_arena *arena;
	onnx_model *model;
	cost_result *cost;
	rebatch_info rebatched; /* of a model exported for fewer items than requested */
	bool observed;		/* with the sizes of a real run */
} model_cost;

/* Observations of a real run: its inputs and values. */
typedef struct tally_real {
	cost_shape *inputs, *values;
	size_t ninputs, nvalues;
	cost_content *contents; /* contents of inputs that are few integers */
	size_t ncontents;
	const char *usual; /* options of the usual sizes that it took; NULL, "": none */
} tally_real;

/* Reads the model of s (a file or a built-in network) and counts it. real NULL: with the sizes that
 * s gives; else with the sizes of the run. E_ARG: s is not a model, or a size matches no dimension.
 * *ret is released on failure. */
dck_status model_cost_open(model_cost *ret, const dck_subject *s, const tally_real *real,
			   dck_err *err);
/* Reads and counts another file, such as the graph that an engine ran. */
dck_status model_cost_file(model_cost *ret, const char *path, const tally_real *real, dck_err *err);
/* Makes the cost of a model whose structure is not known: it has no operators. */
dck_status model_cost_none(model_cost *ret, dck_err *err);
void model_cost_close(model_cost *c); /* {0} is allowed */

/* Converts a number to a record's value: symbolic numbers are absent with their formula, or with
 * the sizes they depend on. Text is in c's arena. */
dck_value model_cost_value(model_cost *c, sym_int n);
/* Converts the operator to a row; names and arrays are in c's arena. */
void model_cost_op(model_cost *c, const cost_op *from, dck_op *ret);
/* Returns the display name of the operator's type: "Conv", "nchwc.Conv". */
const char *model_cost_type(model_cost *c, const onnx_node *node);
/* Sets the class and the source line of the model's code that made the node. */
void model_cost_place(const onnx_node *node, dck_op *ret);
/* Returns the module that contains the operator, in c's arena; NULL: unknown. */
const char *model_cost_scope(model_cost *c, const cost_op *from);
/* Returns the node's name, or one made of its type and output. */
const char *model_cost_name(model_cost *c, const onnx_node *node);

/* Returns whether some input leaves its batch axis open, given the sizes of m, with which the model
 * was opened. */
bool model_cost_batch_open(model_cost *c, const dck_model_config *m);

#endif
