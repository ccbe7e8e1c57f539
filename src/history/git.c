/* git.c - reads the checked-out commit from Git's files (gitrepository-layout(5)): .git/HEAD names
 * a commit or a reference, references are files or lines of packed-refs. Running git would take
 * longer than the rest, and would execute commands of an untrusted directory's configuration.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "os/os.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE    4096
#define SMALL_BYTES  4096 /* HEAD, gitdir, commondir, one reference */
#define PACKED_BYTES ((size_t)64 << 20)

/* The first line of a small file. */
static bool git_line_read(const char *path, char *line, size_t size)
{
	dck_buffer b = {0};
	size_t n;

	if (os_read_file(path, SMALL_BYTES, &b, NULL) != DCK_OK)
		return false;
	n = strcspn(b.data, "\r\n");
	if (n < size) {
		memcpy(line, b.data, n);
		line[n] = '\0';
	}
	dck_buffer_done(&b);
	return n > 0 && n < size;
}

static bool git_join(char *path, const char *directory, const char *name)
{
	const int n = name[0] == '/' ? snprintf(path, PATH_SIZE, "%s", name)
				     : snprintf(path, PATH_SIZE, "%s/%s", directory, name);

	return n > 0 && n < PATH_SIZE;
}

/* A commit's name has 40 digits, or 64 with SHA-256. */
static bool is_commit(const char *text, size_t n)
{
	if (n != 40 && n != 64)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Finds the Git directory: ".git" itself, or the directory that a file ".git" names (work trees and
 * submodules). */
static bool git_directory_at(const char *directory, char *git)
{
	char name[PATH_SIZE], line[PATH_SIZE];

	if (!git_join(name, directory, ".git"))
		return false;
	const os_kind kind = os_path_kind(name, NULL);
	if (kind == OS_DIRECTORY) {
		strcpy(git, name);
		return true;
	}
	return kind == OS_FILE && git_line_read(name, line, sizeof line) &&
	       strncmp(line, "gitdir: ", 8) == 0 && git_join(git, directory, line + 8);
}

static bool git_directory_find(const char *directory, char *git)
{
	char at[PATH_SIZE], here[PATH_SIZE];
	char *slash;

	if (directory[0] == '/') {
		if (!git_join(at, "", directory))
			return false;
	} else if (!os_getcwd(here, sizeof here) || !git_join(at, here, directory)) {
		return false;
	}
	for (;;) {
		if (git_directory_at(at, git))
			return true;
		slash = strrchr(at, '/');
		if (!slash || slash == at)
			return at[0] == '/' && at[1] && git_directory_at("/", git);
		*slash = '\0';
	}
}

/* "COMMIT REFERENCE" lines; '#' and '^' begin others. */
static bool packed_find(const char *common, const char *ref, char *text)
{
	char path[PATH_SIZE];
	dck_buffer b = {0};
	const size_t n = strlen(ref);
	bool found = false;

	if (!git_join(path, common, "packed-refs") ||
	    os_read_file(path, PACKED_BYTES, &b, NULL) != DCK_OK)
		return false;
	for (const char *line = b.data; !found && line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		const char *blank = strchr(line, ' '), *end = line + strcspn(line, "\n");

		if (!blank || blank > end || (size_t)(end - blank - 1) != n ||
		    memcmp(blank + 1, ref, n) != 0 || !is_commit(line, (size_t)(blank - line)))
			continue;
		memcpy(text, line, (size_t)(blank - line));
		text[blank - line] = '\0';
		found = true;
	}
	dck_buffer_done(&b);
	return found;
}

static bool git_ref_read(const char *git, const char *ref, char *text)
{
	char path[PATH_SIZE], line[PATH_SIZE], common[PATH_SIZE];

	/* A name that leads out of the directory is not a reference. */
	if (strncmp(ref, "refs/", 5) != 0 || strstr(ref, ".."))
		return false;
	if (git_join(path, git, ref) && git_line_read(path, line, sizeof line) &&
	    is_commit(line, strlen(line))) {
		strcpy(text, line);
		return true;
	}
	/* A linked work tree has its own HEAD and shares the references of the repository. */
	if (!git_join(path, git, "commondir") || !git_line_read(path, line, sizeof line) ||
	    !git_join(common, git, line))
		strcpy(common, git);
	if (git_join(path, common, ref) && git_line_read(path, line, sizeof line) &&
	    is_commit(line, strlen(line))) {
		strcpy(text, line);
		return true;
	}
	return packed_find(common, ref, text);
}

static bool git_head_read(const char *directory, char *git, char *line)
{
	char path[PATH_SIZE];

	return git_directory_find(directory, git) && git_join(path, git, "HEAD") &&
	       git_line_read(path, line, PATH_SIZE);
}

const char *dck_history_branch(const char *directory, char *text, size_t size)
{
	static const char heads[] = "ref: refs/heads/";
	char git[PATH_SIZE], line[PATH_SIZE];
	const char *name = line + sizeof heads - 1;

	/* A repository with reftables has "refs/heads/.invalid" there, which is not a branch. */
	if (!git_head_read(directory, git, line) || strncmp(line, heads, sizeof heads - 1) != 0 ||
	    name[0] == '.' || strlen(name) >= size || !history_branch_fits(name))
		return NULL;
	return strcpy(text, name);
}

const char *dck_history_commit(const char *directory, char *text)
{
	char git[PATH_SIZE], line[PATH_SIZE];

	if (!git_head_read(directory, git, line))
		return NULL;
	if (strncmp(line, "ref: ", 5) == 0)
		return git_ref_read(git, line + 5, text) ? text : NULL;
	if (!is_commit(line, strlen(line)))
		return NULL;
	return strcpy(text, line);
}
