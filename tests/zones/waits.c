/* waits.c - waits at least 20 ms for each thing there is to wait for, and checks that it got what
 * it waited for. It knows nothing of deepclock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static int ready, ends[2], failed;

static void check(const char *what, int is)
{
	if (is)
		return;
	printf("%s went wrong\n", what);
	failed = 1;
}

static void rest(void)
{
	struct timespec t = {.tv_nsec = MS * 1000000};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static struct timespec in_ms(clockid_t clock, int ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* --- what the other thread does, while main waits */

static void *keep_mutex(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&both);
	rest();
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *keep_rwlock(void *unused)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_barrier_wait(&both);
	rest();
	pthread_rwlock_unlock(&rwlock);
	return unused;
}

static void *signal_cond(void *unused)
{
	rest();
	pthread_mutex_lock(&mutex);
	ready = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *write_later(void *unused)
{
	rest();
	check("write", write(ends[1], "four", 4) == 4);
	return unused;
}

static void *only_rest(void *unused)
{
	rest();
	return &failed;
	(void)unused;
}

static void *read_for_ever(void *unused)
{
	char byte;

	pthread_barrier_wait(&both);
	check("a read that is cancelled", read(ends[0], &byte, 1) == 1);
	return unused;
}

/* --- main */

static pthread_t with(void *(*f)(void *))
{
	pthread_t thread;

	check("pthread_create", pthread_create(&thread, NULL, f, NULL) == 0);
	return thread;
}

static void locks(void)
{
	pthread_t t = with(keep_mutex);
	pthread_barrier_wait(&both);
	check("pthread_mutex_lock", pthread_mutex_lock(&mutex) == 0);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);

	t = with(keep_rwlock);
	pthread_barrier_wait(&both);
	check("pthread_rwlock_rdlock", pthread_rwlock_rdlock(&rwlock) == 0);
	pthread_rwlock_unlock(&rwlock);
	pthread_join(t, NULL);

	/* What is told of a lock must not be changed by who looks at it. */
	pthread_mutexattr_t attr;
	pthread_mutex_t checked;
	struct timespec until = in_ms(CLOCK_REALTIME, MS);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &attr);
	check("a lock", pthread_mutex_lock(&checked) == 0);
	check("the same lock again", pthread_mutex_lock(&checked) == EDEADLK);
	pthread_mutex_unlock(&checked);
	pthread_rwlock_wrlock(&rwlock);
	t = with(only_rest);
	check("a lock until then", pthread_rwlock_timedrdlock(&rwlock, &until) != 0);
	pthread_join(t, NULL);
	pthread_rwlock_unlock(&rwlock);
}

static void conditions(void)
{
	struct timespec until;

	pthread_mutex_lock(&mutex);
	pthread_t t = with(signal_cond);
	while (!ready)
		pthread_cond_wait(&cond, &mutex);
	until = in_ms(CLOCK_REALTIME, MS);
	check("pthread_cond_timedwait", pthread_cond_timedwait(&cond, &mutex, &until) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
}

static void joins(void)
{
	void *got = NULL;

	check("pthread_join", pthread_join(with(only_rest), &got) == 0 && got == &failed);
}

static void files(void)
{
	char text[8] = "";
	void *got = NULL;

	check("pipe", pipe(ends) == 0);
	pthread_t t = with(write_later);
	check("read", read(ends[0], text, sizeof text) == 4 && !strcmp(text, "four"));
	pthread_join(t, NULL);
	errno = 0;
	check("read of nothing", read(-1, text, 1) == -1 && errno == EBADF);
	t = with(read_for_ever);
	pthread_barrier_wait(&both);
	rest();
	pthread_cancel(t);
	pthread_join(t, &got);
	check("pthread_cancel", got == PTHREAD_CANCELED);
}

static void on_alarm(int unused)
{
	(void)unused;
}

static void sleeps(void)
{
	struct sigaction act = {.sa_handler = on_alarm};
	struct timespec t = {.tv_sec = 60}, left = {0};

	check("usleep", usleep(MS * 1000) == 0);
	sigaction(SIGALRM, &act, NULL);
	alarm(1);
	errno = 0;
	check("a signal", nanosleep(&t, &left) == -1 && errno == EINTR && left.tv_sec > 0);
	check("clock_nanosleep",
	      clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 1}, NULL) == 0);
	errno = 0;
	check("a time that is none",
	      clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = -1}, NULL) ==
		      EINVAL &&
		  errno == 0);
}

static void children(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		rest();
		_exit(7);
	}
	check("waitpid", waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
	errno = 0;
	check("no child", wait(&status) == -1 && errno == ECHILD);
}

int main(void)
{
	pthread_barrier_init(&both, NULL, 2);
	locks();
	conditions();
	joins();
	files();
	sleeps();
	children();
	printf("%s\n", failed ? "failed" : "all as it should be");
	return failed;
}
