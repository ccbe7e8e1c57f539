/* trace_samples.c - `trace --sample`: converts stack samples of the recorded program to the clock
 * of its timeline, and appends them to its Perfetto trace.
 *
 * Samples have CLOCK_MONOTONIC_RAW, the timeline has CLOCK_BOOTTIME. Both are read before the start
 * and after the end of the program. Each time the samples' clock is read between two readings of
 * the other, CLOCK_TRIES times, and the closest pair is used (Cristian, "Probabilistic clock
 * synchronization", 1989). A line through both points converts times; the measured drift of the
 * zones' clock is multiplied in.
 *
 * A Perfetto trace is a sequence of packets, and a gzip file a sequence of members (RFC 1952, 2.2),
 * so samples are appended to the finished file. Other formats, and a file that may end inside a
 * packet, take none: the record has the reason.
 *
 * Both libraries, of waits and of samples, need LD_PRELOAD: trace_samples_environment() joins the
 * two variables. The samples' facts, tables and notes are copied into the record of the trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/trace_samples.h"
#include "deepclock/trace.h"

#include "base/err.h"
#include "base/sink.h"
#include "os/counters/perf_sampling.h"
#include "os/file/gzip.h"
#include "profiler/sample/sample_beside.h"
#include "profiler/write/formats.h"
#include "profiler/write/perfetto_samples.h"
#include "record/copy.h"

#include <stdio.h>
#include <string.h>

enum { CLOCK_TRIES = 8, RATE = 997 };

/* Readings of the samples' clock and of the timeline's, at one time. */
typedef struct both_clocks {
	uint64_t sample_ns, boottime_ns;
} both_clocks;

struct trace_samples {
	sample_beside *beside;
	uint64_t rate;
	both_clocks begin, end;
	dck_record *record;
};

static both_clocks both_read(void)
{
	both_clocks best = {0};
	uint64_t apart = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		const uint64_t before = os_boottime_ns(), sample = os_perf_now_ns(),
			       after = os_boottime_ns();

		if (after - before >= apart)
			continue;
		apart = after - before;
		best = (both_clocks){sample, before + apart / 2};
	}
	return best;
}

dck_status trace_samples_begin(const dck_trace_config *c, char *const *argv, const char *directory,
			       trace_samples **ret, dck_err *err)
{
	char log[OS_TEMP_SIZE + 16];
	trace_samples *s = mem_zalloc(1, sizeof *s);

	DCK_NEED(s, err, "for the samples of a trace");
	snprintf(log, sizeof log, "%s/samples", directory);
	s->rate = c->sample_rate ? c->sample_rate : RATE;
	dck_status st = sample_beside_open(s->rate, argv, log, &s->beside, err);
	s->begin = both_read();
	DCK_NEXT(st, sample_beside_start(s->beside, err));
	if (st == DCK_OK)
		*ret = s;
	else
		trace_samples_free(s);
	return st;
}

void trace_samples_environment(trace_samples *s, mem_arena *a, const char **set, size_t max,
			       size_t *n)
{
	static const char variable[] = "LD_PRELOAD=";
	const size_t k = sizeof variable - 1, at = *n;

	sample_beside_environment(s->beside, a, set, max, n);
	if (at == 0 || *n == at || strncmp(set[0], variable, k) != 0)
		return;
	/* Both end with the environment's own entries, and the first entry of each is
	 * deepclock's. */
	const size_t first = strcspn(set[0], ":");
	set[0] = mem_arena_fmt(a, "%.*s:%s", (int)first, set[0], set[at] + k);
	set[at] = set[--*n];
}

dck_status trace_samples_end(trace_samples *s, const os_child_usage *used, dck_err *err)
{
	s->end = both_read();
	return sample_beside_end(s->beside, used, &s->record, err);
}

/* --- into the file */

/* Returns the drift of the events' clock from CLOCK_BOOTTIME, to which it was set at the start. A
 * trace that was merged from several processes has been corrected. */
static double zones_drift(const dck_record *of)
{
	const dck_fact *f = dck_record_fact(of, "method", "clock_drift");

	return f && f->value.kind == DCK_VALUE_REAL && !dck_record_table(of, "processes")
		   ? f->value.as.r
		   : 0;
}

static void moments_put(trace_samples *s, double drift, perfetto_samples *to, int64_t *ret_n)
{
	const double sample = (double)(s->end.sample_ns - s->begin.sample_ns),
		     boottime = (double)(s->end.boottime_ns - s->begin.boottime_ns),
		     rate = sample > 0 ? boottime / sample * (1 + drift) : 1;

	for (sample_moment m; sample_beside_next(s->beside, &m);) {
		const double since = (double)(int64_t)(m.at_ns - s->begin.sample_ns) * rate;

		perfetto_samples_put(to, sample_beside_paths(s->beside),
				     &(trace_sample){.ns = (int64_t)since,
						     .weight_ns = m.weight_ns,
						     .pid = m.pid,
						     .tid = m.tid,
						     .path = m.path,
						     .rate = (uint32_t)s->rate});
		++*ret_n;
	}
}

