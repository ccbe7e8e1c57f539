/* worker.c - runs a measurement in a fresh process: options to words, spawn, wait, read the record.
 *
 * The child is the deepclock program. worker_words() writes each option that differs from its
 * default as "--name=value". The result comes back in a memfd that the child inherits
 * (--worker-fd): a record as JSON, or "!CODE MESSAGE". A pipe would have to be read during the run,
 * which disturbs it.
 *
 * While os_wait() polls, guard_asked() samples the resident memory and kills a child that exceeds
 * memory_bytes; data_bytes is its RLIMIT_DATA. The child leads a process group and is the first
 * choice of the OOM killer (oom_score_adj). Without a result end_read() classifies the end by
 * signal, exit status, and the OOM kills that the kernel counted during the run.
 *
 * worker_link_*(): a worker that stays has one end of a socket pair instead of a memfd, and answers
 * requests of fixed size, defined by its caller (study/compare/trial_process.c). It ends when the
 * connection is closed.
 *
 * Bounds: WORDS_MAX words, RECORD_BYTES_MAX bytes of result. The result is parsed as untrusted
 * text. Every end of a child is a worker_end with a reason; worker_run() itself fails only if no
 * child could be run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/worker.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/opt_text.h"
#include "base/units.h"
#include "measure/subject/model_content.h"
#include "os/os.h"
#include "record/build.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX	  512
#define RECORD_BYTES_MAX  ((size_t)1 << 30)
#define VERSION_BYTES_MAX 4096
#define VERSION_NS	  UINT64_C(5000000000) /* a program that takes longer is another one */

/* --- options as words */

typedef struct words {
	mem_arena *arena;
	const char **argv;
	size_t n, max;
} words;

static dck_status word_add(words *w, const char *word, dck_err *err)
{
	DCK_NEED(word, err, "for a worker's options");
	if (w->n + 1 >= w->max) /* the NULL at the end */
		DCK_FAIL(err, E_LIMIT, "the worker's command has more than %zu words", w->max - 1);
	w->argv[w->n++] = word;
	return DCK_OK;
}

static dck_status worker_row_add(words *w, const dck_opt *o, const void *cfg, const void *plain,
				 dck_err *err)
{
	if (o->kind == DCK_OPT_LIST) {
		const dck_list *list = (const void *)((const char *)cfg + o->at);

		for (size_t i = 0; i < list->n; i++)
			DCK_TRY(word_add(
			    w, mem_arena_fmt(w->arena, "--%s=%s", o->name, list->item[i]), err));
		return DCK_OK;
	}
	const bool given = o->given && *(const bool *)((const char *)cfg + o->given);

	if (!given && opt_same(o, cfg, plain))
		return DCK_OK;
	const char *text = opt_text(w->arena, o, cfg);
	if (!text)
		return mem_arena_failed(w->arena) ? word_add(w, NULL, err) : DCK_OK;
	/* A flag takes no value on the command line; none has the default true. */
	if (o->kind == DCK_OPT_FLAG)
		return word_add(w, mem_arena_fmt(w->arena, "--%s", o->name), err);
	return word_add(w, mem_arena_fmt(w->arena, "--%s=%s", o->name, text), err);
}

/* Returns the size of a config up to the last field that a row names. */
static size_t config_size(const dck_opt *table)
{
	size_t size = 0;

	for (const dck_opt *o = table; o->name; o++) {
		const size_t end = o->at + opt_sizes[o->kind];

		size = end > size ? end : size;
		size = o->given >= size ? o->given + sizeof(bool) : size;
	}
	return size;
}

dck_status worker_words(mem_arena *a, const dck_opt *table, const void *cfg, const char **argv,
			size_t max, size_t *n, dck_err *err)
{
	words w = {.arena = a, .argv = argv, .n = *n, .max = max};
	void *plain = mem_arena_alloc(a, config_size(table));

	DCK_NEED(plain, err, "for a worker's options");
	DCK_TRY(dck_opt_defaults(table, plain, err));
	for (const dck_opt *o = table; o->name; o++)
		DCK_TRY(worker_row_add(&w, o, cfg, plain, err));
	*n = w.n;
	return DCK_OK;
}

