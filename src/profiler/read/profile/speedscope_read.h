/* speedscope_read.h - a profile in speedscope's own format, as py-spy, rbspy, deepclock and many
 * others write it, as a record. Both of its kinds are read: "sampled", stacks with weights, and
 * "evented", frames that open and close. What speedscope refuses is refused: a sample of a frame
 * that is not in the list, weights that are not as many as samples, events that go back in time or
 * close what is not innermost.
 * Source: https://github.com/jlfwong/speedscope, src/lib/file-format-spec.ts and
 * src/import/speedscope.ts
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_SPEEDSCOPE_READ_H
#define IMPORT_SPEEDSCOPE_READ_H

#include "base/wire.h"
#include "record/build.h"

enum { SPEEDSCOPE_SAMPLES_MAX = 1 << 24, SPEEDSCOPE_PROFILES_MAX = 1 << 16 };

/* Adds table "functions", tree "samples", facts and the answer. Several profiles of one unit are
 * threads, which stand outermost; those of a record that deepclock wrote are its trees again, each
 * with its weights. E_FORMAT: it is damaged, or holds something else; E_LIMIT: too much of it. */
dck_status speedscope_read(wire_source *s, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
