/* pitfalls.h - measures the bias of classic benchmarking mistakes on the caller's model and
 * machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PITFALLS_H
#define DCK_PITFALLS_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Options: dck_pitfalls_options. */
typedef struct dck_pitfalls_config {
	uint32_t struct_size;	/* set by dck_pitfalls_config_init() */
	uint64_t time_ns;	/* approximate time per mistake */
	double margin;		/* largest harmless bias, as a share */
	double level;		/* of every interval */
	const char *only;	/* comma-separated keys; NULL: all */
	const char *skip;	/* the same; NULL: none */
	const dck_clock *clock; /* NULL: the best of this machine */
	/* The deepclock program, for starts in fresh processes. NULL: fresh sessions of this
	 * process, which hide effects of the first session's warm-up. */
	const char *program;
	const char *title; /* the record's `command`; NULL: none */
} dck_pitfalls_config;
DCK_API extern const dck_opt dck_pitfalls_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_pitfalls_config_init_sized(dck_pitfalls_config *c, uint32_t struct_size);
static inline void dck_pitfalls_config_init(dck_pitfalls_config *c)
{
	dck_pitfalls_config_init_sized(c, (uint32_t)sizeof *c);
}

/* A mistake. All strings are static. */
typedef struct dck_pitfall {
	const char *key; /* "no-warmup": for scripts, never renamed */
	const char *what, *why, *remedy;
} dck_pitfall;

/* Returns the i-th mistake in the order of measurement; NULL past the end. @since 0.1 */
DCK_API const dck_pitfall *dck_pitfall_get(size_t i);

/* Measures s as dck_bench() does, then makes each mistake deliberately, interleaved with reference
 * measurements. The record is that of dck_bench() with the table pitfalls/mistakes, a metric
 * pitfalls/KEY for each measured mistake (the reported over the reference number) and
 * pitfalls/resolution; facts pitfalls/KEY describe the method. *ret is owned: dck_record_free(). c
 * NULL: the defaults; watch NULL: silent. A mistake that cannot be made on this subject is a row
 * without a number, with the reason. On Ctrl-C the record is incomplete and holds the rows until
 * then. Errors: those of dck_bench(); E_ARG: an unknown key, or none left. @since 0.1 */
DCK_API dck_status dck_pitfalls(const dck_subject *s, const dck_pitfalls_config *c,
				const dck_observer *watch, dck_record **ret,
				dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
