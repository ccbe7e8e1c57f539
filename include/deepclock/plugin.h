/* plugin.h - the ABI between deepclock and an engine: a shared object of yours, or a built-in
 * engine, which uses the same table. docs/reference/plugin.md is the guide; plugins/example/ is a
 * complete engine in one file, as a template.
 *
 * Plain C99. A plug-in exports ONE symbol, dck_engine_get(), which returns a const table.
 * Rules for an engine:
 *   - it does not print, abort, exit, or change signal handlers or the floating-point state;
 *   - it never reports times that it measured: the host owns all clocks;
 *   - close and free never fail and accept NULL and half-built objects;
 *   - strings and arrays that it returns live as long as the object they came from;
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
#define DCK_ABI_MINOR 7u /* grows with each member added at an end */

/* An element type, with the codes and the layout of DLPack's DLDataType. */
typedef enum dck_dtype_code {
	DCK_DTYPE_INT = 0,
	DCK_DTYPE_UINT = 1,
	DCK_DTYPE_FLOAT = 2,
	DCK_DTYPE_BFLOAT = 4,
	DCK_DTYPE_COMPLEX = 5,
	DCK_DTYPE_BOOL = 6,
	DCK_DTYPE_OTHER = 255 /* strings, sequences: the host cannot generate such an input */
} dck_dtype_code;

typedef struct dck_dtype {
	uint8_t code, bits;
	uint16_t lanes; /* 1 */
} dck_dtype;

/* Returns "float32", "int64", "bool", "bfloat16"; "?" for a type without a name. Static.
 * @since 0.1 */
DCK_API const char *dck_dtype_text(dck_dtype t);
/* Returns the bytes of one element; 0 for types without a fixed size. @since 0.1 */
DCK_API size_t dck_dtype_bytes(dck_dtype t);

#define DCK_RANK_MAX 16

typedef struct dck_tensor_info {
	const char *name;
	dck_dtype dtype;
	int32_t rank;			  /* below 0: unknown */
	int64_t dim[DCK_RANK_MAX];	  /* -1: symbolic */
	const char *symbol[DCK_RANK_MAX]; /* the symbolic dimension's name ("N"), or NULL; equal
					     names are equal sizes */
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

/* A key that open() accepts in `options`, for help and for checks. */
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
	/* Keys of dck_engine.options, each at most once. An unknown key or an invalid value is
	 * E_ARG; it must never be ignored. */
	const dck_kv *options;
	size_t noptions;
	const dck_kv *dims; /* symbol -> size, fixed before compilation */
	size_t ndims;
	/* Receives log lines of the engine's library, which must not reach stderr otherwise. The
	 * engine may call it from any of its threads. (optional) */
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
	/* The engine calls it while a run waits for an external event (a child process); true:
	 * cancel. (optional) */
	bool (*cancelled)(void *self);
	void *cancelled_self;
	/* Since minor 1. What profile() and memory() will return; recording may slow every run, so
	 * a model opened with any of these flags is never timed as a whole. */
	uint32_t observe; /* DCK_OBSERVE_... */
	const char
	    *work_dir; /* with observe: a directory for the engine's files; the host removes it */
	/* With DCK_OBSERVE_VALUES: names of values of the main graph, which the host reads from the
	 * model. They become outputs, after the model's own and in this order. They are not
	 * outputs already. */
	const char *const *values;
	size_t nvalues;
	/* Since minor 2, for engines with DCK_CAP_FOLDER: the directory with the weight files of
	 * model_bytes (ONNX's external data); NULL: none. */
	const char *model_folder;
	/* Since minor 5. Shapes of inputs that the host knows already, by name; -1: open. It binds
	 * no others, so the engine may compile for them. */
	const dck_tensor_info *shapes;
	size_t nshapes;
} dck_open_params;

#define DCK_OBSERVE_OPERATORS 0x1u /* record the times of each operator */
#define DCK_OBSERVE_MEMORY    0x2u /* count allocations */
#define DCK_OBSERVE_VALUES    0x4u /* make `values` outputs */

/* An operator in a profiled run. */
typedef struct dck_op_event {
	const char *name,
	    *type; /* the node's in the engine's own graph, which is model_path of dck_profile */
	const char *provider; /* "CPUExecutionProvider"; NULL: unknown */
	uint64_t run;	      /* counted from 0 */
	uint64_t begin_ns, duration_ns;
	int64_t memory_bytes; /* still allocated when it ended; INT64_MIN: unknown */
	uint32_t depth; /* 0: in the main graph; 1: inside an operator of the main graph (a loop),
			   whose time includes this operator's; and so on */
} dck_op_event;

#define DCK_PROFILE_DEVICE_TIME 0x1u /* durations on the device, not of the host's launch */
#define DCK_PROFILE_LAUNCH_TIME 0x4u /* durations of the host's launch of work for a device */
#define DCK_PROFILE_TRUNCATED	0x2u /* the engine lost events; runs that miss any are left out */

