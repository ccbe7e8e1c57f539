/* machine_roof.c - the loops of 'deepclock machine' compared with loops in handwritten assembly.
 *
 * Both run in turn in this process, pinned to one processor. The value is the ratio of the best
 * results, because the command reports the best; the rounds are the ratios of adjacent runs. A peak
 * above the handwritten loop is as wrong as one below it: it would count work that was not done.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deepclock/machine.h"
#include "machine/loops.h"
#include "os/os.h"
#include "rows.h"
#include "stat/stat.h"

#define ROUNDS	 31
#define ROUND_NS 3e6
#define LEAST	 0.95
#define MOST	 1.05

#if defined(__x86_64__)

/* --- arithmetic: acc = acc + a x b, twelve or twenty-four chains */

#define FMA(r, n) "vfmadd231ps %%" r "30, %%" r "31, %%" r #n "\n\t"
#define FMA12(F)  F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define YMM(n)	  "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n\t"
#define ZMM(n)	  FMA("zmm", n)

__attribute__((target("avx2,fma"))) static void hand_avx2(uint64_t n)
{
	__asm__ volatile("vxorps %%ymm14, %%ymm14, %%ymm14\n\tvxorps %%ymm15, %%ymm15, %%ymm15\n\t"
			 ".p2align 6\n1:\n\t" FMA12(YMM) "dec %0\n\tjnz 1b\n\tvzeroupper"
			 : "+r"(n)
			 :
			 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			   "xmm8", "xmm9", "xmm10", "xmm11", "xmm14", "xmm15");
}

__attribute__((target("avx512f"))) static void hand_avx512(uint64_t n)
{
	__asm__ volatile(
	    "vpxord %%zmm30, %%zmm30, %%zmm30\n\tvpxord %%zmm31, %%zmm31, %%zmm31\n\t"
	    ".p2align 6\n1:\n\t" FMA12(ZMM) ZMM(12) ZMM(13) ZMM(14) ZMM(15) ZMM(16) ZMM(17) ZMM(18)
		ZMM(19) ZMM(20) ZMM(21) ZMM(22) ZMM(23) "dec %0\n\tjnz 1b\n\tvzeroupper"
	    : "+r"(n)
	    :
	    : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
	      "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18",
	      "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm30", "xmm31");
}

