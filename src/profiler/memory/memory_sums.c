/* memory_sums.c - merges the call trees of a program's heaps (heap_region.h), and attributes the
 * bytes of each node to a function and to a line.
 *
 * Two passes over the files: the first reads headers, for the process with the highest peak and for
 * the columns; the second adds nodes. A parent has a lower number than its children. So a backward
 * pass marks the nodes that lead to an allocation, and a forward pass computes the state of a node
 * (node_state) from that of its parent. A node with Python frames has a merged stack (heap_stack.c)
 * that does not extend its parent's: python_state_find() reuses the common prefix with the previous
 * such stack.
 *
 * A function is charged for what it allocates itself or through the runtime of its language; a line
 * of the user's Python code is preferred to a library's. Bytes that libc or the loader allocates
 * for itself count as retained, not as leaked.
 *
 * The program wrote the files, so they are not trusted: a parent that does not come first and a
 * frame out of range are ignored, and SUMS_PROCESSES_MAX bounds the processes. Time is linear in
 * the nodes, for Python times the depth of stacks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/memory_sums.h"

#include "base/err.h"
#include "profiler/memory/heap_stack.h"
#include "profiler/memory/runtime_frames.h"
#include "os/os.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const dck_column sums_columns[SUMS_COLUMNS] = {
    [SUMS_PEAK] = {"peak", "at peak", DCK_UNIT_BYTE},
    [SUMS_LEAKED] = {"leaked", "leaked", DCK_UNIT_BYTE},
    [SUMS_ALLOCATIONS] = {"allocations", "allocations", DCK_UNIT_ONE},
    [SUMS_TEMPORARY] = {"temporary", "temporary", DCK_UNIT_ONE},
    [SUMS_BYTES] = {"bytes", "allocated", DCK_UNIT_BYTE},
    [SUMS_HELD] = {"held", "held at end", DCK_UNIT_BYTE},
};
const dck_column sums_estimates[SUMS_COLUMNS] = {
    [SUMS_PEAK] = {"peak_estimated", "at peak, est.", DCK_UNIT_BYTE},
    [SUMS_LEAKED] = {"leaked_estimated", "leaked, est.", DCK_UNIT_BYTE},
    [SUMS_ALLOCATIONS] = {"allocations_estimated", "allocations, est.", DCK_UNIT_ONE},
    [SUMS_TEMPORARY] = {"temporary_estimated", "temporary, est.", DCK_UNIT_ONE},
    [SUMS_BYTES] = {"bytes_estimated", "allocated, est.", DCK_UNIT_BYTE},
    [SUMS_HELD] = {"held_estimated", "held at end, est.", DCK_UNIT_BYTE},
};

/* --- the paths of one process */

/* The state of a node: its paths in the merged trees, and its pieces by their role. */
typedef struct node_state {
	uint32_t path, function;
	uint32_t asked;	     /* piece: the innermost of no runtime; NONE: absent */
	uint32_t leaf;	     /* piece: the innermost of all */
	uint32_t user;	     /* piece: the innermost line of Python outside libraries */
	uint32_t python;     /* piece: the innermost line of Python */
	bool wanted;	     /* it or a node below it has allocations */
	const char *entered; /* the function of libc by which it was entered, ... */
	bool inside_c;	     /* ... where the innermost frames are libc's */
} node_state;

#define NONE UINT32_MAX

typedef struct adding {
	memory_sums *s;
	const heap_file *file;
	heap_frames *frames; /* their caches are filled */
	sums_process *process;
	node_state *states;
	uint32_t root; /* root node of the paths */
	/* The last stack with Python, the innermost frame first, and the state after each frame,
	 * the outermost first: successive stacks share most outer frames. The other stack is read
	 * into next. */
	heap_stack stacks[2];
	unsigned last;
	node_state along[HEAP_STACK_MAX];
	bool peak; /* it is the process whose peak is reported */
} adding;

static void piece_follow(const adding *a, node_state *t, uint32_t at)
{
	heap_piece *p = &a->frames->pieces[at];

	t->path = cct_child(&a->s->paths, t->path, p->number);
	t->leaf = at;
	if (p->python)
		t->python = at;
	if (p->user)
		t->user = at;
	if (!p->runtime) {
		t->asked = at;
		if (!p->function)
			p->function = cct_frame(&a->s->functions, &p->frame);
		t->function = cct_child(&a->s->functions, t->function, p->function);
	}
	if (p->c && !t->inside_c)
		t->entered = p->named ? p->frame.name : NULL;
	t->inside_c = p->c;
}

