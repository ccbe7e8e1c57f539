/* leave.c - interposes on exits that run no exit handler: exec() and _exit(). The events recorded
 * so far are written first. Neither waits long, and a child between vfork() and exec() does
 * nothing: the recording is its parent's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

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

INTERPOSE(int, execve, (const char *path, char *const argv[], char *const envp[]),
	  dck_trace_flush(), (path, argv, envp))
INTERPOSE(int, execv, (const char *path, char *const argv[]), dck_trace_flush(), (path, argv))
INTERPOSE(int, execvp, (const char *file, char *const argv[]), dck_trace_flush(), (file, argv))
INTERPOSE(int, execvpe, (const char *file, char *const argv[], char *const envp[]),
	  dck_trace_flush(), (file, argv, envp))
INTERPOSE(int, fexecve, (int fd, char *const argv[], char *const envp[]), dck_trace_flush(),
	  (fd, argv, envp))
