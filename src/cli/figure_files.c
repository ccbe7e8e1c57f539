/* figure_files.c - the figures of records, as files in a directory, or one of them as a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define PNG_SCALE 2 /* pixels for each of the figure's: sharp on slides */

/* The files of figures, and how many were written. */
typedef struct figures_job {
	const cli *c;
	const char *directory;
	size_t nrecords, drawn;
	dck_err no_png; /* why there is no PNG; not an error if the target is a directory */
} figures_job;

/* The whole file or none. png: of that SVG. */
static dck_status figure_write(const dck_buffer *svg, const char *path, bool png, dck_err *err)
{
	dck_status status = DCK_OK;
	dck_sink out;
	cli_file file;

	if (cli_file_open(&file, path, err) != DCK_OK)
		return err->code;
	dck_sink_fd(&out, file.fd);
	if (png)
		status = dck_figure_png(svg->data, svg->n, PNG_SCALE, &out, err);
	else
		status = out.write(out.self, svg->data, svg->n, err);
	return cli_file_end(&file, &out, status, err);
}

/* DIRECTORY/NAME.svg; of several records each has its number, but not what shows all of them, which
 * is record ALL_RECORDS. */
enum { ALL_RECORDS = INT_MAX };

static dck_status figure_path(const figures_job *j, const char *name, size_t record,
			      const char *ending, char *path, size_t size, dck_err *err)
{
	char number[32] = "";

	if (j->nrecords > 1 && record != ALL_RECORDS)
		snprintf(number, sizeof number, "-%zu", record + 1);
	if ((size_t)snprintf(path, size, "%s/%s%s%s", j->directory, name, number, ending) >= size)
		return cli_err(err, DCK_E_ARG, "the name '%.60s...' is too long", j->directory);
	return DCK_OK;
}

/* Saves one figure in both formats. */
static dck_status both_save(figures_job *j, const dck_buffer *svg, const char *name, size_t record,
			    dck_err *err)
{
	char path[PATH_MAX];

	if (figure_path(j, name, record, ".svg", path, sizeof path, err) != DCK_OK ||
	    figure_write(svg, path, false, err) != DCK_OK)
		return err->code;
	j->drawn++;
	if (j->no_png.code != DCK_OK)
		return DCK_OK;
	if (figure_path(j, name, record, ".png", path, sizeof path, err) != DCK_OK)
		return err->code;
	const dck_status status = figure_write(svg, path, true, err);
	if (status != DCK_E_ABSENT)
		return status;
	j->no_png = *err;
	return DCK_OK;
}

/* In what follows f NULL stands for the timeline of the only record. */
static bool figure_has(const cli *c, const dck_figure *f, const dck_record *r)
{
	return f ? f->has(r) : c->timeline.step.n > 0;
}

static dck_status figure_svg(const cli *c, const dck_figure *f, const dck_record *r,
			     dck_buffer *ret, dck_err *err)
{
	dck_sink out;

	*ret = (dck_buffer){0};
	dck_sink_buffer(&out, ret);
	if (f)
		f->draw(r, &out);
	else
		dck_timeline_draw(&c->timeline, &out);
	return dck_sink_finish(&out, err);
}

static dck_status record_figures_save(figures_job *j, const dck_record *r, size_t record,
				      dck_err *err)
{
	size_t nfigures;
	const dck_figure *const *all = dck_figures(&nfigures);

	for (size_t k = 0; k <= nfigures; k++) {
		const dck_figure *f = k < nfigures ? all[k] : NULL;
		dck_buffer svg = {0};

		if (!figure_has(j->c, f, r))
			continue;
		dck_status status = figure_svg(j->c, f, r, &svg, err);
		if (status == DCK_OK)
			status = both_save(j, &svg, f ? f->name : "timeline", record, err);
		dck_buffer_done(&svg);
		if (status != DCK_OK)
			return status;
	}
	return DCK_OK;
}

static dck_status all_save(figures_job *j, const dck_record *const *records, dck_err *err)
{
	if (mkdir(j->directory, 0777) != 0 && errno != EEXIST)
		return cli_err(err, DCK_E_IO, "cannot make the directory '%s': %s", j->directory,
			       strerror(errno));
	for (size_t i = 0; i < j->nrecords; i++)
		if (record_figures_save(j, records[i], i, err) != DCK_OK)
			return err->code;
	return DCK_OK;
}

/* Saves what shows several records together. */
static dck_status overview_save(figures_job *j, const dck_record *const *records, dck_err *err)
{
	dck_record *all = NULL;
	dck_status status = dck_records_overview(records, j->nrecords, &all, err);

	if (status == DCK_OK)
		status = record_figures_save(j, all, ALL_RECORDS, err);
	dck_record_free(all);
	return status;
}

/* --- one figure: DIR/NAME.svg or .png */

static bool is_one_file(const char *path)
{
	struct stat st;

	return (cli_ends_in(path, ".svg") || cli_ends_in(path, ".png")) &&
	       !(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static dck_status one_save(const cli *c, const char *path, const dck_record *const *records,
			   size_t n, dck_err *err)
{
	const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path;
	const dck_figure *f = NULL;
	dck_record *all = NULL;
	dck_buffer svg = {0};
	dck_status status = DCK_OK;
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)(strlen(begin) - strlen(".svg")), begin);
	if (n != 1)
		status = dck_records_overview(records, n, &all, err);
	const dck_record *r = n == 1 ? records[0] : all;
	if (status == DCK_OK)
		status = dck_figure_find(name, r, &c->timeline, &f, err);
	if (status == DCK_E_ABSENT && n != 1)
		status = cli_err(err, DCK_E_ARG,
				 "'%.60s' is a file for one record, and %zu are given: name a "
				 "directory, or draw records.svg or records-rate.svg",
				 path, n);
	if (status == DCK_OK)
		status = figure_svg(c, f, r, &svg, err);
	if (status == DCK_OK)
		status = figure_write(&svg, path, cli_ends_in(path, ".png"), err);
	dck_buffer_done(&svg);
	dck_record_free(all);
	return status;
}

dck_status cli_figures_save(const cli *c, const char *directory, const dck_record *const *records,
			    size_t n, dck_err *err)
{
	figures_job j = {.c = c, .directory = directory, .nrecords = n};

	if (is_one_file(directory))
		return one_save(c, directory, records, n, err);
	if (all_save(&j, records, err) != DCK_OK ||
	    (n > 1 && overview_save(&j, records, err) != DCK_OK))
		return err->code;
	if (j.no_png.code != DCK_OK && !c->common.quiet)
		cli_message("no PNG, only SVG: %s", j.no_png.msg);
	if (j.drawn == 0 && !c->common.quiet)
		cli_message("--figures: there is nothing to draw in this record; 'deepclock view "
			    "FILE' shows all of its charts, and each has buttons that save it");
	return DCK_OK;
}
