/* html_page.h - the HTML report page embedded at build time (tools/embed_page.py builds it from the
 * files in page/), split at the positions of the report's data.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H

#include <stddef.h>

typedef struct html_part {
	const unsigned char *bytes; /* NULL: this deepclock was built without D3 */
	size_t n;
} html_part;

/* Parts: before the title, before the text for browsers without scripts, before the data, and after
 * the data. */
enum { HTML_HEAD, HTML_TEXT, HTML_DATA, HTML_TAIL, HTML_PARTS };
extern const html_part html_parts[HTML_PARTS];

#endif
