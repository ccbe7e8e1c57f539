/* chrome_read.c - the bytes of a file of Chrome's trace events, and the list in it.
 *
 * chrome_is() decides by the first keys: an object with the list, or a list whose first object has
 * a key of events, which no record has. chrome_read() reads the list event by event
 * (chrome_event.c) and then emits all of them in order (chrome_emit.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/chrome/chrome_read.h"
#include "base/err.h"
#include "profiler/read/chrome/chrome_reading.h"
#include "profiler/read/json_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const wire_kind wire_chrome = {"trace", "a trace", "a trace in JSON"};

#define NAME_BYTES_MAX ((size_t)256 << 20)

/* --- what kind of file it is */

static const char list_key[] = "traceEvents";

/* Returns whether the object that has begun has a key that every event has. *ret_empty: it has
 * none. */
static bool chrome_has_event_key(json_reader *r, bool *ret_empty)
{
	json_token t;

	for (bool first = true;; first = false) {
		const bool more = json_next(r, &t, NULL) == DCK_OK;

		*ret_empty = more && t == JSON_CLOSE && first;
		if (!more || t != JSON_KEY)
			return false;
		if (strcmp(r->text, "ph") == 0 || strcmp(r->text, "ts") == 0)
			return true;
		if (json_next(r, &t, NULL) != DCK_OK || json_skip(r, t, NULL) != DCK_OK)
			return false;
	}
}

/* Some programs begin the list with an empty object, so that a comma precedes each event. */
static bool chrome_list_looks_so(json_reader *r)
{
	bool empty;
	json_token t;

	if (json_next(r, &t, NULL) != DCK_OK)
		return false;
	if (t == JSON_END)
		return true;
	while (t == JSON_OBJECT) {
		if (chrome_has_event_key(r, &empty))
			return true;
		if (!empty || json_next(r, &t, NULL) != DCK_OK)
			return false;
	}
	return false;
}

/* An object with the list, or a list of events. A record has other keys first. */
static bool looks_so(json_reader *r)
{
	static const char *const of_record[] = {"schema", "deepclock"};
	json_token t;

	if (json_next(r, &t, NULL) != DCK_OK)
		return false;
	if (t == JSON_ARRAY)
		return chrome_list_looks_so(r);
	if (t != JSON_OBJECT)
		return false;
	for (;;) {
		if (json_next(r, &t, NULL) != DCK_OK || t == JSON_CLOSE || t == JSON_END)
			return false;
		if (t == JSON_KEY && strcmp(r->text, list_key) == 0)
			return true;
		for (size_t i = 0; t == JSON_KEY && i < 2; i++)
			if (strcmp(r->text, of_record[i]) == 0)
				return false;
		if (json_skip(r, t, NULL) != DCK_OK)
			return false;
	}
}

bool chrome_is(wire_source *s)
{
	json_reader r;
	json_feed f;

	if (json_feed_open(&f, s, &r, NULL) != DCK_OK)
		return false;
	const bool is = looks_so(&r);
	json_feed_close(&f);
	return is;
}

/* --- the list of events, and the other members */

/* A list that ends where an event could follow is one of Chrome, which does not close it; in an
 * object something is missing. */
