/* vtable_symbols.c - names virtual functions of stripped C++ files by RTTI: vtables, typeinfo
 * objects and their names.
 *
 * By the Itanium C++ ABI a vtable is [offset to top, typeinfo, functions ...], and a typeinfo
 * object begins with the address of a vtable of namespace __cxxabiv1. In a position-independent
 * file each of these words has a relocation: words_read() sorts those of .rela.dyn by address;
 * is_class() accepts a typeinfo object by its relocation to _ZTVN10__cxxabiv1*; table_read() lists
 * (function, class, slot) of each primary vtable. tables_read() sorts these by function and retains
 * one of each function: the nearest common base class of all its classes, if the slot is the same
 * in all. A function without such a class, as identical code folding makes them, gets no name. O(n
 * log n) once; class_names_find() is a binary search.
 *
 * Hostile files: sections are copies, reads are checked against their sizes; BYTES_MAX bounds a
 * section, SLOTS_MAX a vtable, DEPTH and BASES the inheritance, STEPS_MAX the steps through it for
 * a file. Packed relocations (.relr.dyn) are not read. Source: Itanium C++ ABI, 2.5 and 2.9.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/vtable_symbols.h"

#include "base/mem.h"
#include "profiler/symbols/demangle.h"
#include "profiler/unwind/address_search.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a section; depth and breadth of inheritance; slots of a vtable. STEPS_MAX: steps through
 * base classes for a whole file. */
enum { BYTES_MAX = 256 << 20, DEPTH = 16, BASES = 8, SLOTS_MAX = 4096, MANGLED_BYTES = 1024 };
#define STEPS_MAX (UINT64_C(1) << 24)
/* A typeinfo object: its vtable, its name, then one base (__si_class_type_info), or flags, the
 * number of bases and two words for each (__vmi_class_type_info). */
enum { NAME_AT = 8, BASE_AT = 16, BASES_AT = 24, BASE_BYTES = 16, WORD = 8 };

#if defined(__aarch64__)
enum { RELATIVE = R_AARCH64_RELATIVE, ABSOLUTE = R_AARCH64_ABS64 };
#else
enum { RELATIVE = R_X86_64_RELATIVE, ABSOLUTE = R_X86_64_64 };
#endif

typedef enum word_kind {
	TO_HERE,     /* to an address of the file */
	TO_TYPEINFO, /* relocation to the vtable of a typeinfo class */
	TO_OTHER,    /* to a symbol */
} word_kind;

/* A word with a relocation. */
typedef struct word {
	uint64_t at, to;
	word_kind kind;
} word;

typedef struct section_bytes {
	unsigned char *at; /* @owned */
	uint64_t address, n;
} section_bytes;

/* A function in a vtable. */
typedef struct vtable_entry {
	uint64_t function, type;
	uint32_t slot;
} vtable_entry;

struct class_names {
	word *words; /* sorted by address */
	size_t nwords;
	section_bytes data, texts;
	uint64_t code, code_end;
	vtable_entry *entries; /* sorted by function, one of each */
	size_t n, cap;
	uint64_t steps;
};

void class_names_free(class_names *c)
{
	if (!c)
		return;
	mem_free(c->words);
	mem_free(c->data.at);
	mem_free(c->texts.at);
	mem_free(c->entries);
	mem_free(c);
}

static bool section_read(const elf_file *f, const char *name, section_bytes *ret)
{
	const elf_section *s = elf_file_find_section(f, name);

	if (!s || s->size == 0 || s->size > BYTES_MAX)
		return false;
	*ret = (section_bytes){elf_file_read(f, s->offset, s->size), s->address, s->size};
	return ret->at;
}

/* --- words */

