/* machine.h - limits of this machine: peak arithmetic, memory bandwidth, overheads; and the
 * roofline model.
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
	bool refresh;	      /* measure even if a result is cached */
	bool quick;	      /* takes a second or two; the result is not cached */
	uint64_t threads;     /* threads of "all"; 0: one per core of this process's affinity */
	bool cached_only;     /* do not measure: a cached result or E_ABSENT */
	bool keep;	      /* cache the result of a busy machine too */
	const char *title;    /* the record's `command`; NULL: none */
	const char *device;   /* "opencl", "opencl:1", "gpu"; NULL: the processor */
} dck_machine_config;
DCK_API extern const dck_opt dck_machine_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_machine_init_sized(dck_machine_config *c, uint32_t struct_size);
static inline void dck_machine_init(dck_machine_config *c)
{
	dck_machine_init_sized(c, (uint32_t)sizeof *c);
}

/* Returns a record of this machine: the cached one ($XDG_CACHE_HOME or ~/.cache,
 * /deepclock/machine-KEY.json, where KEY encodes processor, caches, affinity and number of
 * threads), or measures a new one in less than ten seconds. Metrics: peak/TYPE/1 and /all,
 * peak/TYPE/ISA/1 and /all, peak_share/TYPE/1 and /all, bandwidth/LEVEL_KIND/1 and /all,
 * overhead/..., blas/... (docs/commands/machine.md). Fact machine/measured: the time. The result of
 * a busy machine is cached only with `keep`: other processes used a tenth of the cores, half of the
 * passes were skipped, or a peak is at most 0.8 of its theoretical value. *ret is owned:
 * dck_record_free(). c NULL: the defaults; watch NULL: silent. If it is cancelled after the first
 * result, the call succeeds, the record is marked incomplete and has the note "interrupted".
 *
 * With `device` the limits of that device are measured, each time, and never cached. Metrics:
 * device/peak/TYPE, device/memory/KIND, device/transfer/..., device/kernel/..., device/mark/...
 *
 * Errors: E_ABSENT (no such device), E_DEVICE (it failed), E_ABSENT (cached_only without a cached
 * result), E_ARG (more threads than processors), E_CANCEL, E_LIMIT (no threads), E_NOMEM. @since
 * 0.1 */
DCK_API dck_status dck_machine(const dck_machine_config *c, const dck_observer *watch,
			       dck_record **ret, dck_err *err) DCK_MUST_USE;

/* --- roofline: the attainable performance of an operator
 *
 *     dck_roofline_read(machine, false, &limits);
 *     dck_roof_get(&limits, "float32", flops, bytes, &roof);
 *     // roof.bound "memory": it cannot take less than roof.least_ns
 *
 * Williams, Waterman, Patterson: Roofline, Communications of the ACM 52 (2009): an operator takes
 * at least the time of its FLOPs at the peak of its type, and of its bytes at the bandwidth of the
 * smallest memory that holds all of them. Unknown values are NaN, and so is every value derived
 * from them. */

enum { DCK_ROOF_TYPES = 5, DCK_ROOF_LEVELS = 4 };

/* The limits of a machine. */
typedef struct dck_roofline {
	double peak[DCK_ROOF_TYPES];	   /* FLOP/s: fp64, fp32, fp16, bf16, int8 (operations) */
	double bandwidth[DCK_ROOF_LEVELS]; /* B/s: L1, L2, L3, DRAM */
	double capacity[DCK_ROOF_LEVELS];  /* total bytes of the caches in use; DRAM: infinite */
	bool device; /* of a device, of which a type without a peak has no roof */
} dck_roofline;

typedef struct dck_roof {
	double peak, bandwidth; /* FLOP/s of this type, B/s of this level */
	double least_ns;	/* lower bound of the time, ns */
	double attainable;	/* FLOP/s in that time; NaN also without FLOPs */
	const char *bound;	/* the limit: "compute", "memory"; NULL: unknown, or none */
	const char *level;	/* "L1", "L2", "L3", "DRAM"; NULL: unknown */
} dck_roof;

/* Reads the limits from a record of dck_machine(), for one thread or all. The bandwidth of a level
 * is the highest of reading, copying and the triad. Of a device the memory is the only level, under
 * the name DRAM, and a peak is that of its vector units or its units for matrices, whichever is
 * higher. @since 0.1 */
DCK_API void dck_roofline_read(const dck_record *machine, bool one_thread, dck_roofline *ret);

/* Computes the roof of an operator with this number of FLOPs (NaN: unknown) and bytes moved, on
 * elements of dtype: "float32", "int8". On the processor a type without a peak, because there are
 * no instructions for it or it was not measured, has the peak of single precision, to which engines
 * convert; NULL: the same. On a device it has none, and the roof is unknown. Without FLOPs (0) the
 * bytes alone count. A level without a bandwidth is skipped for the next, slower one. @since 0.1 */
DCK_API void dck_roof_get(const dck_roofline *limits, const char *dtype, double flops, double bytes,
			  dck_roof *ret);

#ifdef __cplusplus
}
#endif
#endif
