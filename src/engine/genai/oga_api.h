/* oga_api.h - the part of ONNX Runtime GenAI's C API that is called, declared from its
 * documentation.
 *
 * The library exports a function for each row of OGA_FUNCTIONS; oga_lib.c looks them up by name. A
 * function that returns oga_result returns NULL on success.
 *
 * Source: https://onnxruntime.ai/docs/genai/api/c.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_GENAI_OGA_API_H
#define ENGINE_GENAI_OGA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oga_result oga_result; /* an error */
typedef struct oga_config oga_config;
typedef struct oga_model oga_model;
typedef struct oga_params oga_params;
typedef struct oga_generator oga_generator;
typedef struct oga_tensor oga_tensor;

/* X(name without "Oga", result, parameters) */
#define OGA_FUNCTIONS(X)                                                                           \
	X(ResultGetError, const char *, (const oga_result *r))                                     \
	X(DestroyResult, void, (oga_result * r))                                                   \
	X(SetTelemetryEnabled, void, (bool on))                                                    \
	X(CreateConfig, oga_result *, (const char *directory, oga_config **ret))                   \
	X(ConfigOverlay, oga_result *, (oga_config * c, const char *json))                         \
	X(DestroyConfig, void, (oga_config * c))                                                   \
	X(CreateModelFromConfig, oga_result *, (const oga_config *c, oga_model **ret))             \
	X(ModelGetType, oga_result *, (const oga_model *m, const char **ret))                      \
	X(ModelGetDeviceType, oga_result *, (const oga_model *m, const char **ret))                \
	X(DestroyString, void, (const char *text))                                                 \
	X(DestroyModel, void, (oga_model * m))                                                     \
	X(CreateGeneratorParams, oga_result *, (const oga_model *m, oga_params **ret))             \
	X(GeneratorParamsSetSearchNumber, oga_result *,                                            \
	  (oga_params * p, const char *name, double v))                                            \
	X(GeneratorParamsSetSearchBool, oga_result *, (oga_params * p, const char *name, bool v))  \
	X(DestroyGeneratorParams, void, (oga_params * p))                                          \
	X(CreateGenerator, oga_result *,                                                           \
	  (const oga_model *m, const oga_params *p, oga_generator **ret))                          \
	X(Generator_AppendTokens, oga_result *, (oga_generator * g, const int32_t *ids, size_t n)) \
	X(Generator_GenerateNextToken, oga_result *, (oga_generator * g))                          \
	X(Generator_GetNextTokens, oga_result *,                                                   \
	  (const oga_generator *g, const int32_t **ret, size_t *ret_n))                            \
	X(Generator_GetOutput, oga_result *,                                                       \
	  (const oga_generator *g, const char *name, oga_tensor **ret))                            \
	X(DestroyGenerator, void, (oga_generator * g))                                             \
	X(TensorGetType, oga_result *, (oga_tensor * t, int *ret))                                 \
	X(TensorGetShapeRank, oga_result *, (oga_tensor * t, size_t * ret))                        \
	X(TensorGetShape, oga_result *, (oga_tensor * t, int64_t * ret, size_t rank))              \
	X(DestroyTensor, void, (oga_tensor * t))

typedef struct oga_api {
#define X(name, result, parameters) result(*name) parameters;
	OGA_FUNCTIONS(X)
#undef X
} oga_api;

#endif
