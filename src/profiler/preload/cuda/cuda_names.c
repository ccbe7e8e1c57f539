/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_names.h"

#include "profiler/trace/backfill.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE = 4096 }; /* kernels; beyond, a name is made each time */

static uint64_t name_hash(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash ? hash : 1;
}

typedef char *demangler(const char *name, char *buffer, size_t *n, int *status);

/* The C++ ABI's own, in libstdc++ or libc++abi: most programs with CUDA have loaded one. */
static demangler *demangler_find(void)
{
	static demangler *found;
	static bool looked;
	void *symbol = looked ? NULL : dlsym(RTLD_DEFAULT, "__cxa_demangle");

	if (!looked && !symbol) {
		void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

		symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	if (symbol)
		memcpy(&found, &symbol, sizeof found); /* ISO C has no such cast */
	looked = true;
	return found;
}

/* Returns the length of a name without its parameters, the parentheses at its end. */
static size_t without_parameters(const char *name)
{
	size_t n = strlen(name), depth = 0;

	for (size_t i = n; i-- > 0;) {
		depth += name[i] == ')';
		if (name[i] == '(' && --depth == 0)
			return i ? i : n;
		if (depth == 0)
			break;
	}
	return n;
}

void cuda_kernel_name(const char *mangled, char to[CUDA_NAME_BYTES])
{
	static const char type[] = "void ";
	demangler *demangle = strncmp(mangled, "_Z", 2) == 0 ? demangler_find() : NULL;
	int status = 0;
	char *plain = demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
	const char *name = plain ? plain : mangled;

	if (plain && strncmp(name, type, sizeof type - 1) == 0)
		name += sizeof type - 1;
	const size_t n = plain ? without_parameters(name) : strlen(name);
	if (n < CUDA_NAME_BYTES)
		snprintf(to, CUDA_NAME_BYTES, "%.*s", (int)n, name);
	else
		snprintf(to, CUDA_NAME_BYTES, "%.*s... #%08x", CUDA_NAME_BYTES - 15, name,
			 (unsigned)(name_hash(mangled) >> 32));
	free(plain);
}

uint32_t cuda_kernel_id(const char *mangled)
{
	static struct {
		uint64_t hash;
		uint32_t id;
	} cache[CACHE];
	const uint64_t hash = name_hash(mangled);
	char name[CUDA_NAME_BYTES];
	size_t at = hash % CACHE, looked = 0;

	for (; looked < CACHE && cache[at].hash; looked++, at = (at + 1) % CACHE)
		if (cache[at].hash == hash)
			return cache[at].id;
	cuda_kernel_name(mangled, name);
	const uint32_t id = dck_past_name("kernel", name);
	if (looked < CACHE) {
		cache[at].hash = hash;
		cache[at].id = id;
	}
	return id;
}
