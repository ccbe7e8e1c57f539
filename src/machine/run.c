/* run.c - runs the microbenchmarks of a machine: arithmetic peaks, bandwidths, clock rate.
 *
 * Passes are interleaved: each pass runs a few rounds of every item, and the passes are repeated.
 * So a disturbance (another program, another virtual machine of the host) spoils one pass and not
 * one item. The first round of an item in a pass warms up and is not counted.
 *
 * Before an item's first rounds its repetitions are calibrated to a given time for a round, and of
 * several loops for a memory level the fastest is chosen by trials in turn. An item for all threads
 * reuses what was found for one thread. Caches are walked in a slice for each thread; DRAM is a
 * circle of chunks, so that a chunk has left the caches before it is walked again. Each thread
 * first touches its own slice, so that the kernel places the pages in its memory node (first
 * touch). Where cores are of different kinds, arithmetic and caches are measured with work in
 * proportion to each core's rate, so that all threads end together.
 *
 * One thread controls everything; the pool's threads (pool.c) run the *_work() functions, which
 * only read `run` but for hz[thread] and share[thread]. Time is bounded by effort.limit_ns, and
 * cancellation is checked between items. BLAS comes first, because it forks before there are
 * threads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "base/err.h"
#include "base/observer.h"
#include "os/os.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The arrays of one walk begin at different offsets of a page: a load that follows a store to the
 * same offset of another page looks like the same address to the processor, which waits (4 KiB
 * aliasing). */
#define SKEW  1344u
#define PAGE  4096u
#define SLACK (4u * PAGE)

/* Memory is walked in chunks, in a circle: before a chunk comes again, all others have passed
 * through the caches. */
enum { CHUNKS = 24 };

typedef struct effort {
	unsigned passes, rounds; /* rounds of a pass that count, after one that does not */
	double round_ns;
	double limit_ns; /* of all passes: on a busy machine the rest is skipped */
} effort;
static const effort thorough = {5, 5, 2e6, 8e9}, nonblocking = {2, 3, 1e6, 4e9};

typedef struct run {
	const machine_run_config *ask;
	const effort *effort;
	machine_result *r;
	machine_pool *pool;
	uint64_t began_ns, passes_began_ns;
	unsigned char *cache; /* a slice for each thread */
	size_t cache_bytes, cache_stride;
	/* [0]: the memory of thread 0 when it runs alone, [1]: the memory of all threads. On a
	 * machine with one memory node the two are the same. */
	unsigned char *dram[2];
	size_t dram_bytes, chunk_bytes;
	uint64_t cursor;		/* the next chunk */
	machine_item *item;		/* that runs now */
	const machine_item *weighed;	/* the item that `share` is of */
	double share[MACHINE_CPUS_MAX]; /* work of each thread over that of the fastest */
	double hz[MACHINE_CPUS_MAX];	/* of each thread's core, after the last loop */
} run;

/* --- the list */

static void add_peaks(run *u, unsigned threads, const char *suffix)
{
	char tag[48];
	size_t n;
	const machine_peak *all = machine_peaks(&n);

	for (size_t i = 0; i < n; i++) {
		if (!machine_isa_has(u->ask->isa, all[i].needs))
			continue;
		snprintf(tag, sizeof tag, "peak/%s/%s/%s", machine_type_names[all[i].type],
			 all[i].isa, suffix);
		machine_item *item = machine_add(u->r, tag, threads);
		if (item)
			item->peak = &all[i];
	}
}

/* Returns the first loop of that kind that this processor can run, after `after` (NULL: of all). */
static const machine_stream *stream_next(uint32_t isa, machine_stream_kind kind,
					 const machine_stream *after)
{
	size_t n;
	const machine_stream *all = machine_streams(&n);

	for (const machine_stream *s = after ? after + 1 : all; s < all + n; s++)
		if (s->kind == kind && machine_stream_usable(s, isa))
			return s;
	return NULL;
}

