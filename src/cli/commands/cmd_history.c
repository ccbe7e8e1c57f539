/* cmd_history.c - deepclock history ACTION: subcommands over one open database, from a table.
 *
 * actions[] has a row for each subcommand: its function, the number of its arguments, and the
 * options it takes. The parser has one table for all of them; action_check() then rejects an option
 * that the row does not list, so that none is silently ignored.
 *
 * history_run() opens the database (only import creates it), runs the function of the row, and
 * closes it; the functions do neither. For an unknown word the message has the action that other
 * programs call by this name (action_brought()), else with the nearest name by edit distance.
 *
 * list and trend are made into a record first (history/history_record.c), so every report format
 * can show them. show --format json writes the stored bytes, export writes lines; neither needs a
 * report. rm reads the records that it prints before it removes anything. No result of this command
 * is added to the history (no_history).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct history_metric {
	const char *metric;
} history_metric;

typedef struct history_output {
	bool csv;
} history_output;

typedef struct history_command {
	cli_output output; /* db, and commit of an import */
	dck_history_config where;
	dck_history_filter filter;
	history_metric metric;
	history_output exported;
	dck_history_trend_config trend;
	dck_history_prune_config prune;
	dck_compare_config compare;
} history_command;

/* --- actions. c->args[0] is the action's name. */

/* Records that a text lists without --limit: the lines of a summary. */
#define TEXT_ROWS 10

static int record_report(const cli *c, dck_record *r, const dck_style *style)
{
	int code = r->nmetrics ? CLI_OK : cli_metrics_check(c, c->format.out);

	if (code == CLI_OK)
		code = cli_records_keep(c, &(const dck_record *){r}, 1,
					cli_report(c, &(const dck_record *){r}, 1, style));
	dck_record_free(r);
	return code;
}

/* Writes a listing. few: rows are left out, and the command that shows all of them is printed.
 * all_rows: the table is not summarised. */
static int listing_report(const cli *c, dck_record *r, bool few, bool all_rows)
{
	dck_style style = cli_style(&c->common, STDOUT_FILENO);
	char rest[sizeof c->title + 16];

	style.details = all_rows;
	snprintf(rest, sizeof rest, "%s --limit 0", c->title);
	style.rest = few ? rest : NULL;
	return record_report(c, r, &style);
}

static int history_list(const cli *c, const history_command *cfg, dck_history *h)
{
	const bool few = c->format.format == CLI_TEXT && !cli_given(c, "limit");
	dck_history_filter filter = cfg->filter;
	dck_record *r;
	dck_err err;

	if (few)
		filter.limit = TEXT_ROWS;
	if (dck_history_list_record(h, &filter, cfg->metric.metric, c->title, &r, &err) != DCK_OK)
		return cli_failed(&err);
	const bool more = dck_record_fact(r, "history", "records")->value.as.i > TEXT_ROWS;
	return listing_report(c, r, few && more, true);
}

/* Writes a record whose first table has a summary, which is shown without --limit. */
static int brief_report(const cli *c, dck_record *r)
{
	const bool few = r->tables[0].nsummary_rows < r->tables[0].nrows && !cli_given(c, "limit");

	return listing_report(c, r, few, !few);
}

static int history_trend(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_history_trend_config config = cfg->trend;
	dck_history_trend *t;
	dck_record *r;
	dck_status status;
	dck_err err;

	config.metric = c->nargs > 1 ? c->args[1] : NULL;
	if (dck_history_trend_get(h, &cfg->filter, &config, &t, &err) != DCK_OK)
		return cli_failed(&err);
	status = dck_history_trend_record(t, c->title, &r, &err);
	dck_history_trend_free(t);
	return status == DCK_OK ? brief_report(c, r) : cli_failed(&err);
}

static int history_alarms(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_history_trend_config config = cfg->trend;
	dck_history_alarms *a;
	dck_record *r;
	dck_status status;
	dck_err err;

	config.metric = c->nargs > 1 ? c->args[1] : NULL;
	if (dck_history_alarms_get(h, &cfg->filter, &config, &a, &err) != DCK_OK)
		return cli_failed(&err);
	status = dck_history_alarms_record(a, c->title, &r, &err);
	dck_history_alarms_free(a);
	return status == DCK_OK ? brief_report(c, r) : cli_failed(&err);
}

