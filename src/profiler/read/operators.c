/* operators.c - attributes device time and memory to operators and modules while a timeline is
 * read.
 *
 * A range is held until the next event on its track, because the numbers that identify its forward
 * operator follow its begin.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/operators.h"
#include "profiler/read/chrome/chrome_read.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "deepclock/opt.h"
#include "profiler/timeline/pending_ranges.h"
#include "profiler/timeline/perfetto.h"
#include "profiler/timeline/zone_aggregate.h"
#include "profiler/write/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATORS_MAX = 1 << 22 }; /* operators with stored numbers */

typedef enum sort {
	OTHER,
	OPERATOR,
	RUNTIME, /* a call into CUDA: inside an operator, and not its own time */
	MODULE,
	PYTHON,
	DEVICE,
	MEMORY,
	/* Numbers. */
	EXTERNAL,
	SEQUENCE,
	FORWARD,
	BYTES,
	DEVICE_TYPE,
	SORTS
} sort;

/* Memory of the CPU or of a device. */
enum { OF_CPU, OF_DEVICE, MEMORIES };

/* Allocated minus freed bytes. Real, because a sum of a file's values may exceed 64 bits. */
typedef struct footprint {
	double of[MEMORIES];
} footprint;

typedef struct operator_name {
	sort is;
	uint64_t device_ns;   /* operator: device time of the work it launched */
	uint64_t backward_ns; /* module: backward time of its direct operators */
	footprint memory;     /* operator: with its callees, once for recursive calls */
	footprint self_memory;
} operator_name;

/* An open range or an allocation, and its numbers. */
typedef struct open_event {
	uint64_t ns, external, sequence;
	double bytes;
	uint32_t device_type;
	uint32_t name; /* 0: none */
	bool held, has_external, has_sequence, backward;
} open_event;

typedef struct operator_track {
	open_event begun;
	uint64_t last_ns;
	zone_stack all;	      /* kinds of the open ranges, to identify an end */
	zone_stack timed;     /* operators alone */
	zone_stack places;    /* modules and operators */
	zone_stack devices;   /* work on a device; `flow`: its operator's id, 0: none */
	uint32_t backward_of; /* a module's name; 0: none */
	uint64_t backward_begin_ns;
	footprint memory;	 /* sum over its operators */
	footprint *begun_memory; /* @owned: the same at the begin of each open operator, by depth */
	size_t nbegun_memory;
} operator_track;

/* Device work of an operator. */
typedef struct started {
	uint64_t external, ns;
} started;

struct operators {
	zone_collect *zones;
	trace_out *out; /* output of `zones` */
	string_table texts;
	id_table names, tracks, started; /* tracks: of track pointers, NULL: no operator yet */
	uint32_t nstarted;
	zone_aggregate timed, places, none;
	/* By operator id: names, module paths, rows of `started`. */
	hash_map by_external, by_sequence, by_started;
	uint64_t kinds[SORTS]; /* number of events, by kind */
	uint64_t device_ns, unowned_ns;
	footprint unowned_memory;
	bool device_memory; /* the file has device memory events */
	bool failed;
};

/* The numbers of an event, in the order of `sort`. */
#define SORTED_NUMBERS "External id", "Sequence number", "Fwd thread id", "Bytes", "Device Type"
#define NUMBERS	       SORTED_NUMBERS, PF_UNENDED, PF_CONTINUED

const char *const operators_numbers[] = {NUMBERS, NULL};
const char *const operators_numbers_shaped[] = {NUMBERS, CHROME_SHAPES, NULL};
static const char module_prefix[] = "nn.Module: ";

static sort sort_of(const operators *o, uint32_t id)
{
	const operator_name *n = id_table_find(&o->names, id);

	return n ? n->is : OTHER;
}

/* --- which module */

/* Returns the path of the innermost open module; 0: none. */
static uint32_t module_open(const operators *o, const operator_track *t)
{
	for (size_t i = t->places.depth; i > 0; i--)
		if (sort_of(o, t->places.frames[i - 1].name) == MODULE)
			return t->places.frames[i - 1].path;
	return 0;
}

