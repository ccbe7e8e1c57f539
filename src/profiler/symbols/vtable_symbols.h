/* vtable_symbols.h - virtual functions of C++ files that were stripped, by what is left there:
 * tables of virtual functions and the names of their classes, which exceptions and dynamic_cast
 * need.
 *
 *	class_names *c = class_names_new(file);
 *	if (class_names_find(c, begin, name, sizeof name)) ... "ns::Conv<float>::(virtual 5)"
 *
 * A function that classes inherit has the name of the class that they all come from. One that
 * stands in the tables of classes without such a one, as linkers make of equal functions, has none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_VTABLE_SYMBOLS_H
#define SYMBOLS_VTABLE_SYMBOLS_H

#include "profiler/unwind/elf_file.h"

typedef struct class_names class_names;

/* Found by the relocations of a library or a position-independent program. NULL: there are none, or
 * no memory. */
class_names *class_names_new(const elf_file *f);
void class_names_free(class_names *c); /* NULL is allowed */
/* begin: where the function begins. c NULL: false. */
bool class_names_find(const class_names *c, uint64_t begin, char *to, size_t size);

#endif
