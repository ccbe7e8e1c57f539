/* folded_read.c - line-based reader of folded stacks.
 *
 * A line is parsed from its end: the number after the last blank is the weight; the text before it
 * is the stack, split at each ';', outermost function first, a frame "name (file:line)" at its last
 * ':' and '('. Equal stacks are added up by stacks.h. A line that still ends in a number after the
 * weight was removed is counted: if all lines of at least two are such, the file is a difference of
 * two profiles (difffolded.pl) and is refused, as the second number would become part of a
 * function's name. folded_is() decides by the first lines that are not blank.
 *
 * One line is in memory at a time, LINE_MAX_BYTES at most (E_LIMIT); a NUL or a missing number is
 * E_FORMAT; stacks.h bounds the rest. Time is linear in the file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/profile/folded_read.h"

#include "base/decimal.h"
#include "base/err.h"
#include "profiler/read/profile/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest line has a few thousand functions with long names. */
enum { LINE_MAX_BYTES = 1 << 22 };
/* In which folded_is() looks for a stack. */
enum { LOOK_LINES = 10 };

typedef struct folded_reader {
	wire_source *source;
	uint64_t at;
	char *line; /* @owned; LINE_MAX_BYTES + 1 */
	size_t n;
	uint64_t number, stacks, twice; /* lines; stacks; stacks that end in another number */
	dck_err *err;
} folded_reader;

static dck_status reader_open(folded_reader *x, wire_source *s, dck_err *err)
{
	*x = (folded_reader){.source = s, .err = err, .line = mem_alloc(LINE_MAX_BYTES + 1)};
	DCK_NEED(x->line, err, "for the lines of a profile");
	return DCK_OK;
}

static bool folded_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A byte order mark of UTF-8, with which some programs begin a text. */
static void folded_mark_skip(folded_reader *x)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t n = sizeof mark - 1;

	if (x->number != 1 || x->n < n || memcmp(x->line, mark, n) != 0)
		return;
	x->n -= n;
	memmove(x->line, x->line + n, x->n);
}

/* Reads the next line, without its newline. *ret_more false: end of file. */
static dck_status folded_line_next(folded_reader *x, bool *ret_more)
{
	const wire_source *s = x->source;
	const uint8_t *bytes;
	size_t n;

	x->n = 0;
	x->number++;
	for (;;) {
		DCK_TRY(wire_source_peek(x->source, x->at, 1, &bytes, &n, x->err));
		if (n == 0)
			break;
		n = s->n - (size_t)(x->at - s->at);
		const uint8_t *end = memchr(bytes, '\n', n);
		const size_t part = end ? (size_t)(end - bytes) : n;
		if (part > LINE_MAX_BYTES - x->n)
			DCK_FAIL(x->err, E_LIMIT, "line %llu is longer than %d bytes",
				 (unsigned long long)x->number, LINE_MAX_BYTES);
		memcpy(x->line + x->n, bytes, part);
		x->n += part;
		x->at += part + (end != NULL);
		if (end)
			break;
	}
	*ret_more = n > 0 || x->n > 0;
	folded_mark_skip(x);
	while (x->n > 0 && folded_is_blank(x->line[x->n - 1]))
		x->n--;
	x->line[x->n] = '\0';
	return DCK_OK;
}

/* Returns where the number starts that ends the first n bytes of a line after a blank; 0: none. */
static size_t folded_number_at(const char *line, size_t n)
{
	size_t at = n;
	unsigned points = 0, digits = 0;

	while (at > 0 && (line[at - 1] == '.' || (line[at - 1] >= '0' && line[at - 1] <= '9'))) {
		at--;
		*(line[at] == '.' ? &points : &digits) += 1;
	}
	return at > 0 && digits > 0 && points <= 1 && folded_is_blank(line[at - 1]) ? at : 0;
}

/* --- a stack */

/* "name (file:line)" */
static bool folded_place_find(char *text, dck_frame *f)
{
	const size_t n = strlen(text);
	char *colon = strrchr(text, ':'), *end, *open;

	if (n < 6 || text[n - 1] != ')' || !colon || colon[1] < '0' || colon[1] > '9')
		return false;
	const unsigned long line = strtoul(colon + 1, &end, 10);
	if (end != text + n - 1 || line > UINT32_MAX)
		return false;
	*colon = '\0';
	open = strrchr(text, '(');
	if (!open || open == text || open[-1] != ' ' || open + 1 == colon) {
		*colon = ':';
		return false;
	}
	open[-1] = '\0';
	f->file = open + 1;
	f->line = (uint32_t)line;
	return true;
}

static void frame_push(stacks *s, char *text)
{
	dck_frame f = {.name = text};

	(void)folded_place_find(text, &f);
	if (text[0])
		stack_push_frame(s, &f);
	else
		stack_push_frame(s, &(dck_frame){.name = "(no name)"});
}

