/* runner.h - one measurement in this process, from opening the subject to the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_RUNNER_H
#define MEASURE_RUNNER_H

#include "measure/plan.h"

dck_status measure_run_here(const dck_subject *s, const measure_plan *plan,
			    const dck_observer *watch, dck_record **ret, dck_err *err);

#endif
