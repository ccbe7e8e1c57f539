/* nvml.c - a double of libnvidia-ml.so.1: the GPUs of the double of CUDA, by their PCI addresses,
 * with readings from the environment. No GPU is needed or touched.
 *
 * NVML_DOUBLE_DEVICES. NVML_DOUBLE_CLOCKS: "1980,1800,1500", MHz; each reading of the clock takes
 * the next, and the last stays. NVML_DOUBLE_THROTTLE: bits of the reasons while the clock is not
 * the first of that list. NVML_DOUBLE_WATTS: the energy counter follows it, on the machine's clock.
 * NVML_DOUBLE_PIDS: "self,4711". NVML_DOUBLE_MIG: 1, the GPU is divided. NVML_DOUBLE_FAIL:
 * "nvmlInit_v2=9".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/nvml_api.h"
#include "double.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define X(member, symbol, parameters) EXPORT nvml_result symbol parameters;
NVML_API(X)
#undef X

struct nvml_device_s {
	unsigned index;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvml_device_s devices[8] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};
static unsigned clock_readings;

static nvml_result fails(const char *function)
{
	return failure("NVML_DOUBLE_FAIL", function);
}

nvml_result nvmlInit_v2(void)
{
	return fails(__func__);
}

nvml_result nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = (unsigned)setting("NVML_DOUBLE_DEVICES", 2);
	return fails(__func__);
}

nvml_result nvmlDeviceGetHandleByPciBusId_v2(const char *pci, nvml_device *device)
{
	const unsigned n = (unsigned)setting("NVML_DOUBLE_DEVICES", 2);
	unsigned domain, bus;

	if (fails(__func__))
		return fails(__func__);
	if (sscanf(pci, "%x:%x:00.0", &domain, &bus) != 2 || bus < 0xc0 || bus - 0xc0 >= n ||
	    bus - 0xc0 >= 8)
		return NVML_API_NOT_FOUND;
	*device = &devices[bus - 0xc0];
	return NVML_API_SUCCESS;
}

nvml_result nvmlDeviceGetPowerUsage(nvml_device device, unsigned *mw)
{
	(void)device;
	*mw = (unsigned)setting("NVML_DOUBLE_WATTS", 250) * 1000;
	return fails(__func__);
}

nvml_result nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *mj)
{
	struct timespec now;

	(void)device;
	clock_gettime(CLOCK_MONOTONIC, &now);
	*mj = setting("NVML_DOUBLE_WATTS", 250) *
	      ((unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000);
	return fails(__func__);
}

static unsigned clock_of(unsigned reading, unsigned *ret_first)
{
	const char *at = getenv("NVML_DOUBLE_CLOCKS");
	unsigned clock;

	*ret_first = clock = at ? (unsigned)strtoul(at, NULL, 10) : 1980;
	for (; at && reading > 0 && (at = strchr(at, ',')); reading--)
		clock = (unsigned)strtoul(++at, NULL, 10);
	return clock;
}

nvml_result nvmlDeviceGetClockInfo(nvml_device device, nvml_clock which, unsigned *mhz)
{
	unsigned first;

	(void)device;
	if (which != NVML_API_CLOCK_SM)
		return NVML_API_NOT_SUPPORTED;
	pthread_mutex_lock(&lock);
	*mhz = clock_of(clock_readings++, &first);
	pthread_mutex_unlock(&lock);
	return fails(__func__);
}

nvml_result nvmlDeviceGetTemperature(nvml_device device, nvml_sensor sensor, unsigned *celsius)
{
	(void)device;
	*celsius = 61;
	return sensor == NVML_API_SENSOR_GPU ? fails(__func__) : NVML_API_NOT_SUPPORTED;
}

nvml_result nvmlDeviceGetUtilizationRates(nvml_device device, nvml_busy *ret)
{
	(void)device;
	*ret = (nvml_busy){.gpu = 87, .memory = 12};
	return fails(__func__);
}

nvml_result nvmlDeviceGetMemoryInfo(nvml_device device, nvml_memory *ret)
{
	(void)device;
	*ret = (nvml_memory){.total = 64u << 20, .free = 60u << 20, .used = 4u << 20};
	return fails(__func__);
}

static unsigned long long reasons(void)
{
	unsigned first, now;

	pthread_mutex_lock(&lock);
	now = clock_of(clock_readings ? clock_readings - 1 : 0, &first);
	pthread_mutex_unlock(&lock);
	return now == first ? 1 /* idle: no throttling */ : setting("NVML_DOUBLE_THROTTLE", 0);
}

#ifdef DOUBLE_OLD
nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *ret)
#else
nvml_result nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *ret)
#endif
{
	(void)device;
	*ret = reasons();
	return fails(__func__);
}

nvml_result nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *n,
						    nvml_process *ret)
{
	const char *at = getenv("NVML_DOUBLE_PIDS");
	const unsigned cap = *n;

	(void)device;
	if (fails(__func__))
		return fails(__func__);
	for (*n = 0; at && *at; at += strcspn(at, ","), at += *at == ',') {
		if (*n == cap)
			return NVML_API_SMALL;
		ret[(*n)++] = (nvml_process){.pid = strncmp(at, "self", 4) == 0
							? (unsigned)getpid()
							: (unsigned)strtoul(at, NULL, 10)};
	}
	return NVML_API_SUCCESS;
}

nvml_result nvmlDeviceGetMigMode(nvml_device device, unsigned *now, unsigned *pending)
{
	(void)device;
	*now = *pending = (unsigned)setting("NVML_DOUBLE_MIG", 0);
	return fails(__func__);
}
