/* nvtx_emit.h - the zones of a program, passed on to a tool that listens to NVTX: when
 * NVTX_INJECTION64_PATH names a library that is not ours, or one is linked into the program, the
 * zones do what NVTX does in a program: load it with the first range, and call it.
 *
 *	nvtx_emit_begin(&dck_trace_on);  sets LISTEN_EMIT when there is such a tool
 *	nvtx_emit_push("forward");
 *	nvtx_emit_pop();
 *
 * The tool sees ranges and marks without a domain. Numbers and counters are marks with a payload,
 * since NVTX has none for a range that is open.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_NVTX_EMIT_H
#define TRACE_NVTX_EMIT_H

#include <stdint.h>

enum { NVTX_TABLE_CALLBACKS = 1 }; /* id of the table of callbacks, for get_table() */

/* Loads the tool; clears LISTEN_EMIT in *flags if that fails. */
void nvtx_emit_begin(int *flags);

/* Name of the ranges with which recording measures its own cost: they are not passed to tools. */
#define NVTX_EMIT_NOT "deepclock: cost of a range"

void nvtx_emit_push(const char *name);
void nvtx_emit_pop(void);
void nvtx_emit_mark(const char *name);
void nvtx_emit_number(const char *name, double value);
/* id: the range's number with us; 0: it has none, and gets one. Returns it. */
uint64_t nvtx_emit_start(const char *name, uint64_t id);
void nvtx_emit_end(uint64_t id);

#endif
