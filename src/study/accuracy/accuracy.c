/* accuracy.c - dck_accuracy(): outputs of models compared element by element (allclose), or
 * predictions of classifiers compared with true labels.
 *
 * The options are checked before anything is opened. Without --labels, differences() keeps the
 * reference open and opens the others one at a time, so that at most two models are in memory. With
 * --labels, classifier() reads the labels, and then either files of predictions (saved_report()) or
 * it runs the models over labelled items (model_report(), accuracy_run.c). Both end in report(),
 * which numbers the classes (accuracy_classes.c) and writes the record (accuracy_record.c).
 *
 * Labels and predictions are in one arena until the record is made; the builder of the record is
 * dropped on failure. An interruption after the first comparison, or the first items, makes an
 * incomplete record of what there is, and is not an error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/accuracy.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/units.h"
#include "study/accuracy/accuracy_record.h"
#include "study/accuracy/accuracy_run.h"
#include "record/record_begin.h"
#include "record/host.h"
#include "measure/subject/subject_facts.h"
#include "os/os.h"
#include "measure/verify/rebatch_check.h"
#include <math.h>
#include <string.h>

const dck_opt dck_tolerance_options[] = {
    DCK_OPTION(TEXT, dck_accuracy_config, rtol, "rtol", "X", NULL,
	       "relative tolerance of outputs; default 1e-3 for float32, other types in the guide"),
    DCK_OPTION(TEXT, dck_accuracy_config, atol, "atol", "X", NULL,
	       "absolute tolerance; default --rtol times the root mean square of the reference"),
    {0},
};

const dck_opt dck_accuracy_options[] = {
    DCK_OPTION(TEXT, dck_accuracy_config, labels, "labels", "FILE", NULL,
	       "the true labels: .npy, or text with one on each line"),
    DCK_OPTION(LIST, dck_accuracy_config, predictions, "predictions", "[NAME=]FILE", NULL,
	       "predictions: the same, or .npy with a column of scores for each class; several "
	       "are compared",
	       .needs = "labels", .excludes = "inputs output"),
    DCK_OPTION(LIST, dck_accuracy_config, inputs, "inputs", "[NAME=]FILE.npy", NULL,
	       "labelled items for a model's input, along axis 0; --batch of them at a time",
	       .needs = "labels"),
    DCK_OPTION(TEXT, dck_accuracy_config, output, "output", "NAME", NULL,
	       "the output whose highest score is the prediction; default: the first",
	       .needs = "labels"),
    DCK_OPTION(COUNT, dck_accuracy_config, top_k, "top-k", "K", "1",
	       "also how often the label is among the K highest scores", .min = 1, .max = 1e6,
	       .needs = "labels"),
    DCK_OPTION(TEXT, dck_accuracy_config, target_names, "target-names", "A,B|@FILE", NULL,
	       "names of the classes, in the order of their labels", .needs = "labels"),
    DCK_OPTION(TEXT, dck_accuracy_config, label_list, "label-list", "A,B|@FILE", NULL,
	       "the labels to report, in that order; 0-9 means all of them", .needs = "labels"),
    DCK_OPTION(COUNT, dck_accuracy_config, digits, "digits", "N", "2", "decimals of the report",
	       .max = 17),
    {0},
};

void dck_accuracy_config_init_sized(dck_accuracy_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_tolerance_options, dck_accuracy_options);
}

typedef struct accuracy_job {
	const dck_alternative *all;
	size_t n;
	const dck_accuracy_config *config;
	const dck_observer *watch;
	compared_limits limits;
	record_builder *b;
	mem_arena *arena;
	label_names list, names;
	labels truth;
} accuracy_job;

/* --- the options */

static dck_status tolerance_read(const char *option, const char *text, double *ret, dck_err *err)
{
	*ret = NAN;
	if (!text)
		return DCK_OK;
	if (units_parse_real(text, ret, NULL) != DCK_OK || !(*ret >= 0) || !isfinite(*ret))
		DCK_FAIL(err, E_ARG, "--%s is '%s': give a number from 0 on, such as 1e-3", option,
			 text);
	return DCK_OK;
}

