/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_clock.h"

#include <time.h>

#define APART_NS UINT64_C(100000000)

void cuda_clock_pair(cuda_clock *c, uint64_t theirs, uint64_t ours)
{
	unsigned at = c->n < 2 ? c->n : 1;

	if (c->n && ours - c->ours[c->n < 2 ? 0 : 1] < APART_NS) {
		if (c->n < 2)
			return; /* the first is needed for the rate */
	} else if (c->n == 2) {
		c->theirs[0] = c->theirs[1];
		c->ours[0] = c->ours[1];
	}
	c->theirs[at] = theirs;
	c->ours[at] = ours;
	c->n = at + 1;
}

uint64_t cuda_clock_convert(const cuda_clock *c, uint64_t theirs)
{
	if (c->n == 0)
		return theirs;
	const unsigned last = c->n - 1;
	const int64_t gone = (int64_t)(theirs - c->theirs[last]);
	double rate = 1;
	if (last)
		rate = (double)(c->ours[1] - c->ours[0]) / (double)(c->theirs[1] - c->theirs[0]);
	const double moved = (double)gone * rate;
	return c->ours[last] + (uint64_t)(int64_t)(moved < 0 ? moved - 0.5 : moved + 0.5);
}

uint64_t cuda_clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
