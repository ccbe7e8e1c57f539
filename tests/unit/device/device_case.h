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

/* Of PTX: every driver since CUDA 11 and every GPU since 2014; `index` of the work item, and `at`,
 * the address of its element. */
#define PTX_HEAD ".version 7.0\n.target sm_52\n.address_size 64\n"
#define PTX_INDEX                                  \
	"	.reg .b32 index, group, size;\n"         \
	"	.reg .b64 at, offset;\n"                 \
	"	mov.u32 group, %ctaid.x;\n"              \
	"	mov.u32 size, %ntid.x;\n"                \
	"	mov.u32 index, %tid.x;\n"                \
	"	mad.lo.u32 index, group, size, index;\n" \
	"	ld.param.u64 at, [out];\n"               \
	"	cvta.to.global.u64 at, at;\n"            \
	"	mul.wide.u32 offset, index, 4;\n"        \
	"	add.u64 at, at, offset;\n"

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
    {"PTX",
     PTX_HEAD ".visible .entry work(.param .u64 out, .param .u32 n)\n"
	      "{\n" PTX_INDEX "	.reg .pred p;\n"
	      "	.reg .f32 x;\n"
	      "	.reg .b32 left;\n"
	      "	ld.param.u32 left, [n];\n"
	      "	cvt.rn.f32.u32 x, index;\n"
	      "	bra CHECK;\n"
	      "STEP:	fma.rn.f32 x, x, 0f3F000000, 0f3F800000;\n"
	      "	sub.u32 left, left, 1;\n"
	      "CHECK:	setp.ne.u32 p, left, 0;\n"
	      "	@p bra STEP;\n"
	      "	st.global.f32 [at], x;\n"
	      "	ret;\n"
	      "}\n",
     PTX_HEAD ".visible .entry fill(.param .u64 out, .param .u32 value)\n"
	      "{\n" PTX_INDEX "	.reg .b32 word;\n"
	      "	ld.param.u32 word, [value];\n"
	      "	add.u32 word, word, index;\n"
	      "	st.global.u32 [at], word;\n"
	      "	ret;\n"
	      "}\n",
     PTX_HEAD ".visible .entry work(.param .u64 out)\n"
	      "{ bra not_declared; }\n"},
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
