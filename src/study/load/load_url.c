/* load_url.c - opens a server for a load test.
 *
 * Order: the address is parsed and the user's headers are read; the host is looked up; a model's
 * metadata are read, if it is an ordinary one; one request is sent, which must be answered. A
 * server that refuses a field of the request (ignore_eos, stream_options) gets one without it. Then
 * the client is calibrated with its null server: one connection gives the floor of its times, eight
 * its highest rate. The headers of the user go to the server alone, and messages quote the server
 * only if there are none, because an answer may repeat credentials.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_url.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/rng.h"
#include "base/units.h"
#include "measure/http/http_null.h"
#include "measure/http/kserve.h"
#include "record/record_begin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS	 5000
#define ANSWER_MAX	 (256u << 20) /* bytes */
#define METADATA_MAX	 (4u << 20)
#define CALIBRATE_NS	 100000000u
#define CALIBRATE_N	 200 /* requests, for the floor */
#define CALIBRATE_CHUNKS 64
#define CALIBRATE_OPEN	 8 /* connections, for the highest rate */
#define WARMUP_MOST	 100000

/* Sends one request; its failure is the result. */
static dck_status probe_send(load_url *u, dck_err *err)
{
	const http_plan one = {.n = 1, .connections = 1, .time_ns = UINT64_MAX};

	DCK_TRY(http_client_run(&u->client, &one, err));
	u->probes++;
	if (u->client.cancelled)
		DCK_FAIL(err, E_CANCEL, "interrupted before the first request was answered");
	return http_client_failed(&u->client, err);
}

static bool field_is_refused(const load_url *u)
{
	const http_answer *a = &u->client.answers[0];

	return u->client.n == 1 && a->outcome == HTTP_STATUS &&
	       (a->status == 400 || a->status == 422);
}

/* Sends a first request, with fewer of the optional fields if they are refused. */
static dck_status probe_generation(load_url *u, dck_err *err)
{
	dck_status status = probe_send(u, err);

	if (status != DCK_OK && field_is_refused(u)) {
		u->ask.ignore_eos = false;
		status = probe_send(u, err);
	}
	if (status != DCK_OK && field_is_refused(u)) {
		u->ask.usage = false;
		status = probe_send(u, err);
	}
	return status;
}

/* Reads the metadata of an ordinary model, and makes the body of its requests. */
static dck_status url_tensors(load_url *u, dck_err *err)
{
	char path[sizeof u->address.path];
	http_client *c = &u->client;
	dck_status status;

	/* ".../NAME/infer" without its last word */
	snprintf(path, sizeof path, "%.*s", (int)(strlen(u->address.path) - strlen("/infer")),
		 u->address.path);
	c->path = path;
	c->get = true;
	c->body_max = METADATA_MAX;
	status = probe_send(u, err);
	c->path = u->address.path;
	c->get = false;
	c->body_max = ANSWER_MAX;
	if (status != DCK_OK)
		return err_while(err, status, "reading the metadata of the model '%s'",
				 u->address.model);
	return kserve_body(c->text.data, c->text.n, u->config->seed, &u->tensors, err);
}

static dck_status warmup_count(const char *text, uint64_t *ret, dck_err *err)
{
	*ret = 0;
	if (!text || strcmp(text, "auto") == 0)
		return DCK_OK;
	if (units_parse_count(text, ret, NULL) != DCK_OK || *ret > WARMUP_MOST)
		DCK_FAIL(err, E_ARG,
			 "--warmup is '%.40s': with --url give a number of requests, up to %d",
			 text, WARMUP_MOST);
	return DCK_OK;
}

static dck_status server_probe(load_url *u, dck_err *err)
{
	const http_answer *a;
	http_plan more = {.connections = 1, .time_ns = UINT64_MAX};

	DCK_TRY(warmup_count(u->config->warmup, &more.n, err));
	if (!u->generates)
		DCK_TRY(url_tensors(u, err));
	DCK_TRY(u->generates ? probe_generation(u, err) : probe_send(u, err));
	if (more.n > 0)
		DCK_TRY(http_client_run(&u->client, &more, err));
	u->probes += more.n;
	a = &u->client.answers[u->client.n - 1];
	u->probe_ns = (double)(a->end_ns - a->begin_ns);
	return DCK_OK;
}

/* --- calibration of the client */

static double floor_of(const load_url *u, const http_client *c)
{
	double times[2 * CALIBRATE_N];
	size_t n = 0;

	for (size_t i = 0; i < c->n && n < CALIBRATE_N; i++) {
		const http_answer *a = &c->answers[i];

		if (http_outcome_is_good(a->outcome))
			times[n++] = (double)((u->generates ? a->first_content_ns : a->end_ns) -
					      a->begin_ns);
	}
	return n > 0 ? stat_median(times, n, times + CALIBRATE_N) : 0;
}

