/* test_profile_rows.c - times that disturbed runs, duplicate names and the profiler overhead could
 * distort; rates compared with roofs of each type and size, and the sources of the roofs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "graph_text.h"

#include "study/profile/profile_rows.h"
#include <math.h>

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want)))
		fail_msg("%.17g, not %.17g", got, want);
}

/* --- roofs */

static const dck_roofline limits = {.peak = {1e10, 2e10, NAN, NAN, 8e10},
				    .bandwidth = {4e9, 2e9, 1e9, 5e8},
				    .capacity = {1000, 10000, 100000, INFINITY}};

static void roofs_are_those_of_type_and_size(void **state)
{
	static const struct {
		const char *dtype;
		double flops, bytes, least_ns, attainable;
		const char *bound, *level;
	} cases[] = {
	    {"float32", 2e6, 1000, 1e5, 2e10, "compute", "L1"},
	    {"float64", 2e6, 1001, 2e5, 1e10, "compute", "L2"},
	    {"int8", 2e6, 10000, 2.5e4, 8e10, "compute", "L2"},
	    {"uint8", 2e6, 10001, 2.5e4, 8e10, "compute", "L3"},
	    /* no dedicated instructions */
	    {"bfloat16", 2e6, 1000, 1e5, 2e10, "compute", "L1"},
	    {"int64", 2e6, 1000, 1e5, 2e10, "compute", "L1"},
	    {NULL, 2e6, 1000, 1e5, 2e10, "compute", "L1"},
	    /* 1 MB from memory takes 2 ms, however little is computed */
	    {"float32", 1e6, 1e6, 2e6, 5e8, "memory", "DRAM"},
	    /* computing and memory take equally long */
	    {"float32", 5000, 1000, 250, 2e10, "compute", "L1"},
	};
	dck_roof r;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dck_roof_get(&limits, cases[i].dtype, cases[i].flops, cases[i].bytes, &r);
		near(r.least_ns, cases[i].least_ns);
		near(r.attainable, cases[i].attainable);
		assert_string_equal(r.bound, cases[i].bound);
		assert_string_equal(r.level, cases[i].level);
	}
}

static void limits_that_were_not_measured_are_not_made_up(void **state)
{
	dck_roofline l = limits;
	dck_roof r;

	(void)state;
	/* The next level is slower, never faster. */
	l.bandwidth[0] = NAN;
	dck_roof_get(&l, "float32", 1, 1000, &r);
	assert_string_equal(r.level, "L2");
	near(r.least_ns, 500);
	l = limits;
	l.peak[1] = NAN;
	dck_roof_get(&l, "float32", 1000, 1000, &r);
	assert_true(isnan(r.least_ns) && isnan(r.attainable));
	assert_null(r.bound);
	dck_roof_get(&l, "float64", 1e6, 1000, &r);
	near(r.least_ns, 1e5);
	/* Not measured, or without instructions: the single-precision peak is used. */
	l = limits;
	l.peak[0] = NAN;
	dck_roof_get(&l, "float64", 2e6, 1000, &r);
	near(r.least_ns, 1e5);
}