dck_status worker_key(mem_arena *a, const dck_subject *s, const dck_opt *table, const void *config,
		      const char **ret, dck_err *err)
{
	const bool zoo = strncmp(s->text, "zoo:", 4) == 0;
	const char *argv[WORDS_MAX];
	char *key;
	os_host host;
	size_t n = 0;

	DCK_TRY(worker_words(a, table, config, argv, WORDS_MAX, &n, err));
	DCK_TRY(worker_words(a, dck_model_options, &s->model, argv, WORDS_MAX, &n, err));
	os_host_get(&host);
	key = mem_arena_fmt(a, "deepclock %s\n%s\ncontent %016llx\n%s", dck_version(), s->text,
			    (unsigned long long)(zoo ? 0 : model_content_hash(s->text)), host.cpu);
	for (size_t i = 0; key && i < n; i++)
		key = mem_arena_fmt(a, "%s\n%s", key, argv[i]);
	DCK_NEED(key, err, "for a journal");
	*ret = key;
	return DCK_OK;
}

/* --- the command line */

const char *worker_obstacle(const dck_subject *s, const dck_clock *clock)
{
	if (s->kind == DCK_SUBJECT_FUNCTION)
		return "a fresh process does not have a function of this one";
	if (s->model.arrays.n > 0)
		return "a fresh process does not have the arrays that are inputs here";
	if (clock)
		return "a fresh process does not have the clock of this one";
	return NULL;
}

const char *worker_model_word(mem_arena *a, const char *text)
{
	const bool other = text[0] == '-' || (text[0] != '/' && text[0] != '.' &&
					      strchr(text, ':') && strncmp(text, "zoo:", 4) != 0);

	return other ? mem_arena_fmt(a, "./%s", text) : text;
}

static dck_status subject_add(words *w, const dck_subject *s, dck_err *err)
{
	switch (s->kind) {
	case DCK_SUBJECT_FUNCTION:
		break;
	case DCK_SUBJECT_MODEL:
		return word_add(w, worker_model_word(w->arena, s->text), err);
	case DCK_SUBJECT_PLUGIN:
		return word_add(w, mem_arena_fmt(w->arena, "plugin:%s", s->text), err);
	case DCK_SUBJECT_COMMAND:
		DCK_TRY(word_add(w, "--", err));
		for (char *const *word = s->argv; *word; word++)
			DCK_TRY(word_add(w, *word, err));
		return DCK_OK;
	}
	DCK_FAIL(err, E_UNSUP, "an in-process function cannot be measured in a fresh process");
}

static dck_status command_make(words *w, const worker_job *job, int fd, bool stays, dck_err *err)
{
	const dck_subject *s = job->subject;
	dck_plan plan = *job->plan;

	if (!plan.program)
		DCK_FAIL(err, E_UNSUP,
			 "fresh processes need the deepclock program (dck_plan.program)");
	if (s->model.arrays.n > 0)
		DCK_FAIL(err, E_UNSUP,
			 "fresh processes do not see '%s', which is in memory here: save it with "
			 "numpy.save() and give the file",
			 s->model.arrays.item[0].name);
	plan.processes = 1;
	DCK_TRY(word_add(w, plan.program, err));
	DCK_TRY(word_add(w, job->command ? job->command : "bench", err));
	DCK_TRY(worker_words(w->arena, job->command ? job->options : dck_plan_options,
			     job->command ? job->config : &plan, w->argv, w->max, &w->n, err));
	DCK_TRY(worker_words(w->arena, dck_model_options, &s->model, w->argv, w->max, &w->n, err));
	DCK_TRY(
	    worker_words(w->arena, dck_command_options, &s->command, w->argv, w->max, &w->n, err));
	DCK_TRY(worker_words(w->arena, dck_hook_options, &s->command, w->argv, w->max, &w->n, err));
	if (stays)
		DCK_TRY(word_add(w, "--worker-trials", err));
	if (!job->command && plan.enough_ns > 0)
		DCK_TRY(word_add(w,
				 mem_arena_fmt(w->arena, "--worker-enough=%lluns",
					       (unsigned long long)plan.enough_ns),
				 err));
	DCK_TRY(word_add(w, mem_arena_fmt(w->arena, "--worker-fd=%d", fd), err));
	DCK_TRY(word_add(w, mem_arena_fmt(w->arena, "--worker-of=%ld", os_process_id()), err));
	DCK_TRY(subject_add(w, s, err));
	w->argv[w->n] = NULL;
	return DCK_OK;
}

