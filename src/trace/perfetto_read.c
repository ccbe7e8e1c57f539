/* perfetto_read.c - reads the track events of a trace of Perfetto.
 *
 * A packet's fields may come in any order, so that they are collected first (packet) and then
 * applied in the order in which they matter: what the sequence forgets, clocks, defaults, names,
 * tracks, and last the event.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/perfetto_read.h"
#include "base/err.h"
#include "trace/arrange.h"
#include "trace/perfetto.h"
#include "trace/perfetto_clock.h"

#include <math.h>
#include <string.h>

const wire_kind wire_perfetto = {"trace", "a trace", "a trace of Perfetto"};

/* What a hostile file may make us keep. */
enum {
	NAMES_MAX = 1 << 22,
	INTERNED_MAX = 1 << 22, /* numbers of names, of all sequences */
	TRACKS_MAX = 1 << 18,
	LANES_MAX = 1 << 16, /* further ones are not kept: they are known by their events */
	SEQUENCES_MAX = 1 << 16
};
#define NAME_BYTES_MAX ((size_t)256 << 20)

typedef enum track_kind { UNTOLD, PROCESS, THREAD, COUNTER, LANE } track_kind;

typedef struct track {
	uint64_t uuid, parent;
	track_kind kind;
	int32_t pid, tid;
	uint32_t name; /* 0: none */
	dck_unit unit;
	bool incremental, changed; /* changed: what the format knows of it is old, or nothing */
	int64_t multiplier;
	double value; /* of an incremental counter */
} track;

typedef struct sequence {
	uint32_t clock;		      /* by default; 0: the trace's */
	uint64_t track;		      /* by default */
	kept_map names, number_names; /* by iid */
	perfetto_clocks clocks;
} sequence;

typedef struct reading {
	const trace_format *format;
	trace_out *out; /* NULL: not opened yet */
	dck_sink *sink;
	dck_err *err;
	dck_status status; /* of each() */
	trace_read_facts *facts;
	arranger *events;
	perfetto_clocks clocks; /* of the trace */
	bool has_snapshot;
	trace_about about;				  /* at the first snapshot */
	kept_map sequence_rows, track_rows, process_rows; /* by id, uuid, pid */
	kept_table sequences, tracks;
	uint32_t nsequences, ntracks, nlanes, told_names;
	uint64_t ninterned;
	kept_names names;
	uint64_t base_ns;
} reading;

/* --- bytes */

static const char *field_name(const void *reader, uint32_t number)
{
	return ((const wire_reader *)reader)->depth == 0 && number == PF_TRACE_PACKET ? "packet"
										      : NULL;
}

/* The next field of a message. false: there is none, or x->status says what failed. */
static bool each(reading *x, wire_reader *r, wire_field *f)
{
	bool more = true;

	x->status = wire_next(r, field_name, r, f, &more, x->err);
	return x->status == DCK_OK && more;
}

static dck_status enter(const wire_reader *r, const wire_field *f, const char *what,
			wire_reader *ret, reading *x)
{
	return wire_enter(r, f, what, ret, x->err);
}

static double real_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* --- names */

/* The number of the name that field f holds. */
static dck_status name_of(const wire_reader *r, const wire_field *f, uint32_t *ret, reading *x)
{
	char text[KEPT_NAME_MAX];
	size_t n = f->value < sizeof text ? (size_t)f->value : sizeof text;

	if (f->type != WIRE_BYTES)
		return wire_fail(r, x->err, "a name that is no text");
	DCK_TRY(wire_source_copy(r->source, f->data, n, text, x->err));
	*ret = kept_name_numbered(&x->names, text, n);
	if (!*ret)
		return ERR_NO_MEMORY(x->err, "for the names of %s", r->source->label);
	if (x->names.n > NAMES_MAX)
		DCK_FAIL(x->err, E_LIMIT, "%s has more than %d names", r->source->label,
			 (int)NAMES_MAX);
	return DCK_OK;
}

