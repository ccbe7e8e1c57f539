/* lrt_context.c - one interpreter of a model: inputs are the caller's memory, outputs are the
 * context's, which a run overwrites.
 *
 * A compiled model of LiteRT serves one thread, so every context has its own. LiteRT takes the
 * host's memory as it is if it begins at a multiple of 64 bytes; an input that does not is copied
 * in each run. An input with open dimensions is resized when it is bound; the outputs get their
 * sizes, and their memory, before the next run.
 *
 * LiteRT 2.3.0 leaves the memory of an output untouched, and reports success, if the interpreter
 * decides in the run where the output is (as in the network of basic-pitch after a resize). So the
 * memory is filled with a pattern, which the first run must change.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "engine/engine.h"
#include "engine/litert/lrt_model.h"

#include <stdlib.h>
#include <string.h>

#define PATTERN	      0xa5u
#define OTHER_PATTERN 0x5au

typedef struct place {
	lrt_buffer *buffer;
	void *memory;	     /* that the context owns; NULL: the caller's */
	unsigned char *data; /* aligned, in memory */
	const void *from;    /* an input that each run copies to data */
	size_t bytes;
	lrt_layout layout;
	bool suspect; /* of an output: a run may have left its memory as it was */
} place;

struct dck_engine_context {
	/* What run() needs, first. */
	const lrt_api *api;
	lrt_compiled *compiled;
	lrt_buffer **in, **out;
	place *place; /* of inputs, then of outputs */
	size_t signature, nin, nout;
	size_t unbound, copied; /* inputs */
	bool written;		/* the outputs, by a run since they got memory */
	bool sized;		/* the outputs have memory */
	lrt_profiler *profiler;

	dck_engine_model *model;
	bool ran;
};

static lrt_layout lrt_layout_of(const int64_t *dim, int32_t rank)
{
	lrt_layout l = {.rank = (unsigned)rank & 0x7fu};

	for (int32_t i = 0; i < rank && i < LRT_RANK_MAX; i++)
		l.dim[i] = (int32_t)dim[i];
	return l;
}

/* Makes the error of a failed call, with the first line of what the interpreter reported. */
static dck_status interpreter_check(const dck_engine_context *c, int status, const char *what,
				    dck_err *err)
{
	char *text = NULL;

	if (status == 0)
		return DCK_OK;
	if (c->api->CompiledModelGetErrorMessages(c->compiled, &text) != 0 || !text || !*text) {
		free(text); /* from the library's malloc() */
		return lrt_check(status, err, "%s", what);
	}
	text[strcspn(text, "\n")] = '\0';
	ERR_SET(err, E_ENGINE, "%s: %s", what, text);
	free(text);
	c->api->CompiledModelClearErrors(c->compiled);
	return err_native(DCK_E_ENGINE, status, err);
}

static dck_status profiler_start(dck_engine_context *c, dck_err *err)
{
	DCK_TRY(lrt_check(c->api->CompiledModelGetProfiler(c->compiled, &c->profiler), err,
			  "cannot time operators"));
	return lrt_check(c->api->StartProfiler(c->profiler), err, "cannot time operators");
}

static dck_status context_fill(dck_engine_context *c, dck_err *err)
{
	dck_engine_model *m = c->model;

	c->in = mem_zalloc(c->nin + 1, sizeof *c->in);
	c->out = mem_zalloc(c->nout + 1, sizeof *c->out);
	c->place = mem_zalloc(c->nin + c->nout + 1, sizeof *c->place);
	DCK_NEED(c->in && c->out && c->place, err, "for a context of the engine 'litert'");
	os_fair_lock_take(&m->lock);
	c->compiled = m->spare;
	m->spare = NULL;
	os_fair_lock_give(&m->lock);
	if (!c->compiled)
		DCK_TRY(lrt_compile(m, &c->compiled, err));
	return m->observe & DCK_OBSERVE_OPERATORS ? profiler_start(c, err) : DCK_OK;
}

dck_status lrt_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = mem_zalloc(1, sizeof *c);

	DCK_NEED(c, err, "for a context of the engine 'litert'");
	c->api = &m->lib.api;
	c->model = m;
	c->signature = m->signature;
	c->nin = c->unbound = m->nin;
	c->nout = m->nout;
	const dck_status status = context_fill(c, err);
	if (status == DCK_OK)
		*ret = c;
	else
		lrt_context_free(c);
	return status;
}

static void place_done(const dck_engine_context *c, place *p)
{
	if (p->buffer)
		c->api->DestroyTensorBuffer(p->buffer);
	mem_free(p->memory);
	*p = (place){0};
}

