/* trace_read.h - reads the trace of a program that the caller knows to have ended without its
 * recording's end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_TRACE_READ_H
#define READ_TRACE_READ_H

#include "deepclock/trace.h"

/* As dck_trace_read_with(), without a note on the missing end. */
dck_status trace_read_cut(const char *path, const dck_trace_reading *how, dck_record **ret,
			  dck_err *err);

#endif
