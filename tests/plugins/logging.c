/* logging.c - a plug-in that logs from two threads concurrently during a run, as engines do.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct dck_engine_model {
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
};

/* The context holds only the model. */
struct dck_engine_context {
	struct dck_engine_model *model;
};

static dck_status open_it(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	dck_engine_model *m = malloc(sizeof *m);

	(void)err;
	if (!m)
		return DCK_E_NOMEM;
	m->log = p->log;
	m->log_self = p->log_self;
	*ret = m;
	return DCK_OK;
}

static void close_it(dck_engine_model *m)
{
	free(m);
}

static dck_status context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	dck_engine_context *c = malloc(sizeof *c);

	(void)err;
	if (!c)
		return DCK_E_NOMEM;
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void context_free(dck_engine_context *c)
{
	free(c);
}

/* More warnings than become notes, repeated with the same text. */
#define WARNINGS 6
static atomic_uint warned;

static void *speak(void *arg)
{
	char text[40];
	const dck_engine_model *m = arg;

	m->log(m->log_self, DCK_LOG_INFO, "a worker says something");
	snprintf(text, sizeof text, "a worker warns of %u",
		 atomic_fetch_add(&warned, 1) % WARNINGS);
	m->log(m->log_self, DCK_LOG_WARN, text);
	return NULL;
}

static dck_status run(dck_engine_context *c, dck_err *err)
{
	pthread_t worker;

	(void)err;
	if (pthread_create(&worker, NULL, speak, c->model) != 0)
		return DCK_E_ENGINE;
	speak(c->model);
	pthread_join(worker, NULL);
	return DCK_OK;
}

static const dck_engine engine = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .name = "logging",
    .version = "1",
    .help = "logs from two threads",
    .open = open_it,
    .close = close_it,
    .context_new = context_new,
    .context_free = context_free,
    .run = run,
};

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	return host_abi_major == DCK_ABI_MAJOR ? &engine : NULL;
}
