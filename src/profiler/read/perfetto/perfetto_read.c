/* perfetto_read.c - reads the track events of a trace of Perfetto.
 *
 * A packet's fields may come in any order, so they are collected first (packet) and then applied in
 * the order in which they depend on each other: cleared state of the sequence, clocks, defaults,
 * names, tracks, and last the event. A packet may contain compressed packets, and the whole file
 * may be compressed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/perfetto/perfetto_read.h"
#include "base/err.h"
#include "profiler/read/perfetto/perfetto_reading.h"
#include "profiler/read/inflate_reader.h"

#include <string.h>

const wire_kind wire_perfetto = {"trace", "a trace", "a trace of Perfetto"};

/* Limits against hostile files. */
#define NAME_BYTES_MAX ((size_t)256 << 20)

static dck_status read_compressed(const wire_reader *r, const wire_field *f, perfetto_reader *x);

/* --- packets */

typedef struct packet {
	uint64_t timestamp, sequence, flags, clock;
	bool has_timestamp, has_clock, known, dropped;
	bool has[PF_PACKET_SAMPLE + 1];
	wire_field field[PF_PACKET_SAMPLE + 1]; /* fields that are messages */
} packet;

static dck_status read_snapshot(wire_reader r, perfetto_sequence *q, perfetto_reader *x)
{
	perfetto_snapshot s;

	DCK_TRY(perfetto_snapshot_read(r, &s, x->err));
	DCK_NEED(perfetto_snapshot_apply(&s, &x->clocks, &q->clocks), x->err,
		 "for the clocks of a trace");
	if (s.primary)
		x->facts->losses = s.losses;
	if (!x->has_snapshot && s.has_reference) {
		x->has_snapshot = true;
		x->about.boottime_ns = s.reference;
		x->about.monotonic_ns = perfetto_snapshot_of(&s, PF_MONOTONIC);
		x->about.unix_ns = (int64_t)(perfetto_snapshot_of(&s, PF_REALTIME) & INT64_MAX);
		x->about.width_ns = s.width_ns;
		x->about.unix_error_ns = s.unix_error_ns;
		memcpy(x->about.boot, s.boot, sizeof x->about.boot);
	} else if (s.has_reference && s.own_ns) {
		x->facts->own_ns = s.own_ns;
		x->facts->own_boottime_ns = s.reference;
		x->facts->own_width_ns = s.width_ns;
	}
	return DCK_OK;
}

static dck_status read_defaults(wire_reader r, perfetto_sequence *q, perfetto_reader *x)
{
	wire_field f, g;
	wire_reader inner;

	perfetto_defaults_reset(q);
	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_DEFAULTS_CLOCK)
			q->clock = (uint32_t)f.value;
		if (f.number == PF_DEFAULTS_SAMPLE) {
			DCK_TRY(wire_enter(&r, &f, "the defaults of samples", &inner, x->err));
			DCK_TRY(perfetto_sample_defaults(inner, q, x));
		}
		if (f.number != PF_DEFAULTS_TRACK_EVENT)
			continue;
		DCK_TRY(wire_enter(&r, &f, "the defaults of events", &inner, x->err));
		while (perfetto_each(x, &inner, &g))
			if (g.number == PF_EVENT_TRACK)
				q->track = g.value;
		DCK_TRY(x->status);
	}
	return x->status;
}

static dck_status read_track(wire_reader r, perfetto_sequence *q, perfetto_reader *x)
{
	(void)q;
	return perfetto_track_read(r, x);
}

static dck_status perfetto_collect(wire_reader *r, packet *p, perfetto_reader *x)
{
	wire_field f;

	while (perfetto_each(x, r, &f)) {
		switch (f.number) {
		case PF_PACKET_TIMESTAMP:
			p->timestamp = f.value;
			p->has_timestamp = true;
			break;
		case PF_PACKET_SEQUENCE:
			p->sequence = f.value;
			break;
		case PF_PACKET_FLAGS:
			p->flags |= f.value;
			break;
		case PF_PACKET_CLEARED:
			p->flags |= f.value ? PF_FLAG_CLEARED : 0;
			break;
		case PF_PACKET_DROPPED:
			p->dropped = f.value != 0;
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
		case PF_PACKET_THREAD:
		case PF_PACKET_COMPRESSED:
		case PF_PACKET_SAMPLE:
			p->has[f.number] = true;
			p->field[f.number] = f;
			break;
		default:
			break;
		}
	}
	return x->status;
}

