/* cuda_profiler.c - a program that opens and closes the range of CUDA's profiler, like one linked
 * with CUDA's runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/zone.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	int (*function)(void);

	if (!found)
		return -1;
	memcpy(&function, &found, sizeof function);
	return function();
}

static void step(void)
{
	DCK_ZONE("step");
}

int main(void)
{
	int status = 0;

	step();
	for (int i = 0; i < 2; i++) {
		status += call("cudaProfilerStart");
		status += call("cuProfilerStart"); /* already open: one range */
		step();
		step();
		status += call("cudaProfilerStop");
		status += call("cuProfilerStop");
	}
	step();
	printf("status %d\n", status);
	return 0;
}
