/* cleanup.h - within src/os: the cleanup registry of files and processes for dck_abandon().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_CLEANUP_H
#define PROCESS_CLEANUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum cleanup_kind {
	CLEANUP_FILE,
	CLEANUP_DIRECTORY,
	CLEANUP_PROCESS,
	CLEANUP_KINDS
} cleanup_kind;

/* Register and unregister a file or directory; the text is borrowed between the two calls, which
 * get the same address. */
void cleanup_add_path(cleanup_kind kind, const char *path);
void cleanup_remove_path(cleanup_kind kind, const char *path);
/* Registers a child that was started; `group`: it leads a process group. */
void cleanup_add_process(pid_t pid, bool group);
/* What a child that leads no group has started, as descriptors: a number may be another process's
 * later. */
enum { CLEANUP_FAMILY = 64 };
typedef struct cleanup_family {
	int fd[CLEANUP_FAMILY];
	size_t n;
} cleanup_family;
/* Takes the descendants of a registered child before it is stopped; none if it leads a group, or
 * where the kernel has no pidfd. */
void cleanup_family_open(pid_t pid, cleanup_family *ret);
/* After the child has ended; killed: by a signal, and with it what is left of its descendants. */
void cleanup_family_close(cleanup_family *f, bool killed);
/* Kills it (SIGKILL) with its process group, if it leads one, and with all its descendants. */
void cleanup_kill_process(pid_t pid);
/* Unregisters a child that was waited for. killed: by a signal; the rest of its group is killed. */
void cleanup_remove_process(pid_t pid, bool killed);
/* Removes a directory with its content. Does not allocate. */
void cleanup_delete_directory(const char *path);

#endif
