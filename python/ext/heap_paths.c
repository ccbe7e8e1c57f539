/* heap_paths.c - see heap_paths.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "heap_paths.h"
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
enum { FIRST_ROOM = 256 };

struct heap_step {
	uint32_t parent, code;
	int at;
	uint32_t path; /* NONE: the slot is free */
};

struct heap_code {
	const void *code; /* NULL: the slot is free */
	uint32_t number, function;
};

static size_t mixed(uint64_t a, uint64_t b)
{
	a = (a ^ b * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
	return (size_t)(a ^ a >> 32);
}

/* Reserves capacity for one more item, doubling it if full. NULL: no memory. */
static void *grown(void *items, size_t n, size_t *cap, size_t size)
{
	const size_t more = *cap ? 2 * *cap : FIRST_ROOM;
	void *made;

	if (n < *cap)
		return items;
	made = realloc(items, more * size);
	if (made)
		*cap = more;
	return made;
}

/* --- stacks */

bool heap_stack_read(heap_stack *s, const PyThreadState *t, size_t *ret_n)
{
	size_t n = 0;

	for (const frame_now *f = t ? frame_first(t) : NULL; f; f = frame_caller(f)) {
		if (s->n + n >= s->cap) {
			heap_frame *made = grown(s->frames, s->n + n, &s->cap, sizeof *made);

			if (!made)
				return false;
			s->frames = made;
		}
		s->frames[s->n + n++] = (heap_frame){.code = frame_code(f), .at = frame_at(f)};
	}
	*ret_n = n;
	return true;
}

void heap_stack_done(heap_stack *s)
{
	free(s->frames);
	*s = (heap_stack){0};
}

/* --- names */

/* Copies the text as UTF-8 without allocating from Python. */
static char *text_copied(PyObject *o)
{
	if (!o || !PyUnicode_Check(o))
		return strdup("?");
	if (PyUnicode_IS_COMPACT_ASCII(o))
		return strdup((const char *)PyUnicode_1BYTE_DATA(o));

	const Py_ssize_t n = PyUnicode_GET_LENGTH(o);
	const int kind = (int)PyUnicode_KIND(o);
	const void *data = PyUnicode_DATA(o);
	unsigned char *text = malloc((size_t)n * 4 + 1), *to = text;

	for (Py_ssize_t i = 0; text && i < n; i++) {
		Py_UCS4 c = PyUnicode_READ(kind, data, i);

		if (c >= 0xD800 && c < 0xE000)
			c = 0xFFFD; /* lone surrogate */
		if (c < 0x80) {
			*to++ = (unsigned char)c;
			continue;
		}
		static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
		const int rest = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

		*to++ = (unsigned char)(first[rest] | c >> 6 * rest);
		for (int k = rest - 1; k >= 0; k--)
			*to++ = (unsigned char)(0x80 | (c >> 6 * k & 0x3F));
	}
	if (text)
		*to = '\0';
	return (char *)text;
}

static size_t text_hash(const char *text, size_t h)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001B3u;
	return h;
}

static uint32_t *heads_new(size_t n)
{
	uint32_t *heads = malloc(n * sizeof *heads);

	if (heads)
		memset(heads, 0xFF, n * sizeof *heads);
	return heads;
}

static size_t function_hash(const heap_function *f)
{
	return mixed(text_hash(f->name, text_hash(f->file, 1)), f->line);
}

static void function_link(heap_paths *p, uint32_t i)
{
	uint32_t *head = &p->function_heads[function_hash(&p->functions[i]) & p->function_mask];

	p->functions[i].next = *head;
	*head = i;
}

static uint32_t function_added(heap_paths *p, const heap_function *f)
{
	heap_function *made = grown(p->functions, p->nfunctions, &p->functions_cap, sizeof *made);

	if (!made)
		return NONE;
	p->functions = made;
	if (p->nfunctions > p->function_mask) {
		const size_t mask = 2 * p->function_mask + 1;
		uint32_t *heads = heads_new(mask + 1);

		if (!heads)
			return NONE;
		free(p->function_heads);
		p->function_heads = heads;
		p->function_mask = mask;
		for (uint32_t i = 0; i < p->nfunctions; i++)
			function_link(p, i);
	}
	made[p->nfunctions] = *f;
	function_link(p, (uint32_t)p->nfunctions);
	return (uint32_t)p->nfunctions++;
}

/* Returns the function of the code: name, file and line identify it, so a redefinition is the same
 * function. */
