/* heap_frames.c - symbolizes the frames of a process's heap file (heap_file.h): each code address
 * becomes a list of functions, inlined ones included, the outermost first.
 *
 * Addresses are sorted by module and address before they are looked up, because symbolizer_lookup()
 * is fastest in that order. The results are two arrays: `places` has a range of `pieces` for each
 * frame number. Python frames have their names in the file, and need no lookup.
 *
 * heap_names owns what all processes share: symbols, open ELF files (a list, searched by path),
 * python_library.h, and an arena of texts. Frames borrow these texts, so a heap_names outlives all
 * its heap_frames.
 *
 * The program wrote the file, so it is not trusted: heap_file.c bounds frames, modules and texts,
 * and an address without a module or a symbol gets a name of module and offset.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/heap_frames.h"

#include "base/err.h"
#include "os/os.h"
#include "profiler/memory/runtime_frames.h"
#include "profiler/python/python_elf.h"
#include "profiler/python/python_library.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct named_file {
	struct named_file *next;
	const char *path, *name;
	elf_file *elf;		      /* NULL: it cannot be opened */
	bool c, python, holds_python; /* python: the interpreter alone */
} named_file;

struct heap_names {
	mem_arena *arena;
	symbols *symbols;
	named_file *files;
	python_library *library;
};

heap_names *heap_names_new(void)
{
	heap_names *n = mem_zalloc(1, sizeof *n);

	if (!n)
		return NULL;
	os_descriptors_raise(); /* files stay open, and a program may have thousands */
	n->arena = mem_arena_new(0);
	n->symbols = symbols_new(NULL);
	n->library = python_library_new();
	if (n->arena && n->symbols && n->library)
		return n;
	heap_names_free(n);
	return NULL;
}

void heap_names_free(heap_names *n)
{
	if (!n)
		return;
	symbols_free(n->symbols);
	python_library_free(n->library);
	for (named_file *f = n->files; f; f = f->next)
		elf_file_close(f->elf);
	mem_arena_free(n->arena);
	mem_free(n);
}

const char *heap_names_lacking(heap_names *n)
{
	return symbolizer_missing_reason(n->symbols);
}

/* Returns NULL without memory. */
static const named_file *file_get(heap_names *n, const heap_file *f, const heap_module *m)
{
	char path[PATH_MAX];
	named_file *found;

	heap_file_name(f, m, path, sizeof path);
	for (found = n->files; found; found = found->next)
		if (!strcmp(found->path, path))
			return found;
	found = mem_arena_alloc(n->arena, sizeof *found);
	const char *own = mem_arena_dup(n->arena, path);
	if (!found || !own)
		return NULL;
	*found = (named_file){
	    .next = n->files, .path = own, .name = os_path_base(own), .c = runtime_is_c(own)};
	if (elf_file_open(path, &found->elf, NULL) != DCK_OK)
		found->elf = NULL;
	found->python = runtime_is_python(own);
	found->holds_python = found->python || (found->elf && python_is_interpreter(found->elf));
	return n->files = found;
}

static bool piece_add(heap_frames *r, cct *paths, const dck_frame *f, bool c, bool named)
{
	if (!mem_reserve(&r->pieces, &r->cap, r->npieces + 1, sizeof *r->pieces))
		return false;
	r->pieces[r->npieces++] = (heap_piece){.frame = *f,
					       .number = cct_frame(paths, f),
					       .runtime = runtime_is(f),
					       .c = c,
					       .named = named};
	return true;
}

/* A file without an interpreter may still have the functions where programs and threads start. */
static merge_native frames_native_of(const named_file *file, const char *function)
{
	const merge_kind kind = python_merge_kind(function);

	return (merge_native){
	    .kind = file->holds_python || (file->c && kind == MERGE_BEGINNING) ? kind : MERGE_OTHER,
	    .interpreter = file->python};
}

/* The text after the function's is the file. */
static bool python_name_add(heap_names *n, const heap_file *f, const heap_frame *at, cct *paths,
			    heap_frames *r, heap_place *ret)
{
	const char *function = at->text ? heap_file_text(f, at->text) : NULL;
	const char *file =
	    function ? heap_file_text(f, at->text + (uint32_t)strlen(function) + 1) : NULL;
	const dck_frame frame = {.name =
				     function ? mem_arena_dup(n->arena, function) : "(not known)",
				 .file = file && *file ? mem_arena_dup(n->arena, file) : NULL,
				 .line = (uint32_t)at->place,
				 .start_line = at->first_line};

	*ret = (heap_place){.first = (uint32_t)r->npieces, .n = 1};
	if (!frame.name || !piece_add(r, paths, &frame, false, true))
		return false;
	r->pieces[ret->first].python = true;
	r->pieces[ret->first].user = frame.file && !python_library_has(n->library, frame.file);
	return true;
}

