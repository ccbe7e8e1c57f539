/* show.c - the common path of commands that make a record: check, measure, show, save.
 *
 * The order is fixed. cli_save_check() checks --commit and --figures, and that --save, --html and
 * --db can be written, before anything is measured. cli_make() measures with an observer: progress
 * line, log of the engine, cancellation by a signal. cli_record_show() saves the record, writes the
 * report to stdout, then notes to stderr, then the other files, then the history. A failed step
 * does not skip the next, so a full disk does not lose a measurement; it makes the exit code
 * CLI_FAILED, except for the history, which only warns.
 *
 * A command that runs a program opens --out after the program has ended (cli_profile_show()),
 * because the program inherits stdout. In a worker process the record goes to a descriptor instead
 * (cli_worker.c).
 *
 * Threads of the engine may call on_log(): it holds the lock of stderr (flockfile(3)) while it
 * erases the progress line and prints.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include "report_calls.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAVE_ROW                                                                               \
	DCK_OPTION(TEXT, cli_output, save, "save", "FILE", NULL,                               \
		   "keep the record in FILE, as JSON; 'deepclock report FILE' shows it again", \
		   .letter = 's')
#define HTML_ROW                                                 \
	DCK_OPTION(TEXT, cli_output, html, "html", "FILE", NULL, \
		   "write the result to FILE too, as a page with charts for a browser")

const dck_opt cli_keep_options[] = {SAVE_ROW, HTML_ROW, {0}};

const dck_opt cli_save_options[] = {
    SAVE_ROW,
    HTML_ROW,
    CLI_SOURCES(cli_output),
    DCK_OPTION(TEXT, cli_output, figures, "figures", "DIR", NULL,
	       "draw its figures into that directory too, as SVG and PNG"),
    DCK_OPTION(TEXT, cli_output, db, "db", "FILE", NULL,
	       "history to which the record is added, a file or postgresql://HOST/DATABASE; also "
	       "without --save",
	       .excludes = "no-history"),
    DCK_OPTION(TEXT, cli_output, commit, "commit", "ID", NULL,
	       "its commit in the history; default: that of the Git working tree",
	       .needs = "save db", .excludes = "no-history"),
    DCK_FLAG(cli_output, no_history, "no-history", "do not add it to the history"),
    {0},
};

const dck_opt cli_progress_options[] = {
    DCK_FLAG(cli_output, no_progress, "no-progress", "no progress line, also on a terminal"),
    {0},
};

static const char *const per[] = {"metric", "run", NULL};

const dck_opt cli_per_options[] = {
    DCK_OPTION(CHOICE, cli_output, per, "per", "WHAT", "metric", "the rows of CSV", .choices = per),
    {0},
};

/* The state of the observer. */
typedef struct watch {
	const cli_common *common;
	cli_progress line;
} watch;

static void on_progress(void *self, const dck_progress *p)
{
	watch *w = self;

	cli_signals_phase(p->phase);
	cli_progress_draw(&w->line, p);
}

/* The engine's warnings become notes of the record in any case, so its log is shown with --verbose
 * only. */
static void on_log(void *self, dck_log_level level, const char *text)
{
	static const char *const names[] = {"debug", "info", "warning", "error"};
	watch *w = self;

	if (!w->common->verbose || w->common->quiet)
		return;
	flockfile(stderr);
	cli_progress_erase(&w->line);
	cli_message("engine, %s: %s", level <= DCK_LOG_ERROR ? names[level] : "?", text);
	funlockfile(stderr);
}

const char *cli_program(const cli *c)
{
	static const char exe[] = "/proc/self/exe";
	char real[PATH_MAX];
	const ssize_t n = readlink(exe, real, sizeof real - 1);

	real[n > 0 ? n : 0] = '\0';
	const char *slash = strrchr(real, '/');
	/* The dynamic loader that was called by its name: 'ld-linux-x86-64.so.2 ./deepclock'. */
	if (slash && strncmp(slash, "/ld-", 4) == 0)
		return c->argv[0];
	/* This is the same file even when it was replaced or PATH has changed since the start. */
	return access(exe, X_OK) == 0 ? exe : c->argv[0];
}

/* Returns whether the missing file and directories of the path can be created. If not, errno has
 * the reason. */
static bool can_be_made(const char *path)
{
	char directory[4096];
	struct stat st;

	snprintf(directory, sizeof directory, "%s", path);
	for (;;) {
		char *slash = strrchr(directory, '/');

		if (!slash)
			strcpy(directory, ".");
		else
			slash[slash == directory] = '\0';
		if (stat(directory, &st) == 0)
			break;
		if (errno != ENOENT || strcmp(directory, ".") == 0)
			return false;
	}
	errno = ENOTDIR;
	return S_ISDIR(st.st_mode) && access(directory, W_OK | X_OK) == 0;
}

