# Threads that end before their first sample: the note that most CPU time has no sample has at most three lines,
# so that the short text never drops it.
zone-program zone || exit
cat >short.c <<'C'
#include <pthread.h>
static volatile long sum;
static void *work(void *unused)
{
	for (int i = 0; i < 300000; i++)
		sum += i;
	return unused;
}
int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 3000; i++)
		if (pthread_create(&thread, 0, work, 0) || pthread_join(thread, 0))
			return 1;
	return 0;
}
C
${CC:-cc} -O1 -pthread short.c -o short 2>err || { echo "there is no compiler"; exit 77; }
deepclock sample --no-history --source perf -- ./short >out 2>err || { grep -q perf_event err && { cat err; exit 77; }; cat err; }
awk '/^(warning|note|the rest)/ { on = /the samples represent/ } on { n++ } END { print (n <= 3 && n > 0) }' out
grep -cE 'rate [0-9]+' out
# Inside the program it is the same.
deepclock sample --no-history --source in-process -- ./short >out 2>err || { grep -q perf_event err && exit; cat err; }
grep -cE 'rate [0-9]+' out
