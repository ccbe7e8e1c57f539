/* SPDX-License-Identifier: Apache-2.0 */
#include "roofline/roofline.h"
#include "model/onnx.h"
#include <math.h>
#include <stdio.h>

static const char *const types[] = {"fp64", "fp32", "fp16", "bf16", "int8"};
static const char *const levels[] = {"l1", "l2", "l3", "dram"};
static const char *const shown[] = {"L1", "L2", "L3", "DRAM"};
static const char *const kinds[] = {"read", "copy", "triad"};

static double fact_number(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "machine", key);

	return f ? dck_value_number(&f->value) : (double)NAN;
}

void roofline_read(const dck_record *machine, bool one_thread, roofline_limits *ret)
{
	const char *threads = one_thread ? "1" : "all";
	char tag[64];

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		snprintf(tag, sizeof tag, "peak/%s/%s", types[i], threads);
		ret->peak[i] = dck_record_value(machine, tag);
	}
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		double most = NAN;
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			snprintf(tag, sizeof tag, "bandwidth/%s_%s/%s", levels[i], kinds[k],
				 threads);
			most = fmax(most, dck_record_value(machine, tag));
		}
		ret->bandwidth[i] = most;
		snprintf(tag, sizeof tag, i == 0 ? "cache_l1d" : "cache_%s", levels[i]);
		double one = fact_number(machine, tag);
		snprintf(tag, sizeof tag, i == 0 ? "cache_l1d_count" : "cache_%s_count", levels[i]);
		double count = one_thread ? 1 : fact_number(machine, tag);
		ret->capacity[i] = i == 3 ? INFINITY : one * (count > 0 ? count : 1);
	}
}

static size_t peak_of(int64_t dtype)
{
	switch (dtype) {
	case ONNX_DOUBLE:
		return 0;
	case ONNX_FLOAT16:
		return 2;
	case ONNX_BFLOAT16:
		return 3;
	case ONNX_INT8:
	case ONNX_UINT8:
		return 4;
	default:
		return 1; /* other integers are computed where single precision is */
	}
}

void roofline_of(const roofline_limits *l, int64_t dtype, double flops, double bytes, roofline *ret)
{
	double peak = l->peak[peak_of(dtype)], compute_ns, memory_ns;

	/* No instructions of its own: engines convert to single precision. */
	if (isnan(peak))
		peak = l->peak[1];
	*ret = (roofline){.peak = peak, .bandwidth = NAN, .attainable = NAN, .least_ns = NAN};
	for (size_t i = 0; i < 4; i++)
		if (bytes <= l->capacity[i] && !isnan(l->bandwidth[i])) {
			ret->bandwidth = l->bandwidth[i];
			ret->level = shown[i];
			break;
		}
	if (isnan(peak) || isnan(ret->bandwidth) || isnan(flops) || isnan(bytes))
		return;
	compute_ns = 1e9 * flops / peak;
	memory_ns = 1e9 * bytes / ret->bandwidth;
	ret->least_ns = fmax(compute_ns, memory_ns);
	ret->bound = compute_ns >= memory_ns ? "compute" : "memory";
	if (flops > 0)
		ret->attainable = 1e9 * flops / ret->least_ns;
}
