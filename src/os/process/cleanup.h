/* cleanup.h - within src/os: the cleanup registry of files and processes for dck_abandon().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_CLEANUP_H
#define PROCESS_CLEANUP_H

#include <stdbool.h>
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
/* Kills it (SIGKILL) with its process group, if it leads one, and with all its descendants. */
void cleanup_kill_process(pid_t pid);
/* Unregisters a child that was waited for. killed: by a signal; the rest of its group is killed. */
void cleanup_remove_process(pid_t pid, bool killed);
/* Removes a directory with its content. Does not allocate. */
void cleanup_delete_directory(const char *path);

#endif
