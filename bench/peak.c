/* peak.c - runs a program with its output thrown away, and prints the CPU seconds and the peak
 * resident bytes of it and its children. A process begins with the resident memory of the one that
 * it was forked from, so a small one has to start it.
 *
 *	bench_peak PROGRAM [ARGUMENT]...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	const int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct rusage used;
	int status = 0;

	if (argc < 2 || out < 0)
		return 2;
	const pid_t pid = fork();
	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		execv(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || getrusage(RUSAGE_CHILDREN, &used) != 0)
		return 2;
	printf("%.6f %lld\n", seconds(&used.ru_utime) + seconds(&used.ru_stime),
	       (long long)used.ru_maxrss * 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
