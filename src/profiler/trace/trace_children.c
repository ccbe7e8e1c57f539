/* trace_children.c - joins the traces of a program's processes after its end: finds the children's
 * files, merges them (trace_merge.c) into the trace of the first process, and makes one record.
 *
 * The directory of the run is the registry: a process that records has a record there, whose name
 * gives that of its trace. A child still runs if it holds the lock of its trace (fcntl(2)), ended
 * if its record has text, was replaced by exec() if that is "exec", and was killed if the record is
 * empty. Running children get one second to end (children_await()), then their traces stay
 * separate.
 *
 * The merged trace is a temporary file that replaces the first one by rename(2), and only then the
 * children's traces are removed: after a failure all traces are as before, and a note has the
 * reason. Formats other than Perfetto's, --max-size and --children apart are not merged
 * (children_reason_of()).
 *
 * At most CHILDREN_MAX children are merged. said[0] is the caller's record, the others belong to
 * `child_traces`, whose arena has the names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/trace_children.h"
#include "deepclock/trace.h"
#include "deepclock/unstable.h"
#include "profiler/write/formats.h"

#include "base/err.h"
#include "base/sink.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "record/copy.h"
#include "profiler/trace/result/child_result.h"
#include "profiler/trace/result/zone_record.h"
#include "profiler/read/trace_merge.h"

#include <stdio.h>
#include <string.h>

/* --- the children */

enum { CHILDREN_MAX = 4095 };

typedef struct child_traces {
	mem_arena *arena;
	const char *out;	 /* the first process's trace */
	size_t stem;		 /* of run.result, without the extension */
	const char **paths;	 /* @owned: traces; the first process's is [0] */
	const dck_record **said; /* @owned, with the records; NULL: it has none */
	size_t n, cut, running, left_out;
	size_t empty; /* traces that were removed */
	zone_percentiles percentiles;
	bool no_memory;
} child_traces;

/* Returns the trace OUT.4711.pftrace of DIRECTORY/run.4711.result. */
static const char *trace_of(const child_traces *c, const char *record)
{
	const size_t n = strlen(c->out), k = trace_suffix_of(c->out).n;
	const char *name = record + c->stem;

	return mem_arena_fmt(c->arena, "%.*s%.*s%s", (int)(n - k), c->out,
			     (int)(strlen(name) - (sizeof TRACE_RESULT_ENDING - 1)), name,
			     c->out + n - k);
}

static void children_found(void *self, const char *record)
{
	child_traces *c = self;
	const char *path = trace_of(c, record);
	dck_record *said = NULL;
	uint64_t bytes = 0;

	if (!path) {
		c->no_memory = true;
		return;
	}
	if (os_path_kind(path, &bytes) != OS_FILE)
		return;
	if (os_file_is_locked(path)) {
		c->running++;
		return;
	}
	if (c->n > CHILDREN_MAX) {
		c->left_out++;
		return;
	}
	if (os_path_kind(record, &bytes) != OS_FILE)
		bytes = 0;
	if (bytes >= sizeof TRACE_RESULT_BECAME && zone_record_load(record, &said, NULL) != DCK_OK)
		said = NULL;
	c->cut += !said && bytes != sizeof TRACE_RESULT_BECAME - 1;
	c->paths[c->n] = path;
	c->said[c->n++] = said;
}

/* --- the record of all */

static int64_t children_count_of(const dck_record *r, const char *key)
{
	const dck_fact *f = r ? dck_record_fact(r, "trace", key) : NULL;

	return f && f->value.kind == DCK_VALUE_INT ? f->value.as.i : 0;
}

static int64_t children_sum_of(const child_traces *c, const char *key)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += children_count_of(c->said[i], key);
	return sum;
}

static int64_t children_most_of(const child_traces *c, const char *key)
{
	int64_t most = 0;

	for (size_t i = 0; i < c->n; i++) {
		const int64_t n = children_count_of(c->said[i], key);

		most = n > most ? n : most;
	}
	return most;
}

/* Writes the sum of a fact over the processes, if one has it. */
static void children_fact_put(record_builder *b, const child_traces *c, const char *section,
			      const char *key)
{
	const dck_fact *found = NULL;
	int64_t sum = 0;

	for (size_t i = 0; i < c->n; i++) {
		const dck_fact *f = c->said[i] ? dck_record_fact(c->said[i], section, key) : NULL;

		if (!f || f->value.kind != DCK_VALUE_INT)
			continue;
		found = f;
		sum += f->value.as.i;
	}
	if (found)
		record_fact_int(b, section, key, found->unit, sum);
}

