/* count_read.c - reader of the files that a counted program leaves (count_file.h): sums the
 * calling-context trees of all threads, and symbolizes the functions.
 *
 * Per process: the header, the map of modules, then one lane per thread. A function number is an
 * address with a generation. Each generation has an address space (unwind/address_space.h) of
 * the modules that are new in it, because dlclose() and dlopen() can map another function at the
 * same address; an address is looked up from its generation downwards, to the last one where it
 * was looked up. Each number is looked up once per process and cached in a hash map; all processes
 * share open files and symbols.
 *
 * The program writes these files, so they are not trusted: sizes, magic numbers, addresses and
 * parents are checked, numbers of processes, threads and generations and the bytes of the map are
 * bounded, and a malformed file or line is skipped. Lanes are mapped, not read, since most of a
 * file is a hole. An empty header means that the process had no space for its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/count_read.h"
#include "base/units.h"

#include "base/err.h"
#include "base/mem.h"
#include "profiler/count/count_file.h"
#include "os/file/text.h"
#include "os/os.h"
#include "profiler/unwind/address_space.h"
#include "profiler/symbols/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	MODULES_BYTES = 64 << 20,
	PROCESSES_MAX = 65536,
	GENERATIONS_MAX = 1 << (64 - COUNT_ADDRESS_BITS)
};

/* All processes share files and symbols. */
typedef struct reading {
	address_space_files *files;
	symbols *names;
	count_functions *sums;
	double ns_per_tick;
	const count_killed *killed;
	const count_sampler *sampler; /* NULL: times by the program's clock */
	count_results *ret;
	dck_err *err;
	dck_status status;
} reading;

/* One process: its address spaces by generation. */
typedef struct process {
	reading *r;
	count_process about;
	address_space **spaces; /* @owned */
	size_t nspaces;
	hash_map frames; /* by function */
	hash_map looked; /* by address: 1 + the generation of the last lookup */
} process;

static dck_status count_module_read(process *p, const char *line, dck_err *err)
{
	unsigned long long generation, begin, end, offset;
	int at = 0;

	if (sscanf(line, "%llx %llx %llx %llx %n", &generation, &begin, &end, &offset, &at) < 4 ||
	    at == 0 || generation >= GENERATIONS_MAX || begin >= end)
		return DCK_OK;
	DCK_NEED(mem_reserve_zeroed(&p->spaces, &p->nspaces, (size_t)generation + 1,
				    sizeof(address_space *)),
		 err, "for the modules of a process");
	address_space **own = &p->spaces[generation];
	if (!*own)
		*own = address_space_new(p->r->files, (pid_t)p->about.pid);
	DCK_NEED(*own, err, "for the modules of a process");
	return address_space_mapped(*own,
				    &(address_space_mapping){.begin = begin,
							     .end = end,
							     .offset = offset,
							     .executable = true,
							     .path = line + at},
				    err);
}

static dck_status modules_read(process *p, const char *path, dck_err *err)
{
	dck_buffer text = {0};

	if (os_read_file(path, MODULES_BYTES, &text, NULL) != DCK_OK)
		return DCK_OK; /* then frames are addresses */
	dck_status st = DCK_OK;
	char *at = (char *)text.data, *const end = at + text.n;
	for (char *next; st == DCK_OK && at < end && (next = memchr(at, '\n', (size_t)(end - at)));
	     at = next + 1) {
		*next = '\0';
		st = count_module_read(p, at, err);
	}
	dck_buffer_done(&text);
	return st;
}

static uint64_t function_id(uint64_t address, uint64_t generation)
{
	return address | generation << COUNT_ADDRESS_BITS;
}

/* Returns the module of a function, or sets *ret_number to that of a known frame. */
static const mapped_module *count_module_find(process *p, uint64_t function, uint32_t *ret_number)
{
	const uint64_t address = function & COUNT_ADDRESS;
	const uint32_t looked = hash_map_find(&p->looked, address);

	for (uint64_t g = function >> COUNT_ADDRESS_BITS;; g--) {
		address_space *s = g < p->nspaces ? p->spaces[g] : NULL;
		const mapped_module *m = s ? address_space_find(s, address) : NULL;

		if (looked == g + 1)
			*ret_number = hash_map_find(&p->frames, function_id(address, g));
		if (m || g == 0 || looked == g + 1)
			return m;
	}
}

