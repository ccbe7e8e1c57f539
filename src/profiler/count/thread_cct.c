/* thread_cct.c - calling-context tree of one thread (Ammons, Ball and Larus, "Exploiting Hardware
 * Performance Counters with Flow and Context Sensitive Profiling", PLDI 1997), in a mapped file or
 * in private memory.
 *
 * A context is a pair of parent node and function. thread_cct_enter() first compares the parent's
 * most recent child. Without a clock it then compares the child that followed that one the time
 * before, since a function mostly calls others in the same order; beside two readings of a clock
 * the hash table costs no more. On a miss thread_cct_find() searches a chained hash table
 * (Fibonacci hashing, Knuth, TAOCP 3, 6.4), then appends a node. Entering a call costs O(1), except
 * beyond the limits of depth or nodes: there a walk up the path, O(depth), folds it into a call of
 * the same function.
 *
 * Invariants: one thread writes a lane, without a lock, and allocates no memory after
 * thread_cct_make(). A parent has a lower number than its children, so one pass over the array
 * visits parents first. `n` grows last, so the file of a killed process is consistent. File space
 * is allocated (file_room.h) before a node is written, because a store to a page without space
 * raises SIGBUS. A lane has 48 MiB of address space for nodes, 24 MiB for frames and 2 MiB for
 * buckets, and less under RLIMIT_AS; a page takes memory when it is first written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/thread_cct.h"

#include "profiler/unwind/file_room.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *lane_map(size_t bytes, int fd)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       (fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) | MAP_NORESERVE, fd, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Huge pages would make mostly unused memory resident in the program. */
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void lane_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

enum {
	BUCKETS_BYTES = CALL_LANE_BUCKETS * 4,
	PATH_BYTES = 4096,
	GROW_LEAST = 1 << 14,
	GROW_MOST = 1 << 20
};

/* Returns how many nodes and open calls a tree may have: one in LANES_PART of the address space
 * that the program may use is a tree's. */
static uint32_t lane_rows(void)
{
	enum { AS = 9 /* RLIMIT_AS */, LANES_PART = 64, ROWS_LEAST = 1 << 12 };
	const uint64_t row = sizeof(call_node) + sizeof(call_frame);
	struct {
		uint64_t soft, hard; /* UINT64_MAX: none */
	} limit;

	if (syscall(SYS_prlimit64, 0, AS, NULL, &limit) != 0 ||
	    limit.soft / LANES_PART / row >= CALL_LANE_NODES)
		return CALL_LANE_NODES;
	const uint64_t rows = limit.soft / LANES_PART / row;
	return rows < ROWS_LEAST ? ROWS_LEAST : (uint32_t)rows;
}

static size_t lane_bytes(uint32_t nodes)
{
	return CALL_LANE_HEAD + (size_t)nodes * sizeof(call_node);
}

/* Allocates file space for more nodes: as much again, within bounds. No descriptor stays open,
 * because the program may count its descriptors, or close all. */
static bool lane_grow(thread_cct *l, int fd)
{
	const uint64_t bytes = l->cap < GROW_LEAST  ? GROW_LEAST
			       : l->cap > GROW_MOST ? GROW_MOST
						    : l->cap;
	const uint64_t rest = CALL_LANE_BYTES - l->cap;

	if (!file_room(fd, l->cap, bytes < rest ? bytes : rest))
		return false;
	l->cap += bytes < rest ? bytes : rest;
	return true;
}

static bool lane_has_space(thread_cct *l)
{
	const uint64_t needed = CALL_LANE_HEAD + (l->n + UINT64_C(1)) * sizeof(call_node);

	if (l->n >= l->nodes_max)
		return false;
	if (needed <= l->cap)
		return true;
	if (l->full)
		return false;
	const int kept = errno;
	const int fd = file_room_open(l->path, O_RDWR | O_NOFOLLOW);
	l->full = fd < 0 ? (uint32_t)errno : lane_grow(l, fd) ? 0 : ENOSPC;
	if (fd >= 0)
		file_room_close(fd);
	errno = kept;
	return !l->full;
}

