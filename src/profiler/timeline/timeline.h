/* timeline.h - data model of a trace, and the interface of trace formats.
 *
 * A timeline has tracks (a process, a thread, a counter, a device) and names; both are numbered
 * from 1 on by the producer, and passed to the format before they are used; a track may be passed
 * again when its name becomes known. Events come in batches of one track, in the order of their
 * times within that track. A format writes its input immediately, so memory depends on names,
 * tracks and open ranges, not on the length of the run.
 *
 *     const trace_format *f = trace_format_find("perfetto");
 *
 *     f->open(&o, &sink, &about, err);
 *     f->intern(o, 1, &(trace_name){.text = "forward", .n = 7});
 *     f->track(o, &(trace_track){.id = 1, .kind = TRACE_THREAD, .pid = 7, .tid = 7});
 *     f->events(o, 1, events, n);
 *     f->close(o, err);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_TIMELINE_H
#define TIMELINE_TIMELINE_H

#include "deepclock/report.h"

#include <string.h>

typedef enum trace_kind {
	TRACE_BEGIN,   /* a range opens on this track; name */
	TRACE_END,     /* the innermost open range of this track closes */
	TRACE_INSTANT, /* name */
	TRACE_COUNTER, /* the new value of a counter's track: real */
	/* name and real, of the innermost open range; the time is ignored. After an instant it
	 * belongs to the instant, and is only passed to readers that request numbers by name. */
	TRACE_ANNOTATION,
	TRACE_ASYNC_BEGIN, /* name; id: a range that may end on another track. The id is below 2^63
			    * and, among the ranges open at one time, of this one alone */
	TRACE_ASYNC_END,   /* id */
	/* id: an arrow from the innermost range of this track at this time, to others and to a last
	 * one. Ignored without an open range. */
	TRACE_FLOW_BEGIN,
	TRACE_FLOW_STEP,
	TRACE_FLOW_END,
	TRACE_KINDS
} trace_kind;

typedef struct trace_event {
	uint64_t ns;   /* since the timeline's base, on its clock */
	uint32_t name; /* 0: none */
	uint32_t kind; /* trace_kind */
	union {
		double real;
		uint64_t id;
	} as;
} trace_event;

/* The name of ranges, instants, numbers and counters. Borrowed for the call. */
typedef struct trace_name {
	const char *text; /* any bytes: the formats replace invalid UTF-8 */
	size_t n;
	const char *category; /* NULL: none */
	const char *file;     /* source file of the name; NULL: unknown */
	uint32_t line;
} trace_name;

/* The name of ranges whose names are too many. */
#define TRACE_OTHER_NAMES "(other names)"

/* Ranges of waits (trace/waiting.h) have this name and category. */
#define WAITS_PREFIX   "wait: "
#define WAITS_CATEGORY "wait"
static inline bool trace_is_wait(const char *name)
{
	return !strncmp(name, WAITS_PREFIX, sizeof WAITS_PREFIX - 1);
}

/* Ranges of calls of CUDA's runtime and driver (cudaLaunchKernel, cuLaunchKernel). */
static inline bool trace_is_cuda_call(const char *name)
{
	if (name[0] != 'c' || name[1] != 'u')
		return false;
	name += strncmp(name, "cuda", 4) == 0 ? 4 : 2;
	return *name >= 'A' && *name <= 'Z';
}

/* Tracks of the work that a device executed, kernel by kernel as its driver reports it, have this
 * in their name. The ranges on a device's other tracks are zones around such work. */
static inline bool trace_is_stream(const char *name)
{
	return strstr(name, " stream ") != NULL;
}

/* The number with the bytes that a device's range moved. */
static inline bool trace_is_bytes(const char *name)
{
	return !strcmp(name, "bytes");
}

typedef enum trace_track_kind {
	TRACE_PROCESS,
	TRACE_THREAD,
	TRACE_COUNTER_TRACK,
	TRACE_DEVICE /* a queue of a device; its ranges belong to no thread, and come late */
} trace_track_kind;

