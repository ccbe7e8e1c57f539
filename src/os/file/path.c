/* path.c - names in the file system: kinds, links, directories, matching by patterns, permissions.
 *
 * os_glob_each() matches as glob(3) does, with two differences: the directory is taken literally,
 * since users name it, and the pattern is ours. The pattern is split at '/'. A part without special
 * characters is appended without reading a directory; any other part is compared (fnmatch(3)) with
 * the sorted entries of the directory matched up to there. The recursion is as deep as the pattern
 * has parts, on one path buffer in `matching`; names longer than PATH_MAX are skipped. Entries that
 * appear or vanish during the walk do no harm: the whole name is tested before it is reported.
 *
 * os_file_open_to_others() judges whether another user could change a file, by owner and mode. A
 * group counts as the user's own if it has the user's name and no other member (user private
 * groups).
 *
 * The functions have no state. After a result of false errno is as os.h states; the check and a
 * later use are two steps, so results are hints where others may write.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static os_kind path_kind_of(const struct stat *st, uint64_t *ret_bytes)
{
	if (ret_bytes)
		*ret_bytes = (uint64_t)st->st_size;
	return S_ISREG(st->st_mode) ? OS_FILE : S_ISDIR(st->st_mode) ? OS_DIRECTORY : OS_OTHER;
}

os_kind os_path_kind(const char *path, uint64_t *ret_bytes)
{
	struct stat st;

	return stat(path, &st) == 0 ? path_kind_of(&st, ret_bytes) : OS_NOTHING;
}

os_kind os_fd_kind(int fd, uint64_t *ret_bytes)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? path_kind_of(&st, ret_bytes) : OS_NOTHING;
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

bool os_getcwd(char *ret, size_t size)
{
	return getcwd(ret, size) != NULL;
}

dck_status os_mkdir_parents(const char *path, const char *purpose, dck_err *err)
{
	char directory[4096];

	if (strlen(path) >= sizeof directory)
		DCK_FAIL(err, E_LIMIT, "the name of %s is too long: %.200s...", purpose, path);
	strcpy(directory, path);
	for (char *p = strchr(directory + 1, '/'); *directory && p; p = strchr(p + 1, '/')) {
		*p = '\0';
		/* mkdir() of a directory that exists could fail for another reason than EEXIST. */
		if (os_path_kind(directory, NULL) == OS_NOTHING && mkdir(directory, 0700) != 0 &&
		    errno != EEXIST)
			DCK_FAIL_ERRNO(err, E_IO, errno,
				       "cannot make the directory '%.300s' for %s", directory,
				       purpose);
		*p = '/';
	}
	return DCK_OK;
}

const char *os_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool os_path_can_be_made(const char *path)
{
	const char *slash = strrchr(path, '/');
	char directory[4096];

	if (slash && (size_t)(slash - path) >= sizeof directory) {
		errno = ENAMETOOLONG;
		return false;
	}
	snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return access(directory, W_OK | X_OK) == 0;
}

bool os_file_swallow(const char *path)
{
	return symlink("/dev/null", path) == 0 || errno == EEXIST;
}

/* --- names that match */

typedef struct matching {
	void (*f)(void *self, const char *path);
	void *self;
	char path[PATH_MAX];
} matching;

static void rest_each(matching *m, size_t n, const char *pattern);

/* Appends one part of a name to the first n bytes of the path, then matches the rest of the
 * pattern. */
static void part_each(matching *m, size_t n, const char *name, size_t bytes, const char *rest)
{
	if (n + bytes + 2 > sizeof m->path)
		return;
	memcpy(m->path + n, name, bytes);
	n += bytes;
	m->path[n] = '\0';
	if (*rest) {
		strcpy(m->path + n, "/");
		rest_each(m, n + 1, rest);
	} else if (faccessat(AT_FDCWD, m->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		m->f(m->self, m->path);
	}
}

static void rest_each(matching *m, size_t n, const char *pattern)
{
	const size_t bytes = strcspn(pattern, "/");
	const char *rest = pattern + bytes + (pattern[bytes] == '/');
	char part[NAME_MAX + 1];
	struct dirent **entry = NULL;

	if (bytes >= sizeof part)
		return;
	memcpy(part, pattern, bytes);
	part[bytes] = '\0';
	if (!strpbrk(part, "*?[\\")) {
		part_each(m, n, part, bytes, rest);
		return;
	}
	const int entries = scandir(n > 0 ? m->path : ".", &entry, NULL, alphasort);
	for (int i = 0; i < entries; i++) {
		const char *name = entry[i]->d_name;

		if (fnmatch(part, name, FNM_PERIOD) == 0)
			part_each(m, n, name, strlen(name), rest);
		m->path[n] = '\0';
		free(entry[i]);
	}
	free(entry);
}

void os_glob_each(const char *directory, const char *pattern,
		  void (*f)(void *self, const char *path), void *self)
{
	matching m = {.f = f, .self = self};
	size_t n = directory ? strlen(directory) : 0;

	if (!directory || !pattern || n + 2 > sizeof m.path)
		return;
	memcpy(m.path, directory, n + 1);
	if (n > 0 && directory[n - 1] != '/')
		strcpy(m.path + n++, "/");
	rest_each(&m, n, pattern);
}

const char *os_glob_escape(mem_arena *a, const char *name)
{
	char *to = mem_arena_alloc(a, 2 * strlen(name) + 1), *at = to;

	for (; to && *name; name++) {
		if (strchr("*?[\\", *name))
			*at++ = '\\';
		*at++ = *name;
	}
	if (to)
		*at = '\0';
	return to;
}

/* Returns whether it is a user private group (Debian and others), named like the user, its only
 * member: files that pip installs under such a user's umask 002 are not writable by other users. */
static bool group_is_own(gid_t gid)
{
	char of_user[4096], of_group[4096];
	struct passwd user, *found_user = NULL;
	struct group group, *found_group = NULL;

	if (getpwuid_r(geteuid(), &user, of_user, sizeof of_user, &found_user) != 0 ||
	    !found_user || user.pw_gid != gid ||
	    getgrgid_r(gid, &group, of_group, sizeof of_group, &found_group) != 0 || !found_group ||
	    strcmp(group.gr_name, user.pw_name) != 0)
		return false;
	for (char **member = group.gr_mem; *member; member++)
		if (strcmp(*member, user.pw_name) != 0)
			return false;
	return true;
}

const char *os_file_open_to_others(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return NULL;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return "it belongs to another user";
	if (st.st_mode & S_IWOTH)
		return "everyone may write to it";
	return st.st_mode & S_IWGRP && !group_is_own(st.st_gid) ? "its group may write to it"
								: NULL;
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

const char *os_path_first(mem_arena *a, const char *directory, const char *pattern)
{
	choice c = {.arena = a};

	os_glob_each(directory, pattern, choose_first, &c);
	return c.best;
}

const char *os_path_newest(mem_arena *a, const char *directory, const char *pattern)
{
	choice c = {.arena = a};

	os_glob_each(directory, pattern, choose_newest, &c);
	return c.best;
}
