/* variants.c - makes variants of a model by ONNX Runtime's quantization and float16 tools.
 *
 * The tools are Python, so the first python3 of PATH runs a script, which is in this file: the
 * program needs no file beside it. It gets the model, the directory, the seed and the sizes as
 * arguments, and answers by a line for each variant: name, file and reason, separated by tabs. Of
 * its messages only the end is read, if it fails before its first answer.
 *
 * int8-dynamic: weights as 8-bit integers, activations when they are computed; of products alone,
 * since the processor's provider is slower with such convolutions. int8-static: weights and
 * activations (QuantizeLinear and DequantizeLinear around each operator), with ranges from 8
 * inputs: the files of --input, the items of --inputs, or numbers at random. fp16: weights and
 * operators, with the inputs and outputs of the model as they are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/tune/variants.h"
#include "base/err.h"
#include "base/observer.h"
#include "deepclock/model.h"
#include "deepclock/unstable.h"
#include "os/os.h"
#include <string.h>

#define ANSWER_MAX	  ((size_t)1 << 20)
#define MESSAGES_MAX	  4096
#define VARIANT_WORDS_MAX 128

#define PRODUCTS "[\"MatMul\", \"Gemm\", \"Attention\", \"LSTM\"]"
#define FLOAT16	 "onnxruntime.transformers.float16.convert_float_to_float16"

const variant_row variant_rows[VARIANTS] = {
    {"int8-dynamic",
     "onnxruntime.quantization.quantize_dynamic(\"%1$s\", \"%2$s\", "
     "op_types_to_quantize=" PRODUCTS ")",
     "onnxruntime.quantization"},
    {"int8-static",
     "onnxruntime.quantization.quant_pre_process(\"%1$s\", \"%2$s.tmp\", skip_symbolic_shape=True); "
     "onnxruntime.quantization.quantize_static(\"%2$s.tmp\", \"%2$s\", reader) "
     "# reader: a CalibrationDataReader of your data",
     "onnxruntime.quantization"},
    {"fp16", "onnx.save(" FLOAT16 "(onnx.load(\"%1$s\"), keep_io_types=True), \"%2$s\")",
     "onnx, onnxruntime.transformers.float16"},
};

static const char script[] =
    "import os, sys\n"
    "model, out, stem, seed = sys.argv[1:5]\n"
    "given = [a.split('=', 2) for a in sys.argv[5:]]\n"
    "sizes = {n: int(v) for k, n, v in given if k == 'dim'}\n"
    "def of(kind): return {n: v for k, n, v in given if k == kind}\n"
    "def say(name, path, why):\n"
    "    print(name, path, ' '.join(str(why).split())[:300], sep='\\t', flush=True)\n"
    "try:\n"
    "    import numpy, onnx, onnxruntime\n"
    "    from onnxruntime import quantization\n"
    "except ImportError as e:\n"
    "    say('', '', f'{e} for {sys.executable}')\n"
    "    sys.exit(0)\n"
    "def make(name, write):\n"
    "    path = os.path.join(out, f'{stem}.{name}.onnx')\n"
    "    try:\n"
    "        write(path)\n"
    "        say(name, path, '')\n"
    "    except Exception as e:\n"
    "        say(name, '', f'{type(e).__name__}: {e}')\n"
    "products = " PRODUCTS "\n"
    "def dynamic(path):\n"
    "    if not any(n.op_type in products for n in onnx.load(model, load_external_data=False).graph.node):\n"
    "        raise ValueError('the model has no ' + ', '.join(products))\n"
    "    quantization.quantize_dynamic(model, path, op_types_to_quantize=products)\n"
    "class Reader(quantization.CalibrationDataReader):\n"
    "    def __init__(self):\n"
    "        s = onnxruntime.InferenceSession(model, providers=['CPUExecutionProvider'])\n"
    "        self.inputs, self.n, self.rng = s.get_inputs(), 0, numpy.random.default_rng(int(seed))\n"
    "        alone = self.inputs[0].name\n"
    "        words = {'zeros': 0, 'false': 0, 'ones': 1, 'true': 1}\n"
    "        self.files, self.ranges = {}, {}\n"
    "        for n, v in of('input').items():\n"
    "            if v.endswith('.npz'):\n"
    "                held = numpy.load(v)\n"
    "                if not n: self.files.update(held)\n"
    "                else: self.files[n] = held[n if n in held else held.files[0]]\n"
    "            elif v.endswith('.npy'): self.files[n or alone] = numpy.load(v)\n"
    "            elif v.startswith('range('):\n"
    "                self.ranges[n or alone] = [float(x) for x in v[6:-1].split(',')]\n"
    "            else: self.files[n or alone] = numpy.array(float(words.get(v, v)))\n"
    "        self.shapes = {n or alone: v.split('x') for n, v in of('shape').items()}\n"
    "        self.items = {n or alone: numpy.load(v, mmap_mode='r') for n, v in of('items').items()}\n"
    "    def one(self, x):\n"
    "        kind = {'tensor(float)': 'f4', 'tensor(double)': 'f8', 'tensor(float16)': 'f2', 'tensor(int64)': 'i8',\n"
    "                'tensor(int32)': 'i4', 'tensor(bool)': '?', 'tensor(uint8)': 'u1', 'tensor(int8)': 'i1'}[x.type]\n"
    "        given = self.shapes.get(x.name) or ['?'] * len(x.shape)\n"
    "        known = [d if isinstance(d, int) else sizes.get(d, 1) for d in x.shape or [1] * len(given)]\n"
    "        shape = [int(g) if g.isdigit() else d for g, d in zip(given, known)]\n"
    "        if x.name in self.files:\n"
    "            held = self.files[x.name].astype(kind)\n"
    "            return held if held.ndim else numpy.broadcast_to(held, shape).copy()\n"
    "        if x.name in self.items:\n"
    "            rows = self.items[x.name]\n"
    "            return rows[[(self.n + i) % len(rows) for i in range(shape[0])]].astype(kind)\n"
    "        if x.name in self.ranges:\n"
    "            low, high = self.ranges[x.name]\n"
    "            return (self.rng.uniform(low, high, shape) if kind[0] == 'f' else\n"
    "                    self.rng.integers(int(low), int(high) + 1, shape)).astype(kind)\n"
    "        if kind[0] == 'f':\n"
    "            return self.rng.standard_normal(shape).astype(kind)\n"
    "        return self.rng.integers(0, 2, shape).astype(kind)\n"
    "    def get_next(self):\n"
    "        if self.n == 8:\n"
    "            return None\n"
    "        fed = {x.name: self.one(x) for x in self.inputs}\n"
    "        self.n += 1\n"
    "        return fed\n"
    "def static(path):\n"
    "    ready = path + '.tmp'\n"
    "    try:\n"
    "        quantization.shape_inference.quant_pre_process(model, ready, skip_symbolic_shape=True)\n"
    "        quantization.quantize_static(ready, path, Reader())\n"
    "    finally:\n"
    "        if os.path.exists(ready): os.remove(ready)\n"
    "def half(path):\n"
    "    from onnxruntime.transformers import float16\n"
    "    onnx.save(float16.convert_float_to_float16(onnx.load(model), keep_io_types=True), path)\n"
    "make('int8-dynamic', dynamic)\n"
    "make('int8-static', static)\n"
    "make('fp16', half)\n";

/* The words of the process. */
typedef struct variant_words {
	const char *word[VARIANT_WORDS_MAX];
	size_t n;
	mem_arena *a;
} variant_words;