static void limits_are_read_from_a_record_of_the_machine(void **state)
{
	record_builder *b = record_new();
	dck_record *r = NULL;
	dck_roofline one, all;
	dck_err err;

	(void)state;
	record_metric_real(b, "peak/fp32/1", 1e11, NULL);
	record_metric_real(b, "peak/fp32/all", 4e11, NULL);
	record_metric_absent(b, "peak/fp16/1", "no instructions");
	record_metric_real(b, "bandwidth/l2_read/1", 3e10, NULL);
	record_metric_real(b, "bandwidth/l2_copy/1", 4e10, NULL);
	record_metric_real(b, "bandwidth/l2_triad/1", 2e10, NULL);
	record_metric_real(b, "bandwidth/l2_write/1", 9e10, NULL);
	record_metric_real(b, "bandwidth/dram_triad/all", 7e10, NULL);
	record_fact_int(b, "machine", "cache_l1d", DCK_UNIT_BYTE, 32768);
	record_fact_int(b, "machine", "cache_l1d_count", DCK_UNIT_ONE, 4);
	record_fact_int(b, "machine", "cache_l3", DCK_UNIT_BYTE, 1 << 20);
	assert_int_equal(record_finish(b, &r, &err), DCK_OK);
	dck_roofline_read(r, true, &one);
	dck_roofline_read(r, false, &all);
	dck_record_free(r);
	assert_true(one.peak[1] == 1e11 && all.peak[1] == 4e11);
	assert_true(isnan(one.peak[2]) && isnan(one.peak[0]) && isnan(all.peak[4]));
	assert_true(one.bandwidth[1] == 4e10 && isnan(all.bandwidth[1]));
	assert_true(isnan(one.bandwidth[3]) && all.bandwidth[3] == 7e10);
	assert_true(one.capacity[0] == 32768 && all.capacity[0] == 4 * 32768);
	assert_true(one.capacity[2] == 1 << 20 && all.capacity[2] == 1 << 20);
	assert_true(isnan(one.capacity[1]));
	assert_true(isinf(one.capacity[3]) && isinf(all.capacity[3]));
}

/* --- rows */

#define RUNS 10
#define WARM 2

/* 64 x 64 x 64 MACs, then 4,096 comparisons. */
static const graph_text product = {
    "x:f[64,64] w:*f[64,64]",
    {{"MatMul", NULL, "product", "x w", "m", NULL}, {"Relu", NULL, "relu", "m", "y", NULL}}};
#define PRODUCT_FLOPS (2.0 * 64 * 64 * 64)

typedef struct event_row {
	const char *name, *type;
	uint64_t ns;
	uint32_t depth;
} event_row;

typedef struct made {
	model_cost model, ran;
	dck_op_event events[(RUNS + WARM) * 4];
	uint64_t run_ns[RUNS + WARM];
	dck_profile profile;
	profile_input in;
	dck_record *r;
} made;

/* Equal runs; the first ones are slow, and must not count. */
static void make(made *m, const event_row *rows, size_t n)
{
	assert_true(n <= 4);
	m->profile = (dck_profile){.struct_size = sizeof m->profile,
				   .resolution_ns = 1,
				   .events = m->events,
				   .nevents = n * (RUNS + WARM),
				   .nruns = RUNS + WARM,
				   .run_ns = m->run_ns};
	for (size_t i = 0; i < m->profile.nevents; i++) {
		const event_row *r = &rows[i % n];
		m->events[i] = (dck_op_event){.name = r->name,
					      .type = r->type,
					      .run = i / n,
					      .duration_ns = i / n < WARM ? 50 * r->ns : r->ns,
					      .memory_bytes = INT64_MIN,
					      .depth = r->depth};
	}
	for (size_t i = 0; i < RUNS + WARM; i++)
		m->run_ns[i] = (uint64_t)m->in.observed_ns * (i < WARM ? 50 : 1);
	m->in.profile = &m->profile;
	m->in.runs = RUNS;
	m->in.model = &m->model;
	m->in.ran = m->ran.cost ? &m->ran : &m->model;
}

static void rows_of(made *m)
{
	record_builder *b = record_new();
	dck_err err = {0};

	if (profile_rows(b, &m->in, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(record_finish(b, &m->r, &err), DCK_OK);
}

static void made_done(made *m)
{
	dck_record_free(m->r);
	model_cost_close(&m->model);
	model_cost_close(&m->ran);
}

static void op_is(const dck_record *r, size_t i, const char *name, double ns)
{
	assert_true(i < r->nops);
	assert_string_equal(r->ops[i].name, name);
	assert_int_equal(r->ops[i].time_ns.kind, DCK_VALUE_REAL);
	near(r->ops[i].time_ns.as.r, ns);
}

static double sum_of_times(const dck_record *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->nops; i++)
		if (r->ops[i].time_ns.kind == DCK_VALUE_REAL)
			sum += r->ops[i].time_ns.as.r;
	return sum;
}

static double fact_number(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "profile", key);

	assert_non_null(f);
	return f->value.kind == DCK_VALUE_INT ? (double)f->value.as.i : f->value.as.r;
}

