/* sample_profile.c - turns the event stream of sampled processes into call paths with times.
 *
 * For each process an address space (address_space.h) is updated by map, exec and fork events, and
 * read from /proc when an address is in no mapping, at most once in READ_AGAIN_NS. A sample has pcs
 * that the program unwound itself, or registers and a copy of the stack, which is unwound here: all
 * reads are confined to the copy, and a function without tables is scanned for its caller
 * (unwind_scan.h). Frames are numbered as (file, address), and names are found at the end
 * (raw_stacks.h).
 *
 * Off-CPU time: if the kernel reports switches, the path at which a thread leaves its CPU is
 * stored, and its time is added when it returns, as blocked or preempted; a thread that is blocked
 * when its process is attached is found by one poll, and is away since then. If not, offcpu_poll.h
 * polls, and a thread that had no timeslice since the last poll waited where it was.
 *
 * Invariants: one thread; events come in order of time; files stay open to the end, as frames refer
 * to them. Bounds: SAMPLE_DEPTH frames and twice as many steps for a stack; from SWEEP_FROM rows of
 * processes on, rows of ended processes are reused. Lack of memory is sticky and reported by
 * sample_profile_name().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/sample_profile.h"

#include "base/err.h"
#include "base/id_table.h"
#include "base/sink.h"
#include "os/os.h"
#include "os/counters/perf_sampling.h"
#include "os/process/other_process.h"
#include "profiler/sample/raw_stacks.h"
#include "profiler/sample/sample_slots.h"
#include "profiler/sample/sample_threads.h"
#include "profiler/unwind/address_space.h"
#include "profiler/unwind/unwind_scan.h"

#include <string.h>

/* Number of processes from which rows of ended ones are reused. */
enum { SWEEP_FROM = 1024 };
/* Least time between two readings of a process's mappings, which unknown code causes. */
#define READ_AGAIN_NS UINT64_C(50000000)

typedef struct process {
	int pid;
	address_space *address_space; /* @owned; NULL: a free row */
	uint64_t read_ns;	      /* when its mappings were last read; 0: never */
	uint64_t ended_ns; /* when it was first seen to have ended, in the events' time; 0: not */
} process;

struct sample_profile {
	bool by_thread, wall, failed;
	address_space_files *files;
	id_table processes; /* by number; found by pid */
	hash_map by_pid;
	uint32_t nprocesses, sweep_at;
	sample_threads threads;
	raw_stacks raw;
	sample_python *python;
	sample_counts counts;
	uint64_t now_ns;		      /* time of the latest event */
	uint64_t named_ns;		      /* of sample_profile_names(); 0: never */
	dck_sink *log;			      /* receives the samples' times; NULL: none */
	uint32_t kernel, stack[SAMPLE_DEPTH]; /* frames */
};

dck_status sample_profile_new(const dck_sample_config *c, sample_profile **ret, dck_err *err)
{
	sample_profile *p = mem_zalloc(1, sizeof *p);

	DCK_NEED(p, err, "for a profile");
	p->by_thread = c->threads;
	p->wall = c->wall;
	p->processes.row_bytes = sizeof(process);
	p->sweep_at = SWEEP_FROM;
	p->files = address_space_files_new();
	sample_threads_init(&p->threads);
	const dck_status st =
	    p->files ? raw_stacks_init(&p->raw, err) : ERR_NO_MEMORY(err, "for a profile");
	if (st == DCK_OK)
		p->python = sample_python_new(&p->raw, c->interpreter);
	if (!p->python) {
		sample_profile_free(p);
		return st != DCK_OK ? st : ERR_NO_MEMORY(err, "for a profile");
	}
	*ret = p;
	return DCK_OK;
}

void sample_profile_free(sample_profile *p)
{
	if (!p)
		return;
	for (uint32_t i = 1; i <= p->nprocesses; i++)
		address_space_free(((process *)id_table_find(&p->processes, i))->address_space);
	id_table_done(&p->processes);
	hash_map_done(&p->by_pid);
	sample_threads_done(&p->threads);
	sample_python_free(p->python);
	raw_stacks_done(&p->raw);
	address_space_files_free(p->files);
	mem_free(p);
}

/* --- processes */

static process *process_find(const sample_profile *p, int pid)
{
	const uint32_t at = hash_map_find(&p->by_pid, (uint64_t)pid);

	return at ? id_table_find(&p->processes, at) : NULL;
}

