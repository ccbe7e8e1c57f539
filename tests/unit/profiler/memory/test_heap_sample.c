/* Sampling of allocations: the distances between samples, weights, and unbiased sums for simulated
 * blocks. All seeds are fixed. In a separate process, because the state is global.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/preload/heap/heap_block.h"
#include "profiler/preload/heap/heap_count.h"
#include "profiler/preload/heap/heap_sample.h"
#include "profiler/memory/heap_file.h"
#include "scratch.h"

#define APART __attribute__((noinline))

enum { INTERVAL = 4096 };

/* --- the generator */

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov's and Smirnov's distance from an exponential distribution: of 10^5 draws its 99 %
 * quantile is 1.63 / sqrt(10^5). */
static void distances_are_exponential(void **state)
{
	enum { DRAWS = 100000, MEAN = 1 << 30 };
	static double x[DRAWS];
	uint64_t random = 1;
	double sum = 0, distance = 0;

	(void)state;
	for (int i = 0; i < DRAWS; i++)
		sum += x[i] = (double)heap_sample_gap(&random, MEAN);
	assert_true(fabs(sum / DRAWS / MEAN - 1) < 3 / sqrt(DRAWS));
	qsort(x, DRAWS, sizeof *x, ascending);
	for (int i = 0; i < DRAWS; i++) {
		const double p = -expm1(-x[i] / MEAN);

		distance = fmax(distance, fmax(p - (double)i / DRAWS, (i + 1.0) / DRAWS - p));
	}
	assert_true(distance < 1.63 / sqrt(DRAWS));
}

/* Short distances are geometric: chi-square over the values up to 15, and the rest. The sum for 100
 * seeds has 1600 degrees of freedom: mean 1600, standard deviation sqrt(3200). */
static void whole_distances_are_geometric(void **state)
{
	enum { SEEDS = 100, DRAWS = 20000, VALUES = 17 };
	const double next = exp(-1 / 5.0);
	double chi = 0;

	(void)state;
	for (uint64_t s = 1; s <= SEEDS; s++) {
		double counts[VALUES] = {0}, left = 1;
		uint64_t random = s;

		for (int i = 0; i < DRAWS; i++) {
			const uint64_t gap = heap_sample_gap(&random, 5);

			counts[gap < VALUES ? gap : VALUES - 1]++;
		}
		for (int i = 0; i < VALUES; i++) {
			const double want = DRAWS * (i < VALUES - 1 ? left * (1 - next) : left);

			chi += (counts[i] - want) * (counts[i] - want) / want;
			left *= next;
		}
	}
	assert_true(fabs(chi - 1600) < 3 * sqrt(3200));
}

static void weights_are_sizes_over_probabilities(void **state)
{
	static const uint64_t intervals[] = {1, 100, 524288, UINT64_C(1) << 40};

	(void)state;
	for (size_t k = 0; k < sizeof intervals / sizeof intervals[0]; k++)
		for (uint64_t n = 0; n < UINT64_C(1) << 45; n = 3 * n + 1) {
			const double want =
			    (double)n / -expm1(-((double)n + 1) / (double)intervals[k]);
			const double got = (double)heap_sample_weight(n, intervals[k]);

			assert_true(fabs(got - want) <= 0.5 + 1e-12 * want);
		}
}

/* --- simulated blocks */

static void *block(uint64_t n)
{
	return (void *)(uintptr_t)(UINT64_C(0x100000000000) + 16 * n);
}

static APART void born(uint64_t n, size_t size)
{
	const heap_caller caller = HEAP_CALLER;

	if (!heap_sample_skips(size))
		heap_on_alloc(block(n), size, &caller);
	__asm__ volatile("" ::: "memory"); /* prevents a tail call */
}

static void died(uint64_t n)
{
	if (!heap_sample_spares(block(n)))
		heap_on_free(block(n));
}

/* Starts the calling thread's generator anew. */
static void seed(uint64_t random)
{
	assert_non_null(heap_thread_get(heap_get()));
	heap_mine->random = random;
	heap_mine->sampling = false;
	heap_gap = 0;
}

/* Estimates and number of samples of a process. */
typedef struct estimate {
	double bytes, blocks, live_bytes, live_blocks, temporary, samples, live;
} estimate;

