/* signals.c - interruption as a flag, closed pipes as write errors.
 *
 * Handlers and not SIG_IGN, since a program that is started later gets the default action back
 * for signals that have a handler, and would inherit one that is ignored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* timeout(1) and terminals may deliver one interruption twice, to the process and to its group. */
#define SAME_SIGNAL_NS 300000000LL

/* A signal handler can reach only static variables. */
static volatile sig_atomic_t seen;
/* It came from the terminal, which gives it to the programs that we started too. */
static volatile sig_atomic_t shared;
static struct timespec first_at;
/* The files that are removed when a signal ends the program. */
#define TEMPORARIES_MAX 4
static const char *volatile temporary[TEMPORARIES_MAX];

static void on_pipe(int sig)
{
	(void)sig;
}

static void on_interrupt(int sig, siginfo_t *info, void *context)
{
	struct timespec now;

	(void)context;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!seen) {
		first_at = now;
		shared = info->si_code == SI_KERNEL;
		seen = 1;
		return;
	}
	if ((now.tv_sec - first_at.tv_sec) * 1000000000LL + now.tv_nsec - first_at.tv_nsec <
	    SAME_SIGNAL_NS)
		return;
	for (int i = 0; i < TEMPORARIES_MAX; i++)
		if (temporary[i])
			unlink(temporary[i]);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void temporary_replace(const char *old, const char *path)
{
	for (int i = 0; i < TEMPORARIES_MAX; i++)
		if (temporary[i] == old) {
			temporary[i] = path;
			return;
		}
}

void cli_signals_remove(const char *path)
{
	temporary_replace(NULL, path);
}

void cli_signals_keep(const char *path)
{
	temporary_replace(path, NULL);
}

static void handler_set(int sig, struct sigaction action)
{
	struct sigaction old;

	sigemptyset(&action.sa_mask);
	/* No SA_RESTART: a wait for a child must notice. What was ignored from the start (nohup, a
	 * shell's background job) stays ignored. */
	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(sig, &action, NULL);
}

void cli_signals_install(void)
{
	const struct sigaction action = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO};

	handler_set(SIGINT, action);
	handler_set(SIGTERM, action);
}

bool cli_signal_seen(void)
{
	return seen != 0;
}

bool cli_signal_ours(void)
{
	return seen && !shared;
}

bool cli_cancelled(void *self)
{
	(void)self;
	return cli_signal_seen();
}

void cli_signals_pipe(void)
{
	handler_set(SIGPIPE, (struct sigaction){.sa_handler = on_pipe});
	/* A closed 0, 1 or 2 would be the number of the next file that is opened, and the report
	 * would go into it. Opened for reading, 1 and 2 fail every write, as they should. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			return;
}
