/* deepclock - measures how fast a deep-learning model runs, correctly.
 *
 * The library is silent: it returns a status and a sentence, and never prints or exits.
 * A measurement gives a *record* (record.h): raw samples, metrics with intervals, what was
 * measured and how, and notes on every reason to doubt it. Reports are made from the record
 * alone (report.h). A complete program:
 *
 *     #include <deepclock/deepclock.h>
 *     #include <math.h>
 *     #include <stdio.h>
 *
 *     static int work(void *arg)              // one run
 *     {
 *             volatile double *sum = arg;
 *             for (int i = 1; i < 100000; i++)
 *                     *sum += sqrt(i);
 *             return 0;                       // anything else: it failed
 *     }
 *
 *     int main(void)
 *     {
 *             dck_subject subject;
 *             dck_record *record;
 *             dck_err err;
 *             double sum = 0;
 *
 *             dck_subject_init(&subject);
 *             subject.function = work;
 *             subject.arg = &sum;
 *             subject.text = "sum of roots";
 *             if (dck_bench(&subject, NULL, NULL, &record, &err) != DCK_OK) {
 *                     fprintf(stderr, "%s\n", err.msg);
 *                     return 1;
 *             }
 *             if (dck_print(record, 1, &err) != DCK_OK)
 *                     fprintf(stderr, "%s\n", err.msg);
 *             dck_record_free(record);
 *             return 0;
 *     }
 *
 *     cc program.c $(pkg-config --cflags --libs deepclock) -lm
 *
 * From here: bench.h to measure, record.h to read what was measured, report.h to write it,
 * history.h to keep and follow records, model.h for built-in networks, plugin.h to bring an engine
 * of your own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_DEEPCLOCK_H
#define DCK_DEEPCLOCK_H

#include "base.h"
#include "opt.h"
#include "record.h"
#include "report.h"
#include "model.h"
#include "plugin.h"
#include "bench.h"
#include "estimate.h"
#include "cost.h"
#include "inspect.h"
#include "profile.h"
#include "compare.h"
#include "accuracy.h"
#include "throughput.h"
#include "load.h"
#include "machine.h"
#include "memory.h"
#include "pitfalls.h"
#include "calls.h"
#include "history.h"
#include "lap.h"
#include "zone.h"
#include "trace.h"
#include "sample.h"
#include "overhead.h"
#include "count.h"

#endif
