/* output.c - results to stdout, and files written atomically: temporary file, then rename.
 *
 * A cli_file is stdout or a dck_replace: PATH has its old content or all of its new content, also
 * after a crash, on a full disk, or when a signal ends the program.
 *
 * A process has one stdout, and so one `result`. cli_stdout_open() replaces descriptor 1 by such a
 * file; main() commits it at the end (cli_stdout_close()), or aborts it when the command failed
 * before any output. A failed write to stdout is reported once; if the reader of a pipe has closed
 * it, nothing is reported and the exit code is CLI_UNREAD.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

dck_status cli_err(dck_err *err, dck_status code, const char *fmt, ...)
{
	va_list ap;

	*err = (dck_err){.code = code};
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	return code;
}

/* The state of stdout. */
static struct {
	cli_file file;
	bool is_file, failed, unread;
} result;

/* Polls the pipe where stdio has lost the errno of a failed write. */
static bool reader_gone(int why)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return why == EPIPE || (why == 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLERR));
}

/* A closed pipe (head has its lines) is not reported as an error. */
int cli_stdout_failed(int why)
{
	if (!result.failed) {
		result.failed = true;
		result.unread = !result.is_file && reader_gone(why);
		if (!result.unread)
			cli_message(
			    "cannot write to %s%s%s%s%s", result.is_file ? "'" : "standard output",
			    result.is_file ? result.file.path : "", result.is_file ? "'" : "",
			    why > 0 ? ": " : "", why > 0 ? strerror(why) : "");
	}
	return result.unread ? CLI_UNREAD : CLI_FAILED;
}

int cli_stdout_finish(int code)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return code;
	/* A write that failed earlier may have left nothing to flush: another one has its reason.
	 */
	if (errno == 0 && write(STDOUT_FILENO, "\n", 1) >= 0)
		return cli_stdout_failed(0);
	return cli_stdout_failed(errno);
}

dck_status cli_stdout_open(const char *path, dck_err *err)
{
	dck_status status;

	if (strcmp(path, "-") == 0)
		return DCK_OK;
	status = cli_file_open(&result.file, path, err);
	if (status != DCK_OK)
		return status;
	if (dup2(result.file.fd, STDOUT_FILENO) < 0) {
		status = cli_err(err, DCK_E_IO, "cannot write '%s': %s", path, strerror(errno));
		cli_file_abort(&result.file);
		return status;
	}
	result.is_file = true;
	return DCK_OK;
}

/* Leaves the old file unchanged if the command failed before it had a result. */
int cli_stdout_close(int code)
{
	struct stat st;
	dck_err err;

	code = cli_stdout_finish(code);
	if (!result.is_file)
		return code;
	if (result.failed ||
	    (code != CLI_OK && (fstat(result.file.fd, &st) < 0 || st.st_size == 0))) {
		cli_file_abort(&result.file);
		return code;
	}
	return cli_file_commit(&result.file, &err) == DCK_OK ? code : cli_failed(&err);
}

void cli_stdout_drop(void)
{
	if (result.is_file)
		cli_file_abort(&result.file);
}

int cli_result_failed(const dck_err *err)
{
	cli_stdout_drop();
	return cli_failed(err);
}

static void source_found(void *self, const char *file)
{
	(void)self;
	cli_message("the page has source lines of '%s'", file);
}

/* Copies the options of sources; --source-root implies --sources. */
static void sources_of(const cli *c, dck_style *style)
{
	style->source_root = c->format.source_root ? c->format.source_root : c->output.source_root;
	style->sources |= c->format.sources || c->output.sources || style->source_root;
	style->source_found = c->common.quiet ? NULL : source_found;
}

int cli_report(const cli *c, const dck_record *const *records, size_t n, const dck_style *style)
{
	dck_style own = *style;
	dck_sink out;
	dck_err err;
	int code = cli_stdout_finish(CLI_OK);

	if (code != CLI_OK)
		return code;
	own.details |= c->format.details;
	sources_of(c, &own);
	if (!own.rest && !own.details)
		own.rest = "--details";
	dck_sink_fd(&out, STDOUT_FILENO);
	if (dck_report(cli_formats[c->format.format], records, n, &own, &out, &err) != DCK_OK)
		return cli_result_failed(&err);
	if (dck_sink_finish(&out, &err) != DCK_OK)
		return cli_stdout_failed((int)err.native_code);
	return CLI_OK;
}

