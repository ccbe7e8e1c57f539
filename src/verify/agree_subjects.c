/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/agree.h"
#include "base/err.h"
#include "base/observer.h"
#include "os/os.h"
#include "verify/freed_check.h"

dck_status agree_open(subject_target *ret, const dck_subject *s, const dck_observer *watch,
		      dck_err *err)
{
	dck_clock clock;

	os_clock_monotonic(&clock);
	*ret = (subject_target){.log = watch ? watch->log : NULL,
				.log_self = watch ? watch->self : NULL};
	return verify_open(ret, s, &clock, watch, observer_phase, (void *)(uintptr_t)watch, err);
}

dck_status agree_subjects(const dck_subject *a, const dck_subject *b, const agree_limits *limits,
			  const dck_observer *watch, agree *ret, dck_err *err)
{
	subject_target ta, tb;
	dck_status status;

	DCK_TRY(agree_open(&ta, a, watch, err));
	status = agree_open(&tb, b, watch, err);
	if (status == DCK_OK) {
		observer_phase((void *)(uintptr_t)watch, "outputs");
		status = agree_targets(&ta, &tb, limits, watch, ret, err);
		subject_target_close(&tb);
	}
	subject_target_close(&ta);
	return status;
}
