/* saved_notes.c - the notes on a comparison of saved records, with the codes of record/notes.def.
 *
 * saved_notes() is the order: undecided verdicts, with the factor of data that would decide them
 * (verdict_more()); the records' own warnings; their differences; conditions that could not be
 * checked because only one of two records states them; and last the limits of the design, since the
 * records were not interleaved or are pooled.
 *
 * Nothing is measured or estimated here: the differences come from saved.c. Lists of
 * names and codes are written into fixed buffers and end where these are full, so that hostile
 * records do not make notes grow.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "base/decimal.h"
#include "base/sink.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DISTURBED_REMEDY "compare live, or record while nothing else runs"

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

static void note_not_interleaved(const saved_comparison *c)
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
		snprintf(when, sizeof when, ", made %s apart,",
			 apart_text(most, apart, sizeof apart));
	record_note(
	    c->b, "not-interleaved",
	    "what changed between the records%s is in the ratio and not in its interval: clocks, "
	    "heat, other programs, the luck of a start",
	    when);
	record_remedy(c->b, "'deepclock compare' of the subjects themselves interleaves them");
}

/* Joins the names for which `is` holds: "'a', 'b'". */
static size_t names_join(const saved_comparison *c, bool (*is)(const saved_comparison *c, size_t i),
			 char *text, size_t size)
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

static bool is_one_process(const saved_comparison *c, size_t i)
{
	const char *kind = record_get_text(c->sides[i].record, "subject", "kind");

	/* Each run of a program is a start. */
	return saved_source_one_process(&c->sides[i].source) &&
	       !(kind && strcmp(kind, "command") == 0);
}

static bool is_incomplete(const saved_comparison *c, size_t i)
{
	return c->sides[i].record->incomplete;
}

static bool notes_is_repeated(const saved_comparison *c, size_t i)
{
	const char *id = c->sides[i].record->id;

	for (size_t k = 0; k < i && id && id[0]; k++)
		if (c->sides[k].record->id && strcmp(c->sides[k].record->id, id) == 0)
			return true;
	return false;
}

/* Notes the codes of each record's own warnings, once each: "few, drift ('a'); steal ('b')". */
static void note_doubts(const saved_comparison *c)
{
	char text[600] = "";

	for (size_t i = 0; i < c->n; i++) {
		const dck_record *r = c->sides[i].record;
		size_t shown = 0;

		for (size_t k = 0; k < r->nnotes; k++) {
			const dck_note *note = &r->notes[k];

			if (note->severity == DCK_INFO || dck_record_note(r, note->code) != note)
				continue;
			text_add(text, sizeof text, "%s%.40s",
				 shown	 ? ", "
				 : *text ? "; "
					 : "",
				 note->code);
			shown++;
		}
		if (shown)
			text_add(text, sizeof text, " ('%.60s')", c->sides[i].name);
	}
	if (*text)
		record_note(c->b, "records-doubted", "the records warn of themselves: %s", text);
}

static void notes_records(const saved_comparison *c)
{
	char names[400];

	if (names_join(c, notes_is_repeated, names, sizeof names))
		record_note(c->b, "same-record",
			    "%s: the same measurement is given twice: it cannot differ from itself",
			    names);
	if (names_join(c, is_incomplete, names, sizeof names))
		record_note(c->b, "incomplete-record",
			    "%s: incomplete, interrupted or failed in the middle: partial results "
			    "are compared",
			    names);
	if (!c->pooled && names_join(c, is_one_process, names, sizeof names))
		record_note(c->b, "one-process",
			    "%s: measured in one process, and starts of a program differ by more "
			    "than its interval: a difference may be that of two starts",
			    names);
	if (!comparable_exact(c->tag))
		note_doubts(c);
}

/* The table has the values that the records report, medians of starts; the ratio is one of means.
 */
