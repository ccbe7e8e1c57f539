# Programs that the program starts without the library are named: a cleared environment, a static program; by each way to start one.
heap-program || exit
printf 'int main(void) { return 0; }\n' >main.c
cc main.c -o dynamic && cc main.c -o other && cp dynamic more || exit
cc -static main.c -o static 2>/dev/null || { echo "there is no static C library"; exit 77; }
cat >starts.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int was_started;
static void *spawns(void *unused)
{
	char *empty[] = {NULL}, *words[] = {"other", NULL};
	pid_t child;

	(void)unused;
	if (!posix_spawnp(&child, "other", NULL, NULL, words, empty)) {
		was_started = 1;
		waitpid(child, NULL, 0);
	}
	return NULL;
}
static void *is_cancelled(void *unused)
{
	pthread_cancel(pthread_self());
	spawns(unused);
	return NULL;
}
static int cancelled_thread(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, is_cancelled, NULL) || pthread_join(t, NULL) || !was_started;
}
#define TEN "", "", "", "", "", "", "", "", "", ""
#define HUNDRED TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN, TEN
#define THOUSAND HUNDRED, HUNDRED, HUNDRED, HUNDRED, HUNDRED, HUNDRED, HUNDRED, HUNDRED, HUNDRED, HUNDRED
static int small_thread(void)
{
	pthread_attr_t a;
	pthread_t t;

	return pthread_attr_init(&a) || pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN) ||
	       pthread_create(&t, &a, spawns, NULL) || pthread_join(t, NULL);
}
int main(int argc, char **argv)
{
	char *empty[] = {NULL}, *words[] = {"other", NULL};
	const char *how = argc > 1 ? argv[1] : "";
	pid_t child;

	setenv("PATH", ".:/bin", 1);
	if (!strcmp(how, "kept"))
		return system("./other");
	if (!strcmp(how, "spawn"))
		return posix_spawnp(&child, "other", NULL, NULL, words, empty) || waitpid(child, NULL, 0) < 0;
	if (!strcmp(how, "unset") && unsetenv("LD_PRELOAD") == 0)
		execlp("other", "other", (char *)NULL);
	if (!strcmp(how, "execle"))
		execle("./other", "other", (char *)NULL, empty);
	if (!strcmp(how, "fexecve"))
		fexecve(open("other", O_RDONLY), words, empty);
	if (!strcmp(how, "default") && unsetenv("PATH") == 0 && unsetenv("LD_PRELOAD") == 0)
		execlp("true", "true", (char *)NULL);
	if (!strcmp(how, "thread"))
		return small_thread();
	if (!strcmp(how, "cancelled"))
		return cancelled_thread();
	if (!strcmp(how, "many"))
		execle("./other", "other", THOUSAND, HUNDRED, (char *)NULL, empty);
	if (!strcmp(how, "absent"))
		execve("./nothing", words, empty);
	if (!strcmp(how, "failed")) {
		fexecve(open("text", O_RDONLY), words, empty);
		posix_spawn(&child, "./text", NULL, NULL, words, empty);
	}
	return strcmp(how, "absent") && strcmp(how, "failed");
}
END
cc -pthread starts.c -o starts && echo text >text && chmod +x text || exit
of() {
	deepclock memory --quiet --save run.json -- "$@" >out 2>err || cat out err
	record run.json '[n["text"].split(";")[0] for n in r["notes"] if n["code"] == "programs-not-recorded"]'
}
for how in kept spawn unset execle fexecve default thread cancelled many absent failed; do
	of ./starts $how
done
of sh -c 'env -i ./dynamic; env -i ./more; ./other'
of sh -c './static; true'
