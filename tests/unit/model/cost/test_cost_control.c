/* test_cost_control.c - bodies of If, Loop, Scan and SequenceMap: shapes, and how often their
 * operators count.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "graph_text.h"
#include "model/cost/flop_conventions.h"

typedef struct body_case {
	const char *op;
	int64_t opset;
	const char *values; /* of the graph, in the syntax of op_case */
	const char *inputs, *outputs, *attributes;
	const char *bodies[2];
	const char *shapes, *macs;
	const char *flops; /* of the whole model; " from LEAST to MOST" if these differ */
} body_case;

static const body_case cases[] = {
    /* 5 rounds of 6 additions; a value of the outer scope is not part of the state */
    {"Loop",
     17,
     "m:*l[]=5 x:f[2,3] w:f[3]",
     "m - x",
     "y s",
     NULL,
     {"body=i c v;c v2 v2;Add v w > v2", NULL},
     "f[2,3] f[5,2,3]",
     "0",
     "30"},
    /* 0 rounds: the initial state */
    {"Loop",
     17,
     "m:*l[]=0 x:f[2,3]",
     "m - x",
     "y s",
     NULL,
     {"body=i c v;c v2 v2;Neg v > v2", NULL},
     "f[2,3] f[0,2,3]",
     "0",
     "0"},
    /* unknown number of rounds */
    {"Loop",
     17,
     "m:l[] x:f[2,3]",
     "m - x",
     "y s",
     NULL,
     {"body=i c v;c v2 v2;Neg v > v2", NULL},
     "f[2,3] f[u1,2,3]",
     "0",
     "6*u1 from 0 to ?"},
    /* as many rounds as the batch size */
    {"Loop",
     17,
     "m:*l[]=3 x:f[N]",
     "m - x",
     "y s",
     NULL,
     {"body=i c v;c v2 v2;Neg v > v2", NULL},
     "f[N] f[3,N]",
     "0",
     "3*N"},
    /* 1 grows to 3 in the first round: each round is counted separately, 4 rounds of 3 */
    {"Loop",
     17,
     "m:*l[]=4 x:f[1] w:f[3]",
     "m - x",
     "y s",
     NULL,
     {"body=i c v;c v2 v2;Add v w > v2", NULL},
     "f[3] f[4,3]",
     "0",
     "12"},
    /* the same with an unknown number of rounds: from zero to many */
    {"Loop",
     17,
     "m:l[] x:f[1] w:f[3]",
     "m - x",
     "y s",
     NULL,
     {"body=i c v;c v2 v2;Add v w > v2", NULL},
     "f[u4] f[u1,3]",
     "0",
     "3*u1 from 0 to ?"},
    /* the body decides when the loop ends */
    {"Loop",
     17,
     "m:*l[]=4 x:f[2] e:t[]",
     "m - x",
     "y",
     NULL,
     {"body=i c v;e v2;Neg v > v2", NULL},
     "f[2]",
     "0",
     "2*u1 from 2 to 8"},
    {"If",
     17,
     "c:t[] x:f[2,3]",
     "c",
     "y",
     NULL,
     {"then_branch=;y1;Neg x > y1", "else_branch=;y2;Abs x > y2"},
     "f[2,3]",
     "0",
     "6"},
    {"If",
     17,
     "c:t[] x:f[2,3] w:f[4,2,3]",
     "c",
     "y",
     NULL,
     {"then_branch=;y1;Neg x > y1", "else_branch=;y2;Abs w > y2"},
     "?",
     "0",
     "-18*u1+24 from 6 to 24"},
    {"If",
     17,
     "c:*t[]=0 x:f[2,3] w:f[4,2,3]",
     "c",
     "y",
     NULL,
     {"then_branch=;y1;Neg x > y1", "else_branch=;y2;Abs w > y2"},
     "f[4,2,3]",
     "0",
     "24"},
    /* 7 steps along axis 1 of [4] x [4,5] */
    {"Scan",
     17,
     "h:f[4] x:f[4,7] w:*f[4,5]",
     "h x",
     "g o",
     "num_scan_inputs=1 scan_input_axes=1, scan_output_axes=-1,",
     {"body=a e;b o1;Add a e > b;MatMul b w > o1", NULL},
     "f[4] f[5,7]",
     "140",
     "308"},
    /* before opset 9 every input has a batch axis, and lengths are the first input */
    {"Scan",
     8,
     "h:f[2,4] x:f[2,7,4]",
     "- h x",
     "g o",
     "num_scan_inputs=1",
     {"body=a e;b b;Add a e > b", NULL},
     "f[2,4] f[2,7,4]",
     "0",
     "56"},
};