static bool variant_word_add(variant_words *w, const char *text)
{
	if (!text || w->n + 1 >= VARIANT_WORDS_MAX)
		return false;
	w->word[w->n++] = text;
	return true;
}

/* Adds "KIND=NAME=VALUE" for each "NAME=VALUE" or "VALUE" of a list. */
static bool variant_list_add(variant_words *w, const char *kind, const dck_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (!variant_word_add(w, mem_arena_fmt(w->a, "%s=%s%s", kind,
						       strchr(list->item[i], '=') ? "" : "=",
						       list->item[i])))
			return false;
	return true;
}

/* Writes a built-in network, which is not a file, into the directory. */
static dck_status variant_network_write(const dck_subject *s, const char *path, dck_err *err)
{
	const dck_zoo_config zoo = {.batch = s->model.batch,
				    .image_size = s->model.image_size,
				    .seq = s->model.seq,
				    .seed = s->model.seed};
	dck_replace *file;
	dck_sink out;
	int fd;

	DCK_TRY(dck_replace_open(path, &file, &fd, err));
	dck_sink_fd(&out, fd);
	dck_status status = dck_zoo_write(s->text + strlen("zoo:"), &zoo, &out, err);
	DCK_NEXT(status, dck_sink_finish(&out, err));
	if (status == DCK_OK)
		return dck_replace_commit(file, err);
	dck_replace_abort(file);
	return status;
}

/* Names the model's file, and the variants' after it. */
static dck_status variants_name(const dck_subject *s, const char *directory, variants *v,
				const char **ret_stem, mem_arena *a, dck_err *err)
{
	const bool zoo = strncmp(s->text, "zoo:", 4) == 0;
	const char *slash = strrchr(s->text, '/'),
		   *base = zoo	   ? s->text + 4
			   : slash ? slash + 1
				   : s->text,
		   *dot = strrchr(base, '.');

	if (!zoo && (!dot || strcmp(dot, ".onnx") != 0))
		DCK_FAIL(err, E_ARG,
			 "--quantize needs an ONNX model, a file that ends in .onnx or zoo:NAME, "
			 "and not '%s'",
			 s->text);
	*ret_stem = zoo ? base : mem_arena_dup_n(a, base, (size_t)(dot - base));
	v->model = zoo ? mem_arena_fmt(a, "%s/%s.onnx", directory, base) : s->text;
	DCK_NEED(*ret_stem && v->model, err, "for variants");
	DCK_TRY(os_mkdir_parents(mem_arena_fmt(a, "%s/", directory), "the variants", err));
	return zoo ? variant_network_write(s, v->model, err) : DCK_OK;
}

