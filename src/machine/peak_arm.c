/* peak_arm.c - the fastest arithmetic of 64-bit Arm processors. Tried under an emulator for what
 * the loops compute; no rate of it was ever compared with a real processor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define TIMES12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define TIMES24(X) \
	TIMES12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)

/* Makes v opaque to the compiler: nothing moves out of the loop, and chains with equal start values
 * are not merged. */
#define OPAQUE(v)  __asm__ volatile("" : "+w"(v))
#define DECLARE(i) acc##i = zero,
#define FORGET(i)  OPAQUE(acc##i);
#define ADD_ALL(i) zero = SUM(zero, acc##i);
#define LOOP(name, features, V, F, T, ZERO, ONE)                   \
	features static double name(uint64_t repetitions)          \
	{                                                          \
		V zero = ZERO;                                     \
		F one = ONE;                                       \
		V TIMES24(DECLARE) last = zero;                    \
		F two = one;                                       \
		T lane[sizeof(V) / sizeof(T)];                     \
		double total = 0;                                  \
		TIMES24(FORGET)                                    \
		for (; repetitions > 0; repetitions--) {           \
			OPAQUE(one);                               \
			OPAQUE(two);                               \
			TIMES24(STEP)                              \
		}                                                  \
		TIMES24(ADD_ALL)                                   \
		zero = SUM(zero, last);                            \
		__builtin_memcpy(lane, &zero, sizeof lane);        \
		for (size_t i = 0; i < sizeof(V) / sizeof(T); i++) \
			total += (double)lane[i];                  \
		return total;                                      \
	}

#define ARCH ".arch armv8.2-a+fp16+dotprod+bf16+i8mm+sve\n\t"
/* In assembly, since compilers know the intrinsics from different versions on. */
#define ASM_STEP(i, text) __asm__ volatile(ARCH text : "+w"(acc##i) : "w"(one), "w"(two));

#define STEP(i) acc##i = vfmaq_f64(acc##i, one, two);
#define SUM	vaddq_f64
LOOP(neon_fp64, , float64x2_t, float64x2_t, double, vdupq_n_f64(0), vdupq_n_f64(1))
#undef STEP
#undef SUM
#define STEP(i) acc##i = vfmaq_f32(acc##i, one, two);
#define SUM	vaddq_f32
LOOP(neon_fp32, , float32x4_t, float32x4_t, float, vdupq_n_f32(0), vdupq_n_f32(1))
#undef STEP

/* Sums of 2 x 2 blocks of products; 0x3f80 is 1. */
#define STEP(i) ASM_STEP(i, "bfmmla %0.4s, %1.8h, %2.8h")
LOOP(neon_bf16, , float32x4_t, uint16x8_t, float, vdupq_n_f32(0), vdupq_n_u16(0x3f80))
#undef STEP
#undef SUM

#define SUM	vaddq_s32
#define STEP(i) ASM_STEP(i, "sdot %0.4s, %1.16b, %2.16b")
LOOP(neon_int8, , int32x4_t, int8x16_t, int32_t, vdupq_n_s32(0), vdupq_n_s8(1))
#undef STEP
#define STEP(i) ASM_STEP(i, "smmla %0.4s, %1.16b, %2.16b")
LOOP(i8mm_int8, , int32x4_t, int8x16_t, int32_t, vdupq_n_s32(0), vdupq_n_s8(1))
#undef STEP
#undef SUM

