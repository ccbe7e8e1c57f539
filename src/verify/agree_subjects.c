/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/agree.h"
#include "base/err.h"
#include "base/observer.h"
#include "verify/freed_check.h"

dck_status agree_subjects(const dck_subject *a, const dck_subject *b, const agree_limits *limits,
			  const dck_observer *watch, agree *ret, dck_err *err)
{
	subject_target ta, tb;
	dck_status status;

	DCK_TRY(verify_open_untimed(&ta, a, watch, err));
	status = verify_open_untimed(&tb, b, watch, err);
	if (status == DCK_OK) {
		observer_phase((void *)(uintptr_t)watch, "outputs");
		status = agree_targets(&ta, &tb, limits, watch, ret, err);
		subject_target_close(&tb);
	}
	subject_target_close(&ta);
	return status;
}
