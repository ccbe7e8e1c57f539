/* device_case.h - drivers and kernels for the tests of devices.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_DEVICE_CASE_H
#define TESTS_DEVICE_CASE_H

#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opens device 0 of a driver; NULL: it has none, which is printed. PoCL keeps compiled kernels in a
 * directory: the test's own. */
static inline device *case_open(const char *driver)
{
	device *d = NULL;
	dck_err err;

	char directory[4096];
	if (getcwd(directory, sizeof directory))
		setenv("POCL_CACHE_DIR", directory, 1);
	if (device_open(driver, &d, &err) != DCK_OK)
		fprintf(stderr, "skipped: %s\n", err.msg);
	return d;
}

/* Kernels in each driver's language: work (a buffer of floats, n) does n dependent steps in each
 * work item and writes one float; fill (a buffer of words, a value) writes value + index. */
static const struct {
	const char *language, *work, *fill, *wrong;
} case_kernels[] = {
    {"OpenCL C",
     "kernel void work(global float *out, uint n)\n"
     "{\n"
     "	float x = get_global_id(0);\n"
     "	for (uint i = 0; i < n; i++)\n"
     "		x = x * 0.5f + 1;\n"
     "	out[get_global_id(0)] = x;\n"
     "}\n",
     "kernel void fill(global uint *out, uint value)\n"
     "{ out[get_global_id(0)] = value + get_global_id(0); }\n",
     "kernel void work(global float *out) { out[0] = not_declared; }\n"},
    {"null", "work", "fill", "#error not_declared"},
};

static inline size_t case_language(const device *d)
{
	const size_t n = sizeof case_kernels / sizeof *case_kernels;
	size_t i = 0;

	while (i < n && strcmp(case_kernels[i].language, d->driver->kernel_language) != 0)
		i++;
	return i;
}

#endif
