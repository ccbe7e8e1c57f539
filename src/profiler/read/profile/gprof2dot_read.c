/* gprof2dot_read.c - reader of gprof2dot's JSON, in two passes over the file.
 *
 * The members of a JSON object have no order, and "events" refer to "functions" and "costs" by
 * index: so the first pass reads these two lists, the second the events. A pull parser
 * (json_read.h) gives tokens; in memory are the lists, and the call chain and costs of one event. A
 * chain has the innermost function first and is pushed in reverse. Costs in units of time or size
 * are scaled to ns and bytes, so that records compare; each cost is a column of stacks.h.
 *
 * Hostile files: an index is checked against the list, a chain has CHAIN_MAX frames at most
 * (E_LIMIT), an event no more costs than are declared, each finite and not negative (E_FORMAT);
 * stacks.h bounds names, frames and paths. The schema's address is in gprof2dot_read.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/profile/gprof2dot_read.h"

#include "base/err.h"
#include "profiler/read/json_feed.h"
#include "profiler/read/profile/stacks.h"

#include <stdio.h>
#include <string.h>

enum { CHAIN_MAX = 1 << 16 };

typedef struct gprof2dot_reader {
	json_reader json;
	stacks stacks;
	double scale[STACKS_COLUMNS];
	uint32_t *chain; /* @owned; CHAIN_MAX rows */
	double costs[STACKS_COLUMNS];
	size_t nchain, ncosts;
	bool events;
	dck_err *err;
} gprof2dot_reader;

#define MALFORMED(x, ...) DCK_FAIL((x)->err, E_FORMAT, "the profile is damaged: " __VA_ARGS__)

/* --- costs and functions */

typedef struct named {
	char name[200], unit[40]; /* name and unit of a cost */
	stacks_row row;		  /* row of a function */
} named;

/* Reads the texts of an object in a list. */
static dck_status named_read(gprof2dot_reader *x, named *ret)
{
	enum { NAME, MODULE, UNIT, COST };
	static const char *const keys[] = {"name", "module", "unit", "description", NULL};
	const char *text = x->json.text;
	json_token t;
	int key;

	*ret = (named){0};
	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			return DCK_OK;
		if (t != JSON_TEXT)
			DCK_TRY(json_skip(&x->json, t, x->err));
		else if (key == NAME)
			ret->row.name = stacks_text(&x->stacks, text, x->json.n);
		else if (key == MODULE)
			ret->row.file = stacks_text(&x->stacks, text, x->json.n);
		else if (key == UNIT)
			snprintf(ret->unit, sizeof ret->unit, "%.*s", (int)sizeof ret->unit - 1,
				 text);
		else
			snprintf(ret->name, sizeof ret->name, "%.*s", (int)sizeof ret->name - 1,
				 text);
	}
}

/* Adds a column for a cost. Times are scaled to ns, so that records compare. */
static dck_status cost_add(gprof2dot_reader *x, const named *cost)
{
	static const struct {
		const char *name;
		dck_unit unit;
		double scale;
	} units[] = {{"bytes", DCK_UNIT_BYTE, 1},	 {"s", DCK_UNIT_NS, 1e9},
		     {"seconds", DCK_UNIT_NS, 1e9},	 {"ms", DCK_UNIT_NS, 1e6},
		     {"milliseconds", DCK_UNIT_NS, 1e6}, {"us", DCK_UNIT_NS, 1e3},
		     {"microseconds", DCK_UNIT_NS, 1e3}, {"ns", DCK_UNIT_NS, 1},
		     {"nanoseconds", DCK_UNIT_NS, 1}};
	const size_t before = x->stacks.ncolumns;
	const char *key = cost->name[0] ? cost->name : "samples";
	dck_unit unit = DCK_UNIT_ONE;
	double scale = 1;
	size_t column;

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(cost->unit, units[i].name) == 0) {
			unit = units[i].unit;
			scale = units[i].scale;
		}
	DCK_TRY(stacks_column(&x->stacks, key, unit, &column, x->err));
	if (column != before)
		MALFORMED(x, "two costs are called '%.40s'", key);
	x->scale[column] = scale;
	return DCK_OK;
}

static dck_status list_read(gprof2dot_reader *x, bool functions)
{
	json_token t;
	named one;

	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t != JSON_OBJECT)
			MALFORMED(x, "a %s is not an object", functions ? "function" : "cost");
		DCK_TRY(named_read(x, &one));
		DCK_TRY(functions ? stacks_frame(&x->stacks, &one.row, x->err) : cost_add(x, &one));
	}
}

/* --- events */

