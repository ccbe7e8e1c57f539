/* sample_run.c - a program is started or found, samples are taken of it until it ends, and become a
 * record: `deepclock sample`.
 *
 * The thread that calls starts the program and waits for its end. A second thread takes the samples
 * out of the buffers that they are in, unwinds and adds them up (sample_profile.h) while the
 * program runs, so that memory stays the same however long that is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/sample.h"

#include "base/err.h"
#include "base/opt_text.h"
#include "base/sink.h"
#include "os/os.h"
#include "os/file/text.h"
#include "os/process/other_process.h"
#include "os/counters/perf_sampling.h"
#include "record/record_begin.h"
#include "record/build.h"
#include "record/host.h"
#include "profiler/sample/sample_beside.h"
#include "profiler/sample/offcpu_poll.h"
#include "profiler/sample/sample_profile.h"
#include "profiler/sample/sample_record.h"
#include "profiler/sample/sample_source.h"
#include "profiler/python/python_runs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* A program that goes on for longer after SIGTERM is noted. */
#define OVERRUN_NS 500000000u

enum { WAIT_MS = 20, LOOK_MS = 10, SET_MAX = 16, ASK_NS = 50000000, TREE_MAX = 1024 };

typedef struct sampling {
	const dck_sample_config *config;
	dck_program *program;
	const sample_source *source;
	void *self; /* state of the source */
	sample_profile *profile;
	offcpu_poll looks; /* polls of blocked threads */
	bool looks_on;
	sample_run run;
	pthread_t thread;
	_Atomic bool over;
	uint64_t until_ns; /* 0: no limit */
	bool cancelled;
} sampling;

/* --- the thread that takes samples out */

static void *drain_thread_main(void *self)
{
	sampling *s = self;
	const sample_sink to = {sample_profile_event, s->profile};

	while (!atomic_load(&s->over)) {
		s->source->wait(s->self, s->looks_on ? LOOK_MS : WAIT_MS);
		s->source->drain(s->self, &to, false);
		if (s->looks_on)
			offcpu_poll_take(&s->looks, s->profile, os_perf_now_ns());
	}
	return NULL;
}

static dck_status sampling_start(sampling *s, dck_err *err)
{
	const int e = pthread_create(&s->thread, NULL, drain_thread_main, s);

	if (e)
		DCK_FAIL_ERRNO(err, E_LIMIT, e, "cannot make a thread that takes samples");
	return DCK_OK;
}

static void sample_end(sampling *s)
{
	const sample_sink to = {sample_profile_event, s->profile};

	s->source->stop(s->self);
	atomic_store(&s->over, true);
	pthread_join(s->thread, NULL);
	const uint64_t now = os_perf_now_ns();
	s->source->drain(s->self, &to, true);
	sample_profile_end(s->profile, now);
}

/* --- the program */

static bool done(void *self)
{
	sampling *s = self;

	if (s->program->cancelled && s->program->cancelled(s->program->self))
		s->cancelled = true;
	return s->cancelled || (s->until_ns && os_now_ns() >= s->until_ns);
}

static void usage_put(sampling *s, const os_child_usage *usage)
{
	s->run.cpu_known = true;
	s->run.user_ns = usage->user_ns;
	s->run.system_ns = usage->system_ns;
}

