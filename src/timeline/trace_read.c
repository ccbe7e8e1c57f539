/* trace_read.c - a trace in a file as a record, or in another form.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include "base/err.h"
#include "record/asked.h"
#include "timeline/gzip.h"
#include "timeline/perfetto_read.h"
#include "timeline/zone_collect.h"

#include <string.h>

static void facts_put(record_builder *b, const char *path, const trace_read_facts *f)
{
	record_fact_text(b, "subject", "kind", "trace");
	record_fact_text(b, "subject", "name", path);
	record_fact_text(b, "trace", "file", path);
	record_fact_text(b, "trace", "format", "perfetto");
	record_fact_int(b, "trace", "skipped_packets", DCK_UNIT_ONE, (int64_t)f->skipped);
	if (f->undated > 0)
		record_note(b, "trace-undated",
			    "%llu events have no time, "
			    "or one of a clock that the file does not explain, "
			    "and are not in the table",
			    (unsigned long long)f->undated);
	if (f->cut[0]) {
		record_set_incomplete(b, true);
		record_note(b, "trace-truncated", "%s: what stands before is in the table", f->cut);
	}
}

static dck_status read_into(const trace_format *f, dck_sink *sink, const char *path,
			    trace_read_facts *facts, dck_err *err)
{
	wire_source source;

	DCK_TRY(wire_source_open(path, &wire_perfetto, &source, err));
	const dck_status status = perfetto_read(&source, f, sink, facts, err);
	wire_source_close(&source);
	return status;
}

static dck_status record_make(zone_collect *c, const char *path, const trace_read_facts *facts,
			      dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin(NULL);

	DCK_NEED(b, err, "for the record");
	facts_put(b, path, facts);
	const dck_status status = zone_collect_put(c, b, err);
	if (status == DCK_OK)
		return record_finish(b, ret, err);
	record_drop(b);
	return status;
}

dck_status dck_trace_read(const char *path, dck_record **ret, dck_err *err)
{
	trace_read_facts facts = {0};
	zone_collect *c;
	dck_sink sink;

	DCK_TRY(zone_collect_new(&c, err));
	zone_collect_sink(c, &sink);
	dck_status status = read_into(&zone_collect_format, &sink, path, &facts, err);
	if (status == DCK_OK)
		status = record_make(c, path, &facts, ret, err);
	zone_collect_free(c);
	return status;
}

/* --- in another form */

const char *dck_trace_form_of(const char *path, bool *ret_gzip)
{
	const trace_ending e = trace_ending_of(path);

	*ret_gzip = e.gzip;
	return e.format ? e.format->name : NULL;
}

dck_status dck_trace_convert(const char *path, const char *form, bool gzip, dck_sink *out,
			     dck_trace_gaps *ret, dck_err *err)
{
	trace_read_facts facts = {0};
	const trace_format *f = trace_format_find(form);
	gzip_sink *g = NULL;

	if (!f)
		DCK_FAIL(err, E_ARG, "a trace has no form '%s'", form);
	if (gzip && !f->gunzips)
		DCK_FAIL(err, E_ARG, "what reads %s takes no gzip", form);
	if (gzip)
		DCK_TRY(gzip_sink_open(&g, out, err));
	dck_status status = read_into(f, g ? gzip_sink_in(g) : out, path, &facts, err);
	(void)gzip_sink_close(g, NULL); /* what failed is known to the sink */
	if (status == DCK_OK && ret) {
		*ret = (dck_trace_gaps){.undated_events = facts.undated};
		memcpy(ret->cut, facts.cut, sizeof facts.cut);
	}
	return status;
}
