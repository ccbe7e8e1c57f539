/* zone_result_read.c - reads the message of zone_result.h. The bytes come from another process:
 * each length is checked, each number that becomes an index too. Two passes: the first counts the
 * rows of each table, the second fills them, all in one arena.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/result/zone_result_fields.h"

#include "base/err.h"
#include "profiler/trace/zone_names.h"

#include <string.h>

static const wire_kind kind = {"result of a recording", "a result of a recording",
			       "a result of a recording"};

typedef struct result_reader {
	zone_result *to;
	zone_aggregate *sums, *device;
	zone_stats *stats;  /* nzones of them */
	const char **names; /* by number */
	dck_list *capture;
	size_t nzones, npaths, nthreads, ncapture, nabsent;
	size_t zone, thread; /* rows that are filled */
	uint32_t names_end;
	const uint8_t *bytes;
} result_reader;

static const char *result_text(result_reader *r, const wire_field *f)
{
	return mem_arena_dup_n(r->to->arena, (const char *)r->bytes + f->data, (size_t)f->value);
}

/* Sets the member of a row's field; false: the field has another type. */
static bool member_set(result_reader *r, const result_field *row, const wire_field *f, void *to)
{
	char *at = (char *)to + row->at;
	const uint32_t narrow = (uint32_t)f->value;
	const char *text;

	switch (row->kind) {
	case RESULT_INT64:
		memcpy(at, &f->value, sizeof f->value);
		return f->type == WIRE_VARINT;
	case RESULT_INT32:
		memcpy(at, &narrow, sizeof narrow);
		return f->type == WIRE_VARINT;
	case RESULT_FLAG:
		*(bool *)at = f->value != 0;
		return f->type == WIRE_VARINT;
	case RESULT_REAL:
		memcpy(at, &f->value, sizeof f->value);
		return f->type == WIRE_FIXED64;
	case RESULT_TEXT:
		if (f->type != WIRE_BYTES)
			return false;
		text = result_text(r, f);
		memcpy(at, &text, sizeof text);
		return true;
	}
	return true;
}

static dck_status field_read(result_reader *r, wire_reader *in, const result_field *fields,
			     const wire_field *f, void *to, dck_err *err)
{
	for (const result_field *row = fields; row->number; row++)
		if (row->number == f->number && !member_set(r, row, f, to))
			return wire_fail(in, err, "field %u has another type", (unsigned)f->number);
	return DCK_OK;
}

/* Reads a message that has fields of the table alone. */
static dck_status message_read(result_reader *r, const wire_reader *in, const result_field *fields,
			       const wire_field *of, void *to, dck_err *err)
{
	wire_reader message;
	wire_field f;
	dck_status status;

	DCK_TRY(wire_enter(in, of, "a row", &message, err));
	while (wire_each(&message, &f, &status, err))
		DCK_TRY(field_read(r, &message, fields, &f, to, err));
	return status;
}

static dck_status histogram_read(result_reader *r, const wire_reader *in, const wire_field *of,
				 zone_histogram **ret, dck_err *err)
{
	zone_histogram *h = mem_arena_array(r->to->arena, 1, sizeof *h);
	wire_reader message;
	wire_field f;
	dck_status status;

	DCK_NEED(h, err, "for the result of a recording");
	DCK_TRY(wire_enter(in, of, "a histogram", &message, err));
	while (wire_each(&message, &f, &status, err)) {
		DCK_TRY(field_read(r, &message, result_histogram_fields, &f, h, err));
		if (f.number != HISTOGRAM_COUNTS)
			continue;
		if (f.type != WIRE_BYTES || f.value % sizeof *h->counts)
			return wire_fail(&message, err, "its counts are not numbers");
		const size_t n = (size_t)f.value / sizeof *h->counts;
		h->counts = mem_arena_array(r->to->arena, n + 1, sizeof *h->counts);
		DCK_NEED(h->counts, err, "for the result of a recording");
		memcpy(h->counts, r->bytes + f.data, (size_t)f.value);
		h->n = (uint32_t)n;
	}
	DCK_TRY(status);
	*ret = h;
	return DCK_OK;
}

