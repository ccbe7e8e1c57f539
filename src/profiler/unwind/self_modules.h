/* self_modules.h - which library of the calling process holds an address, without the loader's
 * lock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SELF_MODULES_H
#define STACK_SELF_MODULES_H

#include "profiler/unwind/unwind.h"

/* Its sections as they lie in memory. May be called from anywhere. false: none that has any. */
bool self_modules_find(uint64_t address, unwind_module *ret);

/* Reads the loader's list where it cannot be asked otherwise. Not from a signal handler. */
void self_modules_refresh(void);

#endif
