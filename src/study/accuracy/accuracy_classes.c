/* accuracy_classes.c - the classes of labels and predictions: a sorted set of unique labels, or the
 * labels of a list, and the class of each item by binary search.
 *
 * classes_make() has four steps: sizes and kinds (numbers or texts) must agree; the labels that
 * occur are collected as keys, sorted and made unique; the classes get names; each label and
 * prediction is mapped to its class, or to n where it is in none.
 *
 * The set is collected in an array of 2 * CLASSES_MAX keys: when it is full it is sorted and made
 * unique, so that memory depends on the number of classes and not of items, and more than
 * CLASSES_MAX different labels are an error. O(items * log classes). Numbers are ordered by value,
 * texts by their bytes, which in UTF-8 is the order of code points. Everything is in the caller's
 * arena; texts are borrowed from the labels.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/name_index.h"
#include "study/accuracy/accuracy_labels.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES_MAX 100000 /* more distinct labels are values, not classes */

/* A label of either kind. */
typedef struct label_key {
	const char *text; /* NULL: a number */
	int64_t number;
	size_t at; /* which class */
} label_key;

/* Numbers by value, texts by code point, which is the order of their bytes in UTF-8. */
static int key_order(const void *a, const void *b)
{
	const label_key *x = a, *y = b;

	if (x->text && y->text)
		return strcmp(x->text, y->text);
	return (x->number > y->number) - (x->number < y->number);
}

static bool classes_key_of(const labels *l, size_t i, label_key *ret)
{
	*ret =
	    (label_key){.text = l->text ? l->texts[i] : NULL, .number = l->text ? 0 : l->number[i]};
	return l->text || l->number[i] != LABEL_NONE;
}