/* A name and its number in the sequence. */
static dck_status read_interned_name(wire_reader r, kept_map *to, reading *x)
{
	uint64_t iid = 0;
	uint32_t name = 0;
	wire_field f;

	while (each(x, &r, &f)) {
		if (f.number == PF_NAME_IID)
			iid = f.value;
		else if (f.number == PF_NAME_TEXT)
			DCK_TRY(name_of(&r, &f, &name, x));
	}
	DCK_TRY(x->status);
	if (name && x->ninterned++ >= INTERNED_MAX)
		DCK_FAIL(x->err, E_LIMIT, "%s keeps more than %d names at a time", r.source->label,
			 (int)INTERNED_MAX);
	if (name && !kept_map_put(to, iid, name))
		return ERR_NO_MEMORY(x->err, "for the names of %s", r.source->label);
	return DCK_OK;
}

static dck_status read_interned(wire_reader r, sequence *q, reading *x)
{
	wire_field f;
	wire_reader one;

	while (each(x, &r, &f)) {
		if (f.number != PF_INTERNED_EVENT_NAMES && f.number != PF_INTERNED_NUMBER_NAMES)
			continue;
		DCK_TRY(enter(&r, &f, "a name", &one, x));
		DCK_TRY(read_interned_name(
		    one, f.number == PF_INTERNED_EVENT_NAMES ? &q->names : &q->number_names, x));
	}
	return x->status;
}

/* --- tracks */

/* The row of a key in one of the maps, made when there is none. */
static dck_status row_of(kept_map *rows, kept_table *table, uint64_t key, uint32_t *n, uint32_t max,
			 uint32_t *ret, reading *x)
{
	*ret = kept_map_find(rows, key);
	if (*ret)
		return DCK_OK;
	if (*n == max)
		DCK_FAIL(x->err, E_LIMIT, "the trace has more than %u tracks or writers",
			 (unsigned)max);
	if (!kept_row(table, *n + 1) || !kept_map_put(rows, key, *n + 1))
		return ERR_NO_MEMORY(x->err, "for the tracks of a trace");
	*ret = ++*n;
	return DCK_OK;
}

static dck_status track_of(uint64_t uuid, uint32_t *ret, reading *x)
{
	DCK_TRY(row_of(&x->track_rows, &x->tracks, uuid, &x->ntracks, TRACKS_MAX, ret, x));
	((track *)kept_find(&x->tracks, *ret))->uuid = uuid;
	return DCK_OK;
}

static track *track_at(const reading *x, uint32_t row)
{
	return kept_find(&x->tracks, row);
}

/* The process of a pid: described, or made by the first thread that has it. */
static dck_status process_of(int32_t pid, uint32_t *ret, reading *x)
{
	*ret = kept_map_find(&x->process_rows, (uint32_t)pid);
	if (*ret)
		return DCK_OK;
	/* A row that no event can name. */
	if (x->ntracks == TRACKS_MAX)
		DCK_FAIL(x->err, E_LIMIT, "the trace has more than %d tracks", (int)TRACKS_MAX);
	track *t = kept_row(&x->tracks, x->ntracks + 1);
	if (!t || !kept_map_put(&x->process_rows, (uint32_t)pid, x->ntracks + 1))
		return ERR_NO_MEMORY(x->err, "for the tracks of a trace");
	*t = (track){.kind = PROCESS, .pid = pid, .changed = true};
	*ret = ++x->ntracks;
	return DCK_OK;
}

static dck_status read_process(wire_reader r, track *t, reading *x)
{
	wire_field f;

	t->kind = PROCESS;
	while (each(x, &r, &f)) {
		if (f.number == PF_PROCESS_PID)
			t->pid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_PROCESS_NAME)
			DCK_TRY(name_of(&r, &f, &t->name, x));
	}
	return x->status;
}

static dck_status read_thread(wire_reader r, track *t, reading *x)
{
	wire_field f;

	t->kind = THREAD;
	while (each(x, &r, &f)) {
		if (f.number == PF_THREAD_PID)
			t->pid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_THREAD_TID)
			t->tid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_THREAD_NAME)
			DCK_TRY(name_of(&r, &f, &t->name, x));
	}
	return x->status;
}

/* A unit that has no name of ours is left out. */
static dck_unit unit_named(const char *text)
{
	for (int u = DCK_UNIT_NONE + 1; u < DCK_UNIT_COUNT; u++)
		if (strcmp(dck_unit_text((dck_unit)u), text) == 0)
			return (dck_unit)u;
	return DCK_UNIT_NONE;
}

