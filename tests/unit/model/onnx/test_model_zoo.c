/* test_model_zoo.c - the built-in networks: parameter counts, sizes, reproducible bytes.
 * tools/check_zoo.py runs ONNX's own checker on them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/model.h"
#include "model/onnx/summary.h"
#include "model/onnx/onnx_builder.h"
#include "model/onnx/onnx.h"
#include "scratch.h"
#include "base/hash.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

/* Writes the structure and leaves holes for weights, which come in chunks of this size: writing
 * half a gigabyte of weights would only cost time. */
#define PIECE 32768
typedef struct sparse_file {
	int fd;
	uint64_t n;
} sparse_file;

static dck_status sparse_write(void *self, const void *bytes, size_t n, dck_err *err)
{
	sparse_file *f = self;

	(void)err;
	if (n != PIECE)
		assert_int_equal(pwrite(f->fd, bytes, n, (off_t)f->n), n);
	f->n += n;
	return DCK_OK;
}

static onnx_model *write_and_read(const char *name, const dck_zoo_config *c, mem_arena *a,
				  uint64_t *ret_bytes)
{
	sparse_file f = {.fd = open("zoo.onnx", O_RDWR | O_CREAT | O_TRUNC, 0600)};
	onnx_model *m = NULL;
	dck_sink sink;
	dck_err err = {0};

	assert_true(f.fd >= 0);
	dck_sink_custom(&sink, sparse_write, &f);
	if (dck_zoo_write(name, c, &sink, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(dck_sink_finish(&sink, &err), DCK_OK);
	assert_int_equal(ftruncate(f.fd, (off_t)f.n), 0);
	if (onnx_read_file("zoo.onnx", a, &m, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	close(f.fd);
	if (ret_bytes)
		*ret_bytes = f.n;
	return m;
}

static bool is_running_statistic(const onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nnodes; i++) {
		const onnx_node *n = &g->nodes[i];
		if (strcmp(n->op, "BatchNormalization") == 0 &&
		    (strcmp(n->inputs[3], name) == 0 || strcmp(n->inputs[4], name) == 0))
			return true;
	}
	return false;
}

static int64_t count_trained(const onnx_graph *g)
{
	uint64_t n = 0;

	for (size_t i = 0; i < g->ninitializers; i++)
		if (g->initializers[i].dtype == ONNX_FLOAT &&
		    !is_running_statistic(g, g->initializers[i].name))
			n += g->initializers[i].elements;
	return (int64_t)n;
}

static size_t count_op(const onnx_graph *g, const char *op)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nnodes; i++)
		n += strcmp(g->nodes[i].op, op) == 0;
	return n;
}

typedef struct expect {
	const char *name;
	int64_t params;
	size_t nodes, convs, norms, products; /* products: Gemm and MatMul */
} expect;
static const expect expected[] = {
    {"resnet18", 11689512, 69, 20, 20, 1},
    {"resnet50", 25557032, 175, 53, 53, 1},
    {"mobilenet_v2", 3504872, 222, 52, 52, 1},
    {"vgg16", 138357544, 38, 13, 0, 3},
    {"squeezenet1_1", 1235496, 65, 26, 0, 0},
    {"bert_base", 109482240, 525, 0, 0, 12 * 8 + 1},
    {"bert_mini", 11170560, 189, 0, 0, 4 * 8 + 1},
    {"llama_mini", 3819776, 392, 0, 0, 4 * 9 + 1},
    {"smollm2_135m", 134515008, 2654, 0, 0, 30 * 9 + 1},
    {"gpt_mini", 4470272, 259, 0, 0, 4 * 6 + 1},
    {"gpt2", 124439808, 723, 0, 0, 12 * 6 + 1},
    {"simplenet", 101770, 3, 0, 0, 2},
    {"two_layer", 101110, 3, 0, 0, 2},
    {"conv2d", 1792, 1, 1, 0, 0},
    {"matmul", 1048576, 1, 0, 0, 1},
};

static void every_network_has_its_published_size(void **state)
{
	(void)state;
	size_t n;
	const dck_zoo_entry *all = dck_zoo(&n);

	assert_int_equal(n, sizeof expected / sizeof *expected);
	for (size_t i = 0; i < n; i++) {
		const expect *e = &expected[i];
		mem_arena *a = mem_arena_new(0);
		uint64_t bytes;
		const onnx_model *m = write_and_read(e->name, NULL, a, &bytes);

		assert_string_equal(all[i].name, e->name);
		assert_int_equal(all[i].params, e->params);
		assert_int_equal(count_trained(m->graph), e->params);
		assert_int_equal(m->graph->nnodes, e->nodes);
		assert_int_equal(count_op(m->graph, "Conv"), e->convs);
		assert_int_equal(count_op(m->graph, "BatchNormalization"), e->norms);
		assert_int_equal(count_op(m->graph, "Gemm") + count_op(m->graph, "MatMul"),
				 e->products);
		assert_int_equal(m->ir_version, 8);
		assert_string_equal(m->producer, "deepclock");
		assert_int_equal(onnx_opset_version(m), 17);
		assert_string_equal(m->graph->name, e->name);
		assert_true(bytes < (UINT64_C(2) << 30));
		assert_true(strncmp(all[i].input, m->graph->inputs[0].name,
				    strlen(m->graph->inputs[0].name)) == 0);
		mem_arena_free(a);
	}
}

static const onnx_node *find_node(const onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->nnodes; i++)
		if (strcmp(g->nodes[i].name, name) == 0)
			return &g->nodes[i];
	return NULL;
}

