/* cuda_api.h - own declarations of what cuda.c calls, so that it compiles without a vendor's
 * headers: the functions of libcuda.so.1 and of libamdhip64.so, which have the same parameters but
 * for the names of types, and the constants. tests/doubles/headers.py compares them with the
 * vendors' headers; for that it defines DEVICE_API_TYPES and the types.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_CUDA_API_H
#define DEVICE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef DEVICE_API_TYPES
typedef unsigned api_result;
typedef int api_device;
typedef unsigned api_attribute;
typedef unsigned long long api_address; /* HIP: void * */
typedef const void *api_source;		/* HIP of 5.2: void * */
typedef unsigned api_jit_option;
typedef unsigned api_capture;
typedef unsigned api_capture_mode;
typedef struct api_context_s *api_context;
typedef struct api_stream_s *api_stream;
typedef struct api_event_s *api_event;
typedef struct api_module_s *api_module;
typedef struct api_function_s *api_function;
#endif

/* X(member, CUDA's symbol, HIP's symbol, parameters); each returns api_result. */
#define CUDA_API(X)                                                                                \
	X(init, cuInit, hipInit, (unsigned))                                                       \
	X(version, cuDriverGetVersion, hipDriverGetVersion, (int *))                               \
	X(count, cuDeviceGetCount, hipGetDeviceCount, (int *))                                     \
	X(device_get, cuDeviceGet, hipDeviceGet, (api_device *, int))                              \
	X(name, cuDeviceGetName, hipDeviceGetName, (char *, int, api_device))                      \
	X(attribute, cuDeviceGetAttribute, hipDeviceGetAttribute,                                  \
	  (int *, api_attribute, api_device))                                                      \
	X(memory_total, cuDeviceTotalMem_v2, hipDeviceTotalMem, (size_t *, api_device))            \
	X(pci, cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, (char *, int, api_device))               \
	X(context_retain, cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain,                     \
	  (api_context *, api_device))                                                             \
	X(context_release, cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, (api_device)) \
	X(context_set, cuCtxSetCurrent, hipCtxSetCurrent, (api_context))                           \
	X(context_get, cuCtxGetCurrent, hipCtxGetCurrent, (api_context *))                         \
	X(context_device, cuCtxGetDevice, hipCtxGetDevice, (api_device *))                         \
	X(stream_create, cuStreamCreate, hipStreamCreateWithFlags, (api_stream *, unsigned))       \
	X(stream_destroy, cuStreamDestroy_v2, hipStreamDestroy, (api_stream))                      \
	X(stream_query, cuStreamQuery, hipStreamQuery, (api_stream))                               \
	X(stream_capturing, cuStreamIsCapturing, hipStreamIsCapturing,                             \
	  (api_stream, api_capture *))                                                             \
	X(capture_mode, cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode,     \
	  (api_capture_mode *))                                                                    \
	X(event_create, cuEventCreate, hipEventCreateWithFlags, (api_event *, unsigned))           \
	X(event_destroy, cuEventDestroy_v2, hipEventDestroy, (api_event))                          \
	X(event_record, cuEventRecord, hipEventRecord, (api_event, api_stream))                    \
	X(event_query, cuEventQuery, hipEventQuery, (api_event))                                   \
	X(event_synchronize, cuEventSynchronize, hipEventSynchronize, (api_event))                 \
	X(event_elapsed, cuEventElapsedTime, hipEventElapsedTime, (float *, api_event, api_event)) \
	X(memory_alloc, cuMemAlloc_v2, hipMalloc, (api_address *, size_t))                         \
	X(memory_free, cuMemFree_v2, hipFree, (api_address))                                       \
	X(memory_info, cuMemGetInfo_v2, hipMemGetInfo, (size_t *, size_t *))                       \
	X(host_alloc, cuMemHostAlloc, hipHostMalloc, (void **, size_t, unsigned))                  \
	X(host_free, cuMemFreeHost, hipHostFree, (void *))                                         \
	X(copy_to_device, cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync,                                \
	  (api_address, api_source, size_t, api_stream))                                           \
	X(copy_to_host, cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync,                                  \
	  (void *, api_address, size_t, api_stream))                                               \
	X(copy_inside, cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync,                                   \
	  (api_address, api_address, size_t, api_stream))                                          \
	X(module_load, cuModuleLoadDataEx, hipModuleLoadDataEx,                                    \
	  (api_module *, const void *, unsigned, api_jit_option *, void **))                       \
	X(module_unload, cuModuleUnload, hipModuleUnload, (api_module))                            \
	X(module_function, cuModuleGetFunction, hipModuleGetFunction,                              \
	  (api_function *, api_module, const char *))                                              \
	X(launch, cuLaunchKernel, hipModuleLaunchKernel,                                           \
	  (api_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
	   api_stream, void **, void **))

/* Results. Those of CUDA; HIP has the same numbers where it has the error. */
enum {
	API_SUCCESS = 0,
	API_OUT_OF_MEMORY = 2,
	API_NO_DEVICE = 100,
	API_INVALID_IMAGE = 200,
	API_NO_BINARY = 209,
	API_ECC_UNCORRECTABLE = 214,
	API_INVALID_PTX = 218,
	API_NVLINK_UNCORRECTABLE = 220,
	API_NO_COMPILER = 221,
	API_UNSUPPORTED_PTX = 222,
	API_INVALID_HANDLE = 400,
	API_NOT_FOUND = 500,
	API_NOT_READY = 600,
	API_ILLEGAL_ADDRESS = 700,
	API_LAUNCH_TIMEOUT = 702,
	API_ASSERT = 710,
	API_HARDWARE_STACK = 714,
	API_ILLEGAL_INSTRUCTION = 715,
	API_MISALIGNED_ADDRESS = 716,
	API_INVALID_ADDRESS_SPACE = 717,
	API_INVALID_PC = 718,
	API_LAUNCH_FAILED = 719
};

enum {
	API_CAPTURE_NONE = 0,
	API_CAPTURE_RELAXED = 2,     /* calls that are unsafe to capture are allowed */
	API_STREAM_NON_BLOCKING = 1, /* not ordered with the default stream */
	API_EVENT_BLOCKING = 1,	     /* the host sleeps while it waits */
	API_EVENT_NO_TIMING = 2,
	API_JIT_ERROR_LOG = 5, /* CUDA's alone */
	API_JIT_ERROR_LOG_BYTES = 6
};

/* Attributes of devices; HIP numbers them in another way. */
enum {
	CUDA_MAX_THREADS = 1,
	CUDA_CLOCK_KHZ = 13,
	CUDA_UNITS = 16,
	CUDA_CACHE_BYTES = 38,
	CUDA_CAPABILITY_MAJOR = 75,
	CUDA_CAPABILITY_MINOR = 76,
	HIP_MAX_THREADS = 56,
	HIP_CLOCK_KHZ = 5,
	HIP_UNITS = 63,
	HIP_CACHE_BYTES = 19
};

#endif
