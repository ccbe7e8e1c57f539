/* runtime_frames.h - classifies frames of language runtimes, which are not charged for allocations,
 * and the libc functions whose allocations belong to the caller.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_RUNTIME_FRAMES_H
#define MEMORY_RUNTIME_FRAMES_H

#include "deepclock/record.h"

/* Returns whether the module is libc or the loader. module: file name, with or without directories;
 * NULL: false. */
bool runtime_is_python(const char *module); /* the interpreter: python3.11, libpython3.11.so */
bool runtime_is_c(const char *module);
/* Includes those, the libraries of C++, of Rust and of the compiler, and functions of them that are
 * compiled into programs; the operators new of any module. */
bool runtime_is(const dck_frame *f);
/* Returns whether the libc function passes its allocation to the caller, as strdup() and fopen()
 * do. */
bool runtime_hands_over(const char *function);

#endif
