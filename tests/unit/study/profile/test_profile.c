/* test_profile.c - operators' times, nodes and roofs, with exact numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model_build.h"

#include "study/profile/profile_map.h"
#include "study/profile/profile_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

/* --- roofs */

static const dck_roofline limits = {
    .peak = {50e9, 100e9, NAN, NAN, 400e9},
    .bandwidth = {200e9, 100e9, NAN, 10e9},
    .capacity = {1000, 10000, NAN, INFINITY},
};

static dck_roof roof(const char *dtype, double flops, double bytes)
{
	dck_roof r;

	dck_roof_get(&limits, dtype, flops, bytes, &r);
	return r;
}

static void roofs_are_the_smaller_of_two(void **state)
{
	dck_roof r = roof("float32", 1e6, 1000);

	(void)state;
	assert_string_equal(r.bound, "compute");
	assert_string_equal(r.level, "L1");
	assert_true(fabs(r.least_ns - 1e4) < 1e-6);
	assert_true(fabs(r.attainable - 100e9) < 1);
	r = roof("float32", 1000, 1e6);
	assert_string_equal(r.bound, "memory");
	assert_string_equal(r.level, "DRAM");
	assert_true(fabs(r.least_ns - 1e5) < 1e-6);
	assert_true(fabs(r.attainable - 10e6) < 1);
	assert_string_equal(roof("float32", 1e6, 1001).level, "L2");
}

static void peaks_are_those_of_the_type(void **state)
{
	(void)state;
	assert_true(roof("float64", 1e6, 1).peak == 50e9);
	assert_true(roof("int8", 1e6, 1).peak == 400e9);
	assert_true(roof("float16", 1e6, 1).peak == 100e9); /* converted to single precision */
}

static void unknown_costs_have_no_roof(void **state)
{
	dck_roof r = roof("float32", 0, 1000);

	(void)state;
	assert_true(isnan(r.attainable)); /* moves only: a minimum time and no rate */
	assert_true(fabs(r.least_ns - 5) < 1e-9);
	r = roof("float32", NAN, 1000);
	assert_true(isnan(r.attainable) && isnan(r.least_ns));
	assert_null(r.bound);
	r = roof("float32", 1000, NAN);
	assert_true(isnan(r.attainable) && isnan(r.least_ns));
}

/* --- nodes */

typedef struct graph {
	wire_out w;
	size_t at;
	model_cost counted;
} graph;

static graph graph_open(void)
{
	graph g = {0};

	g.at = graph_begin(&g.w);
	return g;
}

static void named_node(graph *g, const char *name, const char *op, const char *in, const char *out)
{
	size_t at = node_begin(&g->w, op, in, out);

	wire_put_text(&g->w, 3, name);
	wire_end(&g->w, at);
}

static void graph_close(graph *g, const char *output)
{
	const cost_config config = {0};
	dck_err err;

	put_value(&g->w, 11, "x", 1, DIMS(4, 4));
	put_value(&g->w, 12, output, 1, DIMS(4, 4));
	graph_end(&g->w, g->at);
	g->counted.arena = mem_arena_new(0);
	assert_int_equal(
	    onnx_read_bytes(g->w.data, g->w.n, g->counted.arena, &g->counted.model, &err), DCK_OK);
	assert_int_equal(
	    cost_model(g->counted.model, &config, g->counted.arena, &g->counted.cost, &err),
	    DCK_OK);
}

static void graph_done(graph *g)
{
	mem_arena_free(g->counted.arena);
	wire_out_done(&g->w);
}

/* The owner of each node of the model, "-" for none: "0 0 1". */
static void assert_owners(graph *model, graph *ran, const char *want)
{
	const size_t *owner =
	    profile_map(model->counted.cost, ran->counted.cost, model->counted.arena);
	char text[100];
	size_t n = 0;

	assert_non_null(owner);
	text[0] = '\0';
	for (size_t i = 0; i < model->counted.cost->nops; i++)
		n += owner[i] == PROFILE_NONE
			 ? (size_t)snprintf(text + n, sizeof text - n, "%s-", i ? " " : "")
			 : (size_t)snprintf(text + n, sizeof text - n, "%s%zu", i ? " " : "",
					    owner[i]);
	assert_string_equal(text, want);
	graph_done(model);
	graph_done(ran);
}

static graph model_mul_relu_add(void)
{
	graph g = graph_open();

	named_node(&g, "mul", "MatMul", "x x", "c");
	named_node(&g, "relu", "Relu", "c", "r");
	named_node(&g, "add", "Add", "r x", "y");
	graph_close(&g, "y");
	return g;
}

static void same_graph_owns_itself(void **state)
{
	graph model = model_mul_relu_add(), ran = model_mul_relu_add();

	(void)state;
	assert_owners(&model, &ran, "0 1 2");
}

