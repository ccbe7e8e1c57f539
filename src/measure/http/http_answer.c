/* http_answer.c - the bytes of one answer: HTTP, then events, then what a completion's event has.
 *
 * All that one read returned has one time, that of its last bytes' arrival. Chunks without content
 * (a role, the usage) have no gap. Tokens without text, such as special ones that are not shown,
 * are counted by the server, so that the last one is the end. A stream is complete when its body is
 * and an event has its end: a finish_reason or [DONE]. A proxy may end the body of a server that
 * died. Of a server that has sent neither so far, the end of a body whose length HTTP states is
 * enough.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "measure/http/completion.h"
#include "measure/http/http_connection.h"
#include "measure/http/kserve.h"
#include <string.h>

const char *http_outcome_text(http_outcome o)
{
	static const char *const texts[HTTP_OUTCOMES] = {
	    [HTTP_ANSWERED] = "answered",
	    [HTTP_EARLY] = "answered, stopped early",
	    [HTTP_LONGER] = "answered, longer",
	    [HTTP_REFUSED] = "not connected",
	    [HTTP_STATUS] = "status",
	    [HTTP_REDIRECT] = "redirected",
	    [HTTP_CUT] = "cut",
	    [HTTP_TIMED_OUT] = "timed out",
	    [HTTP_MALFORMED] = "not understood",
	    [HTTP_ERROR] = "error in the answer",
	    [HTTP_EMPTY] = "without content",
	    [HTTP_CANCELLED] = "cancelled",
	};

	return texts[o];
}

void http_answer_begin(http_connection *k)
{
	http_reader_init(&k->reader);
	sse_reader_reset(&k->events);
	k->body_bytes = k->last_ns = 0;
	k->ngaps = k->nquote = 0;
	k->blank = k->stopped = k->finished = false;
}

static http_progress answer_fail(http_outcome outcome, http_outcome *ret)
{
	*ret = outcome;
	return HTTP_FAILED;
}

/* false: no memory, and the gap is dropped. */
static bool gap_push(http_connection *k, double gap)
{
	if (k->ngaps >= HTTP_GAPS_MAX ||
	    !mem_reserve(&k->gaps, &k->gaps_cap, k->ngaps + 1, sizeof *k->gaps))
		return false;
	k->gaps[k->ngaps++] = gap;
	return true;
}

/* A time that is the arrival's is not late. */
static int64_t arrival_late(const http_connection *k)
{
	return k->late_ns < 0 ? -1 : 0;
}

static void chunk_take(http_client *c, http_connection *k)
{
	http_answer *a = &c->answers[k->index];

	if (a->chunks++ == 0) {
		a->first_content_ns = k->arrival_ns;
		a->first_late_ns = arrival_late(k);
	} else if (!gap_push(k, (double)(k->arrival_ns - k->last_ns))) {
		c->gaps_dropped++;
	}
	k->blank = false;
	k->last_ns = a->end_ns = k->arrival_ns;
	a->end_late_ns = arrival_late(k);
}

/* An empty text after those of several chunks, if it is a token's: most servers also send one with
 * the finish_reason, or after it. */
static void blank_take(http_client *c, http_connection *k, bool finishes)
{
	http_answer *a = &c->answers[k->index];

	if (a->chunks < 2 || k->finished || (finishes && !k->blank))
		return;
	k->blank = true;
	a->end_ns = k->arrival_ns;
	a->end_late_ns = arrival_late(k);
}

/* Of events that were read together only the last one's arrival is known. */
static void event_join(const http_connection *k, http_answer *a)
{
	if (a->chunks == 0 || a->end_ns != k->arrival_ns)
		return;
	a->end_late_ns = k->late_ns;
	if (a->first_content_ns == k->arrival_ns)
		a->first_late_ns = k->late_ns;
}

