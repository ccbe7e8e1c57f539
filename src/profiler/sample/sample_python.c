/* sample_python.c - merges the Python frames of a sample into its native stack.
 *
 * For each sample: classify the native frames (evaluator, call, start of a thread, other) by their
 * names; take the Python frames that came with the sample, or read them from the process's memory
 * now, which is late (python_walk.c); merge the two (python_merge.h); number the Python frames as
 * raw frames, named at once, because the interpreter may free their code objects.
 *
 * Caches: the class of each raw frame by its number (`kinds`); whether a file is an interpreter,
 * for the first FILES files; the interpreter of a process, in a list, searched again after
 * ASK_AGAIN_NS while it is not found, swept of ended processes once for every PROCESSES_SWEPT new
 * ones; the last walk of a thread, direct-mapped by tid.
 *
 * Invariants: one thread and one stack at a time, since the buffers are members. The process's
 * memory is read by os_process_read() and not trusted (python_stack.h). SAMPLE_DEPTH bounds the
 * native and the Python frames of a stack.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/sample_python.h"

#include "base/err.h"
#include "os/os.h"
#include "os/process/other_process.h"
#include "profiler/python/python_elf.h"
#include "profiler/python/python_runs.h"
#include "profiler/sample/sample_slots.h"
#include "profiler/symbols/symbolizer.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 256, FILES = 64, PROCESSES_SWEPT = 64 };
/* Least time between two searches for the interpreter of a process, which may be starting. */
#define ASK_AGAIN_NS UINT64_C(100000000)

typedef struct one_process {
	int pid;    /* 0: a free row */
	int parent; /* made by its fork(); 0: it executed a program, or its start was not seen */
	bool found;
	uint64_t asked_ns;
	python_process p;
	python_names *names;
	struct one_process *next;
} one_process;

typedef struct one_file {
	const elf_file *file;
	bool interpreter;
} one_file;

struct sample_python {
	raw_stacks *raw;
	bool interpreter;
	symbols *symbols;
	one_process *processes;
	size_t nprocesses;
	python_thread threads[THREADS]; /* any process's threads, direct-mapped by tid */
	one_file files[FILES];
	size_t nfiles;
	id_table kinds; /* per native frame: kind + 1, and a bit for interpreters */
	merge_native native[SAMPLE_DEPTH];
	python_frame python[SAMPLE_DEPTH];
	merge_frame merged[2 * SAMPLE_DEPTH];
	uint32_t before[SAMPLE_DEPTH];
	sample_python_counts counts;
	char missing_reason[512];
};

sample_python *sample_python_new(raw_stacks *raw, bool interpreter)
{
	sample_python *s = mem_zalloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->raw = raw;
	s->interpreter = interpreter;
	s->kinds.row_bytes = sizeof(uint32_t);
	s->symbols = symbols_new(&(symbols_config){.names_only = true, .mangled = true});
	if (s->symbols)
		return s;
	sample_python_free(s);
	return NULL;
}

void sample_python_free(sample_python *s)
{
	one_process *next;

	if (!s)
		return;
	for (one_process *one = s->processes; one; one = next) {
		next = one->next;
		python_names_free(one->names);
		mem_free(one);
	}
	symbols_free(s->symbols);
	id_table_done(&s->kinds);
	mem_free(s);
}

void sample_python_forget(sample_python *s, int pid)
{
	one_process *one;

	for (one_process **at = &s->processes; (one = *at); at = &one->next)
		if (one->pid == pid) {
			*at = one->next;
			s->nprocesses--;
			python_names_free(one->names);
			mem_free(one);
			return;
		}
}

/* --- native frames */

static bool file_is_interpreter(sample_python *s, const elf_file *file)
{
	if (!file)
		return false;
	for (size_t i = 0; i < s->nfiles; i++)
		if (s->files[i].file == file)
			return s->files[i].interpreter;
	/* A program has an interpreter among the first libraries that it spends time in. */
	if (s->nfiles == FILES)
		return false;
	const bool is = python_is_interpreter(file);
	s->files[s->nfiles++] = (one_file){file, is};
	return is;
}

/* Returns the role of a native frame in the interpreter, computed once per frame. */
static merge_native python_native_of(sample_python *s, uint32_t number)
{
	enum { INTERPRETER = 16 };
	const raw_frame *f = id_table_find(&s->raw->frames, number);
	uint32_t *row = id_table_row(&s->kinds, number);
	symbols_frame name;

	if (!row || f->kind != RAW_CODE)
		return (merge_native){0};
	if (!*row) {
		/* The program python3 may be all of the interpreter, or its beginning alone. */
		const bool alone = python_is(f->path);
		const bool own = alone || file_is_interpreter(s, f->file);
		/* Of the other files only libc matters, where programs and threads start. */
		const bool asked =
		    f->file && (own || strstr(f->path, "/libc.so") || strstr(f->path, "/libc-"));
		const bool known =
		    asked && symbolizer_lookup(s->symbols, f->file, f->address, &name, 1) > 0;

		merge_kind kind = python_merge_kind(known ? name.function : NULL);
		/* Other programs with an interpreter in them have other functions too. */
		if (kind != MERGE_BEGINNING && !own)
			kind = MERGE_OTHER;
		*row = 1u + (uint32_t)kind + (alone ? INTERPRETER : 0u);
	}
	return (merge_native){.kind = (merge_kind)((*row & (INTERPRETER - 1)) - 1),
			      .interpreter = (*row & INTERPRETER) != 0};
}

/* --- Python frames */

/* Drops ended processes, once for every PROCESSES_SWEPT new ones. */
static void processes_sweep(sample_python *s)
{
	one_process *next;

	if (++s->nprocesses % PROCESSES_SWEPT)
		return;
	for (one_process *one = s->processes; one; one = next) {
		next = one->next;
		if (!os_process_runs(one->pid))
			sample_python_forget(s, one->pid);
	}
}

