/* roofline.c - how fast an operator could be, from the record of the machine's limits (peaks.c
 * makes that record).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/machine.h"

#include "record/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const types[DCK_ROOF_TYPES] = {"fp64", "fp32", "fp16", "bf16", "int8"};
enum { FP32 = 1, NO_PEAK = DCK_ROOF_TYPES };
/* Element types with a separate peak. */
static const struct {
	const char *dtype;
	size_t peak;
} dtype_peaks[] = {{"float64", 0},  {"float32", FP32}, {"float16", 2},
		   {"bfloat16", 3}, {"int8", 4},       {"uint8", 4}};
static const char *const levels[DCK_ROOF_LEVELS] = {"l1", "l2", "l3", "dram"};
static const char *const shown[DCK_ROOF_LEVELS] = {"L1", "L2", "L3", "DRAM"};
static const char *const kinds[] = {"read", "copy", "triad"};

/* Of a device the caches are not measured: its memory is the only level. */
static void device_roofline_read(const dck_record *machine, dck_roofline *ret)
{
	static const char *const memory[] = {"device/memory/read", "device/memory/copy",
					     "device/memory/triad"};
	char tag[64];

	for (size_t i = 0; i < DCK_ROOF_TYPES; i++) {
		snprintf(tag, sizeof tag, "device/peak/%s", types[i]);
		const double vector = dck_record_value(machine, tag);
		snprintf(tag, sizeof tag, "device/peak/%s_matrix", types[i]);
		ret->peak[i] = fmax(vector, dck_record_value(machine, tag));
	}
	ret->device = true;
	for (size_t i = 0; i < DCK_ROOF_LEVELS; i++) {
		ret->bandwidth[i] = NAN;
		ret->capacity[i] = i == DCK_ROOF_LEVELS - 1 ? INFINITY : NAN;
	}
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		ret->bandwidth[DCK_ROOF_LEVELS - 1] =
		    fmax(ret->bandwidth[DCK_ROOF_LEVELS - 1], dck_record_value(machine, memory[i]));
}

void dck_roofline_read(const dck_record *machine, bool one_thread, dck_roofline *ret)
{
	const char *threads = one_thread ? "1" : "all";
	char tag[64];

	if (dck_record_metric(machine, "device/peak/fp32")) {
		device_roofline_read(machine, ret);
		return;
	}
	ret->device = false;
	for (size_t i = 0; i < DCK_ROOF_TYPES; i++) {
		snprintf(tag, sizeof tag, "peak/%s/%s", types[i], threads);
		ret->peak[i] = dck_record_value(machine, tag);
	}
	for (size_t i = 0; i < DCK_ROOF_LEVELS; i++) {
		double most = NAN;
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			snprintf(tag, sizeof tag, "bandwidth/%s_%s/%s", levels[i], kinds[k],
				 threads);
			most = fmax(most, dck_record_value(machine, tag));
		}
		ret->bandwidth[i] = most;
		snprintf(tag, sizeof tag, i == 0 ? "cache_l1d" : "cache_%s", levels[i]);
		double one = record_get_real(machine, "machine", tag);
		snprintf(tag, sizeof tag, i == 0 ? "cache_l1d_count" : "cache_%s_count", levels[i]);
		double count = one_thread ? 1 : record_get_real(machine, "machine", tag);
		ret->capacity[i] =
		    i == DCK_ROOF_LEVELS - 1 ? INFINITY : one * (count > 0 ? count : 1);
	}
}

static size_t roofline_peak_of(const char *dtype)
{
	for (size_t i = 0; dtype && i < sizeof dtype_peaks / sizeof *dtype_peaks; i++)
		if (strcmp(dtype_peaks[i].dtype, dtype) == 0)
			return dtype_peaks[i].peak;
	return NO_PEAK;
}

/* Other integers are computed where single precision is, and without instructions for the type
 * engines convert to it. What a device's engines do is not known. */
static double roofline_peak_choose(const dck_roofline *l, const char *dtype)
{
	const size_t type = roofline_peak_of(dtype);
	const double peak = type == NO_PEAK ? (double)NAN : l->peak[type];

	return isnan(peak) && !l->device ? l->peak[FP32] : peak;
}

void dck_roof_get(const dck_roofline *l, const char *dtype, double flops, double bytes,
		  dck_roof *ret)
{
	const double peak = roofline_peak_choose(l, dtype);
	double compute_ns, memory_ns;

	*ret = (dck_roof){.peak = peak, .bandwidth = NAN, .attainable = NAN, .least_ns = NAN};
	for (size_t i = 0; i < DCK_ROOF_LEVELS; i++)
		if (bytes <= l->capacity[i] && !isnan(l->bandwidth[i])) {
			ret->bandwidth = l->bandwidth[i];
			ret->level = shown[i];
			break;
		}
	if ((isnan(peak) && flops != 0) || isnan(ret->bandwidth) || isnan(flops) || isnan(bytes))
		return;
	compute_ns = flops == 0 ? 0 : 1e9 * flops / peak;
	memory_ns = 1e9 * bytes / ret->bandwidth;
	ret->least_ns = fmax(compute_ns, memory_ns);
	if (flops > 0 || bytes > 0) /* what does neither is bound by nothing */
		ret->bound = compute_ns >= memory_ns ? "compute" : "memory";
	if (flops > 0)
		ret->attainable = 1e9 * flops / ret->least_ns;
}
