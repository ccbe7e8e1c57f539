/* rank_part.c - a rank's part as a message of protocol buffers. It is written to memory, and read
 * from a file in two passes: the first counts the names. Of the ranges only the place in the file
 * is stored; all are checked once, so that later readers trust every name, kind and time. The clock
 * is fitted to the exchanges at once, which are not stored either.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_part.h"

#include "base/err.h"
#include "os/os.h"

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
	PART_LOST,
	PART_FIELDS
};
enum { ARENA_BYTES = 1024 }; /* of a part, without its ranges */
/* Sums of times do not overflow. */
#define PART_TIME_MAX (INT64_MAX / 8)

static const wire_kind part_kind = {"part of a rank", "the part of a rank", "the part of a rank"};

void rank_part_write(const rank_part *p, wire_out *to)
{
	wire_put_text(to, PART_HOST, p->host);
	wire_put_text(to, PART_BOOT, p->boot);
	if (p->why)
		wire_put_text(to, PART_WHY, p->why);
	if (p->lost)
		wire_put_text(to, PART_LOST, p->lost);
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

static bool part_time_is_valid(int64_t ns)
{
	return ns > -PART_TIME_MAX && ns < PART_TIME_MAX;
}

/* Fits the clock to the exchanges at f->data, which are not stored. */
static dck_status part_clock_fit(rank_part *p, wire_reader *in, const wire_field *f, dck_err *err)
{
	const size_t bytes = (size_t)f->value, n = bytes / sizeof(rank_exchange);
	rank_exchange *e = mem_alloc(bytes + 1);
	bool valid = true;

	DCK_NEED(e, err, "for the clock of a rank");
	const dck_status status = wire_source_copy(in->source, f->data, bytes, e, err);
	for (size_t i = 0; i < n && valid && status == DCK_OK; i++)
		valid = part_time_is_valid(e[i].sent_ns) && part_time_is_valid(e[i].received_ns) &&
			part_time_is_valid(e[i].answered_ns) &&
			part_time_is_valid(e[i].returned_ns);
	if (status == DCK_OK && valid)
		rank_clock_fit(e, n, &p->clock);
	mem_free(e);
	return valid ? status : wire_fail(in, err, "an exchange has an impossible time");
}

static dck_status part_text_read(rank_part *p, wire_reader *in, const wire_field *f,
				 const char **ret, dck_err *err)
{
	const size_t n = (size_t)f->value;
	char *text = mem_arena_alloc(p->arena, n + 1);

	DCK_NEED(text, err, "for the part of a rank");
	*ret = text;
	return wire_source_copy(in->source, f->data, n, text, err);
}

/* The field of each text, number and array: sets it from the bytes at f->data. */
static dck_status part_field_read(rank_part *p, wire_reader *in, const wire_field *f, dck_err *err)
{
	const size_t n = f->type == WIRE_BYTES ? (size_t)f->value : 0;
	const char **text = f->number == PART_HOST   ? &p->host
			    : f->number == PART_BOOT ? &p->boot
			    : f->number == PART_WHY  ? &p->why
			    : f->number == PART_LOST ? &p->lost
			    : f->number == PART_NAME ? &p->names[p->nnames]
						     : NULL;
	int64_t *number = f->number == PART_EXIT     ? &p->exit_code
			  : f->number == PART_SIGNAL ? &p->signal
						     : NULL;

	if (text && f->type == WIRE_BYTES) {
		p->nnames += f->number == PART_NAME;
		return part_text_read(p, in, f, text, err);
	}
	if (f->number == PART_EXCHANGES && f->type == WIRE_BYTES && n % sizeof *p->exchanges == 0)
		return part_clock_fit(p, in, f, err);
	if (f->number == PART_USAGE && n == sizeof p->usage)
		return wire_source_copy(in->source, f->data, n, &p->usage, err);
	if (number && f->type == WIRE_VARINT) {
		memcpy(number, &f->value, sizeof *number);
	} else if (f->number == PART_LEFT_OUT && f->type == WIRE_VARINT) {
		p->left_out = f->value;
	} else if (f->number == PART_WITHIN && f->type == WIRE_FIXED64) {
		memcpy(&p->within_ns, &f->value, sizeof p->within_ns);
	} else if (f->number == PART_RANGES && f->type == WIRE_BYTES &&
		   n % sizeof *p->ranges == 0) {
		p->ranges_at = f->data;
		p->nranges = n / sizeof *p->ranges;
	} else if (f->number < PART_FIELDS) {
		return wire_fail(in, err, "field %u has another type", (unsigned)f->number);
	}
	return DCK_OK;
}

static dck_status part_check(const rank_part *p, dck_err *err)
{
	bool valid = p->host && p->boot && !isnan(p->within_ns) && p->within_ns >= 0;
	const rank_range *r;
	rank_buffer buffer = {0};
	const dck_status status = rank_part_ranges(p, &buffer, &r, err);

	for (size_t i = 0; i < RANK_RESOURCES; i++)
		valid = valid && p->usage.n[i] >= 0;
	for (size_t i = 0; i < p->nranges && valid && status == DCK_OK; i++)
		valid = part_time_is_valid(r[i].begin_ns) && part_time_is_valid(r[i].end_ns) &&
			r[i].begin_ns <= r[i].end_ns && r[i].name < p->nnames &&
			r[i].kind < RANK_KINDS && (i == 0 || r[i].begin_ns >= r[i - 1].begin_ns);
	rank_buffer_done(&buffer);
	if (!valid)
		DCK_FAIL(err, E_FORMAT, "the part of a rank has an impossible name, time or kind");
	return status;
}

/* One pass over the fields; count: only counts the names. */
static dck_status part_pass(rank_part *p, wire_source *s, size_t *count, dck_err *err)
{
	wire_reader in;
	wire_field f;
	dck_status status;

	wire_reader_init(s, part_kind.whole, &in);
	while (wire_each(&in, &f, &status, err)) {
		if (count)
			*count += f.number == PART_NAME;
		else
			DCK_TRY(part_field_read(p, &in, &f, err));
	}
	return status;
}

dck_status rank_part_read(const char *path, rank_part *ret, dck_err *err)
{
	rank_part p = {.arena = mem_arena_new(ARENA_BYTES)};
	wire_source source = {.fd = -1};
	size_t names = 0;

	DCK_NEED(p.arena, err, "for the part of a rank");
	rank_clock_fit(NULL, 0, &p.clock);
	dck_status status = wire_source_open(path, &part_kind, &source, err);
	DCK_NEXT(status, part_pass(&p, &source, &names, err));
	p.file = mem_arena_dup(p.arena, path);
	p.names = mem_arena_array(p.arena, names + 1, sizeof *p.names);
	if (status == DCK_OK && p.names)
		status = part_pass(&p, &source, NULL, err);
	wire_source_close(&source);
	if (status == DCK_OK && mem_arena_failed(p.arena))
		status = ERR_NO_MEMORY(err, "for the part of a rank");
	DCK_NEXT(status, part_check(&p, err));
	if (status == DCK_OK)
		*ret = p;
	else
		rank_part_done(&p);
	return status;
}

dck_status rank_part_ranges(const rank_part *p, rank_buffer *b, const rank_range **ret,
			    dck_err *err)
{
	const size_t bytes = p->nranges * sizeof *b->data;

	*ret = p->ranges;
	if (p->ranges || p->nranges == 0)
		return DCK_OK;
	if (p->nranges > b->cap) {
		rank_buffer_done(b);
		b->data = mem_alloc(bytes);
		DCK_NEED(b->data, err, "for the ranges of a rank");
		b->cap = p->nranges;
	}
	const int fd = os_open_read(p->file);
	const ptrdiff_t got = fd < 0 ? -1 : os_read_at(fd, b->data, bytes, p->ranges_at);
	if (fd >= 0)
		os_close(fd);
	if (got != (ptrdiff_t)bytes)
		DCK_FAIL(err, E_IO, "cannot read the ranges of a rank in '%.200s'", p->file);
	*ret = b->data;
	return DCK_OK;
}

void rank_buffer_done(rank_buffer *b)
{
	mem_free(b->data);
	*b = (rank_buffer){0};
}

bool rank_part_same_clock(const rank_part *p, const rank_part *first)
{
	return p == first ||
	       (first->boot && *first->boot && p->boot && strcmp(p->boot, first->boot) == 0 &&
		!(fabs(p->clock.offset_ns) > p->clock.within_ns));
}

void rank_part_done(rank_part *p)
{
	mem_arena_free(p->arena);
	*p = (rank_part){0};
}
