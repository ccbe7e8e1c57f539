/* csv_listing.c - a listing as the table that it is: its columns are the columns of the CSV. Lines
 * end in LF and plain words have no quotes, so that cut and grep read it too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "report/csv.h"

void csv_listing(const dck_table *t, dck_sink *out)
{
	for (size_t c = 0; c < t->ncolumns; c++) {
		sink_text(out, c > 0 ? "," : "");
		csv_word(out, t->columns[c].key);
	}
	sink_text(out, "\n");
	for (size_t i = 0; i < t->nrows * t->ncolumns; i++) {
		const dck_value *v = &t->cells[i].value;
		if (v->kind == DCK_VALUE_TEXT)
			csv_word(out, v->as.text);
		csv_value(out, v);
		sink_text(out, (i + 1) % t->ncolumns == 0 ? "\n" : ",");
	}
}