/* Whether a process has ended, and all of its events have come: they are some milliseconds late. */
static bool profile_is_over(const sample_profile *p, process *one)
{
	if (!one->ended_ns && !os_process_runs(one->pid))
		one->ended_ns = os_perf_now_ns();
	return one->ended_ns && p->now_ns > one->ended_ns;
}

/* Returns a free row, at times one of a process that has ended. */
static uint32_t profile_place_find(sample_profile *p)
{
	if (p->nprocesses + 1 < p->sweep_at)
		return ++p->nprocesses;
	uint32_t found = 0, left = 0;
	for (uint32_t i = 1; i <= p->nprocesses; i++) {
		process *one = id_table_find(&p->processes, i);

		if (one->address_space && profile_is_over(p, one)) {
			hash_map_remove(&p->by_pid, (uint64_t)one->pid);
			sample_python_forget(p->python, one->pid);
			address_space_free(one->address_space);
			one->address_space = NULL;
		}
		left += one->address_space != NULL;
		if (!one->address_space)
			found = i;
	}
	p->sweep_at = left + SWEEP_FROM > p->sweep_at ? left + SWEEP_FROM : p->sweep_at;
	return found ? found : ++p->nprocesses;
}

/* Sets the address space of a process. `s` is owned from now on; NULL: a new one. */
static process *process_put(sample_profile *p, int pid, address_space *s)
{
	process *old = process_find(p, pid);

	s = s ? s : address_space_new(p->files, pid);
	if (!s) {
		p->failed = true;
		return NULL;
	}
	if (old) {
		address_space_free(old->address_space);
		old->address_space = s;
		old->ended_ns = 0; /* the number may be used again */
		return old;
	}
	const uint32_t at = profile_place_find(p);
	process *row = id_table_row(&p->processes, at);
	if (!row || !hash_map_put(&p->by_pid, (uint64_t)pid, at)) {
		address_space_free(s);
		if (row)
			*row = (process){0};
		p->failed = true;
		return NULL;
	}
	*row = (process){.pid = pid, .address_space = s};
	p->counts.processes++;
	return row;
}

/* Returns the process of an event. A pid without earlier events is a process that ran before. */
static process *profile_process_of(sample_profile *p, int pid)
{
	process *found = process_find(p, pid);

	return found ? found : process_put(p, pid, NULL);
}

typedef struct watched_process {
	sample_profile *p;
	int pid;
} watched_process;

/* No event reports the name of a thread that runs already. */
static void thread_watch(void *self, int tid)
{
	const watched_process *w = self;
	char name[16];

	if (os_process_thread_name(w->pid, tid, name, sizeof name))
		sample_thread_named(&w->p->threads, w->pid, tid, name);
}

void sample_profile_names(sample_profile *p, int pid)
{
	os_process_threads_each(pid, thread_watch, &(watched_process){p, pid});
	p->named_ns = os_perf_now_ns();
}

void sample_profile_watch(sample_profile *p, int pid)
{
	process *one = profile_process_of(p, pid);

	if (one && address_space_read(one->address_space, NULL) == DCK_OK)
		one->read_ns = os_now_ns();
}

static const mapped_module *module_of(process *one, uint64_t place)
{
	const mapped_module *m = address_space_find(one->address_space, place);
	const uint64_t now = m ? 0 : os_now_ns();

	if (m || (one->read_ns && now - one->read_ns < READ_AGAIN_NS))
		return m;
	one->read_ns = now;
	if (address_space_read(one->address_space, NULL) != DCK_OK)
		return NULL;
	return address_space_find(one->address_space, place);
}

/* --- stacks */

/* The copy of a stack: from the stack pointer on. */
typedef struct copied {
	const unsigned char *bytes;
	uint64_t from;
	size_t n;
	bool beyond; /* the address that could not be read is above the copy */
} copied;

/* A frame is hardly ever larger. */
#define FRAME_BYTES (UINT64_C(1) << 20)

static bool copied_read(void *self, uint64_t address, void *to, size_t n)
{
	copied *c = self;

	c->beyond = address - c->from + n > c->n && address - c->from < c->n + FRAME_BYTES;
	if (address < c->from || address - c->from > c->n || n > c->n - (address - c->from))
		return false;
	memcpy(to, c->bytes + (address - c->from), n);
	return true;
}

/* Returns whether code belongs to the sampling library, which is not part of the program. */
static bool profile_is_ours(const mapped_module *m)
{
	return m && m->path && strstr(m->path, SAMPLE_LIBRARY);
}

