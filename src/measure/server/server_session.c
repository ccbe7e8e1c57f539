/* server_session.c - opens a server: address, headers, the first requests; and calibrates the
 * client.
 *
 * Order: the address is parsed and the user's headers are read; the host is looked up; a model's
 * metadata are read, if it is an ordinary one; one request is sent, which must be answered. A
 * server that refuses a field of the request (ignore_eos, stream_options) gets one without it. Then
 * the client is calibrated with its null server: one connection gives the floor of its times, eight
 * its highest rate. The headers of the user go to the server alone, and messages quote the server
 * only if there are none, because an answer may repeat credentials.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/server/server_session.h"
#include "base/commas.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/opt_text.h"
#include "base/rng.h"
#include "base/units.h"
#include "measure/http/http_null.h"
#include "measure/http/kserve.h"
#include "base/sink.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "stat/stat.h"
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

dck_status server_send_one(server_session *u, dck_err *err)
{
	const http_plan one = {.n = 1, .connections = 1, .time_ns = UINT64_MAX};

	u->client.ready = 0;
	DCK_TRY(http_client_run(&u->client, &one, err));
	if (u->client.cancelled)
		DCK_FAIL(err, E_CANCEL, "interrupted before the first request was answered");
	return http_client_failed(&u->client, err);
}

static dck_status probe_send(server_session *u, dck_err *err)
{
	u->probes++;
	return server_send_one(u, err);
}

static bool field_is_refused(const server_session *u)
{
	const http_answer *a = &u->client.answers[0];

	return u->client.n == 1 && a->outcome == HTTP_STATUS &&
	       (a->status == 400 || a->status == 422);
}

/* Sends a first request, with fewer of the optional fields if they are refused. */
static dck_status probe_generation(server_session *u, dck_err *err)
{
	static const struct {
		bool ignore_eos, usage;
	} tries[] = {{true, true}, {false, true}, {true, false}, {false, false}};
	dck_status status = DCK_OK;

	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		u->ask.ignore_eos = tries[i].ignore_eos;
		u->ask.usage = tries[i].usage;
		status = probe_send(u, err);
		if (status == DCK_OK || !field_is_refused(u))
			break;
	}
	return status;
}

dck_status server_get(server_session *u, const char *path, size_t body_max, uint64_t timeout_ns,
		      dck_err *err)
{
	http_client *c = &u->client;
	const http_client saved = *c;
	dck_status status;

	c->path = path;
	c->get = true;
	c->stream = false;
	c->body_max = body_max;
	c->timeout_ns = timeout_ns < saved.timeout_ns ? timeout_ns : saved.timeout_ns;
	status = server_send_one(u, err);
	c->path = saved.path;
	c->get = saved.get;
	c->stream = saved.stream;
	c->body_max = saved.body_max;
	c->timeout_ns = saved.timeout_ns;
	return status;
}

/* Reads the metadata of an ordinary model, and makes the body of its requests. */
static dck_status url_tensors(server_session *u, dck_err *err)
{
	char path[sizeof u->address.path];
	dck_status status;

	/* ".../NAME/infer" without its last word */
	snprintf(path, sizeof path, "%.*s", (int)(strlen(u->address.path) - strlen("/infer")),
		 u->address.path);
	status = server_get(u, path, METADATA_MAX, UINT64_MAX, err);
	u->probes++;
	if (status != DCK_OK)
		return err_while(err, status, "reading the metadata of the model '%s'",
				 u->address.model);
	return kserve_body(u->client.text.data, u->client.text.n, u->config->seed, &u->tensors,
			   err);
}

static dck_status warmup_count(const dck_load_config *c, uint64_t *ret, dck_err *err)
{
	const char *text = c->warmup;

	*ret = 0;
	if (!text || strcmp(text, "auto") == 0) {
		/* A search begins with a rate from the time of a request, which in a server that
		 * has just started may be many times that of the following ones. */
		*ret = c->find_peak;
		return DCK_OK;
	}
	if (units_parse_count(text, ret, NULL) != DCK_OK || *ret > WARMUP_MOST)
		DCK_FAIL(err, E_ARG,
			 "--warmup is '%.40s': with --url give a number of requests, up to %d",
			 text, WARMUP_MOST);
	return DCK_OK;
}