static void children_sums_put(record_builder *b, const child_traces *c)
{
	static const char *const always[] = {"dropped_events", "unfinished_ranges",
					     "unmatched_ends", "moved_events", "events_left_out"};
	static const struct {
		const char *section, *key;
	} sums[] = {{"trace", "buffer_full_waits"},
		    {"trace", "buffer_full_time"},
		    {"trace", "values_left_out"},
		    {"trace", "threads_without_counters"},
		    {"trace", "dumps"},
		    {"trace", "dumps_failed"},
		    {"trace", "dumps_left_out"},
		    {"trace", "over_limit"},
		    {"trace", "captures_left_out"},
		    {"method", "recorder_cpu"},
		    {"method", "thread_polls"},
		    {"method", "thread_polls_cpu"}};

	for (size_t k = 0; k < sizeof always / sizeof always[0]; k++)
		record_fact_int(b, "trace", always[k], DCK_UNIT_ONE, children_sum_of(c, always[k]));
	for (size_t k = 0; k < sizeof sums / sizeof sums[0]; k++)
		children_fact_put(b, c, sums[k].section, sums[k].key);
	if (!c->said[0] || !dck_record_fact(c->said[0], "trace", "capture_range"))
		return;
	record_fact_int(b, "trace", "captures", DCK_UNIT_ONE, children_sum_of(c, "captures"));
	record_fact_int(b, "trace", "captured", DCK_UNIT_NS, children_sum_of(c, "captured"));
}

/* Often a launcher starts the processes that use GPUs. */
static void children_cuda_put(record_builder *b, const child_traces *c)
{
	static const char *const keys[] = {"cuda_calls", "cuda_ranges", "cuda_dropped",
					   "cuda_unfinished", "cuda_without_call"};
	const dck_fact *found = NULL;

	for (size_t i = 0; i < c->n && !found; i++) {
		found = c->said[i] ? dck_record_fact(c->said[i], "method", "cuda") : NULL;
		found = found && found->value.kind == DCK_VALUE_TEXT ? found : NULL;
	}
	if (!found)
		return;
	record_fact_text(b, "method", "cuda", found->value.as.text);
	for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
		record_fact_int(b, "trace", keys[k], DCK_UNIT_ONE, children_sum_of(c, keys[k]));
	/* Their peaks need not be at one time. */
	record_fact_int(b, "trace", "cuda_memory_peak", DCK_UNIT_BYTE,
			children_most_of(c, "cuda_memory_peak"));
}

/* Returns whether a note of process i is copied: the note that it captured nothing is relevant
 * only if no process captured anything. */
static bool is_said(const child_traces *c, size_t i, const dck_note *note)
{
	return strcmp(note->code, "trace-not-captured") != 0 ||
	       (i == 0 && !children_sum_of(c, "captures"));
}

static const char not_whole[] = "trace-not-whole";

/* from: the first process whose notes are copied. code: one note alone; NULL: all. */
static void children_notes_copy(record_builder *b, const child_traces *c, size_t from,
				const char *code)
{
	for (size_t i = from; i < c->n; i++)
		for (size_t k = 0; c->said[i] && k < c->said[i]->nnotes; k++) {
			const dck_note *note = &c->said[i]->notes[k];

			if (code && strcmp(note->code, code) != 0)
				continue;
			if (strcmp(note->code, not_whole) == 0)
				record_set_incomplete(b, true);
			if (is_said(c, i, note))
				record_note_of(b, note, "'%s': ", c->paths[i]);
		}
}

static void children_cut_note(record_builder *b, const child_traces *c)
{
	if (!c->said[0]) /* a killed child ends before the measurement does */
		record_set_incomplete(b, true);
	if (c->cut)
		record_note(
		    b, "trace-child-cut",
		    "%zu of %zu processes with a trace did not exit normally (for example a signal "
		    "or _exit()): it has their events until about a tenth of a second before",
		    c->cut, c->n + c->empty);
}

