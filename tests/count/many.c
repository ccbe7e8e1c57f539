/* many.c N - N threads that call functions concurrently.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 4000, CALLS = 1000 };

__attribute__((noinline)) static void leaf(volatile int *sink)
{
	(*sink)++;
}

static void *work(void *arg)
{
	volatile int sink = 0;

	for (int i = 0; i < CALLS; i++)
		leaf(&sink);
	return arg;
}

int main(int argc, char **argv)
{
	static pthread_t threads[THREADS_MAX];
	int n = argc > 1 ? atoi(argv[1]) : 0, made = 0;

	while (made < n && made < THREADS_MAX && !pthread_create(&threads[made], NULL, work, NULL))
		made++;
	for (int i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	printf("%d threads\n", made);
	return made == n ? 0 : 1;
}