static dck_status asked_check(const accuracy_job *j, dck_err *err)
{
	const dck_accuracy_config *c = j->config;
	const char *needs = c->predictions.n > 0 ? "predictions"
			    : c->inputs.n > 0	 ? "inputs"
			    : c->target_names	 ? "target-names"
			    : c->label_list	 ? "label-list"
			    : c->top_k > 1	 ? "top-k"
			    : c->output		 ? "output"
						 : NULL;

	if (!c->labels && needs)
		DCK_FAIL(err, E_ARG, "--%s is for a classifier: give its --labels too", needs);
	if (!c->labels && j->n < 2)
		DCK_FAIL(err, E_ARG,
			 "give two models to compare, one with --vary, "
			 "or --labels with --predictions or with a model and --inputs");
	if (c->labels && c->predictions.n > 0 && j->n > 0)
		DCK_FAIL(err, E_ARG, "--predictions are given: a model is only run with --inputs");
	if (c->labels && c->predictions.n > 0 && (c->inputs.n > 0 || c->output))
		DCK_FAIL(err, E_ARG, "--%s is for a model that predicts; there are --predictions",
			 c->inputs.n > 0 ? "inputs" : "output");
	if (c->labels && (c->rtol || c->atol))
		DCK_FAIL(err, E_ARG,
			 "--%s is for outputs that are compared: a report on --labels has no "
			 "tolerance",
			 c->rtol ? "rtol" : "atol");
	if (c->labels && c->predictions.n == 0 && (j->n == 0 || c->inputs.n == 0))
		DCK_FAIL(err, E_ARG,
			 "--labels need predictions: --predictions FILE, or a model and --inputs "
			 "FILE.npy");
	return DCK_OK;
}

/* --- outputs */

static void accuracy_interrupted_note(const accuracy_job *j, size_t done)
{
	record_set_incomplete(j->b, true);
	record_note(j->b, "interrupted",
		    "interrupted after %zu of %zu comparisons: these are their outputs", done,
		    j->n - 1);
}

static dck_status accuracy_outputs_compare(accuracy_job *j, subject_target *reference,
					   compared *list, size_t *done, dck_err *err)
{
	for (size_t i = 1; i < j->n; i++) {
		subject_target t;
		dck_status status = verify_open_untimed(&t, j->all[i].subject, j->watch, err);

		if (status == DCK_OK) {
			status = compared_targets(reference, &t, &j->limits, j->watch, &list[i - 1],
						  err);
			subject_target_close(&t);
		}
		if (status == DCK_E_CANCEL && *done > 0) {
			accuracy_interrupted_note(j, *done);
			return DCK_OK;
		}
		if (status != DCK_OK)
			return j->n > 2 ? err_while(err, status, "comparing '%s'", j->all[i].name)
					: status;
		list[i - 1].label = j->all[i].name;
		++*done;
		if (list[i - 1].sets < list[i - 1].asked)
			break;
	}
	return DCK_OK;
}

static dck_status differences(accuracy_job *j, dck_err *err)
{
	compared list[DCK_ALTERNATIVES_MAX] = {0};
	subject_target reference;
	dck_status status;
	size_t done = 0;

	DCK_TRY(verify_open_untimed(&reference, j->all[0].subject, j->watch, err));
	subject_facts_of(j->b, j->all[0].subject, &reference);
	subject_facts_engine(j->b, &reference);
	record_fact_text(j->b, "difference", "reference", j->all[0].name);
	status = accuracy_outputs_compare(j, &reference, list, &done, err);
	subject_target_close(&reference);
	if (status == DCK_OK) {
		compared_record(j->b, list, done);
		compared_answer(j->b, list, done);
	}
	for (size_t i = 0; i < done; i++)
		compared_done(&list[i]);
	return status;
}

/* --- predictions */

static dck_status report(accuracy_job *j, labels *predictions, const char *const *names, size_t n,
			 dck_err *err)
{
	const label_names *list = j->config->label_list ? &j->list : NULL;
	const label_names *shown = j->config->target_names ? &j->names : NULL;
	classes c = {0};

	DCK_TRY(classes_make(j->arena, &j->truth, predictions, n, list, shown, &c, err));
	const accuracy_result r = {.classes = &c,
				   .truth = &j->truth,
				   .predictions = predictions,
				   .names = names,
				   .n = n,
				   .digits = j->config->digits,
				   .top_k = j->config->top_k};
	return accuracy_record(j->b, j->arena, &r, err);
}

