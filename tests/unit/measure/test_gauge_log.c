/* test_gauge_log.c - gauges of a device in a measurement, from readings and a clock that the test
 * sets, so that every number is exact.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "deepclock/record.h"
#include "device/gauges.h"
#include "measure/device_gauges.h"
#include "record/record_begin.h"

int test_gauge_log(void);

/* A device whose readings take `takes_ns`, and the clock. */
typedef struct fake {
	uint64_t now_ns, takes_ns;
	device_gauges next;
	unsigned reads;
} fake;

static uint64_t fake_now(void *self)
{
	return ((fake *)self)->now_ns;
}

static void fake_read(void *self, device_gauges *ret)
{
	fake *f = self;

	f->now_ns += f->takes_ns;
	f->reads++;
	*ret = f->next;
}

static fake fake_new(void)
{
	fake f = {.now_ns = 5000000000, .takes_ns = 1000000, .next = DEVICE_GAUGES_NONE};

	f.next.clock_hz = 1.98e9;
	f.next.power_w = 200;
	f.next.celsius = 50;
	f.next.throttled = 0;
	f.next.others = 0;
	return f;
}

static gauge_log log_new(fake *f, dck_clock *clock)
{
	*clock = (dck_clock){.now_ns = fake_now, .self = f};
	return (gauge_log){.read = fake_read,
			   .self = f,
			   .clock = clock,
			   .name = "GPU 0, 0000:41:00.0",
			   .interval_ns = 250000000,
			   .others = -1};
}

static dck_record *recorded(const gauge_log *g, double items)
{
	record_builder *b = record_begin("test");
	dck_record *r = NULL;
	dck_err err = {0};

	gauge_log_record(g, b, 5000000000, items);
	if (record_finish(b, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static const char *note(const dck_record *r, const char *code)
{
	for (size_t i = 0; i < r->nnotes; i++)
		if (strcmp(r->notes[i].code, code) == 0)
			return r->notes[i].text;
	return NULL;
}

static double fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "device", key);

	return f && f->value.kind == DCK_VALUE_REAL ? f->value.as.r : NAN;
}

static const char *why_absent(const dck_record *r, const char *tag)
{
	const dck_metric *m = dck_record_metric(r, tag);

	assert_non_null(m);
	assert_int_equal(m->value.kind, DCK_VALUE_ABSENT);
	return m->value.as.text;
}

/* No more often than each 250 ms, and such that readings take 2 % of the time at most. */
static void test_rate(void **state)
{
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);

	(void)state;
	assert_int_equal(gauge_log_poll(&g, 0), 1000000);
	f.now_ns += 249999999;
	assert_int_equal(gauge_log_poll(&g, 0), 0);
	f.now_ns += 1;
	f.takes_ns = 20000000;
	assert_int_equal(gauge_log_poll(&g, 0), 20000000);
	f.now_ns += 999999999; /* 50 times 20 ms */
	assert_int_equal(gauge_log_poll(&g, 0), 0);
	f.now_ns += 1;
	assert_int_equal(gauge_log_poll(&g, 0), 20000000);
	assert_int_equal(f.reads, 3);
	/* Without gauges there is nothing to do. */
	gauge_log none = {.read = NULL};
	assert_int_equal(gauge_log_poll(&none, 0) + gauge_log_begin(&none, 0), 0);
	gauge_log_end(&none, 0);
	assert_int_equal(gauge_log_poll(NULL, 0), 0);
	assert_int_equal(gauge_log_clock(NULL, NULL, 0), GAUGE_CLOCK_LEVEL);
	dck_record *r = recorded(&none, 1);
	assert_null(dck_record_metric(r, "device/power"));
	dck_record_free(r);
}