static void names_are_those_of_an_exporter(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	const onnx_graph *g = write_and_read("resnet18", NULL, a, NULL)->graph;
	const onnx_node *n = find_node(g, "/layer2/layer2.0/downsample/downsample.0/Conv");

	assert_non_null(n);
	assert_string_equal(n->inputs[1], "layer2.0.downsample.0.weight");
	assert_int_equal(onnx_find_attribute(n, "strides")->ints[1], 2);
	assert_int_equal(onnx_attribute_int(n, "group", 0), 1);
	assert_non_null(find_node(g, "/layer1/layer1.0/relu/Relu"));
	assert_non_null(find_node(g, "/layer1/layer1.0/relu/Relu_1"));
	n = find_node(g, "/bn1/BatchNormalization");
	assert_int_equal(n->ninputs, 5);
	assert_string_equal(n->inputs[0], "/conv1/Conv_output_0");
	n = find_node(g, "/fc/Gemm");
	assert_string_equal(n->outputs[0], "output");
	mem_arena_free(a);
	a = mem_arena_new(0);
	g = write_and_read("mobilenet_v2", NULL, a, NULL)->graph;
	n = find_node(g, "/features/features.2/conv/conv.1/conv.1.0/Conv");
	assert_int_equal(onnx_attribute_int(n, "group", 0), 96);
	g = write_and_read("bert_mini", NULL, a, NULL)->graph;
	n = find_node(g, "/encoder/layer.3/attention/self/query/MatMul");
	assert_string_equal(n->inputs[1], "encoder.layer.3.attention.self.query.weight");
	mem_arena_free(a);
}

static void assert_dims(const onnx_value *v, size_t rank, const onnx_dim *dims)
{
	const onnx_shape *s = v->type->tensor->shape;

	assert_int_equal(s->rank, rank);
	for (size_t i = 0; i < rank; i++) {
		assert_int_equal(s->dims[i].value, dims[i].value);
		if (dims[i].symbol)
			assert_string_equal(s->dims[i].symbol, dims[i].symbol);
		else
			assert_null(s->dims[i].symbol);
	}
}

