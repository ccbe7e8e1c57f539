/* handwritten.c - deepclock compared with a careful user's loop around the same library: same
 * network, same threads, same number of warm-up and timed runs, in turn in this process.
 *
 *     bench_handwritten [--image-size HxW] [--network NAME] [--rounds N] [--warmup N] [--runs N]
 *
 * Each round reopens both, because workers of an idle session may occupy the other's cores. Prints
 * both medians with their intervals, the ratio of each round, and the interval of its median.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "deepclock/bench.h"
#include "deepclock/model.h"
#include "rows.h"
#include "stat/stat.h"

#define ROUNDS_MAX 101

typedef struct config {
	const char *network, *image_size, *library;
	uint64_t rounds, warmup, runs, threads;
} config;

static const dck_opt options[] = {
    {.name = "network", .kind = DCK_OPT_TEXT, .at = offsetof(config, network), .def = "resnet18"},
    {.name = "image-size", .kind = DCK_OPT_TEXT, .at = offsetof(config, image_size), .def = "224"},
    {.name = "engine-lib", .kind = DCK_OPT_TEXT, .at = offsetof(config, library)},
    {.name = "rounds",
     .kind = DCK_OPT_COUNT,
     .at = offsetof(config, rounds),
     .def = "21",
     .min = 1,
     .max = ROUNDS_MAX},
    {.name = "warmup", .kind = DCK_OPT_COUNT, .at = offsetof(config, warmup), .def = "20"},
    {.name = "runs",
     .kind = DCK_OPT_COUNT,
     .at = offsetof(config, runs),
     .def = "30",
     .min = 10,
     .max = 100000},
    {.name = "threads", .kind = DCK_OPT_COUNT, .at = offsetof(config, threads), .def = "1"},
    {0},
};

static void stop(const char *what)
{
	fprintf(stderr, "handwritten: %s\n", what);
	exit(1);
}

/* --- by hand: the slots of OrtApi that this loop needs, by number */

enum {
	SLOT_ERROR_MESSAGE = 2,
	SLOT_CREATE_ENV = 3,
	SLOT_SESSION_FROM_ARRAY = 8,
	SLOT_RUN = 9,
	SLOT_CREATE_OPTIONS = 10,
	SLOT_INTRA_THREADS = 24,
	SLOT_TENSOR_WITH_DATA = 49,
	SLOT_CPU_MEMORY_INFO = 69,
	SLOT_RELEASE_ENV = 92,
	SLOT_RELEASE_MEMORY_INFO = 94,
	SLOT_RELEASE_SESSION = 95,
	SLOT_RELEASE_VALUE = 96,
	SLOT_RELEASE_OPTIONS = 100
};

typedef void (*any)(void); /* any function pointer type may be cast to it and back */
typedef struct api_base {
	const any *(*get_api)(uint32_t version);
	const char *(*version)(void);
} api_base;

static const any *api;

