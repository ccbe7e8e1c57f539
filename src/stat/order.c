/* order.c - sorting and order statistics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>
#include <string.h>

static void swap(double *a, double *b)
{
	const double t = *a;

	*a = *b;
	*b = t;
}

static void sort_insertion(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const double v = x[i];
		size_t j = i;

		for (; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

static void sift(double *x, size_t root, size_t n)
{
	for (size_t child; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n && x[child] < x[child + 1])
			child++;
		if (x[root] >= x[child])
			return;
		swap(&x[root], &x[child]);
	}
}

static void sort_heap(double *x, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sift(x, i, n);
	for (size_t i = n; i-- > 1;) {
		swap(&x[0], &x[i]);
		sift(x, 0, i);
	}
}

/* Musser's introsort (1997): quicksort that falls back to heap sort when it goes too deep. The C
 * library's qsort may allocate and calls a function for each comparison. */
static void sort_intro(double *x, size_t n, int depth)
{
	while (n > 24) {
		size_t i = 0, j = n - 1;
		double pivot;

		if (depth-- == 0) {
			sort_heap(x, n);
			return;
		}
		if (x[n / 2] < x[0])
			swap(&x[n / 2], &x[0]);
		if (x[n - 1] < x[n / 2])
			swap(&x[n - 1], &x[n / 2]);
		if (x[n / 2] < x[0])
			swap(&x[n / 2], &x[0]);
		pivot = x[n / 2];
		for (;;) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&x[i++], &x[j--]);
		}
		/* The smaller half by recursion, so that the stack stays shallow. */
		if (j + 1 < n - j - 1) {
			sort_intro(x, j + 1, depth);
			x += j + 1;
			n -= j + 1;
		} else {
			sort_intro(x + j + 1, n - j - 1, depth);
			n = j + 1;
		}
	}
	sort_insertion(x, n);
}

void stat_sort(double *x, size_t n)
{
	int depth = 0;

	for (size_t m = n; m > 1; m /= 2)
		depth += 2;
	sort_intro(x, n, depth);
}

double stat_quantile_sorted(const double *sorted, size_t n, double p)
{
	const double at = p * (double)(n - 1);
	const double below = floor(at);
	const size_t i = (size_t)below;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]);
}

size_t stat_count_below(const double *sorted, size_t n, double limit)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		const size_t middle = lo + (hi - lo) / 2;

		if (sorted[middle] < limit)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

double stat_median(const double *x, size_t n, double *scratch)
{
	memcpy(scratch, x, n * sizeof *x);
	stat_sort(scratch, n);
	return stat_quantile_sorted(scratch, n, 0.5);
}
