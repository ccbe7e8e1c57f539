/* samples.h - the sample buffer of the timed loop: reserved and touched before the first clock
 * read, so that nothing allocates or faults while the clock runs. Bounded: when it is full, every
 * second sample is dropped, and after that only every second (fourth, ...) sample is stored, a
 * systematic sample of the whole run, in order. Count, sum, minimum and maximum cover all samples.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_SAMPLES_H
#define MEASURE_SAMPLES_H

#include "deepclock/base.h"

typedef struct measure_samples {
	double *value;	 /* [n] */
	uint64_t *at_ns; /* [n] start, since the origin */
	size_t n, cap;
	uint64_t stride, skip; /* store one of `stride`; skip `skip` samples before the next */
	uint64_t pushed;       /* all samples, stored or not */
	double sum, min, max;  /* of all samples */
} measure_samples;

/* Allocates a buffer of `cap` samples, at least 2. `hot`: touches every page now, for samples that
 * are pushed between clock readings. */
dck_status measure_samples_init(measure_samples *s, size_t cap, bool hot, dck_err *err);
void measure_samples_done(measure_samples *s); /* {0} is allowed */
void measure_samples_clear(measure_samples *s);
void measure_samples_halve(measure_samples *s);
/* Removes the first n samples; only while all are stored (stride 1). */
void measure_samples_drop(measure_samples *s, size_t n);

/* Returns the mean of all samples; NaN: no samples. */
static inline double measure_samples_mean(const measure_samples *s)
{
	return s->sum / (double)s->pushed;
}

/* The clock's readings around one sample. */
typedef struct measure_reading {
	uint64_t begin_ns, end_ns;
} measure_reading;
/* Pushes the duration of each of n readings, times `scale`. */
void measure_samples_take(measure_samples *s, const measure_reading *readings, size_t n,
			  uint64_t origin_ns, double scale);

static inline void measure_samples_keep(measure_samples *s, uint64_t at_ns, double value)
{
	if (s->skip > 0) {
		s->skip--;
		return;
	}
	/* cap is even, so the sample in hand is the next of the doubled stride. */
	if (s->n == s->cap)
		measure_samples_halve(s);
	s->value[s->n] = value;
	s->at_ns[s->n] = at_ns;
	s->n++;
	s->skip = s->stride - 1;
}

static inline void measure_samples_push(measure_samples *s, uint64_t at_ns, double value)
{
	s->pushed++;
	s->sum += value;
	if (value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
	measure_samples_keep(s, at_ns, value);
}

#endif
