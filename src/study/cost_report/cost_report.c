/* cost_report.c - dck_cost(): static cost of a model, as a record: parameters, FLOPs and bytes.
 *
 *	deepclock cost model.onnx --batch 8
 *
 * src/model/cost counts, model_cost.h opens the model and turns numbers into values, and this file
 * chooses what the record shows. Nothing is timed. The model runs only with --run, once, to learn
 * the sizes that depend on values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/cost.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "record/tree/module_tree.h"
#include "study/cost_report/cost_formula.h"
#include "study/cost_report/model_cost.h"
#include "record/record_begin.h"
#include "measure/subject/subject_facts.h"
#include "study/cost_report/observed_shapes.h"
#include "study/cost_report/operator_roofs.h"
#include "base/units.h"
#include "model/cost/op.h"
#include "base/name_index.h"
#include "model/cost/flop_conventions.h"
#include <string.h>

/* "none", and the names of the counters in their order. */
const char *const dck_cost_peers[] = {"none",	 "torchvision", "fvcore",    "thop",
				      "ptflops", "calflops",	"onnx-tool", NULL};
_Static_assert(sizeof dck_cost_peers / sizeof *dck_cost_peers == CONVENTIONS + 2, "a name each");
_Static_assert((int)CONVENTIONS < (int)DCK_COST_PEERS_MAX, "dck_cost_price has a number each");

bool dck_cost_peer_get(int as, dck_cost_peer *ret)
{
	const flop_convention *p = convention_find(as);

	if (p)
		*ret = (dck_cost_peer){p->name, p->help, p->unit, p->hidden, p->partial};
	return p != NULL;
}

const dck_opt dck_cost_options[] = {
    DCK_OPTION(CHOICE, dck_cost_config, as, "as", "COUNTER", "none",
	       "also the count by another counter's convention, and the difference by operator "
	       "type",
	       .choices = dck_cost_peers),
    DCK_FLAG(dck_cost_config, backward, "backward",
	     "also the cost of a training step, by a stated formula"),
    DCK_FLAG(dck_cost_config, run, "run",
	     "run the model once, to resolve sizes that depend on "
	     "values"),
    DCK_FLAG(dck_cost_config, strict, "strict",
	     "fail (exit status 1) when the cost of an operator is not known"),
    {0},
};

void dck_cost_config_init_sized(dck_cost_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_cost_options);
}

void cost_metric_put(record_builder *b, model_cost *c, const char *tag, sym_int n, const char *how)
{
	dck_value v = model_cost_value(c, n);
	const char *open = cost_formula_text(c, n);

	if (v.kind == DCK_VALUE_INT)
		record_metric_int(b, tag, v.as.i, how);
	else if (open)
		record_metric_open(b, tag, open);
	else
		record_metric_absent(b, tag, v.as.text);
}

#define LIMIT_MAX 60u /* characters of a formula in a message */

/* Returns whether n is a sum of products only, without floors and maxima, for which terms are
 * approximate. */
static bool is_plain(model_cost *c, sym_int n)
{
	sym_term terms[NUM_TERMS_MAX];
	bool exact = true;

	return sym_terms(c->cost->nums, n, terms, &exact) > 0 && exact;
}

/* Returns a limit short enough for a message: instead of a long formula its least value, or none.
 */
static sym_int limit_brief(model_cost *c, sym_int n, bool least)
{
	sym_table *t = c->cost->nums;

	if (sym_known(n) || sym_unknown_reason(n) || is_plain(c, n) ||
	    strlen(sym_text(t, n)) < LIMIT_MAX)
		return n;
	return least ? sym_const(sym_lower_bound(t, n) > 0 ? sym_lower_bound(t, n) : 0)
		     : sym_unknown(t, "its formula is long");
}

