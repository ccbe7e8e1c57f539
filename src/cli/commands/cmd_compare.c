/* cmd_compare.c - deepclock compare A B [C ...]: alternatives that are measured now, saved records,
 * or two servers.
 *
 * compare_run() dispatches: arguments that are records (FILE.json, "-") go to saved(), one subject
 * with --vary or --modes to live_one(), which makes its alternatives, two --url to servers(), all
 * others to live(). Records
 * and subjects do not mix, because a saved record cannot be interleaved with a run. Wrong
 * combinations are refused before anything is opened. The measurement is dck_compare(): blocks in
 * random order, ratios to the first alternative by round (study/compare/).
 *
 * The exit status is the gate for CI: dck_record_gate() is 0, 3 (slower) or 4
 * (undecided) where the first alternative is a baseline. Settings of one subject (--vary, --modes,
 * --scan) have no baseline, so their status is 0 unless --margin is given.
 *
 * saved() owns the records it loads and frees them on every path; a NULL entry was not loaded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include <string.h>

typedef struct compare_which {
	dck_list vary;
	bool modes, history;
	dck_list url, served_model;
} compare_which;

typedef struct compare_command {
	compare_which which;
	dck_compare_config compare;
	dck_load_config request;    /* to servers */
	const dck_alternative *all; /* n alternatives that are measured */
	size_t n;
} compare_command;

static const dck_opt compare_which_options[] = {
    DCK_OPTION(LIST, compare_which, vary, "vary", "OPTION=V,V", NULL,
	       "one subject in several settings, e.g. opt=none,all; repeated: all combinations"),
    DCK_FLAG(compare_which, modes, "modes",
	     "one model eager, fused, with all optimisations and with parallel branches",
	     .excludes = "vary"),
    DCK_FLAG(compare_which, history, "history",
	     "one record and the newest earlier one in the history with the same subject, machine "
	     "and method",
	     .excludes = "vary modes scan"),
    DCK_OPTION(LIST, compare_which, url, "url", "URL", NULL,
	       "a server, as of 'load'; give it twice: the same prompts go to both",
	       .excludes = "vary modes history scan"),
    DCK_OPTION(LIST, compare_which, served_model, "model", "NAME", NULL,
	       "the model's name at the servers; twice: at each", .needs = "url"),
    {0},
};

/* --- running */

static dck_status compare_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			       dck_err *err)
{
	const compare_command *cfg = config;

	(void)c;
	return dck_compare(cfg->all, cfg->n, &cfg->compare, o, ret, err);
}

/* Returns whether the exit status is a gate. Settings of one subject have no baseline that the
 * others may not be slower than; --margin requests a gate for them too. */
static bool is_gate(const cli *c, const compare_command *cfg)
{
	return cli_given(c, "margin") ||
	       (cfg->which.vary.n == 0 && !cfg->which.modes && c->scan.scan.n == 0);
}

static int live(const cli *c, compare_command *cfg, const dck_alternative *all, size_t n)
{
	cfg->all = all;
	cfg->n = n;
	cfg->compare.no_gate = !is_gate(c, cfg);
	return cli_make(c, compare_make, cfg, cli_record_gate);
}

static int live_one(const cli *c, compare_command *cfg, const cli_subjects *s)
{
	dck_alternative *all = NULL;
	dck_status status;
	size_t n = 0;
	dck_err err;
	int code;

	if (s->n != 1)
		return cli_usage(c, "--vary and --modes take one SUBJECT, %zu are given", s->n);
	status = cfg->which.modes
		     ? dck_alternatives_modes(&s->of[0], &all, &n, &err)
		     : dck_alternatives_vary(&s->of[0], &cfg->which.vary, &all, &n, &err);
	if (status != DCK_OK)
		return cli_failed(&err);
	code = live(c, cfg, all, n);
	dck_free(all);
	return code;
}

/* Returns a given option of these tables that has no effect on servers; NULL: none. */
static const char *useless_option(const cli *c, const dck_opt *const *tables)
{
	for (; *tables; tables++)
		for (const dck_opt *o = *tables; o->name; o++)
			if (cli_given(c, o->name) && !dck_compare_servers_takes(o->name))
				return o->name;
	return NULL;
}

static bool is_record(const char *name)
{
	const size_t n = strlen(name);

	return strcmp(name, "-") == 0 ||
	       (n > 5 && strcmp(name + n - 5, ".json") == 0 && !cli_has_scheme(name));
}

