/* exec_watch.c - interposes on the functions that start programs, and writes the names of these
 * (exec_watch.h). The environment decides whether the library is preloaded; what is wrong with a
 * program's file is found by the reader.
 *
 * This runs between fork() or vfork() and exec(), and in handlers: system calls alone, and no
 * change of memory but errno.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/execs/exec_list.h"
#include "profiler/execs/exec_watch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

extern char **environ;

enum { DIRECTORY_BYTES = 512 };
static char directory[DIRECTORY_BYTES]; /* "": nothing is written */

#define SPAWN_PARAMETERS                                                         \
	(pid_t * pid, const char *file, const posix_spawn_file_actions_t *files, \
	 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
#define REAL_EXECS(X)                                                 \
	X(int, execve, (const char *, char *const[], char *const[]))  \
	X(int, execv, (const char *, char *const[]))                  \
	X(int, execvp, (const char *, char *const[]))                 \
	X(int, execvpe, (const char *, char *const[], char *const[])) \
	X(int, fexecve, (int, char *const[], char *const[]))          \
	X(int, posix_spawn, SPAWN_PARAMETERS)                         \
	X(int, posix_spawnp, SPAWN_PARAMETERS)                        \
	X(int, system, (const char *))                                \
	X(FILE *, popen, (const char *, const char *))
static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
	REAL_EXECS(MEMBER)
} real;

static void exec_look_up(const char *name, void *to)
{
	void *at = dlsym(RTLD_NEXT, name);

	memcpy(to, &at, sizeof at);
}

/* Also called by what runs before it. */
__attribute__((constructor)) static void execs_begin(void)
{
	const char *to = secure_getenv(exec_variable);

#define LOOK_UP(result, name, parameters) exec_look_up(#name, &real.name);
	REAL_EXECS(LOOK_UP)
	if (to && strlen(to) < sizeof directory)
		strcpy(directory, to);
}

#define REAL(name) (real.name ? (void)0 : execs_begin(), real.name)

static bool exec_is_set(const char *row, const char *name)
{
	const size_t n = strlen(name);

	return !strncmp(row, name, n) && row[n] == '=' && row[n + 1];
}

static bool environment_preloads(char *const envp[])
{
	bool has_variable = false, has_library = false;

	for (; envp && *envp; envp++) {
		has_variable |= exec_is_set(*envp, exec_variable);
		has_library |= exec_is_set(*envp, "LD_PRELOAD") && strstr(*envp, exec_library);
	}
	return has_variable && has_library;
}

/* Whether a write ends the program by SIGXFSZ, or fails. */
static bool is_file_limited(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur <= PATH_MAX;
}

static void program_write(int fd, char *const envp[])
{
	char link[32], row[1 + PATH_MAX], path[DIRECTORY_BYTES + 32];
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(link, row + 1, PATH_MAX);
	if (n <= 0 || is_file_limited())
		return;
	row[0] = environment_preloads(envp) ? EXEC_PRELOADS : EXEC_NOT;
	for (ssize_t i = 0; i <= n; i++)
		hash = (hash ^ (unsigned char)row[i]) * UINT64_C(0x100000001b3);
	snprintf(path, sizeof path, "%s/%016llx" EXEC_FILE_END, directory,
		 (unsigned long long)hash);
	const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to < 0)
		return;
	if (write(to, row, (size_t)n + 1) < 0)
		unlink(path);
	close(to);
}

/* false: it cannot be started. */
static bool path_write(const char *path, char *const envp[])
{
	const int fd = access(path, X_OK) == 0 ? open(path, O_PATH | O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	program_write(fd, envp);
	close(fd);
	return true;
}

/* Looks for the file as execvp() does. */
static void exec_search(const char *file, char *const envp[])
{
	const char *at = strchr(file, '/') ? NULL : getenv("PATH");
	char path[PATH_MAX];

	if (!at) {
		path_write(file, envp);
		return;
	}
	for (;; at++) {
		const size_t n = strcspn(at, ":");

		if (n + strlen(file) + 2 <= sizeof path) {
			memcpy(path, at, n);
			path[n] = '/';
			strcpy(path + n + (n > 0), file);
			if (path_write(path, envp))
				return;
		}
		at += n;
		if (!*at)
			return;
	}
}

static void exec_seen(const char *file, bool searched, char *const envp[])
{
	const int kept = errno;

	if (!file || !directory[0])
		return;
	if (searched)
		exec_search(file, envp);
	else
		path_write(file, envp);
	errno = kept;
}

HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
	exec_seen(path, false, envp);
	return REAL(execve)(path, argv, envp);
}

HOOK int execv(const char *path, char *const argv[])
{
	exec_seen(path, false, environ);
	return REAL(execv)(path, argv);
}

HOOK int execvpe(const char *file, char *const argv[], char *const envp[])
{
	exec_seen(file, true, envp);
	return REAL(execvpe)(file, argv, envp);
}

HOOK int execvp(const char *file, char *const argv[])
{
	exec_seen(file, true, environ);
	return REAL(execvp)(file, argv);
}

HOOK int fexecve(int fd, char *const argv[], char *const envp[])
{
	const int kept = errno;

	if (directory[0])
		program_write(fd, envp);
	errno = kept;
	return REAL(fexecve)(fd, argv, envp);
}

#define HOOK_LIST(name, by)                                      \
	HOOK int name(const char *what, const char *first, ...)  \
	{                                                        \
		char *list[EXEC_LIST_MAX];                       \
		va_list rest;                                    \
                                                                 \
		va_start(rest, first);                           \
		const bool fits = exec_list(list, first, &rest); \
		va_end(rest);                                    \
		return fits ? by(what, list) : -1;               \
	}
HOOK_LIST(execl, execv)
HOOK_LIST(execlp, execvp)

HOOK int execle(const char *path, const char *first, ...)
{
	char *list[EXEC_LIST_MAX];
	va_list rest;

	va_start(rest, first);
	const bool fits = exec_list(list, first, &rest);
	char *const *envp = fits ? va_arg(rest, char *const *) : NULL;
	va_end(rest);
	return fits ? execve(path, list, envp) : -1;
}

HOOK int posix_spawn SPAWN_PARAMETERS
{
	exec_seen(file, false, envp);
	return REAL(posix_spawn)(pid, file, files, attributes, argv, envp);
}

HOOK int posix_spawnp SPAWN_PARAMETERS
{
	exec_seen(file, true, envp);
	return REAL(posix_spawnp)(pid, file, files, attributes, argv, envp);
}

HOOK int system(const char *command)
{
	exec_seen(command ? "/bin/sh" : NULL, false, environ);
	return REAL(system)(command);
}

HOOK FILE *popen(const char *command, const char *mode)
{
	exec_seen("/bin/sh", false, environ);
	return REAL(popen)(command, mode);
}
