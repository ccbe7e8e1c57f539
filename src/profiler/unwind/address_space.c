/* address_space.c - the address space of a process: an interval map from executable mappings to
 * files.
 *
 * `all` is an array of disjoint intervals sorted by address. A lookup is a binary search; a new
 * mapping first cuts what it covers out of the others (address_space_unmapped(), which may split
 * one) and is then inserted: O(log n) plus the move of later entries. A file is opened at the first
 * lookup of an address in it, once for each path and inode, in address_space_files, which all
 * processes share and which owns the files to its end: so (file, address) of a sample outlives its
 * process. open_mapped() tries /proc/PID/map_files, /proc/PID/root, the path, and /proc/PID/exe,
 * and takes what has the mapping's inode; if that is unknown, only the path. bias is the mapping's
 * begin less the file's address of its offset.
 *
 * Invariants: one thread; a mapped_module is borrowed until its space changes. Bounds: MAPS_MAX
 * bytes of /proc/PID/maps, MAPPINGS_MAX mappings (E_LIMIT); each path is stored once. The vdso is
 * read from this process, as the kernel maps the same code into all. Source: proc(5).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/address_space.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/id_table.h"
#include "base/mem.h"
#include "os/os.h"
#include "os/file/text.h"
#include "profiler/unwind/address_search.h"

#include <elf.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { MAPS_MAX = 1 << 28, MAPPINGS_MAX = 1 << 20, VDSO_MAX = 1 << 16 };

/* One file that was opened, or could not be. */
typedef struct opened_file {
	uint64_t inode, hash;
	const char *path, *missing_reason;
	elf_file *file;
} opened_file;

struct address_space_files {
	mem_arena *texts;
	const char **paths; /* interned, in `texts` */
	hash_map by_hash;   /* maps a path's hash to its row, plus one */
	size_t npaths, paths_cap;
	opened_file *all;
	size_t n, cap;
};

typedef struct mapping {
	mapped_module m;
	uint64_t offset, inode;
	bool looked; /* m.file and m.bias are found, or cannot be */
} mapping;

struct address_space {
	address_space_files *files;
	pid_t pid;
	mapping *all; /* sorted by address, disjoint */
	size_t n, cap;
};

/* --- Files. */

address_space_files *address_space_files_new(void)
{
	address_space_files *f = mem_zalloc(1, sizeof *f);

	os_descriptors_raise(); /* they stay open, and a program may have thousands */
	if (f && !(f->texts = mem_arena_new(0))) {
		mem_free(f);
		f = NULL;
	}
	return f;
}

void address_space_files_free(address_space_files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		elf_file_close(f->all[i].file);
	mem_free(f->all);
	mem_free(f->paths);
	hash_map_done(&f->by_hash);
	mem_arena_free(f->texts);
	mem_free(f);
}

