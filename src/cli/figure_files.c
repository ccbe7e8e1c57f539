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
	const char *folder, *name;
	size_t record, nrecords;
} place;

static dck_status files_path_make(const place *p, const char *ending, char *path, size_t size,
				  dck_err *err)
{
	char number[32] = "";

	if (p->nrecords > 1 && p->record < p->nrecords)
		snprintf(number, sizeof number, "-%zu", p->record + 1);
	if ((size_t)snprintf(path, size, "%s/%s%s%s", p->folder, p->name, number, ending) >= size)
		return cli_err(err, DCK_E_ARG, "the name '%.60s...' is too long", p->folder);
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

dck_status cli_figures_save(const cli *c, const char *folder, const dck_record *const *records,
			    size_t n, dck_err *err)
{
	size_t nfigures, drawn = 0;
	dck_err no_png;
	const dck_figure *const *all = dck_figures(&nfigures);

	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return cli_err(err, DCK_E_IO, "cannot make the directory '%s': %s", folder,
			       strerror(errno));
	no_png.code = DCK_OK;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < nfigures; k++) {
			const place p = {folder, all[k]->name, i, n};

			if (!all[k]->has(records[i]))
				continue;
			if (both_save(all[k], records[i], &p, &no_png, err) != DCK_OK)
				return err->code;
			drawn++;
		}
	}
	if (no_png.code != DCK_OK && !c->common.quiet)
		cli_message("no PNG, only SVG: %s", no_png.msg);
	if (drawn == 0 && !c->common.quiet)
		cli_message("--figures: there is nothing to draw in this record");
	return DCK_OK;
}
