/* cuda_work.c - joins CUPTI's records of work to the calls that enqueued it.
 *
 * A callback stores the time at which each call that enqueues begins, with its correlation id; of
 * a call of the runtime also the driver's calls inside it, since a record has the id of either.
 * Records have that id. They arrive in any order, in a thread of CUPTI or in one that flushes: the
 * join follows the last flush, by sorted ids (O(n log n)).
 *
 * Both lists grow up to ENTRIES_MAX; one that overflows, fails to grow, or of which CUPTI lost a
 * record makes the recording void. The state is static because CUPTI's functions for buffers take
 * no argument; one lock protects it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda_work.h"

#include "base/mem.h"
#include "device/cupti_find.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { BUFFER_BYTES = 1 << 20, CALLS_MAX = 4096, ENTRIES_MAX = 1 << 22, CLOCK_READINGS = 8 };

typedef struct entry {
	uint64_t ns, start; /* start: of a work, on CUPTI's clock */
	uint32_t correlation;
} entry;

typedef struct entries {
	entry *item; /* @owned */
	size_t n, cap;
} entries;

static const cupti_kind kinds[] = {CUPTI_API_KERNEL, CUPTI_API_COPY, CUPTI_API_COPY_PEER,
				   CUPTI_API_SET};
enum { KINDS = sizeof kinds / sizeof *kinds };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cupti_functions cupti;
static cupti_subscriber subscriber;
static bool recording, records_lost;
static bool enqueues[CUPTI_API_RUNTIME + 1][CALLS_MAX];
static entries calls, works; /* works: ns is the duration */
/* Readings of CUPTI's clock and of ours, at the beginning and the end of the recording. */
static struct {
	uint64_t theirs, ours;
} clocks[2];

static void entry_add(entries *e, uint32_t correlation, uint64_t ns, uint64_t start)
{
	if (e->n >= ENTRIES_MAX || !mem_reserve(&e->item, &e->cap, e->n + 1, sizeof *e->item)) {
		records_lost = true;
		return;
	}
	e->item[e->n++] = (entry){ns, start, correlation};
}

static void entries_done(entries *e)
{
	mem_free(e->item);
	*e = (entries){0};
}

static uint64_t work_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work_called(void *self, cupti_domain domain, cupti_call call, const void *data)
{
	const cupti_call_data *d = data;

	(void)self;
	if (domain < CUPTI_API_DRIVER || domain > CUPTI_API_RUNTIME || call >= CALLS_MAX ||
	    d->site != CUPTI_CALL_BEGINS || !enqueues[domain][call])
		return;
	const uint64_t now_ns = work_now();
	pthread_mutex_lock(&lock);
	if (recording)
		entry_add(&calls, d->correlation, now_ns, 0);
	pthread_mutex_unlock(&lock);
}

/* --- records */

static void work_record(uint64_t start, uint64_t end, uint32_t correlation)
{
	if (start && end >= start)
		entry_add(&works, correlation, end - start, start);
	else
		records_lost = true;
}

static void work_read(const cupti_record *record)
{
	const void *r = record;

#define READ(type)                                                    \
	work_record(((const type *)r)->start, ((const type *)r)->end, \
		    ((const type *)r)->correlation)
	switch (record->kind) {
	case CUPTI_API_KERNEL:
		READ(cupti_kernel);
		break;
	case CUPTI_API_COPY:
		READ(cupti_copy);
		break;
	case CUPTI_API_COPY_PEER:
		READ(cupti_copy_peer);
		break;
	case CUPTI_API_SET:
		READ(cupti_set);
		break;
	default:
		break;
	}
#undef READ
}

