/* stream_x86.c - loops over memory for x86-64 processors.
 *
 * In assembly, whole, since the maximum rate depends on the instructions around the loads and
 * stores. A compiler that must use the loaded values, by a reduction, puts them into registers that
 * it then moves: these moves and the reduction occupy the two ports of 512-bit arithmetic for twice
 * as long as the loads occupy theirs. So the loaded values are not used. Reasoned for Intel from
 * Haswell and AMD from Zen on; measured on Sapphire Rapids and Zen 5 (2026-11-23):
 *
 *  - Addresses are a register and a constant. A store with an index cannot use the third address
 *    port of Haswell to Cascade Lake, and an arithmetic instruction with one is two
 *    micro-operations.
 *  - Eight registers a step: four cycles at two loads a cycle, in which the counting is hidden on
 *    processors that issue four micro-operations a cycle.
 *  - The loop begins at a line of the cache, and its branch at 32 bytes: one that crosses such a
 *    border is decoded again each time on Skylake to Cascade Lake (Intel, Mitigations for Jump
 *    Conditional Code Erratum, 2019).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#if defined(__x86_64__)

/* For each of the eight registers: v is "v" for instructions of three operands, r the registers'
 * name, z their bytes. */
#define TIMES8(X, v, r, z) \
	X(v, r, z, 0)      \
	X(v, r, z, 1)      \
	X(v, r, z, 2) X(v, r, z, 3) X(v, r, z, 4) X(v, r, z, 5) X(v, r, z, 6) X(v, r, z, 7)
#define AT(p, z, i)		" " #i "*" #z "(%[" p "])"
#define LOAD_A(v, r, z, i)	v "movaps" AT("a", z, i) ", %%" r #i "\n\t"
#define LOAD_B(v, r, z, i)	v "movaps" AT("b", z, i) ", %%" r #i "\n\t"
#define STORE(v, r, z, i)	v "movaps %%" r #i "," AT("a", z, i) "\n\t"
#define STORE_15(v, r, z, i)	v "movaps %%" r "15," AT("a", z, i) "\n\t"
#define STORE_NT_15(v, r, z, i) v "movntps %%" r "15," AT("a", z, i) "\n\t"
#define TRIAD(v, r, z, i)  \
	LOAD_B(v, r, z, i) \
	"vfmadd231pd" AT("c", z, i) ", %%" r "15, %%" r #i "\n\t" STORE(v, r, z, i)
/* SSE has no fused multiply-add. */
#define TRIAD_SSE(v, r, z, i)                                    \
	"movaps" AT("c", z, i) ", %%" r #i "\n\t"                \
			       "mulpd %%" r "15, %%" r #i "\n\t" \
			       "addpd" AT("b", z, i) ", %%" r #i "\n\t" STORE(v, r, z, i)
/* Two kilobytes ahead, each line once. */
#define AHEAD(i)      "prefetcht0 2048+64*" #i "(%[a])\n\t"
#define AHEAD_16      AHEAD(0) AHEAD(1)
#define AHEAD_32      AHEAD_16 AHEAD(2) AHEAD(3)
#define AHEAD_64      AHEAD_32 AHEAD(4) AHEAD(5) AHEAD(6) AHEAD(7)
#define ADVANCE(p, z) "add $8*" #z ", %[" p "]\n\t"

static const _Alignas(64) double stream_ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};

/* Register 15 is all ones: the factor of the triad, and the stored value. */
#define WALK(name, v, r, end, steps)                                                               \
	static void name(void *a, const void *b, const void *c, size_t bytes, uint64_t passes)     \
	{                                                                                          \
		for (; passes > 0; passes--) {                                                     \
			const char *at_a = a, *at_b = b, *at_c = c;                                \
			__asm__ volatile(v "movaps %[ones], %%" r "15\n\t"                         \
					   ".p2align 6\n1:\n\t" steps                              \
					   ".p2align 5\n\tcmp %[last], %[a]\n\tjb 1b\n\t" end      \
					 : [a] "+r"(at_a), [b] "+r"(at_b), [c] "+r"(at_c)          \
					 : [last] "r"(at_a + bytes), [ones] "m"(stream_ones)       \
					 : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", \
					   "xmm5", "xmm6", "xmm7", "xmm15");                       \
		}                                                                                  \
	}

/* After 256-bit registers the others' instructions would wait for their upper halves: vzeroupper.
 */
#define LOOPS(set, v, r, z, end, triad)                                                            \
	WALK(set##_read, v, r, end, TIMES8(LOAD_A, v, r, z) ADVANCE("a", z))                       \
	WALK(set##_read_ahead, v, r, end, AHEAD_##z TIMES8(LOAD_A, v, r, z) ADVANCE("a", z))       \
	WALK(set##_write, v, r, end, TIMES8(STORE_15, v, r, z) ADVANCE("a", z))                    \
	WALK(set##_write_nt, v, r, "sfence\n\t" end, TIMES8(STORE_NT_15, v, r, z) ADVANCE("a", z)) \
	WALK(set##_copy, v, r, end,                                                                \
	     TIMES8(LOAD_B, v, r, z) TIMES8(STORE, v, r, z) ADVANCE("a", z) ADVANCE("b", z))       \
	WALK(set##_triad, v, r, end,                                                               \
	     TIMES8(triad, v, r, z) ADVANCE("a", z) ADVANCE("b", z) ADVANCE("c", z))

LOOPS(sse, "", "xmm", 16, "", TRIAD_SSE)
LOOPS(avx2, "v", "ymm", 32, "vzeroupper", TRIAD)
LOOPS(avx512, "v", "zmm", 64, "vzeroupper", TRIAD)

#define ROWS(set, needs)                                            \
	{#set, MACHINE_READ, needs, false, set##_read},             \
	    {#set, MACHINE_READ, needs, true, set##_read_ahead},    \
	    {#set, MACHINE_WRITE, needs, false, set##_write},       \
	    {#set, MACHINE_WRITE_NT, needs, false, set##_write_nt}, \
	    {#set, MACHINE_COPY, needs, false, set##_copy},         \
	    {#set, MACHINE_TRIAD, needs, false, set##_triad},
static const machine_stream stream_kernels[] = {
    ROWS(avx512, MACHINE_AVX512) ROWS(avx2, MACHINE_AVX2) ROWS(sse, MACHINE_SSE2)};

const machine_stream *machine_streams(size_t *ret_n)
{
	*ret_n = sizeof stream_kernels / sizeof *stream_kernels;
	return stream_kernels;
}
#endif

typedef int stream_x86_is_no_empty_file;
