/* trace_merge.c - merges the trace files of several processes onto one clock.
 *
 * Each file is read twice through merge_pass.c. The first pass finds its processes and clock
 * snapshots; trace_align() puts it on the clock of the first file, BOOTTIME within one boot and
 * else the wall clock; numbers_choose() then shifts the process numbers of a file by MORE until
 * none equals that of a process of another boot, or of another file with a label. Two processes of
 * one number and one boot that overlap in time are E_ARG. The second pass emits to the output's
 * format and to zone_collect.c at once, which makes the tables of the record. merge_run() has the
 * order.
 *
 * Invariants: nothing is written before all files have passed the first pass; the output has the
 * first file's clocks, moved to the common base; a truncated file is read up to its end and noted.
 * Cost: two readings of each file, comparisons of all pairs of files and of processes; FILES_MAX
 * files; memory as merge_pass.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/trace_merge.h"
#include "base/units.h"
#include "profiler/read/read_source.h"
#include "profiler/write/formats.h"

#include "deepclock/trace.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "profiler/read/chrome/chrome_read.h"
#include "os/file/gzip.h"
#include "profiler/read/merge_pass.h"
#include "profiler/read/zone_collect.h"

#include <math.h>
#include <string.h>

enum { FILES_MAX = 4096, MORE = 10000000 };
static const double exact_ns = 1e6; /* times that are known better need no warning */

typedef struct work {
	const trace_merge_plan *plan;
	trace_place *places; /* @owned, plan->n */
	int32_t *more;	     /* @owned: added to a file's numbers of processes */
	merging *m;
	zone_collect *zones;
	int64_t base_ns;
	uint64_t skipped, undated, samples;
} work;

/* --- first: what there is */

static dck_status read_file(work *w, size_t i, trace_read_facts *ret, dck_err *err)
{
	wire_source source;

	DCK_TRY(read_source_open(w->plan->paths[i], &wire_perfetto, &source, err));
	const dck_status status =
	    chrome_is(&source)
		? ERR_SET(
		      err, E_UNSUP,
		      "%s is a trace in JSON, which has no snapshot of its clocks: its times cannot be aligned with other files",
		      source.label)
		: perfetto_read(&source, &merging_format, merging_sink(w->m), ret, err);
	wire_source_close(&source);
	return status;
}

static dck_status same_files_refuse(const trace_merge_plan *p, dck_err *err)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < i; k++)
			if (os_same_file(p->paths[i], p->paths[k]))
				DCK_FAIL(err, E_ARG, "'%.200s' is named twice", p->paths[i]);
	return DCK_OK;
}

static dck_status merge_survey(work *w, dck_err *err)
{
	const trace_merge_plan *p = w->plan;

	for (size_t i = 0; i < p->n; i++) {
		trace_place *at = &w->places[i];

		at->path = p->paths[i];
		at->line = p->lines ? p->lines[i] : NULL;
		merge_scan(w->m, (uint32_t)i);
		DCK_TRY(read_file(w, i, &at->facts, err));
		at->last_ns = merging_last_ns(w->m);
	}
	return trace_align(w->places, p->n, err);
}

static void merge_span_of(const work *w, const merging_process *p, int64_t *ret_first,
			  int64_t *ret_last)
{
	const trace_place *at = &w->places[p->file];

	*ret_first = trace_place_ns(at, p->first_ns);
	*ret_last = trace_place_ns(at, p->last_ns);
}

/* Returns the process's number in the whole. */
static int32_t merge_number_of(const work *w, const merging_process *p)
{
	return merging_number_of(p->pid, w->more[p->file]);
}

static bool overlap(const work *w, const merging_process *a, const merging_process *b)
{
	int64_t a_first, a_last, b_first, b_last;

	merge_span_of(w, a, &a_first, &a_last);
	merge_span_of(w, b, &b_first, &b_last);
	return a->any && b->any && a_first <= b_last && b_first <= a_last;
}

/* Returns whether two files may have equal numbers: they come from different machines or boots, or
 * the caller gives labels; false if one does not state its boot. */
static bool merge_apart(const work *w, uint32_t a, uint32_t b)
{
	const char *x = w->places[a].facts.about.boot, *y = w->places[b].facts.about.boot;

	return w->plan->labels || (x[0] && y[0] && strcmp(x, y) != 0);
}

/* Shifts the process numbers of a file where a process of another machine has the same. On one
 * machine a number belongs to one process at a time. */
