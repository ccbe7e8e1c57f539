/* perfetto_write.c - writes a timeline as a Perfetto trace.
 *
 * Each track is a separate packet sequence, like a thread in Perfetto's own library: its packets
 * have delta times, take their track from the sequence's defaults, and refer to a range's name by
 * an interned id of the sequence. A plain event takes 11 to 14 bytes. It is written directly into
 * the sink's buffer; rare events go through one growing message.
 *
 * The times of a sequence cannot decrease. An event whose time does (in a file of another producer)
 * has its time on the trace's clock, so that nothing is lost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/perfetto.h"
#include "base/err.h"
#include "base/sink.h"
#include "base/wire.h"
#include "profiler/timeline/pending_ranges.h"
#include "profiler/write/formats.h"
#include "profiler/write/perfetto_samples.h"

#include <math.h>
#include <string.h>

enum { SEQUENCE_COMMON = 1 }; /* descriptors, and what belongs to no track */

/* The encoded form of a name. Its category and source location are interned together with it and
 * have its id. The reference in an event is encoded once. */
typedef struct name_form {
	const char *category, *file; /* NULL: none */
	uint32_t line;
	uint8_t n; /* bytes of refer; 0: not written yet */
	uint8_t refer[24];
} name_form;

typedef struct packet_track {
	uint64_t uuid; /* 0: not described yet */
	uint64_t process_uuid;
	uint32_t sequence; /* 0: not started */
	uint32_t carrier;  /* a thread's counter is written in its sequence; 0: in a separate one */
	bool counter;
	uint64_t last_ns, depth;
	/* A bit for each name that the sequence has defined. */
	uint64_t *known; /* @owned */
	size_t nknown;	 /* words */
	pending_annotations numbers;
} packet_track;

typedef struct perfetto_writer {
	dck_sink *sink;
	uint64_t boottime_ns;
	string_table names;
	id_table known; /* rows are name_form */
	id_table tracks;
	process_ends ends;
	async_ranges async;
	uint32_t nsequences;
	perfetto_samples *samples; /* NULL: none yet */
	bool failed;
	wire_out message; /* the packet that is being made */
} perfetto_writer;

static perfetto_writer *perfetto_writer_of(trace_out *out)
{
	return (perfetto_writer *)out;
}

/* --- numbers as bytes */

static uint8_t *perfetto_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* One-byte tag of a varint or bytes field. */
#define TAG(field, type) ((uint8_t)((field) << 3 | (type)))

/* --- packets that are rare */

static size_t packet_begin(perfetto_writer *o, uint32_t sequence)
{
	o->message.n = 0;
	size_t mark = wire_begin(&o->message, PF_TRACE_PACKET);
	wire_put_int(&o->message, PF_PACKET_SEQUENCE, sequence);
	return mark;
}

static void packet_end(perfetto_writer *o, size_t mark)
{
	wire_end(&o->message, mark);
	if (!o->message.failed)
		sink_put(o->sink, o->message.data, o->message.n);
}

static void put_uint(perfetto_writer *o, uint32_t field, uint64_t v)
{
	wire_put_int(&o->message, field, (int64_t)v);
}

static void perfetto_put_name(perfetto_writer *o, uint32_t field, const char *text)
{
	char shown[STRING_NAME_MAX];

	if (text)
		wire_put_bytes(&o->message, field, shown,
			       utf8_sanitize_copy(shown, text, strlen(text)));
}

static void put_clock(perfetto_writer *o, uint32_t id, uint64_t time, bool incremental)
{
	size_t clock = wire_begin(&o->message, PF_SNAPSHOT_CLOCK);

	put_uint(o, PF_CLOCK_ID, id);
	put_uint(o, PF_CLOCK_TIME, time);
	if (incremental)
		put_uint(o, PF_CLOCK_INCREMENTAL, 1);
	wire_end(&o->message, clock);
}

