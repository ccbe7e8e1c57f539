/* debug_file.h - finds the separate debug file of a stripped file: by its build id below the
 * directory of debug files, or by the name in .gnu_debuglink.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_DEBUG_FILE_H
#define STACK_SYMBOLS_DEBUG_FILE_H

#include "profiler/unwind/elf_file.h"

/* Opens the debug file of f, verified by build id or by the checksum in .gnu_debuglink. @owned,
 * elf_file_close(); NULL: none. */
elf_file *debug_file_find(const elf_file *f, const char *directory);

#endif