static bool is_mapping(const heap_node *n)
{
	return n->frame == HEAP_FRAME_MAPPING;
}

static void place_follow(const adding *a, node_state *t, uint32_t frame)
{
	const heap_place *place = &a->frames->places[frame];

	for (uint32_t k = 0; k < place->n; k++)
		piece_follow(a, t, place->first + k);
}

static node_state python_state_find(adding *a, uint32_t i, node_state t)
{
	const heap_stack *before = &a->stacks[a->last];
	heap_stack *stack = &a->stacks[a->last = !a->last];
	size_t n = 0;

	heap_stack_read(a->file, a->frames, i, stack);
	const uint32_t *now = stack->frames + stack->n, *then = before->frames + before->n;
	while (n < stack->n && n < before->n && now[-(ptrdiff_t)n - 1] == then[-(ptrdiff_t)n - 1])
		n++;
	if (n)
		t = a->along[n - 1];
	for (; n < stack->n; n++) {
		place_follow(a, &t, now[-(ptrdiff_t)n - 1]);
		a->along[n] = t;
	}
	return t;
}

static node_state node_state_find(adding *a, uint32_t i)
{
	const heap_node *n = &a->file->nodes[i];
	node_state t = {.path = a->root, .asked = NONE, .leaf = NONE, .user = NONE, .python = NONE};

	if (i <= HEAP_ROOT_SHARDS || n->parent >= i || n->frame >= a->file->nframes)
		return t;
	if (heap_file_is_size(a->file, n))
		return n->parent > HEAP_ROOT_SHARDS ? a->states[n->parent] : t;
	if (heap_stack_has_python(a->file, i))
		return python_state_find(a, i, t);
	if (n->parent > HEAP_ROOT_SHARDS)
		t = a->states[n->parent];
	if (!is_mapping(n))
		place_follow(a, &t, n->frame);
	return t;
}

/* Returns whether libc or the loader allocated it for itself: it is not a leak of the program. */
static bool is_kept(const node_state *t)
{
	return t->asked == NONE || (t->inside_c && !runtime_hands_over(t->entered));
}

/* Adds the weights of a node, and what their intervals need (memory_sums.interval). */
static void memory_weights_add(const memory_sums *s, cct *p, uint32_t path,
			       const stat_sampled weight[SUMS_COLUMNS])
{
	const size_t n = s->ncolumns;

	for (size_t c = 0; c < n; c++)
		cct_add(p, path, c, stat_sampled_total(&weight[c]));
	if (p->ncolumns == n)
		return;
	cct_add(p, path, n, weight[SUMS_ALLOCATIONS].items);
	for (size_t c = 0; c < n; c++) {
		cct_add(p, path, n + 1 + c, weight[c].sampled);
		cct_add(p, path, 2 * n + 1 + c, weight[c].variance);
	}
}

void memory_sums_interval(const memory_sums *s, const stat_sampled *total, bool bytes,
			  double *ret_lo, double *ret_hi)
{
	/* n (1 - p) / p is below the interval for each size n. */
	stat_sampled_interval(total, bytes ? (double)s->interval : NAN, SUMS_LEVEL, ret_lo, ret_hi);
}

bool memory_sums_cell(const void *self, const double *weights, uint32_t column, double *ret_lo,
		      double *ret_hi)
{
	const memory_sums *s = self;
	const size_t n = s->ncolumns;

	if (column >= n)
		return false;
	const stat_sampled total = {.sampled = weights[n + 1 + column],
				    .missed = weights[column] - weights[n + 1 + column],
				    .variance = weights[2 * n + 1 + column]};
	memory_sums_interval(s, &total, sums_estimates[column].unit == DCK_UNIT_BYTE, ret_lo,
			     ret_hi);
	return true;
}

/* Returns the piece whose line is charged. A library of Python allocates for the line that called
 * it, as one of C does. */
static uint32_t line_piece(const node_state *t)
{
	const uint32_t found[] = {t->user, t->python, t->asked, t->leaf};
	size_t i = 0;

	while (i < sizeof found / sizeof found[0] - 1 && found[i] == NONE)
		i++;
	return found[i];
}

static bool has_call(const char *name)
{
	return strchr(name, '(') || name[0] == '<'; /* "<module>" is not a call */
}

