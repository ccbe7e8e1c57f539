/* test_rank_check.c - slow ranks are named, healthy ones are not: simulated times, and ranks of one
 * process whose kernels report what the test wants.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "profiler/ranks/rank_check_record.h"
#include "profiler/ranks/rank_message.h"
#include "scratch.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

int test_rank_check(void);

enum { ROUNDS = RANK_CHECK_ROUNDS, MANY = 64, JOBS = 200 };
#define CHECK_PATIENCE_NS UINT64_C(50000000000)

/* 1000 ns, up to 20 % more, and in some rounds the double; all ranks are slower in some rounds. */
static void times_simulate(double *x, size_t n, size_t slow, double factor, uint64_t seed)
{
	for (size_t r = 0; r < ROUNDS; r++) {
		const double all = 1 + (double)rng_below(&seed, 100) / 100;

		for (size_t i = 0; i < n; i++) {
			const double own = 1000 + (double)rng_below(&seed, 200);

			x[i * ROUNDS + r] =
			    all * own * (rng_below(&seed, 10) ? 1 : 2) * (i == slow ? factor : 1);
		}
	}
}

static size_t slow_count(const rank_ratio *ratio, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ratio[i].slow;
	return count;
}

static void slow_ranks_are_found(void **state)
{
	static double x[MANY * ROUNDS];
	rank_ratio ratio[MANY];
	size_t member[MANY];

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		member[i] = i;
	for (uint64_t job = 0; job < JOBS; job++) {
		const size_t n = job % 2 ? 4 : MANY, slow = job % n;

		times_simulate(x, n, n, 1, 2 * job);
		assert_int_equal(
		    rank_slow_find(x, member, n, ROUNDS, 3 * n, 0.01, 1.1, ratio, NULL), DCK_OK);
		assert_int_equal(slow_count(ratio, n), 0);
		times_simulate(x, n, slow, 1.5, 2 * job + 1);
		assert_int_equal(
		    rank_slow_find(x, member, n, ROUNDS, 3 * n, 0.01, 1.1, ratio, NULL), DCK_OK);
		assert_int_equal(slow_count(ratio, n), 1);
		assert_true(ratio[slow].slow && ratio[slow].lo <= 1.5 && ratio[slow].hi >= 1.4);
	}
}

/* Exact: ratios of 1, 2, ..., 7 to a rank that always takes 1; P(X <= 0) of 7 is 1/128. */
static void exact_ratios(void **state)
{
	static const double x[] = {1,  1,  1,  1, 1, 1, 1, 99, 99, 99, 99,
				   99, 99, 99, 4, 2, 7, 1, 3,  6,  5};
	static const size_t member[] = {0, 2}; /* the second takes no part */
	rank_ratio r[2];

	(void)state;
	assert_int_equal(rank_slow_find(x, member, 2, 7, 2, 2 * 2.0 / 128, 1.1, r, NULL), DCK_OK);
	assert_true(r[1].ratio == 4 && r[1].lo == 1 && r[1].hi == 7 && r[1].median_ns == 4);
	assert_false(r[1].slow);
	assert_int_equal(rank_slow_find(x, member, 2, 7, 2, 0.9 * 2 * 2.0 / 128, 1.1, r, NULL),
			 DCK_OK);
	assert_true(isnan(r[1].lo) && isnan(r[1].hi) && !r[1].slow);
}

/* --- ranks in one process */

typedef struct fake_rank {
	rank_meeting meeting;
	uint32_t rank;
	const char *host;
	double ns[RANK_KERNELS];
	int answers; /* until it leaves; -1: it stays */
	pthread_t thread;
	dck_status status;
} fake_rank;

static void fake_run(void *self, double ret_ns[RANK_KERNELS])
{
	memcpy(ret_ns, ((const fake_rank *)self)->ns, RANK_KERNELS * sizeof *ret_ns);
}

static rank_part fake_part(const char *host)
{
	rank_part p = {.arena = mem_arena_new(0)};

	p.host = p.boot = mem_arena_dup(p.arena, host);
	return p;
}

static void *fake_main(void *self)
{
	fake_rank *f = self;
	rank_part part = fake_part(f->host);
	const rank_kernel kernel = {f, fake_run};
	const rank_exchange *e;
	wire_out bytes = {0};
	rank_client *c;
	rank_head head;
	size_t n;
	int fd;

	f->status = rank_client_start(&f->meeting, f->rank, &c, NULL);
	rank_client_clock(c, CHECK_PATIENCE_NS, &e, &n);
	if (f->answers < 0) {
		f->status = rank_check_follow(c, &part, CHECK_PATIENCE_NS, &kernel, NULL);
	} else { /* it gets one request, and leaves */
		rank_part_write(&part, &bytes);
		f->status = rank_client_ready(c, bytes.data, bytes.n, CHECK_PATIENCE_NS, &fd, NULL);
		(void)rank_message_receive(fd, RANK_KERNEL, &head, 0,
					   os_now_ns() + CHECK_PATIENCE_NS);
		wire_out_done(&bytes);
	}
	rank_client_stop(c);
	rank_part_done(&part);
	return NULL;
}