static void put_losses(perfetto_writer *o, const trace_losses *l)
{
	if (l->dropped)
		put_uint(o, PF_SNAPSHOT_DROPPED, l->dropped);
	if (l->left_out)
		put_uint(o, PF_SNAPSHOT_LEFT_OUT, l->left_out);
	if (l->older)
		put_uint(o, PF_SNAPSHOT_OLDER, l->older);
	if (l->cut)
		put_uint(o, PF_SNAPSHOT_CUT, l->cut);
	if (l->first_cut)
		put_uint(o, PF_SNAPSHOT_FIRST_CUT, 1);
	if (l->signal[0])
		wire_put_text(&o->message, PF_SNAPSHOT_SIGNAL, l->signal);
}

/* Writes a clock snapshot; own_ns: the events' clock, 0 at the base. */
static void put_snapshot(perfetto_writer *o, const trace_header *about, uint64_t own_ns)
{
	size_t packet = packet_begin(o, SEQUENCE_COMMON);
	size_t snapshot = wire_begin(&o->message, PF_PACKET_CLOCK_SNAPSHOT);

	if (about->unix_ns > 0)
		put_clock(o, PF_REALTIME, (uint64_t)about->unix_ns, false);
	put_clock(o, PF_MONOTONIC, about->monotonic_ns, false);
	put_clock(o, PF_BOOTTIME, about->boottime_ns, false);
	put_uint(o, PF_SNAPSHOT_PRIMARY, PF_BOOTTIME);
	if (about->boot[0])
		wire_put_text(&o->message, PF_SNAPSHOT_BOOT, about->boot);
	if (about->width_ns)
		put_uint(o, PF_SNAPSHOT_WIDTH, about->width_ns);
	if (own_ns)
		put_uint(o, PF_SNAPSHOT_OWN, own_ns);
	if (about->unix_error_ns)
		put_uint(o, PF_SNAPSHOT_UNIX_ERROR, about->unix_error_ns);
	put_losses(o, &about->losses);
	wire_end(&o->message, snapshot);
	packet_end(o, packet);
}

/* The first packet of a track: its clock, which counts from packet to packet, and its defaults. */
static void begin_sequence(perfetto_writer *o, packet_track *t)
{
	t->sequence = ++o->nsequences;
	size_t packet = packet_begin(o, t->sequence);
	put_uint(o, PF_PACKET_FLAGS, PF_FLAG_CLEARED);
	size_t snapshot = wire_begin(&o->message, PF_PACKET_CLOCK_SNAPSHOT);
	put_clock(o, PF_OWN_FIRST, 0, true);
	put_clock(o, PF_BOOTTIME, o->boottime_ns, false);
	wire_end(&o->message, snapshot);
	size_t defaults = wire_begin(&o->message, PF_PACKET_DEFAULTS);
	put_uint(o, PF_DEFAULTS_CLOCK, PF_OWN_FIRST);
	size_t event = wire_begin(&o->message, PF_DEFAULTS_TRACK_EVENT);
	put_uint(o, PF_EVENT_TRACK, t->uuid);
	wire_end(&o->message, event);
	wire_end(&o->message, defaults);
	packet_end(o, packet);
}

static bool perfetto_is_known(const packet_track *t, uint32_t name)
{
	return name >> 6 < t->nknown && t->known[name >> 6] >> (name & 63) & 1;
}

static void put_interned(perfetto_writer *o, uint32_t field, uint32_t iid, const char *text,
			 size_t n, uint32_t line)
{
	size_t one = wire_begin(&o->message, field);

	put_uint(o, PF_NAME_IID, iid);
	wire_put_bytes(&o->message, PF_NAME_TEXT, text, n);
	if (line)
		put_uint(o, PF_SOURCE_LINE, line);
	wire_end(&o->message, one);
}

/* Explains the number of a name to a sequence. */
static void explain(perfetto_writer *o, packet_track *t, uint32_t id)
{
	const string_name text = string_name_of(&o->names, id);
	const name_form *about = id_table_find(&o->known, id);

	if (!mem_reserve_zeroed(&t->known, &t->nknown, (id >> 6) + (size_t)1, sizeof *t->known)) {
		o->failed = true;
		return;
	}
	t->known[id >> 6] |= UINT64_C(1) << (id & 63);
	size_t packet = packet_begin(o, t->sequence);
	size_t interned = wire_begin(&o->message, PF_PACKET_INTERNED);
	put_interned(o, PF_INTERNED_EVENT_NAMES, id, text.text, text.n, 0);
	if (about->category)
		put_interned(o, PF_INTERNED_CATEGORIES, id, about->category,
			     strlen(about->category), 0);
	if (about->file)
		put_interned(o, PF_INTERNED_SOURCES, id, about->file, strlen(about->file),
			     about->line);
	wire_end(&o->message, interned);
	packet_end(o, packet);
}

