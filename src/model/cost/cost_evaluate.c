/* cost_evaluate.c - cost of an operator beyond its rule: number of executions, memory traffic and
 * parameters; and the sums over a model.
 *
 * Example: in a Loop of 10 rounds MatMul(a [4,8], w [8,16]) has the rule's 512 MACs 10 times, reads
 * 128 bytes and writes 256 bytes in each round, and brings the 128 parameters of w, and reads their
 * 512 bytes, once. An operator whose outputs are empty reads nothing.
 *
 * Invariants: an operator that an engine computes once (`folded`) costs nothing; the cost of
 * an operator that calls a function is the cost of the operators inside. Each initializer is
 * counted once, for the first operator that uses it. A sum with an absent part is absent, with that
 * part's reason.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"
#include "model/cost/origin.h"
#include "base/dtype.h"
#include "base/id_table.h"

#include <string.h>

static sym_int cost_bytes_of(op *o, const val *v)
{
	unsigned bits = v ? dtype_onnx_bits(v->dtype) : 0;

	if (!v)
		return sym_const(0);
	if (v->kind == VAL_SEQUENCE && v->items_known) {
		sym_int sum = sym_const(0);
		for (size_t i = 0; i < v->nitems; i++)
			sum = sym_add(o->nums, sum, cost_bytes_of(o, v->items[i]));
		return sum;
	}
	if (v->kind == VAL_TENSOR && v->dtype == ONNX_STRING)
		return sym_unknown(o->nums, "'%s' holds text, which has no fixed size", v->name);
	if (!bits && v->kind == VAL_TENSOR && v->rank >= 0)
		return sym_unknown(o->nums, "the type of '%s' is not known", v->name);
	if (!bits) /* not 0 times the elements: an unknown size is never 0 */
		return sym_unknown(o->nums, "the size of '%s' is not known%s%s",
				   v->name ? v->name : "?", v->why ? ": " : "",
				   v->why ? v->why : "");
	sym_int bits_all = sym_mul(o->nums, op_elements(o, v), sym_const(bits));
	return bits % 8 ? sym_ceil_div(o->nums, bits_all, sym_const(8))
			: sym_mul(o->nums, op_elements(o, v), sym_const(bits / 8));
}

static bool traffic_reads(op_traffic traffic)
{
	return traffic == TRAFFIC_ALL || traffic == TRAFFIC_FIRST || traffic == TRAFFIC_PICK;
}

static void price_traffic(op *o)
{
	cost_op *c = o->made;
	op_traffic traffic = c->row ? c->row->traffic : TRAFFIC_ALL;
	sym_int read = sym_const(0), constants = sym_const(0), write = sym_const(0);
	size_t reader = ++o->infer->priced; /* an input that it takes twice is read once */

	for (size_t i = 0; i < c->nout && traffic != TRAFFIC_VIEW && traffic != TRAFFIC_CONTROL;
	     i++)
		write = sym_add(o->nums, write, cost_bytes_of(o, c->out[i]));
	const bool empty = c->nout > 0 && sym_is(write, 0); /* it has nothing to compute */
	for (size_t i = 0; i < c->nin && !empty && traffic_reads(traffic); i++) {
		if (!c->in[i] || c->in[i]->reader == reader)
			continue;
		c->in[i]->reader = reader;
		if (i == 0 && traffic == TRAFFIC_PICK)
			read = sym_add(o->nums, read, cost_bytes_of(o, op_out(o, 0)));
		else if (i > 0 && traffic == TRAFFIC_FIRST)
			break;
		else if (c->in[i]->constant)
			constants = sym_add(o->nums, constants, cost_bytes_of(o, c->in[i]));
		else
			read = sym_add(o->nums, read, cost_bytes_of(o, c->in[i]));
	}
	c->read_bytes = sym_add(o->nums, sym_mul(o->nums, c->constant_reads, constants),
				sym_mul(o->nums, c->times, read));
	c->write_bytes = sym_mul(o->nums, c->times, write);
}