static void add_streams(run *u, unsigned threads, const char *suffix)
{
	char tag[48];

	for (int level = MACHINE_L1; level < MACHINE_LEVELS; level++) {
		const char *why = NULL;
		uint64_t bytes = machine_level_bytes(u->ask->topology, (machine_level)level,
						     threads, u->ask->quick, &why);

		for (int k = 0; k < MACHINE_STREAMS; k++) {
			snprintf(tag, sizeof tag, "bandwidth/%s_%s/%s", machine_level_names[level],
				 machine_stream_names[k], suffix);
			machine_item *item = machine_add(u->r, tag, threads);
			if (!item)
				return;
			item->stream = stream_next(u->ask->isa, (machine_stream_kind)k, NULL);
			item->level = (machine_level)level;
			item->set_bytes = level == MACHINE_DRAM ? bytes : bytes * threads;
			item->absent = bytes == 0 ? why : NULL;
			if (!item->stream)
				item->absent = "no such instruction is known here";
		}
	}
}

/* --- the timed part */

static uint64_t repetitions_of(const run *u, const machine_item *i, unsigned thread)
{
	if (u->weighed != i)
		return i->repetitions;
	return (uint64_t)fmax(1, (double)i->repetitions * u->share[thread]);
}

static void peak_work(void *self, unsigned thread, unsigned threads, unsigned round)
{
	const run *u = self;

	(void)threads, (void)round;
	u->item->peak->run(repetitions_of(u, u->item, thread));
}

/* Runs the loop and measures the clock rate right after it: cores lower it for wide registers, for
 * up to a millisecond, and by how many of them work. The best of a few short chains counts, since
 * one may be interrupted. */
static void clocked_work(void *self, unsigned thread, unsigned threads, unsigned round)
{
	enum { CHAINS = 5, REPETITIONS = 4000 };
	run *u = self;

	peak_work(self, thread, threads, round);
	u->hz[thread] = 0;
	for (int i = 0; i < CHAINS; i++) {
		const uint64_t begin = os_now_ns(), n = machine_chain(REPETITIONS);
		u->hz[thread] =
		    fmax(u->hz[thread], (double)n / (double)(os_now_ns() - begin) * 1e9);
	}
}

static void chain_work(void *self, unsigned thread, unsigned threads, unsigned round)
{
	(void)thread, (void)threads, (void)round;
	machine_chain(((const run *)self)->item->repetitions);
}

static unsigned arrays_of(const machine_item *i)
{
	return machine_stream_arrays[i->stream->kind];
}

static size_t array_bytes(size_t set, unsigned arrays)
{
	return set / arrays / MACHINE_STREAM_BLOCK * MACHINE_STREAM_BLOCK;
}

static void cache_work(void *self, unsigned thread, unsigned threads, unsigned round)
{
	const run *u = self;
	const machine_item *i = u->item;
	const size_t bytes = array_bytes(i->set_bytes / threads, arrays_of(i));
	const size_t next = (bytes + PAGE - 1) / PAGE * PAGE + SKEW;
	unsigned char *a = u->cache + thread * u->cache_stride;

	(void)round;
	i->stream->run(a, a + next, a + 2 * next, bytes, repetitions_of(u, i, thread));
}

/* Returns how many chunks one round walks. */
static unsigned chunks_of(const machine_stream *s)
{
	return machine_stream_arrays[s->kind] == 2 ? 4 : 3;
}

static size_t slice_bytes(const run *u, unsigned threads)
{
	return array_bytes(u->chunk_bytes - SLACK, threads);
}

static void dram_work(void *self, unsigned thread, unsigned threads, unsigned round)
{
	const run *u = self;
	const machine_stream *s = u->item->stream;
	const size_t bytes = slice_bytes(u, threads);
	const unsigned n = chunks_of(s);
	unsigned char *base = u->dram[threads > 1] + thread * bytes, *a[3] = {base, base, base};

	for (unsigned k = 0; k < n; k += machine_stream_arrays[s->kind]) {
		for (unsigned j = 0; j < machine_stream_arrays[s->kind]; j++) {
			uint64_t chunk = (u->cursor + (uint64_t)round * n + k + j) % CHUNKS;
			a[j] = base + chunk * u->chunk_bytes + j * SKEW;
		}
		s->run(a[0], a[1], a[2], bytes, 1);
	}
}

