/* trace_read.c - reads a trace file into a record, or converts it to another format.
 *
 * trace_read_into() recognises the file by its content: JSON with Chrome's trace events, or else
 * Perfetto's packets, and its reader passes the events to any trace_format, which is a writer, the
 * sums of a record (operators.h) or the data of a timeline.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "base/units.h"
#include "deepclock/unstable.h"
#include "profiler/write/formats.h"

#include "base/err.h"
#include "record/record_begin.h"
#include "profiler/read/chrome/chrome_read.h"
#include "os/file/gzip.h"
#include "profiler/read/operators.h"
#include "profiler/read/perfetto/perfetto_read.h"
#include "profiler/read/read_source.h"
#include "profiler/read/trace_read.h"

#include <string.h>

/* A file of either kind, recognised by its content. */
typedef struct reading {
	const char *path;
	trace_read_facts facts;
	bool chrome;
	bool shapes_asked;
	bool cut_known; /* the caller knows that the recording has no end */
	bool converted; /* to another format, and not into tables */
} reading;

/* Where an event that is missing would be. */
static const char *read_place(const reading *r)
{
	return r->converted ? "in the output" : "in the table";
}

/* What the recorder left out. */
static void read_missing_put(record_builder *b, const reading *r)
{
	const trace_losses *l = &r->facts.losses;

	if (l->dropped) {
		record_fact_int(b, "trace", "dropped_events", DCK_UNIT_ONE, (int64_t)l->dropped);
		record_note(
		    b, "trace-dropped", "%llu %s not %s", (unsigned long long)l->dropped,
		    COUNTED(l->dropped, "event did not fit and is", "events did not fit and are"),
		    read_place(r));
	}
	if (l->left_out + l->older)
		record_fact_int(b, "trace", "events_left_out", DCK_UNIT_ONE,
				(int64_t)(l->left_out + l->older));
	if (l->older)
		record_note(
		    b, "trace-cut", "%llu earlier %s not in the file, which has the last ones",
		    (unsigned long long)l->older, COUNTED(l->older, "event is", "events are"));
	if (l->left_out)
		record_note(b, "trace-full",
			    "%llu %s not %s, because the file reached its largest size",
			    (unsigned long long)l->left_out,
			    COUNTED(l->left_out, "event is", "events are"), read_place(r));
}

/* How the processes ended. */
static void read_ends_put(record_builder *b, const trace_losses *l, bool cut_known)
{
	const bool first = trace_losses_first(l);

	if (l->signal[0]) {
		record_fact_text(b, "trace", "signal", l->signal);
		if (first)
			record_note(b, "program-killed", "the program was killed by %s", l->signal);
	}
	if (l->cut && !cut_known)
		record_note(b, "trace-child-cut",
			    "%llu of its processes did not exit normally (for example %s): "
			    "it has their events until about a tenth of a second before",
			    (unsigned long long)l->cut,
			    l->signal[0] && !first ? l->signal : "a signal or _exit()");
	if (l->left_out || first)
		record_set_incomplete(b, true);
}

/* What is in the file, and not in the output, or not as in the file. */
static void read_gaps_put(record_builder *b, const reading *r)
{
	const trace_read_facts *f = &r->facts;
	const char *place = read_place(r);

	if (f->undated > 0 && r->chrome)
		record_note_as(
		    b, DCK_WARN, "trace-no-timestamps",
		    "%llu %s not %s; each needs a number "
		    "\"ts\", in microseconds",
		    (unsigned long long)f->undated,
		    COUNTED(f->undated, "event has no time and is", "events have no time and are"),
		    place);
	else if (f->undated > 0)
		record_note(b, "trace-no-timestamps",
			    "%llu %s no time, or one of a clock that the file does not "
			    "explain, and %s not %s",
			    (unsigned long long)f->undated,
			    COUNTED(f->undated, "event has", "events have"),
			    COUNTED(f->undated, "is", "are"), place);
	if (f->stateless > 0)
		record_note(b, "trace-lost-packets",
			    "%llu %s not %s, because earlier ones of %s, "
			    "with the names they refer to, are not in the file",
			    (unsigned long long)f->stateless,
			    COUNTED(f->stateless, "packet is", "packets are"), place,
			    COUNTED(f->stateless, "its sequence", "their sequences"));
	if (f->late > 0)
		record_note(b, "trace-late-events",
			    "%llu %s in the file long after later ones of %s track, and "
			    "%s a later time than in it",
			    (unsigned long long)f->late,
			    COUNTED(f->late, "event comes", "events come"),
			    COUNTED(f->late, "its", "their"), COUNTED(f->late, "has", "have"));
	if (f->no_duration > 0)
		record_note(b, "trace-ranges-changed",
			    "the duration (\"dur\") of %llu %s is negative or not a number, and "
			    "counts as 0",
			    (unsigned long long)f->no_duration,
			    COUNTED(f->no_duration, "range", "ranges"));
	if (f->cut_short > 0)
		record_note(b, "trace-ranges-changed",
			    "%llu %s earlier than in the file, because more than %d of "
			    "%s thread overlap at a time",
			    (unsigned long long)f->cut_short,
			    COUNTED(f->cut_short, "range ends", "ranges end"),
			    (int)CHROME_BESIDE_MAX, COUNTED(f->cut_short, "its", "their"));
	read_missing_put(b, r);
}

