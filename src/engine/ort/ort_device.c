/* ort_device.c - inputs and outputs in the memory of a device, and the ways to wait for its runs.
 *
 * A session reports for each input and output the memory in which the provider expects it. An input
 * is copied there when it is bound; an output is allocated there by ONNX Runtime and stays. Copies
 * are CopyTensors() of ONNX Runtime, which a provider may lack (then all tensors are the host's,
 * and each run copies its outputs back, as the older ways of ONNX Runtime do).
 *
 * RunWithBinding() may return when the run has only been enqueued. What waits for its end differs
 * from provider to provider: SynchronizeBoundOutputs() returns at once for WebGPU. One thing is
 * certain, a copy to the host, because its data must be there. So barriers are listed from none to
 * a copy of the beginning of each output, and the host tests which of them wait. All of a large
 * output would take longer than a run, and vary more.
 *
 * Source: https://onnxruntime.ai/docs/performance/device-tensor.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/dtype.h"
#include "base/err.h"
#include "base/sink.h"
#include "engine/ort/ort_model.h"

#include <string.h>

/* Providers copy multiples of 4 bytes; 64 hold whole elements of each type. */
#define BEGIN_BYTES 64

/* --- the memory of a session's tensors */

static bool is_on_device(const ort_lib *l, const ort_memory *where)
{
	int kind = ORT_MEMORY_OF_CPU;

	if (where)
		l->api.MemoryInfoGetDeviceType(where, &kind);
	return kind != ORT_MEMORY_OF_CPU;
}

/* Removes the tensors that are in the host's memory or cannot be copied. Returns the number that
 * remains. */
static size_t memories_filter(const ort_lib *l, const dck_tensor_info *t, const ort_memory **where,
			      size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (t[i].dtype.code == DCK_DTYPE_OTHER || !is_on_device(l, where[i]))
			where[i] = NULL;
		left += where[i] != NULL;
	}
	return left;
}

/* Copies one number to the device: can tensors be copied? */
static dck_status copy_try(const dck_engine_model *m, const ort_memory *where, dck_err *err)
{
	const ort_lib *l = &m->lib;
	const int64_t dims[] = {1};
	const int float32 = dtype_onnx((dck_dtype){DCK_DTYPE_FLOAT, 32, 1});
	float number = 0;
	ort_allocator *a = NULL;
	ort_value *here = NULL, *there = NULL;

	dck_status status =
	    ort_check(l, l->api.CreateAllocator(m->session, where, &a), err, "no allocator");
	DCK_NEXT(status, ort_check(l, l->api.CreateTensorAsOrtValue(a, dims, 1, float32, &there),
				   err, "no memory"));
	DCK_NEXT(status, ort_check(l,
				   l->api.CreateTensorWithDataAsOrtValue(
				       l->cpu, &number, sizeof number, dims, 1, float32, &here),
				   err, "no tensor"));
	DCK_NEXT(status, ort_check(l,
				   l->api.CopyTensors(l->env, (const ort_value *const *)&here,
						      &there, NULL, 1),
				   err, "no copy"));
	if (here)
		l->api.ReleaseValue(here);
	if (there)
		l->api.ReleaseValue(there);
	if (a)
		l->api.ReleaseAllocator(a);
	return status;
}

static dck_status memories_ask(dck_engine_model *m, dck_err *err)
{
	const ort_lib *l = &m->lib;
	const ort_memory *any = NULL;

	if (m->nin > 0)
		DCK_TRY(ort_check(
		    l, l->api.SessionGetMemoryInfoForInputs(m->session, m->in_memory, m->nin), err,
		    "the inputs' memory is not known"));
	if (m->nout > 0)
		DCK_TRY(ort_check(
		    l, l->api.SessionGetMemoryInfoForOutputs(m->session, m->out_memory, m->nout),
		    err, "the outputs' memory is not known"));
	if (memories_filter(l, m->in, m->in_memory, m->nin) +
		memories_filter(l, m->out, m->out_memory, m->nout) ==
	    0)
		return DCK_OK;
	for (size_t i = 0; i < m->nin && !any; i++)
		any = m->in_memory[i];
	for (size_t i = 0; i < m->nout && !any; i++)
		any = m->out_memory[i];
	return copy_try(m, any, err);
}

