/* rebatch_check.h - opens a subject; a model that has to be rebatched is first compared with the
 * original.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_REBATCH_CHECK_H
#define VERIFY_REBATCH_CHECK_H

#include "measure/subject/target.h"

/* Calls subject_target_open(). Before that, a rebatched model runs once, and the original runs item
 * by item on the same inputs; both are closed again. s->model.skip_batch_check omits this. E_ARG
 * also: the outputs differ. */
dck_status verify_open(subject_target *t, const dck_subject *s, const dck_clock *clock,
		       const dck_observer *watch, void (*phase)(void *self, const char *name),
		       void *phase_self, dck_err *err);

/* Opens a target to compare its outputs, untimed. watch may be NULL. On failure *ret is released.
 */
dck_status verify_open_untimed(subject_target *ret, const dck_subject *s, const dck_observer *watch,
			       dck_err *err);
/* Opens a target, untimed, for inputs of the caller: open dimensions must be given. */
dck_status verify_open_given(subject_target *ret, const dck_subject *s, const dck_observer *watch,
			     dck_err *err);

#endif
