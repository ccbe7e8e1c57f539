/* python_elf.h - finds the symbols of the interpreter's state in an ELF file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_ELF_H
#define STACK_PYTHON_PYTHON_ELF_H

#include "profiler/unwind/elf_file.h"

typedef struct python_symbols {
	uint64_t runtime; /* address of _PyRuntime, or of its section; 0: neither exists */
	uint64_t version; /* Py_Version; 0: missing */
} python_symbols;

python_symbols python_symbols_of(const elf_file *f);

/* Returns whether the file contains the interpreter, by its exported symbols. */
bool python_is_interpreter(const elf_file *f);

#endif
