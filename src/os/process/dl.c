/* dl.c - shared libraries, and where the loader really found them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "base/err.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

struct os_library {
	void *handle;
	char *path; /* @owned */
};

/* The link map's name, which may be relative and go through links. */
static char *found_path(void *handle, const char *asked)
{
	struct link_map *map = NULL;
	char real[PATH_MAX];
	const char *name = asked;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
		name = map->l_name;
	return mem_dup(realpath(name, real) ? real : name);
}

bool os_library_is_cut(const char *path)
{
	struct stat st;
	bool cut = false;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) header = {0};
	ElfW(Phdr) segment = {0};

	if (fd < 0)
		return false;
	/* Other formats are the loader's to refuse. */
	if (fstat(fd, &st) == 0 && pread(fd, &header, sizeof header, 0) == sizeof header &&
	    memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof segment)
		for (unsigned i = 0; i < header.e_phnum && !cut; i++) {
			const uint64_t at = header.e_phoff + i * (uint64_t)sizeof segment;

			cut = at > INT64_MAX ||
			      pread(fd, &segment, sizeof segment, (off_t)at) != sizeof segment ||
			      segment.p_offset > (uint64_t)st.st_size ||
			      segment.p_filesz > (uint64_t)st.st_size - segment.p_offset;
		}
	close(fd);
	return cut;
}

dck_status os_library_open(const char *path, os_library **ret, dck_err *err)
{
	if (!*path) /* dlopen() would take this for the program itself */
		DCK_FAIL(err, E_ARG, "the name of the library to load is empty");
	if (os_library_is_cut(path))
		DCK_FAIL(err, E_ABSENT, "cannot load '%s': the end of the file is missing", path);
	os_library *l = mem_zalloc(1, sizeof *l);
	DCK_NEED(l, err, "to load '%s'", path);
	dlerror();
	l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!l->handle) {
		const char *why = dlerror();
		mem_free(l);
		DCK_FAIL(err, E_ABSENT, "cannot load '%s': %s", path,
			 why ? why : "the loader gives no reason");
	}
	l->path = found_path(l->handle, path);
	if (!l->path) {
		os_library_close(l);
		return ERR_NO_MEMORY(err, "to load '%s'", path);
	}
	*ret = l;
	return DCK_OK;
}

void os_library_close(os_library *l)
{
	if (!l)
		return;
	if (l->handle)
		dlclose(l->handle);
	mem_free(l->path);
	mem_free(l);
}

void os_library_keep(os_library *l)
{
	void *again = dlopen(l->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (again)
		dlclose(again);
}

bool os_library_function(os_library *l, const char *name, void *ret)
{
	void *found = dlsym(l->handle, name);

	memcpy(ret, &found, sizeof found); /* ISO C has no cast from an object to a function */
	return found;
}

const char *os_library_path(const os_library *l)
{
	return l->path;
}

void os_library_preload(const char *path)
{
	(void)dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

void *os_symbol_default(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

const char *os_library_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fname : NULL;
}

const char *os_program_executed(void)
{
	return (const char *)(uintptr_t)getauxval(AT_EXECFN);
}

/* Relative to the directory of the library or extension with this code, and of the program: in a
 * build, in an installation, in the packages that a wheel is installed in. */
static const char *const beside_places[] = {"",
					    "deepclock/",
					    "../lib/",
					    "../lib/deepclock/",
					    "../lib/*/",
					    "../lib/*/deepclock/",
					    "../lib64/",
					    "../lib64/deepclock/",
					    "bin/", /* from the extension */
					    "../deepclock/bin/",
					    "../lib*/python3*/*-packages/deepclock/bin/"};

const char *os_library_beside(mem_arena *a, const char *pattern)
{
	const char *own = os_library_of(beside_places), *found = NULL;
	const char *const files[] = {own && strstr(own, ".so") ? own : "", "/proc/self/exe",
				     os_program_executed()};
	char real[PATH_MAX], *slash;

	for (size_t f = 0; f < 3 && !found; f++) {
		if (!files[f] || !realpath(files[f], real) || !(slash = strrchr(real, '/')))
			continue;
		*slash = '\0';
		for (size_t i = 0; i < sizeof beside_places / sizeof beside_places[0] && !found;
		     i++)
			found = os_path_newest(a, real,
					       mem_arena_fmt(a, "%s%s", beside_places[i], pattern));
	}
	return found;
}
