/* bad_table.c - plug-ins that must be refused, one per WHAT.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>

static dck_status open_never(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	(void)p, (void)ret, (void)err;
	return DCK_E_UNSUP;
}

static void close_never(dck_engine_model *m)
{
	(void)m;
}

static dck_status context_never(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	(void)m, (void)ret, (void)err;
	return DCK_E_UNSUP;
}

static void context_free_never(dck_engine_context *c)
{
	(void)c;
}

static const dck_engine engine = {
#ifdef WRONG_SIZE
    .struct_size = 64,
#else
    .struct_size = sizeof(dck_engine),
#endif
#ifdef WRONG_MAJOR
    .abi_major = DCK_ABI_MAJOR + 1,
#else
    .abi_major = DCK_ABI_MAJOR,
#endif
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
#ifndef NO_NAME
    .name = "bad",
#endif
    .version = "1",
    .help = "must be refused",
    .open = open_never,
    .close = close_never,
    .context_new = context_never,
    .context_free = context_free_never,
    /* and no run */
};

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	(void)host_abi_major;
#ifdef REFUSES
	(void)engine;
	return NULL;
#else
	return &engine;
#endif
}
