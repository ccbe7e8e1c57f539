/* saved.c - records that were kept, compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench/saved.h"
#include "base/err.h"
#include "bench/facts.h"
#include "bench/fingerprint.h"
#include "bench/verdict.h"
#include "os/os.h"
#include "record/record.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One record in the comparison. */
typedef struct side {
	const dck_record *record;
	const char *name;
	saved_source source;
	saved_value value;   /* at the level of its verdict */
	fingerprint differs; /* from the baseline */
	saved_ratio ratio;   /* to the baseline */
	double level;	     /* of the ratio's interval */
	verdict verdict;
	int gate;
	bool open; /* no verdict yet, and it has an interval that may give one */
} side;

typedef struct comparison {
	const dck_compare_config *asked;
	const char *tag;
	const dck_metric_def *def;
	side *sides;
	size_t n;
	record_builder *b;
} comparison;

/* --- may they be compared? */

static dck_status check_records(const dck_record *const *records, size_t n, dck_err *err)
{
	if (n < 2)
		DCK_FAIL(err, E_ARG, "a comparison needs at least two records");
	if (n > DCK_ALTERNATIVES_MAX)
		DCK_FAIL(err, E_ARG, "%zu records are too many to compare: at most %d", n,
			 DCK_ALTERNATIVES_MAX);
	for (size_t i = 0; i < n; i++)
		if (records[i]->schema != DCK_RECORD_SCHEMA)
			DCK_FAIL(err, E_VERSION,
				 "record %zu has schema %u and this deepclock compares schema %u: "
				 "measure again with one version",
				 i + 1, (unsigned)records[i]->schema, DCK_RECORD_SCHEMA);
	return DCK_OK;
}

static dck_status check_metric(comparison *c, dck_err *err)
{
	c->def = c->sides[0].source.def;
	if (c->def->better == DCK_BETTER_NEITHER)
		DCK_FAIL(err, E_ARG,
			 "'%s' is neither better nor worse when it grows, so no verdict follows "
			 "from it: compare a metric of time, throughput, memory or cost",
			 c->tag);
	for (size_t i = 1; i < c->n; i++)
		if (c->sides[i].source.def->unit != c->def->unit)
			DCK_FAIL(err, E_ARG, "'%s' is in '%s' in one record and in '%s' in another",
				 c->tag, dck_unit_text(c->def->unit),
				 dck_unit_text(c->sides[i].source.def->unit));
	return DCK_OK;
}

static dck_status check_fingerprints(comparison *c, dck_err *err)
{
	static const struct {
		fingerprint_group group;
		const char *code, *what;
	} must[] = {{FINGERPRINT_MACHINE, "machine-differs", "were made on different machines"},
		    {FINGERPRINT_METHOD, "method-differs", "were measured in different ways"}};
	char text[260];

	for (size_t i = 1; i < c->n; i++) {
		side *s = &c->sides[i];

		fingerprint_compare(c->sides[0].record, s->record, c->tag, &s->differs);
		for (size_t k = 0; k < sizeof must / sizeof must[0]; k++) {
			if (s->differs.count[must[k].group] == 0)
				continue;
			fingerprint_text(&s->differs, must[k].group, text, sizeof text);
			if (!c->asked->force)
				DCK_FAIL(err, E_ARG,
					 "'%.60s' and '%.60s' %s (%s): their difference says "
					 "nothing of the subjects; --force compares all the same",
					 c->sides[0].name, s->name, must[k].what, text);
			record_note(c->b, DCK_WARN, must[k].code,
				    "'%s' and '%s' %s (%s): the ratio is of that too",
				    c->sides[0].name, s->name, must[k].what, text);
		}
	}
	return DCK_OK;
}

/* --- verdicts */

static verdict verdict_make(const saved_ratio *r, double margin)
{
	/* Counts that are equal are the same, also where no difference is allowed. */
	if (r->lo == 1 && r->hi == 1)
		return VERDICT_SAME;
	return verdict_of(r->lo, r->hi, margin);
}

static void side_judge(comparison *c, side *s, const saved_value *from, double level)
{
	saved_source_value(&s->source, level, &s->value);
	saved_ratio_find(from, &s->value, c->def->better == DCK_BETTER_HIGHER, &s->ratio);
	s->level = level;
	s->verdict = verdict_make(&s->ratio, c->asked->margin);
	s->gate = verdict_gate(s->ratio.lo, s->ratio.hi, c->asked->margin);
	s->open = s->verdict == VERDICT_UNDECIDED && !isnan(s->ratio.lo);
}