void cost_evaluate_op(op *o)
{
	cost_op *c = o->made;

	c->macs = c->flops = c->read_bytes = c->write_bytes = sym_const(0);
	if (c->folded || c->expanded)
		return;
	price_traffic(o);
	if (!c->row)
		op_cost_unknown(o, "deepclock has no rule for the operator %s", o->node->op);
	else if (c->row->cost)
		c->row->cost(o);
	c->macs_each = c->macs;
	c->flops_each = c->flops;
	c->macs = sym_mul(o->nums, c->times, c->macs);
	c->flops = sym_mul(o->nums, c->times, c->flops);
}

/* --- parameters --- */

static char role_of(const op_row *row, size_t i)
{
	size_t n = row && row->roles ? strlen(row->roles) : 0;

	return !n ? '.' : row->roles[i < n ? i : n - 1];
}

/* PyTorch's exporter gives such names to tensors that its constant folding made. */
static bool made_by_folding(const val *v)
{
	return v->name && strncmp(v->name, "onnx::", 6) == 0;
}

/* What is known of a tensor. A body that is walked for each round has new values each time, and the
 * same tensors. */
enum { TENSOR_COUNTED = 1, TENSOR_PACKED = 2, TENSOR_SETTING = 4 };

/* Sets the bits of a tensor; returns those that it had. */
static uint32_t tensor_mark(infer *in, hash_map *seen, const onnx_tensor *x, uint32_t bits)
{
	const uint32_t had = hash_map_find(seen, (uintptr_t)x);

	if (!hash_map_put(seen, (uintptr_t)x, had | bits))
		infer_fail_memory(in);
	return had;
}

/* Returns whether a tensor in that role is a parameter, and changes the role where the file states
 * another one. An int32 is a bias of quantised weights, unless the operator is a look-up: then
 * it is an index. */
static bool is_parameter(infer *in, const cost_op *c, const val *v, uint32_t had, char *role)
{
	const bool real = onnx_dtype_real(v->dtype), many = v->tensor->elements > 1;
	const bool index = v->dtype == ONNX_INT64 || v->dtype == ONNX_BOOL ||
			   v->dtype == ONNX_STRING ||
			   (v->dtype == ONNX_INT32 && c->row && c->row->traffic == TRAFFIC_PICK);
	const bool trained = *role == 'p' && !index && (v->initializer || many);
	const bool summed = *role == '.' && v->initializer && many && !(had & TENSOR_SETTING) &&
			    real && !made_by_folding(v);
	bool counted;

	switch (origins_take(in->origins, v->tensor, &counted)) {
	case ORIGIN_UNSTATED:
		return trained || summed;
	case ORIGIN_PARAMETER:
		return trained || real;
	case ORIGIN_MOVED:
		*role = counted ? 'c' : *role;
		return (trained || summed) && !counted;
	case ORIGIN_MIXED:
		if (summed && !counted)
			in->result->folded_parameters += (size_t)v->tensor->elements;
		return trained && !counted;
	case ORIGIN_UNKNOWN:
		return trained;
	case ORIGIN_BUFFER:
		*role = real && (*role == 'p' || *role == '.') ? 'b' : *role;
		return trained && !real;
	case ORIGIN_CONSTANT:
		break;
	}
	*role = real && *role == 'p' ? '.' : *role;
	return trained && !real;
}

static void count_initializer(infer *in, hash_map *seen, cost_op *c, val *v, char role)
{
	sym_table *t = in->nums;
	const onnx_tensor *x = v->tensor;
	sym_int elements;

	if (!x || x->elements > INT64_MAX || x->bytes > INT64_MAX)
		return;
	const uint32_t had = hash_map_find(seen, (uintptr_t)x);
	if (had & TENSOR_COUNTED)
		return;
	elements = sym_const((int64_t)x->elements);
	const bool many = x->elements > 1, param = is_parameter(in, c, v, had, &role);
	if (!param && role != 'b' && !v->initializer)
		return; /* the value of a Constant is counted once a trained input uses it */
	tensor_mark(in, seen, x, TENSOR_COUNTED);
	c->weight_bytes = sym_add(t, c->weight_bytes, sym_const((int64_t)x->bytes));
	if (param)
		c->params = sym_add(t, c->params, elements);
	else if (role == 'b')
		c->buffers = sym_add(t, c->buffers, elements);
	else if (role == '.' && many && onnx_dtype_real(v->dtype))
		in->result->constant_floats += (size_t)x->elements;
}

/* Called twice: first for the inputs that a role calls trained or running values (`strong`), also
 * where they were only reshaped on the way; then for the rest. */
