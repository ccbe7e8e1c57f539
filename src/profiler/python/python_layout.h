/* python_layout.h - offsets of members in each version of the interpreter, and decoding of its line
 * tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_LAYOUT_H
#define STACK_PYTHON_PYTHON_LAYOUT_H

#include "profiler/python/python_stack.h"

#define PYTHON_MINOR(version) ((version) >> 16 & 0xff) /* 11 of 0x030b02f0 */

/* The bytes at the start of _PyRuntime since 3.13: the interpreter's own table of offsets. */
#define PYTHON_COOKIE "xdebugpy"
enum { PYTHON_DEBUG_OFFSETS_BYTES = 648 };

/* Reads the offsets from the first PYTHON_DEBUG_OFFSETS_BYTES of _PyRuntime. false: not usable. */
bool python_layout_from_debug_offsets(const unsigned char *offsets, python_process *ret);
/* Versions 3.8 to 3.12; false: another version. */
bool python_layout_known(uint32_t version, python_layout *ret);

/* Returns the line of an instruction, from the version's line table of n bytes, which may be 0; 0:
 none.
 */
int python_line(uint32_t version, const unsigned char *table, size_t n, int first_line,
		int32_t instruction);

#endif
