/* runtime_frames.h - which frames are of the language's libraries, and not of who uses them; and
 * which of what the C library allocates is its user's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEMORY_RUNTIME_FRAMES_H
#define MEMORY_RUNTIME_FRAMES_H

#include "deepclock/record.h"

/* libc and the loader. module: a file's name, with or without directories; NULL is none. */
bool runtime_is_python(const char *module); /* the interpreter: python3.11, libpython3.11.so */
bool runtime_is_c(const char *module);
/* These, and the libraries of C++ and of the compiler; also what their headers put into programs.
 */
bool runtime_is(const dck_frame *f);
/* Whether that function of libc hands over what it allocates, as strdup() and fopen() do. */
bool runtime_hands_over(const char *function);

#endif
