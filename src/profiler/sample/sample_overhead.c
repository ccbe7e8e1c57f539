/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/sample_overhead.h"

#include "os/os.h"

#include <linux/perf_event.h>
#include <stdlib.h>

enum { ROUNDS = 21, ITERATIONS = 500000, FAST_PERIOD_NS = 25000 };

static uint64_t loop_ns(void)
{
	const uint64_t begin = os_thread_cpu_ns();

	for (volatile unsigned i = 0; i < ITERATIONS; i++)
		;
	return os_thread_cpu_ns() - begin;
}

static int sample_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void rings_empty(const os_perf *p)
{
	for (size_t i = 0; i < os_perf_rings(p); i++) {
		const os_perf_ring *r = os_perf_ring_at(p, i);
		struct perf_event_mmap_page *page = r ? r->page : NULL;

		if (page)
			__atomic_store_n(&page->data_tail,
					 __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
					 __ATOMIC_RELEASE);
	}
}

/* Both loops of a round run under the same load; the median discards rounds that were disturbed. */
double sample_overhead_of_perf(const os_perf_config *c)
{
	os_perf_config fast = *c;
	double price[ROUNDS];
	os_perf *p;
	int n = 0;

	fast.period_ns = FAST_PERIOD_NS;
	fast.switches = false;
	if (os_perf_open(&fast, &p, NULL) != DCK_OK)
		return 0;
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t plain = loop_ns();

		if (os_perf_follow(p, os_thread_id(), NULL) != DCK_OK)
			break;
		const uint64_t sampled = loop_ns();
		os_perf_stop(p);
		rings_empty(p);
		const double samples = (double)sampled / FAST_PERIOD_NS;
		price[n++] = ((double)sampled - (double)plain) / samples;
	}
	os_perf_close(p);
	if (n == 0)
		return 0;
	qsort(price, (size_t)n, sizeof *price, sample_by_value);
	return price[n / 2] > 0 ? price[n / 2] : 0;
}

double sample_overhead_of_signal(void)
{
	return os_signal_price_ns();
}
