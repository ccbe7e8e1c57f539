/* minor_0.c - a plug-in of the first ABI, whose table ends where that one did: it must load.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>

struct dck_engine_model {
	int used;
};

struct dck_engine_context {
	int used;
};

static dck_engine_model model;
static dck_engine_context context;

static dck_status model_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	(void)p, (void)err;
	*ret = &model;
	return DCK_OK;
}

static void model_close(dck_engine_model *m)
{
	(void)m;
}

static dck_status context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	(void)m, (void)err;
	*ret = &context;
	return DCK_OK;
}

static void context_free(dck_engine_context *c)
{
	(void)c;
}

static dck_status run(dck_engine_context *c, dck_err *err)
{
	(void)c, (void)err;
	return DCK_OK;
}

static const dck_engine engine = {
    .struct_size = (uint32_t)offsetof(dck_engine, profile),
    .abi_major = 1,
    .abi_minor = 0,
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .name = "minor-0",
    .version = "1",
    .help = "an engine of the first ABI",
    .open = model_open,
    .close = model_close,
    .context_new = context_new,
    .context_free = context_free,
    .run = run,
};

/* The memory after the table does not belong to it. */
static struct {
	char table[offsetof(dck_engine, profile)];
	char after[64];
} place;

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	size_t i;

	(void)host_abi_major;
	for (i = 0; i < sizeof place.table; i++)
		place.table[i] = ((const char *)&engine)[i];
	for (i = 0; i < sizeof place.after; i++)
		place.after[i] = 1;
	return (const dck_engine *)(const void *)&place;
}