static void body_build(wire_out *w, const body_case *c)
{
	char text[256], *save = NULL;

	wire_put_int(w, 1, 10);
	size_t graph = wire_begin(w, 7);
	snprintf(text, sizeof text, "%s", c->values);
	for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
		op_case_input(w, t);
	size_t node = node_begin(w, c->op, c->inputs, c->outputs);
	snprintf(text, sizeof text, "%s", c->attributes ? c->attributes : "");
	for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
		op_case_attribute(w, t);
	for (int i = 0; i < 2 && c->bodies[i]; i++)
		op_case_body(w, c->bodies[i]);
	wire_end(w, node);
	wire_end(w, graph);
	size_t opset = wire_begin(w, 8);
	wire_put_int(w, 2, c->opset);
	wire_end(w, opset);
	assert_false(w->failed);
}

static void check(const body_case *c)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;
	dck_err err = {0};
	char shapes[256] = "", flops[256];

	body_build(&w, c);
	if (onnx_read_bytes(w.data, w.n, a, &m, &err) != DCK_OK ||
	    cost_model(m, NULL, a, &r, &err) != DCK_OK)
		fail_msg("%s: %s", c->op, err.msg);
	for (size_t i = 0; i < r->ops[0].nout; i++)
		op_case_shape(r->nums, r->ops[0].out[i], shapes, sizeof shapes);
	if (strcmp(shapes, c->shapes) != 0)
		fail_msg("%s of %s makes %s, not %s", c->op, c->values, shapes, c->shapes);
	size_t n = (size_t)snprintf(flops, sizeof flops, "%s", sym_text(r->nums, r->flops));
	if (!sym_same(r->flops_least, r->flops_most))
		snprintf(flops + n, sizeof flops - n, " from %s to %s",
			 sym_text(r->nums, r->flops_least), sym_text(r->nums, r->flops_most));
	if (strcmp(sym_text(r->nums, r->macs), c->macs) != 0 || strcmp(flops, c->flops) != 0)
		fail_msg("%s of %s: %s MACs and %s FLOPs, not %s and %s", c->op, c->values,
			 sym_text(r->nums, r->macs), flops, c->macs, c->flops);
	/* If the sum is known, all operators are known. */
	assert_int_equal(r->unknown > 0, strchr(c->flops, 'u') != NULL);
	mem_arena_free(a);
	wire_out_done(&w);
}

static void reads(const body_case *c, const char *want)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;

	body_build(&w, c);
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, NULL), DCK_OK);
	assert_int_equal(cost_model(m, NULL, a, &r, NULL), DCK_OK);
	assert_string_equal(sym_text(r->nums, r->read_bytes), want);
	mem_arena_free(a);
	wire_out_done(&w);
}

/* 7 rounds that read 16 + 16 and 16 bytes each, and 80 bytes of weights in all of them; without a
 * round nothing is read; of a loop in an If the weights are read if it is taken. */
