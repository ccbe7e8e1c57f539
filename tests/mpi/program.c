/* program.c - calls each function of mpi_double.c with words: an int has any upper half, as callers
 * may leave it. Then some on communicators of other ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORDS		  uint64_t, uint64_t, uint64_t, uint64_t, uint64_t
#define FUNCTION_1(name)  int name(uint64_t)
#define FUNCTION_5(name)  int name(WORDS)
#define FUNCTION_6(name)  int name(WORDS, uint64_t)
#define FUNCTION_7(name)  int name(WORDS, uint64_t, uint64_t)
#define FUNCTION_8(name)  int name(WORDS, uint64_t, uint64_t, uint64_t)
#define FUNCTION_9(name)  int name(WORDS, uint64_t, uint64_t, uint64_t, uint64_t)
#define W(n)		  (UINT64_C(0x7f00000000) + (n))
#define ARGUMENTS_1(comm) comm
#define ARGUMENTS_5(comm) W(11), W(12), W(13), W(14), comm
#define ARGUMENTS_6(comm) W(11), W(12), W(13), W(14), W(15), comm
#define ARGUMENTS_7(comm) W(11), W(12), W(13), W(14), W(15), W(16), comm
#define ARGUMENTS_8(comm) W(11), W(12), W(13), W(14), W(15), W(16), W(17), comm
#define ARGUMENTS_9(comm) W(11), W(12), W(13), W(14), W(15), W(16), W(17), W(18), comm
#define FUNCTIONS(X)                   \
	X(MPI_Barrier, 1)              \
	X(MPI_Bcast, 5)                \
	X(MPI_Allreduce, 6)            \
	X(MPI_Scan, 6)                 \
	X(MPI_Exscan, 6)               \
	X(MPI_Reduce_scatter, 6)       \
	X(MPI_Reduce_scatter_block, 6) \
	X(MPI_Reduce, 7)               \
	X(MPI_Allgather, 7)            \
	X(MPI_Alltoall, 7)             \
	X(MPI_Gather, 8)               \
	X(MPI_Scatter, 8)              \
	X(MPI_Allgatherv, 8)           \
	X(MPI_Gatherv, 9)              \
	X(MPI_Scatterv, 9)             \
	X(MPI_Alltoallv, 9)            \
	X(MPI_Alltoallw, 9)

/* A handle that is an int has the same upper half. */
#ifdef POINTERS
#define COMMUNICATOR(n) UINT64_C(n)
#else
#define COMMUNICATOR(n) (UINT64_C(0xee00000000) + (n))
#endif

#define DECLARE(name, n) FUNCTION_##n(name);
FUNCTIONS(DECLARE)
FUNCTION_1(PMPI_Barrier);

#define CALL(name, n)                                    \
	if (name(ARGUMENTS_##n(COMMUNICATOR(1))) != (n)) \
		return printf("%s: another status\n", #name), 1;

int main(void)
{
	MPI_Barrier(COMMUNICATOR(2)); /* before the first of all ranks */
	FUNCTIONS(CALL)
	for (int i = 0; i < 2; i++) {
		MPI_Barrier(COMMUNICATOR(2));
		MPI_Barrier(COMMUNICATOR(3));
		MPI_Barrier(COMMUNICATOR(4));
	}
	PMPI_Barrier(COMMUNICATOR(1));
	return 0;
}
