/* rank_record.h - the record of a job.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANKS_RANK_RECORD_H
#define RANKS_RANK_RECORD_H

#include "deepclock/ranks.h"
#include "profiler/ranks/rank_job.h"
#include "profiler/ranks/rank_meeting.h"

typedef struct rank_result {
	const dck_ranks_config *config;
	char *const *argv;
	const os_job *at;
	const rank_meeting *meeting;
	const rank_part *parts; /* at->size; of those that did not arrive `why` is the reason */
	const rank_job *job;
	const dck_record *trace;   /* of the merged trace; NULL: none, because of trace_why */
	const char *trace_why;	   /* "": it was not requested */
	const char *const *traces; /* at->size: files of ranks in it; NULL: none */
	bool cancelled;
} rank_result;

dck_status rank_record_make(const rank_result *r, dck_record **ret, dck_err *err);

#endif
