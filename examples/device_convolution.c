/* device_convolution.c - a 2D convolution of an image on a GPU, timed wrong and right.
 *
 *     device_convolution [DEVICE [DIRECTORY]]
 *
 * DEVICE is "webgpu" (the default), "webgpu:1", "cuda" ... An image of 128 x 128 is drawn, a
 * Laplace filter of 3 x 3 is written as an ONNX model of one Conv, and the program measures on the
 * device
 *
 *   - until the call that starts a run returns, which is wrong: the run continues;
 *   - until a barrier that dck_bench() tested has waited;
 *   - the same with the input copied to the device and the output back in every run;
 *
 * and the same model on the processor, whose outputs dck_accuracy() compares with the device's.
 * image.png, edges.png (the filter in plain C) and edges.onnx are written to DIRECTORY. Without a
 * device it prints what to install, and measures the processor alone. Exit status 77: ONNX Runtime
 * is not installed.
 *
 *     cc -O2 device_convolution.c $(pkg-config --cflags --libs deepclock) -o device_convolution
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/deepclock.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 128, SKIPPED = 77 };

static const float kernel[3][3] = {{-1, -1, -1}, {-1, 8, -1}, {-1, -1, -1}};

/* --- bytes that grow, at most to what is needed here */

typedef struct bytes {
	unsigned char at[4 * SIZE * SIZE];
	size_t n;
} bytes;

static void put(bytes *b, const void *data, size_t n)
{
	memcpy(b->at + b->n, data, n);
	b->n += n;
}

static void put_number(bytes *b, uint64_t x, int nbytes) /* big-endian */
{
	for (int i = nbytes - 1; i >= 0; i--)
		b->at[b->n++] = (unsigned char)(x >> (8 * i));
}

/* --- PNG: 8-bit grey, in one stored block of zlib's format (RFC 1950, 1951) */

static uint32_t crc(const unsigned char *data, size_t n)
{
	uint32_t c = 0xffffffff;

	for (size_t i = 0; i < n; i++) {
		c ^= data[i];
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
	}
	return ~c;
}

static void put_chunk(bytes *b, const char *type, const bytes *data)
{
	const size_t begin = b->n + 4;

	put_number(b, data->n, 4);
	put(b, type, 4);
	put(b, data->at, data->n);
	put_number(b, crc(b->at + begin, b->n - begin), 4);
}

static void png(bytes *out, float image[SIZE][SIZE])
{
	static bytes head, body, end;
	const unsigned length = SIZE * (SIZE + 1);
	uint32_t a = 1, b = 0; /* Adler-32 */

	head.n = body.n = out->n = 0;
	put_number(&head, SIZE, 4);
	put_number(&head, SIZE, 4);
	put_number(&head, 0x0800000000, 5); /* 8 bits, grey */
	put_number(&body, 0x780101, 3);
	put_number(&body, (length & 255) << 8 | length >> 8, 2); /* little-endian */
	put_number(&body, (~length & 255) << 8 | (~length >> 8 & 255), 2);
	for (int y = 0; y < SIZE; y++)
		for (int x = -1; x < SIZE; x++) {
			const float value = x < 0 ? 0 : 255 * fminf(1, fmaxf(0, image[y][x]));

			body.at[body.n++] = (unsigned char)lrintf(value); /* a row begins with 0 */
			a = (a + body.at[body.n - 1]) % 65521;
			b = (b + a) % 65521;
		}
	put_number(&body, b << 16 | a, 4);
	put(out, "\x89PNG\r\n\x1a\n", 8);
	put_chunk(out, "IHDR", &head);
	put_chunk(out, "IDAT", &body);
	put_chunk(out, "IEND", &end);
}

/* --- ONNX: a protobuf message of one Conv */

static void put_varint(bytes *b, uint64_t x)
{
	for (; x > 127; x >>= 7)
		b->at[b->n++] = (unsigned char)(x | 128);
	b->at[b->n++] = (unsigned char)x;
}

