/* convolution.c - the time of a convolution, measured wrong in three ways, and right.
 *
 *     convolution
 *
 * 16 channels of 64 x 64, 3 x 3 kernels, 16 outputs. A clock of whole seconds shows 0; a single
 * call includes the page faults of the first one, and so does a mean of ten. dck_bench() warms up,
 * measures until the median is known, and returns its interval.
 *
 *     cc -O2 convolution.c $(pkg-config --cflags --libs deepclock) -o convolution
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/deepclock.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHANNELS = 16, OUTPUTS = 16, SIZE = 64, KERNEL = 3 };

static const double macs = (double)OUTPUTS * SIZE * SIZE * CHANNELS * KERNEL * KERNEL;

/* The edge of the image is zero, so that the output has the size of the image. */
typedef struct layer {
	float image[CHANNELS][SIZE + 2][SIZE + 2];
	float weight[OUTPUTS][CHANNELS][KERNEL][KERNEL];
	float output[OUTPUTS][SIZE][SIZE];
} layer;

static int convolution(void *arg)
{
	layer *l = arg;

	for (int o = 0; o < OUTPUTS; o++)
		for (int y = 0; y < SIZE; y++)
			for (int x = 0; x < SIZE; x++) {
				float sum = 0;

				for (int c = 0; c < CHANNELS; c++)
					for (int i = 0; i < KERNEL; i++)
						for (int j = 0; j < KERNEL; j++)
							sum += l->weight[o][c][i][j] *
							       l->image[c][y + i][x + j];
				l->output[o][y][x] = sum;
			}
	return 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wrong(layer *l)
{
	const time_t whole = time(NULL);
	const double begin = seconds();
	double first, ten;

	convolution(l);
	first = seconds() - begin;
	for (int i = 1; i < 10; i++)
		convolution(l);
	ten = (seconds() - begin) / 10;
	printf("time(), ten calls         %8.0f s\n", difftime(time(NULL), whole));
	printf("the first call            %8.3f ms\n", 1e3 * first);
	printf("the mean of ten with it   %8.3f ms\n", 1e3 * ten);
}

static int right(layer *l)
{
	dck_subject subject;
	dck_plan plan;
	dck_record *record;
	dck_err err;
	dck_status status;

	dck_subject_init(&subject);
	subject.kind = DCK_SUBJECT_FUNCTION;
	subject.text = "convolution";
	subject.function = convolution;
	subject.arg = l;
	dck_plan_init(&plan);
	plan.max_time_ns = 2000000000;
	plan.title = "convolution";
	if (dck_bench(&subject, &plan, NULL, &record, &err) != DCK_OK) {
		fprintf(stderr, "convolution: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	printf("the median                %8.3f ms, %.2f GMAC/s\n\n",
	       1e-6 * dck_record_value(record, "latency/median"),
	       macs / dck_record_value(record, "latency/median"));
	fflush(stdout);
	status = dck_print(record, 1, &err);
	dck_record_free(record);
	if (status != DCK_OK)
		fprintf(stderr, "convolution: %s\n", err.msg);
	return status == DCK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
	static layer l;

	for (int c = 0; c < CHANNELS; c++)
		for (int y = 1; y <= SIZE; y++)
			for (int x = 1; x <= SIZE; x++)
				l.image[c][y][x] = (float)((c + x * y) % 7) / 7;
	for (int o = 0; o < OUTPUTS; o++)
		for (int c = 0; c < CHANNELS; c++)
			for (int k = 0; k < KERNEL * KERNEL; k++)
				l.weight[o][c][k / KERNEL][k % KERNEL] =
				    (float)((o + c + k) % 5 - 2);
	printf("a convolution of %.2f M MACs\n", 1e-6 * macs);
	wrong(&l);
	return right(&l);
}
