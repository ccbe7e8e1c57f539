/* dwarf_expression.h - the small programs in .eh_frame that compute an address.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_DWARF_EXPRESSION_H
#define STACK_DWARF_EXPRESSION_H

#include "profiler/unwind/unwind.h"

/* Runs the n bytes at `code`. `first`, unless NULL, is the initial stack. */
unwind_result dwarf_expression_run(const unsigned char *code, size_t n, const uint64_t *first,
				   const unwind_regs *r, const unwind_memory *memory,
				   uint64_t *ret);

/* Result of a simple expression: register + offset, or the word at that address, plus `added`. */
typedef struct dwarf_address {
	uint8_t of; /* register */
	bool deref;
	int64_t offset, added;
} dwarf_address;

/* Returns whether the expression has that form. `pc`: the address for which it is evaluated; the
 * expression of .plt entries depends only on the last four bits of that, so for one address it has
 * that form too. */
bool dwarf_expression_simple(const unsigned char *code, size_t n, uint64_t pc, dwarf_address *ret);

#endif
