/* out_of_order.c - two independent matrix products: in order, and in parallel.
 *
 *     out_of_order
 *
 * A runtime may start an operator as soon as its inputs are ready. In order, one thread computes
 * both products; in parallel, a second thread computes one of them. dck_compare() measures the two
 * interleaved, and DEEPCLOCK_TRACE=out_of_order.pftrace shows both threads on a timeline.
 *
 *     cc -O2 -pthread out_of_order.c $(pkg-config --cflags --libs deepclock) -o out_of_order
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/deepclock.h>
#include <deepclock/zone.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 160 };

typedef struct matrix {
	float at[N][N];
} matrix;

static matrix a, b, c, d, ab, cd;

static void product(const matrix *x, const matrix *y, matrix *ret)
{
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++)
			ret->at[i][j] = 0;
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				ret->at[i][j] += x->at[i][k] * y->at[k][j];
	}
}

static void first_product(void)
{
	DCK_ZONE("a b");
	product(&a, &b, &ab);
}

static void second_product(void)
{
	DCK_ZONE("c d");
	product(&c, &d, &cd);
}

/* --- the second thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum state { IDLE, WORK, QUIT } state;

static void state_set(enum state to)
{
	pthread_mutex_lock(&lock);
	state = to;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* Waits until the state is not `from`, and returns it. */
static enum state state_wait_not(enum state from)
{
	pthread_mutex_lock(&lock);
	while (state == from)
		pthread_cond_wait(&changed, &lock);
	const enum state now = state;
	pthread_mutex_unlock(&lock);
	return now;
}

static void *worker(void *arg)
{
	while (state_wait_not(IDLE) == WORK) {
		second_product();
		state_set(IDLE);
	}
	return arg;
}

/* --- the compared functions */

static int in_order(void *arg)
{
	(void)arg;
	first_product();
	second_product();
	return 0;
}

static int at_once(void *arg)
{
	(void)arg;
	state_set(WORK);
	first_product();
	state_wait_not(WORK);
	return 0;
}

static int measure(void)
{
	const char *const names[] = {"in order", "two at once"};
	dck_subject s[2];
	dck_alternative both[2];
	dck_compare_config config;
	dck_record *r;
	dck_err err;
	dck_status status;
	int (*const functions[])(void *) = {in_order, at_once};

	for (int i = 0; i < 2; i++) {
		dck_subject_init(&s[i]);
		s[i].kind = DCK_SUBJECT_FUNCTION;
		s[i].text = names[i];
		s[i].function = functions[i];
		both[i] = (dck_alternative){names[i], &s[i]};
	}
	dck_compare_config_init(&config);
	config.max_time_ns = 3000000000;
	config.title = "out_of_order";
	if (dck_compare(both, 2, &config, NULL, &r, &err) != DCK_OK) {
		fprintf(stderr, "out_of_order: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	status = dck_print(r, 1, &err);
	dck_record_free(r);
	if (status != DCK_OK)
		fprintf(stderr, "out_of_order: %s\n", err.msg);
	return status == DCK_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
	pthread_t thread;
	int status;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a.at[i][j] = c.at[i][j] = (float)((i + j) % 8) / 8;
			b.at[i][j] = d.at[i][j] = (float)((i * j) % 8) / 8;
		}
	if (pthread_create(&thread, NULL, worker, NULL) != 0) {
		fprintf(stderr, "out_of_order: there is no second thread\n");
		return EXIT_FAILURE;
	}
	status = measure();
	state_set(QUIT);
	pthread_join(thread, NULL);
	/* Both threads have the same inputs, so they must have the same result. */
	for (int i = 0; i < N && status == EXIT_SUCCESS; i++)
		for (int j = 0; j < N; j++)
			if (ab.at[i][j] != cd.at[i][j])
				status = EXIT_FAILURE;
	return status;
}
