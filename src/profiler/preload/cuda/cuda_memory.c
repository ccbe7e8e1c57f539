/* cuda_memory.c - a hash table of the allocations (open addressing, linear probing, backward-shift
 * deletion), under a lock: calls that allocate take locks of the driver, and wait for the device.
 *
 * Arrays, pitched memory, memory of the host and that of virtual addresses (cuMemCreate()) are not
 * among them. Beyond ALLOCATIONS live ones no more are followed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda_memory.h"

#include "deepclock/zone.h"

#include <pthread.h>
#include <string.h>

enum { ALLOCATIONS = 1 << 15, TABLE = 2 * ALLOCATIONS };

static struct allocation {
	uint64_t address, bytes; /* 0: empty */
} table[TABLE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t nallocations;
static uint64_t allocated, peak;

memory_call cuda_memory_call_of(const char *name)
{
	static const struct {
		const char *name;
		memory_call call;
	} calls[] = {{"cudaMalloc", MEMORY_ALLOC},	{"cudaMallocManaged", MEMORY_ALLOC},
		     {"cudaMallocAsync", MEMORY_ALLOC}, {"cudaMallocFromPoolAsync", MEMORY_ALLOC},
		     {"cudaFree", MEMORY_FREE},		{"cudaFreeAsync", MEMORY_FREE},
		     {"cuMemAlloc", MEMORY_ALLOC},	{"cuMemAllocManaged", MEMORY_ALLOC},
		     {"cuMemAllocAsync", MEMORY_ALLOC}, {"cuMemAllocFromPoolAsync", MEMORY_ALLOC},
		     {"cuMemFree", MEMORY_FREE},	{"cuMemFreeAsync", MEMORY_FREE}};
	/* "cudaMalloc_v3020", "cudaMallocAsync_ptsz_v11020" */
	const size_t n = strcspn(name, "_");

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (strlen(calls[i].name) == n && strncmp(calls[i].name, name, n) == 0)
			return calls[i].call;
	return MEMORY_NONE;
}

static size_t home_of(uint64_t address)
{
	return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) % TABLE;
}

/* Returns the slot of an address, or the empty one where it would be. */
static size_t slot_of(uint64_t address)
{
	size_t at = home_of(address);

	while (table[at].address && table[at].address != address)
		at = (at + 1) % TABLE;
	return at;
}

static void allocation_add(uint64_t address, uint64_t bytes)
{
	const size_t at = slot_of(address);

	if (!address || table[at].address || nallocations == ALLOCATIONS)
		return;
	table[at].address = address;
	table[at].bytes = bytes;
	nallocations++;
	allocated += bytes;
	peak = allocated > peak ? allocated : peak;
}

static void allocation_remove(uint64_t address)
{
	size_t hole = slot_of(address);

	if (!address || !table[hole].address)
		return;
	allocated -= table[hole].bytes;
	nallocations--;
	/* Moves following entries back into the hole if their probe sequence allows it. */
	for (size_t at = (hole + 1) % TABLE; table[at].address; at = (at + 1) % TABLE) {
		const size_t from_home = (at + TABLE - home_of(table[at].address)) % TABLE;

		if (from_home < (at + TABLE - hole) % TABLE)
			continue;
		table[hole] = table[at];
		hole = at;
	}
	table[hole] = (struct allocation){0};
}

void cuda_memory_called(memory_call call, const cupti_call_data *data, bool records)
{
	static dck_zone_site site = {.name = "CUDA memory (bytes)", .file = ""};
	const void *parameters = data->parameters;

	if (call == MEMORY_NONE || !parameters || !data->return_value ||
	    *(const int *)data->return_value != 0)
		return;
	pthread_mutex_lock(&lock);
	if (call == MEMORY_ALLOC) {
		const cupti_alloc *a = parameters;

		allocation_add(a->address ? *a->address : 0, a->bytes);
	} else {
		allocation_remove(((const cupti_free *)parameters)->address);
	}
	/* Under the lock, so that the values come in their order. */
	if (records)
		dck_zone_counter(&site, (double)allocated);
	pthread_mutex_unlock(&lock);
}

uint64_t cuda_memory_peak(void)
{
	pthread_mutex_lock(&lock);
	const uint64_t bytes = peak;
	pthread_mutex_unlock(&lock);
	return bytes;
}