/* Returns "at least 24 and at most 60"; NULL: n has no informative limits. */
static const char *limits_text(model_cost *c, sym_int n, sym_int least, sym_int most,
			       const char *(*text)(model_cost *c, sym_int n))
{
	least = limit_brief(c, least, true);
	most = limit_brief(c, most, false);

	const bool above = !sym_is(least, 0) && !sym_unknown_reason(least),
		   below = !sym_unknown_reason(most);

	if (sym_known(n) || (!sym_unknown_reason(n) && !sym_why_fresh(c->cost->nums, n)) ||
	    (!above && !below))
		return NULL;
	return mem_arena_fmt(c->arena, "%s%s%s%s%s", above ? "at least " : "",
			     above ? text(c, least) : "", above && below ? " and " : "",
			     below ? "at most " : "", below ? text(c, most) : "");
}

static const char *exact_text(model_cost *c, sym_int n)
{
	return sym_text(c->cost->nums, n);
}

/* Writes a sum as cost_metric_put(); for an absent one, its bounds precede the reason. */
static void limited_put(record_builder *b, model_cost *c, const char *key, sym_int n, sym_int least,
			sym_int most, const char *how)
{
	sym_table *t = c->cost->nums;
	const char *tag = mem_arena_fmt(c->arena, "cost/%s", key),
		   *limits = limits_text(c, n, least, most, exact_text),
		   *facts[] = {mem_arena_fmt(c->arena, "%s_at_least", key),
			       mem_arena_fmt(c->arena, "%s_at_most", key)};
	const sym_int limit[] = {limit_brief(c, least, true), limit_brief(c, most, false)};

	if (!tag || !facts[0] || !facts[1])
		return;
	for (size_t i = 0; i < 2 && limits; i++) {
		if (sym_unknown_reason(limit[i]))
			continue;
		if (sym_known(limit[i]))
			record_fact_int(b, "cost", facts[i], DCK_UNIT_ONE, limit[i].v);
		else
			record_fact_text(b, "cost", facts[i], sym_text(t, limit[i]));
	}
	if (limits && !cost_formula_text(c, n))
		n = sym_unknown(t, "%s; %s", limits, model_cost_value(c, n).as.text);
	cost_metric_put(b, c, tag, n, how);
}

static void totals(record_builder *b, model_cost *c)
{
	const cost_result *r = c->cost;
	size_t nodes = 0;

	for (size_t i = 0; i < r->nops; i++)
		nodes += !r->ops[i].expanded;
	limited_put(b, c, "macs", r->macs, r->macs_least, r->macs_most,
		    "convolutions, matrix products, recurrent and attention operators; no bias");
	limited_put(b, c, "flops", r->flops, r->flops_least, r->flops_most,
		    "2 x MACs, bias, and 1 for each elementary operation on an element");
	cost_metric_put(b, c, "cost/params", r->params, "initializers in trained roles, each once");
	cost_metric_put(b, c, "cost/buffers", r->buffers, "running mean and variance");
	cost_metric_put(b, c, "cost/weight_bytes", r->weight_bytes,
			"initializers that are used, each once");
	cost_metric_put(b, c, "cost/read_bytes", r->read_bytes,
			"each operator reads its inputs once");
	cost_metric_put(b, c, "cost/write_bytes", r->write_bytes,
			"each operator writes its outputs once");
	cost_metric_put(b, c, "cost/peak_activation_bytes", r->peak_activation_bytes,
			"liveness in the order of the file, inputs included, views in place");
	record_metric_if(nodes > 0, b, "cost/coverage",
			 RECORD_REAL((double)(nodes - r->unknown) / (double)nodes),
			 "nodes whose MACs and FLOPs are known, over all nodes",
			 "the model has no operators");
	sym_int bytes = sym_add(r->nums, r->read_bytes, r->write_bytes);
	record_metric_if(sym_known(bytes) && sym_known(r->flops) && bytes.v > 0, b,
			 "cost/intensity", RECORD_REAL((double)r->flops.v / (double)bytes.v),
			 "FLOPs over bytes read and written", "FLOPs or bytes are not known");
}

static void fact_symbolic(record_builder *b, model_cost *c, const char *key, sym_int n)
{
	sym_table *t = c->cost->nums;

	if (!sym_known(n) && !sym_unknown_reason(n))
		record_fact_text(b, "cost", key, sym_text(t, n));
}

