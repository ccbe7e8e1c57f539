/* zone_record.c - makes the record of a recording: the method, what was recorded and what was lost
 * (each loss a fact and a note), the file, and the tables of zones and threads. The result is that
 * of the recorder in this process, or was read from the file that a recorder in another process
 * left (zone_result_read.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/result/zone_record.h"
#include "base/units.h"
#include "profiler/trace/result/zone_result.h"

#include "base/err.h"
#include "os/os.h"
#include "record/program_file.h"
#include "record/record_begin.h"
#include "profiler/timeline/zone_table.h"

#include <math.h>
#include <stdio.h>

/* A million call paths are 20 MB. */
#define RESULT_BYTES_MAX ((size_t)256 << 20)

static void count_put(record_builder *b, const char *key, uint64_t n)
{
	record_fact_int(b, "trace", key, DCK_UNIT_ONE, (int64_t)n);
}

static void zone_method_put(record_builder *b, const zone_method *m)
{
	record_fact_text(b, "method", "clock", m->clock);
	record_fact_real(b, "method", "clock_rate", DCK_UNIT_HERTZ, m->tick_hz);
	if (m->pair_ns > 0)
		record_fact_real(b, "method", "range_cost", DCK_UNIT_NS, m->pair_ns);
	else
		record_fact_absent(b, "method", "range_cost", "it could not be measured");
	if (isnan(m->drift_ratio))
		record_fact_absent(b, "method", "clock_drift", "recorded for less than a second");
	else
		record_fact_real(b, "method", "clock_drift", DCK_UNIT_ONE, m->drift_ratio);
	if (m->waits_absent)
		record_fact_absent(b, "method", "waits_from", m->waits_absent);
	else
		record_fact_int(b, "method", "waits_from", DCK_UNIT_NS, (int64_t)m->waits_ns);
	record_fact_int(b, "method", "recorder_cpu", DCK_UNIT_NS, (int64_t)m->recorder_cpu_ns);
	record_fact_int(b, "method", "thread_polls", DCK_UNIT_ONE, (int64_t)m->looks);
	record_fact_int(b, "method", "thread_polls_cpu", DCK_UNIT_NS, (int64_t)m->looks_cpu_ns);
	record_fact_text(b, "method", "mean_interval", "batch means of 20 to 39 batches");
}

static void zone_file_put(record_builder *b, const trace_file_said *said, const char *path)
{
	record_fact_text(b, "trace", "file", path);
	record_fact_text(b, "trace", "format", said->format);
	record_fact_int(b, "trace", "file_size", DCK_UNIT_BYTE, (int64_t)said->bytes);
	count_put(b, "events_left_out", said->events_left_out + said->events_older);
	if (said->events_older)
		record_note(b, "trace-cut",
			    "%llu %s in the table, but not in the file, which has the last "
			    "ones",
			    (unsigned long long)said->events_older,
			    COUNTED(said->events_older, "event is", "events are"));
	if (said->events_left_out)
		record_note(b, "trace-full",
			    "%llu %s in the table, but not in the file, which reached its "
			    "largest size",
			    (unsigned long long)said->events_left_out,
			    COUNTED(said->events_left_out, "event is", "events are"));
}

static void zone_capture_put(record_builder *b, const zone_method *m)
{
	char names[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < m->capture->n && n < sizeof names; i++)
		n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "",
				      m->capture->item[i]);
	record_fact_text(b, "trace", "capture_range", names);
	count_put(b, "captures", m->captures);
	record_fact_int(b, "trace", "captured", DCK_UNIT_NS, (int64_t)m->captured_ns);
	if (m->captures_left_out) {
		count_put(b, "captures_left_out", m->captures_left_out);
		record_note(b, "trace-dropped",
			    "'%.100s' was opened more often than could be followed: %llu %s "
			    "nothing was recorded",
			    names, (unsigned long long)m->captures_left_out,
			    COUNTED(m->captures_left_out, "time", "times"));
	}
	if (m->captures)
		return;
	record_note(b, "trace-not-captured",
		    "no range called '%.100s' was opened, so that nothing was "
		    "recorded%s%.100s%s",
		    names, m->capture_near ? "; there is one called '" : "",
		    m->capture_near ? m->capture_near : "", m->capture_near ? "'" : "");
}

