/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/result/zone_result_fields.h"

#include <string.h>

static void result_put(wire_out *to, const result_field *fields, const void *from)
{
	for (const result_field *f = fields; f->number; f++) {
		const char *at = (const char *)from + f->at;
		const char *text;
		int64_t wide;
		uint32_t narrow;
		double real;

		switch (f->kind) {
		case RESULT_INT64:
			memcpy(&wide, at, sizeof wide);
			if (wide)
				wire_put_int(to, f->number, wide);
			break;
		case RESULT_INT32:
			memcpy(&narrow, at, sizeof narrow);
			if (narrow)
				wire_put_int(to, f->number, narrow);
			break;
		case RESULT_FLAG:
			if (*(const bool *)at)
				wire_put_int(to, f->number, 1);
			break;
		case RESULT_REAL:
			memcpy(&real, at, sizeof real);
			wire_put_double(to, f->number, real);
			break;
		case RESULT_TEXT:
			memcpy(&text, at, sizeof text);
			if (text)
				wire_put_text(to, f->number, text);
			break;
		}
	}
}

static void message_put(wire_out *to, uint32_t number, const result_field *fields, const void *from)
{
	const size_t message = wire_begin(to, number);

	result_put(to, fields, from);
	wire_end(to, message);
}

static void zone_put(wire_out *to, uint32_t number, const result_zone *z)
{
	const size_t message = wire_begin(to, number);
	const zone_histogram *h = z->stats.histogram;

	result_put(to, result_zone_fields, z);
	for (unsigned i = 0; i < z->stats.nbatches; i++)
		wire_put_double(to, ZONE_BATCH, z->stats.batch_ns[i]);
	if (h) {
		const size_t histogram = wire_begin(to, ZONE_HISTOGRAM);

		result_put(to, result_histogram_fields, h);
		wire_put_bytes(to, HISTOGRAM_COUNTS, h->counts, h->n * sizeof *h->counts);
		wire_end(to, histogram);
	}
	wire_end(to, message);
}

static void zone_rows_write(wire_out *to, uint32_t number, const zone_result *r,
			    const zone_aggregate *s)
{
	for (uint32_t i = 0; i < s->nstats; i++)
		if (s->stats[i])
			zone_put(to, number,
				 &(result_zone){.name = r->name_of(r->names, i),
						.id = i,
						.stats = *s->stats[i]});
}

static void sums_put(wire_out *to, const zone_result *r)
{
	const zone_aggregate *s = r->sums;

	for (size_t i = 0; i < s->percentiles.n; i++)
		wire_put_double(to, RESULT_PERCENTILE, s->percentiles.p[i]);
	zone_rows_write(to, RESULT_ZONE, r, s);
	if (r->device)
		zone_rows_write(to, RESULT_DEVICE_ZONE, r, r->device);
	for (uint32_t i = 1; i < s->paths.n; i++)
		message_put(to, RESULT_PATH, result_path_fields, &s->paths.rows[i]);
	result_put(to, result_sums_fields, s);
}

void zone_result_write(const zone_result *r, wire_out *to)
{
	const dck_list *capture = r->method.capture;

	result_put(to, result_fields, r);
	for (size_t i = 0; capture && i < capture->n; i++)
		wire_put_text(to, RESULT_CAPTURE, capture->item[i]);
	sums_put(to, r);
	for (size_t i = 0; i < r->table.n; i++)
		message_put(to, RESULT_THREAD, result_thread_fields, &r->table.rows[i]);
	message_put(to, RESULT_PROCESS, result_process_fields, &r->process);
	for (int k = 0; k < OS_USES; k++)
		wire_put_text(to, RESULT_USE_ABSENT, r->table.absent[k] ? r->table.absent[k] : "");
}
