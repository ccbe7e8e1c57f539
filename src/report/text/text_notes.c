/* text_notes.c - the notes for people: in full, or in a line or two.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_parts.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *text;
	text_style ink;
} severity[] = {[DCK_INFO] = {"note:", PAGE_BOLD},
		[DCK_WARN] = {"warning:", PAGE_WARN},
		[DCK_ERROR] = {"error:", PAGE_ERROR}};

const dck_note *text_end_note(const dck_record *r)
{
	for (size_t i = 0; r->incomplete && i < r->nnotes; i++)
		if (r->notes[i].severity == DCK_ERROR)
			return &r->notes[i];
	return NULL;
}

void text_incomplete(page *p, const dck_record *r, bool spaced)
{
	const dck_note *n = text_end_note(r);

	if (!r->incomplete)
		return;
	if (spaced)
		page_line(p);
	page_to(p, 2);
	text_style_set(p, PAGE_ERROR);
	page_wrap(p, 4, "INCOMPLETE:");
	page_wrap(p, 4, n ? n->text : "the measurement did not reach its end");
	page_line(p);
}

bool text_note_is_own(const dck_record *r, const dck_note *n)
{
	return !n->cause && n != text_end_note(r);
}

static void notes_head_put(page *p, const dck_note *n)
{
	text_style_set(p, severity[n->severity].ink);
	page_text(p, severity[n->severity].text);
	text_style_set(p, PAGE_PLAIN);
	page_space(p);
}

size_t text_note_effects(const dck_record *r, const dck_note *n, char *buf, size_t size)
{
	size_t used = 0, count = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < r->nnotes && used < size; i++) {
		const dck_note *other = &r->notes[i];
		if (!other->cause || strcmp(other->cause, n->code) != 0)
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", count++ > 0 ? ", " : "",
					 other->code);
	}
	return count;
}

/* A command is to be copied, so it stays one line. */
static bool notes_is_command(const dck_note *n)
{
	return strcmp(n->code, "tune-apply") == 0;
}

static void notes_command_put(page *p, const dck_note *n)
{
	const size_t end = n->remedy[0] ? strlen(n->remedy) + 2 : 0; /* with the semicolon */

	page_text_middle(p, n->text, strlen(n->text) - end, UINT_MAX);
	if (!n->remedy[0])
		return;
	page_text(p, ";");
	page_space(p);
	page_wrap(p, 2, n->remedy);
}

static void notes_note_put(page *p, const dck_record *r, const dck_note *n)
{
	char effects[TEXT_NOTE_BYTES];

	notes_head_put(p, n);
	if (notes_is_command(n))
		notes_command_put(p, n);
	else
		page_wrap(p, 2, n->text);
	if (p->col + page_columns(n->code) + 3 > p->width) {
		page_break(p, 2);
	}
	text_style_set(p, PAGE_DIM);
	page_text(p, "[");
	page_wrap(p, 2, n->code);
	p->space = false;
	if (text_note_effects(r, n, effects, sizeof effects) > 0) {
		page_text(p, ";");
		page_space(p);
		page_wrap(p, 2, "with it");
		page_wrap(p, 2, effects);
		p->space = false;
	}
	page_text(p, "]");
	page_line(p);
}

void text_notes(page *p, const dck_record *r)
{
	static const dck_severity order[] = {DCK_INFO, DCK_WARN, DCK_ERROR};

	bool any = false;

	for (size_t i = 0; i < r->nnotes; i++)
		any = any || text_note_is_own(r, &r->notes[i]);
	if (any)
		page_line(p);
	/* The worst last: it is what stays in sight. */
	for (size_t s = 0; s < 3; s++)
		for (size_t i = 0; i < r->nnotes; i++)
			if (r->notes[i].severity == order[s] && text_note_is_own(r, &r->notes[i]))
				notes_note_put(p, r, &r->notes[i]);
}

/* Returns the length of the text's prefix that is understandable on its own in at most `cols`
 * columns; the whole length if no part is. */
static size_t clause_end(const char *text, unsigned cols)
{
	static const char *const ends[] = {"; ", ": ", ". ", ", ", " ("};
	const size_t n = strlen(text);
	size_t strong = 0, weak = 0;

	if (page_columns(text) <= cols)
		return n;
	int open = 0; /* within parentheses nothing ends */
	for (size_t i = 1; i < n && page_columns_n(text, i) <= cols; i++) {
		open += (text[i - 1] == '(') - (text[i - 1] == ')');
		for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
			if (open == 0 && strncmp(text + i, ends[k], strlen(ends[k])) == 0)
				*(k < 3 ? &strong : &weak) = i;
	}
	/* A much shorter clause would omit too much. */
	if (strong > 0 && page_columns_n(text, strong) >= cols / 3)
		return strong;
	return weak > strong ? weak : strong > 0 ? strong : n;
}

void text_note_brief(page *p, const dck_note *n, unsigned lines)
{
	const unsigned width = p->width - 1, head = page_columns(severity[n->severity].text) + 1;
	/* Wrapping leaves some blanks at the ends of lines. */
	const unsigned cols = lines * (width - 4) - head, all = page_columns(n->text);
	const char *remedy = all > cols ? n->remedy : "";
	const size_t bytes = remedy[0] ? strlen(remedy) + 2 : 0; /* with the semicolon */
	const unsigned end = remedy[0] ? page_columns(remedy) + 2 : 0;
	char text[TEXT_NOTE_BYTES];

	notes_head_put(p, n);
	if (notes_is_command(n)) {
		notes_command_put(p, n);
		page_line(p);
		return;
	}
	/* A long note loses the end of the explanation, never the remedy. */
	snprintf(text, sizeof text, "%.*s", (int)(strlen(n->text) - bytes), n->text);
	text[clause_end(text, cols > end + width / 2 ? cols - end : width / 2)] = '\0';
	page_wrap(p, 2, text);
	if (remedy[0]) {
		p->space = false;
		page_text(p, ";");
		page_space(p);
		page_wrap(p, 2, remedy);
	}
	page_line(p);
}
