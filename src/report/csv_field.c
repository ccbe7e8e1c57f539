/* csv_field.c - the fields of every CSV: text in quotes, numbers with all their digits and no
 * quotes (RFC 4180).
 *
 * A spreadsheet takes text that begins with = + - @ (or a tab or line break before it) for a
 * formula, quoted or not, and a record may come from anybody: such text gets an apostrophe in
 * front, as OWASP's page on CSV injection advises. Numbers are never changed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/csv.h"
#include "base/num.h"
#include "base/sink.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void csv_text_begin(dck_sink *out, const char *text)
{
	sink_text(out, "\"");
	if (text[0] != '\0' && strchr("=+-@\t\r\n", text[0]) != NULL)
		sink_text(out, "'");
}

void csv_text_part(dck_sink *out, const char *text, size_t bytes)
{
	for (const char *s = text; s < text + bytes; s++)
		sink_put(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
}

void csv_text(dck_sink *out, const char *text, size_t bytes)
{
	csv_text_begin(out, bytes > 0 ? text : "");
	csv_text_part(out, text, bytes);
	sink_text(out, "\"");
}

void csv_text_field(dck_sink *out, const char *text)
{
	if (text != NULL)
		csv_text(out, text, strlen(text));
	sink_text(out, ",");
}

void csv_real(dck_sink *out, double v)
{
	char text[NUM_TEXT_MAX];
	if (!isfinite(v))
		return;
	/* The shortest that reads back the same. */
	for (int digits = 15; digits <= 17; digits++) {
		num_general(text, digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	sink_text(out, text);
}

void csv_number(dck_sink *out, const dck_value *v)
{
	if (v->kind == DCK_VALUE_INT)
		sink_fmt(out, "%" PRId64, v->as.i);
	else if (v->kind == DCK_VALUE_REAL)
		csv_real(out, v->as.r);
}

void csv_interval(dck_sink *out, double lo, double hi, double level)
{
	for (int i = 0; i < 3; i++) {
		if (level > 0)
			csv_real(out, i == 0 ? lo : i == 1 ? hi : level);
		sink_text(out, ",");
	}
}
