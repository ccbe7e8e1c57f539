/* cleanup.h - within src/os: what dck_abandon() does away with.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_LEFTOVERS_H
#define OS_LEFTOVERS_H

#include <stdbool.h>
#include <sys/types.h>

typedef enum leftover_kind {
	LEFTOVER_FILE,
	LEFTOVER_FOLDER,
	LEFTOVER_PROCESS,
	LEFTOVER_KINDS
} leftover_kind;

/* A file or directory; the text is borrowed until it is said to be gone, by the same address. */
void cleanup_add_path(leftover_kind kind, const char *path);
void cleanup_add_path_gone(leftover_kind kind, const char *path);
/* A child that was started, which may lead a process group of its own. */
void leftover_process(pid_t pid, bool group);
/* By SIGKILL, with its group where it leads one, and with all that it started and that are still
 * below it. */
void leftover_process_kill(pid_t pid);
/* It was waited for. killed: by a signal, and what is left of its group ends too. */
void leftover_process_gone(pid_t pid, bool killed);
/* With all that is in it. No memory is asked for. */
void leftover_folder_remove(const char *path);

#endif
