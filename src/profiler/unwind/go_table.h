/* go_table.h - reads .gopclntab of Go programs, which strip(1) leaves: function names, lines, and
 * the stack pointer's distance from the caller's at each instruction. Layouts of Go 1.18, and of
 * 1.20 and later (runtime/symtab.go, internal/abi/symtab.go).
 *
 * Nothing is allocated: each lookup reads the table. It may be damaged.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_GO_TABLE_H
#define STACK_GO_TABLE_H

#include "profiler/unwind/unwind.h"

typedef struct go_table {
	const unsigned char *bytes; /* borrowed; a zero follows them */
	uint64_t size, n;	    /* functions */
	uint64_t start;		    /* start of the code */
	uint64_t names, units, files, values, rows;
	unsigned quantum; /* instruction granularity, in bytes */
	bool has_start_line;
} go_table;

typedef struct go_function {
	uint64_t begin, end;
	uint64_t at; /* offset of its description */
} go_function;

/* Offset of the word that has the start of the code. */
enum { GO_TABLE_TEXT_AT = 24 };

/* false: another layout, or no such table. text: start of the code, if the table does not have it.
 */
bool go_table_open(const unsigned char *bytes, uint64_t size, uint64_t text, go_table *ret);

bool go_table_function(const go_table *t, uint64_t i, go_function *ret);
bool go_table_find(const go_table *t, uint64_t address, go_function *ret);
const char *go_table_name(const go_table *t, const go_function *f); /* "": none */

/* How many bytes the function has put on the stack. false: not known. */
bool go_table_depth(const go_table *t, const go_function *f, uint64_t address, int32_t *ret);
/* It is the outermost of its stack. */
bool go_table_is_top(const go_table *t, const go_function *f);
/* NULL: not known. */
const char *go_table_line(const go_table *t, const go_function *f, uint64_t address,
			  unsigned *ret_line);

#endif
