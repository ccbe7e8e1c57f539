/* ranks_mpi.c - a job of MPI without a line for deepclock: each step is work, an average over the
 * ranks of a pair, and a sum over all ranks.
 *
 *     ranks_mpi [STEPS [SLOW [MILLISECONDS [EVERY]]]]
 *
 * Rank SLOW takes MILLISECONDS longer for its work in one of EVERY steps; -1: no rank does.
 *
 *     mpicc -O2 ranks_mpi.c -o ranks_mpi
 *     mpirun -n 4 deepclock ranks --step collective:MPI_Allreduce -- ./ranks_mpi 100 2 20
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void milliseconds_sleep(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	const long steps = argc > 1 ? atol(argv[1]) : 100, slow = argc > 2 ? atol(argv[2]) : -1;
	const long more_ms = argc > 3 ? atol(argv[3]) : 20, every = argc > 4 ? atol(argv[4]) : 1;
	int rank, size, pair_rank, wrong = 0;
	MPI_Comm pair;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
	MPI_Comm_rank(pair, &pair_rank);
	for (long i = 0; i < steps; i++) {
		double own = rank, mean = 0, sum = 0;

		milliseconds_sleep(3 + (rank == slow && i % every == 0 ? more_ms : 0));
		MPI_Reduce(&own, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, pair);
		MPI_Bcast(&mean, 1, MPI_DOUBLE, 0, pair);
		milliseconds_sleep(1);
		MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		wrong += sum != size * (size - 1) / 2.0;
	}
	MPI_Comm_free(&pair);
	MPI_Finalize();
	if (wrong)
		fprintf(stderr, "ranks_mpi: rank %d got %d wrong sums\n", rank, wrong);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
