/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile_map.h"
#include "model/names.h"
#include <string.h>

/* What engines append to the name of a node or value from which they made a node. */
static const char *const suffixes[] = {"_nchwc", "_nhwc", "/MatMulAddFusion", "/MatMulScaleFusion/",
				       "_quant", "_token"};

/* Only other names or layouts of the same data: the node that makes their output's value is
 * another. */
static const char *const movers[] = {"Reshape",	     "Transpose",     "Squeeze",       "Unsqueeze",
				     "ReorderInput", "Identity",      "ReorderOutput", "Cast",
				     "MemcpyToHost", "MemcpyFromHost"};

typedef struct node_index {
	names values, nodes;
	size_t *maker; /* of a value */
	size_t *node;  /* of a name */
} node_index;

static bool top(const cost_op *c)
{
	return c->scope == NULL;
}

static bool index_make(node_index *x, const cost_result *r, mem_arena *a)
{
	size_t outputs = 0;

	for (size_t i = 0; i < r->nops; i++)
		outputs += r->ops[i].nout;
	x->maker = mem_arena_array(a, outputs, sizeof *x->maker);
	x->node = mem_arena_array(a, r->nops, sizeof *x->node);
	if (!names_init(&x->values, a, outputs) || !names_init(&x->nodes, a, r->nops) ||
	    !x->maker || !x->node)
		return false;
	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *c = &r->ops[i];
		if (!top(c))
			continue;
		for (size_t k = 0; k < c->nout; k++)
			if (c->out[k])
				x->maker[names_add(&x->values, c->out[k]->name)] = i;
		if (c->node->name && *c->node->name &&
		    names_find(&x->nodes, c->node->name) == NAMES_NONE)
			x->node[names_add(&x->nodes, c->node->name)] = i;
	}
	return true;
}

/* v may be NULL: no operator makes it. */
static size_t value_maker(const node_index *x, const val *v)
{
	size_t at = v && v->name ? names_find(&x->values, v->name) : NAMES_NONE;

	return at == NAMES_NONE ? PROFILE_NONE : x->maker[at];
}

static bool moves(const char *type)
{
	for (size_t i = 0; i < sizeof movers / sizeof *movers; i++)
		if (strcmp(type, movers[i]) == 0)
			return true;
	return false;
}

static void claim(size_t *owner, size_t node, size_t by)
{
	if (node != PROFILE_NONE && owner[node] == PROFILE_NONE)
		owner[node] = by;
}

/* By the node's own name, whole or without what engines append: a node's, or a value's. */
static size_t named(const node_index *x, const char *name)
{
	char text[512];
	size_t n = strlen(name), at = names_find(&x->nodes, name);

	if (at != NAMES_NONE)
		return x->node[at];
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t tail = strlen(suffixes[i]);
		if (n <= tail || n - tail >= sizeof text ||
		    strcmp(name + n - tail, suffixes[i]) != 0)
			continue;
		memcpy(text, name, n - tail);
		text[n - tail] = '\0';
		if ((at = names_find(&x->nodes, text)) != NAMES_NONE)
			return x->node[at];
		if ((at = names_find(&x->values, text)) != NAMES_NONE)
			return x->maker[at];
	}
	return PROFILE_NONE;
}

/* The operator that computes the value: behind changes of layout, where there are any. */
static size_t computer(const node_index *x, const cost_result *r, const val *value)
{
	size_t at = value_maker(x, value);

	for (size_t n = 0; at != PROFILE_NONE && moves(r->ops[at].node->op) && n < r->nops; n++) {
		const cost_op *c = &r->ops[at];
		at = c->nin ? value_maker(x, c->in[0]) : PROFILE_NONE;
	}
	return at;
}

/* What the operator makes is a value of the model, which another operator of `ran` may have
 * computed: the name then is that of the layout's change behind it. */