static dck_status read_counter(wire_reader r, track *t, reading *x)
{
	static const dck_unit units[] = {[PF_UNIT_NS] = DCK_UNIT_NS,
					 [PF_UNIT_COUNT] = DCK_UNIT_ONE,
					 [PF_UNIT_BYTES] = DCK_UNIT_BYTE};
	wire_field f;
	uint32_t name;

	t->kind = COUNTER;
	t->unit = DCK_UNIT_NONE;
	t->multiplier = 1;
	while (each(x, &r, &f)) {
		if (f.number == PF_COUNTER_UNIT && f.value < sizeof units / sizeof *units)
			t->unit = units[f.value];
		else if (f.number == PF_COUNTER_MULTIPLIER)
			t->multiplier = (int64_t)f.value;
		else if (f.number == PF_COUNTER_INCREMENTAL)
			t->incremental = f.value != 0;
		else if (f.number == PF_COUNTER_UNIT_NAME) {
			DCK_TRY(name_of(&r, &f, &name, x));
			t->unit = unit_named(kept_name_of(&x->names, name).text);
		}
	}
	return x->status;
}

/* What a descriptor says is taken over at its end, as its uuid may come last. */
static dck_status read_track(wire_reader r, reading *x)
{
	track said = {.kind = LANE, .changed = true, .multiplier = 1};
	uint32_t name = 0, row;
	wire_field f;
	wire_reader inner;

	while (each(x, &r, &f)) {
		switch (f.number) {
		case PF_TRACK_UUID:
			said.uuid = f.value;
			break;
		case PF_TRACK_PARENT:
			said.parent = f.value;
			break;
		case PF_TRACK_NAME:
		case PF_TRACK_STATIC_NAME:
			DCK_TRY(name_of(&r, &f, &name, x));
			break;
		case PF_TRACK_PROCESS:
			DCK_TRY(enter(&r, &f, "a process", &inner, x));
			if (said.kind == LANE)
				DCK_TRY(read_process(inner, &said, x));
			break;
		case PF_TRACK_THREAD:
			DCK_TRY(enter(&r, &f, "a thread", &inner, x));
			DCK_TRY(read_thread(inner, &said, x));
			break;
		case PF_TRACK_COUNTER:
			DCK_TRY(enter(&r, &f, "a counter", &inner, x));
			DCK_TRY(read_counter(inner, &said, x));
			break;
		default:
			break;
		}
	}
	DCK_TRY(x->status);
	if (said.kind == LANE && !kept_map_find(&x->track_rows, said.uuid) &&
	    x->nlanes++ >= LANES_MAX)
		return DCK_OK;
	DCK_TRY(track_of(said.uuid, &row, x));
	track *t = track_at(x, row);
	said.name = said.name ? said.name : name ? name : t->name;
	said.value = t->value;
	*t = said;
	if (said.kind == PROCESS && !kept_map_find(&x->process_rows, (uint32_t)said.pid) &&
	    !kept_map_put(&x->process_rows, (uint32_t)said.pid, row))
		return ERR_NO_MEMORY(x->err, "for the tracks of a trace");
	return DCK_OK;
}

/* The thread or process that a track lies below; 0: none. */
static uint32_t carrier_of(const reading *x, uint64_t uuid)
{
	for (int steps = 0; steps < 32 && uuid; steps++) {
		uint32_t row = kept_map_find(&x->track_rows, uuid);
		const track *t = track_at(x, row);
		if (!row || t->kind == THREAD || t->kind == PROCESS)
			return row;
		uuid = t->parent;
	}
	return 0;
}

/* --- telling the format */

/* The base is the first snapshot, or the first event that is held where that is earlier. */
static dck_status open_format(reading *x)
{
	const uint64_t first = arrange_first_ns(x->events), boottime = x->about.boottime_ns;
	const uint64_t back = x->has_snapshot && first < boottime ? boottime - first : 0;

	x->about.boottime_ns -= back;
	x->about.monotonic_ns -= back < x->about.monotonic_ns ? back : x->about.monotonic_ns;
	x->about.unix_ns -= back < (uint64_t)x->about.unix_ns ? (int64_t)back : x->about.unix_ns;
	if (!x->has_snapshot && first != UINT64_MAX)
		x->about.boottime_ns = first;
	x->base_ns = x->about.boottime_ns;
	return x->format->open(&x->out, x->sink, &x->about, x->err);
}

