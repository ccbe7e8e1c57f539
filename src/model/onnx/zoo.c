/* zoo.c - the table of built-in networks, and the sizes that each supports.
 *
 * Two tables in the same order: what users read of a network, and its limits with its builder.
 * Requested sizes are checked against the limits before anything is built, and a size that a
 * network does not have is refused. dck_zoo_write() describes the graph (onnx_builder.h), whose
 * weights are made while it is written. The sizes of a decoder may all be given; each has a
 * default.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/model.h"
#include "deepclock/unstable.h"
#include "model/onnx/zoo.h"
#include "base/err.h"
#include "base/units.h"

#include <string.h>

const dck_opt dck_zoo_options[] = {
    DCK_OPTION(COUNT, dck_zoo_config, batch, "batch", "N", NULL, "batch size (1)", .letter = 'b',
	       .min = 1, .max = 1e6),
    DCK_OPTION(TEXT, dck_zoo_config, image_size, "image-size", "N|HxW", NULL,
	       "height and width of the image (the network's own)"),
    DCK_OPTION(COUNT, dck_zoo_config, seq, "seq", "N", NULL, "sequence length (the network's own)",
	       .min = 1, .max = 1e6),
    DCK_FLAG(dck_zoo_config, symbolic, "symbolic",
	     "leave batch and sequence length open, as \"batch\" and \"seq\"",
	     .excludes = "batch seq past"),
    DCK_OPTION(COUNT, dck_zoo_config, seed, "seed", "N", "1", "of the weights"),
    DCK_OPTION(COUNT, dck_zoo_config, past, "past", "N", NULL,
	       "of a decoder: tokens in its cache (the network's own)", .min = 1, .max = 1e6),
    DCK_OPTION(COUNT, dck_zoo_config, layers, "layers", "N", NULL,
	       "of a decoder: layers (the network's own)", .min = 1, .max = 1000),
    DCK_OPTION(COUNT, dck_zoo_config, hidden, "hidden", "N", NULL,
	       "of a decoder: width (the network's own)", .min = 2, .max = 1e5),
    DCK_OPTION(COUNT, dck_zoo_config, heads, "heads", "N", NULL,
	       "of a decoder: heads of the queries (the network's own)", .min = 1, .max = 1e4),
    DCK_OPTION(COUNT, dck_zoo_config, kv_heads, "kv-heads", "N", NULL,
	       "of a decoder: heads of keys and values, which groups of queries share "
	       "(the network's own)",
	       .min = 1, .max = 1e4),
    DCK_OPTION(COUNT, dck_zoo_config, vocabulary, "vocabulary", "N", NULL,
	       "of a decoder: tokens that it knows (the network's own)", .min = 2, .max = 1e7),
    {0},
};

static const dck_zoo_entry entries[] = {
    {"resnet18", "residual CNN, 18 layers, ImageNet head", 11689512, "input 1x3x224x224 float32",
     "torchvision.models.resnet18, arXiv:1512.03385"},
    {"resnet50", "residual CNN with bottlenecks, 50 layers, ImageNet head", 25557032,
     "input 1x3x224x224 float32", "torchvision.models.resnet50, arXiv:1512.03385"},
    {"mobilenet_v2", "CNN of inverted residuals for phones, ImageNet head", 3504872,
     "input 1x3x224x224 float32", "torchvision.models.mobilenet_v2, arXiv:1801.04381"},
    {"vgg16", "plain CNN, 16 layers, 528 MiB of weights, ImageNet head", 138357544,
     "input 1x3x224x224 float32", "torchvision.models.vgg16, arXiv:1409.1556"},
    {"squeezenet1_1", "small CNN of fire modules, ImageNet head", 1235496,
     "input 1x3x224x224 float32", "torchvision.models.squeezenet1_1, arXiv:1602.07360"},
    {"bert_base", "transformer encoder, 12 layers of 768, with pooler", 109482240,
     "input_ids, attention_mask, token_type_ids 1x128 int64",
     "transformers.BertModel, bert-base-uncased, arXiv:1810.04805"},
    {"bert_mini", "transformer encoder, 4 layers of 256, with pooler", 11170560,
     "input_ids, attention_mask, token_type_ids 1x128 int64",
     "transformers.BertModel, uncased L-4 H-256 A-4, arXiv:1908.08962"},
    {"llama_mini", "decoder with a cache, 4 layers of 256, grouped queries", 3819776,
     "input_ids, position_ids 1x1, attention_mask 1x128 int64, a cache of 127 tokens",
     "transformers.LlamaForCausalLM of this size, arXiv:2302.13971"},
    {"smollm2_135m", "decoder with a cache, 30 layers of 576, grouped queries", 134515008,
     "input_ids, position_ids 1x1, attention_mask 1x128 int64, a cache of 127 tokens",
     "transformers.LlamaForCausalLM, HuggingFaceTB/SmolLM2-135M, arXiv:2502.02737"},
    {"gpt_mini", "decoder with a cache, 4 layers of 256, GPT-2's layers", 4470272,
     "input_ids, position_ids 1x1, attention_mask 1x128 int64, a cache of 127 tokens",
     "transformers.GPT2LMHeadModel of this size, Radford et al. 2019"},
    {"gpt2", "decoder with a cache, 12 layers of 768", 124439808,
     "input_ids, position_ids 1x1, attention_mask 1x128 int64, a cache of 127 tokens",
     "transformers.GPT2LMHeadModel, openai-community/gpt2, Radford et al. 2019"},
    {"simplenet", "784-128-10 perceptron with ReLU", 101770, "input 1x784 float32",
     "the usual first network for 28x28 digits"},
    {"two_layer", "1000-100-10 perceptron with ReLU", 101110, "input 1x1000 float32",
     "the two-layer network of PyTorch's first tutorials"},
    {"conv2d", "one 3x3 convolution, 3 to 64 channels", 1792, "input 1x3x224x224 float32",
     "the first layer of VGG"},
    {"matmul", "one product with a 1024x1024 matrix", 1048576, "input 1x1024x1024 float32",
     "a single MatMul"},
};

/* Supported sizes of each, in the same order. Zero: it has no such size. */
typedef struct limits {
	const char *name;
	void (*build)(onnx_builder *n, const zoo_size *s);
	int64_t image, image_min;
	int64_t image_step; /* side / 32 must be a multiple of it; 0: any */
	int64_t seq, seq_max;
	zoo_size decoder; /* .layers 0: not a decoder; .kv_heads 0: as many as .heads */
} limits;
#define DECODER_SEQ   .seq = 1, .seq_max = 1000000
#define GPT_POSITIONS 1024
static const limits networks[] = {
    {"resnet18", zoo_resnet18, .image = 224, .image_min = 1},
    {"resnet50", zoo_resnet50, .image = 224, .image_min = 1},
    {"mobilenet_v2", zoo_mobilenet_v2, .image = 224, .image_min = 1},
    {"vgg16", zoo_vgg16, .image = 224, .image_min = 224, .image_step = 7},
    {"squeezenet1_1", zoo_squeezenet1_1, .image = 224, .image_min = 25},
    {"bert_base", zoo_bert_base, .seq = 128, .seq_max = 512},
    {"bert_mini", zoo_bert_mini, .seq = 128, .seq_max = 512},
    {"llama_mini", zoo_llama, DECODER_SEQ,
     .decoder =
	 {.past = 127, .layers = 4, .hidden = 256, .heads = 8, .kv_heads = 2, .vocabulary = 4096}},
    {"smollm2_135m", zoo_llama, DECODER_SEQ,
     .decoder = {.past = 127,
		 .layers = 30,
		 .hidden = 576,
		 .heads = 9,
		 .kv_heads = 3,
		 .vocabulary = 49152}},
    {"gpt_mini", zoo_gpt, DECODER_SEQ,
     .decoder = {.past = 127,
		 .layers = 4,
		 .hidden = 256,
		 .heads = 8,
		 .vocabulary = 4096,
		 .positions = GPT_POSITIONS}},
    {"gpt2", zoo_gpt, DECODER_SEQ,
     .decoder = {.past = 127,
		 .layers = 12,
		 .hidden = 768,
		 .heads = 12,
		 .vocabulary = 50257,
		 .positions = GPT_POSITIONS}},
    {"simplenet", .build = zoo_simplenet},
    {"two_layer", .build = zoo_two_layer},
    {"conv2d", zoo_conv2d, .image = 224, .image_min = 1},
    {"matmul", zoo_matmul, .seq = 1024, .seq_max = 1000000},
};
#define NETWORKS (sizeof(networks) / sizeof(*networks))
_Static_assert(NETWORKS == sizeof entries / sizeof *entries, "two tables of the same networks");

