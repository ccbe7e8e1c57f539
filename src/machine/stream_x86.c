/* stream_x86.c - loops over memory for x86-64 processors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TIMES8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#define LINE(at, i, size)           \
	if ((i) * (size) % 64 == 0) \
		_mm_prefetch((const char *)(at) + (i) * (size) + 2048, _MM_HINT_T0);
#define AHEAD(i) LINE(p, i, sizeof *p)

/* One block is eight registers: 512, 256 or 128 bytes. */
#define READ(name, features, V, CONSTRAINT, ZERO, LOAD, OR, BEFORE)                               \
	__attribute__((target(features))) static void name(void *a, const void *b, const void *c, \
							   size_t bytes, uint64_t passes)         \
	{                                                                                         \
		V v0 = ZERO(), v1 = v0, v2 = v0, v3 = v0, v4 = v0, v5 = v0, v6 = v0, v7 = v0;     \
		(void)b, (void)c;                                                                 \
		for (; passes > 0; passes--) {                                                    \
			const V *p = a, *end = (const V *)((const char *)a + bytes);              \
			for (; p < end; p += 8) {                                                 \
				BEFORE                                                            \
				v0 = OR(v0, LOAD(p)), v1 = OR(v1, LOAD(p + 1));                   \
				v2 = OR(v2, LOAD(p + 2)), v3 = OR(v3, LOAD(p + 3));               \
				v4 = OR(v4, LOAD(p + 4)), v5 = OR(v5, LOAD(p + 5));               \
				v6 = OR(v6, LOAD(p + 6)), v7 = OR(v7, LOAD(p + 7));               \
			}                                                                         \
			/* A pass more is not the same pass again. */                             \
			__asm__ volatile("" : "+" CONSTRAINT(v0) : : "memory");                   \
		}                                                                                 \
		v0 = OR(OR(OR(v0, v1), OR(v2, v3)), OR(OR(v4, v5), OR(v6, v7)));                  \
		__asm__ volatile("" : : CONSTRAINT(v0));                                          \
	}

