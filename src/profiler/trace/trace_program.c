/* trace_program.c - `deepclock trace`: starts a program with the recorder's options in its
 * environment, waits for it, and makes the record.
 *
 * Order of work: check the options; make a directory for results; put LD_PRELOAD (blocking calls),
 * the injection variables of NVTX and ITT, and DEEPCLOCK_TRACE_* into the environment; start and
 * wait; make the record of what the recorder left (result/zone_record.h); merge the traces of child
 * processes (trace_children.c); add what only the parent knows: the command line, the wall time,
 * the machine's other load, samples (trace_samples.c). Variables for NVTX and ITT that the user has
 * set stay.
 *
 * The result's file is the protocol between recorder and parent. If it does not exist, nothing was
 * recorded. If it is empty, the recorder did not finish: the trace is read instead, and p->cut
 * is set with the reason. A cancelled run that recorded gives an incomplete record. The directory
 * is removed on every path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/trace.h"
#include "deepclock/unstable.h"
#include "profiler/read/trace_read.h"
#include "profiler/write/formats.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "record/copy.h"
#include "record/others.h"
#include "record/program_end.h"
#include "record/program_file.h"
#include "profiler/timeline/timeline.h"
#include "profiler/trace/result/lost_children.h"
#include "profiler/trace/result/zone_record.h"
#include "profiler/trace/trace_children.h"
#include "profiler/trace/trace_options.h"
#include "profiler/trace/trace_program.h"
#include "profiler/trace/trace_samples.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SET_MAX = 64 }; /* variables */

/* Variables that name the library which annotations load. */
static const char *const annotations[] = {"NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64"};

/* Returns whether 64 KiB, more than most records need, can be written there. */
static bool temp_has_space(const char *directory)
{
	static const char zeros[4096];
	char path[OS_TEMP_SIZE + 8];
	dck_sink s;
	int fd;

	snprintf(path, sizeof path, "%s/room", directory);
	if (os_open_append(path, &fd, NULL) != DCK_OK)
		return false;
	dck_sink_fd(&s, fd);
	for (int i = 0; i < 16; i++)
		sink_put(&s, zeros, sizeof zeros);
	const bool ok = dck_sink_finish(&s, NULL) == DCK_OK;
	os_close(fd);
	return ok;
}

static const char *why_cut(const char *directory)
{
	return temp_has_space(directory)
		   ? "its recording has no end: it exited by a direct system call, as in Go; or "
		     "exec() replaced it by a program that cannot be recorded; or a seccomp "
		     "filter forbade recording; or no descriptor was free (ulimit -n), or a file "
		     "could not be as large (ulimit -f)"
	       : os_file_size_limit() != UINT64_MAX
		   ? "its recording has no end: a file may not be as large (ulimit -f)"
		   : "its recording has no end: the directory for temporary files is full (set "
		     "TMPDIR to another)";
}

/* Makes the record of a program that left none. announced: it had started to record, so its trace
 * has the events. why: the reason that no library was preloaded, or NULL. */
static dck_status ended(const dck_trace_config *c, dck_program *p, bool announced, const char *why,
			dck_record **ret, dck_err *err)
{
	const char *name = p->argv[0];

	uint64_t bytes = 0;

	p->cut = announced;
	if (announced && os_path_kind(c->path, &bytes) == OS_FILE && bytes == 0)
		os_file_remove(c->path); /* it would be no trace */
	const bool by_itself = announced && !p->signal && !why;
	if (announced && os_path_kind(c->path, &bytes) == OS_FILE && bytes > 0) {
		dck_record *read;

		DCK_TRY(trace_read_cut(c->path, &(dck_trace_reading){.percentiles = c->percentiles},
				       &read, err));
		if (!by_itself || record_has_rows(read)) {
			*ret = read;
			return DCK_OK;
		}
		dck_record_free(read);
	}
	if (by_itself)
		DCK_FAIL(err, E_ABSENT, "'%.200s' recorded nothing: %s", name, p->cut_why);
	if (p->signal)
		DCK_FAIL(err, E_ENGINE, "'%.200s' was killed by signal %d (%s), %s", name,
			 p->signal, strsignal(p->signal),
			 announced ? "before any of its trace was written"
				   : "and recorded nothing");
	if (announced)
		DCK_FAIL(err, E_ENGINE, "'%.200s' ended before any of its trace was written", name);
	DCK_FAIL(err, E_ABSENT,
		 "'%.200s' recorded nothing: it is not linked with libdeepclock, has no ranges of "
		 "NVTX or ITT, and its blocking calls are not observed: %s",
		 name, why ? why : "it ended before anything was recorded");
}

