/* elf_file.c - reader of 64-bit little-endian ELF files of this processor, by pread().
 *
 * Opening reads the ELF header, program headers, section headers with their names, and the build
 * id; everything else is read when it is requested. elf_file_unwind() loads the unwind tables once:
 * .eh_frame and .eh_frame_hdr by section, or a table made of .eh_frame (eh_frame_index.h) without
 * that section, as in static programs; without section headers both by PT_GNU_EH_FRAME. .gopclntab
 * serves Go. Files are not mapped, because a mapped file that is truncated raises SIGBUS.
 *
 * Hostile files: each read is checked against the file's size (read_at()) and each count against
 * HEADERS_MAX, SECTIONS_MAX, NAMES_MAX or NOTES_MAX; sections with damaged headers count as
 * missing, damaged program headers are E_FORMAT. A copy has a NUL after its size, so strings are
 * terminated. The file owns all that it returns but elf_file_read()'s bytes. One thread:
 * elf_file_unwind() caches. Source: System V ABI (generic), chapters 4 and 5; elf(5).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/elf_file.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "profiler/unwind/eh_frame_index.h"
#include "profiler/unwind/go_table.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum { HEADERS_MAX = 1 << 16, SECTIONS_MAX = 1 << 20, NAMES_MAX = 64 << 20, NOTES_MAX = 1 << 20 };
#define READ_MAX (UINT64_C(4) << 30)

struct elf_file {
	int fd; /* -1: `memory` has it */
	unsigned char *memory;
	uint64_t size;
	char *path;
	Elf64_Ehdr head;
	Elf64_Phdr *segments;
	elf_section *sections;
	size_t n_segments, n_sections;
	char *names;
	unsigned char id[ELF_FILE_ID_MAX];
	size_t n_id;
	bool looked_for_frames;
	unwind_module frames;
	void *hdr_bytes, *frame_bytes, *go_bytes;
};

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

/* --- Bytes of the file. */

static bool read_at(const elf_file *f, uint64_t offset, void *to, uint64_t n)
{
	if (offset > f->size || n > f->size - offset)
		return false;
	if (f->fd >= 0)
		return os_read_at(f->fd, to, (size_t)n, offset) == (ptrdiff_t)n;
	if (n)
		memcpy(to, f->memory + offset, (size_t)n);
	return true;
}

void *elf_file_read(const elf_file *f, uint64_t offset, uint64_t size)
{
	/* There is a byte more, so that texts end. */
	if (offset > f->size || size > f->size - offset || size > READ_MAX)
		return NULL;
	char *bytes = mem_alloc((size_t)size + 1);

	if (!bytes)
		return NULL;
	bytes[size] = '\0';
	if (read_at(f, offset, bytes, size))
		return bytes;
	mem_free(bytes);
	return NULL;
}

/* --- Opening. */

static dck_status read_segments(elf_file *f, dck_err *err)
{
	size_t n = f->head.e_phnum;

	if (!n)
		return DCK_OK;
	if (n >= HEADERS_MAX - 1 || f->head.e_phentsize != sizeof *f->segments)
		DCK_FAIL(err, E_FORMAT, "'%s': its program headers are damaged", f->path);
	f->segments = mem_zalloc(n, sizeof *f->segments);
	DCK_NEED(f->segments, err, "for the segments of '%s'", f->path);
	if (!read_at(f, f->head.e_phoff, f->segments, n * sizeof *f->segments))
		DCK_FAIL(err, E_FORMAT, "'%s' is truncated: its program headers are missing",
			 f->path);
	f->n_segments = n;
	return DCK_OK;
}

/* A file with damaged section headers counts as one without. */
static dck_status read_sections(elf_file *f, dck_err *err)
{
	Elf64_Shdr first, names;
	uint64_t n = f->head.e_shnum, which = f->head.e_shstrndx;

	if (!f->head.e_shoff || f->head.e_shentsize != sizeof first ||
	    !read_at(f, f->head.e_shoff, &first, sizeof first))
		return DCK_OK;
	if (!n)
		n = first.sh_size;
	if (which == SHN_XINDEX)
		which = first.sh_link;
	if (!n || n > SECTIONS_MAX || which >= n)
		return DCK_OK;
	Elf64_Shdr *all = elf_file_read(f, f->head.e_shoff, n * sizeof *all);

	if (!all)
		return DCK_OK;
	names = all[which];
	f->names =
	    names.sh_size <= NAMES_MAX ? elf_file_read(f, names.sh_offset, names.sh_size) : NULL;
	f->sections = f->names ? mem_zalloc((size_t)n, sizeof *f->sections) : NULL;
	if (f->names && !f->sections) {
		mem_free(all);
		DCK_NEED(f->sections, err, "for the sections of '%s'", f->path);
	}
	for (size_t i = 0; f->sections && i < n; i++) {
		f->sections[i] = (elf_section){
		    .name = all[i].sh_name < names.sh_size ? f->names + all[i].sh_name : "",
		    .type = all[i].sh_type,
		    .link = all[i].sh_link,
		    .flags = all[i].sh_flags,
		    .address = all[i].sh_addr,
		    .offset = all[i].sh_offset,
		    .size = all[i].sh_size,
		    .entry_size = all[i].sh_entsize,
		};
		f->n_sections = i + 1;
	}
	mem_free(all);
	return DCK_OK;
}