static void tell_track(reading *x, uint32_t row)
{
	static const trace_track_kind kinds[] = {[UNTOLD] = TRACE_THREAD,
						 [PROCESS] = TRACE_PROCESS,
						 [THREAD] = TRACE_THREAD,
						 [COUNTER] = TRACE_COUNTER_TRACK,
						 [LANE] = TRACE_THREAD};
	track *t = track_at(x, row);
	uint32_t parent = 0;

	if (!t->changed)
		return;
	t->changed = false;
	if (t->kind != PROCESS) {
		parent = t->kind == COUNTER ? carrier_of(x, t->parent)
					    : kept_map_find(&x->process_rows, (uint32_t)t->pid);
		const track *p = track_at(x, parent);
		if (parent && p->kind != PROCESS) /* a thread's counter: its process has it */
			parent = kept_map_find(&x->process_rows, (uint32_t)p->pid);
		if (parent) {
			t->pid = track_at(x, parent)->pid;
			tell_track(x, parent);
		}
	}
	x->format->track(x->out, &(trace_track){.id = row,
						.parent = parent,
						.kind = kinds[t->kind],
						.pid = t->pid,
						.tid = t->tid,
						.name = kept_name_of(&x->names, t->name).text,
						.unit = t->unit});
}

static void tell_events(void *self, uint32_t row, const trace_event *e, size_t n)
{
	reading *x = self;

	tell_track(x, row);
	x->format->events(x->out, row, e, n);
}

static dck_status tell(reading *x)
{
	if (!x->out)
		DCK_TRY(open_format(x));
	for (; x->told_names < x->names.n; x->told_names++) {
		const kept_name name = kept_name_of(&x->names, x->told_names + 1);
		x->format->intern(x->out, x->told_names + 1,
				  &(trace_name){.text = name.text, .n = name.n});
	}
	arrange_give(x->events, x->base_ns, tell_events, x);
	return DCK_OK;
}

static dck_status put(reading *x, uint32_t row, const trace_event *e)
{
	const track *t = track_at(x, row);
	const uint32_t owner = t->kind == COUNTER ? carrier_of(x, t->parent) : row;
	uint32_t process;

	t = track_at(x, owner);
	if (owner && t->kind == THREAD)
		DCK_TRY(process_of(t->pid, &process, x));
	x->facts->events++;
	if (arrange_put(x->events, row, e))
		return DCK_OK;
	DCK_TRY(tell(x));
	arrange_put(x->events, row, e);
	return DCK_OK;
}

/* --- one event */

typedef struct event {
	uint64_t type, track, ns;
	bool has_track, has_value;
	uint32_t name;
	double value;
} event;

/* A number on a range; *ret_has: it is one. */
static dck_status read_number(wire_reader r, const sequence *q, trace_event *ret, bool *ret_has,
			      reading *x)
{
	wire_field f;

	*ret = (trace_event){.kind = TRACE_NUMBER};
	*ret_has = false;
	while (each(x, &r, &f)) {
		if (f.number == PF_NUMBER_NAME)
			DCK_TRY(name_of(&r, &f, &ret->name, x));
		else if (f.number == PF_NUMBER_NAME_IID)
			ret->name = kept_map_find(&q->number_names, f.value);
		else if (f.number == PF_NUMBER_UINT)
			ret->as.real = (double)f.value;
		else if (f.number == PF_NUMBER_INT)
			ret->as.real = (double)(int64_t)f.value;
		else if (f.number == PF_NUMBER_REAL)
			ret->as.real = real_of(f.value);
		if (f.number >= PF_NUMBER_UINT && f.number <= PF_NUMBER_REAL)
			*ret_has = true;
	}
	return x->status;
}

static dck_status put_numbers(wire_reader r, const sequence *q, uint32_t row, uint64_t ns,
			      reading *x)
{
	wire_field f;
	wire_reader inner;
	trace_event e;
	bool has;

	while (each(x, &r, &f)) {
		if (f.number != PF_EVENT_NUMBER)
			continue;
		DCK_TRY(enter(&r, &f, "a number of an event", &inner, x));
		DCK_TRY(read_number(inner, q, &e, &has, x));
		e.ns = ns;
		if (has)
			DCK_TRY(put(x, row, &e));
	}
	return x->status;
}

