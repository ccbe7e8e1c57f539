/* isa.c - detects the instruction-set extensions of the processor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "os/os.h"

const char *const machine_isa_names[MACHINE_ISAS] = {
    [MACHINE_SSE2] = "sse2",
    [MACHINE_AVX2] = "avx2+fma",
    [MACHINE_AVXVNNI] = "avx-vnni",
    [MACHINE_AVX512] = "avx512",
    [MACHINE_AVX512FP16] = "avx512-fp16",
    [MACHINE_AVX512BF16] = "avx512-bf16",
    [MACHINE_AVX512VNNI] = "avx512-vnni",
    [MACHINE_AMX_BF16] = "amx-bf16",
    [MACHINE_AMX_INT8] = "amx-int8",
    [MACHINE_NEON] = "neon",
    [MACHINE_NEON_FP16] = "neon-fp16",
    [MACHINE_NEON_DOT] = "neon-dotprod",
    [MACHINE_NEON_BF16] = "neon-bf16",
    [MACHINE_NEON_I8MM] = "neon-i8mm",
    [MACHINE_SVE] = "sve",
};

#if defined(__x86_64__)
#include <cpuid.h>

/* Registers that the system saves when it switches threads: without that an instruction set that
 * the processor has cannot be used. Bits of XCR0, Intel SDM vol. 1, 13.1. */
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe6, SAVES_TILES = 0x60000 };

static uint64_t saved_registers(void)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

/* Where each is defined: Intel SDM vol. 2A, CPUID. Leaves: 1, 7.0 and 7.1. */
enum { LEAF1_C, LEAF7_B, LEAF7_C, LEAF7_D, LEAF71_A, WORDS };
static const struct {
	machine_isa isa;
	uint64_t saved;
	uint32_t bits[WORDS];
} tests[] = {
    /* FMA, AVX; AVX2 */
    {MACHINE_AVX2, SAVES_AVX, {[LEAF1_C] = 1u << 12 | 1u << 28, [LEAF7_B] = 1u << 5}},
    {MACHINE_AVXVNNI, SAVES_AVX, {[LEAF7_B] = 1u << 5, [LEAF71_A] = 1u << 4}},
    /* F, DQ, BW, VL */
    {MACHINE_AVX512, SAVES_AVX512, {[LEAF7_B] = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31}},
    {MACHINE_AVX512FP16, SAVES_AVX512, {[LEAF7_B] = 1u << 16 | 1u << 30, [LEAF7_D] = 1u << 23}},
    {MACHINE_AVX512BF16, SAVES_AVX512, {[LEAF7_B] = 1u << 16 | 1u << 30, [LEAF71_A] = 1u << 5}},
    {MACHINE_AVX512VNNI, SAVES_AVX512, {[LEAF7_B] = 1u << 16 | 1u << 30, [LEAF7_C] = 1u << 11}},
    /* the instructions, and the tiles */
    {MACHINE_AMX_BF16, SAVES_TILES, {[LEAF7_D] = 1u << 22 | 1u << 24}},
    {MACHINE_AMX_INT8, SAVES_TILES, {[LEAF7_D] = 1u << 25 | 1u << 24}},
};

uint32_t machine_isa_find(void)
{
	uint32_t set = 1u << MACHINE_SSE2, word[WORDS] = {0}, a, b, c, d, leaves;
	bool tiles = false;

	__cpuid(0, leaves, b, c, d);
	__cpuid(1, a, b, word[LEAF1_C], d);
	if (leaves < 7 || !(word[LEAF1_C] & 1u << 27)) /* OSXSAVE: xgetbv is allowed */
		return set;
	__cpuid_count(7, 0, a, word[LEAF7_B], word[LEAF7_C], word[LEAF7_D]);
	if (a >= 1)
		__cpuid_count(7, 1, word[LEAF71_A], b, c, d);
	const uint64_t saved = saved_registers();
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		bool has = (saved & tests[i].saved) == tests[i].saved;
		for (int w = 0; w < WORDS; w++)
			has = has && (word[w] & tests[i].bits[w]) == tests[i].bits[w];
		if (has && tests[i].saved == SAVES_TILES)
			has = tiles = tiles || os_amx_allow();
		if (has)
			set |= 1u << tests[i].isa;
	}
	return set;
}

#elif defined(__aarch64__) && defined(__linux__)

/* Bits of the kernel's Documentation/arch/arm64/elf_hwcaps.rst. */
static const struct {
	machine_isa isa;
	bool second; /* in the second word of them */
	unsigned long bits;
} tests[] = {
    {MACHINE_NEON, false, 1ul << 1},	   /* ASIMD */
    {MACHINE_NEON_FP16, false, 1ul << 10}, /* ASIMDHP */
    {MACHINE_NEON_DOT, false, 1ul << 20},  /* ASIMDDP */
    {MACHINE_SVE, false, 1ul << 22},	   {MACHINE_NEON_I8MM, true, 1ul << 13},
    {MACHINE_NEON_BF16, true, 1ul << 14},
};

uint32_t machine_isa_find(void)
{
	uint32_t set = 0;
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if ((os_hwcap(tests[i].second) & tests[i].bits) == tests[i].bits)
			set |= 1u << tests[i].isa;
	return set;
}

#else
uint32_t machine_isa_find(void)
{
	return 0;
}
#endif
