/* loop.h - the timed loop: it runs the target, reads the clock around each sample, and stores the
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
#include "os/os.h"

typedef struct measure_loop {
	const dck_clock *clock;
	uint64_t origin_ns; /* start of the record on that clock */
	subject_target *target;
	const dck_observer *watch;
	uint64_t group;	  /* runs per sample */
	uint64_t idle_ns; /* pause before each run */
	uint64_t runs;	  /* made so far, all phases */
	uint64_t
	    unused; /* other runs: after a pause, or in a sample in which some later run failed */
	double run_ns;	  /* recent time per run, in ns; 0: not yet known */
	uint64_t last_ns; /* the last clock reading */
	/* Reads for how long threads have waited for a processor; NULL: not known. */
	bool (*waited)(void *self, os_run_delays *ret);
	void *waited_self;
	struct gauge_log *gauges; /* of the target's device; NULL: none */
} measure_loop;

/* Sample buffers of a phase. Each may be NULL. */
typedef struct phase_samples {
	measure_samples *latency;
	measure_samples *cpu;		/* process CPU time per run, one value per slice */
	measure_samples *user, *system; /* of a command's runs */
	/* For how long threads waited for a processor in a sample that is a slice of its own, or a
	 * hypervisor had it; else NaN. One for each of `latency`, needs `waited`. */
	measure_samples *delay;
	uint64_t peak_rss_bytes; /* greatest of a command's runs */
	double cpu_ns, wall_ns;	 /* sums over the slices */
} phase_samples;

/* Takes `n` samples. On failure the earlier samples remain. E_CANCEL: the observer cancelled. */
dck_status measure_loop_slice(measure_loop *l, phase_samples *to, uint64_t n, dck_err *err);

/* Returns the number of samples of the next slice: enough that the work between slices is small in
 * comparison, few enough to meet Ctrl-C and deadlines; at most `left`. */
uint64_t measure_loop_slice_size(const measure_loop *l, uint64_t left);

/* Returns the index of the first sample that ended after at_ns, since the origin; n: none. It
 * searches from the last one back. */
size_t measure_loop_samples_after(const measure_loop *l, const measure_samples *latency,
				  double at_ns);

/* Takes `n` samples, in slices. */
dck_status measure_loop_take(measure_loop *l, phase_samples *to, uint64_t n, dck_err *err);

/* Makes the runs of one sample without counting them, if the pause was long enough to slow a run
 * (cold caches, sleeping workers). */
dck_status measure_loop_settle(measure_loop *l, uint64_t pause_ns, dck_err *err);

/* Reads the device's gauges between two slices: if it is time to, or, with `first`, as the first
 * reading of the measurement. */
dck_status measure_loop_gauges(measure_loop *l, bool first, dck_err *err);

bool measure_loop_cancelled(const measure_loop *l);

#endif