/* Holm (1979), with intervals: k open alternatives are looked at with the error divided by k; those
 * decided leave, and the others are looked at again. Counts have no error to divide. */
static void judge(comparison *c)
{
	const double error = 1 - c->asked->level;
	side *base = &c->sides[0];
	size_t open = 0, before;

	saved_source_value(&base->source, c->asked->level, &base->value);
	for (size_t i = 1; i < c->n; i++) {
		side *s = &c->sides[i];

		side_judge(c, s, &base->value, c->asked->level);
		s->open = !s->ratio.exact && !isnan(s->ratio.lo);
		open += s->open;
	}
	if (open < 2)
		return;
	do {
		const double level = 1 - error / (double)open;
		saved_value from;

		before = open;
		saved_source_value(&base->source, level, &from);
		for (size_t i = 1; i < c->n; i++) {
			if (!c->sides[i].open)
				continue;
			side_judge(c, &c->sides[i], &from, level);
			open -= !c->sides[i].open;
		}
	} while (open > 0 && open < before);
}

/* --- the record */

static void how_make(const comparison *c, const side *s, char *text, size_t size)
{
	const bool higher = c->def->better == DCK_BETTER_HIGHER;

	if (s->ratio.exact)
		snprintf(text, size, "%s%s; counted, not measured", higher ? "A over B of " : "",
			 c->tag);
	else
		snprintf(text, size,
			 "%s%s; intervals of independent estimates, square-and-add on logarithms",
			 higher ? "A over B of " : "", c->tag);
}

static void metric_ratio(const comparison *c, const side *s, const char *tag)
{
	const saved_ratio *r = &s->ratio;
	char how[160];

	how_make(c, s, how, sizeof how);
	if (!r->known)
		record_metric_absent(c->b, tag, r->why);
	else if (!r->exact && !isnan(r->lo))
		record_metric_interval(c->b, tag, r->value, r->lo, r->hi, s->level, how);
	else
		record_metric_real(c->b, tag, r->value, how);
}

static void metrics(const comparison *c)
{
	const saved_ratio *first = &c->sides[1].ratio;
	char tag[160];

	metric_ratio(c, &c->sides[1], "compare/ratio");
	for (size_t i = 1; i < c->n && c->n > 2; i++) {
		snprintf(tag, sizeof tag, "compare/ratio/%s", c->sides[i].name);
		metric_ratio(c, &c->sides[i], tag);
	}
	if (first->exact)
		record_metric_real(c->b, "compare/resolution", 0, "counts have no error");
	else if (first->known && first->lo > 0)
		record_metric_real(c->b, "compare/resolution",
				   expm1(log(first->hi / first->lo) / 2),
				   "half the width of the ratio's interval; what lies between the "
				   "recordings is not in it");
	else
		record_metric_absent(c->b, "compare/resolution",
				     first->why[0] ? first->why : "the ratio has no interval");
}

static void verdicts(const comparison *c)
{
	const char *names[DCK_ALTERNATIVES_MAX];
	verdict v[DCK_ALTERNATIVES_MAX];
	int gates[DCK_ALTERNATIVES_MAX];

	for (size_t i = 1; i < c->n; i++) {
		names[i - 1] = c->sides[i].name;
		v[i - 1] = c->sides[i].verdict;
		gates[i - 1] = c->sides[i].gate;
	}
	verdict_facts(c->b, names, v, gates, c->n - 1);
}

static void cell_value(const comparison *c, const saved_value *v, double level)
{
	if (!v->known)
		record_cell_absent(c->b, v->why);
	else
		record_cell_interval(c->b, v->value, v->lo, v->hi, v->has_interval ? level : 0);
}

static void table(const comparison *c)
{
	const bool time = c->def->unit == DCK_UNIT_NS;
	const dck_column columns[] = {
	    {"subject", "subject", DCK_UNIT_NONE},
	    {time ? "time" : "value", c->def->name, c->def->unit},
	    {"ratio", "ratio", DCK_UNIT_ONE},
	    {"difference", "difference", c->def->unit},
	    {"verdict", "verdict", DCK_UNIT_NONE},
	};

	record_table(c->b, "compare/alternatives", "Compared, from records", columns,
		     sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < c->n; i++) {
		const side *s = &c->sides[i];
		const saved_ratio *r = &s->ratio;
		const bool interval = !r->exact && !isnan(r->lo);

		record_cell_text(c->b, s->name);
		cell_value(c, &s->value, i == 0 ? c->asked->level : s->level);
		if (i == 0) {
			record_cell_absent(c->b, "the others are compared with it");
			record_cell_absent(c->b, "the others are compared with it");
			record_cell_text(c->b, "baseline");
			continue;
		}
		if (r->known)
			record_cell_interval(c->b, r->value, r->lo, r->hi, interval ? s->level : 0);
		else
			record_cell_absent(c->b, r->why);
		if (isnan(r->difference))
			record_cell_absent(c->b, r->why);
		else
			record_cell_interval(c->b, r->difference, r->difference_lo,
					     r->difference_hi, interval ? s->level : 0);
		record_cell_text(c->b, verdict_texts[s->verdict]);
	}
}

