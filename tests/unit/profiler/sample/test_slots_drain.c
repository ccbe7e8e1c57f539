/* test_slots_drain.c - slots written by the threads of a sampled program become events in time
 * order; invalid slots are dropped without harm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"
#include "os/os.h"
#include "os/counters/perf_sampling.h"
#include "profiler/sample/sample_profile.h"
#include "profiler/sample/slots_drain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { PID = 4711, TID = 4712, PLACES = 8000 };

/* Each array has exactly its size, so that a sanitizer detects an access beyond. */
typedef struct made {
	slots_drain drain;
	char got[4096];
	size_t n;
} made;

static made *make(void)
{
	made *m = calloc(1, sizeof *m);

	assert_non_null(m);
	m->drain.slots = calloc(1, sizeof *m->drain.slots);
	assert_non_null(m->drain.slots);
	return m;
}

static void unmake(made *m)
{
	free(m->drain.slots);
	free(m);
}

static sample_slot *fill(made *m, size_t at, slot_kind told, uint64_t at_ns)
{
	sample_slot *s = &m->drain.slots->slot[at];

	*s = (sample_slot){.pid = PID, .tid = TID, .kind = told, .at_ns = at_ns};
	atomic_store(&s->state, SAMPLE_SLOT_READY);
	return s;
}

static void told(made *m, const char *text)
{
	m->n += (size_t)snprintf(m->got + m->n, sizeof m->got - m->n, "%s ", text);
}

static void event(void *self, const sample_event *e)
{
	char text[256];

	switch (e->kind) {
	case SAMPLE_TAKEN:
		snprintf(text, sizeof text, "stack:%zu:%zu:%llu:%d", e->as.taken.npcs,
			 e->as.taken.npython, (unsigned long long)e->as.taken.weight_ns,
			 e->as.taken.ended);
		break;
	case SAMPLE_MAP:
		snprintf(text, sizeof text, "map:%.100s", e->as.map.file);
		break;
	case SAMPLE_NAME:
	case SAMPLE_EXEC:
		snprintf(text, sizeof text, "%s:%.100s", e->kind == SAMPLE_EXEC ? "exec" : "name",
			 e->as.name.text);
		break;
	case SAMPLE_FORK:
		snprintf(text, sizeof text, "fork:%d", e->as.fork.parent_pid);
		break;
	case SAMPLE_LOST:
		snprintf(text, sizeof text, "lost:%llu", (unsigned long long)e->as.lost.n);
		break;
	default:
		snprintf(text, sizeof text, "kind:%d", e->kind);
	}
	told(self, text);
}

static void expect_told(made *m, const char *text)
{
	const sample_sink to = {event, m};

	m->n = 0;
	m->got[0] = '\0';
	slots_drain_all(&m->drain, &to);
	assert_string_equal(m->got, text);
}

static void slots_become_events_by_their_time(void **state)
{
	made *m = make();

	(void)state;
	sample_slot *s = fill(m, 0, SLOT_STACK, 40);
	s->a = 1000;
	s->npcs = 3;
	s->npython = 2;
	s->python = SAMPLE_PYTHON_WHOLE;
	s->ended = UNWIND_END;
	strcpy(fill(m, 7, SLOT_EXEC, 10)->of.text, "program");
	strcpy(fill(m, SAMPLE_SLOTS - 1, SLOT_CODE, 20)->of.text, "/lib/a.so");
	strcpy(fill(m, 3, SLOT_NAME, 30)->of.text, "worker");
	fill(m, 4, SLOT_FORK, 50)->a = 99;
	fill(m, 5, SLOT_END, 60);
	atomic_store(&m->drain.slots->lost, 7);
	char text[200];
	snprintf(text, sizeof text,
		 "exec:program map:/lib/a.so name:worker stack:3:2:1000:%d fork:99 kind:%d lost:7 ",
		 UNWIND_END, SAMPLE_EXIT);
	expect_told(m, text);
	/* All slots are free again, and reported once. */
	expect_told(m, "");
	atomic_store(&m->drain.slots->lost, 9);
	expect_told(m, "lost:2 ");
	unmake(m);
}

/* A search may have passed a slot that a later one depends on. */
static void slots_of_a_later_time_wait(void **state)
{
	const uint64_t later = os_perf_now_ns() + 500000000;
	made *m = make();

	(void)state;
	fill(m, 3, SLOT_UNLOAD, 1);
	strcpy(fill(m, 5, SLOT_CODE, later)->of.text, "/lib/b.so");
	slots_drain_all(&m->drain, &(sample_sink){event, m});
	if (os_perf_now_ns() < later) {
		char text[32];

		snprintf(text, sizeof text, "kind:%d ", SAMPLE_UNLOAD);
		assert_string_equal(m->got, text);
		while (os_perf_now_ns() <= later)
			os_sleep_ns(1000000, NULL, NULL);
		expect_told(m, "map:/lib/b.so ");
	}
	unmake(m);
}

static void slots_in_work_stay(void **state)
{
	made *m = make();

	(void)state;
	strcpy(fill(m, 0, SLOT_NAME, 1)->of.text, "a");
	atomic_store(&m->drain.slots->slot[0].state, (int)getpid());
	expect_told(m, "");
	/* Also after more than a second, because its thread still exists. */
	m->drain.stuck_ns = 0;
	expect_told(m, "");
	m->drain.stuck_ns = 0;
	expect_told(m, "");
	assert_int_equal(atomic_load(&m->drain.slots->slot[0].state), (int)getpid());
	unmake(m);
}

