/* cost_formula.h - the cost of a model that leaves sizes open: a polynomial, and which operators
 * make it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TALLY_TALLY_OPEN_H
#define TALLY_TALLY_OPEN_H

#include "study/cost_report/model_cost.h"
#include "record/build.h"

/* "18.4 k * batch*seq^2 + 84.9 M * batch*seq"; "about ..." where sizes are rounded on the way; in
 * c's arena. NULL: n is no polynomial of open sizes. */
const char *cost_formula_text(model_cost *c, sym_int n);

/* "; A is p2o.DynamicDimension.0, B is ...": the letters that stand in such texts and in titles for
 * sizes of inputs with long names; "" without one, NULL without memory. */
const char *cost_open_letters(model_cost *c);

/* A metric of the model: a number, or absent with its formula or its reason. */
void cost_metric_put(record_builder *b, model_cost *c, const char *tag, sym_int n, const char *how);

/* The type of operators with most of the largest term, and its share of it; NULL: none. */
const char *cost_open_most(model_cost *c, double *ret_share);

/* Where the MACs of the model are one: the facts and tables that say so, and a note on how to give
 * the sizes. */
void cost_open_put(record_builder *b, model_cost *c);

#endif
