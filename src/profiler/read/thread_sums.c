/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/thread_sums.h"

#include "base/err.h"

typedef struct summed_track {
	uint8_t kind;	 /* trace_track_kind */
	uint8_t counter; /* index in thread_counters, plus one; 0: none */
	bool described, any;
	uint32_t parent;
	int32_t pid, tid;
	const char *name;
	uint64_t first_ns, last_ns;
	os_thread_counters *uses; /* @owned; NULL: no counter yet */
	uint64_t zones, waited_ns;
} summed_track;

dck_status thread_sums_init(thread_sums *s, dck_err *err)
{
	*s = (thread_sums){.tracks.row_bytes = sizeof(summed_track)};
	return string_table_init(&s->names, err);
}

void thread_sums_done(thread_sums *s)
{
	for (uint32_t i = 0; i < s->tracks.n; i++)
		mem_free(((summed_track *)id_table_find(&s->tracks, i))->uses);
	id_table_done(&s->tracks);
	string_table_done(&s->names);
}

void thread_sums_track(thread_sums *s, const trace_track *from)
{
	summed_track *t = id_table_row(&s->tracks, from->id);

	if (!t)
		return;
	s->threads += from->kind == TRACE_THREAD && !t->described;
	t->described = true;
	t->kind = (uint8_t)from->kind;
	t->counter = (uint8_t)(thread_counter_of(from) + 1);
	t->parent = from->parent;
	t->pid = from->pid;
	t->tid = from->tid;
	if (from->name && !t->counter)
		t->name = string_table_copy(&s->names, from->name);
}

static void see(summed_track *t, uint64_t ns)
{
	t->first_ns = !t->any || ns < t->first_ns ? ns : t->first_ns;
	t->last_ns = ns > t->last_ns ? ns : t->last_ns;
	t->any = true;
}

bool thread_sums_events(thread_sums *s, uint32_t id, const trace_event *e, size_t n)
{
	summed_track *t = id_table_find(&s->tracks, id);

	if (!t || !t->described || !n)
		return false;
	if (!t->counter) {
		see(t, e[0].ns);
		see(t, e[n - 1].ns);
		return false;
	}
	summed_track *of = id_table_find(&s->tracks, t->parent);
	const int k = t->counter - 1;
	for (size_t i = 0; of && of->described && i < n; i++) {
		if (e[i].kind != TRACE_COUNTER)
			continue;
		see(of, e[i].ns);
		/* Another producer's counter of this name may have any value. */
		if (k >= OS_USES || !(e[i].as.real >= 0 && e[i].as.real <= 0x1p62))
			continue;
		if (!of->uses)
			of->uses = mem_zalloc(1, sizeof *of->uses);
		if (!of->uses) {
			s->tracks.failed = true;
			break;
		}
		of->uses->n[k] = (uint64_t)e[i].as.real;
		of->uses->known |= 1u << k;
	}
	return true;
}

void thread_sums_ranges(thread_sums *s, uint32_t id, uint64_t zones, uint64_t waited_ns)
{
	summed_track *t = id_table_find(&s->tracks, id);

	if (t) {
		t->zones += zones;
		t->waited_ns += waited_ns;
	}
}

static void thread_rows_make(const thread_sums *s, thread_row *rows, size_t *ret_rows,
			     thread_process *processes, size_t *ret_processes)
{
	size_t n = 0, nprocesses = 0;

	for (uint32_t i = 0; i < s->tracks.n; i++) {
		const summed_track *t = id_table_find(&s->tracks, i);
		os_thread_counters uses = t->uses ? *t->uses : (os_thread_counters){0};

		/* For these counters an initial value of 0 is not emitted. */
		if (uses.known & 1u << OS_USE_MINOR)
			uses.known |= 1u << OS_USE_MAJOR;
		if (t->described && t->kind == TRACE_PROCESS)
			processes[nprocesses++] =
			    (thread_process){.id = i, .pid = t->pid, .uses = uses};
		else if (t->described && t->kind == TRACE_THREAD)
			rows[n++] = (thread_row){.process = t->parent,
						 .pid = t->pid,
						 .tid = t->tid,
						 .name = t->name,
						 .began_ns = t->first_ns,
						 .ended_ns = t->last_ns,
						 .uses = uses,
						 .zones = t->zones,
						 .waited_ns = t->waited_ns};
	}
	*ret_rows = n;
	*ret_processes = nprocesses;
}

dck_status thread_sums_put(const thread_sums *s, record_builder *b, dck_err *err)
{
	static const char no_counter[] = "the trace has no such counter";
	thread_table t = {.waits_absent = "the trace has no waits"};
	size_t threads = 0, of_processes = 0;
	bool any = false;

	for (uint32_t i = 0; i < s->tracks.n; i++) {
		const summed_track *of = id_table_find(&s->tracks, i);

		of_processes += of->described && of->kind == TRACE_PROCESS;
		threads += of->described && of->kind == TRACE_THREAD;
		any = any || (of->kind == TRACE_THREAD && of->uses);
	}
	/* A trace may have as many threads as events, and few have counters. */
	thread_process *processes = mem_zalloc(any ? of_processes + 1 : 1, sizeof *processes);
	thread_row *rows = mem_zalloc(any ? threads + 1 : 1, sizeof *rows);
	const bool made = processes && rows && !s->tracks.failed && !string_table_failed(&s->names);

	if (made && any) {
		thread_rows_make(s, rows, &t.n, processes, &t.nprocesses);
		t.rows = rows;
		t.processes = processes;
		for (int k = 0; k < OS_USES; k++)
			t.absent[k] = no_counter;
		thread_table_put(&t, b);
	}
	mem_free(rows);
	mem_free(processes);
	DCK_NEED(made, err, "for the table of threads");
	return DCK_OK;
}