static dck_status put_counter(const event *e, uint32_t row, reading *x)
{
	track *t = track_at(x, row);
	double value = e->value * (double)(t->multiplier ? t->multiplier : 1);

	if (!e->has_value)
		return DCK_OK;
	if (t->kind == UNTOLD) {
		t->kind = COUNTER;
		t->changed = true;
	}
	if (t->kind != COUNTER)
		return DCK_OK;
	if (t->incremental)
		value = t->value += value;
	return put(x, row, &(trace_event){.ns = e->ns, .kind = TRACE_COUNTER, .as.real = value});
}

/* A range on a track of its own. */
static dck_status put_on_lane(const event *e, const sequence *q, uint64_t uuid, reading *x)
{
	const uint32_t row = kept_map_find(&x->track_rows, uuid);
	uint32_t carrier = carrier_of(x, q->track);
	trace_event one = {.ns = e->ns, .kind = TRACE_INSTANT, .name = e->name};

	carrier = carrier || !row ? carrier : carrier_of(x, track_at(x, row)->parent);
	if (!carrier)
		DCK_TRY(process_of(0, &carrier, x));
	if (e->type == PF_BEGIN || e->type == PF_END) {
		one.kind = e->type == PF_BEGIN ? TRACE_ASYNC_BEGIN : TRACE_ASYNC_END;
		one.as.id = uuid & ~PF_ASYNC_BIT;
	}
	if (e->type == PF_END)
		one.name = 0;
	return put(x, carrier, &one);
}

static dck_status put_event(wire_reader r, const event *e, const sequence *q, bool numbers,
			    reading *x)
{
	static const trace_kind kinds[] = {
	    [PF_BEGIN] = TRACE_BEGIN, [PF_END] = TRACE_END, [PF_INSTANT] = TRACE_INSTANT};
	const uint64_t uuid = e->has_track ? e->track : q->track;
	uint32_t row = kept_map_find(&x->track_rows, uuid);

	/* Without a description: a sequence's own track is a thread, another one is a lane. */
	if (e->type != PF_COUNTER && (row ? track_at(x, row)->kind == LANE : e->has_track && uuid))
		return put_on_lane(e, q, uuid, x);
	DCK_TRY(track_of(uuid, &row, x));
	if (e->type == PF_COUNTER)
		return put_counter(e, row, x);
	track *t = track_at(x, row);
	if (t->kind == COUNTER)
		return DCK_OK;
	if (t->kind == UNTOLD) {
		t->kind = uuid ? THREAD : PROCESS;
		t->changed = true;
	}
	if (e->type == PF_END && numbers)
		DCK_TRY(put_numbers(r, q, row, e->ns, x));
	DCK_TRY(put(x, row,
		    &(trace_event){.ns = e->ns,
				   .kind = kinds[e->type],
				   .name = e->type == PF_END ? 0 : e->name}));
	if (e->type == PF_BEGIN && numbers)
		DCK_TRY(put_numbers(r, q, row, e->ns, x));
	return DCK_OK;
}

static dck_status read_event(wire_reader r, const sequence *q, uint64_t ns, bool dated, reading *x)
{
	const wire_reader whole = r;
	event e = {.ns = ns};
	bool numbers = false;
	wire_field f;

	while (each(x, &r, &f)) {
		switch (f.number) {
		case PF_EVENT_TYPE:
			e.type = f.value;
			break;
		case PF_EVENT_TRACK:
			e.track = f.value;
			e.has_track = true;
			break;
		case PF_EVENT_NAME_IID:
			e.name = kept_map_find(&q->names, f.value);
			break;
		case PF_EVENT_NAME:
			DCK_TRY(name_of(&r, &f, &e.name, x));
			break;
		case PF_EVENT_COUNTER_INT:
		case PF_EVENT_COUNTER_REAL:
			e.value = f.number == PF_EVENT_COUNTER_INT ? (double)(int64_t)f.value
								   : real_of(f.value);
			e.has_value = true;
			break;
		case PF_EVENT_NUMBER:
			numbers = true;
			break;
		default:
			break;
		}
	}
	DCK_TRY(x->status);
	if (e.type < PF_BEGIN || e.type > PF_COUNTER) {
		x->facts->skipped++;
		return DCK_OK;
	}
	if (!dated) {
		x->facts->undated++;
		return DCK_OK;
	}
	return put_event(whole, &e, q, numbers, x);
}

