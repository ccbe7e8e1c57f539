/* completion.c - writes the request of a completion, and reads its events.
 *
 * A prompt is words drawn by SplitMix64: from one stream for the shared part, from one for each
 * request after it. The reader walks the tokens of the JSON without a tree: choices, their delta,
 * usage and its details, errors; everything else is skipped, and of a value of another type than
 * expected nothing is known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/completion.h"
#include "base/err.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/rng.h"
#include <stdio.h>
#include <string.h>

/* --- the request */

/* Short words, which the usual vocabularies have as one token each, with the blank before. */
static const char *const words[] = {
    "time",   "year",	"people",  "way",    "day",	"man",	 "thing", "woman", "life",
    "child",  "world",	"school",  "state",  "family",	"group", "hand",  "part",  "place",
    "case",   "week",	"company", "system", "program", "work",	 "night", "point", "home",
    "water",  "room",	"area",	   "money",  "story",	"fact",	 "month", "lot",   "right",
    "study",  "book",	"eye",	   "job",    "word",	"side",	 "kind",  "head",  "house",
    "friend", "father", "power",   "hour",   "game",	"line",	 "end",	  "law",   "car",
    "city",   "name",	"team",	   "minute", "idea",	"body",	 "back",  "face",  "door",
    "art",    "war",
};

static char *prompt_make(const completion_ask *ask, uint64_t i)
{
	const size_t n = (size_t)ask->prompt_length;
	const size_t shared = (size_t)(ask->shared_prefix * (double)n);
	uint64_t all = ask->key, own = rng_at(~ask->key, i);
	char *text = mem_alloc(n * 16 + 1);
	size_t used = 0;

	for (size_t k = 0; text && k < n; k++)
		used += (size_t)snprintf(
		    text + used, 16, "%s%s", k > 0 ? " " : "",
		    words[rng_below(k < shared ? &all : &own, sizeof words / sizeof *words)]);
	return text;
}

static void prompt_write(json_writer *w, const completion_ask *ask, uint64_t i, const char *made)
{
	if (ask->nquoted > 0)
		json_quoted(w, ask->quoted[i % ask->nquoted]);
	else
		json_text(w, made);
}

dck_status completion_body(const completion_ask *ask, uint64_t i, dck_buffer *to, dck_err *err)
{
	char *prompt = ask->nquoted > 0 ? NULL : prompt_make(ask, i);
	json_writer w;
	dck_sink sink;

	DCK_NEED(prompt || ask->nquoted > 0, err, "for a prompt of %llu words",
		 (unsigned long long)ask->prompt_length);
	dck_sink_buffer(&sink, to);
	json_init(&w, &sink, false);
	json_begin_object(&w);
	json_text(json_key(&w, "model"), ask->model);
	if (ask->chat) {
		json_begin_array(json_key(&w, "messages"));
		json_begin_object(&w);
		json_text(json_key(&w, "role"), "user");
		prompt_write(json_key(&w, "content"), ask, i, prompt);
		json_end(&w);
		json_end(&w);
	} else {
		prompt_write(json_key(&w, "prompt"), ask, i, prompt);
	}
	json_uint(json_key(&w, "max_tokens"), ask->new_tokens);
	json_int(json_key(&w, "temperature"), 0);
	json_bool(json_key(&w, "stream"), true);
	if (ask->usage) {
		json_begin_object(json_key(&w, "stream_options"));
		json_bool(json_key(&w, "include_usage"), true);
		json_end(&w);
	}
	if (ask->ignore_eos) {
		json_bool(json_key(&w, "ignore_eos"), true);
	}
	json_end(&w);
	json_done(&w);
	mem_free(prompt);
	return dck_sink_finish(&sink, err);
}

/* --- an event */

static void message_set(completion_event *e, const char *text, const char *before)
{
	e->failed = true;
	snprintf(e->message, sizeof e->message, "%s%.180s", before, text);
}

/* Reads a value; only a text or a number is stored. */
static dck_status completion_value(json_reader *r, json_token *ret, dck_err *err)
{
	DCK_TRY(json_next(r, ret, err));
	return json_skip(r, *ret, err);
}

static uint64_t count_of(const json_reader *r, json_token t, bool *ret_known)
{
	double v;

	if (t != JSON_LITERAL || !json_number(r->text, &v) || !(v >= 0) || v > 1e15)
		return 0;
	*ret_known = true;
	return (uint64_t)v;
}

/* Calls `member` for each member of an object, after its key: r->text. Another value is skipped. */
static dck_status members_read(json_reader *r, json_token begun,
			       dck_status (*member)(json_reader *r, completion_event *e,
						    dck_err *err),
			       completion_event *e, dck_err *err)
{
	bool more;

	if (begun != JSON_OBJECT)
		return json_skip(r, begun, err);
	for (;;) {
		DCK_TRY(json_next_key(r, &more, err));
		if (!more)
			return DCK_OK;
		DCK_TRY(member(r, e, err));
	}
}