typedef struct trace_track {
	uint32_t id; /* not 0 */
	uint32_t
	    parent; /* process of a thread or device, process or thread of a counter; 0: none */
	trace_track_kind kind;
	int32_t pid,
	    tid; /* tid of a counter: of the thread that is its parent; 0: of the process */
	const char *name; /* name of the process, thread, counter or queue; NULL: unknown. Borrowed
			     for the call */
	dck_unit unit;	  /* unit of a counter */
} trace_track;

/* What a trace lacks. */
typedef struct trace_losses {
	uint64_t dropped;  /* events that the recorder had no memory for */
	uint64_t left_out; /* events beyond the size of the file */
	uint64_t older;	   /* events before those of --last */
	uint64_t cut;	   /* processes whose recording has no end */
	bool first_cut;	   /* the first process is one of them: the recording has no end */
	char signal[16]; /* that ended the first process, or if it ended normally another one, which
			    counts in `cut`; "": none */
} trace_losses;

static inline bool trace_losses_any(const trace_losses *l)
{
	return l->dropped || l->left_out || l->older || l->cut || l->signal[0];
}

/* Whether the first process did not end normally. */
static inline bool trace_losses_first(const trace_losses *l)
{
	return l->first_cut || (l->signal[0] && !l->cut);
}

/* The header of a trace. */
typedef struct trace_header {
	int64_t unix_ns;       /* wall clock time at the base */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC at the same instant */
	uint64_t boottime_ns;  /* CLOCK_BOOTTIME at the same instant */
	const char *command;   /* NULL: unknown */
	/* Accuracy of the clocks, and the machine's boot; 0, "": unknown. */
	char boot[40];	   /* boot id: MONOTONIC and BOOTTIME are comparable if equal */
	uint64_t width_ns; /* maximum distance of a clock's reading from the instant */
	uint64_t
	    unix_error_ns;   /* maximum error of the wall clock, estimated by its synchronisation */
	trace_losses losses; /* until then */
} trace_header;

/* A sample of a thread's stack. */
typedef struct trace_sample {
	int64_t ns;	    /* since the timeline's base; negative: before it */
	uint64_t weight_ns; /* CPU time that it represents */
	int32_t pid, tid;
	uint32_t path; /* 0: unknown stack */
	uint32_t rate; /* nominal samples per second of CPU time; 0: unknown */
} trace_sample;

typedef struct trace_out trace_out; /* a format's own */
struct cct;			    /* record/tree/cct.h */

typedef struct trace_format {
	const char *name, *suffix, *help; /* and gunzips: a row of DCK_TRACE_FORMAT_MAP */
	bool
	    gunzips; /* its readers accept gzip-compressed files too, or only those: see `suffix` */
	const struct tree_format *tree; /* sums by call path, written also of a record; or NULL */
	/* The caller owns the sink, which outlives the trace_out. */
	dck_status (*open)(trace_out **ret, dck_sink *sink, const trace_header *about,
			   dck_err *err);
	void (*track)(trace_out *o, const trace_track *t);
	void (*intern)(trace_out *o, uint32_t id, const trace_name *name);
	void (*events)(trace_out *o, uint32_t track, const trace_event *e, size_t n);
	/* Samples in any order. paths: the same tree in each call, whose paths they refer to; it
	 * grows, and outlives the trace_out. NULL: not in the format; call it only if
	 * trace_format_has_samples(). */
	void (*samples)(trace_out *o, const struct cct *paths, const trace_sample *s, size_t n);
	/* Writes a clock snapshot at `ns` after the base, on the clock of the events, to correct
	 * its drift, and the losses until then. ns 0: the losses alone, with the clocks at the
	 * base. NULL: not in the format. */
	void (*clocks)(trace_out *o, uint64_t ns, const trace_header *then);
	/* Makes the output readable up to here, even if nothing follows. NULL: it always is. */
	void (*flush)(trace_out *o);
	/* Ends open ranges with their process, at its last event, and frees *o, also on failure
	 * (E_NOMEM). */
	dck_status (*close)(trace_out *o, dck_err *err);
} trace_format;

#endif