/* 2 s, 400 J, 1000 runs of 4 items: 200 W, 0.1 J for each. */
static void test_counter(void **state)
{
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);

	(void)state;
	f.takes_ns = 0;
	f.next.energy_j = 1000;
	gauge_log_begin(&g, 50);
	f.now_ns += 2000000000;
	f.next.energy_j = 1400;
	f.next.power_w = 777;
	f.next.celsius = 66;
	gauge_log_end(&g, 1050);
	dck_record *r = recorded(&g, 4);
	assert_true(fabs(dck_record_value(r, "device/power") - 200) < 1e-9);
	assert_true(fabs(dck_record_value(r, "device/energy_per_item") - 0.1) < 1e-12);
	assert_true(fact(r, "temperature_begin") == 50 && fact(r, "temperature_end") == 66);
	assert_true(fact(r, "clock_begin") == 1.98e9 && fact(r, "clock_min") == 1.98e9);
	assert_string_equal(dck_record_fact(r, "device", "throttled_by")->value.as.text, "nothing");
	assert_null(note(r, "device-throttled"));
	assert_null(note(r, "device-shared"));
	dck_record_free(r);
	r = recorded(&g, 0);
	assert_string_equal(why_absent(r, "device/energy_per_item"), "a run has no items");
	dck_record_free(r);
}

/* Without a counter: 1 s from 100 W to 200 W, then 3 s of 200 W are 750 J, of 4 s. */
static void test_readings(void **state)
{
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);

	(void)state;
	f.takes_ns = 0;
	f.next.power_w = 100;
	gauge_log_begin(&g, 0);
	f.now_ns += 1000000000;
	f.next.power_w = 200;
	assert_int_equal(gauge_log_poll(&g, 5), 0);
	assert_int_equal(g.readings, 2);
	f.now_ns += 3000000000;
	gauge_log_end(&g, 10);
	dck_record *r = recorded(&g, 1);
	assert_true(fabs(dck_record_value(r, "device/power") - 187.5) < 1e-9);
	assert_true(fabs(dck_record_value(r, "device/energy_per_item") - 75) < 1e-9);
	dck_record_free(r);
}

static void test_too_short(void **state)
{
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);

	(void)state;
	gauge_log_begin(&g, 0);
	f.now_ns += 900000000;
	gauge_log_end(&g, 10);
	dck_record *r = recorded(&g, 1);
	assert_non_null(strstr(why_absent(r, "device/power"), "shorter than 1 s"));
	assert_non_null(strstr(why_absent(r, "device/energy_per_item"), "--min-time"));
	dck_record_free(r);
}

static void test_unknown(void **state)
{
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);

	(void)state;
	f.next = DEVICE_GAUGES_NONE;
	gauge_log_begin(&g, 0);
	f.now_ns += 2000000000;
	gauge_log_end(&g, 10);
	dck_record *r = recorded(&g, 1);
	assert_string_equal(why_absent(r, "device/power"), "the device reports no power");
	dck_record_free(r);
	g.last.divided = true;
	r = recorded(&g, 1);
	assert_non_null(strstr(why_absent(r, "device/power"), "(MIG)"));
	assert_int_equal(dck_record_fact(r, "device", "clock_min")->value.kind, DCK_VALUE_ABSENT);
	assert_int_equal(dck_record_fact(r, "device", "throttled_by")->value.kind,
			 DCK_VALUE_ABSENT);
	assert_null(note(r, "device-throttled"));
	dck_record_free(r);
	g = (gauge_log){.absent = "there is no library"};
	r = recorded(&g, 1);
	assert_string_equal(why_absent(r, "device/power"), "there is no library");
	dck_record_free(r);
}