static dck_status zone_read(result_reader *r, const wire_reader *in, const wire_field *of,
			    result_zone *z, dck_err *err)
{
	wire_reader message;
	wire_field f;
	dck_status status;

	DCK_TRY(wire_enter(in, of, "a zone", &message, err));
	while (wire_each(&message, &f, &status, err)) {
		DCK_TRY(field_read(r, &message, result_zone_fields, &f, z, err));
		if (f.number == ZONE_BATCH && !z->stats.batch_ns) {
			z->stats.batch_ns =
			    mem_arena_array(r->to->arena, ZONE_BATCHES, sizeof *z->stats.batch_ns);
			DCK_NEED(z->stats.batch_ns, err, "for the result of a recording");
		}
		if (f.number == ZONE_BATCH && z->stats.nbatches < ZONE_BATCHES)
			memcpy(&z->stats.batch_ns[z->stats.nbatches++], &f.value, sizeof f.value);
		if (f.number == ZONE_HISTOGRAM)
			DCK_TRY(histogram_read(r, &message, &f, &z->stats.histogram, err));
	}
	return status;
}

/* First pass: the number of rows. */
static dck_status result_row_count(result_reader *r, wire_reader *in, const wire_field *f,
				   dck_err *err)
{
	result_zone z = {0};

	r->npaths += f->number == RESULT_PATH;
	r->nthreads += f->number == RESULT_THREAD;
	r->ncapture += f->number == RESULT_CAPTURE;
	if (f->number != RESULT_ZONE && f->number != RESULT_DEVICE_ZONE)
		return DCK_OK;
	r->nzones++;
	DCK_TRY(zone_read(r, in, f, &z, err));
	if (z.id >= ZONE_NAMES_MAX)
		return wire_fail(in, err, "a zone has number %u", (unsigned)z.id);
	if (z.id >= r->names_end)
		r->names_end = z.id + 1;
	return DCK_OK;
}

static dck_status rows_make(result_reader *r, dck_err *err)
{
	mem_arena *a = r->to->arena;

	r->sums = mem_arena_array(a, 1, sizeof *r->sums);
	r->device = mem_arena_array(a, 1, sizeof *r->device);
	r->stats = mem_arena_array(a, r->nzones + 1, sizeof *r->stats);
	r->names = mem_arena_array(a, (size_t)r->names_end + 1, sizeof *r->names);
	r->capture = mem_arena_array(a, 1, sizeof *r->capture);
	r->to->table.rows = mem_arena_array(a, r->nthreads + 1, sizeof *r->to->table.rows);
	DCK_NEED(!mem_arena_failed(a), err, "for the result of a recording");
	r->sums->stats = mem_arena_array(a, (size_t)r->names_end + 1, sizeof *r->sums->stats);
	r->device->stats = mem_arena_array(a, (size_t)r->names_end + 1, sizeof *r->device->stats);
	r->sums->paths.rows = mem_arena_array(a, r->npaths + 1, sizeof *r->sums->paths.rows);
	DCK_NEED(!mem_arena_failed(a), err, "for the result of a recording");
	r->sums->nstats = r->device->nstats = r->names_end;
	r->sums->paths.n = r->npaths ? 1 : 0;
	return DCK_OK;
}

static dck_status path_read(result_reader *r, const wire_reader *in, const wire_field *f,
			    dck_err *err)
{
	path_trie *p = &r->sums->paths;
	path_node *row = &p->rows[p->n];

	DCK_TRY(message_read(r, in, result_path_fields, f, row, err));
	if (row->parent >= p->n)
		return wire_fail(in, err, "a path comes before the one around it");
	row->depth = (uint16_t)(p->rows[row->parent].depth + 1);
	if (row->depth > PATH_TRIE_DEPTH_MAX)
		return wire_fail(in, err, "a path is too deep");
	p->n++;
	return DCK_OK;
}

static dck_status percentile_read(const wire_reader *in, const wire_field *f, zone_percentiles *to,
				  dck_err *err)
{
	double p;

	memcpy(&p, &f->value, sizeof p);
	if (f->type != WIRE_FIXED64 || !(p >= 0 && p <= 1))
		return wire_fail(in, err, "a percentile is not from 0 to 1");
	if (to->n < ZONE_PERCENTILES_MAX)
		to->p[to->n++] = p;
	return DCK_OK;
}