static void apart_note(record_builder *b, const child_traces *c, const char *why)
{
	record_note(b, "trace-separate",
		    "the traces of %zu child processes are separate files, such as '%s', and not "
		    "in the table: %s",
		    c->n > 1 ? c->n - 1 : c->running, c->n > 1 ? c->paths[1] : c->out, why);
}

static void running_note(record_builder *b, const child_traces *c)
{
	if (c->running + c->left_out)
		record_note(
		    b, "trace-separate",
		    "%zu child processes still ran when the program ended, or were more than %d: "
		    "their traces are separate files next to '%s', and not in the table",
		    c->running + c->left_out, (int)CHILDREN_MAX, c->out);
}

/* --- joining */

static dck_status written(const child_traces *c, const char *title, int fd, dck_record **ret,
			  dck_err *err)
{
	dck_sink sink;
	const trace_merge_plan plan = {.paths = c->paths,
				       .n = c->n,
				       .format = trace_suffix_of(c->out).format,
				       .out = &sink,
				       .cut = c->cut,
				       .percentiles = c->percentiles};
	record_builder *b = record_begin(title);

	DCK_NEED(b, err, "for the record");
	dck_sink_fd(&sink, fd);
	if (c->said[0])
		record_copy_facts(b, c->said[0]);
	dck_status status = trace_merge(&plan, b, err);
	DCK_NEXT(status, dck_sink_finish(&sink, err));
	uint64_t bytes = 0;
	os_fd_kind(fd, &bytes);
	record_fact_text(b, "trace", "file", c->out);
	record_fact_int(b, "trace", "file_size", DCK_UNIT_BYTE, (int64_t)bytes);
	children_sums_put(b, c);
	children_cuda_put(b, c);
	children_notes_copy(b, c, 0, NULL);
	children_cut_note(b, c);
	running_note(b, c);
	return record_finish_if(status, b, ret, err);
}

static dck_status children_join(const child_traces *c, const char *title, dck_record **ret,
				dck_err *err)
{
	dck_replace *replace;
	int fd;

	DCK_TRY(dck_replace_open(c->out, &replace, &fd, err));
	dck_status status = written(c, title, fd, ret, err);
	if (status != DCK_OK) {
		dck_replace_abort(replace);
		return status;
	}
	status = dck_replace_commit(replace, err);
	if (status != DCK_OK) {
		dck_record_free(*ret);
		return status;
	}
	for (size_t i = 1; i < c->n; i++)
		os_file_remove(c->paths[i]);
	return DCK_OK;
}

/* Copies the first process's record, and adds notes on its children. failed: the traces could not
 * be joined, and why has the error. */
static dck_status children_alone(const child_traces *c, const char *why, bool failed,
				 dck_record **record, dck_err *err)
{
	record_builder *b;
	dck_record *with;

	if (!*record || (c->n < 2 && !c->running && !c->empty))
		return DCK_OK;
	b = record_begin((*record)->command);
	DCK_NEED(b, err, "for the record");
	record_set_began(b, (*record)->began_unix_ns);
	record_copy_facts(b, *record);
	for (size_t i = 0; i < (*record)->nnotes; i++)
		if (is_said(c, 0, &(*record)->notes[i]))
			record_note_copy(b, &(*record)->notes[i]);
	record_set_incomplete(b, (*record)->incomplete || failed || c->empty);
	record_copy_tables(b, *record);
	if (failed && c->n > 1)
		record_note(b, not_whole,
			    "the traces of %zu child processes stay separate files, such as '%s', "
			    "and are not in the table: %s",
			    c->n - 1, c->paths[1], why);
	else if (why && c->n > 1)
		apart_note(b, c, why);
	if (c->empty)
		record_note(b, not_whole,
			    "the traces of %zu child processes had no content, and were removed",
			    c->empty);
	children_notes_copy(b, c, 1, not_whole);
	if (failed || c->empty)
		children_cut_note(b, c);
	running_note(b, c);
	DCK_TRY(record_finish(b, &with, err));
	dck_record_free(*record);
	*record = with;
	return DCK_OK;
}

/* Returns why the traces stay separate, or NULL if they can be merged. */
static const char *children_reason_of(const dck_trace_config *config, const child_traces *c)
{
	const trace_suffix e = trace_suffix_of(c->out);

	if (config->children == DCK_TRACE_APART)
		return "--children apart";
	if (!e.format || e.gzip || strcmp(e.format->name, "perfetto") != 0)
		return "only Perfetto files (.pftrace) are merged";
	if (config->max_size)
		return "together they might be larger than --max-size";
	if (os_file_is_locked(c->out))
		return "the process that began the trace still runs";
	if (os_path_kind(c->out, NULL) != OS_FILE)
		return "the trace is not a file";
	return NULL;
}