static void tally_facts(record_builder *b, model_cost *c, const dck_subject *s)
{
	const cost_result *r = c->cost;
	const onnx_model *m = c->model;
	size_t folded = 0;

	record_fact_text(b, "subject", "kind", "model");
	record_fact_text(b, "subject", "name", s->text);
	if (m->producer && *m->producer)
		record_fact_fmt(b, "subject", "producer", "%s%s%s", m->producer,
				m->producer_version && *m->producer_version ? " " : "",
				m->producer_version ? m->producer_version : "");
	record_fact_int(b, "subject", "opset", DCK_UNIT_ONE, onnx_opset_version(m));
	record_fact_int(b, "subject", "nodes", DCK_UNIT_ONE, (int64_t)m->graph->nnodes);
	record_fact_int(b, "subject", "functions", DCK_UNIT_ONE, (int64_t)m->nfunctions);
	for (size_t i = 0; i < r->ninputs; i++) {
		const val *v = r->inputs[i];
		const char *text = "", *key = mem_arena_fmt(c->arena, "input/%s", v->name);
		for (int k = 0; k < v->rank && text; k++)
			text = mem_arena_fmt(c->arena, "%s%s%s", text, k ? "x" : "",
					     sym_text(r->nums, v->dims[k]));
		if (key && text)
			record_fact_fmt(b, "subject", key, "%s%s%s", v->rank < 0 ? "?" : text,
					*text ? " " : "", cost_dtype_text(v->dtype, c->arena));
	}
	for (size_t i = 0; i < r->nops; i++)
		folded += r->ops[i].folded;
	record_fact_text(b, "cost", "convention",
			 "MAC: one multiply and one add of a product or convolution, 2 FLOPs; "
			 "zero padding counts; causal masks are not halved; "
			 "'deepclock cost --operators' has every formula");
	record_fact_int(b, "cost", "operators", DCK_UNIT_ONE, (int64_t)r->nops);
	record_fact_int(b, "cost", "folded", DCK_UNIT_ONE, (int64_t)folded);
	record_fact_int(b, "cost", "unknown", DCK_UNIT_ONE, (int64_t)r->unknown);
	fact_symbolic(b, c, "macs_formula", r->macs);
	fact_symbolic(b, c, "flops_formula", r->flops);
	fact_symbolic(b, c, "read_bytes_formula", r->read_bytes);
	fact_symbolic(b, c, "write_bytes_formula", r->write_bytes);
}

/* Returns whether sizes or values could make the operator's cost known. */
static bool sizes_decide(const cost_result *r, const cost_op *o, sym_int open)
{
	if (sym_why_fresh(r->nums, open))
		return true;
	for (size_t i = 0; i < o->nin; i++) {
		const val *v = o->in[i];

		if (v && v->rank < 0)
			return true;
		for (int k = 0; v && k < v->rank; k++)
			if (!sym_known(v->dims[k]))
				return true;
	}
	return false;
}

/* Operators without a known cost, each type once, with the first reason. */
static void tally_note_unknown(record_builder *b, model_cost *c, bool run)
{
	const cost_result *r = c->cost;
	const char *list = "";
	size_t listed = 0;
	bool resolvable = false;

	const char *known = cost_formula_text(c, r->macs_known);

	/* Data-dependent sizes in formulas: the note sizes-of-values covers them. */
	if (!r->unknown || (cost_formula_text(c, r->macs) && cost_formula_text(c, r->flops)))
		return;
	for (size_t i = 0; i < r->nops && list; i++) {
		const cost_op *o = &r->ops[i];
		sym_int open = sym_unknown_reason(o->macs) || sym_why_fresh(r->nums, o->macs)
				   ? o->macs
				   : o->flops;
		if (!sym_unknown_reason(open) && !sym_why_fresh(r->nums, open))
			continue;
		resolvable |= sizes_decide(r, o, open);
		if (listed == 4)
			continue;
		list = mem_arena_fmt(c->arena, "%s%s%s '%s' (%s)", list, listed++ ? "; " : "",
				     o->node->op, model_cost_name(c, o->node),
				     model_cost_value(c, open).as.text);
	}
	record_note(b, "cost-unknown",
		    "the cost of %zu of %zu operators is not known, "
		    "so the totals are absent (%s%s); known operators alone: %s MACs",
		    r->unknown, r->nops, list ? list : "", listed < r->unknown ? "; ..." : "",
		    known ? known : sym_text(r->nums, r->macs_known));
	if (!resolvable)
		return;
	record_remedy(
	    b, "--shape, --dim and --input decide sizes and branches%s",
	    run ? "; this run did not show them"
		: " ('deepclock inspect' proposes them), --run takes them from one real run");
}

