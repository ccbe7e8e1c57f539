/* device_record.c - the limits of a device (device_limits.c) as a record.
 *
 * The record is never cached: which driver and which clock rates a device has changes without
 * notice, and measuring takes a few seconds. Its metrics have separate tags (device/...), so
 * that roofs of the processor and of a device are never mixed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/roofline/device_record.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "os/os.h"
#include "record/host.h"
#include "record/others.h"
#include "record/record_begin.h"
#include "stat/stat.h"
#include "study/roofline/device_limits.h"
#include "study/roofline/limit_metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct device_survey {
	const dck_machine_config *asked;
	const device *d;
	const dck_clock *clock;
	int64_t began_unix_ns;
	os_host host;
	record_others others;
	device_limits limits;
	double *scratch;
} device_survey;

static void fact_bytes(record_builder *b, const char *key, uint64_t bytes)
{
	record_fact(b, "device", key, DCK_UNIT_BYTE,
		    bytes > 0 && bytes <= INT64_MAX
			? RECORD_INT((int64_t)bytes)
			: RECORD_ABSENT("the driver does not report it"));
}

static void facts_device(record_builder *b, const device *d)
{
	static const char *const why = "the driver does not report it";
	const device_info *i = &d->info;

	record_fact_fmt(b, "device", "device", "%s:%u", d->driver->name, d->index);
	record_fact_known(b, "device", "name", i->name);
	record_fact_known(b, "device", "vendor", i->vendor);
	record_fact_known(b, "device", "driver", i->driver);
	record_fact_known(b, "device", "pci", i->pci);
	record_fact_bool(b, "device", "software", i->software);
	record_fact(b, "device", "units", DCK_UNIT_ONE,
		    i->units > 0 ? RECORD_INT(i->units) : RECORD_ABSENT(why));
	record_fact(b, "device", "clock_max", DCK_UNIT_HERTZ,
		    isnan(i->clock_hz) ? RECORD_ABSENT(why) : RECORD_REAL(i->clock_hz));
	record_fact(b, "device", "mark_tick", DCK_UNIT_NS,
		    isnan(i->mark_tick_ns) ? RECORD_ABSENT(why) : RECORD_REAL(i->mark_tick_ns));
	fact_bytes(b, "memory", i->memory_bytes);
	fact_bytes(b, "allocation_max", i->allocation_bytes);
	fact_bytes(b, "cache", i->cache_bytes);
}

static void device_method_write(record_builder *b, const device_survey *s)
{
	const device_limits *r = &s->limits;

	record_fact_text(b, "method", "clock", s->clock->name);
	record_fact_fmt(b, "method", "kernels", "%s", s->d->driver->kernel_language);
	record_fact_text(b, "method", "peak",
			 "independent chains of fused multiply-adds in registers, two FLOPs each, "
			 "timed by the device between two marks");
	if (s->d->info.int8)
		record_fact_text(
		    b, "method", "peak_int8",
		    s->d->info.dot8 ? "dot products of four 8-bit integers, added to 32 bits"
				    : "multiply-adds in 32 bits: the device offers no dot products "
				      "of 8-bit integers");
	record_fact_text(b, "method", "memory",
			 "bytes that the kernel reads and writes, timed in the same way");
	record_fact_text(b, "method", "transfer",
			 "from the call that enqueues a copy until the wait for it has returned, "
			 "by the host's clock");
	record_fact_text(b, "method", "wait", device_wait_name(r->wait));
	record_fact_text(b, "method", "rate", "the fastest round");
	record_fact_text(b, "method", "interval",
			 "of rates from the fastest round to a bound on the end point "
			 "that the rounds come near to (Robson and Whitlock 1964); "
			 "of times the median's, by exact order statistics");
	record_fact(b, "device", "array", DCK_UNIT_BYTE,
		    r->array_bytes > 0 ? RECORD_INT((int64_t)r->array_bytes)
				       : RECORD_ABSENT("none was allocated"));
	record_fact(b, "device", "transfer", DCK_UNIT_BYTE,
		    r->transfer_bytes > 0 ? RECORD_INT((int64_t)r->transfer_bytes)
					  : RECORD_ABSENT("none was made"));
	record_fact_real(b, "device", "elapsed", DCK_UNIT_NS, r->took_ns);
}

static void limit_write(record_builder *b, const device_survey *s, size_t k)
{
	const device_limit_row *row = &device_limit_rows[k];
	const device_limit *i = &s->limits.item[k];
	char how[160];

	if (i->n == 0) {
		record_metric_absent(
		    b, row->tag, *i->why ? i->why : "the measurement was interrupted before it");
		return;
	}
	if (row->unit == DCK_UNIT_NS) {
		limit_time_write(b, row->tag, i->value, i->n, s->scratch);
	} else {
		if (row->unit == DCK_UNIT_FLOP_PER_S)
			mem_print(how, sizeof how, "fastest of %u rounds of %.3g FLOPs", i->n,
				  i->round_amount);
		else
			snprintf(how, sizeof how, "fastest of %u rounds of %s", i->n,
				 UNITS_BYTES(i->round_amount));
		limit_rate_write(b, row->tag, i->value, i->n, how);
	}
	record_series(b, row->tag, row->unit, NULL, i->value, i->n, 0);
}

static double limit_value(const device_survey *s, device_work work)
{
	for (size_t k = 0; k < DEVICE_LIMITS; k++)
		if (device_limit_rows[k].kind <= DEVICE_LIMIT_MEMORY &&
		    device_limit_rows[k].work == work)
			return limit_best(s->limits.item[k].value, s->limits.item[k].n);
	return NAN;
}

static void device_answer_write(record_builder *b, const device_survey *s)
{
	const double peak = limit_value(s, DEVICE_WORK_FP32);
	const double memory = limit_value(s, DEVICE_WORK_READ);
	char read[80] = "";

	if (!isnan(memory))
		snprintf(read, sizeof read, ", memory read at %s", UNITS_SI(memory, "B/s"));
	if (!isnan(peak))
		record_answer(b, "%s FP32 on %s:%u%s%s", UNITS_SI(peak, "FLOP/s"),
			      s->d->driver->name, s->d->index,
			      s->d->info.software ? ", which is the processor" : "", read);
}

static void device_notes_write(record_builder *b, const device_survey *s)
{
	if (s->limits.interrupted)
		record_note(b, "interrupted", "interrupted: this is what was measured until then");
	if (s->limits.cached)
		record_note(b, "memory-in-cache",
			    "the device's memory was walked over in arrays of %.3g MiB, less than "
			    "twice its last cache: the rates may be the cache's",
			    s->limits.array_bytes / 1048576);
	if (s->d->info.software)
		record_others_advise(&s->others, b, "device",
				     "the limits may be higher; measure again without them",
				     "so that the limits may be higher; measure again");
}

static dck_status device_record_write(const device_survey *s, dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin(s->asked->title);

	DCK_NEED(b, err, "for a record");
	record_set_began(b, s->began_unix_ns);
	record_set_incomplete(b, s->limits.interrupted);
	record_fact_text(b, "subject", "kind", "device");
	record_fact_text(b, "subject", "name",
			 *s->d->info.name ? s->d->info.name : s->d->driver->name);
	facts_device(b, s->d);
	record_host(b, &s->host);
	record_fact_options(b, "plan", dck_machine_options, s->asked);
	for (size_t k = 0; k < DEVICE_LIMITS; k++)
		limit_write(b, s, k);
	device_answer_write(b, s);
	device_method_write(b, s);
	device_notes_write(b, s);
	return record_finish(b, ret, err);
}

dck_status device_record_measure(const dck_machine_config *c, device *d, const dck_clock *clock,
				 const dck_observer *watch, dck_record **ret, dck_err *err)
{
	device_survey *s = mem_zalloc(1, sizeof *s);
	dck_status status = DCK_E_NOMEM;

	DCK_NEED(s, err, "for the measurement");
	s->asked = c;
	s->d = d;
	s->clock = clock;
	s->scratch = mem_zalloc(stat_scratch(DEVICE_ROUNDS_MAX), sizeof *s->scratch);
	if (!s->scratch) {
		ERR_NO_MEMORY(err, "for the measurement");
		goto done;
	}
	os_host_get(&s->host);
	s->began_unix_ns = os_unix_ns();
	record_others_begin(&s->others, 0);
	status = device_limits_measure(d, clock, c->quick, watch, &s->limits, err);
	record_others_end(&s->others);
	DCK_NEXT(status, device_record_write(s, ret, err));
done:
	mem_free(s->scratch);
	mem_free(s);
	return status;
}

dck_status device_record_make(const dck_machine_config *c, const dck_observer *watch,
			      dck_record **ret, dck_err *err)
{
	dck_status status;
	dck_clock clock;
	device *d = NULL;

	if (c->threads > 0 || c->cached_only || c->keep)
		DCK_FAIL(
		    err, E_ARG,
		    "--threads, --cached-only and --keep are for the processor's limits: a device is measured each time");
	DCK_TRY(device_open(c->device, &d, err));
	if (strcmp(d->driver->name, "null") == 0) {
		status = ERR_SET(err, E_ARG,
				 "the device null is simulated, for tests: it has no limits");
	} else {
		os_clock_monotonic(&clock);
		status = device_record_measure(c, d, &clock, watch, ret, err);
	}
	device_close(d);
	return status;
}
