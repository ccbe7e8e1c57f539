/* leave.c - interposes on exits that run no exit handler: exec(), _exit() and daemon(). The events
 * recorded so far are written first. Neither waits long, and a child between vfork() and exec()
 * writes nothing: the recording is its parent's. A program that may not write into the run's
 * directory, as after setuid(), is counted before it starts (trace/result/lost_children.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include "profiler/execs/exec_list.h"
#include "profiler/trace/result/lost_children.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* --- exec() */

static char run_directory[PATH_MAX]; /* with the results; "": none */
static lost_children *run_lost;	     /* NULL: it is not mapped */

__attribute__((constructor)) static void leave_begins(void)
{
	const char *result = secure_getenv("DEEPCLOCK_TRACE_RESULT");
	const char *slash = result ? strrchr(result, '/') : NULL;
	struct stat st;

	if (!slash || (size_t)(slash - result) + sizeof LOST_CHILDREN_NAME >= sizeof run_directory)
		return;
	memcpy(run_directory, result, (size_t)(slash + 1 - result));
	strcpy(run_directory + (slash + 1 - result), LOST_CHILDREN_NAME);
	const int fd = open(run_directory, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	run_directory[slash - result] = '\0';
	if (fd < 0)
		return;
	void *page = MAP_FAILED;
	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof *run_lost)
		page = mmap(NULL, sizeof *run_lost, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	run_lost = page == MAP_FAILED ? NULL : page;
	close(fd);
}

/* Returns 0, or the error that the next program's recording will meet, by the effective ids. */
static int run_directory_error(void)
{
	long failed = -1;

	errno = ENOSYS;
#ifdef SYS_faccessat2
	failed = syscall(SYS_faccessat2, AT_FDCWD, run_directory, W_OK | X_OK, AT_EACCESS);
#endif
	if (failed && (errno == ENOSYS || errno == EPERM)) /* EPERM: of an older container */
		failed = syscall(SYS_faccessat, AT_FDCWD, run_directory, W_OK | X_OK);
	return failed ? errno : 0;
}

/* Returns whether the next program is counted as one that cannot be recorded. */
static bool leave_exec(void)
{
	const int kept = errno;

	dck_trace_flush();
	const bool counted = run_lost && lost_children_add(run_lost, run_directory_error());
	errno = kept;
	return counted;
}

/* It did not start. */
static int exec_returned(bool counted, int result)
{
	if (counted)
		atomic_fetch_sub(&run_lost->unwritten, 1);
	return result;
}

#define INTERPOSE_EXEC(name, parameters, arguments)                  \
	PRELOAD int name parameters                                  \
	{                                                            \
		const bool counted = leave_exec();                   \
                                                                     \
		return exec_returned(counted, REAL(name) arguments); \
	}
INTERPOSE_EXEC(execve, (const char *path, char *const argv[], char *const envp[]),
	       (path, argv, envp))
INTERPOSE_EXEC(execv, (const char *path, char *const argv[]), (path, argv))
INTERPOSE_EXEC(execvp, (const char *file, char *const argv[]), (file, argv))
INTERPOSE_EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]),
	       (file, argv, envp))
INTERPOSE_EXEC(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))

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
		const bool counted = leave_exec();                                             \
		return exec_returned(counted, REAL(by)(what, list));                           \
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
	const bool counted = leave_exec();
	return exec_returned(counted, REAL(execve)(path, list, envp));
}
