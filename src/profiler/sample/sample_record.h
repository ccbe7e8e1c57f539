/* sample_record.h - the record of a program that was sampled.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_RECORD_H
#define SAMPLE_SAMPLE_RECORD_H

#include "record/others.h"
#include "record/program_end.h"
#include "profiler/sample/sample_profile.h"
#include "profiler/sample/sample_source.h"

typedef struct sample_run {
	char not_perf[256]; /* reason why perf_event was not used; "": it was used, or not requested
			     */
	uint64_t began_ns, took_ns;
	uint64_t user_ns, system_ns, own_cpu_ns;
	const char *waits; /* how waits were observed; NULL: not requested */
	uint64_t looks;
	size_t refused;	  /* descendants of the attached process without permission */
	size_t tree_full; /* the most processes of its tree, which it reached; 0: it has fewer */
	bool cpu_known, cancelled;
	bool overran;	      /* SIGTERM, sent after its time, did not end it at once */
	record_others others; /* other processes that used the machine during the run */
	program_end end;
	bool beside; /* of a trace, whose options have other names */
} sample_run;

/* Names for the paths of time-stamped samples; initialise to {0}. */
typedef struct sample_named {
	cct paths;
	uint32_t *of; /* @owned; maps the path of a sample to one in `paths` */
	uint32_t n;   /* rows of `of` */
} sample_named;
void sample_named_done(sample_named *n); /* {0} is allowed */

/* ret_named: owned, also on failure; NULL: not needed. */
dck_status sample_record_make(const sample_run *r, const dck_sample_config *c, char *const *argv,
			      const sample_source *source, void *self, sample_profile *p,
			      sample_named *ret_named, dck_record **ret, dck_err *err);

#endif
