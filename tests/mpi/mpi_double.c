/* mpi_double.c - a library with the collective functions of MPI and the types of their arguments
 * (MPI 4.0, annex A.2), which prints what it gets: for tests of src/profiler/preload/mpi without an
 * MPI. POINTERS: handles are pointers, as in Open MPI; else ints, as in MPICH.
 *
 * There are four ranks. Communicator 1 has all, 2 the ranks 0 and 2, 3 rank 3, and 4 has one that
 * is not in the job; a group has the number of its communicator.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>

#ifdef POINTERS
typedef void *handle;
#define NUMBER(h) ((int)(uintptr_t)(h))
#define HANDLE(n) ((handle)(uintptr_t)(n))
#else
typedef int handle;
#define NUMBER(h) (h)
#define HANDLE(n) (n)
#endif
#define EXPORTED __attribute__((visibility("default"), weak))

/* Prints a function and its arguments. The status that it returns is the number of the arguments.
 */
#define SAY_NAME(name) printf("%s", #name)
#define SAY(x)	       printf(" %llx", (unsigned long long)(uintptr_t)(x))
#define DONE(n)	       return printf("\n"), n

/* Each function has two names. */
#define BOTH(name, types)                                         \
	EXPORTED int name types;                                  \
	EXPORTED int P##name types __attribute__((alias(#name))); \
	EXPORTED int name types

#define FROM	   const void *from
#define TO	   void *to
#define TYPE	   handle type
#define INTS(name) const int name[]

/* (from, count, type, to, count, type, communicator), with a root, with arrays. */
#define SEVEN(name)                                                                       \
	BOTH(name, (FROM, int n, TYPE, TO, int m, handle into, handle communicator))      \
	{                                                                                 \
		SAY_NAME(name), SAY(from), SAY(n), SAY(type), SAY(to), SAY(m), SAY(into), \
		    SAY(communicator);                                                    \
		DONE(7);                                                                  \
	}
#define EIGHT(name)                                                                            \
	BOTH(name, (FROM, int n, TYPE, TO, int m, handle into, int root, handle communicator)) \
	{                                                                                      \
		SAY_NAME(name), SAY(from), SAY(n), SAY(type), SAY(to), SAY(m), SAY(into),      \
		    SAY(root), SAY(communicator);                                              \
		DONE(8);                                                                       \
	}
#define SIX(name)                                                                      \
	BOTH(name, (FROM, TO, int n, TYPE, handle operation, handle communicator))     \
	{                                                                              \
		SAY_NAME(name), SAY(from), SAY(to), SAY(n), SAY(type), SAY(operation), \
		    SAY(communicator);                                                 \
		DONE(6);                                                               \
	}

SEVEN(MPI_Allgather)
SEVEN(MPI_Alltoall)
EIGHT(MPI_Gather)
EIGHT(MPI_Scatter)
SIX(MPI_Allreduce)
SIX(MPI_Scan)
SIX(MPI_Exscan)
SIX(MPI_Reduce_scatter_block)

BOTH(MPI_Reduce_scatter, (FROM, TO, INTS(n), TYPE, handle operation, handle communicator))
{
	SAY_NAME(MPI_Reduce_scatter), SAY(from), SAY(to), SAY(n), SAY(type), SAY(operation),
	    SAY(communicator);
	DONE(6);
}

BOTH(MPI_Barrier, (handle communicator))
{
	SAY_NAME(MPI_Barrier), SAY(communicator);
	DONE(1);
}

BOTH(MPI_Bcast, (TO, int n, TYPE, int root, handle communicator))
{
	SAY_NAME(MPI_Bcast), SAY(to), SAY(n), SAY(type), SAY(root), SAY(communicator);
	DONE(5);
}

BOTH(MPI_Reduce, (FROM, TO, int n, TYPE, handle operation, int root, handle communicator))
{
	SAY_NAME(MPI_Reduce), SAY(from), SAY(to), SAY(n), SAY(type), SAY(operation), SAY(root),
	    SAY(communicator);
	DONE(7);
}

BOTH(MPI_Allgatherv, (FROM, int n, TYPE, TO, INTS(m), INTS(at), handle into, handle communicator))
{
	SAY_NAME(MPI_Allgatherv), SAY(from), SAY(n), SAY(type), SAY(to), SAY(m), SAY(at), SAY(into),
	    SAY(communicator);
	DONE(8);
}

BOTH(MPI_Gatherv,
     (FROM, int n, TYPE, TO, INTS(m), INTS(at), handle into, int root, handle communicator))
{
	SAY_NAME(MPI_Gatherv), SAY(from), SAY(n), SAY(type), SAY(to), SAY(m), SAY(at), SAY(into),
	    SAY(root), SAY(communicator);
	DONE(9);
}

BOTH(MPI_Scatterv,
     (FROM, INTS(n), INTS(at), TYPE, TO, int m, handle into, int root, handle communicator))
{
	SAY_NAME(MPI_Scatterv), SAY(from), SAY(n), SAY(at), SAY(type), SAY(to), SAY(m), SAY(into),
	    SAY(root), SAY(communicator);
	DONE(9);
}

BOTH(MPI_Alltoallv,
     (FROM, INTS(n), INTS(at), TYPE, TO, INTS(m), INTS(to_at), handle into, handle communicator))
{
	SAY_NAME(MPI_Alltoallv), SAY(from), SAY(n), SAY(at), SAY(type), SAY(to), SAY(m), SAY(to_at),
	    SAY(into), SAY(communicator);
	DONE(9);
}

BOTH(MPI_Alltoallw, (FROM, INTS(n), INTS(at), const handle type[], TO, INTS(m), INTS(to_at),
		     const handle into[], handle communicator))
{
	SAY_NAME(MPI_Alltoallw), SAY(from), SAY(n), SAY(at), SAY(type), SAY(to), SAY(m), SAY(to_at),
	    SAY(into), SAY(communicator);
	DONE(9);
}

/* --- what is asked about communicators: not printed */

BOTH(MPI_Comm_size, (handle communicator, int *ret))
{
	static const int sizes[] = {0, 4, 2, 1, 1};

	*ret = sizes[NUMBER(communicator)];
	return 0;
}

BOTH(MPI_Comm_group, (handle communicator, handle *ret))
{
	*ret = communicator;
	return 0;
}

BOTH(MPI_Group_translate_ranks, (handle group, int n, const int ranks[], handle to, int ret[]))
{
	static const int members[][4] = {{0}, {0, 1, 2, 3}, {0, 2}, {3}, {-32766}};

	if (NUMBER(to) != 1)
		return 1;
	for (int i = 0; i < n; i++)
		ret[i] = members[NUMBER(group)][ranks[i]];
	return 0;
}

BOTH(MPI_Group_free, (handle * group))
{
	*group = HANDLE(0);
	return 0;
}
