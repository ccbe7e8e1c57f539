/* saved_names.c - what records are called in results: by their files where these are known, by
 * their titles or subjects, else by the settings that differ, else by their place.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "base/common_prefix.h"
#include "record/comparable.h"
#include <string.h>

#define KEYS_MAX 4
#define NAME_MAX 80

typedef struct keys {
	const comparable_difference *of[KEYS_MAX];
	size_t n;
} keys;

static bool saved_unique(const char *const *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(name[i], name[k]) == 0)
				return false;
	return true;
}

/* The settings in which any record differs from the first. */
static void keys_find(const comparable_differences *f, keys *k)
{
	for (size_t i = 0; i < f->n && k->n < KEYS_MAX; i++) {
		/* A setting that one of the two records does not have cannot name it. An option of
		 * a list ("shape/1") can: it is in a record only when it was given. */
		bool seen = f->rows[i].group != COMPARABLE_SETTING ||
			    ((!f->rows[i].a || !f->rows[i].b) && !strchr(f->rows[i].key, '/'));

		for (size_t j = 0; j < k->n; j++)
			seen |= strcmp(k->of[j]->key, f->rows[i].key) == 0 &&
				strcmp(k->of[j]->section, f->rows[i].section) == 0;
		if (!seen)
			k->of[k->n++] = &f->rows[i];
	}
}

static const char *settings_text(const dck_record *r, const keys *k, mem_arena *a)
{
	const char *text = "";
	char value[40];

	for (size_t i = 0; i < k->n && text; i++) {
		const dck_fact *f = dck_record_fact(r, k->of[i]->section, k->of[i]->key);

		text = mem_arena_fmt(a, "%s%s%s=%s", text, i > 0 ? " " : "", k->of[i]->key,
				     !f || f->value.kind == DCK_VALUE_ABSENT
					 ? "default"
					 : comparable_value(f, value, sizeof value));
	}
	return text;
}

static const char *subject_name(const dck_record *r, mem_arena *a)
{
	const dck_fact name = {.value = {.kind = DCK_VALUE_TEXT, .as.text = dck_record_name(r)}};
	char text[NAME_MAX];

	return name.value.as.text ? mem_arena_dup(a, comparable_value(&name, text, sizeof text))
				  : "record";
}

/* Renames the second of equal names to "NAME (2)". */
static void number_equal(const char **name, size_t n, mem_arena *a)
{
	for (size_t i = n; i-- > 1;) {
		size_t same = 0;

		for (size_t k = 0; k < i; k++)
			same += strcmp(name[k], name[i]) == 0;
		if (same > 0)
			name[i] = mem_arena_fmt(a, "%s (%zu)", name[i], same + 1);
		if (!name[i])
			return;
	}
}

/* Their files' names, without directories where that distinguishes them. */
static bool names_given(const char *const *given, size_t n, mem_arena *a, const char **ret)
{
	for (size_t i = 0; i < n; i++) {
		const char *slash = strrchr(given[i], '/');
		ret[i] = slash && slash[1] ? slash + 1 : given[i];
	}
	const bool whole = !saved_unique(ret, n);
	const size_t shared = common_prefix(given, n);
	for (size_t i = 0; whole && i < n; i++)
		ret[i] = given[i] + shared;
	for (int i = 0; i < 3 && !saved_unique(ret, n); i++)
		number_equal(ret, n, a);
	return !mem_arena_failed(a) && saved_unique(ret, n);
}

bool saved_names(const dck_record *const *records, size_t n, const char *const *given, mem_arena *a,
		 const char **ret)
{
	if (given)
		return names_given(given, n, a, ret);
	comparable_differences *f = mem_arena_array(a, n, sizeof *f);
	const char **plain = mem_arena_array(a, n, sizeof *plain);
	bool one_subject = true;
	keys k = {0};

	if (!f || !plain)
		return false;
	for (size_t i = 0; i < n; i++) {
		ret[i] = plain[i] = subject_name(records[i], a);
		if (!plain[i])
			return false;
		one_subject &= strcmp(plain[i], plain[0]) == 0;
	}
	if (!saved_unique(ret, n)) {
		for (size_t i = 1; i < n; i++) {
			comparable_differ(records[0], records[i], "", &f[i]);
			keys_find(&f[i], &k);
		}
		for (size_t i = 0; i < n && k.n > 0; i++) {
			const char *settings = settings_text(records[i], &k, a);

			if (!settings)
				return false;
			ret[i] =
			    one_subject ? settings : mem_arena_fmt(a, "%s %s", plain[i], settings);
			if (!ret[i])
				return false;
		}
		/* Numbers make names unique, unless one is called "NAME (2)" already. */
		for (int i = 0; i < 3 && !saved_unique(ret, n); i++) {
			number_equal(ret, n, a);
			if (mem_arena_failed(a))
				return false;
		}
	}
	return saved_unique(ret, n);
}
