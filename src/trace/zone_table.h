/* zone_table.h - the table "zones" of a record, and its answer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_ZONE_TABLE_H
#define TRACE_ZONE_TABLE_H

#include "record/build.h"
#include "trace/zone_stats.h"

typedef struct zone_row {
	const char *name;
	const zone_stats *z;
} zone_row;

/* Sorts the rows: what takes longest first. */
void zone_table_put(record_builder *b, zone_row *rows, size_t n);

#endif
