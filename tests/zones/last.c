/* last.c exits|alone|outlived|status|strict|filter [full] - a program whose main thread exits
 * without ending the process: by pthread_exit(), with and without another thread, by a system call,
 * or by a filter of them. full: no free descriptor remains then.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "deepclock/zone.h"

static void step(void)
{
	DCK_ZONE("step");
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void *work(void *arg)
{
	for (int i = 0; i < 20; i++)
		step();
	return arg;
}

/* pthread_exit() needs the library. */
static bool descriptors_use(void)
{
	if (!dlopen("libgcc_s.so.1", RTLD_NOW) ||
	    setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}))
		return false;
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	return errno == EMFILE;
}

/* Ends like some programs: by the last thread, which can be interrupted then. */
static void at_exit(void)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	printf("exit handlers run, SIGTERM is %s\n",
	       sigismember(&set, SIGTERM) ? "blocked" : "not blocked");
}

/* The kernel kills the thread that calls exit(), by SIGSYS, without a core dump. */
static void filter_exit(void)
{
	struct sock_filter f[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog p = {sizeof f / sizeof f[0], f};

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	atexit(at_exit);
	step();
	if (argc > 2 && !descriptors_use())
		return 1;
	if (!strcmp(what, "exits") || !strcmp(what, "outlived"))
		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
	if (!strcmp(what, "exits") || !strcmp(what, "alone"))
		pthread_exit(NULL);
	if (!strcmp(what, "filter"))
		filter_exit();
	if (!strcmp(what, "strict"))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	syscall(SYS_exit, 3);
	return 1;
}
