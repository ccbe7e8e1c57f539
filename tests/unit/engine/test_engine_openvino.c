/* test_engine_openvino.c - the engine 'openvino': messages, sizes that are fixed before it
 * compiles, open shapes, and memory that runs out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "engine/float_mode.h"
#include "fault_alloc.h"

extern const dck_engine engine_openvino;
extern const dck_engine engine_null;

static dck_status open_sized(const wire_out *w, const dck_tensor_info *shape, const dck_kv *option,
			     dck_engine_model **ret, dck_err *err)
{
	const dck_open_params p = {
	    .struct_size = sizeof p,
	    .device = "cpu",
	    .model_bytes = w->data,
	    .model_bytes_n = w->n,
	    .options = option,
	    .noptions = option ? 1 : 0,
	    .shapes = shape,
	    .nshapes = shape ? 1 : 0,
	};

	return engine_openvino.open(&p, ret, err);
}

static void sentences_are_cleaned(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
	    {"", ""},
	    {"\n\n", ""},
	    {"Exception from src/inference/src/cpp/core.cpp:264:\n"
	     "Exception from src/plugins/intel_cpu/src/config.cpp:505:\n"
	     "NotFound: Unsupported property NO_SUCH by CPU plugin.\n\n\n",
	     "NotFound: Unsupported property NO_SUCH by CPU plugin"},
	    {"Exception from src/inference/src/cpp/core.cpp:84:\n"
	     "Check 'm_model->ParseFromIstream(&f)' failed at src/x/graph_iterator_proto.cpp:563:\n"
	     "FrontEnd API failed with GeneralFailure:\nModel can't be parsed\n\n",
	     "Model can't be parsed"},
	    {"Unable to read the model: \"a.xml\" Please check that model format: \".xml\" is fine",
	     "Unable to read the model: \"a.xml\""},
	    {"one\n\ttwo   three\n", "one two three"},
	};
	char sentence[100], small[8];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		ov_sentence(cases[i].text, sentence, sizeof sentence);
		assert_string_equal(sentence, cases[i].sentence);
	}
	ov_sentence("a long text", small, sizeof small);
	assert_true(strlen(small) < sizeof small);
}

static int64_t first_dim(dck_engine_model *m)
{
	const dck_tensor_info *in, *out;
	size_t nin, nout;
	dck_err err;

	assert_int_equal(engine_openvino.describe(m, &in, &nin, &out, &nout, &err), DCK_OK);
	assert_true(nin == 1 && nout == 1 && in->rank == 2 && out->rank == 2);
	assert_int_equal(in->dim[0], out->dim[0]);
	return in->dim[0];
}

/* A size that the host knows is compiled in, unless shapes=open. */
static void sizes_are_fixed(void **state)
{
	static const dck_kv open = {"shapes", "open"};
	const dck_tensor_info two = {.name = "x", .rank = 2, .dim = {2, 3}};
	const dck_tensor_info other = {.name = "z", .rank = 2, .dim = {2, 3}};
	/* What the model fixes stays. */
	const dck_tensor_info wrong = {.name = "x", .rank = 2, .dim = {2, 4}};
	wire_out w = model_twice();
	float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
	const struct {
		const dck_tensor_info *shape;
		const dck_kv *option;
		int64_t dim;
	} cases[] = {{&two, NULL, 2},
		     {NULL, NULL, -1},
		     {&other, NULL, -1},
		     {&two, &open, -1},
		     {&wrong, NULL, 2}};

	(void)state;
	need_openvino();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dck_tensor t = floats(x, 2, 3, 3), y;
		dck_engine_model *m = NULL;
		dck_engine_context *c;
		dck_err err = {0};

		open_sized(&w, cases[i].shape, cases[i].option, &m, &err);
		assert_string_equal(err.msg, "");
		assert_int_equal(first_dim(m), cases[i].dim);
		assert_int_equal(engine_openvino.context_new(m, &c, &err), DCK_OK);
		assert_int_equal(engine_openvino.output(c, 0, &y, &err), DCK_E_ARG);
		if (cases[i].dim == 2) {
			assert_int_equal(engine_openvino.bind_input(c, 0, &t, &err), DCK_E_ARG);
			t = floats(x, 2, 2, 3);
		}
		const uint64_t mode = float_mode_get();
		assert_int_equal(engine_openvino.bind_input(c, 0, &t, &err), DCK_OK);
		assert_int_equal(engine_openvino.run(c, &err), DCK_OK);
		assert_int_equal(float_mode_get(), mode);
		assert_int_equal(engine_openvino.output(c, 0, &y, &err), DCK_OK);
		assert_int_equal(y.dim[0], t.dim[0]);
		assert_true(((float *)y.data)[y.bytes / sizeof(float) - 1] ==
			    2 * x[y.bytes / sizeof(float) - 1]);
		engine_openvino.context_free(c);
		engine_openvino.close(m);
	}
	wire_out_done(&w);
}