/* 0x3c00 is 1; the lanes are summed in FP32. */
#define STEP(i) ASM_STEP(i, "fmla %0.8h, %1.8h, %2.8h")
#define SUM_LANES(i)                                                   \
	{                                                              \
		float16x8_t half = vreinterpretq_f16_u16(acc##i);      \
		float32x4_t low = vcvt_f32_f16(vget_low_f16(half));    \
		float32x4_t high = vcvt_f32_f16(vget_high_f16(half));  \
		total += (double)(vaddvq_f32(low) + vaddvq_f32(high)); \
	}
static double neon_fp16(uint64_t repetitions)
{
	uint16x8_t zero = vdupq_n_u16(0), one = vdupq_n_u16(0x3c00);
	uint16x8_t TIMES24(DECLARE) two = one;
	double total = 0;
	TIMES24(FORGET)
	for (; repetitions > 0; repetitions--) {
		TIMES24(STEP)
	}
	TIMES24(SUM_LANES)
	return total;
}
#undef STEP

/* --- SVE: the register length depends on the processor, so the row of the table is for the
 * shortest, and the number of operations is queried. Two units of latency nine (A64FX) need 18
 * chains, four of latency four (Neoverse V2) 16. */
enum { SVE_CHAINS = 24 };
#define SVE_EIGHT(X, size, a, b, c, d, e, f, g, h) \
	X(a, size) X(b, size) X(c, size) X(d, size) X(e, size) X(f, size) X(g, size) X(h, size)
#define SVE_ALL(X, size)                                 \
	SVE_EIGHT(X, size, 0, 1, 2, 3, 4, 5, 6, 7)       \
	SVE_EIGHT(X, size, 8, 9, 10, 11, 12, 13, 14, 15) \
	SVE_EIGHT(X, size, 16, 17, 18, 19, 20, 21, 22, 23)
#define SVE_ZERO(i, size) "mov z" #i "." size ", #0\n\t"
#define SVE_FMLA(i, size) "fmla z" #i "." size ", p0/m, z30." size ", z30." size "\n\t"
#define SVE_LOOP(name, size, T)                                                                    \
	static double name(uint64_t repetitions)                                                   \
	{                                                                                          \
		T lane[2048 / 8 / sizeof(T)] = {0};                                                \
		double total = 0;                                                                  \
		uint64_t lanes = 0;                                                                \
		if (repetitions == 0)                                                              \
			return 0;                                                                  \
		__asm__ volatile(ARCH "ptrue p0." size "\n\t"                                      \
				      "cntp %[lanes], p0, p0." size "\n\t"                         \
				      "fmov z30." size                                             \
				      ", #1.0\n\t" SVE_ALL(SVE_ZERO, size) "1:\n\t" SVE_ALL(       \
					  SVE_FMLA, size) "subs %[n], %[n], #1\n\t"                \
							  "b.ne 1b\n\t"                            \
							  "str z0, [%[out]]"                       \
				 : [n] "+r"(repetitions), [lanes] "=&r"(lanes)                     \
				 : [out] "r"(lane)                                                 \
				 : "cc", "memory", "p0", "v0", "v1", "v2", "v3", "v4", "v5", "v6", \
				   "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",     \
				   "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v30"); \
		for (uint64_t i = 0; i < lanes; i++)                                               \
			total += (double)lane[i];                                                  \
		return SVE_CHAINS * total;                                                         \
	}
SVE_LOOP(sve_fp64, "d", double)
SVE_LOOP(sve_fp32, "s", float)

/* Operations: accumulators x lanes x products in a lane x 2. SVE: 0 here, computed by its `run`. */
static const machine_peak peak_kernels[] = {
    {"neon", MACHINE_FP64, MACHINE_NEON, 24 * 2 * 2, neon_fp64, true, 0, {0}},
    {"neon", MACHINE_FP32, MACHINE_NEON, 24 * 4 * 2, neon_fp32, true, 0, {0}},
    {"neon", MACHINE_FP16, MACHINE_NEON_FP16, 24 * 8 * 2, neon_fp16, true, 0, {0}},
    {"neon", MACHINE_BF16, MACHINE_NEON_BF16, 24 * 4 * 4 * 2, neon_bf16, true, 0, {0}},
    {"neon", MACHINE_INT8, MACHINE_NEON_DOT, 24 * 4 * 4 * 2, neon_int8, true, 0, {0}},
    {"i8mm", MACHINE_INT8, MACHINE_NEON_I8MM, 24 * 4 * 8 * 2, i8mm_int8, true, 0, {0}},
    {"sve", MACHINE_FP64, MACHINE_SVE, 0, sve_fp64, true, 0, {0}},
    {"sve", MACHINE_FP32, MACHINE_SVE, 0, sve_fp32, true, 0, {0}},
};

const machine_peak *machine_peaks(size_t *ret_n)
{
	*ret_n = sizeof peak_kernels / sizeof *peak_kernels;
	return peak_kernels;
}

uint64_t machine_chain(uint64_t repetitions)
{
	uint64_t sum = repetitions, one = 1;
	for (uint64_t i = repetitions; i > 0; i--)
		__asm__ volatile("add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
				 "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
				 "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
				 "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
				 "add %0, %0, %1\n\tadd %0, %0, %1\n\tadd %0, %0, %1\n\t"
				 "add %0, %0, %1"
				 : "+r"(sum)
				 : "r"(one));
	return sum - repetitions;
}
#endif

typedef int peak_arm_is_no_empty_file;