/* --- packets */

typedef struct packet {
	uint64_t timestamp, sequence, flags, clock;
	bool has_timestamp, has_clock;
	bool has[PF_PACKET_TRACK + 1];
	wire_field field[PF_PACKET_TRACK + 1]; /* those that hold messages */
} packet;

static dck_status read_snapshot(wire_reader r, sequence *q, reading *x)
{
	perfetto_snapshot s;

	DCK_TRY(perfetto_snapshot_read(r, &s, x->err));
	if (!perfetto_snapshot_apply(&s, &x->clocks, &q->clocks))
		return ERR_NO_MEMORY(x->err, "for the clocks of a trace");
	if (!x->has_snapshot && s.has_reference) {
		x->has_snapshot = true;
		x->about.boottime_ns = s.reference;
		x->about.monotonic_ns = perfetto_snapshot_of(&s, PF_MONOTONIC);
		x->about.unix_ns = (int64_t)(perfetto_snapshot_of(&s, PF_REALTIME) & INT64_MAX);
	}
	return DCK_OK;
}

static dck_status read_defaults(wire_reader r, sequence *q, reading *x)
{
	wire_field f, g;
	wire_reader inner;

	q->clock = 0;
	q->track = 0;
	while (each(x, &r, &f)) {
		if (f.number == PF_DEFAULTS_CLOCK)
			q->clock = (uint32_t)f.value;
		if (f.number != PF_DEFAULTS_TRACK_EVENT)
			continue;
		DCK_TRY(enter(&r, &f, "the defaults of events", &inner, x));
		while (each(x, &inner, &g))
			if (g.number == PF_EVENT_TRACK)
				q->track = g.value;
		DCK_TRY(x->status);
	}
	return x->status;
}

static dck_status collect(wire_reader *r, packet *p, reading *x)
{
	wire_field f;

	while (each(x, r, &f)) {
		switch (f.number) {
		case PF_PACKET_TIMESTAMP:
			p->timestamp = f.value;
			p->has_timestamp = true;
			break;
		case PF_PACKET_SEQUENCE:
			p->sequence = f.value;
			break;
		case PF_PACKET_FLAGS:
			p->flags = f.value;
			break;
		case PF_PACKET_CLOCK:
			p->clock = f.value;
			p->has_clock = true;
			break;
		case PF_PACKET_CLOCK_SNAPSHOT:
		case PF_PACKET_TRACK_EVENT:
		case PF_PACKET_INTERNED:
		case PF_PACKET_DEFAULTS:
		case PF_PACKET_TRACK:
			p->has[f.number] = true;
			p->field[f.number] = f;
			break;
		default:
			break;
		}
	}
	return x->status;
}

