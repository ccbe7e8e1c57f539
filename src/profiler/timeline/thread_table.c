/* thread_table.c - table "threads" of a record: CPU time, wait for a CPU, page faults and context
 * switches of each thread, and the remainder of each process.
 *
 * rows_join() sorts the rows by process and thread and merges, in one pass, a row without counters
 * into the row of the same thread before it; then it sorts by CPU time. The first ROWS_MAX rows are
 * written. The row "(other threads)" of a process is the total of the process minus those rows, for
 * the counters that the kernel sums up over threads: CPU time and page faults. Less than REST_NS is
 * the error of two readings, and not a row.
 *
 * The kernel reuses thread ids, so a row with counters is always a new thread. Time is O(n log n)
 * for n rows, plus rows times processes. An unknown counter is absent with its reason, never 0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/thread_table.h"

#include <stdlib.h>

enum { ROWS_MAX = 1000, COLUMNS_MAX = 16 };
/* Minimum CPU time of a row for the remainder of a process: threads that ended between two samples,
 * and the time of each thread after its last sample. */
#define REST_NS	    UINT64_C(1000000)
#define SHARE_ERROR 0.01

static const dck_column use_columns[OS_USES] = {
    [OS_USE_CPU] = {"cpu", "CPU", DCK_UNIT_NS},
    [OS_THREAD_RUN_DELAY] = {"run_queue", "run queue", DCK_UNIT_NS},
    [OS_USE_MINOR] = {"minor_faults", "minor faults", DCK_UNIT_ONE},
    [OS_USE_MAJOR] = {"major_faults", "major faults", DCK_UNIT_ONE},
    [OS_USE_VOLUNTARY] = {"voluntary", "voluntary switches", DCK_UNIT_ONE},
    [OS_USE_INVOLUNTARY] = {"involuntary", "involuntary switches", DCK_UNIT_ONE},
};

/* --- one row for each thread */

static int thread_by_thread(const void *a, const void *b)
{
	const thread_row *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	/* The rows to which others are added come first. */
	if (!x->uses.known != !y->uses.known)
		return x->uses.known ? -1 : 1;
	return x->began_ns < y->began_ns ? -1 : x->began_ns > y->began_ns;
}

static int by_cpu(const void *a, const void *b)
{
	const thread_row *x = a, *y = b;
	const uint64_t m = x->uses.n[OS_USE_CPU], n = y->uses.n[OS_USE_CPU];

	return m != n ? (m > n ? -1 : 1) : thread_by_thread(a, b);
}

static size_t rows_join(thread_row *rows, size_t n)
{
	size_t kept = 0;

	qsort(rows, n, sizeof *rows, thread_by_thread);
	for (size_t i = 0; i < n; i++) {
		thread_row *to = kept ? &rows[kept - 1] : NULL;
		const thread_row *r = &rows[i];

		if (!to || r->uses.known || !r->tid || to->process != r->process ||
		    to->tid != r->tid) {
			rows[kept++] = *r;
			continue;
		}
		to->name = to->name ? to->name : r->name;
		to->began_ns = r->began_ns < to->began_ns ? r->began_ns : to->began_ns;
		to->ended_ns = r->ended_ns > to->ended_ns ? r->ended_ns : to->ended_ns;
		to->zones += r->zones;
		to->waited_ns += r->waited_ns;
	}
	qsort(rows, kept, sizeof *rows, by_cpu);
	return kept;
}

/* --- cells */

/* Returns the share of one CPU: at most 1, since lifetime and CPU time are not read at one instant.
 * The lifetime of a thread that was never polled begins at its first event, later than its CPU
 * time: no share. */
static dck_value cpu_share(uint64_t cpu_ns, uint64_t lived_ns)
{
	const double share = (double)cpu_ns / (double)lived_ns;

	return share > 1 + SHARE_ERROR
		   ? RECORD_ABSENT("its lifetime is known from its first event on only")
		   : RECORD_REAL(share < 1 ? share : 1);
}

/* no_share: why a lifetime of 0 has no shares. */
static void thread_uses_put(const thread_table *t, record_builder *b, const os_thread_counters *u,
			    uint64_t lived_ns, const char *no_share)
{
	for (int k = 0; k < OS_USES; k++) {
		const bool known = u->known >> k & 1;

		record_cell(b, known ? RECORD_INT((int64_t)u->n[k]) : RECORD_ABSENT(t->absent[k]));
		if (k != OS_USE_CPU)
			continue;
		record_cell(b, known && lived_ns ? cpu_share(u->n[k], lived_ns)
						 : RECORD_ABSENT(known ? no_share : t->absent[k]));
	}
}

