/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/perf_roots.h"

void perf_roots_follow(perf_roots *r, int tid, uint64_t now_ns)
{
	if (!mem_reserve(&r->since, &r->cap, r->n + 1, sizeof *r->since))
		return;
	r->since[r->n++] = now_ns;
	hash_map_put(&r->followed, (uint64_t)tid, (uint32_t)r->n);
}

void perf_roots_settle(perf_roots *r, uint64_t now_ns)
{
	r->settled_ns = now_ns;
}

/* Returns the root that counts of a thread at that time: without other knowledge the first one. */
static uint32_t root_of(perf_roots *r, int tid, uint64_t at_ns, int root)
{
	const uint32_t row = hash_map_find(&r->followed, (uint64_t)tid);

	if (row && at_ns >= r->since[row - 1])
		return (uint32_t)tid;
	const uint32_t known = hash_map_find(&r->of, (uint64_t)tid);
	if (!known)
		hash_map_put(&r->of, (uint64_t)tid, (uint32_t)root);
	return known ? known : (uint32_t)root;
}

bool perf_roots_counts(perf_roots *r, const sample_event *e, int root)
{
	const bool forks = e->kind == SAMPLE_FORK;

	if (!r->settled_ns || root <= 0 || e->kind == SAMPLE_LOST)
		return true;
	/* A fork is an event of the thread that makes another. */
	const int of = forks ? e->as.fork.parent_tid : e->tid;
	const uint32_t counts = root_of(r, of, e->at_ns, root);
	if (counts != (uint32_t)root)
		return false;
	if (forks)
		hash_map_put(&r->of, (uint64_t)e->tid, counts);
	/* It has the number of a thread that was followed and has ended. */
	if (forks && e->at_ns > r->settled_ns)
		hash_map_remove(&r->followed, (uint64_t)e->tid);
	return true;
}

void perf_roots_done(perf_roots *r)
{
	hash_map_done(&r->of);
	hash_map_done(&r->followed);
	mem_free(r->since);
}
