/* method.h - writes the measurement method of a record: the facts that decide which results are
 * comparable.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_METHOD_H
#define MEASURE_METHOD_H

#include "measure/device_times.h"
#include "measure/stop_reason.h"
#include "os/os.h"
#include "record/record_begin.h"

/* Writes the facts of the subject, its engine and the host, then the requested `options` and the
 * options of the subject. */
void method_subject(record_builder *b, const dck_subject *s, const subject_target *t,
		    const os_host *host, const dck_opt *options, const void *config);
void method_clock(record_builder *b, const dck_clock *clock);
/* Adds that programs which this thread starts have a fixed address layout, or why they do not
 * despite the plan; nothing where it is random, as usual. */
void method_address_layout(record_builder *b, const measure_plan *plan);
void method_samples(record_builder *b, const measure_samples *latency);
/* The timed part of a run of a command. */
#define METHOD_PROCESS "from before the process is started until it is waited for"
/* barriers: of the session, untested or tested. */
void method_facts(record_builder *b, const dck_subject *s, const measure_phases *p,
		  const device_proof *barriers, const stop_reason *ending,
		  const stat_estimate *estimates);
/* Adds which transfers a run includes. */
void method_transfers(record_builder *b, const dck_subject *s, const subject_target *t,
		      const device_proof *barriers);
/* Returns whether a model is measured on another device than the processor. */
bool method_on_device(const dck_subject *s);

#endif
