/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/fingerprint.h"
#include "base/utf8.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of one family, such as a model's inputs; no file makes more of them cost more. */
#define FAMILY_MAX 1000

typedef enum likeness {
	LIKE_EQUAL,
	LIKE_NEAR,   /* numbers within 1 %: a kernel keeps a little of the memory for itself */
	LIKE_ENDS,   /* first and last word: the system and the processor's kind */
	LIKE_GROUPED /* single runs, or several together */
} likeness;

typedef struct row {
	fingerprint_group group;
	const char *section, *key; /* key "input/": every fact whose key begins so */
	likeness like;
	/* A fact that says the same better: where both records have it, this row is left out. */
	const char *better;
} row;

static const row rows[] = {
    {FINGERPRINT_MACHINE, "host", "cpu", LIKE_EQUAL, NULL},
    {FINGERPRINT_MACHINE, "host", "cpus_online", LIKE_EQUAL, NULL},
    {FINGERPRINT_MACHINE, "host", "cpus_allowed", LIKE_EQUAL, NULL},
    {FINGERPRINT_MACHINE, "host", "cpu_limit", LIKE_EQUAL, NULL},
    {FINGERPRINT_MACHINE, "host", "kernel", LIKE_ENDS, NULL},
    {FINGERPRINT_MACHINE, "host", "hypervisor", LIKE_EQUAL, NULL},
    {FINGERPRINT_MACHINE, "host", "governor", LIKE_EQUAL, NULL},
    {FINGERPRINT_MACHINE, "host", "turbo", LIKE_EQUAL, NULL},
    {FINGERPRINT_MACHINE, "host", "smt", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "method", "clock", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "method", "enclosed", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "method", "transfers", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "method", "warmup_rule", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "method", "group", LIKE_GROUPED, NULL},
    {FINGERPRINT_METHOD, "plan", "idle", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "plan", "input-pool", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "plan", "shell", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "plan", "output", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "load", "scenario", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "plan", "rate", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "plan", "arrivals", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "plan", "trace", LIKE_EQUAL, NULL},
    {FINGERPRINT_METHOD, "plan", "slo/", LIKE_EQUAL, NULL},
    {FINGERPRINT_STATE, "host", "os", LIKE_EQUAL, NULL},
    {FINGERPRINT_STATE, "host", "kernel", LIKE_EQUAL, NULL},
    {FINGERPRINT_STATE, "host", "memory", LIKE_NEAR, NULL},
    {FINGERPRINT_STATE, "host", "memory_limit", LIKE_NEAR, NULL},
    {FINGERPRINT_STATE, "method", "processes", LIKE_EQUAL, NULL},
    {FINGERPRINT_STATE, "plan", "seed", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "name", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "version", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "provider", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "threads", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "interop_threads", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "execution", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "opt", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "spin", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "engine", "denormals", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "engine", LIKE_EQUAL, "name"},
    {FINGERPRINT_SETTING, "plan", "device", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "threads", LIKE_EQUAL, "threads"},
    {FINGERPRINT_SETTING, "plan", "interop-threads", LIKE_EQUAL, "interop_threads"},
    {FINGERPRINT_SETTING, "plan", "opt", LIKE_EQUAL, "opt"},
    {FINGERPRINT_SETTING, "plan", "cpus", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "batch", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "shape/", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "dim/", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "engine-option/", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "image-size", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "seq", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "load", "streams", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "serial", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "max-queue", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "plan", "memory", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "cost", "convention", LIKE_EQUAL, NULL},
    {FINGERPRINT_SETTING, "difference", "reference", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "kind", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "name", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "producer", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "opset", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "nodes", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "weight_bytes", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "items_per_run", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "input/", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "subject", "output/", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "accuracy", "labels", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "accuracy", "items", LIKE_EQUAL, NULL},
    {FINGERPRINT_SUBJECT, "plan", "directory", LIKE_EQUAL, NULL},
};

bool fingerprint_exact(const char *tag)
{
	static const char *const counted[] = {"cost/",	    "memory/weights", "accuracy/",
					      "precision/", "recall/",	      "f1/",
					      "support/",   "difference/"};

	for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
		if (strncmp(tag, counted[i], strlen(counted[i])) == 0)
			return true;
	return false;
}

static double number_of(const dck_value *v)
{
	return v->kind == DCK_VALUE_INT	   ? (double)v->as.i
	       : v->kind == DCK_VALUE_REAL ? v->as.r
					   : (double)NAN;
}

static bool values_equal(const dck_value *a, const dck_value *b)
{
	if (a->kind != b->kind) /* a whole real is read back as one, and 2 is 2.0 */
		return number_of(a) == number_of(b);
	switch (a->kind) {
	case DCK_VALUE_ABSENT:
		return true;
	case DCK_VALUE_BOOL:
		return a->as.b == b->as.b;
	case DCK_VALUE_INT:
		return a->as.i == b->as.i;
	case DCK_VALUE_REAL:
		return a->as.r == b->as.r;
	case DCK_VALUE_TEXT:
		return strcmp(a->as.text, b->as.text) == 0;
	}
	return false;
}

static bool ends_equal(const char *a, const char *b)
{
	const size_t na = strcspn(a, " "), nb = strcspn(b, " ");
	const char *last_a = strrchr(a, ' '), *last_b = strrchr(b, ' ');

	return na == nb && memcmp(a, b, na) == 0 &&
	       strcmp(last_a ? last_a : "", last_b ? last_b : "") == 0;
}

