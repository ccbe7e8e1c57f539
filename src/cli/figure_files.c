/* figure_files.c - the pictures of records, as files in a folder.
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

/* One figure in both forms. *ret_no_png: why there is none as PNG, which is no failure. */
static dck_status both_save(const dck_figure *f, const dck_record *r, const char *path,
			    dck_err *ret_no_png, dck_err *err)
{
	char name[PATH_MAX];
	dck_status status;

	if ((size_t)snprintf(name, sizeof name, "%s.svg", path) >= sizeof name)
		return cli_err(err, DCK_E_ARG, "the name '%.60s...' is too long", path);
	status = figure_save(f, r, name, false, err);
	if (status != DCK_OK || ret_no_png->code != DCK_OK)
		return status;
	snprintf(name, sizeof name, "%s.png", path);
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
	char path[PATH_MAX - 8];
	dck_err no_png;
	const dck_figure *const *all = dck_figures(&nfigures);

	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return cli_err(err, DCK_E_IO, "cannot make the folder '%s': %s", folder,
			       strerror(errno));
	no_png.code = DCK_OK;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < nfigures; k++) {
			if (!all[k]->has(records[i]))
				continue;
			/* Of several records each has its number. */
			if (n > 1)
				snprintf(path, sizeof path, "%s/%s-%zu", folder, all[k]->name,
					 i + 1);
			else
				snprintf(path, sizeof path, "%s/%s", folder, all[k]->name);
			if (both_save(all[k], records[i], path, &no_png, err) != DCK_OK)
				return err->code;
			drawn++;
		}
	}
	if (no_png.code != DCK_OK && !c->common.quiet)
		cli_message("no PNG, only SVG: %s", no_png.msg);
	if (drawn == 0 && !c->common.quiet)
		cli_message("--figures: there is nothing to draw in this record; there are figures "
			    "of runs, of operators with roofs, of throughput, and of call paths");
	return DCK_OK;
}