static void rounds_read_weights_once(void **state)
{
	const char *body = "body=a e;b o1;Add a e > b;MatMul b w > o1";
	body_case c = {"Scan", 17,    "h:f[4] x:f[7,4] w:*f[4,5]",
		       "h x",  "g o", "num_scan_inputs=1",
		       {body}, NULL,  NULL,
		       NULL};

	(void)state;
	reads(&c, "416");
	c.values = "h:f[4] x:f[T,4] w:*f[4,5]";
	reads(&c, "48*T+80");
	c.values = "h:f[4] x:f[0,4] w:*f[4,5]";
	reads(&c, "0");
	c.values = "h:f[4] x:f[7,4] w:f[4,5]";
	reads(&c, "896");
	reads(&(body_case){"If",
			   17,
			   "c:t[] x:f[4] w:*f[4,5]",
			   "c",
			   "y",
			   NULL,
			   {"then_branch=;y1;MatMul x w > y1", "else_branch=;y2;MatMul x w > y2"},
			   NULL,
			   NULL,
			   NULL},
	      "96");
}

/* A loop whose number of rounds depends on its body is walked for each of its 5 rounds: these read
 * 128 bytes each, and 8 of the round's number; 256 bytes of weights and 8 of a limit are read in
 * all of them. */
static void walked_rounds_read_weights_once(void **state)
{
	(void)state;
	reads(&(body_case){"Loop",
			   17,
			   "m:*l[]=9 x:f[4,8] w:*f[8,8] k:*l[]=4",
			   "m - x",
			   "y",
			   NULL,
			   {"body=i c v;c2 v2;Less i k > c2;MatMul v w > v2", NULL},
			   NULL,
			   NULL,
			   NULL},
	      "944");
}

static void what_is_read_of_each_input(void **state)
{
	(void)state;
	reads(&(body_case){.op = "OneHot",
			   .opset = 17,
			   .values = "i:l[100] d:*l[]=10 v:f[2]",
			   .inputs = "i d v",
			   .outputs = "y"},
	      "816");
	reads(&(body_case){.op = "CastLike",
			   .opset = 17,
			   .values = "x:f[10] t:l[1000]",
			   .inputs = "x t",
			   .outputs = "y"},
	      "40");
}

static void what_makes_nothing_reads_nothing(void **state)
{
	body_case c = {"MatMul", 17,  "x:f[0,4] w:*f[4,5]", "x w", "y", NULL, {NULL}, NULL,
		       NULL,	 NULL};

	(void)state;
	reads(&c, "0");
	c.values = "x:f[2,4] w:*f[4,5]";
	reads(&c, "112");
}

/* FLOPs with the shapes observed in a run; *ret_choice: of the first control operator. */
static const char *after_run(const body_case *c, cost_shape shown, bool input, mem_arena *a,
			     cost_result **ret)
{
	const cost_config config = {.inputs = input ? &shown : NULL,
				    .ninputs = input,
				    .known = input ? NULL : &shown,
				    .nknown = !input};
	wire_out w = {0};
	onnx_model *m = NULL;
	dck_err err = {0};

	body_build(&w, c);
	if (onnx_read_bytes(w.data, w.n, a, &m, &err) != DCK_OK ||
	    cost_model(m, &config, a, ret, &err) != DCK_OK)
		fail_msg("%s: %s", c->op, err.msg);
	wire_out_done(&w);
	return sym_text((*ret)->nums, (*ret)->flops);
}

/* A run gives the branch that was taken, the rounds of a loop by its output shapes, and a length
 * that an input states. */
