/* vary.c - one subject in several settings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "engine/engine.h"
#include "study/compare/keyed_values.h"
#include "deepclock/compare.h"
#include "os/os.h"
#include <stdio.h>
#include <string.h>

/* An alternative with all that it points to. */
typedef struct variant {
	dck_subject subject;
	char name[160];
	char values[1024]; /* texts that its options borrow */
	size_t used;
} variant;

typedef struct variants {
	dck_alternative all[DCK_ALTERNATIVES_MAX];
	variant of[DCK_ALTERNATIVES_MAX];
	size_t n;
} variants;

static dck_status variants_new(const dck_subject *base, size_t n, variants **ret, dck_err *err)
{
	variants *v = NULL;

	if (n < 2 || n > DCK_ALTERNATIVES_MAX)
		DCK_FAIL(err, E_ARG, "%zu alternative%s: give at least 2 and at most %d", n,
			 n == 1 ? " is nothing to compare" : "s", DCK_ALTERNATIVES_MAX);
	v = mem_zalloc(1, sizeof *v);
	DCK_NEED(v, err, "for %zu alternatives", n);
	v->n = n;
	for (size_t i = 0; i < n; i++) {
		v->of[i].subject = *base;
		v->all[i] = (dck_alternative){v->of[i].name, &v->of[i].subject};
	}
	*ret = v;
	return DCK_OK;
}

static dck_status variant_set(variant *v, const char *key, const char *value, dck_err *err)
{
	char *own = v->values + v->used;
	const size_t bytes = strlen(value) + 1;

	if (bytes > sizeof v->values - v->used)
		DCK_FAIL(err, E_ARG, "--vary %s: the values are too long", key);
	memcpy(own, value, bytes);
	v->used += bytes;
	if (dck_opt_set(dck_model_options, &v->subject.model, key, own, err) == DCK_OK)
		return DCK_OK;
	/* A name that is in no table is a mistyped argument. */
	if (err)
		err->code = DCK_E_ARG;
	return err_while(err, DCK_E_ARG, "reading --vary");
}

/* Makes all combinations of one value from each of n lists; the last list varies fastest. */
static dck_status vary_combine(variants *v, const keyed_values *lists, size_t n, dck_err *err)
{
	for (size_t i = 0; i < v->n; i++) {
		variant *one = &v->of[i];
		size_t rest = v->n;

		for (size_t k = 0; k < n; k++) {
			const char *key = lists[k].key, *value;

			rest /= lists[k].n;
			value = lists[k].value[i / rest % lists[k].n];
			DCK_TRY(variant_set(one, key, value, err));
			if (!text_add(one->name, sizeof one->name, "%s%s=%s", k > 0 ? " " : "", key,
				      value))
				DCK_FAIL(err, E_ARG, "--vary %s: the values are too long", key);
		}
	}
	return DCK_OK;
}

dck_status dck_alternatives_vary(const dck_subject *base, const dck_list *vary,
				 dck_alternative **ret, size_t *ret_n, dck_err *err)
{
	keyed_values lists[DCK_LIST_MAX] = {{0}};
	size_t all = 1;
	variants *v = NULL;
	dck_status status = DCK_OK;

	for (size_t k = 0; k < vary->n; k++) {
		status = keyed_values_read("--vary", "OPTION=VALUE,VALUE", vary->item[k], &lists[k],
					   err);
		if (status != DCK_OK)
			goto done;
		if (all <= DCK_ALTERNATIVES_MAX)
			all *= lists[k].n;
	}
	status = variants_new(base, all, &v, err);
	if (status != DCK_OK)
		goto done;
	status = vary_combine(v, lists, vary->n, err);
	if (status != DCK_OK) {
		mem_free(v);
		goto done;
	}
	*ret = v->all;
	*ret_n = v->n;
done:
	for (size_t k = 0; k < vary->n; k++)
		keyed_values_done(&lists[k]);
	return status;
}

dck_status dck_alternatives_modes(const dck_subject *base, dck_alternative **ret, size_t *ret_n,
				  dck_err *err)
{
	static const struct {
		const char *name, *opt;
		bool parallel;
	} modes[] = {{"eager", "none", false},
		     {"fused", "extended", false},
		     {"optimised", "all", false},
		     {"parallel", "all", true}};
	const size_t n = sizeof modes / sizeof modes[0];
	variants *v = NULL;

	DCK_TRY(variants_new(base, n, &v, err));
	/* The cores are those of the pinned processes. */
	const bool pinned = base->model.cpus && os_pin_cpus(base->model.cpus, NULL) == DCK_OK;
	const uint64_t cores = engine_threads_default();

	if (pinned)
		os_unpin_cpus();
	for (size_t i = 0; i < n; i++) {
		dck_model_config *m = &v->of[i].subject.model;

		snprintf(v->of[i].name, sizeof v->of[i].name, "%s", modes[i].name);
		(void)dck_opt_set(dck_model_options, m, "opt", modes[i].opt, NULL);
		if (modes[i].parallel)
			m->interop_threads = cores > 1 ? cores : 2;
	}
	*ret = v->all;
	*ret_n = v->n;
	return DCK_OK;
}