static void note_folded(record_builder *b, model_cost *c, const flop_convention *p)
{
	size_t merged = convention_merged_norms(c->cost);
	char in_doubt[96] = "";

	if (c->cost->folded_parameters)
		snprintf(in_doubt, sizeof in_doubt,
			 "; %zu of them replace parameters, whose number the file does not state",
			 c->cost->folded_parameters);
	if (p && merged) {
		record_note_as(
		    b, DCK_WARN, "norms-merged",
		    "the exporter merged BatchNormalization into %zu %s: %s counts "
		    "them apart, which this graph no longer shows, and so does the number of "
		    "parameters",
		    merged, COUNTED(merged, "convolution", "convolutions"), p->name);
		record_remedy(b, "export in training mode to keep them");
	} else if (merged)
		record_note(b, "norms-merged",
			    "the exporter merged BatchNormalization into %zu %s: "
			    "the network as trained has more parameters",
			    merged, COUNTED(merged, "convolution", "convolutions"));
	if (p && p->hidden)
		record_note(b, "peer-hidden", "a graph does not show %s: %s", p->name, p->hidden);
	if (c->cost->constant_floats)
		record_note(b, "constants-folded",
			    "%zu %s that constant folding made %s counted "
			    "as neither parameters nor buffers%s",
			    c->cost->constant_floats,
			    COUNTED(c->cost->constant_floats, "number of an initializer",
				    "numbers of initializers"),
			    COUNTED(c->cost->constant_floats, "is", "are"), in_doubt);
}

/* Returns the FLOPs of a whole training step. */
static sym_int backward(record_builder *b, model_cost *c)
{
	sym_table *t = c->cost->nums;
	convention_backward back;
	sym_int all;

	convention_backward_count(c->cost, &back);
	all = sym_add(t, c->cost->flops, back.flops);
	cost_metric_put(
	    b, c, "cost/backward_macs", back.macs,
	    "as many MACs again for each operand of a product whose gradient is needed");
	cost_metric_put(b, c, "cost/training_flops", all,
			"forward and backward; optimizer and recomputation not included");
	return all;
}

const char *cost_amount_text(model_cost *c, sym_int n, const char *unit)
{
	const char *open = cost_formula_text(c, n);

	if (sym_known(n))
		return mem_arena_fmt(c->arena, "%s %s", UNITS_SI((double)n.v, ""), unit);
	return open ? mem_arena_fmt(c->arena, "%s %s", open, unit)
		    : mem_arena_fmt(c->arena, "%s not known", unit);
}

/* `limits` replace the text of a sum, or follow its formula. */
static const char *limited(model_cost *c, sym_int n, const char *limits, const char *unit)
{
	const char *text = cost_amount_text(c, n, unit);

	if (!limits || !text)
		return text;
	return cost_formula_text(c, n) ? mem_arena_fmt(c->arena, "%s (%s)", text, limits)
				       : mem_arena_fmt(c->arena, "%s %s", limits, unit);
}

static const char *short_text(model_cost *c, sym_int n)
{
	const char *open = is_plain(c, n) ? cost_formula_text(c, n) : NULL;

	if (sym_known(n))
		return mem_arena_dup(c->arena, UNITS_SI((double)n.v, ""));
	return open ? open : sym_text(c->cost->nums, n);
}