static void count_role(infer *in, hash_map *seen, cost_op *c, bool strong)
{
	for (size_t i = 0; i < c->nin; i++) {
		val *v = c->in[i];
		char role = role_of(c->row, i);
		if (!v || strong != (role == 'p' || role == 'b'))
			continue;
		if (v->tensor) {
			count_initializer(in, seen, c, v, role);
		} else if (v->from && strong) {
			/* What was computed with other constants first is not the weight. */
			if (origins_find(in->origins, v->from->tensor) == ORIGIN_MIXED)
				role = '.';
			count_initializer(in, seen, c, v->from, role);
		}
	}
}

/* Marks the tensors that configure an operator, such as scales of quantised weights, also where
 * they were reshaped on the way: they are not parameters. */
static void settings_mark(infer *in, hash_map *seen, const cost_op *c)
{
	for (size_t i = 0; i < c->nin; i++) {
		const val *v = c->in[i];

		if (v && !v->tensor)
			v = v->from;
		if (v && v->tensor && role_of(c->row, i) == 'c')
			tensor_mark(in, seen, v->tensor, TENSOR_SETTING);
	}
}

static void count_packed(infer *in, hash_map *seen, cost_op *c)
{
	for (const cost_packed *p = c->packed; p; p = p->next)
		if (!(tensor_mark(in, seen, p->of, TENSOR_PACKED) & TENSOR_PACKED))
			c->params = sym_add(in->nums, c->params, p->elements);
}

static void parameters_count(infer *in)
{
	hash_map seen = {0};

	in->origins = origins_read(in->model, in->arena);
	for (size_t i = 0; i < in->nops; i++)
		if (!in->ops[i].expanded) {
			settings_mark(in, &seen, &in->ops[i]);
			count_packed(in, &seen, &in->ops[i]);
		}
	for (int strong = 1; strong >= 0; strong--)
		for (size_t i = 0; i < in->nops; i++)
			if (!in->ops[i].expanded)
				count_role(in, &seen, &in->ops[i], strong);
	hash_map_done(&seen);
}

/* --- memory --- */

/* The value whose memory v is. Chains of views may be long, so each search halves them. */
static val *owner(val *v)
{
	while (v->base && v->base->base)
		v = v->base = v->base->base;
	return v->base ? v->base : v;
}

/* The last use of an output of the model: it is needed until the end. */
#define KEPT (SIZE_MAX - 1)

/* Returns the last operator inside each operator, which is itself where none is inside; NULL: no
 * memory. */
static size_t *inside_last(infer *in)
{
	size_t *last = mem_arena_array(in->arena, in->nops, sizeof *last);

	/* Operators inside come after the operator that encloses them. */
	for (size_t i = in->nops; last && i-- > 0;) {
		const size_t around = in->ops[i].inside;

		last[i] = last[i] > i ? last[i] : i;
		if (around < i && last[around] < last[i])
			last[around] = last[i];
	}
	return last;
}

/* Returns whether the operators directly inside `around`, of which `c` is one, may run in several
 * rounds. The branches of an If do not. */
static bool runs_again(const cost_op *around, const cost_op *c)
{
	return !c->branch && !around->expanded && !sym_is(c->rounds, 1);
}

/* Returns the operator after which the use of v by operator i ends: a value from outside of a loop
 * is needed again in each round. */
static size_t use_end(const infer *in, const size_t *last, const val *v, size_t i)
{
	const bool before_all = v->def == SIZE_MAX && v->input;
	size_t end = i;

	if (!before_all && v->def == SIZE_MAX) /* the state of a round, or made by nothing */
		return end;
	for (size_t at = i; in->ops[at].inside < at; at = in->ops[at].inside) {
		const size_t around = in->ops[at].inside;

		if (!before_all && v->def > around)
			break;
		if (runs_again(&in->ops[around], &in->ops[at]))
			end = last[around];
	}
	return end;
}

/* The same for what Scan takes a step of in each round; its other inputs are only the first state.
 */
static size_t scanned_end(const infer *in, const size_t *last, const cost_op *c, size_t i, size_t k)
{
	const int64_t scans = onnx_attribute_int(c->node, "num_scan_inputs", 0);

	return strcmp(c->node->op, "Scan") == 0 && scans > 0 && k + (uint64_t)scans >= c->nin
		   ? last[i]
		   : use_end(in, last, c->in[k], i);
}

