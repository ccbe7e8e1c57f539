/* server_cache.c - what a server's cache of prefixes had of the prompts.
 *
 * Counters: a line of Prometheus' text format is NAME{LABELS} VALUE [TIME]; a value in quotes may
 * have braces and escapes. All series of one name are added. The names are those of vLLM's and
 * SGLang's documentation of 2025 and 2026; Prometheus' clients append "_total".
 *
 * Prompts sent twice: each pair is a new prompt and the same again; the ratio of their times to the
 * first token, by pair, has the interval of the sign test. A server without a cache gives 1. They
 * are not sent to a server that answered none of the requests before.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/server/server_cache.h"
#include "base/decimal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define METRICS_PATH "/metrics"
#define METRICS_MAX  (8u << 20) /* bytes */
#define METRICS_NS   (5 * UINT64_C(1000000000))
#define PAIRS_MOST   12
#define PAIRS_LEAST  6 /* for an interval at 95 % */
#define PAIRS_NS     (10 * UINT64_C(1000000000))
#define NUMBER_MOST  64

static const struct counter_names {
	const char *server, *hits, *tokens;
} counter_names[] = {
    {"vLLM", "vllm:prefix_cache_hits", "vllm:prefix_cache_queries"},
    {"vLLM", "vllm:gpu_prefix_cache_hits", "vllm:gpu_prefix_cache_queries"},
    {"SGLang", "sglang:cached_tokens", "sglang:prompt_tokens"},
};
#define NAMES (sizeof counter_names / sizeof *counter_names)

/* Returns what follows the labels; NULL: they do not end in this line. */
static const char *labels_skip(const char *at, const char *end)
{
	bool quoted = false;

	for (; at < end; at++) {
		if (quoted && *at == '\\')
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (*at == '}' && !quoted)
			return at + 1;
	}
	return NULL;
}

/* Returns the value of a line, if it is a series of that name; NaN: it is not. */
static double series_value(const char *at, const char *end, const char *name)
{
	static const char total[] = "_total";
	const size_t n = strlen(name);
	char text[NUMBER_MOST];
	size_t used = 0;
	const char *rest;
	decimal_number v;

	if ((size_t)(end - at) <= n || memcmp(at, name, n) != 0)
		return NAN;
	at += n;
	if ((size_t)(end - at) > sizeof total - 1 && memcmp(at, total, sizeof total - 1) == 0)
		at += sizeof total - 1;
	if (*at == '{')
		at = labels_skip(at, end);
	if (!at || at == end || (*at != ' ' && *at != '\t'))
		return NAN;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (at < end && ' ' < *at && used + 1 < sizeof text)
		text[used++] = *at++;
	text[used] = '\0';
	return decimal_parse(text, &v, &rest) && *rest == '\0' && !v.negative &&
		       isfinite(decimal_double(&v))
		   ? decimal_double(&v)
		   : NAN;
}

void cache_counters_read(const char *text, size_t n, cache_counters *ret)
{
	double hits[NAMES] = {0}, tokens[NAMES] = {0};
	bool has[NAMES][2] = {{false}};
	const char *at = text, *last = text + n;

	*ret = (cache_counters){0};
	while (at < last) {
		const char *end = memchr(at, '\n', (size_t)(last - at));

		end = end ? end : last;
		for (size_t i = 0; i < NAMES; i++) {
			const double h = series_value(at, end, counter_names[i].hits);
			const double t = series_value(at, end, counter_names[i].tokens);

			hits[i] += isnan(h) ? 0 : h;
			tokens[i] += isnan(t) ? 0 : t;
			has[i][0] |= !isnan(h);
			has[i][1] |= !isnan(t);
		}
		at = end + (end < last);
	}
	for (size_t i = 0; i < NAMES && !ret->server; i++)
		if (has[i][0] && has[i][1])
			*ret = (cache_counters){counter_names[i].server, hits[i], tokens[i]};
}

static void counters_get(server_session *s, cache_counters *ret)
{
	*ret = (cache_counters){0};
	if (server_get(s, METRICS_PATH, METRICS_MAX, METRICS_NS, NULL) == DCK_OK &&
	    s->client.n == 1)
		cache_counters_read(s->client.text.data, s->client.text.n, ret);
}

/* --- prompts sent twice */

/* Sends prompt number `i`; NaN: it was not answered. */
static double prompt_send(server_session *s, uint64_t i)
{
	s->client.made = i;
	if (server_send_one(s, NULL) != DCK_OK || s->client.n != 1)
		return NAN;
	return fmax(1, server_answer_ttft(&s->client.answers[0]));
}

/* Returns the number of pairs, which end with the first request that fails. */
static size_t pairs_send(server_session *s, double log_ratio[PAIRS_MOST])
{
	const uint64_t begin_ns = s->client.clock->now_ns(s->client.clock->self);
	const uint64_t first = s->client.made;
	size_t n = 0;

	while (n < PAIRS_MOST &&
	       s->client.clock->now_ns(s->client.clock->self) - begin_ns <= PAIRS_NS) {
		const double once = prompt_send(s, first + n);
		const double again = isnan(once) ? NAN : prompt_send(s, first + n);

		if (isnan(again))
			break;
		log_ratio[n++] = log(again / once);
	}
	return n;
}

/* Prompts of a file are sent where enough of them are new to the server, else random ones. */
static void prompts_repeat(server_cache *c, server_session *s, double level)
{
	const uint64_t timeout_ns = s->client.timeout_ns;
	const size_t nquoted = s->ask.nquoted;
	double log_ratio[PAIRS_MOST];

	c->repeated = true;
	if (s->client.made + PAIRS_MOST > nquoted)
		s->ask.nquoted = 0;
	s->client.timeout_ns = timeout_ns < PAIRS_NS ? timeout_ns : PAIRS_NS;
	c->pairs = pairs_send(s, log_ratio);
	s->client.timeout_ns = timeout_ns;
	s->ask.nquoted = nquoted;
	if (c->pairs < PAIRS_LEAST) {
		snprintf(c->again.why, sizeof c->again.why,
			 "%zu prompts were answered twice, too few for an interval", c->pairs);
		return;
	}
	stat_starts(log_ratio, c->pairs, level, &c->again);
	snprintf(c->again.how, sizeof c->again.how, "median of %zu prompts that were sent twice",
		 c->pairs);
	c->again.value = exp(c->again.value);
	c->again.lo = exp(c->again.lo);
	c->again.hi = exp(c->again.hi);
}

void server_cache_begin(server_cache *c, server_session *s)
{
	*c = (server_cache){0};
	if (s->generates)
		counters_get(s, &c->before);
	s->client.answered = false; /* of the requests that are measured */
}

void server_cache_end(server_cache *c, server_session *s, bool usage, double level)
{
	const bool answers = s->client.answered;

	if (!s->generates || s->client.cancelled)
		return;
	if (c->before.server)
		counters_get(s, &c->after);
	if (!isnan(server_cache_share(c)) || usage)
		return;
	if (answers)
		prompts_repeat(c, s, level);
	else
		snprintf(c->again.why, sizeof c->again.why, "no request was answered");
}

double server_cache_share(const server_cache *c)
{
	const double tokens = c->after.tokens - c->before.tokens;

	return c->before.server && c->after.server && tokens > 0
		   ? (c->after.hits - c->before.hits) / tokens
		   : NAN;
}
