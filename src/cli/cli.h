/* cli.h - the command-line interface: common part of the commands. A command is one const
 * descriptor in one file; parsing, help, man pages and completion are generated from the
 * descriptors. cmd_machine.c is a short example.
 *
 * Only the program prints and exits: results to stdout, everything else to stderr.
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

/* Format and destination of a result. Zeroed: to stdout as text. */
typedef struct cli_format {
	int format;	 /* index into cli_formats */
	const char *out; /* a file instead of stdout; NULL: stdout */
	/* For commands whose program writes to stdout: the file is opened at the end;
	 * cli_profile_show() */
	const char *profile;
	bool details, sources;
	const char *source_root;
} cli_format;
/* An option row of the commands that write a page. */
#define CLI_SOURCES(config)                                                                        \
	DCK_FLAG(config, sources, "sources",                                                       \
		 "of a page (html): also the text of the source lines that call paths name, from " \
		 "files below the working directory; every reader of the page can read them"),     \
	    DCK_OPTION(TEXT, config, source_root, "source-root", "DIR", NULL,                      \
		       "--sources, also from files below this directory")
extern const char *const cli_formats[]; /* DCK_WRITER_MAP: "text", "json", ..., NULL */
enum {
#define X(id, NAME, ending, text) CLI_##NAME,
	DCK_WRITER_MAP(X) CLI_NFORMATS
#undef X
};
/* For texts: " .json", " .folded". */
#define CLI_WRITER_ENDING(id, NAME, ending, text) " " ending
#define CLI_CALLS_ENDING(id, ending, gzip, text)  " " ending
extern const dck_opt cli_format_options[], cli_profile_options[];
/* Returns the format of the file's extension: CSV for "run.csv". */
int cli_format_by_ending(const char *path, int other);
bool cli_ends_in(const char *text, const char *end); /* and is longer */

/* Destinations of a record, and the parts of it that are shown. */
typedef struct cli_output {
	const char *save, *html, *figures, *db, *commit, *source_root;
	bool no_history, no_progress, sources;
	int per; /* index into metric, run: the rows of CSV */
} cli_output;
extern const dck_opt cli_save_options[], cli_progress_options[], cli_per_options[];
/* --save and --html of a result that is not a measurement: it is not added to a history. */
extern const dck_opt cli_keep_options[];

/* A worker: a process that the library started for a measurement. It writes its record, or the
 * error, to a descriptor. */
typedef struct cli_worker {
	uint64_t fd;	    /* 0: not a worker */
	uint64_t of;	    /* the process that started it */
	uint64_t enough_ns; /* dck_plan.enough_ns */
	bool trials;	    /* it answers requests of a comparison, instead of one record */
} cli_worker;
extern const dck_opt cli_worker_options[];

/* The values of a program's words (--scan). */
typedef struct cli_scan {
	dck_list scan;
} cli_scan;
extern const dck_opt cli_scan_options[];

/* One option table, and the struct that its values are stored in. */
typedef struct cli_group {
	const char *title;    /* NULL: not in help, man page or completion */
	const dck_opt *table; /* NULL ends the list */
	size_t at;
	bool shared; /* `at` is an offset in struct cli, not in the command's config */
} cli_group;

/* Groups used by several commands. */
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

/* Shell completions of an argument. */
typedef struct cli_words {
	const char *prefix; /* completions: prefix + get(0), prefix + get(1), ... until NULL */
	const char *(*get)(size_t i); /* NULL: none */
	bool commands;		      /* also the names of the commands */
	/* For a command whose first argument is an action: completions after this action. Otherwise
	 * actions and names are completed first, options and files later. */
	const char *action;
	const char *(*follow)(size_t i);
	bool files; /* also file names */
} cli_words;
/* Completions of a model: a built-in network or a file. */
extern const cli_words cli_model_words;

typedef struct cli cli;

/* Names of an option in other tools. Words are compared without case, '-' and '_'. Both lists end
 * with NULL. */
typedef struct cli_hint {
	const char *words[20]; /* of other tools; an empty list ends the table */
	const char *ours[4];   /* the hint names the first that the command has */
	const char *say;       /* additional text; NULL: none */
} cli_hint;
extern const cli_hint cli_hints_trace[]; /* hints_table.c: of nsys */
extern const cli_hint cli_hints_sample[];

