# The handler of samples has room where a program's threads have the smallest stacks, and its handlers a small one;
# stacks of the default size keep it.
sampled-program || exit
cat >stacks.c <<'C'
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile double sum;
static void works(int n) { for (int i = 0; i < n; i++) sum += i; }
static __attribute__((noinline)) void nests(int deep)
{
	char room[800];
	memset(room, deep, sizeof room);
	if (deep)
		nests(deep - 1);
	else
		works(5000000);
	sum += room[3];
}
static void *runs(void *unused) { nests(5); return unused; }
static void *nests_far(void *unused) { nests(500); return unused; }
static void handler(int s) { works(3000000 + 0 * s); }
int main(void)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	const stack_t small = {.ss_sp = malloc(65536), .ss_size = 4096};
	pthread_t thread;
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
	for (int i = 0; i < 5; i++)
		if (pthread_create(&thread, &a, runs, NULL) == 0)
			pthread_join(thread, NULL);
	pthread_attr_init(&a); /* as Python's threads: no size is set */
	if (pthread_create(&thread, &a, nests_far, NULL) == 0)
		pthread_join(thread, NULL);
	if (sigaltstack(&small, NULL)) { /* larger frames */
		puts("done");
		return 0;
	}
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	puts("done");
	return 0;
}
C
cc -O1 -g stacks.c -lpthread -o stacks || exit
for one in timer $(sampled-by); do
	deepclock sample --quiet --source $one --save run.json -- ./stacks 2>why.txt | head -1 || cat why.txt
	record run.json 'f("result", "exit_status")' 'f("sample", "samples") > 0'
done | sort -u
