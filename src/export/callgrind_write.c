/* callgrind_write.c - a timeline as Callgrind's profile, for callgrind_annotate and KCachegrind:
 * the nanoseconds of each range by itself, and of its calls.
 *
 * Those programs add up what a function calls, which counts a recursion again and again. So, as
 * Callgrind does itself (--separate-recs), a range inside one of the same name has a name of its
 * own: name'2, name'3. Source: https://valgrind.org/docs/manual/cl-format.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/sink.h"
#include "export/formats.h"
#include "export/paths.h"

#include <inttypes.h>

typedef struct writing {
	trace_out *o;
	uint32_t *open;	  /* by name: how often it is on the path */
	kept_map numbers; /* of functions, by name and how deep the recursion is */
	uint32_t nnumbers;
} writing;

/* fn=(3) name'2 where it is told for the first time, later fn=(3) alone. */
static void put_function(writing *w, const char *what, uint32_t name, uint32_t level, bool thread)
{
	/* A thread is never a range, even where their names are equal. */
	const uint64_t key = (uint64_t)name << 32 | (thread ? 0 : level);
	uint32_t number = kept_map_find(&w->numbers, key);
	const bool told = number != 0;

	if (!told) {
		number = ++w->nnumbers;
		if (!kept_map_put(&w->numbers, key, number))
			w->o->failed = true;
	}
	sink_fmt(w->o->sink, "%s=(%" PRIu32 ")", what, number);
	if (!told) {
		sink_text(w->o->sink, " ");
		paths_put_line(w->o->sink, paths_text(w->o, name).text, 0);
		if (level > 1)
			sink_fmt(w->o->sink, "'%" PRIu32, level);
	}
	sink_text(w->o->sink, "\n");
}

static void put_node(writing *w, const path_node *node)
{
	const trace_out *o = w->o;
	const bool thread = node->depth == 0;

	put_function(w, "fn", node->name, thread ? 0 : w->open[node->name], thread);
	sink_fmt(o->sink, "0 %" PRIu64 "\n", node->self_ns);
	for (uint32_t c = node->first; c; c = paths_node(o, c)->next) {
		const path_node *child = paths_node(o, c);
		put_function(w, "cfn", child->name, w->open[child->name] + 1, false);
		sink_fmt(o->sink, "calls=%" PRIu64 " 0\n0 %" PRIu64 "\n", child->calls,
			 child->total_ns);
	}
	sink_text(o->sink, "\n");
}

static dck_status callgrind_close(trace_out *o, dck_err *err)
{
	uint32_t path[PATHS_DEPTH_MAX + 1],
	    depth = 0; /* names of ranges that are counted as open */
	writing w = {.o = o};
	uint64_t sum = 0;

	paths_end(o);
	w.open = mem_zalloc((size_t)o->names.n + 1, sizeof *w.open);
	for (uint32_t n = 1; n <= o->nnodes; n++)
		sum += paths_node(o, n)->self_ns;
	sink_text(o->sink, "# callgrind format\nversion: 1\ncreator: deepclock " DCK_VERSION "\n");
	if (o->command) {
		sink_text(o->sink, "cmd: ");
		paths_put_line(o->sink, o->command, 0);
		sink_text(o->sink, "\n");
	}
	sink_fmt(o->sink, "positions: line\nevents: ns\nsummary: %" PRIu64 "\n\nfl=(1) ranges\n",
		 sum);
	for (uint32_t n = w.open ? paths_next(o, 0) : 0; n; n = paths_next(o, n)) {
		const path_node *node = paths_node(o, n);
		while (depth > (node->depth ? node->depth - 1 : 0))
			w.open[path[--depth]]--;
		if (node->depth > 0) {
			path[depth++] = node->name;
			w.open[node->name]++;
		}
		put_node(&w, node);
	}
	o->failed = o->failed || !w.open;
	kept_map_done(&w.numbers);
	mem_free(w.open);
	return paths_close(o, err);
}

const trace_format trace_callgrind = {
    .name = "callgrind",
    .suffix = ".callgrind",
    .help = "for callgrind_annotate and KCachegrind; sums by call path",
    .open = paths_open,
    .track = paths_track,
    .intern = paths_intern,
    .events = paths_events,
    .close = callgrind_close,
};
