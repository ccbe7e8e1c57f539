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

static void time_split(int64_t unix_ns, struct tm *tm, int64_t *ret_ns)
{
	time_t s = (time_t)(unix_ns / 1000000000);
	int64_t ns = unix_ns % 1000000000;

	if (ns < 0) {
		ns += 1000000000;
		s--;
	}
	memset(tm, 0, sizeof *tm);
	gmtime_r(&s, tm);
	*ret_ns = ns;
}

const char *history_time_text(int64_t unix_ns, char *buf, size_t size)
{
	struct tm tm;
	int64_t ns;

	time_split(unix_ns, &tm, &ns);
	if (strftime(buf, size, "%Y-%m-%d %H:%M", &tm) == 0)
		buf[0] = '\0';
	return buf;
}

const char *history_time_exact(int64_t unix_ns, char *buf, size_t size)
{
	struct tm tm;
	int64_t ns;
	size_t n;

	time_split(unix_ns, &tm, &ns);
	n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
	if (ns != 0)
		snprintf(buf + n, size - n, ".%09" PRId64 "Z", ns);
	else
		snprintf(buf + n, size - n, "Z");
	return buf;
}

/* Only LC_CTYPE is ever taken from the environment, so numbers have a point. */
const char *history_number(double v, char *buf, size_t size)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, size, "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	return buf;
}

/* At most `columns` of it; returns how many. */
static unsigned text_put(const char *text, unsigned columns)
{
	unsigned n = 0;

	for (const char *p = text; *p; p++) {
		const bool begins = ((unsigned char)*p & 0xc0) != 0x80;

		if (begins && n == columns)
			break;
		n += begins;
		putchar((unsigned char)*p < 32 || *p == 127 ? '?' : *p);
	}
	return n;
}

void history_text(const char *text)
{
	text_put(text, UINT_MAX);
}

void history_prefix(const char *text, unsigned columns)
{
	cli_pad(stdout, text_put(text, columns), columns);
}

void history_cell(const char *text, unsigned columns)
{
	/* Only a terminal has an end on the right. */
	if (!isatty(STDOUT_FILENO)) {
		cli_pad(stdout, text_put(text, UINT_MAX), columns);
		return;
	}
	if (cli_columns(text) <= columns || columns < 3) {
		history_prefix(text, columns);
		return;
	}
	text_put(text, columns - 2);
	fputs("..", stdout);
}

void history_interval_json(double lo, double hi, double level)
{
	char a[32], b[32], c[32];

	if (level > 0)
		printf(", \"lo\": %s, \"hi\": %s, \"level\": %s", history_number(lo, a, sizeof a),
		       history_number(hi, b, sizeof b), history_number(level, c, sizeof c));
}

void history_interval_cells(double lo, double hi, double level, char room[3][32], const char **ret)
{
	const double all[] = {lo, hi, level};

	for (int i = 0; i < 3; i++)
		ret[i] = level > 0 ? history_number(all[i], room[i], sizeof room[i]) : NULL;
}

/* --- the list */

typedef struct list {
	const char *metric;
	int format;
	unsigned width, value; /* columns: of all, of a value */
	bool bold;
	uint64_t n;
	bool full; /* stdout takes no more */
} list;

static double number_of(const dck_history_entry *e)
{
	return e->value.kind == DCK_VALUE_INT	 ? (double)e->value.as.i
	       : e->value.kind == DCK_VALUE_REAL ? e->value.as.r
						 : (double)NAN;
}

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

	if (!isnan(number_of(e)))
		history_value_text(number_of(e), e->unit, value, sizeof value);
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

static void member(const char *key, const char *text)
{
	printf(", \"%s\": ", key);
	if (text)
		cli_json_text(stdout, text);
	else
		fputs("null", stdout);
}

