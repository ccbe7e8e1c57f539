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
#include "stat/stat.h"

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

static void row(const char *name, double *ns, size_t n)
{
	stat_sort(ns, n);
	printf("  %-26s %8.1f us  %8.1f to %.1f\n", name, ns[n / 2] / 1e3, ns[0] / 1e3,
	       ns[n - 1] / 1e3);
}

int main(void)
{
	double ours[ROUNDS], bare[ROUNDS], ratio[ROUNDS], hyper[ROUNDS], beside[ROUNDS];
	size_t nhyper = 0;

	bare_ns(); /* warms the page cache with the program and its libraries */
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2)
			ours[i] = ours_ns();
		bare[i] = bare_ns();
		if (i % 2 == 0)
			ours[i] = ours_ns();
		ratio[i] = ours[i] / bare[i];
		if (i % HYPER_EVERY == 0 && (hyper[nhyper] = hyper_ns()) > 0) {
			beside[nhyper] = hyper[nhyper] / bare[i];
			nhyper++;
		}
	}
	printf("a run of %s, %d rounds of %d in turn (median, least to greatest)\n", command[0],
	       ROUNDS, RUNS);
	row("posix_spawn and wait4", bare, ROUNDS);
	row("deepclock", ours, ROUNDS);
	stat_sort(ratio, ROUNDS);
	printf("  ratio %.4f  %.4f to %.4f   (limit %.2f on the median)\n", ratio[ROUNDS / 2],
	       ratio[0], ratio[ROUNDS - 1], LIMIT);
	if (nhyper > 0) {
		row("hyperfine -N, its mean", hyper, nhyper);
		stat_sort(beside, nhyper);
		printf("  ratio %.4f  %.4f to %.4f   (for information, %zu rounds)\n",
		       beside[nhyper / 2], beside[0], beside[nhyper - 1], nhyper);
	} else {
		printf("  hyperfine is not installed: not compared\n");
	}
	return ratio[ROUNDS / 2] <= LIMIT ? 0 : 1;
}