static void sizes_are_options(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	const onnx_graph *g;

	g = write_and_read("resnet18", &(dck_zoo_config){.batch = 4, .image_size = "1024x2048"}, a,
			   NULL)
		->graph;
	assert_dims(&g->inputs[0], 4, (const onnx_dim[]){{4, 0}, {3, 0}, {1024, 0}, {2048, 0}});
	assert_dims(&g->outputs[0], 2, (const onnx_dim[]){{4, 0}, {1000, 0}});
	g = write_and_read("bert_mini", &(dck_zoo_config){.seq = 7}, a, NULL)->graph;
	assert_dims(&g->inputs[2], 2, (const onnx_dim[]){{1, 0}, {7, 0}});
	assert_dims(&g->outputs[0], 3, (const onnx_dim[]){{1, 0}, {7, 0}, {256, 0}});
	assert_dims(&g->outputs[1], 2, (const onnx_dim[]){{1, 0}, {256, 0}});
	g = write_and_read("bert_mini", &(dck_zoo_config){.symbolic = true}, a, NULL)->graph;
	assert_dims(&g->inputs[0], 2, (const onnx_dim[]){{-1, "batch"}, {-1, "seq"}});
	g = write_and_read("simplenet", &(dck_zoo_config){.symbolic = true}, a, NULL)->graph;
	assert_dims(&g->outputs[0], 2, (const onnx_dim[]){{-1, "batch"}, {10, 0}});
	g = write_and_read("conv2d", &(dck_zoo_config){.image_size = "32"}, a, NULL)->graph;
	assert_dims(&g->outputs[0], 4, (const onnx_dim[]){{1, 0}, {64, 0}, {32, 0}, {32, 0}});
	g = write_and_read("vgg16", &(dck_zoo_config){.image_size = "448x224"}, a, NULL)->graph;
	assert_int_equal(
	    onnx_find_attribute(find_node(g, "/avgpool/AveragePool"), "kernel_shape")->ints[0], 2);
	mem_arena_free(a);
}

typedef struct refusal {
	const char *name;
	dck_zoo_config config;
	dck_status code;
	const char *says;
} refusal;

static void sizes_that_cannot_be_are_refused(void **state)
{
	(void)state;
	static const refusal cases[] = {
	    {"resnet19",
	     {0},
	     DCK_E_ABSENT,
	     "no built-in network 'resnet19'; did you mean 'resnet18'?"},
	    {"nothing",
	     {0},
	     DCK_E_ABSENT,
	     "no built-in network 'nothing'; 'deepclock zoo' lists them"},
	    {"", {0}, DCK_E_ABSENT, "no built-in network ''; 'deepclock zoo' lists them"},
	    {"resnet18", {.batch = 2000000}, DCK_E_ARG, "a batch of 2000000 is more than 1000000"},
	    {"resnet18",
	     {.image_size = "0"},
	     DCK_E_ARG,
	     "'resnet18' takes images of 1 to 65536 a side, not 0"},
	    {"resnet18",
	     {.image_size = "224x65537"},
	     DCK_E_ARG,
	     "'resnet18' takes images of 1 to 65536 a side, not 65537"},
	    {"squeezenet1_1",
	     {.image_size = "24"},
	     DCK_E_ARG,
	     "'squeezenet1_1' takes images of 25 to 65536 a side, not 24"},
	    {"vgg16",
	     {.image_size = "256"},
	     DCK_E_ARG,
	     "'vgg16' takes images whose sides are multiples of 224, not 256"},
	    {"resnet18", {.seq = 8}, DCK_E_ARG, "'resnet18' takes no sequence length"},
	    {"bert_mini",
	     {.seq = 513},
	     DCK_E_ARG,
	     "'bert_mini' takes sequences of at most 512, not 513"},
	    {"bert_mini", {.image_size = "224"}, DCK_E_ARG, "'bert_mini' takes no image size"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dck_buffer b = {0};
		dck_sink sink;
		dck_err err = {0};

		dck_sink_buffer(&sink, &b);
		assert_int_equal(dck_zoo_write(cases[i].name, &cases[i].config, &sink, &err),
				 cases[i].code);
		assert_string_equal(err.msg, cases[i].says);
		assert_int_equal(b.n, 0);
		dck_buffer_done(&b);
	}
	dck_err err = {0};
	dck_sink sink;
	dck_buffer b = {0};
	dck_sink_buffer(&sink, &b);
	for (size_t i = 0; i < 4; i++) {
		static const char *const bad[] = {"", "axb", "224x", "1x2x3"};
		assert_int_equal(
		    dck_zoo_write("resnet18", &(dck_zoo_config){.image_size = bad[i]}, &sink, &err),
		    DCK_E_ARG);
	}
}

static uint64_t digest(const char *name, uint64_t seed, size_t *ret_n)
{
	dck_buffer b = {0};
	dck_sink sink;
	dck_err err;
	uint64_t h;

	dck_sink_buffer(&sink, &b);
	assert_int_equal(dck_zoo_write(name, &(dck_zoo_config){.seed = seed}, &sink, &err), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, &err), DCK_OK);
	h = hash_bytes(HASH_START, b.data, b.n);
	*ret_n = b.n;
	dck_buffer_done(&b);
	return h;
}

