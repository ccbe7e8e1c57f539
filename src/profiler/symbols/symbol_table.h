/* symbol_table.h - the functions of a file by their addresses, from whatever tables name them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_SYMBOL_TABLE_H
#define STACK_SYMBOLS_SYMBOL_TABLE_H

#include "profiler/unwind/elf_file.h"

typedef struct symbol_table symbol_table;

typedef struct symbol_found {
	const char *name; /* borrowed of the table */
	uint64_t begin;
	bool plt; /* the entry of .plt for that function */
} symbol_found;

symbol_table *symbol_table_new(void); /* @owned; NULL: no memory */
void symbol_table_free(symbol_table *t);

/* Each adds the symbols of its source and returns their number; damaged data add none. */
size_t symbol_table_add(symbol_table *t, const elf_file *f);	     /* .symtab */
size_t symbol_table_add_dynamic(symbol_table *t, const elf_file *f); /* .dynsym */
size_t symbol_table_add_plt(symbol_table *t, const elf_file *f);     /* .plt by its targets */
size_t symbol_table_add_init(symbol_table *t, const elf_file *f); /* _init and _fini by section */
size_t symbol_table_add_go(symbol_table *t, elf_file *f);	  /* .gopclntab */
size_t symbol_table_add_compressed(symbol_table *t, const elf_file *f); /* .gnu_debugdata */

/* After the last was added. */
void symbol_table_sort(symbol_table *t);

/* Finds the function that covers an address; false: none is known. */
bool symbol_table_find(const symbol_table *t, uint64_t address, symbol_found *ret);

/* For the functions that add symbols: the name is borrowed; bytes become owned. size 0: up to the
 * next symbol. */
bool symbol_table_add_one(symbol_table *t, const char *name, uint64_t address, uint64_t size,
			  unsigned rank);
bool symbol_table_keep(symbol_table *t, void *bytes);

#endif