/* 10,000 and 2,000 ns minus an overhead of 500; a run of 18,000 has 16,000 without the profiler,
 * twice the latency. */
static const profile_input plain = {.floor = {.inside_ns = 500, .around_ns = 1000},
				    .latency_ns = 8000,
				    .latency_lo_ns = 7920,
				    .latency_hi_ns = 8080,
				    .level = 0.95,
				    .observed_ns = 18000,
				    .perturbation = 2.25,
				    .no_limits = "not asked for"};
static const event_row two[] = {{"product", "MatMul", 10500, 0}, {"relu", "Relu", 2500, 0}};

static void times_have_the_latencys_interval(void **state)
{
	made m = {.model = graph_counted(&product), .in = plain};

	(void)state;
	make(&m, two, 2);
	rows_of(&m);
	assert_int_equal(m.r->nops, 3);
	op_is(m.r, 0, "product", 5000);
	op_is(m.r, 1, "relu", 1000);
	op_is(m.r, 2, "(between operators)", 2000);
	near(sum_of_times(m.r), 8000);
	near(fact_number(m.r, "scale"), 0.5);
	near(fact_number(m.r, "runs"), RUNS);
	near(fact_number(m.r, "nodes"), 2);
	near(fact_number(m.r, "nodes_mapped"), 2);
	near(m.r->ops[0].time_lo_ns, 4950);
	near(m.r->ops[0].time_hi_ns, 5050);
	near(m.r->ops[0].time_level, 0.95);
	assert_int_equal(m.r->ops[2].macs.as.i, 0);
	made_done(&m);
}

/* Kernels take as long without the profiler, however long a run takes under it: nothing is scaled.
 */
static void times_of_a_device_are_its_own(void **state)
{
	made m = {.model = graph_counted(&product), .in = plain};
	const event_row kernels[] = {{"product", "MatMul", 4000, 0}, {"relu", "Relu", 1500, 0}};

	(void)state;
	m.in.floor.inside_ns = m.in.floor.around_ns = 0;
	m.in.perturbation = 2.9;
	make(&m, kernels, 2);
	m.profile.flags = DCK_PROFILE_DEVICE_TIME;
	rows_of(&m);
	op_is(m.r, 0, "product", 4000);
	op_is(m.r, 1, "relu", 1500);
	op_is(m.r, 2, "(between operators)", 2500);
	assert_string_equal(m.r->ops[2].type, "(no kernel)");
	near(fact_number(m.r, "scale"), 1);
	near(m.r->ops[0].time_lo_ns, 4000); /* equal runs, whatever the latency's interval */
	for (size_t i = 0; i < m.r->nnotes; i++) {
		assert_string_not_equal(m.r->notes[i].code, "profile-perturbs");
		assert_string_not_equal(m.r->notes[i].code, "enqueue-bound");
	}
	made_done(&m);
	/* Most of the run is without a kernel. */
	m = (made){.model = graph_counted(&product), .in = plain};
	m.in.floor.inside_ns = m.in.floor.around_ns = 0;
	make(&m, (const event_row[]){{"product", "MatMul", 3000, 0}}, 1);
	m.profile.flags = DCK_PROFILE_DEVICE_TIME;
	rows_of(&m);
	bool bound = false;
	for (size_t i = 0; i < m.r->nnotes; i++)
		bound |= strcmp(m.r->notes[i].code, "enqueue-bound") == 0;
	assert_true(bound);
	made_done(&m);
}

/* Two rounds of a body, 2,000 ns each: their time and profiler overhead are not part of the
 * enclosing operator. */
static void what_runs_inside_has_its_own_time(void **state)
{
	const event_row nested[] = {{"product", "MatMul", 16500, 0},
				    {"inner", "Neg", 2500, 1},
				    {"inner", "Neg", 2500, 1},
				    {"relu", "Relu", 2500, 0}};
	made m = {.model = graph_counted(&product), .in = plain};

	(void)state;
	m.in.observed_ns = 24000;
	make(&m, nested, 4);
	rows_of(&m);
	assert_int_equal(m.r->nops, 4);
	op_is(m.r, 0, "product", 4000);
	op_is(m.r, 1, "relu", 800);
	op_is(m.r, 2, "inner", 1600);
	op_is(m.r, 3, "(between operators)", 1600);
	near(sum_of_times(m.r), 8000);
	made_done(&m);
}

