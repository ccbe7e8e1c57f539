/* train.c - trains a network in C, with stopwatches for its epochs.
 *
 *     train [DIR-OF-DATA [EPOCHS [RECORD.json]]]
 *
 * A perceptron of 784, 128 and 10 units (ReLU, softmax, cross-entropy, Adam) learns the clothes of
 * Fashion-MNIST, whose files Debian's package dataset-fashion-mnist installs in
 * /usr/share/datasets/fashion-mnist. Each epoch prints its line; scalars for TensorBoard go to
 * train.tensorboard/; the last output is the times of the epochs and the classification report.
 * Exit status 77: the data are not installed. With
 *
 *     DEEPCLOCK_TRACE=train.pftrace ./train
 *
 * every phase of every step is in a file that https://ui.perfetto.dev opens.
 *
 *     cc train.c $(pkg-config --cflags --libs deepclock openblas zlib) -lm -o train
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <cblas.h>
#include <deepclock/deepclock.h>
#include <deepclock/zone.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SKIPPED 77

enum { PIXELS = 784, HIDDEN = 128, CLASSES = 10, BATCH = 100, TRAIN = 60000, TEST = 10000 };

static const char names[] = "T-shirt,trousers,pullover,dress,coat,sandal,shirt,sneaker,bag,boot";

typedef struct data {
	float *image; /* [n][PIXELS], 0 to 1 */
	unsigned char *label;
	int n;
} data;

/* A matrix of weights or a vector of biases, with Adam's moments of its gradient. */
typedef struct param {
	float *w, *grad, *mean, *square;
	size_t n;
} param;

typedef struct network {
	param w1, b1, w2, b2;
	float *hidden, *score; /* of a batch; score becomes the gradient of itself */
	int step;
} network;

static void *need(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "train: no memory\n");
		exit(EXIT_FAILURE);
	}
	return p;
}

/* --- data */

/* Reads n bytes after the header of an IDX file; NULL: not found, or too short. */
static unsigned char *idx_read(const char *folder, const char *name, size_t head, size_t n)
{
	char path[4096];
	unsigned char *bytes = need(head + n, 1);

	snprintf(path, sizeof path, "%s/%s.gz", folder, name);
	gzFile f = gzopen(path, "rb");
	const int got = f ? gzread(f, bytes, (unsigned)(head + n)) : -1;
	if (f)
		gzclose(f);
	if (got != (int)(head + n)) {
		free(bytes);
		return NULL;
	}
	memmove(bytes, bytes + head, n);
	return bytes;
}

static int data_read(const char *folder, const char *kind, int n, data *ret)
{
	char images[64], labels[64];

	snprintf(images, sizeof images, "%s-images-idx3-ubyte", kind);
	snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte", kind);
	unsigned char *pixel = idx_read(folder, images, 16, (size_t)n * PIXELS);
	ret->label = idx_read(folder, labels, 8, (size_t)n);
	ret->n = n;
	if (!pixel || !ret->label)
		return 0;
	ret->image = need((size_t)n * PIXELS, sizeof *ret->image);
	for (size_t i = 0; i < (size_t)n * PIXELS; i++)
		ret->image[i] = (float)pixel[i] / 255;
	free(pixel);
	return 1;
}

/* --- the network. Matrices are row-major; a batch has one item per row. */

static unsigned long long random_state = 1;

static unsigned random_below(unsigned n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((random_state >> 33) % n);
}

static void param_make(param *p, size_t n, float range)
{
	p->n = n;
	p->w = need(n, sizeof *p->w);
	p->grad = need(n, sizeof *p->grad);
	p->mean = need(n, sizeof *p->mean);
	p->square = need(n, sizeof *p->square);
	for (size_t i = 0; i < n; i++)
		p->w[i] = range * ((float)random_below(20001) / 10000 - 1);
}

static void network_make(network *net)
{
	param_make(&net->w1, PIXELS * HIDDEN, sqrtf(6.0f / PIXELS));
	param_make(&net->b1, HIDDEN, 0);
	param_make(&net->w2, HIDDEN * CLASSES, sqrtf(6.0f / HIDDEN));
	param_make(&net->b2, CLASSES, 0);
	net->hidden = need(BATCH * HIDDEN, sizeof *net->hidden);
	net->score = need(BATCH * CLASSES, sizeof *net->score);
}

static void layer(const float *in, int inputs, const param *w, const param *b, int units,
		  float *out)
{
	for (int i = 0; i < BATCH; i++)
		memcpy(out + (size_t)i * (size_t)units, b->w, b->n * sizeof *b->w);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, units, inputs, 1, in, inputs,
		    w->w, units, 1, out, units);
}

