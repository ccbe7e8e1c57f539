/* output_compare_check.c - compares the outputs of two subjects, and of the measured subject with
 * an unoptimised single-threaded run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/commas.h"
#include "base/err.h"
#include "base/observer.h"
#include "measure/verify/output_compare.h"
#include "measure/verify/rebatch_check.h"
#include <stdio.h>
#include <string.h>

dck_status compared_can_check(const dck_subject *s, dck_err *err)
{
	if (s->kind == DCK_SUBJECT_MODEL || s->kind == DCK_SUBJECT_PLUGIN)
		return DCK_OK;
	DCK_FAIL(err, E_ARG, "--check-outputs is for models; a %s has no outputs to compare",
		 s->kind == DCK_SUBJECT_COMMAND ? "command" : "function");
}

dck_status compared_subjects(const dck_subject *a, const dck_subject *b,
			     const compared_limits *limits, const dck_observer *watch,
			     compared *ret, dck_err *err)
{
	subject_target ta, tb;
	dck_status status;

	DCK_TRY(verify_open_untimed(&ta, a, watch, err));
	status = verify_open_untimed(&tb, b, watch, err);
	if (status == DCK_OK) {
		observer_phase((void *)(uintptr_t)watch, "outputs");
		status = compared_targets(&ta, &tb, limits, watch, ret, err);
		subject_target_close(&tb);
	}
	subject_target_close(&ta);
	return status;
}

/* Removes options by which the engine would compute on another device, with more threads or in
 * fewer bits, or which the members of the reference contradict. */
static void options_plain(dck_list *options)
{
	static const char dropped[] =
	    "threads,interop_threads,parallel,opt,provider,provider_library,denormals,"
	    "session.set_denormal_as_zero,session.disable_cpu_ep_fallback,execution_mode_hint,"
	    "inference_precision_hint,kv_cache_precision,dynamic_quantization_group_size,cpu_denormals_optimization";
	const dck_list all = *options;

	options->n = 0;
	for (size_t i = 0; i < all.n; i++) {
		const char *text = all.item[i];
		const dck_engine *of = subject_engine_named(text);
		char key[80];

		/* "ENGINE:KEY=VALUE" */
		text += of ? strlen(of->name) + 1 : 0;
		snprintf(key, sizeof key, "%.*s", (int)strcspn(text, "="), text);
		if (!commas_have(dropped, key))
			options->item[options->n++] = all.item[i];
	}
}

/* ret_plain: the engine can run without its optimisations. */
static dck_status check_check(const dck_subject *s, subject_target *measured,
			      const dck_observer *watch, compared *ret, bool *ret_plain,
			      dck_err *err)
{
	/* The same model and engine without optimisations, on one thread of the processor. */
	dck_subject plain = *s;
	subject_target reference;
	dck_status status;

	*ret_plain = false;
	if (s->kind == DCK_SUBJECT_MODEL) {
		plain.model.threads = engine_has(s->model.engine, "threads") ? 1 : 0;
		*ret_plain = engine_has(s->model.engine, "opt");
	}
	plain.model.interop_threads = 0;
	plain.model.skip_batch_check = true;
	if (*ret_plain)
		plain.model.opt = 0;
	plain.model.device = "cpu";
	plain.model.cpus = NULL; /* pinned already */
	options_plain(&plain.model.engine_option);
	if (!measured)
		return compared_subjects(&plain, s, NULL, watch, ret, err);
	DCK_TRY(verify_open_untimed(&reference, &plain, watch, err));
	status = compared_targets(&reference, measured, NULL, watch, ret, err);
	subject_target_close(&reference);
	return status;
}

void output_compare_check(record_builder *b, const dck_subject *s, subject_target *measured,
			  const dck_observer *watch)
{
	dck_err why = {0};
	bool plain = false;
	compared x;

	if (check_check(s, measured, watch, &x, &plain, &why) != DCK_OK) {
		record_fact_absent(b, "difference", "verdict", why.msg);
		record_note(b, "outputs-not-compared",
			    "the outputs could not be compared with the reference: %s", why.msg);
		return;
	}
	record_fact_text(b, "difference", "reference",
			 plain ? "the same engine on the processor, one thread, no optimisations"
			       : "the same engine on the processor, one thread; its optimisations "
				 "cannot be switched off");
	compared_record(b, &x, 1);
	compared_done(&x);
}