/* --- facts */

static void fact_record(const comparison *c, const side *s)
{
	const dck_record *r = s->record;
	char began[RECORD_TIME_SIZE] = "at an unknown time";

	if (r->began_unix_ns) {
		char *fraction;

		record_time_text(r->began_unix_ns, began);
		fraction = strchr(began, '.');
		if (fraction)
			memcpy(fraction, "Z", 2);
	}
	record_fact_fmt(c->b, "records", s->name, "%s%s, deepclock %s%s%.12s", began,
			r->incomplete ? ", incomplete" : "", r->version ? r->version : "?",
			r->id && r->id[0] ? ", id " : "", r->id ? r->id : "");
}

static void facts(const comparison *c)
{
	const dck_record *first = c->sides[0].record;
	const dck_fact *subject = dck_record_fact(first, "subject", "name");
	bool one_machine = true, one_subject = subject != NULL;

	for (size_t i = 1; i < c->n; i++) {
		one_machine &= c->sides[i].differs.count[FINGERPRINT_MACHINE] == 0;
		one_subject &= c->sides[i].differs.count[FINGERPRINT_SUBJECT] == 0;
	}
	if (one_subject)
		bench_facts_copy(c->b, &(dck_record){.facts = subject, .nfacts = 1});
	for (size_t i = 0; i < first->nfacts && one_machine; i++)
		if (strcmp(first->facts[i].section, "host") == 0)
			bench_facts_copy(c->b,
					 &(dck_record){.facts = &first->facts[i], .nfacts = 1});
	for (size_t i = 0; i < c->n; i++)
		fact_record(c, &c->sides[i]);
	record_fact_text(c->b, "compare", "metric", c->tag);
	record_fact_real(c->b, "compare", "margin", DCK_UNIT_ONE, c->asked->margin);
	record_fact_text(c->b, "method", "compare", "saved records, not interleaved");
	record_fact_text(c->b, "method", "interval",
			 c->sides[1].ratio.exact
			     ? "none: what is counted has no error"
			     : "of the ratio of two independent estimates, from the interval of "
			       "each by square-and-add on logarithms");
	if (c->n > 2)
		record_fact_text(c->b, "method", "several", "Holm's procedure over the records");
	record_fact_real(c->b, "method", "level", DCK_UNIT_ONE, c->asked->level);
}

/* --- notes */

/* "4 minutes", "3 days". */
static const char *apart_text(int64_t ns, char *text, size_t size)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
	const double s = fabs((double)ns) / 1e9;
	size_t i = 0;

	while (i < 3 && s < 2 * units[i].seconds)
		i++;
	snprintf(text, size, "%.0f %s", s / units[i].seconds, units[i].name);
	return text;
}

static void note_not_interleaved(const comparison *c)
{
	const int64_t a = c->sides[0].record->began_unix_ns;
	int64_t most = 0;
	char apart[64], when[96] = "";

	for (size_t i = 1; i < c->n && a; i++) {
		const int64_t b = c->sides[i].record->began_unix_ns;
		const double far = fabs((double)b - (double)a);

		if (b && far > (double)most && far < 9e18)
			most = (int64_t)far;
	}
	if (most > 0)
		snprintf(when, sizeof when, ", %s apart", apart_text(most, apart, sizeof apart));
	record_note(c->b, DCK_INFO, "not-interleaved",
		    "the records were made one after the other%s: what changed in between (clocks, "
		    "heat, other programs, the luck of a start) is in the ratio and not in its "
		    "interval; 'deepclock compare' of the subjects themselves measures them in "
		    "turns",
		    when);
}

