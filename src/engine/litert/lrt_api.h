/* lrt_api.h - the part of LiteRT's C API that is called, declared from its documentation.
 *
 * The library exports a function for each row of LRT_FUNCTIONS; lrt_lib.c looks them up by name.
 * Its structs, and the numbers of element types, are stable by its own statement. The functions
 * that open a model got an environment as a parameter in 2.1.6, together with
 * LiteRtCreateModelFromFd(), by which lrt_lib.c recognises them.
 *
 * Source: https://github.com/google-ai-edge/LiteRT/tree/main/litert/c
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_LITERT_LRT_API_H
#define ENGINE_LITERT_LRT_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lrt_environment lrt_environment;
typedef struct lrt_model lrt_model;
typedef struct lrt_signature lrt_signature; /* an entry point of a model */
typedef struct lrt_tensor lrt_tensor;	    /* an input or an output of a signature */
typedef struct lrt_options lrt_options;
typedef struct lrt_opaque lrt_opaque; /* options of a part of the library, as text in TOML */
typedef struct lrt_compiled lrt_compiled;
typedef struct lrt_needs lrt_needs; /* of a buffer */
typedef struct lrt_buffer lrt_buffer;
typedef struct lrt_profiler lrt_profiler;

#define LRT_RANK_MAX  8
#define LRT_ALIGNMENT 64u /* of the host's memory that a buffer lends */

typedef struct lrt_layout {
	unsigned rank : 7, has_strides : 1;
	int32_t dim[LRT_RANK_MAX]; /* below 0: open */
	uint32_t stride[LRT_RANK_MAX];
} lrt_layout;

typedef struct lrt_type {
	int element;
	lrt_layout layout;
} lrt_type;

/* An option of an environment: an integer. */
typedef struct lrt_environment_option {
	int tag;
	struct {
		int type;
		int64_t value;
	} any;
} lrt_environment_option;

enum { LRT_ANY_INT = 2 };
enum { LRT_TAG_ACCELERATORS = 24, LRT_TAG_LOG_SEVERITY = 25 };
enum { LRT_ACCELERATOR_CPU = 1, LRT_LOG_SILENT = 4, LRT_RANKED = 0 };

typedef struct lrt_event {
	const char *tag;
	int type; /* LRT_EVENT_ */
	uint64_t begin_us, duration_us;
	size_t memory[6];
	uint64_t index, index2; /* of the operator */
	int source;
} lrt_event;

enum { LRT_EVENT_OPERATOR = 1 << 1, LRT_EVENT_DELEGATE_OPERATOR = 1 << 3 };

/* Name after "LiteRt", result, arguments. A result of int is a status: 0 is success. */
#define LRT_FUNCTIONS(X)                                                                          \
	X(CreateEnvironment, int,                                                                 \
	  (int n, const lrt_environment_option *options, lrt_environment **ret))                  \
	X(DestroyEnvironment, void, (lrt_environment * e))                                        \
	X(CreateModelFromBuffer, int,                                                             \
	  (lrt_environment * e, const void *bytes, size_t n, lrt_model **ret))                    \
	X(CreateModelFromFd, int,                                                                 \
	  (lrt_environment * e, int fd, size_t offset, size_t n, lrt_model **ret))                \
	X(DestroyModel, void, (lrt_model * m))                                                    \
	X(GetNumModelSignatures, int, (lrt_model * m, size_t * ret))                              \
	X(GetModelSignature, int, (lrt_model * m, size_t i, lrt_signature * *ret))                \
	X(GetSignatureKey, int, (lrt_signature * s, const char **ret))                            \
	X(GetNumSignatureInputs, int, (lrt_signature * s, size_t * ret))                          \
	X(GetNumSignatureOutputs, int, (lrt_signature * s, size_t * ret))                         \
	X(GetSignatureInputName, int, (lrt_signature * s, size_t i, const char **ret))            \
	X(GetSignatureOutputName, int, (lrt_signature * s, size_t i, const char **ret))           \
	X(GetSignatureInputTensorByIndex, int, (lrt_signature * s, size_t i, lrt_tensor * *ret))  \
	X(GetSignatureOutputTensorByIndex, int, (lrt_signature * s, size_t i, lrt_tensor * *ret)) \
	X(GetTensorTypeId, int, (lrt_tensor * t, int *ret))                                       \
	X(GetRankedTensorType, int, (lrt_tensor * t, lrt_type * ret))                             \
	X(CreateOptions, int, (lrt_options * *ret))                                               \
	X(DestroyOptions, void, (lrt_options * o))                                                \
	X(SetOptionsHardwareAccelerators, int, (lrt_options * o, int accelerators))               \
	X(CreateOpaqueOptions, int,                                                               \
	  (const char *part, void *text, void (*text_free)(void *text), lrt_opaque **ret))        \
	X(DestroyOpaqueOptions, void, (lrt_opaque * o))                                           \
	X(AddOpaqueOptions, int, (lrt_options * o, lrt_opaque * part))                            \
	X(CreateCompiledModel, int,                                                               \
	  (lrt_environment * e, lrt_model * m, lrt_options * o, lrt_compiled * *ret))             \
	X(DestroyCompiledModel, void, (lrt_compiled * c))                                         \
	X(CompiledModelIsFullyAccelerated, int, (lrt_compiled * c, bool *ret))                    \
	X(CompiledModelResizeInputTensor, int,                                                    \
	  (lrt_compiled * c, size_t signature, size_t i, const int *dim, size_t rank))            \
	X(GetCompiledModelOutputTensorLayouts, int,                                               \
	  (lrt_compiled * c, size_t signature, size_t n, lrt_layout * ret, bool update))          \
	X(GetCompiledModelOutputBufferRequirements, int,                                          \
	  (lrt_compiled * c, size_t signature, size_t i, lrt_needs * *ret))                       \
	X(GetTensorBufferRequirementsBufferSize, int, (lrt_needs * n, size_t * ret))              \
	X(CompiledModelGetErrorMessages, int, (lrt_compiled * c, char **ret))                     \
	X(CompiledModelClearErrors, int, (lrt_compiled * c))                                      \
	X(CompiledModelGetProfiler, int, (lrt_compiled * c, lrt_profiler * *ret))                 \
	X(CreateTensorBufferFromHostMemory, int,                                                  \
	  (const lrt_type *t, void *data, size_t bytes, void (*data_free)(void *data),            \
	   lrt_buffer **ret))                                                                     \
	X(DestroyTensorBuffer, void, (lrt_buffer * b))                                            \
	X(RunCompiledModel, int,                                                                  \
	  (lrt_compiled * c, size_t signature, size_t nin, lrt_buffer * *in, size_t nout,         \
	   lrt_buffer * *out))                                                                    \
	X(StartProfiler, int, (lrt_profiler * p))                                                 \
	X(ResetProfiler, int, (lrt_profiler * p))                                                 \
	X(GetNumProfilerEvents, int, (lrt_profiler * p, int *ret))                                \
	X(GetProfilerEvents, int, (lrt_profiler * p, int n, lrt_event *ret))

typedef struct lrt_api {
#define X(name, result, arguments) result(*name) arguments;
	LRT_FUNCTIONS(X)
#undef X
} lrt_api;

#endif