static void entry_json(const list *l, const dck_history_entry *e)
{
	char time[48], value[32];

	fputs(l->n > 0 ? ",\n  {\"id\": " : "\n  {\"id\": ", stdout);
	cli_json_text(stdout, e->id);
	member("time", history_time_exact(e->at_unix_ns, time, sizeof time));
	member("command", e->verb);
	member("line", e->command);
	member("subject", e->subject);
	member("engine", e->engine);
	member("cpu", e->cpu);
	member("machine", e->machine);
	member("method", e->method);
	member("commit", e->commit);
	printf(", \"incomplete\": %s, \"bytes\": %" PRIu64, e->incomplete ? "true" : "false",
	       e->bytes);
	member("metric", l->metric);
	if (isnan(number_of(e)))
		fputs(", \"value\": null", stdout);
	else
		printf(", \"value\": %s, \"unit\": \"%s\"",
		       history_number(number_of(e), value, sizeof value), dck_unit_text(e->unit));
	history_interval_json(e->lo, e->hi, e->level);
	putchar('}');
}

static void entry_row(const list *l, const dck_history_entry *e)
{
	const bool known = !isnan(number_of(e));
	char time[48], value[32], interval[3][32];
	const char *cells[] = {e->id,
			       history_time_exact(e->at_unix_ns, time, sizeof time),
			       e->verb,
			       e->subject,
			       e->engine,
			       e->machine,
			       e->method,
			       e->commit,
			       e->incomplete ? "true" : "false",
			       l->metric,
			       known ? history_number(number_of(e), value, sizeof value) : NULL,
			       NULL,
			       NULL,
			       NULL,
			       known ? dck_unit_text(e->unit) : NULL};

	history_interval_cells(e->lo, e->hi, e->level, interval, cells + 11);
	cli_table_row(l->format, cells, sizeof cells / sizeof cells[0]);
}

static bool entry_print(void *self, const dck_history_entry *e)
{
	static void (*const print[])(const list *l,
				     const dck_history_entry *e) = {[CLI_TEXT] = entry_text,
								    [CLI_JSON] = entry_json,
								    [CLI_CSV] = entry_row,
								    [CLI_MARKDOWN] = entry_row};
	list *l = self;

	if (l->format == CLI_TEXT && l->n == 0)
		head_text(l);
	print[l->format](l, e);
	l->n++;
	return !ferror(stdout);
}

static void rest_say(const history_command *cfg, dck_history *h, uint64_t shown)
{
	dck_history_filter all = cfg->filter;
	uint64_t n;

	all.limit = 0;
	if (dck_history_size(h, &all, &n, NULL) != DCK_OK || cfg->common.quiet)
		return;
	if (n == 0)
		cli_message("no record fits");
	else if (shown < n)
		cli_message("the newest %" PRIu64 " of %" PRIu64 " records; --limit 0 shows all",
			    shown, n);
}

int history_list(const cli *c, const history_command *cfg, dck_history *h)
{
	const dck_style style = cli_style(&cfg->common, STDOUT_FILENO);
	list l = {.metric = cfg->metric.metric ? cfg->metric.metric : "latency/median",
		  .format = cfg->format.format,
		  .width = style.width,
		  .value = style.width >= 100 ? 14 : 10,
		  .bold = style.colour};
	dck_history_filter filter = cfg->filter;
	const bool few = l.format == CLI_TEXT && !cli_given(c, "limit");
	dck_err err;

	if (few)
		filter.limit = TEXT_ROWS;
	if (l.format == CLI_CSV || l.format == CLI_MARKDOWN)
		cli_table_head(
		    l.format,
		    "id,time,command,subject,engine,machine,method,commit,incomplete,metric,value,"
		    "lo,hi,level,unit");
	if (l.format == CLI_JSON)
		putchar('[');
	if (dck_history_list(h, &filter, l.metric, entry_print, &l, &err) != DCK_OK) {
		fflush(stdout);
		return cli_failed(&err);
	}
	if (l.format == CLI_JSON)
		puts(l.n > 0 ? "\n]" : "]");
	fflush(stdout);
	if (few)
		rest_say(cfg, h, l.n);
	return cli_stdout_finish(CLI_OK);
}
