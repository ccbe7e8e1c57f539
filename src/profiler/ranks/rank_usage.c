/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_usage.h"

#include "base/hash.h"
#include "base/mem.h"
#include "os/os.h"
#include "stat/stat.h"

#include <math.h>

/* A lost share of the time that explains this part of the cost is a cause. */
#define CAUSE_SHARE_LEAST 0.5

static void cpu_and_memory(const os_usage *now, bool own, uint64_t *ret_cpu_ns, uint64_t *ret_peak)
{
	if (!own) {
		os_usage_children(ret_cpu_ns, ret_peak);
		return;
	}
	*ret_cpu_ns = now->user_ns + now->system_ns;
	*ret_peak = now->peak_rss_bytes;
}

void rank_usage_begin(rank_usage_start *s, bool own)
{
	os_usage now;
	uint64_t peak;

	os_usage_get(&now);
	cpu_and_memory(&now, own, &s->cpu_ns, &peak);
	s->own = own;
	s->began_ns = os_now_ns();
	s->has_throttled = now.has_throttled;
	s->throttled_ns = now.throttled_ns;
	s->periods = now.throttled_periods;
}

static void cpus_put(rank_usage *u)
{
	unsigned cpu[OS_CPUS_MAX];
	const unsigned n = os_cpus_get(cpu, OS_CPUS_MAX);

	if (n == 0)
		return;
	rank_usage_put(u, RANK_CPUS, n);
	rank_usage_put(u, RANK_CPU_SET, hash_bytes(HASH_START, cpu, n * sizeof *cpu) >> 1);
}

void rank_usage_put(rank_usage *u, rank_resource of, uint64_t n)
{
	u->n[of] = n < INT64_MAX ? (int64_t)n : INT64_MAX;
	u->known |= UINT64_C(1) << of;
}

static void run_queue_find(const dck_record *trace, rank_usage *ret)
{
	const dck_table *threads = trace ? dck_record_table(trace, "threads") : NULL;
	double most = -1;

	for (size_t row = 0; threads && row < threads->nrows; row++) {
		const dck_cell *c = dck_table_cell(threads, row, "run_queue");
		const double ns = c ? dck_value_number(&c->value) : NAN;

		most = ns > most ? ns : most;
	}
	if (most >= 0)
		rank_usage_put(ret, RANK_RUN_QUEUE, (uint64_t)most);
}

void rank_usage_end(const rank_usage_start *s, const dck_record *trace, rank_usage *ret)
{
	os_usage now;
	uint64_t cpu, peak;

	*ret = (rank_usage){0};
	os_usage_get(&now);
	cpu_and_memory(&now, s->own, &cpu, &peak);
	rank_usage_put(ret, RANK_LIFETIME, os_now_ns() - s->began_ns);
	if (cpu > s->cpu_ns)
		rank_usage_put(ret, RANK_CPU, cpu - s->cpu_ns);
	if (peak)
		rank_usage_put(ret, RANK_MEMORY, peak);
	if (s->has_throttled && now.has_throttled) {
		rank_usage_put(ret, RANK_THROTTLED, now.throttled_ns - s->throttled_ns);
		rank_usage_put(ret, RANK_PERIODS, now.throttled_periods - s->periods);
	}
	run_queue_find(trace, ret);
	cpus_put(ret);
}

double rank_usage_share(const rank_usage *u, rank_resource of)
{
	const bool work = of == RANK_WORK_QUEUE || of == RANK_WORK_WAIT;
	const rank_resource whole = work ? RANK_WORK_TIME : RANK_LIFETIME;
	const uint64_t both = UINT64_C(1) << of | UINT64_C(1) << whole;

	if ((u->known & both) != both || u->n[whole] <= 0)
		return NAN;
	return (double)u->n[of] / (double)u->n[whole];
}

rank_resource rank_cause_find(const rank_usage *const *usage, size_t n, size_t accused,
			      double share, double *ret_own, double *ret_others)
{
	static const rank_resource causes[] = {RANK_THROTTLED, RANK_WORK_QUEUE, RANK_RUN_QUEUE};
	double *x = mem_alloc(2 * (n + 1) * sizeof *x);

	for (size_t k = 0; x && k < sizeof causes / sizeof causes[0]; k++) {
		const double own = rank_usage_share(usage[accused], causes[k]);
		size_t known = 0;

		for (size_t i = 0; i < n; i++) {
			const double other = rank_usage_share(usage[i], causes[k]);

			if (i != accused && !isnan(other))
				x[known++] = other;
		}
		if (isnan(own) || known == 0)
			continue;
		const double others = stat_median(x, known, x + known);
		if (own - others < CAUSE_SHARE_LEAST * share)
			continue;
		*ret_own = own;
		*ret_others = others;
		mem_free(x);
		return causes[k] == RANK_WORK_QUEUE ? RANK_RUN_QUEUE : causes[k];
	}
	mem_free(x);
	return RANK_RESOURCES;
}
