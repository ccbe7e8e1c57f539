/* output.c - results to stdout, and files that appear whole or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

int cli_stdout_finish(int code)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return code;
	if (errno)
		cli_message("cannot write to standard output: %s", strerror(errno));
	else
		cli_message("cannot write to standard output");
	return CLI_FAILED;
}

int cli_report(int format, const dck_record *const *records, size_t n, const dck_style *style)
{
	dck_sink out;
	dck_err err;
	int code = cli_stdout_finish(CLI_OK);

	if (code != CLI_OK)
		return code;
	dck_sink_fd(&out, STDOUT_FILENO);
	if (dck_report(cli_formats[format], records, n, style, &out, &err) != DCK_OK)
		return cli_failed(&err);
	if (dck_sink_finish(&out, &err) != DCK_OK) {
		cli_message("cannot write to standard output: %s",
			    err.native_code > 0 ? strerror((int)err.native_code) : err.msg);
		return CLI_FAILED;
	}
	return CLI_OK;
}

static dck_status path_failed(dck_err *err, const char *what, const char *path)
{
	return cli_err(err, DCK_E_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

dck_status cli_file_open(cli_file *f, const char *path, dck_err *err)
{
	struct stat st;
	char real[PATH_MAX];
	mode_t mask;

	*f = (cli_file){.fd = -1};
	if (strcmp(path, "-") == 0) {
		f->fd = STDOUT_FILENO;
		f->direct = true;
		strcpy(f->path, "standard output");
		return DCK_OK;
	}
	/* A link stays a link: what it points to is replaced. */
	if (realpath(path, real))
		path = real;
	if ((size_t)snprintf(f->path, sizeof f->path, "%s", path) >= sizeof f->path)
		return cli_err(err, DCK_E_ARG, "the file's name has more than %zu bytes",
			       sizeof f->path - 1);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return cli_err(err, DCK_E_IO, "cannot write '%s': it is a directory", path);
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		f->direct = true;
		f->fd = open(path, O_WRONLY | O_CLOEXEC);
		return f->fd < 0 ? path_failed(err, "write", path) : DCK_OK;
	}
	snprintf(f->temporary, sizeof f->temporary, "%s.part-XXXXXX", f->path);
	f->fd = mkostemp(f->temporary, O_CLOEXEC);
	if (f->fd < 0) {
		f->temporary[0] = 0;
		return path_failed(err, "write", path);
	}
	mask = umask(0);
	umask(mask);
	if (fchmod(f->fd, 0666 & ~mask) < 0) {
		path_failed(err, "write", path);
		cli_file_abort(f);
		return err->code;
	}
	return DCK_OK;
}

dck_status cli_file_commit(cli_file *f, dck_err *err)
{
	dck_status status = DCK_OK;

	if (f->fd == STDOUT_FILENO)
		return DCK_OK;
	if (!f->direct && fsync(f->fd) < 0)
		status = path_failed(err, "write", f->path);
	if (close(f->fd) < 0 && status == DCK_OK)
		status = path_failed(err, "write", f->path);
	f->fd = -1;
	if (!f->direct && status == DCK_OK && rename(f->temporary, f->path) < 0)
		status = path_failed(err, "write", f->path);
	if (status == DCK_OK)
		f->temporary[0] = 0;
	cli_file_abort(f);
	return status;
}

void cli_file_abort(cli_file *f)
{
	if (f->fd >= 0 && f->fd != STDOUT_FILENO)
		close(f->fd);
	f->fd = -1;
	if (f->temporary[0])
		unlink(f->temporary);
	f->temporary[0] = 0;
}
