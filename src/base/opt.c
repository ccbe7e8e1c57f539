/* opt.c - table-driven parsing of options: a row states name, kind, position in the config and
 * bounds.
 *
 * kinds[] maps the kind of a row to its parser and to the printer of its bounds. dck_opt_read()
 * parses a text, checks the bounds and only then writes into the caller's config, at row->at bytes
 * from its beginning; on failure the field is unchanged and the message begins with the option's
 * name. Texts are borrowed, nothing is allocated, and all state is const tables.
 *
 * For a mistyped name the nearest one is suggested: restricted Damerau-Levenshtein distance by
 * dynamic programming over three rows, O(|a| |b|), names of at most 63 bytes. A suggestion has a
 * distance of at most 3 and less than half of the name's length.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/opt.h"
#include "deepclock/unstable.h"

#include "base/err.h"
#include "base/decimal.h"
#include "base/opt_text.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the nearest name */

enum { NAME_MAX_LENGTH = 63, NEAR_MAX = 3 };

/* Counts insertions, deletions, substitutions and swaps of adjacent characters from a to b: the
 * "optimal string alignment" form of F. J. Damerau, "A technique for computer detection and
 * correction of spelling errors", CACM 7(3), 1964. Names longer than the rows are infinitely
 * far. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t row[3][NAME_MAX_LENGTH + 1];
	if (na > NAME_MAX_LENGTH || nb > NAME_MAX_LENGTH)
		return SIZE_MAX;
	size_t *before = row[0], *above = row[1], *now = row[2];
	for (size_t j = 0; j <= nb; j++)
		above[j] = before[j] = j;
	for (size_t i = 1; i <= na; i++) {
		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t d = above[j - 1] + (a[i - 1] != b[j - 1]);
			if (above[j] + 1 < d)
				d = above[j] + 1;
			if (now[j - 1] + 1 < d)
				d = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < d)
				d = before[j - 2] + 1;
			now[j] = d;
		}
		size_t *free_row = before;
		before = above;
		above = now;
		now = free_row;
	}
	return above[nb];
}

typedef struct nearest {
	const char *name, *found;
	size_t distance;
} nearest;

static void nearest_init(nearest *n, const char *name)
{
	n->name = name;
	n->found = NULL;
	n->distance = NEAR_MAX + 1;
}

static void nearest_try(nearest *n, const char *candidate)
{
	size_t d = edit_distance(n->name, candidate);
	if (d < n->distance && 2 * d < strlen(n->name)) {
		n->distance = d;
		n->found = candidate;
	}
}

const char *dck_nearest(const char *name, const char *const *names, size_t n)
{
	nearest near;
	nearest_init(&near, name);
	for (size_t i = 0; i < n; i++)
		nearest_try(&near, names[i]);
	return near.found;
}

/* --- one parser for each kind; `at` is the field in the caller's config */

typedef dck_status (*kind_parser)(const dck_opt *row, void *at, const char *text, dck_err *err);

static dck_status parse_flag(const dck_opt *row, void *at, const char *text, dck_err *err)
{
	(void)row;
	bool yes = !text || !strcmp(text, "true");
	if (!yes && strcmp(text, "false"))
		DCK_FAIL(err, E_ARG, "'%.80s' is neither true nor false", text);
	*(bool *)at = yes;
	return DCK_OK;
}

/* Whole numbers above 2^53 lose their last digits here; no bound is that fine. */
static dck_status in_bounds(const dck_opt *row, double v, const char *text, dck_err *err);

#define PARSE_NUMBER(type, kind, parser)                                               \
	static dck_status parse_##kind(const dck_opt *row, void *at, const char *text, \
				       dck_err *err)                                   \
	{                                                                              \
		type v;                                                                \
		DCK_TRY(parser(text, &v, err));                                        \
		DCK_TRY(in_bounds(row, (double)v, text, err));                         \
		*(type *)at = v;                                                       \
		return DCK_OK;                                                         \
	}
PARSE_NUMBER(uint64_t, count, units_parse_count)
PARSE_NUMBER(uint64_t, time, units_parse_time)
PARSE_NUMBER(uint64_t, bytes, units_parse_bytes)
PARSE_NUMBER(double, real, units_parse_real)
PARSE_NUMBER(double, share, units_parse_share)

static dck_status parse_text(const dck_opt *row, void *at, const char *text, dck_err *err)
{
	const char **value = at;

	if (row->max == 1 && *value)
		DCK_FAIL(err, E_ARG, "it may be given once, and is '%.40s' and '%.40s': give one",
			 *value, text);
	*value = text;
	return DCK_OK;
}

