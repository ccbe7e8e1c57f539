/* command_floor.c - overhead of a command, compared with a bare loop of posix_spawn and wait4.
 *
 * Both start `true` a hundred times, in turn in this process, in alternating order. deepclock's
 * time is the measured phase of dck_bench(): clock, start, wait, usage, samples, and the checks of
 * time and stop rule between runs. If hyperfine is installed, its own mean per run is reported too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "deepclock/bench.h"
#include "rows.h"

#define ROUNDS	    31
#define HYPER_EVERY 6 /* rounds between two runs of hyperfine */
#define RUNS	    100
#define WARMUP	    5
#define LIMIT	    1.03

extern char **environ;
static char *const command[] = {(char *)"/bin/true", NULL};

static void stop(const char *what)
{
	fprintf(stderr, "command_floor: %s\n", what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The two calls only: the command inherits the streams, whereas deepclock passes /dev/null. */
static double bare_ns(void)
{
	double begin = 0;

	for (int i = -WARMUP; i < RUNS; i++) {
		struct rusage usage;
		int status;
		pid_t pid;

		if (i == 0)
			begin = now_ns();
		if (posix_spawn(&pid, command[0], NULL, NULL, command, environ) != 0 ||
		    wait4(pid, &status, 0, &usage) != pid || status != 0)
			stop("cannot run /bin/true");
	}
	return (now_ns() - begin) / RUNS;
}

static bool not_cancelled(void *self)
{
	(void)self;
	return false;
}

/* As in the program: the wait can be interrupted. */
static double ours_ns(void)
{
	const dck_observer watch = {.cancelled = not_cancelled};
	char warmup[8];
	dck_subject s;
	dck_plan plan;
	dck_record *r;
	dck_err err;
	double ns;

	snprintf(warmup, sizeof warmup, "%d", WARMUP);
	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_COMMAND;
	s.argv = command;
	dck_plan_init(&plan);
	plan.runs = RUNS;
	plan.warmup = warmup;
	if (dck_bench(&s, &plan, &watch, &r, &err) != DCK_OK)
		stop(err.msg);
	ns = dck_record_value(r, "time/measured") / RUNS;
	dck_record_free(r);
	return ns;
}

/* Returns hyperfine's mean; < 0: hyperfine is not installed. */
static double hyper_ns(void)
{
	char line[256], *at, *end = NULL;
	double seconds = -1;
	FILE *f;

	snprintf(line, sizeof line,
		 "hyperfine -N --warmup %d --runs %d --export-csv /dev/stdout --style none %s "
		 "2>/dev/null",
		 WARMUP, RUNS, command[0]);
	f = popen(line, "r");
	if (!f)
		return -1;
	/* "command,mean,stddev,...": the second column of the second line. */
	while (fgets(line, sizeof line, f))
		if (strncmp(line, command[0], strlen(command[0])) == 0 &&
		    (at = strchr(line, ','))) {
			seconds = strtod(at + 1, &end);
			if (end == at + 1)
				seconds = -1;
		}
	return pclose(f) == 0 ? seconds * 1e9 : -1;
}

int main(void)
{
	static const char work[] = "a run of a command", unit[] = "times posix_spawn and wait4";
	const size_t rounds = bench_rounds(ROUNDS);
	double ours = 0, ratio[ROUNDS], beside[ROUNDS], hyper;
	size_t nhyper = 0;

	bare_ns(); /* warms the page cache with the program and its libraries */
	for (size_t i = 0; i < rounds; i++) {
		if (i % 2)
			ours = ours_ns();
		const double bare = bare_ns();
		if (i % 2 == 0)
			ours = ours_ns();
		ratio[i] = ours / bare;
		if (i % HYPER_EVERY == 0 && (hyper = hyper_ns()) > 0)
			beside[nhyper++] = hyper / bare;
	}
	printf("a run of %s, %zu rounds of %d in turn\n", command[0], rounds, RUNS);
	bench_row_put(&(bench_row){.work = work, .unit = unit, .most = LIMIT}, ratio, rounds);
	const bench_row peer = {.work = work,
				.unit = unit,
				.peer = "hyperfine -N",
				.absent = nhyper ? NULL : "apt-get install hyperfine"};
	bench_row_put(&peer, beside, nhyper);
	return bench_status();
}
