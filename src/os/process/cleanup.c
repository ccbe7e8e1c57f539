/* cleanup.c - cleanup registry: temporary files and directories, and child processes, which must
 * not outlive this process. The code that makes one registers it, and unregisters it after its
 * removal; a signal that ends the process removes all that is registered. So the registry uses only
 * atomics and system calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/process/cleanup.h"

#include "deepclock/unstable.h"
#include "os/os.h"
#include "os/process/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Entries that do not fit are dropped, which matters only if a signal ends the process. */
enum { PLACES = 64 };

/* A path, which is borrowed, or a number of kill(2): that of a process, or a group's below 0. */
static _Atomic(intptr_t) noted[CLEANUP_KINDS][PLACES];
/* A child that was made by fork() has the notes too, and no business with them. */
static _Atomic(intptr_t) notes_owner;

static void note(cleanup_kind kind, intptr_t what)
{
	atomic_store(&notes_owner, (intptr_t)getpid());
	for (size_t i = 0; i < PLACES; i++) {
		intptr_t none = 0;

		if (atomic_compare_exchange_strong(&noted[kind][i], &none, what))
			return;
	}
}

static bool entry_remove_matching(cleanup_kind kind, intptr_t what)
{
	for (size_t i = 0; i < PLACES; i++) {
		intptr_t there = what;

		if (atomic_compare_exchange_strong(&noted[kind][i], &there, 0))
			return true;
	}
	return false;
}

/* opendir() would allocate. */
static void entries_each(int directory, void (*f)(void *self, int directory, const char *name),
			 void *self)
{
	struct entry {
		uint64_t number;
		int64_t next;
		unsigned short length;
		unsigned char type;
		char name[];
	};
	_Alignas(struct entry) char buf[4096];

	for (long n;
	     directory >= 0 && (n = syscall(SYS_getdents64, directory, buf, sizeof buf)) > 0;)
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(const void *)(buf + at);

			f(self, directory, e->name);
			at += e->length;
		}
	if (directory >= 0)
		close(directory);
}

/* --- processes and their descendants */

enum { TREE_MAX = 1 << 16 };

typedef struct tree {
	size_t n;
	pid_t pid[TREE_MAX];
} tree;

static void cleanup_tree_add(tree *t, pid_t pid)
{
	if (pid && t->n < TREE_MAX)
		t->pid[t->n++] = pid;
}

/* Adds the children of one thread; `name`: its number. */
static void cleanup_children_add(void *self, int directory, const char *name)
{
	char path[64], text[2048];
	pid_t child = 0;
	ssize_t n;

	snprintf(path, sizeof path, "%s/children", name);
	const int fd = name[0] == '.' ? -1 : openat(directory, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text, sizeof text)) > 0)
		for (const char *at = text; at < text + n; at++) {
			const bool digit = *at >= '0' && *at <= '9';

			if (!digit)
				cleanup_tree_add(self, child);
			child = digit ? 10 * child + (*at - '0') : 0;
		}
	cleanup_tree_add(self, child);
	if (fd >= 0)
		close(fd);
}

/* Returns the process and its descendants; NULL: no memory. os_pages_free() frees it. */
static tree *cleanup_tree_find(pid_t pid, bool stop)
{
	tree *t = os_pages_reserve(sizeof *t); /* a handler's stack may be small */
	char path[64];

	if (t)
		cleanup_tree_add(t, pid);
	for (size_t i = 0; t && i < t->n; i++) {
		if (stop)
			kill(t->pid[i], SIGSTOP);
		snprintf(path, sizeof path, "/proc/%d/task", (int)t->pid[i]);
		entries_each(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), cleanup_children_add,
			     t);
	}
	return t;
}

/* Stops them first, so that none starts another during the search. pid < 0: a group. */
static void cleanup_kill_tree(pid_t pid)
{
	tree *t = cleanup_tree_find(pid < 0 ? -pid : pid, true);

	for (size_t i = 0; t && i < t->n; i++)
		kill(t->pid[i], SIGKILL);
	if (!t || pid < 0)
		kill(pid, SIGKILL);
	os_pages_free(t, sizeof *t);
}

