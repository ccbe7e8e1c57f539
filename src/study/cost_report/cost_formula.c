/* cost_formula.c - the cost of a model with open sizes: a polynomial, its largest terms, and the
 * operators that contribute to them.
 *
 * sym_terms() gives the monomials of the MACs, by descending number of factors, at most
 * NUM_TERMS_MAX; the first TERMS_SHOWN are columns. The polynomial of each operator is matched with
 * them monomial by monomial (equal ones are the same object) and summed by operator and by type.
 * Shares refer to the first term, which dominates for large sizes. A cost that depends on a branch
 * of an If has no formula.
 *
 * An input's size with a name longer than SYMBOL_MAX gets a letter that the model does not use
 * itself; names are replaced only as whole words. O(operators * NUM_TERMS_MAX). Texts are in the
 * arena of c; without memory a text is NULL or empty.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/cost_report/cost_formula.h"
#include "base/units.h"
#include "base/name_index.h"
#include "measure/subject/shape_resolve.h"
#include <stdlib.h>
#include <string.h>

#define TERMS_SHOWN 3u
#define OPERATORS   20u
#define TITLE_MAX   20u
#define SYMBOL_MAX  16u
#define LETTERS	    16u

/* Returns how many terms n has; 0 where it is not a polynomial of sizes. A branch of an If is not a
 * size. */
static size_t open_terms(model_cost *c, sym_int n, sym_term terms[NUM_TERMS_MAX], bool *ret_exact)
{
	sym_table *t = c->cost->nums;

	if (sym_known(n) || sym_unknown_reason(n))
		return 0;
	const size_t count = sym_terms(t, n, terms, ret_exact);
	for (size_t i = 0; i < count; i++)
		if (sym_has_choice(t, terms[i].of))
			return 0;
	return count;
}

/* --- long names */

/* Returns how many of A to Z the model does not use itself, at most LETTERS. */
static size_t letters_free(model_cost *c)
{
	size_t n = 0;

	for (char text[2] = "A"; text[0] <= 'Z' && n < LETTERS; text[0]++)
		n += !sym_symbol_used(c->cost->nums, text);
	return n;
}

/* Lists the sizes of inputs, each once, whose names are too long for a formula. Without a free
 * letter a name stays long. */
static bool long_names(model_cost *c, name_index *ret)
{
	const cost_result *r = c->cost;
	const size_t most = letters_free(c);
	const char *name, *what;

	if (!name_index_init(ret, c->arena, LETTERS))
		return false;
	for (size_t i = 0; i < r->ninputs; i++)
		for (int k = 0; k < r->inputs[i]->rank && ret->n < most; k++)
			if (sym_factor(r->nums, r->inputs[i]->dims[k], 0, &name, &what) && !what &&
			    strlen(name) > SYMBOL_MAX &&
			    name_index_find(ret, name) == NAME_INDEX_NONE)
				name_index_intern(ret, name);
	return ret->n > 0;
}

/* Returns the letter of the i-th of them; letters that the model uses itself are skipped. */
static char letter_of(model_cost *c, size_t i)
{
	char text[2] = "A";

	for (;; text[0]++) {
		if (sym_symbol_used(c->cost->nums, text))
			continue;
		if (i-- == 0)
			return text[0];
	}
}

