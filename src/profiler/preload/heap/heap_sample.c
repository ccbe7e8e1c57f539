/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_sample.h"

#include "profiler/preload/heap/heap_paths.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Thread_local uint64_t heap_gap __attribute__((tls_model("initial-exec")));
_Atomic uint16_t *_Atomic heap_filter;

/* --- functions of libm, which this library does not import */

/* Natural logarithm of a normal number: with m in [sqrt(1/2), sqrt(2)) and z = (m - 1) / (m + 1) it
 * is e ln(2) + 2 (z + z^3 / 3 + z^5 / 5 + ...) for x = m 2^e. */
static double sample_log(double x)
{
	uint64_t bits;
	double m, z, sum = 0;

	memcpy(&bits, &x, sizeof bits);
	int e = (int)(bits >> 52) - 1023;
	bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
	memcpy(&m, &bits, sizeof m);
	if (m > 1.4142135623730951) {
		m /= 2;
		e++;
	}
	z = (m - 1) / (m + 1);
	for (int k = 21; k > 0; k -= 2)
		sum = sum * z * z + 2.0 / k;
	return e * 0.69314718055994531 + z * sum;
}

enum { DOUBLINGS = 7, TERMS = 12, CERTAIN = 40 };

/* 1 - exp(-x) without cancellation: Taylor's series at x / 2^7, then E(2x) = E(x) (2 - E(x)). */
static double sample_one_minus_exp(double x)
{
	double sum = 0;

	if (x > CERTAIN)
		return 1;
	x /= 1 << DOUBLINGS;
	for (int k = TERMS; k > 0; k--)
		sum = x / k * (1 - sum);
	for (int i = 0; i < DOUBLINGS; i++)
		sum *= 2 - sum;
	return sum;
}

/* --- random distances */

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t sample_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

uint64_t heap_sample_gap(uint64_t *random, uint64_t interval)
{
	/* In (0, 1), in steps of 2^-53. */
	const double u = ((double)(sample_random(random) >> 11) + 0.5) * 0x1p-53;

	return (uint64_t)(-sample_log(u) * (double)interval);
}

uint64_t heap_sample_weight(uint64_t n, uint64_t interval)
{
	return (uint64_t)((double)n / sample_one_minus_exp(((double)n + 1) / (double)interval) +
			  0.5);
}

static uint64_t sample_seed(const heap_thread *t)
{
	const int kept = errno;
	struct timespec now;
	uint64_t seed;

	if (syscall(SYS_getrandom, &seed, sizeof seed, 1 /* GRND_NONBLOCK */) == sizeof seed)
		return seed;
	errno = kept;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)t ^ (uint64_t)now.tv_sec << 30 ^
	       (uint64_t)now.tv_nsec;
}

void heap_sample_next(const heap_state *s, heap_thread *t)
{
	if (!t->random)
		t->random = sample_seed(t);
	heap_gap = heap_sample_gap(&t->random, s->interval);
	atomic_store_explicit(&heap_filter, s->sampled, memory_order_release);
}

void heap_sample_forked(void)
{
	heap_gap = 0;
	atomic_store(&heap_filter, NULL);
}

static bool size_describe(heap_state *s, void *self, heap_frame *ret)
{
	(void)s;
	*ret = (heap_frame){.place = *(const uint64_t *)self, .module = HEAP_SIZE};
	return true;
}

uint32_t heap_sample_node(heap_state *s, heap_thread *t, uint32_t path, uint64_t size)
{
	uint64_t key = size;
	const uint32_t frame = heap_frame_get(s, sample_random(&key) | 1, size_describe, &size);
	const uint32_t node = frame ? heap_node_of(s, t, path, frame) : path;

	if (!frame) /* heap_node_of() counts it else */
		atomic_fetch_add_explicit(&s->header->lost, 1, memory_order_relaxed);
	return node != path ? node : 0;
}
