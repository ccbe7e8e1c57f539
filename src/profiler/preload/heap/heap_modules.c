/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_modules.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int version_of(struct dl_phdr_info *info, size_t size, void *self)
{
	uint64_t *ret = self;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs)
		*ret = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
	return 1;
}

uint64_t heap_modules_version(void)
{
	uint64_t version = UINT64_MAX;

	dl_iterate_phdr(version_of, &version);
	return version;
}

typedef struct reading {
	heap_loaded *rows;
	size_t n, max;
} reading;

static void modules_sections_find(const struct dl_phdr_info *info, uint64_t hdr, heap_loaded *m)
{

	/* The segment that contains it: pages between two segments may be unmapped. */
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;

		if (p->p_type != PT_LOAD || hdr < start || hdr >= end)
			continue;
		const unwind_section segment = {(const unsigned char *)(uintptr_t)start, p->p_memsz,
						start};
		m->unwind.hdr =
		    (unwind_section){(const unsigned char *)(uintptr_t)hdr, end - hdr, hdr};
		if (!unwind_find_frames(&m->unwind, &segment))
			m->unwind = (unwind_module){0};
		return;
	}
}

static int modules_module_read(struct dl_phdr_info *info, size_t size, void *self)
{
	reading *r = self;
	uint64_t hdr = 0;

	(void)size;
	if (r->n == r->max)
		return 1;
	heap_loaded *m = &r->rows[r->n];
	*m = (heap_loaded){.start = UINT64_MAX, .bias = info->dlpi_addr};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;

		if (p->p_type == PT_GNU_EH_FRAME)
			hdr = start;
		if (p->p_type != PT_LOAD)
			continue;
		m->start = start < m->start ? start : m->start;
		m->end = end > m->end ? end : m->end;
	}
	if (m->end <= m->start)
		return 0;
	if (hdr)
		modules_sections_find(info, hdr, m);
	snprintf(m->name, sizeof m->name, "%s", info->dlpi_name ? info->dlpi_name : "");
	r->n++;
	return 0;
}

size_t heap_modules_read(heap_loaded *ret, size_t max)
{
	reading r = {.rows = ret, .max = max};

	dl_iterate_phdr(modules_module_read, &r);
	return r.n;
}

void heap_module_path(const heap_loaded *m, char *ret)
{
	if (!m->name[0]) {
		const ssize_t n = readlink("/proc/self/exe", ret, PATH_MAX - 1);

		ret[n > 0 ? n : 0] = '\0';
	} else if (m->name[0] != '/' && !strchr(m->name, '/')) {
		strcpy(ret, m->name); /* no file, as linux-vdso.so.1 */
	} else if (!realpath(m->name, ret)) {
		strcpy(ret, m->name);
	}
}
