/* count_floor.c - what -finstrument-functions costs whatever the hooks do: hooks that do nothing,
 * or, with STAMPS, that read the time stamp counter and charge the difference, the least that exact
 * times need. count_peers.py puts them in front of the program instead of deepclock's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#ifdef STAMPS
#include <x86intrin.h>
#endif

#define HOOK __attribute__((visibility("default"))) void

HOOK __cyg_profile_func_enter(void *function, void *site);
HOOK __cyg_profile_func_exit(void *function, void *site);

static inline void charge(void)
{
#ifdef STAMPS
	static _Thread_local __attribute__((tls_model("initial-exec"))) uint64_t last, sum;
	const uint64_t now = __rdtsc();

	sum += now - last;
	last = now;
#endif
}

HOOK __cyg_profile_func_enter(void *function, void *site)
{
	(void)function;
	(void)site;
	charge();
}

HOOK __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
	charge();
}
