/* device_gauges.c - reads the gauges of a device between runs, and judges a measurement by them.
 *
 * A reading takes up to some milliseconds, in which the device idles, so there is one each
 * INTERVAL_NS at most, and less often where a reading takes more than 1 / COST_INVERSE of that. The
 * caller makes a run that does not count after a reading that is long against a run.
 *
 * Energy is that of the whole device, idle power included: the difference of its counter, or the
 * mean of the power readings times the time. Both are averages over the driver's own window of
 * about 0.1 s (Yang et al., "Part-time Power Measurements: nvidia-smi's Lack of Attention", SC
 * 2024), so a measurement below WINDOW_NS has no power.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/device_gauges.h"
#include "base/units.h"
#include "deepclock/opt.h"
#include "device/gauges.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INTERVAL_NS  250000000u
#define COST_INVERSE 50
#define WINDOW_NS    1e9
/* Clocks vary by 1 or 2 steps of 15 MHz without a reason that matters. */
#define FALL_SHARE 0.03
/* In a warm-up a reading is due sooner: a steady state takes some of them, and is judged by those
 * of the last 2 s. */
#define WARMUP_INTERVAL_NS 100000000u
#define FALL_READINGS_MIN  4
#define FALL_READINGS_MAX  20
#define WARMUP_FALL_SHARE  0.02

static uint64_t gauges_now(const gauge_log *g)
{
	return g->clock->now_ns(g->clock->self);
}

static void gauges_device_read(void *self, device_gauges *ret)
{
	device_gauges_read(self, ret);
}

void gauge_log_open(gauge_log *g, const char *device_text, const dck_clock *clock)
{
	device_gauges now;
	dck_err why = {0};

	*g = (gauge_log){.clock = clock, .interval_ns = WARMUP_INTERVAL_NS, .others = -1};
	const dck_status status = device_gauges_open(device_text, &g->opened, &why);
	/* Of a device that is not known, only if there is one that it could be. */
	if (status == DCK_E_UNSUP && !device_gauges_exist(""))
		return;
	if (status != DCK_OK) {
		snprintf(g->absent, sizeof g->absent, "%.255s", why.msg);
		return;
	}
	snprintf(g->name, sizeof g->name, "%s%s%s", g->opened->info.name,
		 g->opened->info.pci[0] ? ", " : "", g->opened->info.pci);
	device_gauges_read(g->opened, &now);
	if (isnan(now.power_w) && isnan(now.energy_j) && isnan(now.clock_hz)) {
		snprintf(
		    g->absent, sizeof g->absent,
		    "neither NVIDIA's management library nor the kernel has readings of %.160s",
		    g->name);
		return;
	}
	g->read = gauges_device_read;
	g->self = g->opened;
}

void gauge_log_close(gauge_log *g)
{
	device_close(g->opened);
	*g = (gauge_log){.read = NULL};
}

/* --- readings */

/* Drops every second reading. */
static void gauges_thin(gauge_log *g)
{
	for (size_t i = 0; i < g->n / 2; i++) {
		g->at_ns[i] = g->at_ns[2 * i];
		g->clock_hz[i] = g->clock_hz[2 * i];
		g->power_w[i] = g->power_w[2 * i];
	}
	g->n /= 2;
	g->interval_ns *= 2;
}

static uint64_t gauges_take(gauge_log *g, uint64_t runs)
{
	const uint64_t begin_ns = gauges_now(g);
	device_gauges now;

	g->read(g->self, &now);
	if (g->n == GAUGE_READINGS)
		gauges_thin(g);
	g->at_ns[g->n] = begin_ns;
	g->clock_hz[g->n] = now.clock_hz;
	g->power_w[g->n++] = now.power_w;
	if (g->readings++ == 0) {
		g->first = now;
		g->begin_ns = begin_ns;
		g->begin_runs = runs;
		g->clock_min_hz = now.clock_hz;
	}
	g->last = now;
	g->end_ns = begin_ns;
	g->end_runs = runs;
	g->clock_min_hz = fmin(g->clock_min_hz, now.clock_hz); /* the other one of NaN */
	if (now.throttled == 1 && g->throttled++ == 0)
		memcpy(g->throttled_by, now.throttled_by, sizeof g->throttled_by);
	if (now.others > g->others)
		g->others = now.others;
	const uint64_t took_ns = gauges_now(g) - begin_ns, least_ns = took_ns * COST_INVERSE;
	g->next_ns = begin_ns + took_ns + (least_ns > g->interval_ns ? least_ns : g->interval_ns);
	return took_ns;
}

