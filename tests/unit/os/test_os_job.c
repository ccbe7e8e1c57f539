/* test_os_job.c - the position of a process in a job, for each launcher's variables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

int test_os_job(void);

static const char *const variables[] = {
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "OMPI_MCA_ess_base_jobid",
    "PMI_RANK",
    "PMI_SIZE",
    "PMI_JOBID",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_STEP_NODELIST",
    "SLURM_STEP_TASKS_PER_NODE",
};

static int clear(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		unsetenv(variables[i]);
	return 0;
}

/* Sets "NAME=value" variables of a launcher. */
static void set(const char *const *pairs)
{
	char name[64];

	clear(NULL);
	for (; *pairs; pairs++) {
		const size_t n = strcspn(*pairs, "=");

		memcpy(name, *pairs, n);
		name[n] = '\0';
		setenv(name, *pairs + n + 1, 1);
	}
}

static const struct row {
	const char *const set[16];
	os_job want;
} rows[] = {
    {{"RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", "GROUP_RANK=1",
      "MASTER_ADDR=head", "MASTER_PORT=29500", "TORCHELASTIC_RUN_ID=none",
      "TORCHELASTIC_RESTART_COUNT=2"},
     {"torchrun", "RANK", 3, 4, 1, 2, 1, "head", "29500/none/2"}},
    /* By hand, as scripts without torchrun do. */
    {{"RANK=0", "WORLD_SIZE=2"},
     {"torchrun", "RANK", 0, 2, OS_NO_RANK, OS_NO_RANK, OS_NO_RANK, "", "//"}},
    {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_RANK=0",
      "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_NAMESPACE=1234", "PMIX_RANK=2"},
     {"Open MPI", "OMPI_COMM_WORLD_RANK", 2, 8, 0, 2, OS_NO_RANK, "", "1234/"}},
    {{"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"},
     {"PMI", "PMI_RANK", 1, 2, 1, 2, OS_NO_RANK, "", "//"}},
    {{"SLURM_PROCID=5", "SLURM_NTASKS=8", "SLURM_LOCALID=1", "SLURM_NODEID=2", "SLURM_JOB_ID=77",
      "SLURM_STEP_ID=0", "SLURM_STEP_NODELIST=gpu[03-05,9],x1"},
     {"Slurm", "SLURM_PROCID", 5, 8, 1, OS_NO_RANK, 2, "gpu03", "77/0"}},
    /* On one node, and on two. */
    {{"SLURM_PROCID=2", "SLURM_NTASKS=4", "SLURM_LOCALID=2", "SLURM_NODEID=0", "SLURM_JOB_ID=8",
      "SLURM_STEP_ID=1", "SLURM_STEP_NODELIST=vm", "SLURM_STEP_TASKS_PER_NODE=4"},
     {"Slurm", "SLURM_PROCID", 2, 4, 2, 4, 0, "vm", "8/1"}},
    {{"SLURM_PROCID=2", "SLURM_NTASKS=4", "SLURM_LOCALID=0", "SLURM_NODEID=1", "SLURM_JOB_ID=8",
      "SLURM_STEP_ID=1", "SLURM_STEP_NODELIST=n[1-2]", "SLURM_STEP_TASKS_PER_NODE=2(x2)"},
     {"Slurm", "SLURM_PROCID", 2, 4, 0, OS_NO_RANK, 1, "n1", "8/1"}},
    /* srun --mpi=pmi2. */
    {{"PMI_RANK=1", "PMI_SIZE=2", "PMI_JOBID=11.0", "SLURM_PROCID=1", "SLURM_NTASKS=2",
      "SLURM_JOB_ID=11", "SLURM_STEP_ID=0", "SLURM_STEP_NODELIST=vm"},
     {"PMI", "PMI_RANK", 1, 2, OS_NO_RANK, OS_NO_RANK, OS_NO_RANK, "vm", "11.0/11/0"}},
    {{"SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_ID=0", "SLURM_STEP_NODELIST=one,two"},
     {"Slurm", "SLURM_PROCID", 0, 1, OS_NO_RANK, OS_NO_RANK, OS_NO_RANK, "one", "/0"}},
    {{"PMIX_RANK=6", "PMIX_NAMESPACE=ns"},
     {"PMIx", "PMIX_RANK", 6, OS_NO_RANK, OS_NO_RANK, OS_NO_RANK, OS_NO_RANK, "", "ns"}},
    /* torchrun inside srun. */
    {{"RANK=1", "WORLD_SIZE=2", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_ID=0"},
     {"torchrun", "RANK", 1, 2, OS_NO_RANK, OS_NO_RANK, OS_NO_RANK, "", "//"}},
};

static void each_launcher(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const os_job *want = &rows[i].want;
		os_job got;

		set(rows[i].set);
		assert_true(os_job_get(&got));
		assert_string_equal(got.launcher, want->launcher);
		assert_string_equal(got.variable, want->variable);
		assert_int_equal(got.rank, want->rank);
		assert_int_equal(os_rank(), want->rank);
		assert_int_equal(got.size, want->size);
		assert_int_equal(got.local_rank, want->local_rank);
		assert_int_equal(got.local_size, want->local_size);
		assert_int_equal(got.node, want->node);
		assert_string_equal(got.address, want->address);
		assert_string_equal(got.id, want->id);
	}
}

/* Not a job: no variable, a common word alone, a shell that salloc started, no number. */
static void no_launcher(void **state)
{
	static const char *const not [][3] = {{NULL},
					      {"RANK=captain", "WORLD_SIZE=2"},
					      {"RANK=1"},
					      {"SLURM_PROCID=0", "SLURM_NTASKS=4"},
					      {"PMI_RANK=-1", "PMI_SIZE=2"}};
	os_job got;

	(void)state;
	for (size_t i = 0; i < sizeof not / sizeof not [0]; i++) {
		const char *const pairs[] = {not [i][0], not [i][1], not [i][2], NULL};

		set(pairs);
		assert_false(os_job_get(&got));
		assert_null(got.launcher);
		assert_int_equal(got.variable != NULL, i == 1 || i == 4);
		assert_int_equal(got.rank, 0);
		assert_int_equal(got.size, 1);
		assert_int_equal(os_rank(), OS_NO_RANK);
	}
}

int test_os_job(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_launcher),
					   cmocka_unit_test(no_launcher)};

	return cmocka_run_group_tests(tests, clear, clear);
}
