/* calls.c - calling-context tree of calls that the caller reports, such as an interpreter's profile
 * hook (deepclock/count.h): the interface around thread_cct.c, and the record of several threads.
 *
 * Time is the time stamp counter if it is usable (os_clock_tsc()), else CLOCK_MONOTONIC. All
 * dck_call_counter of one record need the same rate, so a further one takes it from `like`.
 * dck_call_counter_end() computes inclusive times in one backward pass, because a parent has a
 * lower number than its children: O(paths).
 *
 * dck_call_counter_read() maps the file of another process as a private copy. It accepts the file
 * only if size, magic, size of a node and the order of parents are right, so a damaged file causes
 * neither a loop nor an access outside the array, and clears the pointers of the other process. The
 * bits of `mark` distinguish equal function numbers of two processes.
 *
 * A dck_call_counter belongs to one thread at a time: nothing here locks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/count.h"
#include "deepclock/unstable.h"

#include "base/err.h"
#include "base/mem.h"
#include "profiler/count/count_functions.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "record/host.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

struct dck_call_counter {
	thread_cct *lane;
	os_clock_state rate; /* 0: the lane's time is in nanoseconds */
	double ns_per_tick;
	double *totals; /* @owned; of the paths, as dck_call_counter_end() found them */
	uint32_t n;
};

static inline uint64_t calls_now(const dck_call_counter *c)
{
#ifdef __x86_64__
	if (__builtin_expect(c->rate.ns_per_tick_q32 != 0, 1))
		return __rdtsc();
#endif
	(void)c;
	return os_now_ns();
}

/* Takes ownership of the lane, also on failure. Returns NULL if lane is NULL. */
static dck_call_counter *count_calls_of(thread_cct *lane, const dck_call_counter *like)
{
	dck_call_counter *c = lane ? mem_zalloc(1, sizeof *c) : NULL;

	if (!c) {
		thread_cct_free(lane);
		return NULL;
	}
	c->lane = lane;
	if (like)
		c->rate = like->rate;
	else if (!os_clock_tsc(&c->rate, NULL))
		c->rate = (os_clock_state){0};
	c->ns_per_tick =
	    c->rate.ns_per_tick_q32 ? (double)c->rate.ns_per_tick_q32 / 4294967296.0 : 1;
	return c;
}

static dck_call_counter *calls_begun(dck_call_counter *c)
{
	if (c) {
		c->lane->in_use = 1;
		c->lane->last = calls_now(c);
	}
	return c;
}

dck_call_counter *dck_call_counter_new_in(const char *path, const dck_call_counter *like,
					  const dck_call_counter *after)
{
	dck_call_counter *c = calls_begun(count_calls_of(thread_cct_make(path), like));

	if (c && after)
		thread_cct_fork(c->lane, after->lane, after->lane->depth, calls_now(c));
	return c;
}

dck_call_counter *dck_call_counter_new(const dck_call_counter *like)
{
	return dck_call_counter_new_in(NULL, like, NULL);
}

/* Returns whether the header is right and each parent comes before its children. */
static bool calls_in_order(const thread_cct *l)
{
	const call_node *nodes = thread_cct_nodes(l);

	if (l->magic != CALL_LANE_MAGIC || l->size_node != sizeof(call_node) ||
	    l->n > CALL_LANE_NODES || l->n <= THREAD_CCT_OVERFLOW)
		return false;
	for (uint32_t i = 1; i < l->n; i++)
		if (nodes[i].parent >= i)
			return false;
	return true;
}

dck_call_counter *dck_call_counter_read(const char *path, const dck_call_counter *like,
					uint64_t mark)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return NULL;
	/* A private mapping: changes do not reach the file. */
	thread_cct *l = fstat(fd, &st) == 0 && st.st_size == CALL_LANE_BYTES
			    ? mmap(NULL, CALL_LANE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_NORESERVE, fd, 0)
			    : MAP_FAILED;
	close(fd);
	if (l == MAP_FAILED)
		return NULL;
	/* The pointers and open calls belong to the other process. */
	l->frames = NULL;
	l->buckets = NULL;
	l->nodes_max = CALL_LANE_NODES; /* of this mapping */
	l->depth = l->current = 0;
	l->in_use = 0;
	if (!calls_in_order(l)) {
		thread_cct_free(l);
		return NULL;
	}
	for (uint32_t i = 1; i < l->n; i++)
		if (thread_cct_nodes(l)[i].function)
			thread_cct_nodes(l)[i].function |= mark;
	return count_calls_of(l, like);
}

void dck_call_counter_free(dck_call_counter *c)
{
	if (!c)
		return;
	thread_cct_free(c->lane);
	mem_free(c->totals);
	mem_free(c);
}

