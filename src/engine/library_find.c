/* library_find.c - searches the library of an engine's runtime, in this order: 1. the user's
 * setting: --engine-lib, or an environment variable; 2. the Python that runs deepclock, which
 * reports the package's directory; 3. the runtime's own directory next to deepclock's program or
 * library, and the Python packages or the virtual environment that it is installed in; 4. Python
 * packages: of the active virtual environment, of the python3 in PATH, of the user; 5. the loader's
 * path. Python packages hold only the file with the full version in its name, hence the patterns. A
 * file that others could have put there or changed is not loaded unless --engine-lib names it.
 *
 * What differs between runtimes is a library_kind, a const table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/library_find.h"

#include "base/err.h"
#include "os/os.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void library_candidate_add(library_places *p, const char *path, const char *how)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->place[i].path, path) == 0)
			return;
	if (p->n < LIBRARY_PLACES_MAX)
		p->place[p->n++] = (library_place){.path = path, .how = how};
}

static void add_newest(library_places *p, mem_arena *a, const char *directory, const char *pattern,
		       const char *how)
{
	const char *path = os_path_newest(a, directory, pattern);
	if (path)
		library_candidate_add(p, path, how);
}

/* --- given by the user */

static const char by_option[] = "--engine-lib";

static dck_status asked_directory(const library_kind *kind, const char *directory, const char *how,
				  mem_arena *a, const char **ret, dck_err *err)
{
	for (const char *const *in = kind->inside; *in; in++) {
		*ret = os_path_newest(a, directory, mem_arena_fmt(a, "%s%s", *in, kind->file));
		if (*ret)
			return DCK_OK;
	}
	for (const char *const *in = kind->inside; kind->module && *in; in++)
		if (os_path_newest(a, directory, mem_arena_fmt(a, "%s%s*", *in, kind->module)))
			DCK_FAIL(err, E_VERSION,
				 "'%s' (%s) is a Python package of %s without its C library: %s",
				 directory, how, kind->runtime, kind->module_fault);
	DCK_NEED(!mem_arena_failed(a), err, "to search %s", kind->runtime);
	DCK_FAIL(err, E_ABSENT, "there is no %s in the directory '%s' (%s)", kind->file, directory,
		 how);
}

static dck_status asked_path(const library_kind *kind, const char *path, const char *how,
			     mem_arena *a, library_places *ret, dck_err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *file = path;

	if (!*path)
		DCK_FAIL(err, E_ARG, "%s is empty: give the library of %s or its directory", how,
			 kind->runtime);
	if (os_path_kind(path, NULL) == OS_DIRECTORY)
		DCK_TRY(asked_directory(kind, path, how, a, &file, err));
	else if (!os_file_exists(path))
		DCK_FAIL(err, E_ABSENT, "there is no file '%s' (%s)", path, how);
	else if (kind->module && strncmp(name, kind->module, strlen(kind->module)) == 0)
		DCK_FAIL(err, E_VERSION,
			 "'%s' (%s) is %s's Python module and not its C library, which is "
			 "%s in the same directory: %s",
			 path, how, kind->runtime, kind->file, kind->module_fault);
	else if (!slash) /* a name alone would send the loader to its own path */
		file = mem_arena_fmt(a, "./%s", path);
	DCK_NEED(file, err, "to search %s", kind->runtime);
	ret->place[ret->n++] = (library_place){
	    .path = file, .how = how, .asked = true, .trusted = strcmp(how, by_option) == 0};
	return DCK_OK;
}

/* --- the Python that runs deepclock */

static void python_says(library_places *p, mem_arena *a)
{
	/* The package deepclock sets it: python/deepclock/_program.py. */
	const char *path = secure_getenv(p->kind->python);

	if (path && *path == '/' && os_file_exists(path))
		library_candidate_add(p, mem_arena_dup(a, path),
				      "named by the Python that runs deepclock");
}

/* --- next to deepclock */

/* An address in this library, to query its file name from the loader. */
static const char here;

static void packages_of(library_places *p, mem_arena *a, const char *prefix, const char *how);