typedef struct dck_profile {
	uint32_t struct_size, flags;
	uint64_t resolution_ns;	    /* of durations */
	const dck_op_event *events; /* sorted by run, then by begin_ns */
	size_t nevents, nruns;
	const uint64_t *run_ns; /* duration of each of the nruns by the engine's clock */
	/* The graph that ran, as an ONNX file in work_dir; NULL: the model as it was opened. */
	const char *model_path;
	/* Since minor 3; NULL: unknown. The start of each of the nruns, on the clock of the events,
	 * and the thread id (gettid()) of each of the nevents. */
	const uint64_t *run_begin_ns;
	const int64_t *threads;
	/* Since minor 7, with DCK_PROFILE_DEVICE_TIME; NULL: unknown. When the first work of each
	 * of the nevents began on the device and its last one ended, on the clock of the events;
	 * end 0: it has none. */
	const uint64_t *device_begin_ns, *device_end_ns;
} dck_profile;

/* Memory of the engine. `valid` has the DCK_MEMORY_ bits of the known members. */
#define DCK_MEMORY_IN_USE   0x1u
#define DCK_MEMORY_PEAK	    0x2u
#define DCK_MEMORY_RESERVED 0x4u
#define DCK_MEMORY_ALLOCS   0x8u
#define DCK_MEMORY_RUN	    0x10u
typedef struct dck_memory {
	uint32_t struct_size, valid;
	uint64_t in_use_bytes, peak_bytes; /* of the engine's arena: current and maximum */
	uint64_t reserved_bytes;	   /* reserved from the system for the arena */
	uint64_t allocs;		   /* allocations of the last run */
	uint64_t run_peak_bytes; /* peak of the last run above its start: activations with outputs,
				    and scratch */
} dck_memory;

/* Resources of the last run, for engines that run it in another process. */
typedef struct dck_usage {
	uint32_t struct_size;
	uint64_t user_ns, system_ns, peak_rss_bytes;
	uint64_t voluntary_switches, involuntary_switches;
} dck_usage;

/* Durations of the parts of open(), which only the engine can separate. `valid` has the bits of the
 * known members. */
typedef struct dck_open_times {
	uint32_t struct_size;
	uint32_t valid; /* bit 0: library_ns, bit 1: session_ns */
	uint64_t library_ns, session_ns;
} dck_open_times;

/* What an engine reports that generates tokens by itself. */
typedef struct dck_generation {
	uint32_t struct_size;
	int64_t vocabulary;   /* token ids are 0 to vocabulary - 1 */
	uint64_t cache_bytes; /* of all keys and values at the moment; 0: unknown */
	/* For the record: what happens to the end of a sequence, and what the two calls below do.
	 * Static. */
	const char *end_of_sequence, *loop;
} dck_generation;

#define DCK_CAP_BIND_OUTPUT 0x1u /* bind_output takes the caller's buffer */
#define DCK_CAP_NO_MODEL    0x2u /* open() works without a model: the engine has its own workload */
#define DCK_CAP_COMMAND	    0x4u /* runs argv in another process; usage() is not NULL */
#define DCK_CAP_NO_TENSORS  0x8u /* the engine has no inputs or outputs to bind */
#define DCK_CAP_VALUES	    0x10u /* since minor 1: open() supports DCK_OBSERVE_VALUES */
#define DCK_CAP_FOLDER	    0x20u /* since minor 2: open() uses model_folder */
#define DCK_CAP_NOT_ONNX    0x40u /* since minor 5: open() reads files of `formats` alone */

typedef struct dck_engine_model dck_engine_model;     /* a compiled model; immutable */
typedef struct dck_engine_context dck_engine_context; /* bindings, request; one thread at a time */

