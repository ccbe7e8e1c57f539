/* ort_memory.c - memory use of ONNX Runtime: from the statistics of its arena, and from a counting
 * allocator that replaces the arena.
 *
 * The arena rounds up and grows in increasing steps, so its size is a poor estimate of a model's
 * memory. The counting allocator receives each request unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "engine/ort/ort_watch.h"

#include <stdlib.h>
#include <string.h>

/* --- the allocator */

struct ort_counter {
	ort_allocator_table table; /* first: ONNX Runtime hands it back as itself */
	const ort_lib *lib;
	ort_memory *where;
	bool registered;
	atomic_uint_least64_t in_use, peak;
	/* Since the start of the last run. */
	atomic_uint_least64_t run_base, run_peak, run_allocs;
};

/* Header before each block. Kernels need blocks aligned to a cache line, and some to more. */
#define ALIGN 256u

typedef struct block {
	void *begin;
	size_t bytes;
} block;

static void peak_raise(atomic_uint_least64_t *peak, uint64_t now)
{
	uint64_t seen = atomic_load(peak);

	while (now > seen && !atomic_compare_exchange_weak(peak, &seen, now))
		;
}

static void *counter_alloc(ort_allocator_table *self, size_t bytes)
{
	ort_counter *c = (ort_counter *)(void *)self;

	if (bytes == 0 || bytes > SIZE_MAX / 2)
		return NULL;
	char *begin = mem_alloc(bytes + ALIGN + sizeof(block));
	if (!begin)
		return NULL;
	char *at = begin + sizeof(block);
	at += (ALIGN - (uintptr_t)at % ALIGN) % ALIGN;
	memcpy(at - sizeof(block), &(block){begin, bytes}, sizeof(block));
	uint64_t now = atomic_fetch_add(&c->in_use, bytes) + bytes;
	peak_raise(&c->peak, now);
	peak_raise(&c->run_peak, now);
	atomic_fetch_add(&c->run_allocs, 1);
	return at;
}

static void counter_release(ort_allocator_table *self, void *p)
{
	ort_counter *c = (ort_counter *)(void *)self;
	block b;

	if (!p)
		return;
	memcpy(&b, (char *)p - sizeof b, sizeof b);
	atomic_fetch_sub(&c->in_use, b.bytes);
	mem_free(b.begin);
}

static const ort_memory *counter_info(const ort_allocator_table *self)
{
	return ((const ort_counter *)(const void *)self)->where;
}

dck_status ort_counter_new(const ort_lib *l, ort_options *o, ort_counter **ret, dck_err *err)
{
	ort_counter *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "to count allocations");
	c->lib = l;
	c->table = (ort_allocator_table){.version = ORT_ALLOCATOR_VERSION,
					 .alloc = counter_alloc,
					 .free = counter_release,
					 .info = counter_info,
					 .reserve = counter_alloc};
	dck_status status = ort_check(
	    l,
	    l->api.CreateMemoryInfo("Cpu", ORT_ALLOCATOR_DEVICE, 0, ORT_MEMORY_DEFAULT, &c->where),
	    err, "cannot describe the host's memory to ONNX Runtime");
	DCK_NEXT(status,
		 ort_check(l, l->api.AddSessionConfigEntry(o, "session.use_env_allocators", "1"),
			   err, "cannot count what is allocated"));
	if (status == DCK_OK) {
		status = ort_check(l, l->api.RegisterAllocator(l->env, &c->table), err,
				   "cannot count allocations (only for one model at a time)");
		c->registered = status == DCK_OK;
	}
	if (status == DCK_OK)
		*ret = c;
	else
		ort_counter_free(c);
	return status;
}

void ort_counter_settle(ort_counter *c)
{
	if (!c->registered)
		return;
	ort_check(c->lib, c->lib->api.UnregisterAllocator(c->lib->env, c->where), NULL, "unused");
	c->registered = false;
}

void ort_counter_free(ort_counter *c)
{
	if (!c)
		return;
	ort_counter_settle(c);
	if (c->where)
		c->lib->api.ReleaseMemoryInfo(c->where);
	mem_free(c);
}

void ort_counter_run_begins(ort_counter *c)
{
	uint64_t now = atomic_load(&c->in_use);

	atomic_store(&c->run_base, now);
	atomic_store(&c->run_peak, now);
	atomic_store(&c->run_allocs, 0);
}

