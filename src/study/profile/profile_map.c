/* profile_map.c - maps the nodes of a model to the operators of the optimised graph that an engine
 * ran: by names first, then along the data flow for nodes that were fused.
 *
 * Both graphs are indexed by hash tables of value and node names; a name in a body (of a Loop, If
 * or Scan) is keyed with the path of the body. anchor() claims nodes in passes, the surest
 * first: values of the same name; node names, then those without what ONNX Runtime adds to them;
 * values whose name is that of a later change of layout. map_before(), from the last node to the
 * first, gives a node to the owner that all its consumers share, since it was fused into that one.
 * map_after() gives the rest to the last owner of their inputs.
 *
 * An engine may replace a call of a function, or an If with a constant condition, by the nodes
 * inside, whose names it begins with a prefix: the value 't' of the function Blk is
 * '_inlfunc_Blk_token_0_t' in the second call. inlined_find() compares the operators of both graphs
 * that make an output of the call, which gives the prefix; then the nodes inside are indexed by the
 * names with it. If nothing but calls is in the call, the prefix is found in the operators before
 * (inlined_prefix_find()). An If or a loop inside such a call remains, with its bodies in another
 * scope.
 *
 * Of equal nodes (map_repeated()) an engine keeps one: the others then have no owner.
 *
 * Invariants: a node has at most one owner, and an earlier step takes precedence, so that costs
 * summed over owners count nothing twice; map_before() gives no node that computes to an operator
 * that only moves data. Indices of producers are below those of consumers where a graph is in
 * topological order; other edges are skipped. O(nodes + edges), and for a chain of layout changes
 * at most its length. All memory is in the arena.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/profile/profile_map.h"
#include "base/commas.h"
#include "base/name_index.h"
#include <string.h>

/* Suffixes that engines append to the name of the original node or value. */
static const char *const suffixes[] = {"_nchwc", "_nhwc", "/MatMulAddFusion", "/MatMulScaleFusion/",
				       "_quant", "_token"};
/* Before the name of a value that ONNX Runtime computes in 32 bits in place of 16. */
static const char widened[] = "InsertedPrecisionFreeCast_";

/* Only other names or layouts of the same data: the node that makes their output's value is
 * another. */
static const char movers[] = "Reshape,Transpose,Squeeze,Unsqueeze,ReorderInput,Identity,"
			     "ReorderOutput,Cast,Memcpy,MemcpyToHost,MemcpyFromHost";

typedef struct node_index {
	const cost_result *r;
	mem_arena *arena;
	name_index values, nodes; /* of bodies: after the path of their body */
	name_index scopes;
	size_t *maker;	   /* of a value */
	size_t *node;	   /* of a name */
	struct body *body; /* of an operator: what is inside; NULL: no graph is to be compared */
	size_t *list;	   /* of operators, for a search */
	size_t *seen;	   /* of an operator: 1 + the call that it was last listed for */
} node_index;

/* What is inside an operator of the model, if the other graph has it elsewhere. */
typedef struct body {
	bool inlined;		    /* in place of the operator */
	bool moved;		    /* in the same operator's bodies, below `scope` */
	const char *scope, *prefix; /* in the other graph; prefix NULL: not known */
	const char **out;	    /* the operator's outputs there; NULL: as in the model */
} body;

/* Returns the key of a name, which includes the body that the name is in. NULL: no memory. */
static const char *map_key_of(const node_index *x, const char *scope, const char *name)
{
	return scope ? mem_arena_fmt(x->arena, "%s\n%s", scope, name) : name;
}

/* others: how many further names are added, of scopes too. */
static bool index_make(node_index *x, const cost_result *r, size_t others, mem_arena *a)
{
	size_t outputs = others;

	*x = (node_index){.r = r, .arena = a};
	for (size_t i = 0; i < r->nops; i++)
		outputs += r->ops[i].nout;
	x->maker = mem_arena_array(a, outputs, sizeof *x->maker);
	x->node = mem_arena_array(a, r->nops + others, sizeof *x->node);
	if (!name_index_init(&x->values, a, outputs) ||
	    !name_index_init(&x->nodes, a, r->nops + others) ||
	    !name_index_init(&x->scopes, a, r->nops + others) || !x->maker || !x->node)
		return false;
	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *c = &r->ops[i];
		const char *key;

		if (c->scope)
			name_index_intern(&x->scopes, c->scope);
		for (size_t k = 0; k < c->nout; k++) {
			if (!c->out[k])
				continue;
			if (!(key = map_key_of(x, c->scope, c->out[k]->name)))
				return false;
			x->maker[name_index_intern(&x->values, key)] = i;
		}
		if (!c->node->name || !*c->node->name)
			continue;
		if (!(key = map_key_of(x, c->scope, c->node->name)))
			return false;
		if (name_index_find(&x->nodes, key) == NAME_INDEX_NONE)
			x->node[name_index_intern(&x->nodes, key)] = i;
	}
	return true;
}

