/* rank.c - the rank of this process in a parallel job, from the environment variables of the
 * launchers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_VARIABLES = 3 };

/* The first launcher whose variables `rank` and `mark` are set counts. torchrun's name is a common
 * word, so it needs the second; inside srun both sets exist, and torchrun's is the innermost. Open
 * MPI's launcher sets the variables of PMIx too. */
static const struct launcher {
	const char *name, *rank, *mark, *size, *local, *local_size, *node, *address;
	const char *id[ID_VARIABLES]; /* together they differ between two jobs of a machine */
} launchers[] = {
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     "GROUP_RANK",
     "MASTER_ADDR",
     {"MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     NULL,
     NULL,
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"PMI",
     "PMI_RANK",
     "PMI_SIZE",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     NULL,
     "SLURM_STEP_NODELIST", /* srun --mpi=pmi2, which sets no local ranks */
     {"PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"Slurm",
     "SLURM_PROCID",
     "SLURM_STEP_ID",
     "SLURM_NTASKS",
     "SLURM_LOCALID",
     "SLURM_STEP_TASKS_PER_NODE", /* "4" on one node, else "4(x2)" or "4,3": not a number */
     "SLURM_NODEID",
     "SLURM_STEP_NODELIST",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    /* Other launchers of PMIx do not report the size. */
    {"PMIx", "PMIX_RANK", "PMIX_NAMESPACE", NULL, NULL, NULL, NULL, NULL, {"PMIX_NAMESPACE"}},
};

/* Returns the variable's number; OS_NO_RANK: it is not set, or not a number. */
static unsigned rank_variable_read(const char *variable)
{
	const char *text = variable ? getenv(variable) : NULL;

	return text && *text && strlen(text) <= 7 && strspn(text, "0123456789") == strlen(text)
		   ? (unsigned)strtoul(text, NULL, 10)
		   : OS_NO_RANK;
}

/* Returns the launcher of this process; NULL: none. */
static const struct launcher *launcher_find(void)
{
	for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
		if (rank_variable_read(launchers[i].rank) != OS_NO_RANK &&
		    getenv(launchers[i].mark))
			return &launchers[i];
	return NULL;
}

unsigned os_rank(void)
{
	const struct launcher *l = launcher_find();

	return l ? rank_variable_read(l->rank) : OS_NO_RANK;
}

/* Copies the first host of a list: "node[03-07,9],x" is node03. */
static void host_first(const char *list, char *ret, size_t size)
{
	const size_t head = list ? strcspn(list, "[,") : 0;
	const char *digits = list && list[head] == '[' ? list + head + 1 : "";

	snprintf(ret, size, "%.*s%.*s", (int)head, list ? list : "",
		 (int)strspn(digits, "0123456789"), digits);
}

bool os_job_get(os_job *ret)
{
	const struct launcher *l = launcher_find();
	size_t n = 0;

	*ret = (os_job){
	    .size = 1, .local_rank = OS_NO_RANK, .local_size = OS_NO_RANK, .node = OS_NO_RANK};
	for (size_t i = 0; !l && i < sizeof launchers / sizeof launchers[0]; i++)
		if (getenv(launchers[i].rank) && getenv(launchers[i].mark))
			ret->variable = launchers[i].rank;
	if (!l)
		return false;
	ret->launcher = l->name;
	ret->variable = l->rank;
	ret->rank = rank_variable_read(l->rank);
	ret->size = rank_variable_read(l->size);
	ret->local_rank = rank_variable_read(l->local);
	ret->local_size = rank_variable_read(l->local_size);
	ret->node = rank_variable_read(l->node);
	host_first(l->address ? getenv(l->address) : NULL, ret->address, sizeof ret->address);
	for (size_t i = 0; i < ID_VARIABLES && l->id[i]; i++) {
		const char *value = getenv(l->id[i]);
		const int k = snprintf(ret->id + n, sizeof ret->id - n, "%s%s", i ? "/" : "",
				       value ? value : "");

		n = k > 0 && (size_t)k < sizeof ret->id - n ? n + (size_t)k : n;
	}
	return true;
}
