/* elf_file.h - a program, library or debug file of this machine, opened: where its segments and
 * sections lie, its build id, and what unwinding needs. Only what is asked for is read. The file
 * may be damaged or hostile: sizes are checked against the file's own.
 *
 *	elf_file *f;
 *
 *	DCK_TRY(elf_file_open("/usr/bin/xz", &f, err));
 *	... unwind_step(elf_file_unwind(f), address in the file, ...) ...
 *	elf_file_close(f);
 *
 * Addresses are the file's own: what the loader adds to them is the bias of address_space.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_ELF_FILE_H
#define STACK_ELF_FILE_H

#include "deepclock/base.h"
#include "profiler/unwind/unwind.h"

enum { ELF_FILE_ID_MAX = 64 };

typedef struct elf_file elf_file;

/* A section as it stands in the file. `bytes` are read by elf_file_read(). */
typedef struct elf_section {
	const char *name; /* borrowed of the file; "" */
	uint32_t type, link;
	uint64_t flags, address, offset, size, entry_size;
} elf_section;

/* E_ABSENT or E_IO: it cannot be opened; E_FORMAT: no ELF file of 64 bits for this processor. */
dck_status elf_file_open(const char *path, elf_file **ret, dck_err *err);
/* The same of an open descriptor, which it takes over also when it fails; `path` is a name for it.
 */
dck_status elf_file_open_fd(int fd, const char *path, elf_file **ret, dck_err *err);
/* Of bytes in memory, which are copied: the kernel's vdso. */
dck_status elf_file_open_bytes(const void *bytes, size_t n, const char *path, elf_file **ret,
			       dck_err *err);
void elf_file_close(elf_file *f); /* NULL is allowed */

const char *elf_file_path(const elf_file *f);
int elf_file_descriptor(const elf_file *f); /* -1: of memory */
/* The build id's bytes; returns how many, 0: none. */
size_t elf_file_build_id(const elf_file *f, const unsigned char **ret);
/* It was linked for addresses that the loader chooses: a library, or a position-independent
 * program. */
bool elf_file_is_moved(const elf_file *f);

/* .eh_frame and its table, read when first asked for. NULL: it has none. */
const unwind_module *elf_file_unwind(elf_file *f);

/* The address in the file of what is mapped from that offset; executable: of code. false: no
 * segment has it. */
bool elf_file_address_of(const elf_file *f, uint64_t offset, bool executable, uint64_t *ret);

/* The i-th section; NULL: there are fewer. Files without section headers have none. */
const elf_section *elf_file_section(const elf_file *f, size_t i);
const elf_section *elf_file_find_section(const elf_file *f, const char *name); /* NULL: none */
/* Where the dynamic segment says symbols and their names lie, for files without section headers.
 * false: it does not. */
bool elf_file_dynamic_symbols(const elf_file *f, elf_section *ret_symbols, elf_section *ret_names);

/* size bytes of the file from offset, in memory that mem_free() frees. NULL: they are not there, or
 * no memory. */
void *elf_file_read(const elf_file *f, uint64_t offset, uint64_t size);

#endif