static void explain_once(perfetto_writer *o, packet_track *t, uint32_t id)
{
	if (!perfetto_is_known(t, id) && string_name_of(&o->names, id).text &&
	    id_table_find(&o->known, id))
		explain(o, t, id);
}

/* --- events that are not plain */

static void put_system_time(perfetto_writer *o, uint64_t ns)
{
	put_uint(o, PF_PACKET_TIMESTAMP, o->boottime_ns + ns);
	put_uint(o, PF_PACKET_CLOCK, PF_BOOTTIME);
}

static size_t perfetto_type_put(perfetto_writer *o, uint32_t type)
{
	size_t event = wire_begin(&o->message, PF_PACKET_TRACK_EVENT);

	if (type)
		put_uint(o, PF_EVENT_TYPE, type);
	return event;
}

/* Writes a packet up to the start of its event. type 0: none. */
static size_t perfetto_event_begin(perfetto_writer *o, packet_track *t, uint64_t ns, uint32_t type,
				   size_t *ret_event)
{
	size_t packet = packet_begin(o, t->sequence);

	if (ns >= t->last_ns) {
		put_uint(o, PF_PACKET_TIMESTAMP, ns - t->last_ns);
		t->last_ns = ns;
	} else {
		put_system_time(o, ns);
	}
	*ret_event = perfetto_type_put(o, type);
	return packet;
}

static void perfetto_event_end(perfetto_writer *o, size_t packet, size_t event)
{
	wire_end(&o->message, event);
	packet_end(o, packet);
}

static void perfetto_put_number(perfetto_writer *o, uint32_t name, double real)
{
	if (!isfinite(real)) /* not known: absent */
		return;
	size_t number = wire_begin(&o->message, PF_EVENT_NUMBER);
	perfetto_put_name(o, PF_NUMBER_NAME, string_name_of(&o->names, name).text);
	wire_put_double(&o->message, PF_NUMBER_REAL, real);
	wire_end(&o->message, number);
}

static void put_unended(perfetto_writer *o)
{
	size_t mark = wire_begin(&o->message, PF_EVENT_NUMBER);

	wire_put_text(&o->message, PF_NUMBER_NAME, PF_UNENDED);
	put_uint(o, PF_NUMBER_BOOL, 1);
	wire_end(&o->message, mark);
}

/* Name, category and source location. */
static void put_reference(perfetto_writer *o, uint32_t id)
{
	const name_form *about = id_table_find(&o->known, id);
	uint8_t *to = wire_reserve(&o->message, about->n);

	if (to)
		memcpy(to, about->refer, about->n);
}

/* Starts a range; numbers that follow at once belong to it: returns their number. */
static size_t perfetto_put_begin(perfetto_writer *o, packet_track *t, const trace_event *e,
				 const trace_event *end)
{
	size_t event, packet, n = 0;

	explain_once(o, t, e->name);
	packet = perfetto_event_begin(o, t, e->ns, e->kind == TRACE_INSTANT ? PF_INSTANT : PF_BEGIN,
				      &event);
	if (perfetto_is_known(t, e->name))
		put_reference(o, e->name);
	if (e->kind == TRACE_BEGIN) {
		for (; e + 1 + n < end && e[1 + n].kind == TRACE_ANNOTATION; n++)
			perfetto_put_number(o, e[1 + n].name, e[1 + n].as.real);
		t->depth++;
	}
	perfetto_event_end(o, packet, event);
	return n;
}

