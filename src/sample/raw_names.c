/* raw_names.c - addresses become functions, with what was inlined there.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sample/raw_paths.h"

#include "base/err.h"
#include "stack/symbols/class_names.h"
#include "stack/symbols/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* The functions of a raw frame: `n` numbers of call_paths from `first` on, the outermost first. */
typedef struct named {
	uint32_t first, n;
	bool unknown;
} named;

typedef struct naming {
	const raw_paths *p;
	call_paths *to;
	symbols *symbols;
	const elf_file *classes_of; /* the latest file that had no names, */
	class_names *classes;	    /* and what is known of it */
	named *of;		    /* [nframes + 1] */
	uint32_t *numbers;	    /* all of them */
	size_t n, room;
	bool failed;
} naming;

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path && *path ? path : NULL;
}

static void number_add(naming *m, const dck_frame *f)
{
	const uint32_t number = call_paths_frame(m->to, f);

	if (m->n == m->room) {
		const size_t room = m->room ? 2 * m->room : 1024;
		uint32_t *grown = mem_resize(m->numbers, room * sizeof *grown);

		if (!grown) {
			m->failed = true;
			return;
		}
		m->numbers = grown;
		m->room = room;
	}
	m->numbers[m->n++] = number;
}

/* Frames come file by file. */
static const class_names *classes_of(naming *m, const elf_file *f)
{
	if (m->classes_of != f) {
		class_names_free(m->classes);
		m->classes = class_names_new(f);
		m->classes_of = f;
	}
	return m->classes;
}

/* In a file without names virtual functions are told by their class, the others by where they
 * begin. true: it has a name after all. */
static bool nameless(naming *m, const raw_frame *f, const char *module)
{
	const unwind_module *rules = f->file ? elf_file_unwind(f->file) : NULL;
	char name[NAME_BYTES] = "[unknown]";
	bool known = false;
	uint64_t begin;

	if (rules && module && unwind_function(rules, f->address, &begin)) {
		known = class_names_find(classes_of(m, f->file), begin, name, sizeof name);
		if (!known)
			snprintf(name, sizeof name, "%.200s+0x%" PRIx64, module, begin);
	}
	number_add(m, &(dck_frame){.name = name, .module = module});
	return known;
}

static void code_name(naming *m, const raw_frame *f, named *ret)
{
	symbols_frame found[SYMBOLS_FRAMES_MAX];
	const char *module = base_name(f->path);
	const size_t n =
	    f->file
		? symbols_find(m->symbols, f->file, f->address, found, SYMBOLS_FRAMES_MAX)
		: symbols_find_generated(m->symbols, f->pid, f->address, found, SYMBOLS_FRAMES_MAX);

	ret->unknown = n == 0 || !found[0].function;
	if (n == 0)
		ret->unknown = !nameless(m, f, module);
	for (size_t i = n; i-- > 0;)
		number_add(m,
			   &(dck_frame){.name = found[i].function ? found[i].function : "[unknown]",
					.file = found[i].file,
					.line = found[i].line,
					.module = module});
}

static void frame_name(naming *m, uint32_t number)
{
	static const char *const known[] = {[RAW_KERNEL] = "[kernel]",
					    [RAW_BLOCKED] = "[blocked]",
					    [RAW_PREEMPTED] = "[waits for a CPU]"};
	const raw_frame *f = kept_find(&m->p->frames, number);
	named *ret = &m->of[number];

	ret->first = (uint32_t)m->n;
	switch ((raw_kind)f->kind) {
	case RAW_CODE:
		code_name(m, f, ret);
		break;
	case RAW_THREAD:
		number_add(m, &(dck_frame){.name = f->name});
		break;
	case RAW_PYTHON:
		number_add(m, &(dck_frame){.name = f->name,
					   .file = f->path,
					   .line = f->line,
					   .start_line = f->start_line});
		break;
	default:
		number_add(m, &(dck_frame){.name = known[f->kind]});
	}
	ret->n = (uint32_t)m->n - ret->first;
}

typedef struct sorted {
	const elf_file *file;
	uint64_t address;
	uint32_t number;
} sorted;

static int by_address(const void *a, const void *b)
{
	const sorted *x = a, *y = b;

	if (x->file != y->file)
		return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* In the order in which debugging information is read fastest. */
static bool frames_name(naming *m)
{
	sorted *order = mem_zalloc((size_t)m->p->nframes + 1, sizeof *order);

	if (!order)
		return false;
	for (uint32_t i = 0; i < m->p->nframes; i++) {
		const raw_frame *f = kept_find(&m->p->frames, i + 1);

		order[i] = (sorted){f->file, f->address, i + 1};
	}
	qsort(order, m->p->nframes, sizeof *order, by_address);
	for (uint32_t i = 0; i < m->p->nframes; i++)
		frame_name(m, order[i].number);
	mem_free(order);
	return !m->failed;
}

/* Parents stand before their children. */
static bool paths_add(naming *m, uint64_t *ret_unknown)
{
	const path_sums *from = &m->p->sums;
	uint32_t *path_of = mem_zalloc((size_t)from->n + 1, sizeof *path_of);

	if (!path_of)
		return false;
	*ret_unknown = 0;
	for (uint32_t i = 0; i < from->n; i++) {
		const path_sum *s = &from->rows[i];
		const named *f = &m->of[i ? s->name : 0];
		uint32_t path = i ? path_of[s->parent] : 0;

		for (uint32_t k = 0; i && k < f->n; k++)
			path = call_paths_child(m->to, path, m->numbers[f->first + k]);
		path_of[i] = path;
		if (s->calls || s->total_ns) {
			call_paths_add(m->to, path, 0, (double)s->calls);
			call_paths_add(m->to, path, 1, (double)s->total_ns);
		}
		if (i && f->unknown)
			*ret_unknown += s->calls;
	}
	mem_free(path_of);
	return true;
}

dck_status raw_paths_name(const raw_paths *p, call_paths *to, uint64_t *ret_unknown,
			  const char **ret_lacking, dck_err *err)
{
	naming m = {.p = p,
		    .to = to,
		    .symbols = symbols_new(NULL),
		    .of = mem_zalloc((size_t)p->nframes + 1, sizeof *m.of)};
	const bool ok = m.symbols && m.of && !p->failed && !p->sums.failed && frames_name(&m) &&
			paths_add(&m, ret_unknown);

	*ret_lacking = m.symbols ? symbols_lacking(m.symbols) : NULL;
	symbols_free(m.symbols);
	class_names_free(m.classes);
	mem_free(m.of);
	mem_free(m.numbers);
	DCK_NEED(ok, err, "for the call paths of a profile");
	return DCK_OK;
}