/* Returns the text for the table of lines: "build() at list.c:12". */
static const char *line_text(const memory_sums *s, const dck_frame *f)
{
	return f->file && f->line
		   ? mem_arena_fmt(s->arena, "%s%s at %s:%u", f->name,
				   has_call(f->name) ? "" : "()", os_path_base(f->file), f->line)
		   : f->name;
}

static uint32_t line_path(memory_sums *s, const dck_frame *f)
{
	const char *text = line_text(s, f);
	const uint32_t path = cct_child(&s->lines, 0,
					cct_frame(&s->lines, &(dck_frame){.name = text,
									  .file = f->file,
									  .module = f->module,
									  .line = f->line,
									  .start_line = f->line}));

	if (mem_reserve_zeroed(&s->asked, &s->nasked, path + (size_t)1, sizeof *s->asked) &&
	    !s->asked[path])
		s->asked[path] = text;
	return path;
}

static uint32_t memory_line_of(memory_sums *s, heap_piece *p)
{
	if (!p->line)
		p->line = line_path(s, &p->frame);
	return p->line;
}

const char *memory_sums_asked(const memory_sums *s, uint32_t line)
{
	return line < s->nasked && s->asked[line] ? s->asked[line] : "(not known)";
}

/* Returns a node's count of blocks or of bytes; of sampled blocks with what they stand for. */
static stat_sampled node_count(const adding *a, const heap_node *n, bool bytes, double counted)
{
	stat_sampled s = {0};

	if (!heap_file_is_size(a->file, n))
		return (stat_sampled){.sampled = counted};
	/* Its bytes are samples times the weight of one. */
	if (bytes && n->bytes)
		counted *= (double)n->allocations / (double)n->bytes;
	const double size = (double)a->file->frames[n->frame].place;
	stat_sampled_add(&s, counted, bytes ? size : 1,
			 -expm1(-(size + 1) / (double)a->s->interval));
	return s;
}

static void process_add(const adding *a, const heap_node *n, const stat_sampled w[SUMS_COLUMNS],
			const stat_sampled *peak, const stat_sampled *left, bool kept)
{
	const stat_sampled blocks = node_count(a, n, false, n->live_blocks);
	const stat_sampled freed =
	    node_count(a, n, false, (double)(n->allocations - n->live_blocks));
	const struct {
		const stat_sampled *of;
		sums_total to;
		bool skip;
	} all[] = {{peak, TOTAL_PEAK, false},
		   {left, TOTAL_KEPT, !kept},
		   {&w[SUMS_LEAKED], TOTAL_LEAKED, kept},
		   {&w[SUMS_HELD], TOTAL_HELD, kept},
		   {&w[SUMS_BYTES], TOTAL_BYTES, false},
		   {&w[SUMS_ALLOCATIONS], TOTAL_ALLOCATIONS, false},
		   {&w[SUMS_TEMPORARY], TOTAL_TEMPORARY, false},
		   {&blocks, TOTAL_LEAKED_BLOCKS, kept},
		   {&freed, TOTAL_FREED, false}};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (!all[i].skip)
			stat_sampled_sum(&a->process->totals[all[i].to], all[i].of);
}

static void node_add(const adding *a, uint32_t i)
{
	const heap_node *n = &a->file->nodes[i];
	const node_state *t = &a->states[i];
	const heap_kind kind = is_mapping(n) ? HEAP_MAPPINGS : HEAP_BLOCKS;
	const bool kept = is_kept(t);
	const stat_sampled left = node_count(a, n, true, (double)n->live), none = {0};
	const stat_sampled peak =
	    node_count(a, n, true, (double)heap_file_at_peak(a->file, n, kind));
	const stat_sampled weight[SUMS_COLUMNS] = {
	    [SUMS_PEAK] = a->peak ? peak : none,
	    [SUMS_LEAKED] = kept ? none : left,
	    [SUMS_ALLOCATIONS] = node_count(a, n, false, (double)n->allocations),
	    [SUMS_TEMPORARY] = node_count(a, n, false, (double)n->temporary),
	    [SUMS_BYTES] = node_count(a, n, true, (double)n->bytes),
	    [SUMS_HELD] = kept ? none : node_count(a, n, true, (double)heap_file_held(a->file, i))};
	const uint32_t asked = t->asked == NONE ? t->leaf : t->asked;
	static const dck_frame unknown = {.name = "(no call path)"};
	const dck_frame *f = asked == NONE ? &unknown : &a->frames->pieces[asked].frame;

	if (kind == HEAP_MAPPINGS) {
		memory_weights_add(a->s, &a->s->mappings,
				   cct_child(&a->s->mappings, 0, cct_frame(&a->s->mappings, f)),
				   weight);
		return;
	}
	memory_weights_add(a->s, &a->s->paths, t->path, weight);
	memory_weights_add(a->s, &a->s->functions,
			   t->function
			       ? t->function
			       : cct_child(&a->s->functions, 0, cct_frame(&a->s->functions, f)),
			   weight);
	const uint32_t line = line_piece(t);
	memory_weights_add(a->s, &a->s->lines,
			   line == NONE ? line_path(a->s, &unknown)
					: memory_line_of(a->s, &a->frames->pieces[line]),
			   weight);
	process_add(a, n, weight, &peak, &left, kept);
}

