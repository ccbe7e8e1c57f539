/* program.c - a program with known calls, built with -finstrument-functions, which `deepclock
 * count` runs in tests/cli/count. Each argument selects one part.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile int done;

APART static void leaf(void)
{
	done++;
}

APART static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

APART static int odd(int n);
APART static int even(int n)
{
	const int ret = n == 0 ? 1 : odd(n - 1);
	done++; /* keeps the call above from becoming a tail jump */
	return ret;
}
APART static int odd(int n)
{
	const int ret = n == 0 ? 0 : even(n - 1);
	done++;
	return ret;
}

static jmp_buf back;

APART static void thrower(int n)
{
	if (n == 0)
		longjmp(back, 1);
	if (n < 100) /* always true */
		thrower(n - 1);
	done++;
}

APART static void after(void)
{
	volatile char room[2000];
	room[0] = 1;
	done += room[0];
}

APART static void catcher(void)
{
	if (setjmp(back) == 0)
		thrower(5);
	after();
}

static void *thread(void *p)
{
	for (int i = 0; i < 1000; i++)
		leaf();
	return p;
}

static void *leaves(void *p)
{
	leaf();
	pthread_exit(p);
}

static void threads(void *(*of)(void *), int n)
{
	for (int round = 0; round < n; round++) {
		pthread_t t[8];

		for (int i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, of, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
	}
}

static void children(void)
{
	for (int i = 0; i < 4; i++) {
		const pid_t child = fork();

		if (child == 0) {
			leaf();
			if (i == 0)
				_exit(0);
			if (i == 1)
				exit(0);
			if (i == 2)
				raise(SIGKILL);
			execl("/bin/true", "true", (char *)NULL);
		}
		waitpid(child, NULL, 0);
	}
}

/* A thread without counted code makes a child, which has some. */
static __attribute__((no_instrument_function)) void *forks(void *p)
{
	const pid_t child = fork();

	if (child == 0) {
		leaf();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return p;
}

static void outside(void)
{
	pthread_t t;

	pthread_create(&t, NULL, forks, NULL);
	pthread_join(t, NULL);
}

/* Parent and child run at the same time. */
static void unprepared(void)
{
	pid_t (*make)(void) = NULL;

	*(void **)&make = dlsym(RTLD_DEFAULT, "_Fork");
	const pid_t child = make ? make() : fork();
	for (int i = 0; i < 100000; i++)
		leaf();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* The parent continues at once, deeper and out again, while its child starts. */
static void busy_parent(void)
{
	for (int i = 0; i < 40; i++) {
		const pid_t child = fork();

		if (child == 0) {
			leaf();
			_exit(0);
		}
		while (waitpid(child, NULL, WNOHANG) == 0)
			even(400);
	}
}

static void libraries(char **names)
{
	for (int i = 0; i < 6; i++) {
		void *l = dlopen(names[i % 2], RTLD_NOW | RTLD_LOCAL);
		void (*f)(void) = NULL;

		if (!l) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		*(void **)&f = dlsym(l, "plugged");
		f();
		dlclose(l);
	}
}

/* More unloads than the reader once had rows for. */
static void reload(const char *name)
{
	for (int i = 0; i < 5000; i++) {
		void *l = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		void (*f)(void) = NULL;

		if (!l || !(*(void **)&f = dlsym(l, "plugged")))
			exit(1);
		f();
		dlclose(l);
		leaf();
	}
}

static int on_module(struct dl_phdr_info *info, size_t size, void *self)
{
	(void)info;
	(void)size;
	(void)self;
	for (volatile int i = 0; i < 5000; i++)
		;
	leaf(); /* maybe its first call since an unload */
	return 1;
}

static void *callbacks(void *unused)
{
	for (int i = 0; i < 10000; i++)
		dl_iterate_phdr(on_module, NULL);
	return unused;
}

/* Code that runs under the loader's lock while another thread unloads. */
static void beside(const char *name)
{
	pthread_t t;

	pthread_create(&t, NULL, callbacks, NULL);
	reload(name);
	pthread_join(t, NULL);
}

APART static void once(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
}

APART static void thrice(void)
{
	for (volatile int i = 0; i < 60000; i++)
		;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Two functions in turns. Prints the wall time of each, which includes that without a processor. */
static void shares(void)
{
	const double begin = seconds();
	double at = begin, in_once = 0, in_thrice = 0;

	while (at < begin + 1.5) {
		once();
		const double middle = seconds();
		thrice();
		in_once += middle - at;
		at = seconds();
		in_thrice += at - middle;
	}
	printf("%f %f\n", in_once, in_thrice);
}

static void handler(int signal)
{
	(void)signal;
	leaf();
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (!strcmp(word, "calls"))
			for (int k = 0; k < 100000; k++)
				leaf();
		else if (!strcmp(word, "many"))
			for (int k = 0; k < 100000000; k++)
				leaf();
		else if (!strcmp(word, "fib"))
			fib(20);
		else if (!strcmp(word, "deep"))
			even(50001);
		else if (!strcmp(word, "jump"))
			for (int k = 0; k < 100; k++)
				catcher();
		else if (!strcmp(word, "threads"))
			threads(thread, 4);
		else if (!strcmp(word, "leave"))
			threads(leaves, 1);
		else if (!strcmp(word, "children"))
			children();
		else if (!strcmp(word, "outside"))
			outside();
		else if (!strcmp(word, "unprepared"))
			unprepared();
		else if (!strcmp(word, "busy"))
			busy_parent();
		else if (!strcmp(word, "signal")) {
			signal(SIGUSR1, handler);
			for (int k = 0; k < 10; k++)
				raise(SIGUSR1);
		} else if (!strcmp(word, "exit"))
			exit(3);
		else if (!strcmp(word, "kill"))
			raise(SIGKILL);
		else if (!strcmp(word, "chroot")) { /* as a daemon does */
			if (chroot("room") || chdir("/"))
				return 77;
		} else if (!strcmp(word, "setuid")) {
			if (setuid(65534))
				return 77;
		} else if (!strcmp(word, "sleep"))
			sleep(60);
		else if (!strcmp(word, "shares"))
			shares();
		else if (!strcmp(word, "exec"))
			execl("/bin/sleep", "sleep", "1", (char *)NULL);
		else if (!strcmp(word, "reload") && argv[i + 1]) {
			reload(argv[i + 1]);
			break;
		} else if (!strcmp(word, "beside") && argv[i + 1]) {
			beside(argv[i + 1]);
			break;
		} else if (!strcmp(word, "libraries")) {
			libraries(argv + i + 1);
			break;
		}
	}
	return 0;
}