static dck_status sample_started(sampling *s, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	const char *set[SET_MAX + 1] = {0};
	size_t nset = 0;
	os_child_usage usage;
	pid_t pid;

	DCK_NEED(a, err, "for the environment of a program");
	set[nset++] = program_end_begin(&s->run.end);
	if (s->source->environment)
		s->source->environment(s->self, a, set, SET_MAX, &nset);
	const os_spawn_config spawn = {.argv = s->program->argv,
				       .in_fd = 0,
				       .out_fd = 1,
				       .err_fd = 2,
				       .keep_fd = -1,
				       .set = set};
	s->run.began_ns = os_now_ns();
	dck_status st = os_spawn(&spawn, &pid, err);
	mem_arena_free(a);
	DCK_TRY(st);
	st = sampling_start(s, err);
	if (st != DCK_OK) {
		os_child_kill(pid);
		os_wait(pid, 0, NULL, NULL, &usage, NULL);
		return st;
	}
	st = os_wait(pid, 0, done, s, &usage, err);
	s->run.took_ns = os_now_ns() - s->run.began_ns;
	sample_end(s);
	if (st != DCK_OK && st != DCK_E_CANCEL)
		return st;
	s->program->exit_code = usage.exit_code;
	s->program->signal = usage.signal;
	s->program->cut = st == DCK_E_CANCEL && !s->cancelled;
	usage_put(s, &usage);
	program_end_find(&s->run.end, &usage, st == DCK_E_CANCEL);
	return DCK_OK;
}

/* Attaches to the process and its existing descendants; later children are inherited by the
 * followed process. Processes that exit during this are skipped, and processes without permission
 * are counted. */
static dck_status tree_follow(sampling *s, int pid, size_t *ret_n, dck_err *err)
{
	long tree[TREE_MAX] = {pid};
	size_t n = 1, followed = 0;
	dck_err why;

	for (size_t i = 0; i < n; i++) {
		if (tree[i] == os_process_id()) /* a process of the tree started us */
			continue;
		n += os_process_children(tree[i], tree + n, TREE_MAX - n);
		sample_profile_watch(s->profile, (int)tree[i]);
		const dck_status st = s->source->attach(s->self, (int)tree[i], &why);
		if (st != DCK_OK && (i == 0 || (st != DCK_E_ABSENT && st != DCK_E_UNSUP)))
			return err_forward(&why, err);
		sample_profile_names(s->profile, (int)tree[i]);
		followed += st == DCK_OK;
		s->run.refused += st == DCK_E_UNSUP;
	}
	s->run.tree_full = n == TREE_MAX ? n : 0;
	*ret_n = followed;
	return DCK_OK;
}

static dck_status sample_attached(sampling *s, dck_err *err)
{
	const int pid = (int)s->config->pid;
	uint64_t user = 0, system = 0;
	size_t n = 0;

	if (!os_process_runs(pid))
		DCK_FAIL(err, E_ABSENT, "there is no process %d", pid);
	s->run.cpu_known = os_process_used(pid, &user, &system);
	s->run.began_ns = os_now_ns();
	DCK_TRY(tree_follow(s, pid, &n, err));
	s->run.cpu_known = s->run.cpu_known && n == 1; /* the others may end before */
	if (s->looks.only)
		offcpu_poll_take(&s->looks, s->profile, os_perf_now_ns());
	DCK_TRY(sampling_start(s, err));
	while (!done(s) && os_process_runs(pid))
		os_sleep_ns(ASK_NS, NULL, NULL);
	s->run.took_ns = os_now_ns() - s->run.began_ns;
	if (s->run.cpu_known)
		s->run.cpu_known = os_process_used(pid, &s->run.user_ns, &s->run.system_ns);
	s->run.user_ns -= s->run.cpu_known ? user : 0;
	s->run.system_ns -= s->run.cpu_known ? system : 0;
	sample_end(s);
	return DCK_OK;
}

/* --- choice of the source */

static dck_status sample_run_inside_open(sampling *s, dck_err *err)
{
	s->source = &sample_inside;
	if (s->config->pid)
		DCK_FAIL(err, E_UNSUP, "no library can be loaded into a program that runs already");
	return s->source->open(s->config, s->program->argv, &s->self, err);
}

