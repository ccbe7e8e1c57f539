/* heap_python.c - incremental walk of the allocating thread's Python stack.
 *
 * The walk starts at the innermost frame of the thread's PyThreadState and follows `previous`
 * outwards (offsets: python_layout.h). A row of the last stack stores the identity of its frame:
 * address, code object, instruction, previous frame, and the first words of the code's line table.
 * The walk stops at the first frame that is a row whose words, and those of all rows outside it,
 * are unchanged; that row's path is reused and only the frames inside it are looked up. The Python
 * path joins the native one as one frame, HEAP_PYTHON_STACK.
 *
 * Invariants: only frames of the calling thread are followed, which nothing changes or frees during
 * the call. A page is checked once by the kernel (readable.h) and remembered in a two-way set
 * associative cache. `names` and names_pages are used inside the lock of heap_paths.c alone, since
 * frame_describe() runs there; `finding` guards the interpreter until it is found, and nothing
 * waits for it, since dlsym() waits for the loader's lock inside it, whose holder may be in a hook.
 * Names are in pages from mmap(), never in malloc's memory, and are made again in each generation
 * (after fork()). Frames are keyed by 64-bit hashes without a further comparison. PYTHON_DEPTH_MAX
 * bounds a stack; of a deeper one the innermost frames are recorded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_python.h"

#include "profiler/python/python_self.h"
#include "profiler/unwind/readable.h"

#include <string.h>

enum { PAGE = 4096 };
#define CODE_ADDRESS (~(uint64_t)7) /* 3.14 has tag bits beside it */

/* They hold addresses alone, which stay valid in a child of fork(). */
static python_process process;
static python_self interpreter;
static heap_lock finding;

/* Bytes of an object that words_get() reads, from its address; multiples of 8. */
typedef struct read_span {
	uint32_t begin, end;
} read_span;

static struct {
	read_span frame, code, line_table;
} spans; /* of `process` */

/* They are made again in each generation: at fork() another thread may have been changing them. */
static python_names *names;
static uint32_t names_of;
static uint64_t names_pages[PAGES_KEPT];

void heap_python_forget(void)
{
	finding = 0;
}

/* --- reading */

static inline bool python_page_get(uint64_t *pages, uint64_t page)
{
	uint64_t *kept = &pages[(page / PAGE ^ page >> 22) % (PAGES_KEPT / 2) * 2];

	if (!page) /* a free slot */
		return false;
	if (kept[0] != page) {
		if (kept[1] != page && !memory_readable(page))
			return false;
		kept[1] = kept[0];
		kept[0] = page;
	}
	return true;
}

/* A thread's frames, and the objects they point to, exist while the thread executes them, so a
 * page that was readable once stays readable. */
static bool python_own_read(void *pages, uint64_t address, void *to, size_t n)
{
	const uint64_t first = address & ~(uint64_t)(PAGE - 1),
		       last = (address + n - 1) & ~(uint64_t)(PAGE - 1);

	if (last < first || last - first > PAGE || !python_page_get(pages, first) ||
	    (last != first && !python_page_get(pages, last)))
		return false;
	memcpy(to, (const void *)(uintptr_t)address, n);
	return true;
}

/* --- memory for names: pages, requested in large blocks */

enum { SIZE_ROOM = 64 }; /* bytes before each block, which hold its size */

static void *pages_alloc(void *state, size_t bytes)
{
	char *p = bytes < SIZE_MAX - SIZE_ROOM ? heap_pages(state, bytes + SIZE_ROOM) : NULL;

	if (!p)
		return NULL;
	memcpy(p, &bytes, sizeof bytes);
	return p + SIZE_ROOM;
}

static void pages_release(void *state, void *old)
{
	char *p = (char *)old - SIZE_ROOM;
	size_t bytes;

	memcpy(&bytes, p, sizeof bytes);
	heap_pages_free(state, p, bytes + SIZE_ROOM);
}

