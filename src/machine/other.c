/* other.c - loops for other processors: plain C loops for memory, and no peak, because compiled
 * code may not reach it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include <string.h>

const char *const machine_type_names[MACHINE_TYPES] = {"fp64", "fp32", "fp16", "bf16", "int8"};

const char *const machine_stream_names[MACHINE_STREAMS] = {"read", "write", "write_nt", "copy",
							   "triad"};
const unsigned machine_stream_arrays[MACHINE_STREAMS] = {1, 1, 1, 2, 3};

/* needs == MACHINE_ISAS means that a loop needs no instruction set. */
bool machine_stream_usable(const machine_stream *s, uint32_t isa)
{
	/* Loops of 16 bytes are never the fastest where the processor has wider registers. */
	if (s->needs == MACHINE_SSE2 && machine_isa_has(isa, MACHINE_AVX2))
		return false;
	return s->needs == MACHINE_ISAS || machine_isa_has(isa, s->needs);
}

#if !defined(__x86_64__) && !defined(__aarch64__)
static void plain_read(void *a, const void *b, const void *c, size_t bytes, uint64_t passes)
{
	(void)b, (void)c;
	for (; passes > 0; passes--) {
		uint64_t any = 0;
		const uint64_t *p = a;
		for (size_t i = 0; i < bytes / sizeof *p; i++)
			any |= p[i];
		__asm__ volatile("" : : "r"(any) : "memory");
	}
}

static void plain_write(void *a, const void *b, const void *c, size_t bytes, uint64_t passes)
{
	(void)b, (void)c;
	for (; passes > 0; passes--) {
		memset(a, 0, bytes);
		__asm__ volatile("" : : "r"(a) : "memory");
	}
}

static void plain_copy(void *a, const void *b, const void *c, size_t bytes, uint64_t passes)
{
	(void)c;
	for (; passes > 0; passes--) {
		memcpy(a, b, bytes);
		__asm__ volatile("" : : "r"(a) : "memory");
	}
}

static void plain_triad(void *a, const void *b, const void *c, size_t bytes, uint64_t passes)
{
	double *p = a;
	const double *q = b, *r = c;
	for (; passes > 0; passes--) {
		for (size_t i = 0; i < bytes / sizeof *p; i++)
			p[i] = q[i] + r[i];
		__asm__ volatile("" : : "r"(a) : "memory");
	}
}

const machine_stream *machine_streams(size_t *ret_n)
{
	static const machine_stream plain[] = {
	    {"plain", MACHINE_READ, MACHINE_ISAS, false, plain_read},
	    {"plain", MACHINE_WRITE, MACHINE_ISAS, false, plain_write},
	    {"plain", MACHINE_COPY, MACHINE_ISAS, false, plain_copy},
	    {"plain", MACHINE_TRIAD, MACHINE_ISAS, false, plain_triad},
	};
	*ret_n = sizeof plain / sizeof *plain;
	return plain;
}

const machine_peak *machine_peaks(size_t *ret_n)
{
	*ret_n = 0;
	return NULL;
}

uint64_t machine_chain(uint64_t repetitions)
{
	(void)repetitions;
	return 0;
}
#endif
