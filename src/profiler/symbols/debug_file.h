/* debug_file.h - where the debugging information of a stripped file is kept: by its build id below
 * the directory of debug files, or by the name that .gnu_debuglink gives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_DEBUG_FILE_H
#define STACK_SYMBOLS_DEBUG_FILE_H

#include "profiler/unwind/elf_file.h"

/* The file for f, which belongs to it: same build id, or the checksum that f has of it. @owned,
 * elf_file_close(); NULL: there is none. */
elf_file *debug_file_find(const elf_file *f, const char *folder);

#endif
