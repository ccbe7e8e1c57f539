/* heap_paths.c - interned call paths: the nodes of a calling-context tree in the mapped file, and
 * the hash tables that find them.
 *
 * A node is a pair (parent, frame) and a path is the number of its innermost node, so equal paths
 * have one number (hash consing; the tree is that of Ammons, Ball and Larus, PLDI 1997). Four
 * open-addressing tables (heap_table.h) map addresses to frames, (parent, frame) to nodes, and
 * hashes to Python's frames and texts. Threads consult private caches first (heap_thread.h).
 *
 * One spin lock guards the tables and all appends to the file. Rows are only appended, and a count
 * is published with release order after its row is complete, so the reading process needs no lock.
 * The loader's list is read before the lock is taken, since the loader's lock is never requested
 * inside it, and stored unless a newer list is stored. heap_frame_get() calls `describe` inside it,
 * which serialises the naming of Python's frames.
 *
 * When a module is unloaded, its addresses leave the table and header->code grows, at which threads
 * drop their caches; frames and nodes keep their numbers. If it is loaded again to the same place,
 * it has its old number, and its frames return to the table. Capacities are fixed (heap_region.h):
 * what does not fit becomes frame 0, which header->unnamed states, or its parent node, which is
 * counted as lost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_paths.h"

#include "profiler/preload/heap/heap_modules.h"
#include "profiler/preload/heap/heap_python.h"
#include "profiler/preload/heap/heap_table.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum {
	FIRST_BITS = 12, /* rows of a new table, as a power of two */
};

/* Too large for a small stack. */
typedef struct scratch {
	heap_loaded rows[HEAP_MODULES_MAX];
	uint32_t ids[HEAP_MODULES_MAX];
	uint8_t there[HEAP_MODULES_MAX];
	char path[PATH_MAX];
} scratch;

struct heap_paths {
	heap_lock lock;
	heap_table places;   /* by address: heap_frame of loaded code */
	heap_table children; /* by parent and frame: heap_node */
	heap_table others;   /* by any key: heap_frame without an address */
	heap_table texts;    /* by any key: offset in the names */
	unwind_rule *rules;  /* per frame */
	bool bare;	     /* a frame has no module */
	uint64_t version;    /* version of the loader's list in `loaded` */
	scratch *loaded;     /* the list */
	size_t nloaded;
};

struct heap_paths *heap_paths_new(heap_state *s)
{
	struct heap_paths *p = heap_pages(s, sizeof *p);

	if (!p)
		return NULL;
	p->version = UINT64_MAX - 1;
	p->rules = heap_pages(s, HEAP_FRAMES_MAX * sizeof *p->rules);
	heap_table *const tables[] = {&p->places, &p->children, &p->others, &p->texts};
	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
		if (!heap_table_init(s, tables[i], FIRST_BITS))
			return NULL;
	return p->rules ? p : NULL;
}

/* --- modules */

static bool paths_same_module(const heap_state *s, const heap_module *known, const heap_loaded *m,
			      const char *path)
{
	return known->start == m->start && known->end == m->end && known->bias == m->bias &&
	       known->name_bytes == strlen(path) &&
	       !memcmp(s->names + known->name, path, known->name_bytes);
}

/* Returns whether there is room, and states in the header that there was none. */
static bool unnamed_unless(heap_state *s, bool room)
{
	if (!room)
		atomic_store_explicit(&s->header->unnamed, 1, memory_order_relaxed);
	return room;
}

static bool names_room(heap_state *s, size_t bytes)
{
	const size_t end = s->header->nname_bytes + bytes;

	return unnamed_unless(s, end <= HEAP_NAMES_BYTES) && heap_room(HEAP_NAMES, end);
}

static uint32_t module_add(heap_state *s, const heap_loaded *m, const char *path)
{
	heap_header *h = s->header;
	const uint32_t bytes = (uint32_t)strlen(path), n = h->nmodules, at = h->nname_bytes;

	if (!unnamed_unless(s, n < HEAP_MODULES_MAX) || !names_room(s, bytes) ||
	    !heap_room(HEAP_HEAD, HEAP_AT_MODULES + (n + 1) * sizeof(heap_module)))
		return HEAP_NO_MODULE;
	memcpy(s->names + at, path, bytes);
	s->modules[n] = (heap_module){
	    .start = m->start, .end = m->end, .bias = m->bias, .name = at, .name_bytes = bytes};
	h->nname_bytes = at + bytes;
	atomic_store_explicit(&h->nmodules, n + 1, memory_order_release);
	return n;
}

static const heap_loaded *loaded_at(const struct heap_paths *p, uint64_t place, uint32_t *ret_id)
{
	*ret_id = HEAP_NO_MODULE;
	for (size_t i = 0; i < p->nloaded; i++)
		if (place >= p->loaded->rows[i].start && place < p->loaded->rows[i].end) {
			*ret_id = p->loaded->ids[i];
			return &p->loaded->rows[i];
		}
	return NULL;
}

