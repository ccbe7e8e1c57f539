/* test_agree.c - differences of outputs: exact numbers for tensors of every type, and two targets
 * with an engine of this test.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"
#include "measure/verify/output_compare.h"
#include "record/record_begin.h"
#include <math.h>
#include <string.h>

#define TYPE(c, b) ((dck_dtype){DCK_DTYPE_##c, b, 1})
#define COUNT(x)   (sizeof(x) / sizeof((x)[0]))
#define EXACTLY	   (&(const compared_limits){0, 0})

static dck_tensor tensor(void *data, dck_dtype t, int64_t n)
{
	return (dck_tensor){.data = data, .dtype = t, .rank = 1, .dim = {n}};
}

static compared_sum sum_of(dck_dtype t, void *a, void *b, int64_t n, const compared_limits *limits)
{
	const dck_tensor ta = tensor(a, t, n), tb = tensor(b, t, n);
	const compared_limits l = compared_limits_of(t, t, limits);
	compared_sum s = {0};

	compared_add(&s, &ta, &tb, &l);
	return s;
}

static void near(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-15 * fmax(fabs(b), 1));
}

/* --- tensors */

static void floats_that_are_equal(void **state)
{
	float a[] = {1, -2, 0, 3e38f}, b[] = {1, -2, -0.0f, 3e38f};
	compared_sum s = sum_of(TYPE(FLOAT, 32), a, b, 4, EXACTLY);

	(void)state;
	assert_int_equal(s.n, 4);
	assert_int_equal(s.differing, 0);
	assert_int_equal(s.outside, 0);
	assert_int_equal(s.max_ulp, 0);
	assert_true(compared_cosine_gap(&s) == 0);
	assert_true(compared_mean_abs(&s) == 0);
}

static void floats_that_differ(void **state)
{
	double a[] = {1, 2, 0, -4}, b[] = {1.5, 2, 0.25, -5};
	compared_sum s = sum_of(TYPE(FLOAT, 64), a, b, 4, &(const compared_limits){0.25, 0.25});

	(void)state;
	assert_int_equal(s.differing, 3);
	assert_int_equal(s.outside, 0); /* each difference is just within the tolerance */
	assert_int_equal(s.zeros, 1);
	near(s.max_abs, 1);
	near(compared_mean_abs(&s), 1.75 / 4);
	near(s.max_rel, 0.5);
	near(compared_mean_rel(&s), 0.75 / 3);
	near(compared_cosine_gap(&s), 1 - 25.5 / sqrt(21 * (2.25 + 4 + 0.0625 + 25)));
	s = sum_of(TYPE(FLOAT, 64), a, b, 4, &(const compared_limits){0.25, 0.2});
	assert_int_equal(s.outside, 2); /* 1 and 0 differ; 4 is within 4 * 0.25 + 0.2 */
	assert_int_equal(s.worst, 0);
	near(s.worst_a, 1);
	near(s.worst_b, 1.5);
}

/* The default atol is rtol times the root mean square of the reference. */
static void tolerance_goes_with_the_size_of_the_output(void **state)
{
	const float scales[] = {1e-20f, 1, 1e20f};

	(void)state;
	for (size_t i = 0; i < COUNT(scales); i++) {
		const float m = scales[i];
		float a[] = {3 * m, 0, -4 * m, 0}, in[] = {3 * m, 0.0024f * m, -4 * m, 0},
		      out[] = {3 * m, 0.0026f * m, -4 * m, 0};

		assert_int_equal(sum_of(TYPE(FLOAT, 32), a, in, 4, NULL).outside, 0);
		assert_int_equal(sum_of(TYPE(FLOAT, 32), a, out, 4, NULL).outside, 1);
	}
}