dck_status ort_device_open(dck_engine_model *m, dck_err *err)
{
	dck_err why = {0};

	m->barrier = UINT32_MAX;
	m->in_memory = mem_arena_array(m->arena, m->nin + 1, sizeof *m->in_memory);
	m->out_memory = mem_arena_array(m->arena, m->nout + 1, sizeof *m->out_memory);
	DCK_NEED(m->in_memory && m->out_memory, err, "for the model's inputs and outputs");
	if (strcmp(m->provider.name, "cpu") == 0)
		return DCK_OK;
	if (m->setup.transfers)
		m->host_bound = "each run includes the transfers, as requested";
	else if (m->observe & DCK_OBSERVE_VALUES)
		m->host_bound = "all values are observed";
	else if (!m->lib.api.CopyTensors)
		m->host_bound = "ONNX Runtime before 1.23 copies no tensors";
	else if (memories_ask(m, &why) != DCK_OK) {
		memset(m->in_memory, 0, m->nin * sizeof *m->in_memory);
		memset(m->out_memory, 0, m->nout * sizeof *m->out_memory);
		m->host_bound = mem_arena_dup(m->arena, why.msg);
		DCK_NEED(m->host_bound, err, "for what the engine reports");
	}
	return DCK_OK;
}

/* --- which operators are on the processor */

typedef struct kind_count {
	const char *type;
	size_t n;
} kind_count;

static const char *placement_text(const kind_count *kinds, size_t n, mem_arena *a)
{
	char text[400] = "";

	for (size_t i = 0; i < n; i++)
		if (kinds[i].n > 1)
			text_add(text, sizeof text, "%s%zu x %s", i ? ", " : "", kinds[i].n,
				 kinds[i].type);
		else
			text_add(text, sizeof text, "%s%s", i ? ", " : "", kinds[i].type);
	return mem_arena_dup(a, text);
}

typedef struct kind_counts {
	kind_count of[64]; /* further kinds are not named */
	size_t n;
} kind_counts;

static void kind_add(kind_counts *k, const char *type)
{
	size_t at = 0;

	while (at < k->n && strcmp(k->of[at].type, type) != 0)
		at++;
	if (at == sizeof k->of / sizeof *k->of)
		return;
	if (at == k->n)
		k->of[k->n++] = (kind_count){type, 0};
	k->of[at].n++;
}

static dck_status group_read(dck_engine_model *m, const ort_assigned *group, kind_counts *kinds,
			     dck_err *err)
{
	static const char cannot[] = "cannot query where operators run";
	const ort_lib *l = &m->lib;
	const char *provider, *type;
	size_t n;
	const ort_assigned_node *const *nodes;

	DCK_TRY(ort_check(l, l->api.EpAssignedSubgraph_GetEpName(group, &provider), err, cannot));
	DCK_TRY(ort_check(l, l->api.EpAssignedSubgraph_GetNodes(group, &nodes, &n), err, cannot));
	m->placement.nall += n;
	if (strcmp(provider, "CPUExecutionProvider") != 0)
		return DCK_OK;
	m->placement.ncpu += n;
	for (size_t i = 0; i < n; i++) {
		DCK_TRY(ort_check(l, l->api.EpAssignedNode_GetOperatorType(nodes[i], &type), err,
				  cannot));
		kind_add(kinds, type);
	}
	return DCK_OK;
}

dck_status ort_device_placement(dck_engine_model *m, dck_err *err)
{
	const ort_lib *l = &m->lib;
	kind_counts kinds = {.n = 0};
	size_t n;
	const ort_assigned *const *groups;

	if (strcmp(m->provider.name, "cpu") == 0 || !l->api.Session_GetEpGraphAssignmentInfo)
		return DCK_OK;
	DCK_TRY(ort_check(l, l->api.Session_GetEpGraphAssignmentInfo(m->session, &groups, &n), err,
			  "cannot query where operators run"));
	for (size_t i = 0; i < n; i++)
		DCK_TRY(group_read(m, groups[i], &kinds, err));
	if (kinds.n > 0) {
		m->placement.on_cpu = placement_text(kinds.of, kinds.n, m->arena);
		DCK_NEED(m->placement.on_cpu, err, "for what the engine reports");
	}
	return DCK_OK;
}

/* --- a context's tensors */

static void value_release(const ort_lib *l, ort_value **v)
{
	if (*v)
		l->api.ReleaseValue(*v);
	*v = NULL;
}

