/* cmd_machine.c - deepclock machine
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

static dck_status machine_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			       dck_err *err)
{
	(void)c;
	return dck_machine(config, o, ret, err);
}

static int machine_run(cli *c, void *config)
{
	dck_machine_config *cfg = config;

	cfg->title = c->title;
	return cli_make(c, machine_make, cfg, NULL);
}

const cli_command cmd_machine = {
    .name = "machine",
    .summary = "measure the limits of this machine",
    .usage = {"[OPTION]..."},
    .about = "Measures the peaks of arithmetic (FP64, FP32, FP16, BF16, INT8) with every "
	     "instruction set that the processor has, the bandwidth of each cache and of memory, "
	     "and the cost of clocks, system calls, threads and processes; with one thread and "
	     "with all. It takes less than ten seconds. The result is cached for this machine in "
	     "the user's cache directory and shown from there the next time.\n\nEach peak is "
	     "compared with a matrix product of a BLAS library where there is one: a peak below "
	     "it would be wrong, and gets a note.",
    .examples = {{"deepclock machine",
		  "the limits of this machine; measured the first time, then cached"},
		 {"deepclock machine --refresh", "measure again"},
		 {"deepclock machine --format csv | grep peak/fp32/", "one value for a script"}},
    .groups = {{"Measuring", dck_machine_options, 0, false}, CLI_MEASURED},
    CLI_CONFIG(dck_machine_config),
    .run = machine_run,
};
