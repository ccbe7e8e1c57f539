/* cli.h - what the commands of the program share. A command is one const descriptor in one file;
 * parsing, help, man pages and completion are made from the descriptors. cmd_machine.c is a short
 * example.
 *
 * The program alone prints and exits: results to stdout, everything else to stderr.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "deepclock/deepclock.h"
#include "deepclock/unstable.h"
#include <stdio.h>
#include <sys/types.h>

enum cli_exit {
#define X(name, value, text) CLI_##name = (value),
	DCK_EXIT_MAP(X)
#undef X
};

/* Options that every command has. */
typedef struct cli_common {
	int colour; /* index into auto, always, never */
	bool quiet, verbose, help, version;
} cli_common;
extern const dck_opt cli_common_options[];

/* How a result is written and where it goes. Zeroed, it goes to stdout as text. */
typedef struct cli_format {
	int format;	 /* index into cli_formats */
	const char *out; /* a file instead of stdout; NULL: stdout */
	/* The same of a command whose program writes to stdout, so that it is opened at the end;
	 * cli_profile_show() */
	const char *profile;
	bool details, sources;
	const char *source_root;
} cli_format;
/* A row of the options that choose a page. */
#define CLI_SOURCES(config)                                                                        \
	DCK_FLAG(config, sources, "sources",                                                       \
		 "of a page (html): also the text of the source lines that call paths name, from " \
		 "files below the working directory; everybody who has the page can read them"),   \
	    DCK_OPTION(TEXT, config, source_root, "source-root", "DIR", NULL,                      \
		       "--sources, also from files below this directory")
extern const char *const cli_formats[]; /* "text", "json", "csv", "markdown", "html", NULL */
enum { CLI_TEXT, CLI_JSON, CLI_CSV, CLI_MARKDOWN, CLI_HTML };
extern const dck_opt cli_format_options[], cli_profile_options[];
/* The format that the ending of the file's name stands for: that of "run.csv" is CSV. */
int cli_format_by_ending(const char *path, int other);

/* Where a record is kept, and what is shown of it and of its making. */
typedef struct cli_output {
	const char *save, *html, *figures, *db, *commit, *source_root;
	bool no_history, no_progress, sources;
	int per; /* index into metric, run: the rows of CSV */
} cli_output;
extern const dck_opt cli_save_options[], cli_progress_options[], cli_per_options[];
/* --save and --html of a result that is no measurement: no history takes it. */
extern const dck_opt cli_keep_options[];

/* A process that the library started to measure in: its record goes to a descriptor, and so does
 * the reason when there is none. */
typedef struct cli_worker {
	uint64_t fd; /* 0: this is no worker */
	uint64_t of; /* the process that started it */
} cli_worker;
extern const dck_opt cli_worker_options[];

/* The values of a program's words (--scan). */
typedef struct cli_scan {
	dck_list scan;
} cli_scan;
extern const dck_opt cli_scan_options[];

/* One option table, and the place that its values are read into. */
typedef struct cli_group {
	const char *title;    /* NULL: not in help, man page or completion */
	const dck_opt *table; /* NULL ends the list */
	size_t at;
	bool shared; /* `at` lies in the struct cli, not in the command's own config */
} cli_group;

/* The groups that several commands name. */
#define CLI_SHARED(title, table, member)                         \
	{                                                        \
		title, table, offsetof(struct cli, member), true \
	}
#define CLI_MODELS(title)    CLI_SHARED(title, dck_model_options, subject.model)
#define CLI_PROGRAMS	     CLI_SHARED("Programs", dck_command_options, subject.command)
#define CLI_HOOKS	     CLI_SHARED("Programs", dck_hook_options, subject.command)
#define CLI_SCAN	     CLI_SHARED("Programs", cli_scan_options, scan)
#define CLI_OPERATORS(title) CLI_SHARED(title, dck_op_options, ops)
#define CLI_RESULT	     CLI_SHARED("Output", cli_format_options, format)
#define CLI_KEPT	     CLI_SHARED("Output", cli_keep_options, output)
#define CLI_RECORD	     CLI_RESULT, CLI_SHARED("Output", cli_save_options, output)
#define CLI_PROFILE                                        \
	CLI_SHARED("Output", cli_profile_options, format), \
	    CLI_SHARED("Output", cli_save_options, output)
