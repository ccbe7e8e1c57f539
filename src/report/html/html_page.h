/* html_page.h - the page of reports as it is embedded at build time (tools/embed_page.py makes it
 * of the files in page/), cut where the data of a report go.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H

#include <stddef.h>

typedef struct html_part {
	const unsigned char *bytes; /* NULL: this deepclock was built without D3 */
	size_t n;
} html_part;

/* What stands before the title, before the text for browsers without scripts, before the data, and
 * behind them. */
enum { HTML_HEAD, HTML_TEXT, HTML_DATA, HTML_TAIL, HTML_PARTS };
extern const html_part html_parts[HTML_PARTS];

#endif
