/* latency_limit.h - a latency limit (SLO) and the verdict on it. All commands share this type and
 * its grammar:
 *
 *     p99<=20ms    p99.9 < 1s    p999<=1s    median<=2ms    mean<=5ms    max<=1s
 *     ttft-p99<=500ms    tpot-p99<=30ms
 *
 * stat/stat.h computes a verdict; record_gate() turns it into the exit status.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_LATENCY_LIMIT_H
#define MEASURE_LATENCY_LIMIT_H

#include "deepclock/base.h"

typedef enum limit_kind { LIMIT_PERCENTILE, LIMIT_MEAN, LIMIT_MAX } limit_kind;
/* Of a server that generates; docs/reference/generation.md. */
typedef enum limit_quantity { LIMIT_LATENCY, LIMIT_TTFT, LIMIT_TPOT } limit_quantity;

typedef struct latency_limit {
	limit_kind kind;
	limit_quantity quantity;
	double p;	    /* of a PERCENTILE: 0.5 to 0.9999 */
	double ns;	    /* above 0; 0: no limit */
	char statistic[32]; /* "median", "p99", "p99.9", "mean", "max", "ttft-p99" */
	char text[40];	    /* as the user wrote it, without blanks: "p999<=1s" */
} latency_limit;

/* Parses STAT<=TIME or STAT<TIME, with optional blanks around both; `generates`: also ttft-STAT and
 * tpot-STAT. E_ARG: invalid; the message gives the reason and the correct syntax. */
dck_status latency_limit_parse(const char *text, bool generates, latency_limit *ret, dck_err *err);

/* Reads "mlperf:NAME", the limits on TTFT and TPOT of a benchmark of MLPerf Inference's Server
 * scenario. *ret_is false: it is not one, and nothing is written. E_ARG: there is no such name; the
 * message lists them. */
dck_status latency_limit_preset(const char *text, latency_limit ret[2], bool *ret_is, dck_err *err);

/* Returns "met", "violated" or "inconclusive". */
const char *latency_limit_word(dck_verdict v);
/* Returns the worse of two verdicts: BROKEN, then UNDECIDED. */
dck_verdict latency_limit_worse(dck_verdict a, dck_verdict b);

#endif
