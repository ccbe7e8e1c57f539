/* opencl_api.h - the types, constants and functions of OpenCL 1.2 that are used here, declared as
 * in Khronos' CL/cl.h and CL/cl_ext.h; the constant CL_X is OPENCL_X. A test includes those headers
 * first and then this one: a declaration or a constant that differs does not compile.
 *
 * The functions are called through `opencl`, which opencl_load() fills. clCreateCommandQueue() is
 * deprecated since 2.0 but every version has it, which is not true of its successor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_OPENCL_API_H
#define DEVICE_OPENCL_API_H

#include "os/process/lazy_library.h"

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
typedef cl_bitfield cl_device_type;
typedef cl_uint cl_device_info;
typedef cl_bitfield cl_command_queue_properties;
typedef intptr_t cl_context_properties;
typedef cl_bitfield cl_mem_flags;
typedef cl_bitfield cl_mem_migration_flags;
typedef cl_bitfield cl_map_flags;
typedef cl_uint cl_program_build_info;
typedef cl_uint cl_event_info;
typedef cl_uint cl_command_queue_info;
typedef cl_uint cl_profiling_info;

#define OPENCL_CONSTANTS(X)                               \
	X(SUCCESS, 0)                                     \
	X(DEVICE_NOT_FOUND, -1)                           \
	X(DEVICE_NOT_AVAILABLE, -2)                       \
	X(COMPILER_NOT_AVAILABLE, -3)                     \
	X(MEM_OBJECT_ALLOCATION_FAILURE, -4)              \
	X(OUT_OF_RESOURCES, -5)                           \
	X(OUT_OF_HOST_MEMORY, -6)                         \
	X(BUILD_PROGRAM_FAILURE, -11)                     \
	X(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14) \
	X(INVALID_VALUE, -30)                             \
	X(INVALID_KERNEL_NAME, -46)                       \
	X(INVALID_ARG_INDEX, -49)                         \
	X(INVALID_ARG_VALUE, -50)                         \
	X(INVALID_ARG_SIZE, -51)                          \
	X(INVALID_KERNEL_ARGS, -52)                       \
	X(INVALID_WORK_GROUP_SIZE, -54)                   \
	X(INVALID_BUFFER_SIZE, -61)                       \
	X(PLATFORM_NOT_FOUND_KHR, -1001)                  \
	X(FALSE, 0)                                       \
	X(TRUE, 1)                                        \
	X(DEVICE_TYPE_CPU, (1 << 1))                      \
	X(DEVICE_TYPE, 0x1000)                            \
	X(DEVICE_MAX_COMPUTE_UNITS, 0x1002)               \
	X(DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)             \
	X(DEVICE_MAX_CLOCK_FREQUENCY, 0x100C)             \
	X(DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)              \
	X(DEVICE_GLOBAL_MEM_CACHE_SIZE, 0x101E)           \
	X(DEVICE_GLOBAL_MEM_SIZE, 0x101F)                 \
	X(DEVICE_PROFILING_TIMER_RESOLUTION, 0x1025)      \
	X(DEVICE_NAME, 0x102B)                            \
	X(DEVICE_VENDOR, 0x102C)                          \
	X(DRIVER_VERSION, 0x102D)                         \
	X(DEVICE_VERSION, 0x102F)                         \
	X(DEVICE_EXTENSIONS, 0x1030)                      \
	X(DEVICE_PCI_BUS_INFO_KHR, 0x410F)                \
	X(QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, (1 << 0))  \
	X(QUEUE_PROFILING_ENABLE, (1 << 1))               \
	X(QUEUE_CONTEXT, 0x1090)                          \
	X(QUEUE_DEVICE, 0x1091)                           \
	X(QUEUE_PROPERTIES, 0x1093)                       \
	X(MEM_READ_WRITE, (1 << 0))                       \
	X(MEM_ALLOC_HOST_PTR, (1 << 4))                   \
	X(MAP_READ, (1 << 0))                             \
	X(MAP_WRITE, (1 << 1))                            \
	X(MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, (1 << 1)) \
	X(PROGRAM_BUILD_LOG, 0x1183)                      \
	X(EVENT_COMMAND_EXECUTION_STATUS, 0x11D3)         \
	X(COMPLETE, 0x0)                                  \
	X(PROFILING_COMMAND_END, 0x1283)
#define X(name, value) OPENCL_##name = (value),
enum { OPENCL_CONSTANTS(X) };
#undef X
#define OPENCL_DEVICE_TYPE_ALL 0xFFFFFFFFu

cl_int clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *);
cl_int clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *);
cl_int clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
cl_context clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
			   void (*)(const char *, const void *, size_t, void *), void *, cl_int *);
cl_int clRetainContext(cl_context);
cl_int clReleaseContext(cl_context);
cl_command_queue clCreateCommandQueue(cl_context, cl_device_id, cl_command_queue_properties,
				      cl_int *);
cl_int clRetainCommandQueue(cl_command_queue);
cl_int clReleaseCommandQueue(cl_command_queue);
cl_int clGetCommandQueueInfo(cl_command_queue, cl_command_queue_info, size_t, void *, size_t *);
cl_mem clCreateBuffer(cl_context, cl_mem_flags, size_t, void *, cl_int *);
cl_int clReleaseMemObject(cl_mem);
void *clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint,
			 const cl_event *, cl_event *, cl_int *);
cl_int clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *,
			       cl_event *);
cl_int clEnqueueMigrateMemObjects(cl_command_queue, cl_uint, const cl_mem *, cl_mem_migration_flags,
				  cl_uint, const cl_event *, cl_event *);
cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,
			   const cl_event *, cl_event *);
cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *,
			    cl_uint, const cl_event *, cl_event *);
cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint,
			   const cl_event *, cl_event *);
cl_int clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint, const cl_event *, cl_event *);
cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
			      const size_t *, cl_uint, const cl_event *, cl_event *);
cl_int clFlush(cl_command_queue);
cl_int clFinish(cl_command_queue);
cl_int clGetEventInfo(cl_event, cl_event_info, size_t, void *, size_t *);
cl_int clGetEventProfilingInfo(cl_event, cl_profiling_info, size_t, void *, size_t *);
cl_int clReleaseEvent(cl_event);
cl_program clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_int clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
		      void (*)(cl_program, void *), void *);
cl_int clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, size_t, void *,
			     size_t *);
cl_int clReleaseProgram(cl_program);
cl_kernel clCreateKernel(cl_program, const char *, cl_int *);
cl_int clSetKernelArg(cl_kernel, cl_uint, size_t, const void *);
cl_int clReleaseKernel(cl_kernel);

#define OPENCL_FUNCTIONS(X)              \
	X(cl, GetPlatformIDs)            \
	X(cl, GetDeviceIDs)              \
	X(cl, GetDeviceInfo)             \
	X(cl, CreateContext)             \
	X(cl, RetainContext)             \
	X(cl, ReleaseContext)            \
	X(cl, CreateCommandQueue)        \
	X(cl, RetainCommandQueue)        \
	X(cl, ReleaseCommandQueue)       \
	X(cl, GetCommandQueueInfo)       \
	X(cl, CreateBuffer)              \
	X(cl, ReleaseMemObject)          \
	X(cl, EnqueueMapBuffer)          \
	X(cl, EnqueueUnmapMemObject)     \
	X(cl, EnqueueMigrateMemObjects)  \
	X(cl, EnqueueReadBuffer)         \
	X(cl, EnqueueWriteBuffer)        \
	X(cl, EnqueueCopyBuffer)         \
	X(cl, EnqueueMarkerWithWaitList) \
	X(cl, EnqueueNDRangeKernel)      \
	X(cl, Flush)                     \
	X(cl, Finish)                    \
	X(cl, GetEventInfo)              \
	X(cl, GetEventProfilingInfo)     \
	X(cl, ReleaseEvent)              \
	X(cl, CreateProgramWithSource)   \
	X(cl, BuildProgram)              \
	X(cl, GetProgramBuildInfo)       \
	X(cl, ReleaseProgram)            \
	X(cl, CreateKernel)              \
	X(cl, SetKernelArg)              \
	X(cl, ReleaseKernel)
struct opencl_functions {
	OPENCL_FUNCTIONS(OS_LAZY_MEMBER)
};
extern struct opencl_functions opencl;

#endif
