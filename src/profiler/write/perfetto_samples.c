/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/write/perfetto_samples.h"

#include "base/err.h"
#include "base/sink.h"
#include "base/wire.h"
#include "profiler/timeline/perfetto.h"

#include <string.h>

/* No track of a timeline has that number. */
enum { SEQUENCE_SAMPLES = 0x7fffffff };

struct perfetto_samples {
	dck_sink *sink;
	const cct *paths;
	uint64_t boottime_ns, counted_ns;
	id_table path_known, frame_known; /* bool: defined in the sequence */
	string_table files;		  /* paths of modules and of sources */
	uint32_t nfiles;		  /* number of files defined in the sequence */
	bool begun;
	wire_out message; /* the packet under construction */
};

static void samples_number(perfetto_samples *s, uint32_t field, uint64_t v)
{
	wire_put_int(&s->message, field, (int64_t)v);
}

/* Returns whether this is its first mention in the sequence. false: no memory, too. */
static bool is_first_mention(id_table *known, uint32_t number)
{
	bool *row = id_table_row(known, number);

	return row && !*row && (*row = true);
}

static void text_explain(perfetto_samples *s, uint32_t field, uint32_t iid, const char *text)
{
	const size_t one = wire_begin(&s->message, field);

	samples_number(s, PF_NAME_IID, iid);
	wire_put_text(&s->message, PF_NAME_TEXT, text);
	wire_end(&s->message, one);
}

/* Returns the iid of a file, which also identifies it as a module. 0: none. */
static uint32_t file_explained(perfetto_samples *s, const char *file)
{
	const uint32_t iid = file ? string_table_intern(&s->files, file, strlen(file)) : 0;

	if (iid <= s->nfiles)
		return iid;
	s->nfiles = iid;
	text_explain(s, PF_INTERNED_MODULES, iid, file);
	text_explain(s, PF_INTERNED_FILES, iid, file);
	const size_t mapping = wire_begin(&s->message, PF_INTERNED_MAPPINGS);
	samples_number(s, PF_NAME_IID, iid);
	samples_number(s, PF_MAPPING_PATH, iid);
	wire_end(&s->message, mapping);
	return iid;
}

/* A frame and its function have one number. */
static void frame_explain(perfetto_samples *s, uint32_t number)
{
	const dck_frame f = cct_frame_get(s->paths, number);

	if (!is_first_mention(&s->frame_known, number))
		return;
	/* Readers drop frames without a module; the module of a Python frame is its file. */
	const uint32_t file = file_explained(s, f.file && *f.file ? f.file : NULL);
	const char *module = f.module && *f.module ? f.module
			     : f.file && *f.file   ? f.file
						   : "[none]";
	const uint32_t mapping = file_explained(s, module);
	text_explain(s, PF_INTERNED_FUNCTIONS, number, f.name ? f.name : "[unknown]");
	const size_t frame = wire_begin(&s->message, PF_INTERNED_FRAMES);
	samples_number(s, PF_NAME_IID, number);
	samples_number(s, PF_FRAME_FUNCTION, number);
	samples_number(s, PF_FRAME_MAPPING, mapping);
	if (file)
		samples_number(s, PF_FRAME_FILE, file);
	if (file && f.line)
		samples_number(s, PF_FRAME_LINE, (uint64_t)f.line);
	if (f.start_line)
		samples_number(s, PF_FRAME_START_LINE, (uint64_t)f.start_line);
	wire_end(&s->message, frame);
}

static void path_explain(perfetto_samples *s, uint32_t path)
{
	uint32_t stack[PATH_TRIE_DEPTH_MAX];
	size_t n = cct_stack(s->paths, path, stack);

	const size_t interned = wire_begin(&s->message, PF_PACKET_INTERNED);
	for (size_t i = 0; i < n; i++)
		frame_explain(s, stack[i]);
	const size_t one = wire_begin(&s->message, PF_INTERNED_CALLSTACKS);
	samples_number(s, PF_NAME_IID, path);
	while (n > 0)
		samples_number(s, PF_CALLSTACK_FRAME, stack[--n]);
	wire_end(&s->message, one);
	wire_end(&s->message, interned);
}