static void tolerance_by_type(void **state)
{
	const struct {
		dck_dtype a, b;
		double rtol;
	} rows[] = {
	    {TYPE(FLOAT, 32), TYPE(FLOAT, 32), 1e-3},
	    {TYPE(FLOAT, 64), TYPE(FLOAT, 64), 1e-7},
	    {TYPE(FLOAT, 16), TYPE(FLOAT, 32), 1e-2},
	    {TYPE(FLOAT, 32), TYPE(BFLOAT, 16), 8e-2},
	    {TYPE(INT, 64), TYPE(INT, 64), 0},
	    {TYPE(BOOL, 8), TYPE(BOOL, 8), 0},
	    {TYPE(COMPLEX, 64), TYPE(COMPLEX, 64), 1e-3},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_true(compared_limits_of(rows[i].a, rows[i].b, NULL).rtol == rows[i].rtol);
	assert_true(compared_limits_of(rows[0].a, rows[0].b, EXACTLY).rtol == 0);
}

static void not_a_number(void **state)
{
	float a[] = {NAN, 1, INFINITY, -INFINITY, NAN, 5},
	      b[] = {NAN, NAN, INFINITY, INFINITY, 4, 5};
	compared_sum s = sum_of(TYPE(FLOAT, 32), a, b, 6, NULL);

	(void)state;
	assert_int_equal(s.nan_a, 2);
	assert_int_equal(s.nan_b, 2);
	assert_int_equal(s.inf_a, 2);
	assert_int_equal(s.inf_b, 2);
	assert_int_equal(s.unlike, 3);
	assert_int_equal(s.outside, 3);
	assert_int_equal(s.finite, 1);
	assert_int_equal(s.worst, 1);
	assert_true(s.max_abs == 0);
	assert_true(compared_cosine_gap(&s) == 0);
}

static void nothing_that_is_finite(void **state)
{
	float a[] = {NAN}, b[] = {NAN};
	compared_sum s = sum_of(TYPE(FLOAT, 32), a, b, 1, NULL);

	(void)state;
	assert_int_equal(s.outside, 0);
	assert_true(isnan(compared_mean_abs(&s)));
	assert_true(isnan(compared_mean_rel(&s)));
	assert_true(isnan(compared_cosine_gap(&s)));
	s = sum_of(TYPE(FLOAT, 32), a, b, 0, NULL);
	assert_int_equal(s.n, 0);
	assert_true(isnan(compared_mean_abs(&s)));
}

static void equal_for_want_of_anything(void **state)
{
	float zero[] = {0, -0.0f, 0}, one[] = {1, 1, 1}, near[] = {1, 1, 1.0001f},
	      nan[] = {NAN, 1, 2}, most[] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 1},
	      large[] = {INFINITY, -INFINITY, INFINITY};
	const struct {
		float *a, *b;
		int64_t n;
		const char *says; /* NULL: no difference */
	} rows[] = {
	    {zero, zero, 3, "all of its 3 elements are 0 in both"},
	    {one, one, 3, "all of its 3 elements are 1 in both"},
	    {zero, one, 3, "all of its 3 elements are 0, and 1 in the other"},
	    {one, one, 1, NULL},
	    {near, near, 3, NULL},
	    {one, near, 3, NULL},
	    {zero, zero, 0, "it has no elements"},
	    {nan, nan, 3, NULL},
	    {most, most, 10, "9 of its 10 elements are NaN in both"},
	    {nan, nan, 1, "all of its 1 elements are NaN in both"},
	    {nan, one, 3, NULL},
	    {large, large, 3, "none of its 3 elements is finite"},
	};
	char buf[120];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		compared_sum s = sum_of(TYPE(FLOAT, 32), rows[i].a, rows[i].b, rows[i].n, NULL);
		const char *got = compared_degenerate(&s, buf, sizeof buf);
		if (rows[i].says ? !got || strcmp(got, rows[i].says) != 0 : got != NULL)
			fail_msg("row %zu: %s", i, got ? got : "nothing");
	}
}

static void units_in_the_last_place(void **state)
{
	float f[] = {1, -1, 0x1p-149f, 0}, g[] = {nextafterf(1, 2), -1, -0x1p-149f, 0};
	double d[] = {1}, e[] = {1 + 5 * 0x1p-52};
	uint16_t h[] = {0x3c00, 0x0001}, k[] = {0x3c03, 0x8001};

	(void)state;
	assert_int_equal(sum_of(TYPE(FLOAT, 32), f, g, 4, NULL).max_ulp, 2);
	assert_int_equal(sum_of(TYPE(FLOAT, 32), f, g, 2, NULL).max_ulp, 1);
	assert_int_equal(sum_of(TYPE(FLOAT, 64), d, e, 1, NULL).max_ulp, 5);
	assert_int_equal(sum_of(TYPE(FLOAT, 16), h, k, 2, NULL).max_ulp, 3);
	assert_int_equal(sum_of(TYPE(BFLOAT, 16), h, k, 1, NULL).max_ulp, 3);
	assert_true(sum_of(TYPE(FLOAT, 32), f, g, 1, NULL).has_ulp);
	assert_false(sum_of(TYPE(INT, 32), f, g, 1, NULL).has_ulp);
}

