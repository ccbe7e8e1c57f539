/* thread_watch.c - polls the threads of the process (/proc/self/task, proc(5)): their tracks and
 * names, their counters on the timeline, and the rows of table "threads".
 *
 * A poll reads the CPU clock of each thread, which is cheap, and files of /proc only for threads
 * that ran since the last poll. The hash map `live` finds a row by thread number. The kernel uses
 * numbers again: a CPU time that decreased means another thread, and ends the old row. A thread
 * that is missing in two polls has ended; until then the end of its lane, which has exact counters,
 * may follow.
 *
 * Counters never decrease: uses_take() takes the maximum of two sources. A counter is emitted only
 * if it changed, or at the end of its thread; a share is emitted at the beginning of its interval,
 * where it is drawn.
 *
 * Memory is bounded by the live threads: with more than 2 * KEPT_MAX rows of ended threads, drop()
 * sorts their CPU times, retains those above the order statistic KEPT_MAX, and adds the others to
 * `dropped`. At most WATCH_COUNTED_MAX threads have counters.
 *
 * Only the recorder's thread calls this while it lives. A new row may move the others, so a pointer
 * to a row is not used after row_new().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/thread_watch.h"
#include "profiler/trace/result/device_report.h"

#include "base/err.h"
#include "base/mem.h"
#include "profiler/trace/zone_names.h"

#include <stdlib.h>
#include <string.h>

/* A thread that does not run may be renamed, so its name is read every few polls. */
enum { NAMES_EVERY = 10, SHARE_WHOLE = 10000, KEPT_MAX = 1000 };

static uint64_t used(const watched *t, int k)
{
	return t->uses.n[k] > t->before.n[k] ? t->uses.n[k] - t->before.n[k] : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A counter that is not known now stays as it was, and none decreases: the counters of a lane's end
 * are older than a poll that found the thread exiting. */
static void uses_take(os_thread_counters *to, const os_thread_counters *from)
{
	for (int k = 0; k < OS_USES; k++)
		if (from->known >> k & 1)
			to->n[k] = later(to->n[k], from->n[k]);
	to->known |= from->known;
}

/* --- emitting */

static void track_emit(thread_watch *w, uint32_t track, trace_track_kind kind, int tid,
		       const char *name)
{
	const trace_track t = {.id = track,
			       .parent = WATCH_PROCESS_TRACK,
			       .kind = kind,
			       .pid = (int32_t)os_process_id(),
			       .tid = tid,
			       .name = name};

	if (w->to.track)
		w->to.track(w->to.self, &t);
}

static void tell_thread(thread_watch *w, uint32_t track, int tid, const char *name)
{
	track_emit(w, track, TRACE_THREAD, tid, name && *name ? name : NULL);
}

static uint32_t tell_new_thread(thread_watch *w, int tid, const char *name)
{
	w->threads++;
	tell_thread(w, ++w->tracks, tid, name);
	return w->tracks;
}

static uint32_t tell_device(thread_watch *w, const char *name)
{
	track_emit(w, ++w->tracks, TRACE_DEVICE, 0, name);
	return w->tracks;
}

static const char *watch_name_of(const watched *t)
{
	return t->said ? t->said : t->name;
}

/* Stores the thread's present name by the system. */
static void name_take(thread_watch *w, watched *t, const char name[16])
{
	if (!name[0] || !strcmp(name, t->name))
		return;
	memcpy(t->name, name, sizeof t->name);
	if (t->track && !t->said)
		tell_thread(w, t->track, t->tid, t->name);
}

static bool may_emit(const thread_watch *w, const watched *t)
{
	return w->to.track && w->to.events && !t->muted;
}

static void counter_emit(thread_watch *w, watched *t, int k, uint64_t ns, double value)
{
	const trace_event e = {.ns = ns, .kind = TRACE_COUNTER, .as.real = value};

	if (!t->track)
		t->track = tell_new_thread(w, t->tid, watch_name_of(t));
	if (!t->counters[k]) {
		t->counters[k] = ++w->tracks;
		w->to.track(w->to.self, &(trace_track){.id = t->counters[k],
						       .parent = t->track,
						       .kind = TRACE_COUNTER_TRACK,
						       .pid = (int32_t)os_process_id(),
						       .tid = t->tid,
						       .name = thread_counters[k].name,
						       .unit = thread_counters[k].unit});
	}
	w->to.events(w->to.self, t->counters[k], &e, 1);
}

/* Emits what the thread used until ns. always: the CPU time even if it did not change. */
static void tell_uses(thread_watch *w, watched *t, uint64_t ns, bool always)
{
	if (t->looked && !t->emitted[OS_USE_CPU] && t->began_ns < ns)
		counter_emit(w, t, OS_USE_CPU, t->began_ns, 0);
	for (int k = 0; k < OS_USES; k++) {
		const uint64_t now = used(t, k);

		if (!(t->uses.known >> k & 1) ||
		    (t->emitted[k] == now + 1 && !(always && k == OS_USE_CPU)) ||
		    (k == OS_USE_MAJOR && !now && !t->emitted[k]))
			continue;
		counter_emit(w, t, k, ns, (double)now);
		t->emitted[k] = now + 1;
	}
}

/* Emits the share of the time from `from` to `to`, at `from`, where it is drawn. */
static void tell_share(thread_watch *w, watched *t, uint64_t from, uint64_t to, uint64_t cpu)
{
	int64_t share = 0;

	if (to > from)
		share = (int64_t)((double)cpu * SHARE_WHOLE / (double)(to - from) + 0.5);
	/* The two clocks are not read at one instant. */
	if (t->tid && share > SHARE_WHOLE)
		share = SHARE_WHOLE;
	if (share == t->share)
		return;
	t->share = share;
	counter_emit(w, t, THREAD_SHARE, from, (double)share / SHARE_WHOLE);
}

/* --- rows */

static watched *watch_row_of(const thread_watch *w, int tid)
{
	const uint32_t at = hash_map_find(&w->live, (uint32_t)tid);

	return at ? &w->rows[at - 1] : NULL;
}

static int most_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x != *y ? (*x > *y ? -1 : 1) : 0;
}

