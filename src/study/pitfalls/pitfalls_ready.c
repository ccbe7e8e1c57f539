/* pitfalls_ready.c - compares the time of a call that starts a run with the time until its results
 * are ready.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/pitfalls/pitfall.h"
#include "base/err.h"

#define READY_RUNS_MIN 3
#define READY_RUNS_MAX 1000

typedef struct ready {
	pitfall_ready_once once;
	bool alone; /* return the time of the call alone */
} ready;

/* Both trials of a pair do the same, so that they compare. */
static dck_status ready_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	const ready *r = self;
	double run_ns[READY_RUNS_MAX], ready_ns[READY_RUNS_MAX];
	const uint64_t begin = measure_context_now(&p->shared);
	const double least = pitfall_trial_ns(p);
	size_t n = 0;

	while (n < READY_RUNS_MAX &&
	       (n < READY_RUNS_MIN || (double)(measure_context_now(&p->shared) - begin) < least)) {
		if (measure_loop_cancelled(&p->session.phases.loop))
			DCK_FAIL(err, E_CANCEL, "interrupted");
		DCK_TRY(r->once(p, &run_ns[n], &ready_ns[n], err));
		n++;
	}
	*ret_ns = pitfall_median(p, r->alone ? run_ns : ready_ns, n);
	return DCK_OK;
}

dck_status pitfall_ready_find(pitfall *p, pitfall_ready_once once, pitfall_finding *ret,
			      dck_err *err)
{
	ready whole = {.once = once}, alone = {.once = once, .alone = true};

	return pitfall_pair_find(p, (pitfall_trial){ready_trial, &whole},
				 (pitfall_trial){ready_trial, &alone}, ret, err);
}
