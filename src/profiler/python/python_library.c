/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_library.h"

#include "base/mem.h"
#include "os/os.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LIBRARY_PATH_SIZE = 4096 };

typedef struct known_folder {
	struct known_folder *next;
	const char *path;
	bool installed;
} known_folder;

struct python_library {
	mem_arena *arena;
	known_folder *folders;
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
static bool folder_cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static bool is_package(const char *folder)
{
	char path[LIBRARY_PATH_SIZE + 16];

	snprintf(path, sizeof path, "%s/__init__.py", folder);
	return os_path_kind(path, NULL) == OS_FILE;
}

/* Returns whether a package directory was installed: the outermost package has an installer's
 * *.dist-info next to it. */
static bool is_installed(python_library *l, const char *folder)
{
	char path[LIBRARY_PATH_SIZE];

	snprintf(path, sizeof path, "%s", folder);
	if (!is_package(path))
		return false;
	do {
		if (!folder_cut(path))
			return false;
	} while (is_package(path));
	return os_path_first(l->arena, path, "*.dist-info") != NULL;
}

static bool folder_installed(python_library *l, const char *folder)
{
	known_folder *f = l->folders;

	while (f && strcmp(f->path, folder) != 0)
		f = f->next;
	if (f)
		return f->installed;
	const bool installed = is_installed(l, folder);
	f = mem_arena_alloc(l->arena, sizeof *f);
	const char *own = mem_arena_dup(l->arena, folder);
	if (f && own) {
		*f = (known_folder){.next = l->folders, .path = own, .installed = installed};
		l->folders = f;
	}
	return installed;
}

bool python_library_has(python_library *l, const char *file)
{
	static const char *const generated[] = {"<frozen ", "<__array_function__ internals>"};
	static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
	char folder[LIBRARY_PATH_SIZE];

	for (size_t i = 0; i < sizeof generated / sizeof generated[0]; i++)
		if (!strncmp(file, generated[i], strlen(generated[i])))
			return true;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
		if (strstr(file, folders[i]))
			return true;
	if (is_standard(file))
		return true;
	if (file[0] != '/' || strlen(file) >= sizeof folder)
		return false;
	strcpy(folder, file);
	return folder_cut(folder) && folder_installed(l, folder);
}