static void integers_to_the_last_unit(void **state)
{
	int64_t a[] = {INT64_MAX, INT64_MIN}, b[] = {INT64_MAX - 1, INT64_MIN};
	uint64_t c[] = {UINT64_MAX}, d[] = {UINT64_MAX - 1};
	uint8_t e[] = {0, 2}, f[] = {0, 1};

	(void)state;
	assert_true(sum_of(TYPE(INT, 64), a, b, 2, NULL).max_abs == 1);
	assert_int_equal(sum_of(TYPE(INT, 64), a, b, 2, NULL).outside, 1);
	assert_true(sum_of(TYPE(UINT, 64), c, d, 1, NULL).max_abs == 1);
	assert_int_equal(sum_of(TYPE(UINT, 8), e, f, 2, NULL).outside, 1);
	assert_int_equal(sum_of(TYPE(UINT, 8), e, f, 2, &(const compared_limits){0, 1}).outside, 0);
	assert_int_equal(sum_of(TYPE(BOOL, 8), e, f, 2, NULL).outside, 0); /* both are true */
}

static void types_may_differ(void **state)
{
	float a[] = {1, 1.0004f};
	uint16_t b[] = {0x3c00, 0x3c00};
	const dck_tensor ta = tensor(a, TYPE(FLOAT, 32), 2), tb = tensor(b, TYPE(FLOAT, 16), 2);
	const compared_limits l = compared_limits_of(ta.dtype, tb.dtype, NULL);
	compared_sum s = {0};

	(void)state;
	compared_add(&s, &ta, &tb, &l);
	assert_int_equal(s.differing, 1);
	assert_int_equal(s.outside, 0);
	assert_false(s.has_ulp);
}

static void several_sets_add_up(void **state)
{
	float a[] = {1, 2}, b[] = {1, 2.5f}, c[] = {4, 2};
	const dck_tensor ta = tensor(a, TYPE(FLOAT, 32), 2), tb = tensor(b, TYPE(FLOAT, 32), 2),
			 tc = tensor(c, TYPE(FLOAT, 32), 2);
	compared_sum s = {0};

	(void)state;
	compared_add(&s, &ta, &tb, EXACTLY);
	compared_add(&s, &ta, &tc, EXACTLY);
	assert_int_equal(s.sets, 2);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.outside, 2);
	assert_int_equal(s.worst_set, 1);
	assert_int_equal(s.worst, 0);
	near(s.max_abs, 3);
	near(compared_mean_abs(&s), 3.5 / 4);
}

/* Every half value is exact as a float and converts back; ties round to even. */
static void halves_there_and_back(void **state)
{
	(void)state;
	for (unsigned u = 0; u < 65536; u++) {
		for (int bf = 0; bf < 2; bf++) {
			uint16_t half = (uint16_t)u, again = 0;
			float f = 0;
			const dck_dtype t = bf ? TYPE(BFLOAT, 16) : TYPE(FLOAT, 16);
			dck_tensor th = tensor(&half, t, 1), tf = tensor(&f, TYPE(FLOAT, 32), 1),
				   ta = tensor(&again, t, 1);

			assert_true(compared_convert(&tf, &th));
			assert_true(compared_convert(&ta, &tf));
			if (isnan(f))
				assert_int_equal(again & (bf ? 0x7fc0 : 0x7e00),
						 bf ? 0x7fc0 : 0x7e00);
			else
				assert_int_equal(again, half);
		}
	}
}

