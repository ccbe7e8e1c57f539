/* cmd_version.c - deepclock version: versions, how it was built, and the engines found here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <string.h>

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef __OPTIMIZE__
#define OPTIMISED "yes"
#else
#define OPTIMISED "no"
#endif

#ifdef HAVE_LIBDW
#define SOURCE_LINES "yes"
#else
#define SOURCE_LINES "no: it was built without libdw"
#endif

typedef struct version_row {
	const char *key, *label, *value;
} version_row;

enum { VERSION_ROWS = 9 };

/* Returns whether this build writes pages, or why not. */
static const char *version_pages(void)
{
	size_t n;
	const dck_writer *const *all = dck_writers(&n);

	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i]->name, "html") == 0 && all[i]->missing && all[i]->missing())
			return all[i]->missing();
	return "yes";
}

static const char *version_fact(const dck_engine_info *e, const char *key)
{
	for (size_t i = 0; i < e->nfacts; i++)
		if (strcmp(e->facts[i].key, key) == 0)
			return e->facts[i].value;
	return NULL;
}

static void version_engine_text(const dck_engine_info *e)
{
	const char *version = version_fact(e, "version"), *library = version_fact(e, "library");

	if (!e->usable)
		printf("engine %s absent: %s\n", e->name, e->why_not);
	else if (library)
		printf("engine %s %s %s\n", e->name, version ? version : "", library);
}

/* Engines without a library of their own are part of the program. */
static void version_engine_add(cli_listing *l, const dck_engine_info *e)
{
	static const char *const keys[] = {"version", "library"};

	cli_listing_text(l, e->name);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const char *value = version_fact(e, keys[i]);

		if (value)
			cli_listing_text(l, value);
		else
			cli_listing_absent(l, e->usable ? "it is part of deepclock" : e->why_not);
	}
}

static int version_show(const cli *c, const version_row *rows, const dck_engine_info *e, size_t n)
{
	static const dck_column versions[] = {{"key", "key", DCK_UNIT_NONE},
					      {"value", "value", DCK_UNIT_NONE}},
				engines[] = {{"engine", "engine", DCK_UNIT_NONE},
					     {"version", "version", DCK_UNIT_NONE},
					     {"library", "library", DCK_UNIT_NONE}};
	cli_listing l = {0};

	if (c->format.format == CLI_TEXT) {
		for (size_t i = 0; i < VERSION_ROWS; i++)
			printf("%s %s\n", rows[i].label, rows[i].value);
		for (size_t i = 0; i < n; i++)
			version_engine_text(&e[i]);
	}
	CLI_LISTING_TABLE(&l, "version", "Versions", versions);
	for (size_t i = 0; i < VERSION_ROWS; i++) {
		cli_listing_text(&l, rows[i].key);
		cli_listing_text(&l, rows[i].value);
	}
	CLI_LISTING_TABLE(&l, "version/engines", "Engines", engines);
	for (size_t i = 0; i < n; i++)
		version_engine_add(&l, &e[i]);
	return cli_listing_keep(c, &l);
}

static int version_run(cli *c, void *config)
{
	char record[16], history[16], plugin[24];
	const version_row rows[VERSION_ROWS] = {
	    {"program", "deepclock", DCK_VERSION},
	    {"library", "library", dck_version()},
	    {"record", "record schema", record},
	    {"history", "history schema", history},
	    {"plugin", "plug-in ABI", plugin},
	    {"compiler", "built by", COMPILER},
	    {"optimised", "optimised", OPTIMISED},
	    {"source_lines", "source lines", SOURCE_LINES},
	    {"pages", "HTML reports", version_pages()},
	};
	dck_engine_info *all;
	dck_err err;
	size_t n;
	int code;

	(void)config;
	/* --version in the place of a command shows one line only. */
	if (c->argv[1][0] == '-') {
		printf("deepclock %s\n", DCK_VERSION);
		return CLI_OK;
	}
	snprintf(record, sizeof record, "%u", DCK_RECORD_SCHEMA);
	snprintf(history, sizeof history, "%d", dck_history_schema());
	snprintf(plugin, sizeof plugin, "%u.%u", DCK_ABI_MAJOR, DCK_ABI_MINOR);
	if (dck_engines_probe(NULL, &all, &n, &err) != DCK_OK)
		return cli_failed(&err);
	code = version_show(c, rows, all, n);
	dck_free(all);
	return code;
}

const cli_command cmd_version = {
    .name = "version",
    .summary = "show the versions of the program, its formats and its engines",
    .usage = {"[OPTION]..."},
    .about = "Shows the versions of the program, of the library, of the formats of records and "
	     "histories and of the plug-in interface; how it was built; and the library of each "
	     "engine, or why it is absent.",
    .examples = {{"deepclock version", "all of them"},
		 {"deepclock version --format json", "for a script, or a bug report"},
		 {"deepclock --version", "the version of the program in one line"}},
    .groups = {CLI_RESULT, CLI_KEPT},
    .run = version_run,
};
