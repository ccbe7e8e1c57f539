/* cuda_calls.c - callbacks of CUPTI at the beginning and end of a call, in its thread.
 *
 * The outermost call of a thread is a range: cudaLaunchKernel() of the runtime, and not also
 * cuLaunchKernel() of the driver, by which the runtime implements it. The range begins and ends on
 * the recorder's clock, inside the zone that made the call. An arrow begins in it if it enqueues
 * work; records of the work have the call's correlation id, or that of a driver's call inside it.
 *
 * The table of arrows is direct-mapped: CUPTI numbers calls one by one, so an entry is replaced
 * after SLOTS calls, when its records have long been read. A slot's key is written last and read
 * before and after the value.
 *
 * A callback takes no lock, but for a call that allocates (cuda_memory.c), and allocates nothing
 * but the name of a call that it meets for the first time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda_calls.h"
#include "cuda_memory.h"

#include "deepclock/zone.h"
#include "profiler/trace/backfill.h"
#include "profiler/trace/device_track.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 20, CALLS_MAX = 4096, DOMAINS = 2 };

typedef struct slot {
	_Atomic uint32_t correlation; /* 0: empty */
	_Atomic uint64_t flow;	      /* 0: not recorded */
} slot;

static slot *slots;
static _Atomic uint64_t ncalls, nenqueued;
static dck_zone_site sites[DOMAINS][CALLS_MAX];
static bool enqueues[DOMAINS][CALLS_MAX];
static memory_call memory_calls[DOMAINS][CALLS_MAX];

/* The outermost open call of this thread. */
static _Thread_local struct {
	unsigned depth;
	bool recorded; /* it has a range */
	uint64_t flow; /* 0: no arrow yet */
} outer;

bool cuda_calls_init(void)
{
	void *memory = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	slots = memory;
	return true;
}

static void slot_put(uint32_t correlation, uint64_t flow)
{
	slot *s = &slots[correlation % SLOTS];

	atomic_store_explicit(&s->correlation, 0, memory_order_release);
	atomic_store_explicit(&s->flow, flow, memory_order_release);
	atomic_store_explicit(&s->correlation, correlation, memory_order_release);
}

call_seen cuda_calls_find(uint32_t correlation, uint64_t *ret_flow)
{
	slot *s = &slots[correlation % SLOTS];

	if (atomic_load_explicit(&s->correlation, memory_order_acquire) != correlation)
		return CALL_UNKNOWN;
	const uint64_t flow = atomic_load_explicit(&s->flow, memory_order_acquire);
	if (atomic_load_explicit(&s->correlation, memory_order_acquire) != correlation)
		return CALL_UNKNOWN;
	*ret_flow = flow;
	return flow ? CALL_RECORDED : CALL_UNRECORDED;
}

uint64_t cuda_calls_count(uint64_t *ret_enqueued)
{
	*ret_enqueued = atomic_load(&nenqueued);
	return atomic_load(&ncalls);
}

/* --- which calls */

static bool name_has_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strstr(name, *words))
			return true;
	return false;
}

/* Whether a call is recorded, by its name; *ret_enqueues: it enqueues work on the device. */
static bool call_is_wanted(const char *name, bool *ret_enqueues)
{
	static const char *const other[] = {"Synchronize",	"Malloc",	    "MemAlloc",
					    "MemFree",		"cudaFree",	    "HostAlloc",
					    "Prefetch",		"ModuleLoad",	    "LibraryLoad",
					    "PrimaryCtxRetain", "GraphInstantiate", NULL};

	*ret_enqueues = cupti_call_enqueues(name);
	if (strstr(name, "Graph") && !*ret_enqueues)
		return strstr(name, "GraphInstantiate") != NULL;
	return *ret_enqueues || name_has_any(name, other);
}

void cuda_calls_enable(const cupti_functions *f, cupti_subscriber subscriber)
{
	for (cupti_domain d = CUPTI_API_DRIVER; d <= CUPTI_API_RUNTIME; d++)
		for (uint32_t call = 1; call < CALLS_MAX; call++) {
			const char *name = NULL;

			if (f->call_name(d, call, &name) != CUPTI_API_SUCCESS || !name)
				continue;
			if (!call_is_wanted(name, &enqueues[d - 1][call]))
				continue;
			memory_calls[d - 1][call] = cuda_memory_call_of(name);
			f->enable_callback(1, subscriber, d, call);
		}
}

/* --- a call */

static dck_zone_site *site_of(cupti_domain domain, cupti_call call, const char *name)
{
	dck_zone_site *site = &sites[domain - 1][call];

	name += strspn(name, "_"); /* CUDA 13's cudaLaunchKernel() calls __cudaLaunchKernel() */

	if (!__atomic_load_n(&site->id, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&site->name, name, __ATOMIC_RELEASE);
		__atomic_store_n(&site->file, "", __ATOMIC_RELEASE);
		__atomic_store_n(&site->id, dck_past_name("cuda", name), __ATOMIC_RELEASE);
	}
	return site;
}

static void call_begins(cupti_domain domain, cupti_call call, const cupti_call_data *data)
{
	if (outer.depth++ == 0) {
		outer.flow = 0;
		outer.recorded = __atomic_load_n(&dck_trace_on, __ATOMIC_RELAXED) != 0;
		atomic_fetch_add_explicit(&ncalls, 1, memory_order_relaxed);
		if (outer.recorded)
			dck_zone_push(site_of(domain, call, data->function_name));
	}
	if (!enqueues[domain - 1][call])
		return;
	if (outer.recorded && !outer.flow) {
		outer.flow = dck_device_flow();
		if (outer.flow)
			atomic_fetch_add_explicit(&nenqueued, 1, memory_order_relaxed);
	}
	slot_put(data->correlation, outer.flow);
}

static void call_ends(cupti_domain domain, cupti_call call, const cupti_call_data *data)
{
	if (outer.depth == 0 || --outer.depth)
		return;
	cuda_memory_called(memory_calls[domain - 1][call], data, outer.recorded);
	if (outer.recorded)
		dck_zone_pop();
}

void cuda_calls_callback(void *self, cupti_domain domain, cupti_call call, const void *data)
{
	const cupti_call_data *d = data;

	(void)self;
	if (domain < CUPTI_API_DRIVER || domain > CUPTI_API_RUNTIME || call >= CALLS_MAX)
		return;
	if (d->site == CUPTI_CALL_BEGINS)
		call_begins(domain, call, d);
	else
		call_ends(domain, call, d);
}
