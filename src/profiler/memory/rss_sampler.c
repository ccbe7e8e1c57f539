/* rss_sampler.c - sampling thread: reads the resident memory of a process tree, and the live bytes
 * of its heaps, at a fixed rate.
 *
 * A sample reads the mapped headers of heap files, walks the process tree (breadth first,
 * /proc/PID/task/TID/children), and reads /proc/PID/status of each process (proc(5)), but counts an
 * address space that two of them have once (kcmp(2)). A process whose parent exited is found by its
 * heap file. The proportional share (Pss in smaps_rollup) costs the kernel milliseconds per GiB,
 * for which it holds the process's lock of mappings. It is read once a second, and less often where
 * a reading takes more than SHARE_COST_PERCENT of a second. The directory of the heap files is
 * searched at every fourth sample, and for SEARCH_COST_PERCENT of the time at most: a build may
 * leave thousands of files.
 *
 * Memory is bounded: the series is decimated when WATCH_KEPT_MAX samples are retained, and peaks
 * cover all samples. The thread waits for the due time of the next sample on a condition variable
 * of CLOCK_MONOTONIC, so it does not drift, and stops at once. It skips the samples that it is too
 * late for.
 *
 * Until rss_sampler_stop() has joined the thread, that thread alone uses `looks` and `heaps`; the
 * mutex guards `stopping`. The thread also stores the time in the headers (now_ns), from which
 * hooks date a peak without reading a clock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/rss_sampler.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/id_table.h"
#include "base/mem.h"
#include "os/process/other_process.h"
#include "profiler/preload/heap/heap_region.h"
#include "os/os.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
	HEAPS_EVERY = 4,
	HEAPS_MAX = 4096, /* of processes that run at one time */
	SHARE_COST_PERCENT = 1,
	SEARCH_COST_PERCENT = 5
};
static const uint64_t share_every_ns = 1000000000u;

/* The mapped header of a process's heap: its live bytes are read, the time is written. */
typedef struct heap_seen {
	heap_header *header;
	size_t bytes;
	bool done; /* its process has ended, or become another program */
	bool here; /* that is the process of its number here */
} heap_seen;

struct rss_sampler {
	long pid;
	uint64_t period_ns, began_ns, next_share_ns, next_search_ns;
	const char *directory; /* directory of the heap files; NULL: none */
	mem_arena *arena;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stops;
	bool stopping;
	rss_samples looks;
	uint64_t every;	  /* interval of retained samples, in samples */
	heap_seen *heaps; /* of processes that run */
	size_t nheaps;
	hash_map known; /* hashes of the names of all files that were mapped */
	/* The processes of a sample: their numbers, the rows of their parents (the own row: none
	 * that is known), and their memory. */
	long pids[WATCH_PROCESSES_MAX];
	size_t parents[WATCH_PROCESSES_MAX];
	os_resident residents[WATCH_PROCESSES_MAX];
};

/* --- processes */

/* Returns whether the heap's process has its number here, which one in another PID namespace has
 * not. Otherwise its end is not known. */
static bool heap_is_here(const rss_sampler *w, heap_seen *h)
{
	char name[64];

	if (!h->here && !h->done) {
		snprintf(name, sizeof name, "%s/%lld.", os_path_base(w->directory),
			 (long long)h->header->pid);
		h->here = os_process_maps((int)h->header->pid, name, false);
		h->done = !h->here;
	}
	return h->here && !h->done;
}

static size_t processes_find(rss_sampler *w)
{
	size_t n = 0;

	w->parents[n] = n;
	w->pids[n++] = w->pid;
	for (size_t i = 0; i < n; i++)
		for (size_t more =
			 os_process_children(w->pids[i], w->pids + n, WATCH_PROCESSES_MAX - n);
		     more > 0; more--)
			w->parents[n++] = i;
	/* A process whose parent exited has a heap file. */
	for (size_t i = 0; i < w->nheaps && n < WATCH_PROCESSES_MAX; i++) {
		const long pid = (long)w->heaps[i].header->pid;
		size_t k = 0;

		if (w->heaps[i].done)
			continue;
		while (k < n && w->pids[k] != pid)
			k++;
		if (k < n || !heap_is_here(w, &w->heaps[i]))
			continue;
		w->parents[n] = n;
		w->pids[n++] = pid;
	}
	return n;
}

/* Reads the memory of process i. Returns whether it adds to the sum: one between vfork() and exec()
 * has its parent's. *ret_lives: it runs. */