static void forward(network *net, const float *x)
{
	DCK_ZONE("forward");
	layer(x, PIXELS, &net->w1, &net->b1, HIDDEN, net->hidden);
	for (int i = 0; i < BATCH * HIDDEN; i++)
		net->hidden[i] = fmaxf(net->hidden[i], 0);
	layer(net->hidden, HIDDEN, &net->w2, &net->b2, CLASSES, net->score);
}

/* Returns the cross-entropy of the softmax, summed over the batch; replaces scores by gradients. */
static double loss(network *net, const unsigned char *label)
{
	double sum = 0;

	DCK_ZONE("loss");
	for (int i = 0; i < BATCH; i++) {
		float *s = net->score + i * CLASSES, most = s[0], total = 0;

		for (int k = 1; k < CLASSES; k++)
			most = fmaxf(most, s[k]);
		for (int k = 0; k < CLASSES; k++)
			total += s[k] = expf(s[k] - most);
		for (int k = 0; k < CLASSES; k++)
			s[k] /= total;
		sum -= log(fmax(s[label[i]], 1e-12));
		s[label[i]] -= 1;
		for (int k = 0; k < CLASSES; k++)
			s[k] /= BATCH;
	}
	return sum;
}

/* Computes the gradients of weights and biases from the gradients of the layer's outputs. */
static void layer_back(const float *in, int inputs, const float *out_grad, int units, param *w,
		       param *b)
{
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, inputs, units, BATCH, 1, in, inputs,
		    out_grad, units, 0, w->grad, units);
	memset(b->grad, 0, b->n * sizeof *b->grad);
	for (int i = 0; i < BATCH; i++)
		for (int k = 0; k < units; k++)
			b->grad[k] += out_grad[i * units + k];
}

static void backward(network *net, const float *x)
{
	float hidden_grad[BATCH * HIDDEN];

	DCK_ZONE("backward");
	layer_back(net->hidden, HIDDEN, net->score, CLASSES, &net->w2, &net->b2);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, BATCH, HIDDEN, CLASSES, 1, net->score,
		    CLASSES, net->w2.w, CLASSES, 0, hidden_grad, HIDDEN);
	for (int i = 0; i < BATCH * HIDDEN; i++)
		if (net->hidden[i] <= 0)
			hidden_grad[i] = 0;
	layer_back(x, PIXELS, hidden_grad, HIDDEN, &net->w1, &net->b1);
}

/* Adam, Kingma and Ba, https://arxiv.org/abs/1412.6980, algorithm 1. */
static void param_step(param *p, float rate)
{
	for (size_t i = 0; i < p->n; i++) {
		p->mean[i] = 0.9f * p->mean[i] + 0.1f * p->grad[i];
		p->square[i] = 0.999f * p->square[i] + 0.001f * p->grad[i] * p->grad[i];
		p->w[i] -= rate * p->mean[i] / (sqrtf(p->square[i]) + 1e-8f);
	}
}

static void step(network *net)
{
	DCK_ZONE("step");
	net->step++;
	const float rate =
	    1e-3f * sqrtf(1 - powf(0.999f, (float)net->step)) / (1 - powf(0.9f, (float)net->step));
	param_step(&net->w1, rate);
	param_step(&net->b1, rate);
	param_step(&net->w2, rate);
	param_step(&net->b2, rate);
}

static int best(const float *score)
{
	int k = 0;

	for (int i = 1; i < CLASSES; i++)
		k = score[i] > score[k] ? i : k;
	return k;
}

/* --- training */

/* Draws a batch of items at random, with replacement. */
static void load(const data *d, float *x, unsigned char *label)
{
	DCK_ZONE("load");
	for (int k = 0; k < BATCH; k++) {
		const unsigned from = random_below((unsigned)d->n);

		memcpy(x + k * PIXELS, d->image + (size_t)from * PIXELS, PIXELS * sizeof *x);
		label[k] = d->label[from];
	}
}

static double train_epoch(network *net, const data *d)
{
	static float x[BATCH * PIXELS];
	unsigned char label[BATCH];
	double sum = 0;

	for (int i = 0; i < d->n; i += BATCH) {
		load(d, x, label);
		forward(net, x);
		const double batch = loss(net, label);
		DCK_COUNTER("loss of a batch", batch / BATCH);
		sum += batch;
		backward(net, x);
		step(net);
	}
	return sum / d->n;
}

