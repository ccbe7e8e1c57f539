/* operator_roofs.h - the roofs of a model's operators in a record: the limits as facts, why an
 * operator has no roof, and, without any time, what a device allows the whole model.
 *
 *	device_roofs r;
 *
 *	DCK_TRY(device_roofs_measure(&r, "opencl", watch, err));
 *	device_roofs_op(&r, &cost, op, &row);	for each operator
 *	device_roofs_put(&r, b, &cost);
 *	device_roofs_done(&r);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_REPORT_OPERATOR_ROOFS_H
#define COST_REPORT_OPERATOR_ROOFS_H

#include "deepclock/machine.h"
#include "study/cost_report/model_cost.h"
#include "record/build.h"

/* Writes the limits and the balance points as facts: the record is to be read without the machine.
 */
void operator_roofs_facts(record_builder *b, const dck_roofline *l);
/* Copies the first warning of the machine's record about its limits. */
void operator_roofs_doubt(record_builder *b, const dck_record *machine);
/* Returns the element type that decides about an operator's peak; NULL: unknown. */
const char *operator_roofs_dtype(const cost_op *c);
/* Returns why an operator has no roof; in the arena, NULL: no memory. */
const char *operator_roofs_why(const dck_roofline *l, const char *dtype, double flops, double bytes,
			       mem_arena *a);

enum { ROOFS_COMPUTE, ROOFS_MEMORY, ROOFS_UNKNOWN, ROOFS_BOUNDS };

typedef struct device_roofs {
	const char *asked;   /* the device as the user names it; NULL: none, nothing is done */
	dck_record *machine; /* @owned; NULL: the limits are not known, because of why */
	dck_err why;
	dck_roofline limits;
	struct {
		size_t n;
		double flops, least_ns;
	} of[ROOFS_BOUNDS];
	const char *first_unknown, *first_why; /* in the arena of the cost */
} device_roofs;

/* Measures the limits of a device; of one that cannot be measured the roofs are absent. Errors:
 * E_CANCEL, E_NOMEM. */
dck_status device_roofs_measure(device_roofs *r, const char *device, const dck_observer *watch,
				dck_err *err);
/* Sets roof and bound of a row. */
void device_roofs_op(device_roofs *r, model_cost *c, const cost_op *from, dck_op *row);
/* Adds the facts, the table and the metric. Returns what the answer has of them, "" or in the arena
 * of c; NULL: no memory. */
const char *device_roofs_put(const device_roofs *r, record_builder *b, model_cost *c);
void device_roofs_done(device_roofs *r);

#endif
