/* python_elf.h - where the symbols of an ELF file lie that say where the interpreter is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_PYTHON_PYTHON_ELF_H
#define STACK_PYTHON_PYTHON_ELF_H

#include "profiler/unwind/elf_file.h"

typedef struct python_symbols {
	uint64_t runtime; /* _PyRuntime, or its section's address; 0: neither is there */
	uint64_t version; /* Py_Version; 0: not there */
} python_symbols;

python_symbols python_symbols_of(const elf_file *f);

/* Whether it has the interpreter in it, by what it exports. */
bool python_is_interpreter(const elf_file *f);

#endif