static uint32_t module_name(const operators *o, uint32_t path)
{
	return path ? o->places.paths.rows[path].name : 0;
}

static void note_external(operators *o, const open_event *h)
{
	if (h->has_external && o->by_external.n < OPERATORS_MAX)
		o->failed |= !hash_map_put(&o->by_external, h->external, h->name);
}

/* A backward operator belongs to the last forward operator with its sequence number. */
static void note_sequence(operators *o, const operator_track *t, const open_event *h)
{
	const uint32_t path = module_open(o, t);

	if (h->has_sequence && !h->backward && path && path != PATH_NONE &&
	    (o->by_sequence.n < OPERATORS_MAX || hash_map_find(&o->by_sequence, h->sequence)))
		o->failed |= !hash_map_put(&o->by_sequence, h->sequence, path);
}

/* --- memory */

static void footprint_add(footprint *f, const footprint *more)
{
	for (int i = 0; i < MEMORIES; i++)
		f->of[i] += more->of[i];
}

/* Adds an allocation or a free to the innermost open operator. */
static void allocation(operators *o, operator_track *t, const open_event *h)
{
	/* c10::DeviceType: the others are CPU libraries, not devices. */
	enum { CPU = 0, MKLDNN = 2, IDEEP = 5 };
	const bool device =
	    h->device_type != CPU && h->device_type != MKLDNN && h->device_type != IDEEP;
	const zone_frame *top = zone_stack_top(&t->timed);
	operator_name *n = top ? id_table_find(&o->names, top->name) : NULL;
	footprint more = {{0}};

	o->kinds[MEMORY]++;
	o->device_memory |= device;
	more.of[device ? OF_DEVICE : OF_CPU] = h->bytes;
	footprint_add(n ? &n->self_memory : &o->unowned_memory, &more);
	if (n)
		footprint_add(&t->memory, &more);
}

static void memory_begin(operators *o, operator_track *t)
{
	const size_t depth = t->timed.depth;

	if (mem_reserve(&t->begun_memory, &t->nbegun_memory, depth, sizeof *t->begun_memory))
		t->begun_memory[depth - 1] = t->memory;
	else
		o->failed = true;
}

/* Ends the memory of the open operator at a depth from 1; it counts unless an enclosing operator
 * has its name. */
static void memory_end(operators *o, const operator_track *t, size_t depth)
{
	const zone_frame *f = &t->timed.frames[depth - 1];
	const bool again =
	    f->path && f->path != PATH_NONE && o->timed.paths.rows[f->path].recursive;
	operator_name *n = id_table_find(&o->names, f->name);

	for (int i = 0; n && !again && depth <= t->nbegun_memory && i < MEMORIES; i++)
		n->memory.of[i] += t->memory.of[i] - t->begun_memory[depth - 1].of[i];
}

/* --- begins and ends */

static void begin_operator(operators *o, operator_track *t, const open_event *h)
{
	if (t->places.depth == 0) {
		t->places.root = h->backward && h->has_sequence
				     ? hash_map_find(&o->by_sequence, h->sequence)
				     : 0;
		t->backward_of = module_name(o, t->places.root);
		t->backward_begin_ns = h->ns;
	}
	if (sort_of(o, h->name) ==
	    OPERATOR) { /* a call into CUDA has the numbers of its operator */
		note_external(o, h);
		note_sequence(o, t, h);
	}
	if (zone_aggregate_begin(&o->timed, &t->timed, h->ns, h->name))
		memory_begin(o, t);
	zone_aggregate_begin(&o->places, &t->places, h->ns, h->name);
}