static void *pages_resize(void *state, void *old, size_t bytes)
{
	void *to = pages_alloc(state, bytes);
	size_t had;

	if (to && old) {
		memcpy(&had, (char *)old - SIZE_ROOM, sizeof had);
		memcpy(to, old, had < bytes ? had : bytes);
		pages_release(state, old);
	}
	return to;
}

/* --- frames */

static uint64_t python_mixed(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9E3779B97F4A7C15);
	return a ^ a >> 32;
}

static python_names *names_get(heap_state *s)
{
	const unwind_memory memory = {python_own_read, names_pages};

	if (names_of != s->generation) {
		dck_set_allocator(&(dck_allocator){pages_alloc, pages_resize, pages_release, s});
		memset(names_pages, 0, sizeof names_pages);
		names = python_names_new(&process, &memory);
		names_of = s->generation;
	}
	return names;
}

/* A frame, and the key of its code object. */
typedef struct frame_source {
	const python_link *link;
	uint64_t code_key;
	bool entry;
} frame_source;

static bool frame_describe(heap_state *s, void *source_at, heap_frame *ret)
{
	const frame_source *source = source_at;
	python_name name = {.function = "[unknown Python]", .file = ""};

	*ret = (heap_frame){.module = HEAP_PYTHON, .entry = source->entry};
	if (!source->link)
		return true;
	if (names_get(s))
		python_names_find(names, source->link->code, source->link->instruction, &name);
	ret->place = name.line > 0 ? (uint64_t)name.line : 0;
	ret->first_line = name.first_line > 0 ? (uint32_t)name.first_line : 0;
	ret->text = heap_texts_put(s, source->code_key, name.function, name.file);
	return true;
}

static uint32_t kept(heap_state *s, heap_thread *t, uint64_t key, heap_describe_fn *describe,
		     void *source)
{
	key |= 1; /* never 0 */
	cached_path *k = &t->pythons[key >> 33 & (PYTHONS_KEPT - 1)];

	if (k->key != key)
		*k = (cached_path){key, heap_frame_get(s, key, describe, source)};
	return k->value;
}

/* Returns the frame of a link. Code objects that follow each other at one address differ in their
 * names or their lines. */
static uint32_t python_frame_of(heap_state *s, heap_thread *t, const python_link *link,
				const kept_python *row, bool entry)
{
	const uint64_t lines = row->line_table
				   ? python_mixed(python_mixed(row->line_table, row->first_line),
						  python_mixed(row->table_size, row->table_begin))
				   : 0;
	frame_source source = {link, python_mixed(link->code, lines), entry};
	uint64_t name = 0;

	python_own_read(t->pages, link->code + process.at.code_name, &name, sizeof name);
	source.code_key = python_mixed(source.code_key, name);
	return kept(s, t,
		    python_mixed(source.code_key,
				 (uint64_t)(uint32_t)link->instruction << 2 | (entry ? 2u : 0u)),
		    frame_describe, &source);
}

/* Returns the frame of a call of the evaluator that has no Python frame now. */
static uint32_t no_frame(heap_state *s, heap_thread *t)
{
	frame_source source = {.entry = true};

	return kept(s, t, 1, frame_describe, &source);
}

static bool stack_describe(heap_state *s, void *source, heap_frame *ret)
{
	(void)s;
	*ret = *(const heap_frame *)source;
	return true;
}

/* --- the interpreter */

static read_span span_of(uint32_t a, uint32_t b, uint32_t c)
{
	const uint32_t begin = a < b ? a : b, end = a > b ? a : b;

	return (read_span){begin < c ? begin : c, (end > c ? end : c) + 8};
}

static void spans_set(void)
{
	const python_layout *at = &process.at;
	const uint32_t instruction = at->frame_instruction & ~7u, first = at->code_first_line & ~7u;

	spans.frame = span_of(at->frame_code, at->frame_previous, instruction);
	spans.code = span_of(at->code_lines, first, first);
	spans.line_table = span_of(at->bytes_size, at->bytes_value, at->bytes_value);
}

