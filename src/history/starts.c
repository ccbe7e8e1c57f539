/* starts.c - run-to-run variation: where earlier records of the same subject lie, and of those of
 * one process the interval between starts. Many conditions are fixed at the start of a process
 * until its end, so the next process may be outside of any interval computed within one process:
 * this interval is between starts, with one value of each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "record/build.h"
#include "record/comparable.h"
#include "record/copy.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Maximum number of records that are read from a history. */
#define STARTS_MAX 100
#define BYTES_MAX  (16u << 20)

typedef struct starts {
	const char *tag;	       /* of the statistic */
	double values[STARTS_MAX + 1]; /* oldest last */
	size_t n;
	size_t bytes;
} starts;

/* Engine, model and settings must equal those of r too: an update, or a different model of that
 * name, does not split a trend, but is not a start of the same subject. */
static bool starts_is_same(const dck_record *a, const dck_record *r, const char *tag)
{
	comparable_differences f;

	comparable_differ(a, r, tag, &f);
	return f.count[COMPARABLE_MACHINE] + f.count[COMPARABLE_METHOD] +
		   f.count[COMPARABLE_SETTING] + f.count[COMPARABLE_SUBJECT] ==
	       0;
}

static dck_status start_take(dck_history *h, int64_t seq, const char *id, const dck_record *r,
			     starts *all, dck_err *err)
{
	dck_buffer json = {0};
	dck_record *earlier = NULL;
	dck_status status = history_text_get(h, seq, id, &json, err);

	DCK_NEXT(status, dck_record_parse(json.data, json.n, &earlier, err));
	if (status == DCK_OK) {
		const double v = dck_record_value(earlier, all->tag);

		all->bytes += json.n;
		if (!isnan(v) && starts_is_same(earlier, r, all->tag))
			all->values[all->n++] = v;
	}
	dck_record_free(earlier);
	dck_buffer_done(&json);
	return status;
}

static dck_status starts_find(dck_history *h, const dck_record *r, starts *all, dck_err *err)
{
	history_identity who;
	history_statement *s;
	bool row = true;
	dck_status status;

	DCK_TRY(history_earlier(h, r, STARTS_MAX, &who, &s, err));
	while ((status = history_step(s, &row, err)) == DCK_OK && row && all->bytes < BYTES_MAX) {
		char id[DCK_HISTORY_ID_SIZE];

		snprintf(id, sizeof id, "%s", history_text(s, 1));
		status = start_take(h, history_int(s, 0), id, r, all, err);
		if (status != DCK_OK)
			break;
	}
	history_finalize(s);
	return status;
}

/* Adds the range of the earlier ones, which a new one of the same distribution is above or below by
 * chance in 2 of n + 1 cases. */
static void earlier_range(record_builder *b, const starts *all)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 1; i < all->n; i++) {
		low = fmin(low, all->values[i]);
		high = fmax(high, all->values[i]);
	}
	record_fact_int(b, "history", "earlier", DCK_UNIT_ONE, (int64_t)all->n - 1);
	record_fact_real(b, "history", "earlier_least", DCK_UNIT_NS, low);
	record_fact_real(b, "history", "earlier_greatest", DCK_UNIT_NS, high);
}

static void starts_interval(record_builder *b, const dck_record *r, starts *all)
{
	const dck_metric *m = dck_record_metric(r, all->tag);
	stat_estimate e;
	char how[160];
	const double level = m->level > 0 ? m->level : 0.95;

	/* The mean of means, which a slow start is a part of; the median of all others. */
	if (strcmp(all->tag, "latency/mean") == 0)
		stat_processes(all->values, all->n, level, &e);
	else
		stat_starts(all->values, all->n, level, &e);
	snprintf(how, sizeof how, "%.100s; %zu of them earlier ones in the history", e.how,
		 all->n - 1);
	record_metric_interval(b, "latency/starts", e.value, fmax(0, e.lo), e.hi, e.level, how);
	record_fact_int(b, "method", "starts", DCK_UNIT_ONE, (int64_t)all->n);
}

static dck_status with_starts(const dck_record *r, starts *all, bool one, dck_record **ret,
			      dck_err *err)
{
	record_builder *b = record_new();

	DCK_NEED(b, err, "for a record");
	record_set_id(b, r->id);
	record_set_command(b, r->command);
	record_copy(b, r);
	record_copy_tables(b, r);
	earlier_range(b, all);
	if (one)
		starts_interval(b, r, all);
	return record_finish(b, ret, err);
}

dck_status dck_history_starts(dck_history *h, const dck_record *r, dck_record **ret, dck_err *err)
{
	const dck_fact *asked = dck_record_fact(r, "plan", "statistic"),
		       *processes = dck_record_fact(r, "method", "processes");
	starts all = {.n = 1};
	char tag[64];

	snprintf(tag, sizeof tag, "latency/%.40s",
		 asked && asked->value.kind == DCK_VALUE_TEXT ? asked->value.as.text : "median");
	all.tag = tag;
	all.values[0] = dck_record_value(r, tag);
	if (r->incomplete || isnan(all.values[0]) || !processes)
		DCK_FAIL(err, E_ABSENT, "it is not a complete measurement");
	DCK_TRY(starts_find(h, r, &all, err));
	if (all.n < 2)
		DCK_FAIL(err, E_ABSENT,
			 "the history '%s' has no earlier start of the same subject, engine, "
			 "machine and method",
			 h->path);
	return with_starts(r, &all, dck_value_number(&processes->value) == 1, ret, err);
}
