/* hooks.h - programs that are run around those that are measured, outside the clock: once before
 * (--setup), before each run (--prepare), once after (--cleanup).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_HOOKS_H
#define SUBJECT_HOOKS_H

#include "deepclock/bench.h"
#include "record/build.h"

/* Before anything runs: the subject is a program, and each line can be cut into words. */
dck_status bench_hooks_check(const dck_subject *s, dck_err *err);

/* Checks, and runs the setups of n subjects in their order. ret[n]: copies of the subjects whose
 * setup and cleanup are done here and not again by whoever measures them. When a setup fails, what
 * was set up before it is cleaned up. */
dck_status bench_hooks_begin(const dck_subject *const *all, size_t n, const dck_observer *watch,
			     dck_subject *ret, dck_err *err);
/* The cleanups of the same subjects, after a failure or an interruption too. All are run; *ret_why
 * is the last failure, its code DCK_OK when there is none. */
void bench_hooks_end(const dck_subject *const *all, size_t n, dck_err *ret_why);
/* That failure as a note: what was measured before it stands. */
void bench_hooks_note(record_builder *b, const dck_err *why);

/* What was asked of a program, for the record. */
void bench_hooks_facts(record_builder *b, const dck_subject *s);

/* --prepare, ready to be run again and again. */
typedef struct bench_hook bench_hook;
dck_status bench_hook_new(const char *name, const char *line, const dck_command_config *c,
			  bench_hook **ret, dck_err *err);
dck_status bench_hook_run(bench_hook *h, const dck_observer *watch, dck_err *err);
double bench_hook_cpu_ns(const bench_hook *h); /* of all its runs; h NULL: 0 */
void bench_hook_free(bench_hook *h);	       /* NULL is allowed */

/* subject.c: a line cut into words as 'cmd:' is; one block, mem_free(). */
dck_status bench_words(const char *line, char ***ret, dck_err *err);

#endif
