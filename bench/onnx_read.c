/* onnx_read.c - reading a model's structure, compared with the least work that could do it: a
 * handwritten walk over the same bytes, which keeps names, operators, inputs, dimensions and types
 * and skips the data of tensors, but checks nothing and ignores all other fields. Both run in turn
 * on one core.
 *
 *     bench_onnx_read [--rounds N]
 *     bench_onnx_read --read FILE        reads it once and prints the peak resident KiB
 *
 * Cases: 208 MiB of weights in 52 layers; 20,000 nodes; 2 GiB of weights in another file. If
 * the onnx package is installed, its parser is measured too, and its shape inference compared with
 * deepclock's shapes and costs. Fails if weights were opened.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/cost/cost_model.h"
#include "model/onnx/onnx.h"
#include "base/wire.h"
#include "rows.h"

#define ROUNDS_MAX 201
#define PEAK_MIB   10.0

/* Maximum ratios to the walk. */
#define LIMIT_LAYERS 3.0
#define LIMIT_NODES  2.0

static _Noreturn void stop(const char *what)
{
	fprintf(stderr, "onnx_read: %s\n", what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* --- the walk by hand: varints in a window that is filled by pread() */

#define WINDOW 65536

typedef struct walk {
	int fd;
	uint64_t at, end; /* file offsets of the window */
	uint8_t window[WINDOW];
	char *text; /* all names, concatenated */
	size_t ntext, text_room;
	uint32_t *cells; /* for each node and tensor: lengths, counts, dimensions, types */
	size_t ncells, cells_room;
	size_t nodes, tensors;
} walk;

/* Moves `n` bytes at `at` into the window; after a jump one page suffices. */
static const uint8_t *walk_see(walk *w, uint64_t at, size_t n)
{
	if (at < w->at || at + n > w->end) {
		size_t step = at >= w->at && at <= w->end ? WINDOW : 4096;
		ssize_t got = pread(w->fd, w->window, step < n ? n : step, (off_t)at);
		if (got < 0)
			stop("cannot read");
		w->at = at;
		w->end = at + (uint64_t)got;
	}
	return w->window + (at - w->at);
}

static uint64_t walk_varint(walk *w, uint64_t *at)
{
	const uint8_t *p = walk_see(w, *at, 10);
	uint64_t v = 0;
	unsigned shift = 0, used = 0;

	do {
		v |= (uint64_t)(p[used] & 0x7f) << shift;
		shift += 7;
	} while (p[used++] & 0x80);
	*at += used;
	return v;
}

static void walk_cell(walk *w, uint64_t v)
{
	if (w->ncells == w->cells_room) {
		w->cells_room = w->cells_room ? 2 * w->cells_room : 4096;
		w->cells = realloc(w->cells, w->cells_room * sizeof *w->cells);
		if (!w->cells)
			stop("no memory");
	}
	w->cells[w->ncells++] = (uint32_t)v;
}

static void walk_text(walk *w, uint64_t at, uint64_t n)
{
	const uint8_t *p = walk_see(w, at, (size_t)n);

	if (w->ntext + n > w->text_room) {
		w->text_room = 2 * w->text_room + n + 65536;
		w->text = realloc(w->text, w->text_room);
		if (!w->text)
			stop("no memory");
	}
	memcpy(w->text + w->ntext, p, (size_t)n);
	w->ntext += n;
	walk_cell(w, n);
}

/* Fields to keep, by their message (field numbers of onnx.proto). */
enum { TEXT = 1, NUMBER, ENTER };
typedef struct step {
	uint8_t what, to;
} step;
enum { MODEL, GRAPH, NODE, TENSOR, VALUE, TYPE, TENSOR_TYPE, SHAPE, DIM, ATTRIBUTE };
static const step steps[][32] = {
    [MODEL] = {[7] = {ENTER, GRAPH}},
    [GRAPH] = {[1] = {ENTER, NODE},
	       [5] = {ENTER, TENSOR},
	       [11] = {ENTER, VALUE},
	       [12] = {ENTER, VALUE},
	       [13] = {ENTER, VALUE}},
    [NODE] = {[1] = {TEXT, 0},
	      [2] = {TEXT, 0},
	      [3] = {TEXT, 0},
	      [4] = {TEXT, 0},
	      [5] = {ENTER, ATTRIBUTE}},
    [TENSOR] = {[1] = {NUMBER, 0}, [2] = {NUMBER, 0}, [8] = {TEXT, 0}},
    [VALUE] = {[1] = {TEXT, 0}, [2] = {ENTER, TYPE}},
    [TYPE] = {[1] = {ENTER, TENSOR_TYPE}},
    [TENSOR_TYPE] = {[1] = {NUMBER, 0}, [2] = {ENTER, SHAPE}},
    [SHAPE] = {[1] = {ENTER, DIM}},
    [DIM] = {[1] = {NUMBER, 0}, [2] = {TEXT, 0}},
    [ATTRIBUTE] = {[1] = {TEXT, 0}, [3] = {NUMBER, 0}, [8] = {NUMBER, 0}},
};

static void walk_message(walk *w, int message, uint64_t at, uint64_t end)
{
	while (at < end) {
		uint64_t tag = walk_varint(w, &at);
		step s = tag >> 3 < 32 ? steps[message][tag >> 3] : (step){0, 0};
		uint64_t n = 0;

		if ((tag & 7) == WIRE_VARINT)
			n = walk_varint(w, &at);
		else if ((tag & 7) == WIRE_FIXED32)
			at += 4;
		else if ((tag & 7) == WIRE_FIXED64)
			at += 8;
		else
			n = walk_varint(w, &at);
		if ((tag & 7) != WIRE_BYTES) {
			if (s.what == NUMBER)
				walk_cell(w, n);
			continue;
		}
		if (s.what == ENTER) {
			w->nodes += s.to == NODE;
			w->tensors += s.to == TENSOR;
			walk_message(w, s.to, at, at + n);
		} else if (s.what == TEXT) {
			walk_text(w, at, n);
		} else if (s.what == NUMBER) { /* packed */
			for (uint64_t k = at; k < at + n;)
				walk_cell(w, walk_varint(w, &k));
		}
		at += n;
	}
}

static double by_hand(const char *path, size_t *ret_nodes)
{
	static walk w;
	double begin = now_ns();

	w = (walk){.fd = open(path, O_RDONLY)};
	if (w.fd < 0)
		stop("cannot open");
	walk_message(&w, MODEL, 0, (uint64_t)lseek(w.fd, 0, SEEK_END));
	close(w.fd);
	free(w.text);
	free(w.cells);
	*ret_nodes = w.nodes;
	return now_ns() - begin;
}

/* --- deepclock's reader */

static double by_deepclock(const char *path, size_t *ret_nodes)
{
	double begin = now_ns();
	mem_arena *a = mem_arena_new(0);
	onnx_model *m;
	dck_err err;

	if (!a || onnx_read_file(path, a, &m, &err) != DCK_OK)
		stop(a ? err.msg : "no memory");
	*ret_nodes = m->graph->nnodes;
	mem_arena_free(a);
	return now_ns() - begin;
}

static long resident_peak_kib(void)
{
	char line[256];
	long kib = -1;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* --- other programs: started once; one line per request and reply */

typedef struct other {
	pid_t pid;
	FILE *to, *from;
} other;

static bool other_open(other *o, char *const *argv)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		stop("no pipe");
	o->pid = fork();
	if (o->pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	o->to = fdopen(in[1], "w");
	o->from = fdopen(out[0], "r");
	return o->pid > 0 && o->to && o->from;
}

static bool other_ask(other *o, const char *line, double *ret)
{
	fputs(line, o->to);
	fflush(o->to);
	return fscanf(o->from, "%lf", ret) == 1;
}

static void other_close(other *o)
{
	fclose(o->to);
	fclose(o->from);
	waitpid(o->pid, NULL, 0);
}

static long peak_of(const char *self, const char *path)
{
	char *argv[] = {(char *)self, (char *)"--read", (char *)path, NULL};
	other o;
	double kib = -1;

	if (!other_open(&o, argv) || !other_ask(&o, "", &kib))
		stop("cannot measure the resident memory");
	other_close(&o);
	return (long)kib;
}

/* Prints 0 when ready; then, for each line "load PATH" or "infer PATH", the nanoseconds of one
 * parse of the file, or of libonnx's parse and inference of bytes in memory. */
static const char python[] = "import sys, time\n"
			     "import onnx\n"
			     "from onnx import shape_inference\n"
			     "print(0, flush=True)\n"
			     "for line in sys.stdin:\n"
			     "    what, path = line.rstrip('\\n').split(' ', 1)\n"
			     "    data = open(path, 'rb').read() if what == 'infer' else None\n"
			     "    begin = time.perf_counter_ns()\n"
			     "    if what == 'load':\n"
			     "        onnx.load(path, load_external_data=False)\n"
			     "    else:\n"
			     "        shape_inference.C.infer_shapes(data, False, False, False)\n"
			     "    print(time.perf_counter_ns() - begin, flush=True)\n";

static bool libonnx_open(other *o)
{
	char *argv[] = {(char *)"/usr/bin/python3", (char *)"-c", (char *)python, NULL};
	double ready;

	return other_open(o, argv) && other_ask(o, "", &ready);
}

/* --- models */

static void put_node(wire_out *w, const char *op, const char *name, const char *in, const char *in2,
		     const char *out)
{
	size_t at = wire_begin(w, 1);

	wire_put_text(w, 1, in);
	if (in2)
		wire_put_text(w, 1, in2);
	wire_put_text(w, 2, out);
	wire_put_text(w, 3, name);
	wire_put_text(w, 4, op);
	if (strcmp(op, "Conv") == 0) {
		size_t attribute = wire_begin(w, 5);
		wire_put_text(w, 1, "pads");
		for (int i = 0; i < 4; i++)
			wire_put_int(w, 8, 1);
		wire_put_int(w, 20, 7);
		wire_end(w, attribute);
	}
	wire_end(w, at);
}

static void put_value(wire_out *w, uint32_t field, const char *name)
{
	size_t value = wire_begin(w, field), type, tensor, shape, dim;

	wire_put_text(w, 1, name);
	type = wire_begin(w, 2);
	tensor = wire_begin(w, 1);
	wire_put_int(w, 1, ONNX_FLOAT);
	shape = wire_begin(w, 2);
	for (int i = 0; i < 4; i++) {
		dim = wire_begin(w, 1);
		wire_put_int(w, 1, i == 0 ? 1 : i == 1 ? 1024 : 8);
		wire_end(w, dim);
	}
	wire_end(w, shape);
	wire_end(w, tensor);
	wire_end(w, type);
	wire_end(w, value);
}

static void put_pair(wire_out *w, uint32_t field, const char *key, const char *value)
{
	size_t at = wire_begin(w, field);

	wire_put_text(w, 1, key);
	wire_put_text(w, 2, value);
	wire_end(w, at);
}

static void write_at(int fd, const wire_out *w, uint64_t at)
{
	if (w->failed || pwrite(fd, w->data, w->n, (off_t)at) != (ssize_t)w->n)
		stop("cannot write a model");
}

/* Writes the parts of a graph into a sparse file; the holes are the data of tensors, which no
 * reader may read. */
typedef struct part {
	wire_out bytes;
	uint64_t hole; /* size of the hole after them */
} part;

static void write_model(const char *path, part *parts, size_t n)
{
	wire_out head = {0}, tail = {0};
	uint64_t graph = 0, at;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (size_t i = 0; i < n; i++)
		graph += parts[i].bytes.n + parts[i].hole;
	wire_put_int(&head, 1, 8);
	wire_put_header(&head, 7, graph);
	write_at(fd, &head, 0);
	at = head.n;
	for (size_t i = 0; i < n; i++) {
		write_at(fd, &parts[i].bytes, at);
		at += parts[i].bytes.n + parts[i].hole;
		wire_out_done(&parts[i].bytes);
	}
	size_t opset = wire_begin(&tail, 8);
	wire_put_int(&tail, 2, 17);
	wire_end(&tail, opset);
	write_at(fd, &tail, at);
	wire_out_done(&head);
	wire_out_done(&tail);
	close(fd);
}

typedef struct layers {
	int n;
	uint64_t side;	      /* each has side x side weights of 4 bytes */
	const char *location; /* of the weights; NULL: in the model's file */
} layers;

/* Writes a tensor up to its data. */
static void put_tensor(wire_out *w, const layers *l, int i)
{
	const unsigned long long bytes = l->side * l->side * 4;
	char text[32];

	wire_put_int(w, 1, (int64_t)l->side);
	wire_put_int(w, 1, (int64_t)l->side);
	wire_put_int(w, 1, 1);
	wire_put_int(w, 1, 1);
	wire_put_int(w, 2, ONNX_FLOAT);
	snprintf(text, sizeof text, "layer%d.weight", i);
	wire_put_text(w, 8, text);
	if (!l->location) {
		wire_put_header(w, 9, bytes);
		return;
	}
	put_pair(w, 13, "location", l->location);
	snprintf(text, sizeof text, "%llu", bytes * (unsigned)i);
	put_pair(w, 13, "offset", text);
	snprintf(text, sizeof text, "%llu", bytes);
	put_pair(w, 13, "length", text);
	wire_put_int(w, 14, 1);
}

static void write_layers(const char *path, const layers *l)
{
	size_t nparts = (size_t)l->n + 2;
	part *parts = calloc(nparts, sizeof *parts);
	char in[32], out[32] = "x0", weight[32], name[32];

	if (!parts)
		stop("no memory");
	put_value(&parts[0].bytes, 11, out);
	for (int i = 0; i < l->n; i++) {
		part *p = &parts[i + 1];
		wire_out tensor = {0};

		memcpy(in, out, sizeof in);
		snprintf(out, sizeof out, "x%d", i + 1);
		snprintf(weight, sizeof weight, "layer%d.weight", i);
		snprintf(name, sizeof name, "/layer%d/Conv", i);
		put_node(&parts[0].bytes, "Conv", name, in, weight, out);
		put_tensor(&tensor, l, i);
		p->hole = l->location ? 0 : l->side * l->side * 4;
		wire_put_header(&p->bytes, 5, tensor.n + p->hole);
		put_tensor(&p->bytes, l, i);
		wire_out_done(&tensor);
	}
	put_value(&parts[nparts - 1].bytes, 12, out);
	write_model(path, parts, nparts);
	free(parts);
}

static void write_nodes(const char *path, int n)
{
	part p = {0};
	char in[32], out[32] = "x", name[32];

	put_value(&p.bytes, 11, out);
	for (int i = 0; i < n; i++) {
		memcpy(in, out, sizeof in);
		snprintf(out, sizeof out, "/block%d/out", i);
		snprintf(name, sizeof name, "/block%d/node", i);
		put_node(&p.bytes, i % 2 ? "Add" : "Relu", name, in, i % 2 ? "x" : NULL, out);
	}
	put_value(&p.bytes, 12, out);
	write_model(path, &p, 1);
}

/* --- the comparison */

typedef struct setup {
	const char *self;
	size_t rounds;
	other *libonnx; /* NULL: not installed */
} setup;

static void compare(const setup *s, const char *what, const char *path, double limit)
{
	static double ratio[ROUNDS_MAX], peers[ROUNDS_MAX];
	double ours = 0, theirs;
	size_t nodes = 0, walked = 0, n = s->rounds;
	char line[4300], work[80];

	/* Warm-up of both: page cache and allocator. */
	by_hand(path, &walked);
	by_deepclock(path, &nodes);
	if (walked != nodes)
		stop("the walk and the reader count different nodes");
	snprintf(line, sizeof line, "load %s\n", path);
	for (size_t i = 0; i < n; i++) {
		if (i % 2)
			ours = by_deepclock(path, &nodes);
		const double by_walk = by_hand(path, &walked);
		if (i % 2 == 0)
			ours = by_deepclock(path, &nodes);
		ratio[i] = ours / by_walk;
		if (s->libonnx) {
			if (!other_ask(s->libonnx, line, &theirs))
				stop("the onnx package stopped answering");
			peers[i] = theirs / by_walk;
		}
	}
	const double peak = (double)peak_of(s->self, path) / 1024;

	snprintf(work, sizeof work, "reading ONNX, %s", what);
	bench_row_put(
	    &(bench_row){.work = work, .unit = "times a walk over the bytes", .most = limit}, ratio,
	    n);
	bench_row_put(&(bench_row){.work = work,
				   .unit = "times a walk over the bytes",
				   .peer = "onnx.load",
				   .absent = s->libonnx ? NULL : "pip install onnx"},
		      peers, n);
	snprintf(work, sizeof work, "reading ONNX, %s, peak memory", what);
	bench_row_put(&(bench_row){.work = work, .unit = "MiB", .most = PEAK_MIB}, &peak, 1);
}

static double counted_by_deepclock(const char *path, size_t *ret_ops)
{
	double begin = now_ns();
	mem_arena *a = mem_arena_new(0);
	onnx_model *m;
	cost_result *r;
	dck_err err;

	if (!a || onnx_read_file(path, a, &m, &err) != DCK_OK ||
	    cost_model(m, &(cost_config){0}, a, &r, &err) != DCK_OK)
		stop(a ? err.msg : "no memory");
	*ret_ops = r->nops - r->unknown;
	mem_arena_free(a);
	return now_ns() - begin;
}

/* Times every shape and cost, compared with libonnx's shapes, which has no costs. */
static void compare_shapes(const setup *s, const char *path)
{
	static double ratio[ROUNDS_MAX];
	size_t n = s->rounds < 21 ? s->rounds : 21, ops = 0;
	double theirs;
	char line[4300];

	counted_by_deepclock(path, &ops);
	snprintf(line, sizeof line, "infer %s\n", path);
	for (size_t i = 0; i < n; i++) {
		const double ours = counted_by_deepclock(path, &ops);
		if (!s->libonnx)
			continue;
		if (!other_ask(s->libonnx, line, &theirs))
			stop("the onnx package stopped answering");
		ratio[i] = ours / theirs;
	}
	printf("shapes and costs of %zu operators\n", ops);
	bench_row_put(&(bench_row){.work = "shapes and costs of an ONNX graph",
				   .unit = "times libonnx's parse and shapes",
				   .absent = s->libonnx ? NULL : "pip install onnx",
				   .most = 1},
		      ratio, n);
}

/* Deletes the weights and reads again, because not every file system updates access times. */
static void reads_without(const setup *s, const char *path, const char *weights)
{
	unlink(weights);
	if (peak_of(s->self, path) <= 0)
		stop("the weights' file was read");
}

static void pin(void)
{
	cpu_set_t all, one;
	int last = -1;

	if (sched_getaffinity(0, sizeof all, &all) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, &all))
			last = i;
	CPU_ZERO(&one);
	CPU_SET((size_t)last, &one);
	if (last >= 0)
		sched_setaffinity(0, sizeof one, &one);
}

static int read_once(const char *path)
{
	size_t nodes;

	by_deepclock(path, &nodes);
	printf("%ld\n", resident_peak_kib());
	return 0;
}

int main(int argc, char **argv)
{
	static char self[4096], directory[4096], path[4200], weights[4200];
	setup s = {.self = self, .rounds = 41};
	other libonnx;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--read") == 0)
			return read_once(argv[i + 1]);
		if (strcmp(argv[i], "--rounds") == 0)
			s.rounds = strtoul(argv[i + 1], NULL, 10);
	}
	s.rounds = bench_rounds(s.rounds);
	s.rounds = s.rounds < 1 ? 1 : s.rounds > ROUNDS_MAX ? ROUNDS_MAX : s.rounds;
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		stop("cannot find this program");
	snprintf(directory, sizeof directory, "%s/deepclock-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(directory))
		stop("no temporary directory");
	snprintf(path, sizeof path, "%s/model.onnx", directory);
	snprintf(weights, sizeof weights, "%s/weights.bin", directory);
	pin();
	if (libonnx_open(&libonnx))
		s.libonnx = &libonnx;
	write_layers(path, &(layers){.n = 52, .side = 1024});
	compare(&s, "208 MiB, 52 layers", path, LIMIT_LAYERS);
	write_nodes(path, 20000);
	compare(&s, "20,000 nodes", path, LIMIT_NODES);
	compare_shapes(&s, path);
	int fd = open(weights, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)2 << 30) != 0)
		stop("cannot make 2 GiB of weights");
	close(fd);
	write_layers(path, &(layers){.n = 32, .side = 4096, .location = "weights.bin"});
	compare(&s, "2 GiB of weights in another file", path, LIMIT_LAYERS);
	reads_without(&s, path, weights);
	unlink(path);
	rmdir(directory);
	if (s.libonnx)
		other_close(&libonnx);
	return bench_status();
}
