/* speedscope_write.c - a timeline for speedscope: one profile for each thread, with a sample for
 * each call path and the nanoseconds of it alone as its weight. Source:
 * https://github.com/jlfwong/speedscope, src/lib/file-format-spec.ts
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"
#include "export/formats.h"
#include "export/paths.h"

/* The samples of a thread's tree (weights: false), or what they weigh. Returns the sum. */
static uint64_t put_samples(const trace_out *o, json_writer *w, uint32_t thread, bool weights)
{
	uint32_t path[PATHS_DEPTH_MAX + 1];
	uint64_t sum = 0;

	for (uint32_t n = paths_next(o, thread); n; n = paths_next(o, n)) {
		const path_node *node = paths_node(o, n);
		if (node->depth == 0)
			break;
		path[node->depth] = node->name;
		if (!node->self_ns)
			continue;
		sum += node->self_ns;
		if (weights) {
			json_uint(w, node->self_ns);
			continue;
		}
		json_array(w);
		for (uint32_t i = 1; i <= node->depth; i++)
			json_uint(w, path[i]);
		json_end(w);
	}
	return sum;
}

static void put_thread(const trace_out *o, json_writer *w, uint32_t thread)
{
	const path_node *node = paths_node(o, thread);

	json_object(w);
	json_key(w, "type");
	json_text(w, "sampled");
	json_key(w, "name");
	json_text(w, paths_text(o, node->name).text);
	json_key(w, "unit");
	json_text(w, "nanoseconds");
	json_key(w, "startValue");
	json_uint(w, 0);
	json_key(w, "samples");
	json_array(w);
	put_samples(o, w, thread, false);
	json_end(w);
	json_key(w, "weights");
	json_array(w);
	uint64_t sum = put_samples(o, w, thread, true);
	json_end(w);
	json_key(w, "endValue");
	json_uint(w, sum);
	json_end(w);
}

static dck_status speedscope_close(trace_out *o, dck_err *err)
{
	json_writer w;

	paths_end(o);
	json_init(&w, o->sink, false);
	json_object(&w);
	json_key(&w, "$schema");
	json_text(&w, "https://www.speedscope.app/file-format-schema.json");
	json_key(&w, "exporter");
	json_text(&w, "deepclock " DCK_VERSION);
	if (o->command) {
		json_key(&w, "name");
		json_text(&w, o->command);
	}
	json_key(&w, "shared");
	json_object(&w);
	json_key(&w, "frames");
	json_array(&w);
	for (uint32_t i = 0; i <= o->names.n; i++) {
		json_object(&w);
		json_key(&w, "name");
		json_text(&w, paths_text(o, i).text);
		json_end(&w);
	}
	json_end(&w);
	json_end(&w);
	json_key(&w, "profiles");
	json_array(&w);
	for (uint32_t n = 1; n <= o->nnodes; n++)
		if (paths_node(o, n)->depth == 0)
			put_thread(o, &w, n);
	json_end(&w);
	json_end(&w);
	json_done(&w);
	return paths_close(o, err);
}

const trace_format trace_speedscope = {
    .name = "speedscope",
    .gunzips = true,
    .suffix = ".speedscope.json",
    .help = "for speedscope.app; sums by call path",
    .open = paths_open,
    .track = paths_track,
    .intern = paths_intern,
    .events = paths_events,
    .close = speedscope_close,
};