/* Returns whether the other graph has the body that the operator is in. Functions are in no graph
 * that runs. */
static bool shared(const node_index *other, const cost_op *c)
{
	return !c->scope || name_index_find(&other->scopes, c->scope) != NAME_INDEX_NONE;
}

/* Returns the operator directly inside operator `call` that makes its output k; ret_out: its output
 * there. PROFILE_NONE: it is not known. */
static size_t inner_maker(const node_index *x, size_t call, size_t k, size_t *ret_out)
{
	const cost_op *c = &x->r->ops[call];
	const val *v = k < c->nout ? c->out[k] : NULL;
	size_t found = PROFILE_NONE;

	for (size_t i = call + 1; v && i < x->r->nops; i++) {
		const cost_op *in = &x->r->ops[i];
		const onnx_graph *g = NULL;

		if (in->inside == SIZE_MAX || in->inside < call)
			break;
		if (in->inside != call)
			continue;
		for (size_t n = 0; !c->expanded && n < c->node->nattributes && !g; n++) {
			const onnx_attribute *a = &c->node->attributes[n];
			const size_t len = a->name && in->scope ? strlen(a->name) : 0;
			if (a->g && len && strlen(in->scope) > len &&
			    strcmp(in->scope + strlen(in->scope) - len, a->name) == 0)
				g = a->g;
		}
		const char *name = g && k < g->noutputs ? g->outputs[k].name : NULL;
		for (size_t j = 0; j < in->nout; j++)
			if (in->out[j] &&
			    (c->expanded ? in->out[j] == v->inner
					 : name && strcmp(in->out[j]->name, name) == 0)) {
				found = i;
				*ret_out = j;
			}
	}
	return found;
}

/* Returns the operator of the same graph that makes v. v may be NULL: no operator does. */
static size_t value_maker(const node_index *x, const val *v)
{
	size_t at = v && v->def < x->r->nops ? v->def : PROFILE_NONE, k = 0;

	/* What is inside the call of a function makes the call's outputs. */
	while (at != PROFILE_NONE && x->body && x->body[at].inlined) {
		const cost_op *c = &x->r->ops[at];
		while (k < c->nout && c->out[k] != v)
			k++;
		const size_t inner = inner_maker(x, at, k, &k);
		if (inner == PROFILE_NONE)
			break;
		at = inner;
		v = x->r->ops[at].out[k];
	}
	return at;
}

static size_t value_named(const node_index *x, const char *scope, const char *name)
{
	const char *key = map_key_of(x, scope, name);
	const size_t at = key ? name_index_find(&x->values, key) : NAME_INDEX_NONE;

	return at == NAME_INDEX_NONE ? PROFILE_NONE : x->maker[at];
}

/* The same for a name of the graph that ran, whose values may be computed in more bits. */
static size_t value_ran(const node_index *x, const char *scope, const char *name)
{
	const size_t at = value_named(x, scope, name), n = sizeof widened - 1;

	return at != PROFILE_NONE || strncmp(name, widened, n) != 0
		   ? at
		   : value_named(x, scope, name + n);
}

static size_t node_named(const node_index *x, const char *scope, const char *name)
{
	const char *key = map_key_of(x, scope, name);
	const size_t at = key ? name_index_find(&x->nodes, key) : NAME_INDEX_NONE;

	return at == NAME_INDEX_NONE ? PROFILE_NONE : x->node[at];
}

/* --- what an engine puts in the place of calls */

/* Returns whether n bytes are the prefix of what is inside the call of a function: "_inlfunc_Blk_"
 * or "_inlfunc_Blk_token_0_". */
