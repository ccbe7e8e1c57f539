/* perfetto_event.c - reads one TrackEvent of a Perfetto trace: collects its fields, finds its
 * track, emits events of a timeline.
 *
 * Fields of protobuf come in any order, so a message is read twice: first for type, track, name and
 * time, then for numbers (debug annotations) and flow ids, which need these. An event has a type
 * or, of an old producer (LegacyEvent), the letter of a phase as in Chrome's JSON. row_of_event()
 * maps it to a row: events of threads and counters are emitted there; a track that belongs to no
 * thread is a lane, and its ranges become asynchronous ranges (event_lane_row()). A range with a
 * duration is a begin, and an end that perfetto_emit.c delays.
 *
 * Invariants: interned ids are looked up in the sequence's tables as of this packet
 * (perfetto_names.c). An unknown type counts as skipped, an event without a time as undated.
 * Bounds: OPEN_MAX flows at a time; further ones start again at each event. Source:
 * protos/perfetto/trace/track_event/track_event.proto of Perfetto.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/hash.h"
#include "profiler/read/perfetto/perfetto_reading.h"

#include <string.h>

enum { OPEN_MAX = 1 << 20 }; /* ids of flows that are followed at a time */

typedef enum what {
	NOTHING,
	BEGIN,
	END,
	INSTANT,
	COUNTER,
	COMPLETE,
	ASYNC_BEGIN,
	ASYNC_END,
	FLOW_BEGIN,
	FLOW_STEP,
	FLOW_END
} what;

typedef struct event {
	what what;
	uint64_t track, ns, duration_ns, id;
	uint64_t end_ns; /* of COMPLETE; else 0 */
	bool has_track, has_value, old, overrides;
	bool local;	     /* its id is of its process */
	bool numbers, flows; /* it has fields for them */
	uint32_t text, category, place, scope;
	uint32_t name; /* hash of text and category */
	int32_t pid, tid;
	double value;
} event;

static double event_real_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* --- what belongs to a range */

/* Reads a number of a range; *ret_has: it has a value. */
static dck_status event_read_number(wire_reader r, const perfetto_sequence *q, uint32_t *ret_text,
				    double *ret, bool *ret_has, perfetto_reader *x)
{
	wire_field f;

	*ret_text = 0;
	*ret = 0;
	*ret_has = false;
	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_NUMBER_NAME)
			DCK_TRY(perfetto_text(&r, &f, ret_text, x));
		else if (f.number == PF_NUMBER_NAME_IID)
			*ret_text = hash_map_find(&q->interned[PF_INTERNED_NUMBER_NAMES], f.value);
		else if (f.number == PF_NUMBER_BOOL)
			*ret = f.value != 0;
		else if (f.number == PF_NUMBER_UINT)
			*ret = (double)f.value;
		else if (f.number == PF_NUMBER_INT)
			*ret = (double)(int64_t)f.value;
		else if (f.number == PF_NUMBER_REAL)
			*ret = event_real_of(f.value);
		if (f.number >= PF_NUMBER_BOOL && f.number <= PF_NUMBER_REAL)
			*ret_has = true;
	}
	return x->status;
}

static dck_status event_put_numbers(wire_reader r, const perfetto_sequence *q, uint32_t row,
				    const event *e, perfetto_reader *x)
{
	wire_field f;
	wire_reader inner;
	bool has;

	while (e->numbers && perfetto_each(x, &r, &f)) {
		trace_event one = {.ns = e->ns, .kind = TRACE_ANNOTATION};
		uint32_t text;
		if (f.number != PF_EVENT_NUMBER)
			continue;
		DCK_TRY(wire_enter(&r, &f, "a number of an event", &inner, x->err));
		DCK_TRY(event_read_number(inner, q, &text, &one.as.real, &has, x));
		DCK_TRY(perfetto_name(text, 0, 0, &one.name, x));
		if (has)
			DCK_TRY(perfetto_put(x, row, &one, e->end_ns));
	}
	return x->status;
}

/* Whether our own writer wrote the end of a range that was open when its process ended. */
static dck_status event_is_unended(wire_reader r, const perfetto_sequence *q, const event *e,
				   bool *ret, perfetto_reader *x)
{
	wire_field f;
	wire_reader inner;
	double value;
	bool has;

	*ret = false;
	while (e->what == END && e->numbers && !*ret && perfetto_each(x, &r, &f)) {
		uint32_t text;
		if (f.number != PF_EVENT_NUMBER)
			continue;
		DCK_TRY(wire_enter(&r, &f, "a number of an event", &inner, x->err));
		DCK_TRY(event_read_number(inner, q, &text, &value, &has, x));
		const char *said = string_name_of(&x->texts, text).text;
		*ret = has && said && strcmp(said, PF_UNENDED) == 0;
	}
	return x->status;
}

