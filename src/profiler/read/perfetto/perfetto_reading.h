/* perfetto_reading.h - state of the Perfetto reader, and its steps, each in a separate file:
 * strings and names (perfetto_names.c, perfetto_interned.c), tracks (perfetto_tracks.c), output to
 * the format (perfetto_emit.c), events (perfetto_event.c), samples (perfetto_stacks.c).
 * perfetto_read.c reads the packets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_PERFETTO_READING_H
#define IMPORT_PERFETTO_READING_H

#include "profiler/read/reorder.h"
#include "profiler/timeline/perfetto.h"
#include "profiler/read/perfetto/perfetto_clock.h"
#include "profiler/read/perfetto/perfetto_read.h"
#include "record/tree/cct.h"

typedef enum perfetto_track_kind {
	PERFETTO_UNDESCRIBED,
	PERFETTO_PROCESS,
	PERFETTO_THREAD,
	PERFETTO_COUNTER,
	PERFETTO_TRACK,
	PERFETTO_DEVICE
} perfetto_track_kind;

typedef struct perfetto_end {
	uint64_t ns, key;
	bool async; /* of the range `key` that any track may end */
} perfetto_end;

typedef struct perfetto_track {
	uint64_t uuid, parent;
	perfetto_track_kind kind;
	int32_t pid, tid;
	uint32_t name; /* a text; 0: none */
	dck_unit unit;
	bool incremental, changed; /* changed: not yet emitted, or emitted with older data */
	int64_t multiplier;
	double value;	 /* current value of an incremental counter */
	uint32_t clears; /* of the sequence, at its last value */
	/* Pending ends of complete ranges, the latest first. */
	perfetto_end *ends; /* @owned */
	uint32_t nends;
	size_t ends_cap;
} perfetto_track;

/* The fields of InternedData that are read: all up to the call stacks, and all from the modules. */
enum { PERFETTO_INTERNED_GAP = PF_INTERNED_MODULES - PF_INTERNED_CALLSTACKS - 1 };
enum { PERFETTO_INTERNED = PF_INTERNED_MAPPINGS - PERFETTO_INTERNED_GAP + 1 };

typedef struct perfetto_sequence {
	bool valid;			      /* has all its state since the last clear */
	uint32_t clears;		      /* number of the last clear in the trace; 0: none */
	uint32_t clock;			      /* by default; 0: the trace's */
	uint64_t track;			      /* by default */
	uint32_t thread;		      /* row of its descriptor; 0: none */
	int64_t us;			      /* time of an old producer's last event */
	hash_map interned[PERFETTO_INTERNED]; /* perfetto_interned_of(); by iid */
	bool samples_timed;		      /* its samples count CPU time */
	uint32_t samples_rate;		      /* 0: unknown */
	id_table samples_count;		      /* uint64_t by CPU: its last sample's count */
	perfetto_clocks clocks;
} perfetto_sequence;

typedef struct perfetto_reader {
	const trace_format *format;
	trace_out *out; /* NULL: not opened yet */
	dck_sink *sink;
	dck_err *err;
	dck_status status; /* result of perfetto_each() */
	trace_read_facts *facts;
	reorder_buffer *events;
	perfetto_clocks clocks; /* clocks of the trace */
	bool has_snapshot;
	trace_header about; /* at the first snapshot */
	uint64_t base_ns;
	uint64_t budget; /* bytes left for decompression */
	unsigned packed; /* nesting depth of compressed packets */
	/* Sequences and tracks by id, uuid; processes by pid, threads by pid and tid. */
	hash_map sequence_rows, track_rows, process_rows, thread_rows, counter_rows;
	id_table sequences, tracks;
	uint32_t nsequences, ntracks, nlanes, nends, nclears;
	/* Strings by id; names of the format, by string and category; source locations. */
	string_table texts;
	id_table names, places;
	hash_map name_rows, place_rows;
	uint32_t nnames, nplaces, emitted_names;
	uint64_t ninterned;
	/* By the key of ranges that any track may end: how many are open, and the row that emits
	 * them, which is that of the first begin while one is open. */
	hash_map async_depths, async_rows;
	bool async_failed;
	hash_map flows;	       /* open ones of each id */
	cct stacks;	       /* of the samples */
	trace_sample *samples; /* @owned: held; their times are the trace's clock */
	uint32_t nsamples;
} perfetto_reader;

/* --- perfetto_names.c */