static int history_commits(const cli *c, const history_command *cfg, dck_history *h)
{
	const char *metric = c->nargs > 3 ? c->args[3] : NULL;
	dck_history_commits *found;
	dck_record *r;
	dck_status status;
	dck_err err;

	if (dck_history_commits_get(h, &cfg->filter, metric, c->args[1], c->args[2], &found,
				    &err) != DCK_OK)
		return cli_failed(&err);
	status = dck_history_commits_record(found, c->title, &r, &err);
	dck_history_commits_free(found);
	if (status != DCK_OK)
		return cli_failed(&err);
	const int gate = cli_record_gate(r), code = brief_report(c, r);
	return code == CLI_OK ? gate : code;
}

static int history_show(const cli *c, const history_command *cfg, dck_history *h)
{
	char id[DCK_HISTORY_ID_SIZE];
	dck_buffer json = {0};
	dck_record *r;
	dck_err err;
	int code = CLI_OK;

	(void)cfg;
	if (dck_history_find(h, c->args[1], id, &err) != DCK_OK)
		return cli_failed(&err);
	if (c->format.format == CLI_JSON) {
		if (dck_history_get_json(h, id, &json, &err) != DCK_OK)
			return cli_failed(&err);
		fwrite(json.data, 1, json.n, stdout);
		dck_buffer_done(&json);
		code = cli_stdout_finish(CLI_OK);
	}
	if (dck_history_get(h, id, &r, &err) != DCK_OK)
		return cli_failed(&err);
	if (c->format.format == CLI_JSON) {
		code = cli_records_keep(c, &(const dck_record *){r}, 1, code);
		dck_record_free(r);
		return code;
	}
	const dck_style style = cli_style(&c->common, STDOUT_FILENO);
	return record_report(c, r, &style);
}

static int records_compare(const cli *c, const history_command *cfg, dck_record *const *records,
			   size_t n)
{
	dck_compare_config config = cfg->compare;
	dck_record *result;
	dck_err err;
	int code;

	config.title = c->title;
	if (dck_compare_records((const dck_record *const *)records, n, &config, &result, &err) !=
	    DCK_OK)
		return cli_failed(&err);
	/* A comparison of records is not a measurement: it is not added to the history. */
	code = cli_record_show(c, result);
	if (code == CLI_OK)
		code = cli_record_gate(result);
	dck_record_free(result);
	return code;
}

static int history_compare(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_record *records[DCK_ALTERNATIVES_MAX] = {NULL};
	char id[DCK_HISTORY_ID_SIZE];
	dck_status status = DCK_OK;
	size_t n = 0;
	dck_err err;
	int code;

	for (; n + 1 < c->nargs && status == DCK_OK; n++) {
		status = dck_history_find(h, c->args[n + 1], id, &err);
		if (status == DCK_OK)
			status = dck_history_get(h, id, &records[n], &err);
	}
	code = status == DCK_OK ? records_compare(c, cfg, records, n) : cli_failed(&err);
	for (size_t i = 0; i < n; i++)
		dck_record_free(records[i]);
	return code;
}

static int history_export(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_sink out;
	dck_err err, unwritten;
	dck_status status;

	if (c->format.format != CLI_TEXT && c->format.format != CLI_JSON &&
	    c->format.format != CLI_CSV)
		return cli_usage(c, "export writes lines of JSON or, with --csv, metrics; not %s",
				 cli_formats[c->format.format]);
	dck_sink_fd(&out, STDOUT_FILENO);
	/* The extension of --out sets the format, too. */
	status = cfg->exported.csv || c->format.format == CLI_CSV
		     ? dck_history_export_csv(h, &cfg->filter, &out, &err)
		     : dck_history_export(h, &cfg->filter, &out, &err);
	if (dck_sink_finish(&out, &unwritten) != DCK_OK)
		return cli_stdout_failed((int)unwritten.native_code);
	/* A part of the records does not replace an older file. */
	return status == DCK_OK ? CLI_OK : cli_result_failed(&err);
}