static bool alike(likeness like, const dck_value *a, const dck_value *b)
{
	const double x = number_of(a), y = number_of(b);

	switch (like) {
	case LIKE_NEAR:
		if (!isnan(x) && !isnan(y))
			return fabs(x - y) <= 0.01 * fmax(fabs(x), fabs(y));
		break;
	case LIKE_ENDS:
		if (a->kind == DCK_VALUE_TEXT && b->kind == DCK_VALUE_TEXT)
			return ends_equal(a->as.text, b->as.text);
		break;
	case LIKE_GROUPED:
		if (!isnan(x) && !isnan(y))
			return (x > 1) == (y > 1);
		break;
	case LIKE_EQUAL:
		break;
	}
	return values_equal(a, b);
}

static void difference_add(fingerprint *f, const row *r, const char *key, const dck_fact *a,
			   const dck_fact *b)
{
	f->count[r->group]++;
	if (f->n < FINGERPRINT_MAX)
		f->rows[f->n++] = (fingerprint_difference){r->group, r->section, key, a, b};
}

static bool is_family(const row *r)
{
	return r->key[strlen(r->key) - 1] == '/';
}

/* A setting that only one record has was given there alone; a fact of machine or method that only
 * one has was not recorded in the other: nothing is known. Options of a list ("slo/1") are only
 * there when they were given. */
static void fact_compare(fingerprint *f, const row *r, const char *key, const dck_fact *a,
			 const dck_fact *b)
{
	if (a && b) {
		if (!alike(r->like, &a->value, &b->value))
			difference_add(f, r, key, a, b);
	} else if (r->group >= FINGERPRINT_SETTING || is_family(r)) {
		if ((a ? a : b)->value.kind != DCK_VALUE_ABSENT)
			difference_add(f, r, key, a, b);
	} else if (r->group < FINGERPRINT_STATE &&
		   f->nunknown < sizeof f->unknown / sizeof f->unknown[0]) {
		f->unknown[f->nunknown++] = key;
	}
}

static bool begins_with(const dck_fact *fact, const row *r)
{
	return strcmp(fact->section, r->section) == 0 &&
	       strncmp(fact->key, r->key, strlen(r->key)) == 0;
}

static void facts_compare(fingerprint *f, const row *r, const dck_record *a, const dck_record *b)
{
	size_t left = FAMILY_MAX;

	for (size_t i = 0; i < a->nfacts && left > 0; i++) {
		if (!begins_with(&a->facts[i], r))
			continue;
		fact_compare(f, r, a->facts[i].key, &a->facts[i],
			     dck_record_fact(b, r->section, a->facts[i].key));
		left--;
	}
	for (size_t i = 0; i < b->nfacts && left > 0; i++) {
		if (!begins_with(&b->facts[i], r))
			continue;
		if (!dck_record_fact(a, r->section, b->facts[i].key))
			fact_compare(f, r, b->facts[i].key, NULL, &b->facts[i]);
		left--;
	}
}

void fingerprint_compare(const dck_record *a, const dck_record *b, const char *tag,
			 fingerprint *ret)
{
	const bool exact = fingerprint_exact(tag);

	*ret = (fingerprint){0};
	for (const row *r = rows; r < rows + sizeof rows / sizeof rows[0]; r++) {
		if (exact && r->group <= FINGERPRINT_STATE)
			continue;
		if (r->better && dck_record_fact(a, "engine", r->better) &&
		    dck_record_fact(b, "engine", r->better))
			continue;
		if (is_family(r)) {
			facts_compare(ret, r, a, b);
			continue;
		}
		const dck_fact *in_a = dck_record_fact(a, r->section, r->key);
		const dck_fact *in_b = dck_record_fact(b, r->section, r->key);
		if (in_a || in_b)
			fact_compare(ret, r, r->key, in_a, in_b);
	}
}

/* Cuts at a whole character. */
static void cut(char *text, size_t size)
{
	memcpy(text + utf8_cut(text, size - 4), "...", 4);
}

const char *fingerprint_value(const dck_fact *fact, char *text, size_t size)
{
	int n = 0;

	if (!fact)
		n = snprintf(text, size, "not given");
	else if (fact->value.kind == DCK_VALUE_ABSENT)
		n = snprintf(text, size, "%s", fact->value.as.text);
	else if (fact->value.kind == DCK_VALUE_BOOL)
		n = snprintf(text, size, "%s", fact->value.as.b ? "yes" : "no");
	else if (fact->value.kind == DCK_VALUE_INT)
		n = snprintf(text, size, "%lld", (long long)fact->value.as.i);
	else if (fact->value.kind == DCK_VALUE_REAL)
		n = snprintf(text, size, "%.6g", fact->value.as.r);
	else
		n = snprintf(text, size, "%s", fact->value.as.text);
	if (n > 0 && (size_t)n >= size && size > 8)
		cut(text, size);
	return text;
}

const char *fingerprint_text(const fingerprint *f, fingerprint_group group, char *text, size_t size)
{
	const char *section = "";
	char a[64], b[64];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < f->n; i++) {
		const fingerprint_difference *d = &f->rows[i];
		const bool named = strcmp(d->section, section) == 0;
		int n;

		if (d->group != group)
			continue;
		n = snprintf(text + used, size - used, "%s%s%s%s '%s' and '%s'", used ? ", " : "",
			     named ? "" : d->section, named ? "" : " ", d->key,
			     fingerprint_value(d->a, a, sizeof a),
			     fingerprint_value(d->b, b, sizeof b));
		if (n < 0)
			break;
		if ((size_t)n >= size - used) {
			cut(text, size);
			break;
		}
		used += (size_t)n;
		section = d->section;
	}
	return text;
}
