/* unload.c - a library that allocates and is then unloaded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

void *leak_here(void);
static __attribute__((noinline)) void *AGAIN(void)
{
	return malloc(SIZE);
}

void *leak_here(void)
{
	free(malloc(1));
	return AGAIN();
}