static uint32_t count_frame_of(void *self, count_functions *f, uint64_t function)
{
	process *p = self;
	const uint64_t address = function & COUNT_ADDRESS;
	const uint32_t generation = (uint32_t)(function >> COUNT_ADDRESS_BITS);
	symbols_frame found[SYMBOLS_FRAMES_MAX];
	uint32_t number = hash_map_find(&p->frames, function);
	dck_frame frame = {0};
	char plain[64];

	if (number)
		return number;
	const mapped_module *m = count_module_find(p, function, &number);
	if (!hash_map_put(&p->looked, address, generation + 1))
		return 0;
	if (number)
		return hash_map_put(&p->frames, function, number) ? number : 0;
	if (m && m->path)
		frame.module = os_path_base(m->path);
	/* Functions that are inlined at its first instruction come before it. */
	const size_t n = m && m->file ? symbolizer_lookup(p->r->names, m->file, address - m->bias,
							  found, SYMBOLS_FRAMES_MAX)
				      : 0;
	if (n > 0) {
		frame.name = found[n - 1].function;
		frame.file = found[n - 1].file;
		frame.line = frame.start_line = found[n - 1].line;
	}
	if (!frame.name) {
		snprintf(plain, sizeof plain, "0x%" PRIx64, m ? address - m->bias : address);
		frame.name = plain;
	}
	number = cct_frame(&f->paths, &frame);
	return number && hash_map_put(&p->frames, function, number) ? number : 0;
}

static dck_status count_lane_read(process *p, const char *path, double ns_per_tick, dck_err *err)
{
	const call_overhead price = {(double)p->about.cost_inside / 256 * ns_per_tick,
				     (double)p->about.cost_outside / 256 * ns_per_tick};
	const count_sampler *sampler = p->r->sampler;
	const int fd = os_open_read(path);
	struct stat st;

	if (fd < 0)
		return DCK_OK;
	/* A private mapping: sampled times do not reach the file. */
	thread_cct *l = fstat(fd, &st) == 0 && st.st_size == CALL_LANE_BYTES
			    ? mmap(NULL, CALL_LANE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_NORESERVE, fd, 0)
			    : MAP_FAILED;
	os_close(fd);
	if (l == MAP_FAILED)
		return DCK_OK;
	if (sampler)
		count_sampler_times(sampler, path, l);
	const dck_status status =
	    count_functions_add(p->r->sums, l, sampler ? 1 : ns_per_tick, &price,
				sampler ? 0 : p->about.end, count_frame_of, p, err);
	munmap(l, CALL_LANE_BYTES);
	return status;
}