/* Applies the fields of a packet that precede its event, in order of dependency. */
static dck_status read_state(const wire_reader *r, packet *p, perfetto_sequence *q,
			     perfetto_reader *x)
{
	static const struct {
		uint32_t field;
		const char *what;
		dck_status (*read)(wire_reader r, perfetto_sequence *q, perfetto_reader *x);
	} parts[] = {{PF_PACKET_CLOCK_SNAPSHOT, "a clock snapshot", read_snapshot},
		     {PF_PACKET_DEFAULTS, "the defaults of a sequence", read_defaults},
		     {PF_PACKET_INTERNED, "interned names", perfetto_interned},
		     {PF_PACKET_THREAD, "a thread", perfetto_thread_read},
		     {PF_PACKET_TRACK, "a track's description", read_track}};
	wire_reader inner;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (!p->has[parts[i].field])
			continue;
		DCK_TRY(wire_enter(r, &p->field[parts[i].field], parts[i].what, &inner, x->err));
		DCK_TRY(parts[i].read(inner, q, x));
		p->known = true;
	}
	return DCK_OK;
}

static dck_status read_packet(wire_reader r, perfetto_reader *x)
{
	const wire_reader whole = r;
	packet p = {0};
	perfetto_sequence *q;
	uint64_t ns = 0;
	wire_reader inner;

	DCK_TRY(perfetto_collect(&r, &p, x));
	if (p.has[PF_PACKET_COMPRESSED])
		return read_compressed(&whole, &p.field[PF_PACKET_COMPRESSED], x);
	DCK_TRY(perfetto_sequence_of(p.sequence, &q, x));
	if (p.flags & PF_FLAG_CLEARED)
		perfetto_forget(q, x);
	else if (p.dropped)
		q->valid = false;
	if (p.flags & PF_FLAG_NEEDED && !q->valid) {
		x->facts->skipped++;
		x->facts->stateless++;
		return DCK_OK;
	}
	DCK_TRY(read_state(&whole, &p, q, x));
	/* An incremental clock advances with every packet, whatever the packet contains. */
	const uint64_t clock = p.has_clock ? p.clock : q->clock;
	const bool dated =
	    p.has_timestamp && perfetto_clock_ns(&x->clocks, &q->clocks, clock, p.timestamp, &ns);
	if (p.has[PF_PACKET_TRACK_EVENT]) {
		DCK_TRY(wire_enter(&whole, &p.field[PF_PACKET_TRACK_EVENT], "an event", &inner,
				   x->err));
		return perfetto_event_read(inner, q, ns, dated, x);
	}
	if (p.has[PF_PACKET_SAMPLE]) {
		DCK_TRY(wire_enter(&whole, &p.field[PF_PACKET_SAMPLE], "a sample", &inner, x->err));
		return perfetto_sample_read(inner, q, ns, dated, x);
	}
	x->facts->skipped += !p.known;
	return DCK_OK;
}

/* The packets of a source from a byte on. */
static dck_status read_packets(wire_source *s, uint64_t from, perfetto_reader *x)
{
	wire_reader r, inner;
	wire_field f;

	wire_reader_init(s, wire_perfetto.whole, &r);
	r.at = from;
	r.sure = x->facts->packets > 0;
	while (perfetto_each(x, &r, &f)) {
		if (f.number != PF_TRACE_PACKET)
			return wire_fail(&r, x->err, "field %u at byte %llu is not a packet",
					 (unsigned)f.number, (unsigned long long)f.at);
		DCK_TRY(wire_enter(&r, &f, "a packet", &inner, x->err));
		DCK_TRY(read_packet(inner, x));
		x->facts->packets++;
		r.sure = true;
	}
	return x->status;
}

/* --- compressed packets */

static dck_status read_packed(wire_source *s, uint64_t at, uint64_t n, perfetto_reader *x)
{
	inflate_reader *u;
	wire_source part;
	dck_status status;

	DCK_TRY(inflate_reader_open(&u, s, at, n, INFLATE_PACKETS, &x->budget, x->err));
	x->packed++;
	do {
		status = inflate_reader_next(u, &part, x->err);
		if (status == DCK_OK && part.n > 0)
			status = read_packets(&part, part.at, x);
	} while (status == DCK_OK && part.n > 0);
	x->packed--;
	inflate_reader_close(u);
	return status;
}

/* Reads the packets inside a compressed packet. */
static dck_status read_compressed(const wire_reader *r, const wire_field *f, perfetto_reader *x)
{
	enum { DEPTH_MAX = 2 }; /* a file that is compressed as a whole, and packets in it */

	if (f->type != WIRE_BYTES)
		return wire_fail(r, x->err, "compressed packets that are not bytes");
	if (x->packed == DEPTH_MAX)
		return wire_fail(r, x->err, "compressed packets inside compressed packets");
	return read_packed(r->source, f->data, f->value, x);
}

