/* raw_names.c - symbolizes a profile: names each raw frame once, then rebuilds the paths with these
 * names.
 *
 * 1. frames_name(): frames are sorted by file and address, the order in which debug information is
 * decoded fastest. Each becomes a list of functions, the outermost first: the function and the
 * functions inlined into it. Code without a symbol is named by its C++ class if it is virtual
 * (vtable_symbols.h), else as FILE+0xOFFSET of its function's start.
 *
 * 2. paths_add(): in path_trie parents precede their children, so one pass maps each raw path to
 * the named path of its parent, extended by its functions, and adds its weights. Where the
 * innermost code busy-waits (spin_waits.h), a frame for that gets the weights.
 *
 * 3. user_find(): the user's Python function with the most time below it, without another user
 * function in between.
 *
 * It runs once, at the end, in one thread. Cost: O(n log n) for n frames and O(paths), but
 * user_find() compares each Python frame with time to all frames before it. Failure is sticky
 * (`failed`) and is reported once, as lack of memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/raw_stacks.h"

#include "base/err.h"
#include "base/utf8.h"
#include "os/file/text.h"
#include "os/os.h"
#include "profiler/sample/spin_waits.h"
#include "profiler/python/python_library.h"
#include "profiler/symbols/vtable_symbols.h"
#include "profiler/symbols/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* The functions of a raw frame: `n` numbers of cct from `first` on, the outermost first. */
typedef struct frame_names {
	uint32_t first, n;
	bool unknown;
	bool generated; /* unknown, and of no file: a program's JIT compiler wrote it */
	bool user;	/* a Python function that is not of a library */
} frame_names;

/* Data that the children of a path need. */
typedef struct named_path {
	uint32_t path; /* in cct */
	uint32_t user; /* raw frame: the innermost function of the user's Python; 0: none */
} named_path;

enum { SPIN_LIBRARIES = 8 };
typedef struct spin_sum {
	const char *library;
	double ns;
} spin_sum;

typedef struct naming {
	const raw_stacks *p;
	cct *to;
	symbols *symbols;
	const elf_file *classes_of; /* the last file without names, */
	class_names *classes;	    /* and its class names */
	frame_names *of;	    /* [nframes + 1] */
	uint32_t *numbers;	    /* all of them */
	python_library *library;
	double *user_ns; /* [nframes + 1]; of functions of the user's Python */
	spin_sum spins[SPIN_LIBRARIES];
	size_t n, cap;
	bool failed;
} naming;

static const char *base_name(const char *path)
{
	return path && *path ? os_path_base(path) : NULL;
}

static void number_add(naming *m, const dck_frame *f)
{
	const uint32_t number = cct_frame(m->to, f);

	if (!mem_reserve(&m->numbers, &m->cap, m->n + 1, sizeof *m->numbers)) {
		m->failed = true;
		return;
	}
	m->numbers[m->n++] = number;
}

/* Returns the class names of a file. The last file's are cached, since frames come file by file. */
static const class_names *classes_of(naming *m, const elf_file *f)
{
	if (m->classes_of != f) {
		class_names_free(m->classes);
		m->classes = class_names_new(f);
		m->classes_of = f;
	}
	return m->classes;
}

/* Names code without a symbol: a virtual function by its class, any other by its start address.
 * true: it has a class. */
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

static void code_name(naming *m, const raw_frame *f, frame_names *ret)
{
	symbols_frame found[SYMBOLS_FRAMES_MAX];
	const char *module = base_name(f->path);
	const size_t n =
	    f->file
		? symbolizer_lookup(m->symbols, f->file, f->address, found, SYMBOLS_FRAMES_MAX)
		: symbols_find_generated(m->symbols, f->pid, f->address, found, SYMBOLS_FRAMES_MAX);

	ret->unknown = n == 0 || !found[0].function;
	if (n == 0)
		ret->unknown = !nameless(m, f, module);
	ret->generated = ret->unknown && !f->file && !f->path[0];
	for (size_t i = n; i-- > 0;)
		number_add(m,
			   &(dck_frame){.name = found[i].function ? found[i].function : "[unknown]",
					.file = found[i].file,
					.line = found[i].line,
					.start_line = found[i].start_line,
					.module = module});
}

