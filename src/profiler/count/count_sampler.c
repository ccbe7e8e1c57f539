/* count_sampler.c - observer of the innermost calls of a program's threads, from outside.
 *
 * A look reads the head of each lane file (thread_cct.h) in use and charges the time since the last
 * look to its path `current`. The intervals are random, uniform from half to one and a half of the
 * period, so that no rhythm of the program matches them. Each instant then has the same chance to
 * be sampled, and the expected sum of a path is its wall time: the end of a thread needs no
 * correction (the interval before its first look stands for the one after its last). With w_i the
 * intervals, the effective sample size is (sum w)^2 / sum w^2 (Kish, Survey Sampling, 1965).
 *
 * New processes and lanes are searched for when the directory changed. A process that was killed or
 * that called exec() leaves its lanes in use; it is found by a descriptor of /proc/PID/environ,
 * which has nothing to read once that address space is gone. An exec() before the first look is
 * found in /proc/PID/maps, which must have the file that the library maps. So a process whose id is
 * another here (a PID namespace) has no samples.
 *
 * The files belong to the program and are not trusted: they are read by pread(), since access to a
 * mapped file that was truncated raises SIGBUS, and the sums are in private memory, by process,
 * lane and node, bounded by COUNT_SAMPLED_PATHS. Beyond LANES_OPEN descriptors a file is opened for
 * each look. The period grows so that the observer uses at most 1 / COST_DIVISOR of a processor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/count_sampler.h"

#include "base/err.h"
#include "base/id_table.h"
#include "base/rng.h"
#include "os/os.h"
#include "os/process/other_process.h"
#include "profiler/count/count_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	PERIOD_NS = 1000000,
	COST_DIVISOR = 50,
	LANES_OPEN = 400,
	SPACES_OPEN = 200,
	/* File times advance at most this much late (a tick of a kernel with 100 Hz, twice). */
	TICK_NS = 20000000
};

/* Keys: process id, its count of images, lane, node. */
enum { NODE_BITS = 20, LANE_BITS = 12, IMAGE_BITS = 10, PID_BITS = 22 };
_Static_assert(CALL_LANE_NODES == 1 << NODE_BITS && CALL_LANES_MAX == 1 << LANE_BITS &&
		   NODE_BITS + LANE_BITS + IMAGE_BITS + PID_BITS == 64,
	       "a path's key");

typedef struct watched {
	uint64_t key; /* with lane 0 and node 0 */
	int pid, space;
	int *lanes; /* @owned; descriptors; -1: opened for each look */
	uint32_t n, cap;
} watched;

struct count_sampler {
	const char *directory;
	watched *processes; /* @owned */
	size_t n, cap;
	hash_map known; /* keys of processes, also of ended ones */
	uint32_t lanes_open, spaces_open;
	int64_t changed_unix_ns; /* of the directory, as last seen, */
	uint64_t changed_ns;	 /* and when it was seen first */

	hash_map paths; /* row in `times` of each path's key */
	id_table times; /* uint64_t, ns */
	uint32_t npaths;
	uint64_t begin_ns, last_ns, looks, samples, left_out;
	double sum, squares; /* of the samples' intervals */

	uint64_t random, cpu_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool over; /* guarded by the lock */
};

/* --- processes and lanes */

/* Returns the key of PID.N; 0: no process of the library has these numbers. */
static uint64_t image_key(unsigned pid, unsigned n)
{
	if (pid >> PID_BITS || n >> IMAGE_BITS)
		return 0;
	return ((uint64_t)pid << IMAGE_BITS | n) << (LANE_BITS + NODE_BITS);
}

static int lane_open(const count_sampler *s, const watched *p, uint32_t k)
{
	char path[OS_TEMP_SIZE + 64];

	snprintf(path, sizeof path, "%s/%d.%u.%u.lane", s->directory, p->pid,
		 (unsigned)(p->key >> (LANE_BITS + NODE_BITS)) % (1u << IMAGE_BITS), k);
	return os_open_read(path);
}

