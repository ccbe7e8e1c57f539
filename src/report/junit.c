/* junit.c - each record as a test in JUnit's XML, as Jenkins and GitLab read it: passed where its
 * limit or comparison is met, and where it has none; a failure where it is violated, and where its
 * command ends with 1 because of the result; skipped where it is not decided; an error where the
 * measurement failed. Tests have no time, since a record has none.
 *
 * Source of the form: the schema junit-10.xsd of Jenkins' plug-in xUnit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/writers.h"
#include "base/err.h"
#include "record/record_internal.h"
#include "report/distinct_names.h"
#include "report/xml_text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FAILURE_SIZE 80

typedef enum junit_outcome {
	JUNIT_PASSED,
	JUNIT_FAILURE,
	JUNIT_SKIPPED,
	JUNIT_ERROR,
	JUNIT_OUTCOMES
} junit_outcome;

/* The element of each outcome. */
static const char *const junit_elements[] = {
    [JUNIT_FAILURE] = "failure", [JUNIT_SKIPPED] = "skipped", [JUNIT_ERROR] = "error"};

/* Returns why the command that made r ends with 1; NULL: it does not. */
static const char *junit_failure(const dck_record *r, char buf[FAILURE_SIZE])
{
	static const char *const failures[] = {
	    "outputs-differ", "nan-predictions",	"no-batch-fits",      "cleanup-failed",
	    "trace-failed",   "allocations-not-traced", "trace-not-captured", "program-killed"};
	const dck_fact *strict = dck_record_fact(r, "plan", "strict");
	const int64_t status = record_get_int(r, "result", "exit_status");
	const dck_note *note = NULL;

	for (size_t i = 0; i < sizeof failures / sizeof *failures && !note; i++)
		note = dck_record_note(r, failures[i]);
	if (!note && strict && strict->value.kind == DCK_VALUE_BOOL && strict->value.as.b)
		note = dck_record_note(r, "cost-unknown");
	if (note)
		return note->text;
	/* sample --time ends the program, whatever it then returns. */
	if (status == 0 || record_get_real(r, "plan", "time") > 0)
		return NULL;
	snprintf(buf, FAILURE_SIZE, "the program ended with exit status %" PRId64, status);
	return buf;
}

static junit_outcome junit_outcome_of(const dck_record *r)
{
	static const junit_outcome of[] = {[DCK_VERDICT_MET] = JUNIT_PASSED,
					   [DCK_VERDICT_VIOLATED] = JUNIT_FAILURE,
					   [DCK_VERDICT_INCONCLUSIVE] = JUNIT_SKIPPED};

	char buf[FAILURE_SIZE];

	if (r->incomplete)
		return JUNIT_ERROR;
	return junit_failure(r, buf) ? JUNIT_FAILURE : of[dck_record_gate(r)];
}

static void junit_attribute(dck_sink *out, const char *name, const char *text)
{
	sink_fmt(out, " %s=\"", name);
	xml_text_put(out, text);
	sink_text(out, "\"");
}

/* Writes the report for people. */
static void junit_text(const dck_record *r, dck_sink *out)
{
	dck_buffer text = {0};
	dck_sink sink;

	dck_sink_buffer(&sink, &text);
	report_text.write(&r, 1, &(dck_style){.utf8 = true}, &sink);
	if (dck_sink_finish(&sink, NULL) == DCK_OK && text.data) {
		sink_text(out, "<system-out>");
		xml_text_put(out, text.data);
		sink_text(out, "</system-out>\n");
	}
	dck_buffer_done(&text);
}

static void junit_test(const dck_record *r, const char *name, dck_sink *out)
{
	const junit_outcome outcome = junit_outcome_of(r);
	char buf[FAILURE_SIZE];
	const char *answer = outcome == JUNIT_FAILURE ? junit_failure(r, buf) : NULL;

	if (!answer)
		answer = record_get_text(r, "result", "failure");
	if (!answer)
		answer = record_get_text(r, "result", "answer");
	sink_text(out, "<testcase classname=\"deepclock\"");
	junit_attribute(out, "name", name);
	sink_text(out, ">\n");
	if (junit_elements[outcome]) {
		sink_fmt(out, "<%s", junit_elements[outcome]);
		junit_attribute(out, "message", answer ? answer : "the record has no answer");
		if (outcome != JUNIT_SKIPPED)
			junit_attribute(out, "type", junit_elements[outcome]);
		sink_text(out, "/>\n");
	}
	junit_text(r, out);
	sink_text(out, "</testcase>\n");
}

static void junit_report(const dck_record *const *records, size_t n, const dck_style *style,
			 dck_sink *out)
{
	dck_err err;
	size_t count[JUNIT_OUTCOMES] = {0};
	mem_arena *a = mem_arena_new(0);
	const char *const *name = a ? distinct_names(records, n, a) : NULL;

	(void)style;
	if (!name) {
		(void)ERR_NO_MEMORY(&err, "for the names of %zu records", n);
		sink_fail(out, &err);
		mem_arena_free(a);
		return;
	}
	for (size_t i = 0; i < n; i++)
		count[junit_outcome_of(records[i])]++;
	sink_fmt(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite "
		 "name=\"deepclock\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		 "skipped=\"%zu\">\n",
		 n, count[JUNIT_FAILURE], count[JUNIT_ERROR], count[JUNIT_SKIPPED]);
	for (size_t i = 0; i < n; i++)
		junit_test(records[i], name[i], out);
	sink_text(out, "</testsuite>\n</testsuites>\n");
	mem_arena_free(a);
}

const dck_writer report_junit = {DCK_WRITER_JUNIT(WRITER), .write = junit_report};