/* The indices of non-zero elements: the shape of the output depends on the data. */
static void outputs_may_grow(void **state)
{
	wire_out w = model_nonzero();
	float x[4] = {0, 1, 0, 0};
	dck_tensor t = floats(x, 1, 4, 0), y;
	dck_engine_model *m = NULL;
	dck_engine_context *c;
	dck_err err = {0};

	(void)state;
	need_openvino();
	open_sized(&w, NULL, NULL, &m, &err);
	assert_string_equal(err.msg, "");
	assert_int_equal(engine_openvino.context_new(m, &c, &err), DCK_OK);
	assert_int_equal(engine_openvino.bind_input(c, 0, &t, &err), DCK_OK);
	for (int64_t n = 1; n <= 3; n++) {
		x[n] = 1;
		assert_int_equal(engine_openvino.run(c, &err), DCK_OK);
		assert_int_equal(engine_openvino.output(c, 0, &y, &err), DCK_OK);
		assert_true(y.rank == 2 && y.dim[0] == 1 && y.dim[1] == n);
		assert_int_equal(((int64_t *)y.data)[n - 1], n);
	}
	engine_openvino.context_free(c);
	engine_openvino.close(m);
	wire_out_done(&w);
}

static void a_scalar_is_read(void **state)
{
	wire_out w = model_of("Neg", "x", ELEMENT_FLOAT, 0, NULL, ELEMENT_FLOAT, 0, NULL);
	float x[1] = {2};
	dck_tensor t = floats(x, 0, 0, 0), y;
	dck_engine_model *m = NULL;
	dck_engine_context *c;
	dck_err err = {0};

	(void)state;
	need_openvino();
	open_sized(&w, NULL, NULL, &m, &err);
	assert_string_equal(err.msg, "");
	assert_int_equal(engine_openvino.context_new(m, &c, &err), DCK_OK);
	t.bytes = sizeof x;
	assert_int_equal(engine_openvino.bind_input(c, 0, &t, &err), DCK_OK);
	assert_int_equal(engine_openvino.run(c, &err), DCK_OK);
	assert_int_equal(engine_openvino.output(c, 0, &y, &err), DCK_OK);
	assert_true(y.rank == 0 && y.bytes == sizeof(float) && *(float *)y.data == -2);
	engine_openvino.context_free(c);
	engine_openvino.close(m);
	wire_out_done(&w);
}

static void bytes_that_are_no_model(void **state)
{
	wire_out w = model_twice();
	dck_engine_model *m = NULL;
	dck_err err = {0};

	(void)state;
	need_openvino();
	w.n /= 2;
	ear e = ear_open();
	assert_int_equal(open_sized(&w, NULL, NULL, &m, &err), DCK_E_ENGINE);
	ear_close_silent(e);
	assert_null(strchr(err.msg, '\n'));
	assert_non_null(strstr(err.msg, "refuses the model: "));
	wire_out_done(&w);
}

static void each_allocation_of_it_may_fail(void **state)
{
	const dck_tensor_info two = {.name = "x", .rank = 2, .dim = {1, 3}};
	wire_out w = model_twice();
	float x[3] = {1, 2, 3};
	const dck_tensor t = floats(x, 2, 1, 3);

	(void)state;
	need_openvino();
	for (size_t n = 1;; n++) {
		dck_engine_model *m = NULL;
		dck_engine_context *c = NULL;
		fault_alloc f;
		dck_err err = {0};

		assert_true(n < 1000);
		fault_alloc_begin(&f, n);
		dck_status status = open_sized(&w, &two, NULL, &m, &err);
		if (status == DCK_OK)
			status = engine_openvino.context_new(m, &c, &err);
		if (status == DCK_OK)
			status = engine_openvino.bind_input(c, 0, &t, &err);
		if (status == DCK_OK)
			status = engine_openvino.run(c, &err);
		engine_openvino.context_free(c);
		engine_openvino.close(m);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		if (f.calls < n) {
			assert_int_equal(status, DCK_OK);
			break;
		}
	}
	wire_out_done(&w);
}

static void formats_are_by_the_end_of_the_name(void **state)
{
	dck_engine e = engine_openvino;

	(void)state;
	assert_true(engine_reads(&e, "a.xml") && engine_reads(&e, "/b/a.tflite"));
	assert_false(engine_reads(&e, "a.onnx") || engine_reads(&e, "xml") ||
		     engine_reads(&e, "a.x") || engine_reads(&e, "a.xmlx") ||
		     engine_reads(&e, "a. xml"));
	assert_false(engine_reads(&engine_null, "a.xml"));
	e.struct_size = offsetof(dck_engine, formats); /* a plug-in of minor version 4 */
	assert_false(engine_reads(&e, "a.xml"));
}

int test_engine_openvino(void);
int test_engine_openvino(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sentences_are_cleaned),
	    cmocka_unit_test(sizes_are_fixed),
	    cmocka_unit_test(outputs_may_grow),
	    cmocka_unit_test(a_scalar_is_read),
	    cmocka_unit_test(bytes_that_are_no_model),
	    cmocka_unit_test(each_allocation_of_it_may_fail),
	    cmocka_unit_test(formats_are_by_the_end_of_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