/* Returns `text` with `letter` for `name` where that is a whole word. */
static const char *name_replace(model_cost *c, const char *text, const char *name, char letter)
{
	static const char part[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	const size_t n = strlen(name);
	const char *at = text, *done = "";

	while (done && (at = strstr(at, name))) {
		if ((at > text && strchr(part, at[-1])) || (at[n] && strchr(part, at[n]))) {
			at += n;
			continue;
		}
		done = mem_arena_fmt(c->arena, "%s%.*s%c", done, (int)(at - text), text, letter);
		text = at += n;
	}
	return done ? mem_arena_fmt(c->arena, "%s%s", done, text) : NULL;
}

/* Returns a product of sizes, with letters for long names; multiplied: a number is put before it.
 * NULL: no memory. */
static const char *product_text(model_cost *c, sym_int product, bool multiplied)
{
	const char *text = multiplied ? sym_product_text(c->cost->nums, product)
				      : sym_text(c->cost->nums, product);
	name_index list;

	if (!long_names(c, &list))
		return text;
	for (size_t i = 0; i < list.n && text; i++) {
		const char *bracketed = mem_arena_fmt(c->arena, "(%s)", list.name[i]);

		text = bracketed ? name_replace(c, text, bracketed, letter_of(c, i)) : NULL;
		text = text ? name_replace(c, text, list.name[i], letter_of(c, i)) : NULL;
	}
	return text;
}

const char *cost_open_letters(model_cost *c)
{
	const char *text = "";
	name_index list;

	if (!long_names(c, &list))
		return text;
	for (size_t i = 0; i < list.n && text; i++)
		text = mem_arena_fmt(c->arena, "%s%s %c is %s", text, i ? "," : ";",
				     letter_of(c, i), list.name[i]);
	return text;
}

const char *cost_formula_text(model_cost *c, sym_int n)
{
	sym_term terms[NUM_TERMS_MAX];
	bool exact = true;
	size_t count = open_terms(c, n, terms, &exact);
	const char *text = exact ? "" : "about ";

	for (size_t i = 0; i < count && text; i++) {
		if (i == TERMS_SHOWN) {
			text = mem_arena_fmt(c->arena, "%s + ...", text);
			break;
		}
		double v = terms[i].coef; /* 0.00521 as well as 17.6 G */
		text = mem_arena_fmt(c->arena, "%s%s%s", text,
				     !i	     ? ""
				     : v < 0 ? " - "
					     : " + ",
				     UNITS_SI(i && v < 0 ? -v : v, ""));
		if (text && terms[i].degree)
			text = mem_arena_fmt(c->arena, "%s * %s", text,
					     product_text(c, terms[i].of, true));
	}
	return count ? text : NULL;
}

/* --- the operators that make it */

typedef struct formula_part {
	const char *name, *type;
	size_t nodes, first;
	double term[TERMS_SHOWN]; /* its multiples of the model's largest terms */
} formula_part;

typedef struct formula_terms {
	model_cost *c;
	sym_term term[NUM_TERMS_MAX];
	size_t n; /* of them shown */
} formula_terms;

static int part_order(const void *va, const void *vb)
{
	const formula_part *a = va, *b = vb;

	for (size_t i = 0; i < TERMS_SHOWN; i++)
		if (a->term[i] < b->term[i] || a->term[i] > b->term[i])
			return a->term[i] > b->term[i] ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static void tally_part_add(const formula_terms *w, formula_part *p, sym_int macs)
{
	sym_term terms[NUM_TERMS_MAX];
	bool exact;
	size_t n = sym_terms(w->c->cost->nums, macs, terms, &exact);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < w->n; k++)
			if (sym_same(terms[i].of, w->term[k].of))
				p->term[k] += terms[i].coef;
	p->nodes++;
}

static bool has_any(const formula_part *p)
{
	for (size_t i = 0; i < TERMS_SHOWN; i++)
		if (p->term[i] < 0 || p->term[i] > 0)
			return true;
	return false;
}

/* Makes key and title of a term's column; the title is the product, where it is short. */
static void term_column(const formula_terms *w, size_t i, dck_column *ret)
{
	const char *text = w->term[i].degree ? product_text(w->c, w->term[i].of, false) : "fixed";

	*ret = (dck_column){.key = mem_arena_fmt(w->c->arena, "term_%zu", i + 1),
			    .title = text && strlen(text) <= TITLE_MAX
					 ? text
					 : mem_arena_fmt(w->c->arena, "term %zu", i + 1),
			    .unit = DCK_UNIT_ONE};
}

static void tally_parts_put(record_builder *b, const formula_terms *w, const char *name,
			    const char *title, formula_part *parts, size_t n, size_t most)
{
	const bool nodes = parts[0].type == NULL;
	dck_column columns[3 + TERMS_SHOWN] = {
	    {.key = nodes ? "type" : "operator", .title = nodes ? "type" : "operator"},
	    {.key = nodes ? "nodes" : "type",
	     .title = nodes ? "nodes" : "type",
	     .unit = nodes ? DCK_UNIT_ONE : DCK_UNIT_NONE},
	    {.key = "share", .title = "share", .unit = DCK_UNIT_ONE}};

	for (size_t i = 0; i < w->n; i++)
		term_column(w, i, &columns[3 + i]);
	qsort(parts, n, sizeof *parts, part_order);
	record_table(b, name, title, columns, 3 + w->n);
	for (size_t i = 0; i < n && i < most && has_any(&parts[i]); i++) {
		record_cell_text(b, parts[i].name);
		if (nodes)
			record_cell_int(b, (int64_t)parts[i].nodes);
		else
			record_cell_text(b, parts[i].type);
		record_cell_real(b, parts[i].term[0] / w->term[0].coef);
		for (size_t k = 0; k < w->n; k++)
			record_cell_real(b, parts[i].term[k]);
	}
}

/* Returns a part for each type; *ret_n: how many. */
static formula_part *types_make(const formula_terms *w, size_t *ret_n)
{
	model_cost *c = w->c;
	formula_part *parts = mem_arena_array(c->arena, c->cost->nops, sizeof *parts);
	name_index seen;

	*ret_n = 0;
	if (!parts || !name_index_init(&seen, c->arena, c->cost->nops))
		return NULL;
	for (size_t i = 0; i < c->cost->nops; i++) {
		const cost_op *o = &c->cost->ops[i];
		const char *type = o->expanded ? NULL : model_cost_type(c, o->node);
		if (!type)
			continue;
		formula_part *p = &parts[name_index_intern(&seen, type)];
		if (!p->name)
			*p = (formula_part){.name = type, .first = i};
		tally_part_add(w, p, o->macs);
	}
	*ret_n = seen.n;
	return parts;
}

static void tally_types_put(record_builder *b, const formula_terms *w)
{
	size_t n;
	formula_part *parts = types_make(w, &n);

	if (n)
		tally_parts_put(b, w, "cost/types", "MACs by operator type", parts, n, SIZE_MAX);
}

static void operators_put(record_builder *b, const formula_terms *w)
{
	model_cost *c = w->c;
	formula_part *parts = mem_arena_array(c->arena, c->cost->nops, sizeof *parts);
	size_t n = 0;

	for (size_t i = 0; i < c->cost->nops && parts; i++) {
		const cost_op *o = &c->cost->ops[i];
		if (o->expanded || sym_is(o->macs, 0))
			continue;
		parts[n] = (formula_part){.name = model_cost_name(c, o->node),
					  .type = model_cost_type(c, o->node),
					  .first = i};
		tally_part_add(w, &parts[n++], o->macs);
	}
	if (n)
		tally_parts_put(b, w, "cost/operators", "MACs by operator", parts, n, OPERATORS);
}

/* --- the sizes themselves */

/* Records the terms whose columns have a number instead of a name. */
static void facts_terms(record_builder *b, const formula_terms *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const char *text = sym_text(w->c->cost->nums, w->term[i].of);
		const char *key = mem_arena_fmt(w->c->arena, "term_%zu", i + 1);
		if (key && strlen(text) > TITLE_MAX)
			record_fact_text(b, "cost", key, text);
	}
}