/* --- the process */

/* The state of guard_asked() while a worker is waited for. */
typedef struct guard {
	const worker_job *job;
	pid_t pid;
	uint64_t peak_bytes;
	bool killed; /* by guard_asked(): it exceeded its memory */
} guard;

/* os_wait() calls it every 50 ms. It kills instead of cancelling, because a graceful end takes up
 * to two seconds, in which the child could allocate more. */
static bool guard_asked(void *self)
{
	guard *g = self;

	if (g->job->memory_bytes > 0 && !g->killed) {
		const uint64_t rss = os_child_rss(g->pid);

		g->peak_bytes = rss > g->peak_bytes ? rss : g->peak_bytes;
		if (rss > g->job->memory_bytes) {
			g->killed = true;
			os_child_kill(g->pid);
		}
	}
	return !g->killed && observer_cancelled(g->job->watch);
}

/* Reads "!CODE MESSAGE", which a worker writes instead of a record. */
static void worker_failure_read(const char *text, worker_result *ret)
{
	char *sentence = NULL;
	const long code = strtol(text + 1, &sentence, 10);
	const bool known = code < 0 && code >= DCK_E_CANCEL;
	const dck_status status = known ? (dck_status)code : DCK_E_ENGINE;

	err_set(&ret->why, status, __FILE__, __LINE__, "%s", sentence + strspn(sentence, " "));
	ret->end = status == DCK_E_CANCEL  ? WORKER_CANCELLED
		   : status == DCK_E_NOMEM ? WORKER_MEMORY
					   : WORKER_FAILED;
}

/* The exit status of a dynamic loader that cannot start a program, perhaps without memory. */
#define EXIT_LOADER 127

/* Whether the OOM killer ended processes while the worker ran. Other programs may kill a worker
 * too. */
typedef enum oom { OOM_NONE, OOM_SEEN, OOM_UNKNOWN } oom;
static const char *const killers[] = {
    [OOM_NONE] = " from outside and left no record",
    [OOM_SEEN] = " and left no record: there was no more memory",
    [OOM_UNKNOWN] = " and left no record: killed from outside, or out of memory",
};

typedef struct oom_count {
	bool known;
	uint64_t kills;
} oom_count;

static oom_count oom_now(void)
{
	oom_count c = {0};

	c.known = os_oom_kills("", &c.kills);
	return c;
}

static oom oom_since(const oom_count *before)
{
	const oom_count now = oom_now();

	if (!before->known || !now.known)
		return OOM_UNKNOWN;
	return now.kills > before->kills ? OOM_SEEN : OOM_NONE;
}

/* Classifies the end of a worker that left no result. */
static void end_read(const worker_job *job, const os_child_usage *usage, oom found,
		     worker_result *ret)
{
	/* A program that is refused memory ends in many ways: a C++ program with abort(). */
	const bool refused = job->data_bytes > 0 && !usage->killed &&
			     (usage->signal || usage->exit_code == EXIT_LOADER);
	const bool memory = refused || (usage->killed && found == OOM_SEEN);
	const char *so = refused ? ", probably out of memory" : "";

	ret->end = memory ? WORKER_MEMORY : WORKER_FAILED;
	ret->crashed = !memory;
	if (usage->signal)
		err_set(&ret->why, memory ? DCK_E_NOMEM : DCK_E_ENGINE, __FILE__, __LINE__,
			"a fresh process was killed by signal %d%s%s", usage->signal,
			usage->killed ? killers[found] : " and left no record", so);
	else
		err_set(&ret->why, memory ? DCK_E_NOMEM : DCK_E_ENGINE, __FILE__, __LINE__,
			"a fresh process ended with exit status %d and no record%s",
			usage->exit_code, so);
}

