/* profile_pass.h - one session of its own in which the engine watches itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_PASS_H
#define PROFILE_PROFILE_PASS_H

#include "measure/session.h"

typedef struct profile_pass {
	measure_context shared;
	measure_session session;
} profile_pass;

/* Opens the subject with the engine observing itself (0: not). On failure *p is released; it may
 * not be moved. */
dck_status profile_pass_open(profile_pass *p, const dck_subject *s, uint32_t observe,
			     const dck_observer *watch, dck_err *err);
/* n runs; their times into ns (NULL: not kept). E_CANCEL. */
dck_status profile_pass_run(profile_pass *p, uint64_t n, double *ns, dck_err *err);
void profile_pass_close(profile_pass *p); /* {0} is allowed */

/* Values above the 95 % quantile become that: other work of the machine. sorted: room for n. */
void winsorize_upper(double *ns, size_t n, double *sorted);

/* What the profiler itself costs for one operator: in the time that it reports, and in the time
 * that a run takes longer. Measured on a chain of operators that add one number. */
typedef struct profiler_overhead {
	double inside_ns, around_ns;
	size_t runs;
} profiler_overhead;
dck_status profiler_overhead_measure(const dck_subject *s, const dck_observer *watch,
				     profiler_overhead *ret, dck_err *err);

#endif