/* Chooses in-process sampling, where Python's frames are read at the time of the sample. */
static dck_status inside_choose(sampling *s, dck_err *err)
{
	const bool asked = s->config->source == DCK_SAMPLE_IN_PROCESS;
	dck_err why;
	bool kernel;

	if (os_perf_permits(&kernel, &why) != DCK_OK) {
		if (asked)
			return err_forward(&why, err);
		text_copy(s->run.not_perf, sizeof s->run.not_perf, why.msg);
	}
	return sample_run_inside_open(s, err);
}

static dck_status source_open(sampling *s, dck_err *err)
{
	const dck_sample_config *c = s->config;
	dck_err why;

	if (c->source == DCK_SAMPLE_IN_PROCESS)
		return inside_choose(s, err);
	if (c->source == DCK_SAMPLE_AUTO && !c->pid && python_runs(s->program->argv[0]) &&
	    inside_choose(s, NULL) == DCK_OK)
		return DCK_OK;
	if (c->source != DCK_SAMPLE_TIMER) {
		s->source = &sample_by_perf;
		const dck_status st = s->source->open(c, s->program->argv, &s->self, &why);
		if (st == DCK_OK)
			return DCK_OK;
		if (c->source == DCK_SAMPLE_PERF || st != DCK_E_UNSUP)
			return err_forward(&why, err);
		text_copy(s->run.not_perf, sizeof s->run.not_perf, why.msg);
	}
	if (sample_run_inside_open(s, &why) == DCK_OK)
		return DCK_OK;
	if (!s->run.not_perf[0])
		return err_forward(&why, err);
	DCK_FAIL(err, E_UNSUP,
		 "%s, and %s; permit the first: as root, or by 'sysctl "
		 "kernel.perf_event_paranoid=2', in a container by --cap-add PERFMON",
		 s->run.not_perf, why.msg);
}

static dck_status sampling_run(sampling *s, dck_record **ret, dck_err *err)
{
	const uint64_t cpu = os_process_cpu_ns();

	DCK_TRY(source_open(s, err));
	s->until_ns = s->config->time_ns ? os_now_ns() + s->config->time_ns : 0;
	DCK_TRY(sample_profile_new(s->config, &s->profile, err));
	s->looks_on = s->config->wall && !(s->source->sees_waits && s->source->sees_waits(s->self));
	const bool once = s->config->wall && s->config->pid && !s->looks_on;
	if (s->looks_on || once)
		DCK_TRY(offcpu_poll_init(&s->looks, (size_t)s->config->stack_bytes, err));
	s->looks.only = once;
	record_others_begin(&s->run.others, (long)s->config->pid);
	const dck_status st = s->config->pid ? sample_attached(s, err) : sample_started(s, err);
	record_others_end(&s->run.others);
	DCK_TRY(st);
	s->run.own_cpu_ns = os_process_cpu_ns() - cpu;
	s->run.cancelled = s->cancelled;
	s->run.waits =
	    !s->config->wall ? NULL
	    : s->looks_on
		? s->looks.unread
		      ? "polls threads from outside, at most every 10 ms; where some of them "
			"wait may not be read (ptrace)"
		      : "polls threads from outside, at most every 10 ms"
		: "context switches";
	s->run.looks = s->looks_on ? s->looks.looks : 0;
	s->run.overran = s->until_ns && !s->config->pid && !s->cancelled &&
			 s->run.took_ns > s->config->time_ns + OVERRUN_NS;
	return sample_record_make(&s->run, s->config, s->program->argv, s->source, s->self,
				  s->profile, NULL, ret, err);
}

dck_status dck_sample(const dck_sample_config *config, dck_program *p, dck_record **ret,
		      dck_err *err)
{
	dck_sample_config own;
	sampling s = {.config = &own, .program = p};

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_sample_config_init, err, dck_sample_options));
	config = &own;
	if (!config->pid == !(p->argv && p->argv[0]))
		DCK_FAIL(err, E_ARG, "a program is sampled that is started, or one that runs");
	const dck_status st = sampling_run(&s, ret, err);
	offcpu_poll_done(&s.looks);
	sample_profile_free(s.profile);
	if (s.self)
		s.source->close(s.self);
	return st;
}

