/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/self_modules.h"

#include <link.h>
#include <stdatomic.h>

/* glibc 2.35 and later; struct dl_find_object of <dlfcn.h>, which may be older here than there. */
typedef struct found_object {
	unsigned long long flags;
	void *begin, *end;
	struct link_map *map;
	void *hdr;
	unsigned long long reserved[16];
} found_object;
extern int self_find_object(void *address, found_object *ret) __asm__("_dl_find_object")
    __attribute__((weak));

/* The list for other C libraries: two of them, of which one is in use and the other is made. */
enum { MODULES_MAX = 2048 };
typedef struct module {
	_Atomic uint64_t begin, end, hdr;
} module;
static module lists[2][MODULES_MAX];
static _Atomic unsigned listed[2], in_use;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void (*on_found)(uint64_t begin, uint64_t end, const struct link_map *map);

void self_modules_notify(void (*f)(uint64_t begin, uint64_t end, const struct link_map *map))
{
	on_found = f;
}

static bool sections(uint64_t begin, uint64_t end, uint64_t hdr, unwind_module *ret)
{
	unwind_section all = {(const unsigned char *)(uintptr_t)begin, (size_t)(end - begin),
			      begin};

	if (hdr < begin || hdr >= end)
		return false;
	*ret = (unwind_module){
	    .hdr = {(const unsigned char *)(uintptr_t)hdr, (size_t)(end - hdr), hdr}};
	return unwind_find_frames(ret, &all);
}

static bool find_in_list(uint64_t address, unwind_module *ret)
{
	unsigned which = atomic_load(&in_use), n = atomic_load(&listed[which]);

	for (unsigned i = 0; i < n; i++) {
		const module *m = &lists[which][i];

		if (address >= m->begin && address < m->end)
			return sections(m->begin, m->end, m->hdr, ret);
	}
	return false;
}

bool self_modules_find(uint64_t address, unwind_module *ret)
{
	found_object found;

	if (!self_find_object)
		return find_in_list(address, ret);
	if (self_find_object((void *)(uintptr_t)address, &found) != 0)
		return false;
	if (on_found)
		on_found((uintptr_t)found.begin, (uintptr_t)found.end, found.map);
	/* Its hdr is NULL for a module without one. */
	return found.hdr &&
	       sections((uintptr_t)found.begin, (uintptr_t)found.end, (uintptr_t)found.hdr, ret);
}

static int module_callback(struct dl_phdr_info *info, size_t size, void *self)
{
	unsigned which = *(unsigned *)self, i = atomic_load(&listed[which]);
	uint64_t begin = UINT64_MAX, end = 0, hdr = 0;

	(void)size;
	for (unsigned k = 0; k < info->dlpi_phnum; k++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[k];
		uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD) {
			begin = at < begin ? at : begin;
			end = at + p->p_memsz > end ? at + p->p_memsz : end;
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			hdr = at;
		}
	}
	if (i == MODULES_MAX)
		return 1;
	if (!hdr)
		return 0;
	atomic_store(&lists[which][i].begin, begin);
	atomic_store(&lists[which][i].end, end);
	atomic_store(&lists[which][i].hdr, hdr);
	atomic_store(&listed[which], i + 1);
	return 0;
}

void self_modules_refresh(void)
{
	unsigned which = 1 - atomic_load(&in_use);

	/* Another thread is at it: its list is as new. */
	if (self_find_object || atomic_flag_test_and_set(&busy))
		return;
	atomic_store(&listed[which], 0);
	dl_iterate_phdr(module_callback, &which);
	atomic_store(&in_use, which);
	atomic_flag_clear(&busy);
}
