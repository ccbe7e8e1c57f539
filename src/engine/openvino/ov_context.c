/* ov_context.c - one request of a compiled model: inputs are the caller's memory, outputs are
 * OpenVINO's, which a run overwrites.
 *
 * While the model has one context, a run is a synchronous call, which has the least overhead. Of
 * several the runs are asynchronous requests: OpenVINO's streams (num_streams) serve them, and not
 * the callers' threads, of which each would get a stream of its own beside those.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/openvino/ov_model.h"

#include <string.h>

struct dck_engine_context {
	/* What run() needs, first. */
	const ov_api *api;
	ov_request *request;
	size_t unbound; /* inputs: OpenVINO would allocate their memory */
	bool watched;

	dck_engine_model *model;
	bool ran;
	bool *bound;
	ov_tensor *output; /* the last that was read */
};

dck_status ov_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "for a context of the engine 'openvino'");
	c->api = &m->lib.api;
	c->model = m;
	c->watched = m->observe != 0;
	c->unbound = m->nin;
	atomic_fetch_add_explicit(&m->contexts, 1, memory_order_relaxed);
	c->bound = mem_zalloc(m->nin + 1, sizeof *c->bound);
	const dck_status status =
	    !c->bound
		? ERR_NO_MEMORY(err, "for a context of the engine 'openvino'")
		: ov_check(&m->lib,
			   c->api->compiled_model_create_infer_request(m->compiled, &c->request),
			   err, "cannot create a request");
	if (status == DCK_OK)
		*ret = c;
	else
		ov_context_free(c);
	return status;
}

static void output_release(dck_engine_context *c)
{
	if (c->output)
		c->api->tensor_free(c->output);
	c->output = NULL;
}

void ov_context_free(dck_engine_context *c)
{
	if (!c)
		return;
	output_release(c);
	if (c->request)
		c->api->infer_request_free(c->request);
	atomic_fetch_sub_explicit(&c->model->contexts, 1, memory_order_relaxed);
	mem_free(c->bound);
	mem_free(c);
}

dck_status ov_bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	static char nothing[1]; /* data of an empty tensor */
	const dck_engine_model *m = c->model;
	int64_t dim[DCK_RANK_MAX];
	ov_tensor *tensor = NULL;

	if (index >= m->nin)
		DCK_FAIL(err, E_ARG, "there is no input %zu: the model has %zu", index, m->nin);
	DCK_TRY(engine_tensor_check("input", &m->in[index], t, err));
	memcpy(dim, t->dim, sizeof dim);
	DCK_TRY(ov_check(&m->lib,
			 c->api->tensor_create_from_host_ptr(ov_dtype_number(t->dtype),
							     (ov_shape){t->rank, dim},
							     t->bytes ? t->data : nothing, &tensor),
			 err, "cannot bind '%s'", m->in[index].name));
	const dck_status status = ov_check(
	    &m->lib, c->api->infer_request_set_input_tensor_by_index(c->request, index, tensor),
	    err, "cannot bind input '%s'", m->in[index].name);
	c->api->tensor_free(tensor); /* the request has its own reference */
	if (status == DCK_OK && !c->bound[index]) {
		c->bound[index] = true;
		c->unbound--;
	}
	return status;
}

static int request_run(const dck_engine_context *c)
{
	if (atomic_load_explicit(&c->model->contexts, memory_order_relaxed) == 1)
		return c->api->infer_request_infer(c->request);
	const int status = c->api->infer_request_start_async(c->request);

	return status == 0 ? c->api->infer_request_wait(c->request) : status;
}

dck_status ov_run(dck_engine_context *c, dck_err *err)
{
	if (c->unbound > 0)
		DCK_FAIL(err, E_ARG, "the run failed: %zu inputs are not bound", c->unbound);
	const uint64_t begin_ns = c->watched ? os_now_ns() : 0;
	const int status = request_run(c);

	if (status != 0)
		return ov_check(&c->model->lib, status, err, "the run failed");
	c->ran = true;
	return c->watched ? ov_profile_take(c->model, c->request, os_now_ns() - begin_ns, err)
			  : DCK_OK;
}

/* Reads the shape of the output into *t, whose type is known. OpenVINO's C interface has no shape
 * of a scalar and fails: it has the bytes of one element. */
static dck_status output_shape_read(const dck_engine_context *c, const dck_tensor_info *info,
				    size_t bytes, dck_tensor *t, dck_err *err)
{
	ov_shape shape = {0, NULL};
	const int status = c->api->tensor_get_shape(c->output, &shape);

	t->rank = 0;
	if (status != 0 && info->rank <= 0 && bytes > 0 && bytes == dck_dtype_bytes(t->dtype))
		return DCK_OK;
	DCK_TRY(ov_check(&c->model->lib, status, err, "cannot read the shape of '%s'", info->name));
	t->rank = (int32_t)(shape.rank <= DCK_RANK_MAX ? shape.rank : -1);
	for (int32_t i = 0; i < t->rank; i++)
		t->dim[i] = shape.dim[i];
	(void)c->api->shape_free(&shape);
	return DCK_OK;
}

static dck_status output_fill(dck_engine_context *c, const dck_tensor_info *info, dck_tensor *ret,
			      dck_err *err)
{
	const ov_lib *l = &c->model->lib;
	dck_tensor t = {0};
	size_t bytes = 0;
	int type = 0;

	DCK_TRY(ov_check(l, c->api->tensor_get_element_type(c->output, &type), err,
			 "cannot read output '%s'", info->name));
	DCK_TRY(ov_check(l, c->api->tensor_get_byte_size(c->output, &bytes), err,
			 "cannot read output '%s'", info->name));
	t.dtype = ov_dtype_of(type);
	DCK_TRY(output_shape_read(c, info, bytes, &t, err));
	if (t.dtype.code == DCK_DTYPE_OTHER || t.rank < 0)
		DCK_FAIL(err, E_UNSUP,
			 "output '%s' is not a tensor of numbers of at most %d dimensions",
			 info->name, DCK_RANK_MAX);
	DCK_TRY(ov_check(l, c->api->tensor_data(c->output, &t.data), err, "cannot read output '%s'",
			 info->name));
	t.bytes = bytes;
	*ret = t;
	return DCK_OK;
}

dck_status ov_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	const dck_engine_model *m = c->model;

	if (index >= m->nout)
		DCK_FAIL(err, E_ARG, "there is no output %zu: the model has %zu", index, m->nout);
	if (!c->ran)
		DCK_FAIL(err, E_ARG, "there are no outputs before a run");
	output_release(c);
	DCK_TRY(ov_check(
	    &m->lib,
	    c->api->infer_request_get_output_tensor_by_index(c->request, index, &c->output), err,
	    "cannot get output '%s'", m->out[index].name));
	return output_fill(c, &m->out[index], ret, err);
}