int cli_report_kept(const cli *c, const dck_record *const *records, size_t n, const char *file)
{
	char head[] = "deepclock", report[] = "report", details[] = "--details";
	char name[4096], rest[8192];
	dck_style style = cli_style(&c->common, STDOUT_FILENO);

	if (file) {
		snprintf(name, sizeof name, "%s", file);
		cli_quote_words((char *[]){head, report, name, details, NULL}, rest, sizeof rest);
		style.rest = rest;
	}
	style.ops = c->ops;
	style.runs = c->output.per;
	style.timeline = c->timeline.json.n ? &c->timeline : NULL;
	return cli_report(c, records, n, &style);
}

dck_status cli_html_save(const cli *c, const char *path, const dck_record *const *records, size_t n,
			 dck_err *err)
{
	dck_style style = {.timeline = c->timeline.json.n ? &c->timeline : NULL};
	cli_file f;
	dck_sink out;
	dck_status status;

	sources_of(c, &style);
	if (cli_file_open(&f, path, err) != DCK_OK)
		return err->code;
	dck_sink_fd(&out, f.fd);
	status = dck_report("html", records, n, &style, &out, err);
	return cli_file_end(&f, &out, status, err);
}

int cli_record_keep(const cli *c, const dck_record *r)
{
	dck_err err;

	if (!c->output.save || dck_record_save(r, c->output.save, &err) == DCK_OK)
		return CLI_OK;
	cli_message("%s", err.msg);
	return CLI_FAILED;
}

int cli_page_keep(const cli *c, const dck_record *const *records, size_t n, int code)
{
	dck_err err;

	if (!c->output.html || cli_html_save(c, c->output.html, records, n, &err) == DCK_OK)
		return code;
	cli_message("%s", err.msg);
	return CLI_FAILED;
}

int cli_records_keep(const cli *c, const dck_record *const *records, size_t n, int code)
{
	if (n == 1 && cli_record_keep(c, records[0]) != CLI_OK)
		code = CLI_FAILED;
	return cli_page_keep(c, records, n, code);
}

static dck_status path_failed(dck_err *err, const char *what, const char *path)
{
	return cli_err(err, DCK_E_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

dck_status cli_file_open(cli_file *f, const char *path, dck_err *err)
{
	*f = (cli_file){.path = path, .fd = STDOUT_FILENO};
	if (strcmp(path, "-") != 0)
		return dck_replace_open(path, &f->replace, &f->fd, err);
	f->path = "standard output";
	return DCK_OK;
}

dck_status cli_file_check(const char *path, dck_err *err)
{
	struct stat st;
	cli_file f;

	/* Opening a pipe would wait for its reader. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return access(path, W_OK) == 0 ? DCK_OK : path_failed(err, "write", path);
	if (cli_file_open(&f, path, err) != DCK_OK)
		return err->code;
	cli_file_abort(&f);
	return DCK_OK;
}

dck_status cli_file_commit(cli_file *f, dck_err *err)
{
	dck_replace *r = f->replace;

	f->replace = NULL;
	return r ? dck_replace_commit(r, err) : DCK_OK;
}

void cli_file_abort(cli_file *f)
{
	dck_replace_abort(f->replace);
	f->replace = NULL;
}

dck_status cli_file_end(cli_file *f, dck_sink *out, dck_status status, dck_err *err)
{
	if (status == DCK_OK)
		status = dck_sink_finish(out, err);
	if (status == DCK_OK)
		return cli_file_commit(f, err);
	cli_file_abort(f);
	if (status == DCK_E_IO && f->fd != STDOUT_FILENO) {
		const dck_err why = *err;

		return cli_err(err, status, "while writing '%s': %s", f->path, why.msg);
	}
	return status;
}

dck_status cli_directory_make(const char *path, mode_t mode, dck_err *err)
{
	char part[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part)
		return cli_err(err, DCK_E_ARG, "the name of the directory is too long");
	for (char *slash = part + (part[0] == '/');; slash++) {
		slash += strcspn(slash, "/");
		const char kept = *slash;
		*slash = '\0';
		if (mkdir(part, mode) != 0 && errno != EEXIST)
			return path_failed(err, "make the directory", part);
		*slash = kept;
		if (!kept || !slash[1])
			break;
	}
	if (stat(path, &st) != 0)
		return path_failed(err, "make the directory", path);
	errno = ENOTDIR;
	return S_ISDIR(st.st_mode) ? DCK_OK : path_failed(err, "make the directory", path);
}
