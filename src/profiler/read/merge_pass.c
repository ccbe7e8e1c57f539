/* merge_pass.c - two-pass merge of timelines: a trace_format into which a reader emits a file
 * twice.
 *
 * The survey collects the processes of a file, when they ran and how many ranges they have. The
 * second pass renumbers the events and forwards them: tracks are numbered through all files,
 * names are interned by (text, category), so equal names share a number, ids of ranges and arrows
 * are mixed with the file's number, process and thread numbers are shifted by how->more, and times
 * are mapped by trace_place_ns(), those before the base to 0. Events go out in batches of BATCH to
 * each target; a batch does not end between an event and its numbers, unless these fill it.
 *
 * Invariants: `tracks` and name_ids belong to the current file, and merge_scan() empties them;
 * names, processes and numbers of tracks belong to the merged timeline. Memory: O(names + tracks +
 * processes), independent of the number of events. Failure is sticky and is reported by close().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/merge_pass.h"

#include "base/err.h"
#include "profiler/timeline/sample_sums.h"
#include "profiler/write/formats.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 256 };

/* A track of the file that is read. */
typedef struct source_track {
	uint32_t process; /* plus one; 0: none */
	uint32_t id;	  /* in the whole; 0: not emitted */
} source_track;

struct merging {
	string_table names; /* of the merged timeline */
	hash_map name_rows; /* by text and category */
	id_table processes;
	uint32_t nnames, nprocesses, ntracks;
	hash_map process_rows; /* by file and track, plus one */
	sample_sums samples;   /* of the merged timeline */
	bool failed;
	dck_sink sink;
	/* The file that is read. */
	uint32_t file;
	id_table tracks, name_ids;
	uint64_t last_ns;
	bool emitting;
	merging_how how;
	merging_to to[MERGING_TO_MAX];
	size_t nto;
	trace_event batch[BATCH];
};

static merging *merging_of(trace_out *o)
{
	return (merging *)o;
}

/* Returns the row, plus one, of a process's track; 0: no memory. */
static uint32_t merging_process_of(merging *m, const trace_track *t)
{
	const uint64_t key = ((uint64_t)m->file << 32 | t->id) + 1;
	uint32_t row = hash_map_find(&m->process_rows, key);
	merging_process *p;

	if (!row) {
		p = id_table_row(&m->processes, m->nprocesses);
		if (!p || !hash_map_put(&m->process_rows, key, m->nprocesses + 1)) {
			m->failed = true;
			return 0;
		}
		row = ++m->nprocesses;
		*p = (merging_process){.file = m->file, .pid = t->pid};
	}
	p = id_table_find(&m->processes, row - 1);
	if (t->name)
		p->name = string_table_copy(&m->names, t->name);
	return row;
}

int32_t merging_number_of(int32_t own, int32_t more)
{
	return own > 0 && own <= INT32_MAX - more ? own + more : own;
}

static void merging_emit_track(merging *m, source_track *t, const trace_track *from)
{
	const source_track *parent = id_table_find(&m->tracks, from->parent);
	trace_track now = *from;
	char name[STRING_NAME_MAX];

	if (!t->id)
		t->id = ++m->ntracks;
	if (m->how.label && from->kind == TRACE_PROCESS) {
		snprintf(name, sizeof name, "%s%s%s", m->how.label, from->name ? ": " : "",
			 from->name ? from->name : "");
		now.name = name;
	}
	now.id = t->id;
	now.parent = from->parent && parent ? parent->id : 0;
	now.pid = merging_number_of(from->pid, m->how.more);
	now.tid = merging_number_of(from->tid, m->how.more);
	for (size_t i = 0; i < m->nto; i++)
		m->to[i].format->track(m->to[i].out, &now);
}

