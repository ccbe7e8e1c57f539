/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/waiting.h"

#include "timeline/timeline.h"
#include "trace/lane.h"
#include "trace/zone_names.h"

#include <errno.h>
#include <string.h>

static _Atomic uint64_t least = UINT64_MAX;

void waits_from(uint64_t ticks)
{
	atomic_store(&least, ticks);
}

static bool seen;

void dck_waits_seen(void)
{
	seen = true;
}

bool waits_seen(void)
{
	return seen;
}

uint64_t dck_wait_begin(void)
{
	if (atomic_load_explicit(&least, memory_order_relaxed) == UINT64_MAX || lane_me.unseen ||
	    lane_me.next == lane_me.quiet)
		return 0;
	return ticks_now();
}

static uint32_t name_of(dck_zone_site *site, const char *category)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

	if (!id) {
		id = zone_name_intern_in(category, site->name, site->file, site->line);
		__atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
	}
	return id;
}

static void number_put(uint64_t ticks, dck_zone_site *site, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	lane_put_value(ticks, LANE_WORD(LANE_NUMBER, name_of(site, NULL)), bits);
}

void dck_wait_end(dck_zone_site *what, uint64_t begin, int fd, int64_t bytes)
{
	static dck_zone_site fd_name = {"fd", "", 0, 0}, bytes_name = {"bytes", "", 0, 0};
	const uint64_t now = begin ? ticks_now() : 0;

	if (!begin || now <= begin ||
	    now - begin < atomic_load_explicit(&least, memory_order_relaxed))
		return;
	const int was = errno;
	lane_put(begin, LANE_WORD(LANE_PUSH, name_of(what, WAITS_CATEGORY)));
	if (fd >= 0)
		number_put(now, &fd_name, fd);
	if (bytes >= 0)
		number_put(now, &bytes_name, (double)bytes);
	lane_put(now, LANE_WORD(LANE_POP, 0));
	errno = was;
}
