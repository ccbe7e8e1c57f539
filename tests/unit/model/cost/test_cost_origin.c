/* test_cost_origin.c - parameters of a file of PyTorch's newer exporter, which states them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/wire.h"
#include "model/cost/cost_model.h"

enum { GRAPH = 7, NODE = 1, INITIALIZER = 5, INPUT = 11, OUTPUT = 12, VALUE = 13 };

static void metadata_put(wire_out *w, uint32_t field, const char *key, const char *text)
{
	const size_t mark = wire_begin(w, field);

	wire_put_text(w, 1, key);
	wire_put_text(w, 2, text);
	wire_end(w, mark);
}

static void node_put(wire_out *w, const char *op, const char *a, const char *b, const char *y)
{
	const size_t mark = wire_begin(w, NODE);

	wire_put_text(w, 1, a);
	wire_put_text(w, 1, b);
	wire_put_text(w, 2, y);
	wire_put_text(w, 4, op);
	wire_end(w, mark);
}

/* A matrix of rows x 4, and what it was folded from. */
static void matrix_put(wire_out *w, int64_t rows, const char *name, const char *folded_from)
{
	size_t mark = wire_begin(w, INITIALIZER);

	wire_put_int(w, 1, rows);
	wire_put_int(w, 1, 4);
	wire_put_int(w, 2, ONNX_FLOAT);
	wire_put_text(w, 8, name);
	wire_end(w, mark);
	if (!folded_from)
		return;
	mark = wire_begin(w, VALUE);
	wire_put_text(w, 1, name);
	metadata_put(w, 4, "pkg.onnxscript.optimizer.folded_from", folded_from);
	wire_end(w, mark);
}

static void network_put(wire_out *w, const char *signature)
{
	static const char *const ends[] = {"x", "y"};

	wire_put_int(w, 1, 8);
	size_t graph = wire_begin(w, GRAPH);
	node_put(w, "MatMul", "x", "val_1", "a");
	node_put(w, "Add", "a", "pe", "b");
	node_put(w, "Add", "b", "index_1", "c");
	node_put(w, "Mul", "c", "cos", "d");
	node_put(w, "Add", "d", "bias", "e");
	node_put(w, "MatMul", "e", "tied", "f");
	node_put(w, "MatMul", "f", "val_2", "y");
	matrix_put(w, 4, "val_1", "['linear.weight']");
	matrix_put(w, 1, "pe", NULL);
	matrix_put(w, 2, "index_1", "['table', 'val_3']");
	matrix_put(w, 1, "cos", "['pe', 'val_4']");
	matrix_put(w, 1, "bias", NULL);
	matrix_put(w, 4, "tied", NULL);
	matrix_put(w, 4, "val_2", "['tied']");
	for (size_t i = 0; i < 2; i++) {
		const size_t value = wire_begin(w, i ? OUTPUT : INPUT);

		wire_put_text(w, 1, ends[i]);
		wire_end(w, value);
	}
	if (signature)
		metadata_put(w, 16, "pkg.torch.export.ExportedProgram.graph_signature", signature);
	wire_end(w, graph);
}

static void counts(const char *signature, const char *parameters, const char *buffers,
		   size_t folded, size_t from_parameters)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;
	dck_err err = {0};

	network_put(&w, signature);
	if (onnx_read_bytes(w.data, w.n, a, &m, &err) != DCK_OK ||
	    cost_model(m, NULL, a, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_string_equal(sym_text(r->nums, r->params), parameters);
	assert_string_equal(sym_text(r->nums, r->buffers), buffers);
	assert_int_equal(r->constant_floats, folded);
	assert_int_equal(r->folded_parameters, from_parameters);
	mem_arena_free(a);
	wire_out_done(&w);
}

static void the_file_states_parameters(void **state)
{
	(void)state;
	counts("\n# inputs\np_linear_weight: PARAMETER target='linear.weight'\n"
	       "p_table: PARAMETER target='table'\np_bias: PARAMETER target='bias'\n"
	       "p_tied: PARAMETER target='tied'\nb_pe: BUFFER target='pe' persistent=True\n"
	       "x: USER_INPUT\n\n# outputs\ny: USER_OUTPUT\n",
	       "36", "4", 12, 8);
	/* All that is trained or added, as without metadata. */
	counts("x: USER_INPUT\n", "68", "0", 0, 0);
	counts(NULL, "68", "0", 0, 0);
}

int test_cost_origin(void);
int test_cost_origin(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_file_states_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