static void tracks_end(const thread_watch *w, const watched *t)
{
	if (!w->to.track_end)
		return;
	if (t->track)
		w->to.track_end(w->to.self, t->track);
	for (int k = 0; k < THREAD_COUNTERS; k++)
		if (t->counters[k])
			w->to.track_end(w->to.self, t->counters[k]);
}

/* Drops ended threads, except those with the most CPU time. Of threads with equal times it retains
 * enough for the table to choose from. */
static void drop(thread_watch *w)
{
	uint64_t *cpu = mem_zalloc(w->over, sizeof *cpu);
	size_t n = 0, kept = 0, equal = KEPT_MAX, over = 0;

	if (!cpu)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->rows[i].over)
			cpu[n++] = used(&w->rows[i], OS_USE_CPU);
	qsort(cpu, n, sizeof *cpu, most_first);
	hash_map_clear(&w->live);
	for (size_t i = 0; i < w->n; i++) {
		const watched *t = &w->rows[i];
		const uint64_t has = used(t, OS_USE_CPU), least = cpu[KEPT_MAX - 1];

		if (t->over && (has < least || (has == least && !equal))) {
			w->dropped.threads++;
			w->dropped.zones += t->zones;
			tracks_end(w, t);
			continue;
		}
		equal -= t->over && has == least;
		over += t->over;
		w->rows[kept++] = *t;
		if (t->mapped)
			w->failed |= !hash_map_put(&w->live, (uint32_t)t->tid, (uint32_t)kept);
	}
	w->n = kept;
	w->over = over;
	mem_free(cpu);
}

/* Returns a new row; NULL: no memory. The other rows may move. */
static watched *row_new(thread_watch *w, int tid)
{
	watched *was = watch_row_of(w, tid);

	if (was)
		was->mapped = false;
	if (w->n == w->cap && w->over > 2 * KEPT_MAX)
		drop(w);
	if (!mem_reserve(&w->rows, &w->cap, w->n + 1, sizeof *w->rows) ||
	    !hash_map_put(&w->live, (uint32_t)tid, (uint32_t)w->n + 1)) {
		w->failed = true;
		return NULL;
	}
	watched *t = &w->rows[w->n++];
	*t = (watched){.tid = tid, .began_ns = UINT64_MAX, .round = w->round, .mapped = true};
	t->muted = w->counted >= WATCH_COUNTED_MAX;
	w->counted += !t->muted;
	w->left_out += t->muted;
	const uint32_t said = hash_map_find(&w->names, (uint32_t)tid);
	if (said) {
		t->said = zone_name_get(said)->text;
		hash_map_remove(&w->names, (uint32_t)tid);
	}
	return t;
}

static void row_end(thread_watch *w, watched *t, uint64_t ns, bool telling)
{
	if (t->over)
		return;
	t->seen_ns = later(t->seen_ns, ns);
	t->began_ns = earlier(t->began_ns, t->seen_ns);
	if (telling && t->uses.known) {
		tell_uses(w, t, t->seen_ns, true);
		tell_share(w, t, t->seen_ns, t->seen_ns, 0);
	}
	t->over = true;
	w->over++;
}

/* --- lanes */

/* The main thread's lane begins before main(), which may rename it: formats that write a thread's
 * name with its first event need the later one. Other threads have their lane's name. */
static void name_now(thread_watch *w, watched *t)
{
	char name[16];

	if (t->tid != (int)os_process_id())
		return;
	os_thread_name_of(t->tid, name);
	name_take(w, t, name);
}

