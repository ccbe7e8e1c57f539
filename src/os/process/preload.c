/* preload.c - whether LD_PRELOAD works for a program, from the program's file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPTS_MAX = 4, HEADERS_MAX = 256, NEEDED_MAX = 4096, NAME_BYTES = 64 };

typedef struct program_file {
	int fd;
	ElfW(Phdr) headers[HEADERS_MAX];
	unsigned nheaders;
} program_file;

static bool preload_read_all(int fd, void *to, size_t n, uint64_t at)
{
	return os_read_at(fd, to, n, at) == (ptrdiff_t)n;
}

static const ElfW(Phdr) * header_of(const program_file *p, unsigned type)
{
	for (unsigned i = 0; i < p->nheaders; i++)
		if (p->headers[i].p_type == type)
			return &p->headers[i];
	return NULL;
}

/* Where in the file that address is; 0: nowhere. */
static uint64_t preload_place_of(const program_file *p, uint64_t address)
{
	for (unsigned i = 0; i < p->nheaders; i++) {
		const ElfW(Phdr) *h = &p->headers[i];

		if (h->p_type == PT_LOAD && address >= h->p_vaddr &&
		    address - h->p_vaddr < h->p_filesz)
			return h->p_offset + (address - h->p_vaddr);
	}
	return 0;
}

/* Go's linker writes a note of that name, followed by the build id. */
static bool is_of_go(const program_file *p)
{
	char owner[4];
	ElfW(Nhdr) n;
	const ElfW(Phdr) *notes = header_of(p, PT_NOTE);

	return notes && preload_read_all(p->fd, &n, sizeof n, notes->p_offset) &&
	       n.n_namesz == sizeof owner &&
	       preload_read_all(p->fd, owner, sizeof owner, notes->p_offset + sizeof n) &&
	       !memcmp(owner, "Go\0", sizeof owner);
}

/* A sanitizer's library ends a program in which it is not the first. */
static bool is_sanitizer(const char *library)
{
	static const char *const known[] = {"libasan.so", "libtsan.so", "liblsan.so",
					    "libhwasan.so", "libclang_rt."};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strncmp(library, known[i], strlen(known[i])))
			return true;
	return false;
}

static bool has_sanitizer(const program_file *p)
{
	const ElfW(Phdr) *dynamic = header_of(p, PT_DYNAMIC);
	uint64_t texts = 0;
	ElfW(Dyn) d;

	for (int pass = 0; dynamic && pass < 2; pass++)
		for (uint64_t i = 0; i < NEEDED_MAX && i < dynamic->p_filesz / sizeof d; i++) {
			char name[NAME_BYTES] = "";

			if (!preload_read_all(p->fd, &d, sizeof d,
					      dynamic->p_offset + i * sizeof d) ||
			    d.d_tag == DT_NULL)
				break;
			if (d.d_tag == DT_STRTAB)
				texts = preload_place_of(p, d.d_un.d_ptr);
			if (pass == 0 || d.d_tag != DT_NEEDED || !texts)
				continue;
			if (os_read_at(p->fd, name, sizeof name - 1, texts + d.d_un.d_val) > 0 &&
			    is_sanitizer(name))
				return true;
		}
	return false;
}

static os_preload_obstacle obstacle_of_format(int fd)
{
	const ElfW(Phdr) * interpreter;
	program_file p = {.fd = fd};
	ElfW(Ehdr) ours, e;
	char loader[256] = "";

	const int own = os_open_read("/proc/self/exe");
	const bool known = own >= 0 && preload_read_all(own, &ours, sizeof ours, 0);
	os_close(own);
	if (!preload_read_all(fd, &e, sizeof e, 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0)
		return OS_PRELOAD_NONE; /* the dynamic loader does not load such a file */
	if (known &&
	    (e.e_ident[EI_CLASS] != ours.e_ident[EI_CLASS] || e.e_machine != ours.e_machine))
		return OS_PRELOAD_MACHINE;
	p.nheaders = e.e_phnum < HEADERS_MAX ? e.e_phnum : HEADERS_MAX;
	if (e.e_phentsize != sizeof p.headers[0] ||
	    !preload_read_all(fd, p.headers, p.nheaders * sizeof p.headers[0], e.e_phoff))
		return OS_PRELOAD_NONE;
	interpreter = header_of(&p, PT_INTERP);
	if (!interpreter)
		return is_of_go(&p) ? OS_PRELOAD_GO : OS_PRELOAD_STATIC;
	if (os_read_at(fd, loader, sizeof loader - 1, interpreter->p_offset) > 0 &&
	    strstr(loader, "/ld-musl"))
		return OS_PRELOAD_LIBC;
	return has_sanitizer(&p) ? OS_PRELOAD_SANITIZER : OS_PRELOAD_NONE;
}

static os_preload_obstacle obstacle_of_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return OS_PRELOAD_NONE;
	if (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
	    (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0))
		return OS_PRELOAD_SETUID;
	return OS_PRELOAD_NONE;
}

/* Reads the interpreter in a script's first line. false: the file is not a script. */
static bool interpreter_of(int fd, char name[256])
{
	char line[256] = "";

	if (os_read_at(fd, line, sizeof line - 1, 0) < 3 || strncmp(line, "#!", 2) != 0)
		return false;
	const char *begin = line + 2 + strspn(line + 2, " \t");
	snprintf(name, 256, "%.*s", (int)strcspn(begin, " \t\n"), begin);
	return *name != '\0';
}

os_preload_obstacle os_preload_obstacle_of(const char *path)
{
	os_preload_obstacle found = OS_PRELOAD_NONE;
	char name[256];

	for (int i = 0; i < SCRIPTS_MAX && path; i++) {
		const int fd = os_open_read(path);

		if (fd < 0)
			return OS_PRELOAD_NONE;
		found = obstacle_of_rights(fd);
		path = !found && interpreter_of(fd, name) ? name : NULL;
		if (!found && !path)
			found = obstacle_of_format(fd);
		os_close(fd);
	}
	return found;
}

const char *os_preload_obstacle_text(os_preload_obstacle o)
{
	static const char *const texts[OS_PRELOAD_OBSTACLES] = {
	    [OS_PRELOAD_GO] =
		"it is written in Go and statically linked, so LD_PRELOAD has no effect",
	    [OS_PRELOAD_STATIC] = "it is statically linked, so LD_PRELOAD has no effect",
	    [OS_PRELOAD_SETUID] =
		"it runs with elevated rights (setuid), so LD_PRELOAD has no effect",
	    [OS_PRELOAD_MACHINE] = "it is built for another kind of processor",
	    [OS_PRELOAD_LIBC] = "it is built for another C library",
	    [OS_PRELOAD_SANITIZER] =
		"it has a sanitizer in it, which must be the first of its libraries",
	};

	return texts[o];
}
