/* counted.h - a model's operations counted: its graph opened with the sizes that the user gives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TALLY_COUNTED_H
#define TALLY_COUNTED_H

#include "deepclock/bench.h"
#include "subject/freed.h"
#include "cost/cost.h"
#include "record/box.h"
#include "deepclock/record.h"

typedef struct bench_counted {
	mem_arena *arena;
	onnx_model *model;
	cost_result *cost;
	bench_freed freed; /* of a model that was exported for fewer items than asked for */
} bench_counted;

/* What a real run has shown: the inputs it was fed, and its values. */
typedef struct bench_real {
	cost_shape *inputs, *values;
	size_t ninputs, nvalues;
} bench_real;

/* Reads the model of s (a file or a built-in network) and counts it. real NULL: with the sizes that
 * s gives; else with those of the run. E_ARG: s is no model, a size that fits nothing. *ret is
 * released on failure. */
dck_status bench_counted_open(bench_counted *ret, const dck_subject *s, const bench_real *real,
			      dck_err *err);
/* Reads and counts another file, such as the graph that an engine ran. */
dck_status bench_counted_file(bench_counted *ret, const char *path, const bench_real *real,
			      dck_err *err);
void bench_counted_close(bench_counted *c); /* {0} is allowed */

/* A number as a record's value: open ones are absent with their formula, or with what they depend
 * on. Text is in c's arena. */
dck_value bench_counted_value(bench_counted *c, num n);
/* The operator as a row; names and arrays are in c's arena. */
void bench_counted_op(bench_counted *c, const cost_op *from, dck_op *ret);
/* The operator's type, as people know it: "Conv", "nchwc.Conv". */
const char *bench_counted_type(bench_counted *c, const onnx_node *node);
/* The module that the operator is of, in c's arena; NULL: none is told. */
const char *bench_counted_scope(bench_counted *c, const cost_op *from);
/* The node's name, or one made of its type and output. */
const char *bench_counted_name(bench_counted *c, const onnx_node *node);

#endif
