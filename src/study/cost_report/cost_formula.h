/* cost_formula.h - symbolic cost of a model with open sizes: a polynomial, and the operators that
 * dominate it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_REPORT_COST_FORMULA_H
#define COST_REPORT_COST_FORMULA_H

#include "study/cost_report/model_cost.h"
#include "record/build.h"

/* Returns "18.4 k * batch*seq^2 + 84.9 M * batch*seq", or "about ..." if it rounds sizes; in c's
 * arena. NULL: n is not a polynomial of open sizes. */
const char *cost_formula_text(model_cost *c, sym_int n);

/* Returns "1.81 G parameters", a formula of them, or "parameters not known"; NULL without memory.
 */
const char *cost_amount_text(model_cost *c, sym_int n, const char *unit);
/* The same of the MACs, with "at least 64" and "at most 90" where they are not known. */
const char *cost_macs_text(model_cost *c);

/* Returns "; A is p2o.DynamicDimension.0, B is ...": letters that replace long names of sizes in
 * such texts and in titles; "" without one, NULL without memory. */
const char *cost_open_letters(model_cost *c);

/* Adds a metric of the model: a number, or absent with its formula or its reason. */
void cost_metric_put(record_builder *b, model_cost *c, const char *tag, sym_int n, const char *how);

/* Returns the operator type with the largest share of the first term, that share, and whether the
 * formula has other terms; NULL: none. */
const char *cost_open_most(model_cost *c, double *ret_share, bool *ret_several);

/* If the MACs of the model are symbolic, adds the facts and tables of the formula, and a note on
 * how to give the sizes. */
void cost_open_put(record_builder *b, model_cost *c);

#endif