static void read_facts_put(record_builder *b, const reading *r)
{
	const trace_read_facts *f = &r->facts;

	record_fact_text(b, "subject", "kind", "trace");
	record_fact_text(b, "subject", "name", r->path);
	record_fact_text(b, "trace", "file", r->path);
	record_fact_text(b, "trace", "format", r->chrome ? "chrome" : "perfetto");
	record_fact_int(b, "trace", r->chrome ? "skipped_events" : "skipped_packets", DCK_UNIT_ONE,
			(int64_t)f->skipped);
	if (f->joined > 0)
		record_fact_int(b, "trace", "ranges_ended_by_annotations", DCK_UNIT_ONE,
				(int64_t)f->joined);
	if (r->shapes_asked && f->shaped == 0)
		record_note(b, "no-input-shapes",
			    "no operator of the file has the shapes of its inputs");
	read_gaps_put(b, r);
	read_ends_put(b, &f->losses, r->cut_known);
	if (f->cut[0]) {
		record_set_incomplete(b, true);
		record_note(b, "trace-truncated", "%s: everything before is in the table", f->cut);
	}
}

/* numbers: as chrome_read() takes them. */
static dck_status trace_read_into(reading *r, const char *const *numbers, const trace_format *f,
				  dck_sink *sink, dck_err *err)
{
	wire_source source;

	DCK_TRY(read_source_open(r->path, &wire_perfetto, &source, err));
	r->chrome = chrome_is(&source);
	const dck_status status = r->chrome ? chrome_read(&source, numbers, f, sink, &r->facts, err)
					    : perfetto_read(&source, f, sink, &r->facts, err);
	wire_source_close(&source);
	return status;
}

/* Perfetto's own extension, in addition to the one of trace_perfetto. */
static const char perfetto_ending[] = ".perfetto-trace";

static bool is_named_perfetto(const char *path)
{
	static const char gz[] = ".gz";
	const size_t end = sizeof perfetto_ending - 1;
	size_t n = strlen(path);

	if (trace_suffix_of(path).format == &trace_perfetto)
		return true;
	if (n > sizeof gz - 1 && strcmp(path + n - (sizeof gz - 1), gz) == 0)
		n -= sizeof gz - 1;
	return n > end && memcmp(path + n - end, perfetto_ending, end) == 0;
}

bool dck_trace_is(const char *path)
{
	wire_source source;

	if (is_named_perfetto(path))
		return true;
	if (!read_source_is_file(path) ||
	    read_source_open(path, &wire_chrome, &source, NULL) != DCK_OK)
		return false;
	const bool is = chrome_is(&source) || perfetto_is(&source);
	wire_source_close(&source);
	return is;
}

/* Frees o. */
static dck_status read_record_make(operators *o, const reading *r, dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin(NULL);

	if (!b) {
		operators_free(o);
		return ERR_NO_MEMORY(err, "for the record");
	}
	read_facts_put(b, r);
	const dck_status status = operators_put(o, b, err);
	operators_free(o); /* before the record doubles what it took from them */
	return record_finish_if(status, b, ret, err);
}

const dck_opt dck_trace_reading_options[] = {
    DCK_OPTION(TEXT, dck_trace_reading, percentiles, "percentiles", "LIST", NULL,
	       "of how long the zones of a trace took: p50,p90,p99"),
    DCK_FLAG(dck_trace_reading, input_shapes, "input-shapes",
	     "operators of torch.profiler apart by the shapes of their inputs"),
    {0},
};