static void perfetto_write_put_end(perfetto_writer *o, packet_track *t, uint64_t ns, bool unended)
{
	size_t event, packet;
	uint32_t n;

	if (t->depth == 0) /* started before the trace */
		return;
	const kept_number *numbers = pending_annotations_of(&t->numbers, t->depth, &n);
	packet = perfetto_event_begin(o, t, ns, PF_END, &event);
	for (uint32_t i = 0; i < n; i++)
		perfetto_put_number(o, numbers[i].name, numbers[i].real);
	if (unended)
		put_unended(o);
	pending_annotations_drop(&t->numbers, n);
	t->depth--;
	perfetto_event_end(o, packet, event);
}

static void perfetto_put_counter(perfetto_writer *o, const packet_track *t, packet_track *in,
				 const trace_event *e)
{
	size_t event, packet;

	if (!t->counter || !isfinite(e->as.real))
		return;
	if (in == t) {
		packet = perfetto_event_begin(o, in, e->ns, PF_COUNTER, &event);
	} else {
		/* It is ahead of the thread's events, which must stay in order to be plain. */
		packet = packet_begin(o, in->sequence);
		put_system_time(o, e->ns);
		event = perfetto_type_put(o, PF_COUNTER);
		put_uint(o, PF_EVENT_TRACK, t->uuid);
	}
	wire_put_double(&o->message, PF_EVENT_COUNTER_REAL, e->as.real);
	perfetto_event_end(o, packet, event);
}

/* Writes the begin of a range that any track may end, on a separate track below the process. */
static void put_async_begin(perfetto_writer *o, packet_track *t, uint32_t id, const trace_event *e)
{
	const char *name = string_name_of(&o->names, e->name).text;
	size_t event, packet = packet_begin(o, SEQUENCE_COMMON);
	size_t own = wire_begin(&o->message, PF_PACKET_TRACK);

	put_uint(o, PF_TRACK_UUID, e->as.id | PF_ASYNC_BIT);
	perfetto_put_name(o, PF_TRACK_NAME, name);
	if (t->process_uuid)
		put_uint(o, PF_TRACK_PARENT, t->process_uuid);
	wire_end(&o->message, own);
	packet_end(o, packet);
	explain_once(o, t, e->name);
	packet = perfetto_event_begin(o, t, e->ns, PF_BEGIN, &event);
	if (perfetto_is_known(t, e->name))
		put_reference(o, e->name);
	put_uint(o, PF_EVENT_TRACK, e->as.id | PF_ASYNC_BIT);
	perfetto_event_end(o, packet, event);
	kept_id_begin(&o->async, e->as.id, e->name, id);
}

static void put_async_end(perfetto_writer *o, packet_track *t, uint64_t id, uint64_t ns,
			  bool unended)
{
	size_t event, packet = perfetto_event_begin(o, t, ns, PF_END, &event);

	put_uint(o, PF_EVENT_TRACK, id | PF_ASYNC_BIT);
	if (unended)
		put_unended(o);
	perfetto_event_end(o, packet, event);
}

/* Writes a flow in the older format, which applies to the open range, because flows of the current
 * format are written at the begin or end of a range, and its begin is already written. */
static void perfetto_put_flow(perfetto_writer *o, packet_track *t, const trace_event *e)
{
	static const char phases[] = {'s', 't', 'f'};
	size_t event, packet;

	if (t->depth == 0)
		return;
	packet = perfetto_event_begin(o, t, e->ns, 0, &event);
	size_t legacy = wire_begin(&o->message, PF_EVENT_LEGACY);
	put_uint(o, PF_LEGACY_PHASE, (uint64_t)phases[e->kind - TRACE_FLOW_BEGIN]);
	put_uint(o, PF_LEGACY_ID, e->as.id);
	if (e->kind == TRACE_FLOW_END)
		put_uint(o, PF_LEGACY_TO_ENCLOSING, 1);
	wire_end(&o->message, legacy);
	perfetto_event_end(o, packet, event);
}