#define LOOPS(set, features, V, VD, CONSTRAINT, ZERO, LOAD, STORE, STREAM, OR, ONE)             \
	READ(set##_read, features, V, CONSTRAINT, ZERO, LOAD, OR, )                             \
	READ(set##_read_ahead, features, V, CONSTRAINT, ZERO, LOAD, OR, TIMES8(AHEAD))          \
	__attribute__((target(features))) static void set##_write(                              \
	    void *a, const void *b, const void *c, size_t bytes, uint64_t passes)               \
	{                                                                                       \
		const V v = ZERO();                                                             \
		(void)b, (void)c;                                                               \
		for (; passes > 0; passes--) {                                                  \
			V *p = a, *end = (V *)((char *)a + bytes);                              \
			for (; p < end; p += 8) {                                               \
				STORE(p, v), STORE(p + 1, v), STORE(p + 2, v), STORE(p + 3, v); \
				STORE(p + 4, v), STORE(p + 5, v), STORE(p + 6, v),              \
				    STORE(p + 7, v);                                            \
				/* Else the compiler makes a call of memset. */                 \
				__asm__ volatile("" : : : "memory");                            \
			}                                                                       \
		}                                                                               \
	}                                                                                       \
	__attribute__((target(features))) static void set##_write_nt(                           \
	    void *a, const void *b, const void *c, size_t bytes, uint64_t passes)               \
	{                                                                                       \
		const V v = ZERO();                                                             \
		(void)b, (void)c;                                                               \
		for (; passes > 0; passes--) {                                                  \
			V *p = a, *end = (V *)((char *)a + bytes);                              \
			for (; p < end; p += 8) {                                               \
				STREAM(p, v), STREAM(p + 1, v), STREAM(p + 2, v);               \
				STREAM(p + 3, v), STREAM(p + 4, v), STREAM(p + 5, v);           \
				STREAM(p + 6, v), STREAM(p + 7, v);                             \
			}                                                                       \
		}                                                                               \
		_mm_sfence();                                                                   \
	}                                                                                       \
	__attribute__((target(features))) static void set##_copy(                               \
	    void *a, const void *b, const void *c, size_t bytes, uint64_t passes)               \
	{                                                                                       \
		(void)c;                                                                        \
		for (; passes > 0; passes--) {                                                  \
			V *p = a, *end = (V *)((char *)a + bytes);                              \
			const V *q = b;                                                         \
			for (; p < end; p += 8, q += 8) {                                       \
				V v0 = LOAD(q), v1 = LOAD(q + 1), v2 = LOAD(q + 2);             \
				V v3 = LOAD(q + 3), v4 = LOAD(q + 4), v5 = LOAD(q + 5);         \
				V v6 = LOAD(q + 6), v7 = LOAD(q + 7);                           \
				STORE(p, v0), STORE(p + 1, v1), STORE(p + 2, v2);               \
				STORE(p + 3, v3), STORE(p + 4, v4), STORE(p + 5, v5);           \
				STORE(p + 6, v6), STORE(p + 7, v7);                             \
				/* Else the compiler makes a call of memcpy. */                 \
				__asm__ volatile("" : : : "memory");                            \
			}                                                                       \
		}                                                                               \
	}                                                                                       \
	__attribute__((target(features))) static void set##_triad(                              \
	    void *a, const void *b, const void *c, size_t bytes, uint64_t passes)               \
	{                                                                                       \
		const VD s = ONE;                                                               \
		for (; passes > 0; passes--) {                                                  \
			double *p = a, *end = (double *)(void *)((char *)a + bytes);            \
			const double *q = b, *r = c;                                            \
			enum { N = sizeof(VD) / sizeof(double) };                               \
			for (; p < end; p += 8 * N, q += 8 * N, r += 8 * N) {                   \
				TIMES8(set##_STEP)                                              \
				__asm__ volatile("" : : : "memory");                            \
			}                                                                       \
		}                                                                               \
	}

#define sse_STEP(i)             \
	_mm_store_pd(p + N * i, \
		     _mm_add_pd(_mm_load_pd(q + N * i), _mm_mul_pd(s, _mm_load_pd(r + N * i))));
LOOPS(sse, "sse2", __m128i, __m128d, "x", _mm_setzero_si128, _mm_load_si128, _mm_store_si128,
      _mm_stream_si128, _mm_or_si128, _mm_set1_pd(1))

#define avx2_STEP(i)               \
	_mm256_store_pd(p + N * i, \
			_mm256_fmadd_pd(s, _mm256_load_pd(r + N * i), _mm256_load_pd(q + N * i)));
LOOPS(avx2, "avx2,fma", __m256i, __m256d, "x", _mm256_setzero_si256, _mm256_load_si256,
      _mm256_store_si256, _mm256_stream_si256, _mm256_or_si256, _mm256_set1_pd(1))

#define avx512_STEP(i)             \
	_mm512_store_pd(p + N * i, \
			_mm512_fmadd_pd(s, _mm512_load_pd(r + N * i), _mm512_load_pd(q + N * i)));
LOOPS(avx512, "avx512f", __m512i, __m512d, "v", _mm512_setzero_si512, _mm512_load_si512,
      _mm512_store_si512, _mm512_stream_si512, _mm512_or_si512, _mm512_set1_pd(1))

#define ROWS(set, needs)                                            \
	{#set, MACHINE_READ, needs, false, set##_read},             \
	    {#set, MACHINE_READ, needs, true, set##_read_ahead},    \
	    {#set, MACHINE_WRITE, needs, false, set##_write},       \
	    {#set, MACHINE_WRITE_NT, needs, false, set##_write_nt}, \
	    {#set, MACHINE_COPY, needs, false, set##_copy},         \
	    {#set, MACHINE_TRIAD, needs, false, set##_triad},
static const machine_stream table[] = {ROWS(avx512, MACHINE_AVX512) ROWS(avx2, MACHINE_AVX2)
					   ROWS(sse, MACHINE_SSE2)};

const machine_stream *machine_streams(size_t *ret_n)
{
	*ret_n = sizeof table / sizeof *table;
	return table;
}
#endif

typedef int stream_x86_is_no_empty_file;
