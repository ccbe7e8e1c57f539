/* chrome_tracks.c - string interning, and the tables of processes, threads and counters, of a
 * Chrome trace.
 *
 * Texts are interned to numbers. Hash maps with pairs of these numbers as keys find the row of a
 * name (text, category), a process (text of its pid), a thread (process, text of its tid) and a
 * counter (process or thread, name); a row is made at its first mention. A pid or tid that is not a
 * number of 32 bits gets a number from FOREIGN on, and its text as its name. chrome_emit_track()
 * emits a track once, after its parent.
 *
 * Invariants: row 0 means none, with the reason in x->err. Rows are never removed, but move when a
 * table grows: a pointer is valid until the next row is made. Bounds: TEXTS_MAX texts, TRACKS_MAX
 * tracks; more is E_LIMIT.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/chrome/chrome_reading.h"
#include "profiler/timeline/thread_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXTS_MAX = 1 << 22,
	TRACKS_MAX = 1 << 20,
	FOREIGN = 1 << 30 /* first number for a pid or tid that is not a number of 32 bits */
};

typedef struct named {
	uint32_t text, category;
} named;

static uint32_t tracks_no_memory(chrome_reader *x)
{
	(void)ERR_NO_MEMORY(x->err, "for the names and tracks of a trace");
	return 0;
}

static uint32_t tracks_too_many(chrome_reader *x, const char *what, int most)
{
	(void)ERR_SET(x->err, E_LIMIT, "%s has more than %d %s", x->source->label, most, what);
	return 0;
}

uint32_t chrome_text(chrome_reader *x, const char *text, size_t n)
{
	const uint32_t id = string_table_intern(&x->texts, text, n);

	if (!id)
		return tracks_no_memory(x);
	return x->texts.n > TEXTS_MAX ? tracks_too_many(x, "names", TEXTS_MAX) : id;
}

uint32_t chrome_name(chrome_reader *x, uint32_t text, uint32_t category)
{
	const uint64_t key = (uint64_t)text << 32 | category;
	uint32_t row = hash_map_find(&x->name_rows, key);

	if (row)
		return row;
	x->names.row_bytes = sizeof(named);
	row = x->nnames + 1;
	named *made = id_table_row(&x->names, row);
	if (!made || !hash_map_put(&x->name_rows, key, row))
		return tracks_no_memory(x);
	*made = (named){text, category};
	x->nnames = row;
	return row;
}

uint32_t chrome_name_text(const chrome_reader *x, uint32_t name)
{
	const named *row = id_table_find(&x->names, name);

	return row ? row->text : 0;
}

bool chrome_is_annotation(const chrome_reader *x, uint32_t name)
{
	const named *row = id_table_find(&x->names, name);
	const char *category = row ? string_name_of(&x->texts, row->category).text : NULL;

	return category && strcmp(category, "user_annotation") == 0;
}

void chrome_emit_names(chrome_reader *x)
{
	for (uint32_t i = 1; i <= x->nnames; i++) {
		const named *row = id_table_find(&x->names, i);
		const string_name text = string_name_of(&x->texts, row->text);
		x->format->intern(
		    x->out, i,
		    &(trace_name){.text = text.text,
				  .n = text.n,
				  .category = string_name_of(&x->texts, row->category).text});
	}
}

/* --- tracks */

static uint32_t track_new(chrome_reader *x, hash_map *rows, uint64_t key, const chrome_track *t)
{
	const uint32_t row = x->ntracks + 1;

	if (row > TRACKS_MAX)
		return tracks_too_many(x, "processes, threads and counters", TRACKS_MAX);
	x->tracks.row_bytes = sizeof(chrome_track);
	chrome_track *made = id_table_row(&x->tracks, row);
	if (!made || (rows && !hash_map_put(rows, key, row)))
		return tracks_no_memory(x);
	*made = *t;
	x->ntracks = row;
	return row;
}