static one_process *python_process_listed(const sample_python *s, int pid)
{
	one_process *one = s->processes;

	while (one && one->pid != pid)
		one = one->next;
	return one;
}

static one_process *python_process_add(sample_python *s, int pid)
{
	one_process *one = mem_zalloc(1, sizeof *one);

	if (!one)
		return NULL;
	processes_sweep(s);
	one->pid = pid;
	one->next = s->processes;
	s->processes = one;
	return one;
}

void sample_python_forked(sample_python *s, int pid, int parent)
{
	one_process *one;

	if (!python_process_listed(s, parent))
		return;
	sample_python_forget(s, pid); /* an earlier process of this number */
	one = python_process_add(s, pid);
	if (one)
		one->parent = parent;
}

static one_process *python_process_of(sample_python *s, int pid)
{
	one_process *one = python_process_listed(s, pid);
	const uint64_t now = os_now_ns();
	unwind_memory memory = {os_process_read, NULL};
	dck_err err;

	if (!one)
		one = python_process_add(s, pid);
	if (!one || one->found)
		return one;
	if (one->asked_ns && now - one->asked_ns < ASK_AGAIN_NS)
		return NULL;
	one->asked_ns = now;
	memory.self = &one->pid;
	const dck_status st = python_find(pid, &memory, &one->p, &err);
	if (st == DCK_OK)
		one->names = python_names_new(&one->p, &memory);
	else if (st != DCK_E_ABSENT)
		snprintf(s->missing_reason, sizeof s->missing_reason, "%s", err.msg);
	one->found = one->names != NULL;
	return one->found ? one : NULL;
}

/* Finds the name in the process, or, if that has ended, in the one that it was forked from: code
 * has the same address there. */
static bool name_find(sample_python *s, int pid, const python_frame *f, python_name *ret)
{
	enum { FORKS = 16 };

	for (int i = 0; pid && i < FORKS; i++) {
		one_process *one = python_process_of(s, pid);

		if (one && python_names_find(one->names, f->code, f->instruction, ret))
			return true;
		one = python_process_listed(s, pid);
		pid = one ? one->parent : 0;
	}
	return false;
}

static uint32_t python_number(sample_python *s, int pid, const python_frame *f)
{
	raw_frame raw = {.kind = RAW_PYTHON, .path = "", .name = "[unknown Python]"};
	python_name name;

	if (name_find(s, pid, f, &name)) {
		raw.name = name.function;
		raw.path = name.file;
		raw.line = name.line > 0 ? (uint32_t)name.line : 0;
		raw.start_line = name.first_line > 0 ? (uint32_t)name.first_line : 0;
	} else
		s->counts.nameless++;
	raw.path = raw_text(s->raw, raw.path);
	raw.name = raw_text(s->raw, raw.name);
	return raw_stacks_frame(s->raw, &raw);
}

/* Reads the thread's frames now, for a sample that came without them. */
static size_t sample_python_walk(sample_python *s, one_process *one, int tid, python_walked *ret)
{
	python_thread *t = &s->threads[(unsigned)tid % THREADS];
	const unwind_memory memory = {os_process_read, &one->pid};

	if (t->tid != tid)
		*t = (python_thread){.tid = tid};
	return python_walk(&one->p, &memory, t, s->python, SAMPLE_DEPTH, ret);
}

size_t sample_python_merge(sample_python *s, const sample_event *e, uint32_t *frames, size_t n,
			   size_t max, bool whole, bool *ret_cut)
{
	const bool came = e->as.taken.python_came;
	bool interpreter = came && e->as.taken.npython;
	python_walked walked = {0};
	merge_stats stats;
	size_t npython;

	for (size_t i = 0; i < n; i++) {
		s->native[i] = python_native_of(s, frames[i]);
		interpreter |= s->native[i].kind == MERGE_EVALUATOR;
	}
	if (!interpreter)
		return n;
	one_process *one = python_process_of(s, e->pid);
	if (came) {
		npython = e->as.taken.npython < SAMPLE_DEPTH ? e->as.taken.npython : SAMPLE_DEPTH;
		memcpy(s->python, e->as.taken.python, npython * sizeof s->python[0]);
		walked.cut = e->as.taken.python_cut;
	} else if (one)
		npython = sample_python_walk(s, one, e->tid, &walked);
	else
		return n;
	if (npython == 0)
		return n;
	memcpy(s->before, frames, n * sizeof *frames);
	const merge_input in = {.native = s->native,
				.natives = n,
				.native_whole = whole,
				.python = s->python,
				.pythons = npython,
				.python_whole = !walked.cut && !walked.unread,
				.keep_interpreter = s->interpreter};
	const size_t all = python_merge(&in, s->merged, &stats);
	for (size_t i = 0; i < all && i < max; i++) {
		const merge_frame *m = &s->merged[i];

		frames[i] = m->python ? python_number(s, e->pid, &s->python[m->index])
				      : s->before[m->index];
	}
	s->counts.samples++;
	s->counts.late += !came && !e->as.taken.stands;
	s->counts.torn += walked.torn;
	s->counts.inexact += !stats.exact;
	/* A slot whose frames end early has less than it could: they could not be read. */
	*ret_cut |= (walked.cut && (!came || npython == SAMPLE_SLOT_PYTHON)) || all > max;
	return all < max ? all : max;
}

sample_python_counts sample_python_counted(const sample_python *s)
{
	sample_python_counts counts = s->counts;

	counts.missing_reason = s->missing_reason[0] ? s->missing_reason : NULL;
	return counts;
}