/* Whether other code than that of the frame is at its address now, or may be loaded there. */
static bool place_is_gone(const heap_state *s, const heap_frame *f)
{
	uint32_t module;

	if (f->module == HEAP_NO_MODULE) /* made at run time, unless a module is there now */
		return loaded_at(s->paths, f->place, &module);
	return s->modules[f->module].gone;
}

/* Drops the addresses of code that is gone from the table. */
static void places_forget(heap_state *s)
{
	struct heap_paths *p = s->paths;
	const heap_table old = p->places;

	if (!heap_table_init(s, &p->places, old.bits)) {
		p->places = old;
		return;
	}
	for (size_t i = 0; i < (size_t)1 << old.bits; i++) {
		const heap_table_row *r = &old.rows[i];

		if (r->key && !place_is_gone(s, &s->frames[r->value]))
			heap_table_put(&p->places, r->key, r->value);
	}
	heap_table_done(s, &old);
	atomic_fetch_add_explicit(&s->header->code, 1, memory_order_release);
}

/* Puts the addresses of a module that is loaded again, to the same place, into the table. Its file
 * may be another one by now, with other rules. */
static void places_restore(heap_state *s, uint32_t module, const unwind_module *unwind)
{
	struct heap_paths *p = s->paths;

	for (uint32_t i = HEAP_FRAMES_FIRST; i < s->header->nframes; i++) {
		const uint64_t place = s->frames[i].place;

		if (s->frames[i].module != module || heap_table_find(&p->places, place)->value)
			continue;
		if (!heap_table_reserve(s, &p->places))
			return;
		p->rules[i] = unwind_find_rule(unwind, place);
		heap_table_put(&p->places, place, i);
	}
}

static uint32_t paths_id_of(heap_state *s, scratch *now, const heap_loaded *m)
{
	const scratch *before = s->paths->loaded;
	uint32_t id = 0;

	for (size_t i = 0; i < s->paths->nloaded; i++)
		if (before->rows[i].start == m->start && before->rows[i].end == m->end &&
		    !strcmp(before->rows[i].name, m->name))
			return before->ids[i];
	heap_module_path(m, now->path);
	while (id < s->header->nmodules && !paths_same_module(s, &s->modules[id], m, now->path))
		id++;
	return id < s->header->nmodules ? id : module_add(s, m, now->path);
}

/* "/usr/bin/python3.11", "libpython3.11.so.1.0" */
static bool paths_is_python(const heap_state *s, const heap_module *m)
{
	static const char name[] = "python";
	const char *text = s->names + m->name;
	uint32_t base = m->name_bytes;

	while (base && text[base - 1] != '/')
		base--;
	if (m->name_bytes - base > 3 && !memcmp(text + base, "lib", 3))
		base += 3;
	return m->name_bytes - base >= sizeof name - 1 &&
	       !memcmp(text + base, name, sizeof name - 1);
}

static void modules_update(heap_state *s, scratch *now, size_t n, uint64_t version)
{
	struct heap_paths *p = s->paths;
	scratch *before = p->loaded;
	const uint32_t known = s->header->nmodules;
	bool changed = false;

	for (size_t i = 0; i < n; i++) {
		const uint32_t id = now->ids[i] = paths_id_of(s, now, &now->rows[i]);

		if (id == HEAP_NO_MODULE)
			continue;
		now->there[id] = 1;
		if (s->modules[id].gone) {
			s->modules[id].gone = 0;
			places_restore(s, id, &now->rows[i].unwind);
			changed = p->bare;
		}
	}
	changed |= p->bare && s->header->nmodules > known;
	p->loaded = now;
	p->nloaded = n;
	p->version = version;
	for (uint32_t i = 0; i < known; i++)
		if (!now->there[i] && !s->modules[i].gone) {
			s->modules[i].gone = 1;
			changed = true;
			if (paths_is_python(s, &s->modules[i]))
				heap_python_unload(s);
		}
	for (uint32_t i = 0; i < s->header->nmodules && !s->python; i++)
		if (!s->modules[i].gone && paths_is_python(s, &s->modules[i]))
			atomic_store(&s->python, HEAP_PYTHON_LOADED);
	if (changed)
		places_forget(s);
	if (before)
		heap_pages_free(s, before, sizeof *before);
}

void heap_modules_check(heap_state *s)
{
	struct heap_paths *p = s->paths;
	const uint64_t version = heap_modules_version();

	heap_lock_take(&p->lock);
	const bool same = version == p->version;
	heap_lock_give(&p->lock);
	if (same)
		return;
	scratch *now = heap_pages(s, sizeof *now);
	if (!now)
		return;
	const size_t n = heap_modules_read(now->rows, HEAP_MODULES_MAX);
	heap_lock_take(&p->lock);
	/* Versions only grow. Another thread may have stored a newer list since this one was read.
	 */
	const bool newer = !p->loaded || version > p->version;
	if (newer)
		modules_update(s, now, n, version);
	heap_lock_give(&p->lock);
	if (!newer)
		heap_pages_free(s, now, sizeof *now);
}

