/* ov_api.h - the part of OpenVINO's C API that is called, declared from its documentation.
 *
 * The library exports a function for each row of OV_FUNCTIONS; ov_lib.c looks them up by name.
 * Shapes are passed as structs by value and element types as numbers, so these are part of the
 * binary interface: ov_lib.c checks the numbers before they are used.
 *
 * Source: https://docs.openvino.ai/2026/api/c_cpp_api/group__ov__c__api.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_OPENVINO_OV_API_H
#define ENGINE_OPENVINO_OV_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct ov_core ov_core;
typedef struct ov_model ov_model;
typedef struct ov_port ov_port; /* an input or an output of a model */
typedef struct ov_compiled ov_compiled;
typedef struct ov_request ov_request;
typedef struct ov_tensor ov_tensor;

typedef struct ov_version {
	const char *build, *description;
} ov_version;

typedef struct ov_devices {
	char **name;
	size_t n;
} ov_devices;

typedef struct ov_shape {
	int64_t rank;
	int64_t *dim;
} ov_shape;

typedef struct ov_dimension {
	int64_t min, max; /* equal: the size is fixed */
} ov_dimension;

typedef struct ov_partial_shape {
	ov_dimension rank, *dim;
} ov_partial_shape;

typedef struct ov_node_time {
	int status; /* OV_EXECUTED, or another */
	int64_t real_us, cpu_us;
	const char *name, *implementation, *type;
} ov_node_time;

typedef struct ov_node_times {
	ov_node_time *node;
	size_t n;
} ov_node_times;

enum { OV_EXECUTED = 2 };

/* Element types, in the numbers of 2025.4 and later. */
enum {
	OV_BOOLEAN = 1,
	OV_BF16 = 2,
	OV_F16 = 3,
	OV_F32 = 4,
	OV_F64 = 5,
	OV_I8 = 7,
	OV_I16 = 8,
	OV_I32 = 9,
	OV_I64 = 10,
	OV_U8 = 16,
	OV_U16 = 17,
	OV_U32 = 18,
	OV_U64 = 19
};

/* Name after "ov_", result, arguments. A result of int is a status: 0 is success. */
#define OV_FUNCTIONS(X)                                                                          \
	X(get_openvino_version, int, (ov_version * ret))                                         \
	X(version_free, void, (ov_version * v))                                                  \
	X(get_last_err_msg, const char *, (void))                                                \
	X(free, void, (const char *text))                                                        \
	X(core_create, int, (ov_core * *ret))                                                    \
	X(core_free, void, (ov_core * c))                                                        \
	X(core_get_available_devices, int, (const ov_core *c, ov_devices *ret))                  \
	X(available_devices_free, void, (ov_devices * d))                                        \
	X(core_get_property, int,                                                                \
	  (const ov_core *c, const char *device, const char *key, char **ret))                   \
	X(core_set_property, int, (const ov_core *c, const char *device, ...))                   \
	X(core_read_model, int,                                                                  \
	  (const ov_core *c, const char *path, const char *weights, ov_model **ret))             \
	X(core_read_model_from_memory_buffer, int,                                               \
	  (const ov_core *c, const char *bytes, size_t n, const ov_tensor *weights,              \
	   ov_model **ret))                                                                      \
	X(core_compile_model, int,                                                               \
	  (const ov_core *c, const ov_model *m, const char *device, size_t nproperties,          \
	   ov_compiled **ret, ...))                                                              \
	X(model_free, void, (ov_model * m))                                                      \
	X(model_inputs_size, int, (const ov_model *m, size_t *ret))                              \
	X(model_outputs_size, int, (const ov_model *m, size_t *ret))                             \
	X(model_const_input_by_index, int, (const ov_model *m, size_t i, ov_port **ret))         \
	X(model_const_output_by_index, int, (const ov_model *m, size_t i, ov_port **ret))        \
	X(model_reshape_by_port_indexes, int,                                                    \
	  (const ov_model *m, const size_t *ports, const ov_partial_shape *shapes, size_t n))    \
	X(output_const_port_free, void, (ov_port * p))                                           \
	X(port_get_any_name, int, (const ov_port *p, char **ret))                                \
	X(port_get_element_type, int, (const ov_port *p, int *ret))                              \
	X(port_get_partial_shape, int, (const ov_port *p, ov_partial_shape *ret))                \
	X(partial_shape_free, void, (ov_partial_shape * s))                                      \
	X(compiled_model_free, void, (ov_compiled * m))                                          \
	X(compiled_model_get_property, int, (const ov_compiled *m, const char *key, char **ret)) \
	X(compiled_model_create_infer_request, int, (const ov_compiled *m, ov_request **ret))    \
	X(infer_request_free, void, (ov_request * r))                                            \
	X(infer_request_set_input_tensor_by_index, int,                                          \
	  (ov_request * r, size_t i, const ov_tensor *t))                                        \
	X(infer_request_get_output_tensor_by_index, int,                                         \
	  (const ov_request *r, size_t i, ov_tensor **ret))                                      \
	X(infer_request_infer, int, (ov_request * r))                                            \
	X(infer_request_start_async, int, (ov_request * r))                                      \
	X(infer_request_wait, int, (ov_request * r))                                             \
	X(infer_request_get_profiling_info, int, (const ov_request *r, ov_node_times *ret))      \
	X(profiling_info_list_free, void, (ov_node_times * t))                                   \
	X(tensor_create, int, (int type, ov_shape shape, ov_tensor **ret))                       \
	X(tensor_create_from_host_ptr, int,                                                      \
	  (int type, ov_shape shape, void *data, ov_tensor **ret))                               \
	X(tensor_free, void, (ov_tensor * t))                                                    \
	X(tensor_get_shape, int, (const ov_tensor *t, ov_shape *ret))                            \
	X(shape_free, int, (ov_shape * s))                                                       \
	X(tensor_get_element_type, int, (const ov_tensor *t, int *ret))                          \
	X(tensor_get_byte_size, int, (const ov_tensor *t, size_t *ret))                          \
	X(tensor_data, int, (const ov_tensor *t, void **ret))                                    \
	X(util_set_log_callback, void, (void (*log)(const char *text)))

typedef struct ov_api {
#define X(name, result, arguments) result(*name) arguments;
	OV_FUNCTIONS(X)
#undef X
} ov_api;

#endif
