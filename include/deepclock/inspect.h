/* inspect.h - summary of a model file: inputs and outputs, symbolic dimensions, contents, and the
 * next commands. Nothing runs, and no engine is needed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_INSPECT_H
#define DCK_INSPECT_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inspects the model of s (kind MODEL; s->model may give sizes). `title` is the record's command;
 * NULL: none. The record has the table "inspect/summary", followed by tables of inputs, outputs,
 * symbolic dimensions, operators, operator sets, weight files and properties, and the metrics
 * cost/macs, cost/params and cost/weight_bytes. *ret is owned: dck_record_free(). E_ARG, E_ABSENT,
 * E_IO, E_FORMAT, E_LIMIT, E_NOMEM. @since 0.1 */
DCK_API dck_status dck_inspect(const dck_subject *s, const char *title, dck_record **ret,
			       dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