static estimate estimate_of(long pid)
{
	char path[4200];
	heap_file f;
	estimate e = {0};

	snprintf(path, sizeof path, "%.4000s/%ld.0.heap", scratch_path, pid);
	assert_int_equal(heap_file_open(path, &f, NULL), DCK_OK);
	assert_int_equal(f.header->interval, INTERVAL);
	for (uint32_t i = 1; i < f.nnodes; i++) {
		const heap_node *n = &f.nodes[i];

		assert_int_equal(n->allocations > 0, heap_file_is_size(&f, n) && n->allocations);
		if (!n->allocations)
			continue;
		const double size = (double)f.frames[n->frame].place;
		const double p = -expm1(-(size + 1) / INTERVAL);

		e.samples += (double)n->allocations;
		e.live += (double)n->live;
		e.blocks += (double)n->allocations / p;
		e.bytes += (double)n->allocations * size / p;
		e.live_blocks += n->live_blocks / p;
		e.live_bytes += n->live_blocks * size / p;
		e.temporary += (double)n->temporary / p;
	}
	assert_true(e.live == (double)atomic_load(&f.header->total[HEAP_BLOCKS].live));
	heap_file_close(&f);
	return e;
}

static void is_within(double got, double want, double sigma)
{
	if (!(fabs(got - want) <= 4 * sigma))
		fail_msg("got %g, want %g +- %g", got, want, sigma);
}

/* Blocks of several sizes, empty ones among them; each second one is freed. */
static void sums_are_unbiased(void **state)
{
	enum { ROUNDS = 60000 };
	static const size_t sizes[] = {0, 1, 24, 700, 5000, 40000};
	double bytes = 0, bytes_variance = 0, variance = 0;
	const estimate before = estimate_of(getpid());

	(void)state;
	seed(3);
	for (uint64_t i = 0; i < ROUNDS; i++)
		for (uint64_t k = 0; k < 6; k++)
			born(6 * i + k, sizes[k]);
	for (uint64_t i = 0; i < ROUNDS; i += 2)
		for (uint64_t k = 0; k < 6; k++)
			died(6 * i + k);
	for (size_t k = 0; k < 6; k++) {
		const double n = (double)sizes[k], p = -expm1(-(n + 1) / INTERVAL);

		bytes += ROUNDS * n;
		bytes_variance += ROUNDS * n * n * (1 - p) / p;
		variance += ROUNDS * (1 - p) / p;
	}
	estimate e = estimate_of(getpid());
	is_within(e.bytes - before.bytes, bytes, sqrt(bytes_variance));
	is_within(e.blocks - before.blocks, 6 * ROUNDS, sqrt(variance));
	is_within(e.live_bytes, bytes / 2, sqrt(bytes_variance / 2));
	is_within(e.live_blocks, 3 * ROUNDS, sqrt(variance / 2));
	assert_true(e.samples - before.samples < 6.0 * ROUNDS / 2);
	for (uint64_t i = 1; i < ROUNDS; i += 2)
		for (uint64_t k = 0; k < 6; k++)
			died(6 * i + k);
	e = estimate_of(getpid());
	assert_true(e.live_blocks == 0 && e.live == 0);
	for (size_t i = 0; i < (size_t)1 << HEAP_FILTER_BITS; i++)
		assert_int_equal(heap_filter[i], 0);
}

static void a_sampled_block_is_temporary_without_later_ones(void **state)
{
	enum { ROUNDS = 20000 };
	const estimate before = estimate_of(getpid());
	const double p = -expm1(-101.0 / INTERVAL);

	(void)state;
	seed(4);
	for (int i = 0; i < ROUNDS; i++) {
		born(1, 100);
		died(1);
		born(1, 100);
		born(2 + (uint64_t)i, 0); /* it is seldom a sample, and counts all the same */
		died(1);
	}
	is_within(estimate_of(getpid()).temporary - before.temporary, ROUNDS,
		  sqrt(ROUNDS * (1 - p) / p));
}

