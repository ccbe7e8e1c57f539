/* loop.h - the timed loop: it runs the target, reads the clock around each sample, and keeps the
 * samples. A slice is some samples in a row, about 0.1 ms of them.
 *
 *	phase_samples to = {.latency = &samples};
 *
 *	DCK_TRY(measure_loop_take(&loop, &to, 100, err));
 *
 * Between the two clock readings of a sample there are only the engine's runs. Between two samples
 * of a slice the value is only stored, in memory that was reserved before. Everything else happens
 * between slices: the next input, --prepare, pauses, CPU time, and the question whether to stop.
 * Where something must be done before each run, a slice is one sample.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_LOOP_H
#define MEASURE_LOOP_H

#include "measure/samples.h"
#include "measure/subject/target.h"

typedef struct measure_loop {
	const dck_clock *clock;
	uint64_t origin_ns; /* the record's beginning on that clock */
	subject_target *target;
	const dck_observer *watch;
	uint64_t group;	  /* runs per sample */
	uint64_t idle_ns; /* pause before each run */
	uint64_t runs;	  /* made so far, all phases */
	uint64_t
	    unused; /* runs besides: after a pause, and those of a sample that a later one failed */
	double run_ns;	  /* what a run took lately; 0: not known yet */
	uint64_t last_ns; /* the last clock reading */
} measure_loop;

/* What a phase collects. Each may be NULL. */
typedef struct phase_samples {
	measure_samples *latency;
	measure_samples *cpu;		/* process CPU time per run, one value per slice */
	measure_samples *user, *system; /* of a command's runs */
	uint64_t peak_rss_bytes;	/* greatest of a command's runs */
	double cpu_ns, wall_ns;		/* sums over the slices */
} phase_samples;

/* Takes `n` samples. On failure the samples before it are kept and *err says what happened:
 * E_CANCEL when the observer cancelled. */
dck_status measure_loop_slice(measure_loop *l, phase_samples *to, uint64_t n, dck_err *err);

/* Samples for the next slice: enough that the work between slices is small beside it, few enough
 * that Ctrl-C and deadlines are met; never more than `left` samples. */
uint64_t measure_loop_slice_size(const measure_loop *l, uint64_t left);

/* The same in slices, however many they are. */
dck_status measure_loop_take(measure_loop *l, phase_samples *to, uint64_t n, dck_err *err);

/* After a pause that a run could feel (caches, workers gone to sleep): one sample's worth of runs
 * that are not counted. */
dck_status measure_loop_settle(measure_loop *l, uint64_t pause_ns, dck_err *err);

bool measure_loop_cancelled(const measure_loop *l);

#endif
