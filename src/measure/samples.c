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
