/* csv.c - one row per metric and one per cell of a table (or, with --by, of the operators), for
 * spreadsheets and data frames (RFC 4180: lines end in CR LF, text is quoted, quotes are doubled).
 * Numbers have all their digits and no quotes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "report/csv.h"
#include "report/format.h"
#include "report/ops.h"
#include "report/writers.h"
#include <string.h>

static void csv_row_put(dck_sink *out, const dck_record *r, const dck_metric *m)
{
	csv_text_field(out, r->id);
	csv_text_field(out, r->command);
	csv_text_field(out, m->def->tag);
	csv_value(out, &m->value);
	sink_text(out, ",");
	csv_text_field(out, dck_unit_text(m->def->unit));
	csv_interval(out, m->lo, m->hi, m->level);
	csv_text_field(out, m->value.kind == DCK_VALUE_ABSENT ? m->value.as.text : NULL);
	csv_text_field(out, m->how);
	if (m->narrow)
		csv_text(out, m->narrow, strlen(m->narrow));
	sink_text(out, "\r\n");
}

static void csv_report(const dck_record *const *records, size_t n, const dck_style *style,
		       dck_sink *out)
{
	if (style && style->runs) {
		csv_runs(records, n, out);
		return;
	}
	if (style && style->ops.by != OPS_BY_AUTO) {
		csv_ops(records, n, &style->ops, out);
		return;
	}
	if (n == 1 && format_is_listing(records[0])) {
		csv_listing(&records[0]->tables[0], out);
		return;
	}
	sink_text(out, "id,command,tag,value,unit,lo,hi,level,absent,how,narrow\r\n");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < records[i]->nmetrics; k++)
			csv_row_put(out, records[i], &records[i]->metrics[k]);
		csv_tables(records[i], out);
	}
}

const dck_writer report_csv = {DCK_WRITER_CSV(WRITER), .write = csv_report};
