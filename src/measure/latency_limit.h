/* latency_limit.h - a limit on the latency, and the verdict on it. One type and one grammar for
 * every command, so that what one of them reads the others read too:
 *
 *     p99<=20ms    p99.9 < 1s    p999<=1s    median<=2ms    mean<=5ms    max<=1s
 *
 * How a verdict is found is in stat/stat.h; record_gate() carries it to the exit status.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LATENCY_LIMIT_H
#define BASE_LATENCY_LIMIT_H

#include "deepclock/base.h"

typedef enum limit_kind { LIMIT_PERCENTILE, LIMIT_MEAN, LIMIT_MAX } limit_kind;

typedef struct latency_limit {
	limit_kind kind;
	double p;	    /* of a PERCENTILE: 0.5 to 0.9999 */
	double ns;	    /* above 0; 0: there is no limit */
	char statistic[24]; /* "median", "p99", "p99.9", "mean", "max" */
	char text[40];	    /* as it was written, without blanks: "p999<=1s" */
} latency_limit;

/* STAT<=TIME or STAT<TIME; blanks may stand around both. E_ARG says why not and how to write it. */
dck_status latency_limit_parse(const char *text, latency_limit *ret, dck_err *err);

/* "met", "violated", "inconclusive" */
const char *latency_limit_word(dck_verdict v);
/* The worse of two: BROKEN, then UNDECIDED. */
dck_verdict latency_limit_worse(dck_verdict a, dck_verdict b);

#endif