static dck_status samples_write(trace_samples *s, double drift, dck_sink *out, int64_t *ret_n,
				dck_err *err)
{
	perfetto_samples *to;

	DCK_TRY(perfetto_samples_open(out, s->begin.boottime_ns, &to, err));
	moments_put(s, drift, to, ret_n);
	return perfetto_samples_close(to, err);
}

/* Appends to the file, which is a sequence of packets, or of gzip members. After a failure it is
 * truncated to its old size. */
static dck_status samples_append(trace_samples *s, double drift, const char *path, int64_t *ret_n,
				 dck_err *err)
{
	gzip_sink *packed = NULL;
	dck_sink file;
	uint64_t before = 0;
	int fd;

	DCK_TRY(os_open_append(path, &fd, err));
	os_fd_kind(fd, &before);
	dck_sink_fd(&file, fd);
	dck_status st = trace_suffix_of(path).gzip ? gzip_sink_open(&packed, &file, err) : DCK_OK;
	DCK_NEXT(st, samples_write(s, drift, packed ? gzip_sink_in(packed) : &file, ret_n, err));
	if (packed) {
		const dck_status closed = gzip_sink_close(packed, st == DCK_OK ? err : NULL);
		st = st == DCK_OK ? closed : st;
	}
	const dck_status finished = dck_sink_finish(&file, st == DCK_OK ? err : NULL);
	st = st == DCK_OK ? finished : st;
	if (st != DCK_OK)
		(void)!os_truncate(fd, path, before, NULL);
	os_close(fd);
	return st;
}

static void file_samples_put(trace_samples *s, const dck_record *of, const char *path,
			     const char *absent, record_builder *b)
{
	const trace_format *format = trace_suffix_of(path).format;
	uint64_t bytes = 0;
	int64_t n = 0;
	dck_err err;

	if (!absent && format && format != &trace_perfetto)
		absent = "samples are appended to files of Perfetto's format only: record a "
			 ".pftrace, which report converts with its samples";
	if (!absent && os_path_kind(path, &bytes) != OS_FILE)
		absent = "there is no file";
	if (absent) {
		record_fact_absent(b, "sample", "in_file", absent);
		return;
	}
	if (samples_append(s, zones_drift(of), path, &n, &err) != DCK_OK) {
		record_fact_absent(b, "sample", "in_file", err.msg);
		record_set_incomplete(b, true);
		record_note(b, "trace-not-whole", "the samples are not in the file: %s", err.msg);
		return;
	}
	record_fact_int(b, "sample", "in_file", DCK_UNIT_ONE, n);
	os_path_kind(path, &bytes);
	record_fact_int(b, "trace", "file_size", DCK_UNIT_BYTE, (int64_t)bytes);
}

/* --- into the record */

static const char *answer_of(const dck_record *r)
{
	const dck_fact *f = dck_record_fact(r, "result", "answer");

	return f && f->value.kind == DCK_VALUE_TEXT ? f->value.as.text : NULL;
}

/* The record of the trace has the CPU time of other processes. */
static bool is_of_samples(const dck_fact *f)
{
	return strcmp(f->section, "cost") == 0 ||
	       (strcmp(f->section, "sample") == 0 && strcmp(f->key, "others_cpu") != 0);
}

dck_status trace_samples_put(trace_samples *s, const dck_record *of, const char *path,
			     const char *absent, record_builder *b, dck_err *err)
{
	const dck_record *r = s->record;

	DCK_NEED(r, err, "for the samples of a trace");
	for (size_t i = 0; i < r->nfacts; i++)
		if (is_of_samples(&r->facts[i]))
			record_copy_fact(b, &r->facts[i]);
	record_copy_tables(b, r);
	for (size_t i = 0; i < r->nnotes; i++)
		if (!dck_record_note(of, r->notes[i].code))
			record_note_copy(b, &r->notes[i]);
	const char *zones = answer_of(of), *samples = answer_of(r);
	const dck_fact *rate = dck_record_fact(r, "sample", "rate"); /* absent: no samples */
	if (samples && rate && rate->value.kind == DCK_VALUE_REAL)
		record_answer(b, "%s%ssampled at %.0f Hz: %s", zones ? zones : "",
			      zones ? "; " : "", rate->value.as.r, samples);
	file_samples_put(s, of, path, absent, b);
	return DCK_OK;
}

void trace_samples_free(trace_samples *s)
{
	if (!s)
		return;
	sample_beside_close(s->beside);
	dck_record_free(s->record);
	mem_free(s);
}