static void halves_are_rounded_to_even(void **state)
{
	const struct {
		double v;
		unsigned f16, bf16;
	} rows[] = {
	    {1 + 0x1p-11, 0x3c00, 0x3f80}, {1 + 3 * 0x1p-11, 0x3c02, 0x3f80},
	    {65519, 0x7bff, 0x4780},	   {65520, 0x7c00, 0x4780},
	    {0x1p-25, 0x0000, 0x3300},	   {0x1.8p-24, 0x0002, 0x33c0},
	    {-0.1, 0xae66, 0xbdcd},	   {1e39, 0x7c00, 0x7f80},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		double v = rows[i].v;
		uint16_t h = 0, b = 0;
		dck_tensor tv = tensor(&v, TYPE(FLOAT, 64), 1), th = tensor(&h, TYPE(FLOAT, 16), 1),
			   tb = tensor(&b, TYPE(BFLOAT, 16), 1);

		assert_true(compared_convert(&th, &tv));
		assert_true(compared_convert(&tb, &tv));
		assert_int_equal(h, rows[i].f16);
		assert_int_equal(b, rows[i].bf16);
	}
}

/* --- targets: an engine that returns its input, with the test's change */

struct dck_engine_model {
	dck_tensor_info in, out[3];
	size_t nout;
	float add; /* added to the last element of the first output */
	bool text, failing;
	const char *tf32; /* a fact; NULL: not reported */
	int64_t out_n;	  /* elements of the first output; 0: as many as the input */
};

struct dck_engine_context {
	const dck_engine_model *model;
	dck_tensor x;
	float y[16];
};

static dck_status echo_bind(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	(void)err;
	assert_int_equal(index, 0);
	c->x = *t;
	return DCK_OK;
}

static dck_status echo_run(dck_engine_context *c, dck_err *err)
{
	if (c->model->failing)
		DCK_FAIL(err, E_ENGINE, "it fails");
	memcpy(c->y, c->x.data, (size_t)c->x.bytes);
	c->y[c->x.dim[0] - 1] += c->model->add;
	return DCK_OK;
}

static dck_status echo_output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	if (index == 0 && c->model->text)
		DCK_FAIL(err, E_UNSUP, "it is text");
	*ret = c->x;
	ret->data = index == 0 ? c->y : c->x.data;
	if (c->model->out_n)
		ret->dim[0] = c->model->out_n;
	ret->bytes = (uint64_t)ret->dim[0] * dck_dtype_bytes(ret->dtype);
	return DCK_OK;
}

static dck_status echo_facts(dck_engine_model *m, const dck_kv **ret, size_t *ret_n, dck_err *err)
{
	static dck_kv facts[1];

	(void)err;
	facts[0] = (dck_kv){"tf32", m->tf32};
	*ret = facts;
	*ret_n = m->tf32 != NULL;
	return DCK_OK;
}

static const dck_engine echo = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .name = "echo",
    .bind_input = echo_bind,
    .run = echo_run,
    .output = echo_output,
    .facts = echo_facts,
};

static dck_engine_model model_of(const char *in, const char *out)
{
	dck_engine_model m = {.nout = 1};

	m.in = (dck_tensor_info){.name = in, .dtype = TYPE(FLOAT, 32), .rank = 1, .dim = {8}};
	m.out[0] = m.in;
	m.out[0].name = out;
	m.out[1] = m.out[2] = m.in;
	return m;
}

typedef struct opened {
	subject_target t;
	dck_engine_model m;
	dck_engine_context c;
} opened;

static void target_open(opened *o, const dck_engine_model *m, uint64_t sets, uint64_t seed)
{
	const dck_model_config config = {.input_pool = sets, .seed = seed};

	memset(o, 0, sizeof *o);
	o->c.model = m;
	o->t.engine.ops = &echo;
	o->m = *m;
	o->t.model = &o->m;
	o->t.context = &o->c;
	o->t.in = &m->in;
	o->t.nin = 1;
	o->t.out = m->out;
	o->t.nout = m->nout;
	assert_int_equal(subject_inputs_new(&m->in, 1, NULL, &config, &o->t.inputs, NULL), DCK_OK);
	o->t.pool = subject_inputs_pool(o->t.inputs);
}

static dck_status compare(const dck_engine_model *a, const dck_engine_model *b, uint64_t sets,
			  compared *ret, dck_err *err)
{
	opened x, y;
	dck_status status;

	target_open(&x, a, sets, 1);
	target_open(&y, b, sets, 2);
	status = compared_targets(&x.t, &y.t, NULL, NULL, ret, err);
	/* b gets its own values again */
	if (status == DCK_OK)
		assert_ptr_equal(y.c.x.data, subject_inputs_get(y.t.inputs, 0, 0)->data);
	subject_inputs_free(x.t.inputs);
	subject_inputs_free(y.t.inputs);
	return status;
}

