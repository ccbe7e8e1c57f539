/* cost.h - what a model computes: multiply-accumulates, floating-point operations, parameters and
 * bytes of each operator, from the graph alone.
 *
 *     dck_subject s;  dck_cost_config c;  dck_record *r;  dck_err err;
 *     dck_subject_init(&s);
 *     dck_cost_config_init(&c);
 *     s.kind = DCK_SUBJECT_MODEL;
 *     s.text = "model.onnx";
 *     if (dck_cost(&s, &c, NULL, &r, &err) == DCK_OK)
 *             printf("%.0f MACs\n", dck_record_value(r, "cost/macs"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_COST_H
#define DCK_COST_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* May grow until 1.0: fill it with its _init function and recompile. Rows: dck_cost_options. */
typedef struct dck_cost_config {
	int as;		   /* index into dck_cost_peers; 0: none */
	bool backward;	   /* also what a training step costs */
	bool run;	   /* what the graph cannot say is taken from one real run */
	bool strict;	   /* an operator whose cost is not known is an error (the program's) */
	const char *title; /* the record's `command`; NULL: none */
} dck_cost_config;
DCK_API extern const dck_opt dck_cost_options[];
/* Counters whose convention can be shown: "none", "torchvision", "fvcore", ..., NULL. */
DCK_API extern const char *const dck_cost_peers[];

DCK_API void dck_cost_config_init(dck_cost_config *c); /* @since 0.1 */

/* Counts the model of s (kind MODEL; s->model gives sizes: batch, shape, dim, image_size, seq, and
 * with `run` the engine). The record has one op for each operator, in the order of the graph, and
 * the metrics cost/.... *ret is owned: dck_record_free(). c NULL: defaults.
 * E_ARG, E_ABSENT, E_IO, E_FORMAT, E_LIMIT, E_NOMEM; with `run` also what dck_bench() gives.
 * @since 0.1 */
DCK_API dck_status dck_cost(const dck_subject *s, const dck_cost_config *c,
			    const dck_observer *watch, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* An operator that deepclock knows. */
typedef struct dck_cost_operator {
	const char *domain, *name; /* domain "": ONNX's own */
	const char *formula;	   /* what it costs, in words; static */
} dck_cost_operator;

/* The i-th of all operators; false: there are no more. @since 0.1 */
DCK_API bool dck_cost_operator_get(size_t i, dck_cost_operator *ret);

#ifdef __cplusplus
}
#endif
#endif
