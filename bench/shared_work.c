/* shared_work.c - a plug-in whose run takes a known time on two threads, and twice as long if its
 * worker thread has no processor: both take pieces of the run until none is left, as the thread
 * pools of runtimes do. The worker spins between runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { PIECES = 40, STEPS = 8000, PIECE_BITS = 16 };

struct dck_engine_model {
	_Atomic uint64_t next; /* number of the run, and its next piece */
	atomic_int done;
	atomic_bool leave;
	volatile uint64_t result[2]; /* of each thread */
	pthread_t worker;
};

struct dck_engine_context {
	dck_engine_model *model;
};

/* Does pieces of that run until all are taken. */
static void pieces_do(dck_engine_model *m, uint64_t run, int thread)
{
	uint64_t at = atomic_load(&m->next);

	while (at >> PIECE_BITS == run && (at & ((1u << PIECE_BITS) - 1)) < PIECES) {
		if (!atomic_compare_exchange_weak(&m->next, &at, at + 1))
			continue;
		uint64_t x = at;

		for (int i = 0; i < STEPS; i++)
			x = x * UINT64_C(6364136223846793005) + 1;
		m->result[thread] = x;
		atomic_fetch_add(&m->done, 1);
		at = atomic_load(&m->next);
	}
}

static void *worker_main(void *arg)
{
	dck_engine_model *m = arg;

	while (!atomic_load(&m->leave))
		pieces_do(m, atomic_load(&m->next) >> PIECE_BITS, 1);
	return NULL;
}

static dck_status work_open(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model *m = calloc(1, sizeof *m);

	(void)p;
	(void)err;
	if (!m)
		return DCK_E_NOMEM;
	atomic_init(&m->next, PIECES);
	if (pthread_create(&m->worker, NULL, worker_main, m)) {
		free(m);
		return DCK_E_ENGINE;
	}
	*ret = m;
	return DCK_OK;
}

static void work_close(dck_engine_model *m)
{
	atomic_store(&m->leave, true);
	pthread_join(m->worker, NULL);
	free(m);
}

static dck_status work_context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = malloc(sizeof *c);

	(void)err;
	if (!c)
		return DCK_E_NOMEM;
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void work_context_free(dck_engine_context *c)
{
	free(c);
}

static dck_status work_run(dck_engine_context *c, dck_err *err)
{
	dck_engine_model *m = c->model;
	const uint64_t run = (atomic_load(&m->next) >> PIECE_BITS) + 1;

	(void)err;
	atomic_store(&m->done, 0);
	atomic_store(&m->next, run << PIECE_BITS);
	pieces_do(m, run, 0);
	while (atomic_load(&m->done) < PIECES)
		;
	return DCK_OK;
}

static const dck_engine engine = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .name = "shared-work",
    .version = "1",
    .help = "pieces of work for two threads",
    .open = work_open,
    .close = work_close,
    .context_new = work_context_new,
    .context_free = work_context_free,
    .run = work_run,
};

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	return host_abi_major == DCK_ABI_MAJOR ? &engine : NULL;
}
