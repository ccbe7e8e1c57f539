/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/trace_align.h"

#include "base/err.h"

#include <math.h>
#include <string.h>

/* Maximum rate error of a disciplined clock: Linux slews by up to 500 ppm. */
static const double rate_wrong = 500e-6;
/* No hostile time makes the arithmetic overflow. */
#define TIME_MAX (INT64_MAX / 4)

/* By how much its clock drifts, and how well its times are known afterwards. */
static double drift_of(trace_place *p)
{
	const trace_read_facts *f = &p->facts;
	const double own = (double)f->own_ns;
	const double gone = (double)f->own_boottime_ns - (double)f->snapshot_boottime_ns;
	const double ahead = gone - own;

	p->drift = 0;
	if (!f->own_ns) /* the process was killed, or the file has another producer */
		return rate_wrong * (double)p->last_ns;
	/* A machine that slept, or a clock that was broken: the time is unknown. */
	if (fabs(ahead) > 2 * rate_wrong * own + 1e6)
		return fabs(ahead);
	p->drift = own >= 1e6 ? ahead / own : 0;
	const double beyond = (double)p->last_ns - own;
	return (double)f->own_width_ns + (beyond > 0 ? rate_wrong * beyond : 0) +
	       (own >= 1e6 ? 0 : fabs(ahead));
}

static bool same_boot(const trace_place *a, const trace_place *b)
{
	return a->facts.about.boot[0] && strcmp(a->facts.about.boot, b->facts.about.boot) == 0;
}

static void line_place(trace_place *p, const trace_place *first)
{
	const trace_clock_line *l = p->line;
	const int64_t own = (int64_t)p->facts.about.boottime_ns;

	p->same_boot = same_boot(first, p);
	p->base_ns = own - (int64_t)first->facts.about.boottime_ns +
		     (int64_t)llround(l->offset_ns + l->drift * (double)(own - l->base_ns));
	p->drift += l->drift;
	p->within_ns += first->within_ns + l->within_ns;
}

static dck_status align_place(trace_place *p, size_t i, dck_err *err)
{
	const trace_header *first = &p[0].facts.about, *own = &p[i].facts.about;
	size_t k = 0;

	while (k < i && !same_boot(&p[k], &p[i]))
		k++;
	p[i].same_boot = same_boot(&p[0], &p[i]);
	if (k < i) {
		p[i].base_ns = p[k].base_ns + (int64_t)own->boottime_ns -
			       (int64_t)p[k].facts.about.boottime_ns;
		p[i].within_ns += p[k].within_ns;
		return DCK_OK;
	}
	if (first->unix_ns <= 0 || own->unix_ns <= 0)
		DCK_FAIL(
		    err, E_UNSUP,
		    "'%.200s' and '%.200s' have no clock in common: they may be of different "
		    "machines, and one does not have the time of day; record both with 'deepclock "
		    "trace'",
		    p[0].path, p[i].path);
	p[i].base_ns = own->unix_ns - first->unix_ns;
	if (first->unix_error_ns && own->unix_error_ns)
		p[i].within_ns +=
		    p[0].within_ns + (double)first->unix_error_ns + (double)own->unix_error_ns;
	else
		p[i].within_ns = NAN;
	return DCK_OK;
}

static dck_status align_check(const trace_place *p, dck_err *err)
{
	if (!p->facts.dated)
		DCK_FAIL(
		    err, E_UNSUP,
		    "'%.200s' has no snapshot of its clocks, so that its times cannot be aligned with other files; record it with 'deepclock trace'",
		    p->path);
	if (p->facts.about.boottime_ns > TIME_MAX || p->facts.about.unix_ns > TIME_MAX ||
	    p->last_ns > TIME_MAX || p->facts.own_ns > TIME_MAX ||
	    p->facts.own_boottime_ns > TIME_MAX)
		DCK_FAIL(err, E_FORMAT, "'%.200s': its clocks show times beyond 73 years", p->path);
	return DCK_OK;
}

dck_status trace_align(trace_place *p, size_t n, dck_err *err)
{
	for (size_t i = 0; i < n; i++) {
		/* A file alone needs no other's clock. */
		if (n > 1)
			DCK_TRY(align_check(&p[i], err));
		p[i].within_ns = (double)p[i].facts.about.width_ns + drift_of(&p[i]);
		p[i].base_ns = 0;
		p[i].same_boot = true;
		if (i > 0 && p[i].line)
			line_place(&p[i], &p[0]);
		else if (i > 0)
			DCK_TRY(align_place(p, i, err));
	}
	return DCK_OK;
}
