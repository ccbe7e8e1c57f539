/* saved_build.h - records like those of `bench` and `profile`, with exact numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_SAVED_BUILD_H
#define TESTS_SAVED_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "deepclock/compare.h"
#include "base/mem.h"
#include "record/build.h"
#include <math.h>
#include <string.h>

/* Starts a record; machine and method are equal in all records. */
static inline record_builder *saved_begin(const char *name, const char *id)
{
	record_builder *b = record_new();

	assert_non_null(b);
	record_set_id(b, id);
	record_set_began(b, INT64_C(1760000000000000000));
	record_set_command(b, "deepclock bench something");
	record_fact_text(b, "subject", "kind", "model");
	record_fact_text(b, "subject", "name", name);
	record_fact_int(b, "subject", "items_per_run", DCK_UNIT_ONE, 1);
	record_fact_text(b, "engine", "name", "ort");
	record_fact_text(b, "engine", "version", "1.31.1");
	record_fact_text(b, "engine", "threads", "2");
	record_fact_text(b, "host", "cpu", "one processor");
	record_fact_int(b, "host", "cpus_online", DCK_UNIT_ONE, 4);
	record_fact_int(b, "host", "memory", DCK_UNIT_BYTE, INT64_C(16000000000));
	record_fact_text(b, "host", "kernel", "Linux 6.1.2 x86_64");
	record_fact_absent(b, "host", "governor", "the system does not tell");
	record_fact_text(b, "method", "clock", "TSC");
	record_fact_text(b, "method", "enclosed", "one call");
	record_fact_int(b, "method", "group", DCK_UNIT_ONE, 1);
	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, 1);
	return b;
}

static inline dck_record *saved_end(record_builder *b)
{
	dck_record *r = NULL;

	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

/* A record with this metric and interval only. */
static inline dck_record *saved_metric(const char *name, const char *tag, double v, double lo,
				       double hi)
{
	record_builder *b = saved_begin(name, name);

	record_metric_interval(b, tag, v, lo, hi, 0.95, "made up");
	return saved_end(b);
}

/* A record with this count only. */
static inline dck_record *counted(const char *name, const char *tag, int64_t v)
{
	record_builder *b = saved_begin(name, name);

	record_metric_int(b, tag, v, "counted");
	return saved_end(b);
}

/* The defaults without --run-to-run: intervals follow from those of the records alone. */
static inline dck_compare_config plain(void)
{
	dck_compare_config c;

	dck_compare_config_init(&c);
	c.run_to_run = 0;
	return c;
}

/* c NULL: plain(). */
static inline dck_record *compare_n(const dck_record *const *all, size_t n,
				    const dck_compare_config *c)
{
	const dck_compare_config defaults = plain();
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_compare_records(all, n, c ? c : &defaults, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_non_null(r);
	return r;
}

static inline dck_record *compare_two(const dck_record *a, const dck_record *b,
				      const dck_compare_config *c)
{
	const dck_record *const all[] = {a, b};

	return compare_n(all, 2, c);
}

/* Expects an error whose message contains `says`. */
static inline void refused_n(const dck_record *const *all, size_t n, const dck_compare_config *c,
			     dck_status code, const char *says)
{
	dck_record *r = NULL;
	dck_err err = {0};

	assert_int_equal(dck_compare_records(all, n, c, &r, &err), code);
	assert_null(r);
	assert_int_equal(err.code, code);
	if (!strstr(err.msg, says))
		fail_msg("'%s' does not say '%s'", err.msg, says);
}

static inline void refused_two(const dck_record *a, const dck_record *b,
			       const dck_compare_config *c, const char *says)
{
	const dck_record *const all[] = {a, b};

	refused_n(all, 2, c, DCK_E_ARG, says);
}

static inline const char *fact_text(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	assert_non_null(f);
	assert_int_equal(f->value.kind, DCK_VALUE_TEXT);
	return f->value.as.text;
}

static inline double fact_number(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	assert_non_null(f);
	return f->value.kind == DCK_VALUE_INT ? (double)f->value.as.i : f->value.as.r;
}

static inline void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want)))
		fail_msg("%.17g is not %.17g", got, want);
}

static inline void metric_is(const dck_record *r, const char *tag, double v, double lo, double hi,
			     double level)
{
	const dck_metric *m = dck_record_metric(r, tag);

	assert_non_null(m);
	near(dck_record_value(r, tag), v);
	near(m->level, level);
	near(m->lo, lo);
	near(m->hi, hi);
}

static inline void verdict_is(const dck_record *r, const char *verdict, int gate)
{
	assert_string_equal(fact_text(r, "compare", "verdict"), verdict);
	assert_int_equal(dck_record_gate(r), gate);
}

#endif
