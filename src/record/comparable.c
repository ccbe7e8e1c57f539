/* comparable.c - comparability of two records: a row for each fact. `compare` uses the rows that
 * differ; `history` hashes them to two keys, and records with equal keys are points of one trend.
 *
 *     ROW(STATE, TOGETHER, "plan", "seed", EQUAL, "another draw ...")
 *
 * means: records with different seeds are compared, the difference is noted, and they are points of
 * one trend.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/comparable.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "record/record_internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of one family, such as a model's inputs; no file makes more of them cost more. */
#define FAMILY_MAX 1000

typedef enum likeness {
	LIKE_EQUAL,
	LIKE_NEAR,    /* numbers within 1 %: kernels reserve different small parts of the memory */
	LIKE_ENDS,    /* first and last word: the system and the processor's kind */
	LIKE_GROUPED, /* single runs, or several together */
	LIKE_UNSEEDED /* texts but for ", seed N" at their end */
} likeness;

typedef struct comparable_row {
	comparable_group group;
	comparable_trend trend;
	/* key "input/": every fact whose key has this prefix; "": all facts without a row. */
	const char *section, *key;
	likeness like;
	const char *why; /* it means that */
	/* A more precise fact of the engine: if both records have it, this row is left out of a
	 * comparison. */
	const char *better;
} comparable_row;

#define ELSEWHERE "the same work takes another time there"
#define MEASURED  "another time is measured of the same work"
#define WANTED	  "it is the object of a comparison; a trend has one of them"
#define MODEL	  "a model's changes are the object of a history"
#define DATA	  "it is a number of other data, or counted in another way"
#define VERSION	  "it goes with the engine's version"
#define EFFORT	  "how long is measured changes how sure a number is, not the number"

/* A row that no fact of the engine replaces. */
#define ROW(group, trend, section, key, like, why)                                      \
	{                                                                               \
		COMPARABLE_##group, TREND_##trend, section, key, LIKE_##like, why, NULL \
	}

