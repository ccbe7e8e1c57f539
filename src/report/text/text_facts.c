/* text_facts.c - the facts of a record as text: a paragraph for each section, a line for each fact
 * of the method.
 *
 * Sections come in the order of their first fact, the method last. Left out are the plan (what was
 * requested), facts that another part of the report shows (headline, verdicts, answer) and absent
 * facts outside the method; JSON has them all. Of the method, numbers share one
 * paragraph and every other fact has a line.
 *
 * Everything is written through page.h, which breaks lines and lets no control character through.
 * The number of sections is bounded by SECTIONS_MAX; each section scans all facts, which are few.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/name_index.h"
#include "record/record_internal.h"
#include "report/text/text_parts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FACT_INDENT 15

/* Writes "clock_cost" as "clock cost". Names that users gave, in section "records" or after a '/',
 * stay as they are. */
static void key_put(page *p, const char *section, const char *key)
{
	bool own = strcmp(section, "records") != 0;
	char text[64];
	size_t n = strlen(key);
	if (n >= sizeof text) {
		page_wrap(p, FACT_INDENT, key);
		return;
	}
	for (size_t i = 0; i <= n; i++) {
		own = own && key[i] != '/';
		text[i] = own && key[i] == '_' ? ' ' : key[i];
	}
	page_wrap(p, FACT_INDENT, text);
}

static void label_put(page *p, const char *label)
{
	text_dim_from(p, 2);
	page_text_cut(p, label, FACT_INDENT - 3);
	text_style_set(p, PAGE_PLAIN);
	page_to(p, FACT_INDENT);
}

static void comma_put(page *p)
{
	p->space = false;
	page_text(p, ",");
	page_space(p);
}

/* Writes the facts of one section, "key value, key value". title: a title before the first fact,
 * NULL: none. Returns whether there was a fact. */
static bool section_put(page *p, const dck_record *r, const char *section,
			bool (*shown)(const dck_fact *f), const char *label, const char *title)
{
	char buf[FORMAT_SIZE];
	bool first = true;

	for (size_t i = 0; i < r->nfacts; i++) {
		const dck_fact *f = &r->facts[i];
		if (strcmp(f->section, section) != 0 || !shown(f))
			continue;
		if (first && title)
			text_title(p, title);
		if (first)
			label_put(p, label);
		else
			comma_put(p);
		text_style_set(p, PAGE_DIM);
		key_put(p, f->section, f->key);
		text_style_set(p, PAGE_PLAIN);
		page_space(p);
		page_wrap(p, FACT_INDENT, text_fact_value(f, buf));
		first = false;
	}
	if (!first)
		page_line(p);
	return !first;
}

/* Returns whether the section's own verdict repeats that of one of several alternatives. */
static bool facts_is_repeated(const dck_record *r, const dck_fact *f)
{
	bool named = false;

	for (size_t i = 0; i < r->nfacts && f->key[sizeof FORMAT_VERDICT - 1] == '\0' && !named;
	     i++)
		named = format_is_verdict(&r->facts[i]) && &r->facts[i] != f &&
			strcmp(r->facts[i].section, f->section) == 0;
	return named;
}

/* Writes "verdict: slower", "verdict opt=all: slower"; where two sections have one, "compare
 * verdict:". */
static void verdict_put(page *p, const dck_fact *f, bool with_section)
{
	const char *name = f->key + sizeof FORMAT_VERDICT - 1;

	page_to(p, 2);
	if (with_section) {
		page_wrap(p, 4, f->section);
		page_wrap(p, 4, FORMAT_VERDICT);
	} else {
		page_text(p, FORMAT_VERDICT);
		page_space(p);
	}
	page_wrap(p, 4, name[0] == '/' ? name + 1 : "");
	p->space = false;
	page_text(p, ":");
	page_space(p);
	text_style_set(p, PAGE_BOLD);
	page_wrap(p, 4, FORMAT_VALUE(&f->value, f->unit));
	page_line(p);
}

