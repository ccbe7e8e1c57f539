/* hostile.h - graphs that no exporter writes, and invariants of their cost results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model_build.h"

#include "model/cost/op.h"

#include <stdio.h>
#include <stdlib.h>

/* Attributes of types other than put_attr_int()'s. */
static inline size_t attr_begin(wire_out *w, const char *name, int64_t type)
{
	size_t at = wire_begin(w, 5);

	wire_put_text(w, 1, name);
	wire_put_int(w, 20, type);
	return at;
}

static inline void put_attr_ints(wire_out *w, const char *name, size_t n, const int64_t *v)
{
	size_t at = attr_begin(w, name, ONNX_ATTR_INTS);

	for (size_t i = 0; i < n; i++)
		wire_put_int(w, 8, v[i]);
	wire_end(w, at);
}

static inline void put_attr_text(wire_out *w, const char *name, const char *text)
{
	size_t at = attr_begin(w, name, ONNX_ATTR_STRING);

	wire_put_text(w, 4, text);
	wire_end(w, at);
}

static inline void put_attr_float(wire_out *w, const char *name, float v)
{
	size_t at = attr_begin(w, name, ONNX_ATTR_FLOAT);

	wire_put_float(w, 2, v);
	wire_end(w, at);
}

static inline void put_constant(wire_out *w, const char *name, size_t n, const int64_t *v)
{
	put_tensor(w, name, ONNX_INT64, DIMS((int64_t)n), n, v);
}

static inline void put_output(wire_out *w, const char *name)
{
	size_t at = wire_begin(w, 12);

	wire_put_text(w, 1, name);
	wire_end(w, at);
}

/* --- invariants of any result */

static inline void check_num(sym_table *t, sym_int n)
{
	if (sym_known(n))
		assert_true(n.v >= 0);
	else if (sym_unknown_reason(n))
		assert_true(*sym_unknown_reason(n));
	else
		assert_non_null(sym_text(t, n));
}

static inline void check_val(sym_table *t, const val *v)
{
	if (v->rank < 0)
		return;
	assert_true(v->rank <= COST_RANK_MAX);
	sym_int elements = sym_const(1);
	for (int i = 0; i < v->rank; i++) {
		check_num(t, v->dims[i]);
		elements = sym_mul(t, elements, v->dims[i]);
	}
	if (v->kind != VAL_TENSOR || !(v->ints || v->reals))
		return;
	if (sym_known(elements))
		assert_int_equal(v->n, elements.v);
	for (size_t i = 0; v->ints && i < v->n; i++)
		if (!sym_known(v->ints[i]) && !sym_unknown_reason(v->ints[i]))
			assert_non_null(sym_text(t, v->ints[i]));
}

static inline void check_result(const cost_result *r)
{
	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *o = &r->ops[i];
		const sym_int counts[] = {o->macs,   o->flops,	 o->read_bytes,	 o->write_bytes,
					  o->params, o->buffers, o->weight_bytes};
		for (size_t k = 0; k < sizeof(counts) / sizeof *counts; k++)
			check_num(r->nums, counts[k]);
		for (size_t k = 0; k < o->nout; k++)
			if (o->out[k])
				check_val(r->nums, o->out[k]);
	}
	const sym_int sums[] = {
	    r->macs,	   r->flops,	   r->params,	  r->buffers,	  r->weight_bytes,
	    r->read_bytes, r->write_bytes, r->macs_known, r->flops_known, r->peak_activation_bytes};
	for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
		check_num(r->nums, sums[k]);
}

typedef struct counted {
	mem_arena *arena;
	cost_result *result; /* NULL: failed */
	dck_status code;
	dck_err err;
} counted;

/* Reads and counts the model in w, and ends w. */
static inline counted count(wire_out *w)
{
	counted c = {.arena = mem_arena_new(0)};
	onnx_model *m;

	assert_non_null(c.arena);
	assert_false(w->failed);
	c.code = onnx_read_bytes(w->data, w->n, c.arena, &m, &c.err);
	if (c.code == DCK_OK)
		c.code = cost_model(m, NULL, c.arena, &c.result, &c.err);
	if (c.code == DCK_OK) {
		check_result(c.result);
	} else {
		assert_null(c.result);
		assert_int_equal(c.err.code, c.code);
		assert_true(*c.err.msg && !strchr(c.err.msg, '\n'));
	}
	assert_true(mem_arena_bytes(c.arena) <= ONNX_MEMORY_MAX + (1u << 20));
	wire_out_done(w);
	return c;
}

static inline void done(counted *c)
{
	mem_arena_free(c->arena);
}

static inline void refused(wire_out *w, dck_status code, const char *says)
{
	counted c = count(w);

	assert_int_equal(c.code, code);
	if (!strstr(c.err.msg, says))
		fail_msg("'%s' does not say '%s'", c.err.msg, says);
	done(&c);
}

static inline const val *value(const counted *c, const char *name)
{
	for (size_t i = 0; i < c->result->nvalues; i++)
		if (strcmp(c->result->values[i]->name, name) == 0)
			return c->result->values[i];
	fail_msg("no value '%s'", name);
	return NULL;
}

/* The shape is exactly this one, or absent with a reason. */
static inline void shape_or_absent(const counted *c, const char *name, int rank,
				   const int64_t *dims)
{
	const val *v = value(c, name);

	if (v->rank < 0) {
		assert_non_null(v->why);
		return;
	}
	assert_int_equal(v->rank, rank);
	for (int i = 0; i < rank; i++)
		if (sym_known(v->dims[i]))
			assert_true(v->dims[i].v == dims[i]);
}

#endif