const char *cost_macs_text(model_cost *c)
{
	const cost_result *r = c->cost;

	return limited(c, r->macs, limits_text(c, r->macs, r->macs_least, r->macs_most, short_text),
		       "MACs");
}

/* Returns the operator type with the most known MACs, and its share. */
static const char *most_macs(model_cost *c, double *ret_share)
{
	const cost_result *r = c->cost;
	double *sum = mem_arena_array(c->arena, r->nops, sizeof *sum), all = 0;
	size_t most = 0;
	name_index types;

	if (!sum || !name_index_init(&types, c->arena, r->nops))
		return NULL;
	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *o = &r->ops[i];
		const char *type = o->expanded ? NULL : model_cost_type(c, o->node);
		if (!type || !sym_known(o->macs))
			continue;
		size_t at = name_index_intern(&types, type);
		sum[at] += (double)o->macs.v;
		all += (double)o->macs.v;
		most = sum[at] > sum[most] ? at : most;
	}
	*ret_share = all > 0 ? sum[most] / all : 0;
	return all > 0 ? types.name[most] : NULL;
}

/* Returns `more` with one amount appended, NULL without memory. */
static const char *more_add(model_cost *c, const char *more, const char *what, sym_int n,
			    const char *unit)
{
	const char *text = cost_amount_text(c, n, unit);

	return more && what && text ? mem_arena_fmt(c->arena, "%s; %s %s", more, what, text) : NULL;
}

/* more: other requested amounts; NULL: none, or no memory, which the arena reports later. */
static void tally_answer_put(record_builder *b, model_cost *c, const char *more)
{
	const cost_result *r = c->cost;
	const bool known = sym_known(r->macs), open = !known && cost_formula_text(c, r->macs);
	const char *limits = limits_text(c, r->macs, r->macs_least, r->macs_most, short_text),
		   *macs = cost_macs_text(c),
		   *flops =
		       limited(c, r->flops,
			       limits_text(c, r->flops, r->flops_least, r->flops_most, short_text),
			       "FLOPs"),
		   *params = cost_amount_text(c, r->params, "parameters");
	double share = 0;
	bool several = false;
	const char *most = known  ? most_macs(c, &share)
			   : open ? cost_open_most(c, &share, &several)
				  : NULL;

	const bool almost = share > 0.9995 && share < 1; /* no others would have nothing */

	if (!macs || !flops || !params)
		return;
	if (more && open)
		more = mem_arena_fmt(c->arena, "%s%s", more, cost_open_letters(c));
	more = more ? more : "";
	if (limits && !open)
		record_answer(b, "%s (%.200s), %s%s", macs, model_cost_value(c, r->macs).as.text,
			      params, more);
	else if (!known && !open)
		record_answer(b, "MACs not known (%.200s), %s%s",
			      model_cost_value(c, r->macs).as.text, params, more);
	else if (most)
		record_answer(b, "%s, %s%s%s; %s carries %s%.1f %%%s%s", macs, open ? "" : flops,
			      open ? "" : ", ", params, most, almost ? ">" : "",
			      almost ? 99.9 : 100 * share, several ? " of the first term" : "",
			      more);
	else
		record_answer(b, "%s, %s%s%s%s", macs, open ? "" : flops, open ? "" : ", ", params,
			      more);
}

/* *ret_peer: the total by the convention `p`, 0 without one. */
static dck_status ops_put(record_builder *b, model_cost *c, const flop_convention *p,
			  device_roofs *roofs, sym_int *ret_peer, dck_err *err)
{
	cost_result *r = c->cost;
	sym_int sum = sym_const(0);

	for (size_t i = 0; i < r->nops; i++) {
		dck_op row;
		if (r->ops[i].expanded)
			continue;
		model_cost_op(c, &r->ops[i], &row);
		if (p) {
			sym_int n = convention_count(p, r, &r->ops[i]);
			sum = sym_add(r->nums, sum, n);
			row.peer = model_cost_value(c, n);
		}
		device_roofs_op(roofs, c, &r->ops[i], &row);
		record_op(b, &row);
	}
	if (p) {
		record_fact_text(b, "cost", "as", p->name);
		record_fact_fmt(b, "cost", "as_convention", "%s, as it counted in 2026", p->help);
		record_fact_text(b, "cost", "as_unit", p->unit);
		cost_metric_put(b, c, "cost/peer", sum, p->help);
	}
	if (mem_arena_failed(c->arena))
		DCK_FAIL(err, E_LIMIT, "the model's operators need more than %zu MiB",
			 COST_MEMORY_MAX >> 20);
	*ret_peer = sum;
	return DCK_OK;
}

