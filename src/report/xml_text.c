/* SPDX-License-Identifier: Apache-2.0 */
#include "report/xml_text.h"
#include "base/utf8.h"
#include <string.h>

/* Returns whether XML 1.0 does not allow a character, or no text needs it: a control character of
 * one or two bytes, U+FFFE and U+FFFF. */
static bool is_refused(const char *text, size_t n)
{
	return n == 0 ||
	       (n == 1 && (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f)) ||
	       (n == 2 && memcmp(text, "\xc2\x80", 2) >= 0 && memcmp(text, "\xc2\xa0", 2) < 0) ||
	       (n == 3 && memcmp(text, "\xef\xbf\xbe", 3) >= 0);
}

void xml_text_put(dck_sink *out, const char *text)
{
	while (*text) {
		const size_t n = utf8_length(text);

		if (is_refused(text, n))
			sink_text(out, " ");
		else if (*text == '<')
			sink_text(out, "&lt;");
		else if (*text == '>') /* "]]>" may not be in text */
			sink_text(out, "&gt;");
		else if (*text == '&')
			sink_text(out, "&amp;");
		else if (*text == '"')
			sink_text(out, "&quot;");
		else
			sink_put(out, text, n);
		text += n > 0 ? n : 1;
	}
}
