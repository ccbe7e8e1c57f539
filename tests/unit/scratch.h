/* scratch.h - a directory for the files of a test program, below TMPDIR: the working directory
 * while its tests run, removed after them with its contents. So no test, not even a failed or
 * stopped one, leaves files in the tree. Tests create directories only in this way.
 *
 *	SCRATCH_TEST(f),  in the list: the directory is empty before this test
 *	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_path[PATH_MAX];

/* Removes a directory, whatever its name, the permissions inside, and a test's changes of PATH. */
static inline int scratch_remove(const char *path)
{
	return setenv("SCRATCH", path, 1) ||
	       system(
		   "PATH=/usr/bin:/bin; chmod -R u+rwx -- \"$SCRATCH\" && rm -rf -- \"$SCRATCH\"");
}

static inline int scratch_begin(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof path, "%s/deepclock-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return !mkdtemp(path) || !realpath(path, scratch_path) || chdir(scratch_path) != 0;
}

static inline int scratch_end(void **state)
{
	(void)state;
	return chdir("/") || scratch_remove(scratch_path);
}

static inline int scratch_clear(void **state)
{
	(void)state;
	return chdir("/") || scratch_remove(scratch_path) || mkdir(scratch_path, 0700) ||
	       chdir(scratch_path);
}

#define SCRATCH_TEST(f) cmocka_unit_test_setup(f, scratch_clear)

/* Writes an executable file; missing directories of `path` are created. Returns `path`. */
static inline const char *scratch_file(const char *path, const void *bytes, size_t n)
{
	char directory[PATH_MAX];

	for (const char *p = path; (p = strchr(p + 1, '/'));) {
		snprintf(directory, sizeof directory, "%.*s", (int)(p - path), path);
		mkdir(directory, 0700);
	}
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0 || chmod(path, 0700) != 0) {
		perror(path);
		abort();
	}
	return path;
}

static inline const char *scratch_text(const char *path, const char *text)
{
	return scratch_file(path, text, strlen(text));
}

/* Returns the path of a file next to this program, such as "abi/abi_no_run.so". */
static inline const char *built_file(const char *name)
{
	static char path[2 * PATH_MAX];
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return "";
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof path, "%s/%s", self, name);
	return path;
}

#endif
