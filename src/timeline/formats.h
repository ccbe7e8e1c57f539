/* formats.h - the formats that formats.c lists; one file for each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_FORMATS_H
#define TIMELINE_FORMATS_H

#include "timeline/timeline.h"

extern const trace_format trace_perfetto, trace_chrome, trace_speedscope, trace_folded, trace_pprof,
    trace_callgrind, trace_pstats, trace_rows;

#endif
