/* folded_write.c - a timeline as folded stacks: for each call path one line with the nanoseconds
 * that were spent there and in no range below.
 *
 *	main 9;forward;conv2d 123456
 *
 * Source: https://github.com/brendangregg/FlameGraph
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "export/formats.h"
#include "export/paths.h"

#include <inttypes.h>

static dck_status folded_close(trace_out *o, dck_err *err)
{
	uint32_t path[PATHS_DEPTH_MAX + 1];

	paths_end(o);
	for (uint32_t n = paths_next(o, 0); n; n = paths_next(o, n)) {
		const path_node *node = paths_node(o, n);
		path[node->depth] = node->name;
		if (!node->self_ns)
			continue;
		for (uint32_t i = 0; i <= node->depth; i++) {
			sink_text(o->sink, i ? ";" : "");
			paths_put_line(o->sink, paths_text(o, path[i]).text, ';');
		}
		sink_fmt(o->sink, " %" PRIu64 "\n", node->self_ns);
	}
	return paths_close(o, err);
}

const trace_format trace_folded = {
    .name = "folded",
    .suffix = ".folded",
    .help = "folded stacks, for flame graphs; sums by call path",
    .open = paths_open,
    .track = paths_track,
    .intern = paths_intern,
    .events = paths_events,
    .close = folded_close,
};
