/* text_details.c - the text report of a record in full; text_summary.c writes the summary.
 *
 * text_details() is the order of the sections: subject and result first; then verdicts, tables,
 * call trees, latencies, costs, operators, resources and facts; the notes last, where the reader's
 * eye is when the prompt returns. The sections follow from the contents of the record
 * (is_counted(), is_keyed(), details_is_timed()) and not from the command that made it. Metrics are
 * assigned to sections by the first part of their tags; is_other() takes the rest.
 *
 * A table is made in two passes over the metrics: the first finds the widths of its columns, the
 * second writes. The latencies have one unit, except a value that would be hard to read in it
 * (suits()). Nothing is computed: a metric without an interval has none, an absent one shows its
 * reason, and a section whose metrics share one reason states it once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_parts.h"
#include "base/common_prefix.h"
#include "base/name_index.h"
#include "base/units.h"
#include "record/record_internal.h"
#include "report/ops.h"
#include "deepclock/opt.h"
#include "report/writers.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define METRIC_NAME_COLS 13 /* of the first column, after an indent of 2 */

/* --- subject and engine */

void text_headline(page *p, const dck_record *r, const char *more)
{
	static const struct {
		const char *section, *key, *before, *after;
		const char *option; /* by which subjects may differ */
	} part[] = {{"engine", "name", " on ", "", "engine"},
		    {"engine", "version", " ", "", "engine"},
		    {"engine", "provider", ", ", "", "device"},
		    {"plan", "device", ", ", "", "device"},
		    {"engine", "threads", ", ", " threads", "threads"}};
	const char *varies = record_get_text(r, "compare", "varies");
	const char *title = record_get_text(r, "subject", "title");
	char buf[FORMAT_SIZE], said[FORMAT_SIZE] = "";
	const char *name = text_fact(r, "compare", "subjects", buf);

	if (!name)
		name = text_fact(r, "subject", "name", buf);
	text_style_set(p, PAGE_BOLD);
	if (title && title[0]) {
		page_wrap(p, 2, title);
		p->space = false;
		page_text(p, ":");
		p->space = true;
	}
	page_wrap(p, 2, name ? name : r->command ? r->command : "a measurement");
	text_style_set(p, PAGE_PLAIN);
	p->space = false;
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
		const char *v = text_fact(r, part[i].section, part[i].key, buf);
		char piece[FORMAT_SIZE + 160];

		if (!v || v[0] == '\0' || strcmp(v, "0") == 0)
			continue;
		/* A requested "gpu" is redundant next to the provider. */
		if (strcmp(v, "gpu") == 0 && dck_record_fact(r, "engine", "provider"))
			continue;
		if (varies && name_index_listed(varies, part[i].option))
			continue;
		/* "sleep 1 on command" is redundant, ... */
		if (strcmp(v, "command") == 0 || strcmp(v, "function") == 0)
			continue;
		/* ... as is "cpu, cpu" or "cuda:0, cuda", the provider and the device. */
		const size_t n = strlen(v);
		if (has_prefix(said, v) && (said[n] == '\0' || said[n] == ':'))
			continue;
		snprintf(said, sizeof said, "%s", v);
		bool counted = v[strspn(v, "0123456789")] == '\0';
		const char *after = !counted ? "" : strcmp(v, "1") == 0 ? " thread" : part[i].after;
		snprintf(piece, sizeof piece, "%s%.150s%s", part[i].before, v,
			 part[i].after[0] != '\0' ? after : "");
		if (p->col + page_columns(piece) > p->width) {
			page_text(p, part[i].before[0] == ',' ? "," : "");
			page_break(p, 2);
			page_text(p, piece + strspn(piece, ", "));
		} else {
			page_text(p, piece);
		}
	}
	if (p->col + page_columns(more) > p->width) {
		page_text(p, more[0] == ',' ? "," : "");
		page_break(p, 2);
		more += strspn(more, ", ");
	}
	page_text(p, more);
	page_line(p);
}

/* --- the number */

