/* openmetrics.c - metrics as OpenMetrics text, for the textfile collector of Prometheus'
 * node_exporter and everything else that scrapes: a gauge for each metric, one for each end of its
 * interval, and one with the record's time. The samples have no time, since the collector refuses
 * them.
 *
 * A family is complete before the next one begins, whatever records have it, and each series is in
 * it once: of several records with equal labels the last one that has the metric. Absent values are
 * left out. Units are the base units that the format wants: seconds, not nanoseconds.
 *
 * Source: OpenMetrics 1.0 (prometheus.io/docs/specs/om/open_metrics_spec), sections "ABNF" and
 * "Units and Base Units".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "base/sink.h"
#include "base/utf8.h"
#include "report/measured.h"
#include "report/writers.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *unit; /* suffix of the name; "": none */
	double factor;
} base_units[DCK_UNIT_COUNT] = {
    [DCK_UNIT_NONE] = {"", 1},
    [DCK_UNIT_NS] = {"seconds", 1e-9},
    [DCK_UNIT_BYTE] = {"bytes", 1},
    [DCK_UNIT_FLOP] = {"flops", 1},
    [DCK_UNIT_ONE] = {"", 1},
    [DCK_UNIT_HERTZ] = {"hertz", 1},
    [DCK_UNIT_WATT] = {"watts", 1},
    [DCK_UNIT_JOULE] = {"joules", 1},
    [DCK_UNIT_CELSIUS] = {"celsius", 1},
    [DCK_UNIT_BYTE_PER_S] = {"bytes_per_second", 1},
    [DCK_UNIT_FLOP_PER_S] = {"flops_per_second", 1},
    [DCK_UNIT_ITEM_PER_S] = {"items_per_second", 1},
    [DCK_UNIT_RUN_PER_S] = {"runs_per_second", 1},
    [DCK_UNIT_TOKEN_PER_S] = {"tokens_per_second", 1},
};

typedef enum family_kind { FAMILY_VALUE, FAMILY_LOWER, FAMILY_UPPER, FAMILY_KINDS } family_kind;

static const struct {
	const char *suffix, *help;
} family_texts[FAMILY_KINDS] = {
    [FAMILY_VALUE] = {"", ""},
    [FAMILY_LOWER] = {"_lower", "; lower end of its interval"},
    [FAMILY_UPPER] = {"_upper", "; upper end of its interval"},
};

static bool family_has(const dck_metric *m, family_kind kind)
{
	return kind == FAMILY_VALUE || (m->level > 0 && isfinite(m->lo) && isfinite(m->hi));
}

static double family_value(const dck_metric *m, family_kind kind)
{
	const double v = kind == FAMILY_VALUE	? dck_value_number(&m->value)
			 : kind == FAMILY_LOWER ? m->lo
						: m->hi;

	return v * base_units[m->def->unit].factor;
}

/* "latency/p99" in ns: deepclock_latency_p99_seconds. */
static void family_name_put(const dck_metric_def *d, family_kind kind, dck_sink *out)
{
	const char *unit = base_units[d->unit].unit;

	sink_text(out, "deepclock_");
	for (const char *at = d->tag; *at; at++) {
		const bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
				   (*at >= '0' && *at <= '9');

		sink_put(out, plain ? at : "_", 1);
	}
	sink_text(out, family_texts[kind].suffix);
	if (*unit)
		sink_fmt(out, "_%s", unit);
}

/* The format has no escapes for control characters, which steer a terminal, and no invalid UTF-8.
 */
static void escaped_put(const char *text, dck_sink *out)
{
	for (size_t n; *text; text += n) {
		const size_t length = utf8_length(text);

		n = length ? length : 1;
		if (*text == '\n')
			sink_text(out, "\\n");
		else if (*text == '\\' || *text == '"')
			sink_fmt(out, "\\%c", *text);
		else if (!length || utf8_is_control(text, n))
			sink_text(out, n == 1 ? " " : "?");
		else
			sink_put(out, text, n);
	}
}

static void labels_put(const dck_record *r, dck_sink *out)
{
	const measured_labels s = measured_labels_of(r);

	for (size_t i = 0; i < s.n; i++) {
		sink_fmt(out, "%s%s=\"", i ? "," : "{", s.label[i].key);
		escaped_put(s.label[i].value, out);
		sink_text(out, "\"");
	}
	if (s.n)
		sink_text(out, "}");
}

static void number_put(double v, dck_sink *out)
{
	char text[NUM_TEXT_MAX];

	decimal_general(text, 15, v);
	sink_fmt(out, " %s\n", text);
}

static void family_head_put(const dck_metric_def *d, family_kind kind, dck_sink *out)
{
	sink_text(out, "# TYPE ");
	family_name_put(d, kind, out);
	sink_text(out, " gauge\n");
	if (*base_units[d->unit].unit) {
		sink_text(out, "# UNIT ");
		family_name_put(d, kind, out);
		sink_fmt(out, " %s\n", base_units[d->unit].unit);
	}
	sink_text(out, "# HELP ");
	family_name_put(d, kind, out);
	sink_text(out, " ");
	escaped_put(d->help, out);
	sink_fmt(out, "%s\n", family_texts[kind].help);
}

/* The family of a metric, whose n rows are together. */
static void family_put(const measured_row *row, size_t n, family_kind kind, dck_sink *out)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!family_has(row[i].metric, kind))
			continue;
		if (!any)
			family_head_put(row[i].metric->def, kind, out);
		any = true;
		family_name_put(row[i].metric->def, kind, out);
		labels_put(row[i].record, out);
		number_put(family_value(row[i].metric, kind), out);
	}
}

static void times_put(const measured *m, dck_sink *out)
{
	static const char name[] = "deepclock_record_time_seconds";
	bool any = false;

	for (size_t i = 0; i < m->ngroups; i++) {
		const dck_record *r = m->newest[i];

		if (!r || r->began_unix_ns == 0)
			continue;
		if (!any)
			sink_fmt(out,
				 "# TYPE %s gauge\n# UNIT %s seconds\n# HELP %s when the newest "
				 "record began, since 1970\n",
				 name, name, name);
		any = true;
		sink_text(out, name);
		labels_put(r, out);
		number_put((double)r->began_unix_ns * 1e-9, out);
	}
}

static void openmetrics_report(const dck_record *const *records, size_t n, const dck_style *style,
			       dck_sink *out)
{
	measured m;
	dck_err err;

	(void)style;
	if (measured_make(records, n, &m, &err) != DCK_OK) {
		sink_fail(out, &err);
		return;
	}
	for (size_t i = 0, end; i < m.n; i = end) {
		for (end = i + 1; end < m.n && m.row[end].tag == m.row[i].tag;)
			end++;
		for (int kind = 0; kind < FAMILY_KINDS; kind++)
			family_put(m.row + i, end - i, (family_kind)kind, out);
	}
	times_put(&m, out);
	measured_done(&m);
	sink_text(out, "# EOF\n");
}

const dck_writer report_openmetrics = {DCK_WRITER_OPENMETRICS(WRITER), .write = openmetrics_report};
