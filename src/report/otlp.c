/* otlp.c - metrics as one request of OTLP/HTTP in JSON, for POST to /v1/metrics of a collector of
 * OpenTelemetry, or for its file receiver: a resource for each record, a gauge for each metric, and
 * one for each end of its interval. A point has the time at which its record began, if it is known.
 *
 * Integers of 64 bits are texts, as protocol buffers in JSON have them; units are UCUM's. Absent
 * values are left out.
 *
 * Source: opentelemetry-proto, opentelemetry/proto/metrics/v1/metrics.proto, and "JSON Protobuf
 * Encoding" of the OTLP specification 1.x.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/json/json_write.h"
#include "base/name_index.h"
#include "base/sink.h"
#include "report/distinct_names.h"
#include "report/measured.h"
#include "report/writers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const char *const ucum[DCK_UNIT_COUNT] = {
    [DCK_UNIT_NONE] = "1",
    [DCK_UNIT_NS] = "ns",
    [DCK_UNIT_BYTE] = "By",
    [DCK_UNIT_FLOP] = "{flop}",
    [DCK_UNIT_ONE] = "1",
    [DCK_UNIT_HERTZ] = "Hz",
    [DCK_UNIT_WATT] = "W",
    [DCK_UNIT_JOULE] = "J",
    [DCK_UNIT_CELSIUS] = "Cel",
    [DCK_UNIT_BYTE_PER_S] = "By/s",
    [DCK_UNIT_FLOP_PER_S] = "{flop}/s",
    [DCK_UNIT_ITEM_PER_S] = "{item}/s",
    [DCK_UNIT_RUN_PER_S] = "{run}/s",
    [DCK_UNIT_TOKEN_PER_S] = "{token}/s",
};

static void otlp_attribute_put(json_writer *w, const char *key, const char *value)
{
	json_begin_object(w);
	json_text(json_key(w, "key"), key);
	json_begin_object(json_key(w, "value"));
	json_text(json_key(w, "stringValue"), value);
	json_end(w);
	json_end(w);
}

static void resource_put(json_writer *w, const dck_record *r)
{
	const dck_fact *cpu = dck_record_fact(r, "host", "cpu");

	json_begin_object(json_key(w, "resource"));
	json_begin_array(json_key(w, "attributes"));
	otlp_attribute_put(w, "service.name", "deepclock");
	if (cpu && cpu->value.kind == DCK_VALUE_TEXT)
		otlp_attribute_put(w, "host.cpu.model.name", cpu->value.as.text);
	json_end(w);
	json_end(w);
}

static void point_put(json_writer *w, const dck_record *r, double value)
{
	const measured_labels s = measured_labels_of(r);
	char time[24];

	json_begin_object(w);
	json_begin_array(json_key(w, "attributes"));
	for (size_t i = 0; i < s.n; i++)
		otlp_attribute_put(w, s.label[i].key, s.label[i].value);
	otlp_attribute_put(w, "record", r->id);
	json_end(w);
	if (r->began_unix_ns > 0) {
		json_key(w, "timeUnixNano");
		snprintf(time, sizeof time, "%" PRId64, r->began_unix_ns);
		json_text(w, time);
	}
	json_double(json_key(w, "asDouble"), value);
	json_end(w);
}

typedef struct otlp_gauge {
	const dck_metric *metric;
	double value;
} otlp_gauge;

static void gauge_put(json_writer *w, const dck_record *r, const otlp_gauge *g, const char *name)
{
	const dck_metric_def *def = g->metric->def;

	json_begin_object(w);
	json_text(json_key(w, "name"), name);
	json_text(json_key(w, "description"), def->help);
	json_text(json_key(w, "unit"), ucum[def->unit]);
	json_begin_object(json_key(w, "gauge"));
	json_begin_array(json_key(w, "dataPoints"));
	point_put(w, r, g->value);
	json_end(w);
	json_end(w);
	json_end(w);
}

static const char *gauge_name(const dck_metric_def *def, const char *suffix, mem_arena *a)
{
	char *name = mem_arena_fmt(a, "deepclock.%s%s", def->tag, suffix);

	for (char *at = name; at && *at; at++)
		*at = *at == '/' ? '.' : *at;
	return name;
}

/* Finds the gauges of a record and their names, each once: of metrics with one tag the first one,
 * and other names that occurred before have a number. false: no memory. */
static bool gauges_find(const dck_record *r, mem_arena *a, otlp_gauge *gauge, const char **name,
			size_t *ret_n)
{
	size_t n = 0;
	name_index tags;

	if (!name_index_init(&tags, a, r->nmetrics))
		return false;
	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];
		const char *tag = m->def->tag;

		if (!measured_has(m) || name_index_find(&tags, tag) != NAME_INDEX_NONE)
			continue;
		name_index_intern(&tags, tag);
		name[n] = gauge_name(m->def, "", a);
		gauge[n++] = (otlp_gauge){m, dck_value_number(&m->value)};
		if (m->level > 0 && isfinite(m->lo) && isfinite(m->hi)) {
			name[n] = gauge_name(m->def, ".lower", a);
			gauge[n++] = (otlp_gauge){m, m->lo};
			name[n] = gauge_name(m->def, ".upper", a);
			gauge[n++] = (otlp_gauge){m, m->hi};
		}
	}
	*ret_n = n;
	return !mem_arena_failed(a) && names_number(name, n, ".", "", a);
}

static bool otlp_record(json_writer *w, const dck_record *r, mem_arena *a)
{
	otlp_gauge *gauge = mem_arena_array(a, 3 * r->nmetrics, sizeof *gauge);
	const char **name = mem_arena_array(a, 3 * r->nmetrics, sizeof *name);
	size_t n;

	if (!gauge || !name || !gauges_find(r, a, gauge, name, &n))
		return false;
	json_begin_object(w);
	resource_put(w, r);
	json_begin_array(json_key(w, "scopeMetrics"));
	json_begin_object(w);
	json_begin_object(json_key(w, "scope"));
	json_text(json_key(w, "name"), "deepclock");
	json_text(json_key(w, "version"), r->version);
	json_end(w);
	json_begin_array(json_key(w, "metrics"));
	for (size_t i = 0; i < n; i++)
		gauge_put(w, r, &gauge[i], name[i]);
	json_end(w);
	json_end(w);
	json_end(w);
	json_end(w);
	return true;
}

static void otlp_report(const dck_record *const *records, size_t n, const dck_style *style,
			dck_sink *out)
{
	json_writer w;
	dck_err err;

	(void)style;
	json_init(&w, out, false);
	json_begin_object(&w);
	json_begin_array(json_key(&w, "resourceMetrics"));
	for (size_t i = 0; i < n; i++) {
		mem_arena *a = mem_arena_new(0);

		if (!a || !otlp_record(&w, records[i], a)) {
			(void)ERR_NO_MEMORY(&err, "for %zu metrics", records[i]->nmetrics);
			sink_fail(out, &err);
		}
		mem_arena_free(a);
	}
	json_end(&w);
	json_end(&w);
	json_done(&w);
}

const dck_writer report_otlp = {DCK_WRITER_OTLP(WRITER), .write = otlp_report};