static void put_field(bytes *b, unsigned field, uint64_t x)
{
	put_varint(b, field << 3);
	put_varint(b, x);
}

static void put_part(bytes *b, unsigned field, const void *data, size_t n)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, n);
	put(b, data, n);
}

static void put_text(bytes *b, unsigned field, const char *text)
{
	put_part(b, field, text, strlen(text));
}

/* A graph's input or output: float32 of 1 x 1 x SIZE x SIZE. */
static void put_value(bytes *graph, unsigned field, const char *name)
{
	static bytes shape, dim, tensor, type, value;

	shape.n = tensor.n = type.n = value.n = 0;
	for (int i = 0; i < 4; i++) {
		dim.n = 0;
		put_field(&dim, 1, i < 2 ? 1 : SIZE);
		put_part(&shape, 1, dim.at, dim.n);
	}
	put_field(&tensor, 1, 1);
	put_part(&tensor, 2, shape.at, shape.n);
	put_part(&type, 1, tensor.at, tensor.n);
	put_text(&value, 1, name);
	put_part(&value, 2, type.at, type.n);
	put_part(graph, field, value.at, value.n);
}

static void onnx(bytes *model)
{
	static bytes opset, graph, node, pads, weight;

	model->n = opset.n = graph.n = node.n = pads.n = weight.n = 0;
	put_text(&pads, 1, "pads");
	for (int i = 0; i < 4; i++)
		put_field(&pads, 8, 1);
	put_field(&pads, 20, 7); /* integers */
	put_text(&node, 1, "image");
	put_text(&node, 1, "kernel");
	put_text(&node, 2, "edges");
	put_text(&node, 4, "Conv");
	put_part(&node, 5, pads.at, pads.n);
	for (int i = 0; i < 4; i++)
		put_field(&weight, 1, i < 2 ? 1 : 3);
	put_field(&weight, 2, 1); /* float32 */
	put_text(&weight, 8, "kernel");
	put_part(&weight, 9, kernel, sizeof kernel); /* of a little-endian machine */
	put_part(&graph, 1, node.at, node.n);
	put_text(&graph, 2, "edges");
	put_part(&graph, 5, weight.at, weight.n);
	put_value(&graph, 11, "image");
	put_value(&graph, 12, "edges");
	put_field(&opset, 2, 17);
	put_field(model, 1, 8);
	put_part(model, 7, graph.at, graph.n);
	put_part(model, 8, opset.at, opset.n);
}

/* --- files */

static char path[3][4096]; /* of what is written */

static void write_file(int which, const char *directory, const char *name, const bytes *b)
{
	snprintf(path[which], sizeof path[which], "%s/%s", directory, name);
	FILE *f = fopen(path[which], "wb");

	if (!f || fwrite(b->at, 1, b->n, f) != b->n || fclose(f) != 0) {
		perror(path[which]);
		exit(EXIT_FAILURE);
	}
}

/* --- the image, and the filter in plain C */

static void draw(float image[SIZE][SIZE])
{
	for (int y = 0; y < SIZE; y++)
		for (int x = 0; x < SIZE; x++) {
			const float dx = (float)x - 50, dy = (float)y - 56;
			const int disc = dx * dx + dy * dy<1200, square = x> 70 && y > 70;

			image[y][x] = disc ? 0.9f : square && x < 110 && y < 110 ? 0.2f : 0.5f;
		}
}

static void filter(float image[SIZE][SIZE], float edges[SIZE][SIZE])
{
	for (int y = 0; y < SIZE; y++)
		for (int x = 0; x < SIZE; x++) {
			edges[y][x] = 0;
			for (int i = -1; i <= 1; i++)
				for (int j = -1; j <= 1; j++)
					if (y + i >= 0 && y + i < SIZE && x + j >= 0 &&
					    x + j < SIZE)
						edges[y][x] +=
						    kernel[i + 1][j + 1] * image[y + i][x + j];
		}
}

/* --- measuring */

static float image[SIZE][SIZE], edges[SIZE][SIZE];