static dck_status put_id(uint32_t row, const event *e, trace_kind kind, uint64_t id,
			 perfetto_reader *x)
{
	return perfetto_put(x, row, &(trace_event){.ns = e->ns, .kind = kind, .as.id = id},
			    e->end_ns);
}

/* A flow starts at the first event with its id, as far as the file is in order. */
static dck_status event_put_flow(uint32_t row, const event *e, uint64_t id, bool last,
				 perfetto_reader *x)
{
	const bool known = hash_map_find(&x->flows, id);

	if (last)
		hash_map_remove(&x->flows, id);
	else if (!known && x->flows.n < OPEN_MAX && !hash_map_put(&x->flows, id, 1))
		return ERR_NO_MEMORY(x->err, "for the flows of a trace");
	if (last && !known)
		return DCK_OK;
	return put_id(row, e,
		      last    ? TRACE_FLOW_END
		      : known ? TRACE_FLOW_STEP
			      : TRACE_FLOW_BEGIN,
		      id, x);
}

static dck_status put_flows(wire_reader r, uint32_t row, const event *e, perfetto_reader *x)
{
	wire_field f;

	while (e->flows && perfetto_each(x, &r, &f)) {
		const bool last =
		    f.number == PF_EVENT_FLOW_END || f.number == PF_EVENT_FLOW_END_OLD;
		if ((last || f.number == PF_EVENT_FLOW || f.number == PF_EVENT_FLOW_OLD) &&
		    f.type != WIRE_BYTES)
			DCK_TRY(event_put_flow(row, e, f.value, last, x));
	}
	return x->status;
}

/* --- ranges that any track may end */

static dck_status event_put_async(const event *e, uint64_t key, uint32_t row, perfetto_reader *x)
{
	const bool ends = e->what == END || e->what == ASYNC_END;
	trace_event one = {.ns = e->ns, .kind = TRACE_INSTANT, .name = e->name};

	if (e->what == INSTANT)
		return perfetto_put(x, row, &one, 0);
	one.kind = ends ? TRACE_ASYNC_END : TRACE_ASYNC_BEGIN;
	one.name = ends ? 0 : e->name;
	one.as.id = key;
	DCK_TRY(perfetto_async_row(x, row, key, ends, &row));
	DCK_TRY(perfetto_put(x, row, &one, e->end_ns));
	return e->what == COMPLETE
		   ? perfetto_put_end(x, row,
				      &(perfetto_end){.ns = e->end_ns, .key = key, .async = true})
		   : DCK_OK;
}

/* Finds the row for events on a lane: the thread that writes them, unless the lane is described
 * below another thread or process. row: of the lane; 0: not described. */
static dck_status event_lane_row(const perfetto_sequence *q, uint32_t row, uint32_t *ret,
				 perfetto_reader *x)
{
	const uint32_t above = row ? perfetto_carrier_of(x, perfetto_track_at(x, row)->parent) : 0;

	*ret = perfetto_carrier_of(x, q->track);
	*ret = *ret ? *ret : q->thread;
	if (above) {
		const perfetto_track *t = perfetto_track_at(x, above);
		if (!*ret || t->kind != PERFETTO_PROCESS ||
		    perfetto_track_at(x, *ret)->pid != t->pid)
			*ret = above;
	}
	return *ret ? DCK_OK : perfetto_process_of(0, ret, x);
}

/* Returns the key of an old producer's range on a row: its id within its category and scope. */
static uint64_t perfetto_event_key_of(const event *e, uint32_t row, const perfetto_reader *x)
{
	const uint64_t process = e->local ? (uint32_t)perfetto_track_at(x, row)->pid : 0;
	const uint64_t id = hash_number(hash_number(HASH_START, e->id), process);

	return hash_number(hash_number(id, e->category), e->scope);
}

/* --- counters */

