/* machine.h - what this machine could do at best: peak arithmetic, bandwidth, overheads.
 *
 *     dck_machine_config c;  dck_record *r;  dck_err err;
 *     dck_machine_init(&c);
 *     if (dck_machine(&c, NULL, &r, &err) == DCK_OK)
 *             printf("%g\n", dck_record_value(r, "peak/fp32/all"));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_MACHINE_H
#define DCK_MACHINE_H

#include "bench.h"
#include "opt.h"
#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options: dck_machine_options. Fill it with dck_machine_init(). */
typedef struct dck_machine_config {
	uint32_t struct_size; /* set by dck_machine_init() */
	bool refresh;	      /* measure, also when there is a kept result */
	bool quick;	      /* a second or two; such a result is not kept */
	uint64_t threads;     /* of "all"; 0: one for each core this process may use */
	bool cached_only;     /* no measurement: a kept result or E_ABSENT */
	bool keep;	      /* keep the result of a busy machine as well */
	const char *title;    /* the record's `command`; NULL: none */
} dck_machine_config;
DCK_API extern const dck_opt dck_machine_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_machine_init_sized(dck_machine_config *c, uint32_t struct_size);
static inline void dck_machine_init(dck_machine_config *c)
{
	dck_machine_init_sized(c, (uint32_t)sizeof *c);
}

/* A record of this machine: the one that was kept ($XDG_CACHE_HOME or ~/.cache,
 * /deepclock/machine-KEY.json, where KEY stands for processor, caches, allowed processors and
 * number of threads), or else, in less than ten seconds, a new one. Metrics: peak/TYPE/1 and /all,
 * peak/TYPE/ISA/1 and /all, peak_share/TYPE/1 and /all, bandwidth/LEVEL_KIND/1 and /all,
 * overhead/..., blas/... (docs/commands/machine.md). Fact machine/measured: when. A result of a
 * busy machine is kept with `keep` only: others had a tenth of the cores, half of the passes were
 * not made, or a peak is no more than 0.8 of what it could be. *ret is owned: dck_record_free(). c
 * NULL: the defaults; watch NULL: silent. When it is cancelled after something was measured the
 * call succeeds, the record is marked incomplete and has the note "interrupted". Errors: E_ABSENT
 * (cached_only, and nothing is kept), E_ARG (more threads than processors), E_CANCEL, E_LIMIT (no
 * threads to be had), E_NOMEM. @since 0.1 */
DCK_API dck_status dck_machine(const dck_machine_config *c, const dck_observer *watch,
			       dck_record **ret, dck_err *err) DCK_MUST_USE;

/* --- how fast an operator could be on a machine
 *
 *     dck_roofline_read(machine, false, &limits);
 *     dck_roof_get(&limits, "float32", flops, bytes, &roof);
 *     // roof.bound "memory": it cannot take less than roof.least_ns
 *
 * Williams, Waterman, Patterson: Roofline, Communications of the ACM 52 (2009): it takes no less
 * than its FLOPs at the peak of its type, and than its bytes at the bandwidth of the smallest
 * memory that holds all of them. What is not known is NaN, and so is everything that follows from
 * it. */

enum { DCK_ROOF_TYPES = 5, DCK_ROOF_LEVELS = 4 };

/* The limits of a machine. */
typedef struct dck_roofline {
	double peak[DCK_ROOF_TYPES];	   /* FLOP/s: fp64, fp32, fp16, bf16, int8 */
	double bandwidth[DCK_ROOF_LEVELS]; /* B/s: L1, L2, L3, DRAM */
	double capacity[DCK_ROOF_LEVELS];  /* bytes of all that the threads use; DRAM: infinite */
} dck_roofline;

typedef struct dck_roof {
	double peak, bandwidth; /* FLOP/s, B/s: of this type, of this level */
	double least_ns;	/* the time that both allow */
	double attainable;	/* FLOP/s in that time; NaN too where nothing is computed */
	const char *bound;	/* what takes that time: "compute", "memory"; NULL: not known */
	const char *level;	/* "L1", "L2", "L3", "DRAM"; NULL: not known */
} dck_roof;

/* The limits in a record of dck_machine(), of one thread or of all. The bandwidth of a level is the
 * highest of reading, copying and the triad. @since 0.1 */
DCK_API void dck_roofline_read(const dck_record *machine, bool one_thread, dck_roofline *ret);

/* An operator that makes so many FLOPs (NaN: not known) and moves so many bytes, on elements of
 * dtype: "float32", "int8". A type without a peak of its own, be it that the processor has no
 * instructions for it or that it was not measured, has that of single precision, to which engines
 * convert; NULL: the same. A level without a bandwidth is passed over for the next, which is
 * slower.
 * @since 0.1 */
DCK_API void dck_roof_get(const dck_roofline *limits, const char *dtype, double flops, double bytes,
			  dck_roof *ret);

#ifdef __cplusplus
}
#endif
#endif
