/* cmd_history_list.c - deepclock history list: records, one in a row, as they are read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cmd_history.h"
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So many are shown when nothing says how many; a terminal holds them. */
#define TEXT_ROWS 30

/* --- texts that trend uses too */

const char *history_value_text(double v, dck_unit unit, char *buf, size_t size)
{
	switch (unit) {
	case DCK_UNIT_NS:
		dck_text_time(v, buf, size);
		return cli_units(buf);
	case DCK_UNIT_BYTE:
		return dck_text_bytes(v, buf, size);
	case DCK_UNIT_NONE:
	case DCK_UNIT_ONE:
		if (v == floor(v) && fabs(v) < 1e15)
			return dck_text_count((int64_t)v, buf, size);
		snprintf(buf, size, "%.4g", v);
		return buf;
	default:
		return dck_text_si(v, dck_unit_text(unit), buf, size);
	}
}

const char *history_time_text(int64_t unix_ns, char *buf, size_t size)
{
	const time_t s = (time_t)(unix_ns / 1000000000 - (unix_ns % 1000000000 < 0));
	struct tm tm = {0};

	gmtime_r(&s, &tm);
	if (strftime(buf, size, "%Y-%m-%d %H:%M", &tm) == 0)
		buf[0] = '\0';
	return buf;
}

void history_prefix(const char *text, unsigned columns)
{
	cli_pad(stdout, cli_put(stdout, text, columns), columns);
}

void history_cell(const char *text, unsigned columns)
{
	/* Only a terminal has an end on the right. */
	if (!isatty(STDOUT_FILENO)) {
		cli_pad(stdout, cli_put(stdout, text, UINT_MAX), columns);
		return;
	}
	if (cli_columns(text) <= columns || columns < 3) {
		history_prefix(text, columns);
		return;
	}
	cli_put(stdout, text, columns - 2);
	fputs("..", stdout);
}

/* --- the list */

typedef struct list {
	const char *metric;
	unsigned width, value; /* columns: of all, of a value */
	bool bold;
	uint64_t n;
	bool full; /* stdout takes no more */
} list;

/* Of "latency/median" the last part. */
static const char *metric_title(const char *tag)
{
	const char *slash = strrchr(tag, '/');

	return slash && slash[1] ? slash + 1 : tag;
}

static void head_text(const list *l)
{
	if (l->bold)
		fputs("\033[1m", stdout);
	fputs("id        time, UTC         commit    command     ", stdout);
	history_cell(metric_title(l->metric), l->value);
	fputs("  subject", stdout);
	puts(l->bold ? "\033[0m" : "");
}

static void entry_text(const list *l, const dck_history_entry *e)
{
	char time[32], value[32] = "-", subject[512];
	/* id, time, commit, command and value, with two blanks after each */
	const unsigned before = 8 + 16 + 8 + 10 + l->value + 10;
	const unsigned room = l->width > before + 8 ? l->width - before : 8;

	if (!isnan(dck_value_number(&e->value)))
		history_value_text(dck_value_number(&e->value), e->unit, value, sizeof value);
	history_prefix(e->id, 8);
	fputs("  ", stdout);
	history_cell(history_time_text(e->at_unix_ns, time, sizeof time), 16);
	fputs("  ", stdout);
	history_prefix(e->commit ? e->commit : "-", 8);
	fputs("  ", stdout);
	history_cell(e->verb ? e->verb : "-", 10);
	fputs("  ", stdout);
	history_cell(value, l->value);
	fputs("  ", stdout);
	snprintf(subject, sizeof subject, "%s%s", e->incomplete ? "(incomplete) " : "",
		 e->subject ? e->subject : "-");
	history_cell(subject, cli_columns(subject) < room ? cli_columns(subject) : room);
	putchar('\n');
}

static bool entry_print(void *self, const dck_history_entry *e)
{
	list *l = self;

	if (l->n == 0)
		head_text(l);
	entry_text(l, e);
	l->n++;
	return !ferror(stdout);
}

static void rest_say(const cli *c, const history_command *cfg, dck_history *h, uint64_t shown)
{
	dck_history_filter all = cfg->filter;
	uint64_t n;

	all.limit = 0;
	if (dck_history_size(h, &all, &n, NULL) != DCK_OK || c->common.quiet)
		return;
	if (n == 0)
		cli_message("no record fits");
	else if (shown < n)
		cli_message("the newest %" PRIu64 " of %" PRIu64 " records; --limit 0 shows all",
			    shown, n);
}

static int list_text(const cli *c, const history_command *cfg, dck_history *h)
{
	const dck_style style = cli_style(&c->common, STDOUT_FILENO);
	list l = {.metric = cfg->metric.metric ? cfg->metric.metric : "latency/median",
		  .width = style.width,
		  .value = style.width >= 100 ? 14 : 10,
		  .bold = style.colour};
	dck_history_filter filter = cfg->filter;
	const bool few = !cli_given(c, "limit");
	dck_err err;

	if (few)
		filter.limit = TEXT_ROWS;
	if (dck_history_list(h, &filter, l.metric, entry_print, &l, &err) != DCK_OK) {
		fflush(stdout);
		return cli_failed(&err);
	}
	fflush(stdout);
	if (few)
		rest_say(c, cfg, h, l.n);
	return cli_stdout_finish(CLI_OK);
}

int history_record_show(const cli *c, dck_record *r)
{
	const dck_style style = cli_style(&c->common, STDOUT_FILENO);
	const int code = cli_report(c, &(const dck_record *){r}, 1, &style);

	dck_record_free(r);
	return code;
}

int history_list(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_record *r;
	dck_err err;

	if (c->format.format == CLI_TEXT)
		return list_text(c, cfg, h);
	if (dck_history_list_record(h, &cfg->filter, cfg->metric.metric, c->title, &r, &err) !=
	    DCK_OK)
		return cli_failed(&err);
	return history_record_show(c, r);
}