/* Facts that make a comparison refuse separate trends too. */
static const comparable_row comparable_rows[] = {
    ROW(MACHINE, MACHINE, "host", "cpu", EQUAL, ELSEWHERE),
    ROW(MACHINE, MACHINE, "host", "cpus_online", EQUAL, ELSEWHERE),
    ROW(MACHINE, MACHINE, "host", "cpus_allowed", EQUAL, ELSEWHERE),
    ROW(MACHINE, MACHINE, "host", "cpu_limit", EQUAL, ELSEWHERE),
    ROW(MACHINE, MACHINE, "host", "kernel", ENDS,
	"another system or another kind of processor runs other code"),
    ROW(MACHINE, MACHINE, "host", "hypervisor", EQUAL, ELSEWHERE),
    ROW(MACHINE, MACHINE, "host", "governor", EQUAL, ELSEWHERE),
    ROW(MACHINE, MACHINE, "host", "turbo", EQUAL, ELSEWHERE),
    ROW(MACHINE, MACHINE, "host", "smt", EQUAL, ELSEWHERE),
    ROW(METHOD, METHOD, "method", "clock", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "method", "enclosed", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "method", "transfers", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "method", "times", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "method", "warmup_rule", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "method", "group", GROUPED,
	"a mean of several runs hides their scatter, a single run carries the clock's cost"),
    ROW(METHOD, METHOD, "plan", "idle", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "plan", "input-pool", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "plan", "shell", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "plan", "output", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "load", "scenario", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "plan", "rate", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "plan", "arrivals", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "plan", "trace", EQUAL, MEASURED),
    ROW(METHOD, METHOD, "plan", "new-tokens", EQUAL, "a longer answer has later, longer gaps"),
    ROW(METHOD, METHOD, "load", "prompt_words", EQUAL, "a longer prompt takes longer"),
    ROW(METHOD, METHOD, "plan", "prompt-file", EQUAL, "other prompts take another time"),
    ROW(METHOD, METHOD, "load", "shared_prefix", EQUAL, "a cache of prefixes has a shared part"),
    ROW(METHOD, METHOD, "plan", "slo/", EQUAL, MEASURED),
    ROW(STATE, TOGETHER, "device", "barrier", EQUAL,
	"the time of a run contains that of what waits for it, which was tested in each"),
    ROW(STATE, TOGETHER, "host", "os", EQUAL,
	"updates are automatic, and whether one made it slower is the question"),
    ROW(STATE, TOGETHER, "host", "kernel", EQUAL, "as the system above: only its version"),
    ROW(STATE, TOGETHER, "host", "memory", NEAR, "what fits takes the same time"),
    ROW(STATE, TOGETHER, "host", "memory_limit", NEAR, "what fits takes the same time"),
    ROW(STATE, METHOD, "method", "processes", EQUAL,
	"a comparison weighs it in its interval; points of a trend are taken to scatter alike"),
    ROW(STATE, METHOD, "method", "trial", EQUAL,
	"ratios of trials in one process scatter less than those of fresh processes"),
    ROW(STATE, TOGETHER, "plan", "seed", EQUAL,
	"another draw of the same inputs and arrivals: one more repetition, not another subject"),
    ROW(SETTING, METHOD, "method", "address_layout", EQUAL, WANTED),
    ROW(SETTING, METHOD, "engine", "name", EQUAL, WANTED),
    ROW(SETTING, TOGETHER, "engine", "version", EQUAL,
	"whether an update made it slower is the question"),
    ROW(SETTING, METHOD, "engine", "provider", EQUAL, WANTED),
    ROW(SETTING, METHOD, "engine", "threads", EQUAL, WANTED),
    ROW(SETTING, METHOD, "engine", "interop_threads", EQUAL, WANTED),
    ROW(SETTING, METHOD, "engine", "execution", EQUAL, WANTED),
    ROW(SETTING, METHOD, "engine", "opt", EQUAL, WANTED),
    ROW(SETTING, METHOD, "engine", "spin", EQUAL, WANTED),
    ROW(SETTING, METHOD, "engine", "denormals", EQUAL, WANTED),
    {COMPARABLE_SETTING, TREND_METHOD, "plan", "engine", LIKE_EQUAL, WANTED, "name"},
    {COMPARABLE_SETTING, TREND_METHOD, "plan", "device", LIKE_EQUAL, WANTED, "provider"},
    {COMPARABLE_SETTING, TREND_METHOD, "plan", "threads", LIKE_EQUAL, WANTED, "threads"},
    {COMPARABLE_SETTING, TREND_METHOD, "plan", "interop-threads", LIKE_EQUAL, WANTED,
     "interop_threads"},
    {COMPARABLE_SETTING, TREND_METHOD, "plan", "opt", LIKE_EQUAL, WANTED, "opt"},
    ROW(SETTING, METHOD, "plan", "cpus", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "batch", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "shape/", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "dim/", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "engine-option/", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "image-size", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "seq", EQUAL, WANTED),
    ROW(SETTING, METHOD, "load", "streams", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "serial", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "max-queue", EQUAL, WANTED),
    ROW(SETTING, METHOD, "plan", "memory", EQUAL, WANTED),
    ROW(SETTING, METHOD, "cost", "convention", EQUAL, DATA),
    ROW(SETTING, METHOD, "difference", "reference", EQUAL, DATA),
    ROW(SUBJECT, METHOD, "subject", "kind", EQUAL, WANTED),
    ROW(SUBJECT, TOGETHER, "subject", "name", EQUAL, "a trend has one subject"),
    ROW(SUBJECT, METHOD, "subject", "served_model", EQUAL, WANTED),
    ROW(SUBJECT, TOGETHER, "subject", "producer", EQUAL, MODEL),
    ROW(SUBJECT, TOGETHER, "subject", "opset", EQUAL, MODEL),
    ROW(SUBJECT, TOGETHER, "subject", "nodes", EQUAL, MODEL),
    ROW(SUBJECT, TOGETHER, "subject", "weight_bytes", EQUAL, MODEL),
    ROW(SUBJECT, METHOD, "subject", "items_per_run", EQUAL, WANTED),
    ROW(SUBJECT, METHOD, "subject", "input/", UNSEEDED,
	"inputs of another shape or kind are other work; the seed has a separate row"),
    ROW(SUBJECT, TOGETHER, "subject", "output/", EQUAL, MODEL),
    ROW(SUBJECT, METHOD, "accuracy", "labels", EQUAL, DATA),
    ROW(SUBJECT, METHOD, "accuracy", "items", EQUAL, DATA),
    ROW(SUBJECT, METHOD, "plan", "directory", EQUAL, WANTED),
    ROW(NONE, METHOD, "compare", "subject/", EQUAL,
	"a ratio to another subject is another number, and subject/name is the first alone"),
    ROW(NONE, TOGETHER, "engine", "adapter", EQUAL, VERSION),
    ROW(NONE, TOGETHER, "engine", "library", EQUAL, VERSION),
    ROW(NONE, TOGETHER, "engine", "found", EQUAL, VERSION),
    ROW(NONE, TOGETHER, "engine", "build", EQUAL, VERSION),
    ROW(NONE, TOGETHER, "engine", "provider_library", EQUAL, VERSION),
    ROW(NONE, TOGETHER, "engine", "provider_version", EQUAL, VERSION),
    ROW(NONE, METHOD, "engine", "", EQUAL,
	"unknown facts may matter: a comparison uses the known ones"),
    ROW(NONE, TOGETHER, "plan", "precision", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "level", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "min-runs", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "min-time", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "max-time", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "runs", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "requests", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "time", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "warmup", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "max-warmup", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "keep", EQUAL, EFFORT),
    ROW(NONE, TOGETHER, "plan", "engine-lib", EQUAL, VERSION),
    ROW(NONE, TOGETHER, "plan", "group", EQUAL, "method/group has the result"),
    ROW(NONE, METHOD, "plan", "", EQUAL,
	"unknown facts may matter: a comparison uses the known ones"),
    ROW(NONE, MACHINE, "device", "name", EQUAL, ELSEWHERE),
};

