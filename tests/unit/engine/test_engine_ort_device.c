/* test_engine_ort_device.c - the engine 'ort' on a GPU in software: a tensor that the device cannot
 * hold leaves nothing of itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "engine/ort/ort_model.h"
#include "webgpu_test.h"

#define WIDTH	 65536
#define TIMES	 50
#define FITS	 4
#define TOO_MANY 16384 /* rows of 256 KiB: 4 GiB, and a buffer has at most 2 there */

extern const dck_engine engine_ort;

/* --- ONNX Runtime's objects, counted */

static ort_api real;
static long values, bindings, allocators, arrays;

static long count(long *of, ort_status *s)
{
	*of += s == NULL;
	return *of;
}

static ort_status *tensor_new(ort_allocator *a, const int64_t *dims, size_t rank, int type,
			      ort_value **ret)
{
	ort_status *s = real.CreateTensorAsOrtValue(a, dims, rank, type, ret);

	count(&values, s);
	return s;
}

static ort_status *tensor_of(const ort_memory *m, void *data, size_t bytes, const int64_t *dims,
			     size_t rank, int type, ort_value **ret)
{
	ort_status *s = real.CreateTensorWithDataAsOrtValue(m, data, bytes, dims, rank, type, ret);

	count(&values, s);
	return s;
}

static void value_free(ort_value *v)
{
	values--;
	real.ReleaseValue(v);
}

static ort_status *outputs_get(const ort_binding *b, ort_allocator *a, ort_value ***ret,
			       size_t *ret_n)
{
	ort_status *s = real.GetBoundOutputValues(b, a, ret, ret_n);

	count(&arrays, s);
	for (size_t i = 0; !s && i < *ret_n; i++)
		values += (*ret)[i] != NULL;
	return s;
}

static ort_status *array_free(ort_allocator *a, void *p)
{
	arrays--;
	return real.AllocatorFree(a, p);
}

static ort_status *binding_new(ort_session *session, ort_binding **ret)
{
	ort_status *s = real.CreateIoBinding(session, ret);

	count(&bindings, s);
	return s;
}

static void binding_free(ort_binding *b)
{
	bindings--;
	real.ReleaseIoBinding(b);
}

static ort_status *allocator_new(const ort_session *session, const ort_memory *m,
				 ort_allocator **ret)
{
	ort_status *s = real.CreateAllocator(session, m, ret);

	count(&allocators, s);
	return s;
}

static void allocator_free(ort_allocator *a)
{
	allocators--;
	real.ReleaseAllocator(a);
}

static void objects_count(dck_engine_model *m)
{
	ort_api *a = &m->lib.api;

	real = *a;
	a->CreateTensorAsOrtValue = tensor_new;
	a->CreateTensorWithDataAsOrtValue = tensor_of;
	a->ReleaseValue = value_free;
	a->GetBoundOutputValues = outputs_get;
	a->AllocatorFree = array_free;
	a->CreateIoBinding = binding_new;
	a->ReleaseIoBinding = binding_free;
	a->CreateAllocator = allocator_new;
	a->ReleaseAllocator = allocator_free;
}

/* --- the device */

/* Each number of x as a row of WIDTH sums: large outputs of small inputs. */
static wire_out model_rows(void)
{
	static float zeros[WIDTH];
	wire_out w = {0};
	const size_t g = graph_begin(&w);

	put_node(&w, "Add", "x w", "y");
	const size_t at = wire_begin(&w, 5);
	wire_put_int(&w, 1, 1);
	wire_put_int(&w, 1, WIDTH);
	wire_put_int(&w, 2, ELEMENT_FLOAT);
	wire_put_text(&w, 8, "w");
	wire_put_bytes(&w, 9, zeros, sizeof zeros);
	wire_end(&w, at);
	put_input(&w, "x", ELEMENT_FLOAT, DIMS(-1, 1));
	put_value(&w, 12, "y", ELEMENT_FLOAT, DIMS(-1, WIDTH));
	graph_end(&w, g);
	return w;
}

static dck_engine_model *opened(dck_err *err)
{
	wire_out w = model_rows();
	const dck_open_params p = {.struct_size = sizeof p,
				   .model_bytes = w.data,
				   .model_bytes_n = w.n,
				   .device = "webgpu"};
	dck_engine_model *m = NULL;
	const dck_status status = engine_ort.open(&p, &m, err);

	wire_out_done(&w);
	return status == DCK_OK ? m : NULL;
}

/* Runs that many rows in a context of its own. */
static dck_status rows_run(dck_engine_model *m, int64_t rows, dck_err *err)
{
	static float x[TOO_MANY];
	const dck_tensor t = floats(x, 2, rows, 1);
	dck_engine_context *c = NULL;
	dck_tensor y = {0};

	x[0] = 7;
	assert_int_equal(engine_context_new(&engine_ort, m, &c, err), DCK_OK);
	dck_status status = engine_bind_input(&engine_ort, c, 0, &t, err);
	if (status == DCK_OK)
		status = engine_prepare(&engine_ort, c, err);
	if (status == DCK_OK)
		status = engine_run(&engine_ort, c, err);
	if (status == DCK_OK)
		status = engine_output(&engine_ort, c, 0, &y, err);
	if (status == DCK_OK)
		assert_true(((const float *)y.data)[WIDTH - 1] == 7);
	engine_ort.context_free(c);
	return status;
}

static void exhausted_memory_leaves_nothing(void **state)
{
	dck_err err = {0};

	(void)state;
	need_ort();
	need_webgpu();
	dck_engine_model *m = opened(&err);
	if (!m)
		fail_msg("%s", err.msg);
	objects_count(m);
	for (int i = 0; i < TIMES; i++) {
		if (rows_run(m, TOO_MANY, &err) != DCK_E_NOMEM)
			fail_msg("after %d times: %s", i, err.msg);
		assert_int_equal(values, 0);
		err = (dck_err){0};
		if (rows_run(m, FITS, &err) != DCK_OK)
			fail_msg("after %d times: %s", i + 1, err.msg);
		assert_int_equal(values, 0);
		assert_true(bindings == 0 && allocators == 0 && arrays == 0);
	}
	engine_ort.close(m);
}

int test_engine_ort_device(void);
int test_engine_ort_device(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(exhausted_memory_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