static void samples_defaults_put(perfetto_samples *s, uint32_t rate)
{
	const size_t defaults = wire_begin(&s->message, PF_PACKET_DEFAULTS);
	const size_t sample = wire_begin(&s->message, PF_DEFAULTS_SAMPLE);
	const size_t timebase = wire_begin(&s->message, PF_SAMPLES_TIMEBASE);

	if (rate)
		samples_number(s, PF_TIMEBASE_RATE, rate);
	samples_number(s, PF_TIMEBASE_COUNTER, PF_TASK_CLOCK);
	wire_put_text(&s->message, PF_TIMEBASE_NAME, "CPU time of samples");
	wire_end(&s->message, timebase);
	wire_end(&s->message, sample);
	wire_end(&s->message, defaults);
}

static void samples_free(perfetto_samples *s)
{
	wire_out_done(&s->message);
	string_table_done(&s->files);
	id_table_done(&s->path_known);
	id_table_done(&s->frame_known);
	mem_free(s);
}

dck_status perfetto_samples_open(dck_sink *out, uint64_t boottime_ns, perfetto_samples **ret,
				 dck_err *err)
{
	perfetto_samples *s = mem_zalloc(1, sizeof *s);

	DCK_NEED(s, err, "for the samples of a trace");
	s->sink = out;
	s->boottime_ns = boottime_ns;
	s->path_known.row_bytes = s->frame_known.row_bytes = sizeof(bool);
	const dck_status st = string_table_init(&s->files, err);
	if (st == DCK_OK)
		*ret = s;
	else
		samples_free(s);
	return st;
}

void perfetto_samples_put(perfetto_samples *s, const cct *paths, const trace_sample *one)
{
	s->paths = paths;
	s->message.n = 0;
	const size_t packet = wire_begin(&s->message, PF_TRACE_PACKET);
	samples_number(s, PF_PACKET_SEQUENCE, SEQUENCE_SAMPLES);
	samples_number(s, PF_PACKET_FLAGS,
		       s->begun ? PF_FLAG_NEEDED : PF_FLAG_CLEARED | PF_FLAG_NEEDED);
	if (!s->begun)
		samples_defaults_put(s, one->rate);
	s->begun = true;
	samples_number(s, PF_PACKET_CLOCK, PF_BOOTTIME);
	samples_number(s, PF_PACKET_TIMESTAMP, s->boottime_ns + (uint64_t)one->ns);
	const bool known = one->path > 0 && one->path < s->paths->paths.n;
	if (known && is_first_mention(&s->path_known, one->path))
		path_explain(s, one->path);
	const size_t sample = wire_begin(&s->message, PF_PACKET_SAMPLE);
	s->counted_ns += one->weight_ns;
	samples_number(s, PF_SAMPLE_PID, (uint64_t)one->pid);
	samples_number(s, PF_SAMPLE_TID, (uint64_t)one->tid);
	if (known)
		samples_number(s, PF_SAMPLE_CALLSTACK, one->path);
	samples_number(s, PF_SAMPLE_MODE, PF_MODE_USER);
	samples_number(s, PF_SAMPLE_COUNT, s->counted_ns);
	wire_end(&s->message, sample);
	wire_end(&s->message, packet);
	if (!s->message.failed)
		sink_put(s->sink, s->message.data, s->message.n);
}

dck_status perfetto_samples_close(perfetto_samples *s, dck_err *err)
{
	const bool failed = s->message.failed || s->path_known.failed || s->frame_known.failed ||
			    string_table_failed(&s->files);

	samples_free(s);
	DCK_NEED(!failed, err, "for the samples of a trace");
	return DCK_OK;
}