static dck_status details_member(json_reader *r, completion_event *e, dck_err *err)
{
	const bool cached = strcmp(r->text, "cached_tokens") == 0;
	json_token t;

	DCK_TRY(completion_value(r, &t, err));
	if (cached)
		e->cached_tokens = count_of(r, t, &e->has_cached);
	return DCK_OK;
}

static dck_status usage_member(json_reader *r, completion_event *e, dck_err *err)
{
	const bool prompt = strcmp(r->text, "prompt_tokens") == 0;
	const bool completion = strcmp(r->text, "completion_tokens") == 0;
	const bool details = strcmp(r->text, "prompt_tokens_details") == 0;
	json_token t;
	bool unused;

	DCK_TRY(json_next(r, &t, err));
	if (details)
		return members_read(r, t, details_member, e, err);
	DCK_TRY(json_skip(r, t, err));
	if (prompt)
		e->prompt_tokens = count_of(r, t, &unused);
	if (completion)
		e->completion_tokens = count_of(r, t, &e->has_usage);
	return DCK_OK;
}

/* Of a choice, or of the delta in it: texts of these names are content. */
static dck_status choice_member(json_reader *r, completion_event *e, dck_err *err)
{
	const bool content = strcmp(r->text, "text") == 0 || strcmp(r->text, "content") == 0 ||
			     strcmp(r->text, "reasoning_content") == 0 ||
			     strcmp(r->text, "reasoning") == 0;
	const bool finish = strcmp(r->text, "finish_reason") == 0;
	const bool delta = strcmp(r->text, "delta") == 0 && r->depth < 4;
	json_token t;

	DCK_TRY(json_next(r, &t, err));
	if (delta)
		return members_read(r, t, choice_member, e, err);
	DCK_TRY(json_skip(r, t, err));
	if (t == JSON_TEXT) {
		e->text |= content;
		e->content |= content && r->n > 0;
		e->finished |= finish && r->n > 0;
		e->stopped |= finish && r->n > 0 && strcmp(r->text, "length") != 0;
		if (finish && (strcmp(r->text, "abort") == 0 || strcmp(r->text, "error") == 0))
			message_set(e, r->text, "finish_reason: ");
	}
	return DCK_OK;
}

static dck_status choices_read(json_reader *r, completion_event *e, dck_err *err)
{
	json_token t;

	DCK_TRY(json_next(r, &t, err));
	if (t != JSON_ARRAY)
		return json_skip(r, t, err);
	for (;;) {
		DCK_TRY(json_next_element(r, &t, err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		DCK_TRY(members_read(r, t, choice_member, e, err));
	}
}

static dck_status error_member(json_reader *r, completion_event *e, dck_err *err)
{
	const bool message = strcmp(r->text, "message") == 0;
	json_token t;

	DCK_TRY(completion_value(r, &t, err));
	if (message && t == JSON_TEXT)
		message_set(e, r->text, "");
	return DCK_OK;
}

/* {"message": "..."}, or a text; an empty one is none. */
static dck_status error_read(json_reader *r, completion_event *e, dck_err *err)
{
	json_token t;

	DCK_TRY(json_next(r, &t, err));
	if (t == JSON_TEXT && r->n > 0)
		message_set(e, r->text, "");
	e->failed |= t == JSON_OBJECT;
	return members_read(r, t, error_member, e, err);
}

static dck_status event_member(json_reader *r, completion_event *e, dck_err *err)
{
	json_token t;

	if (strcmp(r->text, "choices") == 0)
		return choices_read(r, e, err);
	if (strcmp(r->text, "error") == 0 || strcmp(r->text, "detail") == 0 ||
	    strcmp(r->text, "message") == 0)
		return error_read(r, e, err);
	if (strcmp(r->text, "usage") != 0)
		return completion_value(r, &t, err);
	DCK_TRY(json_next(r, &t, err));
	return members_read(r, t, usage_member, e, err);
}

dck_status completion_event_read(const char *data, size_t n, completion_event *ret, dck_err *err)
{
	completion_event e = {0};
	json_reader r;
	json_token t;

	if (n >= 6 && memcmp(data, "[DONE]", 6) == 0) {
		*ret = (completion_event){.done = true};
		return DCK_OK;
	}
	json_read_bytes(&r, data, n, "an event");
	DCK_TRY(json_next(&r, &t, err));
	if (t != JSON_OBJECT)
		DCK_FAIL(err, E_FORMAT, "an event is not a JSON object");
	DCK_TRY(members_read(&r, t, event_member, &e, err));
	if (json_next(&r, &t, NULL) != DCK_OK || t != JSON_END)
		DCK_FAIL(err, E_FORMAT,
			 "more follows the JSON object of an event: two events have an empty line "
			 "between them");
	*ret = e;
	return DCK_OK;
}
