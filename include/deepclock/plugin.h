/* plugin.h - the ABI between deepclock and one engine: a shared object of yours, or one of
 * the built-in engines, which use the same table. docs/reference/plugin.md is the guide and
 * plugins/example/ a complete engine in one file, to copy from.
 *
 * Plain C99. A plug-in exports ONE symbol, dck_engine_get(), which returns a const table.
 * Rules for an engine:
 *   - it does not print, abort, exit, or change signal handlers or the floating-point state;
 *   - it never reports times of its own: the host owns all clocks;
 *   - close and free never fail and accept NULL and half-built objects;
 *   - strings and arrays it returns live as long as the object they came from;
 *   - members marked (optional) may be NULL.
 *
 * These are the only struct layouts of deepclock that are frozen: members are only added at
 * the end, and readers check struct_size.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_PLUGIN_H
#define DCK_PLUGIN_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DCK_ABI_MAJOR 1u /* another major: the host refuses the plug-in */
#define DCK_ABI_MINOR 3u /* grows with each member added at an end */

/* Element type, with the codes and the layout of DLPack's DLDataType. */
typedef enum dck_dtype_code {
	DCK_DTYPE_INT = 0,
	DCK_DTYPE_UINT = 1,
	DCK_DTYPE_FLOAT = 2,
	DCK_DTYPE_BFLOAT = 4,
	DCK_DTYPE_COMPLEX = 5,
	DCK_DTYPE_BOOL = 6,
	DCK_DTYPE_OTHER = 255 /* strings, sequences: the host cannot make such an input */
} dck_dtype_code;

typedef struct dck_dtype {
	uint8_t code, bits;
	uint16_t lanes; /* 1 */
} dck_dtype;

/* "float32", "int64", "bool", "bfloat16"; static; "?" for one without a name. @since 0.1 */
DCK_API const char *dck_dtype_text(dck_dtype t);
/* Bytes of one element; 0 for types that have no fixed size. @since 0.1 */
DCK_API size_t dck_dtype_bytes(dck_dtype t);

#define DCK_RANK_MAX 16

typedef struct dck_tensor_info {
	const char *name;
	dck_dtype dtype;
	int32_t rank;			  /* below 0: not known */
	int64_t dim[DCK_RANK_MAX];	  /* -1: open */
	const char *symbol[DCK_RANK_MAX]; /* the open dimension's name ("N"), or NULL; equal names
					     are equal sizes */
} dck_tensor_info;

/* A dense row-major tensor in host memory. */
typedef struct dck_tensor {
	void *data;
	dck_dtype dtype;
	int32_t rank;
	int64_t dim[DCK_RANK_MAX];
	uint64_t bytes;
} dck_tensor;

typedef struct dck_kv {
	const char *key, *value;
} dck_kv;

/* One key that open() accepts in `options`, for help and for checks. */
typedef struct dck_engine_option {
	const char *key, *values, *help; /* "spin", "0|1", "workers spin between operators" */
} dck_engine_option;

typedef enum dck_log_level {
	DCK_LOG_DEBUG,
	DCK_LOG_INFO,
	DCK_LOG_WARN,
	DCK_LOG_ERROR
} dck_log_level;

typedef struct dck_open_params {
	uint32_t struct_size;
	const char *library_path; /* --engine-lib; NULL: the engine's own search */
	const char *model_path;	  /* NULL: from bytes, or the engine needs no model */
	const void *model_bytes;  /* borrowed until open() returns */
	size_t model_bytes_n;
	char *const *argv;  /* the command to run, NULL-ended; NULL: none */
	const char *device; /* "cpu", "cuda:0" */
	/* Keys of dck_engine.options, each at most once. An unknown key or a value that cannot be
	 * read is E_ARG; it must never be swallowed. */
	const dck_kv *options;
	size_t noptions;
	const dck_kv *dims; /* symbol -> size, fixed before compilation */
	size_t ndims;
	/* Log lines of the engine's library, which must not reach stderr by themselves. May be
	 * called from any thread of the engine. (optional) */
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
	/* Asked while a run waits for something outside (a child process). (optional) */
	bool (*cancelled)(void *self);
	void *cancelled_self;
	/* Since minor 1. What profile() and memory() will be asked for; it may slow every run, so a
	 * model opened with any of these is never timed as a whole. */
	uint32_t observe; /* DCK_OBSERVE_... */
	const char
	    *work_dir; /* with observe: a directory for the engine's files; the host removes it */
	/* With DCK_OBSERVE_VALUES: names of values of the main graph, which the host reads from the
	 * model. They become outputs, behind the model's own and in this order. None of them is
	 * one already. */
	const char *const *values;
	size_t nvalues;
	/* Since minor 2, for engines with DCK_CAP_FOLDER: the directory of the files in which
	 * model_bytes have weights (ONNX's external data); NULL: they have none there. */
	const char *model_folder;
} dck_open_params;