/* Returns "seq+1" of a dimension that the model names so; NULL: it has a plain name or none. */
static const char *declared_as_sum(const val *v, int axis)
{
	const char *symbol = v->declared ? v->declared[axis].symbol : NULL;

	return symbol && strchr(symbol, '+') ? symbol : NULL;
}

/* Returns whether the sizes of `given` make n a number. */
static bool all_given(model_cost *c, const name_index *given, sym_int n)
{
	const char *name, *what;
	sym_term terms[NUM_TERMS_MAX];
	bool exact;
	const size_t count = sym_known(n) ? 0 : sym_terms(c->cost->nums, n, terms, &exact);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; sym_factor(c->cost->nums, terms[i].of, k, &name, &what); k++)
			if (name_index_find(given, name) == NAME_INDEX_NONE)
				return false;
	return true;
}

/* Returns the list with " --dim NAME=1" at its end, unless `seen` has the name. */
static const char *dim_to_give(model_cost *c, name_index *seen, const char *list, const char *name)
{
	if (name_index_find(seen, name) != NAME_INDEX_NONE)
		return list;
	name_index_intern(seen, name);
	const char *pair = mem_arena_fmt(c->arena, "%s=1", name),
		   *word = pair ? subject_shell_word(c->arena, pair) : NULL;

	return word ? mem_arena_fmt(c->arena, "%s --dim %s", list, word) : NULL;
}

