/* mpi_group.h - the functions of the MPI that the program uses, and the name of a call by the ranks
 * that take part in it:
 *
 *	mpi_function *real = mpi_find(&at, "MPI_Barrier", caller);
 *	dck_zone_push(mpi_group_site(&names, communicator, caller));
 *
 * Handles are words: a pointer in Open MPI, an int in MPICH.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_MPI_GROUP_H
#define PRELOAD_MPI_GROUP_H

#include "deepclock/zone.h"

typedef uintptr_t mpi_word;
typedef void mpi_function(void); /* whatever it takes */

/* The names of a function's calls. */
typedef struct mpi_names {
	const char *function;
	dck_zone_site all;  /* of all ranks: "collective:MPI_Barrier" */
	dck_zone_site some; /* of ranks without a name: "MPI_Barrier of some ranks" */
} mpi_names;

/* Returns the next definition of a function, and stores it in *at, {NULL} at first. caller: an
 * address in the library that called it. NULL: there is none. */
mpi_function *mpi_find(mpi_function **at, const char *name, const void *caller);

/* Returns the name of a call on a communicator. NULL: calls are not recorded. */
dck_zone_site *mpi_group_site(mpi_names *names, mpi_word communicator, const void *caller);

#endif