static dck_status cost_write(record_builder *b, model_cost *c, const dck_subject *s,
			     const dck_cost_config *cfg, device_roofs *roofs, dck_err *err)
{
	const flop_convention *p = convention_find(cfg->as);
	const char *more = "", *bounds;
	sym_int peer;

	record_set_began(b, os_unix_ns());
	tally_facts(b, c, s);
	record_fact_options(b, "plan", dck_cost_options, cfg);
	totals(b, c);
	if (cfg->backward)
		more = more_add(c, more, "a training step takes", backward(b, c), "FLOPs");
	DCK_TRY(ops_put(b, c, p, roofs, &peer, err));
	if (p)
		more = more_add(c, more, mem_arena_fmt(c->arena, "%s counts", p->name), peer,
				mem_arena_fmt(c->arena, "%ss", p->unit));
	bounds = device_roofs_put(roofs, b, c);
	if (more && bounds && *bounds)
		more = mem_arena_fmt(c->arena, "%s%s", more, bounds);
	cost_open_put(b, c);
	tally_answer_put(b, c, more);
	if (c->rebatched.done)
		subject_facts_rebatched(b, &c->rebatched);
	tally_note_unknown(b, c, cfg->run);
	note_folded(b, c, p);
	return DCK_OK;
}

/* One run with every value an output. */
static dck_status real_run(const dck_subject *s, const dck_observer *watch, mem_arena *a,
			   tally_real *ret, dck_err *err)
{
	values_shape *shapes;
	size_t n;

	DCK_TRY(observed_shapes_run(s, watch, a, &shapes, &n, &ret->usual, err));
	ret->inputs = mem_arena_array(a, n, sizeof *ret->inputs);
	ret->values = mem_arena_array(a, n, sizeof *ret->values);
	ret->contents = mem_arena_array(a, n, sizeof *ret->contents);
	DCK_NEED(ret->inputs && ret->values && ret->contents, err, "for the shapes of %zu values",
		 n);
	for (size_t i = 0; i < n; i++) {
		cost_shape shape = {shapes[i].name, shapes[i].dtype,	  shapes[i].rank,
				    shapes[i].dims, shapes[i].has_number, shapes[i].number};
		if (shapes[i].known && shapes[i].input)
			ret->inputs[ret->ninputs++] = shape;
		else if (shapes[i].known)
			ret->values[ret->nvalues++] = shape;
		if (shapes[i].known && shapes[i].ints)
			ret->contents[ret->ncontents++] = (cost_content){
			    .name = shapes[i].name, .ints = shapes[i].ints, .n = shapes[i].n};
	}
	return DCK_OK;
}