static dck_status event_put_counter(const event *e, const perfetto_sequence *q, uint32_t row,
				    perfetto_reader *x)
{
	perfetto_track *t = perfetto_track_at(x, row);
	double value = e->value * (double)(t->multiplier ? t->multiplier : 1);

	if (!e->has_value)
		return DCK_OK;
	if (t->kind == PERFETTO_UNDESCRIBED) {
		t->kind = PERFETTO_COUNTER;
		t->changed = true;
	}
	if (t->kind != PERFETTO_COUNTER)
		return DCK_OK;
	if (t->incremental) {
		value += t->clears == q->clears ? t->value : 0;
		t->value = value;
		t->clears = q->clears;
	}
	return perfetto_put(
	    x, row, &(trace_event){.ns = e->ns, .kind = TRACE_COUNTER, .as.real = value}, 0);
}

/* Emits counters of an old producer: each number is one, named by the event's name and its own. */
static dck_status put_counters(wire_reader r, const event *e, const perfetto_sequence *q,
			       uint32_t row, perfetto_reader *x)
{
	const perfetto_track *t = perfetto_track_at(x, row);
	event one = *e;
	wire_field f;
	wire_reader inner;
	uint32_t process, text;

	DCK_TRY(perfetto_process_of(t->pid, &process, x));
	while (perfetto_each(x, &r, &f)) {
		if (f.number != PF_EVENT_NUMBER)
			continue;
		DCK_TRY(wire_enter(&r, &f, "a counter's value", &inner, x->err));
		DCK_TRY(event_read_number(inner, q, &text, &one.value, &one.has_value, x));
		if (!one.has_value)
			continue;
		const string_name said = string_name_of(&x->texts, text);
		if (said.text && strcmp(said.text, "value") == 0)
			text = 0;
		DCK_TRY(perfetto_text_joined(e->text, text, &text, x));
		DCK_TRY(perfetto_counter_of(process, text, &row, x));
		DCK_TRY(event_put_counter(&one, q, row, x));
	}
	return x->status;
}

/* --- one event */

/* Finds or makes the row of an event. *ret_lane: its track belongs to no thread, and *ret may be
 * 0. */
static dck_status row_of_event(const event *e, const perfetto_sequence *q, uint32_t *ret,
			       bool *ret_lane, perfetto_reader *x)
{
	const uint64_t uuid = e->has_track ? e->track : q->track;

	*ret_lane = false;
	if (e->overrides) {
		const perfetto_track *own = perfetto_track_at(x, q->thread);
		const int32_t pid = e->pid || !q->thread ? e->pid : own->pid;
		return perfetto_thread_of(pid, e->tid ? e->tid : pid, ret, x);
	}
	*ret = q->thread;
	if (!uuid && q->thread)
		return DCK_OK;
	*ret = hash_map_find(&x->track_rows, uuid);
	/* If a track has no description, a sequence's default track is a thread, any other track a
	 * lane. */
	*ret_lane = e->what != COUNTER && (*ret ? perfetto_track_at(x, *ret)->kind == PERFETTO_TRACK
						: e->has_track && uuid);
	if (*ret_lane)
		return DCK_OK;
	DCK_TRY(perfetto_track_of(uuid, ret, x));
	perfetto_track *t = perfetto_track_at(x, *ret);
	if (t->kind == PERFETTO_UNDESCRIBED && e->what != COUNTER) {
		t->kind = uuid ? PERFETTO_THREAD : PERFETTO_PROCESS;
		t->changed = true;
	}
	return DCK_OK;
}

static dck_status put_on_thread(wire_reader r, const event *e, const perfetto_sequence *q,
				uint32_t row, perfetto_reader *x)
{
	trace_event one = {.ns = e->ns, .kind = TRACE_BEGIN, .name = e->name};

	if (e->what == INSTANT) {
		one.kind = TRACE_INSTANT;
		DCK_TRY(perfetto_put(x, row, &one, 0));
		return put_flows(r, row, e, x);
	}
	if (e->what != END) /* BEGIN, COMPLETE */
		DCK_TRY(perfetto_put(x, row, &one, e->end_ns));
	DCK_TRY(event_put_numbers(r, q, row, e, x));
	DCK_TRY(put_flows(r, row, e, x));
	if (e->what == END)
		return perfetto_put(x, row, &(trace_event){.ns = e->ns, .kind = TRACE_END}, 0);
	return e->what == BEGIN ? DCK_OK
				: perfetto_put_end(x, row, &(perfetto_end){.ns = e->end_ns});
}

