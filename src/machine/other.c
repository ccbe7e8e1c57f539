/* other.c - processors for which there are no loops of their own: what the compiler makes of plain
 * ones, and no peak, since such a loop need not reach it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/machine.h"

#include <string.h>

const char *const machine_type_names[MACHINE_TYPES] = {"fp64", "fp32", "fp16", "bf16", "int8"};

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

const machine_stream *machine_streams(uint32_t isa, const char **ret_isa)
{
	static const machine_stream plain[MACHINE_STREAMS] = {
	    [MACHINE_READ] = {"read", 1, plain_read},
	    [MACHINE_WRITE] = {"write", 1, plain_write},
	    [MACHINE_WRITE_NT] = {"write_nt", 1, NULL},
	    [MACHINE_COPY] = {"copy", 2, plain_copy},
	    [MACHINE_TRIAD] = {"triad", 3, plain_triad},
	};
	(void)isa;
	*ret_isa = "the compiler's";
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
