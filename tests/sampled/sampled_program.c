/* sampled_program.c - a program with known shares of CPU time: heavy() does 70 parts of the work,
 * light() 30, in counted steps of equal duration.
 *
 *	sampled_program
 *[shares|threads|children|deep|signals|alarms|urgent|again|closed|fail|crash|wait|timed|endless|family]
 *[mainless|generated|named] [ROUNDS]
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 100, STEPS = 10000, SIZES = 1000, THREADS = 3, DEPTH = 700, PAUSES = 20 };

static volatile uint64_t sink;
static long rounds = 600;

#define APART static __attribute__((noinline))

/* A macro, because a function would be reported as inlined. */
#define WORK(steps)                                                \
	do {                                                       \
		uint64_t x = 1;                                    \
		for (long i_ = 0; i_ < (steps); i_++)              \
			x = x * UINT64_C(6364136223846793005) + 1; \
		sink += x;                                         \
	} while (0)

/* n: thousandths of a round. */
APART void heavy(long n)
{
	WORK(n * 70 * STEPS / SIZES);
}

APART void light(long n)
{
	WORK(n * 30 * STEPS / SIZES);
}

/* Works in blocks of random size, 0 to 2 rounds in thousandths: a round takes about a millisecond,
 * and samples at multiples of its time, or at the kernel's ticks, would all hit the same point of
 * it. */
APART int shares(void)
{
	static _Thread_local uint32_t chance = 1; /* continues in the next call */

	for (long left = rounds * SIZES, n; left > 0; left -= n) {
		chance = chance * 1664525 + 1013904223;
		n = 1 + (long)((chance >> 16) % (2 * SIZES));
		n = n < left ? n : left;
		heavy(n);
		light(n);
	}
	return 0;
}

static void *one_thread(void *unused)
{
	shares();
	return unused;
}

static int threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, one_thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}

APART int in_child(void)
{
	return shares();
}

