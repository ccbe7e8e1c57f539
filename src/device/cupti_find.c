/* cupti_find.c - finds the libcupti to load, the first that exists of:
 *
 *   1. the file in $DEEPCLOCK_CUPTI, and no other;
 *   2. one that the program has loaded already, as PyTorch does;
 *   3. by its name, as the loader searches: LD_LIBRARY_PATH, ldconfig;
 *   4. a toolkit: $CUDA_HOME, $CUDA_PATH, $CONDA_PREFIX, /usr/local/cuda;
 *   5. next to the CUDA runtime that the program has loaded, as in Python packages;
 *   6. the directories of Python packages in $DEEPCLOCK_TRACE_CUPTI, which `deepclock trace` sets.
 *
 * A library of a newer major version than the driver refuses to work, so the driver's version is
 * tried first, then older ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/cupti_find.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, VERSIONS = 4 };

/* The sonames of CUPTI 13, 12, 11 and 10. */
static const struct {
	int major;
	const char *name;
} versions[VERSIONS] = {
    {13, "libcupti.so.13"}, {12, "libcupti.so.12"}, {11, "libcupti.so.11.8"}, {11, "libcupti.so"}};

static void *symbol_find(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

/* Returns the newest major version of CUDA that the driver supports; INT_MAX: not known. */
static int driver_major(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *found = symbol_find(driver, "cuDriverGetVersion");
	unsigned (*get)(int *);
	int version = 0;

	if (found)
		memcpy(&get, &found, sizeof get); /* ISO C has no such cast */
	if (!found || get(&version) != 0)
		version = 0;
	if (driver)
		dlclose(driver);
	return version ? version / 1000 : versions[0].major;
}

static void *at(const char *format, const char *directory, const char *name)
{
	char path[PATH_BYTES];
	const int n = snprintf(path, sizeof path, format, directory, name);

	return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *in_toolkit(const char *root, const char *name)
{
	static const char *const formats[] = {"%s/extras/CUPTI/lib64/%s", "%s/lib64/%s",
					      "%s/lib/%s"};
	void *found = NULL;

	for (size_t i = 0; i < 3 && !found && root && *root; i++)
		found = at(formats[i], root, name);
	return found;
}

/* The directory of CUDA's runtime, or of another of its libraries. */
static int module_look(struct dl_phdr_info *info, size_t size, void *self)
{
	const char *name = info->dlpi_name, *slash = name ? strrchr(name, '/') : NULL;

	(void)size;
	if (!slash ||
	    (strncmp(slash, "/libcudart.so", 13) != 0 && strncmp(slash, "/libcublas.so", 13) != 0))
		return 0;
	if ((size_t)(slash - name) >= PATH_BYTES)
		return 0;
	memcpy(self, name, (size_t)(slash - name));
	((char *)self)[slash - name] = '\0';
	return 1;
}

static void *beside_runtime(const char *directory, const char *name)
{
	/* nvidia/cu13/lib has both; nvidia/cuda_runtime/lib is a sibling of nvidia/cuda_cupti/lib.
	 */
	void *found = at("%s/%s", directory, name);

	if (!found)
		found = at("%s/../../cuda_cupti/lib/%s", directory, name);
	return found ? found : at("%s/../extras/CUPTI/lib64/%s", directory, name);
}

static void *in_directories(const char *list, const char *name)
{
	char directory[PATH_BYTES];
	void *found = NULL;

	while (list && *list && !found) {
		const size_t n = strcspn(list, ":");

		if (n < sizeof directory) {
			memcpy(directory, list, n);
			directory[n] = '\0';
			found = at("%s/%s", directory, name);
		}
		list += n + (list[n] == ':');
	}
	return found;
}

static void *library_find(void)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"};
	char runtime[PATH_BYTES] = "";
	void *found = NULL;

	for (size_t i = 0; i < VERSIONS && !found; i++)
		found = dlopen(versions[i].name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	if (found)
		return found;
	dl_iterate_phdr(module_look, runtime);
	const int major = driver_major();
	for (size_t i = 0; i < VERSIONS && !found; i++) {
		const char *name = versions[i].name;

		if (versions[i].major > major)
			continue;
		found = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		for (size_t k = 0; k < 3 && !found; k++)
			found = in_toolkit(secure_getenv(variables[k]), name);
		if (!found)
			found = in_toolkit("/usr/local/cuda", name);
		if (!found && *runtime)
			found = beside_runtime(runtime, name);
		if (!found)
			found = in_directories(secure_getenv("DEEPCLOCK_TRACE_CUPTI"), name);
	}
	return found;
}

bool cupti_load(cupti_functions *ret, const char **ret_why)
{
	static char why[PATH_BYTES];
	static const struct {
		const char *symbol;
		size_t at;
	} members[] = {
#define X(member, symbol, parameters) {#symbol, offsetof(cupti_functions, member)},
	    CUPTI_API(X)
#undef X
	};
	const char *own = secure_getenv("DEEPCLOCK_CUPTI");
	void *library = own && *own ? dlopen(own, RTLD_NOW | RTLD_LOCAL) : library_find();

	*ret_why = why;
	if (!library && own && *own) {
		snprintf(why, sizeof why, "DEEPCLOCK_CUPTI: %s", dlerror());
		return false;
	}
	if (!library) {
		*ret_why =
		    "CUPTI was not found (libcupti.so of CUDA 11, 12 or 13): it is in CUDA's "
		    "toolkit, extras/CUPTI/lib64, and in Python's package nvidia-cuda-cupti; "
		    "DEEPCLOCK_CUPTI=FILE names it";
		return false;
	}
	for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
		void *found = dlsym(library, members[i].symbol);

		memcpy((char *)ret + members[i].at, &found, sizeof found);
		if (found || members[i].at == offsetof(cupti_functions, register_timestamp))
			continue;
		snprintf(why, sizeof why, "libcupti has no %s: CUDA 11 to 13 have it",
			 members[i].symbol);
		return false;
	}
	return true;
}

bool cupti_call_enqueues(const char *name)
{
	/* The nodes of a graph are only described by these. */
	if (strstr(name, "Graph") && !strstr(name, "GraphLaunch"))
		return false;
	return strstr(name, "Launch") || strstr(name, "Memcpy") || strstr(name, "Memset");
}

const char *cupti_failed(const cupti_functions *f, const char *what, cupti_result result)
{
	static char why[512];
	const char *text = NULL;

	if (result == CUPTI_API_LIMIT || result == CUPTI_API_MULTIPLE_SUBSCRIBERS)
		return "another profiler (Nsight Systems, torch.profiler) uses CUPTI in this "
		       "program, which serves one at a time: end that one first";
	if (result == CUPTI_API_INSUFFICIENT_PRIVILEGES)
		return "the driver permits profiling to the administrator alone: "
		       "NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia permits it to "
		       "all users";
	if (f->result_text(result, &text) != CUPTI_API_SUCCESS || !text)
		text = "an unknown error";
	snprintf(why, sizeof why, "%s of CUPTI failed: %s (%u)", what, text, result);
	return why;
}
