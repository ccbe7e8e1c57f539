/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_library.h"

#include "base/mem.h"
#include "os/os.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LIBRARY_PATH_SIZE = 4096 };

typedef struct known_directory {
	struct known_directory *next;
	const char *path;
	bool installed;
} known_directory;

struct python_library {
	mem_arena *arena;
	known_directory *directories;
};

python_library *python_library_new(void)
{
	python_library *l = mem_zalloc(1, sizeof *l);

	if (l && !(l->arena = mem_arena_new(0))) {
		mem_free(l);
		return NULL;
	}
	return l;
}

void python_library_free(python_library *l)
{
	if (!l)
		return;
	mem_arena_free(l->arena);
	mem_free(l);
}

/* "/usr/lib/python3.11/json/decoder.py" */
static bool is_standard(const char *file)
{
	static const char *const begins[] = {"/lib/python3.", "/lib64/python3."};

	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
		const char *at = strstr(file, begins[i]);
		size_t n = at ? strlen(begins[i]) : 0;

		if (!at || !isdigit((unsigned char)at[n]))
			continue;
		while (isdigit((unsigned char)at[n]))
			n++;
		if (at[n] == 't') /* without the GIL */
			n++;
		if (at[n] == '/')
			return true;
	}
	return false;
}

/* Cuts the last part off a path. false: nothing would be left. */
static bool directory_cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static bool is_package(const char *directory)
{
	char path[LIBRARY_PATH_SIZE + 16];

	snprintf(path, sizeof path, "%s/__init__.py", directory);
	return os_path_kind(path, NULL) == OS_FILE;
}

/* Returns whether a package directory was installed: the outermost package has an installer's
 * *.dist-info next to it. */
static bool is_installed(python_library *l, const char *directory)
{
	char path[LIBRARY_PATH_SIZE];

	snprintf(path, sizeof path, "%s", directory);
	if (!is_package(path))
		return false;
	do {
		if (!directory_cut(path))
			return false;
	} while (is_package(path));
	return os_path_first(l->arena, path, "*.dist-info") != NULL;
}

static bool directory_installed(python_library *l, const char *directory)
{
	known_directory *f = l->directories;

	while (f && strcmp(f->path, directory) != 0)
		f = f->next;
	if (f)
		return f->installed;
	const bool installed = is_installed(l, directory);
	f = mem_arena_alloc(l->arena, sizeof *f);
	const char *own = mem_arena_dup(l->arena, directory);
	if (f && own) {
		*f = (known_directory){.next = l->directories, .path = own, .installed = installed};
		l->directories = f;
	}
	return installed;
}

bool python_library_has(python_library *l, const char *file)
{
	static const char *const generated[] = {"<frozen ", "<__array_function__ internals>"};
	static const char *const directories[] = {"/site-packages/", "/dist-packages/"};
	char directory[LIBRARY_PATH_SIZE];

	for (size_t i = 0; i < sizeof generated / sizeof generated[0]; i++)
		if (!strncmp(file, generated[i], strlen(generated[i])))
			return true;
	for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
		if (strstr(file, directories[i]))
			return true;
	if (is_standard(file))
		return true;
	if (file[0] != '/' || strlen(file) >= sizeof directory)
		return false;
	strcpy(directory, file);
	return directory_cut(directory) && directory_installed(l, directory);
}
