/* fusion.c - the same arithmetic in three loops and in one: the speedup of operator fusion.
 *
 *     fusion
 *
 * y = (a x) * scale + shift, once operator by operator, as in an inference runtime, each
 * reading the previous operator's output, and once in a single loop that keeps each element in a
 * register. dck_compare() measures the two interleaved and gives the interval of the ratio.
 *
 *     cc -O2 fusion.c $(pkg-config --cflags --libs deepclock) -o fusion
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/deepclock.h>
#include <stdio.h>
#include <stdlib.h>

/* A narrow product: each element of y takes K multiplications, so that reading and writing
 * y, of 8 MB, is a large part of the work. */
enum { ROWS = 4096, COLUMNS = 512, K = 4 };

typedef struct work {
	float a[ROWS][K], x[K][COLUMNS];
	float scale[COLUMNS], shift[COLUMNS];
	float y[ROWS][COLUMNS];
} work;

static int apart(void *arg)
{
	work *w = arg;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += w->a[i][k] * w->x[k][j];
			w->y[i][j] = sum;
		}
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			w->y[i][j] *= w->scale[j];
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			w->y[i][j] += w->shift[j];
	return 0;
}

static int fused(void *arg)
{
	work *w = arg;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++) {
			float sum = 0;

			for (int k = 0; k < K; k++)
				sum += w->a[i][k] * w->x[k][j];
			w->y[i][j] = sum * w->scale[j] + w->shift[j];
		}
	return 0;
}

static double checksum(const work *w)
{
	double sum = 0;

	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			sum += (double)w->y[i][j] * (1 + (i + j) % 7);
	return sum;
}

static void fill(float *v, size_t n, int step)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (float)((int)(i * (size_t)step % 17) - 8) / 8; /* exact in float */
}

int main(void)
{
	static work w;
	dck_subject s[2];
	dck_compare_config c;
	dck_record *r;
	dck_err err;

	fill(&w.a[0][0], sizeof w.a / sizeof(float), 3);
	fill(&w.x[0][0], sizeof w.x / sizeof(float), 5);
	fill(w.scale, COLUMNS, 7);
	fill(w.shift, COLUMNS, 11);

	/* A faster variant must have the same result. */
	apart(&w);
	const double before = checksum(&w);
	fused(&w);
	if (checksum(&w) != before) {
		fprintf(stderr, "fusion: the two do not compute the same\n");
		return EXIT_FAILURE;
	}

	for (int i = 0; i < 2; i++) {
		dck_subject_init(&s[i]);
		s[i].kind = DCK_SUBJECT_FUNCTION;
		s[i].text = i == 0 ? "three loops" : "one loop";
		s[i].function = i == 0 ? apart : fused;
		s[i].arg = &w;
	}
	const dck_alternative both[] = {{s[0].text, &s[0]}, {s[1].text, &s[1]}};
	dck_compare_config_init(&c);
	c.max_time_ns = 5000000000;
	c.title = "fusion";
	if (dck_compare(both, 2, &c, NULL, &r, &err) != DCK_OK) {
		fprintf(stderr, "fusion: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	const int status = dck_print(r, 1, NULL) == DCK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
	dck_record_free(r);
	return status;
}
