/* commas.h - comma-separated lists, as options take them: "1,2,4".
 *
 *	for (commas_item item; commas_next(&rest, &item);)
 *		... item.n bytes at item.text ...
 *
 * The text between two commas is an item, also if it is empty: "" has one item and "a," has two.
 * The caller refuses empty items, with the message of its option.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_COMMAS_H
#define BASE_COMMAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct commas_item {
	const char *text; /* within the list, not NUL-ended */
	size_t n;
} commas_item;

/* Reads the next item of *rest, which becomes NULL after the last one. false: *rest is NULL. */
static inline bool commas_next(const char **rest, commas_item *ret)
{
	const char *at = *rest;

	if (!at)
		return false;
	*ret = (commas_item){at, strcspn(at, ",")};
	*rest = at[ret->n] ? at + ret->n + 1 : NULL;
	return true;
}

/* Copies the item to buf as a string, cut to size. Returns buf. */
static inline const char *commas_word(const commas_item *item, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)(item->n < size ? item->n : size - 1), item->text);
	return buf;
}

static inline bool commas_is(const commas_item *item, const char *word)
{
	return strncmp(item->text, word, item->n) == 0 && word[item->n] == '\0';
}

/* Returns whether an item of the list is that word. A list NULL has no items. */
static inline bool commas_have(const char *list, const char *word)
{
	for (commas_item item; commas_next(&list, &item);)
		if (commas_is(&item, word))
			return true;
	return false;
}

static inline size_t commas_count(const char *list)
{
	commas_item item;
	size_t n = 0;

	while (commas_next(&list, &item))
		n++;
	return n;
}

#endif
