/* SPDX-License-Identifier: Apache-2.0 */
#include "base/opt_text.h"

#include "base/decimal.h"

#include <string.h>

const size_t opt_sizes[] = {
    [DCK_OPT_FLAG] = sizeof(bool),	   [DCK_OPT_COUNT] = sizeof(uint64_t),
    [DCK_OPT_TIME] = sizeof(uint64_t),	   [DCK_OPT_BYTES] = sizeof(uint64_t),
    [DCK_OPT_REAL] = sizeof(double),	   [DCK_OPT_SHARE] = sizeof(double),
    [DCK_OPT_TEXT] = sizeof(const char *), [DCK_OPT_CHOICE] = sizeof(int),
    [DCK_OPT_LIST] = sizeof(dck_list),
};

static bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool list_same(const dck_list *a, const dck_list *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (!text_same(a->item[i], b->item[i]))
			return false;
	return a->n == b->n;
}

bool opt_same(const dck_opt *row, const void *cfg, const void *other)
{
	const void *a = (const char *)cfg + row->at, *b = (const char *)other + row->at;

	if (row->kind == DCK_OPT_TEXT)
		return text_same(*(const char *const *)a, *(const char *const *)b);
	if (row->kind == DCK_OPT_LIST)
		return list_same(a, b);
	return memcmp(a, b, opt_sizes[row->kind]) == 0;
}

const char *opt_text(mem_arena *a, const dck_opt *row, const void *cfg)
{
	const void *at = (const char *)cfg + row->at;

	switch (row->kind) {
	case DCK_OPT_FLAG:
		return *(const bool *)at ? "true" : "false";
	case DCK_OPT_COUNT:
	case DCK_OPT_BYTES:
		return mem_arena_fmt(a, "%llu", (unsigned long long)*(const uint64_t *)at);
	case DCK_OPT_TIME:
		return mem_arena_fmt(a, "%lluns", (unsigned long long)*(const uint64_t *)at);
	case DCK_OPT_REAL:
		return mem_arena_dup(a, DECIMAL_TEXT(17, *(const double *)at));
	case DCK_OPT_SHARE: {
		const double v = *(const double *)at;

		/* A share of 1 is written with its unit. */
		return mem_arena_fmt(a, v >= 1 ? "%se2%%" : "%s", DECIMAL_TEXT(17, v));
	}
	case DCK_OPT_TEXT:
		return *(const char *const *)at;
	case DCK_OPT_CHOICE:
		return row->choices[*(const int *)at];
	case DCK_OPT_LIST:
		break;
	}
	return NULL;
}