static void a_run_decides(void **state)
{
	static const int64_t five[] = {5, 2, 3};
	const body_case branch = {"If",
				  17,
				  "c:t[] x:f[2,3] z:f[4]",
				  "c",
				  "y",
				  NULL,
				  {"then_branch=;y1;Neg x > y1", "else_branch=;y2;Abs z > y2"},
				  NULL,
				  NULL,
				  NULL};
	const body_case loop = {"Loop",
				17,
				"m:l[] x:f[2,3]",
				"m - x",
				"y s",
				NULL,
				{"body=i c v;c v2 v2;Neg v > v2", NULL},
				NULL,
				NULL,
				NULL};
	const body_case length = {
	    "DFT", 17, "x:f[1,6,1] n:l[]", "x n", "y", NULL, {NULL, NULL}, NULL, NULL, NULL};
	mem_arena *a = mem_arena_new(0);
	cost_result *r = NULL;
	cost_shape c = {.name = "c", .dtype = ONNX_BOOL};

	(void)state;
	assert_non_null(strchr(after_run(&branch, c, true, a, &r), 'u'));
	assert_int_equal(r->nchoices, 0);
	c.has_number = true;
	assert_string_equal(after_run(&branch, c, true, a, &r), "4");
	assert_int_equal(r->nchoices, 1);
	assert_string_equal(r->choices[0].type, "If");
	assert_int_equal(r->choices[0].value, 0);
	c.number = 1;
	assert_string_equal(after_run(&branch, c, true, a, &r), "6");
	assert_int_equal(r->choices[0].value, 1);
	c = (cost_shape){.name = "s", .dtype = ONNX_FLOAT, .rank = 3, .dims = five};
	assert_string_equal(after_run(&loop, c, false, a, &r), "30");
	assert_int_equal(r->nchoices, 1);
	assert_int_equal(r->choices[0].value, 5);
	assert_int_equal(r->differ, 0);
	c = (cost_shape){.name = "n", .dtype = ONNX_INT64};
	(void)after_run(&length, c, true, a, &r);
	assert_false(sym_known(r->flops));
	c.has_number = true;
	c.number = 4;
	assert_string_equal(after_run(&length, c, true, a, &r), "20");
	assert_int_equal(r->nchoices, 1);
	assert_int_equal(r->choices[0].value, 4);
	mem_arena_free(a);
}

/* Contents given by the caller count as constants, but engines get them only in the run. */
static void a_given_content_decides(void **state)
{
	static const int64_t one = 1, three[] = {2, 2, 2};
	const body_case branch = {"If",
				  17,
				  "c:t[] x:f[2,3] w:f[4,2,3]",
				  "c",
				  "y",
				  NULL,
				  {"then_branch=;y1;Neg x > y1", "else_branch=;y2;Abs w > y2"},
				  NULL,
				  NULL,
				  NULL};
	cost_content c = {.name = "c", .ints = &one, .n = 1};
	const cost_config config = {.contents = &c, .ncontents = 1};
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;
	dck_err err = {0};

	(void)state;
	body_build(&w, &branch);
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, &err), DCK_OK);
	assert_int_equal(cost_model(m, &config, a, &r, &err), DCK_OK);
	assert_string_equal(sym_text(r->nums, r->flops), "6");
	assert_false(r->ops[0].folded);
	/* The number of elements differs from the input's: the content is ignored. */
	c = (cost_content){.name = "c", .ints = three, .n = 3};
	assert_int_equal(cost_model(m, &config, a, &r, &err), DCK_OK);
	assert_non_null(strchr(sym_text(r->nums, r->flops), 'u'));
	c.name = "d";
	assert_int_equal(cost_model(m, &config, a, &r, &err), DCK_E_ARG);
	mem_arena_free(a);
	wire_out_done(&w);
}

/* The branches differ in rank: later shapes are unknown, and the reason names the operator. */
static void branches_of_other_ranks(void **state)
{
	const body_case branch = {"If",
				  17,
				  "c:t[] x:f[2,3] z:f[4]",
				  "c",
				  "y",
				  NULL,
				  {"then_branch=;y1;Neg x > y1", "else_branch=;y2;Abs z > y2"},
				  NULL,
				  NULL,
				  NULL};
	mem_arena *a = mem_arena_new(0);
	cost_result *r = NULL;
	const val *out;

	(void)state;
	(void)after_run(&branch, (cost_shape){.name = "c", .dtype = ONNX_BOOL}, true, a, &r);
	out = r->ops[0].out[0];
	assert_int_equal(out->rank, -1);
	assert_non_null(strstr(out->why, "' of 2 or of 1 dimensions, by the branch or the rounds "
					 "that it takes"));
	mem_arena_free(a);
}

