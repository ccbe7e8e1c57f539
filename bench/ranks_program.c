/* ranks_program.c - a job of MPI for ranks_cases.py and ranks_cost.py: each step reads its input,
 * computes, and sums over all ranks.
 *
 *     ranks_program STEPS INPUT_MS SPIN_MS SLOW PART MORE_MS EVERY
 *
 * Input is a wait of INPUT_MS, computing is SPIN_MS of processor time. Rank SLOW takes MORE_MS
 * longer for PART, "input" or "forward", in one of EVERY steps; -1: no rank does. Rank 0 prints, in
 * ns, the median and the first decile of the times of its steps, and the processor time of its
 * process for all of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/zone.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int double_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void waits(double ms)
{
	const long ns = (long)(ms * 1e6);
	const struct timespec t = {ns / 1000000000, ns % 1000000000};

	if (ns > 0)
		nanosleep(&t, NULL);
}

static void computes(double ms)
{
	const double until = seconds_of(CLOCK_THREAD_CPUTIME_ID) + 1e-3 * ms;

	while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

int main(int argc, char **argv)
{
	double own = 1, sum = 0;
	int rank;

	if (argc != 8) {
		fprintf(stderr,
			"usage: ranks_program STEPS INPUT_MS SPIN_MS SLOW PART MORE_MS EVERY\n");
		return EXIT_FAILURE;
	}
	const long steps = atol(argv[1]), slow = atol(argv[4]), every = atol(argv[7]);
	const double input_ms = atof(argv[2]), spin_ms = atof(argv[3]), more_ms = atof(argv[6]);
	const int reads = strcmp(argv[5], "input") == 0;
	double *took = steps > 0 ? calloc((size_t)steps, sizeof *took) : NULL;

	if (!took)
		return EXIT_FAILURE;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < steps; i++) {
		const double more = rank == slow && i % every == every - 1 ? more_ms : 0;
		const double begin = seconds_of(CLOCK_MONOTONIC);

		DCK_PUSH("step");
		DCK_PUSH("input");
		waits(input_ms + (reads ? more : 0));
		DCK_POP();
		DCK_PUSH("forward");
		computes(spin_ms + (reads ? 0 : more));
		DCK_POP();
		MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		DCK_POP();
		took[i] = seconds_of(CLOCK_MONOTONIC) - begin;
	}
	const double cpu_all = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	qsort(took, (size_t)steps, sizeof *took, double_compare);
	if (rank == 0)
		printf("median %.0f fast %.0f cpu %.0f\n", 1e9 * took[steps / 2],
		       1e9 * took[steps / 10], 1e9 * cpu_all);
	free(took);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