void lrt_context_free(dck_engine_context *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->place && i < c->nin + c->nout; i++)
		place_done(c, &c->place[i]);
	if (c->compiled)
		c->api->DestroyCompiledModel(c->compiled);
	mem_free(c->in);
	mem_free(c->out);
	mem_free(c->place);
	mem_free(c);
}

/* Gives a place memory of its own. */
static dck_status place_alloc(place *p, size_t bytes, dck_err *err)
{
	if (bytes < SIZE_MAX - LRT_ALIGNMENT)
		p->memory = mem_zalloc(1, bytes + LRT_ALIGNMENT);
	DCK_NEED(p->memory, err, "for %zu bytes of the engine 'litert'", bytes);
	p->data = (unsigned char *)p->memory +
		  (LRT_ALIGNMENT - (uintptr_t)p->memory % LRT_ALIGNMENT) % LRT_ALIGNMENT;
	return DCK_OK;
}

static dck_status place_lend(const dck_engine_context *c, place *p, const dck_tensor_info *t,
			     void *data, size_t bytes, dck_err *err)
{
	const lrt_type type = {lrt_dtype_number(t->dtype), p->layout};

	return lrt_check(
	    c->api->CreateTensorBufferFromHostMemory(&type, data, bytes, NULL, &p->buffer), err,
	    "cannot bind '%s'", t->name);
}

static dck_status input_size(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	const dck_tensor_info *in = &c->model->in[index];
	int dim[LRT_RANK_MAX] = {0};

	if (t->rank > LRT_RANK_MAX)
		DCK_FAIL(err, E_UNSUP, "LiteRT supports %d dimensions and '%s' has %d",
			 LRT_RANK_MAX, in->name, (int)t->rank);
	for (int32_t i = 0; i < t->rank; i++) {
		if (t->dim[i] > INT32_MAX)
			DCK_FAIL(err, E_UNSUP, "a dimension of '%s' is too large for LiteRT",
				 in->name);
		dim[i] = (int)t->dim[i];
	}
	if (!engine_is_open(in))
		return DCK_OK;
	c->sized = false;
	return lrt_check(c->api->CompiledModelResizeInputTensor(c->compiled, c->signature, index,
								dim, (size_t)t->rank),
			 err, "LiteRT refuses the size of '%s'", in->name);
}

dck_status lrt_bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	const dck_engine_model *m = c->model;

	if (index >= m->nin)
		DCK_FAIL(err, E_ARG, "there is no input %zu: the model has %zu", index, m->nin);
	DCK_TRY(engine_tensor_check("input", &m->in[index], t, err));
	DCK_TRY(input_size(c, index, t, err));
	place p = {.layout = lrt_layout_of(t->dim, t->rank), .bytes = t->bytes};
	const bool fits = t->bytes > 0 && (uintptr_t)t->data % LRT_ALIGNMENT == 0;
	dck_status status = fits ? DCK_OK : place_alloc(&p, t->bytes, err);
	if (status == DCK_OK && !fits)
		p.from = t->data;
	if (status == DCK_OK)
		status = place_lend(c, &p, &m->in[index], fits ? t->data : p.data, t->bytes, err);
	if (status != DCK_OK) {
		place_done(c, &p);
		return status;
	}
	c->unbound -= !c->in[index];
	c->copied += !fits;
	c->copied -= c->place[index].from != NULL;
	place_done(c, &c->place[index]);
	c->place[index] = p;
	c->in[index] = p.buffer;
	return DCK_OK;
}

static dck_status output_make(dck_engine_context *c, size_t i, const lrt_layout *layout,
			      dck_err *err)
{
	const dck_tensor_info *out = &c->model->out[i];
	place *p = &c->place[c->nin + i];
	lrt_needs *needs = NULL;
	size_t bytes = dck_dtype_bytes(out->dtype), need = 0;

	if (out->dtype.code == DCK_DTYPE_OTHER)
		DCK_FAIL(err, E_UNSUP, "output '%s' is not a tensor of numbers", out->name);
	for (unsigned k = 0; k < layout->rank; k++) {
		if (layout->dim[k] < 0)
			DCK_FAIL(err, E_UNSUP,
				 "the size of output '%s' depends on the data, for which LiteRT's "
				 "C interface has no memory",
				 out->name);
		if (__builtin_mul_overflow(bytes, (size_t)layout->dim[k], &bytes))
			DCK_FAIL(err, E_NOMEM, "output '%s' is too large", out->name);
	}
	DCK_TRY(lrt_check(
	    c->api->GetCompiledModelOutputBufferRequirements(c->compiled, c->signature, i, &needs),
	    err, "cannot size output '%s'", out->name));
	DCK_TRY(lrt_check(c->api->GetTensorBufferRequirementsBufferSize(needs, &need), err,
			  "cannot size output '%s'", out->name));
	place_done(c, p);
	p->layout = *layout;
	p->bytes = bytes;
	if (need < bytes)
		need = bytes;
	DCK_TRY(place_alloc(p, need, err));
	memset(p->data, PATTERN, need);
	DCK_TRY(place_lend(c, p, out, p->data, need, err));
	c->out[i] = p->buffer;
	return DCK_OK;
}