static void both_get_the_same_inputs(void **state)
{
	const dck_engine_model a = model_of("x", "y"), b = model_of("x", "y");
	compared r;

	(void)state;
	assert_int_equal(compare(&a, &b, 3, &r, NULL), DCK_OK);
	assert_int_equal(r.verdict, AGREE_IDENTICAL);
	assert_int_equal(r.noutputs, 1);
	assert_int_equal(r.outputs[0].sum.n, 24);
	assert_string_equal(r.inputs, "the same for both, 3 set(s)");
	compared_done(&r);
}

static void names_that_differ_match_by_position(void **state)
{
	const dck_engine_model a = model_of("x", "y"), b = model_of("input.1", "493");
	compared r;

	(void)state;
	assert_int_equal(compare(&a, &b, 1, &r, NULL), DCK_OK);
	assert_int_equal(r.verdict, AGREE_IDENTICAL);
	assert_string_equal(r.outputs[0].name, "y");
	assert_non_null(strstr(r.inputs, "matched by position"));
	compared_done(&r);
}

static void outputs_that_differ(void **state)
{
	const dck_engine_model a = model_of("x", "y");
	dck_engine_model b = model_of("x", "y");
	compared r;

	(void)state;
	b.add = 100;
	assert_int_equal(compare(&a, &b, 2, &r, NULL), DCK_OK);
	assert_int_equal(r.verdict, AGREE_DIFFERENT);
	assert_int_equal(r.outputs[0].sum.outside, 2);
	assert_int_equal(r.outputs[0].sum.worst, 7);
	assert_true(fabs(r.outputs[0].sum.max_abs - 100) < 1e-4);
	compared_done(&r);
}

static void a_shape_that_differs(void **state)
{
	const dck_engine_model a = model_of("x", "y");
	dck_engine_model b = model_of("x", "y");
	compared r;

	(void)state;
	b.out_n = 7;
	assert_int_equal(compare(&a, &b, 1, &r, NULL), DCK_OK);
	assert_int_equal(r.verdict, AGREE_DIFFERENT);
	assert_false(r.outputs[0].compared);
	assert_string_equal(r.outputs[0].why, "its shape is 8, and 7 in the other");
	compared_done(&r);
}

static void outputs_that_one_does_not_have(void **state)
{
	dck_engine_model a = model_of("x", "y"), b = model_of("x", "z");
	compared r;

	(void)state;
	a.nout = b.nout = 2;
	a.out[1].name = "both";
	b.out[1].name = "both";
	assert_int_equal(compare(&a, &b, 1, &r, NULL), DCK_OK);
	assert_int_equal(r.noutputs, 3);
	assert_string_equal(r.outputs[0].name, "y");
	assert_string_equal(r.outputs[0].why, "only the reference has it");
	assert_int_equal(r.outputs[1].verdict, AGREE_IDENTICAL);
	assert_string_equal(r.outputs[2].name, "z");
	assert_string_equal(r.outputs[2].why, "only the other has it");
	assert_int_equal(r.verdict, AGREE_DIFFERENT);
	compared_done(&r);
}

static void an_output_of_text_among_others(void **state)
{
	dck_engine_model a = model_of("x", "label"), b = model_of("x", "label");
	compared r;

	(void)state;
	a.nout = b.nout = 2;
	a.out[1].name = b.out[1].name = "scores";
	a.text = b.text = true;
	assert_int_equal(compare(&a, &b, 1, &r, NULL), DCK_OK);
	assert_int_equal(r.verdict, AGREE_IDENTICAL);
	assert_int_equal(r.nunknown, 1);
	assert_int_equal(r.outputs[0].verdict, AGREE_UNKNOWN);
	assert_string_equal(r.outputs[0].why, "it is text");
	compared_done(&r);
}