/* Starts one child by fork() alone and one by fork() and exec(). */
static int children(char *program)
{
	char again_as[] = "shares", size[24], *again[] = {program, again_as, size, NULL};

	snprintf(size, sizeof size, "%ld", rounds);

	for (int i = 0; i < 2; i++) {
		const pid_t pid = fork();

		if (pid == 0 && i == 0)
			_exit(in_child());
		if (pid == 0) {
			execv(program, again);
			_exit(127);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

APART int deep(int left)
{
	volatile char room[200] = {0};

	if (left == 0)
		return shares();
	const int ret = deep(left - 1);
	return ret + room[left % 200];
}

static volatile sig_atomic_t profs;

static void on_prof(int sig)
{
	(void)sig;
	profs++;
}

static void on_small_stack(int sig)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (sig &&
	       (now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < 50000000);
}

/* Lets a handler run on an alternate stack that has room for the kernel's frames but not for the
 * sampler's handler, next to a page that this must not touch. */
static void small_stack(void)
{
	enum { PAGE = 4096, ROOM = 8 * PAGE, OWN = 1024 };
	const size_t frame = getauxval(AT_MINSIGSTKSZ), size = 2 * (frame ? frame : PAGE) + OWN;
	const struct sigaction action = {.sa_handler = on_small_stack, .sa_flags = SA_ONSTACK};
	char *p = mmap(NULL, PAGE + ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	on_small_stack(0); /* binds what it calls: the loader needs more */
	sigaction(SIGUSR2, &action, NULL);
	if (p != MAP_FAILED && size <= ROOM &&
	    mprotect(p + PAGE, ROOM, PROT_READ | PROT_WRITE) == 0)
		(void)sigaltstack(&(stack_t){.ss_sp = p + PAGE, .ss_size = size}, NULL);
}

/* A program that profiles itself and blocks all signals in a thread; its calls must not fail. */
static int own_signals(void)
{
	struct sigaction action = {.sa_handler = on_prof, .sa_flags = SA_RESTART};
	const struct itimerval every = {{0, 10000}, {0, 10000}};
	const struct timespec pause = {0, 2000000};
	int interrupted = 0;
	sigset_t all;

	small_stack();
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	sigfillset(&all);
	sigdelset(&all, SIGPROF);
	sigdelset(&all, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	errno = 4711;
	shares();
	const int kept = errno == 4711;
	setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
	for (int i = 0; i < PAUSES; i++)
		interrupted += nanosleep(&pause, NULL) != 0;
	raise(SIGUSR2);
	printf("SIGPROF %s, errno %s, %d sleeps interrupted\n", profs > 3 ? "came" : "did not come",
	       kept ? "kept" : "lost", interrupted);
	return 0;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* A timer of the program, with the signal that the sampler's timers take first. */
static int own_timer(void)
{
	const int number = SIGRTMAX - 3;
	const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	const struct itimerspec every = {{0, 2000000}, {0, 2000000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
	int timer;

	sigaction(number, &action, NULL);
	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) ||
	    syscall(SYS_timer_settime, timer, 0, &every, NULL))
		return 1;
	shares();
	printf("the signals of its timer %s\n", alarms > 10 ? "came" : "did not come");
	return 0;
}

static volatile sig_atomic_t urgents;

static void on_urgent(int sig)
{
	(void)sig;
	urgents++;
}

/* Installs a handler for SIGURG in two ways; no other process sends this signal. */
static int urgent(void)
{
	struct sigaction action = {.sa_handler = on_urgent}, old;
	enum { EACH = 20 };

	signal(SIGURG, on_urgent);
	for (int i = 0; i < EACH; i++)
		raise(SIGURG);
	sigaction(SIGURG, &action, &old);
	const int kept = old.sa_handler == on_urgent;
	shares();
	for (int i = 0; i < EACH; i++)
		raise(SIGURG);
	/* A signal that arrives while another is pending merges with it. */
	printf("%s signals came, the handler was %s\n", urgents > EACH ? "the" : "no",
	       kept ? "kept" : "lost");
	return 0;
}

/* Executes itself repeatedly by system call, past libc, so that no wrapper can intervene. */
static int again(char *program)
{
	char left[24], word[] = "again", *words[] = {program, word, left, NULL};

	if (rounds == 0)
		return puts("it was never killed") < 0;
	snprintf(left, sizeof left, "%ld", rounds - 1);
	heavy(SIZES);
	light(SIZES);
	syscall(SYS_execve, "/proc/self/exe", words, environ);
	return 1;
}

/* Closes all descriptors, as a daemon does at its start. */
static int closed(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	threads();
	return shares();
}

APART void nap(void)
{
	usleep(150000);
	sink++; /* prevents a tail call */
}

#if defined(__x86_64__) && !defined(__clang__)
/* As in C libraries with frame pointers: the frame of the waiting function is found by its frame
 * pointer alone. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void wait_framed(void)
{
	const struct timespec t = {0, 150000000};
	long got = SYS_nanosleep;

	__asm__ volatile("syscall" : "+a"(got) : "D"(&t), "S"(NULL) : "rcx", "r11", "memory");
}
#else
APART void wait_framed(void)
{
	usleep(150000);
}
#endif

APART void nap_framed(void)
{
	wait_framed();
	sink++;
}

static void *naps(void *unused)
{
	for (int i = 0; i < 4; i++) {
		nap();
		nap_framed();
	}
	return unused;
}

/* One thread sleeps, another works. */
static int waits(void)
{
	pthread_t t;

	pthread_create(&t, NULL, naps, NULL);
	shares();
	pthread_join(t, NULL);
	return 0;
}

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Prints the CPU time of the process and the elapsed time, to compare sampling methods. */
static int timed(void)
{
	const long long begin = clock_ns(CLOCK_MONOTONIC);
	const int ret = shares();

	printf("took %lld %lld\n", clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	       clock_ns(CLOCK_MONOTONIC) - begin);
	return ret;
}

/* Works until a signal ends it; prints "ready" when it has started. "family": a child and a
 * grandchild do all of the work and end with it. */
static _Noreturn void endless(bool family)
{
	for (int i = 0; family && i < 2; i++) {
		const pid_t parent = getpid();

		if (fork() != 0)
			for (;;)
				pause();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		shares();
}

static void *endless_thread(void *unused)
{
	for (;;)
		shares();
	return unused;
}

/* The same where the main thread has ended. */
static _Noreturn void mainless(void)
{
	pthread_t t;

	puts("ready");
	fflush(stdout);
	pthread_create(&t, NULL, endless_thread, NULL);
	pthread_exit(NULL);
}

/* Code that the program writes, as a JIT compiler does: it counts its argument down to 0. named:
 * its name is in the map that profilers read. */
static int generated(bool named)
{
#if defined __x86_64__
	/* again: dec rdi; jnz again; ret */
	static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
#elif defined __aarch64__
	/* again: subs x0, x0, #1; b.ne again; ret */
	static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#else
	static const unsigned char code[1];
	return 77;
#endif
	void *at =
	    mmap(NULL, sizeof code, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	union {
		void *data;
		void (*call)(uint64_t n);
	} written = {at};

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, code, sizeof code);
	__builtin___clear_cache(at, (char *)at + sizeof code);
	if (mprotect(at, sizeof code, PROT_READ | PROT_EXEC) != 0)
		return 1;
	snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
	if (named) {
		FILE *map = fopen(path, "w");

		if (!map)
			return 1;
		fprintf(map, "%lx %zx counts_down\n", (unsigned long)(uintptr_t)at, sizeof code);
		fclose(map);
		puts(path);
	}
	written.call((uint64_t)rounds * 1000000);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "shares";

	if (argc > 2)
		rounds = atol(argv[2]);
	if (!strcmp(what, "shares"))
		return shares();
	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "children"))
		return children(argv[0]);
	if (!strcmp(what, "deep"))
		return deep(DEPTH);
	if (!strcmp(what, "signals"))
		return own_signals();
	if (!strcmp(what, "alarms"))
		return own_timer();
	if (!strcmp(what, "urgent"))
		return urgent();
	if (!strcmp(what, "again"))
		return again(argv[0]);
	if (!strcmp(what, "closed"))
		return closed();
	if (!strcmp(what, "wait"))
		return waits();
	if (!strcmp(what, "timed"))
		return timed();
	if (!strcmp(what, "endless"))
		endless(false);
	if (!strcmp(what, "family"))
		endless(true);
	if (!strcmp(what, "mainless"))
		mainless();
	if (!strcmp(what, "generated") || !strcmp(what, "named"))
		return generated(!strcmp(what, "named"));
	if (!strcmp(what, "fail"))
		return shares() + 3;
	if (!strcmp(what, "crash")) {
		shares();
		raise(SIGSEGV);
	}
	return 99;
}