static void note_times_and_means(const saved_comparison *c)
{
	const dck_metric *base = c->sides[0].source.metric;

	for (size_t i = 1; i < c->n && !c->pooled && !c->asked->scaling; i++) {
		const saved_side *s = &c->sides[i];
		double ratio;

		if (!saved_source_means(&c->sides[0].source) || !saved_source_means(&s->source) ||
		    isnan(s->ratio.lo))
			continue;
		ratio = dck_value_number(&s->source.metric->value) / dck_value_number(&base->value);
		if (c->def->better == DCK_BETTER_HIGHER)
			ratio = 1 / ratio;
		if (!(fabs(log(ratio / s->ratio.value)) > VERDICT_TIMES_DIFFER))
			continue;
		record_note(c->b, "ratio-of-times",
			    "the printed values of '%s' and '%s' give the ratio %.3g: each is the "
			    "median of its starts, which differ; the ratio of their means, %.3g, "
			    "decides, because it has an interval at every level",
			    s->name, c->sides[0].name, ratio, s->ratio.value);
	}
}

static void notes_differences(const saved_comparison *c)
{
	static const struct {
		comparable_group group;
		const char *code, *what;
	} reported[] = {{COMPARABLE_SETTING, .code = "settings-differ", "differ in settings"},
			{COMPARABLE_SUBJECT, .code = "subjects-differ", "have different subjects"},
			{COMPARABLE_STATE, .code = "state-differs",
			 "have the same machine and method, but for"}};
	char text[400];

	for (size_t i = c->first; i < c->n; i++)
		for (size_t k = 0; k < sizeof reported / sizeof reported[0]; k++) {
			const saved_side *s = &c->sides[i];

			if (s->differs.count[reported[k].group] == 0)
				continue;
			comparable_text(&s->differs, reported[k].group, text, sizeof text);
			record_note_as(c->b, DCK_INFO, reported[k].code, "'%s' and '%s' %s: %s",
				       c->sides[0].name, s->name, reported[k].what, text);
		}
}

/* Notes the facts that only one of two records states, which were not checked. */
static void notes_note_unknown(const saved_comparison *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const comparable_differences *f = &c->sides[i].differs;
		char text[200] = "";

		for (size_t k = 0; k < f->nunknown; k++)
			text_add(text, sizeof text, "%s%s", k > 0 ? ", " : "", f->unknown[k]);
		if (*text)
			record_note(c->b, "not-checked",
				    "only one of '%s' and '%s' states %s: "
				    "whether they agree in that is not known",
				    c->sides[0].name, c->sides[i].name, text);
	}
}

/* A run of more items takes longer, and may be the better one. */
static void note_items(const saved_comparison *c)
{
	const int64_t a = saved_items(c->sides[0].record);

	for (size_t i = 1; i < c->n && strncmp(c->tag, "latency/", 8) == 0; i++) {
		const int64_t b = saved_items(c->sides[i].record);

		if (a > 0 && b > 0 && a != b)
			record_note(c->b, "items-differ",
				    "a run of '%s' processes %lld items, one of '%s' %lld",
				    c->sides[0].name, (long long)a, c->sides[i].name, (long long)b);
	}
}

/* Returns the decimals of a share in percent: "0.48 %", "12 %". */
static int digits(double share)
{
	return share < 0.01 ? 2 : share < 0.1 ? 1 : 0;
}

