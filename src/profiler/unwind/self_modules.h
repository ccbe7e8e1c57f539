/* self_modules.h - maps addresses to the modules of the calling process without the loader's lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SELF_MODULES_H
#define STACK_SELF_MODULES_H

#include "profiler/unwind/unwind.h"

struct link_map;

/* Finds the unwind sections of the module in memory. Async-signal-safe. false: no module with such
 * sections. */
bool self_modules_find(uint64_t address, unwind_module *ret);

/* Calls f in each lookup that finds a module, which occupies [begin, end): from then on also in
 * signal handlers. Without a lock-free lookup f is not called. */
void self_modules_notify(void (*f)(uint64_t begin, uint64_t end, const struct link_map *map));

/* Reads the loader's list on systems without a lock-free lookup. Not for signal handlers. */
void self_modules_refresh(void);

#endif