static void frame_name(naming *m, uint32_t number)
{
	static const char *const known[] = {[RAW_KERNEL] = "[kernel]",
					    [RAW_BLOCKED] = "[blocked]",
					    [RAW_PREEMPTED] = "[waits for a CPU]"};
	const raw_frame *f = id_table_find(&m->p->frames, number);
	frame_names *ret = &m->of[number];

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
		ret->user = f->path && *f->path && !python_library_has(m->library, f->path);
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

static int raw_by_address(const void *a, const void *b)
{
	const sorted *x = a, *y = b;

	if (x->file != y->file)
		return (uintptr_t)x->file < (uintptr_t)y->file ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Names all frames in the order in which debug information is read fastest. */
static bool frames_name(naming *m)
{
	sorted *order = mem_zalloc((size_t)m->p->nframes + 1, sizeof *order);

	if (!order)
		return false;
	for (uint32_t i = 0; i < m->p->nframes; i++) {
		const raw_frame *f = id_table_find(&m->p->frames, i + 1);

		order[i] = (sorted){f->file, f->address, i + 1};
	}
	qsort(order, m->p->nframes, sizeof *order, raw_by_address);
	for (uint32_t i = 0; i < m->p->nframes; i++)
		frame_name(m, order[i].number);
	mem_free(order);
	return !m->failed;
}

/* --- busy-waiting */

static dck_frame raw_frame_get(const naming *m, uint32_t raw, uint32_t from_inner)
{
	const frame_names *f = &m->of[raw];

	return from_inner < f->n
		   ? cct_frame_get(m->to, m->numbers[f->first + f->n - 1 - from_inner])
		   : (dck_frame){.name = ""};
}

/* Returns the library whose threads busy-wait in the innermost code of a path; NULL: none. */
static const char *spin_of(const naming *m, uint32_t path)
{
	const path_trie *from = &m->p->sums;
	const raw_frame *raw = id_table_find(&m->p->frames, from->rows[path].name);

	if (raw->kind == RAW_KERNEL && from->rows[path].parent) {
		path = from->rows[path].parent;
		raw = id_table_find(&m->p->frames, from->rows[path].name);
	}
	if (raw->kind != RAW_CODE)
		return NULL;
	const uint32_t parent = from->rows[path].parent;
	const dck_frame around =
	    parent ? raw_frame_get(m, from->rows[parent].name, 0) : (dck_frame){.name = ""};
	for (uint32_t k = 0; k < m->of[from->rows[path].name].n; k++) {
		const dck_frame f = raw_frame_get(m, from->rows[path].name, k);
		const char *library = spin_waits_library(&f, parent ? &around : NULL);

		if (library)
			return library;
	}
	return NULL;
}

/* Adds the frame that represents the busy-waiting. */
static uint32_t spin_add(naming *m, const char *library, uint32_t path, double ns)
{
	char name[80];
	size_t i = 0;

	while (i + 1 < SPIN_LIBRARIES && m->spins[i].library &&
	       strcmp(m->spins[i].library, library) != 0)
		i++;
	m->spins[i].library = library;
	m->spins[i].ns += ns;
	snprintf(name, sizeof name, "[busy-waiting of %s]", library);
	return cct_child(m->to, path, cct_frame(m->to, &(dck_frame){.name = name}));
}

/* --- the paths */

/* Adds the weights of a raw path. Returns the named path that has them. */
static uint32_t raw_weight_add(naming *m, uint32_t at, const named_path *of)
{
	const path_node *s = &m->p->sums.rows[at];
	const char *library = at ? spin_of(m, at) : NULL;
	uint32_t path = of->path;

	if (library)
		path = spin_add(m, library, path, (double)s->total_ns);
	cct_add(m->to, path, 0, (double)s->calls);
	cct_add(m->to, path, 1, (double)s->total_ns);
	if (!library)
		m->user_ns[of->user] += (double)s->total_ns;
	return path;
}

/* Counts samples whose function is not known. *most: of those in one path of a file that could not
 * be read. */
static void unknown_count(const raw_frame *raw, const frame_names *f, uint64_t samples,
			  uint64_t *most, raw_named *ret)
{
	*(f->generated ? &ret->generated : &ret->unknown) += samples;
	if (f->generated || !raw->missing_reason)
		return;
	ret->unread += samples;
	if (samples > *most) {
		*most = samples;
		text_copy(ret->unread_reason, sizeof ret->unread_reason, raw->missing_reason);
	}
}

/* Parents precede their children. */
static bool paths_add(naming *m, uint32_t *of, raw_named *ret)
{
	const path_trie *from = &m->p->sums;
	named_path *paths = mem_zalloc((size_t)from->n + 1, sizeof *paths);
	uint64_t most_unread = 0;

	if (!paths)
		return false;
	for (uint32_t i = 0; i < from->n; i++) {
		const path_node *s = &from->rows[i];
		const frame_names *f = &m->of[i ? s->name : 0];

		if (i)
			paths[i] = paths[s->parent];
		for (uint32_t k = 0; i && k < f->n; k++)
			paths[i].path = cct_child(m->to, paths[i].path, m->numbers[f->first + k]);
		if (i && f->user)
			paths[i].user = s->name;
		const uint32_t weighed =
		    s->calls || s->total_ns ? raw_weight_add(m, i, &paths[i]) : paths[i].path;
		if (of)
			of[i] = weighed;
		if (i && f->unknown)
			unknown_count(id_table_find(&m->p->frames, s->name), f, s->calls,
				      &most_unread, ret);
	}
	mem_free(paths);
	return true;
}

/* A function's frames differ in their lines. */
static bool same_function(const raw_frame *a, const raw_frame *b)
{
	return a->name == b->name && a->path == b->path && a->start_line == b->start_line;
}

static void user_find(naming *m, raw_named *ret)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i <= m->p->nframes; i++) {
		const raw_frame *f = id_table_find(&m->p->frames, i);

		for (uint32_t k = 1; m->user_ns[i] > 0 && k < i; k++)
			if (m->of[k].user && m->user_ns[k] > 0 &&
			    same_function(f, id_table_find(&m->p->frames, k))) {
				m->user_ns[k] += m->user_ns[i];
				m->user_ns[i] = 0;
			}
	}
	for (uint32_t i = 1; i <= m->p->nframes; i++)
		if (m->user_ns[i] > m->user_ns[most] || !most)
			most = m->user_ns[i] > 0 ? i : most;
	if (!most)
		return;
	const raw_frame *f = id_table_find(&m->p->frames, most);
	const uint32_t line = f->start_line ? f->start_line : f->line;
	ret->user_ns = m->user_ns[most];
	const char *file = base_name(f->path);
	snprintf(ret->user, sizeof ret->user, line ? "%.*s (%.*s:%u)" : "%.*s (%.*s)",
		 utf8_shown(f->name, 90), f->name, utf8_shown(file, 40), file, line);
}