static dck_status numbers_choose(work *w, size_t i, dck_err *err)
{
	const merging_process *a, *b;

	for (size_t k = merging_processes(w->m); k-- > 0;) {
		a = merging_at(w->m, k);
		for (size_t j = 0; a->file == i && a->pid && j < k; j++) {
			b = merging_at(w->m, j);
			if (b->file >= i || merge_number_of(w, b) != merge_number_of(w, a))
				continue;
			if (merge_apart(w, a->file, b->file)) {
				if (w->more[i] > INT32_MAX / 2)
					DCK_FAIL(err, E_LIMIT,
						 "too many of the files have a process %d",
						 (int)a->pid);
				w->more[i] += MORE;
				k = merging_processes(w->m); /* from the start */
				break;
			}
			if (overlap(w, a, b))
				DCK_FAIL(err, E_ARG,
					 "'%.200s' and '%.200s' are both of process %d at the same "
					 "time: a process can be there once",
					 w->plan->paths[b->file], w->plan->paths[i], (int)a->pid);
		}
	}
	return DCK_OK;
}

static dck_status merge_plan(work *w, dck_err *err)
{
	const size_t n = w->plan->n;

	DCK_TRY(same_files_refuse(w->plan, err));
	DCK_TRY(merge_survey(w, err));
	for (size_t i = 0; i < n; i++) {
		DCK_TRY(numbers_choose(w, i, err));
		w->base_ns = w->places[i].base_ns < w->base_ns ? w->places[i].base_ns : w->base_ns;
	}
	return DCK_OK;
}

/* --- then: emit it */

/* Returns the first file's clocks, moved to the base of the whole, and the losses of all. */
static trace_header about_of(const work *w)
{
	trace_header about = w->places[0].facts.about;

	about.boottime_ns += (uint64_t)w->base_ns;
	about.monotonic_ns += (uint64_t)w->base_ns;
	about.unix_ns += about.unix_ns > 0 ? w->base_ns : 0;
	about.losses = w->places[0].facts.losses;
	about.losses.first_cut = trace_losses_first(&about.losses);
	for (size_t i = 0; i < w->plan->n; i++) {
		const trace_losses *l = &w->places[i].facts.losses;
		const double within = w->places[i].within_ns;

		if (i > 0) {
			about.losses.dropped += l->dropped;
			about.losses.left_out += l->left_out;
			about.losses.older += l->older;
			about.losses.cut += l->cut || !l->signal[0] ? l->cut : 1;
		}
		if (!about.losses.signal[0] && !about.losses.first_cut)
			memcpy(about.losses.signal, l->signal, sizeof l->signal);
		/* A file of several machines has no boot id. */
		if (!w->places[i].same_boot)
			about.boot[0] = '\0';
		else if (within > (double)about.width_ns)
			about.width_ns = (uint64_t)within;
	}
	if (about.losses.cut < w->plan->cut)
		about.losses.cut = w->plan->cut;
	return about;
}

static dck_status files_emit(work *w, const merging_to *to, size_t n, dck_err *err)
{
	for (size_t i = 0; i < w->plan->n; i++) {
		const merging_how how = {&w->places[i], w->base_ns, w->more[i],
					 w->plan->labels ? w->plan->labels[i] : NULL};
		trace_read_facts facts;

		merge_emit(w->m, (uint32_t)i, &how, to, n);
		DCK_TRY(read_file(w, i, &facts, err));
		w->skipped += facts.skipped;
		w->undated += facts.undated;
		w->samples += facts.samples;
	}
	return DCK_OK;
}

static dck_status merge_write(work *w, dck_err *err)
{
	const trace_header about = about_of(w);
	merging_to to[MERGING_TO_MAX] = {{.format = &zone_collect_format},
					 {.format = w->plan->format}};
	dck_sink unused;

	zone_collect_sink(w->zones, &unused);
	DCK_TRY(to[0].format->open(&to[0].out, &unused, &about, err));
	DCK_TRY(to[1].format->open(&to[1].out, w->plan->out, &about, err));
	dck_status status = files_emit(w, to, 2, err);
	if (status == DCK_OK && trace_losses_any(&about.losses) && to[1].format->clocks)
		to[1].format->clocks(to[1].out, 0, &about);
	for (int i = 0; i < 2; i++) {
		dck_status closed = to[i].format->close(to[i].out, status == DCK_OK ? err : NULL);
		status = status == DCK_OK ? closed : status;
	}
	return status;
}

/* --- the record */

static const char *within_unknown(void)
{
	return "files of several machines, whose clocks have no estimate of their synchronisation "
	       "error";
}