static machine_work work_of(const machine_item *i)
{
	return i->peak			  ? peak_work
	       : i->chain		  ? chain_work
	       : i->level == MACHINE_DRAM ? dram_work
					  : cache_work;
}

/* Returns the operations or bytes of one round, of all threads together. */
static double round_work(const run *u, const machine_item *i)
{
	double repetitions = 0;

	for (unsigned k = 0; k < i->threads; k++)
		repetitions += (double)repetitions_of(u, i, k);
	if (i->chain)
		return (double)i->repetitions * 16;
	if (i->peak) {
		/* If the length of the registers is unknown, the loop counts its operations. */
		double operations = i->peak->operations;
		return repetitions * (operations > 0 ? operations : 2 * i->peak->run(1));
	}
	if (i->level == MACHINE_DRAM)
		return (double)slice_bytes(u, i->threads) * i->threads * chunks_of(i->stream);
	return repetitions * arrays_of(i) *
	       (double)array_bytes(i->set_bytes / i->threads, arrays_of(i));
}

static void machine_rounds(run *u, machine_item *i, unsigned n, double *ret_ns)
{
	u->item = i;
	machine_pool_run(u->pool, i->threads, n, work_of(i), u, ret_ns);
	if (i->stream && i->level == MACHINE_DRAM)
		u->cursor += (uint64_t)n * chunks_of(i->stream);
}

static double machine_least(const double *ns, unsigned n)
{
	double v = INFINITY;

	for (unsigned k = 0; k < n; k++)
		v = fmin(v, ns[k]);
	return v;
}

/* Measures how fast each thread's core is when all work. Equal work would make the slowest kind of
 * cores the limit of all: a rate would be that of efficiency cores, times the number of all. */
static void weighing_work(void *self, unsigned thread, unsigned threads, unsigned round)
{
	run *u = self;
	const uint64_t begin = os_now_ns();

	work_of(u->item)(self, thread, threads, round);
	u->share[thread] = fmin(u->share[thread], (double)(os_now_ns() - begin));
}

static void machine_weigh(run *u, machine_item *i)
{
	double least = INFINITY;

	u->weighed = NULL;
	for (unsigned k = 0; k < i->threads; k++)
		u->share[k] = INFINITY;
	u->item = i;
	machine_pool_run(u->pool, i->threads, 3, weighing_work, u, NULL);
	for (unsigned k = 0; k < i->threads; k++)
		least = fmin(least, u->share[k]);
	for (unsigned k = 0; k < i->threads; k++)
		u->share[k] = least > 0 ? least / u->share[k] : 1;
	u->weighed = i;
	i->work = round_work(u, i);
}

/* Calibrates the repetitions so that a round takes the given time. The fastest of three rounds
 * decides, because a round that another program interrupted would seem long enough. */
static void machine_calibrate(run *u, machine_item *i)
{
	const double want = u->effort->round_ns;
	double ns[3];

	i->repetitions = 1;
	if (i->stream && i->level == MACHINE_DRAM)
		return;
	for (int tries = 0; tries < 20; tries++) {
		machine_rounds(u, i, 3, ns);
		double took = machine_least(ns, 3), more = took > 0 ? want / took : 64;
		if (more < 3) {
			i->repetitions = (uint64_t)fmax(1, (double)i->repetitions * more);
			return;
		}
		i->repetitions = (uint64_t)((double)i->repetitions * fmin(more, 64));
	}
}

static void machine_prepare(run *u, machine_item *i)
{
	machine_calibrate(u, i);
	i->work = round_work(u, i);
}

/* Finds the fastest loop for that level. The loops take turns with a few rounds each, several
 * times, so that a disturbance does not hit one loop only. */
