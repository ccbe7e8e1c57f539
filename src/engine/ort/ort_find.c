/* ort_find.c - searches ONNX Runtime's C library, in this order: 1. the user's setting:
 * --engine-lib, DEEPCLOCK_ORT, ORT_DYLIB_PATH; 2. the Python that runs deepclock, which reports the
 * package's directory; 3. the directory "ort" next to deepclock's own program or library, and the
 * Python packages or the virtual environment that it is installed in; 4. Python packages: of the
 * active virtual environment, of the python3 in PATH, of the user; 5. the loader's path. Python
 * packages hold only the file with the full version in its name, hence the patterns. A file that
 * others could have put there or changed is not loaded unless --engine-lib names it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_find.h"

#include "base/err.h"
#include "os/os.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY	      "libonnxruntime.so*"
#define CAPI	      "onnxruntime/capi/"
#define PYTHON_MODULE "onnxruntime_pybind11_state"
#define NO_C_LIBRARY \
	"is a Python package of ONNX Runtime without its C library: 1.19 or newer is needed"

static void library_candidate_add(ort_places *p, const char *path, const char *how)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->place[i].path, path) == 0)
			return;
	if (p->n < ORT_PLACES_MAX)
		p->place[p->n++] = (ort_place){.path = path, .how = how};
}

static void add_newest(ort_places *p, mem_arena *a, const char *directory, const char *pattern,
		       const char *how)
{
	const char *path = os_path_newest(a, directory, pattern);
	if (path)
		library_candidate_add(p, path, how);
}

/* --- given by the user */

static const char by_option[] = "--engine-lib";

static dck_status asked_directory(const char *directory, const char *how, mem_arena *a,
				  const char **ret, dck_err *err)
{
	static const char *const inside[] = {"", "lib/", "lib64/", "capi/", "onnxruntime/capi/"};

	for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
		*ret = os_path_newest(a, directory, mem_arena_fmt(a, "%s" LIBRARY, inside[i]));
		if (*ret)
			return DCK_OK;
	}
	for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
		if (os_path_newest(a, directory,
				   mem_arena_fmt(a, "%s" PYTHON_MODULE "*", inside[i])))
			DCK_FAIL(err, E_VERSION, "'%s' (%s) " NO_C_LIBRARY, directory, how);
	DCK_NEED(!mem_arena_failed(a), err, "to search ONNX Runtime");
	DCK_FAIL(err, E_ABSENT, "there is no " LIBRARY " in the directory '%s' (%s)", directory,
		 how);
}

static dck_status asked_path(const char *path, const char *how, mem_arena *a, ort_places *ret,
			     dck_err *err)
{
	const char *slash = strrchr(path, '/');
	const char *file = path;

	if (!*path)
		DCK_FAIL(err, E_ARG, "%s is empty: give ONNX Runtime's library or its directory",
			 how);
	if (os_path_kind(path, NULL) == OS_DIRECTORY)
		DCK_TRY(asked_directory(path, how, a, &file, err));
	else if (!os_file_exists(path))
		DCK_FAIL(err, E_ABSENT, "there is no file '%s' (%s)", path, how);
	else if (strncmp(slash ? slash + 1 : path, PYTHON_MODULE, strlen(PYTHON_MODULE)) == 0)
		DCK_FAIL(err, E_VERSION,
			 "'%s' (%s) is ONNX Runtime's Python module and not its C library, which "
			 "is in the same directory from 1.19 on as " LIBRARY,
			 path, how);
	else if (!slash) /* a name alone would send the loader to its own path */
		file = mem_arena_fmt(a, "./%s", path);
	DCK_NEED(file, err, "to search ONNX Runtime");
	ret->place[ret->n++] = (ort_place){
	    .path = file, .how = how, .asked = true, .trusted = strcmp(how, by_option) == 0};
	return DCK_OK;
}

/* --- the Python that runs deepclock */

static void python_says(ort_places *p, mem_arena *a)
{
	/* The package deepclock sets it: python/deepclock/_program.py. */
	const char *path = secure_getenv("DEEPCLOCK_PYTHON_ORT");

	if (path && *path == '/' && os_file_exists(path))
		library_candidate_add(p, mem_arena_dup(a, path),
				      "named by the Python that runs deepclock");
}

/* --- next to deepclock */

/* An address in this library, to query its file name from the loader. */
static const char here;

static void packages_of(ort_places *p, mem_arena *a, const char *prefix, const char *how);

void ort_find_beside(ort_places *p, mem_arena *a, const char *self)
{
	static const char beside[] = "next to deepclock", packages[] = "packages next to deepclock";
	/* A build directory (and the tests and examples in it), an installed program, an installed
	 * library: in lib, and in a directory of lib for its kind of machine. In a wheel the
	 * program is in deepclock/bin of the packages, the extension in deepclock. */
	static const struct {
		const char *directory, *how;
	} places[] = {
	    {"ort", beside},
	    {"../ort", beside},
	    {"../lib/deepclock/ort", beside},
	    {"deepclock/ort", beside},
	    {"../deepclock/ort", beside},
	    {"../../onnxruntime/capi", packages},
	    {"../onnxruntime/capi", packages},
	};
	char real[PATH_MAX];
	char *slash;

	if (!realpath(self, real) || !(slash = strrchr(real, '/')))
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		add_newest(p, a, real, mem_arena_fmt(a, "%s/" LIBRARY, places[i].directory),
			   places[i].how);
	if (os_path_first(a, real, "../pyvenv.cfg") && (slash = strrchr(real, '/'))) {
		*slash = '\0';
		packages_of(p, a, real, "packages of the virtual environment of deepclock");
	}
}