#define BATCH_MAX   1000000
#define IMAGE_MAX   65536
#define DECODER_MAX 10000000

const dck_zoo_entry *dck_zoo(size_t *ret_n)
{
	*ret_n = NETWORKS;
	return entries;
}

/* NULL with *err set: no such network. */
static const limits *limits_find(const char *name, dck_err *err)
{
	const char *names[NETWORKS];

	for (size_t i = 0; i < NETWORKS; i++) {
		names[i] = networks[i].name;
		if (strcmp(names[i], name) == 0)
			return &networks[i];
	}
	const char *near = dck_nearest(name, names, NETWORKS);
	if (near)
		ERR_SET(err, E_ABSENT, "no built-in network '%s'; did you mean '%s'?", name, near);
	else
		ERR_SET(err, E_ABSENT, "no built-in network '%s'; 'deepclock zoo' lists them",
			name);
	return NULL;
}

static dck_status read_image(const limits *l, const char *text, zoo_size *s, dck_err *err)
{
	int64_t dims[2];
	size_t rank;

	if (!l->image)
		DCK_FAIL(err, E_ARG, "'%s' takes no image size", l->name);
	dck_status code = units_parse_dims(text, dims, 2, &rank, err);
	if (code != DCK_OK)
		return err_while(err, code, "reading image size '%s' (N or HxW)", text);
	if (rank == 0)
		DCK_FAIL(err, E_ARG, "image size '%s' is neither N nor HxW", text);
	if (rank == 1)
		dims[1] = dims[0];
	for (int i = 0; i < 2; i++) {
		if (dims[i] < l->image_min || dims[i] > IMAGE_MAX)
			DCK_FAIL(err, E_ARG, "'%s' takes images of %lld to %d a side, not %lld",
				 l->name, (long long)l->image_min, IMAGE_MAX, (long long)dims[i]);
		if (l->image_step && dims[i] / 32 % l->image_step)
			DCK_FAIL(err, E_ARG,
				 "'%s' takes images whose sides are multiples of %lld, not %lld",
				 l->name, (long long)(32 * l->image_step), (long long)dims[i]);
	}
	s->height = dims[0];
	s->width = dims[1];
	return DCK_OK;
}