static void machine_choose(run *u, machine_item *i)
{
	enum { LOOPS_MAX = 8, SWEEPS = 3, ROUNDS = 3 };
	struct {
		const machine_stream *stream;
		uint64_t repetitions;
		double work, rate;
	} loop[LOOPS_MAX] = {{0}};
	unsigned n = 0, best = 0;
	double ns[ROUNDS];

	for (const machine_stream *s = i->stream; s && n < LOOPS_MAX;
	     s = stream_next(u->ask->isa, s->kind, s)) {
		i->stream = s;
		machine_prepare(u, i);
		loop[n].stream = s;
		loop[n].repetitions = i->repetitions;
		loop[n].work = i->work;
		loop[n++].rate = 0;
	}
	for (unsigned k = 0; n > 1 && k < SWEEPS * n; k++) {
		i->stream = loop[k % n].stream;
		i->repetitions = loop[k % n].repetitions;
		machine_rounds(u, i, ROUNDS, ns);
		loop[k % n].rate =
		    fmax(loop[k % n].rate, loop[k % n].work / machine_least(ns, ROUNDS));
	}
	for (unsigned k = 1; k < n; k++)
		if (loop[k].rate > loop[best].rate)
			best = k;
	i->stream = loop[best].stream;
	i->repetitions = loop[best].repetitions;
	i->work = loop[best].work;
}

/* Returns the item of the same kind for one thread, whose calibration is reused; NULL: none. This
 * saves time where other programs run, since threads then wait for each other in every round. */
static const machine_item *twin(const run *u, const machine_item *i)
{
	char tag[sizeof i->tag];

	if (i->threads == 1)
		return NULL;
	snprintf(tag, sizeof tag, "%s", i->tag);
	snprintf(strrchr(tag, '/'), 3, "/1");
	return machine_find(u->r, tag);
}

static void first_time(run *u, machine_item *i)
{
	const machine_item *one = twin(u, i);

	if (one && one->repetitions > 0) {
		i->stream = one->stream;
		i->repetitions = one->repetitions;
		i->work = round_work(u, i);
	} else if (i->stream) {
		machine_choose(u, i);
	} else {
		machine_prepare(u, i);
	}
}

/* Measures the clock rates of all threads' cores and adds them. Threads beyond the cores share
 * them. */
static void clock_take(run *u, machine_item *i)
{
	const unsigned cores = u->ask->topology->cores;
	double sum = 0;

	u->item = i;
	machine_pool_run(u->pool, i->threads, 1, clocked_work, u, NULL);
	for (unsigned k = 0; k < i->threads; k++)
		sum += u->hz[k];
	if (cores > 0 && i->threads > cores)
		sum *= (double)cores / i->threads;
	i->clock_hz = sum;
}

static void measure_item(run *u, machine_item *i)
{
	const unsigned n = u->effort->rounds + 1;
	const double want = u->effort->round_ns;
	const bool fixed = i->stream && i->level == MACHINE_DRAM;
	const double before = machine_best(i);
	double ns[16];

	assert(n <= sizeof ns / sizeof *ns);
	if (i->repetitions == 0)
		first_time(u, i);
	if (u->ask->topology->uneven && i->threads > 1 && !fixed)
		machine_weigh(u, i);
	machine_rounds(u, i, n, ns);
	if (!fixed && machine_least(ns, n) < want / 3) {
		machine_prepare(u, i);
		machine_rounds(u, i, n, ns);
	}
	for (unsigned k = 1; k < n && i->n < MACHINE_ROUNDS_MAX; k++)
		if (ns[k] > 0)
			i->value[i->n++] = i->work / ns[k] * 1e9;
	/* The rate that counts belongs to the best round. */
	if (i->peak && i->peak->steps > 0 && !(machine_best(i) <= before))
		clock_take(u, i);
	if (!fixed && machine_least(ns, n) > 3 * want) {
		i->repetitions =
		    (uint64_t)fmax(1, (double)i->repetitions * want / machine_least(ns, n));
		i->work = round_work(u, i);
	}
}

/* --- memory */

static void machine_touch(unsigned char *p, size_t n)
{
	for (size_t at = 0; at < n; at += PAGE)
		((volatile unsigned char *)p)[at] = 1;
}