/* Opens the held range, after its numbers are known. */
static void op_open(operators *o, operator_track *t)
{
	const open_event h = t->begun;
	const sort is = sort_of(o, h.name);

	if (!h.held)
		return;
	t->begun = (open_event){0};
	if (is == MEMORY) {
		allocation(o, t, &h);
		return;
	}
	o->kinds[is]++;
	zone_aggregate_begin(&o->none, &t->all, h.ns, h.name);
	switch (is) {
	case OPERATOR:
	case RUNTIME:
		begin_operator(o, t, &h);
		break;
	case MODULE:
		if (t->places.depth == 0)
			t->places.root = t->backward_of = 0;
		zone_aggregate_begin(&o->places, &t->places, h.ns, h.name);
		break;
	case DEVICE:
		if (zone_aggregate_begin(&o->none, &t->devices, h.ns, h.name))
			zone_stack_top(&t->devices)->flow = h.has_external ? h.external : 0;
		break;
	default:
		break;
	}
}

/* The launching operator may appear later in the file, so device time is keyed by External id. Time
 * of a range inside another counts for the inner one. */
static void end_device(operators *o, operator_track *t, uint64_t ns)
{
	const zone_frame *top = zone_stack_top(&t->devices);
	const zone_frame f = top && !t->devices.too_deep ? *top : (zone_frame){.begin_ns = ns};
	const uint64_t took = ns - f.begin_ns - f.inside_ns, external = f.flow;

	zone_aggregate_end(&o->none, &t->devices, ns, true);
	o->device_ns += took;
	if (!external || o->nstarted == OPERATORS_MAX) {
		o->unowned_ns += took;
		return;
	}
	uint32_t row = hash_map_find(&o->by_started, external);
	if (!row) {
		row = ++o->nstarted;
		o->failed |= !hash_map_put(&o->by_started, external, row);
	}
	started *s = id_table_row(&o->started, row);
	if (s)
		*s = (started){external, s->ns + took};
}

/* Ends an outermost backward operator: its time counts for its module, although it did not run
 * inside the module. */
static void end_backward(operators *o, operator_track *t, uint64_t took_ns)
{
	operator_name *module = id_table_find(&o->names, t->backward_of);

	module->backward_ns += took_ns;
	for (uint32_t path = t->places.root; path; path = o->places.paths.rows[path].parent)
		path_trie_add(&o->places.paths, path, 0, took_ns);
	t->backward_of = 0;
}

static void operators_end(operators *o, operator_track *t, uint64_t ns)
{
	const zone_frame *top = zone_stack_top(&t->all);
	const sort is = top ? sort_of(o, top->name) : OTHER;

	zone_aggregate_end(&o->none, &t->all, ns, true);
	if (is == OPERATOR || is == RUNTIME) {
		if (t->timed.depth > 0 && !t->timed.too_deep)
			memory_end(o, t, t->timed.depth);
		zone_aggregate_end(&o->timed, &t->timed, ns, true);
	}
	if (is == OPERATOR || is == RUNTIME || is == MODULE)
		zone_aggregate_end(&o->places, &t->places, ns, true);
	if (is == DEVICE)
		end_device(o, t, ns);
	if (t->places.depth == 0 && t->backward_of)
		end_backward(o, t, ns - t->backward_begin_ns);
}

static void operators_number(const operators *o, operator_track *t, const trace_event *e)
{
	open_event *h = &t->begun;
	const double v = e->as.real;
	const sort is = sort_of(o, e->name);

	if (h->name && is == BYTES && fabs(v) < 9e15)
		h->bytes = v;
	if (!h->name || !(v >= 0 && v < 9e15))
		return;
	switch (is) {
	case EXTERNAL:
		h->external = (uint64_t)v;
		h->has_external = true;
		break;
	case SEQUENCE:
		h->sequence = (uint64_t)v;
		h->has_sequence = true;
		break;
	case FORWARD:
		h->backward = v > 0;
		break;
	case DEVICE_TYPE:
		h->device_type = v < 1e6 ? (uint32_t)v : UINT32_MAX;
		break;
	default:
		break;
	}
}

/* --- as a format */

static operators *operators_of(trace_out *o)
{
	return (operators *)o;
}

static dck_status operators_open(trace_out **ret, dck_sink *sink, const trace_header *about,
				 dck_err *err)
{
	operators *o = sink->self;
	dck_sink inner;

	zone_collect_sink(o->zones, &inner);
	DCK_TRY(zone_collect_format.open(&o->out, &inner, about, err));
	*ret = (trace_out *)o;
	return DCK_OK;
}