/* The most bytes of activations that are needed at one time. Each value lives from the operator
 * that makes it to the last one that uses it, in the order of the file; views take no memory. */
static sym_int peak(infer *in)
{
	cost_result *r = in->result;
	sym_table *t = in->nums;
	int64_t alive = 0, most = 0, *bytes = mem_arena_array(in->arena, in->nops, sizeof *bytes);
	const size_t *last = inside_last(in);

	if (!bytes || !last)
		return sym_unknown(t, "out of memory");
	/* Repeated walks of bodies left marks of operators that were discarded. */
	for (size_t i = 0; i < in->nops; i++)
		for (size_t k = 0; k < in->ops[i].nin; k++)
			if (in->ops[i].in[k])
				owner(in->ops[i].in[k])->last_use = SIZE_MAX;
	for (size_t i = 0; i < in->nops; i++)
		for (size_t k = 0; k < in->ops[i].nin; k++) {
			val *v = in->ops[i].in[k];
			if (!v)
				continue;
			const size_t end = scanned_end(in, last, &in->ops[i], i, k);
			if (owner(v)->last_use == SIZE_MAX || owner(v)->last_use < end)
				owner(v)->last_use = end;
		}
	for (size_t i = 0; i < r->noutputs; i++)
		owner(r->outputs[i])->last_use = KEPT;
	for (size_t i = 0; i < r->ninputs + in->nops; i++) {
		bool input = i < r->ninputs;
		size_t at = input ? SIZE_MAX : i - r->ninputs;
		val **made = input ? &r->inputs[i] : in->ops[at].out;
		for (size_t k = 0; k < (input ? 1 : in->ops[at].nout); k++) {
			val *v = made[k];
			if (!v || v->constant || v->base)
				continue;
			op o = {.nums = t, .arena = in->arena};
			sym_int size = cost_bytes_of(&o, v);
			if (!sym_known(size)) {
				const char *why = sym_unknown_reason(size);
				if (!why)
					why = sym_why_fresh(t, size);
				return why ? sym_unknown(t, "%s", why)
					   : sym_unknown(t,
							 "a size is %s, which --dim makes a number",
							 sym_text(t, size));
			}
			if (__builtin_add_overflow(alive, size.v, &alive))
				return sym_unknown(t, "it does not fit into 64 bits");
			/* A value that nothing uses dies at once; but an input belongs to the
			 * caller and stays. */
			size_t end = v->last_use == SIZE_MAX && !input ? at : v->last_use;
			if (end < in->nops)
				bytes[end] += size.v;
		}
		most = alive > most ? alive : most;
		if (!input)
			alive -= bytes[at];
	}
	return sym_const(most);
}

static void sum_into(sym_table *t, sym_int *sum, sym_int *known, sym_int x, size_t *unknown)
{
	bool open = sym_unknown_reason(x) || sym_why_fresh(t, x);

	*sum = sym_add(t, *sum, x);
	if (!open && known)
		*known = sym_add(t, *known, x);
	if (open && unknown)
		(*unknown)++;
}

void price_total(infer *in)
{
	cost_result *r = in->result;
	sym_table *t = in->nums;

	r->macs = r->flops = r->params = r->buffers = r->weight_bytes = sym_const(0);
	r->read_bytes = r->write_bytes = r->macs_known = r->flops_known = sym_const(0);
	parameters_count(in);
	for (size_t i = 0; i < in->nops; i++) {
		cost_op *c = &in->ops[i];
		size_t open = 0;
		sum_into(t, &r->macs, &r->macs_known, c->macs, &open);
		sum_into(t, &r->flops, &r->flops_known, c->flops, &open);
		r->unknown += open > 0;
		sum_into(t, &r->params, NULL, c->params, NULL);
		sum_into(t, &r->buffers, NULL, c->buffers, NULL);
		sum_into(t, &r->weight_bytes, NULL, c->weight_bytes, NULL);
		sum_into(t, &r->read_bytes, NULL, c->read_bytes, NULL);
		sum_into(t, &r->write_bytes, NULL, c->write_bytes, NULL);
	}
	price_bounds(in);
	r->peak_activation_bytes = peak(in);
}
