/* pstats_write.c - writes call paths as a Python profile, for pstats and snakeviz: a dictionary in
 * Python's marshal encoding,
 *
 *	(file, line, name): (primitive calls, calls, own seconds, seconds, callers)
 *
 * where callers has the same numbers for each caller. Only a non-recursive call counts as
 * primitive, and only its time as the function's. If the paths are estimated, from such a file, the
 * numbers of functions are those of the file, and of callers those of the estimate. A weight that
 * is not a time is written unscaled, and calls that were not counted as 0. Source: Lib/cProfile.py,
 * Lib/pstats.py and Python/marshal.c of CPython
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/id_table.h"
#include "base/mem.h"
#include "base/sink.h"
#include "profiler/write/tree_format.h"

#include <string.h>

typedef struct times {
	double calls, primitive, self, total;
} times;

typedef struct pstats_call {
	uint32_t caller, next; /* next: of the same callee; 0: none */
	times t;
} pstats_call;

typedef struct pstats_function {
	times t;
	uint32_t callers; /* the first of its calls; 0: none */
} pstats_function;

typedef struct pstats_writing {
	dck_sink *out;
	const call_tree *c;
	size_t weight, calls; /* columns */
	double scale;	      /* factor from the weight to seconds */
	pstats_function *functions;
	id_table rows; /* rows are `call`, from 1 */
	uint32_t nrows;
} pstats_writing;

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

static void put_seconds(dck_sink *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	sink_put(out, "g", 1);
	put_long(out, (uint32_t)bits);
	put_long(out, (uint32_t)(bits >> 32));
}

static void pstats_put_text(dck_sink *out, const char *text)
{
	char shown[STRING_NAME_MAX];
	const size_t n = utf8_sanitize_copy(shown, text, strlen(text));

	sink_put(out, "u", 1);
	put_long(out, (uint32_t)n);
	sink_put(out, shown, n);
}

static void put_tuple(dck_sink *out, uint32_t n)
{
	sink_put(out, "(", 1);
	put_long(out, n);
}

static void pstats_put_function(const pstats_writing *w, uint32_t number)
{
	const dck_frame *f = &w->c->functions[number].frame;

	put_tuple(w->out, 3);
	pstats_put_text(w->out, f->file);
	put_int(w->out, f->start_line);
	pstats_put_text(w->out, f->name);
}

/* --- sums */

/* Functions are distinguished by the fields of the format. Without a file: the module, or "~" like
 * Python's built-in functions. */
static dck_frame pstats_key_of(const dck_frame *f)
{
	return (dck_frame){.name = f->name,
			   .file = f->file     ? f->file
				   : f->module ? f->module
					       : "~",
			   .start_line = f->start_line ? f->start_line : f->line};
}

static void times_accumulate(const pstats_writing *w, times *t, uint32_t node)
{
	const size_t n = w->c->t->ncolumns, at = node * n;
	const double calls = w->calls < n ? w->c->t->weights[at + w->calls] : 0;

	t->calls += calls;
	t->self += w->c->t->weights[at + w->weight] * w->scale;
	if (w->c->recursive[node])
		return;
	t->primitive += calls;
	t->total += w->c->total[at + w->weight] * w->scale;
}

/* The sums of one caller of a function; NULL: no memory. */
static pstats_call *pstats_call_of(pstats_writing *w, hash_map *rows, uint32_t caller,
				   uint32_t callee)
{
	const uint64_t key = (uint64_t)caller << 32 | callee;
	const uint32_t row = hash_map_find(rows, key);

	if (row)
		return id_table_find(&w->rows, row);
	pstats_call *made = id_table_row(&w->rows, w->nrows + 1);
	if (!made || !hash_map_put(rows, key, w->nrows + 1))
		return NULL;
	*made = (pstats_call){.caller = caller, .next = w->functions[callee].callers};
	w->functions[callee].callers = ++w->nrows;
	return made;
}

static bool add_up(pstats_writing *w)
{
	hash_map rows = {0};
	bool ok = true;

	for (uint32_t n = w->c->first; ok && n != CALL_NONE; n = call_tree_next(w->c, n)) {
		const uint32_t parent = w->c->t->nodes[n].parent;
		const uint32_t callee = call_tree_function(w->c, n);

		times_accumulate(w, &w->functions[callee].t, n);
		if (parent == DCK_TREE_ROOT)
			continue;
		pstats_call *c = pstats_call_of(w, &rows, call_tree_function(w->c, parent), callee);
		ok = c != NULL;
		if (c)
			times_accumulate(w, &c->t, n);
	}
	hash_map_done(&rows);
	return ok;
}

static void exact_times_set(pstats_writing *w, const form_doc *d)
{
	for (size_t i = 0; i < d->nexact; i++) {
		const exact_function *f = &d->exact[i];
		const dck_frame key = pstats_key_of(&f->frame);
		const uint32_t at = call_tree_function_find(w->c, &key);

		if (at != CALL_NONE)
			w->functions[at].t = (times){f->calls, f->primitive, f->self_ns * w->scale,
						     f->total_ns * w->scale};
	}
}

static uint64_t pstats_count(double v)
{
	return v > 0 ? (uint64_t)form_integer(v) : 0;
}

static void put_all(const pstats_writing *w)
{
	sink_put(w->out, "{", 1);
	for (uint32_t i = 0; i < w->c->nfunctions; i++) {
		const pstats_function *f = &w->functions[i];

		if (!w->c->functions[i].paths)
			continue;
		pstats_put_function(w, i);
		put_tuple(w->out, 5);
		put_int(w->out, pstats_count(f->t.primitive));
		put_int(w->out, pstats_count(f->t.calls));
		put_seconds(w->out, f->t.self);
		put_seconds(w->out, f->t.total);
		sink_put(w->out, "{", 1);
		for (uint32_t k = f->callers; k;) {
			const pstats_call *c = id_table_find(&w->rows, k);

			pstats_put_function(w, c->caller);
			put_tuple(w->out, 4);
			put_int(w->out, pstats_count(c->t.calls));
			put_int(w->out, pstats_count(c->t.primitive));
			put_seconds(w->out, c->t.self);
			put_seconds(w->out, c->t.total);
			k = c->next;
		}
		sink_put(w->out, "0", 1);
	}
	sink_put(w->out, "0", 1);
}

static dck_status pstats_write_trees(const form_doc *d, dck_err *err)
{
	const form_tree *f = &d->trees[0];
	pstats_writing w = {.out = d->sink,
			    .c = &f->c,
			    .weight = f->weight,
			    .calls = call_tree_column(&f->t, "calls"),
			    .scale = f->t.columns[f->weight].unit == DCK_UNIT_NS ? 1e-9 : 1,
			    .functions =
				mem_zalloc((size_t)f->c.nfunctions + 1, sizeof *w.functions),
			    .rows = {.row_bytes = sizeof(pstats_call)}};
	const bool ok = w.functions && add_up(&w);

	if (ok) {
		exact_times_set(&w, d);
		put_all(&w);
	}
	mem_free(w.functions);
	id_table_done(&w.rows);
	DCK_NEED(ok, err, "for the functions of call paths");
	return DCK_OK;
}

const tree_format form_pstats = {.write = pstats_write_trees, .key = pstats_key_of};
