/* trace.h - recording the ranges of zone.h, and reading, converting and merging what was recorded.
 *
 *     dck_trace_config config = {.path = "out.pftrace"};
 *
 *     if (dck_trace_start(&config, &err) == DCK_OK) {
 *             ... work, with DCK_ZONE("step") ...
 *             dck_trace_stop(&record, &err);      // table "zones"
 *     }
 *
 * What is recorded goes into memory of a fixed size, from which a thread named "deepclock" takes
 * it: when it cannot follow, events are dropped, a range as a whole, and counted; or the program
 * waits (config.lossless).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_TRACE_H
#define DCK_TRACE_H

#include "opt.h"
#include "record.h"
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of the traces of child processes. */
enum { DCK_TRACE_MERGE, DCK_TRACE_APART };

/* Zeroed: the table of zones alone, no file. */
typedef struct dck_trace_config {
	const char *path;      /* the file; its ending chooses the form. NULL: none */
	uint64_t buffer_bytes; /* for what is not yet written; 0: 64 MiB, at most 1 GiB */
	uint64_t max_size;     /* of the file in bytes, no event is written beyond; 0: no limit */
	uint64_t waits_ns;     /* shortest blocking call recorded; 0: 10 us */
	bool no_waits;	       /* none is recorded */
	uint64_t last; /* only about so many bytes of the newest events, at the end; 0: all */
	/* A thread that finds the buffer full waits until there is room, instead of dropping its
	 * event; not in signal handlers, nor when for 10 s nothing was taken out of the buffer. How
	 * long is said in the record. @since 0.1 */
	bool lossless;
	/* With last: the signal at which the newest events are written into a file of their own,
	 * "out.dump-1.pftrace" and further, while recording goes on: "SIGUSR2", "12". NULL: none */
	const char *dump_on;
	/* With last too: "step=20ms": the same when a range of that name took so long; at most 100
	 * such files. Borrowed until it has begun. */
	dck_list limits;
	/* Only what happens while a range of one of these names is open, on whatever thread of the
	 * process: "step", "domain:step", "step@domain", "step@*" for any domain. Ranges that began
	 * before are omitted; those that reach over its end are closed there, and marked as
	 * unfinished. At most so many times; 0: each time. Borrowed until it has begun. */
	dck_list capture_ranges;
	uint64_t capture_times;
	/* Of how long the calls of each name took: "p50,p90,p99.9", at most 8 from p50 to p99.99,
	 * columns of table "zones". Within 0.4 %; absent where calls are too few. NULL: none */
	const char *percentiles;
	/* Of dck_trace_program_run(): the children's traces become part of the file, or stay as
	 * files of their own: DCK_TRACE_APART. */
	int children;
	/* Of dck_trace_program_run(): stacks of the program's threads too, sample_rate times in
	 * each second of their CPU time; 0: 997. They are on the timeline in Perfetto's form, and
	 * the record has the table "functions" and the tree "samples" of dck_sample(). @since 0.1
	 */
	bool sample;
	uint64_t sample_rate;
} dck_trace_config;

/* Records from now on, in all threads of this process. config NULL: into the file that
 * $DEEPCLOCK_TRACE names, or nothing when it names none; when the variable is set, a program that
 * is linked with the library records from its start, and this call changes nothing. Takes about 30
 * ms, to calibrate the clock. E_ARG: it records already; E_IO: the file cannot be made. A child
 * made by fork() records into a file of its own, with its process number before the ending:
 * "out.pftrace" becomes "out.4711.pftrace". @since 0.1 */
DCK_API dck_status dck_trace_start(const dck_trace_config *config, dck_err *err) DCK_MUST_USE;

/* Stops, and closes the file. Ranges that are still open end now and are marked as unfinished. *ret
 * is owned, dck_record_free(): table "zones", and how it was measured; NULL when nothing recorded.
 * ret NULL: not wanted. E_IO: the file is not whole. @since 0.1 */
DCK_API dck_status dck_trace_stop(dck_record **ret, dck_err *err);

/* Writes the newest events (config.last) into the file now, over what stood there, and goes on
 * recording: what a service does when a request was slow. Not in signal handlers. E_ARG: nothing
 * records, or not in this way; E_IO: the file is not whole. @since 0.1 */
DCK_API dck_status dck_trace_dump(dck_err *err);

/* For callers that end the process without exit(): what was recorded until now is in the file
 * afterwards, before exec(); all is closed as dck_trace_stop() does, before _exit(). They wait for
 * 2 s at most. Also in signal handlers, and between vfork() and exec(), where they do nothing.
 * false: nothing records, or it was not done in that time. @since 0.1 */