static bool prefix_of_function(const char *prefix, size_t n, const char *function)
{
	const char start[] = "_inlfunc_", token[] = "token_", digits[] = "0123456789";
	const size_t head = sizeof start - 1, own = head + strlen(function);

	if (n <= own || memcmp(prefix, start, head) != 0 ||
	    memcmp(prefix + head, function, own - head) != 0 || prefix[own] != '_')
		return false;
	const char *rest = prefix + own + 1;
	if (n == own + 1)
		return true;
	if (strncmp(rest, token, sizeof token - 1) != 0)
		return false;
	rest += sizeof token - 1;
	return rest + strspn(rest, digits) + 1 == prefix + n;
}

/* Returns the prefix of `whole` before `name`, longer than any before; NULL: none. */
static const char *map_prefix_of(mem_arena *a, const cost_op *call, const char *whole,
				 const char *name, size_t *longest)
{
	const size_t n = name ? strlen(name) : 0, all = whole ? strlen(whole) : 0;

	if (n <= *longest || all <= n || *whole != '_' || whole[all - n - 1] != '_' ||
	    strcmp(whole + all - n, name) != 0 ||
	    (call->expanded && !prefix_of_function(whole, all - n, call->node->op)))
		return NULL;
	*longest = n;
	return mem_arena_dup_n(a, whole, all - n);
}

/* Returns the operator around operator i, if the other graph has what is inside it elsewhere. */
static const body *inlined_around(const node_index *x, size_t i)
{
	const size_t at = x->r->ops[i].inside;
	const body *around = at < i ? &x->body[at] : NULL;

	return around && (around->inlined || around->moved) ? around : NULL;
}

/* Returns the part of the scope of operator i that names the branch of an If: "/then_branch". A
 * loop has one body: "". */
static const char *scope_branch(const node_index *x, size_t i)
{
	const cost_op *c = &x->r->ops[i];
	const char *label = strrchr(c->scope, '/');

	return label && strcmp(x->r->ops[c->inside].node->op, "If") == 0 ? label : "";
}

/* Returns the scope of the bodies of operator i, without the branch. */
static const char *scope_of_body(const node_index *x, size_t i)
{
	const char *scope =
	    i + 1 < x->r->nops && x->r->ops[i + 1].inside == i ? x->r->ops[i + 1].scope : NULL;

	return scope ? mem_arena_dup_n(x->arena, scope,
				       strlen(scope) - strlen(scope_branch(x, i + 1)))
		     : "";
}

/* Returns the scope of operator i in the other graph. */
static const char *inlined_scope(const node_index *x, size_t i)
{
	const body *around = inlined_around(x, i);

	if (!around)
		return x->r->ops[i].scope;
	return around->inlined ? around->scope
			       : mem_arena_fmt(x->arena, "%s%s", around->scope, scope_branch(x, i));
}

/* Returns the name of output k of an operator in the other graph; NULL: not known. */
static const char *inlined_name(const node_index *x, size_t i, size_t k)
{
	const cost_op *c = &x->r->ops[i];
	const body *around = inlined_around(x, i);

	if (!c->out[k])
		return NULL;
	if (x->body[i].out && x->body[i].out[k])
		return x->body[i].out[k];
	if (!around)
		return c->out[k]->name;
	return around->prefix ? mem_arena_fmt(x->arena, "%s%s", around->prefix, c->out[k]->name)
			      : NULL;
}

/* Returns the end of what is inside operator `call`. */
static size_t inside_end(const node_index *x, size_t call)
{
	size_t i = call + 1;

	while (i < x->r->nops && x->r->ops[i].inside != SIZE_MAX && x->r->ops[i].inside >= call)
		i++;
	return i;
}

/* Returns whether operator i is inside operator `call`, and in no call that is inside it. */
static bool named_by(const node_index *x, size_t i, size_t call)
{
	do
		i = x->r->ops[i].inside;
	while (i != call && !x->r->ops[i].expanded);
	return i == call;
}

/* Compares names of operator `is` of graph y with those of n operators inside operator `call`: its
 * inputs only if its own name and its outputs give no prefix, and no constants, which an engine
 * shares among calls. */