static uint32_t function_of(heap_paths *p, PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	PyObject *name = code->co_qualname;
#else
	PyObject *name = code->co_name;
#endif
	heap_function f = {.name = text_copied(name),
			   .file = text_copied(code->co_filename),
			   .line = (uint32_t)code->co_firstlineno};
	uint32_t i = NONE;

	if (!f.name || !f.file)
		goto done;
	for (i = p->function_heads[function_hash(&f) & p->function_mask]; i != NONE;
	     i = p->functions[i].next)
		if (p->functions[i].line == f.line && strcmp(p->functions[i].name, f.name) == 0 &&
		    strcmp(p->functions[i].file, f.file) == 0)
			goto done;
	i = function_added(p, &f);
	if (i != NONE)
		return i;
done:
	free(f.name);
	free(f.file);
	return i;
}

/* --- live code objects */

static heap_code *code_slot(const heap_paths *p, const void *code)
{
	size_t i = mixed((uintptr_t)code >> 4, 1) & p->codes_mask;

	while (p->codes[i].code && p->codes[i].code != code)
		i = (i + 1) & p->codes_mask;
	return &p->codes[i];
}

static bool codes_grow(heap_paths *p)
{
	heap_code *old = p->codes;
	const size_t n = old ? p->codes_mask + 1 : 0, more = n ? 2 * n : FIRST_ROOM;
	heap_code *made = calloc(more, sizeof *made);

	if (!made)
		return false;
	p->codes = made;
	p->codes_mask = more - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i].code)
			*code_slot(p, old[i].code) = old[i];
	free(old);
	return true;
}

static const heap_code *code_get(heap_paths *p, PyCodeObject *code)
{
	heap_code *c = code_slot(p, code);

	if (c->code)
		return c;
	const uint32_t function = function_of(p, code);
	if (function == NONE)
		return NULL;
	if (p->ncodes + 1 > p->codes_mask / 2) {
		if (!codes_grow(p))
			return NULL;
		c = code_slot(p, code);
	}
	*c = (heap_code){.code = code, .number = p->next_code++, .function = function};
	p->ncodes++;
	p->seen(code);
	return c;
}

static void steps_forget(heap_paths *p)
{
	memset(p->steps, 0xFF, (p->steps_mask + 1) * sizeof *p->steps);
	p->nsteps = 0;
	p->freed_codes = 0;
}

void heap_paths_code_freed(heap_paths *p, const void *code)
{
	heap_code *c = code_slot(p, code);

	if (!c->code)
		return;
	p->changes++;
	p->ncodes--;
	for (size_t hole = (size_t)(c - p->codes), i = (hole + 1) & p->codes_mask;;
	     i = (i + 1) & p->codes_mask) {
		if (!p->codes[i].code) {
			p->codes[hole].code = NULL;
			break;
		}
		const size_t wanted = mixed((uintptr_t)p->codes[i].code >> 4, 1) & p->codes_mask;
		if (((i - wanted) & p->codes_mask) >= ((i - hole) & p->codes_mask)) {
			p->codes[hole] = p->codes[i];
			hole = i;
		}
	}
	/* Steps of freed codes are never looked up again. */
	if (++p->freed_codes > 1000 && p->freed_codes > p->ncodes)
		steps_forget(p);
}

/* --- paths */

static size_t path_hash(uint32_t parent, uint32_t function, uint32_t line)
{
	return mixed((uint64_t)parent << 32 | function, line);
}

static void path_link(heap_paths *p, uint32_t i)
{
	heap_path *n = &p->all[i];
	uint32_t *head = &p->path_heads[path_hash(n->parent, n->function, n->line) & p->path_mask];

	n->next = *head;
	*head = i;
}

static uint32_t path_get(heap_paths *p, uint32_t parent, uint32_t function, uint32_t line)
{
	heap_path *made;

	for (uint32_t i = p->path_heads[path_hash(parent, function, line) & p->path_mask];
	     i != NONE; i = p->all[i].next)
		if (p->all[i].parent == parent && p->all[i].function == function &&
		    p->all[i].line == line)
			return i;
	made = grown(p->all, p->n, &p->cap, sizeof *made);
	if (!made)
		return NONE;
	p->all = made;
	if (p->n > p->path_mask) {
		const size_t mask = 2 * p->path_mask + 1;
		uint32_t *heads = heads_new(mask + 1);

		if (!heads)
			return NONE;
		free(p->path_heads);
		p->path_heads = heads;
		p->path_mask = mask;
		for (uint32_t i = 0; i < p->n; i++)
			path_link(p, i);
	}
	made[p->n] = (heap_path){.parent = parent, .function = function, .line = line};
	path_link(p, (uint32_t)p->n);
	return (uint32_t)p->n++;
}

