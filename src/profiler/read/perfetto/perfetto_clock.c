/* perfetto_clock.c - the clocks of a trace of Perfetto.
 *
 * All arithmetic is on unsigned numbers, which wrap: a hostile file gets wrong times, not
 * undefined behaviour. A time beyond 2^63 ns is invalid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/perfetto/perfetto_clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "profiler/timeline/perfetto.h"

enum { CLOCKS_MAX = 16 }; /* per trace or sequence */

struct perfetto_clock {
	uint64_t id, offset; /* the trace's clock minus this one */
	uint64_t multiplier, last;
	bool incremental;
};

static dck_status perfetto_clock_read_clock(wire_reader r, struct perfetto_reading *ret,
					    dck_err *err)
{
	wire_field f;
	dck_status status;

	*ret = (struct perfetto_reading){.multiplier = 1};
	while (wire_each(&r, &f, &status, err)) {
		if (f.number == PF_CLOCK_ID)
			ret->id = f.value;
		else if (f.number == PF_CLOCK_TIME)
			ret->value = f.value;
		else if (f.number == PF_CLOCK_INCREMENTAL)
			ret->incremental = f.value != 0;
		else if (f.number == PF_CLOCK_MULTIPLIER && f.value)
			ret->multiplier = f.value;
	}
	return status;
}

static void snapshot_number_read(perfetto_snapshot *s, const wire_field *f)
{
	switch (f->number) {
	case PF_SNAPSHOT_PRIMARY:
		s->primary = f->value;
		break;
	case PF_SNAPSHOT_WIDTH:
		s->width_ns = f->value;
		break;
	case PF_SNAPSHOT_OWN:
		s->own_ns = f->value;
		break;
	case PF_SNAPSHOT_UNIX_ERROR:
		s->unix_error_ns = f->value;
		break;
	case PF_SNAPSHOT_DROPPED:
		s->losses.dropped = f->value;
		break;
	case PF_SNAPSHOT_LEFT_OUT:
		s->losses.left_out = f->value;
		break;
	case PF_SNAPSHOT_OLDER:
		s->losses.older = f->value;
		break;
	case PF_SNAPSHOT_CUT:
		s->losses.cut = f->value;
		break;
	case PF_SNAPSHOT_FIRST_CUT:
		s->losses.first_cut = f->value != 0;
		break;
	default:
		break;
	}
}

/* A text that is too long is left out. */
static dck_status snapshot_text_read(const wire_reader *r, const wire_field *f, char *ret,
				     size_t bytes, dck_err *err)
{
	return f->type == WIRE_BYTES && f->value < bytes
		   ? wire_source_copy(r->source, f->data, (size_t)f->value, ret, err)
		   : DCK_OK;
}

dck_status perfetto_snapshot_read(wire_reader r, perfetto_snapshot *ret, dck_err *err)
{
	wire_field f;
	wire_reader inner;
	dck_status status;

	*ret = (perfetto_snapshot){0};
	while (wire_each(&r, &f, &status, err)) {
		snapshot_number_read(ret, &f);
		if (f.number == PF_SNAPSHOT_BOOT)
			DCK_TRY(snapshot_text_read(&r, &f, ret->boot, sizeof ret->boot, err));
		if (f.number == PF_SNAPSHOT_SIGNAL)
			DCK_TRY(snapshot_text_read(&r, &f, ret->losses.signal,
						   sizeof ret->losses.signal, err));
		if (f.number != PF_SNAPSHOT_CLOCK || ret->n == PERFETTO_SNAPSHOT_MAX)
			continue;
		DCK_TRY(wire_enter(&r, &f, "a clock", &inner, err));
		DCK_TRY(perfetto_clock_read_clock(inner, &ret->at[ret->n], err));
		ret->n++;
	}
	return status;
}

static bool clock_is_own(uint64_t id)
{
	return id >= PF_OWN_FIRST && id <= PF_OWN_LAST;
}

static uint64_t primary_of(const perfetto_clocks *trace)
{
	return trace->primary ? trace->primary : PF_BOOTTIME;
}

static struct perfetto_clock *clock_find(const perfetto_clocks *c, uint64_t id)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->at[i].id == id)
			return &c->at[i];
	return NULL;
}

/* Adds a row for a new clock, unless there are too many. false: no memory. */
static bool make_place(perfetto_clocks *c, uint64_t id)
{
	if (clock_find(c, id) || c->n == CLOCKS_MAX)
		return true;
	struct perfetto_clock *at = mem_resize(c->at, (c->n + 1) * sizeof *at);
	if (!at)
		return false;
	c->at = at;
	c->at[c->n++] = (struct perfetto_clock){.id = id, .multiplier = 1};
	return true;
}

/* The trace's clock at the snapshot: read there, or from a clock that an earlier one explains. The
 * first snapshot of all that has neither makes its first clock the trace's. */
static void set_reference(perfetto_snapshot *s, const perfetto_clocks *trace)
{
	const uint64_t primary = primary_of(trace);

	for (size_t i = 0; i < s->n && !s->has_reference; i++) {
		s->has_reference = s->at[i].id == primary;
		s->reference = s->at[i].value * s->at[i].multiplier;
	}
	for (size_t i = 0; i < s->n && !s->has_reference; i++) {
		const struct perfetto_clock *c =
		    clock_is_own(s->at[i].id) ? NULL : clock_find(trace, s->at[i].id);
		s->has_reference = c != NULL;
		if (c)
			s->reference = s->at[i].value * c->multiplier + c->offset;
	}
	for (size_t i = 0; i < s->n && !s->has_reference && trace->n == 0; i++) {
		s->has_reference = !clock_is_own(s->at[i].id);
		s->reference = s->at[i].value * s->at[i].multiplier;
	}
}

bool perfetto_snapshot_apply(perfetto_snapshot *s, perfetto_clocks *trace,
			     perfetto_clocks *sequence)
{
	if (s->primary && !trace->primary)
		trace->primary = s->primary;
	set_reference(s, trace);
	if (!s->has_reference)
		return true;
	for (size_t i = 0; i < s->n; i++) {
		const struct perfetto_reading *r = &s->at[i];
		perfetto_clocks *of = clock_is_own(r->id) ? sequence : trace;
		if (!make_place(of, r->id))
			return false;
		struct perfetto_clock *c = clock_find(of, r->id);
		if (!c)
			continue;
		c->multiplier = r->multiplier;
		c->incremental = r->incremental;
		c->last = r->value;
		c->offset = s->reference - r->value * r->multiplier;
	}
	return true;
}

uint64_t perfetto_snapshot_of(const perfetto_snapshot *s, uint64_t id)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].id == id)
			return s->at[i].value * s->at[i].multiplier;
	return 0;
}

bool perfetto_clock_ns(perfetto_clocks *trace, perfetto_clocks *sequence, uint64_t id,
		       uint64_t stamp, uint64_t *ret_ns)
{
	const uint64_t primary = primary_of(trace);

	if (!id)
		id = PF_BOOTTIME;
	struct perfetto_clock *c = clock_find(clock_is_own(id) ? sequence : trace, id);
	/* Without a snapshot of it the trace's clock is itself. */
	if (!c && id != primary)
		return false;
	if (c) {
		if (c->incremental)
			stamp = c->last += stamp;
		stamp = stamp * c->multiplier + c->offset;
	}
	*ret_ns = stamp;
	return stamp <= INT64_MAX;
}

void perfetto_clocks_done(perfetto_clocks *c)
{
	mem_free(c->at);
	*c = (perfetto_clocks){0};
}
