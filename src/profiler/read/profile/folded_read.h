/* folded_read.h - reads folded stacks into a record: a line has a stack's functions from the
 * outermost to the innermost, and its weight.
 *
 *	main;forward;conv2d 123
 *
 * py-spy (-f raw), stackcollapse-perf.pl and similar tools, and deepclock write this format. "name
 * (file:line)" gives a function's file and line. Source: https://github.com/brendangregg/FlameGraph
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_FOLDED_READ_H
#define IMPORT_FOLDED_READ_H

#include "base/wire.h"
#include "record/build.h"

/* Returns whether the first line has this format, or one soon after it, with several functions. */
bool folded_is(wire_source *s);
/* Returns whether it is the text of `perf script`, of which stackcollapse-perf.pl makes such lines.
 */
bool perf_script_is(wire_source *s);
/* Adds table "functions", tree "samples", facts and the answer. E_FORMAT: a malformed line, or all
 * lines end in two numbers, as in a difference of two profiles. */
dck_status folded_read(wire_source *s, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
