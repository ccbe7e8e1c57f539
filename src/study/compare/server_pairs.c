/* server_pairs.c - dck_compare_servers(): paired requests to two servers.
 *
 * Order: both servers are opened, which sends each a first request; the client is calibrated; two
 * pairs that do not count show which quantities the servers have and how long a pair takes, which
 * fixes the number of pairs; then pairs until the sequential test has decided all quantities, the
 * pairs are made, or time is over. One request is in flight at a time, so that servers on one
 * machine do not disturb each other, and no pair waits for another's answer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/server_pairs.h"
#include "base/commas.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/opt_text.h"
#include "base/rng.h"
#include "record/host.h"
#include "record/record_begin.h"
#include "study/compare/interleaved_look.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAIRS_MIN   12
#define PAIRS_PILOT 2

static const server_quantity quantities[SERVER_QUANTITIES] = {
    {"ttft", "TTFT", server_answer_ttft, true, false},
    {"tpot", "TPOT", server_answer_tpot, true, true},
    {"latency", "end to end", server_answer_latency, false, false},
};

static bool quantity_is_known(const server_quantity *q, const server_session *s,
			      const http_answer *a)
{
	return (s->generates || !q->generates) && (!q->tokens || server_answer_has_tpot(a));
}

/* Marks the quantities that an answer has. */
static void quantities_mark(server_pairs *s, size_t side, const http_answer *a)
{
	for (size_t i = 0; i < SERVER_QUANTITIES; i++)
		s->known[side][i] |= quantity_is_known(&quantities[i], &s->server[side], a);
}

/* Chooses the quantities that both servers have shown in a first answer or a pilot's: a client that
 * the system delayed reads some answers at once, and these have no TPOT. */
static void quantities_choose(server_pairs *s)
{
	s->r.n = 1;
	for (size_t i = 0; i < SERVER_QUANTITIES; i++)
		if (s->known[0][i] && s->known[1][i])
			s->quantity[s->r.n++ - 1] = &quantities[i];
}

static uint64_t pairs_now(const server_pairs *s)
{
	return measure_context_now(&s->v.shared);
}

/* --- one pair */

static dck_status pair_send(server_pairs *s, size_t side, dck_err *err)
{
	const http_plan one = {.n = 1, .connections = 1, .time_ns = UINT64_MAX};
	http_client *c = &s->server[side].client;
	const http_answer *a;

	/* The number of the prompt, which is that of the pair on both sides. */
	c->made = s->server[0].probes + s->server[1].probes + s->pairs;
	DCK_TRY(http_client_run(c, &one, err));
	if (c->cancelled)
		DCK_FAIL(err, E_CANCEL, "interrupted");
	a = &c->answers[0];
	if (!http_outcome_is_good(a->outcome) && !s->why[0])
		snprintf(s->why, sizeof s->why, "%s: %.150s", side ? "B" : "A", c->why.msg);
	return DCK_OK;
}

static const http_answer *pair_answer(const server_pairs *s, size_t side)
{
	return &s->server[side].client.answers[0];
}

static bool pair_has_all(const server_pairs *s)
{
	bool any = false, all = true;

	for (size_t side = 0; side < 2; side++) {
		const http_answer *a = pair_answer(s, side);

		any |= http_outcome_is_good(a->outcome);
		for (size_t q = 0; http_outcome_is_good(a->outcome) && q + 1 < s->r.n; q++)
			all &= quantity_is_known(s->quantity[q], &s->server[side], a);
	}
	return any && all;
}

/* Adds the times of a pair that has them, and the ratios. */
static void pair_take(server_pairs *s)
{
	const size_t i = s->r.done;

	for (size_t side = 0; side < 2; side++) {
		const http_answer *a = pair_answer(s, side);

		const bool failed = !http_outcome_is_good(a->outcome);

		s->failed[side] += failed;
		s->alone[side] += failed && http_outcome_is_good(pair_answer(s, 1 - side)->outcome);
		s->early[side] += a->outcome == HTTP_EARLY;
		/* Less is a chat template, the same at the start of every prompt. */
		s->cached[side] += 10 * a->cached_tokens > a->prompt_tokens;
	}
	if (!pair_has_all(s)) {
		s->lost++;
		return;
	}
	for (size_t q = 0; q + 1 < s->r.n; q++) {
		interleaved_result *x = &s->result[q + 1];

		for (size_t side = 0; side < 2; side++) {
			const http_answer *a = pair_answer(s, side);

			s->time_ns[side][q][i] = http_outcome_is_good(a->outcome)
						     ? fmax(1, s->quantity[q]->of(a))
						     : (double)s->request[0].timeout_ns;
		}
		x->ratio[i] = log(s->time_ns[1][q][i] / s->time_ns[0][q][i]);
		x->rounds = i + 1;
	}
	s->r.done++;
}

