/* cmd_history.h - what the files of 'deepclock history' share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CMD_HISTORY_H
#define CLI_CMD_HISTORY_H

#include "commands.h"

typedef struct history_metric {
	const char *metric;
} history_metric;

typedef struct history_output {
	bool csv;
} history_output;

typedef struct history_command {
	cli_output output; /* db, and commit of an import */
	dck_history_filter filter;
	history_metric metric;
	history_output exported;
	dck_history_trend_config trend;
	dck_history_prune_config prune;
	dck_compare_config compare;
} history_command;

/* cmd_history_list.c, cmd_history_trend.c */
int history_list(const cli *c, const history_command *cfg, dck_history *h);
int history_trend(const cli *c, const history_command *cfg, dck_history *h);

/* A metric's value for people: "17.8 ms"; "2026-11-21 04:56" of a time in UTC. */
const char *history_value_text(double v, dck_unit unit, char *buf, size_t size);
const char *history_time_text(int64_t unix_ns, char *buf, size_t size);
/* Shows the record in the format that was asked for, and frees it. */
int history_record_show(const cli *c, dck_record *r);
/* Its first `columns`, padded. */
void history_prefix(const char *text, unsigned columns);
/* At most `columns` of the text, cut with "..", and padded to them. */
void history_cell(const char *text, unsigned columns);

#endif