/* Takes a line of the answer: "NAME\tFILE\tREASON"; without a name the reason is that of all. */
static void variant_answer_take(variants *v, char *line, mem_arena *a)
{
	char *path = strchr(line, '\t'), *why = path ? strchr(path + 1, '\t') : NULL;

	if (!why)
		return;
	*path++ = *why++ = '\0';
	v->no_tools |= *line == '\0';
	for (size_t i = 0; i < VARIANTS; i++) {
		if (*line && strcmp(line, variant_rows[i].name) != 0)
			continue;
		v->path[i] = *path ? mem_arena_dup(a, path) : NULL;
		v->why[i] = mem_arena_dup(a, why);
	}
}

static void variant_answers_take(variants *v, const dck_buffer *text, mem_arena *a)
{
	char *line = text->n > 0 ? mem_arena_dup_n(a, text->data, text->n) : NULL;

	for (char *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		variant_answer_take(v, line, a);
	}
}

/* Returns the last line of the script's messages, of which the tools write any number: Python's
 * reason. */
static const char *last_line(int fd, mem_arena *a)
{
	char text[MESSAGES_MAX];
	uint64_t size = 0;

	if (os_fd_kind(fd, &size) != OS_FILE)
		return NULL;
	const ptrdiff_t got =
	    os_read_at(fd, text, sizeof text, size > sizeof text ? size - sizeof text : 0);
	size_t end = got > 0 ? (size_t)got : 0, begin;

	while (end > 0 && text[end - 1] == '\n')
		end--;
	for (begin = end; begin > 0 && text[begin - 1] != '\n';)
		begin--;
	return end > begin ? mem_arena_dup_n(a, text + begin, end - begin) : NULL;
}

static dck_status script_wait(const variant_words *w, const dck_observer *watch, int out,
			      int errors, os_child_usage *ret, dck_err *err)
{
	const os_spawn_config spawn = {.argv = (char *const *)w->word,
				       .in_fd = -1,
				       .out_fd = out,
				       .err_fd = errors,
				       .keep_fd = -1,
				       .group = true};
	pid_t pid;

	DCK_TRY(os_spawn(&spawn, &pid, err));
	return os_wait(pid, 0, watch ? watch->cancelled : NULL, watch ? watch->self : NULL, ret,
		       err);
}

/* Runs the script and reads both of its outputs. */
static dck_status script_run(const variant_words *w, const dck_observer *watch, variants *v,
			     mem_arena *a, dck_err *err)
{
	os_child_usage usage = {0};
	dck_buffer answers = {0};
	int fd[2] = {-1, -1};
	dck_status status = os_memfd(&fd[0], err);

	DCK_NEXT(status, os_memfd(&fd[1], err));
	DCK_NEXT(status, script_wait(w, watch, fd[0], fd[1], &usage, err));
	DCK_NEXT(status, os_file_read_all(fd[0], ANSWER_MAX, &answers, err));
	if (status == DCK_OK) {
		const char *why =
		    usage.signal ? mem_arena_fmt(a, "python3 was killed by signal %d", usage.signal)
				 : last_line(fd[1], a);
		for (size_t i = 0; i < VARIANTS; i++)
			v->why[i] = why ? why : "python3 ended without an answer";
		variant_answers_take(v, &answers, a);
	}
	dck_buffer_done(&answers);
	for (size_t i = 0; i < 2; i++)
		if (fd[i] >= 0)
			os_close(fd[i]);
	return status;
}

dck_status variants_make(const dck_subject *s, const dck_tune_config *c, const dck_observer *watch,
			 mem_arena *a, variants *ret, dck_err *err)
{
	const uint64_t begin_ns = os_now_ns();
	const dck_progress p = progress_indeterminate("variants");
	variant_words w = {.a = a};
	variants v = {0};
	const char *stem = NULL;
	dck_err why;

	DCK_TRY(variants_name(s, c->quantize, &v, &stem, a, err));
	observer_show(watch, &p);
	const char *const words[] = {"python3",
				     "-c",
				     script,
				     v.model,
				     c->quantize,
				     stem,
				     mem_arena_fmt(a, "%llu", (unsigned long long)s->model.seed)};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		DCK_NEED(variant_word_add(&w, words[i]), err, "for variants");
	DCK_NEED(variant_list_add(&w, "dim", &s->model.dim), err, "for variants");
	DCK_NEED(variant_list_add(&w, "shape", &s->model.shape), err, "for variants");
	DCK_NEED(variant_list_add(&w, "input", &s->model.input), err, "for variants");
	DCK_NEED(variant_list_add(&w, "items", &c->inputs), err, "for variants");
	const dck_status status = script_run(&w, watch, &v, a, &why);
	if (status == DCK_E_CANCEL || status == DCK_E_NOMEM)
		return err_pass(status, &why, err);
	for (size_t i = 0; i < VARIANTS && status != DCK_OK; i++)
		v.why[i] = mem_arena_dup(a, why.msg);
	v.no_tools |= status != DCK_OK;
	v.took_ns = (double)(os_now_ns() - begin_ns);
	*ret = v;
	return DCK_OK;
}