static void beside_deepclock(ort_places *p, mem_arena *a)
{
	const char *library = os_library_of(&here);

	ort_find_beside(p, a, "/proc/self/exe");
	if (library)
		ort_find_beside(p, a, library);
}

/* --- Python packages */

static void packages_of(ort_places *p, mem_arena *a, const char *prefix, const char *how)
{
	static const char *const directories[] = {
	    "lib/python3*/site-packages",	"lib64/python3*/site-packages",
	    "lib/python3*/dist-packages",	"lib/python3/dist-packages",
	    "local/lib/python3*/dist-packages",
	};

	const char *file = p->file ? p->file : CAPI LIBRARY;

	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
		const char *library =
		    os_path_newest(a, prefix, mem_arena_fmt(a, "%s/%s", directories[i], file));
		if (library)
			library_candidate_add(p, library, how);
		else if (!p->old_wheel)
			p->old_wheel = os_path_newest(
			    a, prefix,
			    mem_arena_fmt(a, "%s/" CAPI PYTHON_MODULE "*", directories[i]));
	}
}

/* prefix/bin/python3 -> prefix. The name as found first: in a virtual environment it is a link to
 * an interpreter elsewhere, whose packages come second. */
static void packages_of_interpreter(ort_places *p, mem_arena *a, char *path)
{
	char real[PATH_MAX];

	p->python = mem_arena_dup(a, path);
	const char *resolved = realpath(path, real);
	for (int i = 0; i < 2; i++, path = real) {
		if (i == 1 && !resolved)
			break;
		for (int up = 0; up < 2; up++) {
			char *slash = strrchr(path, '/');
			if (!slash)
				return;
			*slash = '\0';
		}
		packages_of(p, a, path, "packages of the python3 in PATH");
	}
}

static void python_packages(ort_places *p, mem_arena *a)
{
	const char *environment = secure_getenv("VIRTUAL_ENV"), *home = secure_getenv("HOME");
	char *python = NULL;

	if (environment && *environment)
		packages_of(p, a, environment, "packages of the virtual environment");
	if (os_find_program("python3", &python, NULL) == DCK_OK) {
		packages_of_interpreter(p, a, python);
		mem_free(python);
	}
	if (home && *home)
		packages_of(p, a, mem_arena_fmt(a, "%s/.local", home), "the user's own packages");
}

/* --- the loader's path */

static void loader_path(ort_places *p, mem_arena *a)
{
	/* A distribution's file may carry the minor version in its name and nothing shorter. */
	static const char *const directories[] = {
	    "usr/local/lib", "usr/local/lib64",	    "usr/lib",
	    "usr/lib64",     "usr/lib/*-linux-gnu", "opt/onnxruntime/lib"};

	library_candidate_add(p, "libonnxruntime.so.1", "the loader's path");
	library_candidate_add(p, "libonnxruntime.so", "the loader's path");
	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
		add_newest(p, a, "/", mem_arena_fmt(a, "%s/libonnxruntime.so.1*", directories[i]),
			   "the system's libraries");
}

dck_status ort_find(const char *asked, mem_arena *a, ort_places *ret, dck_err *err)
{
	static const char *const variables[] = {"DEEPCLOCK_ORT", "ORT_DYLIB_PATH"};

	*ret = (ort_places){0};
	if (asked)
		return asked_path(asked, by_option, a, ret, err);
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = secure_getenv(variables[i]);
		if (value && *value)
			return asked_path(value, variables[i], a, ret, err);
	}
	python_says(ret, a);
	beside_deepclock(ret, a);
	python_packages(ret, a);
	loader_path(ret, a);
	DCK_NEED(!mem_arena_failed(a), err, "to search ONNX Runtime");
	return DCK_OK;
}

dck_status ort_find_provider(const char *package, const char *file, const char *library,
			     const char *asked, mem_arena *a, ort_places *ret, dck_err *err)
{
	const char *packages = strstr(library, "/" CAPI), *slash = strrchr(library, '/');
	char cwd[PATH_MAX];

	*ret = (ort_places){.file = mem_arena_fmt(a, "%s/%s", package, file)};
	DCK_NEED(ret->file, err, "to search the provider");
	if (asked) {
		if (os_path_kind(asked, NULL) == OS_DIRECTORY)
			asked = mem_arena_fmt(a, "%s/%s", asked, file);
		DCK_NEED(asked, err, "to search the provider");
		if (!os_file_exists(asked))
			DCK_FAIL(err, E_ABSENT, "there is no file '%s'", asked);
		/* ONNX Runtime would search it in its own directory. */
		if (*asked != '/' && os_getcwd(cwd, sizeof cwd))
			asked = mem_arena_fmt(a, "%s/%s", cwd, asked);
		DCK_NEED(asked, err, "to search the provider");
		ret->place[ret->n++] = (ort_place){.path = asked, .asked = true};
		return DCK_OK;
	}
	if (packages)
		add_newest(ret, a, mem_arena_dup_n(a, library, (size_t)(packages - library)),
			   ret->file, "packages of ONNX Runtime");
	if (slash)
		add_newest(ret, a, mem_arena_dup_n(a, library, (size_t)(slash - library)), file,
			   "next to ONNX Runtime");
	python_packages(ret, a);
	DCK_NEED(!mem_arena_failed(a), err, "to search the provider");
	return DCK_OK;
}