/* A config of the library as the command's own, or as a member of it. */
#define CLI_CONFIG(type) .config_size = sizeof(type), .sized = {{0, sizeof(type)}}
#define CLI_SIZED(type, member)                                                  \
	{                                                                        \
		offsetof(type, member), (uint32_t)sizeof(((type *)NULL)->member) \
	}

/* Members of a command whose argument is one model. */
#define CLI_ONE_MODEL .min_args = 1, .max_args = 1, .arg = "MODEL", .words = &cli_model_words

typedef struct cli_command {
	const char *name, *summary;
	const char *usage[16]; /* synopsis after "deepclock NAME", one per line; NULL-ended */
	const char *about;     /* paragraphs, separated by an empty line */
	cli_section sections[4];
	cli_item examples[16]; /* term: the command line; text: its description */
	cli_group groups[20];  /* and the common options; zeroes end these four lists */
	/* Options in several tables that set only the first table; NULL-ended, NULL: none. Other
	 * options set every table that has them. */
	const char *const *first_only;
	size_t config_size; /* size of the command's own config: zeroes, and the tables' defaults */
	/* The library's configs in it, which begin with their sizes; size 0: none. */
	struct {
		size_t at;
		uint32_t size;
	} sized[2];
	void (*config_init)(void *config); /* if defaults of other tables are needed; NULL */
	unsigned min_args, max_args;
	const char *arg;	/* name of an argument in messages */
	bool takes_command;	/* "--" starts a program with its arguments */
	bool takes_programs;	/* only as 'cmd:PROGRAM ARG...' */
	const cli_words *words; /* NULL: no completion */
	/* Name of the output, for messages, if --format, --html and --save do not apply to it;
	 * NULL: they apply. */
	const char *no_result;
	const cli_hint *hints; /* options of other tools, only for this command; NULL: none */
	int (*run)(cli *c, void *config);
} cli_command;

enum { CLI_GIVEN_MAX = 256 };
struct cli {
	int argc;
	char **argv;
	const cli_command *command;
	const cli_command *const *commands; /* all of them, NULL-ended */
	char **args;			    /* [nargs], argv without options */
	unsigned nargs;
	char **program; /* argv after "--", for commands that run a program; NULL: none */
	/* Values of the shared groups; zeros for groups that the command does not have. */
	cli_common common;
	cli_format format;
	cli_output output;
	cli_worker worker;
	cli_scan scan;
	dck_op_view ops;
	dck_subject subject;		    /* settings common to several subjects */
	void *config;			    /* the command's own */
	char title[8192];		    /* the words of the command line: a record's title */
	void *owned;			    /* storage that the subject points to */
	dck_timeline timeline;		    /* source of the drawn trace; {0}: none */
	dck_opt_given given[CLI_GIVEN_MAX]; /* each option once */
	size_t ngiven;
};

/* Parses argv[first...] into *c and its config (parse.c). Prints errors; returns an exit code. */
int cli_parse(cli *c, int first);
/* Returns whether the option was given on the command line. */
bool cli_given(const cli *c, const char *name);

/* Returns option group i: the groups of the command, then the common group; table NULL after the
 * last (rows.c). */
cli_group cli_group_get(const cli_command *command, size_t i);
/* Returns the struct that the values of the group are stored in. */
void *cli_group_config(cli *c, const cli_group *group);
/* Iterator over the options of a command. Starts as {0}. */
typedef struct cli_option {
	const dck_opt *row;
	cli_group group; /* group whose table has the row */
	size_t index;	 /* of the group */
} cli_option;
/* Advances to the next row of any table, hidden ones too. Returns false at the end. */
bool cli_row_next(const cli_command *command, cli_option *o);
/* Advances to the next visible option; an option in two tables comes once. Returns false at the
 * end. */
bool cli_option_next(const cli_command *command, cli_option *o);
/* Finds a command by name; NULL: none. */
const cli_command *cli_command_find(const cli_command *const *all, const char *name);
/* Finds an option by name or, if name is NULL, by letter; NULL: none. */
const dck_opt *cli_option_find(const cli_command *command, const char *name, char letter);

