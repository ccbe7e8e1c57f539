/* sample_record.c - makes the record of a sampled program: facts, cost, notes, answer, table and
 * tree, in this order.
 *
 * Paths are named first (sample_profile_name()), because that also gives counts, such as samples
 * in code without names. The overhead of one sample is then measured by the source (price(), its
 * last call); the cost ratio is that times all samples, lost ones too, over the program's CPU time,
 * or that of the samples if it is more.
 * A note is one condition in sample_notes_put() on these counts, with its threshold named above.
 * The answer comes from the table of functions in a scratch record, sorted by own time: the first
 * row that is a function, and for a Python program before it the user's function.
 *
 * Shares of functions are of CPU time: time_ns - blocked_ns, where blocked time is off-CPU
 * (--wall). The record owns copies of all texts; ret_named stays the caller's also on failure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/sample_record.h"

#include "base/err.h"
#include "base/names/function_name.h"
#include "base/units.h"
#include "base/mem.h"
#include "record/record_begin.h"
#include "record/host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* With fewer samples the 95 % interval of a share of 1/2, +-1/sqrt(n), is wider than +-0.1. */
enum { FEW = 100 };
/* Share of all the time, waits included, below which few samples of the rest alter no answer. */
#define FEW_SHARE 0.01
/* Share of the program's CPU time that sampling may take without a warning. */
#define DEAR 0.03
/* Share of stacks that end too early above which a note is made. */
#define EARLY 0.01
/* Share of samples in functions without names above which a note is made. */
#define NAMELESS 0.1
/* Share of the requested rate below which a note is made. */
#define RATE_LEAST 0.6
/* Share of the CPU time above which busy-waiting is part of the answer. */
#define SPIN_LEAST 0.01
/* CPU time without samples above which a note is made: its share, and its amount. */
#define UNSEEN		0.1
#define UNSEEN_LEAST_NS 1e8
/* Samples of a short thread that a proposed rate takes, and the highest such rate. */
enum { SHORT_SAMPLES = 4, SHORT_RATE = 10000 };

static void sample_title_make(char *title, size_t size, const dck_sample_config *c,
			      char *const *argv)
{
	if (c->pid)
		snprintf(title, size, "process %llu", (unsigned long long)c->pid);
	else
		record_program_title(title, size, argv);
}

