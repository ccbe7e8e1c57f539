/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/result/zone_result_fields.h"

#include <stddef.h>

#define F(number, kind, type, member)                         \
	{                                                     \
		number, RESULT_##kind, offsetof(type, member) \
	}

const result_field result_fields[] = {
    F(1, TEXT, zone_result, method.clock),
    F(2, REAL, zone_result, method.tick_hz),
    F(3, REAL, zone_result, method.pair_ns),
    F(4, REAL, zone_result, method.drift_ratio),
    F(5, INT64, zone_result, method.took_ns),
    F(6, INT64, zone_result, method.began_unix_ns),
    F(7, INT64, zone_result, method.dropped),
    F(8, INT64, zone_result, method.buffer_bytes),
    F(9, FLAG, zone_result, method.lossless),
    F(10, INT64, zone_result, method.waits),
    F(11, INT64, zone_result, method.waited_ns),
    F(12, INT64, zone_result, method.waits_ns),
    F(13, TEXT, zone_result, method.waits_absent),
    F(14, INT64, zone_result, method.dumps),
    F(15, INT64, zone_result, method.dumps_failed),
    F(16, INT64, zone_result, method.dumps_left_out),
    F(17, FLAG, zone_result, method.limited),
    F(18, INT64, zone_result, method.over),
    F(19, INT64, zone_result, method.captures),
    F(20, INT64, zone_result, method.captured_ns),
    F(21, INT64, zone_result, method.captures_left_out),
    F(22, TEXT, zone_result, method.capture_near),
    F(23, TEXT, zone_result, method.signal),
    F(24, INT64, zone_result, method.looks),
    F(25, INT64, zone_result, method.looks_cpu_ns),
    F(26, INT64, zone_result, method.recorder_cpu_ns),
    F(27, INT64, zone_result, counts.events),
    F(28, INT64, zone_result, counts.unmatched),
    F(29, INT64, zone_result, counts.unfinished),
    F(30, INT64, zone_result, counts.moved),
    F(31, INT64, zone_result, counts.lost),
    F(32, INT64, zone_result, threads),
    F(33, INT64, zone_result, threads_left_out),
    F(34, TEXT, zone_result, said.format),
    F(35, INT64, zone_result, said.bytes),
    F(36, INT64, zone_result, said.events_left_out),
    F(37, TEXT, zone_result, path),
    F(38, TEXT, zone_result, failed),
    F(39, TEXT, zone_result, program),
    F(40, TEXT, zone_result, table.waits_absent),
    F(41, TEXT, zone_result, device_report.source),
    F(42, TEXT, zone_result, device_report.absent),
    F(43, INT64, zone_result, device_report.calls),
    F(44, INT64, zone_result, device_report.ranges),
    F(45, INT64, zone_result, device_report.dropped),
    F(46, INT64, zone_result, device_report.unfinished),
    F(47, INT64, zone_result, device_report.unjoined),
    F(48, INT64, zone_result, device_report.enqueued),
    F(49, INT64, zone_result, device_report.memory_peak),
    F(50, INT64, zone_result, method.address_space),
    F(51, INT64, zone_result, method.address_space_limit),
    F(52, INT64, zone_result, said.events_older),
    F(53, INT64, zone_result, counts.not_finite),
    {0},
};

const result_field result_sums_fields[] = {
    F(107, INT64, zone_aggregate, paths.lost),
    F(108, FLAG, zone_aggregate, paths.failed),
    F(110, INT64, zone_aggregate, device_ns),
    F(111, INT64, zone_aggregate, device_outside_ns),
    {0},
};

const result_field result_zone_fields[] = {
    F(1, TEXT, result_zone, name),
    F(2, INT32, result_zone, id),
    F(3, INT64, result_zone, stats.calls),
    F(4, INT64, result_zone, stats.unfinished),
    F(5, INT64, result_zone, stats.total_ns),
    F(6, INT64, result_zone, stats.self_ns),
    F(7, INT64, result_zone, stats.sum_ns),
    F(8, INT64, result_zone, stats.min_ns),
    F(9, INT64, result_zone, stats.max_ns),
    F(10, FLAG, result_zone, stats.self_unknown),
    F(11, FLAG, result_zone, stats.wait),
    F(12, INT64, result_zone, stats.batch_calls),
    F(13, INT64, result_zone, stats.device_ns),
    F(14, REAL, result_zone, stats.bytes),
    F(15, INT64, result_zone, stats.device_zone_ns),
    {0},
};

const result_field result_histogram_fields[] = {
    F(1, INT32, zone_histogram, first),
    F(2, FLAG, zone_histogram, failed),
    {0},
};

const result_field result_path_fields[] = {
    F(1, INT32, path_node, parent),
    F(2, INT32, path_node, name),
    F(3, INT64, path_node, calls),
    F(4, INT64, path_node, total_ns),
    {0},
};

/* Counters of a thread, or of a process. */
#define USES(of)                                                                             \
	F(10, INT64, of, uses.n[OS_USE_CPU]), F(11, INT64, of, uses.n[OS_THREAD_RUN_DELAY]), \
	    F(12, INT64, of, uses.n[OS_USE_MINOR]), F(13, INT64, of, uses.n[OS_USE_MAJOR]),  \
	    F(14, INT64, of, uses.n[OS_USE_VOLUNTARY]),                                      \
	    F(15, INT64, of, uses.n[OS_USE_INVOLUNTARY])

const result_field result_thread_fields[] = {
    F(1, TEXT, thread_row, name),
    F(2, INT32, thread_row, tid),
    F(3, INT64, thread_row, began_ns),
    F(4, INT64, thread_row, ended_ns),
    F(5, INT32, thread_row, uses.known),
    F(6, INT64, thread_row, zones),
    F(7, INT64, thread_row, waited_ns),
    USES(thread_row),
    {0},
};

const result_field result_process_fields[] = {
    F(1, INT32, thread_process, pid),
    F(2, INT32, thread_process, uses.known),
    F(3, INT64, thread_process, threads),
    F(4, INT64, thread_process, zones),
    USES(thread_process),
    {0},
};