static void main_put(page *p, const dck_record *r, const format_scale *scale)
{
	char a[FORMAT_SIZE];
	double v;
	const dck_metric *asked = text_metric_asked(r), *m = text_metric_main(r, &v);

	page_line(p);
	if (asked && asked != m)
		text_absent_line(p, asked);
	page_to(p, 2);
	if (!m) {
		text_style_set(p, PAGE_ERROR);
		page_text(p, "no latency was measured");
		page_line(p);
		return;
	}
	text_style_set(p, PAGE_BOLD);
	page_text(p, m->def->name);
	page_fmt(p, " %s %s", format_scaled(scale, v, a), scale->unit);
	text_style_set(p, PAGE_PLAIN);
	text_scaled_interval(p, m, scale);
	m = text_metric(r, "throughput/items", &v);
	if (m) {
		format_number(v, m->def->unit, a);
		if (p->col + 3 + page_columns(a) > p->width) {
			page_break(p, 2);
			page_text(p, a);
		} else {
			page_fmt(p, "   %s", a);
		}
	}
	page_line(p);
}

/* Returns whether the record was made without running anything. */
static bool is_counted(const dck_record *r)
{
	return dck_record_metric(r, "cost/macs") && !dck_record_series(r, "latency") &&
	       !dck_record_metric(r, "latency/median");
}

/* "4.09 G MACs, 8.18 GFLOP, 25.6 M parameters" */
static void details_counts_put(page *p, const dck_record *r)
{
	static const struct {
		const char *tag, *name;
	} part[] = {{"cost/macs", "MACs"}, {"cost/flops", "FLOPs"}, {"cost/params", "parameters"}};
	double v;

	page_break(p, 2);
	text_style_set(p, PAGE_BOLD);
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
		const dck_metric *m = dck_record_metric(r, part[i].tag);
		bool known = text_metric(r, part[i].tag, &v) != NULL;
		page_text(p, i > 0 ? "," : "");
		if (i > 0)
			page_space(p);
		if (known)
			page_fmt(p, "%s %s", UNITS_SI(v, ""), part[i].name);
		else if (m && m->formula) {
			page_wrap(p, 4, m->formula);
			p->space = false;
			page_fmt(p, " %s", part[i].name);
		} else
			page_fmt(p, "%s not known", part[i].name);
	}
	page_line(p);
}

/* "300 runs after 42 warm-up runs, in 5 fresh processes; precision 0.45 % (requested 1.00 %)" */
static void effort_put(page *p, const dck_record *r)
{
	char text[512];
	double v, asked;
	size_t n = 0;

	const dck_metric *m = text_metric(r, "runs/count", &v);
	if (!m)
		return;
	n += (size_t)snprintf(text, sizeof text, "%s run%s", FORMAT_VALUE(&m->value, DCK_UNIT_ONE),
			      v == 1 ? "" : "s");
	m = text_metric(r, "runs/warmup", &v);
	if (m)
		n += (size_t)snprintf(text + n, sizeof text - n, " after %s warm-up run%s",
				      FORMAT_VALUE(&m->value, DCK_UNIT_ONE), v == 1 ? "" : "s");
	if (text_fact_number(r, "method", "processes", &v) && v > 1)
		n += (size_t)snprintf(text + n, sizeof text - n, ", in %s fresh processes",
				      FORMAT_NUMBER(v, DCK_UNIT_ONE));
	if (text_fact_number(r, "method", "precision_reached", &v)) {
		n += (size_t)snprintf(text + n, sizeof text - n, "; precision %s",
				      FORMAT_PERCENT(v));
		if (text_fact_number(r, "plan", "precision", &asked))
			snprintf(text + n, sizeof text - n, " (requested %s)",
				 FORMAT_PERCENT(asked));
	}
	text_dim_line(p, text);
}

/* --- tables */

/* The cells of a latency row as text; a column is as wide as its widest cell. */
typedef struct latency_cells {
	char value[FORMAT_SIZE], lo[FORMAT_SIZE], hi[FORMAT_SIZE];
	const char *unit;
} latency_cells;

static bool is_percent(const dck_metric *m)
{
	return strcmp(m->def->tag, "latency/cv") == 0;
}

static const format_scale percent_scale = {0.01, "%", 2};

/* Returns whether a value is easy to read in a unit, as 13826.8 and 0.02 are not: such a value gets
 * another unit. */