static const char *inlined_prefix(const node_index *x, const node_index *y, size_t call,
				  const size_t *inside, size_t n, const cost_op *is)
{
	const cost_op *outer = &x->r->ops[call];
	const size_t nout = outer->expanded ? is->nout : 0;
	const char *prefix = NULL, *p;
	size_t longest = 0;

	for (size_t pass = 0; pass < 2 && !prefix; pass++)
		for (size_t i = 0; i < n; i++) {
			const cost_op *c = &x->r->ops[inside[i]];
			const size_t values = pass ? is->nin : nout;

			if (!pass && (p = map_prefix_of(x->arena, outer, is->node->name,
							c->node->name, &longest)))
				prefix = p;
			for (size_t k = 0; k < c->nout * values; k++) {
				const val *out = c->out[k / values],
					  *v = (pass ? is->in : is->out)[k % values];
				if (out && v && v->def < y->r->nops &&
				    (p = map_prefix_of(x->arena, outer, v->name, out->name,
						       &longest)))
					prefix = p;
			}
		}
	return prefix;
}

/* Finds the prefix of a call whose output operator `at` makes. With nothing but calls inside, the
 * names of that operator begin with the prefix of one of those; then it is that of the nearest
 * operator before. Goes at most as far as there are operators inside the call. */
static const char *inlined_prefix_find(const node_index *x, const node_index *y, size_t call,
				       size_t at)
{
	const size_t end = inside_end(x, call), most = x->r->ops[call].expanded ? end - call : 1;
	size_t n = 1, ninside = 0;
	const char *prefix = NULL;

	for (size_t i = call + 1; i < end; i++)
		if (named_by(x, i, call))
			x->list[ninside++] = i;
	y->list[0] = at;
	for (size_t i = 0; i < n && i < most && !prefix; i++) {
		const size_t from = y->list[i];
		const cost_op *is = &y->r->ops[from];
		const size_t last = most > 1 ? inside_end(y, from) : from + 1;

		for (size_t k = from; k < last && !prefix; k++)
			prefix = inlined_prefix(x, y, call, x->list, ninside, &y->r->ops[k]);
		for (size_t k = 0; k < is->nin; k++) {
			const size_t before = value_maker(y, is->in[k]);

			if (before >= from || y->seen[before] == call + 1)
				continue;
			y->seen[before] = call + 1;
			y->list[n++] = before;
		}
	}
	return prefix;
}

/* Finds whether the other graph has the operators inside operator i elsewhere. */
static bool inlined_try(node_index *x, const node_index *y, size_t i)
{
	const cost_op *c = &x->r->ops[i];
	const body *around = inlined_around(x, i);
	body *own = &x->body[i];

	if (i + 1 >= x->r->nops || x->r->ops[i + 1].inside != i)
		return true;
	own->scope = inlined_scope(x, i);
	for (size_t k = 0; k < c->nout; k++) {
		const char *name = inlined_name(x, i, k);
		const size_t at = name ? value_named(y, own->scope, name) : PROFILE_NONE;
		if (at == PROFILE_NONE)
			continue;
		const cost_op *is = &y->r->ops[at];
		if (around && !c->expanded && strcmp(is->node->op, c->node->op) == 0) {
			own->moved = true;
			own->prefix = around->prefix;
			own->scope = scope_of_body(y, at);
			return own->scope != NULL;
		}
		if (!own->prefix)
			own->prefix = inlined_prefix_find(x, y, i, at);
		own->inlined |= own->prefix || strcmp(is->node->op, c->node->op) != 0;
	}
	for (size_t k = 0; own->inlined && k < c->nout; k++) {
		size_t out = 0;
		const size_t inner = inner_maker(x, i, k, &out);
		const char *name = inlined_name(x, i, k);
		if (inner == PROFILE_NONE || !name)
			continue;
		body *of = &x->body[inner];
		if (!of->out &&
		    !(of->out = mem_arena_array(x->arena, x->r->ops[inner].nout, sizeof *of->out)))
			return false;
		of->out[out] = name;
	}
	return true;
}

