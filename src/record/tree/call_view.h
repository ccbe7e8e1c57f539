/* call_view.h - shared functions of views on call paths.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_VIEW_H
#define CALLS_CALL_VIEW_H

#include "deepclock/calls.h"
#include "record/build.h"

enum { CALL_VIEW_BRIEF = 9 }; /* rows of a table in a summary */

size_t call_view_top(const dck_calls_view *view);
/* Copies to a view the description of its record: time, subject, warnings. */
void call_view_about(record_builder *b, const dck_record *r);

#endif