static int history_import(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_history_count all = {0};
	int code = CLI_OK;

	for (unsigned i = 1; i < c->nargs; i++) {
		dck_history_count n;
		dck_err err;
		dck_status status = dck_history_import(h, c->args[i], cfg->output.commit, &n, &err);

		all.added += n.added;
		all.known += n.known;
		if (status != DCK_OK) {
			cli_message("%s", err.msg);
			code = CLI_FAILED;
		}
	}
	printf("%" PRIu64 " added, %" PRIu64 " %s already stored\n", all.added, all.known,
	       all.known == 1 ? "was" : "were");
	return cli_stdout_finish(code);
}

static int history_prune(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_history_pruned n;
	char bytes[32];
	dck_err err;

	if (cfg->prune.keep == 0 && !cfg->prune.older_than && cfg->prune.keep_per_commit == 0)
		return cli_usage(c,
				 "prune needs --keep N, --older-than AGE or --keep-per-commit N");
	if (dck_history_prune(h, &cfg->filter, &cfg->prune, &n, &err) != DCK_OK)
		return cli_failed(&err);
	printf("%" PRIu64 " record%s %s (%s), %" PRIu64 " kept\n", n.removed,
	       n.removed == 1 ? "" : "s", cfg->prune.dry_run ? "would be removed" : "removed",
	       dck_text_bytes((double)n.removed_bytes, bytes, sizeof bytes), n.kept);
	return cli_stdout_finish(CLI_OK);
}

/* The description of a record, read before the record is removed. */
typedef struct gone {
	char id[DCK_HISTORY_ID_SIZE], when[32], command[256];
} gone;

static void gone_read(dck_history *h, gone *g)
{
	struct tm tm = {0};
	dck_record *r;

	/* A damaged record can be removed too, without a description. */
	if (dck_history_get(h, g->id, &r, NULL) != DCK_OK)
		return;
	gmtime_r(&(time_t){(time_t)(r->began_unix_ns / 1000000000)}, &tm);
	strftime(g->when, sizeof g->when, r->began_unix_ns ? "%Y-%m-%d %H:%M" : "no time", &tm);
	snprintf(g->command, sizeof g->command, "%s", r->command ? r->command : "");
	dck_record_free(r);
}

/* Finds the records that the arguments name, each once. */
static dck_status gone_find(const cli *c, dck_history *h, gone *all, const char **ids, size_t *ret,
			    dck_err *err)
{
	size_t n = 0;

	for (unsigned i = 1; i < c->nargs; i++) {
		const dck_status status = dck_history_find(h, c->args[i], all[n].id, err);
		size_t k = 0;

		if (status != DCK_OK)
			return status;
		while (strcmp(all[k].id, all[n].id) != 0)
			k++;
		if (k < n)
			continue;
		gone_read(h, &all[n]);
		ids[n] = all[n].id;
		n++;
	}
	*ret = n;
	return DCK_OK;
}

static int gone_remove(const cli *c, const history_command *cfg, dck_history *h, gone *all,
		       const char **ids)
{
	dck_history_pruned count;
	size_t n;
	dck_err err;

	if (gone_find(c, h, all, ids, &n, &err) != DCK_OK ||
	    (!cfg->prune.dry_run && dck_history_remove(h, ids, n, &count, &err) != DCK_OK))
		return cli_failed(&err);
	for (size_t i = 0; i < n; i++) {
		printf("%s %.8s  %s  ", cfg->prune.dry_run ? "would remove" : "removed", all[i].id,
		       all[i].when);
		cli_put(stdout, all[i].command, UINT_MAX);
		putchar('\n');
	}
	return cli_stdout_finish(CLI_OK);
}

static int history_rm(const cli *c, const history_command *cfg, dck_history *h)
{
	gone *all = calloc(c->nargs, sizeof *all);
	const char **ids = calloc(c->nargs, sizeof *ids);
	int code = CLI_FAILED;

	if (all && ids)
		code = gone_remove(c, cfg, h, all, ids);
	else
		cli_message("out of memory");
	free(all);
	free(ids);
	return code;
}

static int cmd_history_check(const cli *c, const history_command *cfg, dck_history *h)
{
	dck_history_health health;
	char bytes[32];
	dck_err err;

	(void)c;
	(void)cfg;
	if (dck_history_check(h, &health, &err) != DCK_OK)
		return cli_failed(&err);
	cli_put(stdout, dck_history_file(h), UINT_MAX);
	printf(": %" PRIu64 " record%s, %s, sound\n", health.records,
	       health.records == 1 ? "" : "s",
	       dck_text_bytes((double)health.bytes, bytes, sizeof bytes));
	return cli_stdout_finish(CLI_OK);
}

