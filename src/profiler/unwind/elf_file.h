/* elf_file.h - ELF reader: segments, sections, build id and unwind sections of a program, library
 * or debug file of this machine. Only requested parts are read. The file may be damaged or hostile:
 * sizes are checked against the file's size.
 *
 *	elf_file *f;
 *
 *	DCK_TRY(elf_file_open("/usr/bin/xz", &f, err));
 *	... unwind_step(elf_file_unwind(f), address in the file, ...) ...
 *	elf_file_close(f);
 *
 * Addresses are file addresses: the loader adds the bias of address_space.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_ELF_FILE_H
#define STACK_ELF_FILE_H

#include "deepclock/base.h"
#include "profiler/unwind/unwind.h"

enum { ELF_FILE_ID_MAX = 64 };

typedef struct elf_file elf_file;

/* A section header of the file. elf_file_read() reads the bytes. */
typedef struct elf_section {
	const char *name; /* borrowed of the file; "" */
	uint32_t type, link;
	uint64_t flags, address, offset, size, entry_size;
} elf_section;

/* Opens a file. E_ABSENT or E_IO: it cannot be opened; E_FORMAT: not a 64-bit ELF file of this
 * processor. */
dck_status elf_file_open(const char *path, elf_file **ret, dck_err *err);
/* Opens a descriptor, and owns it also on failure; `path` is its name. */
dck_status elf_file_open_fd(int fd, const char *path, elf_file **ret, dck_err *err);
/* Opens bytes in memory, which are copied: the kernel's vdso. */
dck_status elf_file_open_bytes(const void *bytes, size_t n, const char *path, elf_file **ret,
			       dck_err *err);
void elf_file_close(elf_file *f); /* NULL is allowed */

const char *elf_file_path(const elf_file *f);
int elf_file_descriptor(const elf_file *f); /* -1: of memory */
/* Returns the build id's bytes and their number; 0: none. */
size_t elf_file_build_id(const elf_file *f, const unsigned char **ret);

/* Returns .eh_frame and its table, which are read at the first call. NULL: none. */
const unwind_module *elf_file_unwind(elf_file *f);

/* Converts a file offset to the file address that is mapped from it; executable: of code. false: no
 * segment has it. */
bool elf_file_address_of(const elf_file *f, uint64_t offset, bool executable, uint64_t *ret);

/* Returns the i-th section; NULL: past the end. Files without section headers have none. */
const elf_section *elf_file_section(const elf_file *f, size_t i);
const elf_section *elf_file_find_section(const elf_file *f, const char *name); /* NULL: none */
/* Finds symbols and their names by the dynamic segment, for files without section headers. false:
 * none. */
bool elf_file_dynamic_symbols(const elf_file *f, elf_section *ret_symbols, elf_section *ret_names);

/* Returns whether the file exports a symbol of that name. */
bool elf_file_exports(const elf_file *f, const char *name);

/* Reads size bytes from offset, into memory that mem_free() frees. NULL: past the end, or no
 * memory. */
void *elf_file_read(const elf_file *f, uint64_t offset, uint64_t size);

#endif