static void spins_report(const naming *m, raw_named *ret)
{
	const spin_sum *most = &m->spins[0];

	for (size_t i = 0; i < SPIN_LIBRARIES; i++) {
		ret->spin_ns += m->spins[i].ns;
		if (m->spins[i].ns > most->ns)
			most = &m->spins[i];
	}
	if (most->library)
		snprintf(ret->spin_of, sizeof ret->spin_of, "%s", most->library);
}

dck_status raw_stacks_name(const raw_stacks *p, cct *to, uint32_t *of, raw_named *ret, dck_err *err)
{
	naming m = {.p = p,
		    .to = to,
		    .symbols = symbols_new(NULL),
		    .library = python_library_new(),
		    .user_ns = mem_zalloc((size_t)p->nframes + 1, sizeof *m.user_ns),
		    .of = mem_zalloc((size_t)p->nframes + 1, sizeof *m.of)};

	*ret = (raw_named){0};
	const bool ok = m.symbols && m.library && m.user_ns && m.of && !p->failed &&
			!p->sums.failed && frames_name(&m) && paths_add(&m, of, ret);

	if (ok) {
		user_find(&m, ret);
		spins_report(&m, ret);
	}
	const char *missing = m.symbols ? symbolizer_missing_reason(m.symbols) : NULL;
	if (missing)
		text_copy(ret->missing_reason, sizeof ret->missing_reason, missing);
	symbols_free(m.symbols);
	class_names_free(m.classes);
	python_library_free(m.library);
	mem_free(m.user_ns);
	mem_free(m.of);
	mem_free(m.numbers);
	DCK_NEED(ok, err, "for the call paths of a profile");
	return DCK_OK;
}