bool comparable_exact(const char *tag)
{
	static const char *const counted[] = {"cost/",	    "memory/weights", "accuracy/",
					      "precision/", "recall/",	      "f1/",
					      "support/",   "difference/"};

	for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
		if (strncmp(tag, counted[i], strlen(counted[i])) == 0)
			return true;
	return false;
}

static bool ends_equal(const char *a, const char *b)
{
	const size_t na = strcspn(a, " "), nb = strcspn(b, " ");
	const char *last_a = strrchr(a, ' '), *last_b = strrchr(b, ' ');

	return na == nb && memcmp(a, b, na) == 0 &&
	       strcmp(last_a ? last_a : "", last_b ? last_b : "") == 0;
}

/* Bytes of the text without ", seed N" at its end. */
static size_t unseeded(const char *text)
{
	static const char seed[] = ", seed ";
	const size_t n = sizeof seed - 1, all = strlen(text);
	size_t end = all;

	while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	return end < all && end >= n && memcmp(text + end - n, seed, n) == 0 ? end - n : all;
}

static bool alike(likeness like, const dck_value *a, const dck_value *b)
{
	const double x = dck_value_number(a), y = dck_value_number(b);

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
	case LIKE_UNSEEDED:
		if (a->kind == DCK_VALUE_TEXT && b->kind == DCK_VALUE_TEXT)
			return unseeded(a->as.text) == unseeded(b->as.text) &&
			       memcmp(a->as.text, b->as.text, unseeded(a->as.text)) == 0;
		break;
	case LIKE_EQUAL:
		break;
	}
	return record_value_equal(a, b);
}

static void difference_add(comparable_differences *f, const comparable_row *r, const char *key,
			   const dck_fact *a, const dck_fact *b)
{
	f->count[r->group]++;
	if (f->n < COMPARABLE_MAX)
		f->rows[f->n++] = (comparable_difference){r->group, r->section, key, a, b};
}

static bool is_family(const comparable_row *r)
{
	const size_t n = strlen(r->key);

	return n > 0 && r->key[n - 1] == '/';
}

/* A setting that only one record has was given there alone; a fact of machine or method that only
 * one has was not recorded in the other: nothing is known. Options of a list ("slo/1") are only
 * there when they were given. */
static void fact_compare(comparable_differences *f, const comparable_row *r, const char *key,
			 const dck_fact *a, const dck_fact *b)
{
	if (a && b) {
		if (!alike(r->like, &a->value, &b->value))
			difference_add(f, r, key, a, b);
	} else if (r->group >= COMPARABLE_SETTING || is_family(r)) {
		if ((a ? a : b)->value.kind != DCK_VALUE_ABSENT)
			difference_add(f, r, key, a, b);
	} else if (r->group < COMPARABLE_STATE &&
		   f->nunknown < sizeof f->unknown / sizeof f->unknown[0]) {
		f->unknown[f->nunknown++] = key;
	}
}

static bool is_of(const dck_fact *f, const comparable_row *r)
{
	return strcmp(f->section, r->section) == 0 &&
	       (is_family(r) ? strncmp(f->key, r->key, strlen(r->key)) == 0
			     : strcmp(f->key, r->key) == 0);
}

static void facts_compare(comparable_differences *f, const comparable_row *r, const dck_record *a,
			  const dck_record *b)
{
	size_t left = FAMILY_MAX;

	for (size_t i = 0; i < a->nfacts && left > 0; i++) {
		if (!is_of(&a->facts[i], r))
			continue;
		fact_compare(f, r, a->facts[i].key, &a->facts[i],
			     dck_record_fact(b, r->section, a->facts[i].key));
		left--;
	}
	for (size_t i = 0; i < b->nfacts && left > 0; i++) {
		if (!is_of(&b->facts[i], r))
			continue;
		if (!dck_record_fact(a, r->section, b->facts[i].key))
			fact_compare(f, r, b->facts[i].key, NULL, &b->facts[i]);
		left--;
	}
}

