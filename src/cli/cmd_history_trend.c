/* cmd_history_trend.c - deepclock history trend: a row for each point, its interval drawn to scale,
 * and the changes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cmd_history.h"
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Rows of points that a text shows when nothing says how many; all count for the changes. */
#define TEXT_ROWS 40
#define CHART_MAX 60

static const dck_history_change *change_at(const dck_history_trend *t, size_t point)
{
	for (size_t i = 0; i < t->nchanges; i++)
		if (t->changes[i].at == point)
			return &t->changes[i];
	return NULL;
}

/* --- text */

/* All numbers of a page in one unit, with as many decimals as tell its intervals apart. */
typedef struct scale {
	double factor;
	char unit[24];
	int decimals;
} scale;

typedef struct page {
	const dck_history_trend *t;
	dck_style style;
	scale scale;
	unsigned chart; /* columns; 0: none */
	double lo, hi;	/* of the chart */
} page;

/* From the smallest value or interval to the greatest. */
static void range_find(page *p)
{
	const dck_history_trend *t = p->t;

	p->lo = INFINITY;
	p->hi = -INFINITY;
	for (size_t i = 0; i < t->n; i++) {
		const dck_history_point *at = &t->points[i];

		p->lo = fmin(p->lo, at->level > 0 ? fmin(at->lo, at->value) : at->value);
		p->hi = fmax(p->hi, at->level > 0 ? fmax(at->hi, at->value) : at->value);
	}
}

/* The narrowest interval that is one; without any, a tenth of the range. */
static double finest(const page *p)
{
	double width = INFINITY;

	for (size_t i = 0; i < p->t->n; i++) {
		const dck_history_point *at = &p->t->points[i];

		if (at->level > 0 && at->hi > at->lo)
			width = fmin(width, at->hi - at->lo);
	}
	return isfinite(width) ? width : (p->hi - p->lo) / 10;
}

typedef struct step {
	double factor;
	const char *text;
} step;

static void scale_find(page *p)
{
	static const step times[] = {
	    {1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}, {1, "ns"}, {0, NULL}};
	static const step bytes[] = {
	    {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}, {0, NULL}};
	static const step si[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"},
				  {1e3, "k"},  {1, ""},	   {0, NULL}};
	const dck_unit unit = p->t->metric.unit;
	const bool plain = unit == DCK_UNIT_NS || unit == DCK_UNIT_BYTE;
	const step *s = unit == DCK_UNIT_NS ? times : unit == DCK_UNIT_BYTE ? bytes : si;
	const double most = fmax(fabs(p->lo), fabs(p->hi)), fine = finest(p);

	while (s[1].text && !(most >= s->factor))
		s++;
	p->scale.factor = s->factor;
	snprintf(p->scale.unit, sizeof p->scale.unit, "%s%s", s->text,
		 plain || unit == DCK_UNIT_ONE ? "" : dck_unit_text(unit));
	cli_units(p->scale.unit);
	/* Two digits of the finest difference, but never more than a number of nine. */
	p->scale.decimals = fine > 0 ? (int)ceil(1 - log10(fine / s->factor)) : 0;
	if (p->scale.decimals < 0)
		p->scale.decimals = 0;
	while (p->scale.decimals > 6 ||
	       (p->scale.decimals > 0 && most / s->factor * pow(10, p->scale.decimals) >= 1e7))
		p->scale.decimals--;
}

static const char *number_text(const page *p, double v, char *buf, size_t size)
{
	snprintf(buf, size, "%.*f", p->scale.decimals, v / p->scale.factor);
	return buf;
}

static unsigned column_of(const page *p, double v)
{
	const double share = p->hi > p->lo ? (v - p->lo) / (p->hi - p->lo) : 0.5;

	return (unsigned)lround(fmin(fmax(share, 0), 1) * (double)(p->chart - 1));
}

static void chart_draw(const page *p, const dck_history_point *at)
{
	const char *line = p->style.utf8 ? "\u2500" : "-", *dot = p->style.utf8 ? "\u25cf" : "o";
	const unsigned value = column_of(p, at->value);
	const unsigned lo = at->level > 0 ? column_of(p, at->lo) : value;
	const unsigned hi = at->level > 0 ? column_of(p, at->hi) : value;

	for (unsigned i = 0; i <= (hi > value ? hi : value); i++)
		fputs(i == value ? dot : i >= lo && i <= hi ? line : " ", stdout);
}

static void interval_text(const page *p, const dck_history_point *at, char *buf, size_t size)
{
	char lo[32], hi[32];

	buf[0] = '\0';
	if (at->level > 0)
		snprintf(buf, size, "[%s, %s]", number_text(p, at->lo, lo, sizeof lo),
			 number_text(p, at->hi, hi, sizeof hi));
}

/* "9.5 % worse", "up by 9.5 %". */
static void change_text(const dck_history_trend *t, const dck_history_change *c, char *buf,
			size_t size)
{
	const double share = c->before != 0 ? fabs(c->after / c->before - 1) : (double)NAN;
	const bool up = c->after > c->before;
	char by[40] = "";
	const char *way = up ? "up" : "down";

	if (isfinite(share))
		snprintf(by, sizeof by, " by %.*f %%", share < 0.1 ? 1 : 0, 100 * share);
	if (t->metric.better != DCK_BETTER_NEITHER)
		way = up == (t->metric.better == DCK_BETTER_HIGHER) ? "better" : "worse";
	snprintf(buf, size, "%s%s", way, by);
}