/* Joins the names for which `is` holds: "'a', 'b'". */
static size_t names_join(const comparison *c, bool (*is)(const comparison *c, size_t i), char *text,
			 size_t size)
{
	size_t found = 0, used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < c->n; i++) {
		if (!is(c, i))
			continue;
		const int n = snprintf(text + used, size - used, "%s'%.60s'", found ? ", " : "",
				       c->sides[i].name);
		if (n < 0 || (size_t)n >= size - used) {
			text[used] = '\0';
			break;
		}
		used += (size_t)n;
		found++;
	}
	return found;
}

static bool is_one_process(const comparison *c, size_t i)
{
	return c->sides[i].source.from == SAVED_RUNS;
}

static bool is_incomplete(const comparison *c, size_t i)
{
	return c->sides[i].record->incomplete;
}

static bool is_repeated(const comparison *c, size_t i)
{
	const char *id = c->sides[i].record->id;

	for (size_t k = 0; k < i && id && id[0]; k++)
		if (c->sides[k].record->id && strcmp(c->sides[k].record->id, id) == 0)
			return true;
	return false;
}

/* What each record warns of itself: codes, once each. */
static void note_doubts(const comparison *c)
{
	char text[600] = "";
	size_t used = 0;

	for (size_t i = 0; i < c->n; i++) {
		const dck_record *r = c->sides[i].record;
		size_t shown = 0;

		for (size_t k = 0; k < r->nnotes && used < sizeof text; k++) {
			const dck_note *note = &r->notes[k];

			if (note->severity == DCK_INFO || dck_record_note(r, note->code) != note)
				continue;
			used += (size_t)snprintf(
			    text + used, sizeof text - used, "%s%s%.60s%s%.40s",
			    used ? shown ? ", " : "; " : "", shown ? "" : "'",
			    shown ? "" : c->sides[i].name, shown ? "" : "': ", note->code);
			shown++;
		}
	}
	if (used > 0)
		record_note(c->b, DCK_INFO, "records-doubted",
			    "the records warn of themselves: %s; 'deepclock report' shows why",
			    text);
}

static void notes_records(const comparison *c)
{
	char names[400];

	if (names_join(c, is_repeated, names, sizeof names))
		record_note(c->b, DCK_WARN, "same-record",
			    "%s: the same measurement is given twice: it cannot differ from itself",
			    names);
	if (names_join(c, is_incomplete, names, sizeof names))
		record_note(c->b, DCK_WARN, "incomplete-record",
			    "%s: incomplete, interrupted or failed in the middle: what is compared "
			    "was measured until then",
			    names);
	if (names_join(c, is_one_process, names, sizeof names))
		record_note(c->b, DCK_WARN, "one-process",
			    "%s: measured in one process, and starts of a program differ by more "
			    "than its interval says: a difference may be that of two starts; "
			    "record with --processes 5 or more",
			    names);
	if (!fingerprint_exact(c->tag))
		note_doubts(c);
}

static void notes_differences(const comparison *c)
{
	static const struct {
		fingerprint_group group;
		const char *code, *what;
	} told[] = {{FINGERPRINT_SETTING, "settings-differ", "differ in settings"},
		    {FINGERPRINT_SUBJECT, "subjects-differ", "are of different subjects"},
		    {FINGERPRINT_STATE, "state-differs", "are of one machine and method, but for"}};
	char text[400];

	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < sizeof told / sizeof told[0]; k++) {
			const side *s = &c->sides[i];

			if (s->differs.count[told[k].group] == 0)
				continue;
			fingerprint_text(&s->differs, told[k].group, text, sizeof text);
			record_note(c->b, DCK_INFO, told[k].code, "'%s' and '%s' %s: %s",
				    c->sides[0].name, s->name, told[k].what, text);
		}
}

/* What only one of the records tells was not checked. */
static void note_unknown(const comparison *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const fingerprint *f = &c->sides[i].differs;
		char text[200] = "";
		size_t used = 0;

		for (size_t k = 0; k < f->nunknown && used < sizeof text; k++)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
						 k > 0 ? ", " : "", f->unknown[k]);
		if (used > 0)
			record_note(
			    c->b, DCK_INFO, "not-checked",
			    "only one of '%s' and '%s' tells %s: whether they agree in that "
			    "is not known",
			    c->sides[0].name, c->sides[i].name, text);
	}
}

