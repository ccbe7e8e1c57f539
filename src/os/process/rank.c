/* rank.c - the rank of this process in a parallel job, from the environment variables of the
 * launchers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

/* The first variable that is set counts. torchrun's name is a common word, so it needs the second;
 * inside srun both sets exist, and torchrun's is the innermost. */
static const struct launcher {
	const char *rank, *size;
} launchers[] = {
    {"RANK", "WORLD_SIZE"},			      /* torchrun */
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMIX_RANK", "PMIX_NAMESPACE"},		      /* PMIx launchers */
    {"PMI_RANK", "PMI_SIZE"},			      /* MPICH, Intel MPI */
    {"SLURM_PROCID", "SLURM_STEP_ID"},		      /* srun */
};

unsigned os_rank(void)
{
	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
		const char *rank = getenv(launchers[i].rank);

		if (rank && getenv(launchers[i].size) && *rank && strlen(rank) <= 7 &&
		    strspn(rank, "0123456789") == strlen(rank))
			return (unsigned)strtoul(rank, NULL, 10);
	}
	return OS_NO_RANK;
}