static int by_place(const void *a, const void *b)
{
	const word *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static bool describes_classes(const section_bytes *symtab, const section_bytes *names,
			      uint64_t number)
{
	static const char prefix[] = "_ZTVN10__cxxabiv1";
	Elf64_Sym s;

	if (number >= symtab->n / sizeof s)
		return false;
	memcpy(&s, symtab->at + number * sizeof s, sizeof s);
	return s.st_name < names->n && names->n - s.st_name > sizeof prefix &&
	       memcmp(names->at + s.st_name, prefix, sizeof prefix - 1) == 0;
}

static bool words_read(class_names *c, const elf_file *f)
{
	section_bytes relocations = {0}, symtab = {0}, names = {0};
	bool found = section_read(f, ".rela.dyn", &relocations) &&
		     section_read(f, ".dynsym", &symtab) && section_read(f, ".dynstr", &names);
	const size_t n = (size_t)(relocations.n / sizeof(Elf64_Rela));

	c->words = found ? mem_zalloc(n + 1, sizeof *c->words) : NULL;
	for (size_t i = 0; c->words && i < n; i++) {
		Elf64_Rela r;

		memcpy(&r, relocations.at + i * sizeof r, sizeof r);
		const uint64_t type = ELF64_R_TYPE(r.r_info);
		word *w = &c->words[c->nwords];
		*w = (word){r.r_offset, (uint64_t)r.r_addend, TO_HERE};
		if (type == ABSOLUTE)
			w->kind = describes_classes(&symtab, &names, ELF64_R_SYM(r.r_info))
				      ? TO_TYPEINFO
				      : TO_OTHER;
		c->nwords += type == RELATIVE || type == ABSOLUTE;
	}
	if (c->words)
		qsort(c->words, c->nwords, sizeof *c->words, by_place);
	mem_free(relocations.at);
	mem_free(symtab.at);
	mem_free(names.at);
	return c->words;
}

static const word *class_word_at(const class_names *c, uint64_t at)
{
	return bsearch(&(word){.at = at}, c->words, c->nwords, sizeof *c->words, by_place);
}

/* Returns the address in the file that the word there will hold; 0: none. */
static uint64_t target_of(const class_names *c, uint64_t at)
{
	const word *w = class_word_at(c, at);

	return w && w->kind == TO_HERE ? w->to : 0;
}

static bool is_class(const class_names *c, uint64_t type)
{
	const word *w = class_word_at(c, type);

	return w && w->kind == TO_TYPEINFO && target_of(c, type + NAME_AT);
}

/* Returns whether a class is `base`, or is derived from it. */
static bool comes_from(class_names *c, uint64_t type, uint64_t base, int depth)
{
	uint64_t next;

	if (type == base)
		return true;
	if (depth == 0 || c->steps++ >= STEPS_MAX)
		return false;
	next = target_of(c, type + BASE_AT);
	if (next) /* one base */
		return is_class(c, next) && comes_from(c, next, base, depth - 1);
	for (uint64_t i = 0; i < BASES; i++) {
		next = target_of(c, type + BASES_AT + i * BASE_BYTES);
		if (!next || !is_class(c, next))
			return false;
		if (comes_from(c, next, base, depth - 1))
			return true;
	}
	return false;
}

/* --- tables */

static bool is_code(const class_names *c, uint64_t address)
{
	return address >= c->code && address < c->code_end;
}

static bool class_entry_add(class_names *c, const vtable_entry *e)
{
	if (!mem_reserve(&c->entries, &c->cap, c->n + 1, sizeof *c->entries))
		return false;
	c->entries[c->n++] = *e;
	return true;
}

/* Returns whether the vtable is a primary one: its offset to top is 0. */
static bool is_first(const class_names *c, uint64_t at)
{
	uint64_t offset = 1;

	if (at >= c->data.address + WORD && at - c->data.address <= c->data.n)
		memcpy(&offset, c->data.at + (at - WORD - c->data.address), sizeof offset);
	return offset == 0 && !class_word_at(c, at - WORD);
}

/* Lists the functions of a vtable, whose typeinfo pointer is words[i]. false: no memory. */
static bool table_read(class_names *c, size_t i)
{
	const uint64_t type = c->words[i].to, first = c->words[i].at + WORD;

	for (uint32_t slot = 0; slot < SLOTS_MAX && ++i < c->nwords; slot++) {
		const word *w = &c->words[i];

		if (w->at != first + (uint64_t)slot * WORD || w->kind == TO_TYPEINFO ||
		    (w->kind == TO_HERE && !is_code(c, w->to)))
			break;
		if (w->kind == TO_HERE && !class_entry_add(c, &(vtable_entry){w->to, type, slot}))
			return false;
	}
	return true;
}

static int class_by_function(const void *a, const void *b)
{
	const vtable_entry *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static bool all_come_from(class_names *c, const vtable_entry *all, size_t n, uint64_t type)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].slot != all[0].slot || !comes_from(c, all[i].type, type, DEPTH))
			return false;
	return true;
}