void library_find_beside(library_places *p, mem_arena *a, const char *self)
{
	static const char beside[] = "next to deepclock", packages[] = "packages next to deepclock";
	/* A build directory (and the tests and examples in it), an installed program, an installed
	 * library: in lib, and in a directory of lib for its kind of machine. In a wheel the
	 * program is in deepclock/bin of the packages, the extension in deepclock. */
	static const char *const directories[] = {"", "../", "../lib/deepclock/", "deepclock/",
						  "../deepclock/"};
	static const char *const above[] = {"../../", "../"};
	const library_kind *k = p->kind;
	char real[PATH_MAX];
	char *slash;

	if (!realpath(self, real) || !(slash = strrchr(real, '/')))
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
		add_newest(p, a, real, mem_arena_fmt(a, "%s%s/%s", directories[i], k->own, k->file),
			   beside);
	for (size_t i = 0; i < sizeof above / sizeof *above; i++)
		add_newest(p, a, real, mem_arena_fmt(a, "%s%s%s", above[i], k->package, k->file),
			   packages);
	if (os_path_first(a, real, "../pyvenv.cfg") && (slash = strrchr(real, '/'))) {
		*slash = '\0';
		packages_of(p, a, real, "packages of the virtual environment of deepclock");
	}
}

static void beside_deepclock(library_places *p, mem_arena *a)
{
	const char *library = os_library_of(&here), *executed = os_program_executed();

	library_find_beside(p, a, "/proc/self/exe");
	if (library)
		library_find_beside(p, a, library);
	if (executed)
		library_find_beside(p, a, executed);
}

/* --- Python packages */

static void packages_of(library_places *p, mem_arena *a, const char *prefix, const char *how)
{
	static const char *const directories[] = {
	    "lib/python3*/site-packages",	"lib64/python3*/site-packages",
	    "lib/python3*/dist-packages",	"lib/python3/dist-packages",
	    "local/lib/python3*/dist-packages",
	};

	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
		const char *library =
		    os_path_newest(a, prefix, mem_arena_fmt(a, "%s/%s", directories[i], p->file));
		if (library)
			library_candidate_add(p, library, how);
		else if (!p->old_wheel && p->kind->module)
			p->old_wheel =
			    os_path_newest(a, prefix,
					   mem_arena_fmt(a, "%s/%s%s*", directories[i],
							 p->kind->package, p->kind->module));
	}
}

/* prefix/bin/python3 -> prefix. The name as found first: in a virtual environment it is a link to
 * an interpreter elsewhere, whose packages come second. */
static void packages_of_interpreter(library_places *p, mem_arena *a, char *path)
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

static void python_packages(library_places *p, mem_arena *a)
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

static void loader_path(library_places *p, mem_arena *a)
{
	for (const char *const *name = p->kind->loader; *name; name++)
		library_candidate_add(p, *name, "the loader's path");
	for (const char *const *pattern = p->kind->system; *pattern; pattern++)
		add_newest(p, a, "/", *pattern, "the system's libraries");
}

dck_status library_find(const library_kind *kind, const char *asked, mem_arena *a,
			library_places *ret, dck_err *err)
{
	*ret = (library_places){.kind = kind,
				.file = mem_arena_fmt(a, "%s%s", kind->package, kind->file)};
	DCK_NEED(ret->file, err, "to search %s", kind->runtime);
	if (asked)
		return asked_path(kind, asked, by_option, a, ret, err);
	for (const char *const *variable = kind->variables; *variable; variable++) {
		const char *value = secure_getenv(*variable);
		if (value && *value)
			return asked_path(kind, value, *variable, a, ret, err);
	}
	python_says(ret, a);
	beside_deepclock(ret, a);
	python_packages(ret, a);
	loader_path(ret, a);
	DCK_NEED(!mem_arena_failed(a), err, "to search %s", kind->runtime);
	return DCK_OK;
}

dck_status library_find_package(const library_kind *kind, const char *package, const char *file,
				const char *library, const char *asked, mem_arena *a,
				library_places *ret, dck_err *err)
{
	const char *inside = mem_arena_fmt(a, "/%s", kind->package);
	const char *packages = inside ? strstr(library, inside) : NULL;
	const char *slash = strrchr(library, '/');
	char cwd[PATH_MAX];

	*ret = (library_places){.kind = kind, .file = mem_arena_fmt(a, "%s/%s", package, file)};
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
		ret->place[ret->n++] = (library_place){.path = asked, .asked = true};
		return DCK_OK;
	}
	if (packages)
		add_newest(ret, a, mem_arena_dup_n(a, library, (size_t)(packages - library)),
			   ret->file, mem_arena_fmt(a, "packages of %s", kind->runtime));
	if (slash)
		add_newest(ret, a, mem_arena_dup_n(a, library, (size_t)(slash - library)), file,
			   mem_arena_fmt(a, "next to %s", kind->runtime));
	python_packages(ret, a);
	DCK_NEED(!mem_arena_failed(a), err, "to search the provider");
	return DCK_OK;
}

/* --- loading */

