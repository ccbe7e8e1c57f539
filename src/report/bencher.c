/* bencher.c - metrics in Bencher's JSON: for each benchmark, named by its subject, its measures,
 * each with the ends of its interval, which Bencher draws and compares. Values are in the unit of
 * the record.
 *
 * Source: Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/json/json_write.h"
#include "base/name_index.h"
#include "base/sink.h"
#include "report/distinct_names.h"
#include "report/measured.h"
#include "report/writers.h"

#include <math.h>
#include <string.h>

static void measure_put(const dck_metric *m, json_writer *w)
{
	json_flat_object(json_key(w, m->def->tag));
	json_double(json_key(w, "value"), dck_value_number(&m->value));
	if (m->level > 0 && isfinite(m->lo) && isfinite(m->hi)) {
		json_double(json_key(w, "lower_value"), m->lo);
		json_double(json_key(w, "upper_value"), m->hi);
	}
	json_end(w);
}

/* The first of metrics of one tag counts. false: no memory. */
static bool measures_put(const dck_record *r, const char *name, mem_arena *a, json_writer *w)
{
	name_index tags;
	bool any = false;

	if (!name_index_init(&tags, a, r->nmetrics))
		return false;
	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];
		const size_t before = tags.n;

		if (!measured_has(m) || name_index_intern(&tags, m->def->tag) < before)
			continue;
		if (!any)
			json_begin_object(json_key(w, name));
		any = true;
		measure_put(m, w);
	}
	if (any)
		json_end(w);
	return true;
}

static void bencher_report(const dck_record *const *records, size_t n, const dck_style *style,
			   dck_sink *out)
{
	json_writer w;
	dck_err err;
	mem_arena *a = mem_arena_new(0);
	const char *const *name = a ? distinct_names(records, n, a) : NULL;
	bool done = name != NULL;

	(void)style;
	json_init(&w, out, true);
	json_begin_object(&w);
	for (size_t i = 0; i < n && done; i++)
		done = measures_put(records[i], name[i], a, &w);
	json_end(&w);
	json_done(&w);
	if (!done) {
		(void)ERR_NO_MEMORY(&err, "for the metrics of %zu records", n);
		sink_fail(out, &err);
	}
	mem_arena_free(a);
}

const dck_writer report_bencher = {DCK_WRITER_BENCHER(WRITER), .write = bencher_report};