/* A run of more items takes longer, and may be the better one. */
static void note_items(const comparison *c)
{
	const dck_fact *a = dck_record_fact(c->sides[0].record, "subject", "items_per_run");

	for (size_t i = 1; i < c->n && strncmp(c->tag, "latency/", 8) == 0; i++) {
		const dck_fact *b = dck_record_fact(c->sides[i].record, "subject", "items_per_run");

		if (a && b && a->value.kind == DCK_VALUE_INT && b->value.kind == DCK_VALUE_INT &&
		    a->value.as.i != b->value.as.i)
			record_note(
			    c->b, DCK_WARN, "items-differ",
			    "a run of '%s' processes %lld items, one of '%s' %lld: --metric "
			    "throughput/items compares the work done",
			    c->sides[0].name, (long long)a->value.as.i, c->sides[i].name,
			    (long long)b->value.as.i);
	}
}

static void note_undecided(const comparison *c, const side *s)
{
	const saved_ratio *r = &s->ratio;
	const bool processes = s->source.from == SAVED_PROCESSES;
	const double times = verdict_more(r->value, r->lo, r->hi, c->asked->margin);

	if (isnan(r->lo))
		record_note(c->b, DCK_WARN, "undecided", "%s: there is no interval: %s", s->name,
			    r->why);
	else if (isnan(times))
		record_note(c->b, DCK_WARN, "undecided",
			    "%s: the difference lies at the margin of %.3g %% itself, which no "
			    "number of runs decides: choose another --margin",
			    s->name, 100 * c->asked->margin);
	else
		record_note(c->b, DCK_WARN, "undecided",
			    "%s: undecided; about %.*f times as many %s in both records would "
			    "decide if the ratio stays; a comparison in turns needs fewer",
			    s->name, times < 9.5 ? 1 : 0, fmax(times, 1.1),
			    processes ? "processes" : "runs");
}

static void notes(const comparison *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->sides[i].verdict == VERDICT_UNDECIDED)
			note_undecided(c, &c->sides[i]);
	notes_records(c);
	note_items(c);
	notes_differences(c);
	note_unknown(c);
	if (!c->sides[1].ratio.exact)
		note_not_interleaved(c);
}

static dck_status operators(const comparison *c, dck_err *err)
{
	char suffix[160];

	for (size_t i = 1; i < c->n; i++) {
		snprintf(suffix, sizeof suffix, "/%s", c->sides[i].name);
		DCK_TRY(saved_operators(c->b, c->sides[0].record, c->sides[i].record,
					c->n > 2 ? suffix : "", c->asked, err));
	}
	return DCK_OK;
}

static dck_status compare(comparison *c, dck_err *err)
{
	for (size_t i = 0; i < c->n; i++)
		DCK_TRY(saved_source_open(c->sides[i].record, c->sides[i].name, c->tag,
					  &c->sides[i].source, err));
	DCK_TRY(check_metric(c, err));
	DCK_TRY(check_fingerprints(c, err));
	judge(c);
	facts(c);
	metrics(c);
	verdicts(c);
	table(c);
	DCK_TRY(operators(c, err));
	notes(c);
	for (size_t i = 0; i < c->n; i++)
		if (c->sides[i].record->incomplete)
			record_set_incomplete(c->b, true);
	return DCK_OK;
}

dck_status dck_compare_records(const dck_record *const *records, size_t n,
			       const dck_compare_config *c, dck_record **ret, dck_err *err)
{
	const char *names[DCK_ALTERNATIVES_MAX];
	dck_compare_config plain;
	comparison all = {.asked = c, .n = n};
	char tag[64];
	mem_arena *a;
	dck_status status = DCK_E_NOMEM;

	if (!c) {
		dck_compare_config_init(&plain);
		all.asked = &plain;
	}
	DCK_TRY(check_records(records, n, err));
	a = mem_arena_new(0);
	all.b = bench_facts_new(all.asked->title);
	all.sides = mem_zalloc(n, sizeof *all.sides);
	all.tag = saved_tag(records[0], all.asked, tag, sizeof tag);
	if (a && all.b && all.sides && saved_names(records, n, a, names)) {
		record_set_began(all.b, os_unix_ns());
		for (size_t i = 0; i < n; i++) {
			all.sides[i].record = records[i];
			all.sides[i].name = names[i];
		}
		status = compare(&all, err);
	} else {
		err_set(err, DCK_E_NOMEM, __FILE__, __LINE__, "no memory for the comparison");
	}
	for (size_t i = 0; i < n && all.sides; i++)
		saved_source_close(&all.sides[i].source);
	mem_free(all.sides);
	mem_arena_free(a);
	if (status == DCK_OK)
		return record_finish(all.b, ret, err);
	record_drop(all.b);
	return status;
}
