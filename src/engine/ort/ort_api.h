/* ort_api.h - the part of ONNX Runtime's C API that is called, declared from its documentation.
 *
 * The library exports one function, OrtGetApiBase(). It leads to a table of function pointers that
 * only ever grows at its end (the promise of ONNX Runtime's public C API), so that a function is
 * known by its slot: the position of its member in the documented struct OrtApi, counted from 0.
 * Each row below is one slot that we call; ort_api_fill() copies it out of the library's table, and
 * nothing else of that table is touched. The slots of the first list are in the table of 1.19, the
 * oldest version that is accepted; the second list has the version since which each exists.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_API_H
#define ENGINE_ORT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ort_status ort_status; /* NULL: success */
typedef struct ort_env ort_env;
typedef struct ort_options ort_options; /* of a session */
typedef struct ort_session ort_session;
typedef struct ort_run_options ort_run_options;
typedef struct ort_binding ort_binding;
typedef struct ort_value ort_value;
typedef struct ort_type ort_type;
typedef struct ort_tensor_type ort_tensor_type;
typedef struct ort_memory ort_memory; /* location of memory */
typedef struct ort_allocator ort_allocator;
typedef struct ort_cuda ort_cuda;   /* options of the CUDA provider */
typedef struct ort_pairs ort_pairs; /* keys and their values */
typedef struct ort_stream ort_stream;
/* A device of a provider in a separate library, and its hardware. */
typedef struct ort_ep_device ort_ep_device;
typedef struct ort_hardware ort_hardware;
/* The nodes of a graph that one provider was given together, and one of them. */
typedef struct ort_assigned ort_assigned;
typedef struct ort_assigned_node ort_assigned_node;

/* The interface of an allocator that ONNX Runtime calls. `version` is the oldest API with these
 * members, so ONNX Runtime expects no later ones. */
typedef struct ort_allocator_table {
	uint32_t version;
	void *(*alloc)(struct ort_allocator_table *self, size_t bytes);
	void (*free)(struct ort_allocator_table *self, void *p);
	const ort_memory *(*info)(const struct ort_allocator_table *self);
	void *(*reserve)(struct ort_allocator_table *self, size_t bytes); /* for weights */
} ort_allocator_table;
#define ORT_ALLOCATOR_VERSION 18u

/* Values of the API's enumerations, which are as frozen as the slots. */
enum { ORT_LOG_VERBOSE, ORT_LOG_INFO, ORT_LOG_WARNING, ORT_LOG_ERROR, ORT_LOG_FATAL };
enum { ORT_TYPE_TENSOR = 1 };
enum { ORT_ALLOCATOR_DEVICE = 0, ORT_ALLOCATOR_ARENA = 1, ORT_MEMORY_DEFAULT = 0 };
enum { ORT_DEVICE_CPU = 0, ORT_DEVICE_GPU = 1, ORT_DEVICE_NPU = 2 }; /* kinds of hardware */
enum { ORT_MEMORY_OF_CPU = 0 }; /* kind of device that has the memory */
enum { ORT_SEQUENTIAL = 0, ORT_PARALLEL = 1 };
enum { ORT_OPT_NONE = 0, ORT_OPT_BASIC = 1, ORT_OPT_EXTENDED = 2, ORT_OPT_ALL = 99 };

typedef void (*ort_log_fn)(void *self, int severity, const char *category, const char *id,
			   const char *location, const char *text);

