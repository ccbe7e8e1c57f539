/* vtable_symbols.h - names virtual functions of stripped C++ files by RTTI: vtables and class
 * names, which exceptions and dynamic_cast need and strip(1) therefore leaves.
 *
 *	class_names *c = class_names_new(file);
 *	if (class_names_find(c, begin, name, sizeof name)) ... "ns::Conv<float>::(virtual 5)"
 *
 * An inherited function is named by the common base class. A function in the vtables of classes
 * without a common base, as identical code folding creates, has no name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_VTABLE_SYMBOLS_H
#define SYMBOLS_VTABLE_SYMBOLS_H

#include "profiler/unwind/elf_file.h"

typedef struct class_names class_names;

/* Reads the vtables by the relocations of a library or position-independent program. NULL: none, or
 * no memory. */
class_names *class_names_new(const elf_file *f);
void class_names_free(class_names *c); /* NULL is allowed */
/* begin: start address of the function. c NULL: false. */
bool class_names_find(const class_names *c, uint64_t begin, char *to, size_t size);

#endif