/* One event with the numbers that belong to it; returns how many events these were. */
static size_t perfetto_put_any(perfetto_writer *o, packet_track *t, uint32_t id,
			       const trace_event *e, const trace_event *end)
{
	switch ((trace_kind)e->kind) {
	case TRACE_BEGIN:
	case TRACE_INSTANT:
		return 1 + perfetto_put_begin(o, t, e, end);
	case TRACE_END:
		perfetto_write_put_end(o, t, e->ns, false);
		break;
	case TRACE_COUNTER:
		perfetto_put_counter(o, t, t, e);
		break;
	case TRACE_ANNOTATION:
		if (t->depth > 0)
			kept_number_put(&t->numbers, t->depth, e->name, e->as.real);
		break;
	case TRACE_ASYNC_BEGIN:
		put_async_begin(o, t, id, e);
		break;
	case TRACE_ASYNC_END:
		kept_id_end(&o->async, e->as.id);
		put_async_end(o, t, e->as.id, e->ns, false);
		break;
	case TRACE_FLOW_BEGIN:
	case TRACE_FLOW_STEP:
	case TRACE_FLOW_END:
		perfetto_put_flow(o, t, e);
		break;
	case TRACE_KINDS:
		break;
	}
	return 1;
}

/* --- plain events: nearly all */

enum { PLAIN_EVENT_MAX = 64 }; /* bytes that a plain event may take: it takes at most 51 */

/* Writes plain events up to the first that is not: ranges and instants whose name is explained,
 * without numbers, in order of time. Returns that one. */
static const trace_event *perfetto_put_plain(perfetto_writer *o, packet_track *t,
					     const trace_event *e, const trace_event *end)
{
	dck_sink *sink = o->sink;
	uint8_t *p = (uint8_t *)sink_reserve(sink, PLAIN_EVENT_MAX), *from = p;
	const uint8_t *full = (uint8_t *)sink->buf + sizeof sink->buf - PLAIN_EVENT_MAX;
	uint64_t last = t->last_ns, depth = t->depth;
	const name_form *known = o->known.rows;
	uint8_t head[8] = {TAG(PF_PACKET_SEQUENCE, WIRE_VARINT)};
	const size_t nhead = (size_t)(perfetto_varint(head + 1, t->sequence) - head);

	for (; e < end; e++) {
		const bool ends = e->kind == TRACE_END;

		if (e->kind > TRACE_INSTANT || e->ns < last ||
		    (ends ? depth == 0 || t->numbers.n > 0
			  : !perfetto_is_known(t, e->name) ||
				(e + 1 < end && e[1].kind == TRACE_ANNOTATION)))
			break;
		if (p > full) {
			sink->used += (size_t)(p - from);
			from = p = (uint8_t *)sink_reserve(sink, PLAIN_EVENT_MAX);
		}
		uint8_t *packet = p;
		p[0] = TAG(PF_TRACE_PACKET, WIRE_BYTES);
		memcpy(p + 2, head, sizeof head);
		p += 2 + nhead;
		*p++ = TAG(PF_PACKET_TIMESTAMP, WIRE_VARINT);
		p = perfetto_varint(p, e->ns - last);
		p[0] = TAG(PF_PACKET_TRACK_EVENT, WIRE_BYTES);
		p[2] = TAG(PF_EVENT_TYPE, WIRE_VARINT);
		p[3] = (uint8_t)(e->kind + 1); /* BEGIN, END, INSTANT in both */
		if (ends) {
			p[1] = 2;
			p += 4;
			depth--;
		} else {
			const name_form *about = known + e->name;
			memcpy(p + 4, about->refer, sizeof about->refer);
			p[1] = (uint8_t)(2 + about->n);
			p += 4 + about->n;
			depth += e->kind == TRACE_BEGIN;
		}
		packet[1] = (uint8_t)(p - packet - 2);
		last = e->ns;
	}
	sink->used += (size_t)(p - from);
	t->last_ns = last;
	t->depth = depth;
	return e;
}

/* --- the format */

static dck_status perfetto_open(trace_out **ret, dck_sink *sink, const trace_header *about,
				dck_err *err)
{
	perfetto_writer *o = mem_zalloc(1, sizeof *o);

	DCK_NEED(o, err, "for a trace");
	o->sink = sink;
	o->boottime_ns = about->boottime_ns;
	o->tracks.row_bytes = sizeof(packet_track);
	o->known.row_bytes = sizeof(name_form);
	async_ranges_init(&o->async);
	process_ends_init(&o->ends);
	o->nsequences = SEQUENCE_COMMON;
	dck_status status = string_table_init(&o->names, err);
	if (status != DCK_OK) {
		mem_free(o);
		return status;
	}
	put_snapshot(o, about, 0);
	*ret = (trace_out *)o;
	return DCK_OK;
}

