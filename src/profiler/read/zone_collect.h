/* zone_collect.h - adds up a timeline that it receives, as a format would receive it: calls
 * and times of each name.
 *
 *	zone_collect *c;
 *	dck_sink unused;
 *
 *	DCK_TRY(zone_collect_new(&c, err));
 *	zone_collect_sink(c, &unused);
 *	status = perfetto_read(&source, &zone_collect_format, &unused, &facts, err);
 *	... zone_collect_put(c, b, err) ...
 *	zone_collect_free(c);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_ZONE_COLLECT_H
#define IMPORT_ZONE_COLLECT_H

#include "record/build.h"
#include "profiler/timeline/timeline_lod.h"
#include "profiler/timeline/zone_percentiles.h"

typedef struct zone_collect zone_collect;

/* No format that writes: it opens with zone_collect_sink()'s sink, and its trace is over when the
 * collection is freed. */
extern const trace_format zone_collect_format;

dck_status zone_collect_new(zone_collect **ret, dck_err *err);
/* Before any event. */
void zone_collect_want(zone_collect *c, const zone_percentiles *p);
/* Also builds the timeline for figures; p remains the caller's. Call before any event. */
void zone_collect_draw(zone_collect *c, timeline_lod *p);
void zone_collect_free(zone_collect *c); /* NULL is allowed */
void zone_collect_sink(zone_collect *c, dck_sink *ret);
/* Writes table "zones", and facts of section "trace". E_NOMEM: memory ran out here or in an earlier
 * event. */
dck_status zone_collect_put(zone_collect *c, record_builder *b, dck_err *err);
/* Writes table "threads". */
dck_status zone_collect_put_threads(zone_collect *c, record_builder *b, dck_err *err);

#endif
