/* grid.c - lays out and writes a table: the widest cell of each column is found in a first pass
 * over the rows, so a cell is formatted twice and none is stored. Columns are omitted by rank until
 * the rest fits; then names are shortened, word by word if they are paths, without parameters if
 * they are functions, and in the middle, or to what differs from names that would look the same.
 * If page.whole, only above PAGE_FILE_COLS.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/names/function_name.h"
#include "base/utf8.h"
#include "report/text/grid.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define GRID_INDENT	2
#define GAP		2
#define NAME_BYTES	4096 /* of names that are shortened other than in the middle */
#define DIFFERENCE_COLS 16
#define NEAR		32 /* rows before and after, from which a shortened name differs */

typedef struct grid_layout {
	unsigned width[GRID_COLS_MAX]; /* 0: left out */
	unsigned name;
} grid_layout;

static unsigned name_columns(const grid_name *n)
{
	unsigned cols = n->indent + page_columns_n(n->text, n->bytes);
	return cols + page_columns(n->after);
}

static unsigned gap_of(const grid *g, size_t col)
{
	return g->close && g->close[col] ? 1 : GAP;
}

static unsigned cells_width(const grid *g, const grid_layout *l)
{
	unsigned sum = 0;
	for (size_t i = 0; i < g->ncols; i++)
		sum += l->width[i] > 0 ? l->width[i] + gap_of(g, i) : 0;
	return sum;
}

unsigned grid_title_columns(const page *p, const char *title)
{
	const unsigned n = page_columns(title);
	return n < GRID_TITLE_COLS || p->whole ? n : GRID_TITLE_COLS;
}

static const char *grid_unit_of(const grid *g, size_t col)
{
	return g->units && g->units[col] ? g->units[col] : "";
}

