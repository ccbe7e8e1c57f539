/* csv_write.c - the fields of every CSV: text in quotes, numbers with all their digits and no
 * quotes (RFC 4180).
 *
 * A spreadsheet treats text that begins with = + - @ (or a tab or line break before it) as a
 * formula, quoted or not, and a record may be from an untrusted source: such text gets an
 * apostrophe as prefix, as OWASP's page on CSV injection advises. Numbers are never changed.
 * Control characters become a space or '?'.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_write.h"
#include "base/decimal.h"
#include "base/sink.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"
#include <math.h>
#include <string.h>

static bool csv_is_formula(const char *text)
{
	/* The last four are the same signs in full width. */
	static const char *const begins[] = {"=",  "+",	     "-",      "@",	 "\t",	  "\r",
					     "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"};

	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

void csv_text_begin(dck_sink *out, const char *text)
{
	sink_text(out, "\"");
	if (csv_is_formula(text))
		sink_text(out, "'");
}

void csv_text_part(dck_sink *out, const char *text, size_t bytes)
{
	for (const char *s = text, *end = text + bytes; s < end;) {
		bool shown;
		const size_t n = dck_text_char(s, &shown);

		if (n == 0 || n > (size_t)(end - s)) /* cut within a character */
			break;
		if (*s == '"')
			sink_text(out, "\"\"");
		else if (shown || *s == '\n' || *s == '\t')
			sink_put(out, s, n);
		else
			sink_text(out, (unsigned char)*s < 0x20 ? " " : "?");
		s += n;
	}
}

void csv_text(dck_sink *out, const char *text, size_t bytes)
{
	csv_text_begin(out, bytes > 0 ? text : "");
	csv_text_part(out, text, bytes);
	sink_text(out, "\"");
}

void csv_text_field(dck_sink *out, const char *text)
{
	if (text)
		csv_text(out, text, strlen(text));
	sink_text(out, ",");
}

void csv_word(dck_sink *out, const char *text)
{
	if (!text)
		return;
	const bool quotes = text[0] == '\0' || strpbrk(text, ",\"\r\n") || csv_is_formula(text);

	if (quotes)
		csv_text_begin(out, text);
	csv_text_part(out, text, strlen(text));
	if (quotes)
		sink_text(out, "\"");
}

void csv_real(dck_sink *out, double v)
{
	char text[NUM_TEXT_MAX];
	if (!isfinite(v))
		return;
	/* The shortest that reads back the same. */
	for (int digits = 15; digits <= 17; digits++) {
		decimal_general(text, digits, v);
		if (decimal_strtod(text, NULL) == v)
			break;
	}
	sink_text(out, text);
}
