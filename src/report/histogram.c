/* histogram.c
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/histogram.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MIN 8
#define TAIL_FACTOR 1.5 /* a tail that widens the chart by less is shown, not cut off */

bool bins_is_latency(const dck_series *s)
{
	static const char processes[] = "latency/process/";
	return s->unit == DCK_UNIT_NS && (strcmp(s->tag, "latency") == 0 ||
					  strncmp(s->tag, processes, sizeof processes - 1) == 0);
}

int bins_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

bool bins_samples(const dck_record *r, bins_sorted *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < r->nseries; i++)
		if (bins_is_latency(&r->series[i]))
			n += r->series[i].n - r->series[i].warmup;
	ret->x = n >= SAMPLES_MIN ? mem_zalloc(n, sizeof *ret->x) : NULL;
	ret->n = 0;
	if (!ret->x)
		return false;
	for (size_t i = 0; i < r->nseries; i++) {
		const dck_series *s = &r->series[i];
		if (!bins_is_latency(s))
			continue;
		for (size_t k = s->warmup; k < s->n; k++)
			if (isfinite(s->values[k]))
				ret->x[ret->n++] = s->values[k];
	}
	qsort(ret->x, ret->n, sizeof *ret->x, bins_by_value);
	return ret->n >= SAMPLES_MIN;
}

bool bins_has(const dck_record *r)
{
	bins_sorted s;
	const bool any = bins_samples(r, &s);

	mem_free(s.x);
	return any;
}

/* 1, 2 or 5 times a power of ten, at least v. */
static double round_up(double v)
{
	double ten = pow(10, floor(log10(v))), m = v / ten;
	return ten * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

void bins_ends(const bins_sorted *s, double *ret_lo, double *ret_hi)
{
	const double *x = s->x;
	size_t last = s->n - 1, few = s->n / 20 > 0 ? s->n / 20 : 1;
	double q1 = x[last / 4], q3 = x[last - last / 4], fence = 3 * (q3 - q1);
	double lo = fmin(x[few], q1 - fence), hi = fmax(x[last - few], q3 + fence);

	if (x[last] - lo <= TAIL_FACTOR * (hi - lo))
		hi = x[last];
	if (hi - x[0] <= TAIL_FACTOR * (hi - lo))
		lo = x[0];
	/* On to the samples that are still inside, so that no row at an end is empty. */
	size_t i = 0, k = last;
	while (x[i] < lo)
		i++;
	while (x[k] > hi)
		k--;
	*ret_lo = x[i];
	*ret_hi = x[k];
}

void bins_fill(const bins_sorted *s, size_t wanted, bins *b)
{
	double lo, hi;

	bins_ends(s, &lo, &hi);
	*b = (bins){.origin = lo, .width = fmax(fabs(lo) * 1e-3, 1)};
	if (hi - lo > lo * 1e-9) {
		b->width = round_up((hi - lo) / (double)wanted);
		b->origin = floor(lo / b->width) * b->width;
	}
	b->rows = (size_t)fmin(floor((hi - b->origin) / b->width) + 1, BINS_MAX);
	for (size_t i = 0; i < s->n; i++) {
		double row = floor((s->x[i] - b->origin) / b->width);
		if (s->x[i] > hi || row >= (double)b->rows) {
			b->above++;
		} else if (s->x[i] < lo) {
			b->below++;
		} else if (++b->count[(size_t)fmax(row, 0)] > b->most) {
			b->most = b->count[(size_t)fmax(row, 0)];
		}
	}
}
