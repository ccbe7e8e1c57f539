/* time_model.c - the latency of a model in ONNX Runtime.
 *
 *     time_model [MODEL [RECORD.json]]
 *
 * MODEL is written as on the command line: a file (model.onnx) or a built-in network
 * (zoo:simplenet, the default). Progress goes to stderr, the report to stdout. Exit status 77:
 * ONNX Runtime is not installed.
 *
 *     cc time_model.c $(pkg-config --cflags --libs deepclock) -o time_model
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/deepclock.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

/* A child process probes the library, because a broken one may crash the process. */
static const char *why_no_engine(const char *name, void **ret_owned)
{
	dck_engine_info *engines;
	size_t n;
	dck_err err;

	*ret_owned = NULL;
	if (dck_engines_probe(NULL, &engines, &n, &err) != DCK_OK)
		return "the engines could not be probed";
	*ret_owned = engines;
	for (size_t i = 0; i < n; i++)
		if (strcmp(engines[i].name, name) == 0)
			return engines[i].usable ? NULL : engines[i].why_not;
	return "there is no such engine";
}

/* Called between runs, a few times a second, never while the clock runs. */
static void show_progress(void *self, const dck_progress *p)
{
	char estimate[32];

	(void)self;
	if (isnan(p->estimate_ns)) /* not known yet */
		fprintf(stderr, "%s\n", p->phase);
	else
		fprintf(stderr, "%-9s %8llu runs   %s\n", p->phase, (unsigned long long)p->runs,
			dck_text_time(p->estimate_ns, estimate, sizeof estimate));
}

/* Reads the record: a metric with its interval, a fact, the notes. */
static void show_findings(const dck_record *record)
{
	const dck_metric *m = dck_record_metric(record, "latency/median");
	const dck_fact *engine = dck_record_fact(record, "engine", "version");
	char value[32], lo[32], hi[32];

	if (m && m->value.kind == DCK_VALUE_REAL && m->level > 0)
		fprintf(stderr, "median %s, between %s and %s at %g %%\n",
			dck_text_time(m->value.as.r, value, sizeof value),
			dck_text_time(m->lo, lo, sizeof lo), dck_text_time(m->hi, hi, sizeof hi),
			100 * m->level);
	else if (m && m->value.kind == DCK_VALUE_ABSENT)
		fprintf(stderr, "no median: %s\n", m->value.as.text);
	if (engine && engine->value.kind == DCK_VALUE_TEXT)
		fprintf(stderr, "measured with version %s\n", engine->value.as.text);
	for (size_t i = 0; i < record->nnotes; i++)
		fprintf(stderr, "note: %s (%s)\n", record->notes[i].text, record->notes[i].code);
}

static dck_status measure(const char *model, dck_record **ret, dck_err *err)
{
	const dck_observer watch = {.progress = show_progress};
	dck_subject subject;
	dck_plan plan;
	void *owned;
	dck_status status;

	dck_subject_init(&subject);
	dck_plan_init(&plan);
	status = dck_subject_parse(model, &subject, &owned, err);
	if (status != DCK_OK)
		return status;
	/* By name, with the command line's text; plan.precision = 0.02 does the same. */
	status = dck_opt_set(dck_plan_options, &plan, "precision", "2%", err);
	if (status == DCK_OK)
		status = dck_opt_set(dck_model_options, &subject.model, "threads", "1", err);
	plan.max_time_ns = 3000000000; /* 3 s */
	plan.title = "time_model";
	if (status == DCK_OK)
		status = dck_bench(&subject, &plan, &watch, ret, err);
	dck_free(owned);
	return status;
}

int main(int argc, char **argv)
{
	dck_record *record;
	dck_err err;
	dck_status status;
	void *owned;
	const char *why_not = why_no_engine("ort", &owned);

	if (why_not)
		printf("skipped: %s\n", why_not);
	dck_free(owned);
	if (why_not)
		return SKIPPED;

	status = measure(argc > 1 ? argv[1] : "zoo:simplenet", &record, &err);
	if (status == DCK_OK) {
		show_findings(record);
		status = dck_print(record, 1, &err);
		if (status == DCK_OK && argc > 2)
			status = dck_record_save(record, argv[2], &err);
		dck_record_free(record);
	}
	if (status != DCK_OK) {
		fprintf(stderr, "time_model: %s\n", err.msg);
		return 1;
	}
	return 0;
}