static void device_report_put(record_builder *b, const device_report *d)
{
	if (d->absent) {
		record_fact_absent(b, "method", "cuda", d->absent);
		record_note(b, "cuda-not-recorded", "no kernel was recorded: %s", d->absent);
	}
	if (d->absent || !d->source)
		return;
	record_fact_text(b, "method", "cuda", d->source);
	count_put(b, "cuda_calls", d->calls);
	count_put(b, "cuda_ranges", d->ranges);
	count_put(b, "cuda_dropped", d->dropped);
	count_put(b, "cuda_unfinished", d->unfinished);
	count_put(b, "cuda_without_call", d->unjoined);
	record_fact_int(b, "trace", "cuda_memory_peak", DCK_UNIT_BYTE, (int64_t)d->memory_peak);
	if (d->dropped)
		record_note(b, "cuda-dropped", "CUPTI dropped %llu %s of what ran on the GPU",
			    (unsigned long long)d->dropped,
			    COUNTED(d->dropped, "record", "records"));
	if (d->ranges + d->unfinished + d->dropped < d->enqueued / 2)
		record_note(b, "cuda-not-recorded",
			    "%llu calls of CUDA enqueued work, and %llu ranges of devices were "
			    "recorded: another profiler in the program (torch.profiler) may have "
			    "taken the records",
			    (unsigned long long)d->enqueued, (unsigned long long)d->ranges);
}

dck_status zone_record(const zone_result *r, dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin(r->program);
	const zone_method *m = &r->method;
	const drain_counts *c = &r->counts;
	thread_table threads = r->table;
	const uint64_t dropped = m->dropped + c->lost;

	DCK_NEED(b, err, "for the record");
	record_set_began(b, m->began_unix_ns);
	zone_method_put(b, m);
	record_fact_int(b, "trace", "elapsed", DCK_UNIT_NS, (int64_t)m->took_ns);
	record_fact_int(b, "trace", "buffer", DCK_UNIT_BYTE, (int64_t)m->buffer_bytes);
	count_put(b, "threads", r->threads);
	if (r->threads_left_out)
		count_put(b, "threads_without_counters", r->threads_left_out);
	count_put(b, "events", c->events);
	count_put(b, "dropped_events", dropped);
	if (m->lossless) {
		count_put(b, "buffer_full_waits", m->waits);
		record_fact_int(b, "trace", "buffer_full_time", DCK_UNIT_NS, (int64_t)m->waited_ns);
	}
	count_put(b, "unmatched_ends", c->unmatched);
	count_put(b, "unfinished_ranges", c->unfinished);
	count_put(b, "moved_events", c->moved);
	if (m->dumps)
		count_put(b, "dumps", m->dumps);
	if (m->dumps_failed)
		count_put(b, "dumps_failed", m->dumps_failed);
	if (m->limited)
		count_put(b, "over_limit", m->over);
	if (m->dumps_left_out)
		count_put(b, "dumps_left_out", m->dumps_left_out);
	if (m->capture)
		zone_capture_put(b, m);
	if (m->signal)
		record_fact_text(b, "trace", "signal", m->signal);
	if (r->said.format)
		zone_file_put(b, &r->said, r->path);
	if (r->failed) {
		record_set_incomplete(b, true);
		record_note(b, "trace-not-whole", "%s", r->failed);
	}
	if (m->dropped)
		record_note(
		    b, "trace-dropped", "%llu %s not in the table", (unsigned long long)m->dropped,
		    COUNTED(m->dropped, "event did not fit and is", "events did not fit and are"));
	if (c->lost)
		record_note(
		    b, "trace-too-many-open",
		    "%llu %s not in the table, because more than %d ranges were open "
		    "on a thread, or %d of those that any thread may end, or memory was short",
		    (unsigned long long)c->lost, COUNTED(c->lost, "event is", "events are"),
		    ZONE_DEPTH_MAX, OPEN_RANGES_MAX);
	if (c->not_finite) {
		count_put(b, "values_left_out", c->not_finite);
		record_note(b, "trace-not-finite",
			    "%llu %s NaN or infinite, and not in the "
			    "file",
			    (unsigned long long)c->not_finite,
			    COUNTED(c->not_finite, "value of a counter or number is",
				    "values of counters or numbers are"));
	}
	program_address_space_put(b, m->address_space, m->address_space_limit);
	device_report_put(b, &r->device_report);
	dck_status st = zone_table_put(r->sums, r->device, r->name_of, r->names, b, err);
	threads.processes = &r->process;
	thread_table_put(&threads, b);
	if (m->capture && !m->captures)
		record_answer(b, "none of the requested ranges was opened");
	return record_finish_if(st, b, ret, err);
}

dck_status zone_record_read(const void *bytes, size_t n, dck_record **ret, dck_err *err)
{
	zone_result r = {0};

	DCK_TRY(zone_result_read(bytes, n, &r, err));
	const dck_status status = zone_record(&r, ret, err);
	zone_result_done(&r);
	return status;
}

dck_status zone_record_load(const char *path, dck_record **ret, dck_err *err)
{
	dck_buffer bytes = {0};

	DCK_TRY(os_read_file(path, RESULT_BYTES_MAX, &bytes, err));
	const dck_status status = zone_record_read(bytes.data, bytes.n, ret, err);
	dck_buffer_done(&bytes);
	return status == DCK_OK ? status : err_while(err, status, "reading '%s'", path);
}
