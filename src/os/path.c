/* path.c - what a name in the file system stands for, and which names there are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static os_kind kind_of(const struct stat *st, uint64_t *ret_bytes)
{
	if (ret_bytes)
		*ret_bytes = (uint64_t)st->st_size;
	return S_ISREG(st->st_mode) ? OS_FILE : S_ISDIR(st->st_mode) ? OS_FOLDER : OS_OTHER;
}

os_kind os_path_kind(const char *path, uint64_t *ret_bytes)
{
	struct stat st;

	return stat(path, &st) == 0 ? kind_of(&st, ret_bytes) : OS_NOTHING;
}

os_kind os_fd_kind(int fd, uint64_t *ret_bytes)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? kind_of(&st, ret_bytes) : OS_NOTHING;
}

bool os_fd_id(int fd, os_file_id *ret)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	*ret = (os_file_id){st.st_dev, st.st_ino};
	return true;
}

bool os_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool os_file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool os_path_rename(const char *from, const char *to)
{
	return rename(from, to) == 0;
}

bool os_file_readable(const char *path)
{
	return access(path, R_OK) == 0;
}

bool os_link_read(const char *path, char *ret, size_t size)
{
	ssize_t n = readlink(path, ret, size);
	bool ok = n > 0 && (size_t)n < size;

	ret[ok ? n : 0] = '\0';
	return ok;
}

bool os_folder_here(char *ret, size_t size)
{
	return getcwd(ret, size) != NULL;
}

dck_status os_folders_make(const char *path, const char *purpose, dck_err *err)
{
	char folder[4096];

	if (strlen(path) >= sizeof folder)
		DCK_FAIL(err, E_LIMIT, "the name of %s is too long: %.200s...", purpose, path);
	strcpy(folder, path);
	for (char *p = strchr(folder + 1, '/'); *folder && p; p = strchr(p + 1, '/')) {
		*p = '\0';
		/* Where it is there, asking to make it could fail for another reason. */
		if (os_path_kind(folder, NULL) == OS_NOTHING && mkdir(folder, 0700) != 0 &&
		    errno != EEXIST)
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot make the folder '%.300s' for %s",
				       folder, purpose);
		*p = '/';
	}
	return DCK_OK;
}

bool os_file_swallow(const char *path)
{
	return symlink("/dev/null", path) == 0 || errno == EEXIST;
}

void os_path_each(const char *pattern, void (*f)(void *self, const char *path), void *self)
{
	glob_t found;

	if (!pattern || glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		f(self, found.gl_pathv[i]);
	globfree(&found);
}

typedef struct choice {
	mem_arena *arena;
	const char *best;
} choice;

static void choose_first(void *self, const char *path)
{
	choice *c = self;

	if (!c->best)
		c->best = mem_arena_dup(c->arena, path);
}

static void choose_newest(void *self, const char *path)
{
	choice *c = self;

	if (!c->best || strverscmp(path, c->best) > 0)
		c->best = mem_arena_dup(c->arena, path);
}

const char *os_path_first(mem_arena *a, const char *pattern)
{
	choice c = {.arena = a};

	os_path_each(pattern, choose_first, &c);
	return c.best;
}

const char *os_path_newest(mem_arena *a, const char *pattern)
{
	choice c = {.arena = a};

	os_path_each(pattern, choose_newest, &c);
	return c.best;
}