/* Returns a uuid that is unique in a merged trace of several processes. */
static uint64_t uuid_of(int32_t pid, uint32_t id)
{
	return (uint64_t)(uint32_t)(pid & INT32_MAX) << 32 | id;
}

static void put_unit(perfetto_writer *o, dck_unit unit)
{
	size_t counter = wire_begin(&o->message, PF_TRACK_COUNTER);

	if (unit == DCK_UNIT_NS)
		put_uint(o, PF_COUNTER_UNIT, PF_UNIT_NS);
	else if (unit == DCK_UNIT_ONE)
		put_uint(o, PF_COUNTER_UNIT, PF_UNIT_COUNT);
	else if (unit == DCK_UNIT_BYTE)
		put_uint(o, PF_COUNTER_UNIT, PF_UNIT_BYTES);
	else if (unit != DCK_UNIT_NONE)
		perfetto_put_name(o, PF_COUNTER_UNIT_NAME, dck_unit_text(unit));
	wire_end(&o->message, counter);
}

static void perfetto_track(trace_out *out, const trace_track *about)
{
	perfetto_writer *o = perfetto_writer_of(out);
	packet_track *t = id_table_row(&o->tracks, about->id);
	const packet_track *parent = id_table_find(&o->tracks, about->parent);
	const char *name = string_table_copy(&o->names, about->name);

	process_ends_track(&o->ends, about);
	if (!t)
		return;
	t->uuid = uuid_of(about->pid, about->id);
	t->counter = about->kind == TRACE_COUNTER_TRACK;
	t->carrier = t->counter && about->tid > 0 && parent && parent->uuid ? about->parent : 0;
	t->process_uuid = about->kind == TRACE_PROCESS ? t->uuid : parent ? parent->uuid : 0;

	size_t packet = packet_begin(o, SEQUENCE_COMMON);
	size_t own = wire_begin(&o->message, PF_PACKET_TRACK), kind;
	put_uint(o, PF_TRACK_UUID, t->uuid);
	if (t->process_uuid && t->process_uuid != t->uuid)
		put_uint(o, PF_TRACK_PARENT, t->process_uuid);
	switch (about->kind) {
	case TRACE_PROCESS:
		kind = wire_begin(&o->message, PF_TRACK_PROCESS);
		wire_put_int(&o->message, PF_PROCESS_PID, about->pid);
		perfetto_put_name(o, PF_PROCESS_NAME, name);
		wire_end(&o->message, kind);
		break;
	case TRACE_THREAD:
		kind = wire_begin(&o->message, PF_TRACK_THREAD);
		wire_put_int(&o->message, PF_THREAD_PID, about->pid);
		wire_put_int(&o->message, PF_THREAD_TID, about->tid);
		perfetto_put_name(o, PF_THREAD_NAME, name);
		wire_end(&o->message, kind);
		break;
	case TRACE_COUNTER_TRACK:
		perfetto_put_name(o, PF_TRACK_NAME, name);
		put_unit(o, about->unit);
		break;
	case TRACE_DEVICE:
		perfetto_put_name(o, PF_TRACK_NAME, name);
		/* Perfetto loses the arrows of a track that it may merge with others. */
		put_uint(o, PF_TRACK_MERGING, PF_MERGING_NONE);
		put_uint(o, PF_TRACK_DEVICE, 1);
		break;
	}
	wire_end(&o->message, own);
	packet_end(o, packet);
}