static bool interpreter_find(heap_state *s, heap_thread *t)
{
	const unwind_memory memory = {python_own_read, t->pages};
	const int inside = heap_in_hook;

	if (atomic_exchange_explicit(&finding, 1, memory_order_acquire))
		return false; /* another thread finds it now */
	heap_in_hook = HEAP_INSIDE_OURS;
	if (atomic_load(&s->python) == HEAP_PYTHON_LOADED) {
		const python_self_found found =
		    process.runtime ? python_self_again(&process)
				    : python_self_find(&interpreter, &memory, &process);
		const bool known = found == PYTHON_SELF_FOUND;

		if (known)
			spans_set();
		if (found != PYTHON_SELF_LATER) {
			atomic_store(&s->ending, known ? interpreter.ending : NULL);
			atomic_store(&s->python, known ? HEAP_PYTHON_FOUND : HEAP_PYTHON_NONE);
		}
	}
	heap_lock_give(&finding);
	heap_in_hook = inside;
	return atomic_load(&s->python) == HEAP_PYTHON_FOUND;
}

void heap_python_unload(heap_state *s)
{
	process.runtime = 0;
	atomic_store(&s->ending, NULL);
	atomic_store(&s->python, HEAP_PYTHON_NONE);
}

/* --- the stack */

static inline bool python_object_readable(heap_thread *t, uint64_t object, const read_span *span)
{
	const uint64_t first = (object + span->begin) & ~(uint64_t)(PAGE - 1),
		       last = (object + span->end - 1) & ~(uint64_t)(PAGE - 1);

	return !(object & 7) && python_page_get(t->pages, first) &&
	       (last == first || python_page_get(t->pages, last));
}