static uint32_t frame_at(sample_profile *p, process *one, const mapped_module *m, uint64_t place)
{
	raw_frame f = {.kind = RAW_CODE, .path = ""};

	if (m && m->path)
		f.path = m->path;
	if (m && !m->file)
		f.missing_reason = m->missing_reason;
	if (m && m->file) {
		f.file = m->file;
		f.address = place - m->bias;
	} else {
		f.address = place;
		f.pid = one->pid;
	}
	return raw_stacks_frame(&p->raw, &f);
}

/* A stack that is unwound: its process, and the copy of its bytes. */
typedef struct unwound_stack {
	sample_profile *p;
	process *one;
	copied stack;
	unwind_memory memory; /* the copied stack */
} unwound_stack;

static unwind_result frame_step(void *self, unwind_regs *r)
{
	const unwound_stack *f = self;
	const uint64_t place = unwind_lookup_pc(r);
	const mapped_module *m = module_of(f->one, place);
	const unwind_module *rules = m && m->file ? elf_file_unwind(m->file) : NULL;

	return unwind_step(rules, rules ? place - m->bias : place, r, &f->memory);
}

static size_t frames_walk(void *self, const unwind_regs *from, uint64_t *pcs, size_t max,
			  unwind_result *ret_end)
{
	unwind_regs r = *from;
	size_t n = 0;

	for (*ret_end = UNWIND_OK; n < max && *ret_end == UNWIND_OK;) {
		pcs[n++] = unwind_lookup_pc(&r);
		*ret_end = frame_step(self, &r);
	}
	return n;
}

static bool profile_bytes_at(void *self, uint64_t address, void *to, size_t n)
{
	const unwound_stack *f = self;

	return os_process_memory(f->one->pid, address, to, n) == n;
}

static bool profile_code_before(void *self, uint64_t address, unsigned char *to, size_t n)
{
	const unwound_stack *f = self;
	const mapped_module *m = address_space_find(f->one->address_space, address - 1);

	return m && address - m->begin >= n && profile_bytes_at(self, address - n, to, n);
}

/* Returns whether an unwind table covers the function with that code, and where it begins. */
static bool profile_function(process *one, uint64_t place, uint64_t *ret_begin)
{
	const mapped_module *m = module_of(one, place);
	const unwind_module *rules = m && m->file ? elf_file_unwind(m->file) : NULL;

	if (!rules || !unwind_function(rules, place - m->bias, ret_begin))
		return false;
	*ret_begin += m->bias;
	return true;
}

/* Finds the frame pointer of a thread that was not interrupted: only its PC and stack pointer are
 * known. C libraries with frame pointers need it (Fedora, Ubuntu from 24.04 on). */
static bool pointer_found(unwound_stack *f, unwind_regs *r)
{
	const unwind_scan scan = {&f->memory, NULL, profile_code_before, profile_bytes_at, f};
	uint64_t begin;

	if (r->known >> UNWIND_FP & 1 || !profile_function(f->one, unwind_lookup_pc(r), &begin) ||
	    !unwind_scan_pointer(&scan, begin, r))
		return false;
	f->p->counts.scanned++;
	return true;
}

/* Unwinds into p->stack from *n on, the innermost frame first. UNWIND_OK: there are more frames. */
static unwind_result frames_take(unwound_stack *f, unwind_regs *regs, bool full, size_t *n)
{
	sample_profile *p = f->p;

	for (size_t step = 0; step < 2 * SAMPLE_DEPTH && *n < SAMPLE_DEPTH; step++) {
		const uint64_t place = unwind_lookup_pc(regs);
		const mapped_module *m = module_of(f->one, place);

		if (!profile_is_ours(m))
			p->stack[(*n)++] = frame_at(p, f->one, m, place);
		unwind_result got = frame_step(f, regs);
		if (got == UNWIND_LOST && pointer_found(f, regs))
			got = frame_step(f, regs);
		if (got == UNWIND_UNREADABLE && f->stack.beyond && full)
			return UNWIND_OK;
		if (got != UNWIND_OK)
			return got;
	}
	return UNWIND_OK;
}

