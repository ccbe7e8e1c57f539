/* identity.c - which records' numbers compare: those of one machine, made by one method. Both are
 * hashes of the record's facts, so that they also hold for records of other machines.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/hash.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A fact that counts; key NULL: all of the section, but for those that come before with count
 * false. A key that ends in '/' stands for all that begin so. */
typedef struct rule {
	const char *section, *key;
	bool count;
} rule;

static const rule machine_rules[] = {
    {"host", "cpu", true},	    {"host", "governor", true},
    {"host", "turbo", true},	    {"host", "cpus_online", true},
    {"host", "cpus_allowed", true}, {"host", "cpu_limit", true},
    {"host", "smt", true},	    {"host", "hypervisor", true},
    {"device", "name", true},	    {0},
};

/* The version of the engine is no part of it: whether an update made it slower is what a history is
 * asked. Nor is how long was measured, only what. */
static const rule method_rules[] = {
    {"subject", "kind", true},
    {"subject", "input/", true},
    {"subject", "items_per_run", true},
    {"engine", "adapter", false},
    {"engine", "version", false},
    {"engine", "library", false},
    {"engine", "found", false},
    {"engine", NULL, true},
    {"plan", "precision", false},
    {"plan", "level", false},
    {"plan", "min-runs", false},
    {"plan", "min-time", false},
    {"plan", "max-time", false},
    {"plan", "runs", false},
    {"plan", "time", false},
    {"plan", "warmup", false},
    {"plan", "max-warmup", false},
    {"plan", "keep", false},
    {"plan", "engine-lib", false},
    {"plan", "group", false},
    {"plan", NULL, true},
    {"method", "clock", true},
    {"method", "warmup_rule", true},
    {"method", "enclosed", true},
    {"method", "transfers", true},
    {"method", "processes", true},
    {0},
};

static bool counts(const rule *rules, const dck_fact *f)
{
	for (; rules->section; rules++) {
		const size_t n = rules->key ? strlen(rules->key) : 0;

		if (strcmp(rules->section, f->section) != 0)
			continue;
		if (n == 0 || strcmp(rules->key, f->key) == 0 ||
		    (rules->key[n - 1] == '/' && strncmp(rules->key, f->key, n) == 0))
			return rules->count;
	}
	return false;
}

static uint64_t hash_part(uint64_t h, const char *text)
{
	return hash_bytes(h, text, strlen(text) + 1);
}

static uint64_t hash_fact(const dck_fact *f)
{
	char number[40] = "absent"; /* the reason may be worded otherwise one day */
	uint64_t h = hash_part(hash_part(HASH_START, f->section), f->key);

	switch (f->value.kind) {
	case DCK_VALUE_TEXT:
		return hash_part(h, f->value.as.text);
	case DCK_VALUE_BOOL:
		return hash_part(h, f->value.as.b ? "true" : "false");
	case DCK_VALUE_INT:
		snprintf(number, sizeof number, "%" PRId64, f->value.as.i);
		break;
	case DCK_VALUE_REAL:
		return hash_bytes(h, &f->value.as.r, sizeof f->value.as.r);
	case DCK_VALUE_ABSENT:
		break;
	}
	return hash_part(h, number);
}

/* Added up, so that the order of facts does not matter. */
static void key_make(const dck_record *r, const rule *rules, uint64_t h,
		     char text[HISTORY_KEY_SIZE])
{
	for (size_t i = 0; i < r->nfacts; i++)
		if (counts(rules, &r->facts[i]))
			h += hash_fact(&r->facts[i]);
	snprintf(text, HISTORY_KEY_SIZE, "%016" PRIx64, h);
}

static const char *fact_text(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f && f->value.kind == DCK_VALUE_TEXT ? f->value.as.text : NULL;
}

/* The second word of "deepclock bench zoo:resnet18". */
static void verb_find(const char *command, char *verb, size_t size)
{
	static const char program[] = "deepclock ";
	size_t n = 0;

	verb[0] = '\0';
	if (!command || strncmp(command, program, sizeof program - 1) != 0)
		return;
	command += sizeof program - 1;
	while (islower((unsigned char)command[n]))
		n++;
	if (n == 0 || n >= size || (command[n] && command[n] != ' '))
		return;
	memcpy(verb, command, n);
	verb[n] = '\0';
}

void history_identify(const dck_record *r, history_identity *ret)
{
	*ret = (history_identity){
	    .subject = fact_text(r, "subject", "name"),
	    .engine = fact_text(r, "engine", "name"),
	    .cpu = fact_text(r, "host", "cpu"),
	};
	verb_find(r->command, ret->verb, sizeof ret->verb);
	key_make(r, machine_rules, HASH_START, ret->machine);
	key_make(r, method_rules, hash_part(HASH_START, ret->verb), ret->method);
}