static void lanes_find(count_sampler *s, watched *p)
{
	int fd;

	while (p->n < CALL_LANES_MAX && (fd = lane_open(s, p, p->n)) >= 0) {
		if (p->n == p->cap) {
			int *more = mem_resize(p->lanes, (p->cap * 2 + 4) * sizeof *more);

			if (!more) {
				os_close(fd);
				return;
			}
			p->lanes = more;
			p->cap = p->cap * 2 + 4;
		}
		if (s->lanes_open < LANES_OPEN) {
			s->lanes_open++;
		} else {
			os_close(fd);
			fd = -1;
		}
		p->lanes[p->n++] = fd;
	}
}

static void watched_close(count_sampler *s, watched *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->lanes[i] >= 0) {
			os_close(p->lanes[i]);
			s->lanes_open--;
		}
	if (p->space >= 0) {
		os_close(p->space);
		s->spaces_open--;
	}
	mem_free(p->lanes);
}

/* Returns the file's name with that of its directory, which is unique. The path before may have
 * links, which are resolved in the maps of processes. */
static const char *name_in_maps(const char *path)
{
	const char *at = strrchr(path, '/');

	while (at && at > path && at[-1] != '/')
		at--;
	return at ? at : path;
}

static bool process_runs(const watched *p)
{
	char byte;

	return p->space >= 0 ? os_read_at(p->space, &byte, 1, 0) == 1 : os_process_runs(p->pid);
}

static void process_found(void *self, const char *path)
{
	count_sampler *s = self;
	unsigned pid, n;
	char environment[64];

	if (sscanf(os_path_base(path), "%u.%u.", &pid, &n) != 2)
		return;
	watched p = {.key = image_key(pid, n), .pid = (int)pid, .space = -1};
	if (!p.key || hash_map_find(&s->known, p.key) || !hash_map_put(&s->known, p.key, 1))
		return;
	if (s->n == s->cap) {
		watched *more = mem_resize(s->processes, (s->cap * 2 + 4) * sizeof *more);

		if (!more)
			return;
		s->processes = more;
		s->cap = s->cap * 2 + 4;
	}
	/* Opened before the maps are read: it is the address space that has the file, or an older
	 * one. */
	snprintf(environment, sizeof environment, "/proc/%u/environ", pid);
	if (s->spaces_open < SPACES_OPEN)
		p.space = os_open_read(environment);
	s->spaces_open += p.space >= 0;
	if (os_process_maps((int)pid, name_in_maps(path), true))
		s->processes[s->n++] = p;
	else
		watched_close(s, &p);
}

/* Not by comparing the file's time with the wall clock, which may be set back. */
static void directory_search(count_sampler *s)
{
	const uint64_t now = os_now_ns();
	struct stat st;

	if (stat(s->directory, &st) != 0)
		return;
	const int64_t changed = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (changed == s->changed_unix_ns && now - s->changed_ns > TICK_NS)
		return;
	if (changed != s->changed_unix_ns)
		s->changed_ns = now;
	s->changed_unix_ns = changed;
	os_glob_each(s->directory, "*.process", process_found, s);
	for (size_t i = 0; i < s->n; i++)
		lanes_find(s, &s->processes[i]);
}

/* --- looks */

static void path_charge(count_sampler *s, uint64_t key, uint64_t ns)
{
	uint32_t row = hash_map_find(&s->paths, key);
	uint64_t *time = row ? id_table_find(&s->times, row) : NULL;

	if (!row && s->npaths < COUNT_SAMPLED_PATHS) {
		time = id_table_row(&s->times, s->npaths + 1);
		if (time && hash_map_put(&s->paths, key, s->npaths + 1))
			s->npaths++;
		else
			time = NULL;
	}
	if (!time) {
		s->left_out++;
		return;
	}
	*time += ns;
	s->samples++;
	s->sum += (double)ns;
	s->squares += (double)ns * (double)ns;
}

static void lane_look(count_sampler *s, const watched *p, uint32_t k, uint64_t ns)
{
	enum { BYTES = offsetof(thread_cct, current) + sizeof(uint32_t) };
	const int kept = p->lanes[k], fd = kept >= 0 ? kept : lane_open(s, p, k);
	thread_cct head;

	if (fd < 0)
		return;
	if (os_read_at(fd, &head, BYTES, 0) == BYTES && head.magic == CALL_LANE_MAGIC &&
	    head.size_node == sizeof(call_node) && head.in_use && head.current > 0 &&
	    head.current < CALL_LANE_NODES)
		path_charge(s, p->key | (uint64_t)k << NODE_BITS | head.current, ns);
	if (kept < 0)
		os_close(fd);
}