#define CLI_MEASURED CLI_RECORD, CLI_SHARED("Output", cli_progress_options, output)
#define CLI_RUNS     CLI_SHARED("Output", cli_per_options, output)
#define CLI_WORKER   CLI_SHARED(NULL, cli_worker_options, worker)

typedef struct cli_item {
	const char *term, *text; /* term NULL ends the list */
} cli_item;

typedef struct cli_section {
	const char *title; /* NULL ends the list */
	const cli_item *items;
} cli_section;

/* The words that a shell may complete an argument with. */
typedef struct cli_words {
	const char *prefix;	      /* prefix + get(0), prefix + get(1), ... up to NULL */
	const char *(*get)(size_t i); /* NULL: none */
	bool commands;		      /* the names of the commands fit too */
	/* Of a command whose first argument is an action: what follows this one. Otherwise actions
	 * and names come first, options and files later. */
	const char *action;
	const char *(*follow)(size_t i);
	bool files; /* the names of files fit too */
} cli_words;
/* Those of a model: it is a built-in network or a file. */
extern const cli_words cli_model_words;

typedef struct cli cli;

/* What other tools call an option. Words are compared without case, '-' and '_'. Both lists end
 * with NULL. */
typedef struct cli_hint {
	const char *words[20]; /* of other tools; none ends the table */
	const char *ours[4];   /* the first that the command has is named */
	const char *say;       /* what else is said; NULL: nothing */
} cli_hint;
extern const cli_hint cli_hints_trace[]; /* hints_table.c: of nsys */
extern const cli_hint cli_hints_sample[];

typedef struct cli_command {
	const char *name, *summary;
	const char *const *usage; /* what follows "deepclock NAME", one per line; NULL-ended */
	const char *about;	  /* paragraphs, parted by an empty line */
	const cli_section *sections;
	const cli_item *examples; /* term: the command line, text: what it does */
	const cli_group *groups;  /* NULL: only the options of every command */
	/* Options that several of the tables have and that mean what the first of them says;
	 * NULL-ended, NULL: none. All others reach every table that has them. */
	const char *const *first_only;
	size_t config_size;		   /* of what the command alone has */
	void (*config_init)(void *config); /* NULL: zeroes, and the tables' defaults, will do */
	unsigned min_args, max_args;
	const char *arg;	/* what an argument is called in messages */
	bool takes_command;	/* "--" begins a program with its arguments */
	bool takes_programs;	/* as 'cmd:PROGRAM ARG...' only */
	const cli_words *words; /* NULL: nothing is completed */
	/* What it writes, for messages, where that is no result that --format, --html and --save
	 * could be for; NULL: it is one. */
	const char *no_result;
	const cli_hint *hints; /* other tools' options, of it alone; NULL: none */
	int (*run)(cli *c, void *config);
} cli_command;

enum { CLI_GIVEN_MAX = 256 };
struct cli {
	int argc;
	char **argv;
	const cli_command *command;
	const cli_command *const *commands; /* all of them, NULL-ended */
	char **args;			    /* nargs of them: argv without options */
	unsigned nargs;
	char **program; /* after "--", for commands that take one; NULL: none */
	/* What the shared groups are read into; of zeros where the command does not name them. */
	cli_common common;
	cli_format format;
	cli_output output;
	cli_worker worker;
	cli_scan scan;
	dck_op_view ops;
	dck_subject subject;		    /* what several subjects have in common */
	void *config;			    /* the command's own */
	char title[8192];		    /* the words of the command line: a record's title */
	void *owned;			    /* what the subject points to */
	dck_timeline timeline;		    /* what a trace is drawn from; {0}: nothing is */
	dck_opt_given given[CLI_GIVEN_MAX]; /* each option once */
	size_t ngiven;
};

/* parse.c: reads argv[first...] into *c and its config. Prints why not; returns an exit code. */
int cli_parse(cli *c, int first);
/* The option was given on the command line. */
bool cli_given(const cli *c, const char *name);

