/* SPDX-License-Identifier: Apache-2.0 */
#include "os/process/lazy_library.h"

#include "base/err.h"
#include "os/os.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Returns the copy that a wheel has, for systems without the library; NULL: none. */
static void *late_open_bundled(const char *file)
{
	mem_arena *a = mem_arena_new(0);
	const char *path = a ? os_library_beside(a, file) : NULL;
	void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	mem_arena_free(a);
	return handle;
}

static dck_status late_load(os_lazy_library *l, dck_err *err)
{
	char why[256];

	dlerror();
	/* If the program has loaded it already, this returns the same library. */
	void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		const char *text = dlerror();

		snprintf(why, sizeof why, "%s", text ? text : l->file);
		handle = late_open_bundled(l->file);
	}
	if (!handle) {
		DCK_FAIL(err, E_ABSENT, "%s needs a library that cannot be loaded: %s", l->use,
			 why);
	}
	for (size_t i = 0; i < l->n; i++) {
		void *found = dlsym(handle, l->names[i]);

		if (!found) {
			dlclose(handle);
			DCK_FAIL(err, E_ABSENT, "%s needs a newer library: '%s' has no %s", l->use,
				 l->file, l->names[i]);
		}
		memcpy((char *)l->functions + i * sizeof found, &found, sizeof found);
	}
	if (l->ready)
		l->ready();
	return DCK_OK;
}

dck_status os_lazy_load(os_lazy_library *l, dck_err *err)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	dck_status st = DCK_OK;

	if (atomic_load(&l->loaded))
		return DCK_OK;
	pthread_mutex_lock(&one_at_a_time);
	if (!atomic_load(&l->loaded))
		st = late_load(l, err);
	if (st == DCK_OK)
		atomic_store(&l->loaded, true);
	pthread_mutex_unlock(&one_at_a_time);
	return st;
}