/* The result is that of one run; which of its numbers another run could change. */
static void note_shown(record_builder *b, const cost_result *r, mem_arena *a)
{
	const char *list = "";

	for (size_t i = 0; i < r->nchoices && list; i++) {
		const cost_choice *c = &r->choices[i];
		const char *type = c->type;
		const bool branch = strcmp(type, "If") == 0, rounds = strcmp(type, "Loop") == 0;
		const char *key = mem_arena_fmt(a, "run_%s/%s",
						branch	 ? "branch"
						: rounds ? "rounds"
							 : "number",
						c->name);
		const char *text = !branch    ? mem_arena_fmt(a, "%lld", (long long)c->value)
				   : c->value ? "then_branch"
					      : "else_branch";
		if (!key || !text)
			return;
		record_fact_text(b, "cost", key, text);
		if (i < 3)
			list = mem_arena_fmt(a, "%s%s %s '%s' %s %s%s", list, i ? ";" : ":", type,
					     c->name,
					     rounds   ? "ran its body"
					     : branch ? "took"
						      : "took the value",
					     text,
					     !rounds	     ? ""
					     : c->value == 1 ? " time"
							     : " times");
	}
	const char *shapes =
	    r->filled && list ? mem_arena_fmt(a, "%s the shapes of %zu value%s", *list ? ";" : ":",
					      r->filled, r->filled == 1 ? "" : "s")
			      : "";
	if ((r->filled || r->nchoices) && list && shapes)
		record_note(b, "one-run",
			    "the cost is that of one run with these inputs, which decided the "
			    "sizes that depend on values%s%s%s: other inputs may have another "
			    "cost (--input gives them)",
			    list, r->nchoices > 3 ? "; ..." : "", shapes);
}

/* Notes values whose shape in the run differs from the inferred shape. */
static void note_run(record_builder *b, const dck_subject *s, const cost_result *r,
		     const tally_real *real, mem_arena *a)
{
	subject_facts_usual(b, s->text, real->usual);
	record_fact_int(b, "cost", "run_values", DCK_UNIT_ONE, (int64_t)real->nvalues);
	record_fact_int(b, "cost", "run_filled", DCK_UNIT_ONE, (int64_t)r->filled);
	record_fact_int(b, "cost", "run_differ", DCK_UNIT_ONE, (int64_t)r->differ);
	note_shown(b, r, a);
	if (r->differ)
		record_note(b, "shape-differs",
			    "the engine's run gave %zu %s another shape or type than the "
			    "rules, '%s' first: the costs of adjacent operators may be wrong",
			    r->differ, COUNTED(r->differ, "value", "values"), r->first_differing);
}

dck_status dck_cost(const dck_subject *s, const dck_cost_config *cfg, const dck_observer *watch,
		    dck_record **ret, dck_err *err)
{
	dck_cost_config own;
	model_cost c = {0};
	record_builder *b = NULL;
	mem_arena *a;
	tally_real real = {0};
	device_roofs roofs = {0};
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(cfg, &own, dck_cost_config_init, err, dck_cost_options));
	cfg = &own;
	a = mem_arena_new(0);
	status = a ? DCK_OK : ERR_NO_MEMORY(err, "for shapes");
	if (status == DCK_OK && cfg->run)
		status = real_run(s, watch, a, &real, err);
	DCK_NEXT(status, model_cost_open(&c, s, cfg->run ? &real : NULL, err));
	if (status == DCK_OK && strcmp(s->model.device ? s->model.device : "cpu", "cpu") != 0)
		status = device_roofs_measure(&roofs, s->model.device, watch, err);
	if (status == DCK_OK) {
		b = record_begin(cfg->title);
		status =
		    b ? cost_write(b, &c, s, cfg, &roofs, err) : ERR_NO_MEMORY(err, "for a record");
	}
	if (status == DCK_OK && cfg->run)
		note_run(b, s, c.cost, &real, c.arena);
	/* The record has copies; the tree needs memory too. */
	model_cost_close(&c);
	DCK_NEXT(status, module_tree_put(b, err));
	device_roofs_done(&roofs);
	mem_arena_free(a);
	return record_finish_if(status, b, ret, err);
}

/* A row whose cost is a formula states it; of the others only cost_each() counts. */
static const char *operator_formula(const op_row *row)
{
	if (row->how)
		return row->how;
	if (!row->cost)
		return "moves data, computes nothing";
	if (row->cost == cost_each && row->flops == 1)
		return "1 FLOP for each element";
	return row->cost == cost_by_values || row->cost == cost_all_by_values
		   ? "not known: it depends on values"
		   : "not known";
}

bool dck_cost_operator_get(size_t i, dck_cost_operator *ret)
{
	const char *domain;
	const op_row *row = op_row_at(i, &domain);

	if (!row)
		return false;
	*ret = (dck_cost_operator){domain, row->name, operator_formula(row)};
	return true;
}