/* Marks the nodes that lead to an allocation. A node with Python frames marks no parent, because
 * its stack is a different path. */
static void nodes_want(const adding *a)
{
	for (uint32_t i = a->file->nnodes; i-- > 1;) {
		const heap_node *n = &a->file->nodes[i];

		a->states[i].wanted |= n->allocations > 0;
		if (a->states[i].wanted && n->parent < i && !heap_stack_has_python(a->file, i))
			a->states[n->parent].wanted = true;
	}
}

static dck_status file_add(memory_sums *s, const heap_file *f, sums_process *p, bool several,
			   bool peak, dck_err *err)
{
	heap_frames frames;
	adding *a = mem_zalloc(1, sizeof *a);
	node_state *states = mem_zalloc(f->nnodes + (size_t)1, sizeof *states);
	dck_status st = a && states ? heap_frames_read(s->names, f, &s->paths, &frames, err)
				    : ERR_NO_MEMORY(err, "for the call paths of a heap");

	if (st != DCK_OK)
		goto done;
	a->s = s;
	a->file = f;
	a->frames = &frames;
	a->process = p;
	a->states = states;
	a->peak = peak;
	if (several)
		a->root =
		    cct_child(&s->paths, 0,
			      cct_frame(&s->paths, &(dck_frame){.name = os_path_base(p->program)}));
	nodes_want(a);
	for (uint32_t i = 1; i < f->nnodes; i++) {
		if (!states[i].wanted)
			continue;
		states[i] = node_state_find(a, i);
		if (f->nodes[i].allocations)
			node_add(a, i);
	}
	heap_frames_done(&frames);
done:
	mem_free(states);
	mem_free(a);
	return st;
}

/* --- the processes */

static void memory_process_of(memory_sums *s, const heap_file *f, sums_process *ret)
{
	const heap_header *h = f->header;
	char path[PATH_MAX] = "(unknown)";

	if (f->nmodules)
		heap_file_name(f, &f->modules[0], path, sizeof path);
	*ret = (sums_process){
	    .program = mem_arena_dup(s->arena, path),
	    .pid = (long)h->pid,
	    .peak = atomic_load(&h->total[HEAP_BLOCKS].peak),
	    .mapped_peak = atomic_load(&h->total[HEAP_MAPPINGS].peak),
	    .began_ns = h->began_ns,
	    .peak_ns = atomic_load(&h->total[HEAP_BLOCKS].peak_ns),
	    .timed_ns = atomic_load(&h->timed_ns),
	    .timed = atomic_load(&h->timed),
	    .lost = atomic_load(&h->lost),
	    /* With Python a quarter of the nodes is reserved for its paths. */
	    .full = f->nnodes >= h->nodes_max - h->nodes_max / 4,
	    .unnamed = atomic_load(&h->unnamed),
	    .ends_in = f->nheld > 0,
	    .unseen = atomic_load(&h->unseen),
	    .cut = atomic_load(&h->cut),
	    .broken = atomic_load(&h->broken),
	    .own_bytes = atomic_load(&h->own_bytes),
	    .own_resident = atomic_load(&h->own_resident),
	    .file_bytes = atomic_load(&h->file_bytes),
	    .threads = atomic_load(&h->threads),
	    .children_failed = atomic_load(&h->children_failed),
	    .error = atomic_load(&h->error),
	    .limit = atomic_load(&h->limit),
	    .region_bytes = h->bytes,
	};
}

