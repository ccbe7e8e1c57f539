/* cmd_pitfalls.c - deepclock pitfalls SUBJECT
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <stdio.h>

typedef struct pitfalls_list {
	bool list;
} pitfalls_list;

typedef struct pitfalls_command {
	cli_common common;
	cli_format format;
	cli_output output;
	pitfalls_list which;
	dck_subject subject;
	dck_pitfalls_config pitfalls;
} pitfalls_command;

static const dck_opt list_options[] = {
    DCK_FLAG(pitfalls_list, list, "list", "show the mistakes by their keys, and measure nothing"),
    {0},
};

/* --- the list */

static void list_text(const dck_style *style)
{
	unsigned key = 0;
	const dck_pitfall *m;

	for (size_t i = 0; (m = dck_pitfall_get(i)); i++)
		key = cli_columns(m->key) > key ? cli_columns(m->key) : key;
	for (size_t i = 0; (m = dck_pitfall_get(i)); i++) {
		printf("%-*s  ", (int)key, m->key);
		cli_wrap(stdout, m->what, key + 2, key + 2, style->width);
		putchar('\n');
	}
}

static int list_show(const cli *c, const pitfalls_command *cfg)
{
	static const dck_column columns[] = {{"key", "key", DCK_UNIT_NONE},
					     {"what", "what is done", DCK_UNIT_NONE},
					     {"why", "why it misleads", DCK_UNIT_NONE},
					     {"remedy", "what to do", DCK_UNIT_NONE}};
	const dck_style style = cli_style(&cfg->common, 1);
	const dck_pitfall *m;
	cli_listing l = {0};

	if (cfg->format.format == CLI_TEXT) {
		list_text(&style);
		return CLI_OK;
	}
	cli_listing_table(&l, "pitfalls", "Mistakes", columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; (m = dck_pitfall_get(i)); i++) {
		cli_listing_text(&l, m->key);
		cli_listing_text(&l, m->what);
		cli_listing_text(&l, m->why);
		cli_listing_text(&l, m->remedy);
	}
	return cli_listing_show(c, &l);
}

/* --- the measurement */

static dck_status make(void *config, const dck_observer *o, dck_record **ret, dck_err *err)
{
	const pitfalls_command *cfg = config;

	return dck_pitfalls(&cfg->subject, &cfg->pitfalls, o, ret, err);
}

static int pitfalls_run(cli *c, void *config)
{
	pitfalls_command *cfg = config;
	int code;

	if (cfg->which.list)
		return list_show(c, cfg);
	code = cli_subject_read(c);
	if (code == CLI_OK)
		code = cli_subject_check(c, c->subject);
	cfg->pitfalls.title = c->title;
	cfg->pitfalls.program = cli_program(c);
	return code == CLI_OK ? cli_make(c, make, cfg, NULL, NULL) : code;
}

static const char *const usage[] = {"[OPTION]... SUBJECT", "[OPTION]... -- PROGRAM [ARGUMENT]...",
				    "--list", NULL};
static const cli_section sections[] = {{"Subjects", cli_subject_items}, {0}};
static const cli_group groups[] = {
    {"Mistakes", dck_pitfalls_options, offsetof(pitfalls_command, pitfalls), false},
    {"Mistakes", list_options, offsetof(pitfalls_command, which), false},
    {"Models", dck_model_options, offsetof(pitfalls_command, subject.model), false},
    {"Programs", dck_command_options, offsetof(pitfalls_command, subject.command), false},
    {"Output", cli_format_options, offsetof(pitfalls_command, format), false},
    {"Output", cli_save_options, offsetof(pitfalls_command, output), false},
    {"Output", cli_progress_options, offsetof(pitfalls_command, output), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock pitfalls zoo:resnet18", "make every mistake on a built-in network"},
    {"deepclock pitfalls model.onnx --time 5s", "the same with narrower intervals"},
    {"deepclock pitfalls model.onnx --only no-warmup,busy-neighbour", "only two of them"},
    {"deepclock pitfalls --list", "the mistakes by their keys"},
    {0},
};

const cli_command cmd_pitfalls = {
    .name = "pitfalls",
    .summary = "show how far each classic mistake of benchmarking moves the number",
    .usage = usage,
    .about =
	"Measures SUBJECT as 'bench' does. Then it makes the classic mistakes on purpose, each "
	"interleaved with honest runs, and says what number each would have given, how far that is "
	"off, why, and what to do instead. A mistake that does no harm on this model and machine "
	"says so; one that cannot be made on SUBJECT says why.\n\n"
	"The first Ctrl-C ends it and reports the mistakes until then (exit status 130), a second "
	"one ends the program.",
    .sections = sections,
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(pitfalls_command),
    .subject_at = offsetof(pitfalls_command, subject),
    .max_args = 1,
    .arg = "SUBJECT",
    .takes_command = true,
    .word_prefix = "zoo:",
    .word = cli_zoo_word,
    .files = true,
    .run = pitfalls_run,
};
