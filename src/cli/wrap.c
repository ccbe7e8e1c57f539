/* wrap.c - wrapping and quoting.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <limits.h>
#include <stdint.h>
#include <string.h>

/* Writes at most `bytes` bytes and `columns` columns of the text, nothing if out is NULL. Returns
 * the number of columns. */
static unsigned wrap_part_put(FILE *out, const char *text, size_t bytes, unsigned columns)
{
	unsigned column = 0;

	for (size_t i = 0; i < bytes && text[i] && column < columns; column++) {
		bool shown;
		const size_t n = dck_text_char(text + i, &shown);

		if (out && shown)
			fwrite(text + i, 1, n, out);
		else if (out)
			fputc('?', out);
		i += n;
	}
	return column;
}

unsigned cli_columns(const char *text)
{
	return wrap_part_put(NULL, text, SIZE_MAX, UINT_MAX);
}

unsigned cli_put(FILE *out, const char *text, unsigned columns)
{
	return wrap_part_put(out, text, SIZE_MAX, columns);
}

void cli_pad(FILE *out, unsigned column, unsigned to)
{
	for (; column < to; column++)
		fputc(' ', out);
}

void cli_wrap(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " \n");
		const unsigned columns = wrap_part_put(NULL, text, n, UINT_MAX);

		if (n > 0) {
			if (!first && column + 1 + columns > width) {
				fputc('\n', out);
				cli_pad(out, 0, indent);
				column = indent;
			} else if (!first && column > indent) {
				fputc(' ', out);
				column++;
			}
			column += wrap_part_put(out, text, n, UINT_MAX);
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
	fputc('\n', out);
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
