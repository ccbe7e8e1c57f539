/* csv_field.c - values of a record as fields of CSV.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "report/csv.h"
#include <inttypes.h>

void csv_value(dck_sink *out, const dck_value *v)
{
	if (v->kind == DCK_VALUE_INT)
		sink_fmt(out, "%" PRId64, v->as.i);
	else if (v->kind == DCK_VALUE_REAL)
		csv_real(out, v->as.r);
	else if (v->kind == DCK_VALUE_BOOL)
		sink_text(out, v->as.b ? "true" : "false");
}

void csv_interval(dck_sink *out, double lo, double hi, double level)
{
	for (int i = 0; i < 3; i++) {
		if (level > 0)
			csv_real(out, i == 0 ? lo : i == 1 ? hi : level);
		sink_text(out, ",");
	}
}
