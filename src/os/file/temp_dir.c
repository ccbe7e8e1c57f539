/* temp_dir.c - temporary directories for measurements. The process that made a directory holds a
 * lock on it while it lives, so that directories of killed processes can be recognized and removed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"
#include "os/process/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Distinctive prefix: unlocked directories with this name are stale and are removed. */
#define NAME "deepclock-run-"
enum { RANDOM = 6 }; /* letters that mkdtemp() chooses */

/* Between being made and being locked a directory has no owner. */
enum { YOUNG_S = 60 };

/* --- the locks, of flock(2): a directory has no other kind */

enum { LOCKS = 16 };
static struct lock {
	_Atomic(const char *) path; /* borrowed from the owner of the directory; NULL: free */
	int fd;
} locks[LOCKS];

static int lock_try(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A directory that does not fit, or cannot be locked here, may be removed when it is old. */
static void lock_take(const char *path)
{
	for (size_t i = 0; i < LOCKS; i++) {
		const char *none = NULL;

		if (atomic_compare_exchange_strong(&locks[i].path, &none, path)) {
			locks[i].fd = lock_try(path);
			return;
		}
	}
}

static void lock_drop(const char *path)
{
	for (size_t i = 0; i < LOCKS; i++) {
		if (atomic_load(&locks[i].path) != path)
			continue;
		if (locks[i].fd >= 0)
			close(locks[i].fd);
		atomic_store(&locks[i].path, NULL);
	}
}

/* --- sweeping */

static bool stale(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 0777) == 0700 && st.st_mtime + YOUNG_S < time(NULL);
}

static void sweep(const char *in)
{
	DIR *dir = opendir(in);
	char path[OS_TEMP_SIZE];

	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (strncmp(e->d_name, NAME, strlen(NAME)) != 0 ||
		    strlen(e->d_name) != strlen(NAME) + RANDOM ||
		    snprintf(path, sizeof path, "%s/%s", in, e->d_name) >= (int)sizeof path ||
		    !stale(path))
			continue;
		const int fd = lock_try(path);

		if (fd >= 0) {
			cleanup_delete_directory(path);
			close(fd);
		}
	}
	if (dir)
		closedir(dir);
}

/* --- making */

static bool dir_make(const char *in, char *path)
{
	sweep(in);
	snprintf(path, OS_TEMP_SIZE, "%s/" NAME "XXXXXX", in);
	if (!mkdtemp(path))
		return false;
	lock_take(path);
	cleanup_add_path(CLEANUP_DIRECTORY, path);
	return true;
}

dck_status os_temp_dir_mapped(char *path, dck_err *err)
{
	static const char memory[] = "/dev/shm";
	const uint64_t plenty = UINT64_C(2)
				<< 30; /* writing past the end of the space kills a program */
	struct statvfs fs;

	if (!secure_getenv("TMPDIR") && statvfs(memory, &fs) == 0 &&
	    (uint64_t)fs.f_bavail * fs.f_frsize >= plenty && dir_make(memory, path))
		return DCK_OK;
	return os_temp_dir(path, err);
}

dck_status os_temp_dir(char *path, dck_err *err)
{
	const char *tmp = secure_getenv("TMPDIR");

	if (!tmp || tmp[0] != '/' || strlen(tmp) > OS_TEMP_SIZE / 2)
		tmp = "/tmp";
	if (!dir_make(tmp, path))
		DCK_FAIL_ERRNO(err, E_IO, errno,
			       "cannot make a directory for temporary files in '%s'", tmp);
	return DCK_OK;
}

void os_temp_dir_remove(const char *path)
{
	cleanup_delete_directory(path);
	cleanup_remove_path(CLEANUP_DIRECTORY, path);
	lock_drop(path);
}