/* Names of operators in both branches of an If do not show which one ran; others do. */
static void a_branch_is_known_by_its_names(void **state)
{
	const graph_text text = {"c:b[] x:f[64,64] w:*f[64,64]",
				 {{"If", NULL, "choice", "c", "y",
				   "then_branch=;p;MatMul x,w > m;Sin m > p\n"
				   "else_branch=;q;MatMul x,x > k;Relu k > q"}}};
	const event_row both[] = {{"choice", "If", 13000, 0}, {"MatMul_0", "MatMul", 8500, 1}},
			one[] = {{"choice", "If", 13000, 0},
				 {"MatMul_0", "MatMul", 8500, 1},
				 {"Relu_1", "Relu", 1500, 1}};

	(void)state;
	for (size_t n = 2; n <= 3; n++) {
		made m = {.model = graph_counted(&text), .ran = graph_counted(&text), .in = plain};

		make(&m, n == 2 ? both : one, n);
		rows_of(&m);
		bool found = false;
		for (size_t i = 0; i < m.r->nops; i++) {
			const dck_op *o = &m.r->ops[i];

			if (strcmp(o->type, "MatMul") != 0)
				continue;
			assert_false(found);
			found = true;
			assert_int_equal(o->time_ns.kind, DCK_VALUE_REAL);
			assert_int_equal(o->macs.kind, DCK_VALUE_ABSENT);
			if (n == 2)
				assert_string_equal(o->macs.as.text,
						    "which branch ran is not known");
			else
				assert_string_equal(o->name, "MatMul:k");
		}
		assert_true(found);
		made_done(&m);
	}
}

static void no_operators_take_more_than_the_latency(void **state)
{
	made m = {.model = graph_counted(&product), .in = plain};

	(void)state;
	/* The runs were faster than the sum of the operators. */
	m.in.observed_ns = 5000;
	make(&m, two, 2);
	rows_of(&m);
	assert_int_equal(m.r->nops, 2);
	op_is(m.r, 0, "product", 8000 * 10.0 / 12);
	op_is(m.r, 1, "relu", 8000 * 2.0 / 12);
	near(dck_record_value(m.r, "profile/coverage"), 1);
	made_done(&m);
}

static void times_below_the_floor_are_nothing(void **state)
{
	const event_row small[] = {{"product", "MatMul", 400, 0}, {"relu", "Relu", 2500, 0}};
	made m = {.model = graph_counted(&product), .in = plain};

	(void)state;
	make(&m, small, 2);
	rows_of(&m);
	/* 400 + 2,500 minus two overheads, of 16,000: all of it belongs to the other operator. */
	near(m.r->ops[1].time_ns.as.r, 950);
	assert_true(m.r->ops[0].time_ns.as.r == 0);
	assert_int_equal(m.r->ops[0].rate.kind, DCK_VALUE_ABSENT);
	assert_non_null(strstr(m.r->ops[0].rate.as.text, "below the profiler's resolution"));
	near(sum_of_times(m.r), 8000);
	made_done(&m);
	const event_row none[] = {{"product", "MatMul", 400, 0}, {"relu", "Relu", 500, 0}};
	made all = {.model = graph_counted(&product), .in = plain};
	make(&all, none, 2);
	rows_of(&all);
	assert_non_null(
	    strstr(record_get_text(all.r, "result", "answer"), "no operator's time shows"));
	made_done(&all);
}

/* A run disturbed by other work counts no more than the slowest of the others. */
static void a_disturbed_run_is_tamed(void **state)
{
	made m = {.model = graph_counted(&product), .in = plain};

	(void)state;
	make(&m, two, 2);
	const size_t at = (size_t)2 * (WARM + 4);
	m.events[at].duration_ns = 900000;
	rows_of(&m);
	assert_true(m.r->ops[0].time_ns.as.r < 6000);
	op_is(m.r, 2, "(between operators)", 2000);
	near(sum_of_times(m.r), 8000);
	made_done(&m);
}