static void probe_take(server_session *u, const http_answer *a)
{
	u->probe = *a;
	u->probe_ns = (double)(a->end_ns - a->begin_ns);
}

static dck_status warmup_send(server_session *u, uint64_t n, dck_err *err)
{
	const http_plan more = {.n = n, .connections = 1, .time_ns = UINT64_MAX};
	http_client *c = &u->client;

	if (n == 0)
		return DCK_OK;
	DCK_TRY(http_client_run(c, &more, err));
	if (c->cancelled)
		DCK_FAIL(err, E_CANCEL, "interrupted during the warm-up");
	u->probes += c->n;
	for (size_t i = 0; i < c->n; i++) {
		if (http_outcome_is_good(c->answers[i].outcome))
			probe_take(u, &c->answers[i]);
		else
			u->warmup_failed++;
	}
	return DCK_OK;
}

static dck_status server_probe(server_session *u, dck_err *err)
{
	uint64_t more;

	DCK_TRY(warmup_count(u->config, &more, err));
	if (!u->generates)
		DCK_TRY(url_tensors(u, err));
	DCK_TRY(u->generates ? probe_generation(u, err) : probe_send(u, err));
	probe_take(u, &u->client.answers[0]);
	return warmup_send(u, more, err);
}

/* --- calibration of the client */

static double floor_of(const server_session *u, const http_client *c)
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

static dck_status client_calibrate(server_session *u, http_client *c, dck_err *err)
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
dck_status server_session_calibrate(server_session *u, dck_err *err)
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
			   .body = server_body_make,
			   .self = u};
	http_null *server;
	dck_status status;

	/* The null server has no TLS, so it knows nothing of this client. */
	if (u->address.tls)
		return DCK_OK;
	observer_phase((void *)(uintptr_t)u->client.watch, "client");
	DCK_TRY(
	    http_null_start(u->generates ? chunks : 0, u->ask.chat, &server, &own.address, err));
	status = http_client_open(&own, err);
	if (status == DCK_OK) {
		status = client_calibrate(u, &own, err);
		if (status == DCK_OK && own.cancelled)
			status = ERR_SET(err, E_CANCEL, "interrupted before the first request");
		http_client_close(&own);
	}
	http_null_stop(server);
	return status;
}

/* --- opening */

dck_status server_body_make(void *self, uint64_t i, dck_buffer *to, dck_err *err)
{
	const server_session *u = self;
	dck_sink s;

	if (u->generates)
		return completion_body(&u->ask, i, to, err);
	dck_sink_buffer(&s, to);
	sink_put(&s, u->tensors.data, u->tensors.n);
	return dck_sink_finish(&s, err);
}

/* Prompts differ in every request and in every run, so that no cache of prefixes has them. */
static void prompts_init(server_session *u, const char *nonce)
{
	const dck_load_config *c = u->config;
	char id[RECORD_ID_SIZE];

	record_id_make(id);
	snprintf(u->nonce, sizeof u->nonce, "%.16s", nonce ? nonce : id);
	u->ask = (completion_ask){.chat = u->address.protocol == HTTP_CHAT,
				  .model = c->served_model,
				  .prompt_length = c->prompt_length,
				  .new_tokens = c->new_tokens,
				  .shared_prefix = c->shared_prefix,
				  .quoted = u->prompts.quoted,
				  .nquoted = u->prompts.n,
				  .key = rng_mix(c->seed ^ strtoull(u->nonce, NULL, 16)),
				  .ignore_eos = true,
				  .usage = true};
}

