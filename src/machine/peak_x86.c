/* peak_x86.c - the fastest arithmetic of x86-64 processors, one loop for each instruction set.
 *
 * A loop is a number of accumulators, each a separate dependency chain, enough to fill the units at
 * their latency (4 or 5 cycles, 2 units: 8 to 10 chains; 52 cycles at one every 16 for tiles), and
 * few enough to stay in registers: 16 before AVX-512, 32 with it, 8 tiles. Named variables, not an
 * array, since a compiler that does not unroll keeps an array in memory, and then the loop
 * measures loads and stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TIMES6(X)  X(0) X(1) X(2) X(3) X(4) X(5)
#define TIMES12(X) TIMES6(X) X(6) X(7) X(8) X(9) X(10) X(11)
#define TIMES24(X) \
	TIMES12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)

/* Makes v opaque to the compiler, so that nothing moves out of the loop. */
#define OPAQUE(v) __asm__ volatile("" : "+v"(v))

#define LOAD_SUM(T, v)                                     \
	union {                                            \
		__typeof__(v) vector;                      \
		T lane[sizeof(v) / sizeof(T)];             \
	} out = {.vector = (v)};                           \
	double total = 0;                                  \
	for (size_t i = 0; i < sizeof(v) / sizeof(T); i++) \
		total += (double)out.lane[i];              \
	return total

/* --- SSE: no fused instruction; equal numbers of products and sums, alternating and kept in that
 * order. The products stay 1. */