/* rows.c: group i, those that the command names and then the common one; table NULL past the end.
 */
cli_group cli_group_get(const cli_command *command, size_t i);
/* The place that the values of its rows are read into. */
void *cli_group_config(cli *c, const cli_group *group);
/* A walk through the options of a command. It begins with {0}. */
typedef struct cli_option {
	const dck_opt *row;
	cli_group group; /* whose table has the row */
	size_t index;	 /* of the group */
} cli_option;
/* Goes to the next row of every table, hidden ones too. false: there is no more. */
bool cli_row_next(const cli_command *command, cli_option *o);
/* Goes to the next visible option; one that two tables have comes once. false: there is no more. */
bool cli_option_next(const cli_command *command, cli_option *o);
/* The command of that name; NULL: there is none. */
const cli_command *cli_command_find(const cli_command *const *all, const char *name);
/* The option of that name or, where name is NULL, of that letter; NULL: there is none. */
const dck_opt *cli_option_find(const cli_command *command, const char *name, char letter);

/* help.c */
void cli_help_command(FILE *out, const cli_command *command, const dck_style *style);
/* What is written where no command is given. */
void cli_help_short(FILE *out, const dck_style *style);
void cli_help_all(FILE *out, const cli_command *const *all, const dck_style *style);
void cli_help_metrics(FILE *out, const dck_style *style);
void cli_help_notes(FILE *out, const dck_style *style);
/* "one of median, mean, p90, p99 (default: median)": the row's help with what it accepts. */
void cli_option_text(const dck_opt *row, char *buf, size_t size);
extern const cli_item cli_exit_codes[];

/* wrap.c: writes the text in lines of at most `width` columns. The cursor is at `column`; lines
 * after the first begin at `indent`. */
void cli_wrap(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width);
/* The number of columns that the text takes on a terminal, which is that of its code points. */
unsigned cli_columns(const char *text);
/* At most so many columns of the text, with a '?' in the place of what would steer a terminal.
 * Returns how many. */
unsigned cli_put(FILE *out, const char *text, unsigned columns);
void cli_pad(FILE *out, unsigned column, unsigned to);
/* Writes argv into buf as a shell would take it again; "..." ends what does not fit. */
void cli_quote_words(char *const *words, char *buf, size_t size);

/* listing.c: rows that were not measured: a table, its cells, another table. Zeroed to begin with.
 * Texts are borrowed until they are shown; NULL: there is none. */
typedef struct cli_listing {
	dck_table tables[2];
	dck_cell *cells;
	size_t ntables, n, room, begin; /* begin: the last table's first cell */
	bool failed;
} cli_listing;
void cli_listing_table(cli_listing *l, const char *name, const char *title,
		       const dck_column *columns, size_t ncolumns);
void cli_listing_text(cli_listing *l, const char *text);
void cli_listing_int(cli_listing *l, int64_t v);
/* Writes the tables as those of a record, where --save and --html say too, and frees them. */
int cli_listing_show(const cli *c, cli_listing *l);
/* The same of a result that was written to stdout as a text of its own. */
int cli_listing_keep(const cli *c, cli_listing *l);

/* message.c: one line to stderr, "deepclock: sentence". */
void cli_message(const char *fmt, ...) DCK_PRINTF(1, 2);
/* The sentence of a failure; returns the exit code that fits it. */
int cli_failed(const dck_err *err);
int cli_usage(const cli *c, const char *fmt, ...) DCK_PRINTF(2, 3); /* returns CLI_USAGE */
int cli_no_memory(void);					    /* returns CLI_FAILED */
/* "no WHAT 'WORD'; did you mean 'NAME'?" by the nearest of n names, else what `otherwise` says
 * behind the semicolon. Returns CLI_USAGE. */
int cli_unknown(const cli *c, const char *what, const char *word, const char *const *names,
		size_t n, const char *otherwise);

/* term.c */
dck_style cli_style(const cli_common *common, int fd);
bool cli_term_can_redraw(int fd);
/* Rewrites, in place, the units that the locale cannot show. */
char *cli_units(char *text);
unsigned cli_term_width(int fd);