static void fused_nodes_have_one_owner(void **state)
{
	graph model = model_mul_relu_add(), ran = graph_open();

	(void)state;
	named_node(&ran, "fused", "FusedMatMul", "x x", "r");
	named_node(&ran, "add", "Add", "r x", "y");
	graph_close(&ran, "y");
	assert_owners(&model, &ran, "0 0 1");
}

static void layouts_are_of_the_engines_making(void **state)
{
	graph model = model_mul_relu_add(), ran = graph_open();

	(void)state;
	named_node(&ran, "in", "ReorderInput", "x", "x_blocked");
	named_node(&ran, "r_nchwc", "FusedMatMul", "x_blocked x", "blocked");
	named_node(&ran, "out", "ReorderOutput", "blocked", "r");
	named_node(&ran, "add", "Add", "r x", "y");
	graph_close(&ran, "y");
	assert_owners(&model, &ran, "1 1 3");
}

static void a_node_that_two_need_has_no_owner(void **state)
{
	graph model = graph_open(), ran = graph_open();

	(void)state;
	named_node(&model, "a", "Relu", "x", "a");
	named_node(&model, "b", "Neg", "a", "b");
	named_node(&model, "c", "Exp", "a", "c");
	named_node(&model, "d", "Add", "b c", "y");
	graph_close(&model, "y");
	named_node(&ran, "b", "Neg", "x", "b");
	named_node(&ran, "c", "Exp", "x", "c");
	named_node(&ran, "d", "Add", "b c", "y");
	graph_close(&ran, "y");
	assert_owners(&model, &ran, "- 0 1 2");
}

/* --- times */

#define RUNS 10

typedef struct made {
	graph model;
	dck_op_event events[2 * RUNS];
	uint64_t run_ns[RUNS];
	dck_profile profile;
	profile_input in;
	dck_record *record;
} made;

static void rows_make(made *m, uint64_t mul_ns, uint64_t relu_ns, uint64_t run_ns)
{
	record_builder *b = record_new();
	dck_err err;

	m->model = graph_open();
	named_node(&m->model, "mul", "MatMul", "x x", "c");
	named_node(&m->model, "relu", "Relu", "c", "y");
	graph_close(&m->model, "y");
	for (size_t i = 0; i < RUNS; i++) {
		m->events[2 * i] = (dck_op_event){.name = "mul",
						  .type = "MatMul",
						  .run = i,
						  .duration_ns = mul_ns,
						  .memory_bytes = INT64_MIN};
		m->events[2 * i + 1] = (dck_op_event){.name = "relu",
						      .type = "Relu",
						      .run = i,
						      .duration_ns = relu_ns,
						      .memory_bytes = INT64_MIN};
		m->run_ns[i] = run_ns;
	}
	m->profile = (dck_profile){.struct_size = sizeof m->profile,
				   .resolution_ns = 1000,
				   .events = m->events,
				   .nevents = 2 * RUNS,
				   .nruns = RUNS,
				   .run_ns = m->run_ns};
	m->in.profile = &m->profile;
	m->in.runs = RUNS;
	m->in.latency_ns = 26000;
	m->in.observed_ns = 39000;
	m->in.perturbation = 1.5;
	m->in.level = 0.95;
	m->in.model = m->in.ran = &m->model.counted;
	if (!m->in.limits)
		m->in.no_limits = "not asked for";
	assert_int_equal(profile_rows(b, &m->in, &err), DCK_OK);
	assert_int_equal(record_finish(b, &m->record, &err), DCK_OK);
}

static void rows_done(made *m)
{
	dck_record_free(m->record);
	graph_done(&m->model);
}

static void assert_time(const dck_op *op, const char *name, double ns)
{
	assert_string_equal(op->name, name);
	assert_int_equal(op->time_ns.kind, DCK_VALUE_REAL);
	assert_true(fabs(op->time_ns.as.r - ns) < 1e-6);
}

/* A run of 19 us under the profiler, with two overheads of 3 us around it; an operator of 12 us, 2
 * of them overhead; another operator is shorter than the overhead. */
static void times_are_scaled_to_the_latency(void **state)
{
	made m = {.in.floor = {.inside_ns = 2000, .around_ns = 3000}};

	(void)state;
	rows_make(&m, 12000, 1000, 19000);
	assert_int_equal(m.record->nops, 3);
	assert_time(&m.record->ops[0], "mul", 18000);
	assert_time(&m.record->ops[1], "relu", 0);
	assert_time(&m.record->ops[2], "(between operators)", 8000);
	assert_true(fabs(dck_record_value(m.record, "profile/coverage") - 9.0 / 13) < 1e-12);
	assert_true(fabs(dck_record_value(m.record, "profile/perturbation") - 1.5) < 1e-12);
	assert_int_equal(m.record->ops[0].macs.as.i, 64);
	assert_true(fabs(m.record->ops[0].rate.as.r - 128 / 18e-6) < 1e-3);
	assert_int_equal(m.record->ops[1].rate.kind, DCK_VALUE_ABSENT);
	assert_int_equal(m.record->ops[0].roof.kind, DCK_VALUE_ABSENT);
	assert_string_equal(m.record->ops[0].roof.as.text, "not asked for");
	assert_null(dck_record_note(m.record, "above-roof"));
	assert_null(dck_record_note(m.record, "profile-faster"));
	rows_done(&m);
}

