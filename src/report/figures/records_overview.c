/* records_overview.c - several measurements as the rows of one table, for figures that compare them
 * without a test: medians as bars, items per second by items of a run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "deepclock/unstable.h"
#include "record/build.h"

#include <math.h>

static void overview_metric_cell(record_builder *b, const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);
	const double v = m ? dck_value_number(&m->value) : NAN;

	if (!isfinite(v))
		record_cell_absent(b, "the record does not have it");
	else if (m->level > 0)
		record_cell_interval(b, v, m->lo, m->hi, m->level);
	else
		record_cell_real(b, v);
}

static double overview_items(const dck_record *r)
{
	const dck_fact *f = dck_record_fact(r, "subject", "items_per_run");

	return f ? dck_value_number(&f->value) : 1;
}

dck_status dck_records_overview(const dck_record *const *records, size_t n, dck_record **ret,
				dck_err *err)
{
	static const dck_column columns[] = {{"record", "record", DCK_UNIT_NONE},
					     {"items", "items of a run", DCK_UNIT_ONE},
					     {"median", "median", DCK_UNIT_NS},
					     {"rate", "items per second", DCK_UNIT_ITEM_PER_S}};
	record_builder *b = record_new();

	DCK_NEED(b, err, "for a table of records");
	record_table(b, "records", "Records", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < n; i++) {
		if (!dck_record_metric(records[i], "latency/median"))
			continue;
		record_cell_text(b, dck_record_name(records[i]));
		record_cell_real(b, overview_items(records[i]));
		overview_metric_cell(b, records[i], "latency/median");
		overview_metric_cell(b, records[i], "throughput/items");
	}
	return record_finish(b, ret, err);
}
