/* stream_arm.c - loops over memory for 64-bit Arm processors: pairs of 16-byte registers. In
 * assembly, since no compiler makes non-temporal pairs otherwise. An emulator runs them for what
 * they read and write; no rate was ever compared with a real processor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#if defined(__aarch64__)

/* 128 bytes a step. */
#define WALK(name, steps)                                                                       \
	static void name(void *a, const void *b, const void *c, size_t bytes, uint64_t passes)  \
	{                                                                                       \
		double one = 1;                                                                 \
		for (; passes > 0; passes--) {                                                  \
			char *p = a, *end = p + bytes;                                          \
			const char *q = b, *r = c;                                              \
			for (; p < end; p += 128, q += 128, r += 128)                           \
				__asm__ volatile(                                               \
				    steps                                                       \
				    :                                                           \
				    : [p] "r"(p), [q] "r"(q), [r] "r"(r), [one] "w"(one)        \
				    : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", \
				      "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23");  \
		}                                                                               \
	}

#define LOAD8(at)                                                     \
	"ldp q0, q1, [%[" at "]]\n\tldp q2, q3, [%[" at "], #32]\n\t" \
	"ldp q4, q5, [%[" at "], #64]\n\tldp q6, q7, [%[" at "], #96]\n\t"
#define STORE8(how)                                                  \
	how " q0, q1, [%[p]]\n\t" how " q2, q3, [%[p], #32]\n\t" how \
	    " q4, q5, [%[p], #64]\n\t" how " q6, q7, [%[p], #96]\n\t"
#define ONE8                                                           \
	"fmov v0.2d, #1.0\n\tfmov v1.2d, #1.0\n\tfmov v2.2d, #1.0\n\t" \
	"fmov v3.2d, #1.0\n\tfmov v4.2d, #1.0\n\tfmov v5.2d, #1.0\n\t" \
	"fmov v6.2d, #1.0\n\tfmov v7.2d, #1.0\n\t"
#define TRIAD8                                                                   \
	"ldp q16, q17, [%[r]]\n\tldp q18, q19, [%[r], #32]\n\t"                  \
	"ldp q20, q21, [%[r], #64]\n\tldp q22, q23, [%[r], #96]\n\t"             \
	"fmla v0.2d, v16.2d, %[one].d[0]\n\tfmla v1.2d, v17.2d, %[one].d[0]\n\t" \
	"fmla v2.2d, v18.2d, %[one].d[0]\n\tfmla v3.2d, v19.2d, %[one].d[0]\n\t" \
	"fmla v4.2d, v20.2d, %[one].d[0]\n\tfmla v5.2d, v21.2d, %[one].d[0]\n\t" \
	"fmla v6.2d, v22.2d, %[one].d[0]\n\tfmla v7.2d, v23.2d, %[one].d[0]\n\t"

WALK(neon_read, LOAD8("p"))
WALK(neon_write, ONE8 STORE8("stp"))
WALK(neon_write_nt, ONE8 STORE8("stnp"))
WALK(neon_copy, LOAD8("q") STORE8("stp"))
WALK(neon_triad, LOAD8("q") TRIAD8 STORE8("stp"))

static const machine_stream stream_kernels[] = {
    {"neon", MACHINE_READ, MACHINE_NEON, false, neon_read},
    {"neon", MACHINE_WRITE, MACHINE_NEON, false, neon_write},
    {"neon", MACHINE_WRITE_NT, MACHINE_NEON, false, neon_write_nt},
    {"neon", MACHINE_COPY, MACHINE_NEON, false, neon_copy},
    {"neon", MACHINE_TRIAD, MACHINE_NEON, false, neon_triad},
};

const machine_stream *machine_streams(size_t *ret_n)
{
	*ret_n = sizeof stream_kernels / sizeof *stream_kernels;
	return stream_kernels;
}
#endif

typedef int stream_arm_is_no_empty_file;
