/* stacks.c - the calling-context tree that readers of profiles fill, and the record made of it.
 *
 * A reader adds the file's frames in its order (`rows`), then builds each path from its outermost
 * frame inwards (stack_push()) and adds weights to the path. A row gets its frame of the tree
 * (cct.h) when a path first uses it. After a frame that does not fit (`full`), the deeper ones are
 * ignored and the weight stays with the path up to there: so sums stay right. stacks_write() writes
 * the tree, for the first tree also the table of functions and the answer, by the first weight that
 * is not a count, and starts another tree over the same rows.
 *
 * Bounds for hostile files: STACKS_FRAMES_MAX rows, STACKS_COLUMNS weights, TEXT_BYTES_MAX of texts
 * in the file's and in the tree's table each, paths as in cct.h. A weight is finite and
 * below 2^63. Lack of memory for texts is sticky and reported by stacks_write().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/read/profile/stacks.h"
#include "base/err.h"
#include "base/names/function_name.h"
#include "base/json/json_read.h"
#include "base/mem.h"
#include "deepclock/opt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)256 << 20)

static dck_status tree_begin(stacks *s, dck_err *err)
{
	s->ncolumns = 0;
	memset(s->sums, 0, sizeof s->sums);
	for (uint32_t i = 0; i < s->nrows; i++)
		s->rows[i].frame = 0;
	DCK_TRY(cct_init(&s->paths, s->columns, STACKS_COLUMNS, err));
	mem_arena_limit(s->paths.texts.arena, TEXT_BYTES_MAX);
	return DCK_OK;
}

dck_status stacks_init(stacks *s, dck_err *err)
{
	*s = (stacks){0};
	DCK_TRY(string_table_init(&s->texts, err));
	mem_arena_limit(s->texts.arena, TEXT_BYTES_MAX);
	return tree_begin(s, err);
}

void stacks_done(stacks *s)
{
	cct_done(&s->paths);
	string_table_done(&s->texts);
	mem_free(s->rows);
	*s = (stacks){0};
}

uint32_t stacks_text(stacks *s, const char *text, size_t n)
{
	return string_table_intern(&s->texts, text, n);
}

dck_status stacks_column(stacks *s, const char *key, dck_unit unit, size_t *ret, dck_err *err)
{
	for (size_t k = 0; k < s->ncolumns; k++)
		if (s->columns[k].unit == unit && strcmp(s->columns[k].key, key) == 0) {
			*ret = k;
			return DCK_OK;
		}
	if (s->ncolumns == STACKS_COLUMNS)
		DCK_FAIL(err, E_LIMIT, "the profile has more than %d kinds of weights",
			 STACKS_COLUMNS);
	const char *own = string_name_of(&s->texts, stacks_text(s, key, strlen(key))).text;
	DCK_NEED(own, err, "for the names of a profile");
	s->columns[s->ncolumns] = (dck_column){.key = own, .title = own, .unit = unit};
	*ret = s->ncolumns++;
	return DCK_OK;
}

dck_status stacks_frame(stacks *s, const stacks_row *frame, dck_err *err)
{
	if (s->nrows == STACKS_FRAMES_MAX)
		DCK_FAIL(err, E_LIMIT, "the profile has more than %d frames", STACKS_FRAMES_MAX);
	DCK_NEED(mem_reserve(&s->rows, &s->cap, s->nrows + 1, sizeof *s->rows), err,
		 "for the frames of a profile");
	s->rows[s->nrows++] = *frame;
	return DCK_OK;
}

dck_status stacks_row_find(const stacks *s, const char *number, uint32_t *ret, dck_err *err)
{
	double v;

	if (!json_number(number, &v) || v < 0 || v >= s->nrows || v != floor(v))
		DCK_FAIL(err, E_FORMAT,
			 "the profile is damaged: it refers to frame %.20s, and has %u", number,
			 (unsigned)s->nrows);
	*ret = (uint32_t)v;
	return DCK_OK;
}

/* --- paths */

/* Adds a frame to the path. Frames inside one that did not fit stay with the path around it. */
static void stacks_push(stacks *s, uint32_t frame)
{
	const uint32_t path = s->full ? s->path : cct_child(&s->paths, s->path, frame);

	s->full |= path == s->path;
	s->path = path;
}

void stack_push_frame(stacks *s, const dck_frame *frame)
{
	stacks_push(s, cct_frame(&s->paths, frame));
}

void stack_push(stacks *s, uint32_t row)
{
	stacks_row *r = &s->rows[row];

	if (!r->frame)
		r->frame = cct_frame(&s->paths,
				     &(dck_frame){.name = string_name_of(&s->texts, r->name).text,
						  .file = string_name_of(&s->texts, r->file).text,
						  .line = r->line});
	stacks_push(s, r->frame);
}

