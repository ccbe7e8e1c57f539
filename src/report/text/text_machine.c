/* text_machine.c - the limits of a machine as two tables: peaks by instruction set and type,
 * bandwidths by level and kind. Intervals are in the other formats: ten columns of them would not
 * fit a page.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"
#include "report/text/text_parts.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MACHINE_NAME_COLS 16
#define COLUMN_COLS	  12
#define COLUMN_COLS_MIN	  9 /* "write_nt", "1,043" */
#define ISAS_MAX	  32

static const char *const types[] = {"fp64", "fp32", "fp16", "bf16", "int8", NULL};
static const char *const stream_kinds[] = {"read", "write", "write_nt", "copy", "triad", NULL};
static const char *const threads[] = {"1", "all", NULL};

bool text_is_machine(const dck_record *r)
{
	return dck_record_metric(r, "peak/fp32/1") && !dck_record_metric(r, "latency/median");
}

/* Five columns next to the names; on a page that is too narrow for them they exceed it. */
static unsigned column_cols(const page *p)
{
	const unsigned cols = p->width > MACHINE_NAME_COLS ? (p->width - MACHINE_NAME_COLS) / 5 : 0;

	return cols > COLUMN_COLS ? COLUMN_COLS : cols < COLUMN_COLS_MIN ? COLUMN_COLS_MIN : cols;
}

/* In thousand millions, three digits. */
static void giga_text(double v, char *buf, size_t size)
{
	char number[NUM_TEXT_MAX];

	v /= 1e9;
	if (v >= 1000)
		dck_text_count((int64_t)(v + 0.5), number, sizeof number);
	else
		decimal_fixed(number, v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v);
	snprintf(buf, size, "%.30s", number);
}

static void percent_text(double v, char *buf, size_t size)
{
	char number[NUM_TEXT_MAX];

	decimal_fixed(number, 0, 100 * v);
	snprintf(buf, size, "%.30s", number);
}

/* The metric whose tag is made like that. */
static void DCK_PRINTF(4, 5)
    cell_put(page *p, const dck_record *r, void (*text)(double v, char *buf, size_t size),
	     const char *tag_fmt, ...)
{
	char tag[96], buf[FORMAT_SIZE] = "-";
	va_list ap;
	double v;

	va_start(ap, tag_fmt);
	vsnprintf(tag, sizeof tag, tag_fmt, ap);
	va_end(ap);
	if (text_metric(r, tag, &v))
		text(v, buf, sizeof buf);
	page_text_right(p, buf, column_cols(p));
}

static void machine_head_put(page *p, const dck_record *r, const char *suffix,
			     const char *const *names)
{
	char buf[FORMAT_SIZE], text[96];
	const char *n = text_fact(r, "machine", "threads", buf);

	snprintf(text, sizeof text, "%.60s thread%s", strcmp(suffix, "1") == 0 || !n ? suffix : n,
		 strcmp(suffix, "1") == 0 ? "" : "s");
	text_dim_from(p, 2);
	page_text_cut(p, text, MACHINE_NAME_COLS - 2);
	page_to(p, MACHINE_NAME_COLS);
	for (size_t i = 0; names[i]; i++)
		page_text_right(p, names[i], column_cols(p));
	page_line(p);
}

/* The element types; integers have a separate unit, if a column has space for it. */
static void machine_types_put(page *p, const dck_record *r, const char *suffix)
{
	const bool wide = column_cols(p) >= COLUMN_COLS;

	machine_head_put(
	    p, r, suffix,
	    wide ? (const char *const[]){"fp64", "fp32", "fp16", "bf16", "int8, GOP/s", NULL}
		 : types);
}

static void machine_name_put(page *p, const char *name)
{
	page_to(p, 2);
	page_text_cut(p, name, MACHINE_NAME_COLS - 2);
	page_to(p, MACHINE_NAME_COLS);
}

/* A row of the metrics "PREFIX/KEY/SUFFIX", one in a column. */
static void machine_row_put(page *p, const dck_record *r, const char *name,
			    void (*text)(double v, char *buf, size_t size), const char *prefix,
			    const char *const *keys, const char *suffix)
{
	machine_name_put(p, name);
	for (size_t k = 0; keys[k]; k++)
		cell_put(p, r, text, "%s%s/%s", prefix, keys[k], suffix);
	page_line(p);
}

/* The instruction sets of "peak/TYPE/ISA/...", in the order of the record. */
static size_t isas_find(const dck_record *r, char (*ret)[24])
{
	size_t n = 0, k;

	for (size_t i = 0; i < r->nmetrics; i++) {
		char isa[24], suffix[24];
		if (sscanf(r->metrics[i].def->tag, "peak/%*[^/]/%23[^/]/%23s", isa, suffix) != 2)
			continue;
		for (k = 0; k < n && strcmp(ret[k], isa) != 0; k++)
			;
		if (k == n && n < ISAS_MAX)
			memcpy(ret[n++], isa, sizeof isa);
	}
	return n;
}

