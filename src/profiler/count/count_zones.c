/* count_zones.c - zones (ranges by deepclock's macros, NVTX or ITT) of a counted program: each
 * process records itself with the recorder of `deepclock trace`, and their call trees are merged
 * into that of the functions.
 *
 * A process writes a trace of at most 256 MiB while it runs, and its record at its end: zones.json
 * of the first process, zones.PID.json of the others. If the record is missing or empty, as after a
 * signal, the trace is read instead, which lacks about the last tenth of a second.
 *
 * tree_add() inserts the tree of zones, parents before children, under frames with the file
 * COUNT_ZONE. Zones without a path (ranges that any thread may end, paths beyond the limit) are in
 * the table only: zones_rest_add() adds the difference of table and tree as outermost frames. Half
 * of the cost of a range counts for the zone, half for its caller. Time is linear in the nodes,
 * plus rows times frames.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/count_zones.h"
#include "base/units.h"

#include "base/err.h"
#include "deepclock/trace.h"
#include "profiler/trace/result/zone_record.h"
#include "profiler/trace/trace_program.h"

#include <stdio.h>
#include <string.h>

/* The limit of a trace, which is read only if its process was killed. */
static const uint64_t trace_bytes = UINT64_C(256) << 20;
static const char result_name[] = "zones.result", trace_name[] = "zones.pftrace";

dck_status count_zones_begin(count_zones *z, mem_arena *a, const char **set, size_t max, size_t *n,
			     dck_err *err)
{
	dck_trace_config config;

	*z = (count_zones){0};
	DCK_TRY(dck_opt_defaults(dck_trace_options, &config, err));
	DCK_TRY(os_temp_dir(z->directory, err));
	config.path = mem_arena_fmt(a, "%s/%s", z->directory, trace_name);
	config.max_size = trace_bytes;
	config.no_waits = true;
	config.children = DCK_TRACE_APART;
	const char *result = mem_arena_fmt(a, "%s/%s", z->directory, result_name);
	return mem_arena_failed(a)
		   ? ERR_NO_MEMORY(err, "for the environment of a program")
		   : trace_program_environment(a, &config, result, set, max, n, err);
}

void count_zones_done(count_zones *z)
{
	if (z->directory[0])
		os_temp_dir_remove(z->directory);
	z->directory[0] = '\0';
}

static uint32_t zones_frame_of(count_functions *f, const char *name)
{
	return cct_frame(&f->paths, &(dck_frame){.name = name, .file = COUNT_ZONE});
}

/* Adds the tree of zones. calls: of each frame of the tree, the calls that are on a path. */
static dck_status tree_add(count_functions *f, const dck_tree *t, double price_ns, double *calls,
			   dck_err *err)
{
	const call_overhead price = {price_ns / 2, price_ns / 2};
	const dck_column *columns = t->columns;
	size_t count = t->ncolumns, self = t->ncolumns;
	uint32_t *paths = mem_zalloc(t->nnodes + 1, sizeof *paths);

	DCK_NEED(paths, err, "for the zones of a program");
	for (size_t k = 0; k < t->ncolumns; k++) {
		count = strcmp(columns[k].key, "calls") == 0 ? k : count;
		self = strcmp(columns[k].key, "self") == 0 ? k : self;
	}
	for (size_t i = 0; i < t->nnodes && count < t->ncolumns && self < t->ncolumns; i++) {
		const double *w = t->weights + i * t->ncolumns;
		const uint32_t parent = t->nodes[i].parent;

		calls[t->nodes[i].frame] += w[count];
		paths[i] = cct_child(&f->paths, parent == DCK_TREE_ROOT ? 0 : paths[parent],
				     zones_frame_of(f, t->frames[t->nodes[i].frame].name));
		count_functions_path(f, paths[i], w[count], w[self], w[count] * price.inside_ns);
		if (parent != DCK_TREE_ROOT)
			count_functions_path(f, paths[parent], 0, 0, w[count] * price.outside_ns);
	}
	mem_free(paths);
	return DCK_OK;
}