/* Without a place the history is not empty but unknown: no file is named, and HOME is not set. */
static bool history_has_place(const cli *c)
{
	char path[4096];

	return c->output.db || dck_history_path(path, sizeof path, NULL) == DCK_OK;
}

static int saved(const cli *c, const compare_command *cfg)
{
	dck_record *records[DCK_ALTERNATIVES_MAX] = {0}, *result = NULL;
	const dck_record *all[DCK_ALTERNATIVES_MAX];
	dck_status status = DCK_OK;
	bool no_baseline = false;
	const size_t first = cfg->which.history ? 1 : 0;
	const size_t n = first + c->nargs;
	dck_err err;
	int code;

	for (size_t i = first; i < n && status == DCK_OK; i++) {
		status = dck_record_load(c->args[i - first], &records[i], &err);
		all[i] = records[i];
	}
	if (status == DCK_OK && cfg->which.history) {
		status = dck_history_before(c->output.db, records[1], &records[0], &err);
		no_baseline = status == DCK_E_ABSENT && history_has_place(c);
		all[0] = records[0];
	}
	dck_compare_config config = cfg->compare;
	/* A record from the history has no file name. */
	config.record_names = cfg->which.history ? NULL : (const char *const *)c->args;
	if (status == DCK_OK)
		status = dck_compare_records(all, n, &config, &result, &err);
	if (status == DCK_OK) {
		code = cli_record_show(c, result);
		if (code == CLI_OK)
			code = cli_record_gate(result);
		dck_record_free(result);
	} else {
		code = cli_failed(&err);
		/* The first record of its kind has no baseline: undecided, not a failure. */
		if (code == CLI_FAILED && no_baseline)
			code = CLI_UNDECIDED;
	}
	for (size_t i = 0; i < n; i++)
		dck_record_free(records[i]);
	return code;
}

/* --- servers */

static dck_status servers_make(const cli *c, void *config, const dck_observer *o, dck_record **ret,
			       dck_err *err)
{
	const compare_command *cfg = config;
	dck_load_config of[2];

	dck_compare_servers_requests(&cfg->request, &cfg->which.url, &cfg->which.served_model,
				     c->subject.model.seed, of);
	return dck_compare_servers(&of[0], &of[1], &cfg->compare, o, ret, err);
}

static int servers(cli *c, compare_command *cfg)
{
	const dck_opt *const tables[] = {dck_compare_options,
					 dck_compare_live_options,
					 dck_compare_saved_options,
					 dck_model_options,
					 dck_command_options,
					 dck_hook_options,
					 NULL};
	const char *other = useless_option(c, tables);

	if (c->nargs > 0 || cfg->which.url.n != 2)
		return cli_usage(c, "--url compares two servers: give it twice, and no SUBJECT");
	if (cfg->which.served_model.n > 2)
		return cli_usage(c,
				 "--model is given %zu times: give one name, or one of each server",
				 cfg->which.served_model.n);
	if (other)
		return cli_usage(c, "--%s has no meaning for servers: leave it out", other);
	return cli_make(c, servers_make, cfg, cli_record_gate);
}

static int compare_run(cli *c, void *config)
{
	compare_command *cfg = config;
	size_t nrecords = 0;
	cli_subjects s = {0};
	dck_err err;
	int code;

	cfg->compare.title = c->title;
	cfg->compare.program = cli_program(c);
	if (cfg->which.url.n > 0)
		return servers(c, cfg);
	for (unsigned i = 0; i < c->nargs; i++)
		nrecords += is_record(c->args[i]);
	if (nrecords > 0 && nrecords < c->nargs)
		return cli_usage(c, "a saved record does not compare with a subject that is "
				    "measured now: give records (FILE.json) or subjects");
	if (cfg->which.history && (nrecords != 1 || c->nargs != 1))
		return cli_usage(c, "--history takes one saved record (FILE.json)");
	if (c->nargs < 2 && !cfg->which.history &&
	    (nrecords > 0 || (cfg->which.vary.n == 0 && !cfg->which.modes && c->scan.scan.n == 0)))
		return cli_usage(
		    c, "compare needs two SUBJECTs, or one with --vary, --modes or --scan");
	if (dck_compare_given_check(c->given, c->ngiven, nrecords > 0, &err) != DCK_OK)
		return cli_usage(c, "%s", err.msg);
	if (nrecords > 0) {
		/* Not a measurement: it is added to a history only where that is asked for. */
		c->output.no_history |=
		    !cli_given(c, "commit") && (cfg->which.history || !c->output.db);
		return saved(c, cfg);
	}
	code = cli_subjects_read(c, &s);
	if (code == CLI_OK)
		code = cli_subjects_scan(c, &s);
	if (code == CLI_OK && c->scan.scan.n > 0 && s.n < 2)
		code = cli_usage(c, "--scan gives one value: compare needs two");
	/* A single subject is not checked here: its alternatives may give it sizes. */
	for (size_t i = 0; code == CLI_OK && s.n > 1 && i < s.n; i++)
		code = cli_subject_check(c, s.all[i].subject);
	if (code == CLI_OK)
		code = cfg->which.vary.n > 0 || cfg->which.modes ? live_one(c, cfg, &s)
								 : live(c, cfg, s.all, s.n);
	cli_subjects_free(&s);
	return code;
}