static void operators_track(trace_out *out, const trace_track *about)
{
	zone_collect_format.track(operators_of(out)->out, about);
}

static sort sort_of_text(const trace_name *from)
{
	static const struct {
		const char *category;
		sort is;
	} kinds[] = {{"cpu_op", OPERATOR},	{"operator", OPERATOR},
		     {"cuda_runtime", RUNTIME}, {"cuda_driver", RUNTIME},
		     {"kernel", DEVICE},	{"gpu_memcpy", DEVICE},
		     {"gpu_memset", DEVICE},	{"python_function", PYTHON}};
	static const char *const numbers[] = {SORTED_NUMBERS};

	for (size_t i = 0; from->category && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].category, from->category) == 0)
			return kinds[i].is == PYTHON && strncmp(from->text, module_prefix,
								sizeof module_prefix - 1) == 0
				   ? MODULE
				   : kinds[i].is;
	if (from->category)
		return strcmp(from->text, CHROME_MEMORY) == 0 ? MEMORY : OTHER;
	for (int i = 0; i < SORTS - EXTERNAL; i++)
		if (strcmp(from->text, numbers[i]) == 0)
			return (sort)(EXTERNAL + i);
	return OTHER;
}

static void operators_intern(trace_out *out, uint32_t id, const trace_name *from)
{
	operators *o = operators_of(out);
	char text[STRING_NAME_MAX + 1];
	const size_t n = from->n < STRING_NAME_MAX ? from->n : STRING_NAME_MAX;

	memcpy(text, from->text, n);
	text[n] = '\0';
	trace_name ended = *from;
	ended.text = text;
	const sort is = sort_of_text(&ended);
	/* Most traces have other names only, which need no rows here. */
	if (is != OTHER || sort_of(o, id) != OTHER) {
		operator_name *row = id_table_row(&o->names, id);
		const size_t skip = is == MODULE ? sizeof module_prefix - 1 : 0;

		if (row)
			row->is = is;
		string_name_put(&o->texts, id, text + skip, n - skip);
	}
	zone_collect_format.intern(o->out, id, from);
}

/* Whether ranges or marks of that name count. */
static bool is_operator_event(const operators *o, const trace_event *e)
{
	const sort is = sort_of(o, e->name);

	return (e->kind == TRACE_BEGIN &&
		(is == OPERATOR || is == RUNTIME || is == MODULE || is == DEVICE)) ||
	       ((e->kind == TRACE_BEGIN || e->kind == TRACE_INSTANT) && is == MEMORY);
}

/* Returns the track, made at its first operator: ranges that are open then enclose all that
 * follows, so that their ends match no range. NULL: none yet. */
static operator_track *operators_track_of(operators *o, uint32_t id, const trace_event *e)
{
	operator_track **had = id_table_find(&o->tracks, id), *t = had ? *had : NULL;

	if (t)
		return t;
	operator_track **made = is_operator_event(o, e) ? id_table_row(&o->tracks, id) : NULL;
	if (!made)
		return NULL;
	*made = mem_zalloc(1, sizeof **made);
	o->failed |= !*made;
	return *made;
}

static void operators_events(trace_out *out, uint32_t id, const trace_event *e, size_t n)
{
	operators *o = operators_of(out);

	zone_collect_format.events(o->out, id, e, n);
	for (size_t i = 0; i < n; i++, e++) {
		operator_track *t = operators_track_of(o, id, e);

		if (!t)
			continue;
		if (e->kind == TRACE_ANNOTATION) {
			operators_number(o, t, e);
			continue;
		}
		t->last_ns = e->ns > t->last_ns ? e->ns : t->last_ns;
		op_open(o, t);
		if (e->kind == TRACE_BEGIN ||
		    (e->kind == TRACE_INSTANT && sort_of(o, e->name) == MEMORY))
			t->begun = (open_event){.ns = t->last_ns, .name = e->name, .held = true};
		else if (e->kind == TRACE_END)
			operators_end(o, t, t->last_ns);
	}
}

