/* dwarf_lines.h - maps addresses to lines and inlined functions by a file's DWARF.
 *
 * Units are listed when the file is opened, and read at the first lookup in them. After many units
 * the cache is emptied, so memory is bounded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_DWARF_LINES_H
#define STACK_SYMBOLS_DWARF_LINES_H

#include "deepclock/base.h"

typedef struct dwarf_lines dwarf_lines;

/* Texts are borrowed until the next call. */
typedef struct dwarf_frame {
	const char *linkage_name; /* mangled; NULL: none, or the same */
	const char *name; /* as in the source, qualified if it has no other; NULL: not known */
	const char *file; /* NULL: not known */
	unsigned line;	  /* 0: not known */
	unsigned
	    start_line; /* of a function in another one, where several have that name; else 0 */
} dwarf_frame;

/* E_ABSENT: the file has no DWARF, or libdw is not installed. */
dck_status dwarf_lines_open(const char *path, int fd, dwarf_lines **ret, dck_err *err);
void dwarf_lines_close(dwarf_lines *d); /* NULL is allowed */

/* Innermost first; returns how many, at most max. The last one has no name when only the line is
 * known. */
size_t dwarf_lines_find(dwarf_lines *d, uint64_t address, dwarf_frame *ret, size_t max);

#endif
