/* zone.c - implements the macros of zone.h: reads the clock and writes an entry. The rest is in
 * thread_buffer.c (threads and their blocks), zone_names.c (names) and drain.c (processing of
 * events).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include "profiler/trace/capture.h"
#include "profiler/trace/thread_buffer.h"
#include "profiler/trace/annotation/nvtx_emit.h"
#include "profiler/trace/zone_names.h"

int dck_trace_on;

static bool zone_is_plain(void)
{
	return __builtin_expect(atomic_load_explicit(&zones_plain, memory_order_relaxed), 1);
}

/* Returns the listeners, and updates zones_plain. A call without listeners (a cost is measured) is
 * recorded. */
static int listeners(void)
{
	const int on = __atomic_load_n(&dck_trace_on, __ATOMIC_RELAXED);
	const bool plain = TICKS_QUICK() && !(on & LISTEN_EMIT) && !capture_armed();

	/* Written only when it changes: all threads read it. */
	if (plain != zone_is_plain()) {
		atomic_store(&zones_plain, plain);
		/* capture may have been armed in between. */
		if (plain && atomic_load(&capture_on))
			atomic_store(&zones_plain, false);
	}
	return on & LISTEN_EMIT ? on : LISTEN_RECORD;
}

/* Slow path of the two functions below, without a time stamp counter or for a new name: not
 * inlined, so that the fast path saves no registers for it. */
__attribute__((noinline, cold)) static void push_rare(dck_zone_site *site)
{
	const int to = listeners();

	if (to & LISTEN_EMIT)
		nvtx_emit_push(site->name);
	if (to & LISTEN_RECORD)
		capture_put(LANE_WORD(LANE_PUSH, zone_site_name(site, NULL)));
}

__attribute__((noinline, cold)) static void pop_rare(void)
{
	const int to = listeners();

	if (to & LISTEN_RECORD)
		capture_put(LANE_WORD(LANE_POP, 0));
	if (to & LISTEN_EMIT)
		nvtx_emit_pop();
}

void dck_zone_push(dck_zone_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!id || !zone_is_plain(), 0))
		push_rare(site);
	else
		thread_buffer_put(TICKS_READ(), LANE_WORD(LANE_PUSH, id));
}

void dck_zone_pop(void)
{
	if (!zone_is_plain())
		pop_rare();
	else
		thread_buffer_put(TICKS_READ(), LANE_WORD(LANE_POP, 0));
}

void dck_zone_mark(dck_zone_site *site)
{
	const int to = zone_is_plain() ? LISTEN_RECORD : listeners();

	if (to & LISTEN_RECORD)
		capture_put(LANE_WORD(LANE_MARK, zone_site_name(site, NULL)));
	if (to & LISTEN_EMIT)
		nvtx_emit_mark(site->name);
}

static void zone_put_real(thread_buffer_kind kind, dck_zone_site *site, double value)
{
	const uint64_t bits = thread_buffer_bits(value);
	const int to = zone_is_plain() ? LISTEN_RECORD : listeners();

	if (to & LISTEN_RECORD)
		capture_put_value(LANE_WORD(kind, zone_site_name(site, NULL)), bits);
	if (to & LISTEN_EMIT)
		nvtx_emit_number(site->name, value);
}

void dck_zone_number(dck_zone_site *site, double value)
{
	zone_put_real(LANE_NUMBER, site, value);
}

void dck_zone_counter(dck_zone_site *site, double value)
{
	zone_put_real(LANE_COUNTER, site, value);
}

dck_range dck_zone_start(dck_zone_site *site)
{
	const int to = zone_is_plain() ? LISTEN_RECORD : listeners();
	dck_range range = {to & LISTEN_RECORD ? thread_buffer_range() : 0};

	if (to & LISTEN_RECORD)
		capture_put_value(LANE_WORD(LANE_START, zone_site_name(site, NULL)), range.id);
	if (to & LISTEN_EMIT)
		range.id = nvtx_emit_start(site->name, range.id);
	return range;
}

void dck_zone_end(dck_range range)
{
	const int to = zone_is_plain() ? LISTEN_RECORD : listeners();

	if (range.id && to & LISTEN_RECORD)
		capture_put_value(LANE_WORD(LANE_END, 0), range.id);
	if (range.id && to & LISTEN_EMIT)
		nvtx_emit_end(range.id);
}
