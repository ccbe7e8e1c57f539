/* example.c - a complete deepclock engine in one file, to copy from.
 *
 * It brings its own work: a dense layer, y = x W, with x of N rows of `size` numbers. So it needs
 * no model, and is measured like this:
 *
 *     cc -shared -fPIC -O2 -fvisibility=hidden -I INCLUDE example.c -o example.so
 *     deepclock bench plugin:./example.so --engine-option size=512 --dim N=8
 *
 * An engine for a real library has the same parts in the same order; docs/reference/plugin.md
 * documents the contract of each. Plain C99, and no deepclock header other than this one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- 1. Errors: fill the host's dck_err, return the code. One message: what failed, where, and
 * what to do. err may be NULL. */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static dck_status
fail(dck_err *err, dck_status code, const char *format, ...)
{
	va_list ap;

	if (err) {
		err->code = code;
		err->file = NULL; /* this file may be unloaded when it is read */
		err->line = 0;
		err->native_code = 0; /* the library's own code, if it has one */
		va_start(ap, format);
		vsnprintf(err->msg, sizeof err->msg, format, ap);
		va_end(ap);
	}
	return code;
}

/* --- 2. The two objects. open() makes a model: it is immutable, and several contexts may use it. A
 * context has the bound inputs, and is used by one thread at a time. */

struct dck_engine_model {
	size_t size;
	float *weight; /* size x size */
	dck_tensor_info in, out;
	char size_text[24];
	dck_kv facts[2];
};

struct dck_engine_context {
	const dck_engine_model *model;
	const float *x; /* the host's memory */
	float *y;
	size_t rows, rows_max;
};

/* --- 3. Options. A key that is not in this table, or a value that cannot be read, is an error: a
 * typing error must not change the measurement silently. */

static const dck_engine_option options[] = {
    {"size", "N", "columns of x and of y, 1 to 8192; default: 256"},
    {NULL, NULL, NULL},
};

/* A whole number from 1 to max, and nothing after it. */
static int number_read(const char *text, unsigned long max, size_t *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || n < 1 || n > max)
		return 0;
	*ret = (size_t)n;
	return 1;
}

static dck_status options_read(const dck_open_params *p, dck_engine_model *m, dck_err *err)
{
	size_t i, rows;

	m->size = 256;
	for (i = 0; i < p->noptions; i++) {
		const dck_kv *o = &p->options[i];

		if (strcmp(o->key, "size") != 0)
			return fail(err, DCK_E_ARG,
				    "the engine 'example' has no option '%s': it has 'size'",
				    o->key);
		if (!number_read(o->value, 8192, &m->size))
			return fail(err, DCK_E_ARG,
				    "option 'size' is '%s': give a whole number from 1 to 8192",
				    o->value);
	}
	/* Sizes of open dimensions that are known before opening. The host chooses the other sizes
	 * when it binds inputs. */
	for (i = 0; i < p->ndims; i++) {
		if (strcmp(p->dims[i].key, "N") != 0)
			return fail(err, DCK_E_ARG,
				    "the engine 'example' has no dimension '%s': it has 'N'",
				    p->dims[i].key);
		if (!number_read(p->dims[i].value, 1ul << 20, &rows))
			return fail(err, DCK_E_ARG,
				    "dimension 'N' is '%s': give a whole number from 1 to 1048576",
				    p->dims[i].value);
		m->in.dim[0] = m->out.dim[0] = (int64_t)rows;
	}
	return DCK_OK;
}

/* --- 4. Open: load the library, compile the model. This one only makes its weights. On failure
 * everything is released here, and *ret stays as it was. */

static void model_close(dck_engine_model *m)
{
	if (!m)
		return;
	free(m->weight);
	free(m);
}

static void tensor_init(dck_tensor_info *t, const char *name)
{
	t->name = name;
	t->dtype.code = DCK_DTYPE_FLOAT;
	t->dtype.bits = 32;
	t->dtype.lanes = 1;
	t->rank = 2;
	t->dim[0] = -1; /* open, and its name: equal names are equal sizes */
	t->symbol[0] = "N";
}

static dck_status model_fill(const dck_open_params *p, dck_engine_model *m, dck_err *err)
{
	size_t i;
	dck_status status;

	if (p->device && strcmp(p->device, "cpu") != 0)
		return fail(err, DCK_E_UNSUP, "the engine 'example' knows no device '%s': only cpu",
			    p->device);
	tensor_init(&m->in, "x");
	tensor_init(&m->out, "y");
	status = options_read(p, m, err);
	if (status != DCK_OK)
		return status;
	m->in.dim[1] = m->out.dim[1] = (int64_t)m->size;
	m->weight = malloc(m->size * m->size * sizeof *m->weight);
	if (!m->weight)
		return fail(err, DCK_E_NOMEM, "no memory for %lu x %lu weights",
			    (unsigned long)m->size, (unsigned long)m->size);
	/* W = 2 on the diagonal, so that y = 2 x: a result that is easy to check. */
	memset(m->weight, 0, m->size * m->size * sizeof *m->weight);
	for (i = 0; i < m->size; i++)
		m->weight[i * m->size + i] = 2.0f;
	snprintf(m->size_text, sizeof m->size_text, "%lu", (unsigned long)m->size);
	m->facts[0].key = "size";
	m->facts[0].value = m->size_text;
	m->facts[1].key = "threads";
	m->facts[1].value = "1";
	/* A library's own log lines go the same way, and never to stderr. */
	if (p->log)
		p->log(p->log_self, DCK_LOG_DEBUG, "weights are made");
	return DCK_OK;
}