static void perfetto_intern(trace_out *out, uint32_t id, const trace_name *from)
{
	perfetto_writer *o = perfetto_writer_of(out);
	name_form *about = id_table_row(&o->known, id);

	string_name_put(&o->names, id, from->text, from->n);
	if (!about)
		return;
	about->category = string_table_copy(&o->names, from->category);
	about->file = string_table_copy(&o->names, from->file);
	about->line = from->line;
	uint8_t *p = about->refer;
	*p++ = TAG(PF_EVENT_NAME_IID, WIRE_VARINT);
	p = perfetto_varint(p, id);
	if (about->category) {
		*p++ = TAG(PF_EVENT_CATEGORY_IID, WIRE_VARINT);
		p = perfetto_varint(p, id);
	}
	if (about->file) {
		p = perfetto_varint(p, PF_EVENT_SOURCE_IID << 3 | WIRE_VARINT);
		p = perfetto_varint(p, id);
	}
	about->n = (uint8_t)(p - about->refer);
}

static void perfetto_events(trace_out *out, uint32_t id, const trace_event *e, size_t n)
{
	perfetto_writer *o = perfetto_writer_of(out);
	const trace_event *end = e + n;
	packet_track *t = id_table_find(&o->tracks, id);

	if (!t || !t->uuid)
		return;
	process_ends_events(&o->ends, id, e, n);
	packet_track *in = t->carrier ? id_table_find(&o->tracks, t->carrier) : t;
	if (!in->sequence)
		begin_sequence(o, in);
	for (; in != t && e < end; e++)
		if (e->kind == TRACE_COUNTER)
			perfetto_put_counter(o, t, in, e);
	while (e < end) {
		e = perfetto_put_plain(o, t, e, end);
		if (e < end)
			e += perfetto_put_any(o, t, id, e, end);
	}
}

static void perfetto_samples_write(trace_out *out, const cct *paths, const trace_sample *s,
				   size_t n)
{
	perfetto_writer *o = perfetto_writer_of(out);

	if (!o->samples &&
	    perfetto_samples_open(o->sink, o->boottime_ns, &o->samples, NULL) != DCK_OK)
		o->failed = true;
	for (size_t i = 0; i < n && o->samples; i++)
		perfetto_samples_put(o->samples, paths, &s[i]);
}

static void perfetto_clocks_put(trace_out *out, uint64_t ns, const trace_header *then)
{
	perfetto_writer *o = perfetto_writer_of(out);

	put_snapshot(o, then, ns);
}

static bool perfetto_end_range(trace_out *out, void *of, uint64_t ns)
{
	perfetto_writer *o = perfetto_writer_of(out);
	packet_track *t = of;
	const bool open = t->depth > 0;

	perfetto_write_put_end(o, t, ns, true);
	return open;
}

static void perfetto_end_async(trace_out *out, void *t, const kept_id *id, uint64_t ns)
{
	perfetto_writer *o = perfetto_writer_of(out);

	put_async_end(o, t, id->id, ns, true);
}

static dck_status perfetto_close(trace_out *out, dck_err *err)
{
	perfetto_writer *o = perfetto_writer_of(out);
	bool failed;

	kept_end_open(out, &o->tracks, &o->async, &o->ends,
		      &(kept_end){perfetto_end_range, perfetto_end_async});
	failed = o->failed || o->message.failed || o->tracks.failed || o->known.failed ||
		 o->async.failed || o->ends.tracks.failed || string_table_failed(&o->names);
	if (o->samples && perfetto_samples_close(o->samples, NULL) != DCK_OK)
		failed = true;
	for (uint32_t i = 0; i < o->tracks.n; i++) {
		packet_track *t = id_table_find(&o->tracks, i);
		failed = failed || t->numbers.failed;
		mem_free(t->known);
		pending_annotations_done(&t->numbers);
	}
	wire_out_done(&o->message);
	id_table_done(&o->tracks);
	id_table_done(&o->known);
	async_ranges_done(&o->async);
	process_ends_done(&o->ends);
	string_table_done(&o->names);
	mem_free(o);
	DCK_NEED(!failed, err, "for the names and tracks of a trace");
	return DCK_OK;
}

const trace_format trace_perfetto = {
    DCK_TRACE_FORMAT_PERFETTO(TRACE_FORMAT),
    .open = perfetto_open,
    .track = perfetto_track,
    .intern = perfetto_intern,
    .events = perfetto_events,
    .samples = perfetto_samples_write,
    .clocks = perfetto_clocks_put,
    .close = perfetto_close,
};
