/* fuzz_elf.c - any bytes as an ELF file: its symbol tables and unwind rules are read within bounds,
 * and where both unwinders find a caller it is the same one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "profiler/unwind/cfi.h"
#include "profiler/unwind/elf_file.h"
#include "profiler/symbols/vtable_symbols.h"
#include "profiler/symbols/symbol_table.h"

enum { BYTES_MAX = 1 << 16, FUNCTIONS_MAX = 64, STEPS_MAX = 4 };

/* Each address holds the same bytes at every read; some addresses cannot be read. */
static bool any_memory(void *self, uint64_t address, void *to, size_t n)
{
	unsigned char *out = to;

	(void)self;
	if (address % 4099 == 0)
		return false;
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)((address + i) * 167 >> (address + i) % 8);
	return true;
}

static void unwind_there(const unwind_module *m, uint64_t place)
{
	unwind_memory memory = {any_memory, NULL};
	unwind_regs first = {.known = UNWIND_ALL_KNOWN, .exact = true}, r, by_rule;

	for (size_t i = 0; i < UNWIND_REGS; i++)
		first.r[i] = 0x10000 * i + 0x7000;
	first.r[UNWIND_PC] = place;
	by_rule = r = first;
	unwind_rule rule = unwind_find_rule(m, place);

	if (unwind_apply(&rule, &by_rule, &memory) == UNWIND_OK &&
	    unwind_step(m, place, &r, &memory) == UNWIND_OK) {
		check(r.r[UNWIND_PC] == by_rule.r[UNWIND_PC] || rule.kind == UNWIND_SIGNAL_FRAME);
		check(r.r[UNWIND_SP] == by_rule.r[UNWIND_SP] || rule.kind == UNWIND_SIGNAL_FRAME);
		check(r.r[UNWIND_FP] == by_rule.r[UNWIND_FP] || rule.kind == UNWIND_SIGNAL_FRAME);
	}
	r = first;
	for (int i = 0; i < STEPS_MAX; i++) {
		if (unwind_step(m, place, &r, &memory) != UNWIND_OK)
			break;
		place = unwind_lookup_pc(&r);
	}
}

static void read_tables(elf_file *f)
{
	symbol_table *t = symbol_table_new();
	symbol_found found;

	check(t != NULL);
	symbol_table_add(t, f);
	symbol_table_add_dynamic(t, f);
	symbol_table_add_plt(t, f);
	symbol_table_add_init(t, f);
	symbol_table_add_go(t, f);
	symbol_table_add_compressed(t, f);
	symbol_table_sort(t);
	for (uint64_t at = 0; at < 0x8000; at += 61) {
		if (symbol_table_find(t, at, &found))
			check(found.name && found.begin <= at);
	}
	symbol_table_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	dck_err err = {0};
	elf_file *f;
	uint64_t at = 0, entry, begin, address;
	char name[256];

	if (n > BYTES_MAX)
		return 0;
	if (elf_file_open_bytes(bytes, n, "input", &f, &err) != DCK_OK) {
		check(err.msg[0]);
		return 0;
	}
	read_tables(f);
	elf_file_address_of(f, n / 2, true, &address);
	class_names *classes = class_names_new(f);
	class_names_find(classes, n / 2, name, sizeof name);
	class_names_free(classes);
	const unwind_module *m = elf_file_unwind(f);

	for (int i = 0; m && i < FUNCTIONS_MAX && cfi_next_function(m, &at, &entry, &begin); i++) {
		for (uint64_t k = 0; k < 64; k += 3)
			unwind_there(m, begin + k);
	}
	elf_file_close(f);
	return 0;
}