void text_verdicts(page *p, const dck_record *r)
{
	const dck_fact *first = NULL;
	bool sections = false;

	for (size_t i = 0; i < r->nfacts; i++) {
		const dck_fact *f = &r->facts[i];
		if (!format_is_verdict(f))
			continue;
		first = first ? first : f;
		sections = sections || strcmp(f->section, first->section) != 0;
	}
	if (first)
		page_line(p);
	for (size_t i = 0; i < r->nfacts; i++)
		if (format_is_verdict(&r->facts[i]) && !facts_is_repeated(r, &r->facts[i]))
			verdict_put(p, &r->facts[i], sections);
}

/* Returns whether the headline shows the fact already. */
static bool is_headline(const dck_fact *f)
{
	if (strcmp(f->section, "engine") == 0)
		return name_index_listed("name version provider threads", f->key);
	return strcmp(f->section, "subject") == 0 && name_index_listed("name title", f->key);
}

static bool facts_is_known(const dck_fact *f)
{
	return f->value.kind != DCK_VALUE_ABSENT && strcmp(f->section, "result") != 0 &&
	       !is_headline(f) && !format_is_verdict(f);
}

static bool is_known_number(const dck_fact *f)
{
	return facts_is_known(f) && f->value.kind != DCK_VALUE_TEXT && !text_fact_is_share(f);
}

static void facts_method_put(page *p, const dck_record *r)
{
	char buf[FORMAT_SIZE];
	bool first = true;
	/* The legend of the latencies states the kind of their interval. */
	const bool in_legend = text_has_interval(r);

	for (size_t i = 0; i < r->nfacts; i++) {
		const dck_fact *f = &r->facts[i];
		if (strcmp(f->section, "method") != 0 || is_known_number(f) ||
		    (in_legend && strcmp(f->key, "interval") == 0))
			continue;
		if (first)
			text_title(p, "Method");
		first = false;
		text_dim_from(p, 2);
		key_put(p, f->section, f->key);
		p->space = false;
		page_text(p, ":");
		text_style_set(p, PAGE_PLAIN);
		page_space(p);
		if (f->value.kind == DCK_VALUE_ABSENT)
			page_wrap(p, 4, "absent,");
		page_wrap(p, 4, text_fact_value(f, buf));
		page_line(p);
	}
	(void)section_put(p, r, "method", is_known_number, "numbers", NULL);
}

/* Sections in the order of their first fact. A record has six; further ones are in JSON only. */
#define SECTIONS_MAX 32

static size_t facts_sections_find(const dck_record *r, const char **section)
{
	size_t n = 0;
	for (size_t i = 0; i < r->nfacts && n < SECTIONS_MAX; i++) {
		size_t k = 0;
		while (k < n && strcmp(section[k], r->facts[i].section) != 0)
			k++;
		if (k == n)
			section[n++] = r->facts[i].section;
	}
	return n;
}

/* Writes the origin of the record: its id, time, version and command. */
static bool origin_put(page *p, const dck_record *r)
{
	char began[RECORD_TIME_SIZE];

	if (r->id[0] == '\0')
		return false;
	text_title(p, "Facts");
	label_put(p, "record");
	page_wrap(p, FACT_INDENT, r->id);
	if (r->began_unix_ns != 0) {
		record_time_text(r->began_unix_ns, began);
		comma_put(p);
		page_wrap(p, FACT_INDENT, began);
	}
	comma_put(p);
	page_wrap(p, FACT_INDENT, "deepclock");
	page_wrap(p, FACT_INDENT, r->version);
	page_line(p);
	if (r->command) {
		label_put(p, "command");
		page_wrap(p, FACT_INDENT, r->command);
		page_line(p);
	}
	return true;
}

void text_facts(page *p, const dck_record *r)
{
	const char *section[SECTIONS_MAX];
	const size_t n = facts_sections_find(r, section);
	bool titled = origin_put(p, r);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(section[i], "method") == 0 || strcmp(section[i], "plan") == 0)
			continue;
		if (section_put(p, r, section[i], facts_is_known, section[i],
				titled ? NULL : "Facts"))
			titled = true;
	}
	facts_method_put(p, r);
}