static bool place_name(heap_names *n, const heap_file *f, const heap_frame *at, cct *paths,
		       heap_frames *r, heap_place *ret)
{
	const heap_module *m = heap_file_module(f, at);
	const named_file *file = m ? file_get(n, f, m) : NULL;
	symbols_frame found[SYMBOLS_FRAMES_MAX];
	size_t nfound = 0;

	if (m && !file)
		return false;
	if (at->module == HEAP_PYTHON)
		return python_name_add(n, f, at, paths, r, ret);
	if (at->module == HEAP_PYTHON_STACK || at->module == HEAP_SIZE)
		return true;
	ret->first = (uint32_t)r->npieces;
	if (file && file->elf)
		nfound = symbolizer_lookup(n->symbols, file->elf, at->place - m->bias, found,
					   SYMBOLS_FRAMES_MAX);
	else if (!file)
		nfound = symbols_find_generated(n->symbols, (pid_t)f->header->pid, at->place, found,
						SYMBOLS_FRAMES_MAX);
	if (file)
		ret->native = frames_native_of(file, nfound ? found[nfound - 1].function : NULL);
	for (size_t i = nfound; i-- > 0;) {
		const dck_frame frame = {.name = found[i].function ? found[i].function
						 : file		   ? file->name
								   : "(not known)",
					 .file = found[i].file,
					 .line = found[i].line,
					 .start_line = found[i].start_line,
					 .module = file ? file->name : NULL};

		if (!piece_add(r, paths, &frame, file && file->c, found[i].function))
			return false;
	}
	if (!nfound) {
		const char *name = file ? mem_arena_fmt(n->arena, "%s+0x%llx", file->name,
							(unsigned long long)(at->place - m->bias))
					: "(code made at run time)";
		const dck_frame frame = {.name = name, .module = file ? file->name : NULL};

		if (!name || !piece_add(r, paths, &frame, file && file->c, false))
			return false;
	}
	ret->n = (uint32_t)(r->npieces - ret->first);
	return true;
}

/* The sort key: lookups in the order of addresses are faster. */
typedef struct ordered {
	uint32_t module, frame;
	uint64_t place;
} ordered;

static int frames_by_address(const void *a, const void *b)
{
	const ordered *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static bool frames_read_all(heap_names *n, const heap_file *f, cct *paths, ordered *order,
			    heap_frames *r)
{
	static const char *const special[HEAP_FRAMES_FIRST] = {
	    [HEAP_FRAME_CUT] = "(stack cut)", [HEAP_FRAME_MAPPING] = "(mapping)"};

	for (uint32_t i = 0; i < f->nframes; i++)
		order[i] = (ordered){f->frames[i].module, i, f->frames[i].place};
	qsort(order, f->nframes, sizeof *order, frames_by_address);
	for (uint32_t i = 0; i < f->nframes; i++) {
		const uint32_t frame = order[i].frame;
		heap_place *to = &r->places[frame];

		if (frame >= HEAP_FRAMES_FIRST) {
			if (!place_name(n, f, &f->frames[frame], paths, r, to))
				return false;
			continue;
		}
		*to = (heap_place){.first = (uint32_t)r->npieces, .n = 1};
		if (!piece_add(r, paths, &(dck_frame){.name = special[frame]}, false, false))
			return false;
	}
	return true;
}

dck_status heap_frames_read(heap_names *n, const heap_file *f, cct *paths, heap_frames *ret,
			    dck_err *err)
{
	heap_frames r = {.places = mem_zalloc(f->nframes + (size_t)1, sizeof *r.places)};
	ordered *order = mem_zalloc(f->nframes + (size_t)1, sizeof *order);
	const bool ok = r.places && order && frames_read_all(n, f, paths, order, &r) &&
			!mem_arena_failed(n->arena);

	mem_free(order);
	if (!ok) {
		heap_frames_done(&r);
		return ERR_NO_MEMORY(err, "for the names of %u places in code", f->nframes);
	}
	*ret = r;
	return DCK_OK;
}

void heap_frames_done(heap_frames *f)
{
	mem_free(f->places);
	mem_free(f->pieces);
	*f = (heap_frames){0};
}
