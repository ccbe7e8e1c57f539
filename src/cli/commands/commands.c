/* commands.c - the table of commands, in the order help shows them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

const cli_command *const cli_commands[] = {
    &cmd_bench,	   &cmd_throughput, &cmd_tune,	  &cmd_load,	 &cmd_generate, &cmd_compare,
    &cmd_accuracy, &cmd_cost,	    &cmd_inspect, &cmd_pitfalls, &cmd_profile,	&cmd_trace,
    &cmd_sample,   &cmd_memory,	    &cmd_count,	  &cmd_overhead, &cmd_ranks,	&cmd_machine,
    &cmd_history,  &cmd_report,	    &cmd_view,	  &cmd_zoo,	 &cmd_engines,	&cmd_help,
    &cmd_version,  &cmd_completion, &cmd_man,	  NULL,
};
