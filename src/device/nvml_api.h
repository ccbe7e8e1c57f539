/* nvml_api.h - own declarations of what nvml.c calls of NVIDIA's management library.
 * tests/doubles/headers.py compares them with nvml.h; for that it defines DEVICE_API_TYPES and the
 * types.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_NVML_API_H
#define DEVICE_NVML_API_H

#ifndef DEVICE_API_TYPES
typedef unsigned nvml_result;
typedef unsigned nvml_clock;
typedef unsigned nvml_sensor;
typedef struct nvml_device_s *nvml_device;
typedef struct nvml_memory {
	unsigned long long total, free, used;
} nvml_memory;
typedef struct nvml_busy {
	unsigned gpu, memory; /* percent */
} nvml_busy;
typedef struct nvml_process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
} nvml_process;
#endif

/* X(member, symbol, parameters); each returns nvml_result. */
#define NVML_API(X)                                                                                \
	X(init, nvmlInit_v2, (void))                                                               \
	X(by_pci, nvmlDeviceGetHandleByPciBusId_v2, (const char *, nvml_device *))                 \
	X(count, nvmlDeviceGetCount_v2, (unsigned *))                                              \
	X(power, nvmlDeviceGetPowerUsage, (nvml_device, unsigned *))                               \
	X(energy, nvmlDeviceGetTotalEnergyConsumption, (nvml_device, unsigned long long *))        \
	X(clock, nvmlDeviceGetClockInfo, (nvml_device, nvml_clock, unsigned *))                    \
	X(temperature, nvmlDeviceGetTemperature, (nvml_device, nvml_sensor, unsigned *))           \
	X(busy, nvmlDeviceGetUtilizationRates, (nvml_device, nvml_busy *))                         \
	X(memory, nvmlDeviceGetMemoryInfo, (nvml_device, nvml_memory *))                           \
	X(reasons, nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device, unsigned long long *)) \
	X(events, nvmlDeviceGetCurrentClocksEventReasons, (nvml_device, unsigned long long *))     \
	X(processes, nvmlDeviceGetComputeRunningProcesses_v3,                                      \
	  (nvml_device, unsigned *, nvml_process *))                                               \
	X(mig, nvmlDeviceGetMigMode, (nvml_device, unsigned *, unsigned *))

enum {
	NVML_API_SUCCESS = 0,
	NVML_API_NOT_SUPPORTED = 3,
	NVML_API_NOT_FOUND = 6,
	NVML_API_SMALL = 7,
	NVML_API_CLOCK_SM = 1,
	NVML_API_SENSOR_GPU = 0,
	NVML_API_MIG_ENABLED = 1
};

/* Bits of why a clock is reduced. */
enum {
	NVML_API_POWER_CAP = 0x4,
	NVML_API_HARDWARE = 0x8,
	NVML_API_THERMAL = 0x20,
	NVML_API_HARDWARE_THERMAL = 0x40,
	NVML_API_POWER_BRAKE = 0x80,
	NVML_API_RELIABILITY = 0x400
};

#endif
