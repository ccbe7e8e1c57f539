/* callgrind_write.c - writes call paths in Callgrind's format, for callgrind_annotate and
 * KCachegrind: each function's self weights and its calls.
 *
 * Those programs sum over callees, which counts recursion repeatedly. So, like Callgrind's
 * --separate-recs, a recursive function has a separate name: name'2, name'3. Source:
 * https://valgrind.org/docs/manual/cl-format.html
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/id_table.h"
#include "base/mem.h"
#include "base/sink.h"
#include "profiler/write/tree_format.h"

#include <inttypes.h>

typedef struct callgrind_writing {
	const form_doc *d;
	const form_tree *f;
	uint32_t *open;	     /* by function: how often it is on the path */
	hash_map numbers;    /* ids, by function and depth of recursion */
	string_table places; /* files and modules, prefixed by a letter for the kind */
	uint32_t nnumbers, nplaces;
	size_t
	    calls; /* column; none: 0 calls, as Callgrind has for a function that it saw inside */
	bool modules, failed;
} callgrind_writing;

/* "fl=(2) a.c" the first time, later "fl=(2)". */
static void put_place(callgrind_writing *w, const char *what, char kind, const char *text)
{
	char key[STRING_NAME_MAX];
	size_t n = 1;

	text = text && *text ? text : "???";
	key[0] = kind;
	for (; text[n - 1] && n < sizeof key; n++)
		key[n] = text[n - 1];
	const uint32_t number = string_table_intern(&w->places, key, n);
	const bool written = number <= w->nplaces;

	w->nplaces = written ? w->nplaces : number;
	sink_fmt(w->d->sink, "%s=(%" PRIu32 ")", what, number);
	if (!written) {
		sink_text(w->d->sink, " ");
		form_put_line(w->d->sink, text, 0);
	}
	sink_text(w->d->sink, "\n");
}

/* fn=(3) name'2 the first time, later fn=(3) alone; where it is before it. */
static void callgrind_put_function(callgrind_writing *w, bool called, uint32_t node, uint32_t level)
{
	const dck_frame *f = form_frame(w->f, node);
	const uint64_t key = (uint64_t)call_tree_function(&w->f->c, node) << 32 | level;
	uint32_t number = hash_map_find(&w->numbers, key);
	const bool written = number != 0;

	if (!written) {
		number = ++w->nnumbers;
		w->failed |= !hash_map_put(&w->numbers, key, number);
	}
	if (!w->f->threads) {
		if (w->modules)
			put_place(w, called ? "cob" : "ob", 'o', f->module);
		put_place(w, called ? "cfi" : "fl", 'f', f->file);
	}
	sink_fmt(w->d->sink, "%s=(%" PRIu32 ")", called ? "cfn" : "fn", number);
	if (!written) {
		sink_text(w->d->sink, " ");
		form_put_line(w->d->sink, f->name && *f->name ? f->name : "???", 0);
		if (level > 1)
			sink_fmt(w->d->sink, "'%" PRIu32, level);
	}
	sink_text(w->d->sink, "\n");
}

static uint32_t callgrind_line_of(const dck_frame *f)
{
	return f->line ? f->line : f->start_line;
}

/* Returns 1 if calls were not counted: without calls the readers attribute callees to the function
 * itself. */
static int64_t callgrind_calls_of(const callgrind_writing *w, uint32_t node)
{
	const size_t n = w->f->t.ncolumns;
	const int64_t calls = w->calls < n ? form_integer(w->f->t.weights[node * n + w->calls]) : 1;

	return calls > 0 ? calls : 1;
}

static void callgrind_put_node(callgrind_writing *w, uint32_t node)
{
	const form_tree *f = w->f;
	const size_t ncolumns = f->t.ncolumns;
	const dck_frame *frame = form_frame(f, node);

	callgrind_put_function(w, false, node, w->open[call_tree_function(&f->c, node)]);
	sink_fmt(w->d->sink, "%" PRIu32 " %" PRId64 "\n", callgrind_line_of(frame),
		 tree_format_weight(f, node));
	for (uint32_t c = f->c.child[node]; c != CALL_NONE; c = f->c.next[c]) {
		const dck_frame *called = form_frame(f, c);

		callgrind_put_function(w, true, c, w->open[call_tree_function(&f->c, c)] + 1);
		sink_fmt(w->d->sink, "calls=%" PRId64 " %" PRIu32 "\n%" PRIu32 " %" PRId64 "\n",
			 callgrind_calls_of(w, c),
			 called->start_line ? called->start_line : called->line,
			 callgrind_line_of(frame),
			 form_integer(f->c.total[c * ncolumns + f->weight]));
	}
	sink_text(w->d->sink, "\n");
}

static void callgrind_put_head(const callgrind_writing *w)
{
	const dck_column *column = &w->f->t.columns[w->f->weight];
	dck_sink *out = w->d->sink;
	int64_t sum = 0;

	for (uint32_t n = 0; n < w->f->t.nnodes; n++)
		if (__builtin_add_overflow(sum, tree_format_weight(w->f, n), &sum))
			sum = INT64_MAX;
	sink_text(out, "# callgrind format\nversion: 1\ncreator: deepclock " DCK_VERSION "\n");
	if (w->d->command) {
		sink_text(out, "cmd: ");
		form_put_line(out, w->d->command, 0);
		sink_text(out, "\n");
	}
	sink_text(out, "positions: line\nevents: ");
	form_put_line(out, column->unit == DCK_UNIT_NS ? "ns" : column->key, ' ');
	sink_fmt(out, "\nsummary: %" PRId64 "\n\n%s", sum, w->f->threads ? "fl=(1) ranges\n" : "");
}

/* callgrind_annotate takes functions of one name and file for one. */
static dck_frame callgrind_key_of(const dck_frame *f)
{
	return (dck_frame){.name = f->name, .file = f->file};
}

static dck_status callgrind_write_trees(const form_doc *d, dck_err *err)
{
	const form_tree *f = &d->trees[0];
	callgrind_writing w = {.d = d, .f = f, .calls = call_tree_column(&f->t, "calls")};
	uint32_t last = CALL_NONE;

	DCK_TRY(string_table_init(&w.places, err));
	w.open = mem_zalloc((size_t)f->c.nfunctions + 1, sizeof *w.open);
	for (size_t i = 0; i < f->t.nframes; i++)
		w.modules |= f->t.frames[i].module != NULL;
	callgrind_put_head(&w);
	for (uint32_t n = f->c.first; n != CALL_NONE && w.open; n = call_tree_next(&f->c, n)) {
		for (; last != f->t.nodes[n].parent; last = f->t.nodes[last].parent)
			w.open[call_tree_function(&f->c, last)]--;
		w.open[call_tree_function(&f->c, n)]++;
		callgrind_put_node(&w, n);
		last = n;
	}
	const bool failed = w.failed || !w.open || string_table_failed(&w.places);
	hash_map_done(&w.numbers);
	string_table_done(&w.places);
	mem_free(w.open);
	DCK_NEED(!failed, err, "for the call paths");
	return DCK_OK;
}

const tree_format form_callgrind = {
    .write = callgrind_write_trees, .key = callgrind_key_of, .whole = true};
