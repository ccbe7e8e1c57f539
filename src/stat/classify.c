/* classify.c - how good a classifier's predictions are: precision, recall, f1-score and their
 * averages, as scikit-learn 1.9 defines and rounds them (precision_recall_fscore_support, with
 * zero_division 0).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>

/* The order in which NumPy adds up an array (pairwise, in blocks of 128, by eight sums at a time):
 * an average between two decimals is rounded as in NumPy only if its last bit is the same.
 */
#define BLOCK 128

static double sum(const double *x, size_t n)
{
	double part[8], s = -0.0;
	size_t i;

	if (n > BLOCK) {
		const size_t half = n / 2 - n / 2 % 8;

		return sum(x, half) + sum(x + half, n - half);
	}
	if (n < 8) {
		for (i = 0; i < n; i++)
			s += x[i];
		return s;
	}
	for (size_t j = 0; j < 8; j++)
		part[j] = x[j];
	for (i = 8; i + 8 <= n; i += 8)
		for (size_t j = 0; j < 8; j++)
			part[j] += x[i + j];
	s = ((part[0] + part[1]) + (part[2] + part[3])) +
	    ((part[4] + part[5]) + (part[6] + part[7]));
	for (; i < n; i++)
		s += x[i];
	return s;
}

static double classify_share(uint64_t part, uint64_t of)
{
	return of > 0 ? (double)part / (double)of : 0;
}

static double precision_of(const stat_class *c)
{
	return c->precision;
}

static double recall_of(const stat_class *c)
{
	return c->recall;
}

static double f1_of(const stat_class *c)
{
	return c->f1;
}

/* The mean over classes, weighted by their support or not; without any support not. */
static double average(const stat_class *c, size_t k, double (*of)(const stat_class *c),
		      bool weighted, double *scratch)
{
	uint64_t support = 0;

	for (size_t i = 0; i < k; i++)
		support += c[i].support;
	weighted = weighted && support > 0;
	for (size_t i = 0; i < k; i++)
		scratch[i] = of(&c[i]) * (weighted ? (double)c[i].support : 1);
	return sum(scratch, k) / (weighted ? (double)support : (double)k);
}

static stat_average average_all(const stat_class *c, size_t k, bool weighted, double *scratch)
{
	return (stat_average){average(c, k, precision_of, weighted, scratch),
			      average(c, k, recall_of, weighted, scratch),
			      average(c, k, f1_of, weighted, scratch)};
}

static void class_rate(stat_class *c)
{
	c->precision = classify_share(c->hits, c->predicted);
	c->recall = classify_share(c->hits, c->support);
	c->f1 = classify_share(2 * c->hits, c->predicted + c->support);
}

void stat_classify(const uint32_t *truth, const uint32_t *predicted, size_t n, size_t k,
		   double *scratch, stat_class *ret_class, stat_classes *ret)
{
	stat_class all = {0};

	*ret = (stat_classes){.n = n};
	for (size_t i = 0; i < k; i++)
		ret_class[i] = (stat_class){0};
	for (size_t i = 0; i < n; i++) {
		const bool hit = truth[i] == predicted[i];

		if (truth[i] < k)
			ret_class[truth[i]].support++;
		if (predicted[i] < k)
			ret_class[predicted[i]].predicted++;
		if (hit && truth[i] < k)
			ret_class[truth[i]].hits++;
		ret->hits += hit && truth[i] < k;
	}
	for (size_t i = 0; i < k; i++) {
		stat_class *c = &ret_class[i];

		class_rate(c);
		ret->never_predicted += c->predicted == 0;
		ret->empty += c->support == 0;
		all.hits += c->hits;
		all.predicted += c->predicted;
		all.support += c->support;
	}
	class_rate(&all);
	ret->support = all.support;
	ret->micro = (stat_average){all.precision, all.recall, all.f1};
	if (k == 0)
		return;
	ret->macro = average_all(ret_class, k, false, scratch);
	ret->weighted = average_all(ret_class, k, true, scratch);
}

void stat_proportion(uint64_t hits, uint64_t n, double level, double *ret_lo, double *ret_hi)
{
	const double tail = (1 - level) / 2, x = (double)hits, of = (double)n;

	*ret_lo = hits > 0 ? stat_beta_quantile(tail, x, of - x + 1) : 0;
	*ret_hi = hits < n ? stat_beta_quantile(1 - tail, x + 1, of - x) : 1;
}

double stat_mcnemar(uint64_t only_first, uint64_t only_second)
{
	const uint64_t n = only_first + only_second;
	const uint64_t few = only_first < only_second ? only_first : only_second;

	if (n == 0 || 2 * few >= n)
		return 1;
	/* P(X <= few) of a binomial with n trials of 1/2. */
	return fmin(2 * stat_beta_cdf(0.5, (double)(n - few), (double)few + 1), 1);
}
