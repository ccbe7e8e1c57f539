/* symbol_go.c - the names in Go's own table of functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/go_table.h"
#include "profiler/symbols/symbol_table.h"

enum { RANK_OF_GO = 15 };

size_t symbol_table_add_go(symbol_table *t, elf_file *f)
{
	const unwind_module *m = elf_file_unwind(f);
	go_function function;
	go_table table;
	size_t added = 0;

	if (!m || !m->go.size || !go_table_open(m->go.bytes, m->go.size, m->text, &table))
		return 0;
	for (uint64_t i = 0; i < table.n; i++) {
		if (go_table_function(&table, i, &function) &&
		    symbol_table_add_one(t, go_table_name(&table, &function), function.begin,
					 function.end - function.begin, RANK_OF_GO))
			added++;
	}
	return added;
}
