/* slo.h - a limit on a statistic of the latency, as people write it: "p99<=20ms".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SLO_H
#define BASE_SLO_H

#include "deepclock/base.h"

typedef struct slo_text {
	char statistic[16]; /* "p99" */
	char limit[20];	    /* "20ms" */
	double limit_ns;
} slo_text;

/* Cuts STAT<=TIME (or STAT<TIME, blanks around both); what STAT may be is the caller's. E_ARG says
 * why not and how to write it; `stats`: what it may be, a clause. */
dck_status slo_cut(const char *text, const char *stats, slo_text *ret, dck_err *err);
/* That sentence, for a caller who does not know the statistic. */
dck_status slo_refuse(const char *text, const char *why, const char *stats, dck_err *err);

#endif
