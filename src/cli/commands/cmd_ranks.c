/* cmd_ranks.c - deepclock ranks
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

typedef struct ranks_command {
	dck_ranks_config ranks;
	bool check;
} ranks_command;

static const dck_opt ranks_check_options[] = {
    DCK_OPTION(FLAG, ranks_command, check, "check", NULL, NULL,
	       "run no program: compare the ranks at the same short work, and name slow ones"),
    {0},
};

static int ranks_check(cli *c, const dck_ranks_config *config, int code)
{
	dck_err err;
	dck_record *record = NULL;

	if (c->program)
		return cli_usage(c, "--check runs no program");
	if (dck_ranks_check(config, &record, &err) != DCK_OK)
		return cli_failed(&err);
	if (record)
		code = cli_record_show(c, record);
	if (record && code == CLI_OK)
		code = cli_record_gate(record);
	dck_record_free(record);
	return code;
}

static int ranks_run(cli *c, void *config)
{
	const ranks_command *r = config;
	dck_program program = {.argv = c->program, .cancelled = cli_program_cancelled};
	dck_err err, lost;
	dck_record *record;
	int code = cli_save_check(c);

	if (code != CLI_OK)
		return code;
	if (r->check)
		return ranks_check(c, &r->ranks, code);
	if (!c->program)
		return cli_usage(c, "missing program; usage: deepclock ranks -- PROGRAM [ARG]...");
	cli_signals_program(true);
	if (dck_ranks_run(&r->ranks, &program, &record, &lost, &err) != DCK_OK)
		return cli_program_failed(&err);
	if (lost.code != DCK_OK)
		cli_message("%s", lost.msg);
	if (record)
		code = cli_record_show(c, record);
	dck_record_free(record);
	return cli_program_ended(&program, "", code);
}

const cli_command cmd_ranks = {
    .name = "ranks",
    .summary = "find the rank of a job that holds the others up",
    .usage = {"[OPTION]... -- PROGRAM [ARG]...", "--check [OPTION]..."},
    .about =
	"Runs in each rank of a job that torchrun, mpirun or srun started: starts the rank's "
	"program and records its steps, their parts, and its collective operations. Rank 0 "
	"collects what the ranks recorded, with the offsets of their clocks, and reports which rank "
	"arrives last and waits least, what it costs the others, whether that can be chance, and "
	"which part of a step takes it longer. The others print nothing. A healthy job accuses "
	"nobody.\n\nA step is a range 'step', a collective a range whose name begins with "
	"'collective:': zones (deepclock/zone.h), laps, NVTX. In Python, start the program by "
	"'torchrun --nproc-per-node 4 -m deepclock ranks train.py': deepclock.torch.steps makes the steps, and collectives of "
	"torch.distributed are recorded, also those of DistributedDataParallel.",
    .examples =
	{{"deepclock ranks -- ./train",
	  "in each rank: after mpirun -n 4, srun, or torchrun --nproc-per-node 4 --no-python"},
	 {"deepclock ranks --step batch --collective Allreduce -- ./train",
	  "ranges with other names"},
	 {"deepclock ranks --rendezvous /shared/job7 -- ./train",
	  "on nodes whose launcher does not report where rank 0 is"},
	 {"deepclock ranks --check",
	  "in each rank, before the job: which nodes and links are slow"}},
    .groups = {{"Recording", dck_ranks_options, offsetof(ranks_command, ranks), false},
	       {"Before a job", ranks_check_options, 0, false},
	       CLI_RECORD},
    .config_size = sizeof(ranks_command),
    .sized = {CLI_SIZED(ranks_command, ranks)},
    .takes_command = true,
    .run = ranks_run,
};
