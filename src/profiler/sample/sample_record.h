/* sample_record.h - the record of a program that was sampled.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_SAMPLE_RECORD_H
#define SAMPLE_SAMPLE_RECORD_H

#include "record/others.h"
#include "profiler/sample/sample_profile.h"
#include "profiler/sample/sample_source.h"

typedef struct sample_run {
	char not_perf[256]; /* why perf_event was not used; "": it was, or was not asked for */
	uint64_t began_ns, took_ns;
	uint64_t user_ns, system_ns, own_cpu_ns;
	const char *waits; /* how they were seen; NULL: not asked for */
	uint64_t looks;
	size_t refused; /* processes below the one that was attached to */
	bool cpu_known, cancelled;
	record_others others; /* that used the machine meanwhile */
	int signal;	      /* by which the program ended of itself; 0: none */
} sample_run;

/* What the moments of a log say; {0} at first. */
typedef struct sample_named {
	cct paths;
	uint32_t *of; /* @owned; of a moment's path the one in paths */
	uint32_t n;   /* rows of `of` */
} sample_named;
void sample_named_done(sample_named *n); /* {0} is allowed */

/* ret_named: owned, also on failure; NULL: not wanted. */
dck_status sample_record_make(const sample_run *r, const dck_sample_config *c, char *const *argv,
			      const sample_source *source, void *self, sample_profile *p,
			      sample_named *ret_named, dck_record **ret, dck_err *err);

#endif