static void thread_row_put(const thread_table *t, record_builder *b, const thread_row *r,
			   bool waits)
{
	const uint64_t lived = r->ended_ns > r->began_ns ? r->ended_ns - r->began_ns : 0;

	record_cell_text(b, r->name ? r->name : "(no name)");
	if (t->nprocesses > 1)
		record_cell_int(b, r->pid);
	record_cell(b, r->tid ? RECORD_INT(r->tid) : RECORD_ABSENT("not a thread of the system"));
	record_cell_int(b, (int64_t)lived);
	thread_uses_put(t, b, &r->uses, lived, "its lifetime is 0");
	record_cell(b, waits ? RECORD_INT((int64_t)r->waited_ns) : RECORD_ABSENT(t->waits_absent));
	record_cell_int(b, (int64_t)r->zones);
}

/* Writes the remainder of a process: its totals minus the first n of `all` rows. */
static void thread_rest_put(const thread_table *t, record_builder *b, const thread_process *p,
			    size_t n, size_t all)
{
	static const char several[] = "of several threads";
	os_thread_counters rest = p->uses;
	uint64_t zones = p->zones, more = p->threads;

	rest.known &= 1u << OS_USE_CPU | 1u << OS_USE_MINOR | 1u << OS_USE_MAJOR;
	for (size_t i = 0; i < all; i++) {
		const thread_row *r = &t->rows[i];

		if (r->process != p->id)
			continue;
		/* A counter that is missing in a row above may be part of the remainder. */
		if (i < n && r->uses.known)
			rest.known &= r->uses.known;
		for (int k = 0; i < n && k < OS_USES; k++)
			rest.n[k] -= r->uses.n[k] < rest.n[k] ? r->uses.n[k] : rest.n[k];
		more += i >= n;
		zones += i >= n ? r->zones : 0;
	}
	if (!more && (!(rest.known & 1u << OS_USE_CPU) || rest.n[OS_USE_CPU] < REST_NS))
		return;
	record_cell_text(b, "(other threads)");
	if (t->nprocesses > 1)
		record_cell_int(b, p->pid);
	record_cell_absent(b, several);
	record_cell_absent(b, several);
	thread_uses_put(t, b, &rest, 0, several);
	record_cell_absent(b, several);
	record_cell_int(b, (int64_t)zones);
}

static size_t columns_choose(const thread_table *t, dck_column *c)
{
	size_t n = 0;

	c[n++] = (dck_column){"name", "thread", DCK_UNIT_NONE};
	if (t->nprocesses > 1)
		c[n++] = (dck_column){"pid", "process", DCK_UNIT_ONE};
	c[n++] = (dck_column){"tid", "number", DCK_UNIT_ONE};
	c[n++] = (dck_column){"lifetime", "lifetime", DCK_UNIT_NS};
	for (int k = 0; k < OS_USES; k++) {
		c[n++] = use_columns[k];
		if (k == OS_USE_CPU)
			c[n++] = (dck_column){"cpu_share", "share", DCK_UNIT_ONE};
	}
	c[n++] = (dck_column){"waited", "waited", DCK_UNIT_NS};
	c[n++] = (dck_column){"zones", "zones", DCK_UNIT_ONE};
	return n;
}

void thread_table_put(const thread_table *t, record_builder *b)
{
	dck_column columns[COLUMNS_MAX];
	bool waits = false, any = false;

	for (size_t i = 0; i < t->n; i++)
		any = any || t->rows[i].uses.known;
	if (!any)
		return;
	const size_t all = rows_join(t->rows, t->n), n = all < ROWS_MAX ? all : ROWS_MAX;
	record_table(b, "threads", "Threads", columns, columns_choose(t, columns));
	for (size_t i = 0; i < all; i++)
		waits = waits || t->rows[i].waited_ns;
	for (size_t i = 0; i < n; i++)
		thread_row_put(t, b, &t->rows[i], waits);
	for (size_t i = 0; i < t->nprocesses; i++)
		thread_rest_put(t, b, &t->processes[i], n, all);
}
