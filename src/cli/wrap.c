/* wrap.c - wrapping, quoting and escaping.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <string.h>

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

unsigned cli_columns(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += !is_continuation(*text);
	return n;
}

void cli_pad(FILE *out, unsigned column, unsigned to)
{
	for (; column < to; column++)
		fputc(' ', out);
}

static unsigned columns_of(const char *text, size_t n)
{
	unsigned columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += !is_continuation(text[i]);
	return columns;
}

unsigned cli_wrap(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " \n");
		unsigned columns = columns_of(text, n);

		if (n > 0) {
			if (!first && column + 1 + columns > width) {
				fputc('\n', out);
				cli_pad(out, 0, indent);
				column = indent;
			} else if (!first && column > indent) {
				fputc(' ', out);
				column++;
			}
			fwrite(text, 1, n, out);
			column += columns;
			first = false;
		}
		text += n;
		if (strncmp(text, "\n\n", 2) == 0) {
			fputs("\n\n", out);
			cli_pad(out, 0, indent);
			column = indent;
			first = true;
			text++;
		}
		text += *text != 0;
	}
	return column;
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80			  ? 1
		   : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
		   : s[0] >= 0xe0 && s[0] <= 0xef ? 3
		   : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
						  : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (n >= 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		       (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
		return 0;
	return n;
}

void cli_json_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s) {
		size_t n = utf8_length(s);

		if (n == 0) {
			fputs("\\ufffd", out);
			n = 1;
		} else if (*s < 32) {
			fprintf(out, "\\u%04x", *s);
		} else {
			if (*s == '"' || *s == '\\')
				fputc('\\', out);
			fwrite(s, 1, n, out);
		}
		s += n;
	}
	fputc('"', out);
}

/* RFC 4180. */
void cli_csv_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* In a cell of a table: what a sign of Markdown or HTML would be stays text. */
static void markdown_cell(FILE *out, const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			fputc(' ', out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else
			fprintf(out, strchr("\\|`*_~$", *text) ? "\\%c" : "%c", *text);
	}
}

void cli_table_head(int format, const char *names)
{
	if (format != CLI_MARKDOWN) {
		puts(names);
		return;
	}
	for (int line = 0; line < 2; line++) {
		fputs("|", stdout);
		for (const char *at = names; *at;) {
			const size_t n = strcspn(at, ",");

			if (line == 0)
				printf(" %.*s |", (int)n, at);
			else
				fputs(":---|", stdout);
			at += n + (at[n] == ',');
		}
		putchar('\n');
	}
}

void cli_table_row(int format, const char *const *cells, size_t n)
{
	fputs(format == CLI_MARKDOWN ? "|" : "", stdout);
	for (size_t i = 0; i < n; i++) {
		const char *text = cells[i] ? cells[i] : "";

		if (format == CLI_MARKDOWN) {
			putchar(' ');
			markdown_cell(stdout, text);
			fputs(" |", stdout);
		} else {
			fputs(i > 0 ? "," : "", stdout);
			cli_csv_text(stdout, text);
		}
	}
	putchar('\n');
}

typedef struct text_end {
	char *at, *end;
	bool full;
} text_end;

static void end_add(text_end *e, const char *text, size_t n)
{
	if (e->full || n >= (size_t)(e->end - e->at)) {
		e->full = true;
		return;
	}
	memcpy(e->at, text, n);
	e->at += n;
	*e->at = 0;
}

static bool word_is_plain(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_@%+=:,./-";

	return *word && strspn(word, plain) == strlen(word);
}

void cli_quote_words(char *const *words, char *buf, size_t size)
{
	text_end e = {buf, buf + size - 4, false};

	*buf = 0;
	for (size_t i = 0; words[i]; i++) {
		const char *word = words[i];

		if (i > 0)
			end_add(&e, " ", 1);
		if (word_is_plain(word)) {
			end_add(&e, word, strlen(word));
			continue;
		}
		end_add(&e, "'", 1);
		for (size_t n; *word; word += n) {
			n = strcspn(word, "'");
			end_add(&e, word, n);
			if (word[n] == '\'') {
				end_add(&e, "'\\''", 4);
				n++;
			}
		}
		end_add(&e, "'", 1);
	}
	if (e.full)
		memcpy(e.at, "...", 4);
}

void cli_title(const cli *c, char *buf, size_t size)
{
	int n = snprintf(buf, size, "deepclock ");

	cli_quote_words(c->argv + 1, buf + n, size - (size_t)n);
}