static bool suits(const format_scale *scale, double ns)
{
	const double v = fabs(ns) / scale->divide;

	return v == 0 || (v >= 0.1 && v < 9999.5);
}

static void cells_fill(const dck_metric *m, const format_scale *scale, latency_cells *c)
{
	double v[3] = {0, m->lo, m->hi};
	char *text[3] = {c->value, c->lo, c->hi};

	*c = (latency_cells){{0}, {0}, {0}, ""};
	if (!format_number_of(&m->value, &v[0]))
		return;
	const format_scale own =
	    is_percent(m)	 ? percent_scale
	    : suits(scale, v[0]) ? *scale
				 : format_scale_for(v[0], m->level > 0 ? (v[2] - v[1]) / 2 : NAN);
	for (int i = 0; i < (m->level > 0 ? 3 : 1); i++)
		format_scaled(&own, v[i], text[i]);
	c->unit = own.unit;
}

typedef struct widths {
	unsigned value, lo, hi, unit;
} widths;

static void details_absent_put(page *p, const dck_metric *m)
{
	unsigned col = p->col;

	if (!m->formula) {
		text_style_set(p, PAGE_DIM);
		page_text(p, "absent: ");
	}
	page_wrap(p, col + 2, m->formula ? m->formula : FORMAT_VALUE(&m->value, DCK_UNIT_NONE));
	page_line(p);
}

static void details_name_put(page *p, const dck_metric *m)
{
	page_to(p, 2);
	page_text_cut(p, m->def->name, p->width / 2);
	if (p->col >= 2 + METRIC_NAME_COLS)
		page_text(p, " ");
	page_to(p, 2 + METRIC_NAME_COLS);
}

/* Writes the description at the end of a line. On a terminal a long one is cut at the end of a
 * clause; JSON has all of it. */
static void how_put(page *p, unsigned col, const char *how)
{
	static const char *const ends[] = {", ", " (", "; ", ": ", " at "};
	size_t best = 0, n = strlen(how);

	if (p->terminal && col + 12 > p->width)
		return;
	page_space(p);
	page_to(p, col);
	text_style_set(p, PAGE_DIM);
	for (size_t i = 1; p->terminal && i < n && i <= p->width - col; i++)
		for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
			if (has_prefix(how + i, ends[k]))
				best = i;
	if (!p->terminal || page_columns(how) <= p->width - col || best == 0)
		page_text_cut(p, how, p->terminal ? p->width - col : 0);
	else
		page_fmt(p, "%.*s", (int)best, how);
}

static void latency_row(page *p, const dck_metric *m, const format_scale *scale, const widths *w)
{
	unsigned col = 2 + METRIC_NAME_COLS + w->value + 1 + w->unit + 2;
	latency_cells c;

	details_name_put(p, m);
	cells_fill(m, scale, &c);
	if (c.value[0] == '\0') {
		details_absent_put(p, m);
		return;
	}
	page_text_right(p, c.value, w->value);
	page_text(p, " ");
	page_text(p, c.unit);
	if (m->level > 0) {
		page_to(p, col);
		page_text(p, "[");
		page_text_right(p, c.lo, w->lo);
		page_text(p, ", ");
		page_text_right(p, c.hi, w->hi);
		page_text(p, "]");
		text_narrow(p, m);
	}
	if (m->how)
		how_put(p, col + (w->hi > 0 ? w->lo + w->hi + 6 : 0), m->how);
	page_line(p);
}

/* Returns the reason why all of these metrics are absent, or NULL if they do not share one. */
static const char *reason_shared(const dck_record *r, bool (*shown)(const dck_metric *m))
{
	const char *why = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];
		if (!shown(m))
			continue;
		if (m->value.kind != DCK_VALUE_ABSENT || !m->value.as.text ||
		    (why && strcmp(why, m->value.as.text) != 0))
			return NULL;
		why = m->value.as.text;
		n++;
	}
	return n > 1 ? why : NULL;
}

static void details_reason_put(page *p, const char *why)
{
	text_dim_from(p, 2);
	page_text(p, "all absent: ");
	page_wrap(p, 4, why);
	page_line(p);
}

