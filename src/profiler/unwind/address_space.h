/* address_space.h - what is mapped where in a process: which file's code an address is.
 *
 *	address_space_files *files = address_space_files_new();
 *	address_space *s = address_space_new(files, pid);
 *
 *	DCK_TRY(address_space_read(s, err));                   what is mapped now, by /proc/PID/maps
 *	const mapped_module *m = address_space_find(s, address);
 *	if (m && m->file)
 *		... elf_file_unwind(m->file), address - m->bias, m->path ...
 *
 * A process can also be followed by events, as perf_event reports them: address_space_mapped(),
 * address_space_unmapped(), address_space_exec(), address_space_fork(). What is mapped over
 * something else replaces that part of it. A file is opened when an address in it is first looked
 * for, while its process still lives: so deleted files, replaced ones, and those of other mount
 * namespaces are found
 * (/proc/PID/map_files, /proc/PID/root). Modules' files stay open until address_space_files_free():
 * callers keep (file, address - bias) of a sample and find its function afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SPACE_H
#define STACK_SPACE_H

#include "profiler/unwind/elf_file.h"
#include <sys/types.h>

typedef struct address_space_files address_space_files;
typedef struct address_space address_space;

typedef struct address_space_mapping {
	uint64_t begin, end, offset; /* addresses; where in the file */
	uint64_t inode;		     /* 0: no file, or not known */
	bool executable;
	const char *path; /* as the kernel says: "/usr/lib/...", "[vdso]", "//anon", "" */
} address_space_mapping;

typedef struct mapped_module {
	uint64_t begin, end; /* of this mapping */
	/* Subtract it of an address for the file's own numbering, also of a return address. */
	uint64_t bias;
	const char
	    *path;	/* "" : of no file, as what compilers make at run time; borrowed of files */
	elf_file *file; /* NULL: not there, or no ELF file; borrowed of files */
	/* Why a file with a path is not there: a sentence, else NULL. */
	const char *lacking;
} mapped_module;

address_space_files *address_space_files_new(void); /* @owned; NULL: no memory */
void address_space_files_free(address_space_files *f);

address_space *address_space_new(address_space_files *files,
				 pid_t pid); /* @owned, before files; NULL: no memory */
void address_space_free(address_space *s);
pid_t address_space_pid(const address_space *s);

/* Takes over what /proc/PID/maps says now: executable mappings alone. E_ABSENT: the process is
 * gone; E_IO: this user may not look at it. */
dck_status address_space_read(address_space *s, dck_err *err);
dck_status address_space_mapped(address_space *s, const address_space_mapping *m, dck_err *err);
void address_space_unmapped(address_space *s, uint64_t begin, uint64_t end);
void address_space_exec(address_space *s); /* nothing is mapped any more */
address_space *address_space_fork(const address_space *s,
				  pid_t child); /* a copy; @owned; NULL: no memory */

/* Borrowed until s changes. NULL: nothing executable is known there. */
const mapped_module *address_space_find(address_space *s, uint64_t address);
/* The i-th executable mapping in order of addresses, opened; NULL: there are fewer. */
const mapped_module *address_space_at(address_space *s, size_t i);

#endif
