/* SPDX-License-Identifier: Apache-2.0 */
#include "report/grid.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define INDENT	   2
#define GAP	   2
#define NAME_BYTES 512 /* of those that are shortened word by word */

typedef struct layout {
	unsigned width[GRID_COLS_MAX]; /* 0: left out */
	unsigned name;
} layout;

static unsigned name_columns(const grid_name *n)
{
	unsigned cols = n->indent + page_columns_n(n->text, n->bytes);
	return cols + page_columns(n->after);
}

static unsigned cells_width(const layout *l, size_t ncols)
{
	unsigned sum = 0;
	for (size_t i = 0; i < ncols; i++)
		sum += l->width[i] > 0 ? l->width[i] + GAP : 0;
	return sum;
}

static void layout_fill(const page *p, const grid *g, layout *l)
{
	char buf[FORMAT_SIZE];
	grid_name name;

	*l = (layout){.name = page_columns(g->title)};
	for (size_t r = 0; r < g->nrows; r++) {
		g->name(g->self, r, &name);
		unsigned n = name_columns(&name);
		l->name = n > l->name ? n : l->name;
		for (size_t c = 0; c < g->ncols; c++) {
			buf[0] = '\0';
			g->cell(g->self, r, c, buf);
			n = page_columns(buf);
			l->width[c] = n > l->width[c] ? n : l->width[c];
		}
	}
	for (size_t c = 0; c < g->ncols; c++) {
		unsigned n = page_columns(g->cols[c].title);
		if (l->width[c] > 0 && l->width[c] < n)
			l->width[c] = n;
	}
	unsigned least = l->name < g->name_min ? l->name : g->name_min;
	while (INDENT + least + cells_width(l, g->ncols) > p->width) {
		size_t worst = g->ncols;
		for (size_t c = 0; c < g->ncols; c++)
			if (l->width[c] > 0 && g->cols[c].rank > 0 &&
			    (worst == g->ncols || g->cols[c].rank > g->cols[worst].rank))
				worst = c;
		if (worst == g->ncols)
			break;
		l->width[worst] = 0;
	}
	unsigned cells = INDENT + cells_width(l, g->ncols);
	unsigned room = p->width > cells + 4 ? p->width - cells : 4;
	l->name = l->name < room ? l->name : room;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Words of a path to three letters, the first ones first and none behind the last '/', until it
 * has at most `cols`: "/encoder/layer.0/output/dense/Add" becomes "/enc/lay.0/out/dense/Add".
 * What tells one layer from another are its numbers. */
static size_t path_shorten(const char *text, size_t bytes, unsigned cols, char *buf)
{
	unsigned now = page_columns_n(text, bytes);
	size_t last = bytes, n = 0, from = 0;

	while (last > 0 && text[last - 1] != '/')
		last--;
	while (from < bytes) {
		size_t word = 0;
		while (from + word < bytes && is_letter(text[from + word]))
			word++;
		size_t keep = word > 4 && from + word < last && now > cols ? 3 : word;
		if (word == 0)
			word = keep = 1;
		memcpy(buf + n, text + from, keep);
		n += keep;
		from += word;
		now -= (unsigned)(word - keep);
	}
	return n;
}

static void name_put(page *p, const grid_name *n, unsigned cols)
{
	unsigned after = page_columns(n->after);

	page_to(p, INDENT + n->indent);
	cols -= n->indent < cols ? n->indent : cols;
	if (after >= cols)
		after = 0;
	char buf[NAME_BYTES];
	if (n->bytes <= sizeof buf && page_columns_n(n->text, n->bytes) > cols - after)
		page_text_middle(p, buf, path_shorten(n->text, n->bytes, cols - after, buf),
				 cols - after);
	else
		page_text_middle(p, n->text, n->bytes, cols - after);
	if (after > 0)
		page_text(p, n->after);
}

static void cells_put(page *p, const grid *g, const layout *l, size_t row, bool head)
{
	unsigned col = INDENT + l->name;
	char buf[FORMAT_SIZE];

	for (size_t c = 0; c < g->ncols; c++) {
		if (l->width[c] == 0)
			continue;
		buf[0] = '\0';
		if (!head)
			g->cell(g->self, row, c, buf);
		const char *text = head ? g->cols[c].title : buf;
		page_to(p, col + GAP);
		col += GAP + l->width[c];
		if (g->cols[c].left)
			page_text_cut(p, text, l->width[c]);
		else if (text[0] != '\0')
			page_text_right(p, text, l->width[c]);
	}
	page_line(p);
}

void grid_put(page *p, const grid *g)
{
	layout l;
	grid_name name = {.text = g->title, .bytes = strlen(g->title)};

	assert(g->ncols <= GRID_COLS_MAX);
	layout_fill(p, g, &l);
	page_ink_set(p, PAGE_DIM);
	name_put(p, &name, l.name);
	cells_put(p, g, &l, 0, true);
	page_ink_set(p, PAGE_PLAIN);
	for (size_t r = 0; r < g->nrows; r++) {
		bool total = g->total && r + 1 == g->nrows;
		name = (grid_name){.text = ""};
		g->name(g->self, r, &name);
		if (total)
			page_ink_set(p, PAGE_BOLD);
		name_put(p, &name, l.name);
		cells_put(p, g, &l, r, false);
		if (total)
			page_ink_set(p, PAGE_PLAIN);
	}
}
