/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/clock_snapshot.h"

#include "os/os.h"
#include "profiler/trace/ticks.h"

uint64_t ticks_ns_q32 = UINT64_C(1) << 32;
#if defined(__x86_64__)
bool ticks_are_tsc;
#endif

enum { TRIES = 8 };

typedef struct reading {
	uint64_t ns;
	uint64_t ticks; /* in the middle of the closest pair */
	uint64_t apart; /* distance of that pair, in ticks */
} reading;

static reading read_closest(uint64_t (*clock_ns)(void))
{
	reading best = {.apart = UINT64_MAX};

	for (int i = 0; i < TRIES; i++) {
		const uint64_t before = ticks_now(), ns = clock_ns(), after = ticks_now();

		if (after - before < best.apart)
			best = (reading){ns, before + (after - before) / 2, after - before};
	}
	return best;
}

void clock_snapshot_pair(uint64_t *ret_ns, uint64_t *ret_ticks)
{
	const reading r = read_closest(os_now_ns);

	*ret_ns = r.ns;
	*ret_ticks = r.ticks;
}

static uint64_t unix_ns(void)
{
	return (uint64_t)os_unix_ns();
}

void clock_snapshot(double ns_per_tick, uint64_t *ret_ticks, trace_header *ret)
{
	const reading all[] = {read_closest(os_now_ns), read_closest(os_boottime_ns),
			       read_closest(unix_ns)};
	enum { N = sizeof all / sizeof *all };
	const uint64_t now = ticks_now();
	uint64_t at[N], apart = 0;

	for (int i = 0; i < N; i++) {
		at[i] = all[i].ns + (uint64_t)((double)(now - all[i].ticks) * ns_per_tick);
		apart = all[i].apart > apart ? all[i].apart : apart;
	}
	*ret = (trace_header){.monotonic_ns = at[0],
			      .boottime_ns = at[1],
			      .unix_ns = (int64_t)at[2],
			      /* A clock's own step is a nanosecond. */
			      .width_ns = (uint64_t)((double)apart * ns_per_tick / 2) + 1,
			      .unix_error_ns = os_unix_error_ns()};
	os_boot_id(ret->boot);
	*ret_ticks = now;
}
