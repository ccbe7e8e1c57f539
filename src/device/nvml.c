/* nvml.c - gauges of NVIDIA's GPUs, by its management library (libnvidia-ml.so.1).
 *
 * The library counts devices without regard to CUDA_VISIBLE_DEVICES, so a device is found by its
 * PCI address. A function that a release of the library lacks, or a reading that a device does not
 * have, leaves that gauge absent. The library is loaded and initialised once and never closed.
 *
 * Of a GPU that is divided into instances (MIG) power, energy, utilisation, memory and processes
 * are those of all instances, of which the device is one: these readings are absent. The clock, its
 * reduction and the temperature are common to all.
 *
 * Other processes: in a container the library lists process ids of the host's namespace, among
 * which this process cannot be found. Then one of them may be this one.
 *
 * Source: NVIDIA NVML API Reference.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "device/gauges.h"
#include "device/nvml_api.h"
#include "os/os.h"

#include <pthread.h>
#include <stdio.h>

enum { PROCESSES_MAX = 128 };

static struct {
	os_library *library; /* stays loaded */
	dck_err why;	     /* code DCK_OK: usable */
#define X(member, symbol, parameters) nvml_result(*member) parameters;
	NVML_API(X)
#undef X
} nvml;

static void nvml_load(void)
{
	nvml_result result;

	if (os_library_open("libnvidia-ml.so.1", &nvml.library, &nvml.why) != DCK_OK)
		return;
#define X(member, symbol, parameters) \
	(void)os_library_function(nvml.library, #symbol, &nvml.member);
	NVML_API(X)
#undef X
	if (!nvml.init || !nvml.by_pci || !nvml.count) {
		ERR_SET(&nvml.why, E_ABSENT,
			"'libnvidia-ml.so.1' is too old: it has no nvmlInit_v2, "
			"nvmlDeviceGetHandleByPciBusId_v2 or nvmlDeviceGetCount_v2");
		return;
	}
	result = nvml.init();
	if (result != NVML_API_SUCCESS)
		ERR_SET(&nvml.why, E_ABSENT, "'libnvidia-ml.so.1' cannot be used: error %u",
			result);
}

static dck_status nvml_ready(dck_err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, nvml_load);
	return err_pass(nvml.why.code, &nvml.why, err);
}

bool nvml_has_device(void)
{
	unsigned n = 0;

	return nvml_ready(NULL) == DCK_OK && nvml.count(&n) == NVML_API_SUCCESS && n > 0;
}

/* Reads an unsigned of the device times `unit`. */
#define GAUGE_READ(call, unit, ret)                                         \
	do {                                                                \
		unsigned value_ = 0;                                        \
		if (nvml.call && nvml.call(d, &value_) == NVML_API_SUCCESS) \
			*(ret) = value_ * (unit);                           \
	} while (0)

static void throttle_read(nvml_device d, device_gauges *g)
{
	static const struct {
		unsigned bit;
		const char *name;
	} reasons[] = {{NVML_API_HARDWARE_THERMAL, "temperature, by the hardware"},
		       {NVML_API_THERMAL, "temperature"},
		       {NVML_API_POWER_BRAKE, "power supply"},
		       {NVML_API_POWER_CAP, "power cap"},
		       {NVML_API_HARDWARE, "hardware"},
		       {NVML_API_RELIABILITY, "reliability"}};
	unsigned long long bits = 0;

	if ((!nvml.events || nvml.events(d, &bits) != NVML_API_SUCCESS) &&
	    (!nvml.reasons || nvml.reasons(d, &bits) != NVML_API_SUCCESS))
		return;
	g->throttled = 0;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons && !g->throttled; i++)
		if (bits & reasons[i].bit) {
			g->throttled = 1;
			snprintf(g->throttled_by, sizeof g->throttled_by, "%s", reasons[i].name);
		}
}

static void others_read(nvml_device d, device_gauges *g)
{
	nvml_process process[PROCESSES_MAX];
	const unsigned own = (unsigned)os_process_id();
	unsigned n = PROCESSES_MAX;
	bool found = false;

	if (!nvml.processes || nvml.processes(d, &n, process) != NVML_API_SUCCESS ||
	    n > PROCESSES_MAX)
		return;
	for (unsigned i = 0; i < n; i++)
		found = found || process[i].pid == own;
	if (found || n == 0)
		g->others = (int)n - found;
	else if (n > 1) /* one may be this process by another number */
		g->others = (int)n - 1;
}

static bool is_divided(nvml_device d)
{
	unsigned now = 0, pending = 0;

	return nvml.mig && nvml.mig(d, &now, &pending) == NVML_API_SUCCESS &&
	       now == NVML_API_MIG_ENABLED;
}

/* Reads what all instances of a GPU have together. */
static void whole_read(nvml_device d, device_gauges *g)
{
	nvml_memory memory;
	nvml_busy busy;
	unsigned long long energy;

	GAUGE_READ(power, 1e-3, &g->power_w);
	if (nvml.energy && nvml.energy(d, &energy) == NVML_API_SUCCESS)
		g->energy_j = (double)energy * 1e-3;
	if (nvml.busy && nvml.busy(d, &busy) == NVML_API_SUCCESS)
		g->busy_ratio = busy.gpu / 100.0;
	if (nvml.memory && nvml.memory(d, &memory) == NVML_API_SUCCESS) {
		g->free_bytes = (double)memory.free;
		g->total_bytes = (double)memory.total;
	}
	others_read(d, g);
}

dck_status nvml_gauges(const char *pci, device_gauges *ret, dck_err *err)
{
	device_gauges g = DEVICE_GAUGES_NONE;
	nvml_device d = NULL;
	unsigned clock, celsius;
	nvml_result result;

	DCK_TRY(nvml_ready(err));
	result = nvml.by_pci(pci, &d);
	if (result != NVML_API_SUCCESS)
		DCK_FAIL(err, E_ABSENT, "NVIDIA's management library has no device %s: error %u",
			 pci, result);
	g.divided = is_divided(d);
	if (!g.divided)
		whole_read(d, &g);
	if (nvml.clock && nvml.clock(d, NVML_API_CLOCK_SM, &clock) == NVML_API_SUCCESS)
		g.clock_hz = clock * 1e6;
	if (nvml.temperature &&
	    nvml.temperature(d, NVML_API_SENSOR_GPU, &celsius) == NVML_API_SUCCESS)
		g.celsius = celsius;
	throttle_read(d, &g);
	*ret = g;
	return DCK_OK;
}
