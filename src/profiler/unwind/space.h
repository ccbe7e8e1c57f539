/* space.h - what is mapped where in a process: which file's code an address is.
 *
 *	space_files *files = space_files_new();        shared by all processes, kept to the end
 *	space *s = space_new(files, pid);
 *
 *	DCK_TRY(space_read(s, err));                   what is mapped now, by /proc/PID/maps
 *	const space_module *m = space_find(s, address);
 *	if (m && m->file)
 *		... elf_file_unwind(m->file), address - m->bias, m->path ...
 *
 * A process can also be followed by events, as perf_event reports them: space_mapped(),
 * space_unmapped(), space_exec(), space_fork(). What is mapped over something else replaces that
 * part of it. A file is opened when an address in it is first looked for, while its process still
 * lives: so deleted files, replaced ones, and those of other mount namespaces are found
 * (/proc/PID/map_files, /proc/PID/root). Modules' files stay open until space_files_free(): callers
 * keep (file, address - bias) of a sample and find its function afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SPACE_H
#define STACK_SPACE_H

#include "profiler/unwind/elf_file.h"
#include <sys/types.h>

typedef struct space_files space_files;
typedef struct space space;

typedef struct space_mapping {
	uint64_t begin, end, offset; /* addresses; where in the file */
	uint64_t inode;		     /* 0: no file, or not known */
	bool executable;
	const char *path; /* as the kernel says: "/usr/lib/...", "[vdso]", "//anon", "" */
} space_mapping;

typedef struct space_module {
	uint64_t begin, end; /* of this mapping */
	/* Subtract it of an address for the file's own numbering, also of a return address. */
	uint64_t bias;
	const char
	    *path;	/* "" : of no file, as what compilers make at run time; borrowed of files */
	elf_file *file; /* NULL: not there, or no ELF file; borrowed of files */
	/* Why a file with a path is not there: a sentence, else NULL. */
	const char *lacking;
} space_module;

space_files *space_files_new(void); /* @owned; NULL: no memory */
void space_files_free(space_files *f);

space *space_new(space_files *files, pid_t pid); /* @owned, before files; NULL: no memory */
void space_free(space *s);
pid_t space_pid(const space *s);

/* Takes over what /proc/PID/maps says now: executable mappings alone. E_ABSENT: the process is
 * gone; E_IO: this user may not look at it. */
dck_status space_read(space *s, dck_err *err);
dck_status space_mapped(space *s, const space_mapping *m, dck_err *err);
void space_unmapped(space *s, uint64_t begin, uint64_t end);
void space_exec(space *s);			/* nothing is mapped any more */
space *space_fork(const space *s, pid_t child); /* a copy; @owned; NULL: no memory */

/* Borrowed until s changes. NULL: nothing executable is known there. */
const space_module *space_find(space *s, uint64_t address);
/* The i-th executable mapping in order of addresses, opened; NULL: there are fewer. */
const space_module *space_at(space *s, size_t i);

#endif
