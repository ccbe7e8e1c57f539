/* perfetto_tracks.c - tables of the tracks of a Perfetto trace, by uuid, by process and thread
 * number, and by counter name.
 *
 * A TrackDescriptor makes or updates the row of its uuid. An event may mention a uuid first, which
 * makes a row without a description (PERFETTO_UNDESCRIBED) that a later descriptor completes. A
 * process or thread number refers to the first row described by it, or to a row made for it, which
 * no uuid refers to. A repeated descriptor replaces what the row has, but for the name if it states
 * none, the counter's value and the pending ends. It is applied after its last field, because the
 * uuid may come last.
 *
 * Invariants: row 0 means none; rows are never removed, but move when the table grows. Bounds for
 * hostile files: TRACKS_MAX rows and SEQUENCES_MAX writers (E_LIMIT), LANES_MAX described lanes
 * (more are ignored); a chain of parents is followed for 32 steps, so a cycle ends. Source:
 * protos/perfetto/trace/track_event/track_descriptor.proto of Perfetto.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/perfetto/perfetto_reading.h"

#include <string.h>

/* Limits against hostile files. They are above those of chrome_tracks.c, so that a converted file
 * can be read: each of its tracks has a writer. */
enum {
	TRACKS_MAX = 1 << 21,
	LANES_MAX = 1 << 16, /* descriptors of further ones are ignored */
	SEQUENCES_MAX = 1 << 21
};

/* Finds or makes the row of a key in one of the maps. */
static dck_status tracks_row_of(hash_map *rows, id_table *table, uint64_t key, uint32_t *n,
				uint32_t max, uint32_t *ret, perfetto_reader *x)
{
	*ret = hash_map_find(rows, key);
	if (*ret)
		return DCK_OK;
	if (*n == max)
		DCK_FAIL(x->err, E_LIMIT, "the trace has more than %u tracks or writers",
			 (unsigned)max);
	DCK_NEED(id_table_row(table, *n + 1) && hash_map_put(rows, key, *n + 1), x->err,
		 "for the tracks of a trace");
	*ret = ++*n;
	return DCK_OK;
}

dck_status perfetto_sequence_of(uint64_t id, perfetto_sequence **ret, perfetto_reader *x)
{
	uint32_t row;

	DCK_TRY(tracks_row_of(&x->sequence_rows, &x->sequences, id, &x->nsequences, SEQUENCES_MAX,
			      &row, x));
	*ret = id_table_find(&x->sequences, row);
	return DCK_OK;
}

dck_status perfetto_track_of(uint64_t uuid, uint32_t *ret, perfetto_reader *x)
{
	DCK_TRY(tracks_row_of(&x->track_rows, &x->tracks, uuid, &x->ntracks, TRACKS_MAX, ret, x));
	((perfetto_track *)id_table_find(&x->tracks, *ret))->uuid = uuid;
	return DCK_OK;
}

/* Finds or makes a row that no event can refer to by a uuid. */
static dck_status row_made(hash_map *rows, uint64_t key, const perfetto_track *said, uint32_t *ret,
			   perfetto_reader *x)
{
	DCK_TRY(tracks_row_of(rows, &x->tracks, key, &x->ntracks, TRACKS_MAX, ret, x));
	perfetto_track *t = perfetto_track_at(x, *ret);
	if (t->kind == PERFETTO_UNDESCRIBED) {
		*t = *said;
		t->changed = true;
	}
	return DCK_OK;
}

/* Finds the process of a pid: described, or made for the first thread of that pid. */
dck_status perfetto_process_of(int32_t pid, uint32_t *ret, perfetto_reader *x)
{
	return row_made(&x->process_rows, (uint32_t)pid,
			&(perfetto_track){.kind = PERFETTO_PROCESS, .pid = pid}, ret, x);
}

static uint64_t thread_key(int32_t pid, int32_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

dck_status perfetto_thread_of(int32_t pid, int32_t tid, uint32_t *ret, perfetto_reader *x)
{
	return row_made(&x->thread_rows, thread_key(pid, tid),
			&(perfetto_track){.kind = PERFETTO_THREAD, .pid = pid, .tid = tid}, ret, x);
}

dck_status perfetto_counter_of(uint32_t process, uint32_t text, uint32_t *ret, perfetto_reader *x)
{
	const int32_t pid = process ? perfetto_track_at(x, process)->pid : 0;

	return row_made(
	    &x->counter_rows, (uint64_t)process << 32 | text,
	    &(perfetto_track){.kind = PERFETTO_COUNTER, .pid = pid, .name = text, .multiplier = 1},
	    ret, x);
}

/* --- descriptors */

static dck_status read_process(wire_reader r, perfetto_track *t, perfetto_reader *x)
{
	wire_field f;

	t->kind = PERFETTO_PROCESS;
	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_PROCESS_PID)
			t->pid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_PROCESS_NAME)
			DCK_TRY(perfetto_text(&r, &f, &t->name, x));
	}
	return x->status;
}

static dck_status read_thread(wire_reader r, perfetto_track *t, int64_t *ret_us, perfetto_reader *x)
{
	wire_field f;

	t->kind = PERFETTO_THREAD;
	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_THREAD_PID)
			t->pid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_THREAD_TID)
			t->tid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_THREAD_NAME)
			DCK_TRY(perfetto_text(&r, &f, &t->name, x));
		else if (f.number == PF_THREAD_US)
			*ret_us = (int64_t)f.value;
	}
	return x->status;
}

/* Returns the unit of that name; an unknown one is left out. */
static dck_unit unit_named(const char *text)
{
	for (int u = DCK_UNIT_NONE + 1; u < DCK_UNIT_COUNT; u++)
		if (strcmp(dck_unit_text((dck_unit)u), text) == 0)
			return (dck_unit)u;
	return DCK_UNIT_NONE;
}