static dck_status put_event(wire_reader r, const event *e, const perfetto_sequence *q,
			    perfetto_reader *x)
{
	uint32_t row;
	bool lane, unended = false;

	DCK_TRY(row_of_event(e, q, &row, &lane, x));
	if (lane)
		DCK_TRY(event_lane_row(q, row, &row, x));
	switch (e->what) {
	case BEGIN:
	case END:
	case INSTANT:
	case COMPLETE:
		if (lane) /* the mark of one that did not end: it stays open */
			DCK_TRY(event_is_unended(r, q, e, &unended, x));
		if (unended)
			return DCK_OK;
		if (lane)
			return event_put_async(e, e->has_track ? e->track : q->track, row, x);
		if (perfetto_track_at(x, row)->kind == PERFETTO_COUNTER)
			return DCK_OK;
		return put_on_thread(r, e, q, row, x);
	case COUNTER:
		return e->old ? put_counters(r, e, q, row, x) : event_put_counter(e, q, row, x);
	case ASYNC_BEGIN:
	case ASYNC_END:
		return event_put_async(e, perfetto_event_key_of(e, row, x), row, x);
	case FLOW_BEGIN:
	case FLOW_STEP:
	case FLOW_END:
		/* Flows of deepclock's writer have no name: their ids stay unchanged. */
		return lane
			   ? DCK_OK
			   : put_id(row, e, (trace_kind)(TRACE_FLOW_BEGIN + (e->what - FLOW_BEGIN)),
				    e->text || e->category
					? hash_number(perfetto_event_key_of(e, row, x), e->text)
					: e->id,
				    x);
	case NOTHING:
		break;
	}
	return DCK_OK;
}

/* --- its fields */

static what of_type(uint64_t type)
{
	static const what types[] = {
	    [PF_BEGIN] = BEGIN, [PF_END] = END, [PF_INSTANT] = INSTANT, [PF_COUNTER] = COUNTER};

	return type < sizeof types / sizeof *types ? types[type] : NOTHING;
}

/* *ret_by_name: its id is scoped by its name, not by its category. */
static what of_phase(uint64_t phase, bool *ret_by_name)
{
	static const what phases[128] = {
	    ['B'] = BEGIN,     ['E'] = END,	  ['X'] = COMPLETE,    ['C'] = COUNTER,
	    ['i'] = INSTANT,   ['I'] = INSTANT,	  ['R'] = INSTANT,     ['n'] = INSTANT,
	    ['T'] = INSTANT,   ['p'] = INSTANT,	  ['b'] = ASYNC_BEGIN, ['S'] = ASYNC_BEGIN,
	    ['e'] = ASYNC_END, ['F'] = ASYNC_END, ['s'] = FLOW_BEGIN,  ['t'] = FLOW_STEP,
	    ['f'] = FLOW_END};

	*ret_by_name = phase == 'S' || phase == 'T' || phase == 'p' || phase == 'F';
	return phase < sizeof phases / sizeof *phases ? phases[phase] : NOTHING;
}

static dck_status read_legacy(wire_reader r, const perfetto_sequence *q, event *e,
			      uint64_t *ret_phase, perfetto_reader *x)
{
	wire_field f;

	while (perfetto_each(x, &r, &f)) {
		switch (f.number) {
		case PF_LEGACY_NAME_IID:
			e->text = hash_map_find(&q->interned[PF_INTERNED_EVENT_NAMES], f.value);
			break;
		case PF_LEGACY_PHASE:
			*ret_phase = f.value;
			break;
		case PF_LEGACY_DURATION_US:
			e->duration_ns = f.value < INT64_MAX / 4000 ? f.value * 1000 : 0;
			break;
		case PF_LEGACY_ID:
			e->id = f.value;
			break;
		case PF_LEGACY_LOCAL_ID:
		case PF_LEGACY_GLOBAL_ID:
			e->id = hash_number(hash_number(HASH_START, f.number), f.value);
			e->local = f.number == PF_LEGACY_LOCAL_ID;
			break;
		case PF_LEGACY_SCOPE:
			DCK_TRY(perfetto_text(&r, &f, &e->scope, x));
			break;
		case PF_LEGACY_PID:
			e->pid = (int32_t)(uint32_t)f.value;
			e->overrides = true;
			break;
		case PF_LEGACY_TID:
			e->tid = (int32_t)(uint32_t)f.value;
			e->overrides = true;
			break;
		default:
			break;
		}
	}
	return x->status;
}

