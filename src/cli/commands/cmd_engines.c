/* cmd_engines.c - deepclock engines [NAME]: prints the engines, their state and their options.
 *
 * dck_engines_probe() probes every built-in engine, dck_plugin_probe() one plug-in (plugin:FILE),
 * each in a child process, because a broken library may crash there. The result is plain data in
 * one block, which this file frees with dck_free() after printing.
 *
 * engines_show() writes it twice: as text in two columns (facts begin at column FACTS), and as the
 * tables "engines" and "engines/options" of a listing, which every other format, --save and --html
 * use. With text on stdout the listing serves --save and --html alone (cli_listing_keep()).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <limits.h>
#include <string.h>
#include <unistd.h>

typedef struct engines_config {
	const char *lib;
} engines_config;

static const dck_opt probe_options[] = {
    DCK_OPTION(TEXT, engines_config, lib, "engine-lib", "FILE", NULL,
	       "the engine's library (default: searched)"),
    {0},
};

#define FACTS 11u /* where facts begin */

static void row_text(const char *key, const char *value, unsigned column, unsigned width)
{
	cli_pad(stdout, 0, FACTS);
	cli_pad(stdout, FACTS + cli_put(stdout, key, UINT_MAX), column);
	cli_wrap(stdout, value, column, column, width);
}

static unsigned engines_column_of(const dck_engine_info *e)
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
	if (!e->options || !e->options->key)
		return;
	cli_pad(stdout, 0, FACTS);
	puts("options, each given as --engine-option KEY=VALUE:");
	for (const dck_engine_option *o = e->options; o->key; o++) {
		cli_pad(stdout, 0, FACTS + 2);
		cli_put(stdout, o->key, UINT_MAX);
		putchar('=');
		cli_put(stdout, o->values, UINT_MAX);
		putchar('\n');
		cli_pad(stdout, 0, FACTS + 6);
		cli_wrap(stdout, o->help, FACTS + 6, FACTS + 6, width);
	}
}

static void engine_text(const dck_engine_info *e, bool options, const dck_style *style)
{
	const char *state = e->usable ? "usable" : "not usable";

	fputs(style->colour ? "\033[1m" : "", stdout);
	cli_pad(stdout, cli_put(stdout, e->name, UINT_MAX), FACTS - 2);
	fputs(style->colour ? "\033[0m  " : "  ", stdout);
	printf(style->colour ? e->usable ? "\033[32m%s\033[0m" : "\033[31m%s\033[0m" : "%s", state);
	fputs(": ", stdout);
	cli_wrap(stdout, e->help, FACTS + cli_columns(state) + 2, FACTS, style->width);
	if (!e->usable && e->why_not)
		row_text("why not", e->why_not, FACTS + 9, style->width);
	for (size_t i = 0; i < e->nfacts; i++)
		row_text(e->facts[i].key, e->facts[i].value, engines_column_of(e), style->width);
	if (options)
		options_text(e, style->width);
}

static void fact_add(cli_listing *l, const dck_engine_info *e, const char *key, const char *value)
{
	cli_listing_text(l, e->name);
	cli_listing_text(l, key);
	cli_listing_text(l, value);
}

static void facts_add(cli_listing *l, const dck_engine_info *e)
{
	fact_add(l, e, "usable", e->usable ? "true" : "false");
	if (!e->usable && e->why_not)
		fact_add(l, e, "why_not", e->why_not);
	for (size_t i = 0; i < e->nfacts; i++)
		fact_add(l, e, e->facts[i].key, e->facts[i].value);
	fact_add(l, e, "help", e->help);
}

static void options_add(cli_listing *l, const dck_engine_info *e)
{
	for (const dck_engine_option *o = e->options; o && o->key; o++) {
		fact_add(l, e, o->key, o->values);
		cli_listing_text(l, o->help);
	}
}

static int engines_show(const cli *c, const dck_engine_info *e, size_t n, bool options)
{
	static const dck_column facts[] = {{"engine", "engine", DCK_UNIT_NONE},
					   {"key", "key", DCK_UNIT_NONE},
					   {"value", "value", DCK_UNIT_NONE}},
				given[] = {{"engine", "engine", DCK_UNIT_NONE},
					   {"key", "option", DCK_UNIT_NONE},
					   {"values", "values", DCK_UNIT_NONE},
					   {"help", "what it does", DCK_UNIT_NONE}};
	const dck_style style = cli_style(&c->common, STDOUT_FILENO);
	cli_listing l = {0};

	for (size_t i = 0; i < n && c->format.format == CLI_TEXT; i++)
		engine_text(&e[i], options, &style);
	CLI_LISTING_TABLE(&l, "engines", "Engines", facts);
	for (size_t i = 0; i < n; i++)
		facts_add(&l, &e[i]);
	CLI_LISTING_TABLE(&l, "engines/options", "Options of engines", given);
	for (size_t i = 0; i < n; i++)
		options_add(&l, &e[i]);
	return cli_listing_keep(c, &l);
}

static int engine_unknown(const cli *c, const dck_engine_info *all, size_t n)
{
	const char *names[32];
	size_t k = 0;

	for (; k < n && k < 32; k++)
		names[k] = all[k].name;
	return cli_unknown(c, "engine", c->args[0], names, k, "'deepclock engines' lists them");
}

static int plugin_run(const cli *c)
{
	dck_engine_info *info;
	dck_err err;
	int code;

	if (dck_plugin_probe(c->args[0], &info, &err) != DCK_OK)
		return cli_failed(&err);
	code = engines_show(c, info, 1, true);
	dck_free(info);
	return code;
}

static int engines_run(cli *c, void *config)
{
	const engines_config *cfg = config;
	dck_engine_info *all;
	size_t n, i = 0;
	dck_err err;
	int code;

	if (c->nargs == 1 && strncmp(c->args[0], "plugin:", 7) == 0)
		return plugin_run(c);
	if (dck_engines_probe(cfg->lib, &all, &n, &err) != DCK_OK)
		return cli_failed(&err);
	if (c->nargs == 0) {
		code = engines_show(c, all, n, c->common.verbose);
	} else {
		while (i < n && strcmp(all[i].name, c->args[0]) != 0)
			i++;
		if (i < n)
			code = engines_show(c, &all[i], 1, true);
		else
			code = engine_unknown(c, all, n);
	}
	dck_free(all);
	return code;
}

const cli_command cmd_engines = {
    .name = "engines",
    .summary = "show the engines, their libraries and what is missing",
    .usage = {"[OPTION]... [NAME]"},
    .about =
	"Shows every built-in engine: whether it can be used, which library it found, and which "
	"of its execution providers really load, with the reason for those that do not. Each is "
	"tried in a separate process, so a broken library does no harm. --verbose, or the NAME of "
	"one engine (also plugin:FILE), shows the options that 'bench --engine-option' passes to "
	"it.",
    .examples = {{"deepclock engines", "what there is on this machine"},
		 {"deepclock engines ort", "one engine, with the options it takes"},
		 {"deepclock engines plugin:./mine.so",
		  "a plug-in, with its options, or why it is refused"},
		 {"deepclock engines --engine-lib ./libonnxruntime.so.1.24.1",
		  "whether this library would do"}},
    .groups = {{"Engines", probe_options, 0, false}, CLI_RESULT, CLI_KEPT},
    .config_size = sizeof(engines_config),
    .max_args = 1,
    .arg = "NAME",
    .run = engines_run,
};
