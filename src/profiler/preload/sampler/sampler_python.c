/* sampler_python.c - reads the Python frames in the signal handler. The interrupted thread does not
 * run, so its Python frames are a consistent snapshot of the same instant as its native stack.
 * Other threads continue and may change the list of threads, so memory is checked before it is
 * read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sampler_python.h"

#include "profiler/python/python_self.h"
#include "profiler/unwind/readable.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PAGES = 16, PAGE = 4096 };

/* Cache of pages that were readable in this walk. */
typedef struct own_memory {
	uint64_t page[PAGES];
	unsigned n;
} own_memory;

static python_process process;
static atomic_bool found;
static __thread python_thread thread __attribute__((tls_model("initial-exec")));
static __thread python_frame frames[SAMPLE_SLOT_PYTHON] __attribute__((tls_model("initial-exec")));
static __thread python_walked walked __attribute__((tls_model("initial-exec")));

static bool page_is_there(own_memory *m, uint64_t page)
{
	for (unsigned i = 0; i < m->n && i < PAGES; i++)
		if (m->page[i] == page)
			return true;
	if (!memory_readable(page))
		return false;
	m->page[m->n++ % PAGES] = page;
	return true;
}

static bool sampler_python_own_read(void *self, uint64_t address, void *to, size_t n)
{
	const uint64_t first = address & ~(uint64_t)(PAGE - 1),
		       last = (address + n - 1) & ~(uint64_t)(PAGE - 1);

	if (last < first || !page_is_there(self, first) ||
	    (last != first && (last - first > PAGE || !page_is_there(self, last))))
		return false;
	memcpy(to, (const void *)(uintptr_t)address, n);
	return true;
}

void sampler_python_find(void)
{
	own_memory pages = {0};
	const unwind_memory memory = {sampler_python_own_read, &pages};
	const void *runtime, *version;
	uint32_t number = 0;

	if (atomic_load(&found))
		return;
	runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	if (!runtime)
		return;
	version = dlsym(RTLD_DEFAULT, "Py_Version");
	if (version)
		memcpy(&number, version, sizeof number);
	else
		number = python_self_version();
	if (python_find_at((uint64_t)(uintptr_t)runtime, number, &memory, &process))
		atomic_store(&found, true);
}

uint32_t sampler_python_take(sample_slot *s, int tid)
{
	own_memory pages = {0};
	const unwind_memory memory = {sampler_python_own_read, &pages};

	s->npython = 0;
	s->python = SAMPLE_PYTHON_NONE;
	if (!atomic_load_explicit(&found, memory_order_acquire))
		return SAMPLE_SLOT_PCS;
	if (thread.tid != tid) /* also after fork() */
		thread =
		    (python_thread){.tid = tid, .pthread = (uint64_t)pthread_self(), .still = true};
	s->npython =
	    (uint32_t)python_walk(&process, &memory, &thread, frames, SAMPLE_SLOT_PYTHON, &walked);
	s->python = walked.cut || walked.unread ? SAMPLE_PYTHON_CUT : SAMPLE_PYTHON_WHOLE;
	return SAMPLE_SLOT_PCS - 2 * s->npython;
}

void sampler_python_put(sample_slot *s)
{
	uint64_t *to = s->of.pcs + s->npcs;

	for (uint32_t i = 0; i < s->npython; i++) {
		*to++ = frames[i].code | frames[i].entry; /* objects are 8-byte aligned */
		*to++ = (uint32_t)frames[i].instruction;
	}
}
