/* ort_context.c - one request on a session: tensors are bound once, and a run is one call of
 * ONNX Runtime.
 *
 * An output that the host does not bind is left to ONNX Runtime: bound to the device at first, it
 * allocates it in the first run and writes to the same memory from then on. When its shape depends
 * on the data and comes out different, ONNX Runtime refuses that; it is then bound again and the
 * run made again, and from there on before each run. So is an output that is a sequence, which
 * ONNX Runtime would append to.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/dtype.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/float_mode.h"
#include "engine/ort/ort_model.h"

#include <string.h>

struct dck_engine_context {
	/* What run() needs, first. */
	const ort_api *api;
	ort_session *session;
	const ort_run_options *run_options;
	ort_binding *binding;
	bool flush;	     /* denormals, in our thread while it runs */
	bool watched;	     /* the model counts its runs */
	bool outputs_vary;   /* bind outputs again before each run */
	bool outputs_filled; /* there was a run since they were bound */
	bool values_stale;   /* `values` are not from the last run */

	dck_engine_model *model;
	ort_value **values; /* of the outputs; allocated by ONNX Runtime */
	size_t nvalues;
	dck_tensor *bound_in; /* the shape of each input's last tensor */
	bool *host_out;	      /* outputs in the host's memory */
	bool shapes_changed;
	ort_device device; /* tensors in its memory; .nout 0: runs end within their calls */
	/* Inputs that each run copies to the device; NULL: none. */
	ort_value **each_run;
};

/* --- binding */

static void values_release(dck_engine_context *c)
{
	const ort_lib *l = &c->model->lib;

	for (size_t i = 0; i < c->nvalues; i++)
		if (c->values[i])
			l->api.ReleaseValue(c->values[i]);
	if (c->values)
		ort_check(l, l->api.AllocatorFree(l->allocator, c->values), NULL, "unused");
	c->values = NULL;
	c->nvalues = 0;
}

/* Forgets the memory of an output that is ONNX Runtime's own. */
static dck_status output_forget(const dck_engine_context *c, size_t i, dck_err *err)
{
	const dck_engine_model *m = c->model;

	if (c->host_out[i])
		return DCK_OK;
	return ort_check(
	    &m->lib,
	    c->api->BindOutputToDevice(c->binding, m->out[i].name,
				       m->out_memory[i] ? m->out_memory[i] : m->lib.cpu),
	    err, "cannot bind output '%s'", m->out[i].name);
}

static dck_status outputs_bind(dck_engine_context *c, dck_err *err)
{
	for (size_t i = 0; i < c->model->nout; i++)
		DCK_TRY(output_forget(c, i, err));
	ort_device_outputs_forget(&c->device);
	c->outputs_filled = false;
	return DCK_OK;
}

void ort_context_free(dck_engine_context *c)
{
	if (!c)
		return;
	const ort_provider *p = &c->model->provider;

	ort_provider_begin(p);
	values_release(c);
	if (c->binding)
		c->api->ReleaseIoBinding(c->binding);
	ort_device_done(&c->device);
	for (size_t i = 0; c->each_run && i < c->model->nin; i++)
		if (c->each_run[i])
			c->api->ReleaseValue(c->each_run[i]);
	ort_provider_end(p);
	mem_free(c->each_run);
	mem_free(c->bound_in);
	mem_free(c->host_out);
	mem_free(c);
}

static dck_status context_init(dck_engine_context *c, dck_engine_model *m, dck_err *err)
{
	c->api = &m->lib.api;
	c->session = m->session;
	c->run_options = m->run_options;
	c->flush = m->setup.flush_denormals;
	c->watched = m->observe != 0;
	/* Outputs that remain from the previous run would not be counted. */
	c->outputs_vary = m->counter != NULL;
	c->values_stale = true;
	c->bound_in = mem_zalloc(m->nin ? m->nin : 1, sizeof *c->bound_in);
	c->host_out = mem_zalloc(m->nout ? m->nout : 1, sizeof *c->host_out);
	DCK_NEED(c->bound_in && c->host_out, err, "for a context of the engine 'ort'");
	DCK_TRY(ort_check(&m->lib, c->api->CreateIoBinding(m->session, &c->binding), err,
			  "cannot create a binding"));
	DCK_TRY(ort_device_init(&c->device, m, c->binding, err));
	if (m->setup.transfers && strcmp(m->provider.name, "cpu") != 0) {
		c->each_run = mem_zalloc(m->nin + 1, sizeof *c->each_run);
		DCK_NEED(c->each_run, err, "for a context of the engine 'ort'");
	}
	return outputs_bind(c, err);
}