static dck_status count_process_read(reading *r, const char *path, dck_err *err)
{
	process p = {.r = r};
	const size_t stem = strlen(path) - strlen("process");
	char file[OS_TEMP_SIZE + 128];
	const int fd = os_open_read(path);

	if (fd < 0)
		return DCK_OK;
	const ptrdiff_t n = os_read_at(fd, &p.about, sizeof p.about, 0);
	const bool whole = n == (ptrdiff_t)sizeof p.about && p.about.magic == COUNT_PROCESS_MAGIC;
	os_close(fd);
	r->ret->no_space += n == 0;
	if (!whole)
		return DCK_OK;
	if (!p.about.end && p.about.pid == r->killed->pid)
		p.about.end = p.about.ticks ? r->killed->ticks : r->killed->ns;
	const double ns = p.about.ticks ? r->ns_per_tick : 1;
	count_results *ret = r->ret;
	const uint64_t calls = r->sums->calls;
	const double self = r->sums->self_ns;
	r->sums->threads += p.about.threads;
	ret->lanes_failed += p.about.lanes_failed;
	ret->children_failed += p.about.children_failed;
	ret->error = p.about.error ? p.about.error : ret->error;
	if (p.about.limit && (!ret->limit || p.about.limit < ret->limit)) {
		ret->limit = p.about.limit;
		ret->held = p.about.held;
	}
	snprintf(file, sizeof file, "%.*smodules", (int)stem, path);
	dck_status st = modules_read(&p, file, err);
	for (uint32_t i = 0; st == DCK_OK && i < p.about.lanes && i < CALL_LANES_MAX; i++) {
		snprintf(file, sizeof file, "%.*s%u.lane", (int)stem, path, i);
		st = count_lane_read(&p, file, ns, err);
	}
	count_row *row = id_table_row(&ret->rows, ret->processes);
	if (row) {
		ret->processes++;
		memcpy(row->name, p.about.name, sizeof row->name - 1);
		row->pid = p.about.pid;
		row->threads = p.about.threads;
		row->calls = r->sums->calls - calls;
		row->ns = r->sums->self_ns - self;
	}
	for (size_t i = 0; i < p.nspaces; i++)
		address_space_free(p.spaces[i]);
	mem_free(p.spaces);
	hash_map_done(&p.frames);
	hash_map_done(&p.looked);
	return st;
}

static void one_read(void *self, const char *path)
{
	reading *r = self;

	r->ret->too_many += r->ret->processes == PROCESSES_MAX;
	if (r->status == DCK_OK && r->ret->processes < PROCESSES_MAX)
		r->status = count_process_read(r, path, r->err);
}

dck_status count_read(const char *directory, double ns_per_tick, const count_killed *killed,
		      const count_sampler *sampler, count_functions *f, count_results *ret,
		      dck_err *err)
{
	reading r = {.files = address_space_files_new(),
		     .names = symbols_new(NULL),
		     .sums = f,
		     .ns_per_tick = ns_per_tick,
		     .killed = killed,
		     .sampler = sampler,
		     .ret = ret,
		     .err = err};

	*ret =
	    (count_results){.rows = {.row_bytes = sizeof(count_row)}, .sampled = sampler != NULL};
	if (!r.files || !r.names)
		r.status = ERR_NO_MEMORY(err, "for the calls of a program");
	if (r.status == DCK_OK)
		os_glob_each(directory, "*.process", one_read, &r);
	const char *missing = r.names && ret->processes ? symbolizer_missing_reason(r.names) : NULL;
	if (missing)
		text_copy(ret->missing_reason, sizeof ret->missing_reason, missing);
	symbols_free(r.names);
	address_space_files_free(r.files);
	return r.status;
}

void count_results_done(count_results *l)
{
	id_table_done(&l->rows);
}

void count_results_put(const count_results *l, record_builder *b)
{
	static const dck_column columns[] = {{"name", "process", DCK_UNIT_NONE},
					     {"pid", "number", DCK_UNIT_ONE},
					     {"threads", "threads", DCK_UNIT_ONE},
					     {"calls", "calls", DCK_UNIT_ONE},
					     {"time", "time", DCK_UNIT_NS}};

	if (l->processes == 0)
		return;
	if (l->too_many) {
		record_note(b, "count-lost", "%u %s in no sum, because at most %d are read",
			    l->too_many, COUNTED(l->too_many, "process is", "processes are"),
			    PROCESSES_MAX);
		record_remedy(b, "count a part of the program with fewer processes");
	}
	RECORD_TABLE(b, "processes", "Processes", columns);
	for (uint32_t i = 0; i < l->processes; i++) {
		const count_row *row = id_table_find(&l->rows, i);

		record_cell_text(b, row->name);
		record_cell_int(b, row->pid);
		record_cell_int(b, row->threads);
		record_cell_int(b, (int64_t)row->calls);
		if (l->sampled && row->ns <= 0)
			record_cell_absent(b, COUNT_NO_SAMPLE);
		else
			record_cell_real(b, row->ns);
	}
}