/* --- places */

static uint32_t frame_add(heap_state *s, heap_table *table, uint64_t key, const heap_frame *frame)
{
	const uint32_t n = s->header->nframes;

	if (!unnamed_unless(s, n < HEAP_FRAMES_MAX) || !heap_table_reserve(s, table) ||
	    !heap_room(HEAP_FRAMES, (n + 1) * sizeof(heap_frame)))
		return 0;
	s->frames[n] = *frame;
	atomic_store_explicit(&s->header->nframes, n + 1, memory_order_release);
	heap_table_put(table, key, n);
	return n;
}

static heap_place place_add(heap_state *s, uint64_t place)
{
	static const unwind_module none;
	struct heap_paths *p = s->paths;
	uint32_t module;
	const heap_loaded *m = loaded_at(p, place, &module);
	heap_place found = {
	    place, frame_add(s, &p->places, place, &(heap_frame){.place = place, .module = module}),
	    unwind_find_rule(m ? &m->unwind : &none, place)};

	p->bare |= module == HEAP_NO_MODULE;
	if (found.frame)
		p->rules[found.frame] = found.rule;
	return found;
}

heap_place heap_place_get(heap_state *s, uint64_t place)
{
	struct heap_paths *p = s->paths;
	heap_place found = {.place = place};
	const int kept = errno; /* realpath() of a new module changes it */

	for (bool looked = false;; looked = true) {
		heap_lock_take(&p->lock);
		found.frame = heap_table_find(&p->places, place)->value;
		if (found.frame)
			found.rule = p->rules[found.frame];
		else if (looked)
			found = place_add(s, place);
		heap_lock_give(&p->lock);
		if (found.frame || looked)
			return found;
		heap_modules_check(s);
		errno = kept;
	}
}

/* --- other frames */

uint32_t heap_frame_get(heap_state *s, uint64_t key, heap_describe_fn *describe, void *self)
{
	struct heap_paths *p = s->paths;
	heap_frame described;

	heap_lock_take(&p->lock);
	uint32_t frame = heap_table_find(&p->others, key)->value;
	if (!frame && describe(s, self, &described))
		frame = frame_add(s, &p->others, key, &described);
	heap_lock_give(&p->lock);
	return frame;
}

uint32_t heap_texts_put(heap_state *s, uint64_t key, const char *a, const char *b)
{
	struct heap_paths *p = s->paths;
	const uint32_t had = heap_table_find(&p->texts, key)->value, at = s->header->nname_bytes;
	const size_t na = strlen(a) + 1, nb = strlen(b) + 1;

	if (had)
		return had;
	if (!names_room(s, na + nb) || !heap_table_reserve(s, &p->texts))
		return HEAP_NO_TEXT;
	memcpy(s->names + at, a, na);
	memcpy(s->names + at + na, b, nb);
	s->header->nname_bytes = at + (uint32_t)(na + nb);
	heap_table_put(&p->texts, key, at);
	return at;
}

/* --- nodes */

/* Returns how many nodes a path of that frame may use. In a Python program native paths leave a
 * quarter to Python paths: memory is reported by Python line, so a truncated native path costs
 * less. */
static uint32_t nodes_most(const heap_state *s, uint32_t frame)
{
	const uint32_t most = s->header->nodes_max;

	return atomic_load_explicit(&s->python, memory_order_relaxed) == HEAP_PYTHON_NONE ||
		       heap_frame_is_python(&s->frames[frame])
		   ? most
		   : most - most / 4;
}

uint32_t heap_node_get(heap_state *s, uint32_t parent, uint32_t frame)
{
	struct heap_paths *p = s->paths;
	const uint64_t key = (uint64_t)parent << 32 | frame;
	uint32_t node;

	heap_lock_take(&p->lock);
	node = heap_table_find(&p->children, key)->value;
	if (!node) {
		const uint32_t n = s->header->nnodes;

		if (n < nodes_most(s, frame) && heap_table_reserve(s, &p->children) &&
		    heap_room(HEAP_NODES, (n + 1) * sizeof(heap_node))) {
			s->nodes[n].parent = parent;
			s->nodes[n].frame = frame;
			heap_table_put(&p->children, key, n);
			atomic_store_explicit(&s->header->nnodes, n + 1, memory_order_release);
			node = n;
		}
	}
	heap_lock_give(&p->lock);
	if (node)
		return node;
	atomic_fetch_add_explicit(&s->header->lost, 1, memory_order_relaxed);
	return parent;
}