/* Finds the build id among the notes at that offset. */
static bool read_notes(elf_file *f, uint64_t offset, uint64_t size)
{
	unsigned char *bytes = size <= NOTES_MAX ? elf_file_read(f, offset, size) : NULL;
	Elf64_Nhdr note;

	for (uint64_t at = 0; bytes && size - at >= sizeof note;) {
		memcpy(&note, bytes + at, sizeof note);
		at += sizeof note;
		uint64_t name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3),
			 value = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);

		if (name > size - at || note.n_descsz > size - at - name)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(bytes + at, "GNU", 4) == 0 && note.n_descsz <= sizeof f->id) {
			memcpy(f->id, bytes + at + name, note.n_descsz);
			f->n_id = note.n_descsz;
			break;
		}
		if (value > size - at - name)
			break;
		at += name + value;
	}
	mem_free(bytes);
	return f->n_id != 0;
}

static void find_build_id(elf_file *f)
{
	for (size_t i = 0; i < f->n_sections; i++) {
		if (f->sections[i].type == SHT_NOTE &&
		    read_notes(f, f->sections[i].offset, f->sections[i].size))
			return;
	}
	for (size_t i = 0; i < f->n_segments; i++) {
		if (f->segments[i].p_type == PT_NOTE &&
		    read_notes(f, f->segments[i].p_offset, f->segments[i].p_filesz))
			return;
	}
}

static dck_status elf_read_all(elf_file *f, dck_err *err)
{
	const unsigned char *ident = f->head.e_ident;

	if (!read_at(f, 0, &f->head, sizeof f->head) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		DCK_FAIL(err, E_FORMAT, "'%s' is not an ELF file", f->path);
	if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB ||
	    f->head.e_machine != MACHINE)
		DCK_FAIL(err, E_UNSUP, "'%s' is for another processor, or of 32 bits", f->path);
	DCK_TRY(read_segments(f, err));
	DCK_TRY(read_sections(f, err));
	find_build_id(f);
	return DCK_OK;
}

static dck_status open_it(elf_file *opened, const char *path, elf_file **ret, dck_err *err)
{
	elf_file *f = mem_zalloc(1, sizeof *f);
	dck_status st = DCK_OK;

	if (f) {
		*f = *opened;
		f->path = mem_dup(path);
	}
	if (!f || !f->path)
		st = ERR_NO_MEMORY(err, "for '%s'", path);
	else
		st = elf_read_all(f, err);
	if (st == DCK_OK) {
		*ret = f;
		return DCK_OK;
	}
	if (f) {
		elf_file_close(f);
	} else {
		mem_free(opened->memory);
		if (opened->fd >= 0)
			os_close(opened->fd);
	}
	return st;
}

dck_status elf_file_open_fd(int fd, const char *path, elf_file **ret, dck_err *err)
{
	elf_file f = {.fd = fd};

	if (os_fd_kind(fd, &f.size) != OS_FILE) {
		os_close(fd);
		DCK_FAIL(err, E_FORMAT, "'%s' is not a file", path);
	}
	return open_it(&f, path, ret, err);
}

dck_status elf_file_open(const char *path, elf_file **ret, dck_err *err)
{
	int fd = os_open_read(path);

	if (fd < 0)
		DCK_FAIL_ERRNO(err, E_ABSENT, errno, "'%s' cannot be read", path);
	return elf_file_open_fd(fd, path, ret, err);
}

dck_status elf_file_open_bytes(const void *bytes, size_t n, const char *path, elf_file **ret,
			       dck_err *err)
{
	elf_file f = {.fd = -1, .size = n, .memory = mem_alloc(n ? n : 1)};

	DCK_NEED(f.memory, err, "for '%s'", path);
	if (n)
		memcpy(f.memory, bytes, n);
	return open_it(&f, path, ret, err);
}

