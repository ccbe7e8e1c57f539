/* gprof2dot_read.h - a profile in gprof2dot's JSON, as `memray transform gprof2dot` writes it, as a
 * record: stacks, the innermost function first, each with one or more costs.
 * Source: https://github.com/jrfonseca/gprof2dot/tree/main/schema
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_GPROF2DOT_READ_H
#define IMPORT_GPROF2DOT_READ_H

#include "base/wire.h"
#include "record/build.h"

/* Adds table "functions", tree "samples", facts and the answer. E_FORMAT: damaged, or another
 * format; E_LIMIT: too large. */
dck_status gprof2dot_read(wire_source *s, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