/* help.c */
void cli_help_command(FILE *out, const cli_command *command, const dck_style *style);
/* Writes the short help for a call without a command. */
void cli_help_short(FILE *out, const dck_style *style);
void cli_help_all(FILE *out, const cli_command *const *all, const dck_style *style);
void cli_help_metrics(FILE *out, const dck_style *style);
void cli_help_notes(FILE *out, const dck_style *style);
/* Writes the row's help with the values that it accepts: "one of median, mean, p90, p99 (default:
 * median)". */
void cli_option_text(const dck_opt *row, char *buf, size_t size);
extern const cli_item cli_exit_codes[];

/* Writes the text in lines of at most `width` columns (wrap.c). The cursor is at `column`; lines
 * after the first start at `indent`. */
void cli_wrap(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width);
/* Returns the width of the text in terminal columns, which is its number of code points. */
unsigned cli_columns(const char *text);
/* Writes at most `columns` columns of the text, with '?' instead of control characters. Returns the
 * number of columns written. */
unsigned cli_put(FILE *out, const char *text, unsigned columns);
void cli_pad(FILE *out, unsigned column, unsigned to);
/* Writes argv into buf, quoted for a shell; truncated with "..." if it does not fit. */
void cli_quote_words(char *const *words, char *buf, size_t size);

/* A listing: tables of rows that were not measured (listing.c), filled as a table, its cells,
 * another table. Zeroed at first. Texts are borrowed until they are shown; NULL: none. */
typedef struct cli_listing {
	dck_table tables[2];
	dck_cell *cells;
	size_t ntables, n, cap, begin; /* begin: the last table's first cell */
	bool failed;
} cli_listing;
void cli_listing_table(cli_listing *l, const char *name, const char *title,
		       const dck_column *columns, size_t ncolumns);
#define CLI_LISTING_TABLE(l, name, title, columns) \
	cli_listing_table(l, name, title, columns, sizeof(columns) / sizeof *(columns))
void cli_listing_text(cli_listing *l, const char *text);
void cli_listing_int(cli_listing *l, int64_t v);
void cli_listing_absent(cli_listing *l, const char *why);
/* Writes the tables as a record, to --save and --html too, and frees them. */
int cli_listing_show(const cli *c, cli_listing *l);
/* The same for a command that has written the text itself: with --format text to --save and --html
 * alone. */
int cli_listing_keep(const cli *c, cli_listing *l);

/* Writes one line to stderr, "deepclock: MESSAGE" (message.c). */
void cli_message(const char *fmt, ...) DCK_PRINTF(1, 2);
/* Writes the message of an error; returns its exit code. */
int cli_failed(const dck_err *err);
int cli_usage(const cli *c, const char *fmt, ...) DCK_PRINTF(2, 3); /* returns CLI_USAGE */
int cli_no_memory(void);					    /* returns CLI_FAILED */
/* Writes "no WHAT 'WORD'; did you mean 'NAME'?" with the nearest of n names, else `otherwise` after
 * the semicolon. Returns CLI_USAGE. */
int cli_unknown(const cli *c, const char *what, const char *word, const char *const *names,
		size_t n, const char *otherwise);

/* term.c */
dck_style cli_style(const cli_common *common, int fd);
bool cli_term_can_redraw(int fd);
/* Replaces, in place, units that the locale cannot show. */
char *cli_units(char *text);
unsigned cli_term_width(int fd);

/* signals.c: handling of SIGINT, SIGTERM and SIGHUP. They kill the program by the default action;
 * unfinished files are removed. */
/* Initialises signals; call it first. A closed pipe and a file at its size limit become write
 * errors, and no file can get the descriptors 0, 1, 2. */
void cli_signals_begin(void);
/* Installs handlers: the first signal only sets a flag. */
void cli_signals_install(void);
/* Also kills the program if the flag is not checked within 5 s, or the program does not end within
 * 30 s after that, because an engine may hang. */
void cli_signals_watchdog(void);
/* Sets the mode for profiling a program. A program that we started may ignore the signals: the
 * second signal, or 5 s after the first, kills it, and the recording is reported; only a later
 * signal ends us. */
void cli_signals_program(bool started);
/* Notes what is done now, of dck_progress, to name a first run that does not return. */
void cli_signals_phase(const char *phase);
bool cli_signal_killed(void);	 /* whether it was killed */
void cli_signals_finished(void); /* disables the watchdog: the rest has no time limit */
/* Makes this process, a worker, end with the process that started it. */
void cli_signals_die_with_parent(pid_t starter);
bool cli_signal_seen(void);
bool cli_signal_ours(void); /* a signal only to us, not also to the programs that we started, as a
			       terminal sends it */