static inline uint64_t python_word_at(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

static bool words_get(heap_thread *t, uint64_t frame, kept_python *ret)
{
	const python_layout *at = &process.at;

	if (!python_object_readable(t, frame, &spans.frame))
		return false;
	*ret = (kept_python){.frame = frame,
			     .code = python_word_at(frame + at->frame_code),
			     .previous = python_word_at(frame + at->frame_previous),
			     .instruction = python_word_at(frame + (at->frame_instruction & ~7u))};
	const uint64_t code = ret->code & CODE_ADDRESS;
	if (!code || !python_object_readable(t, code, &spans.code))
		return true;
	const uint64_t table = python_word_at(code + at->code_lines);
	if (python_object_readable(t, table, &spans.line_table)) {
		ret->line_table = table;
		ret->first_line = python_word_at(code + (at->code_first_line & ~7u));
		ret->table_size = python_word_at(table + at->bytes_size);
		ret->table_begin = python_word_at(table + at->bytes_value);
	}
	return true;
}

/* Returns whether an existing frame at the row's address has the row's words. All that is read was
 * readable when the row was made, and exists, since each object points to the next. */
static inline bool python_row_unchanged(const kept_python *row)
{
	const python_layout *at = &process.at;
	const uint64_t frame = row->frame, code = row->code & CODE_ADDRESS, table = row->line_table;

	return python_word_at(frame + at->frame_code) == row->code &&
	       python_word_at(frame + at->frame_previous) == row->previous &&
	       python_word_at(frame + (at->frame_instruction & ~7u)) == row->instruction &&
	       (!table || (python_word_at(code + at->code_lines) == table &&
			   python_word_at(code + (at->code_first_line & ~7u)) == row->first_line &&
			   python_word_at(table + at->bytes_size) == row->table_size &&
			   python_word_at(table + at->bytes_value) == row->table_begin));
}

/* Returns whether the rows up to `row`, at whose address a frame exists, are still the frames from
 * that one outwards. */
static bool python_cache_valid(const heap_thread *t, const kept_python *row)
{
	for (; python_row_unchanged(row); row--)
		if (row == t->python)
			return true;
	return false;
}

/* Finds the rows of the last stack that are still valid, *ret_known, and returns how many new rows
 * follow them. *ret_whole: the walk reached a known row or the outermost frame. */
static size_t python_follow(heap_thread *t, uint64_t frame, uint32_t *ret_known, bool *ret_whole)
{
	enum { LOOKED_AT = 4 };
	uint32_t known = t->python_depth;
	size_t n = 0;

	*ret_known = 0;
	*ret_whole = true;
	for (; frame; frame = t->python_fresh[n++].previous) {
		if (n == PYTHON_DEPTH_MAX || !words_get(t, frame, &t->python_fresh[n])) {
			*ret_whole = false;
			return n;
		}
		for (uint32_t i = known; i > 0 && i + LOOKED_AT > known; i--) {
			if (t->python[i - 1].frame != frame)
				continue;
			if (python_cache_valid(t, &t->python[i - 1])) {
				*ret_known = i;
				return n;
			}
			known = i - 1;
			break;
		}
	}
	return n;
}

static uint32_t path_of(heap_state *s, heap_thread *t, uint32_t known, size_t fresh)
{
	const unwind_memory memory = {python_own_read, t->pages};
	uint32_t path = known ? t->python[known - 1].path : t->lane;
	bool call = known && t->python[known - 1].call;

	while (fresh-- > 0) {
		kept_python *row = &t->python[known++];
		python_link link;

		*row = t->python_fresh[fresh];
		if (!python_link_read(&process, &memory, row->frame, &link))
			return 0;
		if (link.call && call)
			path = heap_node_of(s, t, path, no_frame(s, t));
		if (!link.call)
			path = heap_node_of(s, t, path,
					    python_frame_of(s, t, &link, row, link.entry || call));
		row->call = call = link.call;
		row->path = path;
	}
	return call ? heap_node_of(s, t, path, no_frame(s, t)) : path;
}

/* Returns the innermost frame of a thread's state; 0: none. */
static uint64_t python_innermost_of(heap_thread *t, uint64_t state)
{
	uint64_t frame;

	if (!python_own_read(t->pages, state + process.at.thread_frame, &frame, sizeof frame))
		return 0;
	if (frame && process.at.cframe_frame != PYTHON_NONE &&
	    !python_own_read(t->pages, frame + process.at.cframe_frame, &frame, sizeof frame))
		return 0;
	return frame;
}

uint32_t heap_python_path(heap_state *s, heap_thread *t, uint32_t node)
{
	const uint32_t is = atomic_load_explicit(&s->python, memory_order_acquire);
	uint32_t known;
	bool whole;

	if (is == HEAP_PYTHON_LOADED ? !interpreter_find(s, t) : is != HEAP_PYTHON_FOUND)
		return node;
	const uint64_t state = (uint64_t)(uintptr_t)interpreter.state(),
		       frame = state ? python_innermost_of(t, state) : 0;
	if (!frame)
		return node;
	size_t n = python_follow(t, frame, &known, &whole);
	if (known + n > PYTHON_DEPTH_MAX) {
		t->python_depth = 0; /* again, without known rows: the stack is truncated */
		n = python_follow(t, frame, &known, &whole);
	}
	const uint32_t path = path_of(s, t, known, n);
	t->python_depth = whole ? known + (uint32_t)n : 0;
	if (path <= HEAP_ROOT_SHARDS)
		return node;
	heap_frame stack = {.place = path, .module = HEAP_PYTHON_STACK, .entry = whole};
	const uint32_t joined =
	    kept(s, t, python_mixed((uint64_t)path << 2, HEAP_MAGIC ^ stack.entry), stack_describe,
		 &stack);
	return joined ? heap_node_of(s, t, node, joined) : node;
}