static dck_status parse_choice(const dck_opt *row, void *at, const char *text, dck_err *err)
{
	char all[256] = "";
	size_t used = 0;
	nearest near;
	nearest_init(&near, text);
	for (int i = 0; row->choices[i]; i++) {
		if (!strcmp(row->choices[i], text)) {
			*(int *)at = i;
			return DCK_OK;
		}
		nearest_try(&near, row->choices[i]);
		int n =
		    snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", row->choices[i]);
		used = n > 0 && used + (size_t)n < sizeof all ? used + (size_t)n : sizeof all - 1;
	}
	if (near.found)
		DCK_FAIL(err, E_ARG, "invalid value '%.80s' (one of %s); did you mean '%s'?", text,
			 all, near.found);
	DCK_FAIL(err, E_ARG, "invalid value '%.80s' (one of %s)", text, all);
}

static dck_status parse_list(const dck_opt *row, void *at, const char *text, dck_err *err)
{
	(void)row;
	dck_list *list = at;
	if (list->n == DCK_LIST_MAX)
		DCK_FAIL(err, E_LIMIT, "it may be given at most %d times", DCK_LIST_MAX);
	list->item[list->n++] = text;
	return DCK_OK;
}

/* --- bounds in the unit of the kind */

static void show_count(double v, char *buf, size_t size)
{
	if (v < 9e18)
		dck_text_count((int64_t)v, buf, size);
	else
		dck_text_si(v, NULL, buf, size);
}

static void show_time(double v, char *buf, size_t size)
{
	dck_text_time(v, buf, size);
}

static void show_bytes(double v, char *buf, size_t size)
{
	dck_text_bytes(v, buf, size);
}

static void show_real(double v, char *buf, size_t size)
{
	char number[NUM_TEXT_MAX];
	decimal_general(number, 6, v);
	snprintf(buf, size, "%s", number);
}

static void show_share(double v, char *buf, size_t size)
{
	char number[NUM_TEXT_MAX];
	decimal_general(number, 6, 100 * v);
	snprintf(buf, size, "%s%%", number);
}

static const struct {
	kind_parser parse;
	void (*show)(double v, char *buf, size_t size);
} kinds[] = {
    [DCK_OPT_FLAG] = {parse_flag, NULL},      [DCK_OPT_COUNT] = {parse_count, show_count},
    [DCK_OPT_TIME] = {parse_time, show_time}, [DCK_OPT_BYTES] = {parse_bytes, show_bytes},
    [DCK_OPT_REAL] = {parse_real, show_real}, [DCK_OPT_SHARE] = {parse_share, show_share},
    [DCK_OPT_TEXT] = {parse_text, NULL},      [DCK_OPT_CHOICE] = {parse_choice, NULL},
    [DCK_OPT_LIST] = {parse_list, NULL},
};
_Static_assert(sizeof kinds / sizeof *kinds == DCK_OPT_LIST + 1, "one row per kind");

static dck_status in_bounds(const dck_opt *row, double v, const char *text, dck_err *err)
{
	char bound[64];
	if (row->min == 0 && row->max == 0)
		return DCK_OK;
	if (!(v >= row->min)) {
		kinds[row->kind].show(row->min, bound, sizeof bound);
		DCK_FAIL(err, E_ARG, "'%.80s' is less than the least it takes, %s", text, bound);
	}
	/* A row with only a minimum has max 0. */
	if (row->max >= row->min && v > row->max) {
		kinds[row->kind].show(row->max, bound, sizeof bound);
		DCK_FAIL(err, E_ARG, "'%.80s' is more than the most it takes, %s", text, bound);
	}
	return DCK_OK;
}

/* --- the table */

