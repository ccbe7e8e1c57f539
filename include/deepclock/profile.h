/* profile.h - operator profile of a model: times, costs and roofline limits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PROFILE_H
#define DCK_PROFILE_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialise it with its _init function. Options: dck_profile_options. */
typedef struct dck_profile_config {
	uint32_t struct_size;  /* set by dck_profile_config_init() */
	uint64_t profile_runs; /* runs under the engine's profiler; 0: two seconds of runs */
	bool no_roofs;	       /* do not measure the machine's limits */
	bool no_memory;	       /* do not run a pass that counts allocations */
} dck_profile_config;
DCK_API extern const dck_opt dck_profile_options[];

/* Writes the defaults into the first argument, of struct_size bytes. @since 0.1 */
DCK_API void dck_profile_config_init_sized(dck_profile_config *c, uint32_t struct_size);
static inline void dck_profile_config_init(dck_profile_config *c)
{
	dck_profile_config_init_sized(c, (uint32_t)sizeof *c);
}

/* Measures the model of s as dck_bench() does; then, in separate sessions, the times of its
 * operators and its memory. A time under the profiler is not a latency: operators' times are scaled
 * to the latency (docs/reference/methods.md). The record is that of dck_bench() with ops, metrics
 * profile/... and memory/.... *ret is owned: dck_record_free(). plan, c NULL: the defaults. Errors:
 * those of dck_bench(); E_UNSUP: the engine has no profiler. If the latency is measured and the
 * operators cannot be, or on Ctrl-C, the record is incomplete and a note gives the reason.
 * @since 0.1 */
DCK_API dck_status dck_profile_model(const dck_subject *s, const dck_plan *plan,
				     const dck_profile_config *c, const dck_observer *watch,
				     dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
