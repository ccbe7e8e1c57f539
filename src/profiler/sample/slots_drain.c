/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/slots_drain.h"

#include "os/os.h"
#include "os/counters/perf_sampling.h"
#include "os/process/other_process.h"

#include <stdlib.h>
#include <string.h>

/* Time after which a slot in work is checked for whether its thread still exists. */
#define STUCK_NS UINT64_C(1000000000)

typedef struct waiting_slot {
	uint64_t at_ns;
	uint32_t number;
} waiting_slot;

static int drain_by_time(const void *a, const void *b)
{
	const waiting_slot *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Copies Python frames from the slot's words to s->python. */
static void python_take(slots_drain *s, sample_event *e)
{
	const sample_slot *c = &s->copy;
	const uint64_t *from = c->of.pcs + c->npcs;

	for (uint32_t i = 0; i < c->npython; i++, from += 2)
		s->python[i] = (python_frame){.code = from[0] & ~UINT64_C(1),
					      .entry = from[0] & 1,
					      .instruction = (int32_t)(uint32_t)from[1]};
	e->as.taken.python_came = c->python != SAMPLE_PYTHON_NONE;
	e->as.taken.python_cut = c->python == SAMPLE_PYTHON_CUT;
	e->as.taken.python = s->python;
	e->as.taken.npython = c->npython;
}

static sample_event event_of(slots_drain *s)
{
	const sample_slot *c = &s->copy;
	sample_event e = {.at_ns = c->at_ns, .pid = c->pid, .tid = c->tid};

	switch (c->kind) {
	case SLOT_STACK:
		e.kind = SAMPLE_TAKEN;
		e.as.taken.weight_ns = c->a;
		e.as.taken.pcs = c->of.pcs;
		e.as.taken.npcs = c->npcs;
		e.as.taken.ended = c->ended <= UNWIND_NEEDS ? (unwind_result)c->ended : UNWIND_LOST;
		e.as.taken.scanned = c->c != 0;
		python_take(s, &e);
		break;
	case SLOT_EXEC:
	case SLOT_NAME:
		e.kind = c->kind == SLOT_EXEC ? SAMPLE_EXEC : SAMPLE_NAME;
		e.as.name.text = c->of.text;
		break;
	case SLOT_FORK:
		e.kind = SAMPLE_FORK;
		e.as.fork.parent_pid = (int)c->a;
		e.as.fork.parent_tid = (int)c->a;
		break;
	case SLOT_CODE:
		e.kind = SAMPLE_MAP;
		e.as.map.address = c->a;
		e.as.map.bytes = c->b;
		e.as.map.offset = c->c;
		e.as.map.inode = c->inode;
		e.as.map.file = c->of.text;
		break;
	case SLOT_UNLOAD:
		e.kind = SAMPLE_UNLOAD;
		break;
	case SLOT_END:
		e.kind = SAMPLE_EXIT;
		break;
	default:
		break;
	}
	return e;
}

/* Slots may be of a later time than a search for them only with another clock. */
#define OTHER_CLOCK_NS UINT64_C(1000000000)
/* Bound of a sample's weight. */
#define WEIGHT_MAX_NS (UINT64_C(3600) * 1000000000u)

/* Validates a process or thread id: the kernel's maximum is 2^22. */
static bool drain_is_number(int n)
{
	return n > 0 && n <= 1 << 22;
}

static void slot_emit(slots_drain *s, sample_slot *from, const sample_sink *to)
{
	memcpy(&s->copy, from, sizeof s->copy);
	atomic_store_explicit(&from->state, SAMPLE_SLOT_FREE, memory_order_release);
	s->copy.of.text[SAMPLE_SLOT_TEXT - 1] = '\0';
	if (s->copy.kind == SLOT_STACK) {
		if (s->copy.npcs > SAMPLE_SLOT_PCS || s->copy.npython > SAMPLE_SLOT_PYTHON ||
		    s->copy.npcs + 2 * s->copy.npython > SAMPLE_SLOT_PCS ||
		    s->copy.a > WEIGHT_MAX_NS)
			return;
		s->taken_ns += s->copy.b;
		s->taken++;
	}
	const sample_event e = event_of(s);
	if (e.kind != SAMPLE_NOTHING && drain_is_number(e.pid) && drain_is_number(e.tid))
		to->event(to->self, &e);
}

/* Slots of threads that were killed while they filled them. */
static void stuck_free(slots_drain *s)
{
	const uint64_t now = os_now_ns();

	if (now - s->stuck_ns < STUCK_NS)
		return;
	s->stuck_ns = now;
	for (size_t i = 0; i < SAMPLE_SLOTS; i++) {
		int32_t state = atomic_load(&s->slots->slot[i].state);

		if (state > 0 && s->working[i] == state && !os_process_runs(state))
			atomic_compare_exchange_strong(&s->slots->slot[i].state, &state,
						       SAMPLE_SLOT_FREE);
		s->working[i] = state;
	}
}

void slots_drain_all(slots_drain *s, const sample_sink *to)
{
	waiting_slot ready[SAMPLE_SLOTS];
	const uint64_t now = os_perf_now_ns();
	uint32_t before = atomic_load_explicit(&s->slots->next, memory_order_acquire);
	size_t n = 0;

	for (uint32_t i = 0; i < SAMPLE_SLOTS; i++) {
		sample_slot *slot = &s->slots->slot[i];

		if (atomic_load_explicit(&slot->state, memory_order_acquire) != SAMPLE_SLOT_READY)
			continue;
		/* A later one may depend on one that was filled behind the search. */
		if (slot->at_ns < now || slot->at_ns - now > OTHER_CLOCK_NS)
			ready[n++] = (waiting_slot){slot->at_ns, i};
	}
	qsort(ready, n, sizeof ready[0], drain_by_time);
	for (size_t i = 0; i < n; i++)
		slot_emit(s, &s->slots->slot[ready[i].number], to);
	/* The first ones again: a program that takes few samples touches little memory. Not if
	 * slots were filled meanwhile: the search would meet all of them in a row. */
	atomic_compare_exchange_strong_explicit(&s->slots->next, &before, 0, memory_order_relaxed,
						memory_order_relaxed);
	stuck_free(s);
	const uint64_t lost = atomic_load(&s->slots->lost);
	if (lost > s->lost) {
		const sample_event e = {.kind = SAMPLE_LOST, .as.lost.n = lost - s->lost};

		s->lost = lost;
		to->event(to->self, &e);
	}
}