static bool process_adds(rss_sampler *w, size_t i, bool *ret_lives)
{
	const size_t parent = w->parents[i];
	os_resident *own = &w->residents[i], *its = &w->residents[parent];
	/* First: it may call exec() at any time. */
	const int same = parent == i ? 0 : os_same_memory(w->pids[parent], w->pids[i]);

	*ret_lives = os_resident_get(w->pids[i], own);
	if (!*ret_lives)
		*own = (os_resident){0};
	if (same >= 0)
		return *ret_lives && !same;
	return *ret_lives && (own->all != its->all || own->anonymous != its->anonymous ||
			      own->file != its->file || own->shared != its->shared);
}

/* --- heaps */

static void heap_found(void *self, const char *path)
{
	rss_sampler *w = self;
	const uint64_t name = hash_text(HASH_START, os_path_base(path)) | 1;
	heap_seen h = {0};

	if (w->nheaps == HEAPS_MAX || hash_map_find(&w->known, name))
		return;
	h.header = os_file_map(path, true, HEAP_AT_MODULES, &h.bytes);
	if (!h.header)
		return;
	if (h.bytes < sizeof *h.header || !atomic_load(&h.header->ready)) {
		os_file_unmap(h.header, h.bytes); /* not initialised yet */
		return;
	}
	if (!hash_map_put(&w->known, name, 1)) {
		os_file_unmap(h.header, h.bytes);
		return;
	}
	/* After exec() a process has another heap: the older one was unmapped. */
	for (size_t i = 0; i < w->nheaps; i++) {
		heap_seen *other = &w->heaps[i];

		if (other->header->pid != h.header->pid)
			continue;
		if (other->header->began_ns < h.header->began_ns)
			other->done = true;
		else
			h.done = true;
	}
	w->heaps[w->nheaps++] = h;
}

static void heaps_search(rss_sampler *w, uint64_t now)
{
	for (size_t i = 0; i < w->nheaps;) {
		if (!w->heaps[i].done) {
			i++;
			continue;
		}
		os_file_unmap(w->heaps[i].header, w->heaps[i].bytes);
		w->heaps[i] = w->heaps[--w->nheaps];
	}
	os_glob_each(w->directory, "*" HEAP_FILE_END, heap_found, w);
	w->next_search_ns = now + (os_now_ns() - now) * (100 / SEARCH_COST_PERCENT);
}

static double heaps_look(rss_sampler *w, uint64_t now)
{
	double sum = 0;

	if (w->directory && w->looks.looks % HEAPS_EVERY == 0 && now >= w->next_search_ns)
		heaps_search(w, now);
	for (size_t i = 0; i < w->nheaps; i++) {
		heap_seen *h = &w->heaps[i];

		if (h->done)
			continue;
		atomic_store_explicit(&h->header->now_ns, now, memory_order_relaxed);
		const int64_t live =
		    atomic_load_explicit(&h->header->total[HEAP_BLOCKS].live, memory_order_relaxed);
		sum += live > 0 ? (double)live : 0;
	}
	return sum;
}

static void heap_ended(rss_sampler *w, long pid)
{
	for (size_t i = 0; i < w->nheaps; i++)
		if (w->heaps[i].header->pid == pid)
			w->heaps[i].done = true;
}

/* --- one sample */

static void watch_keep(rss_sampler *w, uint64_t at_ns, const double value[WATCH_PARTS])
{
	rss_samples *l = &w->looks;

	if (l->looks % w->every)
		return;
	if (l->n == WATCH_KEPT_MAX) {
		for (size_t i = 0; i < l->n / 2; i++) {
			l->at_ns[i] = l->at_ns[2 * i];
			for (int p = 0; p < WATCH_PARTS; p++)
				l->values[p][i] = l->values[p][2 * i];
		}
		l->n /= 2;
		w->every *= 2;
	}
	l->at_ns[l->n] = at_ns;
	for (int p = 0; p < WATCH_PARTS; p++)
		l->values[p][l->n] = value[p];
	l->n++;
}