static void hand_amx(uint64_t n)
{
	/* Six accumulators, two factors; the same shape as the loop under test. */
	static const struct {
		uint8_t palette, zero[15];
		uint16_t row_bytes[16];
		uint8_t rows[16];
	} shape = {1, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
	__asm__ volatile("ldtilecfg %1\n\t"
			 "1:\n\ttdpbf16ps %%tmm7, %%tmm6, %%tmm0\n\t"
			 "tdpbf16ps %%tmm7, %%tmm6, %%tmm1\n\ttdpbf16ps %%tmm7, %%tmm6, %%tmm2\n\t"
			 "tdpbf16ps %%tmm7, %%tmm6, %%tmm3\n\ttdpbf16ps %%tmm7, %%tmm6, %%tmm4\n\t"
			 "tdpbf16ps %%tmm7, %%tmm6, %%tmm5\n\tdec %0\n\tjnz 1b\n\ttilerelease"
			 : "+r"(n)
			 : "m"(shape)
			 : "cc", "memory");
}

/* --- memory: loads only; a = b + s x c */

__attribute__((target("avx2,fma"))) static void hand_read_avx2(void *a, const void *b,
							       const void *c, size_t n,
							       uint64_t passes)
{
	(void)b, (void)c;
	for (; passes > 0; passes--)
		for (char *p = a, *end = p + n; p < end; p += 256)
			__asm__ volatile("vmovaps (%0), %%ymm0\n\tvmovaps 32(%0), %%ymm1\n\t"
					 "vmovaps 64(%0), %%ymm2\n\tvmovaps 96(%0), %%ymm3\n\t"
					 "vmovaps 128(%0), %%ymm4\n\tvmovaps 160(%0), %%ymm5\n\t"
					 "vmovaps 192(%0), %%ymm6\n\tvmovaps 224(%0), %%ymm7"
					 :
					 : "r"(p)
					 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
					   "xmm6", "xmm7");
}

__attribute__((target("avx512f"))) static void hand_read_avx512(void *a, const void *b,
								const void *c, size_t n,
								uint64_t passes)
{
	(void)b, (void)c;
	for (; passes > 0; passes--)
		for (char *p = a, *end = p + n; p < end; p += 512)
			__asm__ volatile("vmovaps (%0), %%zmm0\n\tvmovaps 64(%0), %%zmm1\n\t"
					 "vmovaps 128(%0), %%zmm2\n\tvmovaps 192(%0), %%zmm3\n\t"
					 "vmovaps 256(%0), %%zmm4\n\tvmovaps 320(%0), %%zmm5\n\t"
					 "vmovaps 384(%0), %%zmm6\n\tvmovaps 448(%0), %%zmm7"
					 :
					 : "r"(p)
					 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
					   "xmm6", "xmm7");
}

/* The same with a software prefetch, as in hand-tuned loops. */
__attribute__((target("avx512f"))) static void hand_prefetch_avx512(void *a, const void *b,
								    const void *c, size_t n,
								    uint64_t passes)
{
	(void)b, (void)c;
	for (; passes > 0; passes--)
		for (char *p = a, *end = p + n; p < end; p += 256)
			__asm__ volatile("prefetcht0 2048(%0)\n\tprefetcht0 2112(%0)\n\t"
					 "prefetcht0 2176(%0)\n\tprefetcht0 2240(%0)\n\t"
					 "vmovaps (%0), %%zmm0\n\tvmovaps 64(%0), %%zmm1\n\t"
					 "vmovaps 128(%0), %%zmm2\n\tvmovaps 192(%0), %%zmm3"
					 :
					 : "r"(p)
					 : "memory", "xmm0", "xmm1", "xmm2", "xmm3");
}

/* The whole loop with the fewest instructions: one counter for three arrays. */
#define TRIAD(r, n, at)                                              \
	"vmovapd " #at "(%[b], %[i]), %%" r #n "\n\t"                \
	"vfmadd231pd " #at "(%[c], %[i]), %%" r "15, %%" r #n "\n\t" \
	"vmovapd %%" r #n ", " #at "(%[a], %[i])\n\t"
#define TRIAD_LOOP(name, features, steps, step)                                                    \
	__attribute__((target(features))) static void name(void *a, const void *b, const void *c,  \
							   size_t n, uint64_t passes)              \
	{                                                                                          \
		for (; passes > 0; passes--) {                                                     \
			size_t i = 0;                                                              \
			__asm__ volatile("vxorpd %%xmm15, %%xmm15, %%xmm15\n\t"                    \
					 ".p2align 6\n1:\n\t" steps "add $" #step                  \
					 ", %[i]\n\tcmp %[n], %[i]\n\tjb 1b\n\tvzeroupper"         \
					 : [i] "+r"(i)                                             \
					 : [a] "r"(a), [b] "r"(b), [c] "r"(c), [n] "r"(n)          \
					 : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", \
					   "xmm5", "xmm6", "xmm7", "xmm15");                       \
		}                                                                                  \
	}
TRIAD_LOOP(hand_triad_avx2, "avx2,fma",
	   TRIAD("ymm", 0, 0) TRIAD("ymm", 1, 32) TRIAD("ymm", 2, 64) TRIAD("ymm", 3, 96)
	       TRIAD("ymm", 4, 128) TRIAD("ymm", 5, 160) TRIAD("ymm", 6, 192) TRIAD("ymm", 7, 224),
	   256)
TRIAD_LOOP(hand_triad_avx512, "avx512f",
	   TRIAD("zmm", 0, 0) TRIAD("zmm", 1, 64) TRIAD("zmm", 2, 128) TRIAD("zmm", 3, 192)
	       TRIAD("zmm", 4, 256) TRIAD("zmm", 5, 320) TRIAD("zmm", 6, 384) TRIAD("zmm", 7, 448),
	   512)

static const struct arithmetic {
	const char *name, *isa;
	machine_type type;
	machine_isa needs;
	unsigned operations;
	void (*hand)(uint64_t n);
} arithmetic[] = {
    {"FP32 AVX2", "avx2", MACHINE_FP32, MACHINE_AVX2, 12 * 8 * 2, hand_avx2},
    {"FP32 AVX-512", "avx512", MACHINE_FP32, MACHINE_AVX512, 24 * 16 * 2, hand_avx512},
    {"BF16 AMX", "amx", MACHINE_BF16, MACHINE_AMX_BF16, 6 * 16384, hand_amx},
};

typedef void (*stream)(void *a, const void *b, const void *c, size_t n, uint64_t passes);
static const struct memory {
	const char *name;
	machine_stream_kind kind;
	machine_isa needs;
	machine_level from; /* nearer levels need no prefetch */
	stream hand;
} memory[] = {
    {"read", MACHINE_READ, MACHINE_AVX512, MACHINE_L1, hand_read_avx512},
    {"read, prefetched", MACHINE_READ, MACHINE_AVX512, MACHINE_L3, hand_prefetch_avx512},
    {"triad", MACHINE_TRIAD, MACHINE_AVX512, MACHINE_L1, hand_triad_avx512},
    {"read AVX2", MACHINE_READ, MACHINE_AVX2, MACHINE_L1, hand_read_avx2},
    {"triad AVX2", MACHINE_TRIAD, MACHINE_AVX2, MACHINE_L1, hand_triad_avx2},
};

/* --- ratios */

/* On a busy machine all good rounds may be disturbed; a slower loop fails every attempt. */
#define ATTEMPTS 3

static double best_hand_fp32;

/* Returns false if the limit was missed and an attempt is left. */
static bool judge(const char *name, const char *of, const double *ours, const double *hand,
		  double most, int attempt)
{
	double ratio[ROUNDS], a = 0, b = 0;
	const size_t n = bench_rounds(ROUNDS);
	char work[80];

	for (size_t i = 0; i < n; i++) {
		ratio[i] = ours[i] / hand[i];
		a = fmax(a, ours[i]);
		b = fmax(b, hand[i]);
	}
	/* deepclock machine reports the best round; on a busy machine most rounds are disturbed. */
	const double best = a / b;
	if ((best < LEAST || best > most) && attempt < ATTEMPTS && !bench_quick())
		return false;
	snprintf(work, sizeof work, "a loop of deepclock machine: %s%s%s", name, *of ? " " : "",
		 of);
	bench_row_put(&(bench_row){.work = work,
				   .unit = "times a loop in assembly, best",
				   .least = LEAST,
				   .most = isinf(most) ? 0 : most,
				   .now = &best},
		      ratio, n);
	return true;
}

static double ns_since(uint64_t begin)
{
	return (double)(os_now_ns() - begin);
}

static bool arithmetic_compare(const struct arithmetic *a, const machine_peak *p, int attempt)
{
	double ours[ROUNDS], hand[ROUNDS];
	uint64_t n = 1000, begin = os_now_ns();

	a->hand(n);
	n = (uint64_t)(1 + (double)n * ROUND_NS / ns_since(begin));
	for (int i = -2; i < (int)bench_rounds(ROUNDS); i++) {
		const int k = i < 0 ? 0 : i;
		begin = os_now_ns();
		p->run(n);
		ours[k] = (double)n * p->operations / ns_since(begin);
		begin = os_now_ns();
		a->hand(n);
		hand[k] = (double)n * a->operations / ns_since(begin);
		if (a->type == MACHINE_FP32 && i >= 0)
			best_hand_fp32 = fmax(best_hand_fp32, hand[k]);
	}
	return judge(a->name, "", ours, hand, MOST, attempt);
}

/* Returns the fastest loop of its kind for this level, as deepclock machine does, with the
 * instruction set of the handwritten loop. */
static const machine_stream *choose(const struct memory *m, unsigned char *a, unsigned char *b,
				    unsigned char *c, size_t bytes, uint64_t n)
{
	size_t nstreams;
	const machine_stream *all = machine_streams(&nstreams), *best = NULL;
	double least = INFINITY;

	for (size_t k = 0; k < 10 * nstreams; k++) {
		const machine_stream *s = &all[k % nstreams];
		if (s->kind != m->kind || s->needs != m->needs)
			continue;
		uint64_t begin = os_now_ns();
		s->run(a, b, c, bytes, n);
		const double took = ns_since(begin);
		if (took < least) {
			least = took;
			best = s;
		}
	}
	return best;
}

static bool memory_compare(const struct memory *m, const char *level, unsigned char *at, size_t set,
			   int attempt)
{
	const unsigned arrays = machine_stream_arrays[m->kind];
	const size_t bytes = set / arrays / MACHINE_STREAM_BLOCK * MACHINE_STREAM_BLOCK;
	const size_t next = (bytes + 4095) / 4096 * 4096 + 1344;
	unsigned char *b = at + next, *c = b + next;
	double ours[ROUNDS], hand[ROUNDS];
	uint64_t n = 1, begin;

	if (set < (size_t)32 << 20) {
		m->hand(at, b, c, bytes, n = 20);
		begin = os_now_ns();
		m->hand(at, b, c, bytes, n);
		n = (uint64_t)(1 + (double)n * ROUND_NS / ns_since(begin));
	}
	const double work = (double)n * arrays * (double)bytes;
	const machine_stream *s = choose(m, at, b, c, bytes, n);
	for (int i = -2; i < (int)bench_rounds(ROUNDS); i++) {
		const int k = i < 0 ? 0 : i;
		begin = os_now_ns();
		s->run(at, b, c, bytes, n);
		ours[k] = work / ns_since(begin);
		begin = os_now_ns();
		m->hand(at, b, c, bytes, n);
		hand[k] = work / ns_since(begin);
	}
	/* A plain loop may be faster than one with a prefetch. */
	return judge(m->name, level, ours, hand, INFINITY, attempt);
}

static void blas_show(const machine_topology *t, uint32_t isa)
{
	static machine_result r;
	const machine_run_config ask = {.topology = t, .isa = isa, .threads = 1};

	machine_blas(&ask, &r);
	const double sgemm = machine_best(machine_find(&r, "blas/sgemm/1")) / 1e9;
	const double share = sgemm / best_hand_fp32;
	bench_row_put(&(bench_row){.work = "sgemm of the BLAS library",
				   .unit = "times the FP32 peak by hand",
				   .absent = isnan(sgemm) ? "apt-get install libopenblas0" : NULL,
				   .most = 1},
		      &share, 1);
}

int main(void)
{
	static machine_topology t;
	const uint32_t isa = machine_isa_find();
	const char *why;
	size_t npeaks;
	const machine_peak *peaks = machine_peaks(&npeaks);
	cpu_set_t one;

	machine_topology_find(&t);
	CPU_ZERO(&one);
	CPU_SET(t.cpu[0], &one);
	(void)sched_setaffinity(0, sizeof one, &one);
	for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
		for (size_t k = 0; k < npeaks; k++)
			if (machine_isa_has(isa, arithmetic[i].needs) &&
			    peaks[k].type == arithmetic[i].type &&
			    strcmp(peaks[k].isa, arithmetic[i].isa) == 0)
				for (int n = 1; !arithmetic_compare(&arithmetic[i], &peaks[k], n);)
					n++;
	for (int level = 0; level < MACHINE_LEVELS; level++) {
		size_t set = machine_level_bytes(&t, (machine_level)level, 1, true, &why);
		unsigned char *at = set > 0 ? os_pages_alloc(set + 65536) : NULL;
		for (size_t i = 0; at && i < sizeof memory / sizeof *memory; i++)
			if (machine_isa_has(isa, memory[i].needs) && level >= (int)memory[i].from)
				for (int n = 1; !memory_compare(
					 &memory[i], machine_level_names[level], at, set, n);)
					n++;
		os_pages_free(at, set + 65536);
	}
	blas_show(&t, isa);
	return bench_status();
}

#else
int main(void)
{
	printf("skipped: there are no loops by hand for this processor\n");
	return 77;
}
#endif
