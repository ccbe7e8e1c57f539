/* cfi.h - call frame information (.eh_frame): for each code address the location of the caller's
 * registers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_CFI_H
#define STACK_CFI_H

#include "profiler/unwind/unwind.h"

typedef enum cfi_how {
	CFI_SAME, /* not saved, still the caller's value */
	CFI_UNDEFINED,
	CFI_OFFSET,	/* saved at CFA + value */
	CFI_VAL_OFFSET, /* CFA + value */
	CFI_REGISTER,	/* in register `value` */
	CFI_EXPRESSION, /* saved at the expression's result; value: the expression's offset */
	CFI_VAL_EXPRESSION,
} cfi_how;

/* A row of the table. Expressions are offsets in m->frame: a ULEB128 with the length, then the
 * expression. */
typedef struct cfi_row {
	uint8_t how[UNWIND_REGS];
	int32_t value[UNWIND_REGS];
	bool cfa_is_expr, signal, is_signed;
	uint8_t cfa_register, return_register;
	int32_t cfa; /* offset, or the expression's position */
} cfi_row;

typedef enum cfi_found { CFI_FOUND, CFI_NONE, CFI_DAMAGED } cfi_found;

/* Finds the row of a code address. CFI_NONE: no entry covers it. */
cfi_found cfi_find_row(const unwind_module *m, uint64_t place, cfi_row *ret);

/* Iterates over the functions with entries: *at starts as 0; returns the entry's offset in
 * m->frame, and the function's address. false: past the end. */
bool cfi_next_function(const unwind_module *m, uint64_t *at, uint64_t *ret_entry,
		       uint64_t *ret_begin);

/* Reads an expression of a row. false: outside of the section. */
bool cfi_expression(const unwind_module *m, int32_t at, const unsigned char **ret, size_t *ret_n);

/* Reads an encoded pointer of .eh_frame or .eh_frame_hdr, at the position of b in section s. */
struct dwarf_bytes;
uint64_t cfi_pointer(struct dwarf_bytes *b, const unwind_module *m, const unwind_section *s,
		     unsigned encoding);

#endif
