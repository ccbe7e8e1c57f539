/* pstats_write.c - a timeline as a profile of Python, for pstats and snakeviz: a dictionary in
 * Python's marshal encoding,
 *
 *	(file, line, name): (primitive calls, calls, own seconds, seconds, callers)
 *
 * where callers is the same of each function that called this one. Only a call that is not inside
 * one of the same name counts as primitive, and its time as the function's.
 * Source: Lib/cProfile.py, Lib/pstats.py and Python/marshal.c of CPython
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sink.h"
#include "export/formats.h"
#include "export/paths.h"

#include <string.h>

typedef struct times {
	uint64_t calls, primitive, self_ns, total_ns;
} times;

typedef struct call {
	uint32_t caller, next; /* next: of the same callee; 0: none */
	times t;
} call;

typedef struct function {
	times t;
	uint32_t callers; /* the first of its calls; 0: none */
	uint32_t open;	  /* how often it is on the path */
	bool used;
} function;

/* A thread and a range of one name are two functions. */
static uint32_t function_of(const path_node *node)
{
	return 2 * node->name + (node->depth == 0);
}

/* --- marshal */

static void put_long(dck_sink *out, uint32_t v)
{
	const char bytes[4] = {(char)(v & 0xff), (char)(v >> 8 & 0xff), (char)(v >> 16 & 0xff),
			       (char)(v >> 24)};
	sink_put(out, bytes, sizeof bytes);
}

/* An integer: 31 bits, or a sign and digits of 15 bits. */
static void put_int(dck_sink *out, uint64_t v)
{
	uint32_t n = 0;

	if (v <= INT32_MAX) {
		sink_put(out, "i", 1);
		put_long(out, (uint32_t)v);
		return;
	}
	for (uint64_t left = v; left; left >>= 15)
		n++;
	sink_put(out, "l", 1);
	put_long(out, n);
	for (; v; v >>= 15) {
		const char digit[2] = {(char)(v & 0xff), (char)(v >> 8 & 0x7f)};
		sink_put(out, digit, sizeof digit);
	}
}

static void put_seconds(dck_sink *out, uint64_t ns)
{
	const double v = (double)ns / 1e9;
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	sink_put(out, "g", 1);
	put_long(out, (uint32_t)bits);
	put_long(out, (uint32_t)(bits >> 32));
}

static void put_text(dck_sink *out, const char *text, size_t n)
{
	sink_put(out, "u", 1);
	put_long(out, (uint32_t)n);
	sink_put(out, text, n);
}

static void put_tuple(dck_sink *out, uint32_t n)
{
	sink_put(out, "(", 1);
	put_long(out, n);
}

static void put_function(trace_out *o, uint32_t id)
{
	const kept_name name = paths_text(o, id / 2);
	const char *file = id % 2 ? "thread" : "~"; /* "~": of no file, as Python's own functions */

	put_tuple(o->sink, 3);
	put_text(o->sink, file, strlen(file));
	put_int(o->sink, 0);
	put_text(o->sink, name.text, name.n);
}

/* --- sums */

static void add(times *t, const path_node *node, bool outermost)
{
	t->calls += node->calls;
	t->primitive += outermost ? node->calls : 0;
	t->self_ns += node->self_ns;
	t->total_ns += outermost ? node->total_ns : 0;
}

/* The sums of one caller of a function; NULL: no memory. */
static call *call_of(kept_table *calls, kept_map *rows, uint32_t *n, function *callee,
		     uint32_t caller, uint32_t id)
{
	const uint64_t key = (uint64_t)caller << 32 | id;
	const uint32_t row = kept_map_find(rows, key);

	if (row)
		return kept_find(calls, row);
	call *made = kept_row(calls, *n + 1);
	if (!made || !kept_map_put(rows, key, *n + 1))
		return NULL;
	*made = (call){.caller = caller, .next = callee->callers};
	callee->callers = ++*n;
	return made;
}

static bool add_up(trace_out *o, function *functions, kept_table *calls)
{
	uint32_t path[PATHS_DEPTH_MAX + 1], depth = 0, ncalls = 0;
	kept_map rows = {0};
	bool ok = true;

	for (uint32_t n = paths_next(o, 0); ok && n; n = paths_next(o, n)) {
		const path_node *node = paths_node(o, n);
		const uint32_t id = function_of(node);
		function *f = &functions[id];
		while (depth > node->depth)
			functions[path[--depth]].open--;
		f->used = true;
		add(&f->t, node, f->open == 0);
		if (node->depth > 0) {
			call *c = call_of(calls, &rows, &ncalls, f,
					  function_of(paths_node(o, node->parent)), id);
			ok = c != NULL;
			if (c)
				add(&c->t, node, f->open == 0);
		}
		f->open++;
		path[depth++] = id;
	}
	kept_map_done(&rows);
	return ok;
}

static void put_all(trace_out *o, const function *functions, const kept_table *calls)
{
	sink_put(o->sink, "{", 1);
	for (uint32_t i = 0; i < 2 * (o->names.n + 1); i++) {
		const function *f = &functions[i];
		if (!f->used)
			continue;
		put_function(o, i);
		put_tuple(o->sink, 5);
		put_int(o->sink, f->t.primitive);
		put_int(o->sink, f->t.calls);
		put_seconds(o->sink, f->t.self_ns);
		put_seconds(o->sink, f->t.total_ns);
		sink_put(o->sink, "{", 1);
		for (uint32_t k = f->callers; k;) {
			const call *c = kept_find(calls, k);
			put_function(o, c->caller);
			put_tuple(o->sink, 4);
			put_int(o->sink, c->t.calls);
			put_int(o->sink, c->t.primitive);
			put_seconds(o->sink, c->t.self_ns);
			put_seconds(o->sink, c->t.total_ns);
			k = c->next;
		}
		sink_put(o->sink, "0", 1);
	}
	sink_put(o->sink, "0", 1);
}

static dck_status pstats_close(trace_out *o, dck_err *err)
{
	kept_table calls = {.row_bytes = sizeof(call)};
	function *functions;

	paths_end(o);
	functions = mem_zalloc(2 * ((size_t)o->names.n + 1), sizeof *functions);
	if (functions && add_up(o, functions, &calls))
		put_all(o, functions, &calls);
	else
		o->failed = true;
	mem_free(functions);
	kept_table_done(&calls);
	return paths_close(o, err);
}

const trace_format trace_pstats = {
    .name = "pstats",
    .suffix = ".pstats",
    .help = "for Python's pstats and snakeviz; sums by function",
    .open = paths_open,
    .track = paths_track,
    .intern = paths_intern,
    .events = paths_events,
    .close = pstats_close,
};