#define ZOO_BYTES_MAX (INT64_C(2000) << 20) /* of weights: a file of ONNX holds 2 GiB */

/* Returns a lower bound of the weights' bytes. */
static double decoder_bytes(const zoo_size *s)
{
	const double width = (double)s->hidden;

	return 4 * width * ((double)s->vocabulary + 10 * width * (double)s->layers);
}

static dck_status read_decoder(const limits *l, const dck_zoo_config *c, zoo_size *s, dck_err *err)
{
	const struct {
		const char *name;
		uint64_t given;
		int64_t own, *to;
	} rows[] = {
	    {"past", c->past, l->decoder.past, &s->past},
	    {"layers", c->layers, l->decoder.layers, &s->layers},
	    {"hidden", c->hidden, l->decoder.hidden, &s->hidden},
	    {"heads", c->heads, l->decoder.heads, &s->heads},
	    {"kv-heads", c->kv_heads, l->decoder.kv_heads, &s->kv_heads},
	    {"vocabulary", c->vocabulary, l->decoder.vocabulary, &s->vocabulary},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].given && !l->decoder.layers)
			DCK_FAIL(err, E_ARG, "'%s' takes no --%s: it is not a decoder", l->name,
				 rows[i].name);
		if (rows[i].given > DECODER_MAX)
			DCK_FAIL(err, E_ARG, "--%s is %llu, which is more than %d", rows[i].name,
				 (unsigned long long)rows[i].given, DECODER_MAX);
		*rows[i].to = rows[i].given ? (int64_t)rows[i].given : rows[i].own;
	}
	if (!l->decoder.layers)
		return DCK_OK;
	if (!l->decoder.kv_heads && c->kv_heads)
		DCK_FAIL(err, E_ARG,
			 "'%s' takes no --kv-heads: each of its heads has keys and values of its "
			 "own",
			 l->name);
	if (!l->decoder.kv_heads)
		s->kv_heads = s->heads;
	s->positions = l->decoder.positions;
	if (s->positions && !c->symbolic && s->past + s->seq > s->positions)
		DCK_FAIL(err, E_ARG,
			 "'%s' has %lld positions: a cache of %lld tokens (--past) and %lld new "
			 "ones (--seq) are more",
			 l->name, (long long)s->positions, (long long)s->past, (long long)s->seq);
	if (s->hidden % (2 * s->heads) || s->hidden / s->heads > ZOO_HEAD_MAX)
		DCK_FAIL(err, E_ARG,
			 "a width (--hidden) of %lld does not split into %lld heads of an even "
			 "width of at most %d",
			 (long long)s->hidden, (long long)s->heads, ZOO_HEAD_MAX);
	if (s->heads % s->kv_heads)
		DCK_FAIL(err, E_ARG,
			 "%lld heads of queries do not split into %lld groups (--kv-heads)",
			 (long long)s->heads, (long long)s->kv_heads);
	if (decoder_bytes(s) > (double)ZOO_BYTES_MAX)
		DCK_FAIL(err, E_ARG,
			 "this decoder has more than 2 GiB of weights, the limit of an ONNX file: "
			 "give smaller --layers, --hidden or --vocabulary");
	return DCK_OK;
}