static void rates_are_shown_below_their_roof_alone(void **state)
{
	dck_roofline l = limits;
	made m = {.model = graph_counted(&product), .in = plain};

	(void)state;
	/* 524,288 FLOPs in 5 us are 104.8576 GFLOP/s. */
	l.peak[1] = 1.1e11;
	l.bandwidth[2] = 1e12;
	m.in.limits = &l;
	make(&m, two, 2);
	rows_of(&m);
	near(m.r->ops[0].rate.as.r, 104.8576e9);
	near(m.r->ops[0].roof.as.r, 1.1e11);
	assert_string_equal(m.r->ops[0].bound, "compute");
	assert_null(dck_record_note(m.r, "above-roof"));
	/* 4,096 comparisons take longer than moving their 32 KiB. */
	near(dck_record_value(m.r, "profile/attainable"), 1e9 * (PRODUCT_FLOPS + 64 * 64) / 1.1e11);
	assert_non_null(dck_record_note(m.r, "worth-optimising"));
	dck_record_free(m.r);
	l.peak[1] = 1e11;
	rows_of(&m);
	assert_int_equal(m.r->ops[0].rate.kind, DCK_VALUE_ABSENT);
	assert_non_null(strstr(m.r->ops[0].rate.as.text, "above the roof"));
	near(m.r->ops[0].roof.as.r, 1e11);
	near(m.r->ops[0].time_ns.as.r, 5000);
	assert_non_null(strstr(dck_record_note(m.r, "above-roof")->text, "'product'"));
	made_done(&m);
}

/* A factor of ten above or below is not the operators' fault. */
static void roofs_far_from_the_times_are_doubted(void **state)
{
	dck_roofline l = limits;
	made m = {.model = graph_counted(&product), .in = plain};

	(void)state;
	l.peak[1] = 1e10;
	l.bandwidth[2] = 1e12;
	m.in.limits = &l;
	make(&m, two, 2);
	rows_of(&m);
	assert_non_null(strstr(dck_record_note(m.r, "roofs-doubtful")->text, "'product'"));
	assert_non_null(strstr(dck_record_note(m.r, "roofs-doubtful")->text, "too low"));
	dck_record_free(m.r);
	l.peak[1] = 1e15;
	l.bandwidth[0] = l.bandwidth[1] = l.bandwidth[2] = l.bandwidth[3] = 1e15;
	rows_of(&m);
	assert_non_null(
	    strstr(dck_record_note(m.r, "roofs-doubtful")->text, "do not expect such a speed-up"));
	assert_null(dck_record_note(m.r, "worth-optimising"));
	made_done(&m);
}

static void equal_names_take_their_turns(void **state)
{
	const event_row norms[] = {{"norm", "SkipLayerNormalization", 3500, 0},
				   {"norm", "SkipLayerNormalization", 1500, 0},
				   {"MemcpyToHost", "Memcpy", 600, 0}};
	made m = {.model = graph_counted(&(graph_text){
		      "a:f[2,4,8] b:f[2,4,8] g:*f[8] h:*f[8]",
		      {{"Add", NULL, "add 1", "a b", "s1", NULL},
		       {"LayerNormalization", NULL, "norm 1", "s1 g h", "n1", NULL},
		       {"Add", NULL, "add 2", "n1 b", "s2", NULL},
		       {"LayerNormalization", NULL, "norm 2", "s2 g h", "n2", NULL}}}),
		  .ran = graph_counted(&(graph_text){
		      "a:f[2,4,8] b:f[2,4,8] g:*f[8] h:*f[8]",
		      {{"SkipLayerNormalization", MS, "norm", "a b g h", "n1", NULL},
		       {"SkipLayerNormalization", MS, "norm", "n1 b g h", "n2", NULL}}}),
		  .in = plain};

	(void)state;
	/* 3,000 + 1,000 + 100 of 8,200, with scale 1. */
	m.in.observed_ns = 8200 + 3000;
	m.in.latency_ns = 8200;
	make(&m, norms, 3);
	rows_of(&m);
	assert_int_equal(m.r->nops, 4);
	op_is(m.r, 0, "norm 1", 3000);
	op_is(m.r, 1, "norm 2", 1000);
	op_is(m.r, 2, "MemcpyToHost", 100);
	op_is(m.r, 3, "(between operators)", 4100);
	assert_string_equal(m.r->ops[0].type, "SkipLayerNormalization");
	assert_string_equal(m.r->ops[2].type, "Memcpy");
	assert_int_equal(m.r->ops[1].norigins, 2);
	assert_string_equal(m.r->ops[1].origins[0], "add 2");
	assert_string_equal(m.r->ops[1].origins[1], "norm 2");
	made_done(&m);
}

