/* symbol_plt.c - names of the entries of .plt, which have no symbols: by the slot that each of them
 * jumps through, and the relocation that fills it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/symbol_table.h"

#include "base/mem.h"
#include "profiler/unwind/unwind_scan.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { RELOCATIONS_MAX = 1 << 24, CODE_MAX = 1 << 28, ENTRY = 16, RANK_OF_PLT = 1 };

typedef struct plt_slot {
	uint64_t address;
	const char *name;
} plt_slot;

typedef struct plt_slots {
	plt_slot *all;
	size_t n, read; /* read: relocations, of all sections together */
} plt_slots;

static int plt_by_address(const void *a, const void *b)
{
	const plt_slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static bool names_a_function(uint64_t info)
{
#if defined(__x86_64__)
	return ELF64_R_TYPE(info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(info) == R_X86_64_GLOB_DAT;
#else
	return ELF64_R_TYPE(info) == R_AARCH64_JUMP_SLOT ||
	       ELF64_R_TYPE(info) == R_AARCH64_GLOB_DAT;
#endif
}

/* The slots that a section of relocations fills with functions of other files. */
static void add_slots(plt_slots *to, const elf_file *f, const elf_section *s,
		      const Elf64_Sym *symtab, size_t n_symbols, const char *names,
		      uint64_t names_size)
{
	size_t n = (size_t)(s->size / sizeof(Elf64_Rela));
	Elf64_Rela *all;
	plt_slot *bigger;

	if (!n || n > RELOCATIONS_MAX - to->read ||
	    !(all = elf_file_read(f, s->offset, n * sizeof *all)))
		return;
	to->read += n;
	bigger = mem_resize(to->all, (to->n + n) * sizeof *bigger);
	for (size_t i = 0; bigger && i < n; i++) {
		uint64_t which = ELF64_R_SYM(all[i].r_info);

		if (names_a_function(all[i].r_info) && which < n_symbols &&
		    symtab[which].st_name < names_size)
			bigger[to->n++] =
			    (plt_slot){all[i].r_offset, names + symtab[which].st_name};
	}
	if (bigger)
		to->all = bigger;
	mem_free(all);
}

static void name_entries(symbol_table *t, const elf_file *f, const elf_section *s,
			 const plt_slots *in)
{
	size_t step = s->entry_size == 8 ? 8 : ENTRY, size = (size_t)s->size;
	unsigned char *code = size <= CODE_MAX ? elf_file_read(f, s->offset, size) : NULL;

	for (size_t i = 0; code && i < size; i += step) {
		size_t n = size - i < step ? size - i : step;
		plt_slot wanted = {unwind_plt_slot(code + i, n, s->address + i), NULL};
		const plt_slot *found =
		    in->n ? bsearch(&wanted, in->all, in->n, sizeof wanted, plt_by_address) : NULL;

		if (found && *found->name)
			symbol_table_add_one(t, found->name, s->address + i, n, RANK_OF_PLT);
	}
	mem_free(code);
}

static bool is_plt(const elf_section *s)
{
	return s->type == SHT_PROGBITS && strncmp(s->name, ".plt", 4) == 0 &&
	       s->flags & SHF_EXECINSTR && !(s->flags & SHF_COMPRESSED);
}

size_t symbol_table_add_plt(symbol_table *t, const elf_file *f)
{
	const elf_section *symtab = elf_file_find_section(f, ".dynsym"), *names, *s;
	Elf64_Sym *all;
	char *texts;
	plt_slots found = {0};

	names = symtab ? elf_file_section(f, symtab->link) : NULL;
	if (!names || symtab->size > CODE_MAX || names->size > CODE_MAX)
		return 0;
	all = elf_file_read(f, symtab->offset, symtab->size);
	texts = elf_file_read(f, names->offset, names->size);
	if (all && symbol_table_keep(t, texts)) {
		for (size_t i = 0; (s = elf_file_section(f, i)); i++) {
			if (s->type == SHT_RELA)
				add_slots(&found, f, s, all, (size_t)symtab->size / sizeof *all,
					  texts, names->size);
		}
		if (found.n)
			qsort(found.all, found.n, sizeof(plt_slot), plt_by_address);
		for (size_t i = 0; (s = elf_file_section(f, i)); i++) {
			if (is_plt(s))
				name_entries(t, f, s, &found);
		}
	} else if (!all) {
		mem_free(texts);
	}
	mem_free(found.all);
	mem_free(all);
	return found.n;
}