void comparable_differ(const dck_record *a, const dck_record *b, const char *tag,
		       comparable_differences *ret)
{
	const bool exact = comparable_exact(tag);

	*ret = (comparable_differences){0};
	for (const comparable_row *r = comparable_rows;
	     r < comparable_rows + sizeof comparable_rows / sizeof comparable_rows[0]; r++) {
		if (r->group == COMPARABLE_NONE || (exact && r->group <= COMPARABLE_STATE))
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

/* --- the keys of a trend */

static uint64_t hash_word(uint64_t h, const char *text, size_t n)
{
	return hash_bytes(hash_bytes(h, text, n), "", 1);
}

static uint64_t hash_whole(uint64_t h, const char *text)
{
	return hash_word(h, text, strlen(text));
}

static uint64_t hash_text_like(uint64_t h, const char *text, likeness like)
{
	const char *last = strrchr(text, ' ');

	if (like == LIKE_UNSEEDED)
		return hash_word(h, text, unseeded(text));
	if (like == LIKE_ENDS)
		return hash_whole(hash_word(h, text, strcspn(text, " ")), last ? last : "");
	return hash_whole(h, text);
}

static uint64_t hash_fact(const dck_fact *f, likeness like)
{
	uint64_t h = hash_whole(hash_whole(HASH_START, f->section), f->key);
	char number[40] = "absent"; /* the reason may be worded otherwise one day */

	if (like == LIKE_GROUPED && !isnan(dck_value_number(&f->value)))
		return hash_whole(h, dck_value_number(&f->value) > 1 ? "several" : "single");
	switch (f->value.kind) {
	case DCK_VALUE_TEXT:
		return hash_text_like(h, f->value.as.text, like);
	case DCK_VALUE_BOOL:
		return hash_whole(h, f->value.as.b ? "true" : "false");
	case DCK_VALUE_INT:
		snprintf(number, sizeof number, "%" PRId64, f->value.as.i);
		break;
	case DCK_VALUE_REAL:
		return hash_bytes(h, &f->value.as.r, sizeof f->value.as.r);
	case DCK_VALUE_ABSENT:
		break;
	}
	return hash_whole(h, number);
}

/* Added up, so that the order of facts does not matter. */
uint64_t comparable_key(const dck_record *record, comparable_trend part, uint64_t begin)
{
	uint64_t key = begin;

	for (size_t i = 0; i < record->nfacts; i++) {
		const dck_fact *f = &record->facts[i];
		bool named = false;

		for (const comparable_row *r = comparable_rows;
		     r < comparable_rows + sizeof comparable_rows / sizeof comparable_rows[0];
		     r++) {
			const bool own = is_of(f, r), rest = !named && r->key[0] == '\0' &&
							     strcmp(f->section, r->section) == 0;

			named = named || own;
			if ((own || rest) && r->trend == part)
				key += hash_fact(f, r->like);
		}
	}
	return key;
}

/* --- as text */

/* Cuts at a whole character. */
static void comparable_cut(char *text, size_t size)
{
	memcpy(text + utf8_cut(text, size - 4), "...", 4);
}

const char *comparable_value(const dck_fact *fact, char *text, size_t size)
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
		n = snprintf(text, size, "%s", DECIMAL_TEXT(15, fact->value.as.r));
	else
		n = snprintf(text, size, "%s", fact->value.as.text);
	if (n > 0 && (size_t)n >= size && size > 8)
		comparable_cut(text, size);
	return text;
}

const char *comparable_text(const comparable_differences *f, comparable_group group, char *text,
			    size_t size)
{
	const char *section = "";
	char a[64], b[64];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < f->n; i++) {
		const comparable_difference *d = &f->rows[i];
		const bool named = strcmp(d->section, section) == 0;
		int n;

		if (d->group != group)
			continue;
		n = snprintf(text + used, size - used, "%s%s%s%s '%s' and '%s'", used ? ", " : "",
			     named ? "" : d->section, named ? "" : " ", d->key,
			     comparable_value(d->a, a, sizeof a),
			     comparable_value(d->b, b, sizeof b));
		if (n < 0)
			break;
		if ((size_t)n >= size - used) {
			comparable_cut(text, size);
			break;
		}
		used += (size_t)n;
		section = d->section;
	}
	return text;
}