static http_progress answer_event(http_client *c, http_connection *k, http_outcome *ret,
				  dck_err *why)
{
	http_answer *a = &c->answers[k->index];
	completion_event e;

	/* One without data keeps a connection alive. */
	if (strspn(k->events.data, " \t\n") == k->events.n)
		return HTTP_GOES_ON;
	if (k->nevents++ > 0)
		event_join(k, a);
	if (a->first_event_ns == 0)
		a->first_event_ns = k->arrival_ns;
	if (completion_event_read(k->events.data, k->events.n, &e, why) != DCK_OK) {
		if (c->quote)
			err_while(why, DCK_E_FORMAT, "reading the answer");
		else
			ERR_SET(why, E_FORMAT, "an event of the answer is not JSON");
		return answer_fail(HTTP_MALFORMED, ret);
	}
	if (e.failed) {
		ERR_SET(why, E_ENGINE, "the server reports an error%s%s",
			c->quote && e.message[0] ? ": " : "", c->quote ? e.message : "");
		return answer_fail(HTTP_ERROR, ret);
	}
	if (e.content)
		chunk_take(c, k);
	else if (e.text)
		blank_take(c, k, e.finished);
	if (e.has_usage) {
		a->has_usage = true;
		a->tokens = e.completion_tokens;
		a->prompt_tokens = e.prompt_tokens;
		a->has_cached = e.has_cached;
		a->cached_tokens = e.cached_tokens;
	}
	k->stopped |= e.stopped;
	k->finished |= e.finished || e.done;
	c->sends_end |= k->finished;
	return HTTP_GOES_ON;
}

static http_progress body_take(http_client *c, http_connection *k, http_piece piece,
			       http_outcome *ret, dck_err *why)
{
	const uint8_t *at = piece.at, *end = piece.at + piece.n;
	const size_t left = sizeof k->quote - 1 - k->nquote;
	const size_t n = piece.n < left ? piece.n : left;
	sse_got got;

	k->body_bytes += piece.n;
	if (k->body_bytes > c->body_max) {
		ERR_SET(why, E_LIMIT, "the answer has more than %llu MiB, where it is given up",
			(unsigned long long)(c->body_max >> 20));
		return answer_fail(HTTP_MALFORMED, ret);
	}
	if (!c->stream || k->reader.status != 200) {
		memcpy(k->quote + k->nquote, piece.at, n);
		k->nquote += n;
		if (c->get) {
			dck_sink s;

			dck_sink_buffer(&s, &c->text);
			sink_put(&s, piece.at, piece.n);
			if (dck_sink_finish(&s, why) != DCK_OK)
				return answer_fail(HTTP_MALFORMED, ret);
		}
		return HTTP_GOES_ON;
	}
	while ((got = sse_read(&k->events, &at, end)) == SSE_EVENT) {
		const http_progress p = answer_event(c, k, ret, why);

		if (p != HTTP_GOES_ON)
			return p;
	}
	if (got == SSE_MORE)
		return HTTP_GOES_ON;
	ERR_SET(why, E_LIMIT, "an event of the answer is too long");
	return answer_fail(HTTP_MALFORMED, ret);
}

/* Returns how much of an address a message may have: no query, and nothing of one with a user. */
static size_t address_quoted(const http_client *c, const char *address)
{
	const size_t n = strcspn(address, "?#");

	return c->quote && !memchr(address, '@', n) ? n : 0;
}

static http_progress redirect_fail(const http_client *c, const http_reader *r, http_outcome *ret,
				   dck_err *why)
{
	const size_t n = address_quoted(c, r->location);

	if (n > 0)
		ERR_SET(why, E_ENGINE,
			"the server redirects to '%.*s' (status %u): give that address", (int)n,
			r->location, r->status);
	else
		ERR_SET(why, E_ENGINE,
			"the server redirects (status %u): give the address to which it does",
			r->status);
	return answer_fail(HTTP_REDIRECT, ret);
}

static http_progress head_take(const http_client *c, http_connection *k, http_outcome *ret,
			       dck_err *why)
{
	const http_reader *r = &k->reader;
	static const char events[] = "text/event-stream";

	if (r->has_length && r->left > c->body_max) {
		ERR_SET(why, E_LIMIT, "the answer has %llu MiB, and at most %llu are read",
			(unsigned long long)(r->left >> 20),
			(unsigned long long)(c->body_max >> 20));
		return answer_fail(HTTP_MALFORMED, ret);
	}
	if (r->coding[0] && r->status == 200) {
		ERR_SET(why, E_UNSUP,
			"the answer is coded ('Content-Encoding%s%.40s'), although only 'identity' "
			"was accepted: switch compression off in the server or its proxy",
			c->quote ? ": " : "", c->quote ? r->coding : "");
		return answer_fail(HTTP_MALFORMED, ret);
	}
	if (r->status >= 300 && r->status < 400)
		return redirect_fail(c, r, ret, why);
	if (!c->stream || r->status != 200 || http_word_is(r->type, events, strlen(events)))
		return HTTP_GOES_ON;
	if (c->quote)
		ERR_SET(why, E_FORMAT, "the answer is not a stream of events, but '%s'",
			r->type[0] ? r->type : "of no type");
	else
		ERR_SET(why, E_FORMAT, "the answer is not a stream of events");
	return answer_fail(HTTP_MALFORMED, ret);
}

