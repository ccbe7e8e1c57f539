/* tune_journal.c - the journal of a search for the fastest configuration (record/line_journal.h): a
 * step as a line, and its replay. The costs are in it, so a search that is resumed has the time
 * that was left.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "measure/subject/subject_facts.h"
#include "measure/worker.h"
#include "record/copy.h"
#include "record/record_begin.h"
#include "study/tune/tune_run.h"
#include <math.h>
#include <stdio.h>

static const char *const race_ends[] = {
    [RACE_OK] = "ok", [RACE_MEMORY] = "memory", [RACE_ERROR] = "error", [RACE_TIME] = "time"};
#define ENDS (sizeof race_ends / sizeof race_ends[0])

/* The numbers of an outcome. */
static const struct {
	const char *key;
	size_t at;
} numbers[] = {
    {"cost", offsetof(race_outcome, cost_ns)},	 {"before", offsetof(race_outcome, before_ns)},
    {"value", offsetof(race_outcome, value_ns)}, {"latency", offsetof(race_outcome, latency_ns)},
    {"runs", offsetof(race_outcome, runs)},	 {"over", offsetof(race_outcome, over)},
    {"mean", offsetof(race_outcome, mean_ns)},	 {"error", offsetof(race_outcome, error)}};
#define NUMBERS (sizeof numbers / sizeof numbers[0])

dck_status tune_journal_add(tune_run *r, const race_ask *ask, const race_outcome *o,
			    const dck_record *facts, dck_err *err)
{
	record_builder *b = record_begin(NULL);

	DCK_NEED(b, err, "for a line of '%s'", line_journal_path(r->journal));
	record_fact_int(b, "trial", "stage", DCK_UNIT_ONE, ask->stage);
	record_fact_int(b, "trial", "arm", DCK_UNIT_ONE, (int64_t)ask->arm);
	record_fact_int(b, "trial", "round", DCK_UNIT_ONE, ask->round);
	record_fact_text(b, "trial", "end", race_ends[o->end]);
	record_fact_text(b, "trial", "why", o->why);
	for (size_t i = 0; i < NUMBERS; i++) {
		const double v = *(const double *)(const void *)((const char *)o + numbers[i].at);

		if (isfinite(v))
			record_fact_real(b, "trial", numbers[i].key, DCK_UNIT_NONE, v);
	}
	record_fact_bool(b, "trial", "infinite", isinf(o->error));
	record_fact_bool(b, "trial", "differs", o->differs);
	record_fact_int(b, "trial", "memory", DCK_UNIT_BYTE, (int64_t)o->peak_rss_bytes);
	if (facts)
		record_copy_facts(b, facts);
	return line_journal_add(r->journal, b, err);
}

static bool fact_is_true(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trial", key);

	return f && f->value.kind == DCK_VALUE_BOOL && f->value.as.b;
}

static bool tune_outcome_read(const dck_record *r, race_outcome *ret)
{
	const char *why = record_get_text(r, "trial", "why");
	const size_t end = line_journal_word(r, "trial", "end", race_ends, ENDS);
	const double memory = record_get_real(r, "trial", "memory");
	race_outcome o = {.end = (race_end)end,
			  .differs = fact_is_true(r, "differs"),
			  .peak_rss_bytes = memory > 0 ? (uint64_t)memory : 0};

	for (size_t i = 0; i < NUMBERS; i++)
		*(double *)(void *)((char *)&o + numbers[i].at) =
		    record_get_real(r, "trial", numbers[i].key);
	if (fact_is_true(r, "infinite"))
		o.error = INFINITY;
	snprintf(o.why, sizeof o.why, "%s", why ? why : "");
	*ret = o;
	return end < ENDS && o.cost_ns > 0;
}

static dck_status step_replay(void *self, dck_record **record, size_t line, dck_err *err)
{
	tune_run *r = self;
	race_outcome o;
	race_ask ask;

	if (!tune_outcome_read(*record, &o))
		return line_journal_damaged(r->config->resume, line, err);
	if (!race_next(r->race, &ask) || !line_journal_is(*record, "trial", "stage", ask.stage) ||
	    !line_journal_is(*record, "trial", "arm", (double)ask.arm) ||
	    !line_journal_is(*record, "trial", "round", ask.round))
		return line_journal_strange(r->config->resume, line, err);
	if (!ask.outputs && o.end == RACE_OK && !(o.value_ns > 0 && o.latency_ns > 0))
		return line_journal_damaged(r->config->resume, line, err);
	/* Without those of the trial itself. */
	if (!r->facts && dck_record_fact(*record, "subject", "kind"))
		DCK_TRY(subject_facts_of_all(*record, &r->facts, err));
	race_tell(r->race, &o);
	r->replayed++;
	return DCK_OK;
}

dck_status tune_journal_open(tune_run *r, dck_err *err)
{
	const line_journal_reader reader = {"tune journal", step_replay, r};
	dck_tune_config c = *r->config;
	mem_arena *a;
	const char *key;
	dck_status status;

	if (!c.resume)
		return DCK_OK;
	a = mem_arena_new(0);
	DCK_NEED(a, err, "for a journal");
	/* The file may move; what it has decides. */
	c.resume = NULL;
	status = worker_key(a, r->subject, dck_tune_options, &c, &key, err);
	for (size_t d = 0; status == DCK_OK && d < r->space.n; d++) {
		const space_dim *dim = &r->space.dims[d];

		key = mem_arena_fmt(a, "%s\n%s", key, dim->name);
		for (size_t i = 1; key && i < dim->n; i++)
			key = mem_arena_fmt(a, "%s%c%s", key, i > 1 ? ',' : '=', dim->value[i]);
		if (!key)
			status = ERR_NO_MEMORY(err, "for a journal");
	}
	DCK_NEXT(status, line_journal_open(r->config->resume, key, &reader, &r->journal, err));
	mem_arena_free(a);
	return status;
}