static dck_status gprof2dot_chain_read(gprof2dot_reader *x)
{
	json_token t;

	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t != JSON_LITERAL)
			MALFORMED(x, "a call chain is not a list of numbers");
		if (x->nchain == CHAIN_MAX)
			DCK_FAIL(x->err, E_LIMIT, "the profile has more than %d frames in a stack",
				 CHAIN_MAX);
		DCK_TRY(stacks_row_find(&x->stacks, x->json.text, &x->chain[x->nchain], x->err));
		x->nchain++;
	}
}

static dck_status costs_read(gprof2dot_reader *x)
{
	json_token t;
	double v;

	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (x->ncosts == x->stacks.ncolumns || t != JSON_LITERAL ||
		    !json_number(x->json.text, &v) || !stacks_weight_fits(v * x->scale[x->ncosts]))
			MALFORMED(x, "an event does not cost %u numbers",
				  (unsigned)x->stacks.ncolumns);
		x->costs[x->ncosts] = v * x->scale[x->ncosts];
		x->ncosts++;
	}
}

static dck_status gprof2dot_event_read(gprof2dot_reader *x)
{
	enum { CHAIN, COST };
	static const char *const keys[] = {"callchain", "cost", NULL};
	json_token t;
	int key;

	x->nchain = x->ncosts = 0;
	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			break;
		if (t == JSON_ARRAY)
			DCK_TRY(key == CHAIN ? gprof2dot_chain_read(x) : costs_read(x));
		else
			DCK_TRY(json_skip(&x->json, t, x->err));
	}
	stack_open(&x->stacks, 0);
	while (x->nchain > 0)
		stack_push(&x->stacks, x->chain[--x->nchain]);
	for (size_t k = 0; k < x->ncosts; k++)
		stack_add(&x->stacks, x->stacks.path, k, x->costs[k]);
	return DCK_OK;
}

static dck_status gprof2dot_events_read(gprof2dot_reader *x)
{
	json_token t;

	for (;;) {
		DCK_TRY(json_next_element(&x->json, &t, x->err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t != JSON_OBJECT)
			MALFORMED(x, "an event is not an object");
		DCK_TRY(gprof2dot_event_read(x));
	}
}

/* --- the file */

static dck_status gprof2dot_file_read(gprof2dot_reader *x, bool events)
{
	enum { FUNCTIONS, COSTS, EVENTS };
	static const char *const keys[] = {"functions", "costs", "events", NULL};
	json_token t;
	int key;

	DCK_TRY(json_next(&x->json, &t, x->err));
	if (t != JSON_OBJECT)
		DCK_FAIL(x->err, E_FORMAT,
			 "this is not a profile of gprof2dot: it is not an object");
	for (;;) {
		DCK_TRY(json_next_member(&x->json, keys, &key, &t, x->err));
		if (key < 0)
			break;
		x->events |= key == EVENTS && t == JSON_ARRAY;
		if (t == JSON_ARRAY && !events && key != EVENTS)
			DCK_TRY(list_read(x, key == FUNCTIONS));
		else if (t == JSON_ARRAY && events && key == EVENTS)
			DCK_TRY(gprof2dot_events_read(x));
		else
			DCK_TRY(json_skip(&x->json, t, x->err));
	}
	if (!x->events || x->stacks.ncolumns == 0)
		DCK_FAIL(x->err, E_FORMAT,
			 "this is not a profile of gprof2dot: it has no list \"%s\"",
			 x->events ? "costs" : "events");
	return DCK_OK;
}

static dck_status gprof2dot_pass_through(gprof2dot_reader *x, wire_source *s, bool events)
{
	json_feed f;

	DCK_TRY(json_feed_open(&f, s, &x->json, x->err));
	const dck_status status = gprof2dot_file_read(x, events);
	json_feed_close(&f);
	return status;
}

dck_status gprof2dot_read(wire_source *s, record_builder *b, dck_err *err)
{
	gprof2dot_reader *x = mem_zalloc(1, sizeof *x);

	DCK_NEED(x, err, "to read a profile");
	x->err = err;
	x->chain = mem_zalloc(CHAIN_MAX, sizeof *x->chain);
	dck_status status =
	    x->chain ? stacks_init(&x->stacks, err) : ERR_NO_MEMORY(err, "to read a profile");
	DCK_NEXT(status, gprof2dot_pass_through(x, s, false));
	DCK_NEXT(status, gprof2dot_pass_through(x, s, true));
	if (status == DCK_OK) {
		record_fact_text(b, "profile", "format", "gprof2dot");
		status = stacks_write(&x->stacks, NULL, b, err);
	}
	stacks_done(&x->stacks);
	mem_free(x->chain);
	mem_free(x);
	return status;
}
