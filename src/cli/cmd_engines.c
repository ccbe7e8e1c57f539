/* cmd_engines.c - deepclock engines [NAME]
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <string.h>
#include <unistd.h>

typedef struct engines_config {
	cli_common common;
	cli_format format;
	struct engines_probe {
		const char *lib;
	} probe;
} engines_config;

static const dck_opt probe_options[] = {
    {.name = "engine-lib",
     .kind = DCK_OPT_TEXT,
     .at = offsetof(struct engines_probe, lib),
     .arg = "FILE",
     .help = "the engine's library, instead of the one that would be found"},
    {0},
};

#define FACTS 11u /* where facts begin */

static void row_text(const char *key, const char *value, unsigned column, unsigned width)
{
	cli_pad(stdout, 0, FACTS);
	printf("%-*s  ", (int)(column - FACTS - 2), key);
	cli_wrap(stdout, value, column, column, width);
	putchar('\n');
}

static unsigned column_of(const dck_engine_info *e)
{
	unsigned column = FACTS;

	for (size_t i = 0; i < e->nfacts; i++) {
		unsigned n = FACTS + cli_columns(e->facts[i].key) + 2;

		column = n > column ? n : column;
	}
	return column;
}

static void options_text(const dck_engine_info *e, unsigned width)
{
	char term[96];

	if (!e->options || !e->options->key)
		return;
	cli_pad(stdout, 0, FACTS);
	puts("options, each given as --engine-option KEY=VALUE:");
	for (const dck_engine_option *o = e->options; o->key; o++) {
		snprintf(term, sizeof term, "%s=%s", o->key, o->values);
		cli_pad(stdout, 0, FACTS + 2);
		puts(term);
		cli_pad(stdout, 0, FACTS + 6);
		cli_wrap(stdout, o->help, FACTS + 6, FACTS + 6, width);
		putchar('\n');
	}
}

static void engine_text(const dck_engine_info *e, bool options, const dck_style *style)
{
	const char *state = e->usable ? "usable" : "not usable";

	printf(style->colour ? "\033[1m%-9s\033[0m  " : "%-9s  ", e->name);
	printf(style->colour ? e->usable ? "\033[32m%s\033[0m" : "\033[31m%s\033[0m" : "%s", state);
	fputs(": ", stdout);
	cli_wrap(stdout, e->help, FACTS + cli_columns(state) + 2, FACTS, style->width);
	putchar('\n');
	if (!e->usable && e->why_not)
		row_text("why not", e->why_not, FACTS + 9, style->width);
	for (size_t i = 0; i < e->nfacts; i++)
		row_text(e->facts[i].key, e->facts[i].value, column_of(e), style->width);
	if (options)
		options_text(e, style->width);
}

static void engines_text(const dck_engine_info *e, size_t n, bool options, const dck_style *style)
{
	for (size_t i = 0; i < n; i++)
		engine_text(&e[i], options, style);
}

static void member(const char *before, const char *key, const char *value)
{
	fputs(before, stdout);
	cli_json_text(stdout, key);
	fputs(": ", stdout);
	cli_json_text(stdout, value);
}

static void engine_json(const dck_engine_info *e)
{
	member("  {", "name", e->name);
	member(", ", "help", e->help);
	printf(", \"usable\": %s", e->usable ? "true" : "false");
	if (!e->usable && e->why_not)
		member(", ", "why_not", e->why_not);
	fputs(",\n   \"facts\": {", stdout);
	for (size_t i = 0; i < e->nfacts; i++)
		member(i ? ", " : "", e->facts[i].key, e->facts[i].value);
	fputs("},\n   \"options\": [", stdout);
	for (const dck_engine_option *o = e->options; o && o->key; o++) {
		member(o == e->options ? "{" : ", {", "key", o->key);
		member(", ", "values", o->values);
		member(", ", "help", o->help);
		putchar('}');
	}
	fputs("]}", stdout);
}

static void engines_json(const dck_engine_info *e, size_t n, bool options, const dck_style *style)
{
	(void)options;
	(void)style;
	puts("[");
	for (size_t i = 0; i < n; i++) {
		engine_json(&e[i]);
		puts(i + 1 < n ? "," : "");
	}
	puts("]");
}

static void engine_row(int format, const char *engine, const char *key, const char *value)
{
	cli_table_row(format, (const char *[]){engine, key, value}, 3);
}