const dck_opt *dck_opt_find(const dck_opt *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

/* Puts "option 'runs': " before the parser's message. */
dck_status dck_opt_read(const dck_opt *row, void *cfg, const char *text, dck_err *err)
{
	dck_err inner;
	if (!text && row->kind != DCK_OPT_FLAG)
		DCK_FAIL(err, E_ARG, "option '%s' needs a value: %s", row->name,
			 row->arg ? row->arg : "VALUE");
	dck_status st = kinds[row->kind].parse(row, (char *)cfg + row->at, text, &inner);
	if (st == DCK_OK && row->given)
		*(bool *)((char *)cfg + row->given) = true;
	if (st == DCK_OK)
		return DCK_OK;
	return err_set(err, st, inner.file, inner.line, "option '%s': %s", row->name, inner.msg);
}

dck_status dck_opt_set(const dck_opt *table, void *cfg, const char *name, const char *text,
		       dck_err *err)
{
	const dck_opt *row = dck_opt_find(table, name);
	nearest near;

	if (row)
		return dck_opt_read(row, cfg, text, err);
	nearest_init(&near, name);
	for (; table->name; table++)
		nearest_try(&near, table->name);
	if (near.found)
		DCK_FAIL(err, E_ABSENT, "there is no option '%.80s'; did you mean '%s'?", name,
			 near.found);
	DCK_FAIL(err, E_ABSENT, "there is no option '%.80s'", name);
}

static dck_status opt_list_check(const dck_list *l, dck_err *err)
{
	if (l->n > DCK_LIST_MAX)
		DCK_FAIL(err, E_ARG, "a list of %zu is longer than the most, %d", l->n,
			 (int)DCK_LIST_MAX);
	for (size_t i = 0; i < l->n; i++)
		if (!l->item[i])
			DCK_FAIL(err, E_ARG, "item %zu of %zu of the list is NULL", i + 1, l->n);
	return DCK_OK;
}

static dck_status opt_value_check(const dck_opt *row, const void *at, dck_err *err)
{
	char text[64];
	int n = 0;
	double v;

	switch (row->kind) {
	case DCK_OPT_CHOICE:
		while (row->choices[n])
			n++;
		if (*(const int *)at < 0 || *(const int *)at >= n)
			DCK_FAIL(err, E_ARG, "%d is none of its %d choices, which count from 0",
				 *(const int *)at, n);
		return DCK_OK;
	case DCK_OPT_LIST:
		return opt_list_check(at, err);
	case DCK_OPT_COUNT:
	case DCK_OPT_TIME:
	case DCK_OPT_BYTES:
		v = (double)*(const uint64_t *)at;
		break;
	case DCK_OPT_REAL:
	case DCK_OPT_SHARE:
		v = *(const double *)at;
		break;
	default:
		return DCK_OK;
	}
	if (!row->def && v == 0)
		return DCK_OK;
	if (isnan(v))
		DCK_FAIL(err, E_ARG, "the value is not a number (NaN)");
	kinds[row->kind].show(v, text, sizeof text);
	return in_bounds(row, v, text, err);
}

dck_status opt_fields_check(const dck_opt *table, const void *cfg, dck_err *err)
{
	for (const dck_opt *row = table; row->name; row++) {
		dck_err inner;
		const dck_status st = opt_value_check(row, (const char *)cfg + row->at, &inner);

		if (st != DCK_OK)
			return err_set(err, st, inner.file, inner.line, "option '%s': %s",
				       row->name, inner.msg);
	}
	return DCK_OK;
}

/* Larger than any deepclock config: an uninitialised size is probably above it. */
enum { CONFIG_MAX_BYTES = 1 << 16, OWN_MAX_BYTES = 1 << 12 };

void opt_config_init(void *config, uint32_t struct_size, size_t size, const dck_opt *const *tables)
{
	_Alignas(max_align_t) char own[OWN_MAX_BYTES] = {0};

	assert(size <= sizeof own);
	for (; *tables; tables++) {
		const dck_status status = dck_opt_defaults(*tables, own, NULL);

		assert(status == DCK_OK);
		(void)status;
	}
	memcpy(own, &struct_size, sizeof struct_size);
	memset(config, 0, struct_size);
	memcpy(config, own, struct_size < size ? struct_size : size);
}

dck_status opt_config_get(const void *given, void *own, size_t size, const char *init,
			  const dck_opt *const *tables, dck_err *err)
{
	const uint32_t own_size = (uint32_t)size;
	uint32_t struct_size;

	if (!given)
		return DCK_OK;
	memcpy(&struct_size, given, sizeof struct_size);
	if (struct_size < sizeof struct_size || struct_size > CONFIG_MAX_BYTES)
		DCK_FAIL(err, E_ARG, "a config has struct_size %u: initialise it with %s()",
			 struct_size, init);
	for (size_t i = size; i < struct_size; i++)
		if (((const char *)given)[i])
			DCK_FAIL(err, E_VERSION,
				 "a config of %s() has members that this version of the library "
				 "does not have: the library is older than the program",
				 init);
	memcpy(own, given, struct_size < size ? struct_size : size);
	memcpy(own, &own_size, sizeof own_size);
	for (; *tables; tables++)
		DCK_TRY(opt_fields_check(*tables, own, err));
	return DCK_OK;
}

dck_status dck_opt_defaults(const dck_opt *table, void *cfg, dck_err *err)
{
	for (; table->name; table++) {
		memset((char *)cfg + table->at, 0, opt_sizes[table->kind]);
		dck_status st = table->def ? dck_opt_read(table, cfg, table->def, err) : DCK_OK;
		if (st != DCK_OK)
			return err_while(err, st, "reading the default of an option");
		if (table->given)
			*(bool *)((char *)cfg + table->given) = false;
	}
	return DCK_OK;
}
