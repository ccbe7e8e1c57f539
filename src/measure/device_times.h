/* device_times.h - runs on a device, which continue after the call that starts them: a test of the
 * barriers that wait for their end, and the parts of a run.
 *
 *	DCK_TRY(device_barrier_prove(engine, context, clock, &proof, &runs, err));
 *
 * A call that is documented to wait may not (ONNX Runtime's SynchronizeBoundOutputs() returns at
 * once with WebGPU), and then the time of a run would be that of enqueueing it. So work of known
 * length is enqueued, each barrier is waited by, and what is left to do is measured by a barrier
 * that is certain, because it copies the results. A barrier that leaves more than a small
 * part of one run is not used.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_DEVICE_TIMES_H
#define MEASURE_DEVICE_TIMES_H

#include "deepclock/bench.h"
#include "record/build.h"

#define DEVICE_BARRIERS 8

struct dck_function_device;

typedef struct device_proof {
	unsigned n;	 /* barriers; 0: every run ends within its call, nothing to prove */
	unsigned first;	 /* the first that may be chosen; n - 1: none could be tested */
	bool proven;	 /* they were tested */
	unsigned chosen; /* by which run() waits; n - 1: the certain one */
	uint64_t runs;	 /* enqueued for each test */
	double idle_ns;	 /* the certain barrier's with nothing to wait for */
	double run_ns;	 /* one run's, the certain barrier included: the median */
	double least_ns; /* the least of these */
	double took_ns;	 /* the test */
	struct {
		const char *name; /* the engine's */
		double work_ns;	  /* of the runs in the test, until a certain barrier */
		double call_ns;	  /* the barrier's own time */
		double left_ns;	  /* of the work, when it had returned; NaN: not tested */
		double paused_ns; /* the same after a pause; NaN: not tested */
	} barrier[DEVICE_BARRIERS];
} device_proof;

/* Lists the barriers of a context, untested: the certain one is chosen. */
dck_status device_barriers_list(const dck_engine *e, dck_engine_context *c, device_proof *ret,
				dck_err *err);
/* Tests the barriers of a context, and has the engine use the first that waits, from `first` on.
 * Call it after the first run. Adds the runs it made to *runs. */
dck_status device_barrier_prove(const dck_engine *e, dck_engine_context *c, const dck_clock *clock,
				unsigned first, device_proof *ret, uint64_t *runs, dck_err *err);

/* The same for another context of a model whose barriers were tested: only chooses. *known becomes
 * the proof of this one. */
dck_status device_barrier_again(const dck_engine *e, dck_engine_context *c, device_proof *known,
				dck_err *err);

/* Adds the facts and the note of a proof. */
void device_proof_record(record_builder *b, const device_proof *p);

/* The times between events of a device, by a function's own code (unstable.h). */
typedef struct device_events {
	const struct dck_function_device *function; /* NULL: an engine's model */
	void *arg;
} device_events;

/* The parts of a run, medians; NaN: not known. */
typedef struct device_parts {
	double enqueue_ns, to_device_ns, from_device_ns;
} device_parts;

/* Measures enqueueing, the time on the device and transfers, each for `budget_ns`, or four
 * times that to have the 6 samples of an interval, and adds them with their samples; `origin_ns`:
 * the record's start; scratch: stat_scratch(64). On failure the metrics are absent with its
 * message. */
device_parts device_times_record(record_builder *b, const dck_engine *e, dck_engine_context *c,
				 const dck_clock *clock, device_events events, uint64_t origin_ns,
				 const device_proof *p, double budget_ns, double level,
				 double *scratch, uint64_t *runs);
/* Returns whether the host takes most of a run to enqueue it, so that the device waits for it. */
bool device_enqueue_bound(const device_proof *p, const device_parts *parts, double latency_ns);
/* Returns whether the copies of inputs and outputs that a latency does not include take longer. */
bool device_transfer_bound(const device_proof *p, const device_parts *parts, double latency_ns);
/* Adds a note for each of the two. */
void device_parts_notes(record_builder *b, const device_proof *p, const device_parts *parts,
			double latency_ns);
/* Adds the same metrics as absent. */
void device_times_absent(record_builder *b, const char *why);

/* Fails with E_UNSUP if a profile measures only the launch of operators on a device and not their
 * execution. */
dck_status device_profile_check(const dck_engine *e, dck_engine_context *c,
				const dck_profile *profile, double run_ns, dck_err *err);

#endif