uint64_t gauge_log_poll(gauge_log *g, uint64_t runs)
{
	return g && g->read && gauges_now(g) >= g->next_ns ? gauges_take(g, runs) : 0;
}

uint64_t gauge_log_begin(gauge_log *g, uint64_t runs)
{
	if (!g || !g->read)
		return 0;
	g->n = 0;
	g->readings = g->throttled = 0;
	g->others = -1;
	g->interval_ns = INTERVAL_NS;
	return gauges_take(g, runs);
}

void gauge_log_end(gauge_log *g, uint64_t runs)
{
	if (g && g->read && g->readings > 0)
		gauges_take(g, runs);
}

gauge_clock gauge_log_clock(const gauge_log *g, char *evidence, size_t size)
{
	if (!g || !g->read || g->n == 0 || isnan(g->clock_hz[g->n - 1]))
		return GAUGE_CLOCK_LEVEL;
	if (g->n < FALL_READINGS_MIN) {
		snprintf(evidence, size, "the device's clock was read %zu times, which is too few",
			 g->n);
		return GAUGE_CLOCK_UNKNOWN;
	}
	const size_t n = g->n < FALL_READINGS_MAX ? g->n : FALL_READINGS_MAX;
	const double *recent = &g->clock_hz[g->n - n], last = recent[n - 1];
	/* It fell in the later half of that time too. */
	if (!(last < (1 - WARMUP_FALL_SHARE) * recent[0] && last < recent[n / 2]))
		return GAUGE_CLOCK_LEVEL;
	snprintf(evidence, size, "the device's clock is falling, from %s to %s",
		 UNITS_SI(recent[0], "Hz"), UNITS_SI(last, "Hz"));
	return GAUGE_CLOCK_FALLING;
}

/* --- in a record */

/* Returns the mean power of the measurement; NaN: unknown, and why. */
static double power_mean(const gauge_log *g, char *how, size_t size)
{
	const double ns = (double)(g->end_ns - g->begin_ns);
	double sum = 0, weight = 0;

	if (!(ns >= WINDOW_NS)) {
		snprintf(how, size,
			 "the measurement is shorter than 1 s, and the device averages its power "
			 "over about 0.1 s: give more --min-time");
		return NAN;
	}
	if (g->last.energy_j > g->first.energy_j) {
		snprintf(how, size, "of the device's energy counter, idle power included");
		return (g->last.energy_j - g->first.energy_j) * 1e9 / ns;
	}
	for (size_t i = 1; i < g->n; i++) { /* the trapezoidal rule */
		const double step = (double)(g->at_ns[i] - g->at_ns[i - 1]);

		if (isnan(g->power_w[i]) || isnan(g->power_w[i - 1]))
			continue;
		sum += step * (g->power_w[i] + g->power_w[i - 1]) / 2;
		weight += step;
	}
	snprintf(how, size,
		 weight > 0 ? "mean of %zu readings of the device's power, idle power included"
		 : g->last.divided
		     ? "the device is a part of a GPU (MIG), whose power is that of all parts"
		     : "the device reports no power",
		 g->n);
	return weight > 0 ? sum / weight : NAN;
}