static void operators_samples(trace_out *out, const struct cct *paths, const trace_sample *s,
			      size_t n)
{
	zone_collect_format.samples(operators_of(out)->out, paths, s, n);
}

static dck_status operators_close(trace_out *out, dck_err *err)
{
	operators *o = operators_of(out);

	for (uint32_t i = 0; i < o->tracks.n; i++) {
		operator_track **at = id_table_find(&o->tracks, i), *t = *at;

		if (!t)
			continue;
		op_open(o, t);
		for (size_t depth = t->timed.depth; depth > 0; depth--)
			memory_end(o, t, depth);
		zone_aggregate_close(&o->timed, &t->timed, t->last_ns);
		zone_aggregate_close(&o->places, &t->places, t->last_ns);
	}
	return zone_collect_format.close(o->out, err);
}

const trace_format operators_format = {
    .name = "operators",
    .suffix = "",
    .help = "operators and modules of torch.profiler",
    .open = operators_open,
    .track = operators_track,
    .intern = operators_intern,
    .events = operators_events,
    .samples = operators_samples,
    .close = operators_close,
};

/* --- */

dck_status operators_new(operators **ret, dck_err *err)
{
	operators *o = mem_zalloc(1, sizeof *o);

	DCK_NEED(o, err, "to add up a trace");
	o->names.row_bytes = sizeof(operator_name);
	o->tracks.row_bytes = sizeof(operator_track *);
	o->started.row_bytes = sizeof(started);
	o->none.paths_only = true;
	dck_status status = string_table_init(&o->texts, err);
	DCK_NEXT(status, zone_collect_new(&o->zones, err));
	if (status == DCK_OK)
		*ret = o;
	else
		operators_free(o);
	return status;
}

void operators_want(operators *o, const zone_percentiles *p)
{
	zone_collect_want(o->zones, p);
}

void operators_draw(operators *o, timeline_lod *p)
{
	zone_collect_draw(o->zones, p);
}

void operators_free(operators *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < o->tracks.n; i++) {
		operator_track **at = id_table_find(&o->tracks, i), *t = *at;

		if (!t)
			continue;
		zone_stack_done(&t->all);
		zone_stack_done(&t->timed);
		zone_stack_done(&t->places);
		zone_stack_done(&t->devices);
		mem_free(t->begun_memory);
		mem_free(t);
	}
	id_table_done(&o->names);
	id_table_done(&o->tracks);
	string_table_done(&o->texts);
	hash_map_done(&o->by_external);
	hash_map_done(&o->by_sequence);
	hash_map_done(&o->by_started);
	id_table_done(&o->started);
	zone_aggregate_done(&o->timed);
	zone_aggregate_done(&o->places);
	zone_aggregate_done(&o->none);
	zone_collect_free(o->zones);
	mem_free(o);
}

void operators_sink(operators *o, dck_sink *ret)
{
	dck_sink_custom(ret, trace_format_nowhere, o);
}

/* --- as tables of a record */

/* Assigns device time to operators, after the last event. */
static void device_share(operators *o)
{
	for (uint32_t row = 1; row <= o->nstarted; row++) {
		const started *s = id_table_find(&o->started, row);
		const uint32_t owner = hash_map_find(&o->by_external, s->external);
		operator_name *n = id_table_find(&o->names, owner);

		if (owner)
			n->device_ns += s->ns;
		else
			o->unowned_ns += s->ns;
	}
	o->nstarted = 0;
}

static const char *operators_text_of(void *self, uint32_t id)
{
	return string_name_of(&((operators *)self)->texts, id).text;
}

typedef struct operator_row {
	const char *text;
	const zone_stats *z;
	const operator_name *n;
} operator_row;

