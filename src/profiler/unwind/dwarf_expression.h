/* dwarf_expression.h - the small programs in .eh_frame that compute an address.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_DWARF_EXPRESSION_H
#define STACK_DWARF_EXPRESSION_H

#include "profiler/unwind/unwind.h"

/* Runs the n bytes at `code`. `first`, unless NULL, is on the stack when it begins. */
unwind_result dwarf_expression_run(const unsigned char *code, size_t n, const uint64_t *first,
				   const unwind_regs *r, const unwind_memory *memory,
				   uint64_t *ret);

/* What an expression without memory of its own amounts to: register + offset, or what lies there,
 * plus `added`. */
typedef struct dwarf_address {
	uint8_t of; /* register */
	bool deref;
	int64_t offset, added;
} dwarf_address;

/* Whether it is of that form. `pc`: the place it is for; the one of .plt entries depends on its
 * last four bits alone, so for one place it is of that form too. */
bool dwarf_expression_simple(const unsigned char *code, size_t n, uint64_t pc, dwarf_address *ret);

#endif
