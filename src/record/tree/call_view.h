/* call_view.h - what views on call paths share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_CALL_VIEW_H
#define CALLS_CALL_VIEW_H

#include "deepclock/calls.h"
#include "record/build.h"

size_t call_view_top(const dck_calls_view *view);
/* What a view keeps of the record that it is of: when and what it was, reasons to doubt. */
void call_view_about(record_builder *b, const dck_record *r);

#endif