/* Returns whether an axis has an open size that --dim cannot name. */
static bool dim_needs_shape(const cost_result *r, const val *v, int axis)
{
	const char *name, *what;

	return !declared_as_sum(v, axis) && sym_factor(r->nums, v->dims[axis], 0, &name, &what) &&
	       !what && !onnx_symbol_named(v->declared ? v->declared[axis].symbol : NULL);
}

/* Returns the list with " --shape 'x=1x?x4'" of an input that has such a size, whose names it adds
 * to `seen`. */
static const char *shape_to_give(model_cost *c, name_index *seen, const char *list, const val *v)
{
	const char *name, *what, *shape = "";
	size_t n = 0;

	for (int k = 0; k < v->rank && shape; k++) {
		const char *by = k ? "x" : "";

		if (dim_needs_shape(c->cost, v, k)) {
			sym_factor(c->cost->nums, v->dims[k], 0, &name, &what);
			name_index_intern(seen, name);
			shape = mem_arena_fmt(c->arena, "%s%s1", shape, by);
			n++;
		} else if (sym_known(v->dims[k])) {
			shape =
			    mem_arena_fmt(c->arena, "%s%s%lld", shape, by, (long long)v->dims[k].v);
		} else {
			shape = mem_arena_fmt(c->arena, "%s%s?", shape, by);
		}
	}
	if (n == 0 || !shape)
		return list;
	const char *pair = mem_arena_fmt(c->arena, "%s=%s", v->name, shape),
		   *word = pair ? subject_shell_word(c->arena, pair) : NULL;

	return word ? mem_arena_fmt(c->arena, "%s --shape %s", list, word) : NULL;
}

/* Returns " --dim N=1 --dim 'a b=1'": all sizes of inputs that the model leaves open. */
static const char *dims_to_give(model_cost *c, size_t *ret_n)
{
	const cost_result *r = c->cost;
	const char *list = "", *name, *what;
	size_t most = 0;
	name_index seen;

	for (size_t i = 0; i < r->ninputs; i++)
		most += r->inputs[i]->rank > 0 ? (size_t)r->inputs[i]->rank : 0;
	if (!name_index_init(&seen, c->arena, most))
		return "";
	for (size_t i = 0; i < r->ninputs && list; i++)
		list = shape_to_give(c, &seen, list, r->inputs[i]);
	for (size_t i = 0; i < r->ninputs; i++)
		for (int k = 0; k < r->inputs[i]->rank && list; k++)
			if (!declared_as_sum(r->inputs[i], k) &&
			    !dim_needs_shape(r, r->inputs[i], k) &&
			    sym_factor(r->nums, r->inputs[i]->dims[k], 0, &name, &what) && !what)
				list = dim_to_give(c, &seen, list, name);
	/* --dim takes the names that the model writes: "seq+1" where no input has "seq" alone. */
	for (size_t i = 0; i < r->ninputs; i++)
		for (int k = 0; k < r->inputs[i]->rank && list; k++)
			if (declared_as_sum(r->inputs[i], k) &&
			    !all_given(c, &seen, r->inputs[i]->dims[k]))
				list =
				    dim_to_give(c, &seen, list, declared_as_sum(r->inputs[i], k));
	*ret_n = seen.n;
	return list ? list : "";
}

