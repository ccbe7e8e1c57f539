/* formats.h - the formats that formats.c lists; one file for each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_FORMATS_H
#define TRACE_FORMATS_H

#include "trace/timeline.h"

extern const trace_format trace_perfetto, trace_chrome, trace_speedscope, trace_folded, trace_pprof,
    trace_callgrind, trace_pstats, trace_rows;

#endif