static void energy_record(const gauge_log *g, record_builder *b, double items)
{
	char how[160];
	const double power_w = power_mean(g, how, sizeof how);
	const double runs = (double)(g->end_runs - g->begin_runs);
	const double joule = power_w * (double)(g->end_ns - g->begin_ns) / 1e9;

	if (isnan(power_w)) {
		record_metric_absent(b, "device/power", how);
		record_metric_absent(b, "device/energy_per_item", how);
		return;
	}
	record_metric_real(b, "device/power", power_w, how);
	record_metric_if(items > 0 && runs > 0, b, "device/energy_per_item",
			 RECORD_REAL(joule / (runs * items)), how, "a run has no items");
}

static void gauges_fact(record_builder *b, const char *key, dck_unit unit, double value)
{
	if (isnan(value))
		record_fact_absent(b, "device", key, "the device does not report it");
	else
		record_fact_real(b, "device", key, unit, value);
}

/* Adds a series of the readings that are known. */
static void series_record(const gauge_log *g, record_builder *b, const char *tag, dck_unit unit,
			  const double *values, uint64_t origin_ns)
{
	uint64_t at_ns[GAUGE_READINGS];
	double known[GAUGE_READINGS];
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (!isnan(values[i])) {
			at_ns[n] = g->at_ns[i] - origin_ns;
			known[n++] = values[i];
		}
	if (n > 0)
		record_series(b, tag, unit, at_ns, known, n, 0);
}

static void notes_record(const gauge_log *g, record_builder *b)
{
	const double low = fmin(g->clock_min_hz, g->last.clock_hz);
	const bool fell = low < (1 - FALL_SHARE) * g->first.clock_hz;
	char reason[128] = "", clocks[128] = "";

	if (g->throttled > 0)
		snprintf(reason, sizeof reason, "was throttled in %llu of %llu readings (%s)",
			 (unsigned long long)g->throttled, (unsigned long long)g->readings,
			 g->throttled_by);
	if (fell)
		snprintf(clocks, sizeof clocks, "fell from %s to %s",
			 UNITS_SI(g->first.clock_hz, "Hz"), UNITS_SI(low, "Hz"));
	if (g->throttled > 0 || fell)
		record_note(b, "device-throttled", "the clock of the device %s%s%s", reason,
			    reason[0] && clocks[0] ? ", and " : "", clocks);
	if (g->others > 0)
		record_note(b, "device-shared",
			    "%d other process%s had memory on the device during the measurement",
			    g->others, g->others == 1 ? "" : "es");
}

void gauge_log_record(const gauge_log *g, record_builder *b, uint64_t origin_ns, double items)
{
	if (g->absent[0]) {
		record_fact_absent(b, "device", "gauges", g->absent);
		record_metric_absent(b, "device/power", g->absent);
		record_metric_absent(b, "device/energy_per_item", g->absent);
	}
	if (!g->read || g->readings < 2)
		return;
	record_fact_text(b, "device", "gauges", g->name);
	record_fact_int(b, "device", "readings", DCK_UNIT_ONE, (int64_t)g->readings);
	gauges_fact(b, "clock_begin", DCK_UNIT_HERTZ, g->first.clock_hz);
	gauges_fact(b, "clock_end", DCK_UNIT_HERTZ, g->last.clock_hz);
	gauges_fact(b, "clock_min", DCK_UNIT_HERTZ, g->clock_min_hz);
	gauges_fact(b, "temperature_begin", DCK_UNIT_CELSIUS, g->first.celsius);
	gauges_fact(b, "temperature_end", DCK_UNIT_CELSIUS, g->last.celsius);
	record_fact(b, "device", "throttled_by", DCK_UNIT_NONE,
		    g->last.throttled < 0
			? RECORD_ABSENT("the device does not report it")
			: RECORD_TEXT(g->throttled > 0 ? g->throttled_by : "nothing"));
	energy_record(g, b, items);
	series_record(g, b, "device_clock", DCK_UNIT_HERTZ, g->clock_hz, origin_ns);
	series_record(g, b, "device_power", DCK_UNIT_WATT, g->power_w, origin_ns);
	notes_record(g, b);
}
