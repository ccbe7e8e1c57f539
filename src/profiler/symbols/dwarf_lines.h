/* dwarf_lines.h - lines and inlined functions of addresses, by the debugging information of a file.
 *
 * Units are listed when the file is opened, and read when an address of theirs is asked for. When
 * many have been read they are all forgotten again, so that memory has a bound.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_DWARF_LINES_H
#define STACK_SYMBOLS_DWARF_LINES_H

#include "deepclock/base.h"

typedef struct dwarf_lines dwarf_lines;

/* Texts are borrowed until the next call. */
typedef struct dwarf_frame {
	const char *linkage_name; /* mangled; NULL: none, or the same */
	const char *name;	  /* as in the source; NULL: not known */
	const char *file;	  /* NULL: not known */
	unsigned line;		  /* 0: not known */
} dwarf_frame;

/* E_ABSENT: the file has no such information, or what reads it is not there. */
dck_status dwarf_lines_open(const char *path, int fd, dwarf_lines **ret, dck_err *err);
void dwarf_lines_close(dwarf_lines *d); /* NULL is allowed */

/* Innermost first; returns how many, at most max. The last one has no name when only the line is
 * known. */
size_t dwarf_lines_find(dwarf_lines *d, uint64_t address, dwarf_frame *ret, size_t max);

#endif