/* Returns the variable that preloads the library, or NULL with the reason in *ret_why. */
static const char *preload_find(mem_arena *a, const dck_trace_config *c, const char *program,
				const char **ret_why)
{
	static const char *const remedies[OS_PRELOAD_OBSTACLES] = {
	    [OS_PRELOAD_GO] = "'go tool trace' shows its waits",
	    [OS_PRELOAD_STATIC] = OS_PRELOAD_LINKED,
	    [OS_PRELOAD_SETUID] = OS_PRELOAD_AS_USER,
	};

	if (!c->no_waits)
		return os_preload_env(a, "libdeepclock_preload.so", program, remedies, ret_why);
	*ret_why = "--no-waits";
	return NULL;
}

/* Puts the library with the collective functions of MPI in front too. NULL stays. */
static const char *mpi_preload_add(mem_arena *a, const char *preload)
{
	const char *library = preload ? os_library_beside(a, "libdeepclock_mpi.so") : NULL;

	return library ? mem_arena_fmt(a, "LD_PRELOAD=%s:%s", library, strchr(preload, '=') + 1)
		       : preload;
}

static const char injection[] = "CUDA_INJECTION64_PATH"; /* what CUDA's driver loads */

/* Returns the variable by which CUDA's driver loads the collector, or NULL with the reason in
 * *ret_why. */
static const char *cuda_injection_find(mem_arena *a, const char **ret_why)
{
	static const char file[] = "libdeepclock_cuda.so";
	const char *theirs = secure_getenv(injection), *library = os_library_beside(a, file);

	if (theirs && *theirs)
		*ret_why =
		    mem_arena_fmt(a, "%s is set, to another profiler's library (%s): unset it",
				  injection, theirs);
	else if (os_sanitizer_name())
		*ret_why = "libdeepclock has a sanitizer in it";
	else if (!library)
		*ret_why = mem_arena_fmt(a, "%s is not installed with deepclock", file);
	else
		return mem_arena_fmt(a, "%s=%s", injection, library);
	return NULL;
}

/* Returns the variable with the directories of CUPTI in the packages of the program, if it is
 * Python, else of the python3 in PATH; NULL: none. In a virtual environment the interpreter is a
 * link, and its packages come second. */
static const char *cuda_packages_find(mem_arena *a, const char *program)
{
	static const char *const packages[] = {"lib/python3*/site-packages/nvidia/cu13/lib",
					       "lib/python3*/site-packages/nvidia/cuda_cupti/lib"};
	const char *name = os_path_base(program);
	const char *places = "";
	char *path = NULL, real[PATH_MAX];

	if (os_find_program(strncmp(name, "python", 6) == 0 ? program : "python3", &path, NULL) !=
	    DCK_OK)
		return NULL;
	const char *resolved = realpath(path, real), *interpreters[] = {path, resolved};
	for (size_t i = 0; i < 2 && interpreters[i]; i++) {
		const char *bin = strrchr(interpreters[i], '/');
		const size_t n = bin ? (size_t)(bin - interpreters[i]) : 0;
		const char *directory = n ? mem_arena_dup_n(a, interpreters[i], n) : NULL;

		for (size_t k = 0; directory && k < 2; k++) {
			const char *found =
			    os_path_newest(a, directory, mem_arena_fmt(a, "../%s", packages[k]));

			if (found)
				places =
				    mem_arena_fmt(a, "%s%s%s", places, *places ? ":" : "", found);
		}
	}
	mem_free(path);
	return places && *places ? mem_arena_fmt(a, "DEEPCLOCK_TRACE_CUPTI=%s", places) : NULL;
}

/* Adds the reason why GPUs were not recorded. why NULL: the program's collector reports it, if one
 * was loaded. */
static void cuda_put(record_builder *b, const dck_record *record, const char *why)
{
	if (dck_record_fact(record, "method", "cuda"))
		return;
	if (!why && dck_record_table(record, "device_zones")) {
		record_fact_absent(b, "method", "cuda", "the program was killed before its report");
		return;
	}
	if (!why)
		why = "the program did not initialise CUDA, or is linked with libdeepclock.a";
	record_fact_absent(b, "method", "cuda", why);
	record_note(b, "cuda-not-recorded", "no kernel was recorded: %s", why);
}

/* Makes the file beside that result in which children count recordings that left none. */
static lost_children *lost_children_make(mem_arena *a, const char *directory)
{
	static const lost_children none;
	const char *path = mem_arena_fmt(a, "%s/%s", directory, LOST_CHILDREN_NAME);
	lost_children *made = NULL;
	size_t bytes = 0;
	dck_sink out;
	int fd;

	if (!path || os_open_append(path, &fd, NULL) != DCK_OK)
		return NULL;
	dck_sink_fd(&out, fd);
	sink_put(&out, &none, sizeof none);
	if (dck_sink_finish(&out, NULL) == DCK_OK)
		made = os_file_map(path, true, sizeof none, &bytes);
	else
		os_file_remove(path);
	os_close(fd);
	return made;
}