static dck_status read_size(const limits *l, const dck_zoo_config *c, zoo_size *ret, dck_err *err)
{
	zoo_size s = {.batch = 1, .height = l->image, .width = l->image, .seq = l->seq};

	if (c->batch > BATCH_MAX)
		DCK_FAIL(err, E_ARG, "a batch of %llu is more than %d",
			 (unsigned long long)c->batch, BATCH_MAX);
	if (c->batch)
		s.batch = (int64_t)c->batch;
	if (c->image_size)
		DCK_TRY(read_image(l, c->image_size, &s, err));
	if (c->seq && !l->seq)
		DCK_FAIL(err, E_ARG, "'%s' takes no sequence length", l->name);
	if (c->seq > (uint64_t)l->seq_max)
		DCK_FAIL(err, E_ARG, "'%s' takes sequences of at most %lld, not %llu", l->name,
			 (long long)l->seq_max, (unsigned long long)c->seq);
	if (c->seq)
		s.seq = (int64_t)c->seq;
	DCK_TRY(read_decoder(l, c, &s, err));
	if (c->symbolic) {
		s.batch = NET_OPEN;
		s.seq = NET_OPEN;
		s.past = NET_OPEN;
	}
	*ret = s;
	return DCK_OK;
}

dck_status dck_zoo_write(const char *name, const dck_zoo_config *c, dck_sink *out, dck_err *err)
{
	static const dck_zoo_config defaults = {0};
	zoo_size s;
	onnx_builder n;

	if (!c)
		c = &defaults;
	const limits *l = limits_find(name, err);
	if (!l)
		return DCK_E_ABSENT;
	DCK_TRY(read_size(l, c, &s, err));
	DCK_TRY(onnx_builder_init(&n, l->name, err));
	l->build(&n, &s);
	dck_status code = onnx_builder_write(&n, c->seed, out, err);
	onnx_builder_done(&n);
	return code;
}