/* --- sampling together with a trace */

enum { MOMENTS = 1024 }; /* samples read per call */

struct sample_beside {
	dck_sample_config config;
	dck_program program;
	sampling s;
	bool started;
	uint64_t cpu_ns;
	int to, from; /* the log's file, to write and to read */
	dck_sink log;
	sample_named named;
	uint64_t at; /* samples that were read */
	size_t n, next;
	sample_moment moments[MOMENTS];
};

dck_status sample_beside_open(uint64_t rate, char *const *argv, const char *log,
			      sample_beside **ret, dck_err *err)
{
	sample_beside *b = mem_zalloc(1, sizeof *b);

	DCK_NEED(b, err, "for the samples of a program");
	b->to = b->from = -1;
	b->program.argv = argv;
	b->cpu_ns = os_process_cpu_ns();
	dck_status st = dck_opt_defaults(dck_sample_options, &b->config, err);
	b->config.rate = rate;
	b->config.source = DCK_SAMPLE_IN_PROCESS;
	b->s.config = &b->config;
	b->s.run.beside = true;
	b->s.program = &b->program;
	DCK_NEXT(st, sample_run_inside_open(&b->s, err));
	DCK_NEXT(st, sample_profile_new(&b->config, &b->s.profile, err));
	DCK_NEXT(st, os_open_append(log, &b->to, err));
	if (st != DCK_OK) {
		sample_beside_close(b);
		return st;
	}
	b->from = os_open_read(log);
	dck_sink_fd(&b->log, b->to);
	sample_profile_log(b->s.profile, &b->log);
	*ret = b;
	return DCK_OK;
}

void sample_beside_environment(sample_beside *b, mem_arena *a, const char **set, size_t max,
			       size_t *n)
{
	b->s.source->environment(b->s.self, a, set, max, n);
}

dck_status sample_beside_start(sample_beside *b, dck_err *err)
{
	b->s.run.began_ns = os_now_ns();
	DCK_TRY(sampling_start(&b->s, err));
	b->started = true;
	return DCK_OK;
}

static void beside_stop(sample_beside *b)
{
	if (b->started)
		sample_end(&b->s);
	b->started = false;
}

dck_status sample_beside_end(sample_beside *b, const os_child_usage *used, dck_record **ret,
			     dck_err *err)
{
	sampling *s = &b->s;

	s->run.took_ns = os_now_ns() - s->run.began_ns;
	beside_stop(b);
	usage_put(s, used);
	s->run.own_cpu_ns = os_process_cpu_ns() - b->cpu_ns;
	DCK_TRY(dck_sink_finish(&b->log, err));
	return sample_record_make(&s->run, &b->config, b->program.argv, s->source, s->self,
				  s->profile, &b->named, ret, err);
}

bool sample_beside_next(sample_beside *b, sample_moment *ret)
{
	if (b->next == b->n) {
		const ptrdiff_t got = os_read_at(b->from, b->moments, sizeof b->moments,
						 b->at * sizeof b->moments[0]);

		b->next = 0;
		b->n = got > 0 ? (size_t)got / sizeof b->moments[0] : 0;
		b->at += b->n;
		if (b->n == 0)
			return false;
	}
	*ret = b->moments[b->next++];
	ret->path = ret->path < b->named.n ? b->named.of[ret->path] : 0;
	return true;
}

const cct *sample_beside_paths(const sample_beside *b)
{
	return &b->named.paths;
}

void sample_beside_close(sample_beside *b)
{
	if (!b)
		return;
	beside_stop(b);
	sample_profile_free(b->s.profile);
	if (b->s.self)
		b->s.source->close(b->s.self);
	sample_named_done(&b->named);
	if (b->to >= 0)
		os_close(b->to);
	if (b->from >= 0)
		os_close(b->from);
	mem_free(b);
}
