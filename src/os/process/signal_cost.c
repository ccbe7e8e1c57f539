/* SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNALS = 2000 };

static void signal_nothing(int sig)
{
	(void)sig;
}

double os_signal_price_ns(void)
{
	struct sigaction action = {.sa_handler = signal_nothing, .sa_flags = SA_RESTART}, old;
	const int number = SIGRTMAX - 1;
	sigset_t ours, mask;

	sigemptyset(&action.sa_mask);
	sigemptyset(&ours);
	sigaddset(&ours, number);
	if (sigaction(number, &action, &old) != 0)
		return 0;
	pthread_sigmask(SIG_UNBLOCK, &ours, &mask);
	const uint64_t begin = os_thread_cpu_ns();
	for (int i = 0; i < SIGNALS; i++)
		syscall(SYS_tgkill, getpid(), os_thread_id(), number);
	const uint64_t took = os_thread_cpu_ns() - begin;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(number, &old, NULL);
	return (double)took / SIGNALS;
}