static void merging_track(trace_out *o, const trace_track *from)
{
	merging *m = merging_of(o);
	const uint32_t process = from->kind == TRACE_PROCESS ? merging_process_of(m, from) : 0;
	source_track *t = id_table_row(&m->tracks, from->id);
	const source_track *parent = id_table_find(&m->tracks, from->parent);

	if (!t)
		return;
	t->process = process ? process : from->parent && parent ? parent->process : 0;
	if (m->emitting)
		merging_emit_track(m, t, from);
}

/* Equal names of several files have one number. 0: no memory. */
static uint32_t merging_whole_name(merging *m, const trace_name *name)
{
	const char *of = name->category ? name->category : "";
	const uint64_t text = string_table_intern(&m->names, name->text, name->n),
		       category = *of ? string_table_intern(&m->names, of, strlen(of)) : 0,
		       key = text << 32 | category;
	const uint32_t row = text ? hash_map_find(&m->name_rows, key) : 0;

	if (row || !text)
		return row;
	return hash_map_put(&m->name_rows, key, m->nnames + 1) ? ++m->nnames : 0;
}

static void merging_intern(trace_out *o, uint32_t id, const trace_name *name)
{
	merging *m = merging_of(o);
	uint32_t *row = m->emitting ? id_table_row(&m->name_ids, id) : NULL;

	if (!row)
		return;
	*row = merging_whole_name(m, name);
	m->failed = m->failed || !*row;
	for (size_t i = 0; i < m->nto && *row; i++)
		m->to[i].format->intern(m->to[i].out, *row, name);
}

static void read_survey(merging *m, const source_track *t, const trace_event *e, size_t n)
{
	merging_process *p = t->process ? id_table_find(&m->processes, t->process - 1) : NULL;

	for (size_t i = 0; i < n; i++) {
		m->last_ns = e[i].ns > m->last_ns ? e[i].ns : m->last_ns;
		if (!p || e[i].kind == TRACE_ANNOTATION)
			continue;
		p->zones += e[i].kind == TRACE_BEGIN || e[i].kind == TRACE_ASYNC_BEGIN;
		p->first_ns = !p->any || e[i].ns < p->first_ns ? e[i].ns : p->first_ns;
		p->last_ns = !p->any || e[i].ns > p->last_ns ? e[i].ns : p->last_ns;
		p->any = true;
	}
}

/* Maps the id of a range that any track may end, or of an arrow, so that files share none. The
 * first file's ids stay. */
static uint64_t whole_id(const merging *m, uint64_t id)
{
	return (id ^ m->file * UINT64_C(0x9e3779b97f4a7c15)) & INT64_MAX;
}

static trace_event whole_event(const merging *m, const trace_event *e)
{
	const int64_t ns = trace_place_ns(m->how.place, e->ns) - m->how.base_ns;
	const uint32_t *name = id_table_find(&m->name_ids, e->name);
	trace_event now = *e;

	now.ns = ns > 0 ? (uint64_t)ns : 0;
	now.name = e->name && name ? *name : 0;
	if (e->kind >= TRACE_ASYNC_BEGIN && e->kind <= TRACE_FLOW_END)
		now.as.id = whole_id(m, e->as.id);
	return now;
}

static void merging_events(trace_out *o, uint32_t id, const trace_event *e, size_t n)
{
	merging *m = merging_of(o);
	const source_track *t = id_table_find(&m->tracks, id);

	if (!t)
		return;
	if (!m->emitting) {
		read_survey(m, t, e, n);
		return;
	}
	while (n > 0) {
		/* A number belongs to the event before it. */
		size_t some = n < BATCH ? n : BATCH, whole = some;
		while (whole > 1 && whole < n && e[whole].kind == TRACE_ANNOTATION)
			whole--;
		some = whole > 1 ? whole : some;
		for (size_t i = 0; i < some; i++)
			m->batch[i] = whole_event(m, &e[i]);
		for (size_t i = 0; i < m->nto; i++)
			m->to[i].format->events(m->to[i].out, t->id, m->batch, some);
		e += some;
		n -= some;
	}
}