#define DCK_OBSERVE_OPERATORS 0x1u /* record when each operator ran */
#define DCK_OBSERVE_MEMORY    0x2u /* count what is allocated */
#define DCK_OBSERVE_VALUES    0x4u /* make `values` outputs */

/* One operator in one profiled run. */
typedef struct dck_op_event {
	const char *name,
	    *type;	      /* the node's in the engine's own graph, model_path of dck_profile */
	const char *provider; /* "CPUExecutionProvider"; NULL: unknown */
	uint64_t run;	      /* counted from 0 */
	uint64_t begin_ns, duration_ns;
	int64_t memory_bytes; /* that stayed allocated when it ended; INT64_MIN: unknown */
	uint32_t depth; /* 0: of the main graph; 1: within one of those, a loop's body, whose time
			   holds this one's; and so on */
} dck_op_event;

#define DCK_PROFILE_DEVICE_TIME 0x1u /* durations are of the device, not of the host's launch */
#define DCK_PROFILE_TRUNCATED	0x2u /* the engine lost events; runs that miss any are left out */

typedef struct dck_profile {
	uint32_t struct_size, flags;
	uint64_t resolution_ns;	    /* of durations */
	const dck_op_event *events; /* by run, and in a run by their beginnings */
	size_t nevents, nruns;
	const uint64_t *run_ns; /* how long each of the nruns took by the engine's own clock */
	/* The graph that ran, as an ONNX file in work_dir; NULL: the model as it was opened. */
	const char *model_path;
	/* Since minor 3; NULL: unknown. When each of the nruns began, on the clock of the events,
	 * and the system's number (gettid()) of the thread on which each of the nevents ran. */
	const uint64_t *run_begin_ns;
	const int64_t *threads;
} dck_profile;

/* Memory of the engine. Absent parts are 0 in `valid`. */
#define DCK_MEMORY_IN_USE   0x1u
#define DCK_MEMORY_PEAK	    0x2u
#define DCK_MEMORY_RESERVED 0x4u
#define DCK_MEMORY_ALLOCS   0x8u
#define DCK_MEMORY_RUN	    0x10u
typedef struct dck_memory {
	uint32_t struct_size, valid;
	uint64_t in_use_bytes, peak_bytes; /* of the engine's arena, now and ever */
	uint64_t reserved_bytes;	   /* taken from the system for it */
	uint64_t allocs;		   /* by the last run */
	uint64_t run_peak_bytes; /* of the last run above what was there before it: activations,
				    outputs among them, and scratch */
} dck_memory;

/* Resources of the last run, for engines whose work happens in another process. */
typedef struct dck_usage {
	uint32_t struct_size;
	uint64_t user_ns, system_ns, peak_rss_bytes;
	uint64_t voluntary_switches, involuntary_switches;
} dck_usage;

/* Times of opening, which only the engine can separate. Absent parts are 0 in `valid`. */
typedef struct dck_open_times {
	uint32_t struct_size;
	uint32_t valid; /* bit 0: library_ns, bit 1: session_ns */
	uint64_t library_ns, session_ns;
} dck_open_times;

#define DCK_CAP_BIND_OUTPUT 0x1u  /* bind_output takes the caller's buffer */
#define DCK_CAP_NO_MODEL    0x2u  /* open() works without a model: the engine brings its workload */
#define DCK_CAP_COMMAND	    0x4u  /* runs argv in another process; usage() is there */
#define DCK_CAP_NO_TENSORS  0x8u  /* has no inputs or outputs to bind */
#define DCK_CAP_VALUES	    0x10u /* since minor 1: open() heeds DCK_OBSERVE_VALUES */
#define DCK_CAP_FOLDER	    0x20u /* since minor 2: open() heeds model_folder */