static bool is_defined(const dck_metric *m)
{
	size_t n;
	const dck_metric_def *defs = dck_metric_defs(&n);
	for (size_t i = 0; i < n; i++)
		if (m->def == &defs[i])
			return true;
	return false;
}

/* Writes the legend of the brackets: the level and the kind of the intervals. */
static void details_legend_put(page *p, const dck_record *r, const format_levels *levels)
{
	char buf[FORMAT_SIZE];
	const char *kind = text_fact(r, "method", "interval", buf);

	text_dim_from(p, 2);
	page_text(p, "[ ]: ");
	page_text(p, FORMAT_LEVELS(levels));
	page_text(p, kind ? " interval," : " interval");
	page_space(p);
	page_wrap(p, 2, kind ? kind : "");
	page_line(p);
}

static void details_latency_put(page *p, const dck_record *r, const format_scale *scale)
{
	widths w = {0};
	format_levels levels = {0};
	bool any = false;
	latency_cells c;
	size_t n;

	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];
		if (!text_is_latency(m))
			continue;
		cells_fill(m, scale, &c);
		page_widen(&w.unit, is_percent(m) ? "" : c.unit);
		page_widen(&w.value, c.value);
		page_widen(&w.lo, c.lo);
		page_widen(&w.hi, c.hi);
		format_levels_add(&levels, m->level);
		any = true;
	}
	if (!any)
		return;
	text_title(p, "Latency");
	const char *why = reason_shared(r, text_is_latency);
	if (why) {
		details_reason_put(p, why);
		return;
	}
	/* In the order of the definitions, whatever the order in the record. */
	const dck_metric_def *defs = dck_metric_defs(&n);
	for (size_t i = 0; i < n; i++) {
		const dck_metric *m = dck_record_metric(r, defs[i].tag);
		if (m && text_is_latency(m))
			latency_row(p, m, scale, &w);
	}
	for (size_t i = 0; i < r->nmetrics; i++)
		if (text_is_latency(&r->metrics[i]) && !is_defined(&r->metrics[i]))
			latency_row(p, &r->metrics[i], scale, &w);
	if (levels.most > 0)
		details_legend_put(p, r, &levels);
	text_narrow_legend(p, r);
}

#define INTERVAL_COL (2 + METRIC_NAME_COLS + 15)
#define HOW_COL	     (INTERVAL_COL + 18)

static void plain_row(page *p, const dck_metric *m, bool with_how)
{
	const char *value = FORMAT_VALUE(&m->value, m->def->unit);

	details_name_put(p, m);
	if (m->value.kind == DCK_VALUE_ABSENT) {
		details_absent_put(p, m);
		return;
	}
	page_text(p, value);
	page_space(p);
	if (m->level > 0) {
		page_to(p, INTERVAL_COL);
		text_interval(p, m, value);
		page_space(p);
	}
	if (with_how && m->how)
		how_put(p, p->col + 1 < HOW_COL ? HOW_COL : p->col + 1, m->how);
	page_line(p);
}

static bool is_resource(const dck_metric *m)
{
	return has_prefix(m->def->tag, "throughput/") || has_prefix(m->def->tag, "cpu/") ||
	       has_prefix(m->def->tag, "memory/");
}

static bool is_phase(const dck_metric *m)
{
	return has_prefix(m->def->tag, "time/");
}

static bool is_cost(const dck_metric *m)
{
	return has_prefix(m->def->tag, "cost/") || has_prefix(m->def->tag, "profile/");
}

static bool is_device(const dck_metric *m)
{
	return has_prefix(m->def->tag, "device/") || has_prefix(m->def->tag, "transfer/");
}

static bool is_other(const dck_metric *m)
{
	return !text_is_latency(m) && !is_device(m) && !is_resource(m) && !is_phase(m) &&
	       !is_cost(m) && !text_machine_shows(m) && !has_prefix(m->def->tag, "runs/");
}