static void worker_over_limit(const worker_job *job, worker_result *ret)
{
	dck_record_free(ret->record);
	ret->record = NULL;
	ret->end = WORKER_MEMORY;
	ERR_SET(&ret->why, E_NOMEM, "it had %s of memory, %s are allowed",
		UNITS_BYTES((double)ret->peak_rss_bytes), UNITS_BYTES((double)job->memory_bytes));
}

/* Reads the result of a worker. */
static dck_status result_read(const worker_job *job, int fd, dck_status waited,
			      const os_child_usage *usage, oom found, worker_result *ret,
			      dck_err *err)
{
	dck_buffer text = {0};
	dck_status status = os_file_read_all(fd, RECORD_BYTES_MAX, &text, err);

	DCK_TRY(status);
	if (text.n > 0 && text.data[0] == '!') {
		worker_failure_read(text.data, ret);
	} else if (text.n > 0 && !usage->signal) {
		const dck_status parsed =
		    dck_record_parse(text.data, text.n, &ret->record, &ret->why);

		ret->end = parsed == DCK_OK ? WORKER_DONE : WORKER_FAILED;
	} else if (waited == DCK_E_CANCEL) {
		ret->end = WORKER_CANCELLED;
		err_set(&ret->why, waited, __FILE__, __LINE__, "interrupted");
	} else {
		end_read(job, usage, found, ret);
	}
	dck_buffer_done(&text);
	return status;
}

static uint64_t worker_peak_of(const worker_result *r)
{
	const double peak = r->record ? dck_record_value(r->record, "memory/peak_rss") : 0;

	return peak > (double)r->peak_rss_bytes ? (uint64_t)peak : r->peak_rss_bytes;
}

static dck_status worker_process_start(const worker_job *job, words *w, int fd, bool stays,
				       pid_t *ret, dck_err *err)
{
	DCK_TRY(command_make(w, job, fd, stays, err));
	const os_spawn_config config = {.argv = (char *const *)w->argv,
					.in_fd = -1,
					.out_fd = -1,
					.err_fd = job->quiet ? -1 : 2,
					.keep_fd = fd,
					.group = true};
	return os_spawn(&config, ret, err);
}

static dck_status worker_process_run(const worker_job *job, words *w, int fd, worker_result *ret,
				     dck_err *err)
{
	guard g = {.job = job};
	const oom_count before = oom_now();
	os_child_usage usage = {0};
	dck_status status;

	DCK_TRY(worker_process_start(job, w, fd, false, &g.pid, err));
	os_child_oom_first(g.pid);
	/* A sanitizer reserves terabytes for itself. */
	if (job->data_bytes > 0 && !os_sanitizer_name())
		os_child_limit_data(g.pid, job->data_bytes);
	status = os_wait(g.pid, 0, guard_asked, &g, &usage, err);
	/* A cancelled worker reports the runs that it has measured. */
	if (status != DCK_OK && status != DCK_E_CANCEL)
		return status;
	ret->peak_rss_bytes =
	    usage.peak_rss_bytes > g.peak_bytes ? usage.peak_rss_bytes : g.peak_bytes;
	DCK_TRY(result_read(job, fd, status, &usage, oom_since(&before), ret, err));
	ret->peak_rss_bytes = worker_peak_of(ret);
	/* The peak may have been between two samples. */
	if (g.killed || (job->memory_bytes > 0 && ret->peak_rss_bytes > job->memory_bytes))
		worker_over_limit(job, ret);
	return DCK_OK;
}

dck_status worker_run(const worker_job *job, worker_result *ret, dck_err *err)
{
	const char *argv[WORDS_MAX];
	words w = {.argv = argv, .max = WORDS_MAX, .arena = mem_arena_new(0)};
	worker_result result = {0};
	dck_status status;
	int fd;

	DCK_NEED(w.arena, err, "for a worker's options");
	/* A memfd: a pipe would have to be read while the worker runs, which disturbs it. */
	status = os_memfd(&fd, err);
	if (status == DCK_OK) {
		status = worker_process_run(job, &w, fd, &result, err);
		os_close(fd);
	}
	mem_arena_free(w.arena);
	if (status == DCK_OK)
		*ret = result;
	return status;
}

