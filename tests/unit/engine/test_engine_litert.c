/* test_engine_litert.c - the engine 'litert': sizes of open inputs, memory that is copied and
 * memory that is lent, and memory that runs out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "engine/float_mode.h"
#include "fault_alloc.h"
#include "tflite_twice.h"

extern const dck_engine engine_litert;

static dck_status open_twice(size_t n, dck_engine_model **ret, dck_err *err)
{
	const dck_open_params p = {
	    .struct_size = sizeof p,
	    .device = "cpu",
	    .model_bytes = tflite_twice,
	    .model_bytes_n = n,
	};

	return engine_litert.open(&p, ret, err);
}

/* The same context takes inputs of any number of rows, at any address. */
static void inputs_are_resized(void **state)
{
	enum { ROWS_MAX = 5, AT = 16 };
	_Alignas(64) float memory[AT + 3 * ROWS_MAX + 1];
	static const struct {
		int64_t rows;
		size_t at; /* of the first element: 0 and AT are aligned */
	} cases[] = {{1, 0}, {ROWS_MAX, AT}, {2, 1}, {3, 1}, {3, 0}, {1, 2}};
	dck_engine_model *m = NULL;
	dck_engine_context *c;
	dck_err err = {0};
	dck_tensor y;

	(void)state;
	need_litert();
	open_twice(sizeof tflite_twice, &m, &err);
	assert_string_equal(err.msg, "");
	assert_int_equal(engine_litert.context_new(m, &c, &err), DCK_OK);
	assert_int_equal(engine_litert.output(c, 0, &y, &err), DCK_E_ARG);
	assert_int_equal(engine_litert.run(c, &err), DCK_E_ARG);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		float *x = memory + cases[i].at;
		const dck_tensor t = floats(x, 2, cases[i].rows, 3);
		const uint64_t mode = float_mode_get();

		err = (dck_err){0};
		engine_litert.bind_input(c, 0, &t, &err);
		assert_string_equal(err.msg, "");
		assert_int_equal(engine_litert.prepare(c, &err), DCK_OK);
		for (int run = 1; run < 3; run++) {
			for (int64_t k = 0; k < 3 * cases[i].rows; k++)
				x[k] = (float)(k * run);
			assert_int_equal(engine_litert.run(c, &err), DCK_OK);
			assert_int_equal(engine_litert.output(c, 0, &y, &err), DCK_OK);
			assert_true(y.rank == 2 && y.dim[0] == cases[i].rows && y.dim[1] == 3);
			assert_int_equal(y.bytes, t.bytes);
			for (int64_t k = 0; k < 3 * cases[i].rows; k++)
				assert_true(((float *)y.data)[k] == (float)(2 * k * run));
		}
		assert_int_equal(float_mode_get(), mode);
	}
	engine_litert.context_free(c);
	engine_litert.close(m);
}

static void bytes_that_are_no_model(void **state)
{
	wire_out onnx = model_twice();
	dck_engine_model *m = NULL;
	dck_open_params p = {.struct_size = sizeof p, .device = "cpu"};
	dck_err err = {0};

	(void)state;
	need_litert();
	ear e = ear_open();
	for (size_t n = 1; n < sizeof tflite_twice - 16; n += 7) {
		const dck_status status = open_twice(n, &m, &err);
		assert_true(status == DCK_E_ENGINE || status == DCK_E_FORMAT);
		assert_null(strchr(err.msg, '\n'));
	}
	p.model_bytes = onnx.data;
	p.model_bytes_n = onnx.n;
	assert_int_equal(engine_litert.open(&p, &m, &err), DCK_E_FORMAT);
	p.device = "gpu";
	assert_int_equal(engine_litert.open(&p, &m, &err), DCK_E_ARG);
	ear_close_silent(e);
	wire_out_done(&onnx);
}

/* Operators have times in the order of the runs. */
static void operators_are_timed(void **state)
{
	const dck_open_params p = {.struct_size = sizeof p,
				   .device = "cpu",
				   .model_bytes = tflite_twice,
				   .model_bytes_n = sizeof tflite_twice,
				   .observe = DCK_OBSERVE_OPERATORS};
	dck_profile profile = {.struct_size = sizeof profile};
	float x[3] = {1, 2, 3};
	const dck_tensor t = floats(x, 2, 1, 3);
	dck_engine_model *m = NULL;
	dck_engine_context *c;
	dck_err err = {0};

	(void)state;
	need_litert();
	engine_litert.open(&p, &m, &err);
	assert_string_equal(err.msg, "");
	assert_int_equal(engine_litert.context_new(m, &c, &err), DCK_OK);
	assert_int_equal(engine_litert.bind_input(c, 0, &t, &err), DCK_OK);
	for (int run = 0; run < 4; run++)
		assert_int_equal(engine_litert.run(c, &err), DCK_OK);
	assert_int_equal(engine_profile(&engine_litert, m, &profile, &err), DCK_OK);
	assert_int_equal(profile.nruns, 4);
	assert_int_equal(profile.nevents, 4);
	for (size_t i = 0; i < profile.nevents; i++) {
		assert_int_equal(profile.events[i].run, i);
		assert_string_equal(profile.events[i].type, "Add");
		assert_string_equal(profile.events[i].name, "Add (ND) 0");
		assert_string_equal(profile.events[i].provider, "XNNPACK");
		assert_ptr_equal(profile.events[i].name, profile.events[0].name);
	}
	engine_litert.context_free(c);
	engine_litert.close(m);
}

static void each_allocation_of_it_may_fail(void **state)
{
	float x[3] = {1, 2, 3};
	const dck_tensor t = floats(x, 2, 1, 3);

	(void)state;
	need_litert();
	for (size_t n = 1;; n++) {
		dck_engine_model *m = NULL;
		dck_engine_context *c = NULL;
		fault_alloc f;
		dck_err err = {0};

		assert_true(n < 1000);
		fault_alloc_begin(&f, n);
		dck_status status = open_twice(sizeof tflite_twice, &m, &err);
		if (status == DCK_OK)
			status = engine_litert.context_new(m, &c, &err);
		if (status == DCK_OK)
			status = engine_litert.bind_input(c, 0, &t, &err);
		if (status == DCK_OK)
			status = engine_litert.run(c, &err);
		engine_litert.context_free(c);
		engine_litert.close(m);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		if (f.calls < n) {
			assert_int_equal(status, DCK_OK);
			break;
		}
	}
}

int test_engine_litert(void);
int test_engine_litert(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(inputs_are_resized),
	    cmocka_unit_test(bytes_that_are_no_model),
	    cmocka_unit_test(operators_are_timed),
	    cmocka_unit_test(each_allocation_of_it_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