/* slot, member, type of the result, arguments */
#define ORT_SLOTS(X)                                                                              \
	X(1, GetErrorCode, int, (const ort_status *s))                                            \
	X(2, GetErrorMessage, const char *, (const ort_status *s))                                \
	X(4, CreateEnvWithCustomLogger, ort_status *,                                             \
	  (ort_log_fn log, void *self, int severity, const char *id, ort_env **ret))              \
	X(6, DisableTelemetryEvents, ort_status *, (const ort_env *e))                            \
	X(7, CreateSession, ort_status *,                                                         \
	  (const ort_env *e, const char *path, const ort_options *o, ort_session **ret))          \
	X(8, CreateSessionFromArray, ort_status *,                                                \
	  (const ort_env *e, const void *bytes, size_t n, const ort_options *o,                   \
	   ort_session **ret))                                                                    \
	X(10, CreateSessionOptions, ort_status *, (ort_options * *ret))                           \
	X(11, SetOptimizedModelFilePath, ort_status *, (ort_options * o, const char *path))       \
	X(13, SetSessionExecutionMode, ort_status *, (ort_options * o, int mode))                 \
	X(14, EnableProfiling, ort_status *, (ort_options * o, const char *prefix))               \
	X(17, DisableMemPattern, ort_status *, (ort_options * o))                                 \
	X(19, DisableCpuMemArena, ort_status *, (ort_options * o))                                \
	X(22, SetSessionLogSeverityLevel, ort_status *, (ort_options * o, int severity))          \
	X(23, SetSessionGraphOptimizationLevel, ort_status *, (ort_options * o, int level))       \
	X(24, SetIntraOpNumThreads, ort_status *, (ort_options * o, int n))                       \
	X(25, SetInterOpNumThreads, ort_status *, (ort_options * o, int n))                       \
	X(30, SessionGetInputCount, ort_status *, (const ort_session *s, size_t *ret))            \
	X(31, SessionGetOutputCount, ort_status *, (const ort_session *s, size_t *ret))           \
	X(33, SessionGetInputTypeInfo, ort_status *,                                              \
	  (const ort_session *s, size_t index, ort_type **ret))                                   \
	X(34, SessionGetOutputTypeInfo, ort_status *,                                             \
	  (const ort_session *s, size_t index, ort_type **ret))                                   \
	X(36, SessionGetInputName, ort_status *,                                                  \
	  (const ort_session *s, size_t index, ort_allocator *a, char **ret))                     \
	X(37, SessionGetOutputName, ort_status *,                                                 \
	  (const ort_session *s, size_t index, ort_allocator *a, char **ret))                     \
	X(39, CreateRunOptions, ort_status *, (ort_run_options * *ret))                           \
	X(48, CreateTensorAsOrtValue, ort_status *,                                               \
	  (ort_allocator * a, const int64_t *dims, size_t rank, int type, ort_value **ret))       \
	X(49, CreateTensorWithDataAsOrtValue, ort_status *,                                       \
	  (const ort_memory *m, void *data, size_t bytes, const int64_t *dims, size_t rank,       \
	   int type, ort_value **ret))                                                            \
	X(50, IsTensor, ort_status *, (const ort_value *v, int *ret))                             \
	X(51, GetTensorMutableData, ort_status *, (ort_value * v, void **ret))                    \
	X(55, CastTypeInfoToTensorInfo, ort_status *,                                             \
	  (const ort_type *t, const ort_tensor_type **ret))                                       \
	X(56, GetOnnxTypeFromTypeInfo, ort_status *, (const ort_type *t, int *ret))               \
	X(60, GetTensorElementType, ort_status *, (const ort_tensor_type *t, int *ret))           \
	X(61, GetDimensionsCount, ort_status *, (const ort_tensor_type *t, size_t *ret))          \
	X(62, GetDimensions, ort_status *, (const ort_tensor_type *t, int64_t *ret, size_t n))    \
	X(63, GetSymbolicDimensions, ort_status *,                                                \
	  (const ort_tensor_type *t, const char **ret, size_t n))                                 \
	X(65, GetTensorTypeAndShape, ort_status *, (const ort_value *v, ort_tensor_type **ret))   \
	X(68, CreateMemoryInfo, ort_status *,                                                     \
	  (const char *name, int allocator, int id, int type, ort_memory **ret))                  \
	X(69, CreateCpuMemoryInfo, ort_status *, (int allocator, int type, ort_memory **ret))     \
	X(76, AllocatorFree, ort_status *, (ort_allocator * a, void *p))                          \
	X(78, GetAllocatorWithDefaultOptions, ort_status *, (ort_allocator * *ret))               \
	X(92, ReleaseEnv, void, (ort_env * e))                                                    \
	X(93, ReleaseStatus, void, (ort_status * s))                                              \
	X(94, ReleaseMemoryInfo, void, (ort_memory * m))                                          \
	X(95, ReleaseSession, void, (ort_session * s))                                            \
	X(96, ReleaseValue, void, (ort_value * v))                                                \
	X(97, ReleaseRunOptions, void, (ort_run_options * o))                                     \
	X(98, ReleaseTypeInfo, void, (ort_type * t))                                              \
	X(99, ReleaseTensorTypeAndShapeInfo, void, (ort_tensor_type * t))                         \
	X(100, ReleaseSessionOptions, void, (ort_options * o))                                    \
	X(110, SessionEndProfiling, ort_status *,                                                 \
	  (ort_session * s, ort_allocator * a, char **ret))                                       \
	X(124, AddFreeDimensionOverrideByName, ort_status *,                                      \
	  (ort_options * o, const char *symbol, int64_t size))                                    \
	X(125, GetAvailableProviders, ort_status *, (char ***ret, int *ret_n))                    \
	X(126, ReleaseAvailableProviders, ort_status *, (char **names, int n))                    \
	X(130, AddSessionConfigEntry, ort_status *,                                               \
	  (ort_options * o, const char *key, const char *value))                                  \
	X(131, CreateAllocator, ort_status *,                                                     \
	  (const ort_session *s, const ort_memory *m, ort_allocator **ret))                       \
	X(132, ReleaseAllocator, void, (ort_allocator * a))                                       \
	X(133, RunWithBinding, ort_status *,                                                      \
	  (ort_session * s, const ort_run_options *o, const ort_binding *b))                      \
	X(134, CreateIoBinding, ort_status *, (ort_session * s, ort_binding * *ret))              \
	X(135, ReleaseIoBinding, void, (ort_binding * b))                                         \
	X(136, BindInput, ort_status *, (ort_binding * b, const char *name, const ort_value *v))  \
	X(137, BindOutput, ort_status *, (ort_binding * b, const char *name, const ort_value *v)) \
	X(138, BindOutputToDevice, ort_status *,                                                  \
	  (ort_binding * b, const char *name, const ort_memory *m))                               \
	X(140, GetBoundOutputValues, ort_status *,                                                \
	  (const ort_binding *b, ort_allocator *a, ort_value ***ret, size_t *ret_n))              \
	X(146, SessionGetProfilingStartTimeNs, ort_status *,                                      \
	  (const ort_session *s, uint64_t *ret))                                                  \
	X(176, RegisterAllocator, ort_status *, (ort_env * e, ort_allocator_table * a))           \
	X(177, UnregisterAllocator, ort_status *, (ort_env * e, const ort_memory *m))             \
	X(203, SynchronizeBoundOutputs, ort_status *, (ort_binding * b))                          \
	X(204, SessionOptionsAppendExecutionProvider_CUDA_V2, ort_status *,                       \
	  (ort_options * o, const ort_cuda *c))                                                   \
	X(205, CreateCUDAProviderOptions, ort_status *, (ort_cuda * *ret))                        \
	X(206, UpdateCUDAProviderOptions, ort_status *,                                           \
	  (ort_cuda * c, const char *const *keys, const char *const *values, size_t n))           \
	X(208, ReleaseCUDAProviderOptions, void, (ort_cuda * c))                                  \
	X(216, SessionOptionsAppendExecutionProvider, ort_status *,                               \
	  (ort_options * o, const char *name, const char *const *keys, const char *const *values, \
	   size_t n))                                                                             \
	X(225, MemoryInfoGetDeviceType, void, (const ort_memory *m, int *ret))                    \
	X(254, GetBuildInfoString, const char *, (void))                                          \
	X(266, SetUserLoggingFunction, ort_status *,                                              \
	  (ort_options * o, ort_log_fn log, void *self))                                          \
	X(273, SetDeterministicCompute, ort_status *, (ort_options * o, bool on))