/* Refuses a library that other users can modify, because its code runs with this user's rights. */
static dck_status library_trust(const library_place *p, dck_err *err)
{
	const char *why = p->trusted ? NULL : os_file_open_to_others(p->path);

	if (why)
		DCK_FAIL(err, E_UNSUP,
			 "'%s' (%s) is not loaded: %s; fix its owner and mode, or name it with "
			 "--engine-lib to load it all the same",
			 p->path, p->how, why);
	return DCK_OK;
}

/* "DEEPCLOCK_ORT or ORT_DYLIB_PATH" */
static const char *variables_text(const library_kind *kind, mem_arena *a)
{
	const char *text = kind->variables[0];

	for (size_t i = 1; text && kind->variables[i]; i++)
		text = mem_arena_fmt(a, "%s or %s", text, kind->variables[i]);
	return text ? text : "the environment";
}

static dck_status nothing_found(const library_places *p, mem_arena *a, dck_err *err)
{
	const library_kind *kind = p->kind;

	if (p->old_wheel)
		DCK_FAIL(err, E_ABSENT,
			 "no %s was found: '%s' is a Python package of it without the C library: "
			 "%s, or give --engine-lib FILE",
			 kind->runtime, p->old_wheel, kind->module_remedy);
	DCK_FAIL(err, E_ABSENT,
		 "no %s was found: not named by %s, not next to deepclock nor in the packages that "
		 "it is installed in, not in the packages of %s or %s, not in the loader's path; "
		 "'make demo' fetches it, or pip install %.*s, or give --engine-lib FILE",
		 kind->runtime, variables_text(kind, a),
		 p->python ? p->python : "a python3 (none is in PATH)",
		 secure_getenv("VIRTUAL_ENV") ? "the virtual environment" : "~/.local",
		 (int)strcspn(kind->package, "/"), kind->package);
}

dck_status library_load(const library_kind *kind, const char *asked, mem_arena *a,
			const dck_open_params *log,
			dck_status (*load)(void *self, const library_place *place, dck_err *err),
			void *self, dck_err *err)
{
	library_places places;
	dck_err first = {0}, now;

	DCK_TRY(library_find(kind, asked, a, &places, err));
	for (size_t i = 0; i < places.n; i++) {
		const library_place *p = &places.place[i];
		dck_status status = library_trust(p, &now);

		DCK_NEXT(status, load(self, p, &now));
		if (status == DCK_OK)
			return DCK_OK;
		/* Bare names are tried without knowing whether they exist, so failure is not
		 * reported. */
		if (!p->asked && !strchr(p->path, '/'))
			continue;
		if (first.code == DCK_OK)
			first = now;
		if (!p->asked && log && log->log)
			log->log(log->log_self, DCK_LOG_WARN, now.msg);
	}
	if (first.code == DCK_OK)
		return nothing_found(&places, a, err);
	return err_pass(first.code, &first, err);
}

/* --- versions */

/* Returns the version in the name ".../PACKAGE-2.3.0.dist-info". */
static const char *version_of_directory(mem_arena *a, const char *directory, const char *package)
{
	static const char end[] = ".dist-info";
	const char *pattern = mem_arena_fmt(a, "../%s-*.dist-info", package);
	const char *path = pattern ? os_path_newest(a, directory, pattern) : NULL;
	const char *name = path ? strrchr(path, '/') : NULL;
	const size_t n = name ? strlen(name) : 0, begin = strlen(package) + 2;

	if (n < begin + sizeof end)
		return NULL;
	return mem_arena_dup_n(a, name + begin, n - begin - (sizeof end - 1));
}

/* Returns the version in a package's file METADATA. */
static const char *version_of_metadata(mem_arena *a, const char *directory)
{
	static const char key[] = "\nVersion: ";
	const char *path = mem_arena_fmt(a, "%s/METADATA", directory), *version = NULL;
	size_t n = 0;
	char *text = path ? os_file_map(path, false, 4096, &n) : NULL;
	const char *at = text ? memmem(text, n, key, sizeof key - 1) : NULL;
	const char *line = at ? at + sizeof key - 1 : NULL;
	const char *end = line ? memchr(line, '\n', (size_t)(text + n - line)) : NULL;

	if (end)
		version = mem_arena_dup_n(a, line, (size_t)(end - line));
	os_file_unmap(text, n);
	return version;
}

const char *library_version(mem_arena *a, const char *library, const char *package)
{
	const char *slash = strrchr(library, '/');
	const char *directory = mem_arena_dup_n(a, library, slash ? (size_t)(slash - library) : 0);
	const char *version = NULL;

	if (directory && *directory)
		version = version_of_directory(a, directory, package);
	if (!version && directory && *directory)
		version = version_of_metadata(a, directory);
	return version ? version : "";
}
