/* null.c - the engine without work: for tests, and to see what the measuring itself costs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#define NS_MAX 3600000000000u /* an hour */

struct dck_engine_model {
	uint64_t busy_ns, sleep_ns, fail_at;
};

struct dck_engine_context {
	const dck_engine_model *model;
	uint64_t runs;
};

extern const dck_engine engine_null;

static dck_status null_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model read = {0};

	DCK_TRY(engine_can_observe(&engine_null, p->observe, err));
	DCK_TRY(engine_options_check(&engine_null, p, err));
	DCK_TRY(engine_option_count(p, "ns", 0, NS_MAX, &read.busy_ns, err));
	DCK_TRY(engine_option_count(p, "sleep_ns", 0, NS_MAX, &read.sleep_ns, err));
	DCK_TRY(engine_option_count(p, "fail_at", 0, UINT64_MAX, &read.fail_at, err));
	dck_engine_model *m = mem_zalloc(1, sizeof(*m));
	if (!m)
		DCK_FAIL(err, E_NOMEM, "no memory for the engine 'null'");
	*m = read;
	*ret = m;
	return DCK_OK;
}

static void null_close(dck_engine_model *m)
{
	mem_free(m);
}

static dck_status null_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		DCK_FAIL(err, E_NOMEM, "no memory for a context of the engine 'null'");
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void null_context_free(dck_engine_context *c)
{
	mem_free(c);
}

static dck_status null_run(dck_engine_context *c, dck_err *err)
{
	const dck_engine_model *m = c->model;

	if (++c->runs == m->fail_at)
		DCK_FAIL(err, E_ENGINE, "run %llu fails, as option 'fail_at' asks",
			 (unsigned long long)c->runs);
	if (m->sleep_ns > 0)
		os_sleep_ns(m->sleep_ns, NULL, NULL);
	if (m->busy_ns > 0)
		for (uint64_t begin_ns = os_now_ns(); os_now_ns() - begin_ns < m->busy_ns;)
			;
	return DCK_OK;
}

static const dck_engine_option options[] = {
    {"ns", "N", "each run keeps a processor busy for so many nanoseconds; 0 if not given"},
    {"sleep_ns", "N", "each run sleeps for so many nanoseconds before that; 0 if not given"},
    {"fail_at", "N", "the N-th run of a context fails; 0: none does"},
    {NULL, NULL, NULL},
};

const dck_engine engine_null = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .name = "null",
    .version = DCK_VERSION,
    .help = "does nothing, for as long as asked: for tests and for what measuring costs",
    .options = options,
    .open = null_open,
    .close = null_close,
    .context_new = null_context_new,
    .context_free = null_context_free,
    .run = null_run,
};