dck_status ort_device_init(ort_device *d, dck_engine_model *m, ort_binding *b, dck_err *err)
{
	const size_t nin = m->nin + 1, nout = m->nout + 1;

	*d = (ort_device){.model = m, .binding = b};
	for (size_t i = 0; i < m->nout; i++)
		d->nout += m->out_memory[i] != NULL;
	d->in = mem_zalloc(nin, sizeof *d->in);
	d->in_host = mem_zalloc(nin, sizeof *d->in_host);
	d->in_allocator = mem_zalloc(nin, sizeof *d->in_allocator);
	d->out = mem_zalloc(nout, sizeof *d->out);
	d->out_host = mem_zalloc(nout, sizeof *d->out_host);
	d->out_data = mem_zalloc(nout, sizeof *d->out_data);
	d->begin = mem_zalloc(nout, sizeof *d->begin);
	d->begin_host = mem_zalloc(nout, sizeof *d->begin_host);
	d->in_bytes = mem_zalloc(nin, sizeof *d->in_bytes);
	d->out_bytes = mem_zalloc(nout, sizeof *d->out_bytes);
	d->from = mem_zalloc(nin + nout, sizeof *d->from);
	d->to = mem_zalloc(nin + nout, sizeof *d->to);
	DCK_NEED(d->in && d->in_host && d->in_allocator && d->out && d->out_host && d->out_data &&
		     d->begin && d->begin_host && d->in_bytes && d->out_bytes && d->from && d->to,
		 err, "for a context of the engine 'ort'");
	return DCK_OK;
}

void ort_device_outputs_forget(ort_device *d)
{
	const ort_lib *l = &d->model->lib;

	for (size_t i = 0; d->out && d->out_host && d->begin && d->begin_host && i < d->model->nout;
	     i++) {
		d->out[i] = NULL; /* the context's */
		value_release(l, &d->out_host[i]);
		value_release(l, &d->begin[i]);
		value_release(l, &d->begin_host[i]);
	}
	d->outputs_known = false;
}

void ort_device_done(ort_device *d)
{
	if (!d->model)
		return;
	const ort_lib *l = &d->model->lib;

	ort_device_outputs_forget(d);
	for (size_t i = 0; d->in && d->in_host && d->in_allocator && i < d->model->nin; i++) {
		value_release(l, &d->in[i]);
		value_release(l, &d->in_host[i]);
		if (d->in_allocator[i])
			l->api.ReleaseAllocator(d->in_allocator[i]);
	}
	for (size_t i = 0; d->out_data && i < d->model->nout; i++)
		mem_free(d->out_data[i]);
	mem_free(d->in);
	mem_free(d->in_host);
	mem_free(d->in_allocator);
	mem_free(d->out);
	mem_free(d->out_host);
	mem_free(d->out_data);
	mem_free(d->begin);
	mem_free(d->begin_host);
	mem_free(d->in_bytes);
	mem_free(d->out_bytes);
	mem_free(d->from);
	mem_free(d->to);
	*d = (ort_device){0};
}

static dck_status tensors_copy(ort_device *d, size_t n, dck_err *err)
{
	const ort_lib *l = &d->model->lib;

	if (n == 0)
		return DCK_OK;
	return ort_check(
	    l, l->api.CopyTensors(l->env, (const ort_value *const *)d->from, d->to, NULL, n), err,
	    "cannot copy between the device and the host");
}

/* --- inputs */

static dck_status input_new(ort_device *d, size_t index, const dck_tensor *t, dck_err *err)
{
	const dck_engine_model *m = d->model;
	const ort_lib *l = &m->lib;
	const char *name = m->in[index].name;

	value_release(l, &d->in[index]);
	if (!d->in_allocator[index])
		DCK_TRY(ort_check(l,
				  l->api.CreateAllocator(m->session, m->in_memory[index],
							 &d->in_allocator[index]),
				  err, "cannot allocate input '%s' on the device", name));
	DCK_TRY(
	    ort_check(l,
		      l->api.CreateTensorAsOrtValue(d->in_allocator[index], t->dim, (size_t)t->rank,
						    dtype_onnx(t->dtype), &d->in[index]),
		      err, "cannot allocate input '%s' on the device", name));
	return ort_check(l, l->api.BindInput(d->binding, name, d->in[index]), err,
			 "cannot bind input '%s'", name);
}

void ort_device_input_forget(ort_device *d, size_t index)
{
	value_release(&d->model->lib, &d->in[index]);
	value_release(&d->model->lib, &d->in_host[index]);
	d->in_bytes[index] = 0;
}