/* signals.c: SIGINT, SIGTERM and SIGHUP end the program the default way, without what it has not
 * finished. */
/* Comes before anything else: a closed pipe and a file that may not grow become write errors, and
 * no file can get the descriptors 0, 1, 2. */
void cli_signals_begin(void);
/* From here on the first of them only sets a flag. */
void cli_signals_install(void);
/* And where the flag is not checked within 5 s, or the end is not reached 30 s after that, the
 * program ends: an engine may hang. */
void cli_signals_watchdog(void);
/* A program is being profiled. One that we started may ignore them: the second, or 5 s after the
 * first, kills it, and what was recorded is reported; only a later one ends us. */
void cli_signals_program(bool started);
bool cli_signal_killed(void);	 /* that came to pass */
void cli_signals_finished(void); /* what is left takes the time that it takes */
/* This is a worker, and ends with the process that started it. */
void cli_signals_die_with_parent(pid_t starter);
bool cli_signal_seen(void);
bool cli_signal_ours(void); /* and the programs that we started did not see it too, as those of a
			     * terminal do */
bool cli_cancelled(void *self); /* for an observer: a signal was seen */
/* A file that is removed when a signal ends the program; `path` is borrowed until it is kept. */
void cli_signals_remove(const char *path);
void cli_signals_keep(const char *path);

/* output.c */
/* Flushes stdout; where that fails, as cli_stdout_failed() says, else `code`. The end of the
 * program besides commits the file that stdout is. */
int cli_stdout_finish(int code);
int cli_stdout_close(int code);
/* Forgets the file that stdout was opened as. */
void cli_stdout_drop(void);
/* Says, once, that stdout cannot be written, errno or 0 for why; returns CLI_FAILED. A pipe whose
 * reader has gone is no error: nothing is said, and it is CLI_UNREAD. */
int cli_stdout_failed(int why);
/* From here on stdout is a file, which appears whole or not at all: when stdout is finished. */
dck_status cli_stdout_open(const char *path, dck_err *err);
/* Writes records to stdout. style: as cli_style() gave it; the format's --details is added. */
int cli_report(const cli *c, const dck_record *const *records, size_t n, const dck_style *style);
/* The same with what the command line says of operators and rows. file: where the record is kept,
 * which is how to see the rest of it; NULL: it is not. */
int cli_report_kept(const cli *c, const dck_record *const *records, size_t n, const char *file);
/* A file that appears whole or not at all; "-" is stdout. */
typedef struct cli_file {
	int fd;
	bool direct;
	char path[4096], temporary[4096 + 16];
} cli_file;
dck_status cli_file_open(cli_file *f, const char *path, dck_err *err);
dck_status cli_file_commit(cli_file *f, dck_err *err);
void cli_file_abort(cli_file *f);
/* What was written into the sink is the file, or, where that failed (status, or the sink's), there
 * is none. Returns the first failure. */
dck_status cli_file_end(cli_file *f, dck_sink *out, dck_status status, dck_err *err);
/* Makes a directory, and those above it that are missing, with that mode. */
dck_status cli_directory_make(const char *path, mode_t mode, dck_err *err);
/* The figures that records have, as DIRECTORY/NAME.svg and .png. */
dck_status cli_figures_save(const cli *c, const char *folder, const dck_record *const *records,
			    size_t n, dck_err *err);
/* Records as a page for a browser, with c's timeline. */
dck_status cli_html_save(const cli *c, const char *path, const dck_record *const *records, size_t n,
			 dck_err *err);
/* Writes records to --html, and a single one to --save; returns `code`, or CLI_FAILED after saying
 * why not. No history takes them. */
int cli_records_keep(const cli *c, const dck_record *const *records, size_t n, int code);
/* Finds out whether cli_file_open() would succeed, and leaves nothing. */
dck_status cli_file_check(const char *path, dck_err *err);
dck_status cli_err(dck_err *err, dck_status code, const char *fmt, ...) DCK_PRINTF(3, 4);

/* progress.c: one line on a terminal, redrawn at most ten times a second. */
typedef struct cli_progress {
	bool on, utf8, colour, drawn;
	uint64_t last_ns;
	const char *phase;
} cli_progress;
void cli_progress_init(cli_progress *p, const cli_common *common, bool wanted);
void cli_progress_draw(cli_progress *p, const dck_progress *now);
void cli_progress_erase(cli_progress *p);

