/* heap_work.c - a program that mostly allocates: heap_work N makes N blocks of up to 200 bytes as
 * lists of a hundred, each written to, at a depth of ten calls; heap_work N loop only calls
 * malloc() and free() N times.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

enum { EACH = 100 };

typedef struct item {
	struct item *next;
	char text[];
} item;

static uint64_t seed = 1;

static APART item *make(item *next)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	const size_t n = (size_t)(seed >> 33) % 200;
	item *made = malloc(sizeof *made + n);

	if (!made)
		exit(1);
	made->next = next;
	memset(made->text, 1, n);
	return made;
}

static APART void work(int depth)
{
	item *list = NULL;

	if (depth > 0) {
		work(depth - 1);
		__asm__ volatile("" ::: "memory"); /* prevents a tail call */
		return;
	}
	for (int i = 0; i < EACH; i++)
		list = make(list);
	while (list) {
		item *next = list->next;

		free(list);
		list = next;
	}
}

static void loop(long n)
{
	for (long i = 0; i < n; i++) {
		void *p = malloc(24 + (size_t)(i & 63));

		__asm__ volatile("" ::"r"(p) : "memory"); /* keeps the allocation */
		free(p);
	}
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 10000000;

	if (argc > 2) {
		loop(n);
		return 0;
	}
	for (long i = 0; i < n / EACH; i++)
		work(7);
	return 0;
}