static void touch_cache(void *self, unsigned thread, unsigned threads, unsigned round)
{
	const run *u = self;

	(void)threads, (void)round;
	machine_touch(u->cache + thread * u->cache_stride, u->cache_stride);
}

/* First touch: each thread touches its own part, so that the system places it on the thread's NUMA
 * node. */
static void touch_dram(void *self, unsigned thread, unsigned threads, unsigned round)
{
	const run *u = self;
	const size_t bytes = slice_bytes(u, threads);
	const size_t all = thread + 1 == threads ? u->chunk_bytes - thread * bytes : bytes;

	(void)round;
	machine_touch(u->dram[threads > 1] + u->cursor * u->chunk_bytes + thread * bytes, all);
}

/* A gigabyte of new pages may take seconds, so cancellation is checked between chunks. */
static void dram_touch_all(run *u, unsigned threads)
{
	for (u->cursor = 0; u->cursor < CHUNKS && !observer_cancelled(u->ask->watch); u->cursor++)
		machine_pool_run(u->pool, threads, 1, touch_dram, u, NULL);
	u->cursor = 0;
}

static unsigned char *pages(size_t n)
{
	unsigned char *p = os_pages_reserve(n);

	if (p)
		os_pages_large(p, n);
	return p;
}

static void absent_all(run *u, bool dram, const char *why)
{
	for (size_t i = 0; i < u->r->n; i++) {
		machine_item *item = &u->r->item[i];
		if (item->stream && !item->absent && (item->level == MACHINE_DRAM) == dram)
			item->absent = why;
	}
}

static void memory_open(run *u)
{
	static const char *const why = "the system has no memory for it";
	const unsigned threads = u->ask->threads;
	size_t most = 0;

	for (size_t i = 0; i < u->r->n; i++) {
		const machine_item *item = &u->r->item[i];
		if (!item->stream || item->absent)
			continue;
		if (item->level == MACHINE_DRAM)
			u->dram_bytes = item->set_bytes;
		else if (item->set_bytes / item->threads > most)
			most = item->set_bytes / item->threads;
	}
	if (most > 0) {
		u->cache_stride = most + SLACK;
		u->cache_bytes = u->cache_stride * threads;
		u->cache = pages(u->cache_bytes);
		if (u->cache)
			machine_pool_run(u->pool, threads, 1, touch_cache, u, NULL);
		else
			absent_all(u, false, why);
	}
	if (u->dram_bytes == 0)
		return;
	const bool apart = threads > 1 && u->ask->topology->nodes > 1;
	u->chunk_bytes = u->dram_bytes / CHUNKS / PAGE * PAGE;
	u->dram[0] = pages(u->dram_bytes);
	u->dram[1] = apart ? pages(u->dram_bytes) : u->dram[0];
	if (!u->dram[0] || !u->dram[1]) {
		absent_all(u, true, why);
		return;
	}
	dram_touch_all(u, apart ? 1 : threads);
	if (apart)
		dram_touch_all(u, threads);
	u->r->dram_bytes = u->dram_bytes;
}

static void memory_close(run *u)
{
	os_pages_free(u->cache, u->cache_bytes);
	if (u->dram[1] != u->dram[0])
		os_pages_free(u->dram[1], u->dram_bytes);
	os_pages_free(u->dram[0], u->dram_bytes);
}

/* --- all of it */

static bool cancelled(run *u)
{
	if (observer_cancelled(u->ask->watch))
		u->r->interrupted = true;
	return u->r->interrupted;
}

/* done: the completed share of the work; NaN: not known. */
static void machine_show(run *u, const char *phase, double done)
{
	dck_progress p = progress_indeterminate(phase);

	p.elapsed_ns = os_now_ns() - u->began_ns;
	p.done_ratio = done;
	if (done > 0)
		p.eta_ns = (double)p.elapsed_ns * (1 - done) / done;
	observer_show(u->ask->watch, &p);
}

