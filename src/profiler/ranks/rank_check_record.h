/* rank_check_record.h - the record of a check of the ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_CHECK_RECORD_H
#define RANKS_RANK_CHECK_RECORD_H

#include "deepclock/record.h"
#include "profiler/ranks/rank_check.h"
#include "profiler/ranks/rank_slow.h"

typedef struct rank_check_result {
	const os_job *at;
	const rank_part *parts; /* at->size; of those that did not come `why` is the reason */
	const rank_check *check;
} rank_check_result;

/* Its gate is violated if a rank is slow. E_NOMEM. */
dck_status rank_check_record_make(const rank_check_result *r, dck_record **ret, dck_err *err);

#endif
