/* html_block.h - data inside a page: a script element that no browser runs and block.js reads.
 *
 *	html_block b;
 *
 *	json_init(&w, html_block_open(&b, out, "deepclock-page", HTML_JSON, true), false);
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
	bool packed;
	dck_sink sink;
	dck_buffer text;
} html_block;

/* The sink to write the data into; valid until html_block_close(). They are held in memory until
 * then. packed: compressed where that is shorter. Unpacking takes a browser until after the page is
 * loaded. */
dck_sink *html_block_open(html_block *b, dck_sink *out, const char *id, html_block_kind kind,
			  bool packed);
/* Writes the element. JSON stands there as it is, with every '<' as \u003c, so that nothing in it
 * can end the element; more than HTML_PLAIN_MAX bytes of it, and bytes, are compressed and in
 * base64. Errors go to the sink of the page. */
#define HTML_PLAIN_MAX (256u << 10)
void html_block_close(html_block *b);

#endif
