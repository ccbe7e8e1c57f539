/* trace.h - tracing: records the ranges of zone.h; reads, converts and merges traces.
 *
 *     dck_trace_config config = {.path = "out.pftrace"};
 *
 *     if (dck_trace_start(&config, &err) == DCK_OK) {
 *             ... work, with DCK_ZONE("step") ...
 *             dck_trace_stop(&record, &err);      // table "zones"
 *     }
 *
 * Events go into a buffer of fixed size, which a thread named "deepclock" drains. If the buffer is
 * full, events are dropped, a range as a whole, and counted; or the program waits
 * (config.lossless).
 *
 * libdeepclock_zones has dck_trace_start(), dck_trace_end(), dck_trace_dump(), dck_trace_flush()
 * and dck_trace_leave(), which need no record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_TRACE_H
#define DCK_TRACE_H

#include "opt.h"
#include "program.h"
#include "record.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the traces of child processes are merged or separate. */
enum { DCK_TRACE_MERGE, DCK_TRACE_APART };

/* Zeroed: the table of zones alone, no file. */
typedef struct dck_trace_config {
	const char *path;      /* the file; its extension selects the format. NULL: none */
	uint64_t buffer_bytes; /* buffer of unwritten events; 0: 64 MiB, at most 1 GiB */
	uint64_t max_size;     /* limit of the file in bytes; later events are lost; 0: none */
	uint64_t waits_ns;     /* shortest blocking call recorded; 0: 10 us */
	bool no_waits;	       /* do not record blocking calls */
	/* Write only about this many bytes, the newest, at the end; 0: all. Without a path it has
	 * no effect. */
	uint64_t last;
	/* A thread waits while the buffer is full, instead of dropping its event; not in signal
	 * handlers, nor after 10 s in which nothing was drained. The record has the waiting time.
	 * @since 0.1 */
	bool lossless;
	/* With last: a signal ("SIGUSR2", "12") on which the newest events are written into a
	 * separate file, "out.dump-1.pftrace" and so on, while recording continues. NULL: none */
	const char *dump_on;
	/* With last: "step=20ms" also writes such a file when a range of that name takes at least
	 * this time; at most 100 files. Borrowed until dck_trace_start() returns. */
	dck_list limits;
	/* Record only while a range with one of these names is open on any thread of the process:
	 * "step", "domain:step", "step@domain", "step@*" for any domain. Ranges that began before
	 * are omitted; ranges that are open at its end are closed there and marked as unfinished.
	 * capture_times: maximum number of captures; 0: no limit. Borrowed until dck_trace_start()
	 * returns. */
	dck_list capture_ranges;
	uint64_t capture_times;
	/* Percentiles of the durations of each name: "p50,p90,p99.9", at most 8 from p50 to p99.99,
	 * as columns of table "zones". Exact to 0.4 %; absent if calls are too few. NULL: none */
	const char *percentiles;
	/* For dck_trace_program_run(): the children's traces are merged into the file, or remain
	 * separate files: DCK_TRACE_APART. */
	int children;
	/* For dck_trace_program_run(): also samples stacks of the program's threads, sample_rate
	 * times per second of their CPU time; 0: 997. Perfetto's format has them on the timeline,
	 * and the record has the table "functions" and the tree "samples" of dck_sample().
	 * @since 0.1 */
	bool sample;
	uint64_t sample_rate;
	/* For dck_trace_program_run(): also records what programs with CUDA execute on NVIDIA's
	 * GPUs, by CUPTI: kernels and copies, and the calls that enqueued them. Zones have the
	 * device's time too.
	 * @since 0.1 */
	bool cuda;
} dck_trace_config;

/* Starts recording in all threads of this process. config NULL: into the file $DEEPCLOCK_TRACE, or
 * nothing if it is not set; if it is set, a program that is linked with the library records from
 * its start, and this call changes nothing. Takes about 30 ms to calibrate the clock. E_ARG:
 * recording is active already; E_IO: the file cannot be created. A child of fork() records into a
 * separate file, with its process id before the extension: "out.pftrace" becomes
 * "out.4711.pftrace". @since 0.1 */
DCK_API dck_status dck_trace_start(const dck_trace_config *config, dck_err *err) DCK_MUST_USE;

/* Stops recording and closes the file. Open ranges end now and are marked as unfinished. E_IO: the
 * file is incomplete. @since 0.1 */
DCK_API dck_status dck_trace_end(dck_err *err);

/* Stops recording as dck_trace_end() does. *ret is owned, dck_record_free(): table "zones" and
 * facts of the method; NULL if nothing was recording. After E_IO it is the record of what the file
 * lacks in part, or NULL. ret may be NULL. @since 0.1 */
DCK_API dck_status dck_trace_stop(dck_record **ret, dck_err *err);

/* Overwrites the file with the newest events (config.last) and continues recording, e.g. after a
 * slow request of a service. Not in signal handlers. E_ARG: no recording with `last` is active;
 * E_IO: the file is incomplete. @since 0.1 */
DCK_API dck_status dck_trace_dump(dck_err *err);

/* For callers that end the process without exit(): dck_trace_flush() writes all events into the
 * file, before exec(); dck_trace_leave() closes it as dck_trace_stop() does, before _exit(). They
 * may be called in signal handlers, and between vfork() and exec(), where they do nothing. Wait for
 * 2 s at most. Return false if nothing records, or not all was written in time. @since 0.1 */