static dck_status model_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model *m = calloc(1, sizeof *m);
	dck_status status;

	if (!m)
		return fail(err, DCK_E_NOMEM, "no memory to open the engine 'example'");
	status = model_fill(p, m, err);
	if (status != DCK_OK) {
		model_close(m);
		return status;
	}
	*ret = m;
	return DCK_OK;
}

/* --- 5. Description of the model. The host makes inputs from it; the facts go into the record. */

static dck_status model_describe(dck_engine_model *m, const dck_tensor_info **ret_in,
				 size_t *ret_nin, const dck_tensor_info **ret_out, size_t *ret_nout,
				 dck_err *err)
{
	(void)err;
	*ret_in = &m->in;
	*ret_nin = 1;
	*ret_out = &m->out;
	*ret_nout = 1;
	return DCK_OK;
}

static dck_status model_facts(dck_engine_model *m, const dck_kv **ret, size_t *ret_n, dck_err *err)
{
	(void)err;
	*ret = m->facts;
	*ret_n = sizeof m->facts / sizeof *m->facts;
	return DCK_OK;
}

/* --- 6. Contexts and binding. */

static dck_status context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = calloc(1, sizeof *c);

	if (!c)
		return fail(err, DCK_E_NOMEM, "no memory for a context of the engine 'example'");
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void context_free(dck_engine_context *c)
{
	if (!c)
		return;
	free(c->y);
	free(c);
}

/* t->data stays the host's, and alive until something else is bound: no copy is needed. */
static dck_status bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	const dck_tensor_info *in = &c->model->in;

	if (index != 0)
		return fail(err, DCK_E_ARG, "there is no input %lu: 'example' has one",
			    (unsigned long)index);
	if (t->dtype.code != in->dtype.code || t->dtype.bits != in->dtype.bits)
		return fail(err, DCK_E_ARG, "input 'x' is of type float32");
	if (t->rank != 2 || t->dim[0] < 1 || t->dim[1] != in->dim[1] ||
	    (in->dim[0] >= 0 && t->dim[0] != in->dim[0]))
		return fail(err, DCK_E_ARG, "input 'x' has N rows of %lu numbers",
			    (unsigned long)c->model->size);
	c->x = t->data;
	c->rows = (size_t)t->dim[0];
	return DCK_OK;
}

/* The untimed preparation of a run: memory, copies to a device. */
static dck_status prepare(dck_engine_context *c, dck_err *err)
{
	float *y;

	if (c->rows <= c->rows_max)
		return DCK_OK;
	y = realloc(c->y, c->rows * c->model->size * sizeof *y);
	if (!y)
		return fail(err, DCK_E_NOMEM, "no memory for %lu rows of output",
			    (unsigned long)c->rows);
	c->y = y;
	c->rows_max = c->rows;
	return DCK_OK;
}

/* --- 7. The timed call: everything the user waits for, and nothing else. It returns when the
 * results are complete, so an engine for a GPU waits for the GPU here. It does not allocate, and
 * does not measure time: the host does. */

static dck_status run(dck_engine_context *c, dck_err *err)
{
	const size_t size = c->model->size;
	size_t row, i, k;

	if (!c->x || c->rows > c->rows_max)
		return fail(err, DCK_E_ARG, "input 'x' is not bound");
	for (row = 0; row < c->rows; row++) {
		const float *x = c->x + row * size;
		float *y = c->y + row * size;

		memset(y, 0, size * sizeof *y);
		for (k = 0; k < size; k++)
			for (i = 0; i < size; i++)
				y[i] += x[k] * c->model->weight[k * size + i];
	}
	return DCK_OK;
}

static dck_status output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	dck_tensor t = {0};

	if (index != 0)
		return fail(err, DCK_E_ARG, "there is no output %lu: 'example' has one",
			    (unsigned long)index);
	if (!c->y)
		return fail(err, DCK_E_ARG, "there are no outputs before a run");
	t.data = c->y;
	t.dtype = c->model->out.dtype;
	t.rank = 2;
	t.dim[0] = (int64_t)c->rows;
	t.dim[1] = (int64_t)c->model->size;
	t.bytes = (uint64_t)(c->rows * c->model->size * sizeof *c->y);
	*ret = t;
	return DCK_OK;
}

/* --- 8. Optional data that only the engine has: its memory, and with DCK_OBSERVE_OPERATORS, which
 * this one does not offer, the time of each operator. Since minor version 1 of the ABI. */

static dck_status memory(dck_engine_model *m, dck_memory *ret, dck_err *err)
{
	(void)err;
	ret->valid = DCK_MEMORY_IN_USE; /* the rest is not known, which is not 0 */
	ret->in_use_bytes = (uint64_t)(m->size * m->size * sizeof *m->weight);
	return DCK_OK;
}

/* --- 9. The table, filled by name; members that are not named are not offered. And the exported
 * symbol. */

static const dck_engine engine = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL,
    .name = "example",
    .version = "1.0",
    .help = "a dense layer in plain C: the template for engines of your own",
    .options = options,
    .open = model_open,
    .close = model_close,
    .describe = model_describe,
    .facts = model_facts,
    .context_new = context_new,
    .context_free = context_free,
    .bind_input = bind_input,
    .prepare = prepare,
    .run = run,
    .output = output,
    .memory = memory,
};

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	return host_abi_major == DCK_ABI_MAJOR ? &engine : NULL;
}
