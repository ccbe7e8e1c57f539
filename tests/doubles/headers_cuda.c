/* headers_cuda.c - compares src/device/cuda_api.h with the vendor's header: cuda.h, or with
 * -DWITH_HIP hip_runtime_api.h. It is compiled only.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define DEVICE_API_TYPES
#define SAME(a, b)	 _Static_assert(__builtin_types_compatible_p(a, b), #a)
#define SIZE(a, b)	 _Static_assert(sizeof(a) == sizeof(b), #a)
#define IS(ours, theirs) _Static_assert((unsigned)(ours) == (unsigned)(theirs), #theirs)

#ifdef WITH_HIP
#include <hip/hip_runtime_api.h>
typedef hipError_t api_result;
typedef hipDevice_t api_device;
typedef hipDeviceAttribute_t api_attribute;
typedef hipDeviceptr_t api_address;
#if HIP_VERSION_MAJOR >= 6
typedef const void *api_source;
#else
typedef void *api_source;
#endif
typedef hipJitOption api_jit_option;
typedef hipStreamCaptureStatus api_capture;
typedef hipStreamCaptureMode api_capture_mode;
typedef hipCtx_t api_context;
typedef hipStream_t api_stream;
typedef hipEvent_t api_event;
typedef hipModule_t api_module;
typedef hipFunction_t api_function;
#define PICK(cuda, hip) hip
#else
#include <cuda.h>
typedef CUresult api_result;
typedef CUdevice api_device;
typedef CUdevice_attribute api_attribute;
typedef CUdeviceptr api_address;
typedef const void *api_source;
typedef CUjit_option api_jit_option;
typedef CUstreamCaptureStatus api_capture;
typedef CUstreamCaptureMode api_capture_mode;
typedef CUcontext api_context;
typedef CUstream api_stream;
typedef CUevent api_event;
typedef CUmodule api_module;
typedef CUfunction api_function;
#define PICK(cuda, hip) cuda
#endif

#include "device/cuda_api.h"

#define X(member, cuda, hip, parameters) SAME(__typeof__(PICK(cuda, hip)), api_result parameters);
CUDA_API(X)
#undef X

/* cuda_api.h defines them so without the vendor's header; HIP's address is a pointer. */
SIZE(api_result, unsigned);
SAME(api_device, int);
SIZE(api_attribute, unsigned);
SIZE(api_address, unsigned long long);
SIZE(api_jit_option, unsigned);
SIZE(api_capture, unsigned);
SIZE(api_capture_mode, unsigned);
SIZE(api_context, void *);
SIZE(api_stream, void *);
SIZE(api_event, void *);
SIZE(api_module, void *);
SIZE(api_function, void *);

#ifdef WITH_HIP
SAME(__typeof__(hipGetErrorString), const char *(hipError_t));
IS(API_SUCCESS, hipSuccess);
IS(API_OUT_OF_MEMORY, hipErrorOutOfMemory);
IS(API_NO_DEVICE, hipErrorNoDevice);
IS(API_INVALID_IMAGE, hipErrorInvalidImage);
IS(API_NO_BINARY, hipErrorNoBinaryForGpu);
IS(API_ECC_UNCORRECTABLE, hipErrorECCNotCorrectable);
IS(API_INVALID_HANDLE, hipErrorInvalidHandle);
IS(API_NOT_FOUND, hipErrorNotFound);
IS(API_NOT_READY, hipErrorNotReady);
IS(API_ILLEGAL_ADDRESS, hipErrorIllegalAddress);
IS(API_LAUNCH_TIMEOUT, hipErrorLaunchTimeOut);
IS(API_ASSERT, hipErrorAssert);
IS(API_LAUNCH_FAILED, hipErrorLaunchFailure);
IS(API_STREAM_NON_BLOCKING, hipStreamNonBlocking);
IS(API_EVENT_BLOCKING, hipEventBlockingSync);
IS(API_EVENT_NO_TIMING, hipEventDisableTiming);
IS(HIP_MAX_THREADS, hipDeviceAttributeMaxThreadsPerBlock);
IS(HIP_CLOCK_KHZ, hipDeviceAttributeClockRate);
IS(HIP_UNITS, hipDeviceAttributeMultiprocessorCount);
IS(HIP_CACHE_BYTES, hipDeviceAttributeL2CacheSize);
#else
SAME(api_address, unsigned long long);
SAME(__typeof__(cuGetErrorString), CUresult(CUresult, const char **));
IS(API_SUCCESS, CUDA_SUCCESS);
IS(API_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
IS(API_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
IS(API_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
IS(API_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU);
IS(API_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE);
IS(API_INVALID_PTX, CUDA_ERROR_INVALID_PTX);
IS(API_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE);
IS(API_NO_COMPILER, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
IS(API_UNSUPPORTED_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
IS(API_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE);
IS(API_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
IS(API_NOT_READY, CUDA_ERROR_NOT_READY);
IS(API_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS);
IS(API_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT);
IS(API_ASSERT, CUDA_ERROR_ASSERT);
IS(API_HARDWARE_STACK, CUDA_ERROR_HARDWARE_STACK_ERROR);
IS(API_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION);
IS(API_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS);
IS(API_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE);
IS(API_INVALID_PC, CUDA_ERROR_INVALID_PC);
IS(API_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED);
IS(API_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
IS(API_EVENT_BLOCKING, CU_EVENT_BLOCKING_SYNC);
IS(API_EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING);
IS(API_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
IS(API_JIT_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
IS(CUDA_MAX_THREADS, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
IS(CUDA_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
IS(CUDA_UNITS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
IS(CUDA_CACHE_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
IS(CUDA_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
IS(CUDA_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
#endif