static dck_status pair_make(server_pairs *s, dck_err *err)
{
	const size_t first = s->pairs % 2 == 0 ? rng_below(&s->v.random, 2) : 1 - s->first;

	s->first = first;
	DCK_TRY(pair_send(s, first, err));
	DCK_TRY(pair_send(s, 1 - first, err));
	s->pairs++;
	return DCK_OK;
}

/* --- all pairs */

static dck_status pairs_plan(server_pairs *s, dck_err *err)
{
	const dck_compare_config *c = s->v.asked;
	const uint64_t begin = pairs_now(s);
	double left_ns;

	for (size_t side = 0; side < 2; side++)
		quantities_mark(s, side, &s->server[side].probe);
	for (size_t i = 0; i < PAIRS_PILOT; i++) {
		DCK_TRY(pair_make(s, err));
		quantities_mark(s, 0, pair_answer(s, 0));
		quantities_mark(s, 1, pair_answer(s, 1));
	}
	quantities_choose(s);
	s->r.round_ns = (double)(pairs_now(s) - begin) / PAIRS_PILOT;
	s->pairs = 0;
	for (size_t side = 0; side < 2; side++)
		s->server[side].probes += PAIRS_PILOT;
	left_ns = fmax(0, (double)s->v.deadline_ns - (double)pairs_now(s));
	s->r.planned = c->rounds;
	if (c->rounds == 0)
		s->r.planned = (size_t)fmax(
		    PAIRS_MIN, fmin(left_ns / fmax(1, s->r.round_ns), (double)c->max_rounds));
	for (size_t q = 0; q + 1 < s->r.n; q++) {
		s->result[q + 1].ratio = mem_zalloc(s->r.planned, sizeof(double));
		s->time_ns[0][q] = mem_zalloc(s->r.planned, sizeof(double));
		s->time_ns[1][q] = mem_zalloc(s->r.planned, sizeof(double));
		DCK_NEED(s->result[q + 1].ratio && s->time_ns[0][q] && s->time_ns[1][q], err,
			 "for %zu pairs", s->r.planned);
	}
	return DCK_OK;
}

static void pairs_progress(const server_pairs *s)
{
	const dck_progress p =
	    progress_fraction("comparing", s->pairs, s->r.planned, pairs_now(s) - s->r.origin_ns);

	observer_show(s->v.shared.watch, &p);
}

static dck_status pairs_loop(server_pairs *s, interleaved_looks *f, dck_err *err)
{
	const bool once = s->v.asked->rounds > 0;
	size_t next = once ? s->r.planned : stat_look_next(0, s->r.planned);

	s->r.begin_ns = pairs_now(s);
	while (s->r.done < s->r.planned) {
		pairs_progress(s);
		DCK_TRY(pair_make(s, err));
		pair_take(s);
		const uint64_t now = pairs_now(s);
		const double each = (double)(now - s->r.begin_ns) / (double)s->pairs;

		s->r.stopped = s->r.done < s->r.planned &&
			       (s->pairs >= s->r.planned ||
				(!once && (double)now + each > (double)s->v.deadline_ns));
		if (s->r.stopped && s->r.done == 0)
			break;
		if (s->r.done < next && !s->r.stopped)
			continue;
		next = stat_look_next(s->r.done, s->r.planned);
		if (interleaved_look(&s->v, f, &s->r) == 0 || s->r.stopped)
			break;
	}
	return DCK_OK;
}

static dck_status pairs_run(server_pairs *s, dck_err *err)
{
	interleaved_looks f = {0};
	dck_err why = {0};
	dck_status status;

	DCK_TRY(pairs_plan(s, err));
	status = interleaved_looks_init(&f, &s->v, &s->r, err);
	if (status == DCK_OK) {
		s->r.failed = pairs_loop(s, &f, &why);
		s->r.why = why;
		if (s->r.failed != DCK_OK && s->r.done > 0) {
			s->r.stopped = true;
			(void)interleaved_look(&s->v, &f, &s->r);
		} else {
			status = err_pass(s->r.failed, &why, err);
		}
	}
	interleaved_looks_done(&f);
	return status;
}

