/* html_writer.c - records as one HTML page for a browser, self-contained: the parts of the page
 * that were embedded at build time, and between them the records as blocks of data.
 *
 * The order is that of page.html: head and title; the text report in <noscript>, for browsers
 * without scripts; then the blocks deepclock-page (answers, names of metrics, columns in percent),
 * deepclock-records (the canonical JSON), and where they exist the sources and the timeline. The
 * scripts of page/ draw everything from these blocks; nothing is drawn here.
 *
 * Names in records are untrusted. In markup xml_text_put() escapes them, in blocks html_block.c
 * escapes '<', so that no name ends an element; and the page's Content-Security-Policy lets only
 * the embedded scripts run. Each block is held in memory until it is closed. Errors are sticky in
 * the sink; a text part without memory is empty.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "deepclock/unstable.h"
#include "record/build.h"
#include "report/html/html_block.h"
#include "report/html/html_page.h"
#include "report/html/html_sources.h"
#include "report/scale.h"
#include "report/text/text_parts.h"
#include "report/writers.h"
#include "report/xml_text.h"
#include <string.h>

#define WIDE 100000 /* columns: the browser breaks lines */

static void writer_part_put(dck_sink *out, int which)
{
	sink_put(out, html_parts[which].bytes, html_parts[which].n);
}

/* A function that writes one part of the text report. */
typedef void (*text_part)(page *p, const dck_record *r);

static const char *writer_text_of(const dck_record *r, text_part part, dck_buffer *ret)
{
	const dck_style style = {.utf8 = true};
	dck_sink sink;
	page p;

	*ret = (dck_buffer){0};
	dck_sink_buffer(&sink, ret);
	page_init(&p, &sink, &style);
	p.width = WIDE; /* a style has at most 400 */
	part(&p, r);
	return dck_sink_finish(&sink, NULL) == DCK_OK && ret->data ? ret->data : "";
}

/* Writes the lines as an array, without the blanks before them. */
static void lines_put(json_writer *w, char *text)
{
	json_begin_array(w);
	for (char *end; *text; text = end) {
		text += strspn(text, " \n");
		end = text + strcspn(text, "\n");
		const bool last = *end == '\0';
		*end = '\0';
		if (*text)
			json_text(w, text);
		end += !last;
	}
	json_end(w);
}

static void writer_answer_put(json_writer *w, const dck_record *r)
{
	dck_buffer what, answer;
	char none[] = "";

	writer_text_of(r, text_summary_what, &what);
	writer_text_of(r, text_summary_answer, &answer);
	json_begin_object(w);
	json_key(w, "what");
	if (what.data)
		what.data[strcspn(what.data, "\n")] = '\0';
	json_text(w, what.data ? what.data : "");
	lines_put(json_key(w, "answer"), answer.data ? answer.data : none);
	json_end(w);
	dck_buffer_done(&what);
	dck_buffer_done(&answer);
}

/* Writes name, help and direction of each metric that some record has, once. */
static void names_put(json_writer *w, const dck_record *const *records, size_t n)
{
	json_begin_object(w);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < records[i]->nmetrics; k++) {
			const dck_metric_def *def = records[i]->metrics[k].def;
			bool had = false;
			for (size_t j = 0; j < i && !had; j++)
				had = dck_record_metric(records[j], def->tag) != NULL;
			if (had)
				continue;
			json_begin_object(json_key(w, def->tag));
			json_text(json_key(w, "name"), def->name);
			json_text(json_key(w, "help"), def->help);
			json_text(json_key(w, "better"), def->better == DCK_BETTER_LOWER ? "lower"
							 : def->better == DCK_BETTER_HIGHER
							     ? "higher"
							     : "neither");
			json_end(w);
		}
	}
	json_end(w);
}

/* Writes the keys of columns that are shown in percent. */
static void shares_put(json_writer *w, const dck_record *const *records, size_t n)
{
	json_begin_array(w);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < records[i]->ntables; k++) {
			const dck_table *t = &records[i]->tables[k];
			for (size_t c = 0; c < t->ncolumns; c++)
				if (column_is_share(&t->columns[c]))
					json_text(w, t->columns[c].key);
		}
	json_end(w);
}

