/* headers_nvml.c - compares src/device/nvml_api.h with nvml.h. It is compiled only.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <nvml.h>

#define DEVICE_API_TYPES
typedef nvmlReturn_t nvml_result;
typedef nvmlClockType_t nvml_clock;
typedef nvmlTemperatureSensors_t nvml_sensor;
typedef nvmlDevice_t nvml_device;
typedef nvmlMemory_t nvml_memory;
typedef nvmlUtilization_t nvml_busy;
typedef nvmlProcessInfo_t nvml_process;
#include "device/nvml_api.h"

#define SAME(a, b) _Static_assert(__builtin_types_compatible_p(a, b), #a)
#define SIZE(a, b) _Static_assert(sizeof(a) == (b), #a)
#define IS(ours, theirs) \
	_Static_assert((unsigned long long)(ours) == (unsigned long long)(theirs), #theirs)
#define AT(type, member, at) _Static_assert(offsetof(type, member) == (at), #member)

#define X(member, symbol, parameters) SAME(__typeof__(symbol), nvml_result parameters);
NVML_API(X)
#undef X

/* nvml_api.h defines them so without NVIDIA's header. */
SIZE(nvml_result, sizeof(unsigned));
SIZE(nvml_clock, sizeof(unsigned));
SIZE(nvml_sensor, sizeof(unsigned));
SIZE(nvml_device, sizeof(void *));
SIZE(nvml_memory, 24);
AT(nvml_memory, total, 0);
AT(nvml_memory, free, 8);
AT(nvml_memory, used, 16);
SIZE(nvml_busy, 8);
AT(nvml_busy, gpu, 0);
AT(nvml_busy, memory, 4);
SIZE(nvml_process, 24);
AT(nvml_process, pid, 0);
AT(nvml_process, usedGpuMemory, 8);
AT(nvml_process, gpuInstanceId, 16);
AT(nvml_process, computeInstanceId, 20);

IS(NVML_API_SUCCESS, NVML_SUCCESS);
IS(NVML_API_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
IS(NVML_API_NOT_FOUND, NVML_ERROR_NOT_FOUND);
IS(NVML_API_SMALL, NVML_ERROR_INSUFFICIENT_SIZE);
IS(NVML_API_CLOCK_SM, NVML_CLOCK_SM);
IS(NVML_API_SENSOR_GPU, NVML_TEMPERATURE_GPU);
IS(NVML_API_MIG_ENABLED, NVML_DEVICE_MIG_ENABLE);
IS(NVML_API_POWER_CAP, nvmlClocksEventReasonSwPowerCap);
IS(NVML_API_HARDWARE, nvmlClocksThrottleReasonHwSlowdown);
IS(NVML_API_THERMAL, nvmlClocksEventReasonSwThermalSlowdown);
IS(NVML_API_HARDWARE_THERMAL, nvmlClocksThrottleReasonHwThermalSlowdown);
IS(NVML_API_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
IS(NVML_API_RELIABILITY, nvmlClocksEventReasonReliability);
