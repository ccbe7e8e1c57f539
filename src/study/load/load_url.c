/* load_url.c - opens a server for a load test, with memory for its samples.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_url.h"
#include "base/err.h"

static dck_status pool_make(load_pool *p, size_t cap, dck_err *err)
{
	const size_t all = cap < 64 ? 64 : cap;

	DCK_TRY(load_samples_init(&p->samples, LOAD_PARTS_ALL, all, false, err));
	p->cap = all;
	p->scratch_n = stat_scratch(all) + all;
	p->scratch = os_pages_reserve(p->scratch_n * sizeof *p->scratch);
	DCK_NEED(p->scratch, err, "for the statistics of %zu samples", all);
	return DCK_OK;
}

dck_status load_url_open(load_pool *p, const dck_load_config *c, const dck_observer *watch,
			 dck_err *err)
{
	load_url *u = mem_zalloc(1, sizeof *u);

	DCK_NEED(u, err, "for a server");
	p->url = u;
	u->timeout_ns = (double)c->timeout_ns;
	u->origin_ns = p->origin_ns;
	DCK_TRY(pool_make(p, (size_t)c->keep, err));
	DCK_TRY(server_session_open(&u->server, c, NULL, p->clock, watch, err));
	DCK_TRY(server_session_calibrate(&u->server, err));
	server_cache_begin(&u->cache, &u->server);
	return DCK_OK;
}

void load_url_finish(load_pool *p)
{
	load_url *u = p->url;

	/* One more than are sent may be made. */
	u->prompts_again =
	    u->server.prompts.n > 0 && u->server.client.made > u->server.prompts.n + 1;
	server_cache_end(&u->cache, &u->server, u->usage_cached, u->server.config->level);
}

void load_url_close(load_pool *p)
{
	load_url *u = p->url;

	if (!u)
		return;
	server_session_close(&u->server);
	mem_free(u->due_ns);
	mem_free(u);
	p->url = NULL;
}
