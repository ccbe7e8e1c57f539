/* hooks.h - hooks: programs run outside the timed region, once before (--setup), before each run
 * (--prepare), once after (--cleanup).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_HOOKS_H
#define SUBJECT_HOOKS_H

#include "deepclock/bench.h"
#include "record/build.h"

/* Checks n subjects and runs their setups in order. ret[n]: copies of the subjects without setup
 * and cleanup, which are done only here. If a setup fails, the subjects before it are cleaned up.
 */
dck_status subject_hooks_begin(const dck_subject *const *all, size_t n, const dck_observer *watch,
			       dck_subject *ret, dck_err *err);
/* Runs the cleanups of the same subjects, also after a failure or an interruption. All are run;
 * *ret_why is the last failure, with code DCK_OK if none failed. */
void subject_hooks_end(const dck_subject *const *all, size_t n, dck_err *ret_why);
/* Adds that failure as a note; the results stay valid. */
void subject_hooks_note(record_builder *b, const dck_err *why);

/* Adds the hooks of a program to the record. */
void subject_hooks_facts(record_builder *b, const dck_subject *s);

/* --prepare, parsed so that it can be run repeatedly. */
typedef struct subject_hook subject_hook;
dck_status subject_hook_new(const char *name, const char *line, const dck_command_config *c,
			    subject_hook **ret, dck_err *err);
dck_status subject_hook_run(subject_hook *h, const dck_observer *watch, dck_err *err);
void subject_hook_free(subject_hook *h); /* NULL is allowed */

/* Splits a line into words like 'cmd:' (subject.c); the caller owns *ret, one block: mem_free(). */
dck_status subject_words(const char *line, char ***ret, dck_err *err);

#endif
