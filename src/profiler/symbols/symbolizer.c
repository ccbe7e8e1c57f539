/* symbolizer.c - the symbolizer: caches over the symbol tables and debug information of many files.
 *
 * The sources of a file are opened at its first address: of .symtab, that of a separate debug file,
 * .gnu_debugdata and Go's .gopclntab the first that has functions, and always .dynsym and .plt. An
 * address is looked up in DWARF (dwarf_lines.h), which also gives inlined calls; where that has no
 * function, in the symbol table (symbol_table.h), with a line from Go's table if it has one.
 * Code without a file is looked up in the process's perf map.
 *
 * Three caches: answers by (file, address) in an open-addressing hash table, emptied at
 * ANSWERS_MAX; texts, interned in another one, so that a text has one pointer until symbols_free(),
 * TEXTS_MAX bytes at most; files, in a list searched from its end, since addresses come file by
 * file.
 *
 * Invariants: one thread; a file stays open while its symbols are used; texts of libdw are
 * interned before its next call. Lack of memory gives a NULL text or 0 frames.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/symbolizer.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "profiler/symbols/debug_file.h"
#include "profiler/symbols/demangle.h"
#include "profiler/symbols/dwarf_lines.h"
#include "profiler/unwind/go_table.h"
#include "profiler/symbols/lazy_dw.h"
#include "profiler/symbols/perf_map.h"
#include "profiler/symbols/symbol_table.h"

#include <stdio.h>
#include <string.h>

enum {
	TEXTS_MAX = 1 << 30,
	ANSWERS_MAX = 1 << 20,
	DEBUG_DIRECTORY_MAX = 4096,
	PLT_NAME_BYTES = 1 << 16
};

/* The cached symbol sources of a file. */
typedef struct symbols_file {
	elf_file *file, *debug; /* debug: @owned; NULL: none */
	symbol_table *table;
	dwarf_lines *lines;
	go_table go; /* n 0: none */
	symbols_source source;
} symbols_file;

typedef struct process_map {
	pid_t pid;
	perf_map *map;
} process_map;

/* The cached frames of an address. */
typedef struct answer {
	const void *of; /* elf_file; NULL: free */
	uint64_t address;
	size_t first;
	unsigned n;
} answer;

struct symbols {
	symbols_config config;
	char directory[DEBUG_DIRECTORY_MAX];
	mem_arena *texts;
	const char **interned; /* open addressing; a power of two */
	size_t n_interned, cap_interned;
	symbols_file *files;
	size_t n_files, cap_files;
	process_map *maps;
	size_t n_maps, cap_maps;
	answer *answers;
	size_t n_answers, cap_answers;
	symbols_frame *frames;
	size_t n_frames, cap_frames;
	dck_err missing_reason;
};

symbols *symbols_new(const symbols_config *config)
{
	symbols *s = mem_zalloc(1, sizeof *s);

	if (!s)
		return NULL;
	if (config)
		s->config = *config;
	snprintf(s->directory, sizeof s->directory, "%s",
		 s->config.debug_directory ? s->config.debug_directory : "/usr/lib/debug");
	s->texts = mem_arena_new(0);
	if (!s->texts) {
		mem_free(s);
		return NULL;
	}
	mem_arena_limit(s->texts, TEXTS_MAX);
	if (!s->config.names_only && late_dw_load(&s->missing_reason) == DCK_OK)
		s->missing_reason.msg[0] = '\0';
	return s;
}

void symbols_free(symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++) {
		dwarf_lines_close(s->files[i].lines);
		symbol_table_free(s->files[i].table);
		elf_file_close(s->files[i].debug);
	}
	for (size_t i = 0; i < s->n_maps; i++)
		perf_map_close(s->maps[i].map);
	mem_free(s->files);
	mem_free(s->maps);
	mem_free(s->answers);
	mem_free(s->frames);
	mem_free(s->interned);
	mem_arena_free(s->texts);
	mem_free(s);
}

const char *symbolizer_missing_reason(symbols *s)
{
	return s->missing_reason.msg[0] ? s->missing_reason.msg : NULL;
}

/* --- Texts. */

static size_t symbols_place_of(const char *const *table, size_t cap, const char *text)
{
	size_t i = (size_t)hash_text(HASH_START, text) & (cap - 1);

	while (table[i] && strcmp(table[i], text) != 0)
		i = (i + 1) & (cap - 1);
	return i;
}