typedef struct dck_engine_model dck_engine_model;     /* a compiled model; immutable */
typedef struct dck_engine_context dck_engine_context; /* bindings, request; one thread at a time */

typedef struct dck_engine {
	uint32_t struct_size, abi_major, abi_minor, caps;
	const char *name;		  /* "ort": letters, digits, '-' */
	const char *version;		  /* of this engine's code */
	const char *help;		  /* one line */
	const dck_engine_option *options; /* ended by a row with key NULL; NULL: none */

	/* Finds the runtime library and says what it is: pairs such as library, version,
	 * providers, provider/cpu = "ok", provider/cuda = "libcudart.so.12: cannot open ...".
	 * The host calls it in a child process: a broken library may crash. The pairs live until
	 * the next probe. (optional: the engine is always there) */
	dck_status (*probe)(const char *library_path, const dck_kv **ret, size_t *ret_n,
			    dck_err *err);

	/* Loads the library and compiles the model. *ret is owned by the host: close(). */
	dck_status (*open)(const dck_open_params *p, dck_engine_model **ret, dck_err *err);
	void (*close)(dck_engine_model *m);

	/* Inputs and outputs; (optional with DCK_CAP_NO_TENSORS) */
	dck_status (*describe)(dck_engine_model *m, const dck_tensor_info **ret_in, size_t *ret_nin,
			       const dck_tensor_info **ret_out, size_t *ret_nout, dck_err *err);
	/* What was opened, for the record: library, version, providers, threads. (optional) */
	dck_status (*facts)(dck_engine_model *m, const dck_kv **ret, size_t *ret_n, dck_err *err);
	/* (optional) */
	void (*open_times)(dck_engine_model *m, dck_open_times *ret);

	dck_status (*context_new)(dck_engine_model *m, dck_engine_context **ret, dck_err *err);
	void (*context_free)(dck_engine_context *c);
	/* t->data stays the host's and alive until another is bound or the context is freed.
	 * (optional with DCK_CAP_NO_TENSORS) */
	dck_status (*bind_input)(dck_engine_context *c, size_t index, const dck_tensor *t,
				 dck_err *err);
	/* (optional: without DCK_CAP_BIND_OUTPUT) */
	dck_status (*bind_output)(dck_engine_context *c, size_t index, const dck_tensor *t,
				  dck_err *err);
	/* The untimed place for allocation and for copies to the device. Called after inputs are
	 * bound or re-bound, before run. (optional) */
	dck_status (*prepare)(dck_engine_context *c, dck_err *err);

	/* The timed call: returns when the results are ready. Called again and again; it should
	 * not allocate when nothing was re-bound. */
	dck_status (*run)(dck_engine_context *c, dck_err *err);

	/* Output `index` of the last run; borrowed until the next run or free. With
	 * DCK_OBSERVE_VALUES also the shape, and no data, of one that is text. (optional) */
	dck_status (*output)(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err);
	/* (optional: without DCK_CAP_COMMAND) */
	dck_status (*usage)(dck_engine_context *c, dck_usage *ret, dck_err *err);

	/* Since minor 1. */
	/* Ends recording and says what was seen since open(); needs DCK_OBSERVE_OPERATORS. Borrowed
	 * until close(). (optional) */
	dck_status (*profile)(dck_engine_model *m, dck_profile *ret, dck_err *err);
	/* What the engine knows of its memory; run_peak_bytes and allocs need
	 * DCK_OBSERVE_MEMORY. (optional) */
	dck_status (*memory)(dck_engine_model *m, dck_memory *ret, dck_err *err);
	/* minor >= 4 adds here only */
} dck_engine;

/* What a plug-in exports: the table, or NULL when it cannot serve this host. */
typedef const dck_engine *(*dck_engine_get_fn)(uint32_t host_abi_major);

#ifdef __cplusplus
}
#endif
#endif