static http_progress status_fail(const http_client *c, http_connection *k, http_outcome *ret,
				 dck_err *why)
{
	completion_event e = {0};

	k->quote[k->nquote] = '\0';
	if (!c->quote || completion_event_read(k->quote, k->nquote, &e, NULL) != DCK_OK)
		e.message[0] = '\0';
	err_set(why, k->reader.status == 404 ? DCK_E_ABSENT : DCK_E_ENGINE, __FILE__, __LINE__,
		"the server answers with status %u%s%s%s", k->reader.status,
		e.message[0] ? ": " : "", e.message,
		k->reader.status != 401 && k->reader.status != 403 ? ""
		: c->headers ? ": check DEEPCLOCK_API_KEY or --header-file"
			     : ": give credentials by DEEPCLOCK_API_KEY or --header-file");
	return answer_fail(HTTP_STATUS, ret);
}

static http_progress tensors_end(const http_client *c, const http_connection *k, http_outcome *ret,
				 dck_err *why)
{
	char message[200];

	switch (kserve_answer_read(k->quote, k->nquote, k->body_bytes > k->nquote, message,
				   sizeof message)) {
	case KSERVE_OUTPUTS:
		return HTTP_COMPLETE;
	case KSERVE_ERROR:
		ERR_SET(why, E_ENGINE, "the server reports an error%s%s",
			c->quote && message[0] ? ": " : "", c->quote ? message : "");
		return answer_fail(HTTP_ERROR, ret);
	case KSERVE_EMPTY:
		ERR_SET(why, E_FORMAT, "the answer has no outputs");
		return answer_fail(HTTP_EMPTY, ret);
	case KSERVE_MALFORMED:
		break;
	}
	ERR_SET(why, E_FORMAT, "the answer is not JSON");
	return answer_fail(HTTP_MALFORMED, ret);
}

/* closed: its end is that of the connection. */
static http_progress answer_end(http_client *c, http_connection *k, bool closed, http_outcome *ret,
				dck_err *why)
{
	http_answer *a = &c->answers[k->index];

	if (k->reader.status != 200)
		return status_fail(c, k, ret, why);
	*ret = HTTP_ANSWERED;
	if (!c->stream) {
		a->end_ns = k->arrival_ns;
		a->end_late_ns = arrival_late(k);
		if (c->get)
			return HTTP_COMPLETE;
		return tensors_end(c, k, ret, why);
	}
	if (a->chunks == 0) {
		ERR_SET(why, E_ENGINE, "the answer has no content");
		return answer_fail(HTTP_EMPTY, ret);
	}
	if (!k->finished && (c->sends_end || closed)) {
		ERR_SET(why, E_IO, "the answer ended without a finish_reason and without [DONE]");
		return answer_fail(HTTP_CUT, ret);
	}
	/* A server that reports 0 tokens of an answer with content counts none. */
	a->has_usage &= a->tokens > 0;
	if (a->has_usage ? a->tokens < c->new_tokens : k->stopped)
		*ret = HTTP_EARLY;
	else if (a->has_usage && a->tokens > c->new_tokens)
		*ret = HTTP_LONGER;
	return HTTP_COMPLETE;
}

http_progress http_answer_read(http_client *c, http_connection *k, const uint8_t *bytes, size_t n,
			       http_outcome *ret, dck_err *why)
{
	const uint8_t *at = bytes, *end = bytes + n;
	http_piece piece;

	for (;;) {
		const http_got got =
		    n > 0 ? http_read(&k->reader, &at, end, &piece) : http_read_close(&k->reader);
		http_progress p = HTTP_GOES_ON;

		switch (got) {
		case HTTP_MORE:
			return HTTP_GOES_ON;
		case HTTP_HEAD:
			c->answers[k->index].status = (uint16_t)k->reader.status;
			p = head_take(c, k, ret, why);
			break;
		case HTTP_BODY:
			p = body_take(c, k, piece, ret, why);
			break;
		case HTTP_END:
			k->reader.keep &= at == end;
			return answer_end(c, k, n == 0, ret, why);
		case HTTP_BAD:
			ERR_SET(why, E_FORMAT, "the server's answer is not %s: %s",
				n > 0 ? "valid HTTP" : "complete", k->reader.why);
			return answer_fail(n > 0 ? HTTP_MALFORMED : HTTP_CUT, ret);
		}
		if (p != HTTP_GOES_ON)
			return p;
	}
}