typedef struct event_fields {
	uint64_t type, phase;
	int64_t us;
	bool has_us, has_delta;
} event_fields;

static dck_status event_read_field(const wire_reader *r, const wire_field *f,
				   const perfetto_sequence *q, event *e, event_fields *s,
				   perfetto_reader *x)
{
	wire_reader inner;
	uint64_t iid;
	uint32_t one;

	switch (f->number) {
	case PF_EVENT_TYPE:
		s->type = f->value;
		break;
	case PF_EVENT_TRACK:
		e->track = f->value;
		e->has_track = true;
		break;
	case PF_EVENT_NAME_IID:
		e->text = hash_map_find(&q->interned[PF_INTERNED_EVENT_NAMES], f->value);
		break;
	case PF_EVENT_NAME:
		return perfetto_text(r, f, &e->text, x);
	case PF_EVENT_CATEGORY_IID:
		one = hash_map_find(&q->interned[PF_INTERNED_CATEGORIES], f->value);
		return perfetto_text_joined(e->category, one, &e->category, x);
	case PF_EVENT_CATEGORY:
		DCK_TRY(perfetto_text(r, f, &one, x));
		return perfetto_text_joined(e->category, one, &e->category, x);
	case PF_EVENT_SOURCE_IID:
		e->place = hash_map_find(&q->interned[PF_INTERNED_SOURCES], f->value);
		break;
	case PF_EVENT_SOURCE:
		DCK_TRY(wire_enter(r, f, "a source location", &inner, x->err));
		return perfetto_place(inner, &iid, &e->place, x);
	case PF_EVENT_COUNTER_INT:
	case PF_EVENT_COUNTER_REAL:
		e->value = f->number == PF_EVENT_COUNTER_INT ? (double)(int64_t)f->value
							     : event_real_of(f->value);
		e->has_value = true;
		break;
	case PF_EVENT_NUMBER:
		e->numbers = true;
		break;
	case PF_EVENT_FLOW:
	case PF_EVENT_FLOW_OLD:
	case PF_EVENT_FLOW_END:
	case PF_EVENT_FLOW_END_OLD:
		e->flows = true;
		break;
	case PF_EVENT_LEGACY:
		DCK_TRY(wire_enter(r, f, "an event of an old producer", &inner, x->err));
		return read_legacy(inner, q, e, &s->phase, x);
	case PF_EVENT_US:
	case PF_EVENT_DELTA_US:
		s->us = (int64_t)f->value;
		s->has_us = true;
		s->has_delta = f->number == PF_EVENT_DELTA_US;
		break;
	default:
		break;
	}
	return DCK_OK;
}

/* Converts microseconds of CLOCK_MONOTONIC, or of the trace's clock if no snapshot relates the
 * two. */
static bool ns_of(const event_fields *s, perfetto_sequence *q, uint64_t *ret_ns, perfetto_reader *x)
{
	uint64_t us = (uint64_t)s->us;

	if (s->has_delta)
		q->us = (int64_t)(us += (uint64_t)q->us);
	return us <= INT64_MAX / 1000 &&
	       (perfetto_clock_ns(&x->clocks, &q->clocks, PF_MONOTONIC, us * 1000, ret_ns) ||
		perfetto_clock_ns(&x->clocks, &q->clocks, 0, us * 1000, ret_ns));
}

dck_status perfetto_event_read(wire_reader r, perfetto_sequence *q, uint64_t ns, bool dated,
			       perfetto_reader *x)
{
	const wire_reader whole = r;
	event e = {.ns = ns};
	event_fields s = {0};
	bool by_name = false;
	wire_field f;

	while (perfetto_each(x, &r, &f))
		DCK_TRY(event_read_field(&r, &f, q, &e, &s, x));
	DCK_TRY(x->status);
	e.old = !s.type && s.phase;
	e.what = e.old ? of_phase(s.phase, &by_name) : of_type(s.type);
	if (by_name)
		e.category = e.text;
	if (s.has_us)
		dated = ns_of(&s, q, &e.ns, x);
	e.end_ns = e.what == COMPLETE ? e.ns + e.duration_ns : 0;
	if (e.what == NOTHING) {
		x->facts->skipped++;
		return DCK_OK;
	}
	if (!dated) {
		x->facts->undated++;
		return DCK_OK;
	}
	DCK_TRY(perfetto_name(e.text, by_name ? 0 : e.category, e.place, &e.name, x));
	return put_event(whole, &e, q, x);
}