static void work_buffer(uint8_t **buffer, size_t *size, size_t *records_max)
{
	*buffer = mem_alloc(BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*records_max = 0; /* the number that fits */
}

static void work_buffer_read(cupti_context context, uint32_t stream, uint8_t *buffer, size_t size,
			     size_t valid)
{
	cupti_record *record = NULL;
	size_t dropped = 0;

	(void)size;
	pthread_mutex_lock(&lock);
	while (recording && valid && cupti.next_record(buffer, valid, &record) == CUPTI_API_SUCCESS)
		work_read(record);
	if (cupti.dropped(context, stream, &dropped) == CUPTI_API_SUCCESS && dropped)
		records_lost = true;
	pthread_mutex_unlock(&lock);
	mem_free(buffer);
}

/* --- begin and end */

static void calls_enable(bool on)
{
	for (cupti_domain d = CUPTI_API_DRIVER; d <= CUPTI_API_RUNTIME; d++)
		for (uint32_t call = 1; call < CALLS_MAX; call++) {
			const char *name = NULL;

			if (cupti.call_name(d, call, &name) != CUPTI_API_SUCCESS || !name ||
			    !cupti_call_enqueues(name))
				continue;
			enqueues[d][call] = on;
			cupti.enable_callback(on, subscriber, d, call);
		}
}

static void work_stop(void)
{
	for (size_t i = 0; i < KINDS; i++)
		cupti.disable(kinds[i]);
	cupti.unsubscribe(subscriber);
}

static const char *work_start(void)
{
	cupti_result result = cupti.subscribe(&subscriber, work_called, NULL);

	if (result != CUPTI_API_SUCCESS)
		return cupti_failed(&cupti, "cuptiSubscribe()", result);
	const char *what = "cuptiActivityRegisterCallbacks()";
	result = cupti.register_buffers(work_buffer, work_buffer_read);
	for (size_t i = 0; i < KINDS && result == CUPTI_API_SUCCESS; i++) {
		what = "cuptiActivityEnable()";
		result = cupti.enable(kinds[i]);
	}
	if (result == CUPTI_API_SUCCESS)
		return NULL;
	work_stop();
	return cupti_failed(&cupti, what, result);
}

/* Reads both clocks; without CUPTI's none of its times can be converted. */
static void work_clocks_read(size_t i)
{
	uint64_t narrowest = UINT64_MAX, theirs = 0;
	bool known = true;

	/* One of them is not interrupted. */
	for (int k = 0; k < CLOCK_READINGS && known; k++) {
		const uint64_t before = work_now();
		known = cupti.timestamp(&theirs) == CUPTI_API_SUCCESS;
		const uint64_t took = work_now() - before;
		if (took >= narrowest)
			continue;
		narrowest = took;
		clocks[i].theirs = theirs;
		clocks[i].ours = before + took / 2;
	}
	pthread_mutex_lock(&lock);
	records_lost |= !known;
	pthread_mutex_unlock(&lock);
}

/* Converts a time of CUPTI's, between the two readings of the clocks. */
static uint64_t work_time(uint64_t theirs)
{
	const double span = (double)(clocks[1].theirs - clocks[0].theirs),
		     rate = span > 0 ? (double)(clocks[1].ours - clocks[0].ours) / span : 1;

	return clocks[0].ours +
	       (uint64_t)(int64_t)(rate * (double)(int64_t)(theirs - clocks[0].theirs));
}

bool cuda_work_begin(const char **ret_why)
{
	*ret_why = "another recording of CUDA's work has not ended";
	if (recording)
		return false;
	if (!cupti_load(&cupti, ret_why))
		return false;
	*ret_why = work_start();
	if (*ret_why)
		return false;
	records_lost = false;
	work_clocks_read(0);
	recording = true;
	calls_enable(true);
	return true;
}

static int by_correlation(const void *a, const void *b)
{
	const entry *x = a, *y = b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_call(const void *a, const void *b)
{
	const cuda_work *x = a, *y = b;

	return (x->called_ns > y->called_ns) - (x->called_ns < y->called_ns);
}

/* Work does not begin before its call: the readings of the clocks are off by a little. */
static cuda_work work_make(uint64_t called_ns, const entry *e)
{
	const uint64_t began_ns = work_time(e->start);

	return (cuda_work){called_ns, e->ns, began_ns > called_ns ? began_ns : called_ns};
}

/* Finds the call of each work; those without one were enqueued before the recording began. Returns
 * their number. */
static size_t works_join(cuda_work *ret)
{
	size_t k = 0, n = 0;

	qsort(calls.item, calls.n, sizeof *calls.item, by_correlation);
	qsort(works.item, works.n, sizeof *works.item, by_correlation);
	for (size_t i = 0; i < works.n; i++) {
		while (k < calls.n && calls.item[k].correlation < works.item[i].correlation)
			k++;
		if (k < calls.n && calls.item[k].correlation == works.item[i].correlation)
			ret[n++] = work_make(calls.item[k].ns, &works.item[i]);
	}
	qsort(ret, n, sizeof *ret, by_call);
	return n;
}

size_t cuda_work_end(cuda_work **ret)
{
	size_t n = 0;

	*ret = NULL;
	if (!recording)
		return 0;
	calls_enable(false);
	cupti.flush(CUPTI_API_FLUSH_FORCED);
	work_clocks_read(1);
	work_stop();
	pthread_mutex_lock(&lock);
	recording = false;
	if (!records_lost && works.n)
		*ret = mem_zalloc(works.n, sizeof **ret);
	if (*ret)
		n = works_join(*ret);
	entries_done(&calls);
	entries_done(&works);
	pthread_mutex_unlock(&lock);
	if (!n) {
		mem_free(*ret);
		*ret = NULL;
	}
	return n;
}
