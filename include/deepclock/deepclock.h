/* deepclock - measures how fast deep-learning models and programs run, with honest intervals.
 *
 * The library is silent: it returns a status and a message, and never prints or exits. A
 * measurement returns a *record* (record.h): raw samples, metrics with intervals, the subject and
 * the method, and a note for every known threat to its validity. Reports are made from the record
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
 * See bench.h to measure, record.h to read results, report.h to write them, history.h to store and
 * follow records, model.h for built-in networks, plugin.h for engines of your own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_DEEPCLOCK_H
#define DCK_DEEPCLOCK_H

#include "base.h"
#include "opt.h"
#include "program.h"
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
#include "tune.h"
#include "load.h"
#include "generate.h"
#include "machine.h"
#include "memory.h"
#include "pitfalls.h"
#include "calls.h"
#include "history.h"
#include "lap.h"
#include "zone.h"
#include "device_zone.h"
#include "trace.h"
#include "sample.h"
#include "overhead.h"
#include "ranks.h"
#include "count.h"

#endif
