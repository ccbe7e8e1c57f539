/* figure_files.c - the pictures of records, as files in a directory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define PNG_SCALE 2 /* pixels for each of the figure's: sharp on slides */

static dck_status png_draw(const dck_figure *f, const dck_record *r, dck_sink *out, dck_err *err)
{
	dck_buffer svg = {0};
	dck_sink drawn;
	dck_status status;

	dck_sink_buffer(&drawn, &svg);
	f->draw(r, &drawn);
	status = dck_sink_finish(&drawn, err);
	if (status == DCK_OK)
		status = dck_figure_png(svg.data, svg.n, PNG_SCALE, out, err);
	dck_buffer_done(&svg);
	return status;
}

/* The whole file or none. */
static dck_status figure_save(const dck_figure *f, const dck_record *r, const char *path, bool png,
			      dck_err *err)
{
	dck_status status = DCK_OK;
	dck_sink out;
	cli_file file;

	if (cli_file_open(&file, path, err) != DCK_OK)
		return err->code;
	dck_sink_fd(&out, file.fd);
	if (png)
		status = png_draw(f, r, &out, err);
	else
		f->draw(r, &out);
	return cli_file_end(&file, &out, status, err);
}

/* DIRECTORY/NAME, without ending; of several records each has its number. */
typedef struct place {
	const char *directory, *name;
	size_t record, nrecords;
} place;

static dck_status files_path_make(const place *p, const char *ending, char *path, size_t size,
				  dck_err *err)
{
	char number[32] = "";

	if (p->nrecords > 1 && p->record < p->nrecords)
		snprintf(number, sizeof number, "-%zu", p->record + 1);
	if ((size_t)snprintf(path, size, "%s/%s%s%s", p->directory, p->name, number, ending) >=
	    size)
		return cli_err(err, DCK_E_ARG, "the name '%.60s...' is too long", p->directory);
	return DCK_OK;
}

/* Saves one figure in both formats. *ret_no_png: reason why there is no PNG, which is not a
 * failure. */
static dck_status both_save(const dck_figure *f, const dck_record *r, const place *p,
			    dck_err *ret_no_png, dck_err *err)
{
	char name[PATH_MAX];
	dck_status status;

	if (files_path_make(p, ".svg", name, sizeof name, err) != DCK_OK)
		return err->code;
	status = figure_save(f, r, name, false, err);
	if (status != DCK_OK || ret_no_png->code != DCK_OK)
		return status;
	if (files_path_make(p, ".png", name, sizeof name, err) != DCK_OK)
		return err->code;
	status = figure_save(f, r, name, true, err);
	if (status != DCK_E_ABSENT)
		return status;
	*ret_no_png = *err;
	return DCK_OK;
}

/* --- charts drawn by a browser */

typedef struct charts {
	const char *directory;
	size_t nrecords, drawn;
} charts;

static dck_status bytes_save(const dck_buffer *b, const char *path, dck_err *err)
{
	dck_sink out;
	cli_file file;

	if (cli_file_open(&file, path, err) != DCK_OK)
		return err->code;
	dck_sink_fd(&out, file.fd);
	return cli_file_end(&file, &out, out.write(out.self, b->data, b->n, err), err);
}

static dck_status chart_save(void *self, const dck_chart *c, dck_err *err)
{
	charts *all = self;
	const place p = {all->directory, c->name, c->record, all->nrecords};
	char path[PATH_MAX];

	if (files_path_make(&p, ".svg", path, sizeof path, err) != DCK_OK ||
	    bytes_save(&c->svg, path, err) != DCK_OK ||
	    files_path_make(&p, ".png", path, sizeof path, err) != DCK_OK ||
	    bytes_save(&c->png, path, err) != DCK_OK)
		return err->code;
	all->drawn++;
	return DCK_OK;
}

dck_status cli_figures_save(const cli *c, const char *directory, const dck_record *const *records,
			    size_t n, dck_err *err)
{
	charts browsed = {.directory = directory, .nrecords = n};
	size_t nfigures, drawn = 0;
	dck_err no_png, no_browser;
	const dck_figure *const *all = dck_figures(&nfigures);

	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		return cli_err(err, DCK_E_IO, "cannot make the directory '%s': %s", directory,
			       strerror(errno));
	no_png.code = no_browser.code = DCK_OK;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < nfigures; k++) {
			const place p = {directory, all[k]->name, i, n};

			if (!all[k]->has(records[i]))
				continue;
			if (both_save(all[k], records[i], &p, &no_png, err) != DCK_OK)
				return err->code;
			drawn++;
		}
	}
	if (no_png.code != DCK_OK && !c->common.quiet)
		cli_message("no PNG, only SVG: %s", no_png.msg);
	if (dck_figures_browse(records, n, c->timeline.json.n ? &c->timeline : NULL, chart_save,
			       &browsed, &no_browser) == DCK_OK) {
		drawn += browsed.drawn;
	} else if (no_browser.code != DCK_E_ABSENT) {
		*err = no_browser;
		return err->code;
	} else if (!c->common.quiet) {
		cli_message("only the figures that need no browser: %s", no_browser.msg);
	}
	if (drawn == 0 && !c->common.quiet)
		cli_message("--figures: there is nothing to draw in this record");
	return DCK_OK;
}
