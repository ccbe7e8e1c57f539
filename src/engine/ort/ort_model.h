/* ort_model.h - private header of the engine 'ort': its model and the functions of its files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_MODEL_H
#define ENGINE_ORT_MODEL_H

#include "engine/ort/ort_lib.h"
#include "engine/ort/ort_provider.h"
#include "engine/ort/ort_setup.h"
#include "engine/ort/ort_watch.h"
#include "engine/runtime_model.h"

/* Which operators the provider did not take, so that the processor runs them. */
typedef struct ort_placement {
	const char *on_cpu; /* "2 x Shape, NonMaxSuppression"; NULL: none, or not known */
	size_t ncpu, nall;
} ort_placement;

struct dck_engine_model {
	RUNTIME_MODEL;
	ort_lib lib;
	ort_session *session;
	ort_run_options *run_options;
	ort_setup setup;
	ort_provider provider;
	/* Of each input and output: the device memory in which it is bound; NULL: the host's. */
	const ort_memory **in_memory, **out_memory;
	bool *out_grows;	/* of each output: it is a sequence or another non-tensor, not
				   overwritten but appended to */
	size_t ngrowing;	/* number of these */
	const char *host_bound; /* why all are the host's although the provider is a device's */
	unsigned barrier;	/* that run() waits by, if an output is on the device */
	ort_placement placement;
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
	size_t nvalues; /* number of values exposed as outputs, the last ones */
	ort_runs runs;
	ort_counter *counter;
	ort_profile_files files;
	dck_profile profile; /* once it has ended */
	bool has_profile;
	bool device_work; /* a recording of CUDA's work is under way */
};

/* ort_device.c: inputs and outputs in device memory. */

/* Chooses the memory of each input and output of an opened session. */
dck_status ort_device_open(dck_engine_model *m, dck_err *err);
/* Reads which operators are on the processor. */
dck_status ort_device_placement(dck_engine_model *m, dck_err *err);

/* The tensors of a context on the device, and the copies between them and the host. */
typedef struct ort_device {
	dck_engine_model *model;
	ort_binding *binding; /* the context's */
	/* Of each input and output on the device, NULL for others: the tensor on the device, and a
	 * tensor in host memory to copy from or to. */
	ort_value **in, **in_host, **out, **out_host;
	ort_allocator **in_allocator; /* of in[i] */
	ort_value **from, **to;	      /* scratch for a copy of several */
	void **out_data;	      /* host memory of out_host[i] */
	/* The beginning of a larger output, in the memory of out[i] and of out_host[i]. */
	ort_value **begin, **begin_host;
	uint64_t *in_bytes, *out_bytes;
	size_t nout; /* outputs on the device */
	bool outputs_known, stale_input;
} ort_device;

dck_status ort_device_init(ort_device *d, dck_engine_model *m, ort_binding *b, dck_err *err);
void ort_device_done(ort_device *d); /* {0} is allowed */
/* Takes an input in host memory, whose reference it gets; prepare() copies it. */
dck_status ort_device_bind_input(ort_device *d, size_t index, const dck_tensor *t, bool same_shape,
				 ort_value *host, dck_err *err);
dck_status ort_device_prepare(ort_device *d, dck_err *err);
/* Discards the tensors of the outputs; to be called after they were bound again and a run was made.
 */
void ort_device_outputs_forget(ort_device *d);
void ort_device_outputs(ort_device *d, ort_value **values, size_t n);
const char *ort_device_barrier(const ort_device *d, unsigned index);
dck_status ort_device_wait(ort_device *d, unsigned barrier, dck_err *err);
dck_status ort_device_transfer(ort_device *d, bool to_device, uint64_t *ret_bytes, dck_err *err);
/* Copies one output to the host. */
dck_status ort_device_fetch(ort_device *d, size_t index, dck_err *err);
/* Releases an input's tensors: another is bound in their place. */
void ort_device_input_forget(ort_device *d, size_t index);

/* ort_context.c */
dck_status ort_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err);
void ort_context_free(dck_engine_context *c);
dck_status ort_bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err);
dck_status ort_bind_output(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err);
dck_status ort_bind_from(dck_engine_context *c, size_t index, dck_engine_context *from,
			 size_t output, dck_err *err);
dck_status ort_prepare(dck_engine_context *c, dck_err *err);
dck_status ort_run(dck_engine_context *c, dck_err *err);
dck_status ort_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err);
const char *ort_barrier(dck_engine_context *c, unsigned index);
void ort_barrier_choose(dck_engine_context *c, unsigned index);
dck_status ort_enqueue(dck_engine_context *c, dck_err *err);
dck_status ort_wait(dck_engine_context *c, unsigned barrier, dck_err *err);
dck_status ort_transfer(dck_engine_context *c, bool to_device, uint64_t *ret_bytes, dck_err *err);

/* ort_probe.c */
dck_status ort_probe(const char *library_path, const dck_kv **ret, size_t *ret_n, dck_err *err);
/* Returns the name of the first provider that has a GPU here: a vendor's before WebGPU, which
 * works on all GPUs. provider_library: of WebGPU; NULL: searched. E_ABSENT: no provider has one. */
dck_status ort_probe_gpu(const ort_lib *l, const char *provider_library, mem_arena *a,
			 const char **ret, dck_err *err);

#endif