static const char *phase_of(const machine_item *i)
{
	return i->peak ? "arithmetic" : i->stream ? "memory" : "clock rate";
}

static bool measured_here(const machine_item *i)
{
	return (i->peak || i->stream || i->chain) && !i->absent;
}

/* The first pass has more time, so that every limit has a value. */
#define FIRST_PASS 8

static bool machine_late(const run *u)
{
	const double limit = u->effort->limit_ns * (u->r->passes == 0 ? FIRST_PASS : 1);

	return (double)(os_now_ns() - u->passes_began_ns) > limit;
}

static void passes(run *u)
{
	const unsigned n = u->effort->passes;
	const size_t all = u->r->n * n;

	u->r->passes_asked = n;
	/* The limit is for the passes: the steps before them may have taken long as well. */
	u->passes_began_ns = os_now_ns();
	for (unsigned pass = 0; pass < n; pass++) {
		for (size_t i = 0; i < u->r->n; i++) {
			machine_item *item = &u->r->item[i];
			if (!measured_here(item))
				continue;
			if (cancelled(u) || machine_late(u))
				return;
			/* The steps before the passes take about a tenth of the time. */
			machine_show(u, phase_of(item),
				     0.1 + 0.9 * (double)(pass * u->r->n + i) / (double)all);
			measure_item(u, item);
		}
		u->r->passes = pass + 1;
	}
}

static void passes_watched(run *u)
{
	os_usage a, b;

	os_usage_get(&a);
	passes(u);
	os_usage_get(&b);
	u->r->throttled =
	    (double)(b.throttled_ns - a.throttled_ns) / (double)(os_now_ns() - u->passes_began_ns);
}

/* Copies the values for one thread as those for all threads, where there is only one. */
static void repeat_for_all(machine_result *r)
{
	const size_t n = r->n;

	for (size_t i = 0; i < n; i++) {
		char *last = strrchr(r->item[i].tag, '/');
		if (strcmp(last, "/1") != 0)
			continue;
		machine_item *copy = machine_add(r, "", 1);
		if (!copy)
			return;
		*copy = r->item[i];
		snprintf(strrchr(copy->tag, '/'), 5, "/all");
	}
}

static void add_all(run *u)
{
	machine_item *chain = machine_chain(0) == 0 && machine_chain(1) > 0
				  ? machine_add(u->r, "frequency/core", 1)
				  : NULL;

	if (chain)
		chain->chain = true;
	add_peaks(u, 1, "1");
	if (u->ask->threads > 1)
		add_peaks(u, u->ask->threads, "all");
	add_streams(u, 1, "1");
	if (u->ask->threads > 1)
		add_streams(u, u->ask->threads, "all");
}

dck_status machine_measure(const machine_run_config *ask, machine_result *ret, dck_err *err)
{
	run u = {.ask = ask,
		 .effort = ask->quick ? &nonblocking : &thorough,
		 .r = ret,
		 .began_ns = os_now_ns()};

	memset(ret, 0, sizeof *ret);
	machine_show(&u, "BLAS", NAN);
	machine_blas(ask, ret); /* it forks, which must happen before there are threads */
	DCK_TRY(machine_pool_open(ask->topology->cpu, ask->threads, &u.pool, err));
	if (!cancelled(&u)) {
		machine_show(&u, "overheads", NAN);
		machine_overheads(ask, u.pool, ret);
	}
	if (!cancelled(&u)) {
		machine_show(&u, "memory", NAN);
		add_all(&u);
		memory_open(&u);
		passes_watched(&u);
	}
	if (ask->threads == 1)
		repeat_for_all(ret);
	ret->pinned = machine_pool_pinned(u.pool);
	memory_close(&u);
	machine_pool_close(u.pool);
	ret->took_ns = (double)(os_now_ns() - u.began_ns);
	if (ret->interrupted) {
		size_t any = 0;
		for (size_t i = 0; i < ret->n; i++)
			any += ret->item[i].n > 0;
		if (any == 0)
			DCK_FAIL(err, E_CANCEL, "interrupted before anything was measured");
	}
	return DCK_OK;
}