static dck_status read_packet(wire_reader r, reading *x)
{
	const wire_reader whole = r;
	packet p = {0};
	uint32_t row;
	uint64_t ns = 0;
	wire_reader inner;

	DCK_TRY(collect(&r, &p, x));
	DCK_TRY(row_of(&x->sequence_rows, &x->sequences, p.sequence, &x->nsequences, SEQUENCES_MAX,
		       &row, x));
	sequence *q = kept_find(&x->sequences, row);
	if (p.flags & PF_FLAG_CLEARED) {
		x->ninterned -= q->names.n + q->number_names.n;
		kept_map_clear(&q->names);
		kept_map_clear(&q->number_names);
		q->clock = 0;
		q->track = 0;
	}
	if (p.has[PF_PACKET_CLOCK_SNAPSHOT]) {
		DCK_TRY(enter(&whole, &p.field[PF_PACKET_CLOCK_SNAPSHOT], "a clock snapshot",
			      &inner, x));
		DCK_TRY(read_snapshot(inner, q, x));
	}
	if (p.has[PF_PACKET_DEFAULTS]) {
		DCK_TRY(enter(&whole, &p.field[PF_PACKET_DEFAULTS], "the defaults of a sequence",
			      &inner, x));
		DCK_TRY(read_defaults(inner, q, x));
	}
	if (p.has[PF_PACKET_INTERNED]) {
		DCK_TRY(enter(&whole, &p.field[PF_PACKET_INTERNED], "interned names", &inner, x));
		DCK_TRY(read_interned(inner, q, x));
	}
	if (p.has[PF_PACKET_TRACK]) {
		DCK_TRY(
		    enter(&whole, &p.field[PF_PACKET_TRACK], "a track's description", &inner, x));
		DCK_TRY(read_track(inner, x));
	}
	/* A clock that counts from packet to packet moves with each, whatever the packet holds. */
	const uint64_t clock = p.has_clock ? p.clock : q->clock;
	const bool dated =
	    p.has_timestamp && perfetto_clock_ns(&x->clocks, &q->clocks, clock, p.timestamp, &ns);
	if (p.has[PF_PACKET_TRACK_EVENT]) {
		DCK_TRY(enter(&whole, &p.field[PF_PACKET_TRACK_EVENT], "an event", &inner, x));
		return read_event(inner, q, ns, dated, x);
	}
	x->facts->skipped += !p.has[PF_PACKET_CLOCK_SNAPSHOT] && !p.has[PF_PACKET_DEFAULTS] &&
			     !p.has[PF_PACKET_INTERNED] && !p.has[PF_PACKET_TRACK];
	return DCK_OK;
}

static dck_status read_packets(wire_source *s, reading *x)
{
	wire_reader r, inner;
	wire_field f;

	wire_reader_init(s, wire_perfetto.whole, &r);
	while (each(x, &r, &f)) {
		if (f.number != PF_TRACE_PACKET)
			return wire_fail(&r, x->err, "field %u at byte %llu is no packet",
					 (unsigned)f.number, (unsigned long long)f.at);
		DCK_TRY(enter(&r, &f, "a packet", &inner, x));
		DCK_TRY(read_packet(inner, x));
		x->facts->packets++;
		r.sure = true;
	}
	if (x->status == DCK_E_FORMAT && x->facts->packets > 0) { /* what is whole was read */
		memcpy(x->facts->cut, x->err->msg, sizeof x->facts->cut);
		return DCK_OK;
	}
	return x->status;
}

static void reading_done(reading *x)
{
	for (uint32_t i = 0; i < x->sequences.n; i++) {
		sequence *q = kept_find(&x->sequences, i);
		kept_map_done(&q->names);
		kept_map_done(&q->number_names);
		perfetto_clocks_done(&q->clocks);
	}
	perfetto_clocks_done(&x->clocks);
	kept_table_done(&x->sequences);
	kept_table_done(&x->tracks);
	kept_map_done(&x->sequence_rows);
	kept_map_done(&x->track_rows);
	kept_map_done(&x->process_rows);
	kept_names_done(&x->names);
	arrange_free(x->events);
}

dck_status perfetto_read(wire_source *s, const trace_format *f, dck_sink *sink,
			 trace_read_facts *ret, dck_err *err)
{
	dck_err own = {0};
	trace_read_facts facts = {0};
	reading x = {.format = f,
		     .sink = sink,
		     .err = &own,
		     .facts = &facts,
		     .sequences = {.row_bytes = sizeof(sequence)},
		     .tracks = {.row_bytes = sizeof(track)}};
	dck_status status = kept_names_init(&x.names, &own);

	if (status == DCK_OK) {
		mem_arena_limit(x.names.arena, NAME_BYTES_MAX);
		status = arrange_new(&x.events, &own);
	}
	if (status == DCK_OK)
		status = read_packets(s, &x);
	if (status == DCK_OK)
		status = tell(&x);
	facts.late = x.events ? arrange_late(x.events) : 0;
	if (status == DCK_OK && arrange_failed(x.events))
		status = ERR_NO_MEMORY(&own, "for the tracks of %s", s->label);
	if (x.out) {
		dck_status closed = f->close(x.out, status == DCK_OK ? &own : NULL);
		status = status == DCK_OK ? closed : status;
	}
	reading_done(&x);
	if (status == DCK_OK)
		*ret = facts;
	else if (err)
		*err = own;
	return status;
}
