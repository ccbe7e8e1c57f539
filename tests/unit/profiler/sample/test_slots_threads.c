/* test_slots_threads.c - threads fill slots while another one drains them: each sample is reported
 * once, complete and in the order of its thread; samples without a free slot are counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/slots_drain.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { THREADS = 4, EACH = 6000, PID = 4711, DEEPEST = 40 };

typedef struct filled {
	sample_slots *slots;
	int32_t tid;
	uint64_t given, lost;
	_Atomic uint32_t *running;
} filled;

static void *fill(void *self)
{
	filled *f = self;

	for (uint64_t i = 1; i <= EACH; i++) {
		sample_slot *s = sample_slot_acquire(f->slots, getpid()); /* it continues */

		if (!s) {
			f->lost++;
			atomic_fetch_add_explicit(&f->slots->lost, 1, memory_order_relaxed);
			continue;
		}
		s->pid = PID;
		s->tid = f->tid;
		s->kind = SLOT_STACK;
		s->at_ns = i;
		s->a = i; /* identifies the sample when drained */
		s->ended = UNWIND_END;
		s->python = SAMPLE_PYTHON_NONE;
		s->npython = 0;
		s->npcs = 1 + (uint32_t)(i % DEEPEST);
		for (uint32_t k = 0; k < s->npcs; k++)
			s->of.pcs[k] = i << 8 | (uint64_t)f->tid;
		f->given++;
		sample_slot_publish(s);
	}
	atomic_fetch_sub(f->running, 1);
	return NULL;
}

typedef struct seen {
	uint64_t n[THREADS], lost, wrong;
} seen;

static void event(void *self, const sample_event *e)
{
	seen *s = self;

	if (e->kind == SAMPLE_LOST)
		s->lost += e->as.lost.n;
	if (e->kind != SAMPLE_TAKEN)
		return;
	const size_t i = (size_t)e->tid - 1;
	const uint64_t number = e->as.taken.weight_ns;
	bool right = i < THREADS && e->as.taken.npcs == 1 + number % DEEPEST;
	for (size_t k = 0; right && k < e->as.taken.npcs; k++)
		right = e->as.taken.pcs[k] == (number << 8 | (uint64_t)e->tid);
	s->wrong += !right;
	if (right)
		s->n[i]++;
}

static void each_sample_is_told_once(void **state)
{
	sample_slots *slots = calloc(1, sizeof *slots);
	slots_drain *drain = calloc(1, sizeof *drain);
	_Atomic uint32_t running = THREADS;
	filled threads[THREADS];
	pthread_t id[THREADS];
	seen s = {0};
	const sample_sink to = {event, &s};
	uint64_t lost = 0;

	(void)state;
	assert_non_null(slots);
	assert_non_null(drain);
	drain->slots = slots;
	for (int32_t i = 0; i < THREADS; i++) {
		threads[i] = (filled){.slots = slots, .tid = i + 1, .running = &running};
		assert_int_equal(pthread_create(&id[i], NULL, fill, &threads[i]), 0);
	}
	while (atomic_load(&running) > 0)
		slots_drain_all(drain, &to);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	slots_drain_all(drain, &to);
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(s.n[i], threads[i].given);
		lost += threads[i].lost;
	}
	assert_int_equal(s.wrong, 0);
	assert_int_equal(s.lost, lost);
	free(drain);
	free(slots);
}

int test_slots_threads(void);
int test_slots_threads(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_sample_is_told_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
