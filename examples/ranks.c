/* ranks.c - a job of several processes of one machine, for `deepclock ranks`: each step is work, a
 * sum over all processes, and an update.
 *
 *     ranks FILE [STEPS [SLOW [MILLISECONDS]]]
 *
 * The processes share FILE, which is created, and in it a barrier: a collective operation as MPI
 * and torch.distributed have them, in a few lines. Rank and size are torchrun's variables. Rank
 * SLOW takes MILLISECONDS longer for its part "forward".
 *
 *     cc ranks.c $(pkg-config --cflags --libs deepclock) -pthread -o ranks
 *     torchrun --nproc-per-node 4 --no-python deepclock ranks -- ./ranks /tmp/shared 100 2 20
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/lap.h>
#include <deepclock/zone.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* A barrier of any number of processes: {0} at first. The last of `size` begins the next phase. */
typedef struct barrier {
	_Atomic unsigned arrived, phase;
} barrier;

static void milliseconds_sleep(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* false: the others did not come within a minute, because one of them has ended. */
static int barrier_wait(barrier *b, unsigned size)
{
	const unsigned phase = atomic_load(&b->phase);

	if (atomic_fetch_add(&b->arrived, 1) + 1 == size) {
		atomic_store(&b->arrived, 0);
		atomic_fetch_add(&b->phase, 1);
		return 1;
	}
	for (int i = 0; i < 300000 && atomic_load(&b->phase) == phase; i++) {
		const struct timespec t = {0, 200000};

		nanosleep(&t, NULL);
	}
	return atomic_load(&b->phase) != phase;
}

static int sum_over_ranks(barrier *b, unsigned size)
{
	DCK_ZONE("collective:sum");
	return barrier_wait(b, size);
}

static int step(barrier *b, unsigned size, long more_ms)
{
	dck_lap *lap = dck_lap_begin("step");
	int ok;

	DCK_PUSH("forward");
	milliseconds_sleep(2 + more_ms);
	DCK_POP();
	DCK_PUSH("backward");
	milliseconds_sleep(2);
	DCK_POP();
	ok = sum_over_ranks(b, size);
	DCK_PUSH("update");
	milliseconds_sleep(1);
	DCK_POP();
	dck_lap_end(lap);
	return ok;
}

static unsigned number_of(const char *variable, unsigned otherwise)
{
	const char *text = getenv(variable);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	const unsigned rank = number_of("RANK", 0), size = number_of("WORLD_SIZE", 1);
	const long steps = argc > 2 ? atol(argv[2]) : 100, slow = argc > 3 ? atol(argv[3]) : -1;
	const long more_ms = argc > 4 ? atol(argv[4]) : 20;

	if (argc < 2) {
		fprintf(stderr, "usage: ranks FILE [STEPS [SLOW [MILLISECONDS]]]\n");
		return EXIT_FAILURE;
	}
	const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(barrier)) != 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	barrier *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (b == MAP_FAILED) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	for (long i = 0; i < steps; i++)
		if (!step(b, size, (long)rank == slow ? more_ms : 0)) {
			fprintf(stderr, "ranks: rank %u waited in vain for the others\n", rank);
			return EXIT_FAILURE;
		}
	return EXIT_SUCCESS;
}