static const cli_item compare_subject_items[] = {
    {"model.onnx", "a model from a file"},
    {"zoo:NAME", "a built-in network ('deepclock zoo' lists them)"},
    {"cmd:'PROGRAM ARG...'", "any program, in one word; quotes in it are respected, no shell"},
    {"plugin:FILE.so", "an engine plug-in that brings its own workload"},
    {"FILE.json", "a record of --save; then all are records"},
    {0},
};
static const cli_item verdict_items[] = {
    {"same", "the whole interval is within the margin"},
    {"slower, faster", "the whole interval is outside the margin"},
    {"undecided", "neither; a note has the number of further rounds that would decide"},
    {0},
};

static void cmd_compare_init(void *config)
{
	dck_compare_config_init(&((compare_command *)config)->compare);
	dck_load_config_init(&((compare_command *)config)->request);
}

const cli_command cmd_compare = {
    .name = "compare",
    .summary = "decide whether one is faster than another, with a gate for CI",
    .usage = {"[OPTION]... A B [C]...", "[OPTION]... --vary OPTION=V,V SUBJECT",
	      "[OPTION]... --scan NAME=V,V cmd:'PROGRAM {NAME}'", "[OPTION]... OLD.json NEW.json",
	      "[OPTION]... --history NEW.json", "[OPTION]... --url A --url B"},
    .about =
	"Measures the subjects in blocks, a trial of each in random order, so that drift meets all "
	"alike, and "
	"takes the ratio to the first of them in each round, which opens models in fresh processes "
	"where starting is quick. The verdict comes from the interval "
	"of these ratios, which holds however early the comparison ends.\n\n"
	"With --url twice two servers are compared: one request at a time, the same prompts to "
	"both, by TTFT, TPOT and the time end to end.\n\n"
	"Exit status 0: not worse; 3: slower by more than the margin; 4: undecided. With --vary, "
	"--modes or --scan it is 0 for each of these, unless --margin is given.",
    .sections = {{"Subjects", compare_subject_items}, {"Verdicts", verdict_items}},
    .examples =
	{{"deepclock compare old.onnx new.onnx",
	  "is the new model faster? Interleaved, with an interval"},
	 {"deepclock compare zoo:resnet18 --vary threads=1,2", "one model in two settings"},
	 {"deepclock compare zoo:bert_mini --modes", "eager, fused, optimised, parallel"},
	 {"deepclock compare 'cmd:./infer-old x' 'cmd:./infer-new x' --margin 2%",
	  "a gate for CI: exit status 3 when the second is over 2 % slower"},
	 {"deepclock compare base.json now.json", "two saved records"},
	 {"deepclock compare --history now.json", "a saved record and the one before it"},
	 {"deepclock compare --url http://127.0.0.1:8000/v1/completions --url http://127.0.0.1:8001/v1/completions --model NAME",
	  "two servers, by the same prompts in random order"}},
    .groups = {{"Comparing", compare_which_options, offsetof(compare_command, which), false},
	       {"Comparing", dck_compare_options, offsetof(compare_command, compare), false},
	       {"Comparing live", dck_compare_live_options, offsetof(compare_command, compare),
		false},
	       {"Comparing records", dck_compare_saved_options, offsetof(compare_command, compare),
		false},
	       {"Comparing servers", dck_server_options, offsetof(compare_command, request), false},
	       CLI_MODELS("Models"),
	       CLI_PROGRAMS,
	       CLI_HOOKS,
	       CLI_SCAN,
	       CLI_MEASURED,
	       CLI_RUNS},
    .config_size = sizeof(compare_command),
    .config_init = cmd_compare_init,
    .max_args = DCK_ALTERNATIVES_MAX,
    .arg = "SUBJECT",
    .takes_programs = true,
    .words = &cli_model_words,
    .run = compare_run,
};
