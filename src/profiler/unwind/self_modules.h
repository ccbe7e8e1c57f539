/* self_modules.h - maps addresses to the modules of the calling process without the loader's lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SELF_MODULES_H
#define STACK_SELF_MODULES_H

#include "profiler/unwind/unwind.h"

/* Finds the unwind sections of the module in memory. Async-signal-safe. false: no module with such
 * sections. */
bool self_modules_find(uint64_t address, unwind_module *ret);

/* Reads the loader's list on systems without a lock-free lookup. Not for signal handlers. */
void self_modules_refresh(void);

#endif
