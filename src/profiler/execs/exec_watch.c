/* exec_watch.c - interposes on the functions that start programs, and writes the names of these
 * (exec_watch.h). The environment decides whether the library is preloaded; what is wrong with a
 * program's file is found by the reader.
 *
 * This runs between fork() or vfork() and exec(), and in handlers: system calls alone, on little
 * stack, and no change of memory but errno.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/execs/exec_list.h"
#include "profiler/execs/exec_watch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK __attribute__((visibility("default")))

extern char **environ;

#define FD_LINKS     "/proc/self/fd/"
#define DEFAULT_PATH "/bin:/usr/bin" /* libc's */

/* Longer paths get pages of their own: threads may have small stacks. */
enum {
	PATH_BYTES = 512,
	LONG_BYTES = 8192,
	DIRECTORY_BYTES = 512,
	ROW_NAME_BYTES = 16 + sizeof EXEC_FILE_END
};
/* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED */
enum { PAGES_WRITABLE = 3, PAGES_OWN = 0x22, PAGES_SHARED = 1 };
enum { NO_ROW, ROW_UNWRITTEN };		/* beside those that were added */
static char directory[DIRECTORY_BYTES]; /* "": nothing is written */
static exec_unwritten *unwritten;	/* NULL: it is not mapped */

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
	void *at = NULL;

	/* The older function runs a file that is not a program as a script; dlsym() may return it
	 * before glibc 2.36. */
	if (!strncmp(name, "posix_spawn", 11))
		at = dlvsym(RTLD_NEXT, name, "GLIBC_2.15");
	if (!at)
		at = dlsym(RTLD_NEXT, name);
	memcpy(to, &at, sizeof at);
}

/* These functions of libc are cancellation points. */
static int exec_open(int at, const char *path, int flags)
{
	return (int)syscall(SYS_openat, at, path, flags | O_CLOEXEC, 0600);
}

static void exec_close(int fd)
{
	(void)syscall(SYS_close, fd);
}

static void unwritten_map(void)
{
	const int at = exec_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
	const int fd = at < 0 ? -1 : exec_open(at, EXEC_UNWRITTEN, O_RDWR | O_NOFOLLOW);
	const long page = fd < 0 ? -1
				 : syscall(SYS_mmap, NULL, sizeof *unwritten, PAGES_WRITABLE,
					   PAGES_SHARED, fd, 0L);

	if (page != -1)
		unwritten = (exec_unwritten *)page;
	if (fd >= 0)
		exec_close(fd);
	if (at >= 0)
		exec_close(at);
}