/* Returns the nearest common base class of the classes of all n entries of a function, if its
 * slot is the same in all; 0: none. */
static uint64_t common_class(class_names *c, const vtable_entry *all, size_t n)
{
	uint64_t type = all->type;

	for (int depth = 0; depth < DEPTH && is_class(c, type); depth++) {
		if (all_come_from(c, all, n, type))
			return type;
		const uint64_t base = target_of(c, type + BASE_AT);
		type = base ? base : target_of(c, type + BASES_AT);
	}
	return 0;
}

static bool tables_read(class_names *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->nwords; i++)
		if (c->words[i].kind == TO_HERE && is_class(c, c->words[i].to) &&
		    is_first(c, c->words[i].at) && !table_read(c, i))
			return false;
	if (c->n)
		qsort(c->entries, c->n, sizeof *c->entries, class_by_function);
	for (size_t i = 0, end; i < c->n; i = end) {
		for (end = i + 1; end < c->n && c->entries[end].function == c->entries[i].function;)
			end++;
		const uint64_t type = common_class(c, c->entries + i, end - i);
		if (type)
			c->entries[kept++] =
			    (vtable_entry){c->entries[i].function, type, c->entries[i].slot};
	}
	c->n = kept;
	return kept > 0;
}

class_names *class_names_new(const elf_file *f)
{
	class_names *c = mem_zalloc(1, sizeof *c);
	const elf_section *code = elf_file_find_section(f, ".text");

	if (!c)
		return NULL;
	c->code = code ? code->address : 0;
	c->code_end = code ? code->address + code->size : 0;
	if (code && section_read(f, ".data.rel.ro", &c->data) &&
	    section_read(f, ".rodata", &c->texts) && words_read(c, f) && tables_read(c))
		return c;
	class_names_free(c);
	return NULL;
}

/* Returns the name of a class, "N2ns4ConvIfEE" in the file, as a demangler takes it. */
static bool class_name_of(const class_names *c, uint64_t type, char *to, size_t size)
{
	const uint64_t at = target_of(c, type + NAME_AT) - c->texts.address;
	const char *text = (const char *)c->texts.at + at;

	if (at >= c->texts.n || !memchr(text, '\0', (size_t)(c->texts.n - at)))
		return false;
	const int n = snprintf(to, size, "_Z%s", text + (*text == '*'));
	return n > 2 && (size_t)n < size;
}

bool class_names_find(const class_names *c, uint64_t begin, char *to, size_t size)
{
	char mangled[MANGLED_BYTES];
	const size_t n = c ? address_search(c->entries, c->n, sizeof *c->entries,
					    offsetof(vtable_entry, function), begin)
			   : 0;
	const vtable_entry *e = n ? &c->entries[n - 1] : NULL;

	if (!e || e->function != begin || !class_name_of(c, e->type, mangled, sizeof mangled))
		return false;
	char *name = demangle(mangled);
	if (!name)
		return false;
	snprintf(to, size, "%s::(virtual %" PRIu32 ")", name, e->slot);
	mem_free(name);
	return true;
}