/* Returns whether the metric is one of a family, which a table has too: "compare/ratio/opt=all". */
static bool is_member(const dck_metric *m)
{
	size_t n;
	const dck_metric_def *defs = dck_metric_defs(&n);

	if (is_defined(m))
		return false;
	for (size_t i = 0; i < n; i++) {
		const size_t tag = strlen(defs[i].tag);
		if (tag > 2 && strcmp(defs[i].tag + tag - 2, "/*") == 0 &&
		    strncmp(m->def->tag, defs[i].tag, tag - 1) == 0)
			return true;
	}
	return false;
}

/* --- results in short that are not latencies: shown first, and not again */

static bool details_is_timed(const dck_record *r)
{
	bool any = dck_record_series(r, "latency") != NULL;
	for (size_t i = 0; i < r->nmetrics && !any; i++)
		any = text_is_latency(&r->metrics[i]);
	return any;
}

static bool is_key(const dck_metric *m)
{
	return (is_other(m) || has_prefix(m->def->tag, "throughput/")) && !is_member(m);
}

/* Returns whether the result is tables, or a verdict or numbers without latencies and operators. */
static bool is_keyed(const dck_record *r)
{
	bool any = r->ntables > 0;

	if (text_is_machine(r) || is_counted(r) || (!any && (details_is_timed(r) || r->nops > 0)))
		return false;
	for (size_t i = 0; i < r->nmetrics && !any; i++)
		any = is_key(&r->metrics[i]) || is_member(&r->metrics[i]);
	for (size_t i = 0; i < r->nfacts && !any; i++)
		any = format_is_verdict(&r->facts[i]);
	return any;
}

/* Returns whether the metric is a relative difference, which is shown in percent. */
static bool is_share_key(const dck_metric *m)
{
	const char *last = strrchr(m->def->tag, '/');
	return m->def->unit == DCK_UNIT_ONE && last && strcmp(last, "/resolution") == 0;
}

static const char *key_value(const dck_metric *m, char *buf)
{
	double v;

	if (is_share_key(m) && format_number_of(&m->value, &v))
		return format_percent(v, buf);
	return format_value(&m->value, m->def->unit, buf);
}

static void key_row(page *p, const dck_metric *m, unsigned name_cols, const widths *w)
{
	char buf[FORMAT_SIZE];

	page_to(p, 2);
	page_text_cut(p, m->def->name, name_cols);
	page_to(p, 2 + name_cols + 2);
	if (m->value.kind == DCK_VALUE_ABSENT) {
		details_absent_put(p, m);
		return;
	}
	const char *value = key_value(m, buf);
	text_style_set(p, PAGE_BOLD);
	page_text(p, value);
	text_style_set(p, PAGE_PLAIN);
	if (m->level > 0) {
		page_to(p, 2 + name_cols + 2 + w->value + 2);
		text_interval(p, m, value);
		text_level(p, m->level);
	}
	if (m->how)
		how_put(p, p->col + 2, m->how);
	page_line(p);
}

static void keys_put(page *p, const dck_record *r)
{
	char buf[FORMAT_SIZE];
	const bool timed = details_is_timed(r);
	unsigned name_cols = 0;
	widths w = {.value = 0};

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < r->nmetrics; i++) {
			const dck_metric *m = &r->metrics[i];
			/* The latency's line has it already. */
			if (!is_key(m) || (timed && strcmp(m->def->tag, "throughput/items") == 0))
				continue;
			if (pass == 1) {
				key_row(p, m, name_cols, &w);
				continue;
			}
			if (name_cols == 0 && !timed)
				page_line(p);
			page_widen(&name_cols, m->def->name);
			if (m->value.kind != DCK_VALUE_ABSENT)
				page_widen(&w.value, key_value(m, buf));
		}
		name_cols = name_cols < p->width / 2 ? name_cols : p->width / 2;
	}
}

/* The keys do not show these: members of families, where no table does, and resources. */
static bool is_loose_member(const dck_metric *m)
{
	return is_other(m) && is_member(m);
}

static bool is_loose_counter(const dck_metric *m)
{
	return text_is_counter(m) && is_member(m);
}

static bool is_own_resource(const dck_metric *m)
{
	return is_resource(m) && !is_key(m);
}