/* Indexes the nodes that the other graph has elsewhere by their names there. */
static bool inlined_find(node_index *x, node_index *y)
{
	x->body = mem_arena_array(x->arena, x->r->nops, sizeof *x->body);
	x->list = mem_arena_array(x->arena, x->r->nops, sizeof *x->list);
	y->list = mem_arena_array(x->arena, y->r->nops, sizeof *y->list);
	y->seen = mem_arena_array(x->arena, y->r->nops, sizeof *y->seen);
	if (!x->body || !x->list || !y->list || !y->seen)
		return false;
	for (size_t i = 0; i < x->r->nops; i++) {
		const cost_op *c = &x->r->ops[i];
		const body *around = inlined_around(x, i);

		if (!inlined_try(x, y, i))
			return false;
		if (!around)
			continue;
		const char *scope = inlined_scope(x, i);
		name_index_intern(&y->scopes, c->scope);
		for (size_t k = 0; k < c->nout; k++) {
			const char *name = inlined_name(x, i, k),
				   *key = name ? map_key_of(x, scope, name) : NULL;
			if (key)
				x->maker[name_index_intern(&x->values, key)] = i;
		}
		if (!around->prefix || !c->node->name || !*c->node->name)
			continue;
		const char *key = map_key_of(
		    x, scope, mem_arena_fmt(x->arena, "%s%s", around->prefix, c->node->name));
		if (key && name_index_find(&x->nodes, key) == NAME_INDEX_NONE)
			x->node[name_index_intern(&x->nodes, key)] = i;
	}
	return true;
}

bool profile_map_moves(const char *type)
{
	return commas_have(movers, type);
}

static void map_claim(size_t *owner, size_t node, size_t by)
{
	if (node != PROFILE_NONE && owner[node] == PROFILE_NONE)
		owner[node] = by;
}

/* Removes what an engine appended to a name of n bytes last: one of the suffixes, or "_token_" with
 * a number, which makes a name unique. Returns the new length; n: nothing. */
static size_t map_name_cut(const char *text, size_t n)
{
	const char token[] = "_token_";
	size_t digits = n;

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		const size_t tail = strlen(suffixes[i]);
		if (n > tail && memcmp(text + n - tail, suffixes[i], tail) == 0)
			return n - tail;
	}
	while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
		digits--;
	if (digits < n && digits >= sizeof token &&
	    memcmp(text + digits - (sizeof token - 1), token, sizeof token - 1) == 0)
		return digits - (sizeof token - 1);
	return n;
}

/* Finds a node by the name of an operator without what engines add to it, a node's or a value's. An
 * operator that only moves data has no other kind of node. */
static size_t map_named(const node_index *x, const cost_op *c)
{
	const char *name = c->node->name;
	size_t n = strlen(name), at = PROFILE_NONE;
	char text[512];

	if (n >= sizeof text || node_named(x, c->scope, name) != PROFILE_NONE)
		return PROFILE_NONE;
	memcpy(text, name, n + 1);
	for (size_t cut; at == PROFILE_NONE && (cut = map_name_cut(text, n)) < n; n = cut) {
		text[cut] = '\0';
		at = node_named(x, c->scope, text);
		if (at == PROFILE_NONE)
			at = value_ran(x, c->scope, text);
	}
	return at != PROFILE_NONE && profile_map_moves(c->node->op) &&
		       !profile_map_moves(x->r->ops[at].node->op)
		   ? PROFILE_NONE
		   : at;
}

/* Returns the operator that computes the value, before changes of layout if there are any. */
static size_t computer(const node_index *x, const val *value)
{
	size_t at = value_maker(x, value);

	for (size_t n = 0;
	     at != PROFILE_NONE && profile_map_moves(x->r->ops[at].node->op) && n < x->r->nops;
	     n++) {
		const cost_op *c = &x->r->ops[at];
		at = c->nin ? value_maker(x, c->in[0]) : PROFILE_NONE;
	}
	return at;
}

/* Claims the nodes whose values the operator makes. Another operator of `ran` may have computed the
 * value, if this one only changes its layout: then that one claims the node. */
static void anchor_value(const node_index *x, const node_index *y, size_t i, bool direct,
			 size_t *owner)
{
	const cost_op *c = &y->r->ops[i];

	for (size_t k = 0; k < c->nout; k++) {
		size_t at = c->out[k] ? value_ran(x, c->scope, c->out[k]->name) : PROFILE_NONE;
		size_t by = i;
		if (at == PROFILE_NONE)
			continue;
		const char *op = x->r->ops[at].node->op;
		bool own = !profile_map_moves(c->node->op) || strcmp(op, c->node->op) == 0;
		if (own != direct)
			continue;
		if (!own && !profile_map_moves(op))
			by = computer(y, c->out[k]);
		else if (!own)
			continue;
		if (by != PROFILE_NONE)
			map_claim(owner, at, by);
	}
}