static unwind_result unwind(sample_profile *p, process *one, const sample_event *e, size_t *n)
{
	unwound_stack f = {.p = p,
			   .one = one,
			   .stack = {.bytes = e->as.taken.stack,
				     .from = e->as.taken.regs.r[UNWIND_SP],
				     .n = e->as.taken.stack_bytes}};
	const size_t before = *n;
	unwind_regs regs = e->as.taken.regs;
	uint64_t begin;

	f.memory = (unwind_memory){copied_read, &f.stack};
	const unwind_result got = frames_take(&f, &regs, e->as.taken.stack_full, n);
	if (got == UNWIND_END || profile_function(one, unwind_lookup_pc(&e->as.taken.regs), &begin))
		return got;
	regs = e->as.taken.regs;
	const unwind_scan scan = {&f.memory, frames_walk, profile_code_before, NULL, &f};
	if (!unwind_scan_caller(&scan, &regs))
		return got;
	p->counts.scanned++;
	*n = before + 1; /* the function itself stays */
	return frames_take(&f, &regs, e->as.taken.stack_full, n);
}

static bool profile_known(const sample_event *e)
{
	const uint64_t least = UINT64_C(1) << UNWIND_PC | UINT64_C(1) << UNWIND_SP;

	return (e->as.taken.regs.known & least) == least;
}

static size_t stack_make(sample_profile *p, process *one, const sample_event *e)
{
	unwind_result ended = UNWIND_END;
	size_t n = 0;

	if (e->as.taken.where == SAMPLE_IN_KERNEL)
		p->stack[n++] = raw_stacks_frame(&p->raw, &(raw_frame){.kind = RAW_KERNEL});
	if (e->as.taken.npcs || e->as.taken.pcs) {
		for (size_t i = 0; i < e->as.taken.npcs && n < SAMPLE_DEPTH; i++) {
			const uint64_t place = e->as.taken.pcs[i];
			const mapped_module *m = module_of(one, place);

			if (!profile_is_ours(m))
				p->stack[n++] = frame_at(p, one, m, place);
		}
		ended = e->as.taken.ended;
		p->counts.scanned += e->as.taken.scanned;
	} else if (profile_known(e)) {
		ended = unwind(p, one, e, &n);
	}
	bool cut = ended == UNWIND_OK;

	p->counts.stacks++;
	n = sample_python_merge(p->python, e, p->stack, n, SAMPLE_DEPTH, ended == UNWIND_END, &cut);
	p->counts.cut += cut;
	p->counts.broken += !cut && ended != UNWIND_END;
	return n;
}

static uint32_t profile_root_of(sample_profile *p, sample_thread *t)
{
	if (!p->by_thread)
		return 0;
	if (!t->frame)
		t->frame = raw_stacks_thread(&p->raw, t->title);
	return raw_stacks_stack(&p->raw, 0, &t->frame, 1);
}

/* --- waits, where the kernel reports each */

static void wait_add(sample_profile *p, raw_kind kind, uint32_t at, uint64_t ns)
{
	const uint32_t frame = raw_stacks_frame(&p->raw, &(raw_frame){.kind = (uint16_t)kind});

	path_trie_add(&p->raw.sums, raw_stacks_stack(&p->raw, at, &frame, 1), 1, ns);
	p->counts.time_ns += (double)ns;
	p->counts.blocked_ns += (double)ns;
	p->counts.waits++;
}

static void waited(sample_profile *p, sample_thread *t, uint64_t ns)
{
	wait_add(p, t->preempted ? RAW_PREEMPTED : RAW_BLOCKED, t->waits_at, ns);
	t->away = false;
}

/* A thread that runs has come back, also where the event of that was lost. */
static void back_unseen(sample_profile *p, sample_thread *t, const sample_event *e)
{
	const uint64_t weight_ns = e->as.taken.weight_ns;

	if (!t->away || e->at_ns <= t->left_ns)
		return;
	if (e->at_ns - t->left_ns > weight_ns)
		waited(p, t, e->at_ns - t->left_ns - weight_ns);
	t->away = false;
}

/* --- samples */