static void counts_bodies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(&cases[i]);
}

/* What a body reads and makes is needed at one time, and one of two branches makes an output. */
static void bodies_need_their_inputs(void **state)
{
	static const struct {
		body_case of;
		int64_t peak;
	} rows[] = {
	    {{"Loop",
	      17,
	      "m:*l[]=3 x:f[100]",
	      "m - x",
	      "y",
	      NULL,
	      {"body=i c v;c v2;Neg v > v2", NULL},
	      NULL,
	      NULL,
	      NULL},
	     800},
	    {{"Scan",
	      17,
	      "h:f[100] x:f[6,100]",
	      "h x",
	      "g",
	      "num_scan_inputs=1",
	      {"body=a e;b;Add a e > b", NULL},
	      NULL,
	      NULL,
	      NULL},
	     3200},
	    /* w and all of x are needed in the next round too, while b of 20,000 is there */
	    {{"Loop",
	      17,
	      "m:*l[]=3 x:f[100] w:f[100] e:*f[50,100]",
	      "m - x",
	      "y",
	      NULL,
	      {"body=i c v;c v2;Add v w > a;Add a e > b;Neg a > v2", NULL},
	      NULL,
	      NULL,
	      NULL},
	     400 + 400 + 20000},
	    {{"Scan",
	      17,
	      "h:f[100] x:f[6,100] e:*f[50,100]",
	      "h x",
	      "g",
	      "num_scan_inputs=1",
	      {"body=a e1;b;Add a e1 > b;Add b e > t", NULL},
	      NULL,
	      NULL,
	      NULL},
	     2400 + 400 + 20000},
	    {{"If",
	      17,
	      "c:t[] x:f[100]",
	      "c",
	      "y",
	      NULL,
	      {"then_branch=;y1;Neg x > y1", "else_branch=;y2;Abs x > t;Neg t > y2"},
	      NULL,
	      NULL,
	      NULL},
	     800},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		mem_arena *a = mem_arena_new(0);
		wire_out w = {0};
		onnx_model *m = NULL;
		cost_result *r = NULL;
		dck_err err = {0};

		body_build(&w, &rows[i].of);
		if (onnx_read_bytes(w.data, w.n, a, &m, &err) != DCK_OK ||
		    cost_model(m, NULL, a, &r, &err) != DCK_OK)
			fail_msg("%s: %s", rows[i].of.op, err.msg);
		if (!sym_is(r->peak_activation_bytes, rows[i].peak))
			fail_msg("%s: %s", rows[i].of.op,
				 sym_text(r->nums, r->peak_activation_bytes));
		mem_arena_free(a);
		wire_out_done(&w);
	}
}

/* The state of a loop depends on weights after the first round, so that its gradient is needed. */
static void states_are_learned(void **state)
{
	static const struct {
		body_case of;
		int64_t macs, again;
	} rows[] = {
	    {{"Loop",
	      17,
	      "m:*l[]=3 x:f[2,4] w:*f[4,4]",
	      "m - x",
	      "y",
	      NULL,
	      {"body=i c v;c v2;MatMul v w > v2", NULL},
	      NULL,
	      NULL,
	      NULL},
	     96,
	     192},
	    {{"Scan",
	      17,
	      "h:f[2,4] x:f[5,2,4] w:*f[4,4] u:*f[4,4]",
	      "h x",
	      "g",
	      "num_scan_inputs=1",
	      {"body=a e;b;MatMul a w > p;MatMul e u > q;Add p q > b", NULL},
	      NULL,
	      NULL,
	      NULL},
	     320,
	     480},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		mem_arena *a = mem_arena_new(0);
		wire_out w = {0};
		onnx_model *m = NULL;
		cost_result *r = NULL;
		dck_err err = {0};
		convention_backward back;

		body_build(&w, &rows[i].of);
		if (onnx_read_bytes(w.data, w.n, a, &m, &err) != DCK_OK ||
		    cost_model(m, NULL, a, &r, &err) != DCK_OK)
			fail_msg("%s: %s", rows[i].of.op, err.msg);
		convention_backward_count(r, &back);
		if (!sym_is(r->macs, rows[i].macs) || !sym_is(back.macs, rows[i].again))
			fail_msg("%s: %s and %s", rows[i].of.op, sym_text(r->nums, r->macs),
				 sym_text(r->nums, back.macs));
		mem_arena_free(a);
		wire_out_done(&w);
	}
}