static int show_history_check(const char *path)
{
	dck_history_config config;
	dck_history *history;
	struct stat st;
	dck_err err;

	if (dck_history_is_server(path))
		return dck_history_server_check(path, &err) == DCK_OK ? CLI_OK : cli_failed(&err);
	if (stat(path, &st) != 0) {
		if (errno == ENOENT && can_be_made(path))
			return CLI_OK;
		cli_message("--db: the history '%s' cannot be made: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	dck_history_config_init(&config);
	config.path = path;
	config.existing = true;
	/* An empty file is being created by another process. */
	if (!S_ISREG(st.st_mode) || st.st_size > 0) {
		if (dck_history_open(&config, &history, &err) != DCK_OK)
			return cli_failed(&err);
		dck_history_close(history);
	}
	if (access(path, W_OK) == 0)
		return CLI_OK;
	cli_message("--db: the history '%s' cannot be written: %s", path, strerror(errno));
	return CLI_FAILED;
}

/* Returns why this build cannot write the page, or NULL. */
static const char *page_missing(void)
{
	size_t n;
	const dck_writer *html = dck_writers(&n)[CLI_HTML];

	return html->missing ? html->missing() : NULL;
}

/* Returns whether --figures names a picture of another format rather than a directory. */
static bool show_is_other_picture(const char *path)
{
	static const char *const endings[] = {".pdf",  ".eps",	".ps",	".jpg",
					      ".jpeg", ".webp", ".gif", ".tiff"};

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (cli_ends_in(path, endings[i]))
			return true;
	return false;
}

int cli_save_check(const cli *c)
{
	const cli_output *o = &c->output;
	dck_err err;

	if (o->save && strcmp(o->save, "-") == 0)
		return cli_usage(
		    c, "--save needs a file; for the record on stdout give --format json");
	if (o->html && strcmp(o->html, "-") == 0)
		return cli_usage(c,
				 "--html needs a file; for the page on stdout give --format html");
	if (o->save && cli_file_check(o->save, &err) != DCK_OK) {
		cli_message("--save: %s", err.msg);
		return CLI_FAILED;
	}
	if (o->figures && show_is_other_picture(o->figures))
		return cli_usage(c, "--figures: '%s' cannot be drawn: figures are .svg or .png",
				 o->figures);
	if ((o->html || c->format.format == CLI_HTML) && page_missing()) {
		cli_message("%s", page_missing());
		return CLI_FAILED;
	}
	if (o->html && cli_file_check(o->html, &err) != DCK_OK) {
		cli_message("--html: %s", err.msg);
		return CLI_FAILED;
	}
	if (o->commit && dck_history_commit_check(o->commit, &err) != DCK_OK)
		return cli_usage(c, "--commit: %s", err.msg);
	/* 'compare --history' only reads it. */
	return o->db && (o->commit || !cli_given(c, "history")) ? show_history_check(o->db)
								: CLI_OK;
}

/* Prints notes to stderr. The text report has them, so with text only errors are printed, and only
 * where stdout is not a terminal, because the user may not see the report. A note with a cause
 * (`under`) is not printed: its cause is. */
static void notes_print(const cli *c, const dck_record *r, bool text)
{
	for (size_t i = 0; i < r->nnotes; i++) {
		const dck_note *note = &r->notes[i];
		const bool error =
		    note->severity == DCK_ERROR &&
		    (!text || (!isatty(STDOUT_FILENO) && strcmp(note->code, "interrupted") != 0));
		const bool warn = note->severity == DCK_WARN && !text && !c->common.quiet;

		if ((error || warn) && !note->cause)
			cli_message("%s", note->text);
	}
}

/* A history that cannot take the record is a warning, since the measurement is good without it. */
static void history_add(const cli *c, const dck_record *r)
{
	dck_err err;

	if (dck_history_keep(c->output.db, r, c->output.commit, &err) != DCK_OK && !c->common.quiet)
		cli_message("the record is not in the history: %s", err.msg);
}

/* Writes the page and the figures, and adds the record to the history; returns `code`, or
 * CLI_FAILED after a message. A failure of the history is only a warning. */
static int show_others_keep(const cli *c, const dck_record *r, int code)
{
	const cli_output *o = &c->output;
	dck_err err;

	code = cli_page_keep(c, &r, 1, code);
	if (o->figures && cli_figures_save(c, o->figures, &r, 1, &err) != DCK_OK) {
		cli_message("%s", err.msg);
		code = CLI_FAILED;
	}
	if ((o->save || o->db) && !o->no_history)
		history_add(c, r);
	return code;
}

static int record_end(const cli *c, const dck_record *r, int code, bool text)
{
	notes_print(c, r, text);
	/* Written even when stdout is full. */
	code = show_others_keep(c, r, code);
	/* Ctrl-C reaches a measured program too, whose death may come first. */
	if (code == CLI_OK && r->incomplete)
		code = cli_signal_seen() || dck_record_note(r, "interrupted") ? CLI_INTERRUPTED
									      : CLI_FAILED;
	return code;
}

int cli_record_show(const cli *c, const dck_record *r)
{
	/* Saved first, since the text names the file; shown even when it cannot be saved. */
	const int saved = cli_record_keep(c, r);
	const int shown = cli_report_kept(c, &r, 1, saved == CLI_OK ? c->output.save : NULL);

	return record_end(c, r, saved == CLI_OK ? shown : saved, c->format.format == CLI_TEXT);
}

/* Returns the call-path format of --out's file extension, or NULL for a record format. */
static const char *show_form_of(const cli *c, bool *ret_gzip)
{
	const char *path = c->format.profile;
	const char *form =
	    path && !cli_given(c, "format") ? dck_trace_format_of(path, ret_gzip) : NULL;

	return form && report_calls_has_form(form) ? form : NULL;
}

int cli_metrics_check(const cli *c, const char *path)
{
	const int format = path && !cli_given(c, "format")
			       ? cli_format_by_ending(path, c->format.format)
			       : c->format.format;

	if (format != CLI_OPENMETRICS && format != CLI_OTLP && format != CLI_BENCHER)
		return CLI_OK;
	return cli_usage(c,
			 "the format '%s' has metrics alone, and this result has none: "
			 "csv, json, markdown and html have all of it",
			 cli_formats[format]);
}

int cli_profile_check(const cli *c)
{
	const char *path = c->format.profile;
	bool gzip;
	dck_err err;

	if (!path || strcmp(path, "-") == 0)
		return CLI_OK;
	if (!show_form_of(c, &gzip) && !cli_given(c, "format") &&
	    cli_format_by_ending(path, -1) < 0)
		return cli_usage(
		    c,
		    "'%s' ends in no format:" DCK_WRITER_MAP(
			CLI_WRITER_ENDING) ", or for call paths" DCK_CALLS_FORMAT_MAP(CLI_CALLS_ENDING),
		    path);
	return cli_file_check(path, &err) == DCK_OK ? CLI_OK : cli_failed(&err);
}

int cli_profile_show(const cli *c, const dck_record *r)
{
	const char *path = c->format.profile;
	const dck_calls_view view = {0};
	bool gzip = false;
	const char *form = show_form_of(c, &gzip);
	dck_status status = DCK_OK;
	cli_file file;
	dck_sink out;
	dck_err err;
	int code;

	if (!form) {
		status = path ? cli_stdout_open(path, &err) : DCK_OK;
		if (status == DCK_OK)
			return cli_record_show(c, r);
	} else if ((status = cli_file_open(&file, path, &err)) == DCK_OK) {
		dck_sink_fd(&out, file.fd);
		status = dck_calls_write(r, &view, form, gzip, &out, &err);
		status = cli_file_end(&file, &out, status, &err);
	}
	code = status == DCK_OK ? CLI_OK : cli_failed(&err);
	return record_end(c, r, cli_record_keep(c, r) == CLI_OK ? code : CLI_FAILED, false);
}

int cli_record_verdict(const dck_record *r)
{
	static const char *const failures[] = {"outputs-differ", "cleanup-failed", "trace-failed",
					       "no-batch-fits"};

	for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
		if (dck_record_note(r, failures[i]))
			return CLI_FAILED;
	return CLI_OK;
}

int cli_record_gate(const dck_record *r)
{
	const int code = cli_record_verdict(r);

	return code == CLI_OK ? (int)dck_record_gate(r) : code;
}

int cli_make(const cli *c, cli_maker make, void *config, int (*verdict)(const dck_record *r))
{
	watch w = {.common = &c->common};
	const dck_observer observer = {
	    .self = &w, .progress = on_progress, .log = on_log, .cancelled = cli_cancelled};
	dck_record *record;
	dck_status status;
	dck_err err;
	int code;

	if (c->worker.fd > 0)
		return cli_worker_run(c, make, config);
	cli_progress_init(&w.line, &c->common, !c->output.no_progress);
	cli_signals_install();
	cli_signals_watchdog();
	status = make(c, config, &observer, &record, &err);
	cli_signals_finished();
	cli_progress_erase(&w.line);
	if (status != DCK_OK) {
		code = cli_failed(&err);
		return cli_signal_seen() ? CLI_INTERRUPTED : code;
	}
	code = cli_record_show(c, record);
	if (code == CLI_OK && verdict)
		code = verdict(record);
	dck_record_free(record);
	return code;
}
