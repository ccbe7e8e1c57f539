/* event_alone.c - runs a program under the kernel's sampling event, without a reader:
 * what samplers by perf_event cannot go below.
 *
 *	event_alone RATE PROGRAM ARG...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const long rate = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
	struct perf_event_attr a = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof a,
	    .config = PERF_COUNT_SW_CPU_CLOCK,
	    .disabled = 1,
	    .enable_on_exec = 1,
	};

	if (rate < 1) {
		fprintf(stderr, "event_alone RATE PROGRAM ARG...\n");
		return 2;
	}
	a.sample_period = 1000000000u / (unsigned long)rate;
	if (syscall(SYS_perf_event_open, &a, 0, -1, -1, 0) < 0) { /* stays open in the program */
		perror("event_alone: perf_event_open");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