/* A loop whose state grows, in a loop, in a loop ... */
static void put_loops(wire_out *w, int depth)
{
	static const char *const values[] = {"i", "c", "v", "c", "o"};
	size_t node = node_begin(w, "Loop", "m - v", "o"), at = wire_begin(w, 5);

	wire_put_text(w, 1, "body");
	size_t graph = wire_begin(w, 6);
	for (int i = 0; i < 5; i++) {
		size_t value = wire_begin(w, i < 3 ? 11 : 12);
		wire_put_text(w, 1, values[i]);
		wire_end(w, value);
	}
	if (depth)
		put_loops(w, depth - 1);
	else
		put_node_int(w, "Concat", "v v", "o", "axis", 0);
	wire_end(w, graph);
	wire_put_int(w, 20, ONNX_ATTR_GRAPH);
	wire_end(w, at);
	wire_end(w, node);
}

static dck_status nested(int depth)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;
	dck_err err = {0};
	size_t graph = graph_begin(&w);

	put_input(&w, "m", ONNX_INT64, 0, NULL);
	put_input(&w, "v", ONNX_FLOAT, DIMS(2));
	put_loops(&w, depth);
	graph_end(&w, graph);
	assert_false(w.failed);
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, &err), DCK_OK);
	dck_status status = cost_model(m, NULL, a, &r, &err);
	if (status == DCK_OK)
		assert_non_null(sym_why_fresh(r->nums, r->ops[0].out[0]->dims[0]));
	mem_arena_free(a);
	wire_out_done(&w);
	return status;
}

static void bounds_loops_in_loops(void **state)
{
	(void)state;
	assert_int_equal(nested(3), DCK_OK);
	assert_int_equal(nested(16), DCK_E_LIMIT);
}

/* An input that a call leaves out is left out of the function's operators too, also through calls
 * inside: a sum without axes is over all. */
static void functions_without_an_input(void **state)
{
	static const graph_text g = {"x:f[2,3]",
				     {{"Outer", FN, "outer", "x", "y", NULL},
				      {GRAPH_FUNCTION, NULL, "Outer", NULL, NULL, NULL},
				      {"Inner", FN, "call", "X W", "Y", NULL},
				      {GRAPH_FUNCTION, NULL, "Inner", NULL, NULL, NULL},
				      {"Clip", NULL, "clip", "X W W", "C", NULL},
				      {"ReduceSum", NULL, "sum", "C W", "Y", NULL}}};
	model_cost c = graph_counted(&g);
	const val *y = c.cost->ops[0].out[0];

	(void)state;
	assert_int_equal(y->rank, 2);
	assert_true(sym_is(y->dims[0], 1) && sym_is(y->dims[1], 1));
	assert_true(sym_is(c.cost->flops, 6));
	model_cost_close(&c);
}

int test_cost_control(void);
int test_cost_control(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(branches_of_other_ranks),
	    cmocka_unit_test(a_run_decides),
	    cmocka_unit_test(a_given_content_decides),
	    cmocka_unit_test(counts_bodies),
	    cmocka_unit_test(bodies_need_their_inputs),
	    cmocka_unit_test(states_are_learned),
	    cmocka_unit_test(bounds_loops_in_loops),
	    cmocka_unit_test(functions_without_an_input),
	    cmocka_unit_test(rounds_read_weights_once),
	    cmocka_unit_test(walked_rounds_read_weights_once),
	    cmocka_unit_test(what_is_read_of_each_input),
	    cmocka_unit_test(what_makes_nothing_reads_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
