/* listing.c - rows that were not measured (networks, engines, mistakes, operators) as the tables of
 * a record, so that the writers of records are the only ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"
#include <stdlib.h>
#include <unistd.h>

void cli_listing_table(cli_listing *l, const char *name, const char *title,
		       const dck_column *columns, size_t ncolumns)
{
	l->tables[l->ntables++] =
	    (dck_table){.name = name, .title = title, .columns = columns, .ncolumns = ncolumns};
	l->begin = l->n;
}

static void listing_cell_add(cli_listing *l, dck_value value)
{
	if (l->n == l->cap) {
		const size_t cap = l->cap ? 2 * l->cap : 64;
		dck_cell *grown = realloc(l->cells, cap * sizeof *grown);

		l->failed = l->failed || !grown;
		if (!grown)
			return;
		l->cells = grown;
		l->cap = cap;
	}
	l->cells[l->n++] = (dck_cell){.value = value};
	l->tables[l->ntables - 1].nrows = (l->n - l->begin) / l->tables[l->ntables - 1].ncolumns;
}

void cli_listing_absent(cli_listing *l, const char *why)
{
	listing_cell_add(l, (dck_value){.kind = DCK_VALUE_ABSENT, .as.text = why});
}

void cli_listing_text(cli_listing *l, const char *text)
{
	if (text)
		listing_cell_add(l, (dck_value){.kind = DCK_VALUE_TEXT, .as.text = text});
	else
		cli_listing_absent(l, "there is none");
}

void cli_listing_int(cli_listing *l, int64_t v)
{
	listing_cell_add(l, (dck_value){.kind = DCK_VALUE_INT, .as.i = v});
}

/* write: on stdout too. */
static int listing_end(const cli *c, cli_listing *l, bool write)
{
	const dck_style style = cli_style(&c->common, STDOUT_FILENO);
	static const dck_fact listing = {
	    .section = "result", .key = "listing", .value = {.kind = DCK_VALUE_BOOL, .as.b = true}};
	const dck_record r = {.schema = DCK_RECORD_SCHEMA,
			      .version = dck_version(),
			      .id = "",
			      .command = c->title,
			      .facts = &listing,
			      .nfacts = 1,
			      .tables = l->tables,
			      .ntables = l->ntables};
	size_t at = 0;
	int code = write ? cli_metrics_check(c, c->format.out) : CLI_OK;

	if (code != CLI_OK) {
		free(l->cells);
		return code;
	}
	for (size_t i = 0; i < l->ntables; i++) {
		dck_table *t = &l->tables[i];

		t->cells = l->cells + at;
		at += t->nrows * t->ncolumns;
	}
	code = CLI_FAILED;
	if (l->failed)
		cli_no_memory();
	else
		code = cli_records_keep(c, &(const dck_record *){&r}, 1,
					write ? cli_report(c, &(const dck_record *){&r}, 1, &style)
					      : CLI_OK);
	free(l->cells);
	return code;
}

int cli_listing_show(const cli *c, cli_listing *l)
{
	return listing_end(c, l, true);
}

int cli_listing_keep(const cli *c, cli_listing *l)
{
	return listing_end(c, l, c->format.format != CLI_TEXT);
}
