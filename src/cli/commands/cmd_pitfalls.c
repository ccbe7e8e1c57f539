/* cmd_pitfalls.c - deepclock pitfalls SUBJECT
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <stdio.h>
#include <unistd.h>

typedef struct pitfalls_command {
	bool list;
	dck_pitfalls_config pitfalls;
} pitfalls_command;

static const dck_opt pitfalls_list_options[] = {
    DCK_FLAG(pitfalls_command, list, "list",
	     "show the mistakes by their keys, and measure nothing"),
    {0},
};

/* --- the list */

static void pitfalls_list_text(const dck_style *style)
{
	unsigned key = 0;
	const dck_pitfall *m;

	for (size_t i = 0; (m = dck_pitfall_get(i)); i++)
		key = cli_columns(m->key) > key ? cli_columns(m->key) : key;
	for (size_t i = 0; (m = dck_pitfall_get(i)); i++) {
		printf("%-*s  ", (int)key, m->key);
		cli_wrap(stdout, m->what, key + 2, key + 2, style->width);
	}
}

static int list_show(const cli *c)
{
	static const dck_column columns[] = {{"key", "key", DCK_UNIT_NONE},
					     {"what", "what is done", DCK_UNIT_NONE},
					     {"why", "why it misleads", DCK_UNIT_NONE},
					     {"remedy", "what to do", DCK_UNIT_NONE}};
	const dck_style style = cli_style(&c->common, STDOUT_FILENO);
	const dck_pitfall *m;
	cli_listing l = {0};

	if (c->format.format == CLI_TEXT)
		pitfalls_list_text(&style);
	CLI_LISTING_TABLE(&l, "pitfalls", "Mistakes", columns);
	for (size_t i = 0; (m = dck_pitfall_get(i)); i++) {
		cli_listing_text(&l, m->key);
		cli_listing_text(&l, m->what);
		cli_listing_text(&l, m->why);
		cli_listing_text(&l, m->remedy);
	}
	return cli_listing_keep(c, &l);
}

/* --- the measurement */

static dck_status pitfalls_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
				dck_err *err)
{
	const pitfalls_command *cfg = config;

	return dck_pitfalls(&c->subject, &cfg->pitfalls, o, ret, err);
}

static int pitfalls_run(cli *c, void *config)
{
	pitfalls_command *cfg = config;
	int code;

	if (cfg->list)
		return list_show(c);
	cfg->pitfalls.title = c->title;
	cfg->pitfalls.program = cli_program(c);
	code = cli_subject_open(c);
	return code == CLI_OK ? cli_make(c, pitfalls_make, cfg, NULL) : code;
}

const cli_command cmd_pitfalls = {
    .name = "pitfalls",
    .summary = "show how far each classic mistake of benchmarking moves the number",
    .usage = {"[OPTION]... SUBJECT", "[OPTION]... -- PROGRAM [ARGUMENT]...", "--list"},
    .about = "Measures SUBJECT as 'bench' does. Then it makes the classic mistakes on purpose, "
	     "each interleaved with honest runs, and reports the number that each would have "
	     "given, its error, the cause, and the remedy. A mistake that does no harm on this "
	     "model and machine is marked so; one that cannot be made on SUBJECT has the "
	     "reason.\n\nThe first Ctrl-C ends it and reports the mistakes until then (exit "
	     "status 130), a second one ends the program.",
    .sections = {{"Subjects", cli_subject_items}},
    .examples = {{"deepclock pitfalls zoo:resnet18", "make every mistake on a built-in network"},
		 {"deepclock pitfalls model.onnx --time 5s", "the same with narrower intervals"},
		 {"deepclock pitfalls model.onnx --only no-warmup,busy-neighbour",
		  "only two of them"},
		 {"deepclock pitfalls --list", "the mistakes by their keys"}},
    .groups = {{"Mistakes", dck_pitfalls_options, offsetof(pitfalls_command, pitfalls), false},
	       {"Mistakes", pitfalls_list_options, 0, false},
	       CLI_MODELS("Models"),
	       CLI_PROGRAMS,
	       CLI_MEASURED},
    .config_size = sizeof(pitfalls_command),
    .sized = {CLI_SIZED(pitfalls_command, pitfalls)},
    .max_args = 1,
    .arg = "SUBJECT",
    .takes_command = true,
    .words = &cli_model_words,
    .run = pitfalls_run,
};
