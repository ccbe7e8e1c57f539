/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include <dlfcn.h>

/* Each sanitizer's runtime has an initialiser of this name, in the program or in a library. */
static const struct {
	const char *symbol, *name;
} sanitizers[] = {
    {"__asan_init", "AddressSanitizer"},
    {"__tsan_init", "ThreadSanitizer"},
    {"__msan_init", "MemorySanitizer"},
};

const char *os_sanitizer_name(void)
{
	for (size_t i = 0; i < sizeof sanitizers / sizeof sanitizers[0]; i++)
		if (dlsym(RTLD_DEFAULT, sanitizers[i].symbol))
			return sanitizers[i].name;
	return NULL;
}