static void page_put(const dck_record *const *records, size_t n, dck_sink *out)
{
	html_block block;
	json_writer w;

	json_init(&w, html_block_open(&block, out, "deepclock-page", HTML_JSON), false);
	json_begin_object(&w);
	json_begin_array(json_key(&w, "answers"));
	for (size_t i = 0; i < n; i++)
		writer_answer_put(&w, records[i]);
	json_end(&w);
	names_put(json_key(&w, "metrics"), records, n);
	shares_put(json_key(&w, "shares"), records, n);
	json_end(&w);
	json_done(&w);
	html_block_close(&block);
}

static void records_put(const dck_record *const *records, size_t n, dck_sink *out)
{
	html_block block;
	json_writer w;

	json_init(&w, html_block_open(&block, out, "deepclock-records", HTML_JSON), false);
	json_begin_array(&w);
	for (size_t i = 0; i < n; i++)
		record_json_put(records[i], &w);
	json_end(&w);
	json_done(&w);
	html_block_close(&block);
}

static void sources_put(const dck_record *const *records, size_t n, const dck_style *style,
			dck_sink *out)
{
	html_block block;
	json_writer w;

	json_init(&w, html_block_open(&block, out, "deepclock-sources", HTML_JSON), false);
	html_sources_put(&w, records, n, style);
	json_done(&w);
	html_block_close(&block);
}

static void timeline_put(const dck_style *style, dck_sink *out)
{
	const dck_timeline *t = style->timeline;
	html_block block;

	sink_put(html_block_open(&block, out, "deepclock-timeline", HTML_JSON), t->json.data,
		 t->json.n);
	html_block_close(&block);
	sink_put(html_block_open(&block, out, "deepclock-timeline-columns", HTML_BYTES),
		 t->columns.data, t->columns.n);
	html_block_close(&block);
}

static void writer_title_put(const dck_record *const *records, size_t n, dck_sink *out)
{
	dck_buffer what = {0};

	if (n == 1)
		writer_text_of(records[0], text_summary_what, &what);
	if (what.data)
		what.data[strcspn(what.data, "\n")] = '\0';
	if (what.data && what.data[0])
		xml_text_put(out, what.data);
	else if (n == 1)
		xml_text_put(out, dck_record_name(records[0]) ? dck_record_name(records[0])
							      : "a measurement");
	else
		sink_fmt(out, "%zu records", n);
	sink_text(out, " - deepclock");
	dck_buffer_done(&what);
}

static void html_report(const dck_record *const *records, size_t n, const dck_style *style,
			dck_sink *out)
{
	dck_buffer text = {0};
	dck_sink sink;
	const dck_style plain = {.utf8 = true, .width = 100};
	const dck_style none = {0};

	if (!style)
		style = &none;

	dck_sink_buffer(&sink, &text);
	report_text.write(records, n, &plain, &sink);
	writer_part_put(out, HTML_HEAD);
	writer_title_put(records, n, out);
	writer_part_put(out, HTML_TEXT);
	if (dck_sink_finish(&sink, NULL) == DCK_OK && text.data)
		xml_text_put(out, text.data);
	writer_part_put(out, HTML_DATA);
	page_put(records, n, out);
	records_put(records, n, out);
	if (style->sources)
		sources_put(records, n, style, out);
	if (style->timeline)
		timeline_put(style, out);
	writer_part_put(out, HTML_TAIL);
	dck_buffer_done(&text);
}

static const char *html_missing(void)
{
	return html_parts[HTML_HEAD].bytes
		   ? NULL
		   : "this deepclock was built without D3, which draws the page: install node-d3 "
		     "and build it again";
}

const dck_writer report_html = {DCK_WRITER_HTML(WRITER), .write = html_report,
				.missing = html_missing};