/* Returns the accuracy; ret: the predictions. */
static double test(network *net, const data *d, unsigned char *ret)
{
	int hits = 0;

	DCK_ZONE("test");
	for (int i = 0; i < d->n; i += BATCH) {
		forward(net, d->image + (size_t)i * PIXELS);
		for (int k = 0; k < BATCH; k++) {
			ret[i + k] = (unsigned char)best(net->score + k * CLASSES);
			hits += ret[i + k] == d->label[i + k];
		}
	}
	return (double)hits / d->n;
}

/* Returns the accuracy after the last epoch; ret: its predictions. */
static double train(network *net, const data *learned, const data *held, int epochs,
		    unsigned char *ret)
{
	char line[DCK_LAP_LINE_SIZE];
	double accuracy = 0;
	dck_lap *all = dck_lap_begin("training");

	for (int i = 0; i < epochs; i++) {
		dck_lap *lap = dck_lap_begin("epoch");

		dck_lap_total(lap, (uint64_t)epochs);
		dck_lap_value(lap, "loss", train_epoch(net, learned), NULL);
		accuracy = test(net, held, ret);
		dck_lap_value(lap, "acc", accuracy, NULL);
		dck_lap_value(lap, "items", learned->n, NULL);
		puts(dck_lap_end_line(lap, line, sizeof line));
		fflush(stdout);
	}
	puts(dck_lap_end_line(all, line, sizeof line));
	return accuracy;
}

/* --- the reports */

static dck_status report(const dck_record *r, bool details, dck_err *err)
{
	const dck_style style = {.details = details};
	dck_sink out;

	fflush(stdout);
	dck_sink_fd(&out, 1);
	const dck_status status = dck_report("text", &r, 1, &style, &out, err);
	return status == DCK_OK ? dck_sink_finish(&out, err) : status;
}

/* Writes one number per line, a format that dck_accuracy() reads. */
static int lines_write(const char *path, const unsigned char *v, int n)
{
	FILE *f = fopen(path, "w");

	for (int i = 0; f && i < n; i++)
		fprintf(f, "%d\n", v[i]);
	return f && fclose(f) == 0;
}

static dck_status classes_report(const data *held, const unsigned char *predicted, dck_err *err)
{
	dck_accuracy_config c;
	dck_record *r = NULL;
	dck_status status;

	dck_accuracy_config_init(&c);
	c.labels = "train.labels";
	c.predictions = (dck_list){.item = {"train.predictions"}, .n = 1};
	c.target_names = names;
	c.title = "train: the clothes of the test";
	if (!lines_write(c.labels, held->label, held->n) ||
	    !lines_write(c.predictions.item[0], predicted, held->n)) {
		snprintf(err->msg, sizeof err->msg, "cannot write the predictions");
		return DCK_E_IO;
	}
	status = dck_accuracy(NULL, 0, &c, NULL, &r, err);
	if (status == DCK_OK)
		status = report(r, true, err);
	dck_record_free(r);
	return status;
}

static dck_status laps_report(const char *path, dck_err *err)
{
	dck_record *r;
	dck_status status = dck_laps_record(&r, err);

	if (status != DCK_OK)
		return status;
	status = report(r, false, err);
	if (status == DCK_OK && path)
		status = dck_record_save(r, path, err);
	dck_record_free(r);
	return status;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
	const int epochs = argc > 2 ? atoi(argv[2]) : 5;
	const dck_laps_config show = {.fd = 2, .live = true, .tensorboard = "train.tensorboard"};
	static network net; /* used until the program exits */
	static data learned, held;
	static unsigned char predicted[TEST];
	double accuracy = 0;
	dck_err err = {0};

	if (!data_read(folder, "train", TRAIN, &learned) ||
	    !data_read(folder, "t10k", TEST, &held)) {
		fprintf(stderr, "train: %s has no Fashion-MNIST: install dataset-fashion-mnist\n",
			folder);
		return SKIPPED;
	}
	network_make(&net);
	dck_status status = dck_laps_start(&show, &err);
	if (status == DCK_OK) {
		accuracy = train(&net, &learned, &held, epochs, predicted);
		status = dck_laps_stop(&err);
	}
	if (status == DCK_OK)
		status = laps_report(argc > 3 ? argv[3] : NULL, &err);
	if (status == DCK_OK)
		status = classes_report(&held, predicted, &err);
	if (status != DCK_OK) {
		fprintf(stderr, "train: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	if (accuracy > 0.85)
		return EXIT_SUCCESS;
	fprintf(stderr, "train: it has learned too little: %.3f of the test is right\n", accuracy);
	return EXIT_FAILURE;
}