/* For an operator that represents several nodes: casts and copies without a module are ignored, and
 * an inserted operator has the module of its input. */
static void the_module_is_what_all_nodes_are_in(void **state)
{
	const event_row runs[] = {{"c1", "FusedConv", 4000, 0},
				  {"c2", "FusedConv", 3000, 0},
				  {"reorder", "ReorderOutput", 2000, 0},
				  {"out", "Neg", 1000, 0}};
	made m = {.model = graph_counted(
		      &(graph_text){"x:f[1,4,8,8] w:*f[4,4,1,1] v:*f[4,4,1,1]",
				    {{"Conv", NULL, "/stem/conv/Conv", "x w", "a", NULL},
				     {"Relu", NULL, "/relu/Relu", "a", "b", NULL},
				     {"Identity", NULL, NULL, "b", "c", NULL},
				     {"Conv", NULL, "/layer1/layer1.0/conv/Conv", "c v", "d", NULL},
				     {"Relu", NULL, "/layer1/layer1.0/relu/Relu", "d", "e", NULL},
				     {"Neg", NULL, "Neg_5", "e", "y", NULL}}}),
		  .ran = graph_counted(
		      &(graph_text){"x:f[1,4,8,8] w:*f[4,4,1,1] v:*f[4,4,1,1]",
				    {{"FusedConv", MS, "c1", "x w", "b", "activation=Relu"},
				     {"FusedConv", MS, "c2", "b v", "e", "activation=Relu"},
				     {"Identity", NULL, "reorder", "e", "f", NULL},
				     {"Neg", NULL, "out", "f", "y", NULL}}}),
		  .in = plain};

	(void)state;
	make(&m, runs, 4);
	rows_of(&m);
	/* Only the model itself contains both /stem/conv and /relu: the larger one decides. */
	assert_string_equal(m.r->ops[0].scope, "stem/conv");
	assert_int_equal(m.r->ops[0].norigins, 2);
	assert_string_equal(m.r->ops[1].name, "/layer1/layer1.0/conv/Conv");
	assert_int_equal(m.r->ops[1].norigins, 3);
	assert_string_equal(m.r->ops[1].scope, "layer1.0");
	assert_string_equal(m.r->ops[2].scope, "layer1.0");
	assert_string_equal(m.r->ops[3].scope, "layer1.0");
	made_done(&m);
}

int test_profile_rows(void);
int test_profile_rows(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(roofs_are_those_of_type_and_size),
	    cmocka_unit_test(limits_that_were_not_measured_are_not_made_up),
	    cmocka_unit_test(limits_are_read_from_a_record_of_the_machine),
	    cmocka_unit_test(times_have_the_latencys_interval),
	    cmocka_unit_test(times_of_a_device_are_its_own),
	    cmocka_unit_test(what_runs_inside_has_its_own_time),
	    cmocka_unit_test(a_branch_is_known_by_its_names),
	    cmocka_unit_test(no_operators_take_more_than_the_latency),
	    cmocka_unit_test(times_below_the_floor_are_nothing),
	    cmocka_unit_test(a_disturbed_run_is_tamed),
	    cmocka_unit_test(rates_are_shown_below_their_roof_alone),
	    cmocka_unit_test(roofs_far_from_the_times_are_doubted),
	    cmocka_unit_test(equal_names_take_their_turns),
	    cmocka_unit_test(the_module_is_what_all_nodes_are_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