bool cli_cancelled(void *self); /* for an observer: whether a signal arrived */

/* output.c */
/* Flushes stdout; on failure returns cli_stdout_failed(), else `code`. At the end of the program it
 * also commits the file that stdout is redirected to. */
int cli_stdout_finish(int code);
int cli_stdout_close(int code);
/* Discards the file that stdout was opened as. */
void cli_stdout_drop(void);
/* A result that began to be written cannot be finished: writes the message, discards the file, and
 * returns the exit code of the error. */
int cli_result_failed(const dck_err *err);
/* Reports, once, that stdout cannot be written; `why`: errno or 0. Returns CLI_FAILED. A pipe
 * closed by its reader is not an error: returns CLI_UNREAD without a message. */
int cli_stdout_failed(int why);
/* Redirects stdout to a file, which is written atomically when stdout is finished. */
dck_status cli_stdout_open(const char *path, dck_err *err);
/* Writes records to stdout. style: from cli_style(); the format's --details is added. */
int cli_report(const cli *c, const dck_record *const *records, size_t n, const dck_style *style);
/* Writes records with the command line's selection of operators and rows. file: the saved record,
 * which the output names for the rest; NULL: not saved. */
int cli_report_kept(const cli *c, const dck_record *const *records, size_t n, const char *file);
/* A file that is written atomically; "-" is stdout. */
typedef struct cli_file {
	int fd;
	const char *path;     /* borrowed; for messages */
	dck_replace *replace; /* NULL: stdout */
} cli_file;
dck_status cli_file_open(cli_file *f, const char *path, dck_err *err);
dck_status cli_file_commit(cli_file *f, dck_err *err);
void cli_file_abort(cli_file *f);
/* Commits the bytes of the sink as the file; on failure (status, or the sink's) no file is written.
 * Returns the first failure. */
dck_status cli_file_end(cli_file *f, dck_sink *out, dck_status status, dck_err *err);
/* Makes a directory and its missing parents, with that mode. */
dck_status cli_directory_make(const char *path, mode_t mode, dck_err *err);
/* Writes the figures of records as DIRECTORY/NAME.svg and .png. */
dck_status cli_figures_save(const cli *c, const char *directory, const dck_record *const *records,
			    size_t n, dck_err *err);
/* Writes records as an HTML page, with c's timeline. */
dck_status cli_html_save(const cli *c, const char *path, const dck_record *const *records, size_t n,
			 dck_err *err);
/* Writes records to --html, and a single record to --save, but to no history; returns `code`, or
 * CLI_FAILED after a message. */
int cli_records_keep(const cli *c, const dck_record *const *records, size_t n, int code);
/* Its two parts. */
int cli_record_keep(const cli *c, const dck_record *r);
int cli_page_keep(const cli *c, const dck_record *const *records, size_t n, int code);
/* Checks whether cli_file_open() would succeed, and leaves no file. */
dck_status cli_file_check(const char *path, dck_err *err);
dck_status cli_err(dck_err *err, dck_status code, const char *fmt, ...) DCK_PRINTF(3, 4);

/* Progress line on a terminal, redrawn at most ten times a second (progress.c). */
typedef struct cli_progress {
	bool on, utf8, colour, drawn;
	uint64_t last_ns;
	const char *phase;
} cli_progress;
void cli_progress_init(cli_progress *p, const cli_common *common, bool wanted);
void cli_progress_draw(cli_progress *p, const dck_progress *now);
void cli_progress_erase(cli_progress *p);

/* show.c: common functions of the commands that make a record. */
/* Checks before a measurement that --save and --db can be written. Returns CLI_OK, or the exit code
 * after a message. */
int cli_save_check(const cli *c);

/* Measures into a record; stops if the observer cancels. */
typedef dck_status (*cli_maker)(const cli *c, void *config, const dck_observer *o, dck_record **ret,
				dck_err *err);
/* Defines a cli_maker that measures the subject of the command line by a function of the library.
 */
