/* unload.c SITES.so - names of a library stay valid after it was unloaded, and a library loaded at
 * its address is not mistaken for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"

enum { TIMES = 50, CALLS = 100 };

static int fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	return 1;
}

int main(int argc, char **argv)
{
	dck_record *r = NULL;
	dck_err err;

	if (argc < 2 || dck_trace_start(&(dck_trace_config){0}, &err) != DCK_OK)
		return fail(argc < 2 ? "which library?" : err.msg);
	for (int i = 0; i < TIMES; i++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		void (*run)(int) = NULL;

		if (!library)
			return fail(dlerror());
		*(void **)&run = dlsym(library, "sites_run");
		if (!run)
			return fail(dlerror());
		DCK_PUSH("around");
		run(CALLS);
		DCK_POP();
		dlclose(library);
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
			return fail("the library was not unloaded");
	}
	if (dck_trace_stop(&r, &err) != DCK_OK)
		return fail(err.msg);
	const dck_table *t = dck_record_table(r, "zones");
	if (t->nrows != 4)
		return fail("there are not four zones");
	for (size_t i = 0; i < t->nrows; i++) {
		const dck_cell *row = &t->cells[i * t->ncolumns];
		int64_t calls = !strcmp(row->value.as.text, "around") ? TIMES : TIMES * CALLS;

		if (row[1].value.as.i != calls)
			return fail("the calls of a zone are not what was made");
	}
	dck_record_free(r);
	return 0;
}