static void header_note(const accuracy_job *j, const labels *l)
{
	if (l->header)
		record_note(j->b, "header-skipped",
			    "the first line of '%s', '%s', was treated as a header", l->from,
			    l->header);
}

/* If one side has texts and the other numbers, the names map each text to its number. */
static dck_status kinds_match(accuracy_job *j, labels *p, dck_err *err)
{
	if (p->text == j->truth.text || !j->config->target_names)
		return DCK_OK;
	return labels_number(j->arena, p->text ? p : &j->truth, &j->names, err);
}

/* The usual reason is a header mistaken for a label, or a label for a header. */
static dck_status sizes_differ(const accuracy_job *j, const labels *p, dck_err *err)
{
	const labels *t = &j->truth, *with = t->header ? t : p;

	if (with->header)
		DCK_FAIL(
		    err, E_ARG,
		    "'%s' has %zu labels and '%s' %zu predictions, not counting the first line of "
		    "'%s', '%.60s', which was treated as a header",
		    t->from, t->n, p->from, p->n, with->from, with->header);
	DCK_FAIL(err, E_ARG,
		 "'%s' has %zu labels and '%s' %zu predictions%s: they must be of the same items",
		 t->from, t->n, p->from, p->n,
		 t->n + 1 == p->n || p->n + 1 == t->n ? " (is one a header?)" : "");
}

/* Splits "NAME=FILE". A text that is the name of a file is not split at its '='. */
static dck_status prediction_name(const accuracy_job *j, const char *text, const char **ret_name,
				  const char **ret_file, dck_err *err)
{
	const char *equals = strchr(text, '=');

	*ret_name = *ret_file = text;
	if (!equals || equals == text || os_file_exists(text))
		return DCK_OK;
	*ret_name = mem_arena_fmt(j->arena, "%.*s", (int)(equals - text), text);
	DCK_NEED(*ret_name, err, "for the predictions");
	*ret_file = equals + 1;
	return DCK_OK;
}

static dck_status prediction_read(accuracy_job *j, const char *file, labels *p, dck_err *err)
{
	DCK_TRY(
	    labels_read(j->arena, file, &j->config->arrays, labels_limit(), true, NULL, p, err));
	if (p->n != j->truth.n)
		return sizes_differ(j, p, err);
	DCK_TRY(kinds_match(j, p, err));
	if (p->columns > 0 && j->config->top_k > 1 && !j->truth.text)
		DCK_TRY(labels_read(j->arena, file, &j->config->arrays, labels_limit(), true,
				    &j->truth, p, err));
	header_note(j, p);
	return DCK_OK;
}

static dck_status saved_report(accuracy_job *j, dck_err *err)
{
	const dck_list *list = &j->config->predictions;
	labels p[DCK_LIST_MAX] = {0};
	const char *names[DCK_LIST_MAX], *file = "";
	bool scores = false;

	for (size_t i = 0; i < list->n; i++) {
		DCK_TRY(prediction_name(j, list->item[i], &names[i], &file, err));
		DCK_TRY(prediction_read(j, file, &p[i], err));
		scores |= p[i].columns > 0;
		record_fact_text(j->b, "accuracy",
				 i == 0 ? "predictions"
					: mem_arena_fmt(j->arena, "predictions/%s", names[i]),
				 file);
	}
	for (size_t i = 0; i < list->n; i++) /* read before the labels became numbers */
		DCK_TRY(kinds_match(j, &p[i], err));
	if (!scores && j->config->top_k > 1)
		DCK_FAIL(err, E_ARG,
			 "--top-k is %llu, but '%s' has predicted classes and no scores to rank: "
			 "give .npy with a column of scores for each class",
			 (unsigned long long)j->config->top_k, file);
	return report(j, p, names, list->n, err);
}

