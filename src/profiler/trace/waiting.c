/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/waiting.h"

#include "profiler/timeline/timeline.h"
#include "profiler/trace/capture.h"
#include "profiler/trace/thread_buffer.h"
#include "profiler/trace/zone_names.h"

#include <errno.h>
#include <string.h>

static _Atomic uint64_t shortest_wait = UINT64_MAX, shortest_recorded = UINT64_MAX;

void waits_from(uint64_t ticks)
{
	atomic_store(&shortest_wait, ticks);
	if (ticks != UINT64_MAX)
		atomic_store(&shortest_recorded, ticks);
}

bool waits_are_recorded(uint64_t ticks)
{
	return ticks >= atomic_load(&shortest_recorded);
}

static const dck_recorder *_Atomic handed_to;

void waits_delegate_to(const dck_recorder *to)
{
	atomic_store(&handed_to, to);
}

const dck_recorder *waits_handed_to(void)
{
	return atomic_load_explicit(&handed_to, memory_order_acquire);
}

static bool calls_observed;

void dck_waits_seen(void)
{
	calls_observed = true;
}

bool waits_seen(void)
{
	return calls_observed;
}

static void waiting_number_put(uint64_t ticks, dck_zone_site *site, double value)
{
	thread_buffer_put_value(ticks, LANE_WORD(LANE_NUMBER, zone_site_name(site, NULL)),
				thread_buffer_bits(value));
}

/* Publishes the open wait to the drain. */
static void waiting_open_put(thread_buffer_self *me, uint32_t name, uint64_t begin, uintptr_t at)
{
	me->wait_at = at;
	atomic_store_explicit(&me->thread_buffer->wait_name, name, memory_order_relaxed);
	atomic_store_explicit(&me->thread_buffer->wait_begin, begin, memory_order_release);
}

static bool has_lane(void)
{
	const int error = errno;
	const bool has = thread_buffer_serial() != 0;

	errno = error;
	return has;
}

void dck_wait_begin(dck_wait *w)
{
	thread_buffer_self *me = &thread_buffer_me;

	w->begin = w->outer_begin = 0;
	if (atomic_load_explicit(&shortest_wait, memory_order_relaxed) == UINT64_MAX) {
		if (waits_handed_to())
			waits_handed_to()->wait_begin(w);
		return;
	}
	if (me->unseen || me->busy || me->next == me->quiet || (capture_armed() && !capture_open()))
		return;
	if (me->thread_buffer || has_lane()) {
		/* One further down the stack was left by a jump, and is over. */
		if ((uintptr_t)w < me->wait_at) {
			w->outer_begin = atomic_load_explicit(&me->thread_buffer->wait_begin,
							      memory_order_relaxed);
			w->outer_name = atomic_load_explicit(&me->thread_buffer->wait_name,
							     memory_order_relaxed);
			w->outer_at = me->wait_at;
		}
		w->begin = ticks_now();
		waiting_open_put(me, zone_site_name(w->what, WAITS_CATEGORY), w->begin,
				 (uintptr_t)w);
	}
}

void dck_wait_end(dck_wait *w)
{
	static dck_zone_site fd_name = {"fd", "", 0, 0}, bytes_name = {"bytes", "", 0, 0};
	thread_buffer_self *me = &thread_buffer_me;
	const uint64_t now = w->begin ? ticks_now() : 0;

	if (!w->begin)
		return;
	if (waits_handed_to()) {
		waits_handed_to()->wait_end(w);
		return;
	}
	if (me->thread_buffer)
		waiting_open_put(me, w->outer_name, w->outer_begin,
				 w->outer_begin ? w->outer_at : 0);
	if (now <= w->begin ||
	    now - w->begin < atomic_load_explicit(&shortest_wait, memory_order_relaxed))
		return;
	const int was = errno;
	thread_buffer_put(w->begin, LANE_WORD(LANE_PUSH, zone_site_name(w->what, WAITS_CATEGORY)));
	if (w->fd >= 0)
		waiting_number_put(now, &fd_name, w->fd);
	if (w->bytes >= 0)
		waiting_number_put(now, &bytes_name, (double)w->bytes);
	thread_buffer_put(now, LANE_WORD(LANE_POP, 0));
	errno = was;
}