static void merge_processes_put(const work *w, record_builder *b)
{
	static const dck_column columns[] = {
	    {"name", "process", DCK_UNIT_NONE},
	    {"pid", "number", DCK_UNIT_NONE},
	    {"zones", "zones", DCK_UNIT_ONE},
	    {"began", "began", DCK_UNIT_NS},
	    {"ended", "ended", DCK_UNIT_NS},
	    {"file", "file", DCK_UNIT_NONE},
	    {"uncertainty", "uncertainty", DCK_UNIT_NS},
	};
	static const char none[] = "it has no events";
	int64_t first, last;

	RECORD_TABLE(b, "processes", "Processes", columns);
	for (size_t i = 0; i < merging_processes(w->m); i++) {
		const merging_process *p = merging_at(w->m, i);
		const double within = w->places[p->file].within_ns;

		merge_span_of(w, p, &first, &last);
		record_cell_text(b, p->name ? p->name : "(no name)");
		record_cell_int(b, merge_number_of(w, p));
		record_cell_int(b, (int64_t)p->zones);
		record_cell(b, p->any ? RECORD_INT(first - w->base_ns) : RECORD_ABSENT(none));
		record_cell(b, p->any ? RECORD_INT(last - w->base_ns) : RECORD_ABSENT(none));
		record_cell_text(b, w->plan->paths[p->file]);
		record_cell(b, isnan(within) ? RECORD_ABSENT(within_unknown())
					     : RECORD_INT((int64_t)within));
	}
}

static void merge_clocks_put(const work *w, record_builder *b)
{
	const char *farthest = NULL, *unknown = NULL;
	double most = 0;
	bool boot = true;

	for (size_t i = 0; i < w->plan->n; i++) {
		const trace_place *p = &w->places[i];

		boot = boot && p->same_boot;
		if (isnan(p->within_ns))
			unknown = unknown ? unknown : p->path;
		else if (!farthest || p->within_ns > most) {
			most = p->within_ns;
			farthest = p->path;
		}
	}
	record_fact_text(b, "trace", "clock", boot ? "BOOTTIME" : "REALTIME");
	if (unknown) {
		record_fact_absent(b, "trace", "uncertainty", within_unknown());
		record_note(b, "trace-clocks",
			    "'%s' is of another machine than '%s', and the two are aligned by the "
			    "time of day: no better than their clocks are synchronised, which is "
			    "unknown",
			    unknown, w->plan->paths[0]);
	} else {
		record_fact_real(b, "trace", "uncertainty", DCK_UNIT_NS, most);
	}
	if (most > exact_ns)
		record_note(b, "trace-clocks", "the times of '%s' are known to %.3g ms only",
			    farthest, most / 1e6);
}

/* What the recorder of a file left out. */
static void merge_losses_put(const work *w, size_t i, record_builder *b)
{
	const trace_losses *l = &w->places[i].facts.losses;

	if (l->dropped)
		record_note(
		    b, "trace-dropped", "%llu %s not in '%s'", (unsigned long long)l->dropped,
		    COUNTED(l->dropped, "event did not fit and is", "events did not fit and are"),
		    w->plan->paths[i]);
	if (l->left_out)
		record_note(b, "trace-full", "%llu %s not in '%s', which reached its largest size",
			    (unsigned long long)l->left_out,
			    COUNTED(l->left_out, "event is", "events are"), w->plan->paths[i]);
}