/* Removes empty traces, which a full disk leaves. */
static void empty_remove(child_traces *c)
{
	size_t kept = 1;

	for (size_t i = 1; i < c->n; i++) {
		uint64_t bytes = 0;

		if (os_path_kind(c->paths[i], &bytes) == OS_FILE && bytes == 0) {
			c->empty++;
			os_file_remove(c->paths[i]);
			dck_record_free((dck_record *)(uintptr_t)c->said[i]);
			continue;
		}
		c->paths[kept] = c->paths[i];
		c->said[kept++] = c->said[i];
	}
	c->n = c->n ? kept : 0;
}

static dck_status joined(const dck_trace_config *config, const char *title, child_traces *c,
			 dck_record **record, dck_err *err)
{
	const char *why = children_reason_of(config, c);
	dck_record *all;
	dck_err failed = {0};

	DCK_NEED(!c->no_memory && !mem_arena_failed(c->arena), err,
		 "for the traces of child processes");
	if (c->n < 2 || why || children_join(c, title, &all, &failed) != DCK_OK) {
		empty_remove(c);
		return children_alone(c, why ? why : failed.msg, c->n > 1 && !why, record, err);
	}
	dck_record_free(*record);
	c->said[0] = NULL;
	*record = all;
	return DCK_OK;
}

static void held_count(void *self, const char *record)
{
	child_traces *c = self;
	const char *path = trace_of(c, record);

	c->running += path && os_file_is_locked(path);
}

/* Calls f for the record of each child: it is in the directory of the program's record, whose name
 * it extends. */
static void records_each(child_traces *c, const char *result_path, void (*f)(void *, const char *))
{
	const char *slash = strrchr(result_path, '/');
	const size_t directory = slash ? (size_t)(slash + 1 - result_path) : 0;
	const char *name = mem_arena_dup_n(c->arena, result_path + directory, c->stem - directory);
	const char *quoted = name ? os_glob_escape(c->arena, name) : NULL;

	if (quoted)
		os_glob_each(mem_arena_dup_n(c->arena, result_path, directory),
			     mem_arena_fmt(c->arena, "%s.*%s", quoted, TRACE_RESULT_ENDING), f, c);
}

/* Waits for children that end because the program did, such as the helpers of Python's
 * multiprocessing. A signal ends the wait. */
static void children_await(child_traces *c, const char *result_path)
{
	enum { ROUNDS = 20, ROUND_NS = 50000000 };

	for (int i = 0; i < ROUNDS; i++) {
		records_each(c, result_path, held_count);
		const bool wait = c->running > 0;
		c->running = 0; /* children_found() counts the remaining ones */
		if (!wait || !os_sleep_ns(ROUND_NS, NULL, NULL))
			return;
	}
}

dck_status trace_children_join(const dck_trace_config *config, const char *title,
			       const char *result_path, dck_record **record, dck_err *err)
{
	zone_percentiles percentiles;

	DCK_TRY(zone_percentiles_read(config->percentiles, &percentiles, err));
	child_traces c = {.arena = mem_arena_new(0),
			  .percentiles = percentiles,
			  .out = config->path,
			  .stem = strlen(result_path) - (sizeof TRACE_RESULT_ENDING - 1),
			  .paths = mem_zalloc(CHILDREN_MAX + 1, sizeof *c.paths),
			  .said = mem_zalloc(CHILDREN_MAX + 1, sizeof *c.said)};
	dck_status status = DCK_OK;

	if (c.arena && c.paths && c.said) {
		children_await(&c, result_path);
		c.paths[c.n] = config->path;
		c.said[c.n++] = *record;
		c.cut = !*record;
		records_each(&c, result_path, children_found);
		status = joined(config, title, &c, record, err);
	} else {
		status = ERR_NO_MEMORY(err, "for the traces of child processes");
	}
	for (size_t i = 1; c.said && i < c.n; i++)
		dck_record_free((dck_record *)(uintptr_t)c.said[i]);
	mem_free(c.paths);
	mem_free(c.said);
	mem_arena_free(c.arena);
	return status;
}