/* Opens the kernel's vdso, which all processes have; its headers give its size. */
static dck_status open_vdso(elf_file **ret, dck_err *err)
{
	const unsigned char *at = (const unsigned char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr head;

	if (!at)
		DCK_FAIL(err, E_ABSENT, "the kernel's vdso is missing");
	memcpy(&head, at, sizeof head);
	uint64_t n = head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize;

	if (n > VDSO_MAX)
		DCK_FAIL(err, E_FORMAT, "the kernel's vdso has an unknown format");
	return elf_file_open_bytes(at, (size_t)n, "[vdso]", ret, err);
}

/* Opens the file of that name if its inode is the mapped one. */
static elf_file *open_same(const char *name, const char *path, uint64_t inode, dck_err *err)
{
	os_file_id id;
	elf_file *f;
	int fd = os_open_read(name);

	if (fd < 0)
		return NULL;
	if (inode && os_fd_id(fd, &id) && id.number != inode) {
		os_close(fd);
		ERR_SET(err, E_ABSENT, "'%s' was replaced after the program had loaded it", path);
		return NULL;
	}
	return elf_file_open_fd(fd, path, &f, err) == DCK_OK ? f : NULL;
}

/* Opens a mapped file by the names under which it may be reachable, the surest first. */
static elf_file *open_mapped(pid_t pid, const mapping *m, const char *path, dck_err *err)
{
	char name[PATH_MAX + 64];
	elf_file *f = NULL;

	ERR_SET(err, E_ABSENT, "'%s' no longer exists", path);
	if (m->inode) { /* else it may be the file of a later mapping */
		snprintf(name, sizeof name, "/proc/%ld/map_files/%llx-%llx", (long)pid,
			 (unsigned long long)m->m.begin, (unsigned long long)m->m.end);
		f = open_same(name, path, m->inode, err);
	}
	if (!f) {
		snprintf(name, sizeof name, "/proc/%ld/root%s", (long)pid, path);
		f = open_same(name, path, m->inode, err);
	}
	if (!f)
		f = open_same(path, path, m->inode, err);
	if (!f) {
		/* This works for a deleted program too. */
		snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
		f = m->inode ? open_same(name, path, m->inode, &(dck_err){0}) : NULL;
	}
	return f;
}

static opened_file *find_opened(address_space_files *f, const char *path, uint64_t inode,
				uint64_t hash)
{
	for (size_t i = 0; i < f->n; i++) {
		opened_file *o = &f->all[i];

		if (o->hash == hash && o->inode == inode && strcmp(o->path, path) == 0)
			return o;
	}
	return NULL;
}

/* NULL: no memory. */
static opened_file *open_once(address_space *s, const mapping *m)
{
	address_space_files *f = s->files;
	uint64_t hash = hash_text(HASH_START, m->m.path);
	opened_file *found = find_opened(f, m->m.path, m->inode, hash),
		    o = {m->inode, hash, NULL, NULL, NULL};
	dck_err err = {0};

	if (found || !mem_reserve(&f->all, &f->cap, f->n + 1, sizeof o))
		return found;
	o.path = m->m.path;
	if (strcmp(o.path, "[vdso]") == 0)
		open_vdso(&o.file, &err);
	else
		o.file = open_mapped(s->pid, m, o.path, &err);
	if (!o.file)
		o.missing_reason = mem_arena_dup(f->texts, err.msg);
	f->all[f->n] = o;
	return &f->all[f->n++];
}

/* --- Mappings. */

address_space *address_space_new(address_space_files *files, pid_t pid)
{
	address_space *s = mem_zalloc(1, sizeof *s);

	if (s) {
		s->files = files;
		s->pid = pid;
	}
	return s;
}

void address_space_free(address_space *s)
{
	if (!s)
		return;
	mem_free(s->all);
	mem_free(s);
}

address_space *address_space_fork(const address_space *s, pid_t child)
{
	address_space *copy = address_space_new(s->files, child);

	if (copy && s->n) {
		copy->all = mem_alloc(s->n * sizeof *s->all);
		if (!copy->all) {
			address_space_free(copy);
			return NULL;
		}
		memcpy(copy->all, s->all, s->n * sizeof *s->all);
		copy->n = copy->cap = s->n;
	}
	return copy;
}

void address_space_exec(address_space *s)
{
	s->n = 0;
}

/* Returns the first mapping that ends after the address. */
static size_t first_behind(const address_space *s, uint64_t address)
{
	return address_search(s->all, s->n, sizeof *s->all, offsetof(mapping, m.end), address);
}

static bool address_space_insert(address_space *s, size_t i, const mapping *m)
{
	if (s->n >= MAPPINGS_MAX || !mem_reserve(&s->all, &s->cap, s->n + 1, sizeof *m))
		return false;
	memmove(s->all + i + 1, s->all + i, (s->n - i) * sizeof *m);
	s->all[i] = *m;
	s->n++;
	return true;
}

/* Cuts off the part of a mapping before `begin`. */
static void cut_front(mapping *m, uint64_t begin)
{
	m->offset += begin - m->m.begin;
	m->m.begin = begin;
}

void address_space_unmapped(address_space *s, uint64_t begin, uint64_t end)
{
	size_t i = first_behind(s, begin), k;

	if (begin >= end)
		return;
	if (i < s->n && s->all[i].m.begin < begin) {
		mapping rest = s->all[i];

		s->all[i].m.end = begin;
		if (rest.m.end > end) {
			cut_front(&rest, end);
			/* Without memory the part after the gap is lost. */
			address_space_insert(s, i + 1, &rest);
			return;
		}
		i++;
	}
	for (k = i; k < s->n && s->all[k].m.end <= end; k++)
		;
	if (k < s->n && s->all[k].m.begin < end)
		cut_front(&s->all[k], end);
	if (k > i)
		memmove(s->all + i, s->all + k, (s->n - k) * sizeof *s->all);
	s->n -= k - i;
}

/* Interns a path, since /proc/PID/maps is read repeatedly; NULL: no memory. A path with a colliding
 * hash is copied each time. */
static const char *path_intern(address_space_files *f, const char *path, size_t n)
{
	const uint64_t hash = hash_bytes(HASH_START, path, n);
	const uint32_t row = hash_map_find(&f->by_hash, hash);

	if (row && strncmp(f->paths[row - 1], path, n) == 0 && !f->paths[row - 1][n])
		return f->paths[row - 1];
	const char *copy = mem_arena_dup_n(f->texts, path, n);
	if (copy && !row &&
	    mem_reserve(&f->paths, &f->paths_cap, f->npaths + 1, sizeof *f->paths) &&
	    hash_map_put(&f->by_hash, hash, (uint32_t)f->npaths + 1))
		f->paths[f->npaths++] = copy;
	return copy;
}

/* Returns the path without the kernel's suffix; NULL: no memory. */
static const char *keep_path(address_space_files *f, const char *path)
{
	static const char gone[] = " (deleted)";
	size_t n = strlen(path);

	if (path[0] != '/' || strncmp(path, "//anon", 6) == 0) /* [heap], [stack], [anon:...] */
		return strcmp(path, "[vdso]") == 0 ? "[vdso]" : "";
	if (n > sizeof gone - 1 && strcmp(path + n - (sizeof gone - 1), gone) == 0)
		n -= sizeof gone - 1;
	return path_intern(f, path, n);
}

dck_status address_space_mapped(address_space *s, const address_space_mapping *from, dck_err *err)
{
	mapping m = {.offset = from->offset, .inode = from->inode};

	if (from->begin >= from->end)
		return DCK_OK;
	address_space_unmapped(s, from->begin, from->end);
	if (!from->executable)
		return DCK_OK;
	m.m.begin = from->begin;
	m.m.end = from->end;
	m.m.path = keep_path(s->files, from->path);
	DCK_NEED(m.m.path, err, "for the mappings of a process");
	if (!address_space_insert(s, first_behind(s, from->begin), &m))
		return s->n >= MAPPINGS_MAX
			   ? ERR_SET(err, E_LIMIT, "process %ld has too many mappings",
				     (long)s->pid)
			   : ERR_NO_MEMORY(err, "for the mappings of a process");
	return DCK_OK;
}

/* --- /proc/PID/maps. */

/* Replaces "\012", which the kernel writes for a newline, in place. */
static void unescape(char *path)
{
	char *to = path;

	for (char *from = path; *from; to++) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* "7f01-7f02 r-xp 00000000 08:01 1234   /usr/lib/x.so"; false: not such a line. */
static bool read_line(char *line, address_space_mapping *ret)
{
	char *at;

	ret->begin = strtoull(line, &at, 16);
	if (*at != '-')
		return false;
	ret->end = strtoull(at + 1, &at, 16);
	if (*at != ' ' || strlen(at) < 6)
		return false;
	ret->executable = at[3] == 'x';
	ret->offset = strtoull(at + 5, &at, 16);
	at += strspn(at, " ");
	at += strcspn(at, " ");
	ret->inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	unescape(at);
	ret->path = at;
	return true;
}

static void thread_maps_read(void *text, const char *path)
{
	dck_buffer *to = text;

	if (to->n)
		return;
	dck_buffer_done(to);
	*to = (dck_buffer){0};
	(void)os_read_file(path, MAPS_MAX, to, NULL);
}

dck_status address_space_read(address_space *s, dck_err *err)
{
	char path[64];
	dck_buffer text = {0};
	dck_status st;
	address_space_mapping m;
	bool any = false;

	snprintf(path, sizeof path, "/proc/%ld/maps", (long)s->pid);
	DCK_TRY(os_read_file(path, MAPS_MAX, &text, err));
	if (!text.n) { /* the main thread has ended; others may go on */
		snprintf(path, sizeof path, "/proc/%ld/task", (long)s->pid);
		os_glob_each(path, "*/maps", thread_maps_read, &text);
	}
	st = DCK_OK;
	for (char *rest = text.data, *line; st == DCK_OK && rest && (line = text_line(&rest));) {
		if (!read_line(line, &m) || !m.executable)
			continue;
		if (!any)
			address_space_exec(s);
		any = true;
		st = address_space_mapped(s, &m, err);
	}
	dck_buffer_done(&text);
	/* The file of a zombie is empty: what was known of it stays. */
	if (st == DCK_OK && !any)
		DCK_FAIL(err, E_ABSENT, "process %ld has exited", (long)s->pid);
	return st;
}

/* --- Looking up. */

static void mapping_open(address_space *s, mapping *m)
{
	opened_file *o;
	uint64_t address;

	m->looked = true;
	if (!*m->m.path || !(o = open_once(s, m)))
		return;
	m->m.path = o->path;
	m->m.missing_reason = o->missing_reason;
	if (!o->file)
		return;
	if (elf_file_address_of(o->file, m->offset, true, &address)) {
		m->m.file = o->file;
		m->m.bias = m->m.begin - address;
	} else {
		m->m.missing_reason = "no part of the file is to be mapped there as code";
	}
}

const mapped_module *address_space_at(address_space *s, size_t i)
{
	if (i >= s->n)
		return NULL;
	if (!s->all[i].looked)
		mapping_open(s, &s->all[i]);
	return &s->all[i].m;
}

const mapped_module *address_space_find(address_space *s, uint64_t address)
{
	size_t i = first_behind(s, address);

	return i < s->n && address >= s->all[i].m.begin ? address_space_at(s, i) : NULL;
}
