/* zone_table.h - the table and the tree "zones" of a record, its answer, and the table
 * "device_zones".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_TABLE_H
#define TIMELINE_ZONE_TABLE_H

#include "record/build.h"
#include "profiler/timeline/zone_aggregate.h"

typedef const char *zone_name_of(void *self, uint32_t name); /* NULL: it has none */

/* Number of calls below which a percentile is absent: fewer may all lie below it. */
double zone_percentile_calls(double p);

/* The table: what takes longest first; the tree; and of `device`, the sums of the ranges on
 * devices' tracks, the table "device_zones" if it has any. device NULL: none. */
dck_status zone_table_put(const zone_aggregate *s, const zone_aggregate *device,
			  zone_name_of *name_of, void *self, record_builder *b, dck_err *err);

#endif
