/* engine_watch.h - opens a model with the engine 'ort' and its observations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ENGINE_WATCH_H
#define TESTS_ENGINE_WATCH_H

#include "engine_test.h"
#include "scratch.h"

#include "engine/ort/ort_watch.h"

extern const dck_engine engine_ort;

typedef struct opened {
	dck_engine_model *m;
	dck_engine_context *c;
	char log[1000];
} opened;

static inline void hear(void *self, dck_log_level level, const char *text)
{
	opened *o = self;

	(void)level;
	snprintf(o->log, sizeof o->log, "%s", text);
}

static inline dck_status open_watched(opened *o, const wire_out *w, uint32_t observe,
				      const dck_kv *option, dck_err *err)
{
	const dck_kv options[] = {{"threads", "1"}, option ? *option : (dck_kv){"opt", "all"}};
	const dck_open_params p = {.struct_size = sizeof p,
				   .model_bytes = w->data,
				   .model_bytes_n = w->n,
				   .options = options,
				   .noptions = 2,
				   .log = hear,
				   .log_self = o,
				   .observe = observe,
				   .work_dir = scratch_path};

	*o = (opened){0};
	return engine_ort.open(&p, &o->m, err);
}

static inline void bind(opened *o, const dck_tensor *t)
{
	dck_err err = {0};

	if (!o->c)
		assert_int_equal(engine_ort.context_new(o->m, &o->c, &err), DCK_OK);
	assert_int_equal(engine_ort.bind_input(o->c, 0, t, &err), DCK_OK);
	assert_int_equal(engine_ort.prepare(o->c, &err), DCK_OK);
}

static inline void closed(opened *o)
{
	engine_ort.context_free(o->c);
	engine_ort.close(o->m);
}

#endif