/* Returns whether a visible column has a unit. */
static bool has_units(const grid *g, const grid_layout *l)
{
	bool any = g->unit && g->unit[0] != '\0';
	for (size_t c = 0; c < g->ncols && !any; c++)
		any = l->width[c] > 0 && grid_unit_of(g, c)[0] != '\0';
	return any;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Words of a path to three letters, from the first on and not after the last '/', until it
 * has at most `cols`: "/encoder/layer.0/output/dense/Add" becomes "/enc/lay.0/out/dense/Add".
 * What distinguishes layers are their numbers. */
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

/* Shortens the text of a name to at most `cols`, if it can. Returns it, or buf. */
static const char *name_shorten(const page *p, const grid_name *n, unsigned cols,
				char buf[NAME_BYTES], size_t *ret_bytes)
{
	*ret_bytes = n->bytes;
	if (n->bytes > NAME_BYTES || page_columns_n(n->text, n->bytes) <= cols)
		return n->text;
	*ret_bytes = !p->whole && memchr(n->text, '(', n->bytes)
			 ? function_name_fold(n->text, n->bytes, cols, buf)
			 : path_shorten(n->text, n->bytes, cols, buf);
	return buf;
}

/* Whether two texts look the same in that number of columns, where longer ones are cut in the
 * middle. */
static bool texts_look_same(const char *a, size_t na, const char *b, size_t nb, unsigned room)
{
	const size_t head = (room - 2) / 3, tail = room - 2 - head;

	if (na <= room || nb <= room)
		return na == nb && !memcmp(a, b, na);
	return !memcmp(a, b, head) && !memcmp(a + na - tail, b + nb - tail, tail);
}

/* Returns how many bytes a name, shortened to this text, and those of near rows have in common that
 * would look the same; 0: it looks different from each. */
static size_t name_common(const page *p, const grid *g, size_t row, const grid_name *n,
			  const char *text, size_t bytes, unsigned room)
{
	const size_t end = row + NEAR < g->nrows ? row + NEAR : g->nrows,
		     plain = strcspn(n->text, "<(/");
	char buf[NAME_BYTES];
	size_t most = 0;

	if (page_columns_n(n->text, n->bytes) <= room || room < DIFFERENCE_COLS || row >= g->nrows)
		return 0;
	for (size_t r = row > NEAR ? row - NEAR : 0; r < end; r++) {
		grid_name other = {.text = ""};
		size_t same = 0, length;

		g->name(g->self, r, &other);
		while (same < n->bytes && same < other.bytes && n->text[same] == other.text[same])
			same++;
		if (same <= most || (same < plain && same < (room - 2) / 3) ||
		    (same == n->bytes && same == other.bytes))
			continue;
		const char *shown = name_shorten(p, &other, room, buf, &length);
		if (texts_look_same(text, bytes, shown, length, room))
			most = same;
	}
	return most;
}

/* Returns the widest of the names, which are shortened to at most `cols` with their suffixes. */
static unsigned names_width(const page *p, const grid *g, unsigned cols)
{
	const unsigned whole = p->whole ? PAGE_FILE_COLS : 0;
	char buf[NAME_BYTES];
	unsigned width = page_columns(g->title);
	grid_name name;
	size_t bytes;

	page_widen(&width, g->unit ? g->unit : "");
	for (size_t r = 0; r < g->nrows; r++) {
		g->name(g->self, r, &name);
		const unsigned beside = name.indent + page_columns(name.after),
			       left = cols > beside ? cols - beside : 0,
			       room = left > whole ? left : whole;
		const char *text = name_shorten(p, &name, room, buf, &bytes);
		const unsigned all = name_common(p, g, r, &name, text, bytes, room) > 0
					 ? room
					 : page_columns_n(text, bytes),
			       n = beside + (p->whole && all > room ? room : all);

		width = n > width ? n : width;
	}
	return width < cols || p->whole ? width : cols;
}

static void layout_fill(const page *p, const grid *g, grid_layout *l)
{
	char buf[FORMAT_SIZE];
	grid_name name;

	*l = (grid_layout){.name = page_columns(g->title)};
	page_widen(&l->name, g->unit ? g->unit : "");
	for (size_t r = 0; r < g->nrows; r++) {
		g->name(g->self, r, &name);
		unsigned n = name_columns(&name);
		l->name = n > l->name ? n : l->name;
		for (size_t c = 0; c < g->ncols; c++) {
			n = page_columns(g->cell(g->self, r, c, buf));
			l->width[c] = n > l->width[c] ? n : l->width[c];
		}
	}
	for (size_t c = 0; c < g->ncols; c++) {
		unsigned n = grid_title_columns(p, g->cols[c].title),
			 unit = page_columns(grid_unit_of(g, c));
		n = unit > n ? unit : n;
		if (l->width[c] > 0 && l->width[c] < n)
			l->width[c] = n;
		if (l->width[c] > PAGE_FILE_COLS)
			l->width[c] = PAGE_FILE_COLS;
		if (g->most && g->most[c] > 0 && l->width[c] > g->most[c])
			l->width[c] = g->most[c];
	}
	unsigned least = l->name < g->name_min ? l->name : g->name_min;
	while (GRID_INDENT + least + cells_width(g, l) > p->width) {
		size_t worst = g->ncols;
		for (size_t c = 0; c < g->ncols; c++)
			if (l->width[c] > 0 && g->cols[c].rank > 0 &&
			    (worst == g->ncols || g->cols[c].rank > g->cols[worst].rank))
				worst = c;
		if (worst == g->ncols)
			break;
		l->width[worst] = 0;
	}
	unsigned cells = GRID_INDENT + cells_width(g, l);
	unsigned room = p->width > cells + 4 ? p->width - cells : 4;
	if (l->name > room)
		l->name = names_width(p, g, room);
}

/* Writes the beginning of a name, and what follows its first `common` bytes. */
static void name_difference_put(page *p, const grid_name *n, size_t common, unsigned room)
{
	const unsigned head = (room - 4) / 3, rest = room - 4 - head;
	size_t from = common - (common > rest / 3 ? rest / 3 : common);
	char text[NAME_BYTES];

	if (from + rest > n->bytes)
		from = n->bytes > rest ? n->bytes - rest : 0;
	while (from > 0 && utf8_continues(n->text[from]))
		from--;
	const size_t begin = utf8_cut(n->text, head < from ? head : from), left = n->bytes - from,
		     end = left <= rest + 2 ? left : utf8_cut(n->text + from, rest);
	const int all =
	    snprintf(text, sizeof text, "%.*s%s%.*s%s", (int)begin, n->text,
		     begin < from ? ".." : "", (int)end, n->text + from, end < left ? ".." : "");

	page_text_middle(p, text, (size_t)all, room);
}

static void grid_name_put(page *p, const grid *g, size_t row, const grid_name *n, unsigned cols)
{
	const unsigned after = page_columns(n->after), all = page_columns_n(n->text, n->bytes);
	unsigned room = cols - (n->indent < cols ? n->indent : cols);
	char buf[NAME_BYTES];
	size_t bytes;

	room -= after < room ? after : 0;
	page_to(p, GRID_INDENT + (g->right && all < room ? room - all : n->indent));
	const char *text = name_shorten(p, n, room, buf, &bytes);
	const size_t common = name_common(p, g, row, n, text, bytes, room);
	if (common > 0)
		name_difference_put(p, n, common, room);
	else
		page_text_middle(p, text, bytes, room);
	if (after > 0 && n->indent + after < cols)
		page_text(p, n->after);
}

typedef enum grid_line { LINE_TITLES, LINE_UNITS, LINE_ROW } grid_line;

static void cells_put(page *p, const grid *g, const grid_layout *l, size_t row, grid_line kind)
{
	const unsigned end = GRID_INDENT + l->name;
	unsigned col = p->col > end ? p->col : end;
	char buf[FORMAT_SIZE];

	for (size_t c = 0; c < g->ncols; c++) {
		if (l->width[c] == 0)
			continue;
		const char *text = kind == LINE_TITLES	? g->cols[c].title
				   : kind == LINE_UNITS ? grid_unit_of(g, c)
							: g->cell(g->self, row, c, buf);
		page_to(p, col + gap_of(g, c));
		col += gap_of(g, c) + l->width[c];
		if (g->cols[c].left || page_columns(text) > l->width[c])
			page_text_cut(p, text, l->width[c]);
		else if (text[0] != '\0')
			page_text_right(p, text, l->width[c]);
	}
	page_line(p);
}

static void grid_head_put(page *p, const grid *g, const grid_layout *l, const char *text,
			  grid_line kind)
{
	const grid_name name = {.text = text, .bytes = strlen(text)};

	text_style_set(p, PAGE_DIM);
	grid_name_put(p, g, g->nrows, &name, l->name);
	cells_put(p, g, l, 0, kind);
}

void grid_put(page *p, const grid *g)
{
	grid_layout l;
	grid_name name;

	assert(g->ncols <= GRID_COLS_MAX);
	layout_fill(p, g, &l);
	grid_head_put(p, g, &l, g->title, LINE_TITLES);
	if (has_units(g, &l))
		grid_head_put(p, g, &l, g->unit ? g->unit : "", LINE_UNITS);
	for (size_t r = 0; r < g->nrows; r++) {
		bool total = g->total && r + 1 == g->nrows;
		name = (grid_name){.text = ""};
		g->name(g->self, r, &name);
		if (total)
			text_style_set(p, PAGE_BOLD);
		grid_name_put(p, g, r, &name, l.name);
		cells_put(p, g, &l, r, LINE_ROW);
		if (g->below)
			g->below(g->self, r, p);
	}
}
