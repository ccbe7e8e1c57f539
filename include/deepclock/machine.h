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

/* Rows: dck_machine_options. Fill it with dck_machine_init(); it may grow until 1.0. */
typedef struct dck_machine_config {
	bool refresh;	   /* measure, also when there is a kept result */
	bool quick;	   /* a second or two; such a result is not kept */
	uint64_t threads;  /* of "all"; 0: one for each core this process may use */
	bool cached_only;  /* no measurement: a kept result or E_ABSENT */
	const char *title; /* the record's `command`; NULL: none */
} dck_machine_config;
DCK_API extern const dck_opt dck_machine_options[];

DCK_API void dck_machine_init(dck_machine_config *c); /* @since 0.1 */

/* A record of this machine: the one that was kept ($XDG_CACHE_HOME or ~/.cache,
 * /deepclock/machine-KEY.json, where KEY stands for processor, caches, allowed processors and
 * number of threads), or else, in less than ten seconds, a new one. Metrics: peak/TYPE/1 and /all,
 * peak/TYPE/ISA/1 and /all, bandwidth/LEVEL_KIND/1 and /all, overhead/..., blas/...
 * (docs/commands/machine.md). Fact machine/measured: when. *ret is owned: dck_record_free(). c
 * NULL: the defaults; watch NULL: silent. When it is cancelled after something was measured the
 * call succeeds, the record is marked incomplete and has the note "interrupted". Errors: E_ABSENT
 * (cached_only, and nothing is kept), E_ARG (more threads than processors), E_CANCEL, E_LIMIT (no
 * threads to be had), E_NOMEM. @since 0.1 */
DCK_API dck_status dck_machine(const dck_machine_config *c, const dck_observer *watch,
			       dck_record **ret, dck_err *err) DCK_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