/* show.c: what the commands that make a record share. */
/* --save and --db can be written, so that nothing is measured in vain: CLI_OK, or the exit code
 * after saying why not. */
int cli_save_check(const cli *c);

/* Measures into a record, and stops where the observer says so. */
typedef dck_status (*cli_maker)(const cli *c, void *config, const dck_observer *o, dck_record **ret,
				dck_err *err);
/* Calls it with an observer that draws the progress line, shows the engine's log with --verbose and
 * obeys Ctrl-C; then shows and saves the record as cli_record_show() does. verdict: the exit code
 * of a record that was shown; NULL: it is always fine. A worker sends its record instead. Returns
 * the exit code. */
int cli_make(const cli *c, cli_maker make, void *config, int (*verdict)(const dck_record *r));
int cli_worker_run(const cli *c, cli_maker make, void *config);
/* The path of this program, for measurements in fresh processes. */
const char *cli_program(const cli *c);

/* Saves the record where --save says, and adds it to the history; returns `code`, or CLI_FAILED
 * after saying why it could not be saved. A history that cannot take it is a warning. */
int cli_record_save(const cli *c, const dck_record *r, int code);
/* Writes a measured record to stdout, its notes to stderr, and saves it. Returns the exit code. */
int cli_record_show(const cli *c, const dck_record *r);
/* The same of a command that runs a program, whose --out is opened when that has ended, since it
 * inherits stdout, and may be its call paths in another program's form. Check: before it is run. */
int cli_profile_check(const cli *c);
int cli_profile_show(const cli *c, const dck_record *r);
#define CLI_UNTIL_THEN "; this is what it had done until then"
/* Whether a profiled program is to be left alone, since only deepclock was interrupted. */
bool cli_program_cancelled(void *self);
/* Says how a profiled program ended, where that was not well (`more`: and what else there
 * is to say of a killed one), and returns the exit code; `code`: that of showing its record. */
int cli_program_ended(const char *name, int signal, int exit_code, const char *more, int code);
/* CLI_FAILED of a record whose outputs are wrong or that left something behind: a fast wrong model
 * must not pass. */
int cli_record_verdict(const dck_record *r);

/* subject_file.c: reads a subject; one that is a program, a directory or no file at all is refused
 * with what to write instead. An exit code; *ret_owned as of dck_subject_parse(). */
int cli_subject_parse(const cli *c, const char *text, dck_subject *s, void **ret_owned);
/* The first word of the text is a program that can be started. */
bool cli_is_program(const char *text);

/* subjects.c: what a subject may be, for help; and several of them, by name. {0} at first. */
extern const cli_item cli_model_items[], cli_subject_items[];
typedef struct cli_subjects {
	dck_subject of[DCK_ALTERNATIVES_MAX];
	void *owned[DCK_ALTERNATIVES_MAX];
	char name[DCK_ALTERNATIVES_MAX][160];
	dck_alternative all[DCK_ALTERNATIVES_MAX];
	size_t n;
	dck_alternative *scanned; /* owns what `all` points to after cli_subjects_scan() */
} cli_subjects;
/* The program after "--" or the first argument becomes c->subject. An exit code. */
int cli_subject_read(cli *c);
/* A model with open sizes is refused with the command line that gives them: it is measured at once.
 * An exit code. */
int cli_subject_check(const cli *c, const dck_subject *s);
/* Reads the subject and checks it, for commands that measure it as it is. */
int cli_subject_open(cli *c);
/* All arguments, or the program after "--", each with what is common to them (c->subject). An exit
 * code; free it in any case. */
int cli_subjects_read(const cli *c, cli_subjects *s);
/* Replaces `all` and `n` by those with the values of --scan, where there are any. An exit code. */
int cli_subjects_scan(const cli *c, cli_subjects *s);
void cli_subjects_free(cli_subjects *s);

const char *cli_zoo_word(
    size_t i); /* the built-in networks' names, for completion; NULL: no more */

#endif
