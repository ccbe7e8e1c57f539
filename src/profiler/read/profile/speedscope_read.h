/* speedscope_read.h - reads profiles in speedscope's format, which py-spy, rbspy, deepclock and
 * others write, into a record. Both kinds are read: "sampled", stacks with weights, and "evented",
 * frames that open and close. Files that speedscope rejects are rejected: a frame index out of
 * range, numbers of weights and samples that differ, events that go back in time, or that close a
 * frame that is not the innermost. Source: https://github.com/jlfwong/speedscope,
 * src/lib/file-format-spec.ts and src/import/speedscope.ts
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_SPEEDSCOPE_READ_H
#define IMPORT_SPEEDSCOPE_READ_H

#include "base/wire.h"
#include "record/build.h"

enum { SPEEDSCOPE_SAMPLES_MAX = 1 << 24, SPEEDSCOPE_PROFILES_MAX = 1 << 16 };

/* Adds table "functions", tree "samples", facts and the answer. Several profiles of one unit are
 * threads, which become outermost frames; the profiles of a record that deepclock wrote become its
 * trees again, each with its weights. E_FORMAT: damaged, or another format; E_LIMIT: too large. */
dck_status speedscope_read(wire_source *s, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