dck_status ort_device_bind_input(ort_device *d, size_t index, const dck_tensor *t, bool same_shape,
				 ort_value *host, dck_err *err)
{
	value_release(&d->model->lib, &d->in_host[index]);
	d->in_host[index] = host;
	d->in_bytes[index] = t->bytes;
	d->stale_input = true;
	return same_shape && d->in[index] ? DCK_OK : input_new(d, index, t, err);
}

static dck_status inputs_upload(ort_device *d, uint64_t *ret_bytes, dck_err *err)
{
	size_t n = 0;

	*ret_bytes = 0;
	for (size_t i = 0; i < d->model->nin; i++) {
		if (!d->in[i] || !d->in_host[i] || d->in_bytes[i] == 0)
			continue;
		d->from[n] = d->in_host[i];
		d->to[n++] = d->in[i];
		*ret_bytes += d->in_bytes[i];
	}
	return tensors_copy(d, n, err);
}

/* A tensor in our own memory with the type and shape of `like`. *data grows as needed. */
static dck_status host_tensor(const ort_lib *l, const ort_value *like, void **data, uint64_t *bytes,
			      ort_value **ret, dck_err *err)
{
	int64_t dims[DCK_RANK_MAX];
	ort_tensor_type *type;
	uint64_t n = 0;
	size_t rank = 0;
	int element = 0;

	DCK_TRY(
	    ort_check(l, l->api.GetTensorTypeAndShape(like, &type), err, "cannot read a shape"));
	dck_status status =
	    ort_check(l, l->api.GetTensorElementType(type, &element), err, "cannot read a type");
	DCK_NEXT(status,
		 ort_check(l, l->api.GetDimensionsCount(type, &rank), err, "cannot read a shape"));
	if (status == DCK_OK && rank > DCK_RANK_MAX)
		status = ERR_SET(err, E_UNSUP,
				 "a tensor has %zu dimensions and at most %d are supported", rank,
				 DCK_RANK_MAX);
	DCK_NEXT(status,
		 ort_check(l, l->api.GetDimensions(type, dims, rank), err, "cannot read a shape"));
	l->api.ReleaseTensorTypeAndShapeInfo(type);
	DCK_TRY(status);
	n = dck_dtype_bytes(dtype_of_onnx(element));
	for (size_t i = 0; i < rank; i++)
		n *= (uint64_t)dims[i];
	if (!*data || n > *bytes) {
		mem_free(*data);
		*data = mem_alloc(n ? n : 1);
		DCK_NEED(*data, err, "for a copy of a tensor of %llu bytes", (unsigned long long)n);
	}
	*bytes = n;
	return ort_check(
	    l, l->api.CreateTensorWithDataAsOrtValue(l->cpu, *data, n, dims, rank, element, ret),
	    err, "cannot describe a tensor");
}

/* Waits until the inputs are on the device, by reading the smallest back: no output exists yet. */
static dck_status inputs_wait(ort_device *d, dck_err *err)
{
	const ort_lib *l = &d->model->lib;
	size_t least = SIZE_MAX;
	ort_value *copy = NULL;
	uint64_t bytes = 0;
	void *data = NULL;

	for (size_t i = 0; i < d->model->nin; i++)
		if (d->in[i] && d->in_bytes[i] > 0 &&
		    (least == SIZE_MAX || d->in_bytes[i] < d->in_bytes[least]))
			least = i;
	if (least == SIZE_MAX)
		return DCK_OK;
	dck_status status = host_tensor(l, d->in[least], &data, &bytes, &copy, err);
	if (status == DCK_OK) {
		d->from[0] = d->in[least];
		d->to[0] = copy;
		status = tensors_copy(d, 1, err);
	}
	value_release(l, &copy);
	mem_free(data);
	return status;
}

dck_status ort_device_prepare(ort_device *d, dck_err *err)
{
	uint64_t bytes;

	if (!d->stale_input)
		return DCK_OK;
	DCK_TRY(inputs_upload(d, &bytes, err));
	DCK_TRY(inputs_wait(d, err));
	d->stale_input = false;
	return DCK_OK;
}

/* --- outputs */

/* Describes the first BEGIN_BYTES of a larger output, on the device and in the host's memory: one
 * dimension of the same type. Types without a whole number of bytes are copied as a whole. */