static bool grow_interned(symbols *s)
{
	size_t cap = s->cap_interned ? 2 * s->cap_interned : 1024;
	const char **bigger = mem_zalloc(cap, sizeof *bigger);

	if (!bigger)
		return false;
	for (size_t i = 0; i < s->cap_interned; i++) {
		if (s->interned[i])
			bigger[symbols_place_of(bigger, cap, s->interned[i])] = s->interned[i];
	}
	mem_free(s->interned);
	s->interned = bigger;
	s->cap_interned = cap;
	return true;
}

/* Returns the interned copy of a text; NULL for NULL, and without memory. */
static const char *symbols_intern(symbols *s, const char *text)
{
	size_t i;

	if (!text || (2 * s->n_interned >= s->cap_interned && !grow_interned(s)))
		return NULL;
	i = symbols_place_of(s->interned, s->cap_interned, text);
	if (!s->interned[i] && (s->interned[i] = mem_arena_dup(s->texts, text)))
		s->n_interned++;
	return s->interned[i];
}

/* Interns a name, demangled unless mangled names are requested. */
static const char *intern_name(symbols *s, const char *name)
{
	char *plain = s->config.mangled ? NULL : demangle(name);
	const char *kept = symbols_intern(s, plain ? plain : name);

	mem_free(plain);
	return kept;
}

/* --- Files. */

static bool has_lines(const elf_file *f)
{
	return f && (elf_file_find_section(f, ".debug_info") ||
		     elf_file_find_section(f, ".zdebug_info"));
}

static void open_go(symbols_file *x)
{
	const unwind_module *m = elf_file_unwind(x->file);

	if (!m || !m->go.size || !go_table_open(m->go.bytes, m->go.size, m->text, &x->go))
		x->go.n = 0;
}

static void open_tables(symbols *s, symbols_file *x)
{
	elf_file *f = x->file;
	const elf_file *lines;
	size_t n = symbol_table_add(x->table, f), exported;

	if (!has_lines(f) || !n)
		x->debug = debug_file_find(f, s->directory);
	if (!n && x->debug)
		n = symbol_table_add(x->table, x->debug);
	if (!n)
		n = symbol_table_add_compressed(x->table, f);
	if (!n)
		n = symbol_table_add_go(x->table, f);
	exported = symbol_table_add_dynamic(x->table, f);
	symbol_table_add_plt(x->table, f);
	symbol_table_add_init(x->table, f);
	symbol_table_sort(x->table);
	x->source = n ? SYMBOLS_TABLE : exported ? SYMBOLS_DYNAMIC : SYMBOLS_NONE;
	open_go(x);
	lines = has_lines(f) ? f : has_lines(x->debug) ? x->debug : NULL;
	if (s->config.names_only || !lines || elf_file_descriptor(lines) < 0)
		return;
	if (dwarf_lines_open(elf_file_path(lines), elf_file_descriptor(lines), &x->lines, NULL) ==
	    DCK_OK)
		x->source = SYMBOLS_DEBUG;
}

/* NULL: no memory. */
static symbols_file *symbols_file_of(symbols *s, elf_file *file)
{
	symbols_file x = {.file = file};

	/* Addresses come file by file. */
	for (size_t i = s->n_files; i-- > 0;) {
		if (s->files[i].file == file)
			return &s->files[i];
	}
	if (!mem_reserve(&s->files, &s->cap_files, s->n_files + 1, sizeof x) ||
	    !(x.table = symbol_table_new()))
		return NULL;
	open_tables(s, &x);
	s->files[s->n_files] = x;
	return &s->files[s->n_files++];
}

symbols_source symbols_source_of(symbols *s, elf_file *file)
{
	symbols_file *x = symbols_file_of(s, file);

	return x ? x->source : SYMBOLS_NONE;
}

/* --- Frames. */

static const char *name_of_symbol(symbols *s, const symbol_found *found)
{
	char entry[PLT_NAME_BYTES];
	const char *name = intern_name(s, found->name);

	if (!name || !found->plt)
		return name;
	snprintf(entry, sizeof entry, "%s@plt", name);
	return symbols_intern(s, entry);
}

static void line_of_go(symbols *s, const go_table *t, uint64_t address, symbols_frame *f)
{
	go_function function;
	unsigned line;
	const char *file = go_table_find(t, address, &function)
			       ? go_table_line(t, &function, address, &line)
			       : NULL;

	f->file = symbols_intern(s, file);
	if (f->file)
		f->line = line;
}