void perfetto_names_init(perfetto_reader *x);
/* Reads the next field of a message. false: none, or x->status is the error. */
bool perfetto_each(perfetto_reader *x, wire_reader *r, wire_field *f);
/* Returns the string id of field f. */
dck_status perfetto_text(const wire_reader *r, const wire_field *f, uint32_t *ret,
			 perfetto_reader *x);
/* Joins two strings with a comma; if one is 0, returns the other. */
dck_status perfetto_text_joined(uint32_t a, uint32_t b, uint32_t *ret, perfetto_reader *x);
/* Reads a source location, a file and a line. */
dck_status perfetto_place(wire_reader r, uint64_t *ret_iid, uint32_t *ret, perfetto_reader *x);
/* Returns the format's id of a string with its category; 0 for no string. Only the name's first
 * location is used. */
dck_status perfetto_name(uint32_t text, uint32_t category, uint32_t place, uint32_t *ret,
			 perfetto_reader *x);
/* Clears the state of a sequence; from then on it is valid. */
void perfetto_forget(perfetto_sequence *q, perfetto_reader *x);
/* Forgets the defaults of a sequence's packets alone. */
void perfetto_defaults_reset(perfetto_sequence *q);
void perfetto_emit_names(perfetto_reader *x);

/* --- perfetto_interned.c */

/* Returns the numbers of an InternedData field by iid: texts, source locations, and the entries of
 * call stacks (perfetto_stacks.c). */
static inline hash_map *perfetto_interned_of(perfetto_sequence *q, uint32_t field)
{
	return &q->interned[field > PF_INTERNED_CALLSTACKS ? field - PERFETTO_INTERNED_GAP : field];
}
dck_status perfetto_interned(wire_reader r, perfetto_sequence *q, perfetto_reader *x);

/* --- perfetto_tracks.c */

static inline perfetto_track *perfetto_track_at(const perfetto_reader *x, uint32_t row)
{
	return id_table_find(&x->tracks, row);
}
dck_status perfetto_sequence_of(uint64_t id, perfetto_sequence **ret, perfetto_reader *x);
/* These create a missing row. */
dck_status perfetto_track_of(uint64_t uuid, uint32_t *ret, perfetto_reader *x);
dck_status perfetto_process_of(int32_t pid, uint32_t *ret, perfetto_reader *x);
dck_status perfetto_thread_of(int32_t pid, int32_t tid, uint32_t *ret, perfetto_reader *x);
/* Returns a process's counter that has no track. */
dck_status perfetto_counter_of(uint32_t process, uint32_t text, uint32_t *ret, perfetto_reader *x);
dck_status perfetto_track_read(wire_reader r, perfetto_reader *x);
/* Reads the thread descriptor of a sequence, of producers before tracks. */
dck_status perfetto_thread_read(wire_reader r, perfetto_sequence *q, perfetto_reader *x);
/* Returns the thread or process above a track; 0: none. */
uint32_t perfetto_carrier_of(const perfetto_reader *x, uint64_t uuid);

/* --- perfetto_emit.c */

/* end_ns: as in reorder_push(). The id of an asynchronous event is its key, and its row
 * that of perfetto_async_row(). */
dck_status perfetto_put(perfetto_reader *x, uint32_t row, const trace_event *e, uint64_t end_ns);
/* Schedules the end of a range of this track. */
dck_status perfetto_put_end(perfetto_reader *x, uint32_t row, const perfetto_end *end);
/* Returns the row for one end of a range that any track may end, which was written on `row`. */
dck_status perfetto_async_row(perfetto_reader *x, uint32_t row, uint64_t key, bool ends,
			      uint32_t *ret);
dck_status perfetto_put_sample(perfetto_reader *x, const trace_sample *s);
/* Emits all pending events and samples. */
dck_status perfetto_emit(perfetto_reader *x);

/* --- perfetto_event.c */

dck_status perfetto_event_read(wire_reader r, perfetto_sequence *q, uint64_t ns, bool dated,
			       perfetto_reader *x);

/* --- perfetto_stacks.c: these read a row of InternedData: its iid, and its number, or 0. */

dck_status perfetto_mapping(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid, uint32_t *ret,
			    perfetto_reader *x);
dck_status perfetto_frame(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid, uint32_t *ret,
			  perfetto_reader *x);
dck_status perfetto_callstack(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid, uint32_t *ret,
			      perfetto_reader *x);
/* Reads what the samples of a sequence count. */
dck_status perfetto_sample_defaults(wire_reader r, perfetto_sequence *q, perfetto_reader *x);
dck_status perfetto_sample_read(wire_reader r, perfetto_sequence *q, uint64_t ns, bool dated,
				perfetto_reader *x);

#endif