DCK_API bool dck_trace_flush(void);
DCK_API bool dck_trace_leave(void);

/* A trace in a file, of this library or of another producer, as far as its ranges go: of Perfetto,
 * or Chrome's trace events in JSON, as torch.profiler and many others write them. The record
 * has the table "zones" and a tree of them. It is incomplete, with a note, when the file ends in
 * the middle, as that of a program that was killed may. *ret is owned, dck_record_free(). E_ABSENT,
 * E_IO: no such file; E_FORMAT: no trace; E_LIMIT: more events, names or tracks than are read;
 * E_NOMEM. @since 0.1
 */
DCK_API dck_status dck_trace_read(const char *path, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* The same, with more in the table. */
typedef struct dck_trace_reading {
	const char *percentiles; /* columns of table "zones", as in dck_trace_config; NULL: none */
	bool input_shapes;	 /* operators of torch.profiler by the shapes of their inputs too */
} dck_trace_reading;
DCK_API extern const dck_opt dck_trace_reading_options[];

/* E_ARG: no such percentile. @since 0.1 */
DCK_API dck_status dck_trace_read_with(const char *path, const dck_trace_reading *how,
				       dck_record **ret, dck_err *err) DCK_MUST_USE;
/* What a trace may be written as: "perfetto", "chrome", "speedscope", "folded", "pprof",
 * "callgrind", "pstats", "csv"; the one that a file's ending stands for, NULL for none, and whether
 * it is compressed: ".json.gz". @since 0.1 */
DCK_API const char *dck_trace_form_of(const char *path, bool *ret_gzip);

/* What is missing from a trace. */
typedef struct dck_trace_gaps {
	uint64_t undated_events; /* without a time, or on a clock that the file does not explain */
	char cut[512];		 /* "", or why what stands behind some place could not be read */
} dck_trace_gaps;

/* A trace in a file, as dck_trace_read() takes it, in another form. gzip: compressed, where what
 * reads the form takes that. ret NULL: not wanted. Memory does not grow with the file, save for
 * call paths, and where it is JSON, whose events come in any order. E_ABSENT, E_IO: no such file;
 * E_FORMAT: it is none; E_ARG: no such form. Errors of the sink come from dck_sink_finish(). @since
 * 0.1 */
DCK_API dck_status dck_trace_convert(const char *path, const char *form, bool gzip, dck_sink *out,
				     dck_trace_gaps *ret, dck_err *err) DCK_MUST_USE;

/* Several of them, of n processes, as one of the given form, with one clock: by BOOTTIME where all
 * are of one boot of one machine, else by the time of day. *ret is owned, dck_record_free(): the
 * tables "zones", of all, and "processes", which says how well the times of each file are known; a
 * note warns where that is no better than 1 ms. ret NULL: not wanted. Each file is read twice;
 * memory does not grow with them, save for names and call paths. Nothing is written when they are
 * refused. E_UNSUP: a file has no snapshot of its clocks, or none in common with the first; E_ARG:
 * one of them, or one process, is there twice; no such form; else as dck_trace_read(). @since 0.1
 */
DCK_API dck_status dck_trace_merge(const char *const *paths, size_t n, const char *form, bool gzip,
				   dck_sink *out, dck_record **ret, dck_err *err) DCK_MUST_USE;

/* A program to be recorded: `deepclock trace`. */
typedef struct dck_trace_program {
	char *const *argv; /* argv[0] is searched in PATH; NULL-ended */
	/* Asked every 50 ms; true: the program gets SIGTERM. NULL: never. */
	bool (*cancelled)(void *self);
	void *self;
	/* Set: how it ended; exit_code -1: by the signal. cut: it came to no end of its own, and
	 * the record is what its file says. cut_why: what may have kept it from one, static text;
	 * NULL: the signal did, or it is not cut. */
	int exit_code, signal;
	bool cut;
	const char *cut_why;
} dck_trace_program;

/* Starts the program, which is linked with this library or is annotated with NVTX, and records all
 * of it as $DEEPCLOCK_TRACE does; its input and output are ours. config: path must not be NULL.
 * *ret is owned, dck_record_free(): what dck_trace_stop() would have given. E_ABSENT: there is no
 * such program, or it recorded nothing; E_ENGINE: it was killed before it recorded; E_CANCEL. p's
 * last members are set whenever it ran.
 * @since 0.1 */
DCK_API dck_status dck_trace_program_run(const dck_trace_config *config, dck_trace_program *p,
					 dck_record **ret, dck_err *err) DCK_MUST_USE;

/* The command-line options of dck_trace_config. */
DCK_API extern const dck_opt dck_trace_options[];

#ifdef __cplusplus
}
#endif
#endif