uint32_t thread_watch_lane(thread_watch *w, const thread_buffer *l)
{
	watched *t = l->guest ? NULL : watch_row_of(w, l->tid);

	if (l->device)
		return tell_device(w, zone_name_get(l->device)->text);
	if (l->guest)
		return tell_new_thread(w, l->tid, l->name);
	if (!t || t->over)
		t = row_new(w, l->tid);
	if (!t)
		return tell_new_thread(w, l->tid, l->name);
	if (!t->name[0])
		name_take(w, t, l->name);
	if (!t->track) {
		name_now(w, t);
		t->track = tell_new_thread(w, t->tid, watch_name_of(t));
	}
	return t->track;
}

void thread_watch_name(thread_watch *w, int tid, uint32_t name)
{
	watched *t = watch_row_of(w, tid);

	if (t && !t->over) {
		t->said = zone_name_get(name)->text;
		if (t->track)
			tell_thread(w, t->track, tid, t->said);
	} else if (w->names.n < WATCH_NAMES_MAX) {
		w->failed |= !hash_map_put(&w->names, (uint32_t)tid, name);
	}
}

void thread_watch_lane_end(thread_watch *w, const watch_end *end)
{
	watched *t = watch_row_of(w, end->tid);
	const bool guest = end->ended && end->ended->guest;

	/* A thread with no events that was never polled is counted in "(other threads)". */
	if (!t && end->first_ns == UINT64_MAX)
		return;
	if (!t && !(t = row_new(w, end->tid)))
		return;
	t->zones += end->zones;
	t->waited_ns += end->waited_ns;
	t->began_ns = earlier(t->began_ns, end->first_ns);
	t->seen_ns = later(t->seen_ns, guest || !end->ended ? end->ns : 0);
	if (!end->ended || guest || t->over)
		return;
	uses_take(&t->uses, &end->ended->uses);
	row_end(w, t, end->ns, may_emit(w, t));
}

/* --- polls */

typedef struct look {
	thread_watch *w;
	watch_look how;
	int own;    /* the polling thread, if it is the recorder's; 0: the program's */
	bool first; /* the use before this poll does not belong to the recording */
} look;

/* Returns the start time of a thread that the last poll did not find. */
static uint64_t began(const look *l, const os_thread_stat *st)
{
	const thread_watch *w = l->w;
	const uint64_t ns = st->born_ns > w->boottime_ns ? st->born_ns - w->boottime_ns : 0;

	return l->first || !st->born_ns ? l->how.ns : later(earlier(ns, l->how.ns), w->looked_ns);
}

static void stat_store(const look *l, watched *t, const os_thread_stat *st)
{
	thread_watch *w = l->w;
	const uint64_t from = t->looked ? t->seen_ns : earlier(t->began_ns, began(l, st));
	const uint64_t was = used(t, OS_USE_CPU);

	uses_take(&t->uses, &st->uses);
	if (l->first)
		t->before = t->uses;
	if (!t->looked)
		t->began_ns = from;
	t->looked = true;
	t->seen_ns = l->how.ns;
	name_take(w, t, st->name);
	if (!l->how.emit || !may_emit(w, t))
		return;
	if (!l->how.last) /* else its end emits them */
		tell_uses(w, t, l->how.ns, l->how.beat && t == &w->process);
	tell_share(w, t, from, l->how.ns, used(t, OS_USE_CPU) - was);
}

static void look_at(void *self, int tid)
{
	const look *l = self;
	thread_watch *w = l->w;
	watched *t = watch_row_of(w, tid);
	os_thread_stat st = {0};
	uint64_t cpu;

	if (tid == l->own || device_report_is_thread(tid) || !os_thread_cpu(tid, &cpu))
		return;
	/* Another thread has its number now. */
	if (t && t->looked && cpu < t->uses.n[OS_USE_CPU]) {
		row_end(w, t, t->seen_ns, l->how.emit && may_emit(w, t));
		t = NULL;
	}
	if (t)
		t->round = w->round;
	if (t && t->over)
		return;
	const bool idle = t && t->looked && cpu == t->uses.n[OS_USE_CPU];
	if (!idle || l->how.last || w->round % NAMES_EVERY == 0)
		(void)os_thread_read(tid, l->how.last, &st);
	if (!(st.uses.known & 1u << OS_USE_CPU)) {
		st.uses.n[OS_USE_CPU] = cpu;
		st.uses.known |= 1u << OS_USE_CPU;
	}
	if (t || (t = row_new(w, tid)))
		stat_store(l, t, &st);
}

