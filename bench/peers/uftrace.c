/* uftrace.c - a range of uftrace: a function that is compiled with -finstrument-functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

__attribute__((noinline)) static void range(void)
{
	__asm__ volatile("" : : : "memory");
}

PAIR_OWN void ranges(void)
{
	for (int i = 0; i < PAIR_TIMES; i++)
		range();
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	return argc > 1 ? pair_run(ranges, argv[1]) : 2;
}