/* --- statistics */

static dck_memory memory_counted(const ort_counter *c)
{
	uint64_t base = atomic_load(&c->run_base), peak = atomic_load(&c->run_peak);

	return (dck_memory){.struct_size = sizeof(dck_memory),
			    .valid = DCK_MEMORY_IN_USE | DCK_MEMORY_PEAK | DCK_MEMORY_ALLOCS |
				     DCK_MEMORY_RUN,
			    .in_use_bytes = atomic_load(&c->in_use),
			    .peak_bytes = atomic_load(&c->peak),
			    .allocs = atomic_load(&c->run_allocs),
			    .run_peak_bytes = peak > base ? peak - base : 0};
}

/* "-1" and invalid numbers are unknown. */
static bool memory_number_get(const ort_lib *l, const ort_pairs *pairs, const char *key,
			      uint64_t *ret)
{
	const char *text = l->api.GetKeyValue(pairs, key);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	*ret = strtoull(text, &end, 10);
	return *end == '\0';
}

static dck_memory stats_read(const ort_lib *l, const ort_pairs *pairs)
{
	dck_memory m = {.struct_size = sizeof m};

	if (memory_number_get(l, pairs, "InUse", &m.in_use_bytes))
		m.valid |= DCK_MEMORY_IN_USE;
	if (memory_number_get(l, pairs, "MaxInUse", &m.peak_bytes))
		m.valid |= DCK_MEMORY_PEAK;
	if (memory_number_get(l, pairs, "TotalAllocated", &m.reserved_bytes))
		m.valid |= DCK_MEMORY_RESERVED;
	return m;
}

static dck_status arena_of(const ort_lib *l, const ort_session *s, const ort_provider *p,
			   const ort_memory *device, ort_allocator **ret, dck_err *err)
{
	ort_memory *where;

	if (device)
		return ort_check(l, l->api.CreateAllocator(s, device, ret), err,
				 "cannot get the session's allocator");
	/* Tensors of the CUDA provider are in a separate arena. */
	if (strcmp(p->name, "cuda") == 0)
		DCK_TRY(
		    ort_check(l,
			      l->api.CreateMemoryInfo("Cuda", ORT_ALLOCATOR_ARENA, (int)p->device,
						      ORT_MEMORY_DEFAULT, &where),
			      err, "cannot describe the device's memory to ONNX Runtime"));
	else
		DCK_TRY(ort_check(
		    l, l->api.CreateCpuMemoryInfo(ORT_ALLOCATOR_ARENA, ORT_MEMORY_DEFAULT, &where),
		    err, "cannot describe the host's memory to ONNX Runtime"));
	dck_status status = ort_check(l, l->api.CreateAllocator(s, where, ret), err,
				      "cannot get the session's allocator");
	l->api.ReleaseMemoryInfo(where);
	return status;
}

static dck_status stats_get(const ort_lib *l, const ort_session *s, const ort_provider *p,
			    const ort_memory *device, dck_memory *ret, dck_err *err)
{
	ort_allocator *arena;
	ort_pairs *pairs = NULL;

	if (!l->api.AllocatorGetStats)
		DCK_FAIL(
		    err, E_UNSUP,
		    "ONNX Runtime %s does not report how much memory it uses: 1.23 and newer do",
		    l->version);
	DCK_TRY(arena_of(l, s, p, device, &arena, err));
	dck_status status = ort_check(l, l->api.AllocatorGetStats(arena, &pairs), err,
				      "cannot query how much memory is used");
	l->api.ReleaseAllocator(arena);
	DCK_TRY(status);
	dck_memory m = pairs ? stats_read(l, pairs) : (dck_memory){0};
	if (pairs)
		l->api.ReleaseKeyValuePairs(pairs);
	if (m.valid == 0)
		DCK_FAIL(err, E_ABSENT, "the session's allocator has no statistics%s",
			 device ? " of the device's memory" : ": its arena is off");
	*ret = m;
	return DCK_OK;
}

dck_status ort_memory_get(const ort_lib *l, const ort_session *s, const ort_provider *p,
			  const ort_memory *device, const ort_counter *counter, dck_memory *ret,
			  dck_err *err)
{
	if (!counter)
		return stats_get(l, s, p, device, ret, err);
	*ret = memory_counted(counter);
	return DCK_OK;
}
