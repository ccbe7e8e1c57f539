/* address_space.h - executable mappings of a process: maps an address to its file.
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
 * address_space_unmapped(), address_space_exec(), address_space_fork(). A new mapping replaces the
 * overlapped part of older ones. A file is opened at the first lookup of an address in it, while
 * its process is alive: so deleted and replaced files, and files of other mount namespaces are
 * found (/proc/PID/map_files, /proc/PID/root). Modules' files stay open until
 * address_space_files_free(): callers store (file, address - bias) of a sample and look up its
 * function later.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UNWIND_ADDRESS_SPACE_H
#define UNWIND_ADDRESS_SPACE_H

#include "profiler/unwind/elf_file.h"
#include <sys/types.h>

typedef struct address_space_files address_space_files;
typedef struct address_space address_space;

typedef struct address_space_mapping {
	uint64_t begin, end, offset; /* addresses; offset in the file */
	uint64_t inode;		     /* 0: no file, or unknown */
	bool executable;
	const char *path; /* as reported by the kernel: "/usr/lib/...", "[vdso]", "//anon", "" */
} address_space_mapping;

typedef struct mapped_module {
	uint64_t begin, end; /* borrowed from the address space */
	/* address - bias is the file's address, also for a return address. */
	uint64_t bias;
	const char
	    *path;	/* "" : of no file, as what compilers make at run time; borrowed of files */
	elf_file *file; /* NULL: missing, or not an ELF file; borrowed from files */
	/* Why a file with a path is missing, else NULL. */
	const char *missing_reason;
} mapped_module;

address_space_files *address_space_files_new(void); /* @owned; NULL: no memory */
void address_space_files_free(address_space_files *f);

address_space *address_space_new(address_space_files *files,
				 pid_t pid); /* @owned, before files; NULL: no memory */
void address_space_free(address_space *s);

/* Reads the executable mappings in /proc/PID/maps, in place of those that are known. E_ABSENT: the
 * process has exited, E_IO: this user may not read it; then those stay. */
dck_status address_space_read(address_space *s, dck_err *err);
dck_status address_space_mapped(address_space *s, const address_space_mapping *m, dck_err *err);
void address_space_unmapped(address_space *s, uint64_t begin, uint64_t end);
void address_space_exec(address_space *s); /* removes all mappings */
address_space *address_space_fork(const address_space *s,
				  pid_t child); /* a copy; @owned; NULL: no memory */

/* Returns the module at an address; borrowed until s changes. NULL: no known executable mapping. */
const mapped_module *address_space_find(address_space *s, uint64_t address);
/* Returns the i-th executable mapping by address, opened; NULL: past the end. */
const mapped_module *address_space_at(address_space *s, size_t i);

#endif