dck_status ort_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "for a context of the engine 'ort'");
	c->model = m;
	ort_provider_begin(&m->provider);
	dck_status status = context_init(c, m, err);
	ort_provider_end(&m->provider);
	if (status == DCK_OK)
		*ret = c;
	else
		ort_context_free(c);
	return status;
}

static dck_status value_new(dck_engine_context *c, const char *name, const dck_tensor *t,
			    ort_value **ret, dck_err *err)
{
	static char nothing[1]; /* data of an empty tensor */
	const ort_lib *l = &c->model->lib;

	return ort_check(l,
			 l->api.CreateTensorWithDataAsOrtValue(l->cpu, t->bytes ? t->data : nothing,
							       t->bytes, t->dim, (size_t)t->rank,
							       dtype_onnx(t->dtype), ret),
			 err, "cannot bind '%s'", name);
}

static bool same_shape(const dck_tensor *a, const dck_tensor *b)
{
	return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
}

/* Binds a value, whose reference it takes. */
static dck_status input_give(dck_engine_context *c, size_t index, const dck_tensor *t, bool same,
			     ort_value *value, dck_err *err)
{
	const dck_engine_model *m = c->model;
	const char *name = m->in[index].name;

	if (m->in_memory[index])
		return ort_device_bind_input(&c->device, index, t, same, value, err);
	const dck_status status = ort_check(&m->lib, c->api->BindInput(c->binding, name, value),
					    err, "cannot bind input '%s'", name);
	if (c->each_run) {
		if (c->each_run[index])
			c->api->ReleaseValue(c->each_run[index]);
		c->each_run[index] = value;
	} else {
		c->api->ReleaseValue(value); /* the binding has its own reference */
	}
	return status;
}

dck_status ort_bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	const dck_engine_model *m = c->model;
	ort_value *value;

	if (index >= m->nin)
		DCK_FAIL(err, E_ARG, "there is no input %zu: the model has %zu", index, m->nin);
	const char *name = m->in[index].name;
	DCK_TRY(engine_tensor_check("input", &m->in[index], t, err));
	DCK_TRY(value_new(c, name, t, &value, err));
	const bool same = same_shape(&c->bound_in[index], t);
	ort_provider_begin(&m->provider);
	dck_status status = input_give(c, index, t, same, value, err);
	ort_provider_end(&m->provider);
	DCK_TRY(status);
	if (!same)
		c->shapes_changed = true;
	c->bound_in[index] = *t;
	return DCK_OK;
}

static dck_status values_get(dck_engine_context *c, dck_err *err);

dck_status ort_bind_from(dck_engine_context *c, size_t index, dck_engine_context *from,
			 size_t output, dck_err *err)
{
	const dck_engine_model *m = c->model;

	if (index >= m->nin || output >= m->nout)
		DCK_FAIL(err, E_ARG, "there is no input %zu or no output %zu", index, output);
	if (c->each_run)
		DCK_FAIL(err, E_UNSUP, "each run includes the transfers of its inputs");
	ort_provider_begin(&m->provider);
	dck_status status = values_get(from, err);
	if (status == DCK_OK && (output >= from->nvalues || !from->values[output]))
		status = ERR_SET(err, E_ABSENT, "the run gave no output '%s'", m->out[output].name);
	DCK_NEXT(status,
		 ort_check(&m->lib,
			   c->api->BindInput(c->binding, m->in[index].name, from->values[output]),
			   err, "cannot bind input '%s'", m->in[index].name));
	if (status == DCK_OK)
		ort_device_input_forget(&c->device, index);
	ort_provider_end(&m->provider);
	/* Its shape is not known here. */
	c->bound_in[index].rank = -1;
	c->shapes_changed = true;
	return status;
}

dck_status ort_bind_output(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	const dck_engine_model *m = c->model;
	ort_value *value;

	if (index >= m->nout)
		DCK_FAIL(err, E_ARG, "there is no output %zu: the model has %zu", index, m->nout);
	const char *name = m->out[index].name;
	if (m->out_memory[index])
		DCK_FAIL(err, E_UNSUP, "output '%s' stays on the device", name);
	DCK_TRY(engine_tensor_check("output", &m->out[index], t, err));
	DCK_TRY(value_new(c, name, t, &value, err));
	dck_status status = ort_check(&m->lib, c->api->BindOutput(c->binding, name, value), err,
				      "cannot bind output '%s'", name);
	c->api->ReleaseValue(value);
	if (status == DCK_OK)
		c->host_out[index] = true;
	return status;
}

static dck_status context_prepare(dck_engine_context *c, dck_err *err)
{
	DCK_TRY(ort_device_prepare(&c->device, err));
	if (!c->shapes_changed)
		return DCK_OK;
	DCK_TRY(outputs_bind(c, err));
	c->shapes_changed = false;
	return DCK_OK;
}