#define CLI_MAKER(name, measure)                                                  \
	static dck_status name(const cli *c, void *config, const dck_observer *o, \
			       dck_record **ret, dck_err *err)                    \
	{                                                                         \
		return measure(&c->subject, config, o, ret, err);                 \
	}
/* Calls `make` with an observer that draws the progress line, shows the engine's log with --verbose
 * and handles Ctrl-C; then shows and saves the record as cli_record_show() does. verdict: returns
 * the exit code of a shown record; NULL: success. A worker sends its record instead. Returns the
 * exit code. */
int cli_make(const cli *c, cli_maker make, void *config, int (*verdict)(const dck_record *r));
int cli_worker_run(const cli *c, cli_maker make, void *config);
/* Measures trials for the comparison that started this process. Returns the exit code. */
int cli_worker_trials(const cli *c, const dck_plan *plan);
/* Returns the path of this program, for measurements in fresh processes. */
const char *cli_program(const cli *c);

/* Writes a measured record to stdout, its notes to stderr, and saves it. Returns the exit code. */
int cli_record_show(const cli *c, const dck_record *r);
/* Check and show the record of a command that runs a program. --out is opened after the program has
 * ended, because the program inherits stdout; it may have the call paths in another tool's format.
 * Call the check before the run. */
int cli_profile_check(const cli *c);
/* CLI_USAGE, after a message, if the format holds metrics alone: for a result without metrics.
 * path: of the result; NULL: stdout. */
int cli_metrics_check(const cli *c, const char *path);
int cli_profile_show(const cli *c, const dck_record *r);
#define CLI_UNTIL_THEN "; the results are partial"
/* Returns whether to detach from a profiled program, because only deepclock was interrupted. */
bool cli_program_cancelled(void *self);
/* Reports why a profiled program has no record, and returns the exit code. */
int cli_program_failed(const dck_err *err);
/* Reports how a profiled program ended, if not successfully (`more`: additional text for a killed
 * program), and returns the exit code; `code`: exit code of showing its record. */
int cli_program_ended(const dck_program *p, const char *more, int code);
/* Returns CLI_FAILED for a record with wrong outputs, a failed cleanup, a failed trace, or no batch
 * size that fits, because a fast wrong model must not pass. */
int cli_record_verdict(const dck_record *r);
/* The same, and else the record's gate. */
int cli_record_gate(const dck_record *r);

/* Returns whether it begins with "cmd:" or another scheme. */
bool cli_has_scheme(const char *text);
/* Reads a subject (subject_file.c); rejects a program, a directory or a missing file with a
 * message that has the correct syntax. Returns an exit code; *ret_owned: see dck_subject_parse().
 */
int cli_subject_parse(const cli *c, const char *text, dck_subject *s, void **ret_owned);
/* Returns whether the first word of the text is an executable program. */
bool cli_is_program(const char *text);

/* subjects.c: the kinds of subjects, for help; and a list of named subjects. {0} at first. */
extern const cli_item cli_model_items[], cli_subject_items[];
typedef struct cli_subjects {
	dck_subject of[DCK_ALTERNATIVES_MAX];
	void *owned[DCK_ALTERNATIVES_MAX];
	char name[DCK_ALTERNATIVES_MAX][160];
	dck_alternative all[DCK_ALTERNATIVES_MAX];
	size_t n;
	dck_alternative *scanned; /* owns the array `all` after cli_subjects_scan() */
} cli_subjects;
/* Reads c->subject from the program after "--" or the first argument. Returns an exit code. */
int cli_subject_read(cli *c);
/* Rejects a model with open sizes; the message has a command line that gives them. Returns an exit
 * code. */
int cli_subject_check(const cli *c, const dck_subject *s);
/* Reads and checks the subject, for commands that measure it unchanged. Returns an exit code. */
int cli_subject_open(cli *c);
/* Reads all arguments, or the program after "--", each with the common settings (c->subject).
 * Returns an exit code; the caller frees *s in any case. */
int cli_subjects_read(const cli *c, cli_subjects *s);
/* Replaces `all` and `n` by the subjects with the values of --scan, if given. Returns an exit code.
 */
int cli_subjects_scan(const cli *c, cli_subjects *s);
void cli_subjects_free(cli_subjects *s);

const char *cli_zoo_word(
    size_t i); /* names of the built-in networks, for completion; NULL: no more */

#endif