static void gaps_put(const work *w, record_builder *b)
{
	record_fact_int(b, "trace", "skipped_packets", DCK_UNIT_ONE, (int64_t)w->skipped);
	if (w->undated > 0)
		record_note(b, "trace-no-timestamps",
			    "%llu %s no time, "
			    "or one of a clock that %s file does not explain, and %s left out",
			    (unsigned long long)w->undated,
			    COUNTED(w->undated, "event has", "events have"),
			    COUNTED(w->undated, "its", "their"), COUNTED(w->undated, "is", "are"));
	if (w->samples > 0 && !trace_format_has_samples(w->plan->format))
		record_note(b, "trace-samples-left-out",
			    "%llu stack %s not written: '%s' has one tree, that of the "
			    "zones",
			    (unsigned long long)w->samples,
			    COUNTED(w->samples, "sample is", "samples are"), w->plan->format->name);
	if (w->samples > 0 && !trace_format_has_samples(w->plan->format))
		record_remedy(b, "write a .pftrace, and that with --tree samples in this format");
	for (size_t i = 0; i < w->plan->n; i++) {
		const trace_read_facts *f = &w->places[i].facts;

		if (f->stateless > 0)
			record_note(b, "trace-lost-packets",
				    "%llu %s of '%s' %s left out, because earlier ones of "
				    "%s, with the names they refer to, are not there",
				    (unsigned long long)f->stateless,
				    COUNTED(f->stateless, "packet", "packets"), w->plan->paths[i],
				    COUNTED(f->stateless, "is", "are"),
				    COUNTED(f->stateless, "its sequence", "their sequences"));
		if (f->late > 0)
			record_note(
			    b, "trace-late-events",
			    "%llu %s of '%s' %s in it long after later ones of %s "
			    "track, and %s a later time than in it",
			    (unsigned long long)f->late, COUNTED(f->late, "event", "events"),
			    w->plan->paths[i], COUNTED(f->late, "comes", "come"),
			    COUNTED(f->late, "its", "their"), COUNTED(f->late, "has", "have"));
		if (w->plan->losses)
			merge_losses_put(w, i, b);
		if (!f->cut[0])
			continue;
		record_set_incomplete(b, true);
		record_note(b, "trace-truncated", "%s: everything before is read", f->cut);
	}
}

static dck_status merge_record_write(const work *w, record_builder *b, dck_err *err)
{
	record_fact_text(b, "subject", "kind", "trace");
	record_fact_text(b, "trace", "format", w->plan->format->name);
	record_fact_int(b, "trace", "files", DCK_UNIT_ONE, (int64_t)w->plan->n);
	record_fact_int(b, "trace", "processes", DCK_UNIT_ONE, (int64_t)merging_processes(w->m));
	merge_clocks_put(w, b);
	gaps_put(w, b);
	DCK_TRY(zone_collect_put(w->zones, b, err));
	merge_processes_put(w, b);
	return zone_collect_put_threads(w->zones, b, err);
}

static dck_status merge_run(work *w, record_builder *b, dck_err *err)
{
	w->places = mem_zalloc(w->plan->n, sizeof *w->places);
	w->more = mem_zalloc(w->plan->n, sizeof *w->more);
	DCK_NEED(w->places && w->more, err, "for %zu traces", w->plan->n);
	DCK_TRY(merging_new(&w->m, err));
	DCK_TRY(zone_collect_new(&w->zones, err));
	zone_collect_want(w->zones, &w->plan->percentiles);
	DCK_TRY(merge_plan(w, err));
	DCK_TRY(merge_write(w, err));
	return merge_record_write(w, b, err);
}

dck_status trace_merge(const trace_merge_plan *plan, record_builder *b, dck_err *err)
{
	work w = {.plan = plan};

	if (plan->n == 0 || plan->n > FILES_MAX)
		DCK_FAIL(err, E_ARG, "between 1 and %d traces can be put together", (int)FILES_MAX);
	const dck_status status = merge_run(&w, b, err);
	merging_free(w.m);
	zone_collect_free(w.zones);
	mem_free(w.places);
	mem_free(w.more);
	return status;
}

dck_status trace_merge_packed(const trace_merge_plan *plan, bool gzip, record_builder *b,
			      dck_err *err)
{
	gzip_sink *g;

	if (!gzip)
		return trace_merge(plan, b, err);
	DCK_TRY(gzip_sink_open(&g, plan->out, err));
	trace_merge_plan packed = *plan;
	packed.out = gzip_sink_in(g);
	const dck_status status = trace_merge(&packed, b, err);
	const dck_status closed = gzip_sink_close(g, status == DCK_OK ? err : NULL);
	return status == DCK_OK ? closed : status;
}

dck_status dck_trace_merge(const char *const *paths, size_t n, const char *form, bool gzip,
			   dck_sink *out, dck_record **ret, dck_err *err)
{
	const trace_merge_plan plan = {
	    .paths = paths, .n = n, .format = trace_format_find(form), .out = out, .losses = true};
	dck_record *record;

	if (!plan.format)
		DCK_FAIL(err, E_ARG, "unknown trace format '%.40s'", form);
	if (gzip && !plan.format->gunzips)
		DCK_FAIL(err, E_ARG, "the readers of the format '%s' do not accept gzip", form);
	record_builder *b = record_begin(NULL);
	DCK_NEED(b, err, "for the record");
	DCK_TRY(record_finish_if(trace_merge_packed(&plan, gzip, b, err), b, &record, err));
	if (ret)
		*ret = record;
	else
		dck_record_free(record);
	return DCK_OK;
}
