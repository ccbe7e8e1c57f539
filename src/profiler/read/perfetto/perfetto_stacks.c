/* perfetto_stacks.c - reads the stack samples of a Perfetto trace (PerfSample), and the frames and
 * call stacks that its sequences intern for them.
 *
 * A call stack is a list of frames, a frame refers to a function, a mapping and a source file, a
 * mapping to parts of a path. All of them become paths of one tree (cct.h), so that equal stacks of
 * several sequences are one. A sample has the count of its clock since the start; the difference
 * from the last one of its CPU is the time that it represents.
 *
 * Only samples that count CPU time are read: samples of other events have no time, and are skipped.
 * Bounds: FRAMES_MAX frames, the paths of cct.h, SAMPLE_CPUS_MAX CPUs. Source:
 * protos/perfetto/trace/profiling/profile_common.proto and profile_packet.proto of Perfetto.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "profiler/read/perfetto/perfetto_reading.h"

#include <string.h>

enum { FRAMES_MAX = 1 << 22, SAMPLE_CPUS_MAX = 1 << 14 };

/* Returns the text to which an iid of that field of InternedData refers; NULL: none. */
static const char *stacks_text(const perfetto_reader *x, perfetto_sequence *q, uint32_t field,
			       uint64_t iid)
{
	return string_name_of(&x->texts, hash_map_find(perfetto_interned_of(q, field), iid)).text;
}

/* A path of one part is stored as it is, one of several parts without its slashes. */
dck_status perfetto_mapping(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid, uint32_t *ret,
			    perfetto_reader *x)
{
	const hash_map *parts = perfetto_interned_of(q, PF_INTERNED_MODULES);
	char path[STRING_NAME_MAX];
	uint32_t first = 0;
	size_t n = 0, nparts = 0;
	wire_field f;

	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_NAME_IID)
			*ret_iid = f.value;
		if (f.number != PF_MAPPING_PATH || f.type != WIRE_VARINT)
			continue;
		const uint32_t part = hash_map_find(parts, f.value);
		const string_name text = string_name_of(&x->texts, part);
		if (!text.text || text.n + 1 > sizeof path - n)
			continue;
		first = nparts++ ? first : part;
		path[n++] = '/';
		memcpy(path + n, text.text, text.n);
		n += text.n;
	}
	DCK_TRY(x->status);
	*ret = first;
	if (nparts > 1)
		*ret = string_table_intern(&x->texts, path, n);
	if (nparts > 0 && !*ret)
		return ERR_NO_MEMORY(x->err, "for the names of a trace");
	return DCK_OK;
}

/* Files of deepclock have the source file of a Python frame as its module too, and "[none]" for a
 * frame that has neither: readers drop frames without a module. */
static const char *stacks_module_of(const char *module, const char *file)
{
	const bool none =
	    !module || strcmp(module, "[none]") == 0 || (file && strcmp(module, file) == 0);

	return none ? NULL : module;
}

dck_status perfetto_frame(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid, uint32_t *ret,
			  perfetto_reader *x)
{
	dck_frame frame = {.name = "[unknown]"};
	const char *module = NULL;
	wire_field f;

	while (perfetto_each(x, &r, &f)) {
		if (f.type != WIRE_VARINT)
			continue;
		if (f.number == PF_NAME_IID) {
			*ret_iid = f.value;
		} else if (f.number == PF_FRAME_FUNCTION) {
			const char *name = stacks_text(x, q, PF_INTERNED_FUNCTIONS, f.value);
			frame.name = name ? name : frame.name;
		} else if (f.number == PF_FRAME_MAPPING) {
			module = stacks_text(x, q, PF_INTERNED_MAPPINGS, f.value);
		} else if (f.number == PF_FRAME_FILE) {
			frame.file = stacks_text(x, q, PF_INTERNED_FILES, f.value);
		} else if (f.number == PF_FRAME_LINE) {
			frame.line = (uint32_t)f.value;
		} else if (f.number == PF_FRAME_START_LINE) {
			frame.start_line = (uint32_t)f.value;
		}
	}
	DCK_TRY(x->status);
	frame.module = stacks_module_of(module, frame.file);
	*ret = cct_frame(&x->stacks, &frame);
	DCK_NEED(*ret, x->err, "for the stacks of a trace");
	if (x->stacks.nframes > FRAMES_MAX)
		DCK_FAIL(x->err, E_LIMIT, "the trace has more than %d frames of stacks",
			 (int)FRAMES_MAX);
	return DCK_OK;
}

dck_status perfetto_callstack(wire_reader r, perfetto_sequence *q, uint64_t *ret_iid, uint32_t *ret,
			      perfetto_reader *x)
{
	bool full = false;
	wire_field f;

	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_NAME_IID)
			*ret_iid = f.value;
		if (f.number != PF_CALLSTACK_FRAME || f.type != WIRE_VARINT || full)
			continue;
		const uint32_t frame =
		    hash_map_find(perfetto_interned_of(q, PF_INTERNED_FRAMES), f.value);
		const uint32_t path = frame ? cct_child(&x->stacks, *ret, frame) : *ret;
		full = frame && path == *ret; /* the weight stays with the path up to here */
		*ret = path;
	}
	return x->status;
}

dck_status perfetto_sample_defaults(wire_reader r, perfetto_sequence *q, perfetto_reader *x)
{
	wire_field f, g;
	wire_reader inner;

	while (perfetto_each(x, &r, &f)) {
		if (f.number != PF_SAMPLES_TIMEBASE)
			continue;
		DCK_TRY(wire_enter(&r, &f, "what samples count", &inner, x->err));
		while (perfetto_each(x, &inner, &g)) {
			if (g.number == PF_TIMEBASE_COUNTER)
				q->samples_timed =
				    g.value == PF_CPU_CLOCK || g.value == PF_TASK_CLOCK;
			else if (g.number == PF_TIMEBASE_RATE)
				q->samples_rate = (uint32_t)g.value;
		}
		DCK_TRY(x->status);
	}
	return x->status;
}

dck_status perfetto_sample_read(wire_reader r, perfetto_sequence *q, uint64_t ns, bool dated,
				perfetto_reader *x)
{
	trace_sample s = {.ns = (int64_t)ns, .rate = q->samples_rate};
	uint64_t count = 0, cpu = 0;
	wire_field f;

	while (perfetto_each(x, &r, &f)) {
		if (f.number == PF_SAMPLE_CPU)
			cpu = f.value;
		else if (f.number == PF_SAMPLE_PID)
			s.pid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_SAMPLE_TID)
			s.tid = (int32_t)(uint32_t)f.value;
		else if (f.number == PF_SAMPLE_CALLSTACK)
			s.path =
			    hash_map_find(perfetto_interned_of(q, PF_INTERNED_CALLSTACKS), f.value);
		else if (f.number == PF_SAMPLE_COUNT)
			count = f.value;
	}
	DCK_TRY(x->status);
	if (!q->samples_timed || cpu >= SAMPLE_CPUS_MAX) {
		x->facts->skipped++;
		return DCK_OK;
	}
	if (!dated) {
		x->facts->undated++;
		return DCK_OK;
	}
	q->samples_count.row_bytes = sizeof(uint64_t);
	uint64_t *last = id_table_row(&q->samples_count, (uint32_t)cpu);
	DCK_NEED(last, x->err, "for the samples of a trace");
	s.weight_ns = count >= *last ? count - *last : count;
	*last = count;
	return perfetto_put_sample(x, &s);
}
