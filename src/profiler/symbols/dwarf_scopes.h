/* dwarf_scopes.h - qualified names of functions that have no linkage name: of those that no other
 * unit can call, as in anonymous namespaces, and lambdas.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_DWARF_SCOPES_H
#define SYMBOLS_DWARF_SCOPES_H

#include "profiler/symbols/lazy_dw.h"

#ifdef HAVE_LIBDW

#include <stddef.h>
#include <stdint.h>

/* An entry that may be or contain a function, by its offset. */
typedef struct dwarf_scope {
	uint64_t offset;
	uint32_t around; /* index of the scope around it, plus one; 0: the unit */
} dwarf_scope;

/* The scopes of a unit, in the order of their offsets. */
typedef struct dwarf_scopes {
	dwarf_scope *all; /* @owned */
	size_t n, cap;
	bool is_read;
} dwarf_scopes; /* {0} at first */

void dwarf_scopes_done(dwarf_scopes *s);
/* Writes "ns::Class::name" of a function or an inlined call of the unit. *ret_line: where it
 * begins, if it is inside another function, where several may have one name; else 0. false: its
 * name is all there is. */
bool dwarf_scopes_name(dwarf_scopes *s, Dwarf_Die *cu, Dwarf_Die *function, char *ret, size_t size,
		       unsigned *ret_line);

#endif

#endif