dck_status lrt_prepare(dck_engine_context *c, dck_err *err)
{
	if (c->unbound > 0)
		DCK_FAIL(err, E_ARG, "the run failed: %zu inputs are not bound", c->unbound);
	if (c->sized)
		return DCK_OK;
	lrt_layout *layout = mem_zalloc(c->nout + 1, sizeof *layout);
	DCK_NEED(layout, err, "for the sizes of outputs");
	dck_status status = interpreter_check(c,
					      c->api->GetCompiledModelOutputTensorLayouts(
						  c->compiled, c->signature, c->nout, layout, true),
					      "LiteRT cannot size the outputs", err);
	for (size_t i = 0; status == DCK_OK && i < c->nout; i++)
		status = output_make(c, i, &layout[i], err);
	mem_free(layout);
	c->sized = status == DCK_OK;
	c->written = false;
	return status;
}

static dck_status lrt_run_once(dck_engine_context *c, dck_err *err)
{
	return interpreter_check(
	    c, c->api->RunCompiledModel(c->compiled, c->signature, c->nin, c->in, c->nout, c->out),
	    "the run failed", err);
}

static bool place_is_all(const place *p, unsigned char byte)
{
	size_t same = 0;

	while (same < p->bytes && p->data[same] == byte)
		same++;
	return same == p->bytes && same > 0;
}

/* Fails if an output's memory is as it was before the run. An output may have the pattern as its
 * value: then another run replaces another one. */
static dck_status lrt_outputs_check(dck_engine_context *c, dck_err *err)
{
	place *out = c->place + c->nin;
	bool again = false;

	for (size_t i = 0; i < c->nout; i++) {
		out[i].suspect = place_is_all(&out[i], PATTERN);
		again |= out[i].suspect;
		if (out[i].suspect)
			memset(out[i].data, OTHER_PATTERN, out[i].bytes);
	}
	if (again)
		DCK_TRY(lrt_run_once(c, err));
	for (size_t i = 0; i < c->nout; i++)
		if (out[i].suspect && place_is_all(&out[i], OTHER_PATTERN))
			DCK_FAIL(err, E_UNSUP,
				 "LiteRT does not return the output '%s', whose place it decides "
				 "in the run; try --engine openvino",
				 c->model->out[i].name);
	c->written = true;
	return DCK_OK;
}

dck_status lrt_run(dck_engine_context *c, dck_err *err)
{
	if (!c->sized || c->unbound > 0)
		DCK_TRY(lrt_prepare(c, err));
	const uint64_t begin_ns = c->profiler ? os_now_ns() : 0;
	for (size_t i = 0; c->copied > 0 && i < c->nin; i++)
		if (c->place[i].from)
			memcpy(c->place[i].data, c->place[i].from, c->place[i].bytes);
	DCK_TRY(lrt_run_once(c, err));
	if (!c->written)
		DCK_TRY(lrt_outputs_check(c, err));
	c->ran = true;
	return c->profiler ? lrt_profile_take(c->model, c->profiler, os_now_ns() - begin_ns, err)
			   : DCK_OK;
}

dck_status lrt_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	if (index >= c->nout)
		DCK_FAIL(err, E_ARG, "there is no output %zu: the model has %zu", index, c->nout);
	if (!c->ran)
		DCK_FAIL(err, E_ARG, "there are no outputs before a run");
	const place *p = &c->place[c->nin + index];
	*ret = (dck_tensor){.dtype = c->model->out[index].dtype,
			    .rank = (int32_t)p->layout.rank,
			    .data = p->data,
			    .bytes = p->bytes};
	for (unsigned i = 0; i < p->layout.rank; i++)
		ret->dim[i] = p->layout.dim[i];
	return DCK_OK;
}