static void lost_children_put(record_builder *b, const lost_children *lost)
{
	const uint32_t unwritten = lost ? atomic_load(&lost->unwritten) : 0;
	const uint32_t replaced = lost ? atomic_load(&lost->replaced) : 0;

	if (unwritten) {
		record_note(b, "programs-not-recorded",
			    "%u %s of child processes, or of programs that they started, "
			    "could not be written after setuid(), chroot() or in a sandbox (%s), "
			    "and %s not in this result",
			    unwritten, COUNTED(unwritten, "recording", "recordings"),
			    strerror(atomic_load(&lost->error)), COUNTED(unwritten, "is", "are"));
		record_remedy(b, "%s", program_file_remedy(EACCES));
	}
	if (replaced) {
		record_note(b, "programs-not-recorded",
			    "%u %s not in this result, since a process called exec() more "
			    "than %d times",
			    replaced, COUNTED(replaced, "recording is", "recordings are"),
			    (int)LOST_CHILDREN_PARTS);
		record_remedy(b, "trace the program that it becomes alone");
	}
}

/* Writes the command that shows the file, quoted for a shell. */
static void next_put(record_builder *b, const char *path)
{
	const char *quote = path[strcspn(path, " \t\n\"$&;|<>()*?[]#~`\\!{}")] ? "'" : "";
	char next[4200];

	if (!dck_trace_is(path) || strchr(path, '\'') || strlen(path) > 4096)
		return;
	snprintf(next, sizeof next, "deepclock view %s%s%s", quote, path, quote);
	record_fact_text(b, "result", "next", next);
}

/* Adds what only the parent knows: the command line, and the time from start to end of the program,
 * without the recorder's start and the work on traces afterwards. On failure *record is freed. */
static dck_status took_put(const dck_program *p, const char *path, uint64_t ns,
			   const program_end *end, const record_others *others,
			   const lost_children *lost, trace_samples *samples, bool with_cuda,
			   const char *cuda_why, dck_record **record, dck_err *err)
{
	record_builder *b = record_begin_program(p->argv);
	dck_status st = DCK_OK;
	dck_record *with;

	if (!b) {
		dck_record_free(*record);
		return ERR_NO_MEMORY(err, "for the record");
	}
	record_set_id(b, (*record)->id);
	record_copy(b, *record);
	record_copy_tables(b, *record);
	if (end->cancelled)
		record_set_incomplete(b, true);
	program_end_put(end, b);
	record_fact_int(b, "trace", "program_elapsed", DCK_UNIT_NS, (int64_t)ns);
	record_others_put(others, b, "trace", false);
	lost_children_put(b, lost);
	next_put(b, path);
	if (with_cuda)
		cuda_put(b, *record, cuda_why);
	if (samples)
		st = trace_samples_put(samples, *record, path,
				       p->cut ? "it may end in the middle of a packet" : NULL, b,
				       err);
	st = record_finish_if(st, b, &with, err);
	dck_record_free(*record);
	*record = st == DCK_OK ? with : NULL;
	return st;
}

dck_status trace_program_environment(mem_arena *a, const dck_trace_config *c, const char *result,
				     const char **set, size_t max, size_t *n, dck_err *err)
{
	/* .so and .so.1, not the directory of object files in a build, .so.1.p. */
	const char *library = os_library_beside(a, "libdeepclock_zones.s*[o0-9]"),
		   *tick = trace_tick_put(a);
	const char *own[4];
	size_t k = 0;

	own[k++] = "DEEPCLOCK_TRACE_BY=0000000000"; /* space for a number */
	own[k++] = mem_arena_fmt(a, "DEEPCLOCK_TRACE_RESULT=%s", result);
	for (size_t i = 0; library && i < sizeof annotations / sizeof annotations[0]; i++)
		if (!secure_getenv(annotations[i])) /* the user's stays */
			own[k++] = mem_arena_fmt(a, "%s=%s", annotations[i], library);
	for (size_t i = 0; i < k && *n < max; i++)
		set[(*n)++] = own[i];
	if (tick && *n < max)
		set[(*n)++] = tick;
	return trace_environment_put(a, c, set, max, n, err);
}