static void anchor(const node_index *x, const node_index *y, size_t *owner)
{
	const cost_result *ran = y->r;

	for (size_t i = 0; i < ran->nops; i++)
		anchor_value(x, y, i, true, owner);
	for (size_t i = 0; i < ran->nops; i++)
		if (ran->ops[i].node->name)
			map_claim(owner, node_named(x, ran->ops[i].scope, ran->ops[i].node->name),
				  i);
	for (size_t i = 0; i < ran->nops; i++)
		if (ran->ops[i].node->name)
			map_claim(owner, map_named(x, &ran->ops[i]), i);
	for (size_t i = 0; i < ran->nops; i++)
		anchor_value(x, y, i, false, owner);
}

/* Returns whether operator i is a call in whose place the other graph has what is inside: then that
 * reads its inputs. */
static bool map_inlined(const node_index *x, size_t i)
{
	return x->body && x->body[i].inlined;
}

/* --- equal nodes */

/* In place of an owner. */
#define MAP_SEVERAL (PROFILE_NONE - 1)
#define MAP_GONE    (PROFILE_NONE - 2) /* an equal node has computed it */

#define MAP_LIST_MAX 64 /* nodes with longer lists are not compared */

/* Returns the attribute as text that equal attributes have in common; NULL: it has another kind of
 * value, or depends on the call. */
static const char *attribute_text(mem_arena *a, const onnx_attribute *at)
{
	const char *text =
	    mem_arena_fmt(a, "%s=%lld %a %s", at->name ? at->name : "", (long long)at->i,
			  (double)at->f, at->s.text ? at->s.text : "");

	if (at->nints > MAP_LIST_MAX || at->nfloats > MAP_LIST_MAX || at->ref || at->t || at->g ||
	    at->sparse || at->tp || at->nstrings || at->ntensors || at->ngraphs)
		return NULL;
	for (size_t i = 0; text && i < at->nints; i++)
		text = mem_arena_fmt(a, "%s %lld", text, (long long)at->ints[i]);
	for (size_t i = 0; text && i < at->nfloats; i++)
		text = mem_arena_fmt(a, "%s %a", text, (double)at->floats[i]);
	return text;
}

/* Returns the scope of the body that operator i is in, however deep in calls. */
static const char *scope_around_calls(const cost_result *r, size_t i)
{
	while (r->ops[i].inside < i && r->ops[r->ops[i].inside].expanded)
		i = r->ops[i].inside;
	return r->ops[i].scope ? r->ops[i].scope : "";
}

/* Returns a text that nodes have in common which compute the same: type, inputs and attributes.
 * same: the class of each earlier node. NULL: it is not compared. */
static const char *repeated_key(const node_index *x, size_t i, const size_t *same)
{
	const cost_op *c = &x->r->ops[i];
	const char *key =
	    mem_arena_fmt(x->arena, "%s\n%s\n%s\n%zu", scope_around_calls(x->r, i),
			  c->node->domain ? c->node->domain : "", c->node->op, c->nout);

	if (c->nin == 0 || c->nin > MAP_LIST_MAX || profile_map_moves(c->node->op))
		return NULL;
	for (size_t k = 0; key && k < c->nin; k++) {
		const val *v = c->in[k];
		const size_t from = value_maker(x, v);
		size_t out = 0;

		while (from < i && out < x->r->ops[from].nout && x->r->ops[from].out[out] != v)
			out++;
		key = from < i ? mem_arena_fmt(x->arena, "%s %zu:%zu", key, same[from], out)
			       : mem_arena_fmt(x->arena, "%s %p", key, (const void *)v);
	}
	for (size_t k = 0; key && k < c->node->nattributes; k++) {
		const char *text = attribute_text(x->arena, &c->node->attributes[k]);

		key = text ? mem_arena_fmt(x->arena, "%s\n%s", key, text) : NULL;
	}
	return key;
}

/* An engine that finds equal nodes runs one of them: marks the nodes without an owner that are
 * equal to one with an owner. */