/* The file has CALL_LANE_BYTES in any case, of which `nodes` are mapped. */
static thread_cct *file_map(const char *path, uint32_t nodes)
{
	thread_cct first = {0}, *l = NULL;

	if (strlen(path) >= PATH_BYTES)
		return NULL;
	const int fd = file_room_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	if (file_size_allowed(CALL_LANE_BYTES) && lane_grow(&first, fd) &&
	    file_size_set(fd, CALL_LANE_BYTES))
		l = lane_map(lane_bytes(nodes), fd);
	file_room_close(fd);
	if (l)
		l->cap = first.cap;
	else
		unlink(path);
	return l;
}

thread_cct *thread_cct_make(const char *path)
{
	const uint32_t rows = lane_rows();
	thread_cct *l = path ? file_map(path, rows) : lane_map(lane_bytes(rows), -1);

	if (!l)
		return NULL;
	l->nodes_max = l->frames_max = rows;
	l->frames = lane_map(rows * sizeof(call_frame), -1);
	l->buckets = lane_map(BUCKETS_BYTES + PATH_BYTES, -1);
	if (!l->frames || !l->buckets) {
		thread_cct_free(l);
		return NULL;
	}
	l->path = (char *)(l->buckets + CALL_LANE_BUCKETS);
	if (path)
		strcpy(l->path, path);
	else
		l->cap = CALL_LANE_BYTES;
	l->size_node = sizeof(call_node);
	l->n = THREAD_CCT_OVERFLOW + 1;
	thread_cct_nodes(l)[THREAD_CCT_OVERFLOW].depth = 1;
	l->magic = CALL_LANE_MAGIC;
	return l;
}

uint64_t thread_cct_bytes(const thread_cct *l)
{
	return lane_bytes(l->nodes_max) + l->frames_max * sizeof(call_frame) + BUCKETS_BYTES +
	       PATH_BYTES;
}

void thread_cct_free(thread_cct *l)
{
	if (!l)
		return;
	lane_unmap(l->frames, l->frames_max * sizeof(call_frame));
	lane_unmap(l->buckets, BUCKETS_BYTES + PATH_BYTES);
	lane_unmap(l, lane_bytes(l->nodes_max));
}

static inline uint32_t *bucket_of(thread_cct *l, uint32_t parent, uint64_t function)
{
	uint64_t h = (function ^ (uint64_t)parent << 32 ^ parent) * UINT64_C(0x9e3779b97f4a7c15);

	return l->buckets + (h >> 45) % CALL_LANE_BUCKETS;
}

static inline uint32_t lane_look_up(thread_cct *l, uint32_t parent, uint64_t function)
{
	const call_node *nodes = thread_cct_nodes(l);
	uint32_t node = *bucket_of(l, parent, function);

	while (node && (nodes[node].parent != parent || nodes[node].function != function))
		node = nodes[node].next;
	return node;
}

/* Returns 0 if the file has no space for another node. */
static uint32_t lane_make(thread_cct *l, uint32_t parent, uint64_t function)
{
	call_node *nodes = thread_cct_nodes(l);
	uint32_t *bucket = bucket_of(l, parent, function);

	if (!lane_has_space(l))
		return 0;
	nodes[l->n] = (call_node){.function = function,
				  .parent = parent,
				  .depth = nodes[parent].depth + 1,
				  .next = *bucket};
	/* If the process is killed here, the file is still consistent. */
	*bucket = l->n;
	return l->n++;
}

static uint32_t same_above(const thread_cct *l, uint32_t path, uint64_t function)
{
	const call_node *nodes = thread_cct_nodes(l);

	while (path && nodes[path].function != function)
		path = nodes[path].parent;
	return path;
}

