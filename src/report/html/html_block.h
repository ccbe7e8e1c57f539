/* html_block.h - a data block of a page: a script element that browsers do not run and block.js
 * reads.
 *
 *	html_block b;
 *
 *	json_init(&w, html_block_open(&b, out, "deepclock-page", HTML_JSON), false);
 *	...
 *	html_block_close(&b);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_HTML_BLOCK_H
#define REPORT_HTML_BLOCK_H

#include "base/sink.h"

typedef enum html_block_kind { HTML_JSON, HTML_BYTES } html_block_kind;

typedef struct html_block {
	dck_sink *out;
	const char *id;
	html_block_kind kind;
	dck_sink sink;
	dck_buffer text;
} html_block;

/* Returns the sink for the data, which buffers them in memory; valid until html_block_close().
 * A browser unpacks a compressed block after the page is loaded. */
dck_sink *html_block_open(html_block *b, dck_sink *out, const char *id, html_block_kind kind);
/* Writes the element. JSON is written as text, with every '<' as \u003c, so that it cannot end the
 * element; JSON above HTML_PLAIN_MAX bytes, and bytes, are compressed and in base64. Errors go to
 * the sink of the page. */
#define HTML_PLAIN_MAX (256u << 10)
void html_block_close(html_block *b);

#endif