static trace_sample whole_sample(const merging *m, const trace_sample *s)
{
	trace_sample now = *s;

	now.ns = (s->ns < 0 ? m->how.place->base_ns + s->ns
			    : trace_place_ns(m->how.place, (uint64_t)s->ns)) -
		 m->how.base_ns;
	now.pid = merging_number_of(s->pid, m->how.more);
	now.tid = merging_number_of(s->tid, m->how.more);
	now.path = cct_mapped(&m->samples.map, s->path);
	return now;
}

static void merging_samples(trace_out *o, const cct *paths, const trace_sample *s, size_t n)
{
	merging *m = merging_of(o);
	trace_sample batch[BATCH];

	if (!m->emitting)
		return;
	sample_sums_add(&m->samples, paths, s, n);
	while (n > 0) {
		const size_t some = n < BATCH ? n : BATCH;

		for (size_t i = 0; i < some; i++)
			batch[i] = whole_sample(m, &s[i]);
		for (size_t i = 0; i < m->nto; i++)
			if (trace_format_has_samples(m->to[i].format))
				m->to[i].format->samples(m->to[i].out, &m->samples.paths, batch,
							 some);
		s += some;
		n -= some;
	}
}

static dck_status merging_close(trace_out *o, dck_err *err)
{
	merging *m = merging_of(o);

	m->failed = m->failed || m->tracks.failed || m->name_ids.failed || m->processes.failed ||
		    string_table_failed(&m->names) || cct_failed(&m->samples.paths);
	DCK_NEED(!m->failed, err, "for the names and tracks of several traces");
	return DCK_OK;
}

const trace_format merging_format = {
    .name = "merge",
    .suffix = "",
    .help = "part of a whole",
    .open = trace_format_open_self,
    .track = merging_track,
    .intern = merging_intern,
    .events = merging_events,
    .samples = merging_samples,
    .close = merging_close,
};

/* --- */

dck_status merging_new(merging **ret, dck_err *err)
{
	merging *m = mem_zalloc(1, sizeof *m);

	DCK_NEED(m, err, "to put traces together");
	m->processes.row_bytes = sizeof(merging_process);
	m->tracks.row_bytes = sizeof(source_track);
	m->name_ids.row_bytes = sizeof(uint32_t);
	dck_sink_custom(&m->sink, trace_format_nowhere, m);
	dck_status status = string_table_init(&m->names, err);
	DCK_NEXT(status, sample_sums_init(&m->samples, err));
	if (status == DCK_OK)
		*ret = m;
	else
		merging_free(m);
	return status;
}

void merging_free(merging *m)
{
	if (!m)
		return;
	string_table_done(&m->names);
	hash_map_done(&m->name_rows);
	id_table_done(&m->processes);
	hash_map_done(&m->process_rows);
	id_table_done(&m->tracks);
	id_table_done(&m->name_ids);
	sample_sums_done(&m->samples);
	mem_free(m);
}

dck_sink *merging_sink(merging *m)
{
	return &m->sink;
}

void merge_scan(merging *m, uint32_t file)
{
	m->file = file;
	m->last_ns = 0;
	m->nto = 0;
	m->emitting = false;
	sample_sums_next(&m->samples);
	id_table_done(&m->tracks);
	id_table_done(&m->name_ids);
	m->tracks = (id_table){.row_bytes = sizeof(source_track)};
	m->name_ids = (id_table){.row_bytes = sizeof(uint32_t)};
}

void merge_emit(merging *m, uint32_t file, const merging_how *how, const merging_to *to, size_t n)
{
	merge_scan(m, file);
	m->emitting = true;
	m->how = *how;
	for (; m->nto < n; m->nto++)
		m->to[m->nto] = to[m->nto];
}

uint64_t merging_last_ns(const merging *m)
{
	return m->last_ns;
}

size_t merging_processes(const merging *m)
{
	return m->nprocesses;
}

merging_process *merging_at(const merging *m, size_t i)
{
	return id_table_find(&m->processes, (uint32_t)i);
}