uint32_t thread_cct_find(thread_cct *l, uint64_t function, uint32_t *ret_folded)
{
	call_node *nodes = thread_cct_nodes(l);
	const uint32_t parent = l->current;
	uint32_t node = lane_look_up(l, parent, function);

	*ret_folded = 0;
	if (!node && nodes[parent].depth < CALL_LANE_DEPTH)
		node = lane_make(l, parent, function);
	if (node) {
		if (nodes[parent].child && nodes[parent].child != node)
			nodes[nodes[parent].child].after = node & (CALL_LANE_NODES - 1);
		nodes[parent].child = node;
		return node;
	}
	node = same_above(l, parent, function);
	if (node) {
		*ret_folded = 1;
		nodes[node].recursive++;
		return node;
	}
	node = lane_look_up(l, THREAD_CCT_OVERFLOW, function);
	if (!node)
		node = lane_make(l, THREAD_CCT_OVERFLOW, function);
	if (!node)
		node = THREAD_CCT_OVERFLOW;
	*ret_folded = 1;
	l->rest++;
	return node;
}

__attribute__((flatten)) call_frame *thread_cct_begin(thread_cct *l, uint64_t function)
{
	call_frame *f = &l->frames[l->depth];
	call_node *nodes = thread_cct_nodes(l);

	if (l->depth >= l->frames_max) {
		l->too_deep++;
		l->lost++;
		return NULL;
	}
	f->node = thread_cct_find(l, function, &f->folded);
	nodes[f->node].calls++;
	l->current = f->node;
	l->depth++;
	return f;
}

uint32_t thread_cct_open(const thread_cct *l, uint64_t function, uint64_t mask)
{
	const call_frame *frames = l->frames;
	const call_node *nodes = thread_cct_nodes(l);
	uint32_t i = l->depth;

	while (i && (nodes[frames[i - 1].node].function ^ function) & mask)
		i--;
	return i;
}

void thread_cct_unwind_to(thread_cct *l, uint32_t depth, uint64_t now)
{
	thread_cct_charge(l, now);
	l->too_deep = 0;
	while (l->depth > depth) {
		thread_cct_pop(l);
		l->left++;
	}
}

void thread_cct_end(thread_cct *l, uint64_t function, uint64_t mask)
{
	if (l->too_deep > 0) {
		l->too_deep--;
		return;
	}
	const uint32_t open = thread_cct_open(l, function, mask);

	if (!open) {
		l->unmatched++;
		return;
	}
	while (l->depth > open) {
		thread_cct_pop(l);
		l->left++;
	}
	thread_cct_pop(l);
}

bool thread_cct_forget(thread_cct *l, uint64_t function)
{
	call_node *nodes = thread_cct_nodes(l), *node = &nodes[l->current];

	if (l->too_deep > 0) {
		l->too_deep--;
		l->lost--;
		return true;
	}
	if (l->depth == 0 || (node->function != function && l->current != THREAD_CCT_OVERFLOW))
		return false;
	const bool folded = l->frames[l->depth - 1].folded != 0;
	node->calls--;
	if (node->calls == 0)
		node->self = 0;
	thread_cct_pop(l);
	if (!folded)
		return true;
	/* The path above is unchanged since thread_cct_find() folded the call. */
	const uint32_t above = same_above(l, l->current, function);
	if (above)
		nodes[above].recursive--;
	else
		l->rest--;
	return true;
}

void thread_cct_fork(thread_cct *l, const thread_cct *from, uint32_t depth, uint64_t now)
{
	const call_frame *frames = from->frames;
	const uint32_t beyond = depth > l->frames_max ? depth - l->frames_max : 0;
	const bool deep = depth == from->frames_max;

	depth -= beyond;
	for (uint32_t i = 0; i < depth; i++) {
		uint32_t folded;
		const uint32_t node =
		    thread_cct_find(l, thread_cct_nodes(from)[frames[i].node].function, &folded);

		l->frames[i] = frames[i];
		l->frames[i].node = node;
		l->frames[i].folded = folded;
		l->current = node;
		l->depth = i + 1;
	}
	l->inherited = l->n;
	l->too_deep = beyond + (deep ? from->too_deep : 0);
	l->last = now;
}