/* Slots added later: the first minor version, then as above. NULL if the library is older. */
#define ORT_SLOTS_LATER(X)                                                                      \
	X(22, 297, GetKeyValue, const char *, (const ort_pairs *p, const char *key))            \
	X(22, 300, ReleaseKeyValuePairs, void, (ort_pairs * p))                                 \
	X(22, 301, RegisterExecutionProviderLibrary, ort_status *,                              \
	  (ort_env * e, const char *name, const char *path))                                    \
	X(22, 303, GetEpDevices, ort_status *,                                                  \
	  (const ort_env *e, const ort_ep_device *const **ret, size_t *ret_n))                  \
	X(22, 304, SessionOptionsAppendExecutionProvider_V2, ort_status *,                      \
	  (ort_options * o, ort_env * e, const ort_ep_device *const *devices, size_t n,         \
	   const char *const *keys, const char *const *values, size_t noptions))                \
	X(22, 307, HardwareDevice_Type, int, (const ort_hardware *h))                           \
	X(22, 309, HardwareDevice_Vendor, const char *, (const ort_hardware *h))                \
	X(22, 312, EpDevice_EpName, const char *, (const ort_ep_device *d))                     \
	X(22, 314, EpDevice_EpMetadata, const ort_pairs *, (const ort_ep_device *d))            \
	X(22, 316, EpDevice_Device, const ort_hardware *, (const ort_ep_device *d))             \
	X(23, 319, AllocatorGetStats, ort_status *, (const ort_allocator *a, ort_pairs **ret))  \
	X(23, 380, SessionGetMemoryInfoForInputs, ort_status *,                                 \
	  (const ort_session *s, const ort_memory **ret, size_t n))                             \
	X(23, 381, SessionGetMemoryInfoForOutputs, ort_status *,                                \
	  (const ort_session *s, const ort_memory **ret, size_t n))                             \
	X(23, 386, CopyTensors, ort_status *,                                                   \
	  (const ort_env *e, const ort_value *const *from, ort_value *const *to, ort_stream *s, \
	   size_t n))                                                                           \
	X(24, 407, Session_GetEpGraphAssignmentInfo, ort_status *,                              \
	  (const ort_session *s, const ort_assigned *const **ret, size_t *ret_n))               \
	X(24, 408, EpAssignedSubgraph_GetEpName, ort_status *,                                  \
	  (const ort_assigned *g, const char **ret))                                            \
	X(24, 409, EpAssignedSubgraph_GetNodes, ort_status *,                                   \
	  (const ort_assigned *g, const ort_assigned_node *const **ret, size_t *ret_n))         \
	X(24, 412, EpAssignedNode_GetOperatorType, ort_status *,                                \
	  (const ort_assigned_node *n, const char **ret))

