/* waits.c - waits at least 20 ms in each kind of blocking call, and checks the result. It does not
 * use deepclock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
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

/* --- the other thread, while main waits */

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

	/* Querying the holder of a lock must not change the lock's results. */
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
	sigset_t none;
	sigemptyset(&none);
	errno = 0;
	check("sigtimedwait",
	      sigtimedwait(&none, NULL, &(struct timespec){.tv_nsec = MS * 1000000}) == -1 &&
		  errno == EAGAIN);
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

static void *post_later(void *s)
{
	rest();
	sem_post(s);
	return NULL;
}

static void *come_later(void *unused)
{
	rest();
	pthread_barrier_wait(&both);
	return unused;
}

static void semaphores(void)
{
	struct timespec until = in_ms(CLOCK_REALTIME, MS);
	sem_t s;

	check("sem_init", sem_init(&s, 0, 0) == 0);
	errno = 0;
	check("sem_timedwait", sem_timedwait(&s, &until) == -1 && errno == ETIMEDOUT);
	pthread_t t;
	check("pthread_create", pthread_create(&t, NULL, post_later, &s) == 0);
	check("sem_wait", sem_wait(&s) == 0);
	pthread_join(t, NULL);
	t = with(come_later);
	pthread_barrier_wait(&both);
	pthread_join(t, NULL);
}

static void *connect_later(void *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	rest();
	check("connect", connect(fd, address, sizeof(struct sockaddr_un)) == 0);
	return close(fd) == 0 ? NULL : &failed;
}

static void ready_files(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct timeval time = {.tv_usec = MS * 1000};
	pthread_t t;

	/* A unique abstract socket address, without a file. */
	snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "deepclock-%ld",
		 (long)getpid());
	check("bind",
	      bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
	check("poll", poll(&p, 1, MS) == 0);
	check("select", select(0, NULL, NULL, NULL, &time) == 0);
	pthread_create(&t, NULL, connect_later, &address);
	const int from = accept(fd, NULL, NULL);
	check("accept", from >= 0);
	pthread_join(t, NULL);
	close(from);
	close(fd);
}

static void places_in_files(void)
{
	char text[4] = "";
	FILE *f = tmpfile();

	check("tmpfile", f != NULL);
	if (!f)
		return;
	check("pwrite", pwrite(fileno(f), "four", 4, 3) == 4);
	check("pread", pread(fileno(f), text, 4, 3) == 4 && !memcmp(text, "four", 4));
	check("fsync", fsync(fileno(f)) == 0);
	fclose(f);
}

static void *keep_file(void *fd)
{
	flock(*(int *)fd, LOCK_EX);
	pthread_barrier_wait(&both);
	rest();
	flock(*(int *)fd, LOCK_UN);
	return NULL;
}

static void locks_of_files(void)
{
	FILE *f = tmpfile();
	char path[64];
	pthread_t t;

	check("tmpfile", f != NULL);
	if (!f)
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
	int again = open(path, O_RDWR);
	pthread_create(&t, NULL, keep_file, &again);
	pthread_barrier_wait(&both);
	check("flock", flock(fileno(f), LOCK_EX) == 0);
	pthread_join(t, NULL);
	close(again);
	fclose(f);
}

static int keep_mtx(void *m)
{
	mtx_lock(m);
	pthread_barrier_wait(&both);
	rest();
	mtx_unlock(m);
	return 5;
}

static void of_c11(void)
{
	struct timespec until = in_ms(CLOCK_REALTIME, MS);
	thrd_t t;
	mtx_t m;
	cnd_t c;
	int got = 0;

	check("mtx_init", mtx_init(&m, mtx_timed) == thrd_success && cnd_init(&c) == thrd_success);
	check("thrd_create", thrd_create(&t, keep_mtx, &m) == thrd_success);
	pthread_barrier_wait(&both);
	check("mtx_lock", mtx_lock(&m) == thrd_success);
	check("cnd_timedwait", cnd_timedwait(&c, &m, &until) == thrd_timedout);
	mtx_unlock(&m);
	check("thrd_join", thrd_join(t, &got) == thrd_success && got == 5);
	check("thrd_sleep", thrd_sleep(&(struct timespec){.tv_nsec = 1000}, NULL) == 0);
	cnd_destroy(&c);
	mtx_destroy(&m);
}

static int queue, set, event;
static struct message {
	long type;
	char text[8];
} message = {.type = 1};

static void *give_later(void *unused)
{
	rest();
	check("msgsnd", msgsnd(queue, &message, sizeof message.text, 0) == 0);
	rest();
	check("semop up", semop(set, &(struct sembuf){.sem_op = 1}, 1) == 0);
	rest();
	check("eventfd_write", eventfd_write(event, 7) == 0);
	return unused;
}

static void of_system_v(void)
{
	struct message got;
	eventfd_t number = 0;

	queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	event = eventfd(0, 0);
	pthread_t t = with(give_later);
	check("msgrcv", msgrcv(queue, &got, sizeof got.text, 0, 0) == sizeof got.text);
	check("semop", semop(set, &(struct sembuf){.sem_op = -1}, 1) == 0);
	check("eventfd_read", eventfd_read(event, &number) == 0 && number == 7);
	pthread_join(t, NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
	close(event);
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
	semaphores();
	of_system_v();
	ready_files();
	places_in_files();
	locks_of_files();
	of_c11();
	printf("%s\n", failed ? "failed" : "all as it should be");
	return failed;
}