static int operators_by_self(const void *a, const void *b)
{
	const operator_row *x = a, *y = b;

	if (x->z->self_ns != y->z->self_ns)
		return x->z->self_ns > y->z->self_ns ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Writes the rows of a kind; RUNTIME rows are written with the operators. */
static size_t operators_rows_of(operators *o, const zone_aggregate *s, sort is, operator_row *rows)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->nstats; i++) {
		const sort found = s->stats[i] ? sort_of(o, i) : OTHER;
		const char *text = operators_text_of(o, i);

		if (found == is || (is == OPERATOR && found == RUNTIME))
			rows[n++] = (operator_row){text ? text : "(no name)", s->stats[i],
						   id_table_find(&o->names, i)};
	}
	qsort(rows, n, sizeof *rows, operators_by_self);
	return n;
}

static const char no_device[] = "nothing that ran on a device is in the file";

/* Exact up to 2^53, as all sums of real allocations are. */
static void bytes_cell(record_builder *b, double v)
{
	record_cell(b, fabs(v) < 9e15 ? RECORD_INT((int64_t)v) : RECORD_REAL(v));
}

static void memory_cells(const operator_name *n, int of, record_builder *b)
{
	bytes_cell(b, n->memory.of[of]);
	bytes_cell(b, n->self_memory.of[of]);
}

/* Returns the columns that fit into a summary. */
static const char *summary_columns(const operators *o)
{
	if (o->kinds[DEVICE])
		return o->device_memory	  ? "calls self total device device_memory"
		       : o->kinds[MEMORY] ? "calls self total device memory"
					  : "calls self total device";
	return o->kinds[MEMORY] ? "calls self total memory self_memory" : "calls self total";
}

static void operators_table(const operators *o, const operator_row *rows, size_t n,
			    record_builder *b)
{
	static const dck_column columns[] = {
	    {"name", "operator", DCK_UNIT_NONE},
	    {"calls", "calls", DCK_UNIT_ONE},
	    {"self", "self", DCK_UNIT_NS},
	    {"total", "total", DCK_UNIT_NS},
	    {"device", "device", DCK_UNIT_NS},
	    {"memory", "memory", DCK_UNIT_BYTE},
	    {"self_memory", "self memory", DCK_UNIT_BYTE},
	    {"device_memory", "device memory", DCK_UNIT_BYTE},
	    {"self_device_memory", "self device memory", DCK_UNIT_BYTE},
	};
	const bool memory = o->kinds[MEMORY] > 0, device_memory = o->device_memory;

	record_table(b, "operators", "Operators, on the CPU and what each started on a device",
		     columns, 5u + (memory ? 2u : 0u) + (device_memory ? 2u : 0u));
	record_summary_columns(b, summary_columns(o));
	for (size_t i = 0; i < n; i++) {
		record_cell_text(b, rows[i].text);
		record_cell_int(b, (int64_t)(rows[i].z->calls + rows[i].z->unfinished));
		record_cell_int(b, (int64_t)rows[i].z->self_ns);
		record_cell_int(b, (int64_t)rows[i].z->total_ns);
		record_cell(b, o->kinds[DEVICE] ? RECORD_INT((int64_t)rows[i].n->device_ns)
						: RECORD_ABSENT(no_device));
		if (memory)
			memory_cells(rows[i].n, OF_CPU, b);
		if (device_memory)
			memory_cells(rows[i].n, OF_DEVICE, b);
	}
}

static void modules_table(const operator_row *rows, size_t n, record_builder *b)
{
	static const dck_column columns[] = {
	    {"name", "module", DCK_UNIT_NONE},	   {"calls", "calls", DCK_UNIT_ONE},
	    {"self", "self", DCK_UNIT_NS},	   {"forward", "forward", DCK_UNIT_NS},
	    {"backward", "backward", DCK_UNIT_NS},
	};

	RECORD_TABLE(b, "modules",
		     "Modules: forward with submodules, backward of their own operators", columns);
	for (size_t i = 0; i < n; i++) {
		record_cell_text(b, rows[i].text);
		record_cell_int(b, (int64_t)(rows[i].z->calls + rows[i].z->unfinished));
		record_cell_int(b, (int64_t)rows[i].z->self_ns);
		record_cell_int(b, (int64_t)rows[i].z->total_ns);
		record_cell_int(b, (int64_t)rows[i].n->backward_ns);
	}
}