void elf_file_close(elf_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		os_close(f->fd);
	mem_free(f->memory);
	mem_free(f->path);
	mem_free(f->segments);
	mem_free(f->sections);
	mem_free(f->names);
	mem_free(f->hdr_bytes);
	mem_free(f->frame_bytes);
	mem_free(f->go_bytes);
	mem_free(f);
}

/* --- properties */

const char *elf_file_path(const elf_file *f)
{
	return f->path;
}

int elf_file_descriptor(const elf_file *f)
{
	return f->fd;
}

size_t elf_file_build_id(const elf_file *f, const unsigned char **ret)
{
	*ret = f->id;
	return f->n_id;
}

const elf_section *elf_file_section(const elf_file *f, size_t i)
{
	return i < f->n_sections ? &f->sections[i] : NULL;
}

const elf_section *elf_file_find_section(const elf_file *f, const char *name)
{
	for (size_t i = 0; i < f->n_sections; i++) {
		if (strcmp(f->sections[i].name, name) == 0)
			return &f->sections[i];
	}
	return NULL;
}

bool elf_file_address_of(const elf_file *f, uint64_t offset, bool executable, uint64_t *ret)
{
	/* Mappings have whole pages, so they may begin before their segment. */
	const uint64_t page = 65536;
	const Elf64_Phdr *found = NULL;

	for (size_t i = 0; i < f->n_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];
		uint64_t before = p->p_offset % page;

		if (p->p_type != PT_LOAD || (executable && !(p->p_flags & PF_X)))
			continue;
		if (offset - (p->p_offset - before) < before + p->p_filesz &&
		    (!found || p->p_offset <= offset))
			found = p;
	}
	if (!found)
		return false;
	*ret = offset - found->p_offset + found->p_vaddr;
	return true;
}

/* Returns the loaded segment that contains the address. */
static const Elf64_Phdr *segment_of(const elf_file *f, uint64_t address)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_filesz)
			return p;
	}
	return NULL;
}

bool elf_file_dynamic_symbols(const elf_file *f, elf_section *ret_symbols, elf_section *ret_names)
{
	uint64_t symbols = 0, names = 0, names_size = 0;
	const Elf64_Phdr *dynamic = NULL, *at, *names_at;
	Elf64_Dyn entry;

	for (size_t i = 0; i < f->n_segments; i++) {
		if (f->segments[i].p_type == PT_DYNAMIC)
			dynamic = &f->segments[i];
	}
	for (uint64_t i = 0; dynamic && i < dynamic->p_filesz / sizeof entry && i < HEADERS_MAX;
	     i++) {
		if (!read_at(f, dynamic->p_offset + i * sizeof entry, &entry, sizeof entry))
			return false;
		if (entry.d_tag == DT_SYMTAB)
			symbols = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRTAB)
			names = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRSZ)
			names_size = entry.d_un.d_val;
	}
	at = segment_of(f, symbols);
	names_at = segment_of(f, names);
	/* The number of symbols is not stated; all linkers put the names after them. */
	if (!symbols || names <= symbols || !at || !names_at)
		return false;
	*ret_symbols = (elf_section){.name = ".dynsym",
				     .type = SHT_DYNSYM,
				     .address = symbols,
				     .offset = symbols - at->p_vaddr + at->p_offset,
				     .size = names - symbols,
				     .entry_size = sizeof(Elf64_Sym)};
	*ret_names = (elf_section){.name = ".dynstr",
				   .type = SHT_STRTAB,
				   .address = names,
				   .offset = names - names_at->p_vaddr + names_at->p_offset,
				   .size = names_size};
	return true;
}

bool elf_file_exports(const elf_file *f, const char *name)
{
	elf_section symbols, strings;
	bool found = false;

	if (!elf_file_dynamic_symbols(f, &symbols, &strings))
		return false;
	Elf64_Sym *sym = elf_file_read(f, symbols.offset, symbols.size);
	char *names = elf_file_read(f, strings.offset, strings.size);
	/* Without a NUL at the end the last name would not be terminated. */
	if (sym && names && strings.size && names[strings.size - 1] == '\0')
		for (uint64_t i = 0; !found && i < symbols.size / sizeof *sym; i++)
			found = sym[i].st_shndx != SHN_UNDEF && sym[i].st_name < strings.size &&
				strcmp(names + sym[i].st_name, name) == 0;
	mem_free(sym);
	mem_free(names);
	return found;
}

