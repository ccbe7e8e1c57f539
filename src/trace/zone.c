/* zone.c - what the macros of zone.h call: the clock is read, an entry is written. All else is in
 * lane.c (threads and their blocks), zone_names.c (the names), drain.c (what becomes of the
 * events).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include "trace/lane.h"
#include "trace/zone_names.h"

#include <string.h>

static uint32_t name_of(dck_zone_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	if (!id) {
		id = zone_name_intern(site->name, site->file, site->line);
		__atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
	}
	return id;
}

/* What the two below do where there is no time stamp counter or the name is new: apart from them,
 * so that they need not save registers for it. */
__attribute__((noinline, cold)) static void push_rare(dck_zone_site *site)
{
	uint64_t now = ticks_now();

	lane_put(now, LANE_WORD(LANE_PUSH, name_of(site)));
}

__attribute__((noinline, cold)) static void pop_rare(void)
{
	lane_put(ticks_now(), LANE_WORD(LANE_POP, 0));
}

void dck_zone_push(dck_zone_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!id || !TICKS_QUICK(), 0))
		push_rare(site);
	else
		lane_put(TICKS_READ(), LANE_WORD(LANE_PUSH, id));
}

void dck_zone_pop(void)
{
	if (__builtin_expect(!TICKS_QUICK(), 0))
		pop_rare();
	else
		lane_put(TICKS_READ(), LANE_WORD(LANE_POP, 0));
}

void dck_zone_mark(dck_zone_site *site)
{
	uint64_t now = ticks_now();

	lane_put(now, LANE_WORD(LANE_MARK, name_of(site)));
}

static void put_real(lane_kind kind, dck_zone_site *site, double value)
{
	uint64_t now = ticks_now(), bits;

	memcpy(&bits, &value, sizeof bits);
	lane_put_value(now, LANE_WORD(kind, name_of(site)), bits);
}

void dck_zone_number(dck_zone_site *site, double value)
{
	put_real(LANE_NUMBER, site, value);
}

void dck_zone_counter(dck_zone_site *site, double value)
{
	put_real(LANE_COUNTER, site, value);
}

/* A range's number holds its thread's, so that no two are alike; of 2^32 from one thread the first
 * has long ended. */
dck_range dck_zone_start(dck_zone_site *site)
{
	uint64_t now = ticks_now();
	uint32_t serial = lane_serial();
	dck_range range = {serial ? (uint64_t)serial << 32 | (uint32_t)++lane_me.ranges : 0};

	lane_put_value(now, LANE_WORD(LANE_START, name_of(site)), range.id);
	return range;
}

void dck_zone_end(dck_range range)
{
	uint64_t now = ticks_now();

	if (range.id)
		lane_put_value(now, LANE_WORD(LANE_END, 0), range.id);
}