void cleanup_add_path(cleanup_kind kind, const char *path)
{
	note(kind, (intptr_t)path);
}

void cleanup_remove_path(cleanup_kind kind, const char *path)
{
	entry_remove_matching(kind, (intptr_t)path);
}

void cleanup_add_process(pid_t pid, bool group)
{
	note(CLEANUP_PROCESS, group ? -(intptr_t)pid : (intptr_t)pid);
}

static bool leads_group(pid_t pid)
{
	for (size_t i = 0; i < PLACES; i++)
		if (atomic_load(&noted[CLEANUP_PROCESS][i]) == -(intptr_t)pid)
			return true;
	return false;
}

void cleanup_kill_process(pid_t pid)
{
	cleanup_kill_tree(leads_group(pid) ? -pid : pid);
}

void cleanup_family_open(pid_t pid, cleanup_family *ret)
{
	tree *t = leads_group(pid) ? NULL : cleanup_tree_find(pid, false);

	ret->n = 0;
	for (size_t i = 1; t && i < t->n && ret->n < CLEANUP_FAMILY; i++) {
		ret->fd[ret->n] = pidfd_open_child(t->pid[i]);
		ret->n += ret->fd[ret->n] >= 0;
	}
	os_pages_free(t, sizeof *t);
}

void cleanup_family_close(cleanup_family *f, bool killed)
{
	for (size_t i = 0; i < f->n; i++) {
#ifdef SYS_pidfd_send_signal
		if (killed)
			(void)syscall(SYS_pidfd_send_signal, f->fd[i], SIGKILL, NULL, 0);
#endif
		close(f->fd[i]);
	}
	f->n = 0;
}

void cleanup_remove_process(pid_t pid, bool killed)
{
	if (entry_remove_matching(CLEANUP_PROCESS, (intptr_t)pid))
		return;
	/* Kill the process group only if the leader was killed: a leader that exited may have left
	 * daemons deliberately. */
	if (entry_remove_matching(CLEANUP_PROCESS, -(intptr_t)pid) && killed)
		kill(-pid, SIGKILL);
}

/* Maximum depth of directories that are removed, which programs may have made in them. */
enum { DEEPEST = 12 };

static void entry_remove(void *self, int directory, const char *name)
{
	unsigned depth = *(const unsigned *)self + 1;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    unlinkat(directory, name, 0) == 0 || depth > DEEPEST)
		return;
	entries_each(openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
		     entry_remove, &depth);
	unlinkat(directory, name, AT_REMOVEDIR);
}

/* Killed processes may still make files until they have exited: retries for half a second. */
enum { DIRECTORY_TRIES = 100 };

void cleanup_delete_directory(const char *path)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	for (int tries = 0; tries < DIRECTORY_TRIES; tries++) {
		unsigned depth = 0;

		entries_each(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			     entry_remove, &depth);
		if (rmdir(path) == 0 || errno != ENOTEMPTY)
			return;
		nanosleep(&pause, NULL);
	}
}

void dck_programs_kill(void)
{
	const int kept = errno;

	for (size_t i = 0; i < PLACES && atomic_load(&notes_owner) == (intptr_t)getpid(); i++) {
		const pid_t pid = (pid_t)atomic_load(&noted[CLEANUP_PROCESS][i]);

		if (pid != 0)
			cleanup_kill_tree(pid);
	}
	errno = kept;
}

void dck_abandon(void)
{
	const int kept = errno;

	if (atomic_load(&notes_owner) != (intptr_t)getpid())
		return;
	/* The processes first: they might still write into the directories. */
	for (size_t i = 0; i < PLACES; i++) {
		const intptr_t pid = atomic_exchange(&noted[CLEANUP_PROCESS][i], 0);

		if (pid != 0)
			cleanup_kill_tree((pid_t)pid);
	}
	for (size_t i = 0; i < PLACES; i++) {
		const char *file = (const char *)atomic_exchange(&noted[CLEANUP_FILE][i], 0);
		const char *directory =
		    (const char *)atomic_exchange(&noted[CLEANUP_DIRECTORY][i], 0);

		if (file)
			unlink(file);
		if (directory)
			cleanup_delete_directory(directory);
	}
	errno = kept;
}
