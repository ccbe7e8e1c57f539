/* command.c - the engine 'command': any program; one run is one process, from vfork() to wait4().
 *
 * command_open() resolves the program, the directory and the redirections once, in an os_spawner
 * (os/process/proc.c). So a timed run does nothing but start, wait and check the exit status. A
 * shell is used only on request, since its start would be timed too: then the words are joined by
 * blanks for /bin/sh -c.
 *
 * The output is discarded unless requested. "inherit" means our standard error, because standard
 * output holds the result. Unless any_exit is set, a run fails if a signal ended the process or its
 * exit status is not 0.
 *
 * The model is not changed after opening. A context belongs to one thread; it holds the resources
 * that the last run used, and its duration, by which os_wait() selects how to wait for the next
 * run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <string.h>

struct dck_engine_model {
	os_spawner *spawner;
	char *line;	     /* for --shell: the words, joined */
	const char *argv[4]; /* for --shell: sh -c line */
	const char *name;    /* of the program, for messages; borrowed from argv */
	bool discards;	     /* its output */
	int output_fd;	     /* -1: no file was opened */
	bool any_exit;
	bool (*cancelled)(void *self);
	void *cancelled_self;
};

/* Holds the usage of the last run only. */
struct dck_engine_context {
	const dck_engine_model *model;
	uint64_t took_ns; /* by the last run; selects how the next one is waited for */
	os_child_usage last;
};

extern const dck_engine engine_command;

static void command_close(dck_engine_model *m)
{
	if (!m)
		return;
	os_spawner_free(m->spawner);
	if (m->output_fd >= 0)
		os_close(m->output_fd);
	mem_free(m->line);
	mem_free(m);
}

static bool flag(const dck_open_params *p, const char *key)
{
	const char *value = engine_option(p, key);

	return value && strcmp(value, "1") == 0;
}

static dck_status words_join(dck_engine_model *m, char *const *argv, dck_err *err)
{
	size_t n = 1;
	char *to;

	for (size_t i = 0; argv[i]; i++)
		n += strlen(argv[i]) + 1;
	m->line = to = mem_zalloc(n, 1);
	DCK_NEED(m->line, err, "for the command");
	for (size_t i = 0; argv[i]; i++) {
		if (i > 0)
			*to++ = ' ';
		memcpy(to, argv[i], strlen(argv[i]));
		to += strlen(argv[i]);
	}
	m->argv[0] = "/bin/sh";
	m->argv[1] = "-c";
	m->argv[2] = m->line;
	return DCK_OK;
}

static dck_status output_open(dck_engine_model *m, const char *where, os_spawn_config *c,
			      dck_err *err)
{
	c->in_fd = c->out_fd = c->err_fd = -1;
	m->discards = !where || strcmp(where, "discard") == 0;
	if (m->discards)
		return DCK_OK;
	if (strcmp(where, "inherit") == 0) {
		/* Standard output holds the result and nothing else. */
		c->out_fd = c->err_fd = OS_STDERR;
		return DCK_OK;
	}
	DCK_TRY(os_open_append(where, &m->output_fd, err));
	c->out_fd = c->err_fd = m->output_fd;
	return DCK_OK;
}

static dck_status command_prepare(dck_engine_model *m, const dck_open_params *p, dck_err *err)
{
	os_spawn_config c = {.argv = p->argv,
			     .keep_fd = -1,
			     .directory = engine_option(p, "directory"),
			     .input = engine_option(p, "input")};

	m->name = p->argv[0];
	m->any_exit = flag(p, "any_exit");
	m->cancelled = p->cancelled;
	m->cancelled_self = p->cancelled_self;
	if (flag(p, "shell")) {
		DCK_TRY(words_join(m, p->argv, err));
		c.argv = (char *const *)m->argv;
	}
	DCK_TRY(output_open(m, engine_option(p, "output"), &c, err));
	return os_spawner_new(&c, &m->spawner, err);
}

static dck_status command_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model *m;
	dck_status status;

	DCK_TRY(engine_can_observe(&engine_command, p->observe, err));
	DCK_TRY(engine_options_check(&engine_command, p, err));
	if (!p->argv || !p->argv[0] || !p->argv[0][0])
		DCK_FAIL(err, E_ARG, "there is no command to run: give it after -- or as cmd:PROG");
	m = mem_zalloc(1, sizeof *m);
	DCK_NEED(m, err, "for the command");
	m->output_fd = -1;
	status = command_prepare(m, p, err);
	if (status == DCK_OK)
		*ret = m;
	else
		command_close(m);
	return status;
}

static dck_status command_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "for the command");
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void command_context_free(dck_engine_context *c)
{
	mem_free(c);
}

static dck_status exit_check(const dck_engine_model *m, const os_child_usage *u, dck_err *err)
{
	if (m->any_exit || (u->exit_code == 0 && u->signal == 0))
		return DCK_OK;
	const char *shows = m->discards ? "; --output inherit shows what it writes" : "";

	if (u->signal)
		ERR_SET(err, E_ENGINE, "'%s' was killed by signal %d (%s)%s", m->name, u->signal,
			strsignal(u->signal), shows);
	else
		ERR_SET(err, E_ENGINE, "'%s' ended with exit status %d (--any-exit accepts it%s)",
			m->name, u->exit_code, shows);
	return err_native(DCK_E_ENGINE, u->signal ? 128 + u->signal : u->exit_code, err);
}

/* Whether the process ended by what ends us too: Ctrl-C on a terminal reaches both. */
static bool command_interrupted(const dck_engine_model *m, const os_child_usage *u)
{
	return (u->signal || u->exit_code != 0) && m->cancelled && m->cancelled(m->cancelled_self);
}

static dck_status engine_command_run(dck_engine_context *c, dck_err *err)
{
	const dck_engine_model *m = c->model;
	const uint64_t begin_ns = os_now_ns();
	pid_t pid;

	DCK_TRY(os_spawner_run(m->spawner, &pid, err));
	DCK_TRY(os_wait(pid, c->took_ns, m->cancelled, m->cancelled_self, &c->last, err));
	c->took_ns = os_now_ns() - begin_ns;
	if (command_interrupted(m, &c->last))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	return exit_check(m, &c->last, err);
}

static dck_status command_usage(dck_engine_context *c, dck_usage *ret, dck_err *err)
{
	(void)err;
	ret->user_ns = c->last.user_ns;
	ret->system_ns = c->last.system_ns;
	ret->peak_rss_bytes = c->last.peak_rss_bytes;
	ret->voluntary_switches = c->last.voluntary_switches;
	ret->involuntary_switches = c->last.involuntary_switches;
	return DCK_OK;
}

static const dck_engine_option command_options[] = {
    {"shell", "0|1", "the words joined with blanks are given to /bin/sh -c"},
    {"any_exit", "0|1", "an exit status other than 0 is not a failure"},
    {"output", "WHERE", "discard, inherit (to our standard error) or a file to append to"},
    {"directory", "DIR", "directory to run the command in"},
    {"input", "FILE", "standard input of each run, from its beginning; default: nothing"},
    {NULL, NULL, NULL},
};

const dck_engine engine_command = {
    ENGINE_BUILT_IN("command"),
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS | DCK_CAP_COMMAND,
    .help = "any program: one run is one process",
    .options = command_options,
    .open = command_open,
    .close = command_close,
    .context_new = command_context_new,
    .context_free = command_context_free,
    .run = engine_command_run,
    .usage = command_usage,
};