dck_status server_config_check(const dck_load_config *c, http_url *ret_address, dck_err *err)
{
	static const char of_prompts[] = "prompt-length,new-tokens,shared-prefix,prompt-file";
	dck_load_config usual;

	DCK_TRY(http_url_parse(c->url, ret_address, err));
	dck_load_config_init(&usual);
	for (const dck_opt *o = dck_server_options; o->name; o++)
		if (ret_address->protocol == HTTP_KSERVE && commas_have(of_prompts, o->name) &&
		    !opt_same(o, c, &usual))
			DCK_FAIL(err, E_ARG, "--%s is about completions, which --url is not",
				 o->name);
	return DCK_OK;
}

static dck_status address_check(server_session *u, dck_err *err)
{
	const dck_load_config *c = u->config;

	DCK_TRY(server_config_check(c, &u->address, err));
	u->generates = u->address.protocol != HTTP_KSERVE;
	if (c->cacert && !u->address.tls)
		DCK_FAIL(err, E_ARG, "--cacert is about https, which --url is not");
	if (u->generates && (!c->served_model || !*c->served_model))
		DCK_FAIL(err, E_ARG, "--url of completions needs the model's name: give --model");
	if (!u->generates && c->served_model && strcmp(c->served_model, u->address.model) != 0)
		DCK_FAIL(err, E_ARG, "--model is '%.100s', and the model in --url is '%.100s'",
			 c->served_model, u->address.model);
	return DCK_OK;
}

dck_status server_session_open(server_session *u, const dck_load_config *c, const char *nonce,
			       const dck_clock *clock, const dck_observer *watch, dck_err *err)
{
	int fd;

	*u = (server_session){.config = c};
	DCK_TRY(address_check(u, err));
	if (c->prompt_file)
		DCK_TRY(prompt_texts_read(c->prompt_file, &u->prompts, err));
	if (u->prompts.ids_line > 0 && u->address.protocol == HTTP_CHAT)
		DCK_FAIL(err, E_ARG,
			 "'%s' has token ids in line %lu, and a chat takes text: give the address "
			 "of /v1/completions",
			 c->prompt_file, u->prompts.ids_line);
	prompts_init(u, nonce);
	if (u->address.tls)
		DCK_TRY(tls_load(err));
	DCK_TRY(http_headers_read(c->header_file, &u->headers, err));
	u->client = (http_client){.authority = u->address.authority,
				  .path = u->address.path,
				  .tls = u->address.tls,
				  .cacert = c->cacert,
				  .headers = u->headers.n > 0 ? u->headers.data : NULL,
				  .stream = u->generates,
				  .new_tokens = c->new_tokens,
				  .timeout_ns = c->timeout_ns,
				  .body_max = ANSWER_MAX,
				  .quote = u->headers.n == 0,
				  .clock = clock,
				  .body = server_body_make,
				  .self = u,
				  .watch = watch};
	DCK_TRY(os_net_dial(u->address.host, u->address.port, CONNECT_MS, &u->client.address, &fd,
			    err));
	os_close(fd);
	observer_phase((void *)(uintptr_t)watch, "server");
	DCK_TRY(http_client_open(&u->client, err));
	return server_probe(u, err);
}

void server_session_close(server_session *u)
{
	http_client_close(&u->client);
	dck_buffer_done(&u->headers);
	dck_buffer_done(&u->tensors);
	prompt_texts_done(&u->prompts);
}

const char *server_end_text(const server_session *s, bool early)
{
	if (!s->ask.ignore_eos)
		return "obeyed: the server refuses ignore_eos";
	/* Servers may accept a field that they do not know. */
	return early ? "the server accepts ignore_eos, and answers are shorter nevertheless"
		     : "ignored (ignore_eos)";
}

/* --- times of an answer */

bool server_answer_has_tpot(const http_answer *a)
{
	/* An answer that arrived in one read shows no time per token. */
	return a->has_usage && a->tokens > 1 && a->end_ns > a->first_content_ns;
}

double server_answer_ttft(const http_answer *a)
{
	return (double)(a->first_content_ns - a->scheduled_ns);
}

double server_answer_tpot(const http_answer *a)
{
	return (double)(a->end_ns - a->first_content_ns) / (double)(a->tokens - 1);
}

double server_answer_latency(const http_answer *a)
{
	return (double)(a->end_ns - a->scheduled_ns);
}