typedef struct dck_engine {
	uint32_t struct_size, abi_major, abi_minor, caps;
	const char *name;		  /* "ort": letters, digits, '-' */
	const char *version;		  /* version of this engine's code */
	const char *help;		  /* one line */
	const dck_engine_option *options; /* ended by a row with key NULL; NULL: none */

	/* Finds the runtime library and describes it in pairs: library, version, providers,
	 * provider/cpu = "ok", provider/cuda = "libcudart.so.12: cannot open ...". The host calls
	 * it in a child process, because a broken library may crash. The pairs live until the next
	 * probe. (optional: the engine is always available) */
	dck_status (*probe)(const char *library_path, const dck_kv **ret, size_t *ret_n,
			    dck_err *err);

	/* Loads the library and compiles the model. *ret is owned by the host: close(). */
	dck_status (*open)(const dck_open_params *p, dck_engine_model **ret, dck_err *err);
	void (*close)(dck_engine_model *m);

	/* Returns the inputs and outputs. (optional with DCK_CAP_NO_TENSORS) */
	dck_status (*describe)(dck_engine_model *m, const dck_tensor_info **ret_in, size_t *ret_nin,
			       const dck_tensor_info **ret_out, size_t *ret_nout, dck_err *err);
	/* Returns facts of the opened model for the record: library, version, providers, threads.
	 * (optional) */
	dck_status (*facts)(dck_engine_model *m, const dck_kv **ret, size_t *ret_n, dck_err *err);
	/* (optional) */
	void (*open_times)(dck_engine_model *m, dck_open_times *ret);

	dck_status (*context_new)(dck_engine_model *m, dck_engine_context **ret, dck_err *err);
	void (*context_free)(dck_engine_context *c);
	/* Binds an input. t->data is owned by the host and alive until another tensor is bound or
	 * the context is freed. (optional with DCK_CAP_NO_TENSORS) */
	dck_status (*bind_input)(dck_engine_context *c, size_t index, const dck_tensor *t,
				 dck_err *err);
	/* Binds the caller's buffer to an output. (optional: without DCK_CAP_BIND_OUTPUT) */
	dck_status (*bind_output)(dck_engine_context *c, size_t index, const dck_tensor *t,
				  dck_err *err);
	/* Allocates, and copies inputs to the device; not timed. Called after inputs are bound or
	 * re-bound, before run(). (optional) */
	dck_status (*prepare)(dck_engine_context *c, dck_err *err);

	/* Runs the model, and returns when the results are ready. The host times this call and
	 * repeats it; it should not allocate unless a tensor was re-bound. */
	dck_status (*run)(dck_engine_context *c, dck_err *err);

	/* Returns output `index` of the last run; borrowed until the next run or free. With
	 * DCK_OBSERVE_VALUES a text output has a shape and no data. (optional) */
	dck_status (*output)(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err);
	/* Returns the resources of the last run. (optional: without DCK_CAP_COMMAND) */
	dck_status (*usage)(dck_engine_context *c, dck_usage *ret, dck_err *err);

	/* Since minor 1. */
	/* Ends recording and returns the operators recorded since open(); needs
	 * DCK_OBSERVE_OPERATORS. Borrowed until close(). (optional) */
	dck_status (*profile)(dck_engine_model *m, dck_profile *ret, dck_err *err);
	/* Returns the memory of the engine; run_peak_bytes and allocs need DCK_OBSERVE_MEMORY.
	 * (optional) */
	dck_status (*memory)(dck_engine_model *m, dck_memory *ret, dck_err *err);

	/* Since minor 4: for engines whose runs may continue after the call that starts them, as
	 * on a GPU. Either all five members or none are set. (optional) */
	/* Returns the name of a way to wait until all enqueued runs have ended, by its index; NULL:
	 * no more. NULL for index 0: every run of this context ends within its call, and
	 * the other four members are not called. Index 0 is the end of the call itself. The last
	 * one is certain, because it copies every result to the host. The host tests, after the
	 * first run, which of the others really wait. */
	const char *(*barrier)(dck_engine_context *c, unsigned index);
	/* Has run() wait by this barrier, in every context of the model; before by the last. */
	void (*barrier_choose)(dck_engine_context *c, unsigned index);
	/* Starts a run, and may return before its results are ready. */
	dck_status (*enqueue)(dck_engine_context *c, dck_err *err);
	/* Waits by a barrier; not before the first run. */
	dck_status (*wait)(dck_engine_context *c, unsigned barrier, dck_err *err);
	/* Copies the inputs to the device, or the outputs to the host: *ret_bytes of them. A copy
	 * to the device may continue until a barrier; a copy to the host has ended. */
	dck_status (*transfer)(dck_engine_context *c, bool to_device, uint64_t *ret_bytes,
			       dck_err *err);

	/* Since minor 5: endings of files in formats other than ONNX that open() reads, as in
	 * ".xml .tflite". Such a file is passed by its path, unread. (optional) */
	const char *formats;

	/* Since minor 6. Binds as input `index` the output `output` of the last run of `from`,
	 * another context of the same model, where it is: nothing is copied, and the run need not
	 * have ended. It stays bound until something else is; `from` may run again after this
	 * context has. (optional) */
	dck_status (*bind_from)(dck_engine_context *c, size_t index, dck_engine_context *from,
				size_t output, dck_err *err);

	/* Since minor 7: for engines that generate tokens by themselves, with their own cache.
	 * Either all three members or none are set. (optional) */
	/* Called after the context was made, and after a request: it may take long. */
	dck_status (*generation)(dck_engine_context *c, dck_generation *ret, dck_err *err);
	/* Begins a request, and drops the one before: the prompts are ids[batch][n]. At most `most`
	 * tokens of each will be generated. The host times this call and those that follow. */
	dck_status (*generate_begin)(dck_engine_context *c, const int64_t *ids, size_t batch,
				     size_t n, size_t most, dck_err *err);
	/* Generates one more token of each sequence, ret[batch], the one of the highest score, and
	 * returns when it is known. */
	dck_status (*generate_next)(dck_engine_context *c, int64_t *ret, dck_err *err);
	/* minor >= 8 adds here only */
} dck_engine;

/* Type of a plug-in's dck_engine_get(): returns the table, or NULL if it does not support this
 * host. */
typedef const dck_engine *(*dck_engine_get_fn)(uint32_t host_abi_major);

#ifdef __cplusplus
}
#endif
#endif
