/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_self.h"

#include "profiler/unwind/readable.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

static void python_function_find(const char *name, void *to)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	memcpy(to, &found,
	       sizeof found); /* ISO C has no conversion from object to function pointers */
}

/* --- a library whose symbols are not global: dlopen() without RTLD_GLOBAL, as of a plug-in */

/* The tables of its symbols. */
typedef struct python_tables {
	uint64_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
	uint32_t version;     /* by the library's name; 0: it has none */
} python_tables;

/* glibc adds the base to the addresses of the dynamic section, other libcs do not. */
static const void *python_address(uint64_t base, uint64_t address)
{
	return (const void *)(uintptr_t)(address < base ? base + address : address);
}

static uint32_t python_name_version(const char *file)
{
	static const char begin[] = "libpython3.";
	const char *base = strrchr(file, '/');

	base = base ? base + 1 : file;
	return strncmp(base, begin, sizeof begin - 1) == 0
		   ? 3u << 24 | (uint32_t)(strtoul(base + sizeof begin - 1, NULL, 10) & 0xff) << 16
		   : 0;
}

/* Returns a symbol's address; 0: the library does not define it. */
static uint64_t python_symbol(const python_tables *t, const char *name)
{
	const uint32_t n = t->hash[0], first = t->hash[1], words = t->hash[2];
	const uint32_t *buckets = t->hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t)),
		       *chain = buckets + n;
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	uint32_t i = n ? buckets[hash % n] : 0;
	for (; i >= first && i > 0; i++) {
		const ElfW(Sym) *s = &t->symbols[i];

		if ((chain[i - first] | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF &&
		    strcmp(t->names + s->st_name, name) == 0)
			return t->base + s->st_value;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}

static int python_tables_get(struct dl_phdr_info *info, size_t size, void *self)
{
	python_tables t = {.base = info->dlpi_addr,
			   .version = python_name_version(info->dlpi_name)};

	(void)size;
	for (unsigned i = 0; t.version && i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		const ElfW(Dyn) *d = python_address(t.base, info->dlpi_phdr[i].p_vaddr);
		for (; d->d_tag != DT_NULL; d++) {
			const void *at = python_address(t.base, d->d_un.d_ptr);

			if (d->d_tag == DT_SYMTAB)
				t.symbols = at;
			else if (d->d_tag == DT_STRTAB)
				t.names = at;
			else if (d->d_tag == DT_GNU_HASH)
				t.hash = at;
		}
	}
	/* libpython3.so, of the stable ABI, defines no symbols. */
	if (!t.symbols || !t.names || !t.hash || !python_symbol(&t, "_PyRuntime"))
		return 0;
	*(python_tables *)self = t;
	return 1;
}

static void python_symbol_find(const python_tables *t, const char *name, void *to)
{
	const uint64_t at = python_symbol(t, name);

	memcpy(to, &at, sizeof at);
}

/* Its functions may be called once an interpreter exists: before, the loader may be at work on it.
 */
static bool python_is_initialised(const python_process *p)
{
	const uint64_t at = p->runtime + p->at.runtime_interpreter;
	uint64_t first;

	if (!memory_readable(at)) /* it was unloaded */
		return false;
	memcpy(&first, (const void *)(uintptr_t)at, sizeof first);
	return first;
}

static python_self_found python_local_find(python_self *ret_self, const unwind_memory *memory,
					   python_process *ret)
{
	python_tables t = {0};

	dl_iterate_phdr(python_tables_get, &t);
	const uint64_t runtime = t.hash ? python_symbol(&t, "_PyRuntime") : 0,
		       number = t.hash ? python_symbol(&t, "Py_Version") : 0;
	uint32_t version = t.version;

	if (!runtime)
		return PYTHON_SELF_NONE;
	if (number)
		memcpy(&version, (const void *)(uintptr_t)number, sizeof version);
	python_symbol_find(&t, "PyGILState_GetThisThreadState", &ret_self->state);
	python_symbol_find(&t, version >= PYTHON_313 ? "Py_IsFinalizing" : "_Py_IsFinalizing",
			   &ret_self->ending);
	if (!ret_self->state || !python_find_at(runtime, version, memory, ret))
		return PYTHON_SELF_NONE;
	return python_is_initialised(ret) ? PYTHON_SELF_FOUND : PYTHON_SELF_LATER;
}

python_self_found python_self_find(python_self *ret_self, const unwind_memory *memory,
				   python_process *ret)
{
	const void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");

	if (!runtime)
		return python_local_find(ret_self, memory, ret);
	python_function_find("PyGILState_GetThisThreadState", &ret_self->state);
	/* Selected by the version, because a failed dlsym() allocates memory, and the caller may be
	 * an interposer of malloc(). */
	const uint32_t version = python_self_version();
	python_function_find(version >= PYTHON_313 ? "Py_IsFinalizing" : "_Py_IsFinalizing",
			     &ret_self->ending);
	return ret_self->state && python_find_at((uint64_t)(uintptr_t)runtime, version, memory, ret)
		   ? PYTHON_SELF_FOUND
		   : PYTHON_SELF_NONE;
}

python_self_found python_self_again(const python_process *p)
{
	return python_is_initialised(p) ? PYTHON_SELF_FOUND : PYTHON_SELF_LATER;
}