static void rss_sample(rss_sampler *w)
{
	rss_samples *l = &w->looks;
	const uint64_t now = os_now_ns(), at = now - w->began_ns;
	const bool share = now >= w->next_share_ns;
	double value[WATCH_PARTS] = {0}, shares = 0;
	bool lives = false;

	value[WATCH_HEAP] = heaps_look(w, now);
	const size_t n = processes_find(w);
	l->cut = l->cut || n == WATCH_PROCESSES_MAX;
	for (size_t i = 0; i < n; i++) {
		const os_resident *r = &w->residents[i];
		bool runs;
		const bool adds = process_adds(w, i, &runs);

		lives = lives || runs;
		if (!runs)
			heap_ended(w, w->pids[i]);
		if (!adds)
			continue;
		value[WATCH_RSS] += (double)r->all;
		value[WATCH_ANONYMOUS] += (double)r->anonymous;
		value[WATCH_FILE] += (double)(r->file + r->shared);
		shares += share ? (double)os_resident_share(w->pids[i]) : 0;
	}
	if (share) {
		l->peak_share = shares > l->peak_share ? shares : l->peak_share;
		const uint64_t rest_ns = (os_now_ns() - now) * (100 / SHARE_COST_PERCENT);
		w->next_share_ns = now + (rest_ns > share_every_ns ? rest_ns : share_every_ns);
	}
	for (int p = 0; p < WATCH_PARTS; p++)
		if (value[p] > l->peak[p]) {
			l->peak[p] = value[p];
			l->peak_at_ns[p] = at;
		}
	/* A zombie process has no memory: its zeros are not a sample. */
	if (lives)
		watch_keep(w, at, value);
	l->looks++;
}

static void *looking(void *self)
{
	rss_sampler *w = self;
	const uint64_t cpu = os_thread_cpu_ns();
	uint64_t due = os_now_ns();

	pthread_mutex_lock(&w->lock);
	while (!w->stopping) {
		struct timespec until;

		pthread_mutex_unlock(&w->lock);
		rss_sample(w);
		pthread_mutex_lock(&w->lock);
		const uint64_t now = os_now_ns();
		due = due + w->period_ns > now ? due + w->period_ns : now + w->period_ns;
		until = (struct timespec){.tv_sec = (time_t)(due / 1000000000u),
					  .tv_nsec = (long)(due % 1000000000u)};
		if (!w->stopping)
			pthread_cond_timedwait(&w->stops, &w->lock, &until);
	}
	pthread_mutex_unlock(&w->lock);
	w->looks.cost_ns = os_thread_cpu_ns() - cpu;
	return NULL;
}

/* --- beginning and end */

static void watch_free(rss_sampler *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nheaps; i++)
		os_file_unmap(w->heaps[i].header, w->heaps[i].bytes);
	mem_free(w->heaps);
	hash_map_done(&w->known);
	rss_samples_done(&w->looks);
	mem_arena_free(w->arena);
	mem_free(w);
}

static bool watch_room_make(rss_sampler *w, const char *directory)
{
	rss_samples *l = &w->looks;

	w->arena = mem_arena_new(0);
	w->heaps = mem_zalloc(HEAPS_MAX, sizeof *w->heaps);
	l->at_ns = mem_zalloc(WATCH_KEPT_MAX, sizeof *l->at_ns);
	for (int p = 0; p < WATCH_PARTS; p++)
		if (!(l->values[p] = mem_zalloc(WATCH_KEPT_MAX, sizeof *l->values[p])))
			return false;
	if (!w->arena || !w->heaps || !l->at_ns)
		return false;
	w->directory = directory ? mem_arena_dup(w->arena, directory) : NULL;
	return !mem_arena_failed(w->arena);
}

dck_status rss_sampler_start(long pid, double rate_hz, uint64_t began_ns, const char *directory,
			     rss_sampler **ret, dck_err *err)
{
	pthread_condattr_t monotonic;
	rss_sampler *w = mem_zalloc(1, sizeof *w);

	if (!w || !watch_room_make(w, directory)) {
		watch_free(w);
		return ERR_NO_MEMORY(err, "to watch a program");
	}
	w->pid = pid;
	w->every = 1;
	w->period_ns = (uint64_t)(1e9 / rate_hz);
	w->began_ns = began_ns;
	w->next_share_ns = w->began_ns + share_every_ns / 4;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->stops, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&w->thread, NULL, looking, w) != 0) {
		watch_free(w);
		DCK_FAIL(err, E_LIMIT, "no thread can be started to watch a program");
	}
	*ret = w;
	return DCK_OK;
}

void rss_sampler_stop(rss_sampler *w, rss_samples *ret)
{
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->stops);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->stops);
	pthread_mutex_destroy(&w->lock);
	*ret = w->looks;
	w->looks = (rss_samples){0};
	watch_free(w);
}

void rss_samples_done(rss_samples *l)
{
	mem_free(l->at_ns);
	for (int p = 0; p < WATCH_PARTS; p++)
		mem_free(l->values[p]);
	*l = (rss_samples){0};
}
