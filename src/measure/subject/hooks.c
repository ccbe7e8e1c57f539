/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/hooks.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "record/record_begin.h"
#include "os/os.h"
#include <string.h>

struct subject_hook {
	const char *name, *line; /* "prepare"; borrowed */
	char **words;
	os_spawner *spawner;
	uint64_t took_ns;
};

void subject_hook_free(subject_hook *h)
{
	if (!h)
		return;
	os_spawner_free(h->spawner);
	mem_free(h->words);
	mem_free(h);
}

dck_status subject_hook_new(const char *name, const char *line, const dck_command_config *c,
			    subject_hook **ret, dck_err *err)
{
	subject_hook *h = mem_zalloc(1, sizeof *h);
	/* Its stderr stays visible; its stdout is not mixed with the result on standard output. */
	os_spawn_config config = {
	    .in_fd = -1,
	    .out_fd = c->output && strcmp(c->output, "inherit") == 0 ? OS_STDERR : -1,
	    .err_fd = OS_STDERR,
	    .keep_fd = -1,
	    .directory = c->directory};
	dck_status status;

	DCK_NEED(h, err, "for --%s", name);
	h->name = name;
	h->line = line;
	status = subject_words(line, &h->words, err);
	config.argv = h->words;
	DCK_NEXT(status, os_spawner_new(&config, &h->spawner, err));
	if (status != DCK_OK) {
		subject_hook_free(h);
		return err_while(err, status, "reading --%s '%s'", name, line);
	}
	*ret = h;
	return DCK_OK;
}

dck_status subject_hook_run(subject_hook *h, const dck_observer *watch, dck_err *err)
{
	const uint64_t begin_ns = os_now_ns();
	os_child_usage usage;
	pid_t pid;

	DCK_TRY(os_spawner_run(h->spawner, &pid, err));
	DCK_TRY(os_wait(pid, h->took_ns, watch ? watch->cancelled : NULL,
			watch ? watch->self : NULL, &usage, err));
	h->took_ns = os_now_ns() - begin_ns;
	/* A signal that ended us too (Ctrl-C reaches both) does not count as a failure of the
	 * command. */
	if (usage.signal && observer_cancelled(watch))
		DCK_FAIL(err, E_CANCEL, "interrupted in --%s", h->name);
	if (usage.signal)
		DCK_FAIL(err, E_ENGINE, "--%s '%s' was killed by signal %d (%s)", h->name, h->line,
			 usage.signal, strsignal(usage.signal));
	if (usage.exit_code != 0)
		DCK_FAIL(err, E_ENGINE, "--%s '%s' ended with exit status %d", h->name, h->line,
			 usage.exit_code);
	return DCK_OK;
}

static dck_status hooks_run_once(const char *name, const char *line, const dck_subject *s,
				 const dck_observer *watch, dck_err *err)
{
	subject_hook *h;
	dck_status status;

	if (!line)
		return DCK_OK;
	DCK_TRY(subject_hook_new(name, line, &s->command, &h, err));
	status = subject_hook_run(h, watch, err);
	subject_hook_free(h);
	return status;
}

/* Before anything runs: the subject is a program, and each line can be cut into words. */
static dck_status subject_hooks_check(const dck_subject *s, dck_err *err)
{
	const struct {
		const char *name, *line;
	} all[] = {{"setup", s->command.setup},
		   {"prepare", s->command.prepare},
		   {"cleanup", s->command.cleanup}};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		char **words = NULL;
		dck_status status;

		if (!all[i].line)
			continue;
		if (s->kind != DCK_SUBJECT_COMMAND)
			DCK_FAIL(err, E_ARG, "--%s is for commands; '%s' is not a command",
				 all[i].name, s->text ? s->text : "the function");
		status = subject_words(all[i].line, &words, err);
		mem_free(words);
		if (status != DCK_OK)
			return err_while(err, status, "reading --%s '%s'", all[i].name,
					 all[i].line);
	}
	return DCK_OK;
}

/* Returns whether an earlier subject has the same line, so that a common hook runs once. */
static bool hooks_is_repeated(const dck_subject *const *all, size_t i, bool setup)
{
	const char *line = setup ? all[i]->command.setup : all[i]->command.cleanup;

	for (size_t k = 0; k < i && line; k++) {
		const char *earlier = setup ? all[k]->command.setup : all[k]->command.cleanup;

		if (earlier && strcmp(earlier, line) == 0)
			return true;
	}
	return false;
}

dck_status subject_hooks_begin(const dck_subject *const *all, size_t n, const dck_observer *watch,
			       dck_subject *ret, dck_err *err)
{
	for (size_t i = 0; i < n; i++) {
		ret[i] = *all[i];
		ret[i].command.setup = ret[i].command.cleanup = NULL;
		DCK_TRY(subject_hooks_check(all[i], err));
	}
	for (size_t i = 0; i < n; i++) {
		const dck_status status =
		    hooks_is_repeated(all, i, true)
			? DCK_OK
			: hooks_run_once("setup", all[i]->command.setup, all[i], watch, err);

		if (status != DCK_OK) {
			dck_err other;

			subject_hooks_end(all, i, &other);
			return status;
		}
	}
	return DCK_OK;
}

void subject_hooks_end(const dck_subject *const *all, size_t n, dck_err *ret_why)
{
	*ret_why = (dck_err){0};
	for (size_t i = 0; i < n; i++)
		if (!hooks_is_repeated(all, i, false))
			(void)hooks_run_once("cleanup", all[i]->command.cleanup, all[i], NULL,
					     ret_why);
}

void subject_hooks_note(record_builder *b, const dck_err *why)
{
	if (why->code != DCK_OK)
		record_note(b, "cleanup-failed", "%s; the results before it are valid", why->msg);
}

void subject_hooks_facts(record_builder *b, const dck_subject *s)
{
	if (s->kind == DCK_SUBJECT_COMMAND)
		record_fact_options(b, "plan", dck_hook_options, &s->command);
}