static dck_status beginning_describe(ort_device *d, size_t i, ort_value *value, dck_err *err)
{
	static const char cannot[] = "cannot describe the beginning of an output";
	const dck_engine_model *m = d->model;
	const ort_lib *l = &m->lib;
	const uint64_t size = dck_dtype_bytes(m->out[i].dtype);
	const int64_t dims[] = {size ? (int64_t)(BEGIN_BYTES / size) : 0};
	const int type = dtype_onnx(m->out[i].dtype);
	void *data;

	if (dims[0] == 0 || d->out_bytes[i] <= BEGIN_BYTES)
		return DCK_OK;
	DCK_TRY(ort_check(l, l->api.GetTensorMutableData(value, &data), err, cannot));
	DCK_TRY(ort_check(l,
			  l->api.CreateTensorWithDataAsOrtValue(m->out_memory[i], data, BEGIN_BYTES,
								dims, 1, type, &d->begin[i]),
			  err, cannot));
	return ort_check(l,
			 l->api.CreateTensorWithDataAsOrtValue(l->cpu, d->out_data[i], BEGIN_BYTES,
							       dims, 1, type, &d->begin_host[i]),
			 err, cannot);
}

void ort_device_outputs(ort_device *d, ort_value **values, size_t n)
{
	const dck_engine_model *m = d->model;

	ort_device_outputs_forget(d);
	for (size_t i = 0; i < m->nout && i < n; i++) {
		if (m->out_memory[i])
			d->out[i] = values[i];
	}
	d->outputs_known = true;
}

/* Makes the tensors that an output is copied to, when it is copied first: past keys and values of a
 * decoder never are. */
static dck_status output_describe(ort_device *d, size_t i, dck_err *err)
{
	if (d->out_host[i])
		return DCK_OK;
	DCK_TRY(host_tensor(&d->model->lib, d->out[i], &d->out_data[i], &d->out_bytes[i],
			    &d->out_host[i], err));
	return beginning_describe(d, i, d->out[i], err);
}

static dck_status outputs_download(ort_device *d, bool all, uint64_t *ret_bytes, dck_err *err)
{
	size_t n = 0;

	*ret_bytes = 0;
	for (size_t i = 0; i < d->model->nout; i++) {
		if (!d->out[i])
			continue;
		DCK_TRY(output_describe(d, i, err));
		if (d->out_bytes[i] == 0)
			continue;
		const bool begin = !all && d->begin[i];
		d->from[n] = begin ? d->begin[i] : d->out[i];
		d->to[n++] = begin ? d->begin_host[i] : d->out_host[i];
		*ret_bytes += d->out_bytes[i];
	}
	/* Outputs without elements: the inputs are read, which follow in the same queue. */
	return n > 0 ? tensors_copy(d, n, err) : inputs_wait(d, err);
}

dck_status ort_device_fetch(ort_device *d, size_t index, dck_err *err)
{
	DCK_TRY(output_describe(d, index, err));
	if (d->out_bytes[index] == 0)
		return DCK_OK;
	d->from[0] = d->out[index];
	d->to[0] = d->out_host[index];
	return tensors_copy(d, 1, err);
}

/* --- barriers */

enum { BY_CALL, BY_SYNCHRONIZE, BY_COPY };

static const char *const barrier_names[] = {
    [BY_CALL] = "the end of the call",
    [BY_SYNCHRONIZE] = "SynchronizeBoundOutputs()",
    [BY_COPY] = "a copy of the beginning of each output to the host",
};

const char *ort_device_barrier(const ort_device *d, unsigned index)
{
	return d->nout > 0 && index <= BY_COPY ? barrier_names[index] : NULL;
}

dck_status ort_device_wait(ort_device *d, unsigned barrier, dck_err *err)
{
	const ort_lib *l = &d->model->lib;
	uint64_t bytes;

	if (d->nout == 0 || barrier == BY_CALL)
		return DCK_OK;
	if (barrier == BY_SYNCHRONIZE)
		return ort_check(l, l->api.SynchronizeBoundOutputs(d->binding), err,
				 "cannot wait for the device");
	return outputs_download(d, false, &bytes, err);
}

dck_status ort_device_transfer(ort_device *d, bool to_device, uint64_t *ret_bytes, dck_err *err)
{
	if (to_device)
		return inputs_upload(d, ret_bytes, err);
	return outputs_download(d, true, ret_bytes, err);
}
