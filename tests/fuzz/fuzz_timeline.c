/* fuzz_timeline.c - any bytes as a trace of Perfetto or in JSON: refused with a message, or
 * converted to each format. The formats with a reader are read again, with no event missing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/write/formats.h"
#include "deepclock/unstable.h"
#include "fuzz.h"
#include "profiler/read/chrome/chrome_read.h"
#include "profiler/read/operators.h"
#include "profiler/read/perfetto/perfetto_read.h"

static dck_status read_to(const void *bytes, size_t n, const trace_format *f, dck_sink *sink,
			  trace_read_facts *facts)
{
	wire_source s;
	dck_err err = {0};

	dck_status status = wire_source_bytes(bytes, n, &wire_perfetto, &s, &err);
	if (status == DCK_OK) {
		status = chrome_is(&s) ? chrome_read(&s, NULL, f, sink, facts, &err)
				       : perfetto_read(&s, f, sink, facts, &err);
		wire_source_close(&s);
	}
	check((status == DCK_OK) == (err.msg[0] == '\0'));
	return status;
}

static dck_status read_as(const void *bytes, size_t n, const trace_format *f, dck_buffer *ret,
			  trace_read_facts *facts)
{
	static dck_sink sink;

	*ret = (dck_buffer){0};
	dck_sink_buffer(&sink, ret);
	const dck_status status = read_to(bytes, n, f, &sink, facts);
	check(dck_sink_finish(&sink, NULL) == DCK_OK);
	return status;
}

/* Reads the input as a record, and as a timeline so small that almost all ranges are merged. */
static void add_up(const void *bytes, size_t n)
{
	const timeline_lod_limits small = {.ranges = 48, .sums = 32, .values = 16};
	static dck_sink sink;
	record_builder *b = record_new();
	trace_read_facts facts;
	dck_record *record = NULL;
	operators *o = NULL;
	timeline_lod *p = NULL;
	dck_timeline t = {0};

	check(b && operators_new(&o, NULL) == DCK_OK);
	check(timeline_lod_new(&p, n % 2 ? &small : &(timeline_lod_limits){0}, NULL) == DCK_OK);
	operators_draw(o, p);
	operators_sink(o, &sink);
	if (read_to(bytes, n, &operators_format, &sink, &facts) == DCK_OK) {
		check(operators_put(o, b, NULL) == DCK_OK &&
		      record_finish(b, &record, NULL) == DCK_OK);
		dck_record_free(record);
		check(timeline_lod_finish(p, &t, NULL) == DCK_OK && t.json.n > 0);
		dck_timeline_done(&t);
	} else {
		record_drop(b);
	}
	timeline_lod_free(p);
	operators_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t nformats;
	const trace_format *const *formats = trace_formats(&nformats);

	add_up(bytes, n);
	for (size_t i = 0; i < nformats; i++) {
		dck_buffer first, second = {0};
		trace_read_facts facts, again;
		dck_status status = read_as(bytes, n, formats[i], &first, &facts);

		if (status == DCK_OK && i < 2) { /* the formats of Perfetto and Chrome */
			check(read_as(first.data, first.n, formats[i], &second, &again) == DCK_OK);
			check(again.cut[0] == '\0' && again.undated == 0);
			/* The JSON reader does not read samples. */
			check(again.samples == (i == 0 ? facts.samples : 0));
			check(again.skipped == (i == 0 ? 0 : facts.samples));
		}
		dck_buffer_done(&first);
		dck_buffer_done(&second);
	}
	return 0;
}