static dck_status traced_run(const dck_trace_config *c, uint32_t mpi_ranks, dck_program *p,
			     const char *directory, dck_record **ret, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	os_child_usage usage;
	dck_record *first = NULL;
	trace_samples *samples = NULL;
	dck_trace_config own = *c;
	record_others others;
	program_end end;
	pid_t pid;

	DCK_NEED(a, err, "for the environment of a program");
	const char *result = mem_arena_fmt(a, "%s/run.result", directory);
	lost_children *lost = lost_children_make(a, directory);
	const char *why = NULL, *preload = preload_find(a, c, p->argv[0], &why);
	const char *set[SET_MAX + 1] = {NULL};
	size_t nset = 0;
	const os_spawn_config spawn = {
	    .argv = p->argv, .in_fd = 0, .out_fd = 1, .err_fd = 2, .keep_fd = -1, .set = set};
	if (mpi_ranks) {
		preload = mpi_preload_add(a, preload);
		set[nset++] = mem_arena_fmt(a, "DEEPCLOCK_RANKS_MPI=%u", mpi_ranks);
	}
	if (preload)
		set[nset++] = preload;
	set[nset++] = program_end_begin(&end); /* not before LD_PRELOAD: trace_samples.h */
	set[nset++] = mem_arena_fmt(a, "DEEPCLOCK_TRACE_WAITS_WHY=%s", why ? why : "");
	const char *cuda_why = NULL, *cuda = c->cuda ? cuda_injection_find(a, &cuda_why) : NULL;
	const char *packages = cuda ? cuda_packages_find(a, p->argv[0]) : NULL;
	if (cuda)
		set[nset++] = cuda;
	if (packages)
		set[nset++] = packages;
	/* A child in another directory uses the same file. */
	own.path = trace_path_absolute(a, c->path);
	dck_status st =
	    c->sample ? trace_samples_begin(c, p->argv, directory, &samples, err) : DCK_OK;
	if (samples)
		trace_samples_environment(samples, a, set, SET_MAX, &nset);
	DCK_NEXT(st, trace_program_environment(a, &own, result, set, SET_MAX, &nset, err));
	record_others_begin(&others, 0);
	const uint64_t begin = os_now_ns();
	DCK_NEXT(st, os_spawn(&spawn, &pid, err));
	DCK_NEXT(st, os_wait(pid, 0, p->cancelled, p->self, &usage, err));
	const uint64_t took = os_now_ns() - begin;
	record_others_end(&others);
	/* The events recorded until then are reported. */
	const bool cancelled = st == DCK_E_CANCEL;
	if (st == DCK_OK || cancelled) {
		program_end_find(&end, &usage, cancelled);
		st = samples ? trace_samples_end(samples, &usage, err) : DCK_OK;
		p->exit_code = usage.exit_code;
		p->signal = usage.signal;
		uint64_t bytes = 0;
		bool announced = os_path_kind(result, &bytes) == OS_FILE;
		if (st == DCK_OK && bytes)
			st = zone_record_load(result, &first, err);
		if (st == DCK_OK && announced)
			st = trace_children_join(&own, p->argv[0], result, &first, err);
		if (st != DCK_OK)
			dck_record_free(first);
		if (st == DCK_OK && !bytes)
			p->cut = announced;
		if (p->cut && !p->signal)
			p->cut_why = why_cut(directory);
		if (st == DCK_OK && first)
			*ret = first;
		else if (st == DCK_OK && cancelled && !announced)
			st = ERR_SET(err, E_CANCEL, "cancelled before it recorded");
		else if (st == DCK_OK)
			st = ended(c, p, announced, why, ret, err);
		DCK_NEXT(st, took_put(p, c->path, took, &end, &others, lost, samples, c->cuda,
				      cuda_why, ret, err));
	}
	trace_samples_free(samples);
	os_file_unmap(lost, sizeof *lost);
	mem_arena_free(a);
	return st;
}

dck_status dck_trace_program_run(const dck_trace_config *config, dck_program *p, dck_record **ret,
				 dck_err *err)
{
	return trace_program_run(config, 0, p, ret, err);
}

dck_status trace_program_run(const dck_trace_config *config, uint32_t mpi_ranks, dck_program *p,
			     dck_record **ret, dck_err *err)
{
	char directory[OS_TEMP_SIZE];

	DCK_TRY(program_given(p->argv, err));
	if (!config || !config->path)
		DCK_FAIL(err, E_ARG, "a program is recorded into a file, and none is named");
	DCK_TRY(trace_suffix_check(config->path, err));
	DCK_TRY(trace_config_check(config, err));
	DCK_TRY(os_temp_dir(directory, err));
	dck_status st = traced_run(config, mpi_ranks, p, directory, ret, err);
	os_temp_dir_remove(directory);
	return st;
}
