/* device.c - a plug-in that is a double of a device: enqueued runs continue after the call, memory
 * is limited, and the device is lost at a given run. A loss is final, as CUDA documents it for
 * cudaErrorLaunchFailure: every later call of the process fails with the same error; with
 * LOST_FILE, which a loss makes, those of later processes too. Memory is that of the process: a
 * context that the host does not free leaves less for the next one.
 *
 * It can report the operators of simplenet, each with a third of a run on the device.
 *
 * Its model is y = x, with x of N rows: "input", as the built-in network simplenet has it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WIDTH 784

enum { CALL, CERTAIN };

static atomic_uint_least64_t in_use_bytes, runs; /* runs: with their waits, which a host times */
static atomic_bool lost;

enum { OPERATORS = 3, PROFILED_MOST = 4000 };

struct dck_engine_model {
	dck_op_event events[PROFILED_MOST * OPERATORS];
	uint64_t run_ns[PROFILED_MOST], run_begin_ns[PROFILED_MOST];
	uint64_t device_begin_ns[PROFILED_MOST * OPERATORS],
	    device_end_ns[PROFILED_MOST * OPERATORS];
	atomic_size_t profiled; /* runs */
	uint64_t ns, memory, item_bytes, lost_at, lost_batch, when, enqueue_ns;
	unsigned barrier;
	dck_tensor_info in, out;
};

struct dck_engine_context {
	dck_engine_model *model;
	const float *input;
	uint64_t rows, bytes, ready_ns;
};

static const dck_engine_option options[] = {
    {"ns", "N", "nanoseconds that a run takes"},
    {"memory", "N", "bytes of the device; 0: enough"},
    {"item_bytes", "N", "bytes of the device that an item takes"},
    {"lost_at", "N",
     "the run of the process at which the device is lost; others than those of the test of "
     "barriers count"},
    {"lost_batch", "N", "the batch from which on a run loses the device"},
    {"when", "N", "1: operators also have when they were on the device; the second is not there"},
    {"enqueue_ns", "N", "nanoseconds that the host takes to enqueue a run"},
    {0},
};

static dck_status fail(dck_err *err, dck_status code, const char *text)
{
	if (err) {
		*err = (dck_err){.code = code};
		strcpy(err->msg, text);
	}
	return code;
}

static void lose(void)
{
	const char *path = getenv("LOST_FILE");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f)
		fclose(f);
	atomic_store(&lost, true);
}

static dck_status lost_check(dck_err *err)
{
	return atomic_load(&lost) ? fail(err, DCK_E_ENGINE,
					 "CUDA failure 719: unspecified launch failure; the "
					 "device is lost")
				  : DCK_OK;
}

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
	const char *path = getenv("LOST_FILE");
	FILE *f = path ? fopen(path, "r") : NULL;
	uint64_t *fields[7];

	if (f) {
		fclose(f);
		atomic_store(&lost, true);
	}

	if (!m)
		return fail(err, DCK_E_NOMEM, "no memory");
	fields[0] = &m->ns;
	fields[1] = &m->memory;
	fields[2] = &m->item_bytes;
	fields[3] = &m->lost_at;
	fields[4] = &m->lost_batch;
	fields[5] = &m->when;
	fields[6] = &m->enqueue_ns;
	m->barrier = CERTAIN;
	for (size_t i = 0; i < p->noptions; i++)
		for (size_t k = 0; options[k].key; k++)
			if (strcmp(p->options[i].key, options[k].key) == 0)
				*fields[k] = strtoull(p->options[i].value, NULL, 10);
	m->in = (dck_tensor_info){.name = "input",
				  .dtype = {DCK_DTYPE_FLOAT, 32, 1},
				  .rank = 2,
				  .dim = {-1, WIDTH},
				  .symbol = {"N", NULL}};
	m->out = m->in;
	m->out.name = "output";
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
	(void)err;
	*ret_in = &m->in;
	*ret_out = &m->out;
	*ret_nin = *ret_nout = 1;
	return DCK_OK;
}

static dck_status context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = calloc(1, sizeof *c);

	if (!c)
		return fail(err, DCK_E_NOMEM, "no memory");
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void memory_free(dck_engine_context *c)
{
	atomic_fetch_sub(&in_use_bytes, c->bytes);
	c->bytes = 0;
}

static void context_free(dck_engine_context *c)
{
	if (!c)
		return;
	memory_free(c);
	free(c);
}

static dck_status bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	(void)index, (void)err;
	c->input = t->data;
	c->rows = (uint64_t)t->dim[0];
	return DCK_OK;
}

