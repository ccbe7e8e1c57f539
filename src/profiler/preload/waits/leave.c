/* leave.c - interposes on exits that run no exit handler: exec(), _exit() and daemon(). The events
 * recorded so far are written first. Neither waits long, and a child between vfork() and exec()
 * does nothing: the recording is its parent's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include "profiler/execs/exec_list.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

PRELOAD _Noreturn void _exit(int status)
{
	dck_trace_leave();
	REAL(_exit)(status);
	__builtin_unreachable();
}

PRELOAD _Noreturn void _Exit(int status)
{
	dck_trace_leave();
	REAL(_Exit)(status);
	__builtin_unreachable();
}

/* As that of libc, whose parent ends by a system call that is not interposed. */
PRELOAD int daemon(int nochdir, int noclose)
{
	const pid_t child = fork();

	if (child > 0)
		_exit(0);
	if (child < 0 || setsid() < 0)
		return -1;
	if (!nochdir && chdir("/")) { /* as libc: no error */
	}
	const int null_fd = noclose ? -1 : open("/dev/null", O_RDWR);
	if (!noclose && null_fd < 0)
		return -1;
	for (int fd = 0; !noclose && fd < 3; fd++)
		dup2(null_fd, fd);
	if (null_fd > 2)
		close(null_fd);
	return 0;
}

INTERPOSE(int, execve, (const char *path, char *const argv[], char *const envp[]),
	  dck_trace_flush(), (path, argv, envp))
INTERPOSE(int, execv, (const char *path, char *const argv[]), dck_trace_flush(), (path, argv))
INTERPOSE(int, execvp, (const char *file, char *const argv[]), dck_trace_flush(), (file, argv))
INTERPOSE(int, execvpe, (const char *file, char *const argv[], char *const envp[]),
	  dck_trace_flush(), (file, argv, envp))
INTERPOSE(int, fexecve, (int fd, char *const argv[], char *const envp[]), dck_trace_flush(),
	  (fd, argv, envp))

/* Those with a list of arguments: libc passes it to execve() by a call that is not interposed. */
#define INTERPOSE_LIST(name, by)                                                               \
	PRELOAD int name(const char *what, const char *first, ...)                             \
	{                                                                                      \
		va_list rest;                                                                  \
                                                                                               \
		va_start(rest, first);                                                         \
		char **list = __builtin_alloca(exec_list_length(first, &rest) * sizeof *list); \
		exec_list(list, first, &rest);                                                 \
		va_end(rest);                                                                  \
		dck_trace_flush();                                                             \
		return REAL(by)(what, list);                                                   \
	}
INTERPOSE_LIST(execl, execv)
INTERPOSE_LIST(execlp, execvp)

PRELOAD int execle(const char *path, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	char **list = __builtin_alloca(exec_list_length(first, &rest) * sizeof *list);
	exec_list(list, first, &rest);
	char *const *envp = va_arg(rest, char *const *);
	va_end(rest);
	dck_trace_flush();
	return REAL(execve)(path, list, envp);
}