/* Ends the rows of threads that have exited. */
static void look_for_ends(const look *l)
{
	thread_watch *w = l->w;

	for (size_t i = 0; i < w->n; i++) {
		watched *t = &w->rows[i];

		if (!t->mapped || t->round == w->round)
			continue;
		/* The end of its lane, with exact counters, may still follow. */
		if (!t->over && !l->how.last && t->round + 2 > w->round)
			continue;
		row_end(w, t, t->seen_ns, l->how.emit && may_emit(w, t));
		t->mapped = false;
		hash_map_remove(&w->live, (uint32_t)t->tid);
	}
}

/* Without a list of the threads: polls the threads that have lanes, and the main thread. */
static void look_at_known(look *l)
{
	if (!watch_row_of(l->w, (int)os_process_id()))
		look_at(l, (int)os_process_id());
	for (size_t i = 0; i < l->w->n; i++)
		if (l->w->rows[i].mapped && !l->w->rows[i].over)
			look_at(l, l->w->rows[i].tid);
}

static void look_at_process(const look *l)
{
	thread_watch *w = l->w;
	os_thread_counters own = {0};
	os_thread_stat st = {0};
	const uint64_t resident = os_resident_bytes();

	os_thread_counters_process(&st.uses);
	st.uses.known &= 1u << OS_USE_CPU | 1u << OS_USE_MINOR | 1u << OS_USE_MAJOR;
	if (l->own)
		os_thread_counters_own(&own);
	for (int k = 0; k < OS_USES; k++)
		st.uses.n[k] -= earlier(own.n[k], st.uses.n[k]);
	stat_store(l, &w->process, &st);
	if (!l->how.emit || !may_emit(w, &w->process))
		return;
	if (l->how.last)
		tell_uses(w, &w->process, l->how.ns, true);
	if (resident && resident != w->resident)
		counter_emit(w, &w->process, THREAD_RESIDENT, l->how.ns, (double)resident);
	w->resident = resident;
}

static void look_at_all(look *l)
{
	thread_watch *w = l->w;

	w->round++;
	w->no_list = !os_threads_each(look_at, l);
	if (w->no_list)
		look_at_known(l);
	look_for_ends(l);
	for (size_t i = 0; l->how.last && i < w->n; i++)
		row_end(w, &w->rows[i], l->how.ns, l->how.emit && may_emit(w, &w->rows[i]));
	look_at_process(l);
	w->looked_ns = l->how.ns;
}

void thread_watch_look(thread_watch *w, const watch_look *how)
{
	look_at_all(&(look){.w = w, .how = *how, .own = os_thread_id()});
}

void thread_watch_begin(thread_watch *w, const drain_listener *to)
{
	*w = (thread_watch){.tracks = WATCH_PROCESS_TRACK,
			    .boottime_ns = os_boottime_ns(),
			    .process.track = WATCH_PROCESS_TRACK};
	if (to)
		w->to = *to;
	look_at_all(&(look){.w = w, .first = true});
}

void thread_watch_done(thread_watch *w)
{
	hash_map_done(&w->live);
	hash_map_done(&w->names);
	mem_free(w->rows);
}

/* --- the table */

static const char *why_absent(const thread_watch *w, int k)
{
	bool known = false;

	if (w->no_list && k != OS_USE_CPU)
		return "the system has no /proc/self/task";
	for (size_t i = 0; i < w->n; i++)
		known = known || w->rows[i].uses.known >> k & 1;
	return known ? "it ended before it was sampled" : "the kernel does not count it";
}

dck_status thread_watch_table(const thread_watch *w, const char *waits_absent, thread_table *ret,
			      thread_process *ret_process, dck_err *err)
{
	thread_row *rows = w->failed ? NULL : mem_zalloc(w->n + 1, sizeof *rows);
	const int32_t pid = (int32_t)os_process_id();

	DCK_NEED(rows, err, "for the table of threads");
	*ret_process = (thread_process){.pid = pid,
					.uses.known = w->process.uses.known,
					.threads = w->dropped.threads,
					.zones = w->dropped.zones};
	*ret = (thread_table){.rows = rows, .n = w->n, .processes = ret_process, .nprocesses = 1};
	for (int k = 0; k < OS_USES; k++) {
		ret_process->uses.n[k] = used(&w->process, k);
		ret->absent[k] = why_absent(w, k);
	}
	for (size_t i = 0; i < w->n; i++) {
		const watched *from = &w->rows[i];

		rows[i] = (thread_row){.pid = pid,
				       .tid = from->tid,
				       .name = *watch_name_of(from) ? watch_name_of(from) : NULL,
				       .began_ns = from->began_ns,
				       .ended_ns = from->seen_ns,
				       .uses.known = from->uses.known,
				       .zones = from->zones,
				       .waited_ns = from->waited_ns};
		for (int k = 0; k < OS_USES; k++)
			rows[i].uses.n[k] = used(from, k);
	}
	ret->waits_absent = waits_absent ? waits_absent : "none lasted that long";
	return DCK_OK;
}