static dck_status read_list(chrome_reader *x)
{
	const uint32_t inside = x->json.depth;
	json_token t;

	for (;;) {
		DCK_TRY(json_next(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t == JSON_END && inside == 1)
			return DCK_OK;
		if (t == JSON_END)
			DCK_FAIL(x->err, E_FORMAT,
				 "%s is truncated: its list of events is not "
				 "closed",
				 x->source->label);
		if (t != JSON_OBJECT)
			DCK_TRY(json_skip(&x->json, t, x->err));
		else
			DCK_TRY(chrome_event_read(x));
	}
}

static dck_status read_members(chrome_reader *x)
{
	enum { OTHER, LIST, BASE } what = OTHER;
	bool found = false;
	json_token t;

	for (;;) {
		DCK_TRY(json_next(&x->json, &t, x->err));
		if (t == JSON_CLOSE && found)
			return DCK_OK;
		if (t == JSON_CLOSE)
			DCK_FAIL(x->err, E_FORMAT, "%s is not a trace: it has no list \"%s\"",
				 x->source->label, list_key);
		if (t == JSON_END)
			DCK_FAIL(x->err, E_FORMAT, "%s is truncated: it is not closed",
				 x->source->label);
		if (t == JSON_KEY) {
			what = strcmp(x->json.text, list_key) == 0		  ? LIST
			       : strcmp(x->json.text, "baseTimeNanoseconds") == 0 ? BASE
										  : OTHER;
			x->has_schema |= strcmp(x->json.text, "schemaVersion") == 0;
			continue;
		}
		if (what == BASE && t == JSON_LITERAL)
			x->base_unix_ns = strtoll(x->json.text, NULL, 10);
		found |= what == LIST && t == JSON_ARRAY;
		if (what == LIST && t == JSON_ARRAY)
			DCK_TRY(read_list(x));
		else
			DCK_TRY(json_skip(&x->json, t, x->err));
	}
}

static dck_status read_events(chrome_reader *x)
{
	json_token t;

	DCK_TRY(json_next(&x->json, &t, x->err));
	if (t == JSON_ARRAY)
		DCK_TRY(read_list(x));
	else if (t == JSON_OBJECT)
		DCK_TRY(read_members(x));
	else
		DCK_FAIL(x->err, E_FORMAT, "%s is not a trace: it is neither an object nor a list",
			 x->source->label);
	DCK_TRY(json_next(&x->json, &t, x->err));
	if (t != JSON_END)
		DCK_FAIL(x->err, E_FORMAT, "%s is malformed: something follows its end",
			 x->source->label);
	return DCK_OK;
}

static dck_status chrome_read_source(chrome_reader *x)
{
	json_feed f;

	DCK_TRY(json_feed_open(&f, x->source, &x->json, x->err));
	const dck_status status = read_events(x);
	json_feed_close(&f);
	if (status == DCK_E_FORMAT && x->nrows > 0) { /* all complete events were read */
		snprintf(x->facts->cut, sizeof x->facts->cut, "%s", x->err->msg);
		return DCK_OK;
	}
	return status;
}

static void chrome_reading_done(chrome_reader *x)
{
	hash_map *const maps[] = {&x->name_rows, &x->thread_rows, &x->process_rows,
				  &x->counter_rows, &x->depths};

	for (uint32_t i = 1; i <= x->ntracks; i++)
		mem_free(chrome_track_at(x, i)->open);
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hash_map_done(maps[i]);
	id_table_done(&x->names);
	id_table_done(&x->tracks);
	string_table_done(&x->texts);
	mem_free(x->rows);
	mem_free(x->numbers);
	mem_free(x->given);
}

dck_status chrome_read(wire_source *s, const char *const *numbers, const trace_format *f,
		       dck_sink *sink, trace_read_facts *ret, dck_err *err)
{
	chrome_reader *x = mem_zalloc(1, sizeof *x);
	trace_read_facts facts = {0};
	dck_err own = {0};

	DCK_NEED(x, err, "to read %s", s->label);
	x->source = s;
	x->format = f;
	x->sink = sink;
	x->err = &own;
	x->facts = &facts;
	x->wanted = numbers;
	dck_status status = string_table_init(&x->texts, &own);
	if (status == DCK_OK) {
		mem_arena_limit(x->texts.arena, NAME_BYTES_MAX);
		status = chrome_read_source(x);
	}
	DCK_NEXT(status, chrome_emit(x));
	if (x->out) {
		const dck_status closed = f->close(x->out, status == DCK_OK ? &own : NULL);
		status = status == DCK_OK ? closed : status;
	}
	chrome_reading_done(x);
	mem_free(x);
	if (status == DCK_OK)
		*ret = facts;
	else if (err)
		*err = own;
	return status;
}