/* Parses the number of a process or thread; false: it is another text. */
static bool tracks_number_of(const char *text, int32_t *ret)
{
	char *end;

	errno = 0;
	const long long v = strtoll(text, &end, 10);
	*ret = (int32_t)v;
	return end != text && (*end == '\0' || strcmp(end, ".0") == 0) && !errno &&
	       v >= INT32_MIN && v <= INT32_MAX;
}

uint32_t chrome_process(chrome_reader *x, const char *pid)
{
	const uint32_t text = chrome_text(x, pid, strlen(pid));
	chrome_track t = {.kind = TRACE_PROCESS};

	if (!text)
		return 0;
	const uint32_t row = hash_map_find(&x->process_rows, text);
	if (row)
		return row;
	if (!tracks_number_of(pid, &t.pid)) {
		t.pid = FOREIGN + (int32_t)x->ntracks;
		t.name = text;
	}
	return track_new(x, &x->process_rows, text, &t);
}

uint32_t chrome_thread(chrome_reader *x, const char *pid, const char *tid)
{
	const uint32_t process = chrome_process(x, pid), text = chrome_text(x, tid, strlen(tid));
	const uint64_t key = (uint64_t)process << 32 | text;
	chrome_track t = {.kind = TRACE_THREAD, .parent = process};

	if (!process || !text)
		return 0;
	const uint32_t row = hash_map_find(&x->thread_rows, key);
	if (row)
		return row;
	t.pid = chrome_track_at(x, process)->pid;
	if (!tracks_number_of(tid, &t.tid)) {
		t.tid = FOREIGN + (int32_t)x->ntracks;
		t.name = text;
	}
	return track_new(x, &x->thread_rows, key, &t);
}

uint32_t chrome_counter(chrome_reader *x, const char *pid, const char *tid, uint32_t name)
{
	const uint32_t of = tid ? chrome_thread(x, pid, tid) : chrome_process(x, pid);
	const uint64_t key = (uint64_t)of << 32 | name;
	chrome_track t = {.kind = TRACE_COUNTER_TRACK, .parent = of, .name = name};

	if (!of)
		return 0;
	const uint32_t row = hash_map_find(&x->counter_rows, key);
	if (row)
		return row;
	t.pid = chrome_track_at(x, of)->pid;
	t.tid = chrome_track_at(x, of)->tid;
	return track_new(x, &x->counter_rows, key, &t);
}

uint32_t chrome_beside(chrome_reader *x, uint32_t row)
{
	const chrome_track *t = chrome_track_at(x, row);
	const char *name = string_name_of(&x->texts, t->name).text;
	chrome_track made = {.kind = t->kind, .pid = t->pid, .parent = t->parent};
	char text[STRING_NAME_MAX];
	int n = name ? snprintf(text, sizeof text, "%s (overlapping)", name)
		     : snprintf(text, sizeof text, "%d (overlapping)", (int)t->tid);

	made.tid = FOREIGN + (int32_t)x->ntracks;
	made.name = chrome_text(x, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
	return made.name ? track_new(x, NULL, 0, &made) : 0;
}

void chrome_emit_track(chrome_reader *x, uint32_t row)
{
	chrome_track *t = chrome_track_at(x, row);

	if (t->emitted)
		return;
	t->emitted = true;
	if (t->parent)
		chrome_emit_track(x, t->parent);
	/* The format has no units; the units of deepclock's thread counters are known. */
	const char *name = string_name_of(&x->texts, t->name).text;
	const bool threads = t->kind == TRACE_COUNTER_TRACK && t->tid > 0;
	const int counter = threads ? thread_counter_named(name) : -1;
	x->format->track(
	    x->out,
	    &(trace_track){.id = row,
			   .parent = t->parent,
			   .kind = t->kind,
			   .pid = t->pid,
			   .tid = t->kind == TRACE_DEVICE ? 0 : t->tid,
			   .name = name,
			   .unit = counter < 0 ? DCK_UNIT_NONE : thread_counters[counter].unit});
}