/* --- opening */

static dck_status servers_open(server_pairs *s, dck_err *err)
{
	for (size_t side = 0; side < 2; side++) {
		server_session *u = &s->server[side];
		const char *nonce = side > 0 && !s->own_prompts ? s->server[0].nonce : NULL;

		const dck_status status = server_session_open(
		    u, &s->request[side], nonce, &s->v.shared.clock, s->v.shared.watch, err);
		if (status != DCK_OK)
			return err_while(err, status, "opening the server '%.200s'",
					 s->request[side].url);
		if (side == 0)
			continue;
		if (u->generates != s->server[0].generates)
			DCK_FAIL(
			    err, E_ARG,
			    "one server generates and the other one does not: their answers do "
			    "not compare");
	}
	/* The floor of the client without TLS, if one of them is without. */
	return server_session_calibrate(&s->server[s->server[0].address.tls], err);
}

static bool address_is_same(const char *a, const char *b)
{
	http_url x, y;

	return http_url_parse(a, &x, NULL) == DCK_OK && http_url_parse(b, &y, NULL) == DCK_OK &&
	       strcmp(x.authority, y.authority) == 0;
}

static dck_status servers_compare(server_pairs *s, record_builder *b, dck_err *err)
{
	os_host host;

	os_host_get(&host);
	record_host(b, &host);
	DCK_TRY(servers_open(s, err));
	record_others_begin(&s->v.others, 0);
	DCK_TRY(pairs_run(s, err));
	record_others_end(&s->v.others);
	server_pairs_record(b, s);
	return DCK_OK;
}

static void server_pairs_free(server_pairs *s)
{
	record_others_end(&s->v.others);
	for (size_t side = 0; side < 2; side++) {
		server_session_close(&s->server[side]);
		for (size_t q = 0; q < SERVER_QUANTITIES; q++)
			mem_free(s->time_ns[side][q]);
	}
	for (size_t q = 0; q <= SERVER_QUANTITIES; q++)
		mem_free(s->result[q].ratio);
	measure_context_end(&s->v.shared);
	mem_free(s);
}

dck_status dck_compare_servers(const dck_load_config *first, const dck_load_config *second,
			       const dck_compare_config *c, const dck_observer *watch,
			       dck_record **ret, dck_err *err)
{
	dck_compare_config own;
	server_pairs *s;
	record_builder *b;
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_compare_config_init, err, dck_compare_options,
			       dck_compare_live_options));
	if (!first || !second || !first->url || !second->url)
		DCK_FAIL(err, E_ARG, "a comparison of servers needs two addresses");
	s = mem_zalloc(1, sizeof *s);
	DCK_NEED(s, err, "for two servers");
	s->v.asked = &own;
	s->r.results = s->result;
	s->r.margin = own.margin;
	status = OPT_CONFIG_GET(first, &s->request[0], dck_load_config_init, err, dck_load_options,
				dck_server_options);
	DCK_NEXT(status, OPT_CONFIG_GET(second, &s->request[1], dck_load_config_init, err,
					dck_load_options, dck_server_options));
	if (status != DCK_OK) {
		mem_free(s);
		return status;
	}
	/* Prompts of a file are the same for both. */
	s->own_prompts =
	    !s->request[0].prompt_file && address_is_same(s->request[0].url, s->request[1].url);
	s->v.random = own.seed;
	measure_context_begin(&s->v.shared, own.clock, watch, true);
	s->r.origin_ns = pairs_now(s);
	s->v.deadline_ns = s->r.origin_ns + own.max_time_ns;
	b = record_begin(own.title);
	status = b ? DCK_OK : ERR_NO_MEMORY(err, "for a record");
	if (status == DCK_OK) {
		record_set_began(b, os_unix_ns());
		status = servers_compare(s, b, err);
	}
	server_pairs_free(s);
	return record_finish_if(status, b, ret, err);
}

void dck_compare_servers_requests(const dck_load_config *common, const dck_list *urls,
				  const dck_list *models, uint64_t seed, dck_load_config ret[2])
{
	for (size_t i = 0; i < 2; i++) {
		ret[i] = *common;
		ret[i].url = urls->item[i];
		ret[i].seed = seed;
		if (models->n > 0)
			ret[i].served_model = models->item[models->n > 1 ? i : 0];
	}
}

bool dck_compare_servers_takes(const char *option)
{
	return commas_have("margin,level,rounds,max-rounds,max-time,order-seed,seed", option);
}
