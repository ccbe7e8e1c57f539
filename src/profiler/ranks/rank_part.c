/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_part.h"

#include "base/err.h"

#include <math.h>
#include <string.h>

enum {
	PART_HOST = 1,
	PART_BOOT,
	PART_WHY,
	PART_EXIT,
	PART_SIGNAL,
	PART_WITHIN,
	PART_NAME,
	PART_RANGES,
	PART_EXCHANGES,
	PART_LEFT_OUT,
	PART_USAGE,
	PART_FIELDS
};
/* Sums of times do not overflow. */
#define PART_TIME_MAX (INT64_MAX / 8)

static const wire_kind part_kind = {"part of a rank", "the part of a rank", "the part of a rank"};

void rank_part_write(const rank_part *p, wire_out *to)
{
	wire_put_text(to, PART_HOST, p->host);
	wire_put_text(to, PART_BOOT, p->boot);
	if (p->why)
		wire_put_text(to, PART_WHY, p->why);
	wire_put_int(to, PART_EXIT, p->exit_code);
	wire_put_int(to, PART_SIGNAL, p->signal);
	wire_put_double(to, PART_WITHIN, p->within_ns);
	for (size_t i = 0; i < p->nnames; i++)
		wire_put_text(to, PART_NAME, p->names[i]);
	wire_put_bytes(to, PART_RANGES, p->ranges, p->nranges * sizeof *p->ranges);
	wire_put_bytes(to, PART_EXCHANGES, p->exchanges, p->nexchanges * sizeof *p->exchanges);
	wire_put_int(to, PART_LEFT_OUT, (int64_t)p->left_out);
	wire_put_bytes(to, PART_USAGE, &p->usage, sizeof p->usage);
}

/* The field of each text, number and array: sets it from the bytes at f->data. */
static dck_status part_field_read(rank_part *p, wire_reader *in, const wire_field *f,
				  const uint8_t *bytes, dck_err *err)
{
	const uint8_t *at = bytes + f->data;
	const size_t n = f->type == WIRE_BYTES ? (size_t)f->value : 0;
	const char **text = f->number == PART_HOST   ? &p->host
			    : f->number == PART_BOOT ? &p->boot
			    : f->number == PART_WHY  ? &p->why
			    : f->number == PART_NAME ? &p->names[p->nnames]
						     : NULL;
	int64_t *number = f->number == PART_EXIT     ? &p->exit_code
			  : f->number == PART_SIGNAL ? &p->signal
						     : NULL;

	if (text && f->type == WIRE_BYTES) {
		*text = mem_arena_dup_n(p->arena, (const char *)at, n);
		p->nnames += f->number == PART_NAME;
	} else if (number && f->type == WIRE_VARINT) {
		memcpy(number, &f->value, sizeof *number);
	} else if (f->number == PART_LEFT_OUT && f->type == WIRE_VARINT) {
		p->left_out = f->value;
	} else if (f->number == PART_WITHIN && f->type == WIRE_FIXED64) {
		memcpy(&p->within_ns, &f->value, sizeof p->within_ns);
	} else if (f->number == PART_RANGES && n % sizeof *p->ranges == 0) {
		p->ranges = mem_arena_alloc(p->arena, n);
		p->nranges = p->ranges ? n / sizeof *p->ranges : 0;
		if (p->ranges)
			memcpy(p->ranges, at, n);
	} else if (f->number == PART_EXCHANGES && n % sizeof *p->exchanges == 0) {
		p->exchanges = mem_arena_alloc(p->arena, n);
		p->nexchanges = p->exchanges ? n / sizeof *p->exchanges : 0;
		if (p->exchanges)
			memcpy(p->exchanges, at, n);
	} else if (f->number == PART_USAGE && n == sizeof p->usage) {
		memcpy(&p->usage, at, n);
	} else if (f->number < PART_FIELDS) {
		return wire_fail(in, err, "field %u has another type", (unsigned)f->number);
	}
	return DCK_OK;
}

static bool part_time_is_valid(int64_t ns)
{
	return ns > -PART_TIME_MAX && ns < PART_TIME_MAX;
}

static dck_status part_check(const rank_part *p, dck_err *err)
{
	bool valid = p->host && p->boot && !isnan(p->within_ns) && p->within_ns >= 0;

	for (size_t i = 0; i < RANK_RESOURCES; i++)
		valid = valid && p->usage.n[i] >= 0;
	for (size_t i = 0; i < p->nranges && valid; i++) {
		const rank_range *r = &p->ranges[i];

		valid = part_time_is_valid(r->begin_ns) && part_time_is_valid(r->end_ns) &&
			r->begin_ns <= r->end_ns && r->name < p->nnames && r->kind < RANK_KINDS &&
			(i == 0 || r->begin_ns >= r[-1].begin_ns);
	}
	for (size_t i = 0; i < p->nexchanges && valid; i++) {
		const rank_exchange *e = &p->exchanges[i];

		valid = part_time_is_valid(e->sent_ns) && part_time_is_valid(e->received_ns) &&
			part_time_is_valid(e->answered_ns) && part_time_is_valid(e->returned_ns);
	}
	if (!valid)
		DCK_FAIL(err, E_FORMAT, "the part of a rank has an impossible name, time or kind");
	return DCK_OK;
}

/* One pass over the fields; count: only counts the names. */
static dck_status part_pass(rank_part *p, wire_source *s, const uint8_t *bytes, size_t *count,
			    dck_err *err)
{
	wire_reader in;
	wire_field f;
	bool more = true;

	wire_reader_init(s, part_kind.whole, &in);
	for (;;) {
		DCK_TRY(wire_next(&in, NULL, NULL, &f, &more, err));
		if (!more)
			return DCK_OK;
		if (count)
			*count += f.number == PART_NAME;
		else
			DCK_TRY(part_field_read(p, &in, &f, bytes, err));
	}
}

dck_status rank_part_read(const void *bytes, size_t n, rank_part *ret, dck_err *err)
{
	rank_part p = {.arena = mem_arena_new(0)};
	wire_source source = {.fd = -1};
	size_t names = 0;

	DCK_NEED(p.arena, err, "for the part of a rank");
	dck_status status = wire_source_bytes(bytes, n, &part_kind, &source, err);
	if (status == DCK_OK)
		status = part_pass(&p, &source, bytes, &names, err);
	p.names = mem_arena_array(p.arena, names + 1, sizeof *p.names);
	if (status == DCK_OK && p.names)
		status = part_pass(&p, &source, bytes, NULL, err);
	wire_source_close(&source);
	if (status == DCK_OK && mem_arena_failed(p.arena))
		status = ERR_NO_MEMORY(err, "for the part of a rank");
	if (status == DCK_OK)
		status = part_check(&p, err);
	if (status == DCK_OK)
		*ret = p;
	else
		rank_part_done(&p);
	return status;
}

bool rank_part_clock(const rank_part *p, const rank_part *first, rank_clock *ret)
{
	rank_clock_fit(p->exchanges, p->nexchanges, ret);
	return p == first ||
	       (first->boot && *first->boot && p->boot && strcmp(p->boot, first->boot) == 0 &&
		!(fabs(ret->offset_ns) > ret->within_ns));
}

void rank_part_done(rank_part *p)
{
	mem_arena_free(p->arena);
	*p = (rank_part){0};
}
