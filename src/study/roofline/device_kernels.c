/* device_kernels.c - the table of kernels, one row for each language (device_kernels.h).
 *
 * Peaks: four vectors of accumulators, 64 numbers of FP32. On a GPU a vector is that number of
 * registers of a work item, so that 64 independent chains hide the latency with few warps; on a
 * processor with AVX2 it is eight registers, which two units of latency four need (Fog, Instruction
 * tables). a = a x m + c with |m| < 1 converges, so no number becomes infinite or denormal. The
 * factors are derived from the work item, so that the compiler cannot compute them.
 *
 * Memory: a work item accesses 16 bytes at a time, the widest access of a GPU's work item. The sum
 * of a read is written once, so that reading is not optimised away; four independent accesses in
 * each turn of the loop keep several on their way, and four sums do not wait for each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/roofline/device_kernels.h"

#include <stddef.h>
#include <string.h>

/* FP_CONTRACT lets the compiler fuse x * m + c. fma() would be a function call where the device has
 * no such instruction, and in PoCL, which passes vectors of 64 bytes to it in memory. */
#define OPENCL_PEAK(extension, real, vector)                                                      \
	extension "#pragma OPENCL FP_CONTRACT ON\n"                                               \
		  "kernel void work(global " vector " *out, uint n)\n"                            \
		  "{\n"                                                                           \
		  "	const size_t id = get_global_id(0);\n"                                        \
		  "	const " vector " m = (" real ")0.5 + (" real ")(id & 15) / 64;\n"         \
		  "	const " vector " c = (" real ")1 - m;\n"                                  \
		  "	" vector " p = (" real ")2, q = (" real ")3, r = (" real ")4, s = (" real \
		  ")5;\n"                                                                         \
		  "	for (uint i = 0; i < n; i++) {\n"                                             \
		  "		p = p * m + c;\n"                                                            \
		  "		q = q * m + c;\n"                                                            \
		  "		r = r * m + c;\n"                                                            \
		  "		s = s * m + c;\n"                                                            \
		  "	}\n"                                                                          \
		  "	out[id] = p + q + r + s;\n"                                                   \
		  "}\n"

#define OPENCL_MEMORY(before, step, after)                                                       \
	"kernel void work(global const float4 *a, global float4 *b, global float4 *c, uint n)\n" \
	"{\n"                                                                                    \
	"	const size_t size = get_local_size(0);\n"                                              \
	"	size_t i = get_group_id(0) * n * size + get_local_id(0);\n" before               \
	"	for (uint k = 0; k < n; k += 4, i += 4 * size) {\n" step(0) step(1) step(2)      \
	    step(3) "	}\n" after "}\n"
#define STEP_READ(k) "		s" #k " += a[i + " #k " * size];\n"
#define STEP_COPY(k) "		b[i + " #k " * size] = a[i + " #k " * size];\n"
#define STEP_TRIAD(k)                                                                   \
	"		b[i + " #k " * size] = a[i + " #k " * size] + 3.0f * c[i + " #k \
	" * size];\n"

static const struct {
	const char *language;
	device_program program[DEVICE_WORKS];
} languages[] = {
    {"OpenCL C",
     {
	 [DEVICE_WORK_FP64] = {OPENCL_PEAK("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
					   "double", "double8"),
			       2 * 4 * 8},
	 [DEVICE_WORK_FP32] = {OPENCL_PEAK("", "float", "float16"), 2 * 4 * 16},
	 [DEVICE_WORK_FP16] = {OPENCL_PEAK("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n",
					   "half", "half16"),
			       2 * 4 * 16},
	 [DEVICE_WORK_READ] = {OPENCL_MEMORY("	float4 s0 = 0, s1 = 0, s2 = 0, s3 = 0;\n",
					     STEP_READ,
					     "	b[get_global_id(0)] = s0 + s1 + s2 + s3;\n"),
			       16},
	 [DEVICE_WORK_COPY] = {OPENCL_MEMORY("", STEP_COPY, ""), 2 * 16},
	 [DEVICE_WORK_TRIAD] = {OPENCL_MEMORY("", STEP_TRIAD, ""), 3 * 16},
	 [DEVICE_WORK_EMPTY] = {"kernel void work(void) {}\n", 0},
     }},
    /* Of the null device, for tests. */
    {"null",
     {
	 [DEVICE_WORK_FP64] = {"work fp64", 64},
	 [DEVICE_WORK_FP32] = {"work fp32", 128},
	 [DEVICE_WORK_READ] = {"work read", 16},
	 [DEVICE_WORK_COPY] = {"work copy", 32},
	 [DEVICE_WORK_TRIAD] = {"work triad", 48},
	 [DEVICE_WORK_EMPTY] = {"work empty", 0},
     }},
};

const device_program *device_program_find(const char *language, device_work work)
{
	for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
		if (strcmp(languages[i].language, language) == 0 &&
		    languages[i].program[work].source)
			return &languages[i].program[work];
	return NULL;
}
