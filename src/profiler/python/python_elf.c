/* python_elf.c - a few names among an ELF file's symbols. The file may be anything.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_elf.h"
#include "base/mem.h"
#include <elf.h>
#include <string.h>

/* Calls see() with each symbol that the file defines in this table, until it returns false. */
static void table_each(const elf_file *f, const elf_section *table,
		       bool (*see)(void *self, const char *name, uint64_t value), void *self)
{
	const elf_section *strings = elf_file_section(f, table->link);
	Elf64_Sym *sym = elf_file_read(f, table->offset, table->size);
	char *names = strings ? elf_file_read(f, strings->offset, strings->size) : NULL;
	bool more = true;

	/* Without a NUL at the end the last name would not be terminated. */
	if (sym && names && strings->size && names[strings->size - 1] == '\0')
		for (uint64_t i = 0; more && i < table->size / sizeof *sym; i++)
			if (sym[i].st_name < strings->size && sym[i].st_shndx != SHN_UNDEF)
				more = see(self, names + sym[i].st_name, sym[i].st_value);
	mem_free(sym);
	mem_free(names);
}

static void tables_each(const elf_file *f, uint32_t type,
			bool (*see)(void *self, const char *name, uint64_t value), void *self)
{
	const elf_section *s;

	for (size_t i = 0; (s = elf_file_section(f, i)); i++)
		if (s->type == type)
			table_each(f, s, see, self);
}

static bool see_runtime(void *self, const char *name, uint64_t value)
{
	python_symbols *found = self;

	if (strcmp(name, "_PyRuntime") == 0)
		found->runtime = value;
	else if (strcmp(name, "Py_Version") == 0)
		found->version = value;
	return !found->runtime || !found->version;
}

python_symbols python_symbols_of(const elf_file *f)
{
	python_symbols found = {0};
	const elf_section *s;

	tables_each(f, SHT_DYNSYM, see_runtime, &found);
	if (!found.runtime)
		tables_each(f, SHT_SYMTAB, see_runtime, &found);
	if (!found.runtime && (s = elf_file_find_section(f, ".PyRuntime")))
		found.runtime = s->address;
	return found;
}

static bool see_evaluator(void *self, const char *name, uint64_t value)
{
	(void)value;
	*(bool *)self = strcmp(name, "_PyEval_EvalFrameDefault") == 0;
	return !*(bool *)self;
}

bool python_is_interpreter(const elf_file *f)
{
	bool found = false;

	tables_each(f, SHT_DYNSYM, see_evaluator, &found);
	return found;
}