static void engines_rows(int format, const dck_engine_info *e, size_t n)
{
	cli_table_head(format, "engine,key,value");
	for (size_t i = 0; i < n; i++) {
		engine_row(format, e[i].name, "usable", e[i].usable ? "true" : "false");
		if (!e[i].usable && e[i].why_not)
			engine_row(format, e[i].name, "why_not", e[i].why_not);
		for (size_t k = 0; k < e[i].nfacts; k++)
			engine_row(format, e[i].name, e[i].facts[k].key, e[i].facts[k].value);
	}
}

static void engines_csv(const dck_engine_info *e, size_t n, bool options, const dck_style *style)
{
	(void)options;
	(void)style;
	engines_rows(CLI_CSV, e, n);
}

static void engines_markdown(const dck_engine_info *e, size_t n, bool options,
			     const dck_style *style)
{
	(void)options;
	(void)style;
	engines_rows(CLI_MARKDOWN, e, n);
}

static void (*const writers[])(const dck_engine_info *e, size_t n, bool options,
			       const dck_style *style) = {
    [CLI_TEXT] = engines_text,
    [CLI_JSON] = engines_json,
    [CLI_CSV] = engines_csv,
    [CLI_MARKDOWN] = engines_markdown,
};

static int engine_unknown(const cli *c, const dck_engine_info *all, size_t n)
{
	const char *names[32], *nearest;
	size_t k = 0;

	for (; k < n && k < 32; k++)
		names[k] = all[k].name;
	nearest = dck_nearest(c->args[0], names, k);
	return cli_usage(c, "no engine '%s'%s%s%s", c->args[0], nearest ? "; did you mean '" : "",
			 nearest ? nearest : "",
			 nearest ? "'?" : "; 'deepclock engines' lists them");
}

static int plugin_run(const engines_config *cfg, const char *name, const dck_style *style)
{
	dck_engine_info *info;
	dck_err err;

	if (dck_plugin_probe(name, &info, &err) != DCK_OK)
		return cli_failed(&err);
	writers[cfg->format.format](info, 1, true, style);
	dck_free(info);
	return CLI_OK;
}

static int engines_run(cli *c, void *config)
{
	const engines_config *cfg = config;
	dck_style style = cli_style(&cfg->common, STDOUT_FILENO);
	dck_engine_info *all;
	size_t n, i = 0;
	dck_err err;
	int code = CLI_OK;

	if (c->nargs == 1 && strncmp(c->args[0], "plugin:", 7) == 0)
		return plugin_run(cfg, c->args[0], &style);
	if (dck_engines_probe(cfg->probe.lib, &all, &n, &err) != DCK_OK)
		return cli_failed(&err);
	if (c->nargs == 0) {
		writers[cfg->format.format](all, n, cfg->common.verbose, &style);
	} else {
		while (i < n && strcmp(all[i].name, c->args[0]) != 0)
			i++;
		if (i < n)
			writers[cfg->format.format](&all[i], 1, true, &style);
		else
			code = engine_unknown(c, all, n);
	}
	dck_free(all);
	return code;
}

static const char *const usage[] = {"[OPTION]... [NAME]", NULL};
static const cli_group groups[] = {
    {"Engines", probe_options, offsetof(engines_config, probe), false},
    {"Output", cli_format_options, offsetof(engines_config, format), false},
    {0},
};
static const cli_item examples[] = {
    {"deepclock engines", "what there is on this machine"},
    {"deepclock engines ort", "one engine, with the options it takes"},
    {"deepclock engines plugin:./mine.so", "a plug-in, with its options, or why it is refused"},
    {"deepclock engines --engine-lib ./libonnxruntime.so.1.24.1", "whether this library would do"},
    {0},
};

const cli_command cmd_engines = {
    .name = "engines",
    .summary = "show the engines, their libraries and what is missing",
    .usage = usage,
    .about =
	"Shows every built-in engine: whether it can be used, which library it found, and "
	"which of its execution providers really load, with the reason for those that do not. "
	"Each is tried in a process of its own, so a broken library does no harm. --verbose, or "
	"the NAME of one engine (also plugin:FILE), shows the options that 'bench --engine-option' "
	"passes to it.",
    .examples = examples,
    .groups = groups,
    .config_size = sizeof(engines_config),
    .max_args = 1,
    .arg = "NAME",
    .run = engines_run,
};