/* Runs before the last ones are warm-up. */
static void warm_up_does_not_count(void **state)
{
	made m = {.in.floor = {0}};

	(void)state;
	rows_make(&m, 6000, 4000, 10000);
	assert_time(&m.record->ops[0], "mul", 0.6 * 26000);
	dck_record_free(m.record);
	for (size_t i = 0; i < 2 * (RUNS - 4); i++)
		m.events[i].duration_ns = 1000000;
	record_builder *b = record_new();
	dck_err err;
	m.in.runs = 4;
	assert_int_equal(profile_rows(b, &m.in, &err), DCK_OK);
	assert_int_equal(record_finish(b, &m.record, &err), DCK_OK);
	assert_int_equal(m.record->nops, 2);
	assert_time(&m.record->ops[0], "mul", 0.6 * 26000);
	assert_time(&m.record->ops[1], "relu", 0.4 * 26000);
	rows_done(&m);
}

/* 128 FLOPs in 15.6 us are 8.2 MFLOP/s, above the peak of a machine with 1 MFLOP/s. */
static void rates_above_the_roof_are_refused(void **state)
{
	const dck_roofline slow = {.peak = {1e6, 1e6, 1e6, 1e6, 1e6},
				   .bandwidth = {1e9, 1e9, 1e9, 1e9},
				   .capacity = {1e6, 1e6, 1e6, INFINITY}};
	made m = {.in.limits = &slow};

	(void)state;
	rows_make(&m, 6000, 4000, 10000);
	assert_int_equal(m.record->ops[0].rate.kind, DCK_VALUE_ABSENT);
	assert_true(fabs(m.record->ops[0].roof.as.r - 1e6) < 1e-6);
	assert_non_null(dck_record_note(m.record, "above-roof"));
	/* 128 and 16 FLOPs at the peak are 144 us, and a run takes 26. */
	const dck_metric *least = dck_record_metric(m.record, "profile/attainable");
	assert_int_equal(least->value.kind, DCK_VALUE_ABSENT);
	assert_non_null(
	    strstr(least->value.as.text, "'mul' (MatMul) takes 15.6 µs where its roof is 128 µs"));
	assert_null(strstr(record_get_text(m.record, "result", "answer"), "reached its roof"));
	rows_done(&m);
}

/* The latency was measured on a slower machine: this is not profiler overhead. */
static void faster_under_the_profiler_is_noted(void **state)
{
	made m = {.in.floor = {0}};
	dck_err err;

	(void)state;
	rows_make(&m, 6000, 4000, 10000);
	dck_record_free(m.record);
	record_builder *b = record_new();
	m.in.perturbation = 0.8;
	assert_int_equal(profile_rows(b, &m.in, &err), DCK_OK);
	assert_int_equal(record_finish(b, &m.record, &err), DCK_OK);
	assert_non_null(dck_record_note(m.record, "profile-faster"));
	assert_null(dck_record_note(m.record, "profile-perturbs"));
	rows_done(&m);
}

static void a_profile_without_runs_is_an_error(void **state)
{
	made m = {.in.floor = {0}};
	dck_err err;

	(void)state;
	rows_make(&m, 1, 1, 2);
	m.profile.nruns = m.profile.nevents = 0;
	record_builder *b = record_new();
	assert_int_equal(profile_rows(b, &m.in, &err), DCK_E_ENGINE);
	record_drop(b);
	rows_done(&m);
}

int test_profile(void);
int test_profile(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(roofs_are_the_smaller_of_two),
	    cmocka_unit_test(peaks_are_those_of_the_type),
	    cmocka_unit_test(unknown_costs_have_no_roof),
	    cmocka_unit_test(same_graph_owns_itself),
	    cmocka_unit_test(fused_nodes_have_one_owner),
	    cmocka_unit_test(layouts_are_of_the_engines_making),
	    cmocka_unit_test(a_node_that_two_need_has_no_owner),
	    cmocka_unit_test(times_are_scaled_to_the_latency),
	    cmocka_unit_test(warm_up_does_not_count),
	    cmocka_unit_test(rates_above_the_roof_are_refused),
	    cmocka_unit_test(faster_under_the_profiler_is_noted),
	    cmocka_unit_test(a_profile_without_runs_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
