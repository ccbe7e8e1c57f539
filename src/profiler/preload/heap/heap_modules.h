/* heap_modules.h - maps code addresses to loaded modules and their unwind tables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_MODULES_H
#define HEAP_HEAP_MODULES_H

#include "profiler/preload/heap/heap_state.h"
#include "profiler/unwind/unwind.h"

enum { HEAP_MODULE_NAME = 1024 }; /* names by RUNPATH are long */

/* A loaded module. */
typedef struct heap_loaded {
	uint64_t start, end, bias;
	unwind_module unwind;
	char name[HEAP_MODULE_NAME]; /* as the loader has it: "" is the program */
} heap_loaded;

/* Returns the number of loads and unloads so far. Takes the loader's lock briefly. */
uint64_t heap_modules_version(void);
/* Lists the modules, at most `max`. Returns their number. Takes the loader's lock. */
size_t heap_modules_read(heap_loaded *ret, size_t max);
/* Writes the absolute path of the file; PATH_MAX bytes. */
void heap_module_path(const heap_loaded *m, char *ret);

#endif
