/* hooks.h - programs that are run around those that are measured, outside the clock: once before
 * (--setup), before each run (--prepare), once after (--cleanup).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_HOOKS_H
#define SUBJECT_HOOKS_H

#include "deepclock/bench.h"
#include "record/build.h"

/* Checks, and runs the setups of n subjects in their order. ret[n]: copies of the subjects whose
 * setup and cleanup are done here and not again by the code that measures them. When a setup fails,
 * what was set up before it is cleaned up. */
dck_status subject_hooks_begin(const dck_subject *const *all, size_t n, const dck_observer *watch,
			       dck_subject *ret, dck_err *err);
/* The cleanups of the same subjects, after a failure or an interruption too. All are run; *ret_why
 * is the last failure, its code DCK_OK when there is none. */
void subject_hooks_end(const dck_subject *const *all, size_t n, dck_err *ret_why);
/* That failure as a note: what was measured before it stands. */
void subject_hooks_note(record_builder *b, const dck_err *why);

/* What was asked of a program, for the record. */
void subject_hooks_facts(record_builder *b, const dck_subject *s);

/* --prepare, ready to be run again and again. */
typedef struct subject_hook subject_hook;
dck_status subject_hook_new(const char *name, const char *line, const dck_command_config *c,
			    subject_hook **ret, dck_err *err);
dck_status subject_hook_run(subject_hook *h, const dck_observer *watch, dck_err *err);
void subject_hook_free(subject_hook *h); /* NULL is allowed */

/* subject.c: a line cut into words as 'cmd:' is; one block, mem_free(). */
dck_status subject_words(const char *line, char ***ret, dck_err *err);

#endif
