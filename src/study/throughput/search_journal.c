/* search_journal.c - the journal of a search (record/line_journal.h): a trial as a line, and its
 * replay.
 *
 * Replay is deterministic: trial_replay() takes the next trial from the search and gives it the
 * outcome of the next line; a trial that the search would not make is rejected. Numbers that are
 * not finite are left out and read as NaN. The facts that the first trial left are owned by the
 * caller.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search_journal.h"
#include "base/err.h"
#include "measure/subject/subject_facts.h"
#include "record/copy.h"
#include "record/record_begin.h"
#include "record/build.h"
#include <math.h>
#include <stdio.h>

static const char *const search_ends[] = {
    [SEARCH_OK] = "ok", [SEARCH_MEMORY] = "memory", [SEARCH_ERROR] = "error"};
#define ENDS (sizeof search_ends / sizeof search_ends[0])

static void journal_number_put(record_builder *b, const char *key, const search_number *x)
{
	const double v[] = {x->value, x->lo, x->hi};
	static const char *const part[] = {"", "_lo", "_hi"};
	char name[32];

	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%s%s", key, part[i]);
		if (isfinite(v[i]))
			record_fact_real(b, "trial", name, DCK_UNIT_NONE, v[i]);
	}
}

static search_number journal_number_get(const dck_record *r, const char *key)
{
	char lo[32], hi[32];

	snprintf(lo, sizeof lo, "%s_lo", key);
	snprintf(hi, sizeof hi, "%s_hi", key);
	return (search_number){record_get_real(r, "trial", key), record_get_real(r, "trial", lo),
			       record_get_real(r, "trial", hi)};
}

dck_status search_journal_add(line_journal *j, const search_ask *ask, const search_outcome *o,
			      const dck_record *facts, dck_err *err)
{
	record_builder *b = record_begin(NULL);

	DCK_NEED(b, err, "for a line of '%s'", line_journal_path(j));
	record_fact_int(b, "trial", "batch", DCK_UNIT_ONE, (int64_t)ask->batch);
	record_fact_int(b, "trial", "setting", DCK_UNIT_ONE, ask->setting);
	record_fact_int(b, "trial", "round", DCK_UNIT_ONE, ask->round);
	record_fact_text(b, "trial", "end", search_ends[o->end]);
	if (o->end != SEARCH_OK)
		record_fact_text(b, "trial", "why", o->why);
	journal_number_put(b, "rate", &o->rate);
	journal_number_put(b, "mean_rate", &o->mean_rate);
	journal_number_put(b, "latency", &o->latency);
	journal_number_put(b, "held", &o->held);
	record_fact_int(b, "trial", "memory", DCK_UNIT_BYTE, (int64_t)o->peak_rss_bytes);
	if (facts)
		record_copy_facts(b, facts);
	return line_journal_add(j, b, err);
}

static dck_status journal_outcome_read(const dck_record *r, search_outcome *ret)
{
	const char *why = record_get_text(r, "trial", "why");
	const size_t end = line_journal_word(r, "trial", "end", search_ends, ENDS);
	const double memory = record_get_real(r, "trial", "memory");

	*ret = (search_outcome){.end = (search_end)end,
				.rate = journal_number_get(r, "rate"),
				.mean_rate = journal_number_get(r, "mean_rate"),
				.latency = journal_number_get(r, "latency"),
				.held = journal_number_get(r, "held"),
				.peak_rss_bytes = memory > 0 ? (uint64_t)memory : 0};
	snprintf(ret->why, sizeof ret->why, "%s", why ? why : "");
	return end < ENDS &&
		       (ret->end != SEARCH_OK || (ret->rate.value > 0 && ret->latency.value > 0))
		   ? DCK_OK
		   : DCK_E_FORMAT;
}

typedef struct replaying {
	const char *path;
	search *s;
	dck_record *facts; /* owned; NULL: none yet */
} replaying;

static dck_status trial_replay(void *self, dck_record **r, size_t line, dck_err *err)
{
	replaying *p = self;
	search_outcome o;
	search_ask ask;
	bool more;

	if (journal_outcome_read(*r, &o) != DCK_OK)
		return line_journal_damaged(p->path, line, err);
	DCK_TRY(search_next(p->s, &more, &ask, err));
	if (!more || !line_journal_is(*r, "trial", "batch", (double)ask.batch) ||
	    !line_journal_is(*r, "trial", "setting", ask.setting) ||
	    !line_journal_is(*r, "trial", "round", ask.round))
		return line_journal_strange(p->path, line, err);
	/* Without those of the trial itself. */
	if (!p->facts && dck_record_fact(*r, "subject", "kind"))
		DCK_TRY(subject_facts_of_all(*r, &p->facts, err));
	return search_tell(p->s, &o, err);
}

dck_status search_journal_open(const char *path, const char *key, search *s, line_journal **ret,
			       dck_record **ret_facts, dck_err *err)
{
	replaying p = {.path = path, .s = s};
	const line_journal_reader reader = {"throughput journal", trial_replay, &p};
	const dck_status status = line_journal_open(path, key, &reader, ret, err);

	if (status == DCK_OK)
		*ret_facts = p.facts;
	else
		dck_record_free(p.facts);
	return status;
}
