/* SPDX-License-Identifier: Apache-2.0 */
#include "base/observer.h"
#include <math.h>

bool observer_cancelled(const dck_observer *watch)
{
	return watch && watch->cancelled && watch->cancelled(watch->self);
}

dck_progress progress_indeterminate(const char *phase)
{
	return (dck_progress){.phase = phase,
			      .estimate_ns = NAN,
			      .lo_ns = NAN,
			      .hi_ns = NAN,
			      .done_ratio = NAN,
			      .eta_ns = NAN};
}

dck_progress progress_fraction(const char *phase, uint64_t done, uint64_t all, uint64_t elapsed_ns)
{
	dck_progress p = progress_indeterminate(phase);

	p.runs = done;
	p.runs_total = all;
	p.elapsed_ns = elapsed_ns;
	p.done_ratio = (double)done / (double)all;
	if (done > 0)
		p.eta_ns = (double)elapsed_ns / (double)done * (double)(all - done);
	return p;
}

void observer_show(const dck_observer *watch, const dck_progress *p)
{
	if (watch && watch->progress)
		watch->progress(watch->self, p);
}

void observer_phase(void *watch, const char *phase)
{
	const dck_progress p = progress_indeterminate(phase);

	observer_show(watch, &p);
}