dck_status worker_record(const worker_job *job, dck_record **ret, dck_err *err)
{
	worker_result result;

	DCK_TRY(worker_run(job, &result, err));
	if (job->ret_crashed)
		*job->ret_crashed = result.crashed;
	if (result.end != WORKER_DONE)
		return err_set(err, result.why.code, __FILE__, __LINE__, "%s", result.why.msg);
	*ret = result.record;
	return DCK_OK;
}

/* --- a worker that stays */

dck_status worker_link_open(const worker_job *job, worker_link *ret, dck_err *err)
{
	const char *argv[WORDS_MAX];
	words w = {.argv = argv, .max = WORDS_MAX, .arena = mem_arena_new(0)};
	int ends[2];
	pid_t pid;
	dck_status status;

	DCK_NEED(w.arena, err, "for a worker's options");
	status = os_message_pair(ends, err);
	if (status == DCK_OK) {
		status = worker_process_start(job, &w, ends[1], true, &pid, err);
		os_close(ends[1]); /* the worker alone has it, so that its end is seen here */
		if (status == DCK_OK)
			*ret = (worker_link){pid, ends[0]};
		else
			os_close(ends[0]);
	}
	mem_arena_free(w.arena);
	return status;
}

static bool link_cancelled(void *watch)
{
	return observer_cancelled(watch);
}

/* Says how the worker ended, which it did. */
static dck_status link_ended(worker_link *l, const dck_observer *watch, dck_err *err)
{
	const worker_job job = {0};
	worker_result end = {0};
	os_child_usage usage;

	DCK_TRY(os_wait((pid_t)l->pid, 0, NULL, NULL, &usage, err));
	os_close(l->fd);
	*l = (worker_link){0};
	if (observer_cancelled(watch))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	end_read(&job, &usage, OOM_UNKNOWN, &end);
	return err_set(err, end.why.code, __FILE__, __LINE__, "%s", end.why.msg);
}

dck_status worker_link_ask(worker_link *l, const void *request, size_t request_n, void *ret,
			   size_t n, const dck_observer *watch, dck_err *err)
{
	/* A worker that has ended is seen by what it does not answer. */
	(void)os_message_send(l->fd, request, request_n);
	switch (os_message_receive(l->fd, ret, n, link_cancelled, (void *)(uintptr_t)watch)) {
	case OS_MESSAGE_DONE:
		return DCK_OK;
	case OS_MESSAGE_CANCELLED:
		DCK_FAIL(err, E_CANCEL, "interrupted");
	case OS_MESSAGE_FOREIGN:
		DCK_FAIL(err, E_VERSION,
			 "the program that fresh processes run is of another version than "
			 "deepclock %s",
			 dck_version());
	case OS_MESSAGE_ENDED:
		break;
	}
	return link_ended(l, watch, err);
}

/* An engine that does not end is killed. */
#define LINK_END_NS 2000000000u

static bool worker_late(void *deadline)
{
	return os_now_ns() > *(const uint64_t *)deadline;
}

void worker_link_close(worker_link *l)
{
	uint64_t deadline = os_now_ns() + LINK_END_NS;
	os_child_usage usage;

	if (l->pid == 0)
		return;
	os_close(l->fd);
	(void)os_wait((pid_t)l->pid, 0, worker_late, &deadline, &usage, NULL);
	*l = (worker_link){0};
}

void worker_incomplete_text(const dck_record *r, char *buf, size_t size)
{
	const char *text = record_get_text(r, "result", "failure");

	for (size_t i = r->nnotes; i-- > 0 && !text;)
		if (r->notes[i].severity == DCK_ERROR)
			text = r->notes[i].text;
	snprintf(buf, size, "%s", text ? text : "it ended early");
}

/* --- the program, for a caller that names none */

/* Relative to the directory of the library, or of the program that it was linked into: in a build,
 * in a Python package, in an installation, from the extension of a build and of a wheel. */