static bool map_repeated(const node_index *x, size_t *owner)
{
	const size_t n = x->r->nops;
	size_t *same = mem_arena_array(x->arena, n, sizeof *same);
	bool *runs = mem_arena_array(x->arena, n, sizeof *runs);
	name_index classes;

	if (!same || !runs || !name_index_init(&classes, x->arena, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *key = repeated_key(x, i, same);

		if (!key)
			key = mem_arena_fmt(x->arena, "%zu", i);
		if (!key)
			return false;
		same[i] = name_index_intern(&classes, key);
		runs[same[i]] |= owner[i] != PROFILE_NONE;
	}
	for (size_t i = 0; i < n; i++)
		if (owner[i] == PROFILE_NONE && runs[same[i]] && !map_inlined(x, i))
			owner[i] = MAP_GONE;
	return true;
}

/* Nodes whose results one owner alone needs were fused into it: goes from the last node to the
 * first. */
static bool map_before(const node_index *x, const node_index *y, size_t *owner)
{
	const cost_result *model = x->r, *ran = y->r;
	/* The only owner of a node's consumers; PROFILE_NONE: none yet. */
	size_t *needs = mem_arena_array(x->arena, model->nops, sizeof *needs);

	if (!needs)
		return false;
	memset(needs, 0xff, model->nops * sizeof *needs);
	for (size_t i = model->nops; i-- > 0;) {
		const cost_op *c = &model->ops[i];
		if (!shared(y, c) || map_inlined(x, i))
			continue;
		/* Nothing that computes is part of an operator that only moves. */
		if (owner[i] == PROFILE_NONE &&
		    (needs[i] == MAP_GONE ||
		     (needs[i] < MAP_GONE && (profile_map_moves(c->node->op) ||
					      !profile_map_moves(ran->ops[needs[i]].node->op)))))
			owner[i] = needs[i];
		size_t mine = owner[i] == PROFILE_NONE ? MAP_SEVERAL : owner[i];
		for (size_t k = 0; k < c->nin; k++) {
			size_t from = value_maker(x, c->in[k]);
			if (from == PROFILE_NONE || from >= i)
				continue;
			if (needs[from] == PROFILE_NONE || needs[from] == MAP_GONE)
				needs[from] = mine;
			else if (mine != MAP_GONE && needs[from] != mine)
				needs[from] = MAP_SEVERAL;
		}
	}
	return true;
}

/* Nodes that are left were fused into the owner of their inputs, the last of them. */
static void map_after(const node_index *x, const node_index *y, size_t *owner)
{
	const cost_result *model = x->r;

	for (size_t i = 0; i < model->nops; i++) {
		const cost_op *c = &model->ops[i];
		if (!shared(y, c) || map_inlined(x, i) || owner[i] != PROFILE_NONE)
			continue;
		for (size_t k = 0; k < c->nin; k++) {
			size_t from = value_maker(x, c->in[k]);
			if (from < i && owner[from] < MAP_GONE &&
			    (owner[i] == PROFILE_NONE || owner[from] > owner[i]))
				owner[i] = owner[from];
		}
	}
}

/* A call's first outputs may be unused: they have no value. */
static const val *first_output(const cost_op *c)
{
	size_t k = 0;

	while (k < c->nout && !c->out[k])
		k++;
	return k < c->nout ? c->out[k] : NULL;
}

size_t *profile_map(const cost_result *model, const cost_result *ran, mem_arena *a)
{
	size_t *owner = mem_arena_array(a, model->nops, sizeof *owner);
	node_index x, y;
	size_t inner = 0; /* outputs and nodes inside others */

	for (size_t i = 0; i < model->nops; i++)
		inner += model->ops[i].inside < i ? model->ops[i].nout + 1 : 0;
	if (!owner || !index_make(&x, model, inner, a) || !index_make(&y, ran, inner, a) ||
	    (inner && !inlined_find(&x, &y)))
		return NULL;
	memset(owner, 0xff, model->nops * sizeof *owner);
	anchor(&x, &y, owner);
	if (mem_arena_failed(a) || !map_repeated(&x, owner) || !map_before(&x, &y, owner))
		return NULL;
	map_after(&x, &y, owner);
	/* A node in a body that does not run belongs to the operator around it. */
	for (size_t i = 0; i < model->nops; i++)
		if (owner[i] == PROFILE_NONE && model->ops[i].inside < i)
			owner[i] = owner[model->ops[i].inside];
	/* A call belongs to what makes its result. */
	for (size_t i = model->nops; x.body && i-- > 0;) {
		const size_t at = map_inlined(&x, i) && owner[i] == PROFILE_NONE
				      ? value_maker(&x, first_output(&model->ops[i]))
				      : PROFILE_NONE;
		if (at != PROFILE_NONE)
			owner[i] = owner[at];
	}
	for (size_t i = 0; i < model->nops; i++)
		if (owner[i] == MAP_GONE)
			owner[i] = PROFILE_NONE;
	return owner;
}

/* --- without the graph that ran */

/* Returns the operator that makes the only computed input of c; SIZE_MAX: there are none or
 * several. */
static size_t only_producer(const cost_result *model, const cost_op *c)
{
	size_t from = SIZE_MAX, n = 0;

	for (size_t k = 0; k < c->nin; k++)
		if (c->in[k] && c->in[k]->def < model->nops && !model->ops[c->in[k]->def].folded) {
			from = c->in[k]->def;
			n++;
		}
	return n == 1 ? from : SIZE_MAX;
}

/* Returns how many products (operators with MACs) an operator of this type may be. */
static size_t products_most(const char *type)
{
	static const struct {
		const char *part;
		size_t n;
	} types[] = {{"Attention", 2}, {"Subgraph", 2}, {"FullyConnected", 1},
		     {"MatMul", 1},    {"Conv", 1},	{"Gemm", 1}};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strstr(type, types[i].part))
			return types[i].n;
	return 0;
}

