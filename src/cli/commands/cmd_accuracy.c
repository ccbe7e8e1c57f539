/* cmd_accuracy.c - deepclock accuracy [A [B]...]
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

typedef struct accuracy_command {
	dck_list vary;
	dck_accuracy_config accuracy;
	const dck_alternative *all; /* n models */
	size_t n;
} accuracy_command;

static const dck_opt accuracy_which_options[] = {
    DCK_OPTION(LIST, accuracy_command, vary, "vary", "OPTION=V,V", NULL,
	       "one model in several settings, e.g. opt=none,all; the first is the reference"),
    {0},
};

static int models_read(const cli *c, cli_subjects *m)
{
	const int code = cli_subjects_read(c, m);

	for (size_t i = 0; code == CLI_OK && i < m->n; i++)
		if (m->of[i].kind == DCK_SUBJECT_COMMAND)
			return cli_usage(c, "'%s' is a command, which has no outputs to compare",
					 c->args[i]);
	return code;
}

/* An error among the notes means that the outputs differ, or are not numbers. */
static int accuracy_verdict(const dck_record *r)
{
	for (size_t i = 0; i < r->nnotes; i++)
		if (r->notes[i].severity == DCK_ERROR)
			return CLI_FAILED;
	return CLI_OK;
}

static dck_status accuracy_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
				dck_err *err)
{
	const accuracy_command *cfg = config;

	(void)c;
	return dck_accuracy(cfg->all, cfg->n, &cfg->accuracy, o, ret, err);
}

static int accuracy_run(cli *c, void *config)
{
	accuracy_command *cfg = config;
	const bool varied = cfg->vary.n > 0;
	dck_alternative *made = NULL;
	cli_subjects m = {0};
	dck_err err;
	int code;

	if (varied && c->nargs != 1)
		return cli_usage(c, "--vary takes one MODEL, %u are given", c->nargs);
	for (const dck_opt *o = dck_model_options; cfg->accuracy.predictions.n > 0 && o->name; o++)
		if (cli_given(c, o->name))
			return cli_usage(
			    c, "--%s is for a model that runs; there are --predictions", o->name);
	cfg->accuracy.title = c->title;
	code = models_read(c, &m);
	cfg->all = m.all;
	cfg->n = m.n;
	/* The sizes are not checked where --vary or labelled items bring their own. */
	for (size_t i = 0; code == CLI_OK && !varied && cfg->accuracy.inputs.n == 0 && i < m.n; i++)
		code = cli_subject_check(c, &m.of[i]);
	if (code == CLI_OK && varied) {
		if (dck_alternatives_vary(&m.of[0], &cfg->vary, &made, &cfg->n, &err) != DCK_OK)
			code = cli_failed(&err);
		cfg->all = made;
	}
	if (code == CLI_OK)
		code = cli_make(c, accuracy_make, cfg, accuracy_verdict);
	dck_free(made);
	cli_subjects_free(&m);
	return code;
}

static const cli_item accuracy_subject_items[] = {
    {"model.onnx", "a model from a file"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {"plugin:FILE.so", "an engine plug-in that brings its own workload"},
    {0},
};
static const cli_item exit_items[] = {
    {"0", "the outputs are the same within the tolerance, or the report was made"},
    {"1", "they are not, or predictions are not numbers, or it failed"},
    {0},
};

const cli_command cmd_accuracy = {
    .name = "accuracy",
    .summary = "check that the answers are still the same, or that they are right",
    .usage = {"[OPTION]... A B [C]...", "[OPTION]... --vary OPTION=V,V MODEL",
	      "[OPTION]... --labels FILE --predictions FILE",
	      "[OPTION]... --labels FILE --inputs FILE.npy MODEL [B]..."},
    .about =
	"Gives models, or one model in several settings, the same inputs and compares every "
	"output with that of the first: absolute and relative differences, angle, units in the "
	"last place, NaN and infinities, and a verdict by a tolerance that goes with the output's "
	"type.\n\nWith --labels it reports how good a classifier is: precision, recall, f1-score "
	"and support of each class with their averages, laid out and rounded as scikit-learn's "
	"classification_report, and the confusion matrix. Predictions come from a file, or from "
	"models that are run on --inputs; with several models it also lists the predictions that "
	"changed.",
    .sections = {{"Models", accuracy_subject_items}, {"Exit status", exit_items}},
    .examples =
	{{"deepclock accuracy model.onnx smaller.onnx",
	  "the outputs of two models on the same inputs"},
	 {"deepclock accuracy model.onnx --vary opt=none,all --input-pool 10",
	  "do the optimisations change the answers, on ten inputs?"},
	 {"deepclock accuracy model.onnx --vary device=cpu,cuda", "does the GPU?"},
	 {"deepclock accuracy --labels y.npy --predictions scores.npy --top-k 5",
	  "precision, recall and f1-score of each class, and how often it is among the first five"},
	 {"deepclock accuracy model.onnx --inputs x.npy --labels y.csv --target-names cat,dog",
	  "run the model on a labelled set"}},
    .groups = {{"Comparing outputs", accuracy_which_options, 0, false},
	       {"Comparing outputs", dck_tolerance_options, offsetof(accuracy_command, accuracy),
		false},
	       {"Classifiers", dck_accuracy_options, offsetof(accuracy_command, accuracy), false},
	       CLI_MODELS("Models"),
	       CLI_MEASURED},
    .config_size = sizeof(accuracy_command),
    .sized = {CLI_SIZED(accuracy_command, accuracy)},
    .max_args = DCK_ALTERNATIVES_MAX,
    .arg = "MODEL",
    .words = &cli_model_words,
    .run = accuracy_run,
};
