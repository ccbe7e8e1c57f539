/* load_arrivals.c - arrival processes of an open loop: Poisson, a constant rate, or a trace that is
 * replayed.
 *
 * Poisson: the gaps are exponential, by inversion of their distribution. The random number depends
 * on the seed and the index alone (a counter-based generator), so that a schedule is the same in
 * each run and takes no memory. Constant: the index times the gap, without a sum of errors. Trace:
 * the times since its first arrival, scaled to the requested mean rate.
 *
 * A trace is CSV or plain text, of which the first cell of each line is read. Hostile files are
 * bounded: TRACE_BYTES_MAX bytes, TRACE_MAX arrivals, CELL_MAX bytes of a cell, and SPAN_MAX_S
 * seconds, which refuses NaN and infinity too; times may not fall. load_arrivals is not
 * thread-safe: load_run.c calls it with its lock held. The trace is borrowed and never written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_run.h"
#include "base/err.h"
#include "base/units.h"
#include "measure/subject/random.h"
#include "os/os.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

#define TRACE_BYTES_MAX (256u << 20)
#define SPAN_MAX_S	1e9 /* 30 years: nanoseconds in a double are 128 apart there */
#define TRACE_MAX	20000000
#define CELL_MAX	64

/* --- a trace */

typedef struct reader {
	const char *path;
	const char *at, *end;
	uint64_t line;
	double first_s, last_s; /* as written */
	size_t cap;
	bool any;
} reader;

/* Reads the first cell of the next line, without quotes and the blanks around it; false: the end.
 */
static bool cell_next(reader *r, char cell[CELL_MAX], bool *ret_long)
{
	const char *end;
	size_t n;

	if (r->at >= r->end)
		return false;
	end = memchr(r->at, '\n', (size_t)(r->end - r->at));
	end = end ? end : r->end;
	r->line++;
	n = 0;
	*ret_long = false;
	for (const char *c = r->at; c < end && *c && !strchr(",;\t#", *c); c++) {
		if (*c == '"' || (n == 0 && isspace((unsigned char)*c)))
			continue;
		if (n + 1 < CELL_MAX)
			cell[n++] = *c;
		else
			*ret_long = true;
	}
	while (n > 0 && isspace((unsigned char)cell[n - 1]))
		n--;
	cell[n] = '\0';
	r->at = end < r->end ? end + 1 : end;
	return true;
}

/* Reads a time as seconds. */
static bool time_parse(const char *cell, double *ret)
{
	uint64_t ns;

	if (units_parse_real(cell, ret, NULL) == DCK_OK)
		return true;
	if (units_parse_time(cell, &ns, NULL) != DCK_OK)
		return false;
	*ret = (double)ns / 1e9;
	return true;
}

static dck_status trace_push(reader *r, load_trace *t, double s, dck_err *err)
{
	if (!r->any)
		r->first_s = r->last_s = s;
	r->any = true;
	if (s < r->last_s)
		DCK_FAIL(err, E_FORMAT,
			 "'%s', line %llu: arrival times must not fall, "
			 "and %.9g s comes after %.9g s: sort the file",
			 r->path, (unsigned long long)r->line, s, r->last_s);
	if (!(s - r->first_s <= SPAN_MAX_S))
		DCK_FAIL(
		    err, E_FORMAT,
		    "'%s', line %llu: this time is %.9g s after the first one: at most %.0g s, "
		    "30 years, are replayed",
		    r->path, (unsigned long long)r->line, s - r->first_s, SPAN_MAX_S);
	if (t->n == TRACE_MAX)
		DCK_FAIL(err, E_LIMIT, "'%s' has more than %d arrival times: cut it", r->path,
			 TRACE_MAX);
	DCK_NEED(mem_reserve(&t->at_ns, &r->cap, t->n + 1, sizeof *t->at_ns), err,
		 "for the arrival times");
	r->last_s = s;
	t->at_ns[t->n++] = (s - r->first_s) * 1e9;
	return DCK_OK;
}