static bool is_product(const cost_op *c)
{
	return sym_known(c->macs) && c->macs.v > 0;
}

/* Leaves operators without a time where they are if one row would own more products than it can
 * be: the engine gave their rows names that match none of the model's. */
static bool owners_doubtful(const cost_result *model, const char *const *types, size_t *owner,
			    mem_arena *a)
{
	size_t *products = mem_arena_array(a, model->nops, sizeof *products);

	if (!products)
		return false;
	for (size_t i = 0; i < model->nops; i++)
		products[owner[i]] += is_product(&model->ops[i]);
	for (size_t i = 0; i < model->nops; i++) {
		const size_t at = owner[i];
		const char *type = types[at];

		if (at == i || !type)
			continue;
		if (products[at] > (*type ? products_most(type) : is_product(&model->ops[at])))
			owner[i] = i;
	}
	return true;
}

/* An activation or a bias without a time is an operation on the result of the product before it,
 * even if the next operator alone uses it. */
static void owners_activations(const cost_result *model, const char *const *types, size_t *owner)
{
	for (size_t i = 0; i < model->nops; i++) {
		const cost_op *c = &model->ops[i];
		const size_t from = only_producer(model, c);

		if (!types[i] && from < i && sym_known(c->macs) && c->macs.v == 0 &&
		    sym_known(c->flops) && c->flops.v > 0)
			owner[i] = owner[from];
	}
}

size_t *profile_map_timed(const cost_result *model, const char *const *types, mem_arena *a)
{
	cost_result timed = *model;
	size_t *from = mem_arena_array(a, model->nops, sizeof *from), *owner;

	timed.nops = 0;
	timed.ops = mem_arena_array(a, model->nops, sizeof *timed.ops);
	if (!timed.ops || !from)
		return NULL;
	for (size_t i = 0; i < model->nops; i++) {
		if (!types[i])
			continue;
		cost_op *op = &timed.ops[timed.nops];

		from[timed.nops++] = i;
		*op = model->ops[i];
		if (!*types[i])
			continue;
		/* What it does is known by its type, not by that of one of its nodes. */
		onnx_node *node = mem_arena_alloc(a, sizeof *node);
		if (!node)
			return NULL;
		*node = *op->node;
		node->op = types[i];
		op->node = node;
	}
	owner = profile_map(model, &timed, a);
	for (size_t i = 0; owner && i < model->nops; i++)
		owner[i] = owner[i] == PROFILE_NONE ? i : from[owner[i]];
	if (!owner || !owners_doubtful(model, types, owner, a))
		return NULL;
	owners_activations(model, types, owner);
	return owner;
}