typedef struct found_files {
	memory_sums *s;
	const char **paths;
	size_t n;
} found_files;

static void memory_found(void *self, const char *path)
{
	found_files *files = self;
	memory_sums *s = files->s;
	heap_file f;

	const bool failed = heap_file_failed(path, &s->error);
	s->no_space += failed;
	if (heap_file_open(path, &f, NULL) != DCK_OK) {
		s->left_out++;
		return;
	}
	if (files->n == SUMS_PROCESSES_MAX) {
		s->too_many++;
		heap_file_close(&f);
		return;
	}
	s->interval = f.header->interval;
	memory_process_of(s, &f, &s->processes[files->n]);
	files->paths[files->n++] = mem_arena_dup(s->arena, path);
	s->nprocesses = files->n;
	heap_file_close(&f);
}

/* The columns after the samples are only for intervals, and are in no record. NULL: no memory. */
static const dck_column *estimated_columns(const memory_sums *s)
{
	const size_t n = s->ncolumns;
	dck_column *columns = mem_arena_array(s->arena, 3 * n + 1, sizeof *columns);

	if (!columns)
		return NULL;
	for (size_t c = 0; c < n; c++)
		columns[c] = columns[n + 1 + c] = columns[2 * n + 1 + c] = sums_estimates[c];
	columns[n] = (dck_column){"samples", "samples", DCK_UNIT_ONE};
	return columns;
}

static dck_status sums_init(memory_sums *s, dck_err *err)
{
	cct *const all[] = {&s->paths, &s->functions, &s->lines};
	const dck_column *columns = sums_columns;
	size_t n;

	s->ncolumns = SUMS_HELD;
	for (size_t i = 0; i < s->nprocesses; i++)
		if (s->processes[i].ends_in)
			s->ncolumns = SUMS_COLUMNS;
	n = s->ncolumns;
	if (s->interval) {
		columns = estimated_columns(s);
		DCK_NEED(columns, err, "for the columns of call paths");
		n = 3 * n + 1;
	}
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		DCK_TRY(cct_init(all[i], columns, n, err));
	return cct_init(&s->mappings, sums_columns, s->ncolumns, err);
}

static dck_status memory_read_all(memory_sums *s, const char *directory, dck_err *err)
{
	found_files files = {.s = s};

	files.paths = mem_arena_array(s->arena, SUMS_PROCESSES_MAX, sizeof *files.paths);
	DCK_NEED(!mem_arena_failed(s->arena), err, "for the heaps of a program");
	os_glob_each(directory, "*" HEAP_FILE_END, memory_found, &files);
	DCK_NEED(!mem_arena_failed(s->arena), err, "for the heaps of a program");
	DCK_TRY(sums_init(s, err));
	for (size_t i = 0; i < s->nprocesses; i++)
		if (s->processes[i].peak > s->processes[s->largest].peak)
			s->largest = i;
	for (size_t i = 0; i < s->nprocesses; i++) {
		heap_file f;

		if (heap_file_open(files.paths[i], &f, NULL) != DCK_OK)
			continue;
		const dck_status st =
		    file_add(s, &f, &s->processes[i], s->nprocesses > 1, i == s->largest, err);
		heap_file_close(&f);
		if (st != DCK_OK)
			return st;
	}
	if (s->interval)
		cct_narrow(&s->paths, s->ncolumns + 1);
	return DCK_OK;
}

dck_status memory_sums_read(const char *directory, memory_sums *ret, dck_err *err)
{
	memory_sums s = {.arena = mem_arena_new(0),
			 .names = heap_names_new(),
			 .processes = mem_zalloc(SUMS_PROCESSES_MAX, sizeof *s.processes)};
	dck_status st = s.arena && s.names && s.processes
			    ? DCK_OK
			    : ERR_NO_MEMORY(err, "for the heaps of a program");

	DCK_NEXT(st, memory_read_all(&s, directory, err));
	if (st == DCK_OK)
		*ret = s;
	else
		memory_sums_done(&s);
	return st;
}

void memory_sums_done(memory_sums *s)
{
	cct_done(&s->paths);
	cct_done(&s->functions);
	cct_done(&s->lines);
	cct_done(&s->mappings);
	heap_names_free(s->names);
	mem_free(s->processes);
	mem_free(s->asked);
	mem_arena_free(s->arena);
	*s = (memory_sums){0};
}