/* --- the table of actions */

typedef struct action {
	const char *name;
	int (*run)(const cli *c, const history_command *cfg, dck_history *h);
	unsigned min_args, max_args;
	const char *arg;	    /* name of an argument, for messages */
	const char *const *options; /* NULL-ended; besides --db and the common ones */
	const dck_opt *tables[2];   /* it takes all of these too; NULL: none */
	bool makes;		    /* a missing history is created */
} action;

#define RESULT	   "format", "out", "save", "html"
#define FILTER_ALL "subject", "command", "since", "until", "at-commit", "branch", "host", "cpu"
#define FILTER	   FILTER_ALL, "limit"
static const char *const list_options[] = {FILTER, "metric", RESULT, NULL};
static const char *const show_options[] = {RESULT, "details", NULL};
static const char *const trend_options[] = {FILTER,	   "by",   "mixed", "min-change",
					    "undisturbed", RESULT, NULL};
static const char *const alarms_options[] = {FILTER,	    "by",   "min-change",
					     "undisturbed", RESULT, NULL};
static const char *const commits_options[] = {"subject", "command", "since", "until", "branch",
					      "host",	 "cpu",	    "limit", RESULT,  NULL};
static const char *const compare_options[] = {RESULT, "details", NULL};
static const char *const export_options[] = {FILTER, "csv", "out", NULL};
static const char *const import_options[] = {"commit", NULL};
static const char *const prune_options[] = {FILTER_ALL,	       "keep",	  "older-than",
					    "keep-per-commit", "dry-run", NULL};
static const char *const rm_options[] = {"dry-run", NULL};
static const char *const no_options[] = {NULL};

static const action actions[] = {
    {"list", history_list, 0, 0, NULL, list_options, {NULL}, false},
    {"show", history_show, 1, 1, "an ID", show_options, {NULL}, false},
    {"trend", history_trend, 0, 1, "METRIC", trend_options, {NULL}, false},
    {"alarms", history_alarms, 0, 1, "METRIC", alarms_options, {NULL}, false},
    {"commits", history_commits, 2, 3, "two commits", commits_options, {NULL}, false},
    {"compare",
     history_compare,
     2,
     DCK_ALTERNATIVES_MAX,
     "two IDs or more",
     compare_options,
     {dck_compare_options, dck_compare_saved_options},
     false},
    {"export", history_export, 0, 0, NULL, export_options, {NULL}, false},
    {"import", history_import, 1, UINT_MAX, "a FILE", import_options, {NULL}, true},
    {"rm", history_rm, 1, UINT_MAX, "an ID", rm_options, {NULL}, false},
    {"prune", history_prune, 0, 0, NULL, prune_options, {NULL}, false},
    {"check", cmd_history_check, 0, 0, NULL, no_options, {NULL}, false},
};
#define ACTIONS (sizeof actions / sizeof actions[0])

/* Returns metric tag i that trend can show, without families (tags with a "*"), or NULL. */
static const char *metric_word(size_t i)
{
	size_t n;
	const dck_metric_def *all = dck_metric_defs(&n);

	for (size_t k = 0; k < n; k++)
		if (!strchr(all[k].tag, '*') && i-- == 0)
			return all[k].tag;
	return NULL;
}

static const char *action_word(size_t i)
{
	return i < ACTIONS ? actions[i].name : NULL;
}

/* Valid for every action, as --db is. */
static const dck_opt wait_options[] = {
    DCK_OPTION(TIME, dck_history_config, wait_ns, "wait", "TIME", "30s",
	       "maximum wait for other programs that write to it"),
    {0},
};

static bool takes(const action *a, const char *name)
{
	for (const char *const *own = a->options; *own; own++)
		if (strcmp(*own, name) == 0)
			return true;
	for (size_t i = 0; i < 2; i++)
		if (a->tables[i] && dck_opt_find(a->tables[i], name))
			return true;
	return false;
}

/* "1 argument", "16 arguments". */
static const char *history_counted(unsigned n, char *buf, size_t size)
{
	snprintf(buf, size, "%u argument%s", n, n == 1 ? "" : "s");
	return buf;
}