static void accuracy_stopped_note(const accuracy_job *j, const accuracy_run *r)
{
	if (r->stopped == DCK_OK)
		return;
	record_set_incomplete(j->b, true);
	if (r->stopped == DCK_E_CANCEL)
		record_note(j->b, "interrupted",
			    "interrupted after %zu of %zu items: the report covers those", r->done,
			    j->truth.n);
	else
		record_note(j->b, "engine-failed",
			    "item %zu and those after it could not be predicted: %s; the report "
			    "covers the items before",
			    r->done + 1, r->why.msg);
}

static dck_status model_report(accuracy_job *j, dck_err *err)
{
	const char *names[DCK_ALTERNATIVES_MAX];
	accuracy_run r = {.all = j->all,
			  .n = j->n,
			  .config = j->config,
			  .limits = &j->limits,
			  .truth = &j->truth,
			  .watch = j->watch,
			  .arena = j->arena,
			  .b = j->b};

	if (j->truth.text && j->config->target_names)
		DCK_TRY(labels_number(j->arena, &j->truth, &j->names, err));
	if (j->truth.text)
		DCK_FAIL(err, E_ARG,
			 "'%s' holds texts, and models predict numbers: "
			 "name the classes in the order of the scores with --target-names A,B,C",
			 j->truth.from);
	DCK_TRY(accuracy_run_all(&r, err));
	accuracy_stopped_note(j, &r);
	j->truth.n = r.done;
	for (size_t i = 0; i < j->n; i++)
		names[i] = j->all[i].name;
	dck_status status = report(j, r.predictions, names, j->n, err);
	if (status == DCK_OK && j->n > 1)
		compared_record(j->b, r.scores, j->n - 1);
	for (size_t i = 0; i + 1 < j->n; i++)
		compared_done(&r.scores[i]);
	return status;
}

static dck_status classifier(accuracy_job *j, dck_err *err)
{
	const dck_accuracy_config *c = j->config;

	if (c->target_names)
		DCK_TRY(
		    label_names_read(j->arena, "target-names", c->target_names, &j->names, err));
	if (c->label_list)
		DCK_TRY(label_names_read(j->arena, "label-list", c->label_list, &j->list, err));
	DCK_TRY(labels_read(j->arena, c->labels, &c->arrays, labels_limit(), false, NULL, &j->truth,
			    err));
	header_note(j, &j->truth);
	record_fact_text(j->b, "accuracy", "labels", c->labels);
	return c->predictions.n > 0 ? saved_report(j, err) : model_report(j, err);
}

/* --- all of it */

static dck_status labels_job_run(accuracy_job *j, dck_err *err)
{
	os_host host;

	os_host_get(&host);
	record_host(j->b, &host);
	record_fact_options(j->b, "plan", dck_tolerance_options, j->config);
	if (j->config->labels)
		record_fact_options(j->b, "plan", dck_accuracy_options, j->config);
	if (j->n > 0)
		record_fact_options(j->b, "plan", dck_model_options, &j->all[0].subject->model);
	return j->config->labels ? classifier(j, err) : differences(j, err);
}

dck_status dck_accuracy(const dck_alternative *all, size_t n, const dck_accuracy_config *c,
			const dck_observer *watch, dck_record **ret, dck_err *err)
{
	dck_accuracy_config own;
	accuracy_job j = {.all = all, .n = n, .config = &own, .watch = watch};
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_accuracy_config_init, err, dck_tolerance_options,
			       dck_accuracy_options));
	c = &own;
	if (n > DCK_ALTERNATIVES_MAX)
		DCK_FAIL(err, E_ARG, "%zu subjects: at most %d are compared", n,
			 DCK_ALTERNATIVES_MAX);
	DCK_TRY(tolerance_read("rtol", c->rtol, &j.limits.rtol, err));
	DCK_TRY(tolerance_read("atol", c->atol, &j.limits.atol, err));
	DCK_TRY(asked_check(&j, err));
	j.b = record_begin(c->title);
	j.arena = mem_arena_new(0);
	if (j.b)
		record_set_began(j.b, os_unix_ns());
	status = j.b && j.arena ? labels_job_run(&j, err) : ERR_NO_MEMORY(err, "for a record");
	mem_arena_free(j.arena);
	return record_finish_if(status, j.b, ret, err);
}