/* --- What unwinding needs. */

static bool load_section(const elf_file *f, const elf_section *s, void **bytes, unwind_section *ret)
{
	if (!s || s->type == SHT_NOBITS || !s->size || s->size > INT32_MAX ||
	    s->flags & SHF_COMPRESSED)
		return false;
	*bytes = elf_file_read(f, s->offset, s->size);
	if (!*bytes)
		return false;
	*ret = (unwind_section){*bytes, (size_t)s->size, s->address};
	return true;
}

/* Loads the tables by the program header, for files without section headers: all from the table to
 * the end of its segment, in which .eh_frame follows it. */
static bool load_by_segment(elf_file *f)
{
	const Elf64_Phdr *h = NULL, *in;
	uint64_t n;

	for (size_t i = 0; i < f->n_segments; i++) {
		if (f->segments[i].p_type == PT_GNU_EH_FRAME)
			h = &f->segments[i];
	}
	in = h ? segment_of(f, h->p_vaddr) : NULL;
	if (!in)
		return false;
	n = in->p_filesz - (h->p_vaddr - in->p_vaddr);
	if (n > INT32_MAX)
		n = INT32_MAX;
	f->hdr_bytes = elf_file_read(f, h->p_vaddr - in->p_vaddr + in->p_offset, n);
	if (!f->hdr_bytes)
		return false;
	f->frames.hdr = (unwind_section){f->hdr_bytes, (size_t)n, h->p_vaddr};
	return unwind_find_frames(&f->frames, &f->frames.hdr);
}

/* Returns the word that the loader writes there; 0: none is known. */
static uint64_t relocated_word(const elf_file *f, uint64_t address)
{
	const elf_section *s = elf_file_find_section(f, ".rela.dyn");
	const size_t n = s && s->size <= NAMES_MAX ? (size_t)(s->size / sizeof(Elf64_Rela)) : 0;
	Elf64_Rela *all = n ? elf_file_read(f, s->offset, n * sizeof *all) : NULL;
	uint64_t ret = 0;

	for (size_t i = 0; all && i < n && !ret; i++)
		if (all[i].r_offset == address)
			ret = (uint64_t)all[i].r_addend;
	mem_free(all);
	return ret;
}

/* Takes the table of Go's functions at that offset of a section. The loader writes the start of the
 * code into that of a position-independent program, if another linker than Go's made it. */
static bool take_go(elf_file *f, const unwind_section *in, size_t at)
{
	const unwind_section own = {in->bytes + at, in->size - at, in->address + at};
	uint64_t text = f->frames.text;
	go_table t;

	if (!go_table_open(own.bytes, own.size, 0, &t))
		return false;
	if (!t.start)
		text = relocated_word(f, own.address + GO_TABLE_TEXT_AT);
	f->frames.go = own;
	f->frames.text = text ? text : f->frames.text;
	return true;
}

/* Other linkers than Go's put the table of a position-independent program among other data. */
static void find_go(elf_file *f)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"};
	enum { ALIGNMENT = 8 };
	unwind_section all;

	if (!elf_file_find_section(f, ".go.buildinfo") && !elf_file_find_section(f, names[0]))
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!load_section(f, elf_file_find_section(f, names[i]), &f->go_bytes, &all))
			continue;
		for (size_t at = 0; at < all.size; at += ALIGNMENT)
			if (take_go(f, &all, at))
				return;
		mem_free(f->go_bytes);
		f->go_bytes = NULL;
	}
}

static bool find_frames(elf_file *f)
{
	const elf_section *text = elf_file_find_section(f, ".text"),
			  *data = elf_file_find_section(f, ".got");

	f->frames.text = text ? text->address : 0;
	f->frames.data = data ? data->address : 0;
	find_go(f);
	if (!load_section(f, elf_file_find_section(f, ".eh_frame"), &f->frame_bytes,
			  &f->frames.frame))
		return load_by_segment(f);
	if (load_section(f, elf_file_find_section(f, ".eh_frame_hdr"), &f->hdr_bytes,
			 &f->frames.hdr))
		return true;
	/* Static programs have no .eh_frame_hdr. */
	f->hdr_bytes = eh_frame_index_new(&f->frames, &f->frames.hdr);
	return true;
}

const unwind_module *elf_file_unwind(elf_file *f)
{
	if (!f->looked_for_frames) {
		f->looked_for_frames = true;
		if (!find_frames(f))
			f->frames.frame.size = 0;
	}
	return f->frames.frame.size || f->frames.go.size ? &f->frames : NULL;
}