static int action_check(const cli *c, const action *a)
{
	char text[40];
	const unsigned n = c->nargs > 0 ? c->nargs - 1 : 0;

	if (n < a->min_args)
		return cli_usage(c, "history %s needs %s", a->name, a->arg);
	if (n > a->max_args)
		return cli_usage(c, "history %s takes %s%s, but there is '%s'%s", a->name,
				 a->max_args > 0 ? "at most " : "no argument",
				 a->max_args > 0 ? history_counted(a->max_args, text, sizeof text)
						 : "",
				 c->args[a->max_args + 1], a->max_args > 0 ? " too" : "");
	for (cli_option o = {0}; cli_option_next(c->command, &o);)
		if (o.group.table != cli_common_options && o.group.table != wait_options &&
		    strcmp(o.row->name, "db") != 0 && cli_given(c, o.row->name) &&
		    !takes(a, o.row->name))
			return cli_usage(c, "--%s is not for 'history %s'", o.row->name, a->name);
	return CLI_OK;
}

static const action *action_find(const char *name)
{
	for (size_t i = 0; i < ACTIONS; i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return NULL;
}

/* Returns the action that other programs call by that word, or NULL. */
static const char *action_brought(const char *word)
{
	static const struct {
		const char *word, *name;
	} brought[] = {
	    {"ls", "list"},	{"log", "list"},     {"cat", "show"},	 {"get", "show"},
	    {"view", "show"},	{"delete", "rm"},    {"remove", "rm"},	 {"del", "rm"},
	    {"drop", "rm"},	{"diff", "compare"}, {"clean", "prune"}, {"gc", "prune"},
	    {"clear", "prune"}, {"verify", "check"}, {"fsck", "check"},	 {"dump", "export"},
	    {"load", "import"}, {"add", "import"},   {"plot", "trend"},	 {"graph", "trend"}};

	for (size_t i = 0; i < sizeof brought / sizeof brought[0]; i++)
		if (strcmp(brought[i].word, word) == 0)
			return brought[i].name;
	return NULL;
}

static bool is_id(const char *word)
{
	return strncmp(word, "last", 4) == 0 ||
	       (strlen(word) >= 4 && word[strspn(word, "0123456789abcdef")] == '\0');
}

static int unknown_action(const cli *c)
{
	const char *names[ACTIONS], *nearest;

	for (size_t i = 0; i < ACTIONS; i++)
		names[i] = actions[i].name;
	nearest = action_brought(c->args[0]);
	if (!nearest)
		nearest = dck_nearest(c->args[0], names, ACTIONS);
	if (!nearest && is_id(c->args[0]))
		return cli_usage(c, "history cannot '%s'; did you mean 'show %s'?", c->args[0],
				 c->args[0]);
	if (nearest)
		return cli_usage(c, "history cannot '%s'; did you mean '%s'?", c->args[0], nearest);
	return cli_usage(
	    c,
	    "history cannot '%s'; it can list, show, trend, alarms, commits, compare, export, import, rm, "
	    "prune and check",
	    c->args[0]);
}

static int history_run(cli *c, void *config)
{
	const history_command *cfg = config;
	const action *a = action_find(c->nargs > 0 ? c->args[0] : "list");
	dck_history_config where = cfg->where;
	dck_history *h;
	dck_err err;
	int code;

	if (!a)
		return unknown_action(c);
	code = action_check(c, a);
	if (code != CLI_OK)
		return code;
	c->output.no_history = true;
	where.path = cfg->output.db;
	where.existing = !a->makes;
	if (dck_history_open(&where, &h, &err) != DCK_OK)
		return cli_failed(&err);
	code = a->run(c, cfg, h);
	dck_history_close(h);
	return code;
}

/* --- the descriptor */

static const dck_opt metric_options[] = {
    DCK_OPTION(TEXT, history_metric, metric, "metric", "TAG", NULL,
	       "metric of list and compare (default: latency/median)"),
    {0},
};
static const dck_opt export_table[] = {
    DCK_FLAG(history_output, csv, "csv", "export: the metrics as CSV, one in a row"),
    {0},
};
static const dck_opt place_options[] = {
    DCK_OPTION(TEXT, cli_output, db, "db", "FILE", NULL,
	       "the history's file, or postgresql://HOST/DATABASE (default: $DEEPCLOCK_DB, "
	       "or deepclock/history.db in the directory for data)"),
    DCK_OPTION(TEXT, cli_output, commit, "commit", "ID", NULL,
	       "import: the commit that the records belong to"),
    {0},
};

static const cli_item action_items[] = {
    {"list", "the records, newest first; also without an action"},
    {"show", "one record, in any format; as JSON byte for byte"},
    {"trend", "how a metric moved, and where its level changed"},
    {"alarms", "which of all metrics changed their level, of all subjects and machines"},
    {"commits", "a metric of two commits on all machines that measured both; exit status 3: worse"},
    {"compare",
     "records, the first is the baseline, as 'deepclock compare' does; exit status 3: regressed"},
    {"export", "the records as lines of JSON, or their metrics as CSV"},
    {"import", "add records from files that --save or export wrote, or of another history's file; "
	       "'-': standard input"},
    {"rm", "remove these records, and print them"},
    {"prune", "remove old records"},
    {"check", "check the integrity of the whole file"},
    {0},
};
static const cli_item id_items[] = {
    {"3f09c1", "the record whose id begins so"},
    {"last, last~2", "the newest record; the second before it"},
    {0},
};

static void cmd_history_init(void *config)
{
	history_command *c = config;

	dck_history_config_init(&c->where);
	dck_history_trend_config_init(&c->trend);
	dck_compare_config_init(&c->compare);
}

const cli_command cmd_history = {
    .name = "history",
    .summary = "saved records: list, trend, alarms, compare, export",
    .usage = {"[list] [OPTION]...", "show [OPTION]... ID", "trend [OPTION]... [METRIC]",
	      "alarms [OPTION]... [METRIC]", "commits [OPTION]... OLD NEW [METRIC]",
	      "compare [OPTION]... ID ID [ID]...", "export [OPTION]...",
	      "import [OPTION]... FILE...", "rm [OPTION]... ID...",
	      "prune [OPTION]... (--keep N | --older-than AGE | --keep-per-commit N)",
	      "check [OPTION]..."},
    .about =
	"Records of '--save FILE' are also added to the history, a separate file or a database of "
	"PostgreSQL, with the commit that is checked out in the working directory. They are stored byte for byte until "
	"'prune' removes them. Several programs may use it at once.\n\nA trend shows records of "
	"one subject that were made by one method on one machine, and marks where their level "
	"changed, with the probability of such a change by noise alone. Alarms are the changes of "
	"all metrics, subjects and machines, of which at most 5 % are expected to be false; "
	"commits compares two commits in the same way.",
    .sections = {{"Actions", action_items}, {"IDs", id_items}},
    .examples =
	{{"deepclock history list --subject 'zoo:*' --since 7d", "the records of this week"},
	 {"deepclock history trend latency/p99 --by commit", "the p99 over commits"},
	 {"deepclock history alarms --since 60d", "what changed in these days, of everything"},
	 {"deepclock history commits 3f09c1a 81bd20e",
	  "did a commit change the latency on any machine?"},
	 {"deepclock history compare last~1 last", "did the newest get slower? A gate for CI"},
	 {"deepclock history export --csv > metrics.csv", "all numbers, for other programs"},
	 {"deepclock history prune --keep 100 --older-than 1000d --dry-run", "what would go"}},
    .groups = {{"History", place_options, offsetof(history_command, output), false},
	       {"History", wait_options, offsetof(history_command, where), false},
	       {"Which records", dck_history_filter_options, offsetof(history_command, filter),
		false},
	       {"Showing", metric_options, offsetof(history_command, metric), false},
	       {"Showing", dck_history_trend_options, offsetof(history_command, trend), false},
	       {"Showing", export_table, offsetof(history_command, exported), false},
	       CLI_SHARED("Showing", cli_format_options, format),
	       CLI_SHARED("Showing", cli_keep_options, output),
	       {"Comparing", dck_compare_options, offsetof(history_command, compare), false},
	       {"Comparing", dck_compare_saved_options, offsetof(history_command, compare), false},
	       {"Removing", dck_history_prune_options, offsetof(history_command, prune), false}},
    .config_size = sizeof(history_command),
    .config_init = cmd_history_init,
    .max_args = UINT_MAX,
    .arg = "an action",
    .words = &(const cli_words){.prefix = "",
				.get = action_word,
				.action = "trend",
				.follow = metric_word,
				.files = true},
    .run = history_run,
};