static void details_rows_put(page *p, const dck_record *r, const char *title,
			     bool (*shown)(const dck_metric *m), bool with_how)
{
	const char *why = reason_shared(r, shown);
	bool any = false;

	if (why) {
		text_title(p, title);
		details_reason_put(p, why);
		return;
	}
	for (size_t i = 0; i < r->nmetrics; i++) {
		if (!shown(&r->metrics[i]))
			continue;
		if (!any)
			text_title(p, title);
		any = true;
		plain_row(p, &r->metrics[i], with_how);
	}
}

/* --- counts: rounded, and to the last digit */

#define COUNT_NAME_COLS 15

static void count_row(page *p, const dck_metric *m)
{
	char buf[FORMAT_SIZE];
	double v;

	page_to(p, 2);
	page_text_cut(p, m->def->name, COUNT_NAME_COLS - 1);
	page_to(p, 2 + COUNT_NAME_COLS);
	if (!format_number_of(&m->value, &v)) {
		details_absent_put(p, m);
		return;
	}
	bool counted = m->value.kind == DCK_VALUE_INT && m->def->unit != DCK_UNIT_NS;
	const size_t tag = strlen(m->def->tag);
	bool share = tag > 9 && strcmp(m->def->tag + tag - 9, "/coverage") == 0;
	bool bare = m->def->unit == DCK_UNIT_ONE || m->def->unit == DCK_UNIT_FLOP;
	const char *rounded = share  ? format_percent(v, buf)
			      : bare ? dck_text_si(v, "", buf, sizeof buf)
				     : format_number(v, m->def->unit, buf);
	page_text_right(p, rounded, 9);
	if (counted && v >= 1000)
		page_text_right(p, UNITS_COUNT(m->value.as.i), 17);
	page_space(p);
	if (m->how)
		how_put(p, 2 + COUNT_NAME_COLS + 28, m->how);
	page_line(p);
}

static void costs_put(page *p, const dck_record *r)
{
	bool any = false;

	for (size_t i = 0; i < r->nmetrics; i++) {
		if (!is_cost(&r->metrics[i]))
			continue;
		if (!any)
			text_title(p, ops_timed(r) ? "Cost and profile" : "Cost");
		any = true;
		count_row(p, &r->metrics[i]);
	}
}

/* Returns whether it is the record of a device's limits. */
static bool is_device_limits(const dck_record *r)
{
	return dck_record_metric(r, "device/peak/fp32") != NULL;
}

static bool answers_first(const dck_record *r)
{
	return dck_record_fact(r, "result", "answer") &&
	       (text_is_machine(r) || is_device_limits(r) || r->nops > 0 || is_counted(r) ||
		dck_record_fact(r, "accuracy", "items") ||
		dck_record_fact(r, "tune", "configuration"));
}

void text_details(page *p, const dck_record *r)
{
	const format_scale scale = text_latency_scale(r);
	const bool keyed = is_keyed(r);

	text_headline(p, r, "");
	text_incomplete(p, r, true);
	text_verdicts(p, r);
	if (answers_first(r)) {
		page_line(p);
		text_answer(p, r);
	}
	text_next(p, r);
	if (text_is_machine(r))
		text_machine(p, r);
	else if (is_counted(r)) {
		if (!answers_first(r))
			details_counts_put(p, r);
	} else if (!is_device_limits(r) && (!keyed || details_is_timed(r)))
		main_put(p, r, &scale);
	if (keyed)
		keys_put(p, r);
	effort_put(p, r);
	text_accuracy(p, r, true);
	text_tables(p, r);
	text_trees(p, r);
	details_latency_put(p, r, &scale);
	text_histogram(p, r);
	costs_put(p, r);
	text_ops(p, r);
	details_rows_put(p, r, "Resources", keyed ? is_own_resource : is_resource, true);
	details_rows_put(p, r, "Phases", is_phase, false);
	details_rows_put(p, r, "Device", is_device, true);
	if (!keyed)
		details_rows_put(p, r, text_is_machine(r) ? "Overheads" : "Other metrics", is_other,
				 true);
	else
		details_rows_put(p, r, "Other metrics",
				 r->ntables == 0 ? is_loose_member : is_loose_counter, true);
	text_facts(p, r);
	text_notes(p, r);
}