/* Returns the qualified name where it is known, else the source's. */
static const char *name_of_frame(symbols *s, const dwarf_frame *f)
{
	return f->linkage_name ? intern_name(s, f->linkage_name) : symbols_intern(s, f->name);
}

static size_t symbols_look_up(symbols *s, symbols_file *x, uint64_t address, symbols_frame *ret)
{
	dwarf_frame found[SYMBOLS_FRAMES_MAX];
	size_t n = x->lines ? dwarf_lines_find(x->lines, address, found, SYMBOLS_FRAMES_MAX) : 0;
	symbol_found symbol;

	for (size_t i = 0; i < n; i++) {
		const dwarf_frame *f = &found[i];

		ret[i] = (symbols_frame){.file = symbols_intern(s, f->file),
					 .line = f->line,
					 .start_line = f->start_line};
		ret[i].inlined = i + 1 < n;
		ret[i].function = name_of_frame(s, f);
	}
	if (n && ret[n - 1].function)
		return n;
	if (!symbol_table_find(x->table, address, &symbol))
		return n;
	if (!n)
		ret[n++] = (symbols_frame){0};
	ret[n - 1].function = name_of_symbol(s, &symbol);
	if (!ret[n - 1].file && !s->config.names_only)
		line_of_go(s, &x->go, address, &ret[n - 1]);
	return n;
}

/* --- Answers. */

static answer *symbols_row_of(answer *all, size_t cap, const void *of, uint64_t address)
{
	uint64_t hash = hash_number(hash_number(HASH_START, (uintptr_t)of), address);
	size_t i = (size_t)(hash >> 20) & (cap - 1);

	while (all[i].of && (all[i].of != of || all[i].address != address))
		i = (i + 1) & (cap - 1);
	return &all[i];
}

/* Makes space for one more answer. At ANSWERS_MAX all are dropped. */
static bool reserve_answer(symbols *s)
{
	size_t cap = s->cap_answers ? 2 * s->cap_answers : 4096;
	answer *bigger;

	if (s->n_answers >= ANSWERS_MAX) {
		memset(s->answers, 0, s->cap_answers * sizeof *s->answers);
		s->n_answers = s->n_frames = 0;
	}
	if (2 * s->n_answers < s->cap_answers)
		return true;
	bigger = mem_zalloc(cap, sizeof *bigger);
	if (!bigger)
		return false;
	for (size_t i = 0; i < s->cap_answers; i++) {
		const answer *a = &s->answers[i];

		if (a->of)
			*symbols_row_of(bigger, cap, a->of, a->address) = *a;
	}
	mem_free(s->answers);
	s->answers = bigger;
	s->cap_answers = cap;
	return true;
}

size_t symbolizer_lookup(symbols *s, elf_file *file, uint64_t address, symbols_frame *ret,
			 size_t max)
{
	symbols_frame found[SYMBOLS_FRAMES_MAX];
	symbols_file *x;
	answer *a;
	size_t n;

	if (!reserve_answer(s))
		return 0;
	a = symbols_row_of(s->answers, s->cap_answers, file, address);
	if (!a->of) {
		x = symbols_file_of(s, file);
		n = x ? symbols_look_up(s, x, address, found) : 0;
		if (!x || !mem_reserve(&s->frames, &s->cap_frames, s->n_frames + n, sizeof *found))
			return 0;
		*a = (answer){file, address, s->n_frames, (unsigned)n};
		if (n)
			memcpy(s->frames + s->n_frames, found, n * sizeof *found);
		s->n_frames += n;
		s->n_answers++;
	}
	n = a->n < max ? a->n : max;
	if (n)
		memcpy(ret, s->frames + a->first, n * sizeof *ret);
	return n;
}

static perf_map *map_of(symbols *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_maps; i++) {
		if (s->maps[i].pid == pid)
			return s->maps[i].map;
	}
	if (!mem_reserve(&s->maps, &s->cap_maps, s->n_maps + 1, sizeof *s->maps))
		return NULL;
	s->maps[s->n_maps] = (process_map){pid, perf_map_open(pid)};
	return s->maps[s->n_maps++].map;
}

size_t symbols_find_generated(symbols *s, pid_t pid, uint64_t address, symbols_frame *ret,
			      size_t max)
{
	perf_map *m = map_of(s, pid);
	const char *name = m && max ? perf_map_find(m, address) : NULL;

	if (!name)
		return 0;
	ret[0] = (symbols_frame){.function = symbols_intern(s, name)};
	return 1;
}