static dck_status perfetto_read_source(wire_source *s, perfetto_reader *x)
{
	static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	const uint8_t *bytes;
	size_t n;

	DCK_TRY(wire_source_peek(s, 0, sizeof zstd, &bytes, &n, x->err));
	x->budget =
	    s->size < UINT64_MAX / INFLATE_RATIO_MAX ? s->size * INFLATE_RATIO_MAX : UINT64_MAX;
	if (n == sizeof zstd && memcmp(bytes, zstd, n) == 0)
		DCK_FAIL(x->err, E_FORMAT,
			 "%s is compressed by zstd; unpack it first: zstd -d, or write it by gzip",
			 s->label);
	dck_status status = n >= sizeof gzip && memcmp(bytes, gzip, sizeof gzip) == 0
				? read_packed(s, 0, s->size, x)
				: read_packets(s, 0, x);
	if (status == DCK_E_FORMAT && x->facts->packets > 0) { /* all complete packets were read */
		memcpy(x->facts->cut, x->err->msg, sizeof x->facts->cut);
		return DCK_OK;
	}
	return status;
}

static void perfetto_reading_done(perfetto_reader *x)
{
	hash_map *const maps[] = {
	    &x->sequence_rows, &x->track_rows, &x->process_rows, &x->thread_rows, &x->counter_rows,
	    &x->name_rows,     &x->place_rows, &x->async_depths, &x->async_rows,  &x->flows};
	id_table *const tables[] = {&x->sequences, &x->tracks, &x->names, &x->places};

	for (uint32_t i = 0; i < x->sequences.n; i++) {
		perfetto_sequence *q = id_table_find(&x->sequences, i);
		for (size_t k = 0; k < sizeof q->interned / sizeof *q->interned; k++)
			hash_map_done(&q->interned[k]);
		perfetto_clocks_done(&q->clocks);
		id_table_done(&q->samples_count);
	}
	for (uint32_t i = 0; i < x->tracks.n; i++)
		mem_free(perfetto_track_at(x, i)->ends);
	perfetto_clocks_done(&x->clocks);
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hash_map_done(maps[i]);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		id_table_done(tables[i]);
	string_table_done(&x->texts);
	reorder_free(x->events);
	cct_done(&x->stacks);
	mem_free(x->samples);
}

bool perfetto_is(wire_source *s)
{
	wire_reader r, inside;
	wire_field f;
	dck_status status;
	bool known = false;

	wire_reader_init(s, wire_perfetto.whole, &r);
	if (!wire_each(&r, &f, &status, NULL) || f.number != PF_TRACE_PACKET ||
	    wire_enter(&r, &f, "a packet", &inside, NULL) != DCK_OK)
		return false;
	while (wire_each(&inside, &f, &status, NULL))
		known |= (f.type == WIRE_VARINT &&
			  (f.number == PF_PACKET_TIMESTAMP || f.number == PF_PACKET_SEQUENCE)) ||
			 (f.type == WIRE_BYTES && f.number == PF_PACKET_TRACK);
	return status == DCK_OK && known;
}

dck_status perfetto_read(wire_source *s, const trace_format *f, dck_sink *sink,
			 trace_read_facts *ret, dck_err *err)
{
	dck_err own = {0};
	trace_read_facts facts = {0};
	perfetto_reader x = {.format = f,
			     .sink = sink,
			     .err = &own,
			     .facts = &facts,
			     .sequences = {.row_bytes = sizeof(perfetto_sequence)},
			     .tracks = {.row_bytes = sizeof(perfetto_track)}};
	dck_status status = string_table_init(&x.texts, &own);

	perfetto_names_init(&x);

	if (status == DCK_OK) {
		mem_arena_limit(x.texts.arena, NAME_BYTES_MAX);
		status = reorder_new(&x.events, &own);
	}
	DCK_NEXT(status, cct_init(&x.stacks, cct_sample_weights, CCT_SAMPLE_WEIGHTS, &own));
	if (status == DCK_OK)
		mem_arena_limit(x.stacks.texts.arena, NAME_BYTES_MAX);
	DCK_NEXT(status, perfetto_read_source(s, &x));
	DCK_NEXT(status, perfetto_emit(&x));
	facts.late = x.events ? reorder_late(x.events) : 0;
	if (status == DCK_OK && reorder_failed(x.events))
		status = ERR_NO_MEMORY(&own, "for the tracks of %s", s->label);
	if (status == DCK_OK && cct_failed(&x.stacks))
		status = ERR_NO_MEMORY(&own, "for the stacks of %s", s->label);
	if (x.out) {
		dck_status closed = f->close(x.out, status == DCK_OK ? &own : NULL);
		status = status == DCK_OK ? closed : status;
	}
	perfetto_reading_done(&x);
	if (status == DCK_OK)
		*ret = facts;
	else if (err)
		*err = own;
	return status;
}