/* Writes the memory facts outside of the table. */
static void memory_put(const operators *o, record_builder *b)
{
	record_fact_int(b, "trace", "allocations", DCK_UNIT_ONE, (int64_t)o->kinds[MEMORY]);
	record_fact_real(b, "trace", "memory_of_no_operator", DCK_UNIT_BYTE,
			 o->unowned_memory.of[OF_CPU]);
	if (o->device_memory)
		record_fact_real(b, "trace", "device_memory_of_no_operator", DCK_UNIT_BYTE,
				 o->unowned_memory.of[OF_DEVICE]);
}

/* Writes as absent the data that the profiler was not configured to record, or could not record. */
static void lacks_put(const operators *o, record_builder *b)
{
	if (o->kinds[MODULE])
		record_fact_int(b, "trace", "modules", DCK_UNIT_ONE, (int64_t)o->kinds[MODULE]);
	else
		record_fact_absent(
		    b, "trace", "modules",
		    "the profiler did not record Python functions: "
		    "torch.profiler.profile(with_stack=True) of a PyTorch with Kineto");
	if (o->kinds[MEMORY])
		memory_put(o, b);
	else
		record_fact_absent(b, "trace", "allocations",
				   "the profiler did not record memory: "
				   "torch.profiler.profile(profile_memory=True) of a PyTorch with "
				   "Kineto; others, as Debian's 1.13, write none");
	if (!o->kinds[DEVICE]) {
		record_fact_absent(b, "trace", "device_time", no_device);
		return;
	}
	record_fact_int(b, "trace", "device_time", DCK_UNIT_NS, (int64_t)o->device_ns);
	record_fact_int(b, "trace", "device_time_of_no_operator", DCK_UNIT_NS,
			(int64_t)o->unowned_ns);
}

static void operators_answer_put(const operator_row *rows, size_t n, record_builder *b)
{
	char own[32], calls[32];
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += (double)rows[i].z->self_ns;
	dck_text_count((int64_t)(rows[0].z->calls + rows[0].z->unfinished), calls, sizeof calls);
	dck_text_time((double)rows[0].z->self_ns, own, sizeof own);
	record_answer(b, "%.*s takes the most time of all operators: %s in %s call%s, %.0f %%",
		      utf8_shown(rows[0].text, 60), rows[0].text, own, calls,
		      strcmp(calls, "1") ? "s" : "",
		      all > 0 ? 100 * (double)rows[0].z->self_ns / all : 0);
}

static dck_status zones_put(operators *o, record_builder *b, dck_err *err)
{
	DCK_TRY(zone_collect_put(o->zones, b, err));
	return zone_collect_put_threads(o->zones, b, err);
}

dck_status operators_put(operators *o, record_builder *b, dck_err *err)
{
	const size_t most =
	    (o->timed.nstats > o->places.nstats ? o->timed.nstats : o->places.nstats) + (size_t)1;
	operator_row *rows = mem_zalloc(most, sizeof *rows);
	dck_status status = DCK_OK;

	if (!rows || o->failed || o->timed.failed || o->places.failed || o->names.failed ||
	    o->tracks.failed || o->started.failed || string_table_failed(&o->texts)) {
		mem_free(rows);
		return ERR_NO_MEMORY(err, "for the operators of a trace");
	}
	if (!o->kinds[OPERATOR]) {
		mem_free(rows);
		return zones_put(o, b, err);
	}
	device_share(o);
	size_t n = operators_rows_of(o, &o->timed, OPERATOR, rows);
	operators_table(o, rows, n, b);
	if (o->kinds[MODULE]) {
		n = operators_rows_of(o, &o->places, MODULE, rows);
		modules_table(rows, n, b);
		status = path_trie_put(&o->places.paths, "modules",
				       "Operators by the modules they ran for", operators_text_of,
				       o, b, err);
	}
	lacks_put(o, b);
	DCK_NEXT(status, zones_put(o, b, err));
	n = operators_rows_of(o, &o->timed, OPERATOR, rows);
	if (status == DCK_OK && n > 0)
		operators_answer_put(rows, n, b);
	mem_free(rows);
	return status;
}
