/* text_list.c - a table of two columns without titles is a list: what, and its value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/text/text_parts.h"
#include <string.h>

bool text_is_list(const dck_table *t)
{
	return t->ncolumns == 2 && t->columns[0].unit == DCK_UNIT_NONE &&
	       t->columns[1].unit == DCK_UNIT_NONE && t->columns[0].title[0] == '\0' &&
	       t->columns[1].title[0] == '\0';
}

#define LIST_TEXT(t, row, column) \
	FORMAT_VALUE(&(t)->cells[(row) * (t)->ncolumns + (column)].value, DCK_UNIT_NONE)

/* A name that the row above has is not repeated. */
void text_list_put(page *p, const dck_table *t, unsigned lines)
{
	unsigned names = 0, used = 0;

	for (size_t i = 0; i < t->nrows; i++) {
		const unsigned cols = page_columns(LIST_TEXT(t, i, 0));
		names = cols > names ? cols : names;
	}
	if (names > p->width / 3)
		names = p->width / 3;
	for (size_t i = 0; i < t->nrows; i++) {
		/* Words that are wrapped may leave a few columns of each line empty. */
		const unsigned room = p->width > names + 16 ? p->width - names - 12 : 4;

		used += 1 + page_columns(LIST_TEXT(t, i, 1)) / room;
		if (lines > 0 && used > lines)
			break;
		page_to(p, 2);
		if (i == 0 || strcmp(LIST_TEXT(t, i, 0), LIST_TEXT(t, i - 1, 0)) != 0)
			page_text(p, LIST_TEXT(t, i, 0));
		page_to(p, 2 + names + 2);
		page_wrap(p, 2 + names + 2, LIST_TEXT(t, i, 1));
		page_line(p);
	}
}
