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
#include "base/err.h"
#include "base/name_index.h"
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

#define LETTERS	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define NAME_PREFIX "deepclock_"
#define TIME_NAME   NAME_PREFIX "record_time_seconds"

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

/* Names of families, which occur once. */
typedef struct family_names {
	name_index used;
	size_t *count; /* of the families with this name before numbers were added */
	mem_arena *arena;
} family_names;

/* "latency/p99" in ns: deepclock_latency_p99_seconds. A name that occurred before, as of classes
 * with other scripts, has a number, and *ret_number is above 1. NULL: no memory. */
static const char *family_name(family_names *f, const dck_metric_def *d, family_kind kind,
			       size_t *ret_number)
{
	const char *unit = base_units[d->unit].unit, *gap = *unit ? "_" : "";
	const char *suffix = family_texts[kind].suffix;
	char *tag = mem_arena_dup(f->arena, d->tag);

	for (char *at = tag; at && *at; at++)
		if (!strchr(LETTERS, *at))
			*at = '_';
	const char *name =
	    tag ? mem_arena_fmt(f->arena, NAME_PREFIX "%s%s%s%s", tag, suffix, gap, unit) : NULL;
	const size_t before = name ? name_index_find(&f->used, name) : NAME_INDEX_NONE;

	*ret_number = 1;
	while (name && name_index_find(&f->used, name) != NAME_INDEX_NONE) {
		*ret_number = ++f->count[before] + 1;
		name = mem_arena_fmt(f->arena, NAME_PREFIX "%s%s_%zu%s%s", tag, suffix, *ret_number,
				     gap, unit);
	}
	if (name)
		name_index_intern(&f->used, name);
	return name;
}

/* The format has no escapes for control characters, which steer a terminal, and no invalid UTF-8.
 * quote: how a quotation mark is written. */
static void escaped_put(const char *text, const char *quote, dck_sink *out)
{
	for (size_t n; *text; text += n) {
		const size_t length = utf8_length(text);

		n = length ? length : 1;
		if (*text == '\n')
			sink_text(out, "\\n");
		else if (*text == '\\')
			sink_text(out, "\\\\");
		else if (*text == '"')
			sink_text(out, quote);
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
		escaped_put(s.label[i].value, "\\\"", out);
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

/* In a help the format has \" for a quotation mark, but older collectors refuse a file with that:
 * an apostrophe stands for it. */
static void family_head_put(const dck_metric_def *d, family_kind kind, const char *name,
			    size_t number, dck_sink *out)
{
	const char *unit = base_units[d->unit].unit;

	sink_fmt(out, "# TYPE %s gauge\n", name);
	if (*unit)
		sink_fmt(out, "# UNIT %s %s\n", name, unit);
	sink_fmt(out, "# HELP %s ", name);
	escaped_put(d->help, "'", out);
	sink_text(out, family_texts[kind].help);
	if (number > 1 ||
	    d->tag[strspn(d->tag, LETTERS "/_-.")]) { /* the name does not have all of it */
		sink_text(out, "; of ");
		escaped_put(d->tag, "'", out);
	}
	sink_text(out, "\n");
}

/* The family of a metric in a unit, whose n rows are together. false: no memory. */
static bool family_put(const measured_row *row, size_t n, family_kind kind, family_names *names,
		       dck_sink *out)
{
	const char *name = NULL;
	size_t number;

	for (size_t i = 0; i < n; i++) {
		const dck_metric *m = row[i].metric;

		if (!family_has(m, kind))
			continue;
		if (!name) {
			name = family_name(names, m->def, kind, &number);
			if (!name)
				return false;
			family_head_put(m->def, kind, name, number, out);
		}
		sink_text(out, name);
		labels_put(row[i].record, out);
		number_put(family_value(m, kind), out);
	}
	return true;
}

static bool families_put(const measured *m, dck_sink *out)
{
	family_names names = {.arena = m->arena};
	const size_t most = FAMILY_KINDS * m->n + 1;
	bool made = name_index_init(&names.used, m->arena, most);

	names.count = mem_arena_array(m->arena, most, sizeof *names.count);
	if (!made || !names.count)
		return false;
	name_index_intern(&names.used, TIME_NAME);
	for (size_t i = 0, end; i < m->n && made; i = end) {
		for (end = i + 1; end < m->n && m->row[end].tag == m->row[i].tag &&
				  m->row[end].metric->def->unit == m->row[i].metric->def->unit;)
			end++;
		for (int kind = 0; kind < FAMILY_KINDS && made; kind++)
			made = family_put(m->row + i, end - i, (family_kind)kind, &names, out);
	}
	return made;
}

static void times_put(const measured *m, dck_sink *out)
{
	static const char name[] = TIME_NAME;
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
	if (!families_put(&m, out)) {
		(void)ERR_NO_MEMORY(&err, "for the names of %zu metrics", m.n);
		sink_fail(out, &err);
	}
	times_put(&m, out);
	measured_done(&m);
	sink_text(out, "# EOF\n");
}

const dck_writer report_openmetrics = {DCK_WRITER_OPENMETRICS(WRITER), .write = openmetrics_report};
