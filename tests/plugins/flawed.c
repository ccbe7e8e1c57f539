/* flawed.c - a plug-in that is slow as its options say: a slow first run, slow denormals, results
 * that are not ready when run() returns, against the rules. With `device` it is a device: enqueued
 * runs continue after the call, its documented barrier returns at once (device=2: waits), and a
 * copy to the host waits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ELEMENTS 16

enum { CALL, DOCUMENTED, CERTAIN };

struct dck_engine_model {
	uint64_t ns, first_ns, denormal_ns, async, threads, fail_at, bind_ns, context_ns;
	uint64_t device, copy_ns;
	unsigned barrier; /* by which run() waits */
};

struct dck_engine_context {
	struct dck_engine_model *model;
	const float *input;
	float result[ELEMENTS];
	uint64_t runs, ready_ns;
};

static const dck_engine_option options[] = {
    {"ns", "N", "nanoseconds that a run takes"},
    {"first_ns", "N", "more of them in the first run of a session"},
    {"denormal_ns", "N", "more of them when the input is below the smallest normal number"},
    {"bind_ns", "N", "nanoseconds that handing over an input takes"},
    {"context_ns", "N", "nanoseconds that a new context takes"},
    {"threads", "N", "a run takes as many times longer"},
    {"async", "0|1", "run() returns at once"},
    {"fail_at", "N", "the run that fails"},
    {"device", "0|1|2", "runs are enqueued on a device; 2: whose documented barrier waits"},
    {"copy_ns", "N", "nanoseconds that a copy between the device and the host takes"},
    {0},
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_until(uint64_t ns)
{
	while (now_ns() < ns)
		;
}

static dck_status open_it(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model *m = calloc(1, sizeof *m);
	uint64_t *const fields[] = {&m->ns,	    &m->first_ns, &m->denormal_ns, &m->bind_ns,
				    &m->context_ns, &m->threads,  &m->async,	   &m->fail_at,
				    &m->device,	    &m->copy_ns};

	(void)err;
	if (!m)
		return DCK_E_NOMEM;
	m->barrier = CERTAIN;
	for (size_t i = 0; i < p->noptions; i++)
		for (size_t k = 0; options[k].key; k++)
			if (strcmp(p->options[i].key, options[k].key) == 0)
				*fields[k] = strtoull(p->options[i].value, NULL, 10);
	*ret = m;
	return DCK_OK;
}

static void close_it(dck_engine_model *m)
{
	free(m);
}

static dck_status describe(dck_engine_model *m, const dck_tensor_info **ret_in, size_t *ret_nin,
			   const dck_tensor_info **ret_out, size_t *ret_nout, dck_err *err)
{
	static const dck_tensor_info in = {
	    .name = "x", .dtype = {DCK_DTYPE_FLOAT, 32, 1}, .rank = 2, .dim = {1, ELEMENTS}};
	static const dck_tensor_info out = {
	    .name = "y", .dtype = {DCK_DTYPE_FLOAT, 32, 1}, .rank = 2, .dim = {1, ELEMENTS}};

	(void)m, (void)err;
	*ret_in = &in;
	*ret_out = &out;
	*ret_nin = *ret_nout = 1;
	return DCK_OK;
}

static dck_status context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = calloc(1, sizeof *c);

	(void)err;
	if (!c)
		return DCK_E_NOMEM;
	wait_until(now_ns() + m->context_ns);
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void context_free(dck_engine_context *c)
{
	free(c);
}

static dck_status bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	(void)index, (void)err;
	wait_until(now_ns() + c->model->bind_ns);
	c->input = t->data;
	return DCK_OK;
}

static dck_status enqueue(dck_engine_context *c, dck_err *err)
{
	const struct dck_engine_model *m = c->model;
	uint64_t ns = m->ns * (m->threads > 0 ? m->threads : 1);

	if (++c->runs == m->fail_at) {
		if (err) {
			err->code = DCK_E_ENGINE;
			strcpy(err->msg, "the run fails, as was asked");
		}
		return DCK_E_ENGINE;
	}
	if (c->runs == 1)
		ns += m->first_ns;
	if (fpclassify(c->input[0]) == FP_SUBNORMAL)
		ns += m->denormal_ns;
	const uint64_t now = now_ns();

	c->ready_ns = (m->device && c->ready_ns > now ? c->ready_ns : now) + ns;
	return DCK_OK;
}

static dck_status wait_by(dck_engine_context *c, unsigned index, dck_err *err)
{
	(void)err;
	if (index == CERTAIN || (index == DOCUMENTED && c->model->device == 2))
		wait_until(c->ready_ns);
	if (index == CERTAIN)
		wait_until(now_ns() + c->model->copy_ns);
	return DCK_OK;
}

static dck_status run(dck_engine_context *c, dck_err *err)
{
	const dck_status status = enqueue(c, err);

	if (status != DCK_OK)
		return status;
	if (c->model->device)
		return wait_by(c, c->model->barrier, err);
	if (!c->model->async)
		wait_until(c->ready_ns);
	return DCK_OK;
}

static const char *barrier(dck_engine_context *c, unsigned index)
{
	static const char *const names[] = {"the end of the call", "synchronize()", "a copy"};

	return c->model->device && index <= CERTAIN ? names[index] : NULL;
}

static void barrier_choose(dck_engine_context *c, unsigned index)
{
	c->model->barrier = index;
}

static dck_status transfer(dck_engine_context *c, bool to_device, uint64_t *ret_bytes, dck_err *err)
{
	*ret_bytes = sizeof c->result;
	if (!to_device)
		return wait_by(c, CERTAIN, err);
	wait_until(now_ns() + c->model->copy_ns);
	return DCK_OK;
}

static dck_status output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	(void)index, (void)err;
	wait_until(c->ready_ns);
	*ret = (dck_tensor){.data = c->result,
			    .dtype = {DCK_DTYPE_FLOAT, 32, 1},
			    .rank = 2,
			    .dim = {1, ELEMENTS},
			    .bytes = sizeof c->result};
	return DCK_OK;
}

static const dck_engine engine = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL,
    .name = "flawed",
    .version = "1",
    .help = "as slow as its options say",
    .options = options,
    .open = open_it,
    .close = close_it,
    .describe = describe,
    .context_new = context_new,
    .context_free = context_free,
    .bind_input = bind_input,
    .run = run,
    .output = output,
    .barrier = barrier,
    .barrier_choose = barrier_choose,
    .enqueue = enqueue,
    .wait = wait_by,
    .transfer = transfer,
};

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	return host_abi_major == DCK_ABI_MAJOR ? &engine : NULL;
}
