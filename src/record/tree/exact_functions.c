/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree/exact_functions.h"
#include "base/err.h"
#include "base/mem.h"
#include "record/tree/path_trie.h"

#include <string.h>

bool exact_functions_find(exact_functions *e, const dck_record *r, const dck_tree *t, size_t weight)
{
	static const char *const keys[EXACT_COLUMNS] = {"name",	     "file", "line", "calls",
							"primitive", "self", "total"};

	*e = (exact_functions){.table = dck_record_table(r, "functions")};
	if (!e->table || !dck_record_note(r, "profile-paths") || strcmp(t->name, "calls") != 0 ||
	    strcmp(t->columns[weight].key, keys[EXACT_SELF]) != 0)
		return false;
	for (size_t i = 0; i < EXACT_COLUMNS; i++) {
		size_t k = 0;

		while (k < e->table->ncolumns && strcmp(e->table->columns[k].key, keys[i]) != 0)
			k++;
		if (k == e->table->ncolumns)
			return false;
		e->columns[i] = k;
	}
	return true;
}

static const dck_value *exact_value_at(const exact_functions *e, size_t row, size_t column)
{
	return &e->table->cells[row * e->table->ncolumns + e->columns[column]].value;
}

/* An absent cell counts 0: functions without it have no weight. */
static double exact_number_at(const exact_functions *e, size_t row, size_t column)
{
	const double v = dck_value_number(exact_value_at(e, row, column));

	return v > 0 ? v : 0;
}

static const char *exact_text_at(const exact_functions *e, size_t row, size_t column)
{
	const dck_value *v = exact_value_at(e, row, column);

	return v->kind == DCK_VALUE_TEXT && v->as.text[0] ? v->as.text : NULL;
}

exact_function exact_functions_get(const exact_functions *e, size_t row)
{
	const char *name = exact_text_at(e, row, EXACT_NAME);
	const double line = exact_number_at(e, row, EXACT_LINE);
	const uint32_t start = line < UINT32_MAX ? (uint32_t)line : 0;

	return (exact_function){.frame = {.name = name ? name : "",
					  .file = exact_text_at(e, row, EXACT_FILE),
					  .line = start,
					  .start_line = start},
				.calls = exact_number_at(e, row, EXACT_CALLS),
				.primitive = exact_number_at(e, row, EXACT_PRIMITIVE),
				.self_ns = exact_number_at(e, row, EXACT_SELF),
				.total_ns = exact_number_at(e, row, EXACT_TOTAL)};
}

dck_status exact_functions_tree(const exact_functions *e, const dck_tree *t, dck_tree *ret,
				dck_err *err)
{
	const size_t n = e->table->nrows, self = call_tree_column(t, "self");
	const size_t calls = call_tree_column(t, "calls");
	dck_frame *frames = mem_zalloc(n + 1, sizeof *frames);
	dck_tree_node *nodes = mem_zalloc(n + 1, sizeof *nodes);
	double *weights = mem_zalloc(n + 1, t->ncolumns * sizeof *weights);
	dck_tree made = *t;

	made.frames = frames;
	made.nodes = nodes;
	made.weights = weights;
	made.nframes = made.nnodes = n;
	if (!frames || !nodes || !weights) {
		path_trie_tree_done(&made);
		return ERR_NO_MEMORY(err, "for the functions of a profile");
	}
	for (size_t i = 0; i < n; i++) {
		const exact_function f = exact_functions_get(e, i);

		frames[i] = f.frame;
		nodes[i] = (dck_tree_node){.parent = DCK_TREE_ROOT, .frame = (uint32_t)i};
		weights[i * t->ncolumns + self] = f.self_ns;
		if (calls < t->ncolumns)
			weights[i * t->ncolumns + calls] = f.calls;
	}
	*ret = made;
	return DCK_OK;
}

void exact_functions_sum(const exact_functions *e, const call_tree *c, size_t weight,
			 function_weights *s)
{
	const size_t calls = call_tree_column(c->t, "calls");

	for (uint32_t i = 0; i < c->t->nnodes; i++) {
		const exact_function f = exact_functions_get(e, i);
		const size_t at = call_tree_function(c, i) * c->t->ncolumns;

		s->total[at + weight] += f.total_ns - f.self_ns;
		if (calls < c->t->ncolumns)
			s->outer[at + calls] += f.primitive - f.calls;
	}
}
