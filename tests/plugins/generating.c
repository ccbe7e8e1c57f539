/* generating.c - a plug-in that generates tokens by itself: each is the one before plus one, in a
 * vocabulary of 100. Option "fail_at": which token of a request fails.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VOCABULARY 100
#define BATCH_MAX  8

struct dck_engine_model {
	size_t fail_at;
};

struct dck_engine_context {
	const struct dck_engine_model *model;
	int64_t last[BATCH_MAX];
	size_t batch, length, most, made;
};

static dck_status fail(dck_err *err, dck_status status, const char *text)
{
	if (err) {
		err->code = status;
		snprintf(err->msg, sizeof err->msg, "%s", text);
	}
	return status;
}

static dck_status model_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model *m = calloc(1, sizeof *m);

	if (!m)
		return fail(err, DCK_E_NOMEM, "no memory");
	if (p->noptions > 0)
		m->fail_at = (size_t)atol(p->options[0].value);
	*ret = m;
	return DCK_OK;
}

static void model_close(dck_engine_model *m)
{
	free(m);
}

static dck_status context_make(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = calloc(1, sizeof *c);

	if (!c)
		return fail(err, DCK_E_NOMEM, "no memory");
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void context_drop(dck_engine_context *c)
{
	free(c);
}

static dck_status context_run(dck_engine_context *c, dck_err *err)
{
	(void)c;
	return fail(err, DCK_E_UNSUP, "it generates only");
}

static dck_status generation(dck_engine_context *c, dck_generation *ret, dck_err *err)
{
	(void)err;
	ret->vocabulary = VOCABULARY;
	ret->cache_bytes = 10 * c->batch * (c->length + c->made);
	ret->end_of_sequence = "there is none";
	ret->loop = "the plug-in's";
	return DCK_OK;
}

static dck_status generate_begin(dck_engine_context *c, const int64_t *ids, size_t batch, size_t n,
				 size_t most, dck_err *err)
{
	if (batch > BATCH_MAX)
		return fail(err, DCK_E_UNSUP, "the batch is above 8");
	for (size_t i = 0; i < batch; i++)
		c->last[i] = ids[i * n + n - 1];
	c->batch = batch;
	c->length = n;
	c->most = most;
	c->made = 0;
	return DCK_OK;
}

static dck_status generate_next(dck_engine_context *c, int64_t *ret, dck_err *err)
{
	if (++c->made == c->model->fail_at)
		return fail(err, DCK_E_ENGINE, "this token fails");
	if (c->made > c->most)
		return fail(err, DCK_E_ARG, "more tokens than asked for");
	for (size_t i = 0; i < c->batch; i++)
		ret[i] = c->last[i] = (c->last[i] + 1) % VOCABULARY;
	return DCK_OK;
}

static const dck_engine_option options[] = {
    {"fail_at", "N", "token of each request that fails"},
    {NULL, NULL, NULL},
};

static const dck_engine table = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_TENSORS,
    .name = "generating",
    .version = "1",
    .help = "generates tokens",
    .options = options,
    .open = model_open,
    .close = model_close,
    .context_new = context_make,
    .context_free = context_drop,
    .run = context_run,
    .generation = generation,
    .generate_begin = generate_begin,
    .generate_next = generate_next,
};

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);
const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	return host_abi_major == DCK_ABI_MAJOR ? &table : NULL;
}