void count_sampler_look(count_sampler *s, uint64_t now_ns)
{
	const uint64_t ns = now_ns - s->last_ns;

	s->last_ns = now_ns;
	s->looks++;
	directory_search(s);
	for (size_t i = 0; i < s->n;) {
		watched *p = &s->processes[i];

		if (!process_runs(p)) {
			watched_close(s, p);
			*p = s->processes[--s->n];
			continue;
		}
		for (uint32_t k = 0; k < p->n; k++)
			lane_look(s, p, k, ns);
		i++;
	}
}

/* --- the thread */

static void *count_sampler_main(void *self)
{
	count_sampler *s = self;
	uint64_t period = PERIOD_NS;

	pthread_mutex_lock(&s->lock);
	while (!s->over) {
		const uint64_t next =
		    s->last_ns + period / 2 + rng_below(&s->random, (size_t)period);
		const struct timespec until = {.tv_sec = (time_t)(next / 1000000000u),
					       .tv_nsec = (long)(next % 1000000000u)};

		while (!s->over &&
		       pthread_cond_timedwait(&s->changed, &s->lock, &until) != ETIMEDOUT)
			;
		if (s->over)
			break;
		pthread_mutex_unlock(&s->lock);
		count_sampler_look(s, os_now_ns());
		const uint64_t cpu = os_thread_cpu_ns(), cost = COST_DIVISOR * (cpu - s->cpu_ns);
		s->cpu_ns = cpu;
		period = cost > PERIOD_NS ? cost : PERIOD_NS;
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

count_sampler *count_sampler_new(const char *directory, uint64_t now_ns)
{
	count_sampler *s = mem_zalloc(1, sizeof *s);

	if (s)
		*s = (count_sampler){.directory = directory,
				     .times = {.row_bytes = sizeof(uint64_t)},
				     .begin_ns = now_ns,
				     .last_ns = now_ns,
				     .random = now_ns};
	return s;
}

dck_status count_sampler_start(const char *directory, count_sampler **ret, dck_err *err)
{
	count_sampler *s = count_sampler_new(directory, os_now_ns());
	pthread_condattr_t monotonic;
	sigset_t all, before;

	DCK_NEED(s, err, "for the sampling of a program's calls");
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* Signals belong to the thread that waits for the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int e = pthread_create(&s->thread, NULL, count_sampler_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (e) {
		count_sampler_free(s);
		DCK_FAIL_ERRNO(err, E_LIMIT, e, "cannot make a thread that samples calls");
	}
	*ret = s;
	return DCK_OK;
}

void count_sampler_stop(count_sampler *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->over = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
}

void count_sampler_free(count_sampler *s)
{
	if (!s)
		return;
	while (s->n > 0)
		watched_close(s, &s->processes[--s->n]);
	mem_free(s->processes);
	hash_map_done(&s->known);
	hash_map_done(&s->paths);
	id_table_done(&s->times);
	mem_free(s);
}

/* --- results */

void count_sampler_times(const count_sampler *s, const char *path, thread_cct *lane)
{
	call_node *nodes = thread_cct_nodes(lane);
	const uint32_t n = lane->n < CALL_LANE_NODES ? lane->n : CALL_LANE_NODES;
	unsigned pid, image, k;
	uint64_t key = 0;

	if (sscanf(os_path_base(path), "%u.%u.%u.", &pid, &image, &k) == 3 && k < CALL_LANES_MAX)
		key = image_key(pid, image) | (uint64_t)k << NODE_BITS;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t row = hash_map_find(&s->paths, key | i);

		nodes[i].self = row ? *(uint64_t *)id_table_find(&s->times, row) : 0;
	}
}

count_sampled count_sampler_sums(const count_sampler *s)
{
	const double took = (double)(s->last_ns - s->begin_ns);

	return (count_sampled){.samples = s->samples,
			       .effective = s->squares > 0 ? s->sum * s->sum / s->squares : 0,
			       .left_out = s->left_out,
			       .period_ns = s->looks ? took / (double)s->looks : 0,
			       .used = took > 0 ? (double)s->cpu_ns / took : 0};
}
