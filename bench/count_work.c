/* count_work.c - a program that mostly calls functions, so that counting takes most of its time.
 * count_peers.py builds it plain, with -finstrument-functions and with -pg.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

__attribute__((noinline)) static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
	volatile int result = fib(argc > 1 ? atoi(argv[1]) : 20);

	return result < 0;
}
