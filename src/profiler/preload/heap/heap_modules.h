/* heap_modules.h - which library the code at an address is of, and by what rules it is unwound.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HEAP_HEAP_MODULES_H
#define HEAP_HEAP_MODULES_H

#include "profiler/preload/heap/heap_state.h"
#include "profiler/unwind/unwind.h"

enum { HEAP_MODULE_NAME = 256 };

/* What the loader has there now. */
typedef struct heap_loaded {
	uint64_t start, end, bias;
	unwind_module unwind;
	char name[HEAP_MODULE_NAME]; /* as the loader has it: "" is the program */
} heap_loaded;

/* How often the loader added and removed one. It takes the loader's lock for a moment. */
uint64_t heap_modules_version(void);
/* All of them, at most `max`. Returns how many. It takes the loader's lock. */
size_t heap_modules_read(heap_loaded *ret, size_t max);
/* A name by which the file is found from elsewhere too; PATH_MAX bytes. */
void heap_module_path(const heap_loaded *m, char *ret);

#endif