typedef struct ort_api {
#define X(slot, name, result, arguments) result(*name) arguments;
	ORT_SLOTS(X)
#undef X
#define X(since, slot, name, result, arguments) result(*name) arguments;
	ORT_SLOTS_LATER(X)
#undef X
} ort_api;

#define ORT_MINOR_OLDEST 19u /* 1.19: the first whose Python package brings the C library */
#define ORT_MINOR_KNOWN	 31u /* the newest table these slots were checked against */

/* What OrtGetApiBase() returns. get_api(n) prints to stderr for n above the library's minor
 * version, so call get_version() first. */
typedef void (*ort_slot)(void); /* any function; cast to its type before the call */
typedef struct ort_api_base {
	const ort_slot *(*get_api)(uint32_t version);
	const char *(*get_version)(void);
} ort_api_base;

/* Copies the slots. `minor`: version of the table, which ends with the last slot of that version.
 */
static inline void ort_api_fill(ort_api *ret, const ort_slot *table, unsigned minor)
{
#define X(slot, name, result, arguments) ret->name = (result(*) arguments)table[slot];
	ORT_SLOTS(X)
#undef X
#define X(since, slot, name, result, arguments) \
	ret->name = minor >= (since) ? (result(*) arguments)table[slot] : NULL;
	ORT_SLOTS_LATER(X)
#undef X
}

#endif