static const char *const worker_places[] = {"deepclock",	"bin/deepclock",
					    "../bin/deepclock", "../../bin/deepclock",
					    "../../deepclock",	"../../../../bin/deepclock"};

/* Returns the directory of the file that this code is in; NULL: not known. */
static const char *worker_library_directory(mem_arena *a)
{
	const char *own = os_library_of(worker_places);
	const bool shared = own && strstr(own, ".so") && strchr(own, '/');
	char *real = realpath(shared ? own : "/proc/self/exe", NULL), *slash;
	const char *directory = NULL;

	if (real && (slash = strrchr(real, '/')))
		directory = mem_arena_dup_n(a, real, (size_t)(slash - real));
	free(real);
	return directory;
}

static dck_status worker_version_read(const char *program, int fd, dck_buffer *text, dck_err *err)
{
	char *const argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "--version", NULL};
	const os_spawn_config config = {
	    .argv = argv, .in_fd = -1, .out_fd = fd, .err_fd = -1, .keep_fd = -1, .group = true};
	uint64_t deadline = os_now_ns() + VERSION_NS;
	os_child_usage usage;
	pid_t pid;

	DCK_TRY(os_spawn(&config, &pid, err));
	DCK_TRY(os_wait(pid, 0, worker_late, &deadline, &usage, err));
	return os_file_read_all(fd, VERSION_BYTES_MAX, text, err);
}

/* The program that was last found to be of this version: a caller that measures again does not
 * start it to ask. */
static struct {
	pthread_mutex_t lock;
	char program[PATH_MAX];
} worker_known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool worker_is_known(const char *program)
{
	bool known;

	pthread_mutex_lock(&worker_known.lock);
	known = strcmp(worker_known.program, program) == 0;
	pthread_mutex_unlock(&worker_known.lock);
	return known;
}

static void worker_known_set(const char *program)
{
	pthread_mutex_lock(&worker_known.lock);
	snprintf(worker_known.program, sizeof worker_known.program, "%s", program);
	pthread_mutex_unlock(&worker_known.lock);
}

/* *failed: why the program could not be asked. */
static bool worker_version_is_this(mem_arena *a, const char *program, dck_err *failed)
{
	const char *wanted = mem_arena_fmt(a, "deepclock %s\n", dck_version());
	dck_buffer text = {0};
	bool same;
	int fd;

	if (worker_is_known(program))
		return true;
	if (!wanted || os_memfd(&fd, NULL) != DCK_OK)
		return false;
	same = worker_version_read(program, fd, &text, failed) == DCK_OK &&
	       text.n == strlen(wanted) && memcmp(text.data, wanted, text.n) == 0;
	dck_buffer_done(&text);
	os_close(fd);
	if (same && program[0] == '/')
		worker_known_set(program);
	return same;
}

const char *worker_program_find(mem_arena *a, const char **ret_why)
{
	const char *directory = worker_library_directory(a), *other = NULL, *program = NULL;
	const size_t n = sizeof worker_places / sizeof worker_places[0];
	dck_err failed = {0};

	for (size_t i = directory ? 0 : n; i <= n && !program; i++) {
		const char *name =
		    i < n ? mem_arena_fmt(a, "%s/%s", directory, worker_places[i]) : "deepclock";
		char *found = NULL;

		if (name && os_find_program(name, &found, NULL) == DCK_OK) {
			failed.code = DCK_OK;
			if (worker_version_is_this(a, found, &failed))
				program = mem_arena_dup(a, found);
			else
				other = mem_arena_dup(a, found);
		}
		mem_free(found);
	}
	*ret_why = NULL;
	if (!program && failed.code == DCK_E_IO)
		*ret_why = mem_arena_fmt(a, "no fresh process can be started: '%s': %s", other,
					 failed.msg);
	else if (!program && other)
		*ret_why = mem_arena_fmt(a,
					 "no fresh process can be started: '%s' is not the program "
					 "of this version, deepclock %s",
					 other, dck_version());
	else if (!program)
		*ret_why = mem_arena_dup(
		    a, "no fresh process can be started: the program deepclock is neither beside "
		       "the library nor in PATH (dck_plan.program names one)");
	return program;
}