static void subject_make(dck_subject *s, const char *device)
{
	static const dck_array array = {.name = "image",
					.tensor = {.data = image,
						   .dtype = {DCK_DTYPE_FLOAT, 32, 1},
						   .rank = 4,
						   .dim = {1, 1, SIZE, SIZE},
						   .bytes = sizeof image}};

	dck_subject_init(s);
	s->kind = DCK_SUBJECT_MODEL;
	s->text = path[2];
	s->model.device = device;
	s->model.arrays = (dck_arrays){&array, 1};
	s->model.input.item[s->model.input.n++] = "image=image";
}

static dck_status measure(const char *device, int transfers, dck_record **ret, dck_err *err)
{
	dck_subject s;
	dck_plan plan;

	subject_make(&s, device);
	s.model.transfers = transfers;
	dck_plan_init(&plan);
	plan.max_time_ns = plan.max_warmup_ns = 1000000000;
	return dck_bench(&s, &plan, NULL, ret, err);
}

static void show(const char *what, const dck_record *r, const char *metric, double right_ns)
{
	const double ns = dck_record_value(r, metric);
	char text[32];

	printf("%-58s %10s", what, dck_text_time(ns, text, sizeof text));
	if (right_ns > 0)
		printf("  x %.4g", ns / right_ns);
	putchar('\n');
}

static void show_fact(const char *what, const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	if (f && f->value.kind == DCK_VALUE_TEXT)
		printf("%s%s\n", what, f->value.as.text);
}

static dck_status on_device(const char *device, dck_err *err)
{
	dck_subject s[2];
	const dck_alternative both[] = {{"processor", &s[0]}, {device, &s[1]}};
	dck_record *bound, *copied = NULL, *difference = NULL;
	dck_status status;

	if ((status = measure(device, DCK_TRANSFERS_EXCLUDE, &bound, err)) != DCK_OK)
		return status;
	const double right = dck_record_value(bound, "latency/median");

	printf("on %s\n", device);
	show_fact("  the device: ", bound, "engine", "device");
	show("  until the call that starts a run returns: wrong", bound, "device/enqueue", right);
	show("  until the barrier has waited", bound, "latency/median", right);
	show("  the first run, which compiles", bound, "time/first_run", right);
	status = measure(device, DCK_TRANSFERS_INCLUDE, &copied, err);
	if (status == DCK_OK) {
		show("  with the image copied there and the edges back", copied, "latency/median",
		     right);
		show_fact("  the barrier: ", bound, "device", "barrier");
		subject_make(&s[0], "cpu");
		subject_make(&s[1], device);
		status = dck_accuracy(both, 2, NULL, NULL, &difference, err);
	}
	if (status == DCK_OK)
		printf("  largest difference of the outputs from the processor's: %.3g\n",
		       dck_record_value(difference, "difference/max_abs"));
	dck_record_free(bound);
	dck_record_free(copied);
	dck_record_free(difference);
	return status;
}

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "webgpu", *directory = argc > 2 ? argv[2] : ".";
	static bytes file;
	dck_record *r;
	dck_err err;

	draw(image);
	filter(image, edges);
	png(&file, image);
	write_file(0, directory, "image.png", &file);
	png(&file, edges);
	write_file(1, directory, "edges.png", &file);
	onnx(&file);
	write_file(2, directory, "edges.onnx", &file);
	printf("wrote %s, %s and %s\n", path[0], path[1], path[2]);

	if (measure("cpu", DCK_TRANSFERS_EXCLUDE, &r, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return err.code == DCK_E_ABSENT ? SKIPPED : EXIT_FAILURE;
	}
	puts("on the processor");
	show("  a run", r, "latency/median", 0);
	dck_record_free(r);
	fflush(stdout);
	if (on_device(device, &err) != DCK_OK)
		printf("not on %s: %s\n"
		       "A GPU needs a Vulkan driver and: pip install onnxruntime "
		       "onnxruntime-ep-webgpu (docs/reference/devices.md)\n",
		       device, err.msg);
	return EXIT_SUCCESS;
}
