/* sampler_next.c - resolves the functions that this library interposes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sampler.h"

#include <dlfcn.h>
#include <string.h>

sampler_function *sampler_functions[SAMPLER_COUNT];

sampler_function *sampler_find(enum sampler_number n)
{
	static const char *const names[] = {
#define X(f) #f,
	    SAMPLER_FUNCTIONS(X)
#undef X
	};
	void *found = dlsym(RTLD_NEXT, names[n]);

	/* memcpy: ISO C has no conversion from object to function pointers */
	memcpy(&sampler_functions[n], &found, sizeof found);
	return sampler_functions[n]; /* cppcheck-suppress CastIntegerToAddressAtReturn */
}

void sampler_find_all(void)
{
	for (int i = 0; i < SAMPLER_COUNT; i++)
		sampler_find((enum sampler_number)i);
}
