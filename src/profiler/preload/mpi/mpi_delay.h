/* mpi_delay.h - for how long a thread was ready and had no processor outside of collectives, as a
 * counter of the trace, in ns. Inside of one it has no meaning: MPI waits by yielding its processor
 * again and again.
 *
 *	mpi_delay_begin();
 *	status = real(...);
 *	mpi_delay_end();
 *
 * The kernel counts it (schedstat). Reading it costs some microseconds, so that it is read at most
 * twice in MPI_DELAY_EVERY_NS: the counter has the work before some of many short collectives.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_MPI_DELAY_H
#define PRELOAD_MPI_DELAY_H

#include <stdint.h>

#define MPI_DELAY_COUNTER  "run queue outside of collectives"
#define MPI_DELAY_EVERY_NS UINT64_C(1000000)

void mpi_delay_begin(void);
void mpi_delay_end(void);

#endif
