# Ends that run no destructor, and a jump out of a handler: the time until then counts, and where it was spent.
count-program || exit
cat >left.c <<'C'
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define UNCOUNTED __attribute__((no_instrument_function)) static
UNCOUNTED long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000L + t.tv_nsec / 1000000; }
UNCOUNTED void spend(int ms) { const long end = now() + ms; while (now() < end) ; }
static sigjmp_buf to;
void few(void) { spend(20); }
void handler(int s) { (void)s; siglongjmp(to, 1); }
void jumps(int n)
{
	for (volatile int i = 0; i < n; i++) {
		if (sigsetjmp(to, 1) == 0)
			raise(SIGUSR1);
		few();
	}
}
int main(int n, char **words)
{
	static char stack[1 << 16];
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
	const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	if (n > 2)
		return 1;
	if (!strcmp(words[1], "jump")) {
		sigaltstack(&other, NULL);
		sigaction(SIGUSR1, &action, NULL);
		jumps(5);
		return 0;
	}
	few();
	if (!strcmp(words[1], "child") && fork()) {
		wait(NULL);
		_exit(0);
	}
	spend(200);
	if (!strcmp(words[1], "daemon"))
		return daemon(1, 1);
	quick_exit(0);
}
C
cc -O1 -g -finstrument-functions left.c -o left || exit
for end in quick child daemon; do
	deepclock count --no-history -q --save run.json -- ./left $end >out 2>&1
	echo $end
	record run.json '{row[0]: row[2] for row in t("functions")["rows"]}["main"] > 2 * {row[0]: row[2] for row in t("functions")["rows"]}["few"]' \
		'{row[0]: row[1] for row in t("functions")["rows"]}["main"]'
done
deepclock count --no-history -q --save run.json -- ./left jump >out 2>&1
record run.json 'sorted((row[0], row[1], row[5]) for row in t("functions")["rows"])' \
	'{row[0]: row[3] for row in t("functions")["rows"]}["few"] > 10 * {row[0]: row[2] for row in t("functions")["rows"]}["handler"]'