dck_status ort_prepare(dck_engine_context *c, dck_err *err)
{
	ort_provider_begin(&c->model->provider);
	const dck_status status = context_prepare(c, err);
	ort_provider_end(&c->model->provider);
	return status;
}

/* --- running */

static ort_status *run_bare(dck_engine_context *c)
{
	if (!c->flush)
		return c->api->RunWithBinding(c->session, c->run_options, c->binding);
	uint64_t mode = float_mode_get();
	float_mode_set(mode | FLOAT_MODE_FLUSH);
	ort_status *s = c->api->RunWithBinding(c->session, c->run_options, c->binding);
	float_mode_set(mode);
	return s;
}

/* From any thread. */
static void run_ended(dck_engine_model *m, bool failed)
{
	uint64_t order = atomic_fetch_add(&m->runs.ended, 1);

	if (!failed)
		return;
	uint64_t i = atomic_fetch_add(&m->runs.failures, 1);
	if (i < ORT_FAILURES_MAX)
		atomic_store(&m->runs.failed[i], order);
}

static ort_status *context_run_once(dck_engine_context *c)
{
	if (!c->watched)
		return run_bare(c);
	if (c->model->counter)
		ort_counter_run_begins(c->model->counter);
	ort_status *s = run_bare(c);
	run_ended(c->model, s != NULL);
	return s;
}

/* Did the outputs only not fit the memory of the run before? */
static dck_status run_again(dck_engine_context *c, ort_status *failure, dck_err *err)
{
	const dck_engine_model *m = c->model;

	if (!c->outputs_filled)
		return ort_check(&m->lib, failure, err, "the run failed");
	c->api->ReleaseStatus(failure);
	DCK_TRY(outputs_bind(c, err));
	c->values_stale = true;
	DCK_TRY(ort_check(&m->lib, context_run_once(c), err, "the run failed"));
	c->outputs_filled = true;
	if (!c->outputs_vary && m->log)
		m->log(m->log_self, DCK_LOG_INFO,
		       "the shape of an output depends on the data: "
		       "ONNX Runtime allocates outputs again in each run from now on");
	c->outputs_vary = true;
	return DCK_OK;
}

/* A binding copies an input to the device when it is bound. */
static dck_status inputs_bind_again(dck_engine_context *c, dck_err *err)
{
	const dck_engine_model *m = c->model;

	for (size_t i = 0; i < m->nin; i++)
		DCK_TRY(ort_check(&m->lib,
				  c->api->BindInput(c->binding, m->in[i].name, c->each_run[i]), err,
				  "cannot bind input '%s'", m->in[i].name));
	return DCK_OK;
}

/* Operators append to a sequence of the last run: it would hold the results of all runs. */
static dck_status growing_forget(const dck_engine_context *c, dck_err *err)
{
	for (size_t i = 0; i < c->model->nout; i++)
		if (c->model->out_grows[i])
			DCK_TRY(output_forget(c, i, err));
	return DCK_OK;
}

static dck_status context_enqueue(dck_engine_context *c, dck_err *err)
{
	if (c->outputs_vary)
		DCK_TRY(outputs_bind(c, err));
	else if (c->model->ngrowing > 0)
		DCK_TRY(growing_forget(c, err));
	if (c->each_run)
		DCK_TRY(inputs_bind_again(c, err));
	/* On a device they are the same tensors until they are bound again. */
	c->values_stale |= !c->device.outputs_known;
	ort_status *s = context_run_once(c);
	if (s)
		return run_again(c, s, err);
	c->outputs_filled = true;
	return DCK_OK;
}

dck_status ort_enqueue(dck_engine_context *c, dck_err *err)
{
	ort_provider_begin(&c->model->provider);
	const dck_status status = context_enqueue(c, err);
	ort_provider_end(&c->model->provider);
	return status;
}

dck_status ort_run(dck_engine_context *c, dck_err *err)
{
	DCK_TRY(ort_enqueue(c, err));
	return c->device.nout == 0 ? DCK_OK : ort_wait(c, c->model->barrier, err);
}

/* --- results */

static dck_status values_get(dck_engine_context *c, dck_err *err)
{
	const ort_lib *l = &c->model->lib;

	if (!c->outputs_filled)
		DCK_FAIL(err, E_ARG, "there are no outputs before a run");
	if (!c->values_stale)
		return DCK_OK;
	values_release(c);
	DCK_TRY(ort_check(
	    l, l->api.GetBoundOutputValues(c->binding, l->allocator, &c->values, &c->nvalues), err,
	    "cannot get the outputs"));
	c->values_stale = false;
	return DCK_OK;
}