static void what_cannot_be_compared(void **state)
{
	dck_engine_model a = model_of("x", "y"), b = model_of("x", "y");
	compared r;
	dck_err err;
	opened x;

	(void)state;
	a.text = true;
	assert_int_equal(compare(&a, &b, 1, &r, &err), DCK_E_UNSUP);
	assert_string_equal(err.msg, "no output can be compared; 'y': it is text");
	a.text = false;
	b.in.dim[0] = 4;
	assert_int_equal(compare(&a, &b, 1, &r, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "'x' is 8 in the reference and 4 in the other"));
	b.in.dim[0] = 8;
	b.failing = true;
	assert_int_equal(compare(&a, &b, 1, &r, &err), DCK_E_ENGINE);
	assert_string_equal(err.msg, "it fails");
	target_open(&x, &a, 1, 1);
	x.t.nout = 0;
	assert_int_equal(compared_targets(&x.t, &x.t, NULL, NULL, &r, &err), DCK_E_UNSUP);
	subject_inputs_free(x.t.inputs);
}

static bool is_cancelled(void *self)
{
	(void)self;
	return true;
}

static void it_can_be_cancelled(void **state)
{
	const dck_engine_model a = model_of("x", "y");
	const dck_observer watch = {.cancelled = is_cancelled};
	opened x, y;
	compared r;

	(void)state;
	target_open(&x, &a, 1, 1);
	target_open(&y, &a, 1, 1);
	assert_int_equal(compared_targets(&x.t, &y.t, NULL, &watch, &r, NULL), DCK_E_CANCEL);
	subject_inputs_free(x.t.inputs);
	subject_inputs_free(y.t.inputs);
}

static bool stop_later(void *self)
{
	int *asked = self;

	return ++*asked > 2;
}

static void what_was_compared_until_then_is_kept(void **state)
{
	const dck_engine_model a = model_of("x", "y");
	record_builder *builder = record_begin("test");
	int asked = 0;
	const dck_observer watch = {.self = &asked, .cancelled = stop_later};
	dck_record *r;
	opened x, y;
	compared result;

	(void)state;
	target_open(&x, &a, 5, 1);
	target_open(&y, &a, 5, 1);
	assert_int_equal(compared_targets(&x.t, &y.t, NULL, &watch, &result, NULL), DCK_OK);
	assert_int_equal(result.sets, 2);
	assert_int_equal(result.asked, 5);
	assert_int_equal(result.outputs[0].sum.n, 16);
	compared_record(builder, &result, 1);
	assert_int_equal(record_finish(builder, &r, NULL), DCK_OK);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "interrupted"));
	dck_record_free(r);
	compared_done(&result);
	subject_inputs_free(x.t.inputs);
	subject_inputs_free(y.t.inputs);
}

/* Chunks are consecutive along axis 0: the position reported is that in the whole. */
static void parts_of_one_output(void **state)
{
	float a[] = {1, 2, 3, 4}, b[] = {1, 2, 3, 9};
	dck_tensor ta = {.data = a, .dtype = TYPE(FLOAT, 32), .rank = 2, .dim = {2, 2}}, tb = ta;
	compared r;

	(void)state;
	assert_int_equal(compared_begin(&r, "y", "items", NULL), DCK_OK);
	assert_int_equal(compared_part(&r, &ta, &tb, NULL, NULL), DCK_OK);
	tb.data = b;
	assert_int_equal(compared_part(&r, &ta, &tb, NULL, NULL), DCK_OK);
	assert_int_equal(compared_end(&r, NULL), DCK_OK);
	assert_int_equal(r.verdict, AGREE_DIFFERENT);
	assert_int_equal(r.outputs[0].sum.n, 8);
	assert_non_null(strstr(r.outputs[0].why, "worst is [3, 1]: 4 became 9"));
	compared_done(&r);
}

/* --- the record */

static double number(const dck_table *t, size_t row, const char *key)
{
	const dck_cell *c = dck_table_cell(t, row, key);

	assert_non_null(c);
	assert_true(c->value.kind == DCK_VALUE_REAL || c->value.kind == DCK_VALUE_INT);
	return c->value.kind == DCK_VALUE_REAL ? c->value.as.r : (double)c->value.as.i;
}