static void taken(sample_profile *p, const sample_event *e)
{
	process *one = profile_process_of(p, e->pid);
	sample_thread *t = sample_thread_of(&p->threads, e->pid, e->tid);

	if (!one || !t) {
		p->failed = true;
		return;
	}
	if (e->as.taken.where == SAMPLE_LEAVING) {
		const size_t n = stack_make(p, one, e);
		t->waits_at = raw_stacks_stack(&p->raw, profile_root_of(p, t), p->stack, n);
		t->left_ns = e->at_ns;
		t->away = true;
		return;
	}
	back_unseen(p, t, e);
	const size_t n = stack_make(p, one, e);
	const uint32_t path = raw_stacks_stack(&p->raw, profile_root_of(p, t), p->stack, n);
	t->ran_at = path;
	path_trie_add(&p->raw.sums, path, 1, e->as.taken.weight_ns);
	if (p->log)
		sink_put(p->log,
			 &(sample_moment){.at_ns = e->at_ns,
					  .weight_ns = e->as.taken.weight_ns,
					  .pid = e->pid,
					  .tid = e->tid,
					  .path = path},
			 sizeof(sample_moment));
	p->counts.samples++;
	p->counts.kernel += e->as.taken.where == SAMPLE_IN_KERNEL;
	p->counts.time_ns += (double)e->as.taken.weight_ns;
}

static void left(sample_profile *p, const sample_event *e)
{
	sample_thread *t = sample_thread_of(&p->threads, e->pid, e->tid);

	if (t && t->away)
		t->preempted = e->as.off.preempted;
}

static void came_back(sample_profile *p, const sample_event *e)
{
	sample_thread *t = sample_thread_of(&p->threads, e->pid, e->tid);

	if (t && t->away && e->at_ns >= t->left_ns)
		waited(p, t, e->at_ns - t->left_ns);
}

static void still_away(void *self, sample_thread *t)
{
	sample_profile *p = self;

	if (t->away && p->now_ns > t->left_ns)
		waited(p, t, p->now_ns - t->left_ns);
}

void sample_profile_end(sample_profile *p, uint64_t now_ns)
{
	p->now_ns = now_ns > p->now_ns ? now_ns : p->now_ns;
	sample_threads_each(&p->threads, still_away, p);
}

/* --- waits, polled from outside */

void sample_profile_processes(const sample_profile *p, void (*f)(void *self, int pid), void *self)
{
	for (uint32_t i = 1; i <= p->nprocesses; i++) {
		const process *one = id_table_find(&p->processes, i);

		if (one->address_space)
			f(self, one->pid);
	}
}

bool sample_profile_still_blocked(sample_profile *p, const offcpu_sample *l)
{
	sample_thread *t = sample_thread_of(&p->threads, l->pid, l->tid);

	if (!t || !t->stood || t->slices.turns != l->slices.turns)
		return false;
	waited(p, t, l->now_ns - t->looked_ns);
	t->looked_ns = l->now_ns;
	return true;
}

/* Counts what a thread did not run since the last poll: in the run queue, where its last sample is,
 * and if it is blocked now, the rest here, or nearby. */
static void since_look_add(sample_profile *p, sample_thread *t, const offcpu_sample *l)
{
	const os_timeslices *now = &l->slices, *then = &t->slices;
	const uint64_t passed = l->now_ns - t->looked_ns, ran = now->cpu_ns - then->cpu_ns;

	if (now->cpu_ns < then->cpu_ns || now->queued_ns < then->queued_ns || passed <= ran)
		return;
	uint64_t queued = now->queued_ns - then->queued_ns;
	queued = queued < passed - ran ? queued : passed - ran;
	if (queued)
		wait_add(p, RAW_PREEMPTED, t->ran_at ? t->ran_at : profile_root_of(p, t), queued);
	if (l->waits && passed - ran > queued)
		waited(p, t, passed - ran - queued);
}

void sample_profile_look(sample_profile *p, const offcpu_sample *l)
{
	process *one = process_find(p, l->pid);
	sample_thread *t = sample_thread_of(&p->threads, l->pid, l->tid);

	if (!one || !t)
		return;
	/* In the run queue, or on a CPU all the time: known at its next timeslice. */
	if (!l->only && !l->waits && t->looked_ns && !t->stood &&
	    t->slices.turns == l->slices.turns)
		return;
	if (l->waits) {
		sample_event e = {.kind = SAMPLE_TAKEN,
				  .pid = l->pid,
				  .tid = l->tid,
				  .as.taken = {.stack = l->stack,
					       .stack_bytes = (size_t)l->stack_bytes,
					       .stack_full = l->stack_full,
					       .stands = true}};

		e.as.taken.regs.exact = true;
		e.as.taken.regs.r[UNWIND_PC] = l->pc;
		e.as.taken.regs.r[UNWIND_SP] = l->sp;
		if (l->pc)
			e.as.taken.regs.known = UINT64_C(1) << UNWIND_PC | UINT64_C(1) << UNWIND_SP;
		const size_t n = stack_make(p, one, &e);
		t->waits_at = raw_stacks_stack(&p->raw, profile_root_of(p, t), p->stack, n);
		t->preempted = false;
	}
	if (l->only) {
		t->away = l->waits;
		t->left_ns = l->now_ns;
		return;
	}
	if (t->looked_ns)
		since_look_add(p, t, l);
	t->stood = l->waits;
	t->looked_ns = l->now_ns;
	t->slices = l->slices;
}

