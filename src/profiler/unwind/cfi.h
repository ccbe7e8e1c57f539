/* cfi.h - the table that .eh_frame holds for each place in the code: where the caller's registers
 * are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_CFI_H
#define STACK_CFI_H

#include "profiler/unwind/unwind.h"

typedef enum cfi_how {
	CFI_SAME, /* it was not saved, and still is the caller's */
	CFI_UNDEFINED,
	CFI_OFFSET,	/* saved at CFA + value */
	CFI_VAL_OFFSET, /* CFA + value */
	CFI_REGISTER,	/* in register `value` */
	CFI_EXPRESSION, /* saved where the expression says; value: where it lies in the section */
	CFI_VAL_EXPRESSION,
} cfi_how;

/* One row of the table. Expressions are places in m->frame: a ULEB128 with their length, then
 * they. */
typedef struct cfi_row {
	uint8_t how[UNWIND_REGS];
	int32_t value[UNWIND_REGS];
	bool cfa_is_expr, signal, is_signed;
	uint8_t cfa_register, return_register;
	int32_t cfa; /* offset, or where the expression lies */
} cfi_row;

typedef enum cfi_found { CFI_FOUND, CFI_NONE, CFI_DAMAGED } cfi_found;

/* The row of that place. CFI_NONE: nothing covers it. */
cfi_found cfi_find_row(const unwind_module *m, uint64_t place, cfi_row *ret);

/* The functions that have entries, one after the other: *at begins as 0; where the entry lies in
 * m->frame, and the function's address. false: no more. */
bool cfi_next_function(const unwind_module *m, uint64_t *at, uint64_t *ret_entry,
		       uint64_t *ret_begin);

/* An expression of a row. false: it does not lie in the section. */
bool cfi_expression(const unwind_module *m, int32_t at, const unsigned char **ret, size_t *ret_n);

/* A pointer of .eh_frame or .eh_frame_hdr, of which `at` is a place in section `s`. */
struct dwarf_bytes;
uint64_t cfi_pointer(struct dwarf_bytes *b, const unwind_module *m, const unwind_section *s,
		     unsigned encoding);

#endif
