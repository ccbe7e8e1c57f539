/* test_cost_sweep.c - every rule of every operator, with unexpected inputs and attributes: a result
 * or a reason, nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "hostile.h"

/* --- every rule, with unexpected inputs and attributes */

#define KINDS 9
static void put_kinds(wire_out *w)
{
	const int64_t big = INT64_C(1) << 62;
	int64_t deep[COST_RANK_MAX], deeper[COST_RANK_MAX + 8];

	for (int i = 0; i < COST_RANK_MAX; i++)
		deep[i] = 2;
	for (int i = 0; i < COST_RANK_MAX + 8; i++)
		deeper[i] = 1;
	put_input(w, "k0", ONNX_FLOAT, 0, NULL);
	put_input(w, "k1", ONNX_FLOAT, DIMS(2, 3, 4, 5));
	put_input(w, "k2", ONNX_FLOAT, DIMS(big, big, big));
	put_input(w, "k3", ONNX_FLOAT, COST_RANK_MAX, deep);
	put_input(w, "k4", 77, DIMS(-1, 0, 3));
	put_constant(w, "k5", 4, (const int64_t[]){INT64_MAX, INT64_MIN, -1, 0});
	put_constant(w, "k6", 2, (const int64_t[]){0, 1});
	put_input(w, "k7", ONNX_INT64, COST_RANK_MAX + 8, deeper);
	put_node(w, "SequenceConstruct", "k1 k2", "k8");
}

/* Every attribute that a rule reads. */
static const char *const attributes[] = {"axis",
					 "axes",
					 "keepdims",
					 "kernel_shape",
					 "strides",
					 "pads",
					 "dilations",
					 "group",
					 "auto_pad",
					 "output_padding",
					 "output_shape",
					 "perm",
					 "to",
					 "shape",
					 "split",
					 "num_outputs",
					 "starts",
					 "ends",
					 "repeats",
					 "blocksize",
					 "hidden_size",
					 "direction",
					 "layout",
					 "equation",
					 "num_heads",
					 "kv_num_heads",
					 "q_num_heads",
					 "num_scan_inputs",
					 "scan_input_axes",
					 "k",
					 "block_size",
					 "bits",
					 "N",
					 "K",
					 "transA",
					 "transB",
					 "scales",
					 "mode",
					 "size",
					 "batch_dims",
					 "allowzero",
					 "start",
					 "end",
					 "noop_with_empty_axes",
					 "ceil_mode",
					 "unidirectional",
					 "qkv_hidden_sizes",
					 "body",
					 "value",
					 "dtype",
					 "activations",
					 "p"};

enum { ATTR_HUGE, ATTR_NEGATIVE, ATTR_LISTS, ATTR_TEXTS, ATTR_REALS, ATTR_EMPTY, ATTR_SETS };

static void put_attributes(wire_out *w, int set)
{
	static const int64_t lists[] = {0, -1, INT64_MAX, INT64_MIN, 3};

	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
		const char *name = attributes[i];
		if (set == ATTR_HUGE)
			put_attr_int(w, name, INT64_MAX);
		else if (set == ATTR_NEGATIVE)
			put_attr_int(w, name, i % 2 ? INT64_MIN : -1);
		else if (set == ATTR_LISTS)
			put_attr_ints(w, name, 1 + i % 5, lists);
		else if (set == ATTR_TEXTS)
			put_attr_text(w, name, i % 2 ? "" : "ij,jk->...ik,,->");
		else if (set == ATTR_REALS)
			put_attr_float(w, name, i % 2 ? 1e38f : -0.0f);
		else
			put_attr_ints(w, name, 0, NULL);
	}
}

static void put_one(wire_out *w, const op_family *f, const op_row *row, int kind, int set,
		    size_t nin, size_t id)
{
	char name[32];
	size_t node = wire_begin(w, 1);

	for (size_t i = 0; i < nin; i++) {
		snprintf(name, sizeof name, "k%zu",
			 ((size_t)kind + i * (size_t)(kind % 3)) % KINDS);
		wire_put_text(w, 1, name);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "o%zu_%d", id, i);
		wire_put_text(w, 2, name);
	}
	wire_put_text(w, 4, row->name);
	if (*f->domain)
		wire_put_text(w, 7, f->domain);
	if (set < ATTR_SETS)
		put_attributes(w, set);
	wire_end(w, node);
}

static void every_rule_survives(void **state)
{
	(void)state;
	static const size_t widths[] = {0, 1, 2, 3, 5, 9};
	size_t rules = 0;

	for (size_t f = 0; op_families[f]; f++)
		for (size_t r = 0; r < op_families[f]->nrows; r++) {
			const op_row *row = &op_families[f]->rows[r];
			wire_out w = {0};
			size_t g = graph_begin(&w), id = 0;
			put_kinds(&w);
			for (int kind = 0; kind < KINDS; kind++)
				for (int set = 0; set <= ATTR_SETS; set++)
					for (size_t n = 0; n < sizeof(widths) / sizeof *widths; n++)
						put_one(&w, op_families[f], row, kind, set,
							widths[n], id++);
			graph_end(&w, g);
			counted c = count(&w);
			if (c.code != DCK_OK)
				fail_msg("%s: %s", row->name, c.err.msg);
			assert_true(c.result->nops > id);
			done(&c);
			rules++;
		}
	assert_true(rules > 50);
}

/* An operator is found only if the rows of its family are sorted; of two rows with one name and
 * domain only the first is found. */
static void every_row_is_found(void **state)
{
	(void)state;
	for (size_t f = 0; op_families[f]; f++)
		for (size_t r = 0; r < op_families[f]->nrows; r++) {
			const op_row *row = &op_families[f]->rows[r];
			if (r && strcmp(row[-1].name, row->name) >= 0)
				fail_msg("%s is not before %s", row[-1].name, row->name);
			assert_non_null(row->shape);
			if (row->cost == cost_each || row->cost == cost_each_in)
				assert_true(row->flops > 0);
			for (size_t g = f + 1; op_families[g]; g++)
				for (size_t k = 0; k < op_families[g]->nrows; k++)
					if (!strcmp(op_families[g]->rows[k].name, row->name) &&
					    !strcmp(op_families[g]->domain, op_families[f]->domain))
						fail_msg("%s is in two families", row->name);
		}
}

int test_cost_sweep(void);
int test_cost_sweep(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_rule_survives),
	    cmocka_unit_test(every_row_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