static void point_begin(const dck_history_point *at)
{
	char time[32];

	printf("  %s  ", history_time_text(at->at_unix_ns, time, sizeof time));
	history_prefix(at->commit ? at->commit : "-", 8);
	fputs("  ", stdout);
}

static void change_line(const page *p, const dck_history_change *c, bool whole)
{
	const dck_history_point *at = &p->t->points[c->at];
	char before[32], after[32], text[64];

	change_text(p->t, c, text, sizeof text);
	if (whole)
		point_begin(at);
	else
		fputs("  -- change: ", stdout);
	printf("%s, %s to %s%s%s, p %.2g", text, number_text(p, c->before, before, sizeof before),
	       number_text(p, c->after, after, sizeof after), p->scale.unit[0] ? " " : "",
	       p->scale.unit, c->p);
	puts(whole ? "" : " --");
}

static void point_line(const page *p, size_t i)
{
	const dck_history_point *at = &p->t->points[i];
	const dck_history_change *change = change_at(p->t, i);
	char value[32], interval[80];

	if (change)
		change_line(p, change, false);
	interval_text(p, at, interval, sizeof interval);
	point_begin(at);
	printf("%10s  ", number_text(p, at->value, value, sizeof value));
	history_cell(interval, 20);
	if (p->chart > 0) {
		fputs("  ", stdout);
		chart_draw(p, at);
	}
	putchar('\n');
}

/* What it is of; below, as far as that is known, what made it. */
static void head_print(const page *p)
{
	const dck_history_trend *t = p->t;
	const char *const more[] = {t->verb, t->engine, t->cpu};
	char made[512] = "";

	cli_put(stdout, t->metric.tag, UINT_MAX);
	fputs(" of ", stdout);
	cli_put(stdout, t->subject ? t->subject : "records without a subject", UINT_MAX);
	printf("%s%s\n", p->scale.unit[0] ? " in " : "", p->scale.unit);
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
		const size_t n = strlen(made);

		if (more[i])
			snprintf(made + n, sizeof made - n, "%s%s", n > 0 ? ", " : "", more[i]);
	}
	fputs("  ", stdout);
	if (cli_columns(made) + 2 > p->style.width)
		history_cell(made, p->style.width - 2);
	else
		cli_put(stdout, made, UINT_MAX);
	fputs("\n\n", stdout);
}

static void leaning_print(const page *p)
{
	char text[200];

	snprintf(text, sizeof text,
		 "points lean on the one before (correlation %.2f): noise looks like a change more "
		 "often than p says",
		 p->t->correlation);
	fputs("  ", stdout);
	cli_wrap(stdout, text, 2, 2, p->style.width);
	putchar('\n');
}

static void left_out(uint64_t n, const char *what)
{
	if (n > 0)
		printf("  %" PRIu64 " %s left out: %s\n", n, n == 1 ? "record" : "records", what);
}

static void trend_text(const cli *c, const history_command *cfg, const dck_history_trend *t,
		       size_t rows)
{
	page p = {.t = t, .style = cli_style(&c->common, STDOUT_FILENO)};
	const size_t first = rows > 0 && t->n > rows ? t->n - rows : 0;
	/* Two blanks, time, commit, value, interval, with two blanks each between. */
	const unsigned before = 2 + 16 + 2 + 8 + 2 + 10 + 2 + 20 + 2;

	if (p.style.width > before + 8)
		p.chart = p.style.width - before < CHART_MAX ? p.style.width - before : CHART_MAX;
	range_find(&p);
	scale_find(&p);
	head_print(&p);
	if (first > 0)
		printf("  ... %zu older points; --limit 0 shows all\n", first);
	for (size_t i = first; i < t->n; i++)
		point_line(&p, i);
	printf("%sChanges%s\n", t->n > 0 ? "\n" : "",
	       t->nchanges > 0 ? " (p: how often noise alone looks so)" : "");
	if (t->changes_absent)
		printf("  %s\n", t->changes_absent);
	else if (t->nchanges == 0)
		puts(cfg->trend.least > 0 ? "  none of that size that noise would not make (at 5 %)"
					  : "  none that noise would not make (at 5 %)");
	for (size_t i = 0; i < t->nchanges; i++)
		change_line(&p, &t->changes[i], true);
	if (t->leaning)
		leaning_print(&p);
	left_out(t->incomplete, "incomplete");
	left_out(t->other, "other machine or method (--mixed shows them)");
}

int history_trend(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_history_trend_config config = cfg->trend;
	dck_history_trend *t;
	dck_record *r;
	int code = CLI_OK;
	dck_err err;

	config.metric = c->nargs > 1 ? c->args[1] : NULL;
	if (dck_history_trend_get(h, &cfg->filter, &config, &t, &err) != DCK_OK)
		return cli_failed(&err);
	if (c->format.format == CLI_TEXT)
		trend_text(c, cfg, t, cli_given(c, "limit") ? 0 : TEXT_ROWS);
	else if (dck_history_trend_record(t, c->title, &r, &err) == DCK_OK)
		code = history_record_show(c, r);
	else
		code = cli_failed(&err);
	dck_history_trend_free(t);
	return cli_stdout_finish(code);
}
