/* lttng_points.h - the tracepoints of lttng.c; LTTng-UST includes it several times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER deepclock_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_points.h"
#if !defined(LTTNG_POINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_POINTS_H
#include <lttng/tracepoint.h>

/* cppcheck-suppress unknownMacro */
LTTNG_UST_TRACEPOINT_EVENT(deepclock_bench, begin, LTTNG_UST_TP_ARGS(const char *, name),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))
LTTNG_UST_TRACEPOINT_EVENT(deepclock_bench, end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

#endif
#include <lttng/tracepoint-event.h>