static double sample_share(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

/* Returns the CPU time that the program used; 0: it is not known. */
static double sample_used_ns(const sample_run *r)
{
	return r->cpu_known ? (double)(r->user_ns + r->system_ns) : 0;
}

/* --- overhead */

typedef struct cost {
	double price_ns, ratio;
	const char *how;
} cost;

static cost cost_find(const sample_run *r, const sample_source *source, void *self,
		      const sample_counts *n)
{
	cost c = {0};
	const double used = sample_used_ns(r), seen = n->time_ns - n->blocked_ns;
	/* A process whose parent had ended is in the samples, and in no wait(). */
	const double cpu = used > seen ? used : seen;

	c.price_ns = source->price(self, &c.how);
	if (cpu > 0)
		c.ratio = c.price_ns * (double)(n->samples + n->lost) / cpu;
	return c;
}

static void sample_cost_put(record_builder *b, const sample_run *r, const cost *c)
{
	record_fact_int(b, "cost", "deepclock_cpu", DCK_UNIT_NS, (int64_t)r->own_cpu_ns);
	if (c->price_ns <= 0) {
		record_fact_absent(b, "cost", "sample", "it could not be measured");
		record_fact_absent(b, "cost", "ratio", "the cost of a sample is unknown");
		return;
	}
	record_fact_real(b, "cost", "sample", DCK_UNIT_NS, c->price_ns);
	record_fact_real(b, "cost", "ratio", DCK_UNIT_ONE, c->ratio);
	record_fact_text(b, "cost", "how", c->how);
	if (c->ratio > DEAR)
		record_note(b, "sample-cost",
			    "taking the samples took about %.1f %% of the program's CPU time",
			    100 * c->ratio);
}

/* --- how it went */

static void sample_counts_put(record_builder *b, const sample_run *r, const dck_sample_config *c,
			      const sample_counts *n)
{
	const double seen = n->time_ns - n->blocked_ns;
	const char *s = "sample";

	record_fact_int(b, s, "samples", DCK_UNIT_ONE, (int64_t)n->samples);
	record_fact_int(b, s, "lost", DCK_UNIT_ONE, (int64_t)n->lost);
	record_fact_int(b, s, "stacks_truncated", DCK_UNIT_ONE, (int64_t)n->cut);
	record_fact_int(b, s, "stacks_failed", DCK_UNIT_ONE, (int64_t)n->broken);
	record_fact_int(b, s, "stacks_scanned", DCK_UNIT_ONE, (int64_t)n->scanned);
	record_fact_int(b, s, "unknown_code", DCK_UNIT_ONE,
			(int64_t)(n->named.unknown + n->named.generated));
	record_fact_int(b, s, "processes", DCK_UNIT_ONE, (int64_t)n->processes);
	if (r->refused)
		record_fact_int(b, s, "processes_refused", DCK_UNIT_ONE, (int64_t)r->refused);
	record_fact_int(b, s, "threads", DCK_UNIT_ONE, (int64_t)n->threads);
	if (n->python.samples) {
		record_fact_int(b, s, "python_samples", DCK_UNIT_ONE, (int64_t)n->python.samples);
		record_fact_int(b, s, "python_late", DCK_UNIT_ONE, (int64_t)n->python.late);
		record_fact_int(b, s, "python_torn", DCK_UNIT_ONE, (int64_t)n->python.torn);
		record_fact_int(b, s, "python_inexact", DCK_UNIT_ONE, (int64_t)n->python.inexact);
		record_fact_int(b, s, "python_nameless", DCK_UNIT_ONE, (int64_t)n->python.nameless);
	}
	record_fact_int(b, s, "rate_asked", DCK_UNIT_HERTZ, (int64_t)c->rate);
	if (seen > 0)
		record_fact_real(b, s, "rate", DCK_UNIT_HERTZ, 1e9 * (double)n->samples / seen);
	else
		record_fact_absent(b, s, "rate", "there are no samples");
	record_fact_real(b, s, "time", DCK_UNIT_NS, n->time_ns);
	if (n->named.spin_ns > 0)
		record_fact_real(b, s, "busy_waiting", DCK_UNIT_NS, n->named.spin_ns);
	if (r->waits) {
		record_fact_text(b, s, "waits", r->waits);
		record_fact_int(b, s, "waits_seen", DCK_UNIT_ONE, (int64_t)n->waits);
		record_fact_real(b, s, "waited", DCK_UNIT_NS, n->blocked_ns);
	}
	record_fact_int(b, s, "elapsed", DCK_UNIT_NS, (int64_t)r->took_ns);
	if (r->cpu_known) {
		record_fact_int(b, s, "user", DCK_UNIT_NS, (int64_t)r->user_ns);
		record_fact_int(b, s, "system", DCK_UNIT_NS, (int64_t)r->system_ns);
	} else {
		record_fact_absent(b, s, "user",
				   "the kernel does not report these processes together");
		record_fact_absent(b, s, "system",
				   "the kernel does not report these processes together");
	}
}

/* Timers fire at the kernel's tick, however high the requested rate is. */
static void few_note(record_builder *b, const sample_counts *n, bool timers, const char *rate)
{
	if (n->samples)
		record_note(b, "sample-few", "there %s only %llu sample%s",
			    n->samples == 1 ? "is" : "are", (unsigned long long)n->samples,
			    n->samples == 1 ? "" : "s");
	else
		record_note(b, "sample-few", "no sample was taken");
	if (timers)
		record_remedy(b, "run longer");
	else
		record_remedy(b, "run longer, or sample at a higher rate (%s)", rate);
}

/* Returns the rate at which threads have samples that end within a period, where their mean CPU
 * time shows that they are the cause; 0: they are not. */
static uint64_t short_rate(const sample_counts *n, double unseen, uint64_t rate)
{
	const double mean = n->threads ? unseen / (double)n->threads : 0;
	const double wanted = mean > 0 ? ceil(SHORT_SAMPLES * 1e6 / mean) * 1000 : 0;

	if (mean * SHORT_RATE < 1e9 || wanted <= (double)rate || rate >= SHORT_RATE)
		return 0;
	return wanted < SHORT_RATE ? (uint64_t)wanted : SHORT_RATE;
}

/* by_kernel: the kernel takes the samples, else the program itself, by timers or by perf_event. */
static void unseen_note(record_builder *b, double seen, double cpu, bool by_kernel, bool timers,
			uint64_t short_threads, const char *rate)
{
	record_note(b, "sample-unseen",
		    "the samples represent %s of the %s of CPU time that the program used",
		    UNITS_TIME(seen), UNITS_TIME(cpu));
	if (timers)
		record_remedy(b,
			      "threads that end before their timer's first tick have no sample; "
			      "--source perf at a higher rate (%s) has them, where the kernel "
			      "permits it",
			      rate);
	else if (short_threads)
		record_remedy(b,
			      "each thread has its first sample one period after its start: "
			      "sample short threads at a higher rate (%s %llu)",
			      rate, (unsigned long long)short_threads);
	else if (by_kernel)
		record_remedy(b, "sample the kernel's share as root; programs with other rights "
				 "are not sampled");
	else
		record_remedy(b, "what the kernel takes to start and end threads has no sample, "
				 "nor have programs with other rights or a cleared environment");
}

static void sample_notes_put(record_builder *b, const sample_run *r, const dck_sample_config *c,
			     const sample_counts *n, bool timers, bool copies)
{
	const char *rate = r->beside ? "trace --sample-rate" : "--rate";
	const double cpu = sample_used_ns(r);
	const double seen = n->time_ns - n->blocked_ns;

	if (r->cancelled)
		record_note(b, "interrupted", "sampling was interrupted before the program ended");
	if (r->overran)
		record_note(b, "sample-overran",
			    "SIGTERM did not end the program: it ran for %s, not %s",
			    UNITS_TIME((double)r->took_ns), UNITS_TIME((double)c->time_ns));
	if (timers && c->source != DCK_SAMPLE_TIMER)
		record_note(b, "sample-timers", "timers in the program took the samples, since %s",
			    r->not_perf[0] ? r->not_perf
					   : "the kernel refuses perf_event to its threads");
	if (r->tree_full) {
		record_note(b, "sample-lost",
			    "at most %zu of the processes that ran at the beginning are sampled, "
			    "with those that they start later",
			    r->tree_full);
		record_remedy(b, "give the --pid of a process further down");
	}
	if (n->samples >= FEW && seen > 0 &&
	    1e9 * (double)n->samples < RATE_LEAST * seen * (double)c->rate)
		record_note(b, "sample-rate",
			    "%.0f samples were taken of each second of CPU time, not %llu",
			    1e9 * (double)n->samples / seen, (unsigned long long)c->rate);
	if (n->lost)
		record_note(b, "sample-lost",
			    "%llu %s lost, in addition to the %llu "
			    "here",
			    (unsigned long long)n->lost,
			    COUNTED(n->lost, "sample was", "samples were"),
			    (unsigned long long)n->samples);
	if (n->lost)
		record_remedy(b, "request fewer (%s)%s", rate,
			      copies ? ", or less of each stack (--stack)" : "");
	if (cpu > 0 && cpu - seen > UNSEEN * cpu && cpu - seen > UNSEEN_LEAST_NS)
		unseen_note(b, seen, cpu, copies, timers, short_rate(n, cpu - seen, c->rate), rate);
	if (n->samples < FEW && (!n->waits || seen > FEW_SHARE * n->time_ns))
		few_note(b, n, timers, rate);
	if (sample_share(n->cut, n->stacks) > EARLY)
		record_note(b, "sample-cut",
			    "%.1f %% of the stacks are larger than their copies: their outermost "
			    "callers are missing",
			    100 * sample_share(n->cut, n->stacks));
	if (sample_share(n->cut, n->stacks) > EARLY && !r->beside)
		record_remedy(b, "a larger --stack%s", copies ? "" : ", with --source perf");
	/* Those of files that could not be read have a note with the cause. */
	const uint64_t broken = n->broken > n->named.unread ? n->broken - n->named.unread : 0;
	if (sample_share(broken, n->stacks) > EARLY)
		record_note(b, "sample-broken",
			    "%.1f %% of the stacks could not be followed to their beginning",
			    100 * sample_share(broken, n->stacks));
	if (n->python.missing_reason)
		record_note(b, "sample-no-python", "Python frames are missing, since %s",
			    n->python.missing_reason);
	if (sample_share(n->python.late, n->python.samples) > EARLY)
		record_note(b, "sample-python-late",
			    "for %.0f %% of the Python samples the frames were read some "
			    "milliseconds late; for %.0f %% they do not fit the native frames",
			    100 * sample_share(n->python.late, n->python.samples),
			    100 * sample_share(n->python.inexact, n->python.samples));
	if (sample_share(n->named.unread, n->samples) > NAMELESS)
		record_note(b, "sample-no-lines",
			    "the functions of %.0f %% of the samples are not known: %s",
			    100 * sample_share(n->named.unread, n->samples),
			    n->named.unread_reason);
	if (sample_share(n->named.unknown - n->named.unread, n->samples) > NAMELESS)
		record_note(b, "sample-no-names",
			    "%.0f %% of the samples are in functions that have no names, which are "
			    "shown as FILE+0xOFFSET",
			    100 * sample_share(n->named.unknown - n->named.unread, n->samples));
	if (sample_share(n->named.generated, n->samples) > NAMELESS)
		record_note(
		    b, "sample-generated",
		    "%.0f %% of the samples are in JIT-compiled code without names ([unknown])",
		    100 * sample_share(n->named.generated, n->samples));
	if (n->named.missing_reason[0])
		record_note(b, "sample-no-lines", "%s", n->named.missing_reason);
}

/* --- result */

static const dck_value *sample_cell_of(const dck_table *t, size_t row, size_t column)
{
	return &t->cells[row * t->ncolumns + column].value;
}

static const char *share_text(double ratio, char *buf, size_t size)
{
	mem_print(buf, size, " took %.1f %%", 100 * ratio);
	return buf;
}

static bool is_no_function(const char *name)
{
	static const char *const waits[] = {"[busy-waiting", "[blocked", "[waits for a CPU"};

	for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
		if (strncmp(name, waits[i], strlen(waits[i])) == 0)
			return true;
	return false;
}

/* "; busy-waiting of OpenBLAS 37.1 %" */
static void spin_text(const sample_counts *n, double ran, char *ret, size_t size)
{
	ret[0] = '\0';
	if (n->named.spin_ns > SPIN_LEAST * ran)
		mem_print(ret, size, "; busy-waiting of %s %.1f %%", n->named.spin_of,
			  100 * n->named.spin_ns / ran);
}

typedef struct own_function {
	const char *name;
	double ns;
} own_function;

/* The answer of a Python program starts with the user's function, because the native function with
 * the most own time often belongs to a library. */
static void own_answer(record_builder *b, const sample_counts *n, const own_function *own,
		       const char *time, const char *samples, const char *spins)
{
	const double ran = n->time_ns - n->blocked_ns, sample_share = 100 * own->ns / ran;
	const char *name = FUNCTION_NAME_SHORT(own->name), *plural = n->samples == 1 ? "" : "s";

	if (n->named.user[0])
		record_answer(b,
			      "%s takes %.1f %% of %s of CPU time, with callees; most self time: "
			      "%s, %.1f %%%s; %s sample%s",
			      n->named.user, 100 * n->named.user_ns / ran, time, name, sample_share,
			      spins, samples, plural);
	else
		record_answer(b, "%s takes %.1f %% of %s of CPU time, in %s sample%s%s", name,
			      sample_share, time, samples, plural, spins);
}

/* Writes the answer: the function with the most own time. */
static dck_status sample_answer_put(record_builder *b, const cct *p, const sample_counts *n,
				    const dck_sample_config *c, const sample_run *run, dck_err *err)
{
	record_builder *first = record_new();
	char time[32], samples[32], part[32], spins[128];
	dck_record *r;

	DCK_NEED(first, err, "for the answer of a profile");
	DCK_TRY(
	    record_finish_if(cct_functions(p, &cct_sample_functions, first, err), first, &r, err));
	dck_text_time(n->time_ns, time, sizeof time);
	dck_text_count((int64_t)n->samples, samples, sizeof samples);
	const dck_table *t = r->ntables ? &r->tables[0] : NULL;
	const double ran = n->time_ns - n->blocked_ns;
	size_t row = 0;
	/* "[blocked]" and the like are not functions. */
	while (t && row < t->nrows && is_no_function(sample_cell_of(t, row, 0)->as.text))
		row++;
	spin_text(n, ran, spins, sizeof spins);
	const bool any = t && row < t->nrows && ran > 0;
	if (c->wall && n->time_ns > 0)
		record_answer(
		    b, "the threads waited %.1f %% of %s%s%s%s", 100 * n->blocked_ns / n->time_ns,
		    time, any ? "; of the CPU time " : "",
		    any ? FUNCTION_NAME_SHORT(sample_cell_of(t, row, 0)->as.text) : "",
		    any ? share_text(sample_cell_of(t, row, 1 + CCT_SAMPLE_SELF)->as.r / ran, part,
				     sizeof part)
			: "");
	else if (any)
		own_answer(b, n,
			   &(own_function){sample_cell_of(t, row, 0)->as.text,
					   sample_cell_of(t, row, 1 + CCT_SAMPLE_SELF)->as.r},
			   time, samples, spins);
	else if (sample_used_ns(run) > UNSEEN_LEAST_NS)
		record_answer(b, "no sample was taken of the %s of CPU time that the program used",
			      UNITS_TIME(sample_used_ns(run)));
	else
		record_answer(b, "no sample was taken: the program used too little CPU time");
	dck_record_free(r);
	return DCK_OK;
}

static dck_status sample_paths_put(record_builder *b, const cct *p, const sample_counts *n,
				   const dck_sample_config *c, const sample_run *run, dck_err *err)
{
	DCK_TRY(sample_answer_put(b, p, n, c, run, err));
	return cct_samples_put(p, b, err);
}

void sample_named_done(sample_named *n)
{
	cct_done(&n->paths);
	mem_free(n->of);
	*n = (sample_named){0};
}

dck_status sample_record_make(const sample_run *r, const dck_sample_config *c, char *const *argv,
			      const sample_source *source, void *self, sample_profile *p,
			      sample_named *ret_named, dck_record **ret, dck_err *err)
{
	sample_named own = {0}, *named = ret_named ? ret_named : &own;
	char title[1024];

	DCK_TRY(cct_init(&named->paths, cct_sample_weights, CCT_SAMPLE_WEIGHTS, err));
	dck_status st =
	    sample_profile_name(p, &named->paths, ret_named ? &named->of : NULL, &named->n, err);
	sample_title_make(title, sizeof title, c, argv);
	record_builder *b = st == DCK_OK ? record_begin(title) : NULL;
	if (st == DCK_OK && !b)
		st = ERR_NO_MEMORY(err, "for the record of a profile");
	if (st == DCK_OK) {
		const sample_counts n = sample_profile_counts(p);
		record_host_here(b);
		record_set_began(b, os_unix_ns() - (int64_t)(os_now_ns() - r->began_ns));
		record_fact_options(b, "plan", dck_sample_options, c);
		record_fact_text(b, "sample", "source", source->name(self));
		source->facts(self, b);
		sample_counts_put(b, r, c, &n);
		const cost price = cost_find(r, source, self, &n);
		sample_cost_put(b, r, &price);
		record_others others = r->others;
		record_others_own_least(&others, n.time_ns - n.blocked_ns);
		record_others_put(&others, b, "sample", false);
		sample_notes_put(b, r, c, &n, strcmp(source->name(self), "timers") == 0,
				 source == &sample_by_perf);
		record_set_incomplete(b, r->cancelled);
		program_end_put(&r->end, b);
		st = sample_paths_put(b, &named->paths, &n, c, r, err);
	}
	sample_named_done(&own);
	return record_finish_if(st, b, ret, err);
}