static void notes_note_undecided(const saved_comparison *c, const saved_side *s)
{
	const saved_ratio *r = &s->ratio;
	const bool processes = s->source.from == SAVED_PROCESSES;
	const double added = saved_square_add(saved_source_added(&c->sides[0].source, s->level),
					      saved_source_added(&s->source, s->level), 0);
	const double times = verdict_more(r->value, r->lo, r->hi, c->asked->margin, added);
	const double half = log(r->hi / r->lo) / 2;

	if (isnan(r->lo)) {
		record_note(c->b, "undecided", "%s: there is no interval: %s", s->name, r->why);
		if (c->asked->undisturbed)
			record_remedy(c->b, VERDICT_UNDISTURBED_REMEDY);
		else if (s->disturbed)
			record_remedy(c->b, DISTURBED_REMEDY);
	} else if (s->cores_moved) {
		record_note(c->b, "undecided",
			    "%s: undecided; the core-to-core latency was %.3g ns, of '%.60s' "
			    "%.3g ns, which can change times by up to the ratio of the two",
			    s->name, saved_core_latency(s), c->sides[0].name,
			    saved_core_latency(&c->sides[0]));
		record_remedy(c->b, "compare live, or with --threads 1");
	} else if (s->disturbed) {
		record_note(c->b, "undecided",
			    "%s: undecided; other programs used the processors: the ratios of all "
			    "runs and of undisturbed ones do not both decide",
			    s->name);
		record_remedy(c->b, DISTURBED_REMEDY ", or decide by --undisturbed alone");
	} else if (isnan(times)) {
		record_note(c->b, "undecided",
			    "%s: the difference is at the margin of %s itself, which no number of "
			    "runs decides",
			    s->name, PERCENT_TEXT(3, c->asked->margin));
		record_remedy(c->b, "choose another --margin");
	} else if (c->pooled) {
		record_note(c->b, "undecided",
			    "%s: undecided; the %zu recordings before scatter by %.*f %%, and "
			    "with this record a change below %.*f %% is not distinguished",
			    s->name, c->first, digits(c->scatter), 100 * expm1(c->scatter),
			    digits(half), 100 * expm1(half));
		record_remedy(c->b, "record longer and with more --processes, or compare live");
	} else if (isinf(times) && added > 0) {
		record_note(
		    c->b, "undecided",
		    "%s: undecided; more runs would not decide, since two recordings may differ "
		    "by %s (--run-to-run)",
		    s->name, PERCENT_TEXT(3, c->asked->run_to_run));
		record_remedy(c->b, "compare live, or record several times and --pool");
	} else if (isinf(times)) {
		record_note(c->b, "undecided",
			    "%s: undecided; more than %d times as many %s in both records would be "
			    "needed",
			    s->name, VERDICT_MORE_MAX, processes ? "processes" : "runs");
		record_remedy(c->b, "a live comparison needs fewer");
	} else {
		record_note(
		    c->b, "undecided",
		    "%s: undecided; about %.*f times as many %s in both records would decide if "
		    "the ratio stays",
		    s->name, times < 9.5 ? 1 : 0, fmax(times, 1.1),
		    processes ? "processes" : "runs");
		record_remedy(c->b, "a live comparison needs fewer");
	}
}

/* Pooled records must be of one kind, and differ only by chance. */
static void notes_pooled(const saved_comparison *c)
{
	static const comparable_group groups[] = {COMPARABLE_SETTING, COMPARABLE_SUBJECT};
	char text[300];

	for (size_t i = 1; i < c->first; i++)
		for (size_t k = 0; k < sizeof groups / sizeof groups[0]; k++) {
			const saved_side *s = &c->sides[i];

			if (s->differs.count[groups[k]] == 0)
				continue;
			record_note(c->b, "pooled-unlike",
				    "'%s' and '%s' are pooled and differ: %s", c->sides[0].name,
				    s->name,
				    comparable_text(&s->differs, groups[k], text, sizeof text));
			return;
		}
	if (c->sides[c->first].ratio.exact)
		return;
	record_note(
	    c->b, "pooled-baseline",
	    "the interval is the distance that one more recording may have from the %zu before it "
	    "by chance: it includes the variation between recordings, if these were made under "
	    "the same changing conditions",
	    c->first);
}

static void note_sizes(const saved_comparison *c)
{
	const int64_t ranks = saved_ranks(c->sides[0].record);

	for (size_t i = 1; i < c->n && ranks && c->asked->scaling == 0; i++) {
		const int64_t other = saved_ranks(c->sides[i].record);

		if (!other || other == ranks)
			continue;
		record_note(c->b, "ranks-sizes",
			    "'%s' is a job of %lld ranks, '%s' of %lld: their steps need not have "
			    "the same work",
			    c->sides[0].name, (long long)ranks, c->sides[i].name, (long long)other);
		return;
	}
}

void saved_notes(const saved_comparison *c)
{
	for (size_t i = c->first; i < c->n; i++)
		if (c->sides[i].verdict == VERDICT_UNDECIDED)
			notes_note_undecided(c, &c->sides[i]);
	notes_records(c);
	note_items(c);
	note_times_and_means(c);
	note_sizes(c);
	notes_differences(c);
	notes_note_unknown(c);
	if (c->pooled)
		notes_pooled(c);
	else if (!c->sides[1].ratio.exact)
		note_not_interleaved(c);
}