DCK_API bool dck_trace_flush(void);
DCK_API bool dck_trace_leave(void);

/* Reads the ranges of a trace file, of this library or of another producer: Perfetto's format, or
 * Chrome's trace events in JSON, as torch.profiler and many others write them. The record has the
 * table "zones" and a tree of them. It is incomplete, with a note, if the file is truncated, e.g.
 * because the program was killed. *ret is owned, dck_record_free(). E_ABSENT, E_IO: no such file;
 * E_FORMAT: not a trace; E_LIMIT: too many events, names or tracks; E_NOMEM. @since 0.1 */
DCK_API dck_status dck_trace_read(const char *path, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* Options of dck_trace_read_with(). */
typedef struct dck_trace_reading {
	const char *percentiles; /* columns of table "zones", as in dck_trace_config; NULL: none */
	bool input_shapes;	 /* group operators of torch.profiler also by input shapes */
} dck_trace_reading;
DCK_API extern const dck_opt dck_trace_reading_options[];

/* Reads a trace as dck_trace_read() does, with options. E_ARG: no such percentile. @since 0.1 */
DCK_API dck_status dck_trace_read_with(const char *path, const dck_trace_reading *how,
				       dck_record **ret, dck_err *err) DCK_MUST_USE;

/* The formats of traces, in the order of help: X(name, extension, gzip, help). gzip: its readers
 * accept compressed files too. The formats of DCK_CALLS_FORMAT_MAP have sums by call path;
 * dck_calls_write() also writes the call trees of a record in them. */
#define DCK_TRACE_FORMAT_PERFETTO(X) \
	X(perfetto, ".pftrace", true, "Perfetto's own, for ui.perfetto.dev; all of the trace")
#define DCK_TRACE_FORMAT_CHROME(X) \
	X(chrome, ".json", true, "Chrome's trace events, for many viewers")
#define DCK_CALLS_FORMAT_MAP(X)                                                           \
	X(speedscope, ".speedscope.json", true, "for speedscope.app; sums by call path")  \
	X(folded, ".folded", false, "folded stacks, for flame graphs; sums by call path") \
	X(pprof, ".pb.gz", false, "for go tool pprof; sums by call path")                 \
	X(callgrind, ".callgrind", false,                                                 \
	  "for callgrind_annotate and KCachegrind; sums by call path")                    \
	X(pstats, ".pstats", false, "for Python's pstats and snakeviz; sums by function")
#define DCK_TRACE_FORMAT_ROWS(X) X(rows, ".csv", true, "a row for each range, instant and value")
#define DCK_TRACE_FORMAT_MAP(X)      \
	DCK_TRACE_FORMAT_PERFETTO(X) \
	DCK_TRACE_FORMAT_CHROME(X)   \
	DCK_CALLS_FORMAT_MAP(X)      \
	DCK_TRACE_FORMAT_ROWS(X)

/* Returns the name of the format of a file's extension, NULL for none, and whether it is compressed
 * (".json.gz"). @since 0.1 */
DCK_API const char *dck_trace_format_of(const char *path, bool *ret_gzip);

/* The losses of a conversion. */
typedef struct dck_trace_losses {
	uint64_t undated_events; /* without a time, or on a clock that the file does not define */
	char cut[512];		 /* "", or why the file could not be read to its end */
	uint64_t samples;	 /* of stacks, which the format does not hold */
} dck_trace_losses;

/* Converts a trace file that dck_trace_read() accepts into another format. gzip: compresses formats
 * whose readers accept it. ret may be NULL. Memory does not grow with the file, except for call
 * paths, and for JSON, whose events are unordered. E_ABSENT, E_IO: no such file; E_FORMAT: not a
 * trace; E_ARG: no such format. Errors of the sink come from dck_sink_finish(). @since 0.1 */
DCK_API dck_status dck_trace_convert(const char *path, const char *form, bool gzip, dck_sink *out,
				     dck_trace_losses *ret, dck_err *err) DCK_MUST_USE;

/* Merges the traces of n processes into one of the given format, on one clock: BOOTTIME if all come
 * from one boot of one machine, else the time of day. *ret is owned, dck_record_free(): the tables
 * "zones", of all, and "processes", with the clock error of each file; a note warns of errors from
 * 1 ms. ret may be NULL. Each file is read twice; memory does not grow with the files, except for
 * names and call paths. Nothing is written if the files are refused. E_UNSUP: a file has no clock
 * snapshot, or no clock in common with the first; E_ARG: a file or a process occurs twice; no such
 * format; else as dck_trace_read(). @since 0.1 */
DCK_API dck_status dck_trace_merge(const char *const *paths, size_t n, const char *form, bool gzip,
				   dck_sink *out, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* Starts a program that is linked with this library or annotated with NVTX, and records all of it
 * as $DEEPCLOCK_TRACE does; it inherits standard input and output. config: path must not be NULL.
 * *ret is owned, dck_record_free(): the record of dck_trace_stop(). E_ABSENT: no such program, or
 * it recorded nothing; E_ENGINE: it was killed before it recorded; E_CANCEL. @since 0.1 */
DCK_API dck_status dck_trace_program_run(const dck_trace_config *config, dck_program *p,
					 dck_record **ret, dck_err *err) DCK_MUST_USE;

/* The command-line options of dck_trace_config. */
DCK_API extern const dck_opt dck_trace_options[];

#ifdef __cplusplus
}
#endif
#endif