static dck_status client_calibrate(load_url *u, http_client *c, dck_err *err)
{
	const http_plan floor = {.n = CALIBRATE_N, .connections = 1, .time_ns = CALIBRATE_NS};
	const http_plan rate = {.connections = CALIBRATE_OPEN, .time_ns = CALIBRATE_NS};
	uint64_t good = 0;

	DCK_TRY(http_client_run(c, &floor, err));
	u->floor_ns = floor_of(u, c);
	DCK_TRY(http_client_run(c, &rate, err));
	for (size_t i = 0; i < c->n; i++)
		good += http_outcome_is_good(c->answers[i].outcome);
	u->highest_rate = (double)good * 1e9 / (double)c->wall_ns;
	return DCK_OK;
}

/* The same client, prompts and parsers on the null server; without the user's headers. */
static dck_status null_calibrate(load_url *u, dck_err *err)
{
	const uint64_t chunks =
	    u->ask.new_tokens < CALIBRATE_CHUNKS ? u->ask.new_tokens : CALIBRATE_CHUNKS;
	http_client own = {.authority = "127.0.0.1",
			   .path = u->address.path,
			   .stream = u->generates,
			   .timeout_ns = 10 * UINT64_C(1000000000),
			   .body_max = ANSWER_MAX,
			   .clock = u->client.clock,
			   .watch = u->client.watch,
			   .body = load_url_body,
			   .self = u};
	http_null *server;
	dck_status status;

	DCK_TRY(
	    http_null_start(u->generates ? chunks : 0, u->ask.chat, &server, &own.address, err));
	status = http_client_open(&own, err);
	if (status == DCK_OK) {
		status = client_calibrate(u, &own, err);
		if (status == DCK_OK && own.cancelled)
			status = err_set(err, DCK_E_CANCEL, __FILE__, __LINE__,
					 "interrupted before the first request");
		http_client_close(&own);
	}
	http_null_stop(server);
	return status;
}

/* --- opening */

/* Prompts differ in every request and in every run, so that no cache of prefixes has them. */
static void prompts_init(load_url *u)
{
	const dck_load_config *c = u->config;
	char id[RECORD_ID_SIZE];

	record_id_make(id);
	snprintf(u->nonce, sizeof u->nonce, "%.16s", id);
	u->ask = (completion_ask){.chat = u->address.protocol == HTTP_CHAT,
				  .model = c->served_model,
				  .prompt_length = c->prompt_length,
				  .new_tokens = c->new_tokens,
				  .shared_prefix = c->shared_prefix,
				  .key = rng_mix(c->seed ^ strtoull(u->nonce, NULL, 16)),
				  .ignore_eos = true,
				  .usage = true};
}

static dck_status server_open(load_pool *p, load_url *u, const dck_observer *watch, dck_err *err)
{
	const dck_load_config *c = u->config;
	int fd;

	DCK_TRY(http_headers_read(c->header_file, &u->headers, err));
	u->client = (http_client){.authority = u->address.authority,
				  .path = u->address.path,
				  .headers = u->headers.n > 0 ? u->headers.data : NULL,
				  .stream = u->generates,
				  .new_tokens = c->new_tokens,
				  .timeout_ns = c->timeout_ns,
				  .body_max = ANSWER_MAX,
				  .quote = u->headers.n == 0,
				  .clock = p->clock,
				  .body = load_url_body,
				  .self = u,
				  .watch = watch};
	DCK_TRY(os_net_dial(u->address.host, u->address.port, CONNECT_MS, &u->client.address, &fd,
			    err));
	os_close(fd);
	observer_phase((void *)(uintptr_t)watch, "server");
	DCK_TRY(http_client_open(&u->client, err));
	DCK_TRY(server_probe(u, err));
	observer_phase((void *)(uintptr_t)watch, "client");
	return null_calibrate(u, err);
}

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
	u->config = c;
	u->timeout_ns = (double)c->timeout_ns;
	u->origin_ns = p->origin_ns;
	DCK_TRY(http_url_parse(c->url, &u->address, err));
	u->generates = u->address.protocol != HTTP_KSERVE;
	if (u->generates && (!c->served_model || !*c->served_model))
		DCK_FAIL(err, E_ARG, "--url of completions needs the model's name: give --model");
	if (!u->generates && c->served_model && strcmp(c->served_model, u->address.model) != 0)
		DCK_FAIL(err, E_ARG, "--model is '%.100s', and the model in --url is '%.100s'",
			 c->served_model, u->address.model);
	prompts_init(u);
	DCK_TRY(pool_make(p, (size_t)c->keep, err));
	return server_open(p, u, watch, err);
}

void load_url_close(load_pool *p)
{
	load_url *u = p->url;

	if (!u)
		return;
	http_client_close(&u->client);
	dck_buffer_done(&u->headers);
	dck_buffer_done(&u->tensors);
	mem_free(u->due_ns);
	mem_free(u);
	p->url = NULL;
}