static heap_step *step_slot(const heap_paths *p, uint32_t parent, uint32_t code, int at)
{
	size_t i = mixed((uint64_t)parent << 32 | code, (uint64_t)(unsigned)at) & p->steps_mask;

	for (;; i = (i + 1) & p->steps_mask) {
		heap_step *s = &p->steps[i];

		if (s->path == NONE || (s->parent == parent && s->code == code && s->at == at))
			return s;
	}
}

static bool steps_grow(heap_paths *p)
{
	heap_step *old = p->steps;
	const size_t n = old ? p->steps_mask + 1 : 0, more = n ? 2 * n : FIRST_ROOM;
	heap_step *made = malloc(more * sizeof *made);

	if (!made)
		return false;
	memset(made, 0xFF, more * sizeof *made);
	p->steps = made;
	p->steps_mask = more - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i].path != NONE)
			*step_slot(p, old[i].parent, old[i].code, old[i].at) = old[i];
	free(old);
	return true;
}

/* Returns the path of a frame that was called from path `parent`. */
static uint32_t step(heap_paths *p, uint32_t parent, const heap_frame *f)
{
	PyCodeObject *code = (PyCodeObject *)f->code;
	const heap_code *c = code_get(p, code);
	heap_step *s;

	if (!c)
		return NONE;
	s = step_slot(p, parent, c->number, f->at);
	if (s->path != NONE)
		return s->path;

	const int line = frame_line(code, f->at);
	const uint32_t number = c->number;
	const uint32_t path = path_get(p, parent, c->function, line > 0 ? (uint32_t)line : 0);
	if (path == NONE)
		return NONE;
	if (p->nsteps + 1 > p->steps_mask / 2) {
		if (!steps_grow(p))
			return path;
		s = step_slot(p, parent, number, f->at);
	}
	*s = (heap_step){.parent = parent, .code = number, .at = f->at, .path = path};
	p->nsteps++;
	return path;
}

uint32_t heap_paths_get(heap_paths *p, heap_stack *s, size_t n)
{
	heap_frame *kept = s->frames;
	const heap_frame *seen = kept + s->n; /* the innermost first */
	size_t same = 0;
	uint32_t path;

	if (n == 0)
		return 0;
	if (s->changes == p->changes)
		while (same < s->n && same < n && kept[same].code == seen[n - 1 - same].code &&
		       kept[same].at == seen[n - 1 - same].at)
			same++;
	path = same ? kept[same - 1].path : NONE;
	if (same == n && same == s->n)
		return path;
	/* Stores the new frames: reverses them and moves them after the common prefix. */
	heap_frame *from = kept + s->n;
	for (size_t i = 0, j = n - 1; same < n && i < j; i++, j--) {
		const heap_frame f = from[i];
		from[i] = from[j];
		from[j] = f;
	}
	for (size_t i = same; i < n; i++) {
		path = step(p, path, &from[i]);
		if (path == NONE) {
			s->n = 0;
			return 0;
		}
		kept[i] = from[i];
		kept[i].path = path;
	}
	s->n = n;
	s->changes = p->changes;
	return path;
}

bool heap_paths_init(heap_paths *p, void (*seen)(const void *code))
{
	*p = (heap_paths){.seen = seen,
			  .changes = p->changes + 1,
			  .path_mask = FIRST_ROOM - 1,
			  .function_mask = FIRST_ROOM - 1};
	p->path_heads = heads_new(FIRST_ROOM);
	p->function_heads = heads_new(FIRST_ROOM);
	/* Path 0, with a placeholder for no function. */
	const heap_function none = {.name = strdup("(no Python frame)"), .file = strdup("")};
	if (p->path_heads && p->function_heads && none.name && none.file && steps_grow(p) &&
	    codes_grow(p) && function_added(p, &none) == 0 && path_get(p, NONE, 0, 0) == 0)
		return true;
	if (!p->nfunctions) {
		free(none.name);
		free(none.file);
	}
	heap_paths_done(p);
	return false;
}

void heap_paths_done(heap_paths *p)
{
	for (size_t i = 0; i < p->nfunctions; i++) {
		free(p->functions[i].name);
		free(p->functions[i].file);
	}
	free(p->functions);
	free(p->all);
	free(p->steps);
	free(p->codes);
	free(p->path_heads);
	free(p->function_heads);
	/* Invalidates the stacks that threads have cached. */
	*p = (heap_paths){.changes = p->changes + 1};
}

size_t heap_paths_bytes(const heap_paths *p)
{
	return p->cap * sizeof *p->all +
	       (p->path_mask + 1 + p->function_mask + 1) * sizeof(uint32_t) +
	       p->functions_cap * sizeof *p->functions + (p->steps_mask + 1) * sizeof *p->steps +
	       (p->codes_mask + 1) * sizeof *p->codes;
}
