/* commands.h - one descriptor per file cmd_NAME.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

extern const cli_command cmd_accuracy, cmd_bench, cmd_compare, cmd_cost, cmd_history, cmd_profile,
    cmd_machine, cmd_report, cmd_zoo, cmd_engines, cmd_help, cmd_inspect, cmd_version,
    cmd_completion, cmd_man, cmd_throughput, cmd_load, cmd_generate, cmd_pitfalls, cmd_trace,
    cmd_sample, cmd_memory, cmd_overhead, cmd_count, cmd_ranks, cmd_tune, cmd_view;

extern const cli_command *const cli_commands[]; /* NULL-ended */

#endif