bool stacks_weight_fits(double weight)
{
	return weight >= 0 && weight < 0x1p63;
}

/* --- the record */

/* Weights without a unit may have fractions. */
static const char *weight_text(double v, dck_unit unit, char *buf, size_t size)
{
	return unit == DCK_UNIT_NS	     ? dck_text_time(v, buf, size)
	       : unit == DCK_UNIT_BYTE	     ? dck_text_bytes(v, buf, size)
	       : v == floor(v) && v < 0x1p63 ? dck_text_count((int64_t)v, buf, size)
					     : dck_text_si(v, "", buf, size);
}

/* Writes the answer: the function with the largest own weight, which is the table's first row. */
static void stacks_answer_put(const stacks *s, size_t weight, const call_table *how,
			      record_builder *b, const dck_record *functions)
{
	const dck_column *column = &s->columns[weight];
	const dck_table *t = functions->ntables ? &functions->tables[0] : NULL;
	const bool counts = column->unit == DCK_UNIT_ONE;
	char all[32], share[32];

	if (!t || t->nrows == 0 || s->sums[weight] <= 0) {
		record_answer(b, "the profile has no stacks");
		return;
	}
	const double own = 100 * dck_value_number(&t->cells[1 + how->sort].value) / s->sums[weight];
	mem_print(share, sizeof share, own < 0.1 ? "%.2g" : "%.1f", own);
	weight_text(s->sums[weight], column->unit, all, sizeof all);
	record_answer(b, "%s takes %s %% of %s%s%.60s by itself",
		      FUNCTION_NAME_SHORT(t->cells[0].value.as.text), share, all, counts ? " " : "",
		      counts ? column->title : "");
}

/* Writes table and answer, by the first weight that is not a count. */
static dck_status stacks_functions_put(stacks *s, record_builder *b, dck_err *err)
{
	call_column columns[3];
	record_builder *first;
	size_t n = 0, count = s->ncolumns, weight = 0;
	dck_record *r;

	for (size_t k = s->ncolumns; k-- > 0;) {
		if (s->columns[k].unit == DCK_UNIT_ONE)
			count = k;
		else
			weight = k;
	}
	const dck_column *by = &s->columns[weight];
	if (count < s->ncolumns && count != weight)
		columns[n++] = (call_column){s->columns[count].key, s->columns[count].title,
					     DCK_UNIT_ONE, (uint32_t)count, CALL_SELF};
	columns[n++] = (call_column){"total", "total", by->unit, (uint32_t)weight, CALL_TOTAL};
	columns[n++] = (call_column){"self", "self", by->unit, (uint32_t)weight, CALL_SELF};
	const call_table how = {.name = "functions",
				.title = "Functions by their own weight",
				.columns = columns,
				.ncolumns = n,
				.sort = n - 1,
				.brief = 10};
	call_table only = how;
	only.top = 1;
	first = record_new();
	DCK_NEED(first, err, "for the answer of a profile");
	DCK_TRY(record_finish_if(cct_functions(&s->paths, &only, first, err), first, &r, err));
	stacks_answer_put(s, weight, &how, b, r);
	dck_record_free(r);
	return cct_functions(&s->paths, &how, b, err);
}

static dck_status stacks_tree_put(stacks *s, const char *title, record_builder *b, dck_err *err)
{
	DCK_NEED(!string_table_failed(&s->texts) && !string_table_failed(&s->paths.texts), err,
		 "for the names of a profile, which may have %zu MiB", TEXT_BYTES_MAX >> 20);
	cct_narrow(&s->paths, s->ncolumns);
	cct_freeze(&s->paths);
	if (s->ntrees == 0) {
		DCK_TRY(stacks_functions_put(s, b, err));
		for (size_t k = 0; k < s->ncolumns; k++)
			record_fact_real(b, "profile", s->columns[k].key, s->columns[k].unit,
					 s->sums[k]);
	}
	return cct_tree(&s->paths, s->ntrees ? title : "samples",
			title ? title : "Samples by call path", b, err);
}

dck_status stacks_write(stacks *s, const char *title, record_builder *b, dck_err *err)
{
	size_t column;

	if (s->ncolumns == 0)
		DCK_TRY(stacks_column(s, "samples", DCK_UNIT_ONE, &column, err));
	DCK_TRY(stacks_tree_put(s, title, b, err));
	s->ntrees++;
	cct_done(&s->paths);
	return tree_begin(s, err);
}
