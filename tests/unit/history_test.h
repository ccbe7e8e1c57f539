/* history_test.h - a separate directory for each test of the history, and records to add.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_TEST_H
#define HISTORY_TEST_H

#include "deepclock/history.h"
#include "os/os.h"
#include "record/build.h"
#include "scratch.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define BEGAN INT64_C(1790000000000000000) /* in 2026 */
#define DAY   INT64_C(86400000000000)

static const char file[] = "history.db";

static inline dck_status history_open_file(const char *path, dck_history **ret, dck_err *err)
{
	dck_history_config c;

	dck_history_config_init(&c);
	c.path = path;
	return dck_history_open(&c, ret, err);
}

static inline dck_history *history_here(void)
{
	dck_history *h = NULL;
	dck_err err = {0};

	if (history_open_file(file, &h, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return h;
}

typedef struct made {
	const char *id, *subject, *command, *engine, *cpu, *version;
	int64_t began;
	double median;
	bool incomplete;
	size_t samples; /* to make the record large */
	int64_t seed;	/* 0: no seed */
} made;

static inline dck_record *record_of(const made *m)
{
	record_builder *b = record_new();
	dck_record *r = NULL;
	double *x = calloc(m->samples + 1, sizeof *x);

	record_set_id(b, m->id);
	record_set_began(b, m->began);
	record_set_command(b, m->command ? m->command : "deepclock bench zoo:a");
	record_set_incomplete(b, m->incomplete);
	record_fact_text(b, "host", "cpu", m->cpu ? m->cpu : "a processor");
	record_fact_text(b, "subject", "name", m->subject ? m->subject : "zoo:a");
	record_fact_text(b, "engine", "name", m->engine ? m->engine : "ort");
	record_fact_text(b, "engine", "version", m->version ? m->version : "1");
	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, 1);
	record_fact_int(b, "plan", "runs", DCK_UNIT_ONE, (int64_t)m->samples);
	if (m->seed > 0) {
		record_fact_int(b, "plan", "seed", DCK_UNIT_ONE, m->seed);
		record_fact_fmt(b, "subject", "input/x", "1x3 float32, normal(0,1), seed %lld",
				(long long)m->seed);
	}
	record_metric_interval(b, "latency/median", m->median, m->median * 0.99, m->median * 1.01,
			       0.95, "a test");
	record_metric_int(b, "runs/count", 100, "a test");
	record_metric_absent(b, "latency/p99", "too few runs");
	for (size_t i = 0; i < m->samples; i++)
		x[i] = 1e6 + (double)i / 7;
	record_series(b, "latency", DCK_UNIT_NS, NULL, x, m->samples, 0);
	free(x);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static inline dck_status add_made(dck_history *h, const made *m, const char *commit, dck_err *err)
{
	dck_record *r = record_of(m);
	const dck_status status = dck_history_add(h, r, commit, NULL, err);

	dck_record_free(r);
	return status;
}

/* Adds record number i: id "r0000i...", started a day after the previous one. */
static inline dck_status add_number(dck_history *h, int i, double median, const char *commit,
				    dck_err *err)
{
	char id[64];

	snprintf(id, sizeof id, "%05d0123456789abcdef0123456", i);
	return add_made(h, &(made){.id = id, .began = BEGAN + i * DAY, .median = median}, commit,
			err);
}

static inline uint64_t size_of(dck_history *h)
{
	uint64_t n = 0;

	assert_int_equal(dck_history_size(h, NULL, &n, NULL), DCK_OK);
	return n;
}

#endif
