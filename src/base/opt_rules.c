/* opt_rules.c - which options go together: the rows' `needs` and `excludes`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"
#include <stdio.h>
#include <string.h>

typedef struct rules {
	const dck_opt *const *tables;
	const dck_opt_given *given;
	size_t n;
} rules;

static const dck_opt_given *rules_given_find(const rules *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->given[i].row->name, name) == 0)
			return &r->given[i];
	return NULL;
}

static const char *default_of(const rules *r, const char *name)
{
	for (size_t i = 0; r->tables[i]; i++) {
		const dck_opt *row = dck_opt_find(r->tables[i], name);

		if (row)
			return row->def ? row->def : "";
	}
	return "";
}

/* Whether one word of a row's rules holds: of "warmup" the option was given, of "warmup=auto" it
 * has this value, given or by default. */
static bool rule_holds(const rules *r, const char *word)
{
	const size_t n = strcspn(word, "=");
	const dck_opt_given *given;
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)n, word);
	given = rules_given_find(r, name);
	if (!word[n])
		return given != NULL;
	return strcmp(given && given->value ? given->value : default_of(r, name), word + n + 1) ==
	       0;
}

static dck_status row_check(const rules *r, const dck_opt *row, dck_err *err)
{
	char words[256], all[256] = "", *rest, *word;
	bool holds = !row->needs;

	snprintf(words, sizeof words, "%s", row->excludes ? row->excludes : "");
	for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (rule_holds(r, word))
			DCK_FAIL(err, E_ARG, "--%s and --%s exclude each other: give one of them",
				 row->name, word);
	snprintf(words, sizeof words, "%s", row->needs ? row->needs : "");
	for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const size_t used = strlen(all);

		holds |= rule_holds(r, word);
		snprintf(all + used, sizeof all - used, "%s--%.*s%s%s", used > 0 ? " or " : "",
			 (int)strcspn(word, "="), word, strchr(word, '=') ? " " : "",
			 strchr(word, '=') ? strchr(word, '=') + 1 : "");
	}
	if (!holds)
		DCK_FAIL(err, E_ARG, "--%s needs %s", row->name, all);
	return DCK_OK;
}

bool dck_opt_is_given(const dck_opt_given *given, size_t n, const char *name)
{
	return rules_given_find(&(rules){.given = given, .n = n}, name) != NULL;
}

dck_status dck_opt_check(const dck_opt *const *tables, const dck_opt_given *given, size_t n,
			 dck_err *err)
{
	const rules r = {tables, given, n};

	for (size_t i = 0; i < n; i++)
		DCK_TRY(row_check(&r, given[i].row, err));
	return DCK_OK;
}
