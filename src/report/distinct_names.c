/* SPDX-License-Identifier: Apache-2.0 */
#include "report/distinct_names.h"
#include "base/name_index.h"
#include "report/format.h"

#include <string.h>

/* What distinguishes records of one subject, in the order within a name. */
static const struct {
	const char *key, *section, *fact; /* section NULL: deepclock's command */
} settings[] = {
    {"command", NULL, NULL},	      {"engine", "engine", "name"},
    {"version", "engine", "version"}, {"provider", "engine", "provider"},
    {"threads", "engine", "threads"}, {"batch", "plan", "batch"},
    {"rate", "plan", "rate"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* "deepclock bench MODEL": bench. */
static const char *command_word(const dck_record *r, mem_arena *a)
{
	static const char program[] = "deepclock ";
	const size_t n = sizeof program - 1;

	if (!r->command || strncmp(r->command, program, n) != 0)
		return "";
	return mem_arena_dup_n(a, r->command + n, strcspn(r->command + n, " "));
}

static const char *setting_text(const dck_record *r, size_t i, mem_arena *a)
{
	const dck_fact *f;

	if (!settings[i].section)
		return command_word(r, a);
	f = dck_record_fact(r, settings[i].section, settings[i].fact);
	return f && f->value.kind != DCK_VALUE_ABSENT
		   ? mem_arena_dup(a, FORMAT_VALUE(&f->value, f->unit))
		   : "";
}

/* Appends the setting to names that occur more than once, where it differs among them. */
static bool names_distinguish(const char **name, const dck_record *const *records, size_t n,
			      size_t setting, mem_arena *a)
{
	const char **text = mem_arena_array(a, n, sizeof *text);
	const char **first = mem_arena_array(a, n, sizeof *first); /* by name */
	size_t *of = mem_arena_array(a, n, sizeof *of);
	bool *differs = mem_arena_array(a, n, sizeof *differs); /* by name */
	name_index names;

	if (mem_arena_failed(a) || !name_index_init(&names, a, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		of[i] = name_index_intern(&names, name[i]);
		text[i] = setting_text(records[i], setting, a);
		if (!text[i])
			return false;
		if (!first[of[i]])
			first[of[i]] = text[i];
		differs[of[i]] |= strcmp(text[i], first[of[i]]) != 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (differs[of[i]] && text[i][0])
			name[i] =
			    mem_arena_fmt(a, "%s %s=%s", name[i], settings[setting].key, text[i]);
		if (!name[i])
			return false;
	}
	return true;
}

const char *const *distinct_names(const dck_record *const *records, size_t n, mem_arena *a)
{
	const char **name = mem_arena_array(a, n, sizeof *name);

	for (size_t i = 0; i < n && name; i++) {
		name[i] = dck_record_name(records[i]);
		name[i] = name[i] ? name[i] : "a measurement";
	}
	for (size_t i = 0; i < SETTINGS && name; i++)
		name = names_distinguish(name, records, n, i, a) ? name : NULL;
	return name && names_number(name, n, " (", ")", a) ? name : NULL;
}