static void anchor_value(const cost_result *model, const node_index *x, const cost_result *ran,
			 const node_index *y, size_t i, bool direct, size_t *owner)
{
	const cost_op *c = &ran->ops[i];

	for (size_t k = 0; k < c->nout; k++) {
		size_t at = value_maker(x, c->out[k]), by = i;
		if (at == PROFILE_NONE)
			continue;
		bool own = !moves(c->node->op) || strcmp(model->ops[at].node->op, c->node->op) == 0;
		if (own != direct)
			continue;
		if (!own && !moves(model->ops[at].node->op))
			by = computer(y, ran, c->out[k]);
		else if (!own)
			continue;
		if (by != PROFILE_NONE)
			claim(owner, at, by);
	}
}

static bool anchor(const cost_result *model, const node_index *x, const cost_result *ran,
		   size_t *owner, mem_arena *a)
{
	node_index y;

	if (!index_make(&y, ran, a))
		return false;
	for (size_t i = 0; i < ran->nops; i++)
		if (top(&ran->ops[i]))
			anchor_value(model, x, ran, &y, i, true, owner);
	for (size_t i = 0; i < ran->nops; i++)
		if (top(&ran->ops[i]) && ran->ops[i].node->name)
			claim(owner, named(x, ran->ops[i].node->name), i);
	for (size_t i = 0; i < ran->nops; i++)
		if (top(&ran->ops[i]))
			anchor_value(model, x, ran, &y, i, false, owner);
	return true;
}

/* Nodes whose results one owner alone needs were fused into it: from the end to the begin. */
static bool before(const cost_result *model, const node_index *x, const cost_result *ran,
		   size_t *owner, mem_arena *a)
{
	/* The only owner of a node's consumers; PROFILE_NONE: none yet, NONE - 1: several. */
	size_t *needs = mem_arena_array(a, model->nops, sizeof *needs);

	if (!needs)
		return false;
	memset(needs, 0xff, model->nops * sizeof *needs);
	for (size_t i = model->nops; i-- > 0;) {
		const cost_op *c = &model->ops[i];
		if (!top(c))
			continue;
		/* Nothing that computes is part of an operator that only moves. */
		if (owner[i] == PROFILE_NONE && needs[i] < PROFILE_NONE - 1 &&
		    (moves(c->node->op) || !moves(ran->ops[needs[i]].node->op)))
			owner[i] = needs[i];
		size_t mine = owner[i] == PROFILE_NONE ? PROFILE_NONE - 1 : owner[i];
		for (size_t k = 0; k < c->nin; k++) {
			size_t from = value_maker(x, c->in[k]);
			if (from == PROFILE_NONE || from >= i)
				continue;
			needs[from] = needs[from] == PROFILE_NONE || needs[from] == mine
					  ? mine
					  : PROFILE_NONE - 1;
		}
	}
	return true;
}

/* What is left was fused into the one that made its inputs, the last of them. */
static void after(const cost_result *model, const node_index *x, size_t *owner)
{
	for (size_t i = 0; i < model->nops; i++) {
		const cost_op *c = &model->ops[i];
		if (!top(c) || owner[i] != PROFILE_NONE)
			continue;
		for (size_t k = 0; k < c->nin; k++) {
			size_t from = value_maker(x, c->in[k]);
			if (from != PROFILE_NONE && from < i && owner[from] != PROFILE_NONE &&
			    (owner[i] == PROFILE_NONE || owner[from] > owner[i]))
				owner[i] = owner[from];
		}
	}
}

size_t *profile_map(const cost_result *model, const cost_result *ran, mem_arena *a)
{
	size_t *owner = mem_arena_array(a, model->nops, sizeof *owner), last = PROFILE_NONE;
	node_index x;

	if (!owner || !index_make(&x, model, a))
		return NULL;
	memset(owner, 0xff, model->nops * sizeof *owner);
	if (!anchor(model, &x, ran, owner, a) || !before(model, &x, ran, owner, a))
		return NULL;
	after(model, &x, owner);
	for (size_t i = 0; i < model->nops; i++)
		if (top(&model->ops[i]))
			last = owner[i];
		else
			owner[i] = last;
	return owner;
}
