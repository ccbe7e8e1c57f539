/* rebatch_check.h - a subject opened, and when its model had to be rebatched for it, compared
 * with the original first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_REBATCH_CHECK_H
#define VERIFY_REBATCH_CHECK_H

#include "measure/subject/target.h"

/* subject_target_open(). A model that was rebatched runs once before anything is timed, and the
 * file as it is item by item on the same inputs; neither stays open. s->model.skip_batch_check: not
 * so. E_ARG besides: the outputs differ. */
dck_status verify_open(subject_target *t, const dck_subject *s, const dck_clock *clock,
		       const dck_observer *watch, void (*phase)(void *self, const char *name),
		       void *phase_self, dck_err *err);

/* Opens a target of which outputs are compared: nothing is timed. watch may be NULL. On failure
 * *ret is released. */
dck_status verify_open_untimed(subject_target *ret, const dck_subject *s, const dck_observer *watch,
			       dck_err *err);
/* The same for inputs that the caller brings: what the model leaves open must be given. */
dck_status verify_open_given(subject_target *ret, const dck_subject *s, const dck_observer *watch,
			     dck_err *err);

#endif
