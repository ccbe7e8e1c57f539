/* html_block.c
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html_block.h"
#include "os/file/gzip.h"

dck_sink *html_block_open(html_block *b, dck_sink *out, const char *id, html_block_kind kind)
{
	b->out = out;
	b->id = id;
	b->kind = kind;
	b->text = (dck_buffer){0};
	dck_sink_buffer(&b->sink, &b->text);
	return &b->sink;
}

static void json_put(dck_sink *out, const char *text, size_t n)
{
	size_t begin = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] != '<')
			continue;
		sink_put(out, text + begin, i - begin);
		sink_text(out, "\\u003c");
		begin = i + 1;
	}
	sink_put(out, text + begin, n - begin);
}

/* RFC 4648, section 4. */
static void base64_put(dck_sink *out, const unsigned char *p, size_t n)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		const unsigned v = (unsigned)p[i] << 16 |
				   (i + 1 < n ? (unsigned)p[i + 1] << 8 : 0) |
				   (i + 2 < n ? p[i + 2] : 0);
		const char four[] = {digits[v >> 18], digits[v >> 12 & 63],
				     i + 1 < n ? digits[v >> 6 & 63] : '=',
				     i + 2 < n ? digits[v & 63] : '='};
		sink_put(out, four, sizeof four);
	}
}

/* false: zlib is not installed, or no memory. */
static bool pack(const dck_buffer *text, dck_buffer *ret)
{
	gzip_sink *g;
	dck_sink packed;

	dck_sink_buffer(&packed, ret);
	if (gzip_sink_open(&g, &packed, NULL) != DCK_OK)
		return false;
	sink_put(gzip_sink_in(g), text->data, text->n);
	return gzip_sink_close(g, NULL) == DCK_OK && dck_sink_finish(&packed, NULL) == DCK_OK;
}

void html_block_close(html_block *b)
{
	dck_buffer packed = {0};
	dck_err err;

	if (dck_sink_finish(&b->sink, &err) != DCK_OK) {
		sink_fail(b->out, &err);
		goto done;
	}
	const bool wanted = b->kind != HTML_JSON || b->text.n > HTML_PLAIN_MAX;
	const dck_buffer *bytes = wanted && pack(&b->text, &packed) ? &packed : &b->text;
	const bool plain = b->kind == HTML_JSON && bytes == &b->text;

	sink_fmt(b->out, "<script id=\"%s\" type=\"application/%s\"", b->id,
		 b->kind == HTML_JSON ? "json" : "octet-stream");
	if (!plain)
		sink_fmt(b->out, " data-encoding=\"%s\"", bytes == &packed ? "gzip" : "base64");
	sink_text(b->out, ">");
	if (plain)
		json_put(b->out, bytes->data, bytes->n);
	else
		base64_put(b->out, (const unsigned char *)bytes->data, bytes->n);
	sink_text(b->out, "</script>\n");
done:
	dck_buffer_done(&packed);
	dck_buffer_done(&b->text);
}