static void rows_metrics_and_notes(void **state)
{
	const dck_engine_model a = model_of("x", "y");
	dck_engine_model b = model_of("x", "y"), c = model_of("x", "y");
	record_builder *builder = record_begin("test");
	compared list[2];
	dck_record *r;
	const dck_table *t;

	(void)state;
	b.add = 100;
	c.out_n = 7;
	assert_int_equal(compare(&a, &b, 1, &list[0], NULL), DCK_OK);
	assert_int_equal(compare(&a, &c, 1, &list[1], NULL), DCK_OK);
	list[0].label = "B";
	list[1].label = "C";
	assert_int_equal(compared_record(builder, list, 2), AGREE_DIFFERENT);
	assert_int_equal(record_finish(builder, &r, NULL), DCK_OK);
	t = dck_record_table(r, "difference/outputs");
	assert_non_null(t);
	assert_int_equal(t->nrows, 2);
	assert_string_equal(dck_table_cell(t, 0, "output")->value.as.text, "B: y");
	assert_true(fabs(number(t, 0, "max_abs") - 100) < 1e-4);
	assert_true(number(t, 0, "outside") == 1);
	assert_string_equal(dck_table_cell(t, 0, "verdict")->value.as.text, "different");
	assert_int_equal(dck_table_cell(t, 1, "max_abs")->value.kind, DCK_VALUE_ABSENT);
	assert_true(fabs(dck_record_value(r, "difference/max_abs") - 100) < 1e-4);
	assert_true(dck_record_value(r, "difference/cosine") < 1);
	assert_string_equal(dck_record_fact(r, "difference", "verdict")->value.as.text,
			    "different");
	assert_int_equal(r->nnotes, 2);
	assert_string_equal(r->notes[0].code, "outputs-differ");
	assert_int_equal(r->notes[0].severity, DCK_ERROR);
	assert_non_null(strstr(r->notes[1].text, "C: the output 'y'"));
	dck_record_free(r);
	compared_done(&list[0]);
	compared_done(&list[1]);
}

/* Outputs that differ, where one side computes products in TF32: the note has the option. */
static void products_in_tf32(void **state)
{
	static const struct {
		const char *a, *b;
		bool said;
	} cases[] = {
	    {NULL, "on", true}, {"on", "off", true}, {"on", "on", false}, {"off", NULL, false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dck_engine_model a = model_of("x", "y"), b = model_of("x", "y");
		record_builder *builder = record_begin("test");
		compared c;
		dck_record *r;

		a.tf32 = cases[i].a;
		b.tf32 = cases[i].b;
		b.add = 100;
		assert_int_equal(compare(&a, &b, 1, &c, NULL), DCK_OK);
		assert_int_equal(compared_record(builder, &c, 1), AGREE_DIFFERENT);
		assert_int_equal(record_finish(builder, &r, NULL), DCK_OK);
		const char *text = dck_record_note(r, "outputs-differ")->text;
		assert_true((strstr(text, "use_tf32=0") != NULL) == cases[i].said);
		dck_record_free(r);
		compared_done(&c);
	}
}

int test_agree(void);
int test_agree(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(floats_that_are_equal),
	    cmocka_unit_test(floats_that_differ),
	    cmocka_unit_test(tolerance_goes_with_the_size_of_the_output),
	    cmocka_unit_test(tolerance_by_type),
	    cmocka_unit_test(not_a_number),
	    cmocka_unit_test(nothing_that_is_finite),
	    cmocka_unit_test(equal_for_want_of_anything),
	    cmocka_unit_test(units_in_the_last_place),
	    cmocka_unit_test(integers_to_the_last_unit),
	    cmocka_unit_test(types_may_differ),
	    cmocka_unit_test(several_sets_add_up),
	    cmocka_unit_test(halves_there_and_back),
	    cmocka_unit_test(halves_are_rounded_to_even),
	    cmocka_unit_test(both_get_the_same_inputs),
	    cmocka_unit_test(names_that_differ_match_by_position),
	    cmocka_unit_test(outputs_that_differ),
	    cmocka_unit_test(a_shape_that_differs),
	    cmocka_unit_test(outputs_that_one_does_not_have),
	    cmocka_unit_test(an_output_of_text_among_others),
	    cmocka_unit_test(what_cannot_be_compared),
	    cmocka_unit_test(it_can_be_cancelled),
	    cmocka_unit_test(what_was_compared_until_then_is_kept),
	    cmocka_unit_test(parts_of_one_output),
	    cmocka_unit_test(rows_metrics_and_notes),
	    cmocka_unit_test(products_in_tf32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