static dck_status prepare(dck_engine_context *c, dck_err *err)
{
	const uint64_t bytes = c->rows * c->model->item_bytes;

	if (lost_check(err) != DCK_OK)
		return DCK_E_ENGINE;
	memory_free(c);
	if (atomic_fetch_add(&in_use_bytes, bytes) + bytes > c->model->memory &&
	    c->model->memory > 0) {
		atomic_fetch_sub(&in_use_bytes, bytes);
		return fail(err, DCK_E_ENGINE, "CUDA failure 2: out of memory");
	}
	c->bytes = bytes;
	return DCK_OK;
}

static dck_status enqueue(dck_engine_context *c, dck_err *err)
{
	const dck_engine_model *m = c->model;

	if (m->lost_batch > 0 && c->rows >= m->lost_batch)
		lose();
	if (lost_check(err) != DCK_OK)
		return DCK_E_ENGINE;
	if (m->enqueue_ns > 0)
		wait_until(now_ns() + m->enqueue_ns);
	const uint64_t now = now_ns();

	c->ready_ns = (c->ready_ns > now ? c->ready_ns : now) + m->ns;
	return DCK_OK;
}

static dck_status wait_by(dck_engine_context *c, unsigned index, dck_err *err)
{
	if (index == CERTAIN)
		wait_until(c->ready_ns);
	return lost_check(err);
}

static dck_status run(dck_engine_context *c, dck_err *err)
{
	if (atomic_fetch_add(&runs, 1) + 1 == c->model->lost_at)
		lose();
	const size_t at = atomic_fetch_add(&c->model->profiled, 1);
	if (at < PROFILED_MOST)
		c->model->run_begin_ns[at] = now_ns();
	const dck_status status = enqueue(c, err);

	return status == DCK_OK ? wait_by(c, c->model->barrier, err) : status;
}

static const char *barrier(dck_engine_context *c, unsigned index)
{
	static const char *const names[] = {"the end of the call", "a copy"};

	(void)c;
	return index <= CERTAIN ? names[index] : NULL;
}

static void barrier_choose(dck_engine_context *c, unsigned index)
{
	c->model->barrier = index;
}

static dck_status transfer(dck_engine_context *c, bool to_device, uint64_t *ret_bytes, dck_err *err)
{
	*ret_bytes = c->rows * WIDTH * sizeof(float);
	return to_device ? lost_check(err) : wait_by(c, CERTAIN, err);
}

static dck_status profile(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	static const char *const names[][2] = {
	    {"/fc1/Gemm", "Gemm"}, {"/relu/Relu", "Relu"}, {"/fc2/Gemm", "Gemm"}};
	const size_t n = atomic_load(&m->profiled);

	if (lost_check(err) != DCK_OK)
		return DCK_E_ENGINE;
	if (n > PROFILED_MOST)
		return fail(err, DCK_E_LIMIT, "too many runs to profile");
	for (size_t i = 0; i < n * OPERATORS; i++)
		m->events[i] = (dck_op_event){.name = names[i % OPERATORS][0],
					      .type = names[i % OPERATORS][1],
					      .run = i / OPERATORS,
					      .duration_ns = m->ns / OPERATORS,
					      .memory_bytes = INT64_MIN};
	for (size_t i = 0; i < n; i++)
		m->run_ns[i] = m->ns;
	for (size_t i = 0; i < n * OPERATORS; i++) {
		if (i % OPERATORS == 1)
			continue;
		const uint64_t third = m->ns / OPERATORS;
		m->device_begin_ns[i] = m->run_begin_ns[i / OPERATORS] + i % OPERATORS * third;
		m->device_end_ns[i] = m->device_begin_ns[i] + third;
	}
	*ret = (dck_profile){.struct_size = sizeof *ret,
			     .flags = DCK_PROFILE_DEVICE_TIME,
			     .events = m->events,
			     .nevents = n * OPERATORS,
			     .nruns = n,
			     .run_ns = m->run_ns,
			     .run_begin_ns = m->when ? m->run_begin_ns : NULL,
			     .device_begin_ns = m->when ? m->device_begin_ns : NULL,
			     .device_end_ns = m->when ? m->device_end_ns : NULL};
	return DCK_OK;
}

static dck_status output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	(void)index;
	if (wait_by(c, CERTAIN, err) != DCK_OK)
		return DCK_E_ENGINE;
	*ret = (dck_tensor){.data = (void *)(uintptr_t)c->input,
			    .dtype = {DCK_DTYPE_FLOAT, 32, 1},
			    .rank = 2,
			    .dim = {(int64_t)c->rows, WIDTH},
			    .bytes = c->rows * WIDTH * sizeof(float)};
	return DCK_OK;
}

static const dck_engine engine = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL,
    .name = "device",
    .version = "1",
    .help = "a double of a device, with limited memory, that can be lost",
    .options = options,
    .open = open_it,
    .close = close_it,
    .describe = describe,
    .context_new = context_new,
    .context_free = context_free,
    .bind_input = bind_input,
    .prepare = prepare,
    .run = run,
    .output = output,
    .profile = profile,
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