/* Adds the zones without a path, as outermost ones. */
static void zones_rest_add(count_functions *f, const dck_table *zones, const dck_tree *t,
			   const double *calls, count_zones *z)
{
	for (size_t row = 0; row < zones->nrows; row++) {
		const dck_cell *name = dck_table_cell(zones, row, "name");
		const dck_cell *own = dck_table_cell(zones, row, "self");
		const double all = dck_value_number(&dck_table_cell(zones, row, "calls")->value);
		double on_paths = 0;

		for (size_t i = 0; t && i < t->nframes; i++)
			if (strcmp(t->frames[i].name, name->value.as.text) == 0)
				on_paths += calls[i];
		z->calls += (uint64_t)all;
		if (all <= on_paths)
			continue;
		const bool apart = own->value.kind == DCK_VALUE_ABSENT;
		const double took = dck_value_number(&dck_table_cell(zones, row, "total")->value);
		count_functions_path(
		    f, cct_child(&f->paths, 0, zones_frame_of(f, name->value.as.text)),
		    all - on_paths, apart ? took : 0, 0);
	}
}

static double zones_number_of(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);
	const double v = f ? dck_value_number(&f->value) : 0;

	return v > 0 ? v : 0;
}

static dck_status record_add(count_zones *z, count_functions *f, const dck_record *r, dck_err *err)
{
	const dck_table *zones = dck_record_table(r, "zones");
	const dck_tree *t = dck_record_tree(r, "zones");
	const double price = zones_number_of(r, "method", "range_cost");
	dck_status st = DCK_OK;

	if (!zones || zones->nrows == 0)
		return DCK_OK;
	double *calls = mem_zalloc((t ? t->nframes : 0) + 1, sizeof *calls);
	DCK_NEED(calls, err, "for the zones of a program");
	if (t)
		st = tree_add(f, t, price, calls, err);
	if (st == DCK_OK)
		zones_rest_add(f, zones, t, calls, z);
	mem_free(calls);
	z->dropped += (uint64_t)zones_number_of(r, "trace", "dropped_events");
	z->processes++;
	z->price_ns = price > z->price_ns ? price : z->price_ns;
	return st;
}

typedef struct adding {
	count_zones *z;
	count_functions *f;
	dck_status status;
	dck_err *err;
} adding;

/* Makes the record of a process. If the process was killed or replaced by exec(), it left no
 * result, and its trace is read. */
static dck_record *record_read(count_zones *z, const char *path)
{
	const size_t stem = sizeof result_name - sizeof ".result";
	const char *name = strrchr(path, '/') + 1; /* zones.result, zones.PID.result */
	const int mark = (int)(strlen(name) - stem - (sizeof ".result" - 1));
	char trace[OS_TEMP_SIZE + 128];
	dck_record *r = NULL;

	if (zone_record_load(path, &r, NULL) == DCK_OK)
		return r;
	snprintf(trace, sizeof trace, "%s/%.*s%.*s.pftrace", z->directory, (int)stem, name, mark,
		 name + stem);
	z->cut++;
	return dck_trace_read(trace, &r, NULL) == DCK_OK ? r : NULL;
}

static void one_add(void *self, const char *path)
{
	adding *a = self;
	dck_record *r = a->status == DCK_OK ? record_read(a->z, path) : NULL;

	if (r)
		a->status = record_add(a->z, a->f, r, a->err);
	dck_record_free(r);
}

dck_status count_zones_add(count_zones *z, count_functions *f, dck_err *err)
{
	adding a = {.z = z, .f = f, .err = err};

	if (!z->directory[0])
		return DCK_OK;
	os_glob_each(z->directory, "zones*.result", one_add, &a);
	f->zones += z->calls;
	return a.status;
}

void count_zones_put(const count_zones *z, record_builder *b)
{
	if (z->cut)
		record_note(
		    b, "count-zones-cut",
		    "%u process%s did not end by %s own exit: zones are counted until about a "
		    "tenth of a second before",
		    z->cut, z->cut == 1 ? "" : "es", z->cut == 1 ? "its" : "their");
	if (z->calls == 0)
		return;
	record_fact_int(b, "count", "zones", DCK_UNIT_ONE, (int64_t)z->calls);
	record_fact_int(b, "count", "zone_processes", DCK_UNIT_ONE, z->processes);
	if (z->price_ns > 0)
		record_fact_real(b, "cost", "per_zone", DCK_UNIT_NS, z->price_ns);
	record_fact_text(
	    b, "method", "zones",
	    "ranges by deepclock's macros, NVTX or ITT: a breakdown of the same time as "
	    "that by function");
	if (z->dropped)
		record_note(b, "trace-dropped",
			    "%llu %s of zones %s dropped because the buffer was full, and %s not "
			    "counted",
			    (unsigned long long)z->dropped, COUNTED(z->dropped, "event", "events"),
			    COUNTED(z->dropped, "was", "were"), COUNTED(z->dropped, "is", "are"));
}
