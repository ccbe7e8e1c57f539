/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/samples.h"
#include "base/err.h"
#include "os/os.h"
#include <assert.h>
#include <math.h>
#include <string.h>

dck_status measure_samples_init(measure_samples *s, size_t cap, bool hot, dck_err *err)
{
	void *(*const pages)(size_t n) = hot ? os_pages_alloc : os_pages_reserve;

	assert(cap >= 2);
	memset(s, 0, sizeof *s);
	cap &= ~(size_t)1; /* halving keeps the spacing even only with an even capacity */
	s->value = pages(cap * sizeof *s->value);
	s->at_ns = pages(cap * sizeof *s->at_ns);
	s->cap = cap;
	if (!s->value || !s->at_ns) {
		measure_samples_done(s);
		return ERR_NO_MEMORY(err, "for %zu samples", cap);
	}
	measure_samples_clear(s);
	return DCK_OK;
}

void measure_samples_done(measure_samples *s)
{
	os_pages_free(s->value, s->cap * sizeof *s->value);
	os_pages_free(s->at_ns, s->cap * sizeof *s->at_ns);
	memset(s, 0, sizeof *s);
}

void measure_samples_clear(measure_samples *s)
{
	s->n = 0;
	s->stride = 1;
	s->skip = 0;
	s->pushed = 0;
	s->sum = 0;
	s->min = INFINITY;
	s->max = -INFINITY;
}

void measure_samples_halve(measure_samples *s)
{
	for (size_t i = 0; 2 * i < s->n; i++) {
		s->value[i] = s->value[2 * i];
		s->at_ns[i] = s->at_ns[2 * i];
	}
	s->n = (s->n + 1) / 2;
	s->stride *= 2;
}

void measure_samples_take(measure_samples *s, const measure_reading *readings, size_t n,
			  uint64_t origin_ns, double scale)
{
	/* In registers: a sum in memory costs a store and a load for each sample. */
	double sum = s->sum, min = s->min, max = s->max;

	for (size_t i = 0; i < n; i++) {
		const measure_reading *r = &readings[i];
		const double value = (double)(r->end_ns - r->begin_ns) * scale;

		sum += value;
		min = value < min ? value : min;
		max = value > max ? value : max;
		measure_samples_keep(s, r->begin_ns - origin_ns, value);
	}
	s->pushed += n;
	s->sum = sum;
	s->min = min;
	s->max = max;
}

void measure_samples_drop(measure_samples *s, size_t n)
{
	const size_t left = s->n - n;

	assert(s->stride == 1 && n <= s->n);
	memmove(s->value, s->value + n, left * sizeof *s->value);
	memmove(s->at_ns, s->at_ns + n, left * sizeof *s->at_ns);
	s->n = 0;
	s->pushed = 0;
	s->sum = 0;
	s->min = INFINITY;
	s->max = -INFINITY;
	for (size_t i = 0; i < left; i++)
		measure_samples_push(s, s->at_ns[i], s->value[i]);
}
