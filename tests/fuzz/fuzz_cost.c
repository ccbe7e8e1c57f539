/* fuzz_cost.c - any bytes as a model to be counted by the reader, shape inference and cost model:
 * refused with a message, or sizes and costs that are not negative.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "model/cost/cost_model.h"

#include <string.h>

/* Small inputs need little memory; a larger need is refused like any too large input. */
#define MEMORY_MAX ((size_t)64 << 20)

static void check_num(sym_table *t, sym_int n)
{
	if (sym_known(n))
		check(n.v >= 0);
	else if (!sym_unknown_reason(n))
		check(sym_text(t, n) || sym_lower_bound(t, n) >= INT64_MIN);
}

static void check_val(sym_table *t, const val *v)
{
	sym_int elements = sym_const(1);

	check(v->rank <= COST_RANK_MAX);
	for (int i = 0; i < v->rank; i++) {
		check_num(t, v->dims[i]);
		elements = sym_mul(t, elements, v->dims[i]);
	}
	if (v->kind == VAL_TENSOR && v->rank >= 0 && (v->ints || v->reals) && sym_known(elements))
		check((int64_t)v->n == elements.v);
}

static void check_result(const cost_result *r)
{
	const sym_int sums[] = {
	    r->macs,	   r->flops,	   r->params,	  r->buffers,	  r->weight_bytes,
	    r->read_bytes, r->write_bytes, r->macs_known, r->flops_known, r->peak_activation_bytes};

	for (size_t i = 0; i < r->nops; i++) {
		const cost_op *o = &r->ops[i];
		check_num(r->nums, o->macs);
		check_num(r->nums, o->flops);
		check_num(r->nums, o->read_bytes);
		check_num(r->nums, o->write_bytes);
		for (size_t k = 0; k < o->nout; k++)
			if (o->out[k])
				check_val(r->nums, o->out[k]);
	}
	for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
		check_num(r->nums, sums[k]);
}

/* Counts with the sizes that the file states, and with symbolic sizes bound. */
static void count(const onnx_model *m, int64_t batch, mem_arena *a)
{
	const cost_config c = {.batch = batch};
	cost_result *r = NULL;
	dck_err err = {0};
	dck_status code = cost_model(m, &c, a, &r, &err);

	if (code == DCK_OK)
		check_result(r);
	else
		check(!r && err.code == code && *err.msg && !strchr(err.msg, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	mem_arena *a = mem_arena_new(0);
	onnx_model *m;

	check(a != NULL);
	if (onnx_read_bytes(bytes, n, a, &m, NULL) == DCK_OK) {
		mem_arena_limit(a, mem_arena_bytes(a) + MEMORY_MAX);
		count(m, 0, a);
		if (!mem_arena_failed(a))
			count(m, 3, a);
	}
	mem_arena_free(a);
	return 0;
}