static dck_status read_counter(wire_reader r, perfetto_track *t, perfetto_reader *x)
{
	static const dck_unit units[] = {[PF_UNIT_NS] = DCK_UNIT_NS,
					 [PF_UNIT_COUNT] = DCK_UNIT_ONE,
					 [PF_UNIT_BYTES] = DCK_UNIT_BYTE};
	wire_field f;
	uint32_t name;

	t->kind = PERFETTO_COUNTER;
	t->unit = DCK_UNIT_NONE;
	t->multiplier = 1;
	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_COUNTER_UNIT && f.value < sizeof units / sizeof *units)
			t->unit = units[f.value];
		else if (f.number == PF_COUNTER_MULTIPLIER)
			t->multiplier = (int64_t)f.value;
		else if (f.number == PF_COUNTER_INCREMENTAL)
			t->incremental = f.value != 0;
		else if (f.number == PF_COUNTER_UNIT_NAME) {
			DCK_TRY(perfetto_text(&r, &f, &name, x));
			t->unit = unit_named(string_name_of(&x->texts, name).text);
		}
	}
	return x->status;
}

/* Updates a row from a repeated descriptor. A uuid or name that is not stated again stays. */
static void take_over(perfetto_track *t, const perfetto_track *said)
{
	const perfetto_track had = *t;

	*t = *said;
	t->uuid = said->uuid ? said->uuid : had.uuid;
	t->name = said->name ? said->name : had.name;
	t->value = had.value;
	t->clears = had.clears;
	t->ends = had.ends;
	t->nends = had.nends;
	t->ends_cap = had.ends_cap;
}

/* Maps the number of a process or thread to its first track. */
static dck_status known_as(hash_map *rows, uint64_t key, uint32_t row, perfetto_reader *x)
{
	if (!hash_map_find(rows, key) && !hash_map_put(rows, key, row))
		return ERR_NO_MEMORY(x->err, "for the tracks of a trace");
	return DCK_OK;
}

/* A row that was made for the threads of a process has its name, once it is described. */
static void process_named(const perfetto_reader *x, const perfetto_track *said, uint32_t row)
{
	const uint32_t had = hash_map_find(&x->process_rows, (uint32_t)said->pid);
	perfetto_track *made = had && had != row ? perfetto_track_at(x, had) : NULL;

	if (!made || made->uuid || made->name || !said->name)
		return;
	made->name = said->name;
	made->changed = true;
}

/* Applies a descriptor after its last field, because its uuid may come last. */
dck_status perfetto_track_read(wire_reader r, perfetto_reader *x)
{
	perfetto_track said = {.kind = PERFETTO_TRACK, .changed = true, .multiplier = 1};
	uint32_t name = 0, row;
	int64_t us;
	wire_field f;
	wire_reader inner;

	while (perfetto_each(x, &r, &f)) {
		switch (f.number) {
		case PF_TRACK_UUID:
			said.uuid = f.value;
			break;
		case PF_TRACK_PARENT:
			said.parent = f.value;
			break;
		case PF_TRACK_NAME:
		case PF_TRACK_STATIC_NAME:
			DCK_TRY(perfetto_text(&r, &f, &name, x));
			break;
		case PF_TRACK_PROCESS:
			DCK_TRY(wire_enter(&r, &f, "a process", &inner, x->err));
			if (said.kind == PERFETTO_TRACK)
				DCK_TRY(read_process(inner, &said, x));
			break;
		case PF_TRACK_THREAD:
			DCK_TRY(wire_enter(&r, &f, "a thread", &inner, x->err));
			DCK_TRY(read_thread(inner, &said, &us, x));
			break;
		case PF_TRACK_COUNTER:
			DCK_TRY(wire_enter(&r, &f, "a counter", &inner, x->err));
			DCK_TRY(read_counter(inner, &said, x));
			break;
		case PF_TRACK_DEVICE:
			if (said.kind == PERFETTO_TRACK)
				said.kind = PERFETTO_DEVICE;
			break;
		default:
			break;
		}
	}
	DCK_TRY(x->status);
	if (said.kind >= PERFETTO_TRACK && !hash_map_find(&x->track_rows, said.uuid) &&
	    x->nlanes++ >= LANES_MAX)
		return DCK_OK;
	DCK_TRY(perfetto_track_of(said.uuid, &row, x));
	said.name = said.name ? said.name : name;
	take_over(perfetto_track_at(x, row), &said);
	if (said.kind == PERFETTO_PROCESS) {
		process_named(x, &said, row);
		return known_as(&x->process_rows, (uint32_t)said.pid, row, x);
	}
	if (said.kind == PERFETTO_THREAD)
		return known_as(&x->thread_rows, thread_key(said.pid, said.tid), row, x);
	return DCK_OK;
}

dck_status perfetto_thread_read(wire_reader r, perfetto_sequence *q, perfetto_reader *x)
{
	perfetto_track said = {.changed = true};

	DCK_TRY(read_thread(r, &said, &q->us, x));
	DCK_TRY(perfetto_thread_of(said.pid, said.tid, &q->thread, x));
	if (said.name)
		take_over(perfetto_track_at(x, q->thread), &said);
	return DCK_OK;
}

/* Returns the nearest thread or process above a track, or the track itself; 0: none. */
uint32_t perfetto_carrier_of(const perfetto_reader *x, uint64_t uuid)
{
	for (int steps = 0; steps < 32 && uuid; steps++) {
		uint32_t row = hash_map_find(&x->track_rows, uuid);
		const perfetto_track *t = perfetto_track_at(x, row);
		if (!row || t->kind == PERFETTO_THREAD || t->kind == PERFETTO_PROCESS)
			return row;
		uuid = t->parent;
	}
	return 0;
}