static void test_throttled(void **state)
{
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);

	(void)state;
	gauge_log_begin(&g, 0);
	f.now_ns += 300000000;
	f.next.clock_hz = 1.5e9;
	f.next.throttled = 1;
	strcpy(f.next.throttled_by, "power cap");
	f.next.others = 2;
	gauge_log_poll(&g, 3);
	f.now_ns += 2000000000;
	f.next.clock_hz = 1.9e9;
	f.next.throttled = 0;
	f.next.others = 1;
	gauge_log_end(&g, 10);
	dck_record *r = recorded(&g, 1);
	assert_ptr_equal(strstr(note(r, "device-throttled"),
				"the clock of the device was throttled in 1 of 3 readings (power "
				"cap), and fell from 1.98 GHz to 1.50 GHz; "),
			 note(r, "device-throttled"));
	assert_non_null(strstr(note(r, "device-throttled"), "nvidia-smi --lock-gpu-clocks"));
	assert_non_null(strstr(note(r, "device-shared"), "2 other processes had memory"));
	assert_string_equal(dck_record_fact(r, "device", "throttled_by")->value.as.text,
			    "power cap");
	dck_record_free(r);
	/* A clock that varies by two steps is no reason. */
	g = log_new(&f, &clock);
	f.next.clock_hz = 1.98e9;
	f.next.others = 0;
	gauge_log_begin(&g, 0);
	f.now_ns += 2000000000;
	f.next.clock_hz = 1.95e9;
	gauge_log_end(&g, 10);
	r = recorded(&g, 1);
	assert_null(note(r, "device-throttled"));
	dck_record_free(r);
}

static void test_falling(void **state)
{
	static const double mhz[] = {1980, 1980, 1935, 1890, 1845, 1845, 1845, 1845, 1860};
	static const gauge_clock want[] = {
	    GAUGE_CLOCK_UNKNOWN, GAUGE_CLOCK_UNKNOWN, GAUGE_CLOCK_UNKNOWN,
	    GAUGE_CLOCK_FALLING, GAUGE_CLOCK_FALLING, GAUGE_CLOCK_FALLING,
	    GAUGE_CLOCK_FALLING, GAUGE_CLOCK_LEVEL,   GAUGE_CLOCK_LEVEL};
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);
	char text[160] = "";

	(void)state;
	for (size_t i = 0; i < sizeof mhz / sizeof *mhz; i++) {
		f.next.clock_hz = mhz[i] * 1e6;
		f.now_ns += 300000000;
		assert_int_equal(gauge_log_poll(&g, i), 1000000);
		assert_int_equal(gauge_log_clock(&g, text, sizeof text), want[i]);
		if (i == 2)
			assert_string_equal(text, "the device's clock was read 3 times, which is "
						  "too few");
	}
	assert_string_equal(text, "the device's clock is falling, from 1.98 GHz to 1.84 GHz");
	/* A device without a clock gets no note. */
	f.next.clock_hz = NAN;
	g = log_new(&f, &clock);
	gauge_log_poll(&g, 0);
	assert_int_equal(gauge_log_clock(&g, text, sizeof text), GAUGE_CLOCK_LEVEL);
}

/* A long measurement keeps evenly spaced readings, the first and the last among what counts. */
static void test_many(void **state)
{
	fake f = fake_new();
	dck_clock clock;
	gauge_log g = log_new(&f, &clock);

	(void)state;
	f.takes_ns = 0;
	gauge_log_begin(&g, 0);
	for (uint64_t i = 1; i <= 10000; i++) {
		f.now_ns += 250000000;
		f.next.power_w = 200;
		f.next.clock_hz = i == 600 ? 1.2e9 : 1.98e9;
		gauge_log_poll(&g, i);
	}
	gauge_log_end(&g, 10000);
	assert_in_range(g.n, GAUGE_READINGS / 2, GAUGE_READINGS);
	for (size_t i = 2; i + 1 < g.n; i++)
		assert_in_range(g.at_ns[i] - g.at_ns[i - 1], 1, 2 * g.interval_ns);
	dck_record *r = recorded(&g, 1);
	assert_true(fabs(dck_record_value(r, "device/power") - 200) < 1e-9);
	assert_true(fabs(dck_record_value(r, "device/energy_per_item") - 50) < 1e-6);
	dck_record_free(r);
}

int test_gauge_log(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rate),     cmocka_unit_test(test_counter),
	    cmocka_unit_test(test_readings), cmocka_unit_test(test_too_short),
	    cmocka_unit_test(test_unknown),  cmocka_unit_test(test_throttled),
	    cmocka_unit_test(test_falling),  cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