bool dck_call_counter_enter(dck_call_counter *c, uint64_t function)
{
	const uint32_t n = c->lane->n;

	thread_cct_enter(c->lane, function, calls_now(c));
	return __builtin_expect(c->lane->n != n, 0);
}

void dck_call_counter_leave(dck_call_counter *c, uint64_t function)
{
	thread_cct_leave(c->lane, function, ~UINT64_C(0), calls_now(c));
}

bool dck_call_counter_undo(dck_call_counter *c, uint64_t function)
{
	if (!thread_cct_forget(c->lane, function))
		return false;
	c->lane->last = calls_now(c);
	return true;
}

dck_status dck_call_counter_end(dck_call_counter *c, dck_err *err)
{
	const call_node *nodes = thread_cct_nodes(c->lane);

	thread_cct_unwind_to(c->lane, 0, calls_now(c));
	mem_free(c->totals);
	c->n = 0;
	c->totals = mem_zalloc(c->lane->n, sizeof *c->totals);
	DCK_NEED(c->totals, err, "for the times of call paths");
	c->n = c->lane->n;
	for (uint32_t i = c->n - 1; i > 0; i--) {
		c->totals[i] += (double)nodes[i].self;
		c->totals[nodes[i].parent] += c->totals[i];
	}
	return DCK_OK;
}

bool dck_call_counter_path(const dck_call_counter *c, size_t i, dck_call_path *ret)
{
	const call_node *node = thread_cct_nodes(c->lane) + i;

	if (i == 0 || i >= c->n)
		return false;
	*ret = (dck_call_path){.function = node->function,
			       .parent = node->parent,
			       .calls = node->calls,
			       .recursive = node->recursive,
			       .self_ns = (double)node->self * c->ns_per_tick,
			       .total_ns = c->totals[i] * c->ns_per_tick};
	return true;
}

/* --- the record */

typedef struct naming {
	const dck_call_counter_meta *about;
	hash_map frames; /* by function */
} naming;

static uint32_t calls_frame_of(void *self, count_functions *f, uint64_t function)
{
	naming *n = self;
	uint32_t number = hash_map_find(&n->frames, function);
	dck_frame frame = {0};

	if (number)
		return number;
	if (!n->about->frame(n->about->self, function, &frame) || !frame.name)
		frame = (dck_frame){.name = "(no name)"};
	number = cct_frame(&f->paths, &frame);
	return number && hash_map_put(&n->frames, function, number) ? number : 0;
}

static dck_status functions_fill(const dck_call_counter *const *all, size_t n,
				 const dck_call_counter_meta *about, record_builder *b,
				 dck_err *err)
{
	const call_overhead price = {about->cost_inside_ns, about->cost_outside_ns};
	naming names = {.about = about};
	count_functions f;

	dck_status st = count_functions_init(&f, err);
	for (size_t i = 0; st == DCK_OK && i < n; i++)
		st = count_functions_add(&f, all[i]->lane, all[i]->ns_per_tick, &price, 0,
					 calls_frame_of, &names, err);
	f.threads = (uint32_t)about->threads;
	record_set_began(b, os_unix_ns() - (int64_t)about->elapsed_ns);
	record_set_incomplete(b, about->incomplete || about->replaced || about->uncounted);
	if (about->replaced) {
		record_note(
		    b, "count-lost",
		    "another profiler (cProfile, sys.setprofile()) took the place of this one "
		    "before the end, and what that thread called from then on is not counted");
		record_remedy(b,
			      "start and end other profilers outside, or use Python 3.12 or later");
	}
	if (about->uncounted) {
		record_note(b, "count-lost",
			    "the calls of %zu thread%s are not counted: there was no memory for "
			    "the counts, or forked processes had more than %d threads",
			    about->uncounted, about->uncounted == 1 ? "" : "s", CALL_LANES_MAX);
		record_remedy(b, "raise the limit of address space (ulimit -v), or count a part "
				 "with fewer threads");
	}
	record_host_here(b);
	if (about->method)
		record_fact_text(b, "method", "functions", about->method);
	if (about->processes)
		record_fact_int(b, "count", "processes", DCK_UNIT_ONE, (int64_t)about->processes);
	if (about->elapsed_ns)
		record_metric_int(b, "counter/duration_time", (int64_t)about->elapsed_ns,
				  "from beginning to end");
	DCK_NEXT(st, count_functions_put(&f, about->sort ? about->sort : dck_count_sorts[0],
					 about->top, b, err));
	count_functions_done(&f);
	hash_map_done(&names.frames);
	return st;
}

dck_status dck_call_counter_record(const dck_call_counter *const *all, size_t n,
				   const dck_call_counter_meta *about, dck_record **ret,
				   dck_err *err)
{
	record_builder *b = record_begin(about->title);

	DCK_NEED(b, err, "for the record of calls");
	return record_finish_if(functions_fill(all, n, about, b, err), b, ret, err);
}