static void peaks_put(page *p, const dck_record *r)
{
	char isa[ISAS_MAX][24], suffix[32], value[FORMAT_SIZE];
	const size_t n = isas_find(r, isa);

	text_title(p, "Peaks, GFLOP/s (int8: GOP/s, operations on whole numbers)");
	for (size_t t = 0; threads[t]; t++) {
		machine_types_put(p, r, threads[t]);
		for (size_t i = 0; i < n; i++) {
			snprintf(suffix, sizeof suffix, "%.23s/%s", isa[i], threads[t]);
			machine_row_put(p, r, isa[i], giga_text, "peak/", types, suffix);
		}
		text_style_set(p, PAGE_BOLD);
		machine_row_put(p, r, "best", giga_text, "peak/", types, threads[t]);
		if (dck_record_metric(r, "peak_share/fp32/1")) /* a record of before has none */
			machine_row_put(p, r, "of possible, %", percent_text, "peak_share/", types,
					threads[t]);
		if (!text_fact(r, "machine", "blas", value))
			continue;
		machine_name_put(p, "BLAS");
		cell_put(p, r, giga_text, "blas/dgemm/%s", threads[t]);
		cell_put(p, r, giga_text, "blas/sgemm/%s", threads[t]);
		page_line(p);
	}
}

static void bandwidths_put(page *p, const dck_record *r)
{
	static const struct {
		const char *name, *tags, *fact;
	} levels[] = {{"L1", "bandwidth/l1_", "cache_l1d"},
		      {"L2", "bandwidth/l2_", "cache_l2"},
		      {"L3", "bandwidth/l3_", "cache_l3"},
		      {"DRAM", "bandwidth/dram_", ""}};
	char buf[FORMAT_SIZE], name[FORMAT_SIZE + 8];

	text_title(p, "Bandwidth, GB/s (copy: read and written; triad: all three arrays)");
	for (size_t t = 0; threads[t]; t++) {
		machine_head_put(p, r, threads[t], stream_kinds);
		for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
			const char *size = text_fact(r, "machine", levels[i].fact, buf);
			snprintf(name, sizeof name, "%s%s%s", levels[i].name, size ? " " : "",
				 size ? size : "");
			machine_row_put(p, r, name, giga_text, levels[i].tags, stream_kinds,
					threads[t]);
		}
	}
}

static bool is_in_table(const char *tag)
{
	return strncmp(tag, "peak", 4) == 0 || strncmp(tag, "bandwidth/", 10) == 0;
}

/* Each reason once, with the first metric that has it. */
static void machine_reasons_put(page *p, const dck_record *r)
{
	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];
		bool said = false;
		if (m->value.kind != DCK_VALUE_ABSENT || !is_in_table(m->def->tag))
			continue;
		for (size_t k = 0; k < i && !said; k++)
			said = r->metrics[k].value.kind == DCK_VALUE_ABSENT &&
			       is_in_table(r->metrics[k].def->tag) &&
			       strcmp(r->metrics[k].value.as.text, m->value.as.text) == 0;
		if (said)
			continue;
		text_dim_from(p, 2);
		page_text(p, m->def->tag);
		page_space(p);
		page_text(p, "absent:");
		page_space(p);
		page_wrap(p, 4, m->value.as.text);
		page_line(p);
	}
}

bool text_machine_shows(const dck_metric *m)
{
	return is_in_table(m->def->tag) || strncmp(m->def->tag, "blas/", 5) == 0;
}

/* A result that was not measured now has a date. */
static void kept_put(page *p, const dck_record *r)
{
	char measured[FORMAT_SIZE], line[96];
	const dck_fact *kept = dck_record_fact(r, "machine", "kept");
	const char *at = text_fact(r, "machine", "measured", measured);

	if (!kept || kept->value.kind != DCK_VALUE_BOOL || !kept->value.as.b || !at ||
	    strlen(at) < 16)
		return;
	snprintf(line, sizeof line, "measured %.10s %.5s UTC and cached; --refresh measures again",
		 at, at + 11);
	text_dim_line(p, line);
}

void text_machine_brief(page *p, const dck_record *r)
{
	static const char *const levels[] = {"l1_read", "l2_read", "l3_read", "dram_read", NULL};
	char tag[96];

	for (size_t t = 0; threads[t]; t++) {
		machine_types_put(p, r, threads[t]);
		machine_row_put(p, r, "GFLOP/s", giga_text, "peak/", types, threads[t]);
	}
	for (size_t t = 0; threads[t]; t++) {
		double v;
		snprintf(tag, sizeof tag, "bandwidth/l1_read/%s", threads[t]);
		if (!text_metric(r, tag, &v))
			continue;
		machine_head_put(p, r, threads[t],
				 (const char *const[]){"L1", "L2", "L3", "DRAM", NULL});
		machine_row_put(p, r, "read, GB/s", giga_text, "bandwidth/", levels, threads[t]);
	}
	kept_put(p, r);
}

void text_machine(page *p, const dck_record *r)
{
	peaks_put(p, r);
	bandwidths_put(p, r);
	text_dim_line(p, "each is the fastest of its rounds; JSON and CSV have intervals");
	machine_reasons_put(p, r);
}