static void ok(void *status)
{
	if (status)
		stop(((const char *(*)(void *))api[SLOT_ERROR_MESSAGE])(status));
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void release(int slot, void *object)
{
	((void (*)(void *))api[slot])(object);
}

static void by_hand(const config *c, const dck_buffer *model, int64_t height, int64_t width,
		    double *ret_ns)
{
	const int64_t shape[] = {1, 3, height, width};
	const char *in_names[] = {"input"}, *out_names[] = {"output"};
	size_t n = (size_t)(3 * height * width);
	float *pixels = malloc(n * sizeof *pixels);
	void *env, *session_options, *session, *memory, *input;

	for (size_t i = 0; pixels && i < n; i++)
		pixels[i] = (float)rand() / (float)RAND_MAX * 2 - 1;
	ok(((void *(*)(int, const char *, void **))api[SLOT_CREATE_ENV])(3, "byhand", &env));
	ok(((void *(*)(void **))api[SLOT_CREATE_OPTIONS])(&session_options));
	ok(((void *(*)(void *, int))api[SLOT_INTRA_THREADS])(session_options, (int)c->threads));
	ok(((void *(*)(void *, const void *, size_t, void *, void **))api[SLOT_SESSION_FROM_ARRAY])(
	    env, model->data, model->n, session_options, &session));
	ok(((void *(*)(int, int, void **))api[SLOT_CPU_MEMORY_INFO])(1, 0, &memory));
	ok(((void *(*)(void *, void *, size_t, const int64_t *, size_t, int,
		       void **))api[SLOT_TENSOR_WITH_DATA])(memory, pixels, n * sizeof *pixels,
							    shape, 4, 1, &input));
	for (uint64_t i = 0; i < c->warmup + c->runs; i++) {
		void *output = NULL;
		uint64_t begin = now_ns(), end;

		ok(((void *(*)(void *, void *, const char **, void **, size_t, const char **,
			       size_t, void **))api[SLOT_RUN])(session, NULL, in_names, &input, 1,
							       out_names, 1, &output));
		end = now_ns();
		release(SLOT_RELEASE_VALUE, output);
		if (i >= c->warmup)
			ret_ns[i - c->warmup] = (double)(end - begin);
	}
	release(SLOT_RELEASE_VALUE, input);
	release(SLOT_RELEASE_MEMORY_INFO, memory);
	release(SLOT_RELEASE_SESSION, session);
	release(SLOT_RELEASE_OPTIONS, session_options);
	release(SLOT_RELEASE_ENV, env);
	free(pixels);
}

/* --- by deepclock */

static dck_record *by_deepclock(const config *c)
{
	char subject_text[80], warmup[24];
	dck_subject s;
	dck_plan plan;
	dck_record *r;
	dck_err err;

	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	snprintf(subject_text, sizeof subject_text, "zoo:%s", c->network);
	snprintf(warmup, sizeof warmup, "%llu", (unsigned long long)c->warmup);
	s.text = subject_text;
	s.model.image_size = c->image_size;
	s.model.threads = c->threads;
	if (c->library)
		s.model.engine_lib = (dck_list){.item = {c->library}, .n = 1};
	dck_plan_init(&plan);
	plan.warmup = warmup;
	plan.runs = c->runs;
	if (dck_bench(&s, &plan, NULL, &r, &err) != DCK_OK)
		stop(err.msg);
	return r;
}

static void library_load(const config *c)
{
	api_base *(*base)(void);
	config once = *c;
	dck_record *r;
	void *library;

	/* Both use the library file that deepclock finds. */
	once.warmup = 1;
	once.runs = 10;
	r = by_deepclock(&once);
	library =
	    dlopen(dck_record_fact(r, "engine", "library")->value.as.text, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		stop(dlerror());
	*(void **)&base = dlsym(library, "OrtGetApiBase");
	printf("library %s, version %s\n", dck_record_fact(r, "engine", "library")->value.as.text,
	       base()->version());
	api = base()->get_api(19);
	dck_record_free(r);
}

static void side_print(const char *name, double ns, bool has_interval, double lo, double hi)
{
	printf("  %s %9.3f ms ", name, ns / 1e6);
	if (has_interval)
		printf("[%.3f, %.3f]", lo / 1e6, hi / 1e6);
	else
		printf("(no interval)");
}

int main(int argc, char **argv)
{
	static double hand[100000], ratio[ROUNDS_MAX];
	config c;
	dck_err err;
	dck_buffer model = {0};
	dck_sink sink;
	dck_zoo_config zoo = {.seed = 1};
	long long height, width;
	size_t agree = 0, judged = 0;
	stat_estimate all;

	if (dck_opt_defaults(options, &c, &err) != DCK_OK)
		stop(err.msg);
	for (int i = 1; i + 1 < argc; i += 2)
		if (dck_opt_set(options, &c, argv[i] + 2, argv[i + 1], &err) != DCK_OK)
			stop(err.msg);
	c.rounds = bench_rounds((size_t)c.rounds);
	if (sscanf(c.image_size, "%lldx%lld", &height, &width) == 1)
		width = height;
	zoo.image_size = c.image_size;
	dck_sink_buffer(&sink, &model);
	if (dck_zoo_write(c.network, &zoo, &sink, &err) != DCK_OK ||
	    dck_sink_finish(&sink, &err) != DCK_OK)
		stop(err.msg);
	library_load(&c);
	double *scratch = malloc(stat_scratch((size_t)c.runs) * sizeof *scratch);

	printf("%s %s, %llu thread(s), %llu warm-up and %llu timed runs each, medians with 95 %% "
	       "intervals\n",
	       c.network, c.image_size, (unsigned long long)c.threads, (unsigned long long)c.warmup,
	       (unsigned long long)c.runs);
	for (uint64_t k = 0; k < c.rounds; k++) {
		dck_record *r = k % 2 ? by_deepclock(&c) : NULL;
		const dck_metric *ours;
		stat_estimate e;

		by_hand(&c, &model, height, width, hand);
		r = r ? r : by_deepclock(&c);
		ours = dck_record_metric(r, "latency/median");
		stat_estimate_one(STAT_MEDIAN, hand, (size_t)c.runs, 0.95, scratch, &e);
		ratio[k] = ours->value.as.r / e.value;
		const bool both = ours->level > 0 && e.has_interval;
		const bool meet = both && ours->lo <= e.hi && e.lo <= ours->hi;

		judged += both;
		agree += meet;
		side_print("by hand", e.value, e.has_interval, e.lo, e.hi);
		side_print("deepclock", ours->value.as.r, ours->level > 0, ours->lo, ours->hi);
		printf("   ratio %.4f%s\n", ratio[k], !both || meet ? "" : "  (apart)");
		dck_record_free(r);
	}
	stat_estimate_one(STAT_MEDIAN, ratio, (size_t)c.rounds, 0.95, scratch, &all);
	stat_sort(ratio, (size_t)c.rounds);
	printf(
	    "ratio: median %.4f, least %.4f, greatest %.4f; intervals meet in %zu of %zu rounds\n",
	    all.value, ratio[0], ratio[c.rounds - 1], agree, judged);
	if (all.has_interval)
		printf("ratio: 95 %% interval of its median [%.4f, %.4f]%s\n", all.lo, all.hi,
		       all.lo <= 1 && 1 <= all.hi ? ": no difference resolved" : "");
	bench_row_put(
	    &(bench_row){.work = "a run of a network, median", .unit = "times a loop by hand"},
	    ratio, (size_t)c.rounds);
	free(scratch);
	dck_buffer_done(&model);
	return bench_status();
}
