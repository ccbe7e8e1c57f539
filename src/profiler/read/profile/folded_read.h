/* folded_read.h - folded stacks as a record: a line for each stack, its functions from the
 * outermost to the innermost, and what it weighs.
 *
 *	main;forward;conv2d 123
 *
 * So py-spy (-f raw), stackcollapse-perf.pl and the like, and deepclock write them. A function that
 * is told as "name (file:line)" has these as its file and line.
 * Source: https://github.com/brendangregg/FlameGraph
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_FOLDED_READ_H
#define IMPORT_FOLDED_READ_H

#include "base/wire.h"
#include "record/build.h"

/* Whether the first line is one of those. */
bool folded_is(wire_source *s);
/* Adds table "functions", tree "samples", facts and the answer. E_FORMAT: a line is none of those,
 * or all end in two numbers, as those of two profiles do. */
dck_status folded_read(wire_source *s, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