/* Returns "u1: elements of 'x' that are not zero": the sizes of terms that depend on values. */
static const char *sizes_of_values(const formula_terms *w, size_t *ret_n)
{
	const char *list = "", *name, *what;
	name_index seen;

	if (!name_index_init(&seen, w->c->arena, TERMS_SHOWN * 16))
		return "";
	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; k < 16 && list; k++) {
			if (!sym_factor(w->c->cost->nums, w->term[i].of, k, &name, &what))
				break;
			if (!what || name_index_find(&seen, name) != NAME_INDEX_NONE)
				continue;
			list = mem_arena_fmt(w->c->arena, "%s%s%s: %s", list, seen.n ? "; " : "",
					     name, what);
			name_index_intern(&seen, name);
		}
	*ret_n = seen.n;
	return list ? list : "";
}

static void tally_notes(record_builder *b, const formula_terms *w)
{
	size_t n = 0, values = 0;
	const char *list = dims_to_give(w->c, &n), *of_values = sizes_of_values(w, &values);

	if (n)
		record_note(b, "open-sizes",
			    "the model leaves %zu size%s open, and its cost is a formula of %s: "
			    "for numbers add%s with your sizes in place of 1",
			    n, n == 1 ? "" : "s", n == 1 ? "it" : "them", list);
	if (values)
		record_note(b, "sizes-of-values", "%s on what is computed (%s): %s",
			    values == 1 ? "a size depends" : "sizes depend", of_values,
			    w->c->observed ? "the run did not show it"
			    : values == 1  ? "--run takes it from one run"
					   : "--run takes them from one run");
}

/* Returns the largest terms of the MACs, of all operators or, where one is not known, of the
 * others. */
static formula_terms whole_of(model_cost *c)
{
	formula_terms w = {.c = c};
	bool exact;
	sym_int macs = c->cost->macs;

	if (sym_unknown_reason(macs))
		macs = c->cost->macs_known;
	w.n = open_terms(c, macs, w.term, &exact);
	if (w.n > TERMS_SHOWN)
		w.n = TERMS_SHOWN;
	return w;
}

const char *cost_open_most(model_cost *c, double *ret_share, bool *ret_several)
{
	formula_terms w = whole_of(c);
	size_t n = 0, most = 0;
	formula_part *parts = w.n ? types_make(&w, &n) : NULL;

	for (size_t i = 1; i < n; i++)
		if (part_order(&parts[i], &parts[most]) < 0)
			most = i;
	*ret_share = n ? parts[most].term[0] / w.term[0].coef : 0;
	*ret_several = w.n > 1;
	return n ? parts[most].name : NULL;
}

static void facts_letters(record_builder *b, model_cost *c)
{
	name_index list;
	const char *key;

	if (!long_names(c, &list))
		return;
	for (size_t i = 0; i < list.n; i++)
		if ((key = mem_arena_fmt(c->arena, "size/%c", letter_of(c, i))))
			record_fact_text(b, "cost", key, list.name[i]);
}

void cost_open_put(record_builder *b, model_cost *c)
{
	if (sym_known(c->cost->macs) && sym_known(c->cost->flops))
		return;
	formula_terms w = whole_of(c);
	facts_letters(b, c);
	if (w.n) {
		facts_terms(b, &w);
		tally_types_put(b, &w);
		operators_put(b, &w);
	}
	tally_notes(b, &w);
}