/* Outputs that are on the device stay where they are until they are bound again. */
static dck_status device_outputs_get(dck_engine_context *c, dck_err *err)
{
	if (c->device.outputs_known)
		return DCK_OK;
	DCK_TRY(values_get(c, err));
	ort_device_outputs(&c->device, c->values, c->nvalues);
	return DCK_OK;
}

/* shape_only: types without a known size, such as text, are passed without data. */
static dck_status tensor_fill(const ort_lib *l, ort_value *v, const ort_tensor_type *type,
			      const char *name, bool shape_only, dck_tensor *ret, dck_err *err)
{
	dck_tensor t = {0};
	int element_type;
	size_t rank;

	DCK_TRY(ort_check(l, l->api.GetTensorElementType(type, &element_type), err,
			  "cannot read output '%s'", name));
	DCK_TRY(ort_check(l, l->api.GetDimensionsCount(type, &rank), err, "cannot read output '%s'",
			  name));
	t.dtype = dtype_of_onnx(element_type);
	if (rank > DCK_RANK_MAX)
		DCK_FAIL(err, E_UNSUP,
			 "output '%s' has %zu dimensions: more than %d are not supported", name,
			 rank, DCK_RANK_MAX);
	if (t.dtype.code == DCK_DTYPE_OTHER && !shape_only) {
		const char *text = dtype_onnx_text(element_type);

		DCK_FAIL(err, E_UNSUP, "output '%s' is of type %s, which is not supported%s", name,
			 text ? text : "?",
			 dtype_onnx_bits(element_type) ? ": add a Cast to float32 to the model"
						       : "");
	}
	DCK_TRY(ort_check(l, l->api.GetDimensions(type, t.dim, rank), err,
			  "cannot read output '%s'", name));
	t.rank = (int32_t)rank;
	if (t.dtype.code == DCK_DTYPE_OTHER) {
		*ret = t;
		return DCK_OK;
	}
	DCK_TRY(ort_check(l, l->api.GetTensorMutableData(v, &t.data), err,
			  "cannot read output '%s'", name));
	t.bytes = dck_dtype_bytes(t.dtype);
	for (size_t i = 0; i < rank; i++)
		t.bytes *= (uint64_t)t.dim[i];
	*ret = t;
	return DCK_OK;
}

static dck_status context_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	const dck_engine_model *m = c->model;
	ort_tensor_type *type;
	int is_tensor;

	if (index >= m->nout)
		DCK_FAIL(err, E_ARG, "there is no output %zu: the model has %zu", index, m->nout);
	const char *name = m->out[index].name;
	DCK_TRY(values_get(c, err));
	if (index >= c->nvalues || !c->values[index])
		DCK_FAIL(err, E_ABSENT, "the run gave no output '%s'", name);
	ort_value *v = c->values[index];
	if (m->out_memory[index]) {
		DCK_TRY(device_outputs_get(c, err));
		DCK_TRY(ort_device_fetch(&c->device, index, err));
		v = c->device.out_host[index];
	}
	DCK_TRY(ort_check(&m->lib, c->api->IsTensor(v, &is_tensor), err, "cannot read output '%s'",
			  name));
	if (!is_tensor)
		DCK_FAIL(err, E_UNSUP, "output '%s' is not a tensor", name);
	DCK_TRY(ort_check(&m->lib, c->api->GetTensorTypeAndShape(v, &type), err,
			  "cannot read output '%s'", name));
	dck_status status =
	    tensor_fill(&m->lib, v, type, name, m->observe & DCK_OBSERVE_VALUES, ret, err);
	c->api->ReleaseTensorTypeAndShapeInfo(type);
	return status;
}

dck_status ort_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	ort_provider_begin(&c->model->provider);
	const dck_status status = context_output(c, index, ret, err);
	ort_provider_end(&c->model->provider);
	return status;
}

/* --- devices */

const char *ort_barrier(dck_engine_context *c, unsigned index)
{
	return ort_device_barrier(&c->device, index);
}

void ort_barrier_choose(dck_engine_context *c, unsigned index)
{
	c->model->barrier = index;
}

dck_status ort_wait(dck_engine_context *c, unsigned barrier, dck_err *err)
{
	ort_provider_begin(&c->model->provider);
	dck_status status = device_outputs_get(c, err);
	DCK_NEXT(status, ort_device_wait(&c->device, barrier, err));
	ort_provider_end(&c->model->provider);
	return status;
}

dck_status ort_transfer(dck_engine_context *c, bool to_device, uint64_t *ret_bytes, dck_err *err)
{
	ort_provider_begin(&c->model->provider);
	dck_status status = device_outputs_get(c, err);
	DCK_NEXT(status, ort_device_transfer(&c->device, to_device, ret_bytes, err));
	ort_provider_end(&c->model->provider);
	return status;
}
