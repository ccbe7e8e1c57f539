/* profile_pass.h - a separate session under the engine's own profiler.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_PASS_H
#define PROFILE_PROFILE_PASS_H

#include "measure/session.h"

typedef struct profile_pass {
	measure_context shared;
	measure_session session;
} profile_pass;

/* Opens the subject with these observations of the engine (0: none). On failure *p is released; *p
 * may not be moved. */
dck_status profile_pass_open(profile_pass *p, const dck_subject *s, uint32_t observe,
			     const dck_observer *watch, dck_err *err);
/* Makes n runs and writes their times to ns (NULL: not stored). E_CANCEL. */
dck_status profile_pass_run(profile_pass *p, uint64_t n, double *ns, dck_err *err);
void profile_pass_close(profile_pass *p); /* {0} is allowed */

/* Winsorizes: values above the 95 % quantile become the quantile, because they include other work
 * of the machine. sorted: scratch for n values. */
void winsorize_upper(double *ns, size_t n, double *sorted);

/* Profiler overhead per operator: in the reported time, and in the time of a run. Measured on a
 * chain of operators that add one number. */
typedef struct profiler_overhead {
	double inside_ns, around_ns;
	size_t runs;
} profiler_overhead;
dck_status profiler_overhead_measure(const dck_subject *s, const dck_observer *watch,
				     profiler_overhead *ret, dck_err *err);

#endif
