# Functions of older standards take the sampler's signal from no thread, nor does a mask of a thread's attributes.
sampled-program || exit # not under a sanitizer
by=$(sampled-by) || { echo "$by"; exit 77; }
case $by in *perf*) ;; *) echo "perf_event, whose signal is SIGURG, cannot be used here" && exit 77 ;; esac
cat >older.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static volatile int got;
static void on(int sig) { got += sig == SIGURG; }
static void *works(void *unused)
{
	volatile double x = 0;

	while (clock() < CLOCKS_PER_SEC / 20)
		for (int i = 0; i < 10000; i++)
			x += i;
	return unused;
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	pthread_attr_init(&attr);
	if (!strcmp(how, "sysv_signal"))
		sysv_signal(SIGURG, on);
	else if (!strcmp(how, "sigset"))
		sigset(SIGURG, on);
	else if (!strcmp(how, "hold"))
		sigset(SIGURG, SIG_HOLD);
	else if (!strcmp(how, "sighold"))
		sighold(SIGURG);
	else if (!strcmp(how, "sigignore"))
		sigignore(SIGURG);
	else if (!strcmp(how, "sigsetmask"))
		sigsetmask(-1);
	else if (!strcmp(how, "attributes"))
		pthread_attr_setsigmask_np(&attr, &all);
	pthread_create(&thread, &attr, works, NULL);
	pthread_join(thread, NULL);
	printf("%s: %d signals\n", how, got);
	return 0;
}
C
cc -w -D_GNU_SOURCE -pthread older.c -o older 2>/dev/null || { echo "the C library has not all of these functions"; exit 77; }
for how in sysv_signal sigset sighold sigsetmask attributes; do
	deepclock sample --quiet --source in-process --save run.json -- ./older $how | head -1
	record run.json 't("functions")["rows"][0][0]'
done