/* Each size is sampled anew; a failure changes nothing. */
static void resized_blocks(void **state)
{
	enum { ROUNDS = 20000, LAST = 1000 };
	const heap_caller caller = HEAP_CALLER;
	const estimate before = estimate_of(getpid());
	const double n = 500, p = -expm1(-(n + 1) / INTERVAL);

	(void)state;
	seed(5);
	born(1, 500);
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t to = 1 + (uint64_t)(i % LAST);
		const void *old = block(i ? 1 + (uint64_t)((i - 1) % LAST) : 1);

		heap_on_realloc_end(old, heap_on_realloc_begin(old), NULL, 1 << 30, &caller);
		heap_on_realloc_end(old, heap_on_realloc_begin(old), block(to), 500, &caller);
	}
	estimate e = estimate_of(getpid());
	is_within(e.bytes - before.bytes, n * ROUNDS, sqrt(ROUNDS * n * n * (1 - p) / p));
	assert_true(e.live_blocks <= 1 / p + 1e-9);
	died(1 + (ROUNDS - 1) % LAST);
	assert_true(estimate_of(getpid()).live == 0);
}

enum { THREADS = 4, EACH = 40000 };

static void *allocate(void *arg)
{
	const uint64_t number = *(const uint64_t *)arg, first = number * 10000000;

	seed(number);
	for (uint64_t i = 0; i < EACH; i++)
		born(first + i, 200);
	return NULL;
}

/* Other threads free what these allocated. */
static void threads_lose_nothing(void **state)
{
	const estimate before = estimate_of(getpid());
	const double n = 200, p = -expm1(-(n + 1) / INTERVAL), all = THREADS * (double)EACH;
	pthread_t thread[THREADS];
	uint64_t number[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++) {
		number[i] = (uint64_t)i + 1;
		assert_int_equal(pthread_create(&thread[i], NULL, allocate, &number[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	const estimate e = estimate_of(getpid());
	is_within(e.bytes - before.bytes, n * all, n * sqrt(all * (1 - p) / p));
	is_within(e.live_bytes, n * all, n * sqrt(all * (1 - p) / p));
	for (uint64_t t = 1; t <= THREADS; t++)
		for (uint64_t i = 0; i < EACH; i++)
			died(t * 10000000 + i);
	heap_count_flush(heap_get(), heap_mine);
	assert_true(estimate_of(getpid()).live == 0);
}

/* The child knows no block of its parent's, and draws other numbers. */
static void a_forked_child_begins_anew(void **state)
{
	const double n = 1000, p = -expm1(-(n + 1) / INTERVAL);
	int status;

	(void)state;
	seed(9);
	for (uint64_t i = 0; i < 1000; i++)
		born(i, 1000);
	heap_count_flush(heap_get(), heap_mine);
	const estimate before = estimate_of(getpid());
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		if (heap_gap || heap_filter)
			_exit(1);
		for (uint64_t i = 0; i < 1000; i++)
			died(i);
		seed(10);
		for (uint64_t i = 0; i < 4000; i++)
			born(i, 1000);
		heap_count_flush(heap_get(), heap_mine);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	is_within(estimate_of(child).live_bytes, 4000 * n, n * sqrt(4000 * (1 - p) / p));
	assert_true(estimate_of(getpid()).live == before.live);
	for (uint64_t i = 0; i < 1000; i++)
		died(i);
	heap_count_flush(heap_get(), heap_mine);
	assert_true(estimate_of(getpid()).live == 0);
}

static int begin(void **state)
{
	char text[32];

	snprintf(text, sizeof text, "%d", INTERVAL);
	return scratch_begin(state) || setenv(HEAP_VARIABLE, scratch_path, 1) ||
	       setenv(HEAP_SAMPLE_VARIABLE, text, 1) || !heap_get();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(distances_are_exponential),
	    cmocka_unit_test(whole_distances_are_geometric),
	    cmocka_unit_test(weights_are_sizes_over_probabilities),
	    cmocka_unit_test(sums_are_unbiased),
	    cmocka_unit_test(a_sampled_block_is_temporary_without_later_ones),
	    cmocka_unit_test(resized_blocks),
	    cmocka_unit_test(threads_lose_nothing),
	    cmocka_unit_test(a_forked_child_begins_anew),
	};

	return cmocka_run_group_tests(tests, begin, scratch_end);
}
