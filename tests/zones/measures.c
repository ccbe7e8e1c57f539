/* measures.c - a program with zones that measures a model inside one of them.
 *
 *	measures SUBJECT RUNS
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"
#include "deepclock/zone.h"

#include <stdio.h>
#include <stdlib.h>

static int measure(const char *text, uint64_t runs)
{
	void *owned = NULL;
	dck_record *record = NULL;
	dck_subject subject;
	dck_plan plan;
	dck_err err;

	DCK_ZONE("measure here");
	dck_subject_init(&subject);
	dck_plan_init(&plan);
	plan.runs = runs;
	plan.warmup = "5";
	subject.model.threads = 1;
	dck_status status = dck_subject_parse(text, &subject, &owned, &err);
	if (status == DCK_OK)
		status = dck_bench(&subject, &plan, NULL, &record, &err);
	if (status != DCK_OK)
		fprintf(stderr, "%s\n", err.msg);
	dck_record_free(record);
	dck_free(owned);
	return status != DCK_OK;
}

int main(int argc, char **argv)
{
	DCK_ZONE("main");
	if (argc != 3)
		return 2;
	return measure(argv[1], strtoull(argv[2], NULL, 10)) ||
	       measure(argv[1], strtoull(argv[2], NULL, 10));
}
