/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_trace.h"

#include "deepclock/unstable.h"

#include "base/err.h"
#include "os/os.h"
#include "profiler/read/trace_merge.h"
#include "profiler/write/formats.h"
#include "record/record_begin.h"

#include <string.h>

/* What trace_merge() takes, of the ranks that have a file. */
typedef struct rank_files {
	mem_arena *arena;
	const char **paths, **labels;
	const trace_clock_line **lines;
	size_t n;
} rank_files;

dck_status rank_trace_check(const char *path, dck_err *err)
{
	dck_replace *replace;
	int fd;

	DCK_TRY(trace_suffix_check(path, err));
	DCK_TRY(dck_replace_open(path, &replace, &fd, err));
	dck_replace_abort(replace);
	return DCK_OK;
}

/* The line of a rank's clock; NULL: the snapshots in its trace are better. */
static const trace_clock_line *rank_line(mem_arena *a, const rank_part *p, const rank_part *first)
{
	const rank_clock c = p->clock;
	trace_clock_line *l;

	if (rank_part_same_clock(p, first) || c.rounds == 0)
		return NULL;
	l = mem_arena_alloc(a, sizeof *l);
	if (l)
		*l = (trace_clock_line){c.base_ns, c.offset_ns, c.drift, c.within_ns};
	return l;
}

static dck_status files_collect(rank_files *f, const rank_part *parts, const char *const *files,
				uint32_t size, dck_err *err)
{
	bool several = false; /* nodes */

	f->paths = mem_arena_array(f->arena, size, sizeof *f->paths);
	f->labels = mem_arena_array(f->arena, size, sizeof *f->labels);
	f->lines = mem_arena_array(f->arena, size, sizeof *f->lines);
	DCK_NEED(!mem_arena_failed(f->arena), err, "for the traces of %u ranks", size);
	for (uint32_t rank = 1; rank < size; rank++)
		several = several || (parts[rank].arena && parts[0].host &&
				      strcmp(parts[rank].host, parts[0].host) != 0);
	for (uint32_t rank = 0; rank < size; rank++) {
		const rank_part *p = &parts[rank];

		if (!files[rank] || !p->arena)
			continue;
		f->paths[f->n] = files[rank];
		f->labels[f->n] = several ? p->host : NULL;
		f->lines[f->n] = rank > 0 && files[0] ? rank_line(f->arena, p, &parts[0]) : NULL;
		f->n++;
	}
	if (f->n == 0)
		DCK_FAIL(err, E_ABSENT, "no rank recorded a trace");
	DCK_NEED(!mem_arena_failed(f->arena), err, "for the traces of %u ranks", size);
	return DCK_OK;
}

static dck_status files_merge(const rank_files *f, const char *path, record_builder *b,
			      dck_err *err)
{
	const trace_suffix as = trace_suffix_of(path);
	dck_replace *replace;
	dck_sink out;
	int fd;

	DCK_TRY(dck_replace_open(path, &replace, &fd, err));
	dck_sink_fd(&out, fd);
	const trace_merge_plan plan = {
	    .paths = f->paths,
	    .n = f->n,
	    .format = as.format ? as.format : trace_format_find("perfetto"),
	    .out = &out,
	    .labels = f->labels,
	    .lines = f->lines,
	};
	dck_status status = trace_merge_packed(&plan, as.gzip, b, err);
	DCK_NEXT(status, dck_sink_finish(&out, err));
	if (status == DCK_OK)
		return dck_replace_commit(replace, err);
	dck_replace_abort(replace);
	return status;
}

dck_status rank_trace_write(const char *path, const rank_part *parts, const char *const *files,
			    uint32_t size, dck_record **ret, dck_err *err)
{
	rank_files f = {.arena = mem_arena_new(0)};
	record_builder *b = record_begin(NULL);
	dck_status status;

	if (!f.arena || !b)
		status = ERR_NO_MEMORY(err, "for the traces of %u ranks", size);
	else
		status = files_collect(&f, parts, files, size, err);
	DCK_NEXT(status, files_merge(&f, path, b, err));
	mem_arena_free(f.arena);
	return record_finish_if(status, b, ret, err);
}
