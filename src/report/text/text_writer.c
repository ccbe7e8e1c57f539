/* text_writer.c - a record for people, in short or with all of its details.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_parts.h"
#include "report/writers.h"

static void text_report(const dck_record *const *records, size_t n, const dck_style *style,
			dck_sink *out)
{
	page p;

	page_init(&p, out, style);
	for (size_t i = 0; i < n; i++) {
		if (i > 0) {
			page_line(&p);
			sink_repeat(out, '-', p.width);
			page_line(&p);
		}
		const bool details = style && style->details;
		if (format_is_listing(records[i]) ? !dck_record_fact(records[i], "result", "answer")
						  : details)
			text_details(&p, records[i]);
		else
			text_summary(&p, records[i], details, style ? style->rest : NULL);
	}
}

const dck_writer report_text = {
    .name = "text",
    .ext = ".txt",
    .help = "a short answer; with --details all tables, a histogram and facts",
    .write = text_report};