/* p: receives the timeline for figures; NULL: none. */
static dck_status read_as(const char *path, const dck_trace_reading *how, bool cut_known,
			  timeline_lod *p, dck_record **ret, dck_err *err)
{
	reading r = {.path = path, .cut_known = cut_known};
	zone_percentiles percentiles;
	operators *o;
	dck_sink sink;

	DCK_TRY(zone_percentiles_read(how->percentiles, &percentiles, err));
	DCK_TRY(operators_new(&o, err));
	operators_want(o, &percentiles);
	if (p)
		operators_draw(o, p);
	operators_sink(o, &sink);
	dck_status status =
	    trace_read_into(&r, how->input_shapes ? operators_numbers_shaped : operators_numbers,
			    &operators_format, &sink, err);
	r.shapes_asked = how->input_shapes;
	if (status == DCK_OK)
		return read_record_make(o, &r, ret, err);
	operators_free(o);
	return status;
}

dck_status dck_trace_read(const char *path, dck_record **ret, dck_err *err)
{
	return dck_trace_read_with(path, &(dck_trace_reading){0}, ret, err);
}

dck_status dck_trace_read_with(const char *path, const dck_trace_reading *how, dck_record **ret,
			       dck_err *err)
{
	return read_as(path, how, false, NULL, ret, err);
}

dck_status trace_read_cut(const char *path, const dck_trace_reading *how, dck_record **ret,
			  dck_err *err)
{
	return read_as(path, how, true, NULL, ret, err);
}

dck_status dck_trace_read_timeline(const char *path, const dck_trace_reading *how, dck_record **ret,
				   dck_timeline *ret_timeline, dck_err *err)
{
	dck_record *record;
	timeline_lod *p;

	DCK_TRY(timeline_lod_new(&p, &(timeline_lod_limits){0}, err));
	dck_status status = read_as(path, how, false, p, &record, err);
	if (status == DCK_OK) {
		status = timeline_lod_finish(p, ret_timeline, err);
		if (status == DCK_OK)
			*ret = record;
		else
			dck_record_free(record);
	}
	timeline_lod_free(p);
	return status;
}

/* --- another format */

const char *dck_trace_format_of(const char *path, bool *ret_gzip)
{
	const trace_suffix e = trace_suffix_of(path);

	*ret_gzip = e.gzip;
	return e.format ? e.format->name : NULL;
}

static dck_status read_convert(reading *r, const trace_format *f, bool gzip, dck_sink *out,
			       dck_err *err)
{
	gzip_sink *g = NULL;

	r->converted = true;
	if (gzip && !f->gunzips)
		DCK_FAIL(err, E_ARG, "what reads %s takes no gzip", f->name);
	if (gzip)
		DCK_TRY(gzip_sink_open(&g, out, err));
	const dck_status status = trace_read_into(r, NULL, f, g ? gzip_sink_in(g) : out, err);
	(void)gzip_sink_close(g, NULL); /* the sink has the error */
	return status;
}

static dck_status read_format_find(const char *form, const trace_format **ret, dck_err *err)
{
	*ret = trace_format_find(form);
	if (!*ret)
		DCK_FAIL(err, E_ARG, "unknown trace format '%s'", form);
	return DCK_OK;
}

dck_status dck_trace_convert(const char *path, const char *form, bool gzip, dck_sink *out,
			     dck_trace_losses *ret, dck_err *err)
{
	reading r = {.path = path};
	const trace_format *f;

	DCK_TRY(read_format_find(form, &f, err));
	DCK_TRY(read_convert(&r, f, gzip, out, err));
	if (ret) {
		*ret = (dck_trace_losses){.undated_events = r.facts.undated,
					  .samples =
					      trace_format_has_samples(f) ? 0 : r.facts.samples};
		memcpy(ret->cut, r.facts.cut, sizeof r.facts.cut);
	}
	return DCK_OK;
}

dck_status dck_trace_convert_noted(const char *path, const char *form, bool gzip, dck_sink *out,
				   dck_record **ret, dck_err *err)
{
	reading r = {.path = path};
	const trace_format *f;
	record_builder *b;

	DCK_TRY(read_format_find(form, &f, err));
	DCK_TRY(read_convert(&r, f, gzip, out, err));
	b = record_begin(NULL);
	DCK_NEED(b, err, "for the record");
	read_gaps_put(b, &r);
	if (r.facts.samples > 0 && !trace_format_has_samples(f)) {
		record_note(b, "trace-samples-left-out",
			    "%llu stack samples are not written: '%s' has one tree, that of the "
			    "zones",
			    (unsigned long long)r.facts.samples, form);
		record_remedy(b, "--tree samples writes theirs");
	}
	if (r.facts.cut[0])
		record_note(b, "trace-truncated", "%s: everything before is written", r.facts.cut);
	return record_finish(b, ret, err);
}
