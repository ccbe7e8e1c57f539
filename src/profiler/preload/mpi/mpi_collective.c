/* mpi_collective.c - the blocking collective functions of MPI as ranges, for `deepclock ranks`: a
 * call of MPI_Allreduce() is a range "collective:MPI_Allreduce".
 *
 * Interposition without mpi.h, so that one library serves each implementation. The arguments of
 * these functions are pointers, integers and handles, and a handle is an int in MPICH and a pointer
 * in Open MPI: in both calling conventions, of x86-64 (System V) and of AArch64 (AAPCS64, not
 * Apple's), each of them takes one general register or eight bytes of the stack. So a function here
 * has as many arguments of the size of a register as the real one, and passes them on as they came;
 * the upper half of an int may have any value. The last argument is always the communicator.
 * Signatures: MPI 4.0, chapter 6 and annex A.2.
 *
 * The name has the ranks that take part, if these are not all (mpi_group.h).
 *
 * The real function is the next definition of the name: MPI's, or another tool's. A library that a
 * program loaded with RTLD_LOCAL, as Python loads mpi4py, has it in its dependencies alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mpi_delay.h"
#include "mpi_group.h"

#define PRELOAD __attribute__((visibility("default")))

/* The functions, and the numbers of their arguments. MPI 4.0 has most also with counts of the type
 * MPI_Count: "_c". */
#define COLLECTIVES(X)                   \
	X(MPI_Allgather, 7)              \
	X(MPI_Allgather_c, 7)            \
	X(MPI_Allgatherv, 8)             \
	X(MPI_Allgatherv_c, 8)           \
	X(MPI_Allreduce, 6)              \
	X(MPI_Allreduce_c, 6)            \
	X(MPI_Alltoall, 7)               \
	X(MPI_Alltoall_c, 7)             \
	X(MPI_Alltoallv, 9)              \
	X(MPI_Alltoallv_c, 9)            \
	X(MPI_Alltoallw, 9)              \
	X(MPI_Alltoallw_c, 9)            \
	X(MPI_Barrier, 1)                \
	X(MPI_Bcast, 5)                  \
	X(MPI_Bcast_c, 5)                \
	X(MPI_Exscan, 6)                 \
	X(MPI_Exscan_c, 6)               \
	X(MPI_Gather, 8)                 \
	X(MPI_Gather_c, 8)               \
	X(MPI_Gatherv, 9)                \
	X(MPI_Gatherv_c, 9)              \
	X(MPI_Reduce, 7)                 \
	X(MPI_Reduce_c, 7)               \
	X(MPI_Reduce_scatter, 6)         \
	X(MPI_Reduce_scatter_c, 6)       \
	X(MPI_Reduce_scatter_block, 6)   \
	X(MPI_Reduce_scatter_block_c, 6) \
	X(MPI_Scan, 6)                   \
	X(MPI_Scan_c, 6)                 \
	X(MPI_Scatter, 8)                \
	X(MPI_Scatter_c, 8)              \
	X(MPI_Scatterv, 9)               \
	X(MPI_Scatterv_c, 9)

/* Stands for a function that this MPI lacks, and which has no caller. */
static void mpi_missing(void)
{
}

static _Thread_local unsigned depth; /* open calls: the outermost is a range */

static bool call_begin(mpi_names *names, mpi_word communicator, const void *caller)
{
	dck_zone_site *site =
	    depth++ == 0 && DCK_ON_() ? mpi_group_site(names, communicator, caller) : NULL;

	if (site) {
		mpi_delay_begin();
		dck_zone_push(site);
	}
	return site != NULL;
}

static void call_end(bool pushed)
{
	depth--;
	if (pushed) {
		dck_zone_pop();
		mpi_delay_end();
	}
}

#define TYPES_1		   mpi_word
#define TYPES_5		   mpi_word, mpi_word, mpi_word, mpi_word, mpi_word
#define TYPES_6		   TYPES_5, mpi_word
#define TYPES_7		   TYPES_6, mpi_word
#define TYPES_8		   TYPES_7, mpi_word
#define TYPES_9		   TYPES_8, mpi_word
#define PARAMETERS_1(last) mpi_word last
#define PARAMETERS_4	   mpi_word a, mpi_word b, mpi_word c, mpi_word d
#define PARAMETERS_5(last) PARAMETERS_4, mpi_word last
#define PARAMETERS_6(last) PARAMETERS_4, mpi_word e, mpi_word last
#define PARAMETERS_7(last) PARAMETERS_4, mpi_word e, mpi_word f, mpi_word last
#define PARAMETERS_8(last) PARAMETERS_4, mpi_word e, mpi_word f, mpi_word g, mpi_word last
#define PARAMETERS_9(last) \
	PARAMETERS_4, mpi_word e, mpi_word f, mpi_word g, mpi_word h, mpi_word last
#define ARGUMENTS_1(last) last
#define ARGUMENTS_5(last) a, b, c, d, last
#define ARGUMENTS_6(last) a, b, c, d, e, last
#define ARGUMENTS_7(last) a, b, c, d, e, f, last
#define ARGUMENTS_8(last) a, b, c, d, e, f, g, last
#define ARGUMENTS_9(last) a, b, c, d, e, f, g, h, last

/* A function, and under its other name, which Open MPI's functions of Fortran call. */
#define COLLECTIVE(function, n)                                                       \
	static mpi_names names_##function = {#function,                               \
					     {"collective:" #function, "", 0, 0},     \
					     {#function " of some ranks", "", 0, 0}}; \
	INTERPOSED(function, names_##function, n)                                     \
	INTERPOSED(P##function, names_##function, n)

#define INTERPOSED(function, names, n)                                                      \
	PRELOAD int function(TYPES_##n);                                                    \
	PRELOAD int function(PARAMETERS_##n(last))                                          \
	{                                                                                   \
		static mpi_function *at;                                                    \
		const void *caller = __builtin_return_address(0);                           \
		mpi_function *real = mpi_find(&at, #function, caller);                      \
		const bool pushed = call_begin(&names, last, caller);                       \
		const int status =                                                          \
		    ((int (*)(TYPES_##n))(real ? real : mpi_missing))(ARGUMENTS_##n(last)); \
                                                                                            \
		call_end(pushed);                                                           \
		return status;                                                              \
	}

COLLECTIVES(COLLECTIVE)