static dck_status trace_refuse(const reader *r, char *cell, dck_err *err)
{
	for (char *c = cell; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	DCK_FAIL(err, E_FORMAT,
		 "'%s', line %llu: '%.40s' is not a time: "
		 "give seconds (0.25) or a time with its unit (250ms), one a line, and further "
		 "columns after a comma, semicolon or tab",
		 r->path, (unsigned long long)r->line, cell);
}

static dck_status trace_parse(reader *r, load_trace *t, dck_err *err)
{
	char cell[CELL_MAX];
	bool too_long;
	double s;

	while (cell_next(r, cell, &too_long)) {
		if (!cell[0])
			continue;
		if (!too_long && time_parse(cell, &s)) {
			DCK_TRY(trace_push(r, t, s, err));
			continue;
		}
		if (r->any || t->heading > 0 || strchr("+-.0123456789", cell[0]))
			return trace_refuse(r, cell, err);
		t->heading = r->line;
	}
	if (t->n < 2 || !(t->at_ns[t->n - 1] > 0))
		DCK_FAIL(err, E_FORMAT,
			 "'%s' has %zu arrival time%s%s: a trace needs two that differ", r->path,
			 t->n, t->n == 1 ? "" : "s", t->n > 1 ? ", all the same" : "");
	t->rate_hz = (double)(t->n - 1) * 1e9 / t->at_ns[t->n - 1];
	return DCK_OK;
}

dck_status load_trace_read(const char *path, load_trace *ret, dck_err *err)
{
	reader r = {.path = path};
	load_trace t = {0};
	dck_buffer text = {0};
	dck_status status;

	DCK_TRY(os_read_text(path, TRACE_BYTES_MAX, &text, err));
	r.at = text.n ? (const char *)text.data : "";
	r.end = r.at + text.n;
	status = trace_parse(&r, &t, err);
	dck_buffer_done(&text);
	if (status != DCK_OK) {
		load_trace_done(&t);
		return status;
	}
	*ret = t;
	return DCK_OK;
}

void load_trace_done(load_trace *t)
{
	mem_free(t->at_ns);
	*t = (load_trace){0};
}

uint64_t load_trace_time(const load_trace *t, double rate_hz)
{
	return (uint64_t)fmin(t->at_ns[t->n - 1] * (t->rate_hz / rate_hz), 4e18) + 1;
}

/* --- arrivals */

/* Returns a uniform number above 0 and up to 1, from the seed and the position alone. */
static double arrivals_uniform(uint64_t seed, uint64_t i)
{
	const dck_dtype word = {DCK_DTYPE_UINT, 64, 1};
	uint64_t bits = 0;

	random_fill(&bits, 1, word, INT64_MIN, INT64_MAX, seed, i);
	return ((double)(bits >> 11) + 1) / 9007199254740992.0;
}

void load_arrivals_init(load_arrivals *a, double rate_hz, bool constant, const load_trace *trace,
			uint64_t seed)
{
	*a = (load_arrivals){.constant = constant,
			     .gap_ns = 1e9 / rate_hz,
			     .trace = trace,
			     .scale = trace ? trace->rate_hz / rate_hz : 1,
			     .seed = seed};
}

bool load_arrivals_next(load_arrivals *a, double *ret_ns)
{
	const uint64_t i = a->n;

	if (a->trace) {
		if (i >= a->trace->n)
			return false;
		a->at_ns = a->trace->at_ns[i] * a->scale;
	} else if (a->constant) {
		a->at_ns = (double)i * a->gap_ns; /* not a sum: errors do not add up */
	} else {
		/* Exponential gaps, by inversion: a Poisson process. */
		a->at_ns += -log(arrivals_uniform(a->seed, i)) * a->gap_ns;
	}
	a->n++;
	*ret_ns = a->at_ns;
	return true;
}