/* The frames of "outer;inner". */
static void frames_push(stacks *s, char *text)
{
	for (char *end; (end = strchr(text, ';')); text = end + 1) {
		*end = '\0';
		frame_push(s, text);
	}
	frame_push(s, text);
}

static dck_status stack_read(folded_reader *x, stacks *s, size_t column)
{
	const size_t at = folded_number_at(x->line, x->n);
	const double weight = at ? decimal_strtod(x->line + at, NULL) : -1;
	size_t n = at;

	if (x->n == 0)
		return DCK_OK;
	if (!stacks_weight_fits(weight) || memchr(x->line, '\0', x->n))
		DCK_FAIL(x->err, E_FORMAT,
			 "line %llu is not a folded stack: it does not end in a blank and a number",
			 (unsigned long long)x->number);
	while (n > 0 && folded_is_blank(x->line[n - 1]))
		n--;
	x->line[n] = '\0';
	x->stacks++;
	x->twice += folded_number_at(x->line, n) > 0;
	stack_open(s, 0);
	if (n == 0) /* py-spy writes one for threads without Python frames */
		stack_push_frame(s, &(dck_frame){.name = "(no stack)"});
	else
		frames_push(s, x->line);
	stack_add(s, s->path, column, weight);
	return DCK_OK;
}

static dck_status stacks_read(folded_reader *x, stacks *s)
{
	size_t column;
	bool more;

	DCK_TRY(stacks_column(s, "samples", DCK_UNIT_ONE, &column, x->err));
	for (;;) {
		DCK_TRY(folded_line_next(x, &more));
		if (!more)
			break;
		DCK_TRY(stack_read(x, s, column));
	}
	if (x->stacks > 1 && x->twice == x->stacks)
		DCK_FAIL(x->err, E_FORMAT,
			 "these are folded stacks of two profiles, with two numbers in each line: "
			 "give each profile as a separate file");
	return DCK_OK;
}

dck_status folded_read(wire_source *source, record_builder *b, dck_err *err)
{
	stacks s = {0};
	folded_reader x;

	DCK_TRY(reader_open(&x, source, err));
	dck_status status = stacks_init(&s, err);
	DCK_NEXT(status, stacks_read(&x, &s));
	if (status == DCK_OK) {
		record_fact_text(b, "profile", "format", "folded");
		record_fact_absent(b, "profile", "unit",
				   "folded stacks have none; most profilers count samples");
		status = stacks_write(&s, NULL, b, err);
	}
	stacks_done(&s);
	mem_free(x.line);
	return status;
}

static bool folded_line_is_text(const folded_reader *x)
{
	for (size_t i = 0; i < x->n; i++)
		if ((unsigned char)x->line[i] < ' ' && x->line[i] != '\t')
			return false;
	return true;
}

/* A first line that is damaged does not hide the format; text of another format has hardly such
 * lines. */
static bool lines_are_folded(folded_reader *x)
{
	unsigned lines = 0;
	bool more = true;

	while (lines < LOOK_LINES && folded_line_next(x, &more) == DCK_OK && more) {
		if (x->n == 0)
			continue;
		if (!folded_line_is_text(x))
			return false;
		if (folded_number_at(x->line, x->n) > 0 && (lines == 0 || strchr(x->line, ';')))
			return true;
		lines++;
	}
	return false;
}

/* Judges the lines of a source that is not JSON, which has long lines. */
static bool lines_are(wire_source *s, bool (*what)(folded_reader *x))
{
	folded_reader x;
	const uint8_t *first;
	size_t n;

	if (wire_source_peek(s, 0, 1, &first, &n, NULL) != DCK_OK || n == 0 || *first == '{' ||
	    reader_open(&x, s, NULL) != DCK_OK)
		return false;
	const bool is = what(&x);
	mem_free(x.line);
	return is;
}

bool folded_is(wire_source *s)
{
	return lines_are(s, lines_are_folded);
}

/* "program 1234 100.000: 1000 cycles:", and a frame "  401136 main+0x10 (/tmp/program)". */
static bool lines_are_perf(folded_reader *x)
{
	bool more = true;

	do
		if (folded_line_next(x, &more) != DCK_OK || !more)
			return false;
	while (x->n == 0 || x->line[0] == '#');
	if (!folded_line_is_text(x) || folded_is_blank(x->line[0]) || x->line[x->n - 1] != ':' ||
	    folded_line_next(x, &more) != DCK_OK || !more || !folded_is_blank(x->line[0]))
		return false;
	const char *address = x->line + strspn(x->line, " \t");
	const size_t digits = strspn(address, "0123456789abcdef");
	return digits > 0 && address[digits] == ' ';
}

bool perf_script_is(wire_source *s)
{
	return lines_are(s, lines_are_perf);
}