static void slots_of_killed_threads_are_free_again(void **state)
{
	made *m = make();
	const pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	fill(m, 0, SLOT_NAME, 1);
	atomic_store(&m->drain.slots->slot[0].state, child);
	for (int look = 0; look < 2; look++) {
		m->drain.stuck_ns = 0;
		expect_told(m, "");
	}
	assert_int_equal(atomic_load(&m->drain.slots->slot[0].state), SAMPLE_SLOT_FREE);
	unmake(m);
}

/* Counts beyond the slot, and invalid thread ids. */
static void wrong_numbers_are_not_told(void **state)
{
	static const struct {
		uint32_t npcs, npython;
		uint64_t a;
		int pid, tid;
	} wrong[] = {
	    {SAMPLE_SLOT_PCS + 1, 0, 1, PID, TID},
	    {UINT32_MAX, 0, 1, PID, TID},
	    {0, SAMPLE_SLOT_PYTHON + 1, 1, PID, TID},
	    {0, UINT32_MAX, 1, PID, TID},
	    {SAMPLE_SLOT_PCS, 1, 1, PID, TID},
	    {SAMPLE_SLOT_PCS - 1, 1, 1, PID, TID},
	    {1, 0, UINT64_MAX, PID, TID}, /* more than the maximum time */
	    {1, 0, 1, 0, TID},
	    {1, 0, 1, PID, -1},
	    {1, 0, 1, INT32_MAX, TID},
	    {1, 0, 1, PID, (1 << 22) + 1},
	};
	made *m = make();

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		sample_slot *s = fill(m, i, SLOT_STACK, i);

		s->npcs = wrong[i].npcs;
		s->npython = wrong[i].npython;
		s->a = wrong[i].a;
		s->pid = wrong[i].pid;
		s->tid = wrong[i].tid;
	}
	/* A text without a terminating zero, as long as the slot; and an unknown kind. */
	memset(fill(m, 100, SLOT_NAME, 100)->of.text, 'x', SAMPLE_SLOT_TEXT);
	fill(m, 101, (slot_kind)4711, 101);
	char text[200] = "name:";
	memset(text + 5, 'x', 100);
	strcpy(text + 105, " ");
	expect_told(m, text);
	unmake(m);
}

/* Any bytes that a sampled program may write there, for all of which events enter a real profile,
 * which becomes a tree at the end. */
static void any_bytes_harm_no_profile(void **state)
{
	static const dck_column weights[] = {{"samples", "samples", DCK_UNIT_ONE},
					     {"time", "time", DCK_UNIT_NS}};
	const dck_sample_config config = {.rate = 997, .threads = true};
	made *m = make();
	sample_profile *p;
	cct paths;
	uint64_t r = 14;

	(void)state;
	assert_int_equal(sample_profile_new(&config, &p, NULL), DCK_OK);
	for (int i = 0; i < PLACES; i++) {
		sample_slot *s = &m->drain.slots->slot[rng_next(&r) % SAMPLE_SLOTS];

		for (size_t k = 0; k < sizeof *s / 8; k++)
			((uint64_t *)s)[k] = rng_next(&r) >> (rng_next(&r) & 63);
		s->kind = (uint32_t)(rng_next(&r) % 8);
		s->pid = 4000000 + (int)(rng_next(&r) % 50);
		s->tid = 4000000 + (int)(rng_next(&r) % 50);
		s->npcs = (uint32_t)(rng_next(&r) % (SAMPLE_SLOT_PCS + 20));
		s->npython = rng_next(&r) % 2 ? 0 : (uint32_t)(rng_next(&r) % 200);
		s->a %= UINT64_C(1) << (rng_next(&r) & 63);
		atomic_store(&s->state, SAMPLE_SLOT_READY);
		if (i % 100 == 99)
			slots_drain_all(&m->drain, &(sample_sink){sample_profile_event, p});
	}
	sample_profile_end(p, UINT64_MAX);
	assert_true(sample_profile_counts(p).samples > 100);
	assert_int_equal(cct_init(&paths, weights, 2, NULL), DCK_OK);
	assert_int_equal(sample_profile_name(p, &paths, NULL, NULL, NULL), DCK_OK);
	cct_done(&paths);
	sample_profile_free(p);
	unmake(m);
}

static void slots_acquire(sample_slots *slots, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sample_slot *slot = sample_slot_acquire(slots, TID);

		assert_non_null(slot);
		slot->pid = PID;
		slot->tid = TID;
		slot->kind = SLOT_END;
		sample_slot_publish(slot);
	}
}

static void event_and_samples(void *self, const sample_event *e)
{
	made *m = self;

	(void)e;
	if (m->n++ == 0)
		slots_acquire(m->drain.slots, 500);
}

/* While slots are drained a thread fills more, as beside other programs that delay deepclock. */
static void slots_are_filled_during_the_drain(void **state)
{
	made *m = make();

	(void)state;
	slots_acquire(m->drain.slots, 300);
	slots_drain_all(&m->drain, &(sample_sink){event_and_samples, m});
	assert_int_equal(m->n, 300);
	slots_acquire(m->drain.slots, SAMPLE_SLOTS - 500);
	assert_null(sample_slot_acquire(m->drain.slots, TID));
	slots_drain_all(&m->drain, &(sample_sink){event_and_samples, m});
	assert_int_equal(m->n, 300 + SAMPLE_SLOTS);
	unmake(m);
}

int test_slots_drain(void);
int test_slots_drain(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(slots_become_events_by_their_time),
	    cmocka_unit_test(slots_of_a_later_time_wait),
	    cmocka_unit_test(slots_in_work_stay),
	    cmocka_unit_test(slots_are_filled_during_the_drain),
	    cmocka_unit_test(slots_of_killed_threads_are_free_again),
	    cmocka_unit_test(wrong_numbers_are_not_told),
	    cmocka_unit_test(any_bytes_harm_no_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