/* --- the other events */

static void mapped(sample_profile *p, const sample_event *e)
{
	process *one = profile_process_of(p, e->pid);
	const address_space_mapping m = {.begin = e->as.map.address,
					 .end = e->as.map.address + e->as.map.bytes,
					 .offset = e->as.map.offset,
					 .inode = e->as.map.inode,
					 .executable = true,
					 .path = e->as.map.file};

	if (one && m.end > m.begin)
		address_space_mapped(one->address_space, &m, NULL);
}

/* A thread has one row, by its last name. Another program in it has a separate one. */
static void profile_named(sample_profile *p, const sample_event *e)
{
	sample_thread *t = sample_thread_named(&p->threads, e->pid, e->tid, e->as.name.text);

	if (t && e->kind == SAMPLE_EXEC)
		t->frame = 0;
	else if (t && t->frame)
		raw_stacks_rename(&p->raw, t->frame, t->title);
}

static void profile_forked(sample_profile *p, const sample_event *e)
{
	process *parent = process_find(p, e->as.fork.parent_pid);

	/* Before, its row may have its name already. */
	if (e->at_ns > p->named_ns)
		sample_thread_made(&p->threads, e->pid, e->tid, e->as.fork.parent_tid);
	if (e->pid == e->as.fork.parent_pid)
		return;
	process_put(p, e->pid, parent ? address_space_fork(parent->address_space, e->pid) : NULL);
	if (p->python)
		sample_python_forked(p->python, e->pid, e->as.fork.parent_pid);
}

void sample_profile_event(void *self, const sample_event *e)
{
	sample_profile *p = self;
	process *one;

	p->now_ns = e->at_ns > p->now_ns ? e->at_ns : p->now_ns;
	switch (e->kind) {
	case SAMPLE_TAKEN:
		taken(p, e);
		break;
	case SAMPLE_MAP:
		mapped(p, e);
		break;
	case SAMPLE_UNLOAD:
		one = process_find(p, e->pid);
		if (one) {
			address_space_exec(one->address_space);
			one->read_ns = 0;
		}
		break;
	case SAMPLE_EXEC:
		sample_python_forget(p->python, e->pid);
		one = process_put(p, e->pid, address_space_new(p->files, e->pid));
		if (one)
			one->read_ns = 0;
		profile_named(p, e);
		break;
	case SAMPLE_NAME:
		profile_named(p, e);
		break;
	case SAMPLE_FORK:
		profile_forked(p, e);
		break;
	case SAMPLE_EXIT:
		sample_thread_ended(&p->threads, e->tid);
		break;
	case SAMPLE_LOST:
		p->counts.lost += e->as.lost.n;
		break;
	case SAMPLE_OFF:
		left(p, e);
		break;
	case SAMPLE_ON:
		came_back(p, e);
		break;
	case SAMPLE_NOTHING:
		break;
	}
}

/* --- the end */

void sample_profile_log(sample_profile *p, dck_sink *to)
{
	p->log = to;
}

dck_status sample_profile_name(sample_profile *p, cct *ret, uint32_t **ret_of, uint32_t *ret_n,
			       dck_err *err)
{
	const uint32_t n = p->raw.sums.n;
	uint32_t *of = ret_of ? mem_zalloc((size_t)n + 1, sizeof *of) : NULL;

	DCK_NEED(!p->failed && !p->raw.failed && (of || !ret_of), err, "for a profile");
	p->counts.threads = p->threads.seen;
	const dck_status st = raw_stacks_name(&p->raw, ret, of, &p->counts.named, err);
	if (st != DCK_OK) {
		mem_free(of);
	} else if (ret_of) {
		*ret_of = of;
		*ret_n = n;
	}
	return st;
}

sample_counts sample_profile_counts(const sample_profile *p)
{
	sample_counts counts = p->counts;

	counts.python = sample_python_counted(p->python);
	return counts;
}
