/* chrome_reading.h - state of the reader of Chrome's trace events, and its steps, each in a
 * separate file: bytes and the list (chrome_read.c), an event (chrome_event.c), tracks
 * (chrome_tracks.c), output to the format (chrome_emit.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_CHROME_READING_H
#define IMPORT_CHROME_READING_H

#include "base/json/json_read.h"
#include "profiler/read/chrome/chrome_read.h"
#include "profiler/timeline/pending_ranges.h"

typedef enum chrome_kind {
	CHROME_BEGIN,
	CHROME_END,
	CHROME_COMPLETE,
	CHROME_INSTANT,
	CHROME_COUNTER,
	CHROME_ASYNC_BEGIN,
	CHROME_ASYNC_END,
	CHROME_FLOW_BEGIN,
	CHROME_FLOW_STEP,
	CHROME_FLOW_END,
	CHROME_FLOW_END_NEXT, /* at the range that starts next */
	CHROME_REMOVED	      /* an end that is part of a range with a duration, or of none */
} chrome_kind;

/* An event, stored until all are read. */
typedef struct chrome_row {
	int64_t ns;
	union {
		uint64_t duration_ns, id;
		uint64_t place; /* of a begin, end or instant: chrome_emit.c */
		double real;
	} as;
	uint32_t name, track; /* name: of an end a text; 0: none */
	uint32_t numbers;     /* index of the first; of a flow: the one that waits too, plus 1 */
	uint32_t order;	      /* in the file */
	uint32_t nnumbers;
	uint8_t kind;
	bool behind; /* sorts after other events of its time and track */
} chrome_row;

typedef struct chrome_number {
	uint32_t name;
	double real;
} chrome_number;

/* An open range with a duration. */
typedef struct chrome_open {
	uint64_t begin_ns, end_ns;
	bool annotation, unended; /* unended: its end is not in the file */
} chrome_open;

typedef struct chrome_track {
	trace_track_kind kind;
	int32_t pid, tid;
	uint32_t name;	 /* a text; 0: none */
	uint32_t parent; /* a track */
	bool complete;	 /* the track has ranges with a duration, or whose ends are not in order */
	bool emitted;
	/* Used during output. */
	uint32_t beside; /* next track for overlapping ranges; 0: none */
	uint32_t last;	 /* the track of the range that started last */
	uint32_t nopen;
	size_t cap;
	chrome_open *open; /* @owned: the outermost first */
	/* Rows, plus 1: the innermost open begin while pairs are found; the last flow to the next
	 * range; 0: none. */
	uint32_t begun, flow;
} chrome_track;

typedef struct chrome_reader {
	wire_source *source;
	const trace_format *format;
	trace_out *out; /* NULL: not opened yet */
	dck_sink *sink;
	dck_err *err;
	trace_read_facts *facts;
	const char *const *wanted; /* numbers; NULL: all */
	json_reader json;
	/* The file's clock: the wall clock time of its origin, and whether torch.profiler's family
	 * wrote the file. */
	int64_t base_unix_ns;
	bool has_schema;
	bool parts; /* fractions of microseconds occur */
	/* Strings by id; names of the format, by string and category. */
	string_table texts;
	hash_map name_rows, thread_rows, process_rows, counter_rows, depths;
	id_table names, tracks;
	uint32_t nnames, ntracks, last_thread;
	uint32_t unended; /* a name: the mark of ranges without an end; 0: there are none */
	char last_pid[64], last_tid[64]; /* of that thread, as in the file */
	chrome_row *rows;		 /* @owned */
	chrome_number *numbers;		 /* @owned */
	chrome_number *given;		 /* @owned; by the event that is read */
	uint32_t nrows, nnumbers;
	size_t rows_cap, numbers_cap, given_cap;
} chrome_reader;

/* --- chrome_tracks.c: these create a missing row. */

static inline chrome_track *chrome_track_at(const chrome_reader *x, uint32_t row)
{
	return id_table_find(&x->tracks, row);
}
/* Returns the id of a string. 0: x->err is the error. */
uint32_t chrome_text(chrome_reader *x, const char *text, size_t n);
/* Returns the format's id of a string with its category (0: none); 0: as above. */
uint32_t chrome_name(chrome_reader *x, uint32_t text, uint32_t category);
/* Returns the text of a name. */
uint32_t chrome_name_text(const chrome_reader *x, uint32_t name);
/* Returns whether a name is a user annotation of torch.profiler. */
bool chrome_is_annotation(const chrome_reader *x, uint32_t name);
uint32_t chrome_process(chrome_reader *x, const char *pid);
uint32_t chrome_thread(chrome_reader *x, const char *pid, const char *tid);
/* tid NULL: of the process. */
uint32_t chrome_counter(chrome_reader *x, const char *pid, const char *tid, uint32_t name);
/* Returns a second track for overlapping ranges. */
uint32_t chrome_beside(chrome_reader *x, uint32_t row);
void chrome_emit_names(chrome_reader *x);
void chrome_emit_track(chrome_reader *x, uint32_t row);

/* --- chrome_event.c: reads the members of an event, after its bracket. */
dck_status chrome_event_read(chrome_reader *x);

/* --- chrome_emit.c: emits all stored events. */
dck_status chrome_emit(chrome_reader *x);

#endif