static void bytes_are_the_same_everywhere(void **state)
{
	(void)state;
	size_t n;

	assert_true(digest("conv2d", 0, &n) == UINT64_C(0x554706a448c99b0e));
	assert_int_equal(n, 7473);
	assert_true(digest("simplenet", 0, &n) == UINT64_C(0xe03069124b591f67));
	assert_int_equal(n, 407553);
	assert_true(digest("squeezenet1_1", 0, &n) == UINT64_C(0xed07359d4b1457d0));
	assert_true(digest("mobilenet_v2", 0, &n) == UINT64_C(0xb363d08c9c152a92));
	assert_true(digest("conv2d", 0, &n) != digest("conv2d", 1, &n));
}

static float float_at(const uint8_t *p)
{
	uint32_t bits =
	    (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	float v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static void weights_have_the_distribution_they_should(void **state)
{
	(void)state;
	enum { N = 200000 };
	uint8_t *bytes = malloc((size_t)4 * N), piece[4 * 5];
	onnx_builder_param p = {.fill = NET_NORMAL, .a = 0.25f};
	double sum = 0, squares = 0, lag = 0, last = 0, least = 1;

	assert_non_null(bytes);
	assert_int_equal(fill_values(&p, 3, 7, 0, N, bytes), 4 * N);
	for (size_t i = 0; i < N; i++) {
		double v = (double)float_at(bytes + 4 * i);
		sum += v;
		squares += v * v;
		lag += v * last;
		last = v;
		if (fabs(v) > 0 && fabs(v) < least)
			least = fabs(v);
		assert_true(fabs(v) <= 0.25 * 3.4642);
	}
	/* five standard errors */
	assert_true(fabs(sum / N) < 5 * 0.25 / sqrt(N));
	assert_true(fabs(sqrt(squares / N) - 0.25) < 5 * 0.25 / sqrt(2.0 * N));
	assert_true(fabs(lag / squares) < 5 / sqrt(N));
	assert_true(least > 1e-7);
	/* a chunk equals the same range of the whole */
	assert_int_equal(fill_values(&p, 3, 7, 1000, 5, piece), 20);
	assert_memory_equal(piece, bytes + 4000, 20);
	/* other parameters and seeds give other values */
	assert_int_equal(fill_values(&p, 3, 8, 1000, 5, piece), 20);
	assert_memory_not_equal(piece, bytes + 4000, 20);
	assert_int_equal(fill_values(&p, 4, 7, 1000, 5, piece), 20);
	assert_memory_not_equal(piece, bytes + 4000, 20);
	p = (onnx_builder_param){.fill = NET_UNIFORM, .a = 0.5f, .b = 1.0f};
	assert_int_equal(fill_values(&p, 3, 7, 0, N, bytes), 4 * N);
	sum = 0;
	for (size_t i = 0; i < N; i++) {
		double v = (double)float_at(bytes + 4 * i);
		sum += v;
		assert_true(v >= 0.5 && v < 1.5);
	}
	assert_true(fabs(sum / N - 1) < 5 * sqrt(1.0 / 12 / N));
	p = (onnx_builder_param){.fill = NET_COUNT};
	assert_int_equal(fill_values(&p, 0, 0, 257, 1, bytes), 8);
	assert_memory_equal(bytes, ((const uint8_t[]){1, 1, 0, 0, 0, 0, 0, 0}), 8);
	free(bytes);
}

static void a_sink_that_fails_says_so(void **state)
{
	(void)state;
	dck_sink sink;
	dck_err err = {0};

	dck_sink_fd(&sink, -1);
	assert_int_equal(dck_zoo_write("matmul", NULL, &sink, &err), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, &err), DCK_E_IO);
}

int test_model_zoo(void);
int test_model_zoo(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_network_has_its_published_size),
	    cmocka_unit_test(names_are_those_of_an_exporter),
	    cmocka_unit_test(sizes_are_options),
	    cmocka_unit_test(sizes_that_cannot_be_are_refused),
	    cmocka_unit_test(bytes_are_the_same_everywhere),
	    cmocka_unit_test(weights_have_the_distribution_they_should),
	    cmocka_unit_test(a_sink_that_fails_says_so),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