/* Second pass: fills the rows. */
static dck_status result_row_fill(result_reader *r, wire_reader *in, const wire_field *f,
				  dck_err *err)
{
	zone_result *to = r->to;
	result_zone z = {0};

	switch (f->number) {
	case RESULT_CAPTURE:
		if (f->type == WIRE_BYTES && r->capture->n < DCK_LIST_MAX)
			r->capture->item[r->capture->n++] = result_text(r, f);
		to->method.capture = r->capture;
		return DCK_OK;
	case RESULT_PERCENTILE:
		DCK_TRY(percentile_read(in, f, &r->sums->percentiles, err));
		r->device->percentiles = r->sums->percentiles;
		return DCK_OK;
	case RESULT_ZONE:
	case RESULT_DEVICE_ZONE:
		DCK_TRY(zone_read(r, in, f, &z, err));
		r->stats[r->zone] = z.stats;
		(f->number == RESULT_ZONE ? r->sums : r->device)->stats[z.id] =
		    &r->stats[r->zone++];
		r->names[z.id] = z.name;
		return DCK_OK;
	case RESULT_PATH:
		return path_read(r, in, f, err);
	case RESULT_THREAD:
		DCK_TRY(
		    message_read(r, in, result_thread_fields, f, &to->table.rows[r->thread], err));
		r->thread++;
		return DCK_OK;
	case RESULT_PROCESS:
		return message_read(r, in, result_process_fields, f, &to->process, err);
	case RESULT_USE_ABSENT:
		if (f->type == WIRE_BYTES && r->nabsent < OS_USES)
			to->table.absent[r->nabsent++] = result_text(r, f);
		return DCK_OK;
	default:
		DCK_TRY(field_read(r, in, result_sums_fields, f, r->sums, err));
		return field_read(r, in, result_fields, f, to, err);
	}
}

static dck_status fields_each(result_reader *r, wire_source *s,
			      dck_status (*f)(result_reader *, wire_reader *, const wire_field *,
					      dck_err *),
			      dck_err *err)
{
	wire_reader in;
	wire_field field;
	dck_status status;

	wire_reader_init(s, kind.whole, &in);
	while (wire_each(&in, &field, &status, err))
		DCK_TRY(f(r, &in, &field, err));
	return status;
}

static const char *result_name_of(void *self, uint32_t name)
{
	const result_reader *r = self;

	return name < r->names_end ? r->names[name] : NULL;
}

static dck_status zone_result_fill(result_reader *r, wire_source *s, dck_err *err)
{
	zone_result *to = r->to;

	DCK_TRY(fields_each(r, s, result_row_count, err));
	DCK_TRY(rows_make(r, err));
	DCK_TRY(fields_each(r, s, result_row_fill, err));
	DCK_NEED(!mem_arena_failed(to->arena), err, "for the result of a recording");
	for (size_t i = 0; i < r->thread; i++)
		to->table.rows[i].pid = to->process.pid;
	for (size_t k = r->nabsent; k < OS_USES; k++)
		to->table.absent[k] = "";
	to->table.n = r->thread;
	to->table.nprocesses = 1;
	to->sums = r->sums;
	to->device = r->device;
	to->name_of = result_name_of;
	to->names = r;
	if (!to->method.clock || !to->program)
		DCK_FAIL(err, E_FORMAT, "the result of a recording names no clock or program");
	return DCK_OK;
}

dck_status zone_result_read(const void *bytes, size_t n, zone_result *ret, dck_err *err)
{
	zone_result to = {.arena = mem_arena_new(0)};
	result_reader *r = to.arena ? mem_arena_array(to.arena, 1, sizeof *r) : NULL;
	wire_source source = {.fd = -1};
	dck_status status = DCK_OK;

	if (r)
		*r = (result_reader){.to = &to, .bytes = bytes};
	else
		status = ERR_NO_MEMORY(err, "for the result of a recording");
	DCK_NEXT(status, wire_source_bytes(bytes, n, &kind, &source, err));
	DCK_NEXT(status, zone_result_fill(r, &source, err));
	wire_source_close(&source);
	if (status == DCK_OK)
		*ret = to;
	else
		mem_arena_free(to.arena);
	return status;
}

void zone_result_done(zone_result *r)
{
	mem_arena_free(r->arena);
	*r = (zone_result){0};
}
