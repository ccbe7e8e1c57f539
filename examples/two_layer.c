/* two_layer.c - the classic two-layer network, trained by hand, with a stopwatch for each phase.
 *
 *     two_layer [RECORD.json [DIR]]
 *
 * 64 random items of 1000 numbers, 100 hidden units, 10 outputs, 500 steps of gradient descent on
 * the squared error. A lap for each step shows its cost, a lap of all steps the rest, and zones
 * separate the phases where DEEPCLOCK_TRACE=two_layer.pftrace requests a trace.
 * DIR is where TensorBoard's scalars go.
 *
 *     cc -O2 two_layer.c $(pkg-config --cflags --libs deepclock) -lm -o two_layer
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/deepclock.h>
#include <deepclock/zone.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, IN = 1000, HIDDEN = 100, OUT = 10, STEPS = 500 };

static float x[N][IN], y[N][OUT];
static float w1[IN][HIDDEN], w2[HIDDEN][OUT];
static float hidden[N][HIDDEN], relu[N][HIDDEN], predicted[N][OUT];
static float predicted_grad[N][OUT], hidden_grad[N][HIDDEN];
static float w1_grad[IN][HIDDEN], w2_grad[HIDDEN][OUT];

/* Approximately normal: the sum of twelve uniform numbers has variance 1. */
static void fill(float *v, size_t n)
{
	static unsigned long long state = 1;

	for (size_t i = 0; i < n; i++) {
		v[i] = -6;
		for (int k = 0; k < 12; k++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			v[i] += (float)(state >> 40) / (float)(1 << 24);
		}
	}
}

/* out[n][m] = (or +=) a[n][k] b[k][m]; the inner loop runs along rows, in memory order. */
static void product(const float *a, const float *b, float *out, int n, int k, int m)
{
	for (int i = 0; i < n; i++) {
		float *row = out + i * m;

		for (int j = 0; j < m; j++)
			row[j] = 0;
		for (int l = 0; l < k; l++)
			for (int j = 0; j < m; j++)
				row[j] += a[i * k + l] * b[l * m + j];
	}
}

/* out[k][m] = a[n][k] transposed, times b[n][m]. */
static void product_of_columns(const float *a, const float *b, float *out, int n, int k, int m)
{
	for (int i = 0; i < k * m; i++)
		out[i] = 0;
	for (int i = 0; i < n; i++)
		for (int l = 0; l < k; l++)
			for (int j = 0; j < m; j++)
				out[l * m + j] += a[i * k + l] * b[i * m + j];
}

static void forward(void)
{
	DCK_ZONE("forward");
	product(&x[0][0], &w1[0][0], &hidden[0][0], N, IN, HIDDEN);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < HIDDEN; j++)
			relu[i][j] = hidden[i][j] > 0 ? hidden[i][j] : 0;
	product(&relu[0][0], &w2[0][0], &predicted[0][0], N, HIDDEN, OUT);
}

static double loss(void)
{
	double sum = 0;

	DCK_ZONE("loss");
	for (int i = 0; i < N; i++)
		for (int j = 0; j < OUT; j++) {
			const float d = predicted[i][j] - y[i][j];

			sum += (double)d * (double)d;
			predicted_grad[i][j] = 2 * d;
		}
	return sum;
}

static void backward(void)
{
	DCK_ZONE("backward");
	product_of_columns(&relu[0][0], &predicted_grad[0][0], &w2_grad[0][0], N, HIDDEN, OUT);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < HIDDEN; j++) {
			float sum = 0;

			for (int k = 0; k < OUT; k++)
				sum += predicted_grad[i][k] * w2[j][k];
			hidden_grad[i][j] = hidden[i][j] > 0 ? sum : 0;
		}
	product_of_columns(&x[0][0], &hidden_grad[0][0], &w1_grad[0][0], N, IN, HIDDEN);
}

static void update(float *w, const float *grad, size_t n)
{
	for (size_t i = 0; i < n; i++)
		w[i] -= 1e-6f * grad[i];
}

static void step(void)
{
	DCK_ZONE("update");
	update(&w1[0][0], &w1_grad[0][0], sizeof w1 / sizeof(float));
	update(&w2[0][0], &w2_grad[0][0], sizeof w2 / sizeof(float));
}

static int report(const char *path)
{
	dck_record *r;
	dck_err err;
	dck_status status = dck_laps_record(&r, &err);

	if (status == DCK_OK) {
		status = dck_print(r, 1, &err);
		if (status == DCK_OK && path)
			status = dck_record_save(r, path, &err);
		dck_record_free(r);
	}
	if (status != DCK_OK)
		fprintf(stderr, "two_layer: %s\n", err.msg);
	return status == DCK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	char line[DCK_LAP_LINE_SIZE];
	const dck_laps_config show = {.tensorboard = argc > 2 ? argv[2] : NULL};
	double first = 0, last = 0;
	dck_err err;

	if (dck_laps_start(&show, &err) != DCK_OK) {
		fprintf(stderr, "two_layer: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	fill(&x[0][0], sizeof x / sizeof(float));
	fill(&y[0][0], sizeof y / sizeof(float));
	fill(&w1[0][0], sizeof w1 / sizeof(float));
	fill(&w2[0][0], sizeof w2 / sizeof(float));

	dck_lap *all = dck_lap_begin("training");
	for (int i = 0; i < STEPS; i++) {
		dck_lap *lap = dck_lap_begin("step");

		dck_lap_total(lap, STEPS);
		forward();
		last = loss();
		first = i == 0 ? last : first;
		backward();
		step();
		dck_lap_value(lap, "loss", last, NULL);
		dck_lap_value(lap, "items", N, NULL);
		dck_lap_end_line(lap, line, sizeof line);
		if ((i + 1) % 100 == 0)
			puts(line);
	}
	puts(dck_lap_end_line(all, line, sizeof line));
	fflush(stdout);
	if (dck_laps_stop(&err) != DCK_OK) {
		fprintf(stderr, "two_layer: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	if (!(last < first / 100)) {
		fprintf(stderr, "two_layer: it did not learn: %g, then %g\n", first, last);
		return EXIT_FAILURE;
	}
	return report(argc > 1 ? argv[1] : NULL);
}