#define PAIR(i)                                            \
	m##i = MULTIPLY(m##i, one), s##i = ADD(s##i, one); \
	OPAQUE(m##i);                                      \
	OPAQUE(s##i);
#define SSE(name, V, T, ZERO, SET)                                                      \
	static double name(uint64_t repetitions)                                        \
	{                                                                               \
		V one = SET(1), zero = ZERO();                                          \
		OPAQUE(one);                                                            \
		V m0 = one, m1 = one, m2 = one, m3 = one, m4 = one, m5 = one, m6 = one; \
		V s0 = zero, s1 = zero, s2 = zero, s3 = zero, s4 = zero, s5 = zero;     \
		V s6 = zero;                                                            \
		for (; repetitions > 0; repetitions--) {                                \
			/* Twice, because branches have a separate throughput limit. */ \
			TIMES6(PAIR) PAIR(6) TIMES6(PAIR) PAIR(6)                       \
		}                                                                       \
		V product = MULTIPLY(MULTIPLY(m0, m1), MULTIPLY(m2, m3));               \
		product = MULTIPLY(product, MULTIPLY(MULTIPLY(m4, m5), m6));            \
		V sum = ADD(ADD(ADD(s0, s1), ADD(s2, s3)), ADD(ADD(s4, s5), s6));       \
		LOAD_SUM(T, MULTIPLY(sum, product));                                    \
	}
#define MULTIPLY _mm_mul_pd
#define ADD	 _mm_add_pd
SSE(sse_fp64, __m128d, double, _mm_setzero_pd, _mm_set1_pd)
#undef MULTIPLY
#undef ADD
#define MULTIPLY _mm_mul_ps
#define ADD	 _mm_add_ps
SSE(sse_fp32, __m128, float, _mm_setzero_ps, _mm_set1_ps)

/* --- all the others: acc = acc + one x one in one instruction, or in three. */
#define DECLARE(i) acc##i = zero,
/* The compiler would merge chains that begin with the same value. */
#define FORGET(i)  OPAQUE(acc##i);
#define ADD_ALL(i) zero = SUM(zero, acc##i);
#define FUSED(name, features, V, T, TIMES, ZERO, SET)                              \
	__attribute__((target(features))) static double name(uint64_t repetitions) \
	{                                                                          \
		V zero = ZERO();                                                   \
		V one = SET;                                                       \
		V TIMES(DECLARE) two = one;                                        \
		TIMES(FORGET)                                                      \
		for (; repetitions > 0; repetitions--) {                           \
			OPAQUE(one);                                               \
			OPAQUE(two);                                               \
			TIMES(STEP)                                                \
		}                                                                  \
		TIMES(ADD_ALL)                                                     \
		LOAD_SUM(T, zero);                                                 \
	}

#define STEP(i) acc##i = _mm256_fmadd_pd(one, two, acc##i);
#define SUM	_mm256_add_pd
FUSED(avx2_fp64, "avx2,fma", __m256d, double, TIMES12, _mm256_setzero_pd, _mm256_set1_pd(1))
#undef STEP
#undef SUM
#define STEP(i) acc##i = _mm256_fmadd_ps(one, two, acc##i);
#define SUM	_mm256_add_ps
FUSED(avx2_fp32, "avx2,fma", __m256, float, TIMES12, _mm256_setzero_ps, _mm256_set1_ps(1))
#undef STEP
#undef SUM

/* Pairs of bytes to words, pairs of words to the sum: what INT8 kernels did before VNNI. The words
 * of each step are made again from operands that the compiler has to take as changed. */
#define STEP(i)                                                                                \
	acc##i =                                                                               \
	    _mm256_add_epi32(acc##i, _mm256_madd_epi16(_mm256_maddubs_epi16(one, two), ones)); \
	OPAQUE(one);
#define SUM _mm256_add_epi32
__attribute__((target("avx2"))) static double avx2_int8(uint64_t repetitions)
{
	__m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
	__m256i ones = _mm256_set1_epi16(1);
	__m256i TIMES6(DECLARE) two = one;
	TIMES6(FORGET)
	OPAQUE(ones);
	for (; repetitions > 0; repetitions--) {
		OPAQUE(two);
		TIMES6(STEP)
	}
	TIMES6(ADD_ALL)
	LOAD_SUM(int32_t, zero);
}
#undef STEP

#define STEP(i) acc##i = _mm256_dpbusd_avx_epi32(acc##i, one, two);
FUSED(avxvnni_int8, "avx2,avxvnni", __m256i, int32_t, TIMES12, _mm256_setzero_si256,
      _mm256_set1_epi8(1))
#undef STEP
#undef SUM

#define STEP(i) acc##i = _mm512_fmadd_pd(one, two, acc##i);
#define SUM	_mm512_add_pd
FUSED(avx512_fp64, "avx512f", __m512d, double, TIMES24, _mm512_setzero_pd, _mm512_set1_pd(1))
#undef STEP
#undef SUM
#define STEP(i) acc##i = _mm512_fmadd_ps(one, two, acc##i);
#define SUM	_mm512_add_ps
FUSED(avx512_fp32, "avx512f", __m512, float, TIMES24, _mm512_setzero_ps, _mm512_set1_ps(1))
#undef STEP
/* Two products of BF16 into each sum of FP32; 0x3f80 is 1. */
#define STEP(i) acc##i = _mm512_dpbf16_ps(acc##i, (__m512bh)one, (__m512bh)two);
__attribute__((target("avx512f,avx512bw,avx512bf16"))) static double avx512_bf16(
    uint64_t repetitions)
{
	__m512i one = _mm512_set1_epi16(0x3f80);
	__m512 zero = _mm512_setzero_ps();
	__m512 TIMES24(DECLARE) last = zero;
	__m512i two = one;
	TIMES24(FORGET)
	for (; repetitions > 0; repetitions--) {
		OPAQUE(one);
		OPAQUE(two);
		TIMES24(STEP)
	}
	TIMES24(ADD_ALL)
	zero = SUM(zero, last);
	LOAD_SUM(float, zero);
}
#undef STEP
#undef SUM

#define STEP(i) acc##i = _mm512_dpbusd_epi32(acc##i, one, two);
#define SUM	_mm512_add_epi32
FUSED(avx512_int8, "avx512f,avx512bw,avx512vnni", __m512i, int32_t, TIMES24, _mm512_setzero_si512,
      _mm512_set1_epi8(1))
#undef STEP
#undef SUM

/* Compilers that know it know its scalar type too. */
#if defined(__FLT16_MAX__) && (defined(__clang__) || __GNUC__ >= 12)
#define HAS_FP16 1
#define STEP(i)	 acc##i = _mm512_fmadd_ph(one, two, acc##i);
#define SUM	 _mm512_add_ph
__extension__ typedef _Float16 half;
FUSED(avx512_fp16, "avx512f,avx512bw,avx512fp16", __m512h, half, TIMES24, _mm512_setzero_ph,
      _mm512_set1_ph((half)1))
#undef STEP
#undef SUM
#endif

/* --- AMX: tiles of 16 rows of 64 bytes. Six sums and two factors: eight tiles. */
typedef struct tile_shape { /* Intel SDM vol. 1, 18.2: palette 1 */
	uint8_t palette, start_row, zero[14];
	uint16_t row_bytes[16];
	uint8_t rows[16];
} tile_shape;

static const tile_shape all_whole = {
    .palette = 1,
    .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
    .rows = {16, 16, 16, 16, 16, 16, 16, 16},
};

#define TILES(name, features, T, MULTIPLY, ONE)                                    \
	__attribute__((target(features))) static double name(uint64_t repetitions) \
	{                                                                          \
		uint16_t ones[512];                                                \
		T sum[256];                                                        \
		double total = 0;                                                  \
		for (int i = 0; i < 512; i++)                                      \
			ones[i] = (ONE);                                           \
		/* The compiler cannot see that the load reads them. */            \
		__asm__ volatile("" : : "r"(ones) : "memory");                     \
		_tile_loadconfig(&all_whole);                                      \
		_tile_zero(0);                                                     \
		_tile_zero(1);                                                     \
		_tile_zero(2);                                                     \
		_tile_zero(3);                                                     \
		_tile_zero(4);                                                     \
		_tile_zero(5);                                                     \
		_tile_loadd(6, ones, 64);                                          \
		_tile_loadd(7, ones, 64);                                          \
		for (; repetitions > 0; repetitions--) {                           \
			MULTIPLY(0, 6, 7);                                         \
			MULTIPLY(1, 6, 7);                                         \
			MULTIPLY(2, 6, 7);                                         \
			MULTIPLY(3, 6, 7);                                         \
			MULTIPLY(4, 6, 7);                                         \
			MULTIPLY(5, 6, 7);                                         \
		}                                                                  \
		_tile_stored(0, sum, 64);                                          \
		_tile_release();                                                   \
		for (int i = 0; i < 256; i++)                                      \
			total += (double)sum[i];                                   \
		return 6 * total;                                                  \
	}
TILES(amx_bf16, "amx-tile,amx-bf16", float, _tile_dpbf16ps, 0x3f80)
TILES(amx_int8, "amx-tile,amx-int8", int32_t, _tile_dpbssd, 0x0101)

/* Operations: accumulators x lanes x products in a lane x 2. Steps in a cycle: Intel Optimization
 * Reference Manual, A. Fog, Instruction tables: two units for fused products, one where registers
 * are twice as wide as units (AVX2 on Zen and Gracemont, AVX-512 on Zen 4) or the second one is
 * left out (some Xeons); SSE's products and sums have separate units on AMD and share three on
 * Golden Cove; a product of tiles takes 16 cycles. */
static const machine_peak peak_kernels[] = {
    {"sse", MACHINE_FP64, MACHINE_SSE2, 2 * 7 * 2 * 2, sse_fp64, false, 14, {1, 1.5, 2}},
    {"sse", MACHINE_FP32, MACHINE_SSE2, 2 * 7 * 4 * 2, sse_fp32, false, 14, {1, 1.5, 2}},
    {"avx2", MACHINE_FP64, MACHINE_AVX2, 12 * 4 * 2, avx2_fp64, false, 12, {1, 2}},
    {"avx2", MACHINE_FP32, MACHINE_AVX2, 12 * 8 * 2, avx2_fp32, false, 12, {1, 2}},
    {"avx2", MACHINE_INT8, MACHINE_AVX2, 6 * 8 * 4 * 2, avx2_int8, false, 6, {0.5, 1}},
    {"avxvnni", MACHINE_INT8, MACHINE_AVXVNNI, 12 * 8 * 4 * 2, avxvnni_int8, false, 12, {1, 2}},
    {"avx512", MACHINE_FP64, MACHINE_AVX512, 24 * 8 * 2, avx512_fp64, false, 24, {1, 2}},
    {"avx512", MACHINE_FP32, MACHINE_AVX512, 24 * 16 * 2, avx512_fp32, false, 24, {1, 2}},
#if defined(HAS_FP16)
    {"avx512fp16", MACHINE_FP16, MACHINE_AVX512FP16, 24 * 32 * 2, avx512_fp16, true, 24, {1, 2}},
#endif
    {"avx512bf16",
     MACHINE_BF16,
     MACHINE_AVX512BF16,
     24 * 16 * 2 * 2,
     avx512_bf16,
     false,
     24,
     {0.5, 1, 2}},
    {"avx512vnni",
     MACHINE_INT8,
     MACHINE_AVX512VNNI,
     24 * 16 * 4 * 2,
     avx512_int8,
     false,
     24,
     {1, 2}},
    {"amx", MACHINE_BF16, MACHINE_AMX_BF16, 6 * 16 * 16 * 32 * 2, amx_bf16, true, 6, {1 / 16.0}},
    {"amx", MACHINE_INT8, MACHINE_AMX_INT8, 6 * 16 * 16 * 64 * 2, amx_int8, true, 6, {1 / 16.0}},
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
		/* From register to register: some processors fold constants on the way. */
		__asm__ volatile("add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
				 "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
				 "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\t"
				 "add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0"
				 : "+r"(sum)
				 : "r"(one)
				 : "cc");
	return sum - repetitions;
}
#endif

typedef int peak_x86_is_no_empty_file;
