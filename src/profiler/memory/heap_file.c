/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/heap_file.h"

#include "base/err.h"
#include "os/os.h"

#include <string.h>

static uint32_t heap_least(uint32_t a, uint64_t b)
{
	return a < b ? a : (uint32_t)b;
}

static const char *damage_of(const heap_file *f)
{
	if (f->bytes < HEAP_AT_NODES || f->header->magic != HEAP_MAGIC)
		return "it has another beginning";
	if (f->header->version != HEAP_VERSION)
		return "it has another version";
	if (!atomic_load(&f->header->ready))
		return "its process had not begun to allocate";
	return NULL;
}

bool heap_file_failed(const char *path, int *error)
{
	size_t bytes = 0;
	void *mapped = os_file_map(path, false, HEAP_AT_MODULES, &bytes);
	const heap_header *h = mapped;
	bool failed = !mapped;

	if (mapped && bytes == sizeof *error) {
		memcpy(error, mapped, sizeof *error);
		failed = true;
	} else if (mapped && bytes >= sizeof *h && h->magic == HEAP_MAGIC &&
		   !atomic_load(&h->ready) && atomic_load(&h->error)) {
		*error = atomic_load(&h->error);
		failed = true;
	}
	os_file_unmap(mapped, bytes);
	return failed;
}

dck_status heap_file_open(const char *path, heap_file *ret, dck_err *err)
{
	heap_file f = {0};
	const char *why;

	f.mapped = os_file_map(path, false, SIZE_MAX, &f.bytes);
	if (!f.mapped)
		DCK_FAIL(err, E_ABSENT, "'%.200s' cannot be read", path);
	f.header = f.mapped;
	why = damage_of(&f);
	if (why) {
		heap_file_close(&f);
		DCK_FAIL(err, E_FORMAT, "'%.200s' is not a heap profile: %s", path, why);
	}
	const char *at = f.mapped;
	f.modules = (const heap_module *)(at + HEAP_AT_MODULES);
	f.names = at + HEAP_AT_NAMES;
	f.frames = (const heap_frame *)(at + HEAP_AT_FRAMES);
	f.nodes = (const heap_node *)(at + HEAP_AT_NODES);
	/* Nodes first: a process that still runs adds frames before the nodes that name them. */
	f.nnodes =
	    heap_least(atomic_load(&f.header->nnodes), (f.bytes - HEAP_AT_NODES) / sizeof *f.nodes);
	f.nframes = heap_least(atomic_load(&f.header->nframes), HEAP_FRAMES_MAX);
	f.nmodules = heap_least(atomic_load(&f.header->nmodules), HEAP_MODULES_MAX);
	if (f.header->nodes_max <= HEAP_NODES_MAX && HEAP_AT_HELD(f.header->nodes_max) < f.bytes) {
		const size_t begin = HEAP_AT_HELD(f.header->nodes_max);

		f.held = (const int64_t *)(at + begin);
		f.nheld =
		    heap_least(atomic_load(&f.header->nheld), (f.bytes - begin) / sizeof *f.held);
	}
	*ret = f;
	return DCK_OK;
}

void heap_file_close(heap_file *f)
{
	os_file_unmap(f->mapped, f->bytes);
	*f = (heap_file){0};
}

const heap_module *heap_file_module(const heap_file *f, const heap_frame *frame)
{
	return frame->module < f->nmodules ? &f->modules[frame->module] : NULL;
}

void heap_file_name(const heap_file *f, const heap_module *m, char *ret, size_t size)
{
	uint32_t n = 0;

	if (m->name <= HEAP_NAMES_BYTES && m->name_bytes <= HEAP_NAMES_BYTES - m->name)
		n = heap_least(m->name_bytes, size - 1);
	memcpy(ret, f->names + m->name * (n > 0), n);
	ret[n] = '\0';
}

bool heap_file_is_size(const heap_file *f, const heap_node *n)
{
	return f->header->interval && n->frame < f->nframes &&
	       f->frames[n->frame].module == HEAP_SIZE;
}

const char *heap_file_text(const heap_file *f, uint32_t at)
{
	return at < HEAP_NAMES_BYTES && memchr(f->names + at, 0, HEAP_NAMES_BYTES - at)
		   ? f->names + at
		   : NULL;
}

int64_t heap_file_at_peak(const heap_file *f, const heap_node *n, heap_kind kind)
{
	const uint64_t epoch = atomic_load(&f->header->total[kind].epoch);

	return n->epoch == epoch ? n->at_peak : n->live;
}

int64_t heap_file_held(const heap_file *f, uint32_t node)
{
	if (f->nheld)
		return node < f->nheld ? f->held[node] : 0;
	return f->nodes[node].live;
}