/* Also called by what runs before it. */
__attribute__((constructor)) static void execs_begin(void)
{
	const int kept = errno;
	const char *to = secure_getenv(exec_variable);

#define LOOK_UP(result, name, parameters) exec_look_up(#name, &real.name);
	REAL_EXECS(LOOK_UP)
	if (to && strlen(to) < sizeof directory)
		strcpy(directory, to);
	if (directory[0] && !unwritten)
		unwritten_map();
	errno = kept;
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

/* Whether a write of n bytes ends the program by SIGXFSZ, or fails. */
static bool is_file_limited(size_t n)
{
	struct rlimit l;

	return getrlimit(RLIMIT_FSIZE, &l) == 0 && l.rlim_cur < n;
}

static void fd_link(char *to, int fd)
{
	unsigned rest = (unsigned)fd;

	do
		to++;
	while (rest /= 10);
	*to = '\0';
	rest = (unsigned)fd;
	do
		*--to = (char)('0' + rest % 10);
	while (rest /= 10);
}

/* The name of a row's file in the directory. */
static void exec_row_name(char to[ROW_NAME_BYTES], uint64_t row)
{
	for (int i = 0; i < 16; i++, row <<= 4)
		to[i] = "0123456789abcdef"[row >> 60];
	memcpy(to + 16, EXEC_FILE_END, sizeof EXEC_FILE_END);
}

static void exec_row_remove(uint64_t row)
{
	const int at = exec_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
	char name[ROW_NAME_BYTES];

	exec_row_name(name, row);
	if (at < 0)
		return;
	syscall(SYS_unlinkat, at, name, 0);
	exec_close(at);
}

/* Counts a program whose row may not be written here: nor may it make other files. */
static uint64_t row_not_written(int error)
{
	if (!unwritten || (error != EACCES && error != EPERM && error != ENOENT && error != EROFS))
		return NO_ROW;
	atomic_fetch_add(&unwritten->n, 1);
	atomic_store(&unwritten->error, error);
	return ROW_UNWRITTEN;
}

/* false: there is such a row, or it cannot be written: errno. */
static bool exec_row_write(uint64_t row, const char *text, size_t n)
{
	const int at = exec_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
	char name[ROW_NAME_BYTES];

	if (at < 0)
		return false;
	exec_row_name(name, row);
	const int to = exec_open(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
	bool done = to >= 0;
	const int error = errno;
	if (done && syscall(SYS_write, to, text, n) < 0) {
		syscall(SYS_unlinkat, at, name, 0);
		done = false;
	}
	if (to >= 0)
		exec_close(to);
	exec_close(at);
	errno = to < 0 ? error : EIO;
	return done;
}

/* Writes the row of the path that text[1...n] has. Returns the row that was added; NO_ROW: none. */
static uint64_t path_write(char *text, ssize_t n, char *const envp[])
{
	uint64_t row = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	if (n <= 0) { /* there is no /proc, as after chroot() */
		const int at = exec_open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);

		if (at < 0)
			return row_not_written(errno);
		exec_close(at);
		return NO_ROW;
	}
	if (is_file_limited((size_t)n + 1))
		return NO_ROW;
	text[0] = environment_preloads(envp) ? EXEC_PRELOADS : EXEC_NOT;
	for (ssize_t i = 0; i <= n; i++)
		row = (row ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return exec_row_write(row, text, (size_t)n + 1) ? row : row_not_written(errno);
}

static uint64_t program_write(int fd, char *const envp[])
{
	char link[sizeof FD_LINKS + 10] = FD_LINKS, text[1 + PATH_BYTES];

	fd_link(link + strlen(FD_LINKS), fd);
	const ssize_t n = readlink(link, text + 1, PATH_BYTES);
	if (n < PATH_BYTES)
		return path_write(text, n, envp);
	const long pages = syscall(SYS_mmap, NULL, LONG_BYTES, PAGES_WRITABLE, PAGES_OWN, -1, 0L);
	if (pages == -1)
		return NO_ROW;
	char *const longer = (char *)pages;
	const ssize_t all = readlink(link, longer + 1, LONG_BYTES - 1);
	const uint64_t row = path_write(longer, all < LONG_BYTES - 1 ? all : 0, envp);
	(void)syscall(SYS_munmap, pages, LONG_BYTES);
	return row;
}

/* -1: it cannot be started. */
static int program_open(const char *path)
{
	return access(path, X_OK) == 0 ? exec_open(AT_FDCWD, path, O_PATH) : -1;
}

/* Looks for the file as execvp() does. */
static int program_search(const char *file)
{
	const char *at = getenv("PATH");
	const size_t bytes = strlen(file);
	char path[PATH_BYTES];

	if (strchr(file, '/'))
		return program_open(file);
	for (at = at ? at : DEFAULT_PATH;; at++) {
		const size_t n = strcspn(at, ":");

		int fd = -1;

		if (n + bytes + 2 <= sizeof path) { /* longer directories are not searched */
			memcpy(path, at, n);
			path[n] = '/';
			memcpy(path + n + (n > 0), file, bytes + 1);
			fd = program_open(path);
		}
		at += n;
		if (fd >= 0 || !*at)
			return fd;
	}
}

static uint64_t exec_seen(const char *file, bool searched, char *const envp[])
{
	const int kept = errno;
	uint64_t row = NO_ROW;

	if (!file || !directory[0])
		return NO_ROW;
	const int fd = searched ? program_search(file) : program_open(file);
	if (fd >= 0) {
		row = program_write(fd, envp);
		exec_close(fd);
	}
	errno = kept;
	return row;
}

/* Removes the row of a program that was not started, and returns the result. */
static int exec_ended(uint64_t row, int result)
{
	const int kept = errno;

	if (row == ROW_UNWRITTEN && result)
		atomic_fetch_sub(&unwritten->n, 1);
	else if (row != NO_ROW && result)
		exec_row_remove(row);
	errno = kept;
	return result;
}

/* The same for functions that replace the program of this process. */
static uint64_t exec_begins(const char *file, bool searched, char *const envp[])
{
	exec_leaves(true);
	return exec_seen(file, searched, envp);
}

static int exec_failed(uint64_t row, int result)
{
	exec_leaves(false);
	return exec_ended(row, result);
}

HOOK int execve(const char *path, char *const argv[], char *const envp[])
{
	const uint64_t row = exec_begins(path, false, envp);

	return exec_failed(row, REAL(execve)(path, argv, envp));
}

HOOK int execv(const char *path, char *const argv[])
{
	const uint64_t row = exec_begins(path, false, environ);

	return exec_failed(row, REAL(execv)(path, argv));
}

HOOK int execvpe(const char *file, char *const argv[], char *const envp[])
{
	const uint64_t row = exec_begins(file, true, envp);

	return exec_failed(row, REAL(execvpe)(file, argv, envp));
}

HOOK int execvp(const char *file, char *const argv[])
{
	const uint64_t row = exec_begins(file, true, environ);

	return exec_failed(row, REAL(execvp)(file, argv));
}

HOOK int fexecve(int fd, char *const argv[], char *const envp[])
{
	const int kept = errno;

	exec_leaves(true);
	const uint64_t row = directory[0] ? program_write(fd, envp) : NO_ROW;

	errno = kept;
	return exec_failed(row, REAL(fexecve)(fd, argv, envp));
}

#define HOOK_LIST(name, by)                                                                    \
	HOOK int name(const char *what, const char *first, ...)                                \
	{                                                                                      \
		va_list rest;                                                                  \
                                                                                               \
		va_start(rest, first);                                                         \
		char **list = __builtin_alloca(exec_list_length(first, &rest) * sizeof *list); \
		exec_list(list, first, &rest);                                                 \
		va_end(rest);                                                                  \
		return by(what, list);                                                         \
	}
HOOK_LIST(execl, execv)
HOOK_LIST(execlp, execvp)

HOOK int execle(const char *path, const char *first, ...)
{
	va_list rest;

	va_start(rest, first);
	char **list = __builtin_alloca(exec_list_length(first, &rest) * sizeof *list);
	exec_list(list, first, &rest);
	char *const *envp = va_arg(rest, char *const *);
	va_end(rest);
	return execve(path, list, envp);
}

HOOK int posix_spawn SPAWN_PARAMETERS
{
	const uint64_t row = exec_seen(file, false, envp);

	return exec_ended(row, REAL(posix_spawn)(pid, file, files, attributes, argv, envp));
}

HOOK int posix_spawnp SPAWN_PARAMETERS
{
	const uint64_t row = exec_seen(file, true, envp);

	return exec_ended(row, REAL(posix_spawnp)(pid, file, files, attributes, argv, envp));
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