static size_t classes_unique(label_key *list, size_t n)
{
	size_t kept = 0;

	qsort(list, n, sizeof *list, key_order);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || key_order(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	return kept;
}

/* --- texts as numbers */

dck_status labels_number(mem_arena *a, labels *l, const label_names *names, dck_err *err)
{
	label_key *sorted = mem_arena_array(a, names->n, sizeof *sorted);

	l->number = mem_arena_array(a, l->n, sizeof *l->number);
	DCK_NEED(sorted && l->number, err, "for the classes");
	for (size_t i = 0; i < names->n; i++)
		sorted[i] = (label_key){.text = names->name[i], .at = i};
	qsort(sorted, names->n, sizeof *sorted, key_order);
	for (size_t i = 0; i < l->n; i++) {
		const label_key wanted = {.text = l->texts[i]};
		const label_key *found =
		    bsearch(&wanted, sorted, names->n, sizeof *sorted, key_order);

		if (!found)
			DCK_FAIL(err, E_ARG,
				 "'%s' has the label '%s' (item %zu), "
				 "which --target-names does not name",
				 l->from, l->texts[i], i + 1);
		if ((found > sorted && key_order(found - 1, found) == 0) ||
		    (found + 1 < sorted + names->n && key_order(found + 1, found) == 0))
			DCK_FAIL(err, E_ARG,
				 "'%s' has the label '%s' (item %zu), and --target-names names two "
				 "classes so: give numbers as labels, or different names",
				 l->from, l->texts[i], i + 1);
		l->number[i] = (int64_t)found->at;
	}
	l->text = false;
	return DCK_OK;
}

/* --- the set of classes */

typedef struct building {
	mem_arena *arena;
	const labels *truth, *predictions;
	size_t npredictions;
	const label_names *list, *names;
	label_key *key; /* [n] sorted; at: the class */
	size_t n;
} building;

static dck_status classes_sizes_check(const building *g, dck_err *err)
{
	const labels *t = g->truth;

	if (t->nnone > 0)
		DCK_FAIL(err, E_FORMAT, "item %zu of '%s' has no label (NaN): every item needs one",
			 t->first_none + 1, t->from);
	for (size_t i = 0; i < g->npredictions; i++) {
		const labels *p = &g->predictions[i];

		if (p->n != t->n)
			DCK_FAIL(err, E_ARG,
				 "'%s' has %zu labels and '%s' %zu predictions: "
				 "they must be of the same items",
				 t->from, t->n, p->from, p->n);
		if (p->text != t->text)
			DCK_FAIL(err, E_ARG,
				 "'%s' holds %s and '%s' %s: "
				 "name the classes in their order with --target-names A,B,C",
				 t->from, t->text ? "texts" : "numbers", p->from,
				 p->text ? "texts" : "numbers");
	}
	return DCK_OK;
}

/* Adds the labels that occur, each once. It works chunk by chunk, so that memory depends on the
 * classes alone. */
static dck_status occurring(building *g, const labels *l, dck_err *err)
{
	const size_t room =
	    CLASSES_MAX + l->n < 2 * CLASSES_MAX ? CLASSES_MAX + l->n : 2 * CLASSES_MAX;

	if (!g->key)
		g->key = mem_arena_array(g->arena, 2 * CLASSES_MAX, sizeof *g->key);
	DCK_NEED(g->key, err, "for the classes");
	for (size_t i = 0; i < l->n;) {
		size_t n = g->n;

		for (; i < l->n && n < room; i++)
			n += classes_key_of(l, i, &g->key[n]);
		g->n = classes_unique(g->key, n);
		if (g->n > CLASSES_MAX)
			DCK_FAIL(err, E_LIMIT,
				 "'%s' has more than %d different labels: are they labels?",
				 l->from, CLASSES_MAX);
	}
	return DCK_OK;
}

static const char *classes_name_of(mem_arena *a, const label_key *k)
{
	return k->text ? k->text : mem_arena_fmt(a, "%" PRId64, k->number);
}

/* Reads "3", or "0-9" for a range. */
static bool list_item(const char *text, bool is_text, int64_t *ret_first, int64_t *ret_last)
{
	char *end;

	if (is_text)
		return true;
	errno = 0;
	*ret_first = *ret_last = strtoll(text, &end, 10);
	if (end == text)
		return false;
	if (*end == '-' && *ret_first >= 0) {
		const char *last = end + 1;

		*ret_last = strtoll(last, &end, 10);
		if (end == last)
			return false;
	}
	return *end == '\0' && errno != ERANGE && *ret_last >= *ret_first &&
	       (uint64_t)*ret_last - (uint64_t)*ret_first < CLASSES_MAX;
}

/* Takes the labels of the list as classes, in its order. */
static dck_status classes_listed(building *g, dck_err *err)
{
	const bool text = g->truth->text;

	g->key = mem_arena_array(g->arena, CLASSES_MAX, sizeof *g->key);
	DCK_NEED(g->key, err, "for the classes");
	g->n = 0;
	for (size_t i = 0; i < g->list->n; i++) {
		int64_t first = 0, last = 0;

		if (!list_item(g->list->name[i], text, &first, &last))
			DCK_FAIL(err, E_ARG,
				 "--label-list has '%s', but the labels of '%s' are whole numbers: "
				 "write 0,1,2 or 0-9",
				 g->list->name[i], g->truth->from);
		/* list_item() limits their difference. */
		for (int64_t k = 0; k <= last - first; k++) {
			if (g->n == CLASSES_MAX)
				DCK_FAIL(err, E_LIMIT, "--label-list has more than %d labels",
					 CLASSES_MAX);
			g->key[g->n] = (label_key){text ? g->list->name[i] : NULL, first + k, g->n};
			g->n++;
		}
	}
	return DCK_OK;
}

/* Returns whether all labels are positions among the names: then the names are the classes,
 * including names that do not occur. */
static bool named_positions(const building *g)
{
	return g->names && !g->truth->text && g->n > 0 && g->n < g->names->n &&
	       g->key[0].number >= 0 && (uint64_t)g->key[g->n - 1].number < g->names->n;
}

static dck_status keys_make(building *g, dck_err *err)
{
	if (g->list)
		return classes_listed(g, err);
	DCK_TRY(occurring(g, g->truth, err));
	for (size_t i = 0; i < g->npredictions; i++)
		DCK_TRY(occurring(g, &g->predictions[i], err));
	if (named_positions(g)) {
		if (g->names->n > CLASSES_MAX)
			DCK_FAIL(err, E_LIMIT, "--target-names has more than %d names",
				 CLASSES_MAX);
		g->n = g->names->n;
		for (size_t i = 0; i < g->n; i++)
			g->key[i] = (label_key){.number = (int64_t)i};
	}
	for (size_t i = 0; i < g->n; i++)
		g->key[i].at = i;
	return DCK_OK;
}

static dck_status names_give(const building *g, classes *c, dck_err *err)
{
	if (g->names && g->names->n != g->n)
		DCK_FAIL(err, E_ARG,
			 "--target-names has %zu name(s) and there are %zu classes: name each, or "
			 "list the classes with --label-list",
			 g->names->n, g->n);
	c->n = g->n;
	c->name = mem_arena_array(g->arena, g->n, sizeof *c->name);
	for (size_t i = 0; c->name && i < g->n; i++)
		c->name[i] = g->names ? g->names->name[i] : classes_name_of(g->arena, &g->key[i]);
	DCK_NEED(c->name && !mem_arena_failed(g->arena) &&
		     names_number(c->name, g->n, "#", "", g->arena),
		 err, "for the classes");
	return DCK_OK;
}

/* Returns the class of every item; n: it is in none. */
static uint32_t *classes_positions(const building *g, const labels *l, const label_key *sorted,
				   bool *complete)
{
	uint32_t *at = mem_arena_array(g->arena, l->n, sizeof *at);

	for (size_t i = 0; at && i < l->n; i++) {
		label_key wanted;
		const bool some = classes_key_of(l, i, &wanted);
		const label_key *found =
		    some ? bsearch(&wanted, sorted, g->n, sizeof *sorted, key_order) : NULL;

		at[i] = found ? (uint32_t)found->at : (uint32_t)g->n;
		*complete &= found || !some;
	}
	return at;
}

static dck_status all_positions(const building *g, classes *c, dck_err *err)
{
	label_key *sorted = mem_arena_array(g->arena, g->n, sizeof *sorted);

	c->predicted = mem_arena_array(g->arena, g->npredictions, sizeof *c->predicted);
	DCK_NEED(sorted && c->predicted, err, "for the classes");
	memcpy(sorted, g->key, g->n * sizeof *sorted);
	if (classes_unique(sorted, g->n) < g->n)
		DCK_FAIL(err, E_ARG, "--label-list names a label twice");
	c->complete = true;
	c->truth = classes_positions(g, g->truth, sorted, &c->complete);
	for (size_t i = 0; i < g->npredictions; i++)
		c->predicted[i] = classes_positions(g, &g->predictions[i], sorted, &c->complete);
	DCK_NEED(!mem_arena_failed(g->arena), err, "for the classes");
	return DCK_OK;
}

dck_status classes_make(mem_arena *a, const labels *truth, const labels *predictions,
			size_t npredictions, const label_names *list, const label_names *names,
			classes *ret, dck_err *err)
{
	building g = {.arena = a,
		      .truth = truth,
		      .predictions = predictions,
		      .npredictions = npredictions,
		      .list = list,
		      .names = names};
	classes c = {0};

	DCK_TRY(classes_sizes_check(&g, err));
	DCK_TRY(keys_make(&g, err));
	DCK_TRY(names_give(&g, &c, err));
	DCK_TRY(all_positions(&g, &c, err));
	*ret = c;
	return DCK_OK;
}
