/* symbol_table.c - functions of a file, sorted by address and found by binary search.
 *
 * Several sources add symbols in any order. symbol_table_sort() sorts by address, rank and name,
 * and retains for each address the symbol with the greatest rank, with the greatest size of all, so
 * that addresses are unique. symbol_table_find() takes the last symbol at or below the address, or,
 * since a symbol may contain others, one of the SYMBOLS_NESTED - 1 before it, the first whose size
 * covers the address; a symbol without a size extends to the next one. O(n log n) once, O(log n)
 * for a lookup.
 *
 * Names are borrowed from string tables that the table owns (symbol_table_keep()), each with a NUL
 * after its end (elf_file_read()). Damaged files: offsets of names are checked, SYMBOLS_MAX and
 * TABLE_MAX bound the tables. Source: System V ABI (generic), chapter 4, "Symbol Table".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/symbol_table.h"

#include "base/mem.h"
#include "profiler/unwind/address_search.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS_MAX = 1 << 25, TABLE_MAX = 1 << 30, SYMBOLS_NESTED = 16 };

/* Preference among several names of one address: exported functions before local ones before
 * labels. */
enum {
	RANK_PLT = 1,
	RANK_INIT = 2,
	RANK_LABEL = 4,
	RANK_LOCAL = 8,
	RANK_WEAK = 12,
	RANK_GLOBAL = 16
};

typedef struct table_symbol {
	uint64_t address, size;
	const char *name;
	unsigned rank;
} table_symbol;

struct symbol_table {
	table_symbol *all;
	size_t n, cap;
	void **kept;
	size_t n_kept, cap_kept;
};

symbol_table *symbol_table_new(void)
{
	return mem_zalloc(1, sizeof(symbol_table));
}

void symbol_table_free(symbol_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_kept; i++)
		mem_free(t->kept[i]);
	mem_free(t->kept);
	mem_free(t->all);
	mem_free(t);
}

bool symbol_table_add_one(symbol_table *t, const char *name, uint64_t address, uint64_t size,
			  unsigned rank)
{
	if (t->n >= SYMBOLS_MAX || !mem_reserve(&t->all, &t->cap, t->n + 1, sizeof *t->all))
		return false;
	t->all[t->n++] = (table_symbol){address, size, name, rank};
	return true;
}

bool symbol_table_keep(symbol_table *t, void *bytes)
{
	if (!mem_reserve(&t->kept, &t->cap_kept, t->n_kept + 1, sizeof *t->kept)) {
		mem_free(bytes);
		return false;
	}
	if (bytes)
		t->kept[t->n_kept++] = bytes;
	return bytes != NULL;
}

/* --- Tables of symbols. */

static unsigned symbol_rank_of(const elf_file *f, const Elf64_Sym *s, const char *name)
{
	const elf_section *in = elf_file_section(f, s->st_shndx);
	unsigned kind = ELF64_ST_TYPE(s->st_info), bind = ELF64_ST_BIND(s->st_info), rank;

	if (s->st_shndx == SHN_UNDEF || !*name)
		return 0;
	if (kind == STT_NOTYPE) /* some hand-written code has no others */
		return in && in->flags & SHF_EXECINSTR && name[0] != '$' && name[0] != '.'
			   ? RANK_LABEL + (s->st_size != 0)
			   : 0;
	if (kind != STT_FUNC && kind != STT_GNU_IFUNC)
		return 0;
	rank = bind == STB_GLOBAL ? RANK_GLOBAL : bind == STB_WEAK ? RANK_WEAK : RANK_LOCAL;
	/* This prefers malloc to __libc_malloc. */
	return name[0] == '_' ? rank - (name[1] == '_' ? 2 : 1) : rank;
}

static size_t add_symbols(symbol_table *t, const elf_file *f, const elf_section *symtab,
			  const elf_section *names)
{
	size_t before = t->n, n = (size_t)(symtab->size / sizeof(Elf64_Sym));
	Elf64_Sym *all;
	char *texts;

	if (symtab->size > TABLE_MAX || names->size > TABLE_MAX || !names->size ||
	    symtab->type == SHT_NOBITS || names->type != SHT_STRTAB)
		return 0;
	all = elf_file_read(f, symtab->offset, n * sizeof *all);
	texts = elf_file_read(f, names->offset, names->size);
	if (!symbol_table_keep(t, texts))
		n = 0;
	for (size_t i = 0; all && i < n; i++) {
		const Elf64_Sym *s = &all[i];
		const char *name = s->st_name < names->size ? texts + s->st_name : "";
		unsigned rank = symbol_rank_of(f, s, name);

		if (rank && !symbol_table_add_one(t, name, s->st_value, s->st_size, rank))
			break;
	}
	mem_free(all);
	return t->n - before;
}

static size_t add_of_type(symbol_table *t, const elf_file *f, uint32_t type)
{
	const elf_section *s;

	for (size_t i = 0; (s = elf_file_section(f, i)); i++) {
		const elf_section *names = elf_file_section(f, s->link);

		if (s->type == type && names)
			return add_symbols(t, f, s, names);
	}
	return 0;
}

size_t symbol_table_add(symbol_table *t, const elf_file *f)
{
	return add_of_type(t, f, SHT_SYMTAB);
}

size_t symbol_table_add_dynamic(symbol_table *t, const elf_file *f)
{
	elf_section symtab, names;
	size_t n = add_of_type(t, f, SHT_DYNSYM);

	if (n || elf_file_section(f, 0) || !elf_file_dynamic_symbols(f, &symtab, &names))
		return n;
	return add_symbols(t, f, &symtab, &names);
}

size_t symbol_table_add_init(symbol_table *t, const elf_file *f)
{
	/* The C runtime's crti.o defines these symbols at the starts of these sections. */
	static const struct init {
		const char *section, *function;
	} all[] = {{".init", "_init"}, {".fini", "_fini"}};
	const size_t before = t->n;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const elf_section *s = elf_file_find_section(f, all[i].section);

		if (s && s->flags & SHF_EXECINSTR)
			symbol_table_add_one(t, all[i].function, s->address, s->size, RANK_INIT);
	}
	return t->n - before;
}

/* --- Looking up. */

static int symbol_by_address(const void *a, const void *b)
{
	const table_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The best last. */
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(y->name, x->name);
}

void symbol_table_sort(symbol_table *t)
{
	size_t n = 0;

	if (t->n)
		qsort(t->all, t->n, sizeof *t->all, symbol_by_address);
	for (size_t i = 0; i < t->n; i++) {
		if (n && t->all[n - 1].address == t->all[i].address) {
			if (t->all[i].size < t->all[n - 1].size)
				t->all[i].size = t->all[n - 1].size;
			n--;
		}
		t->all[n++] = t->all[i];
	}
	t->n = n;
}

bool symbol_table_find(const symbol_table *t, uint64_t address, symbol_found *ret)
{
	size_t low =
	    address_search(t->all, t->n, sizeof *t->all, offsetof(table_symbol, address), address);

	for (unsigned i = 0; i < SYMBOLS_NESTED && low > 0; i++) {
		const table_symbol *s = &t->all[--low];

		/* A symbol without a size extends to the next one. */
		if (s->size ? address - s->address < s->size : i == 0) {
			*ret = (symbol_found){s->name, s->address, s->rank == RANK_PLT};
			return true;
		}
	}
	return false;
}