/* Checks `size` ranks, f[0] being rank 0. */
static dck_record *check_make(fake_rank *f, uint32_t size)
{
	const os_job job = {.launcher = "torchrun", .size = size};
	rank_meeting meeting = {.host = "127.0.0.1", .file = "check"};
	const rank_kernel kernel = {&f[0], fake_run};
	rank_part parts[8] = {fake_part(f[0].host)};
	rank_check check;
	rank_server *s;
	dck_record *r;
	dck_err err;

	assert_int_equal(rank_server_start(&meeting, size, ".", false, &s, NULL), DCK_OK);
	for (uint32_t i = 1; i < size; i++) {
		f[i].rank = i;
		f[i].meeting = (rank_meeting){.host = "127.0.0.1", .file = "check"};
		assert_int_equal(pthread_create(&f[i].thread, NULL, fake_main, &f[i]), 0);
	}
	rank_server_wait(s, os_now_ns() + CHECK_PATIENCE_NS, NULL, NULL);
	rank_server_close(s);
	for (uint32_t i = 1; i < size; i++) {
		rank_absence absence;
		char path[200];

		assert_true(rank_server_part(s, i, path, sizeof path, &absence));
		assert_int_equal(rank_part_read(path, &parts[i], NULL), DCK_OK);
	}
	assert_int_equal(rank_check_lead(s, size, &kernel, &check, &err), DCK_OK);
	for (uint32_t i = 1; i < size; i++)
		pthread_join(f[i].thread, NULL);
	const rank_check_result result = {&job, parts, &check};
	assert_int_equal(rank_check_record_make(&result, &r, &err), DCK_OK);
	rank_check_done(&check);
	rank_server_stop(s);
	for (uint32_t i = 0; i < size; i++)
		rank_part_done(&parts[i]);
	return r;
}

static const char *answer_of(const dck_record *r)
{
	return dck_record_fact(r, "result", "answer")->value.as.text;
}

static void a_slow_rank_is_named(void **state)
{
	fake_rank f[] = {{.host = "a", .ns = {100, 300}, .answers = -1},
			 {.host = "a", .ns = {101, 299}, .answers = -1},
			 {.host = "a", .ns = {100, 390}, .answers = -1},
			 {.host = "a", .ns = {99, 301}, .answers = -1}};

	(void)state;
	dck_record *r = check_make(f, 4);
	assert_string_equal(answer_of(r), "rank 2 is slow: its reading of memory takes 1.3 times "
					  "as long as the others' [1.3, 1.3]");
	assert_int_equal(dck_record_gate(r), DCK_VERDICT_VIOLATED);
	assert_false(r->incomplete);
	const dck_table *t = dck_record_table(r, "check");
	assert_string_equal(dck_table_cell(t, 2, "state")->value.as.text, "slow");
	assert_true(dck_table_cell(t, 2, "memory_ratio")->value.as.r == 1.3);
	assert_int_equal(dck_table_cell(t, 2, "link_ratio")->value.kind, DCK_VALUE_ABSENT);
	dck_record_free(r);
	for (int i = 1; i < 4; i++)
		assert_int_equal(f[i].status, DCK_OK);
}

static void a_slow_node_is_named(void **state)
{
	fake_rank f[] = {{.host = "a", .ns = {100, 300}, .answers = -1},
			 {.host = "a", .ns = {100, 300}, .answers = -1},
			 {.host = "b", .ns = {150, 300}, .answers = -1},
			 {.host = "b", .ns = {150, 300}, .answers = -1},
			 {.host = "c", .ns = {100, 300}, .answers = -1}};

	(void)state;
	dck_record *r = check_make(f, 5);
	const char *answer = answer_of(r);
	assert_ptr_equal(strstr(answer, "node b is slow: its arithmetic takes 1.5 times"), answer);
	assert_null(strstr(answer, "rank 2 on b is slow: its arithmetic"));
	assert_null(strstr(answer, "rank 3 on b is slow: its arithmetic"));
	/* Those of the other nodes are compared with each other: each has a ratio. */
	assert_int_equal(dck_table_cell(dck_record_table(r, "check"), 4, "link_ratio")->value.kind,
			 DCK_VALUE_REAL);
	dck_record_free(r);
}

/* A rank that leaves in the middle costs its own row only. */
static void a_rank_is_lost(void **state)
{
	fake_rank f[] = {{.host = "a", .ns = {100, 300}, .answers = -1},
			 {.host = "a", .ns = {100, 300}, .answers = 1},
			 {.host = "a", .ns = {100, 300}, .answers = -1}};

	(void)state;
	dck_record *r = check_make(f, 3);
	assert_true(r->incomplete);
	assert_non_null(dck_record_note(r, "ranks-missing"));
	assert_ptr_equal(strstr(answer_of(r), "no rank is slow"), answer_of(r));
	const dck_table *t = dck_record_table(r, "check");
	assert_string_equal(dck_table_cell(t, 1, "state")->value.as.text,
			    "it did not answer to the end");
	assert_true(dck_table_cell(t, 2, "compute_ratio")->value.as.r == 1);
	assert_int_equal(dck_record_gate(r), DCK_VERDICT_MET);
	dck_record_free(r);
	assert_int_equal(f[2].status, DCK_OK);
}

static void the_kernels_take_time(void **state)
{
	rank_kernel k;
	double ns[RANK_KERNELS];

	(void)state;
	assert_int_equal(rank_kernel_open(&k, NULL), DCK_OK);
	k.run(k.self, ns);
	assert_true(ns[RANK_COMPUTE] > 0 && ns[RANK_STREAM] > 0);
	rank_kernel_close(&k);
}

int test_rank_check(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slow_ranks_are_found), cmocka_unit_test(exact_ratios),
	    cmocka_unit_test(a_slow_rank_is_named), cmocka_unit_test(a_slow_node_is_named),
	    cmocka_unit_test(a_rank_is_lost),	    cmocka_unit_test(the_kernels_take_time),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
