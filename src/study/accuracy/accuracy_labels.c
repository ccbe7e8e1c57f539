/* accuracy_labels.c - readers of class labels: arrays in memory, NumPy's .npy format, and text with
 * one label on each line (CSV of one column, quoted as in RFC 4180).
 *
 * labels_read() takes an array in memory of that name, else a file, which is .npy by its magic
 * bytes or text. An [N][K] array of scores becomes labels by argmax: the first of the highest
 * scores; an item with a NaN has no label (LABEL_NONE). For top-k accuracy the rank of the true
 * label is counted in the same pass, equal scores in the order of columns, as argmax takes them.
 * Lines of text are numbers if all of them are whole, else texts; a first line above numbers, or a
 * usual heading, is a header.
 *
 * Hostile input: a file has at most `limit` bytes, pointers to its lines included; text with a NUL
 * byte is refused; reals are labels only where a double holds them exactly as integers. Errors name
 * the line or the index. Everything that is returned is in the arena; the bytes of the file are
 * freed here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/accuracy/accuracy_labels.h"
#include "base/commas.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/utf8.h"
#include "measure/subject/target.h"
#include "measure/subject/npy.h"
#include "os/os.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t labels_limit(void)
{
	const uint64_t half = subject_memory_half();

	return half < SIZE_MAX ? (size_t)half : SIZE_MAX;
}

/* Returns whether the texts are equal but for the case of ASCII letters. */
static bool is_word(const char *text, const char *lower)
{
	size_t i = 0;

	for (; lower[i]; i++)
		if ((text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]) != lower[i])
			return false;
	return text[i] == '\0';
}

/* --- one number */

typedef enum number_kind { NUMBER_NOT, NUMBER_WHOLE, NUMBER_BROKEN, NUMBER_NAN } number_kind;

/* Reads "3", "-1", also "3.0", as a table of numbers is often written. Of the words only NaN is
 * recognised. */
static number_kind labels_number_read(const char *text, int64_t *ret)
{
	const char *rest;
	char *end;
	double v;

	if (is_word(text, "nan"))
		return NUMBER_NAN;
	if (!strchr("+-.0123456789", text[0]) || strchr(text, '_'))
		return NUMBER_NOT;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	if (end != text && *end == '\0')
		return errno == 0 && *ret != LABEL_NONE ? NUMBER_WHOLE : NUMBER_NOT;
	v = decimal_strtod(text, &rest);
	if (rest == text || *rest != '\0')
		return NUMBER_NOT;
	if (v != floor(v) || fabs(v) > 9e15)
		return NUMBER_BROKEN;
	*ret = (int64_t)v;
	return NUMBER_WHOLE;
}

static void none_set(labels *l, size_t i)
{
	l->number[i] = LABEL_NONE;
	if (l->nnone++ == 0)
		l->first_none = i;
}

/* --- scores */

dck_status labels_new(mem_arena *a, const char *from, size_t n, size_t columns, bool ahead,
		      labels *ret, dck_err *err)
{
	*ret = (labels){.from = from, .n = n, .columns = columns};
	ret->number = mem_arena_array(a, n, sizeof *ret->number);
	ret->ahead = ahead ? mem_arena_array(a, n, sizeof *ret->ahead) : NULL;
	return ret->number && (!ahead || ret->ahead)
		   ? DCK_OK
		   : ERR_NO_MEMORY(err, "for the labels of '%s'", from);
}

/* Returns how many scores rank above the label's. Of equal scores the first column ranks highest,
 * as in the prediction; a label without a column ranks below all. */
static uint64_t ahead_of(const double *score, size_t columns, int64_t label)
{
	uint64_t n = 0;

	if (label < 0 || (uint64_t)label >= columns)
		return columns;
	for (size_t k = 0; k < columns; k++)
		n += score[k] > score[label] || (score[k] == score[label] && k < (size_t)label);
	return n;
}

void labels_pick(labels *to, size_t i, const double *score, const labels *truth)
{
	size_t best = 0;
	bool any_nan = false;

	for (size_t k = 0; k < to->columns; k++) {
		any_nan |= isnan(score[k]) != 0;
		if (score[k] > score[best])
			best = k;
	}
	if (to->ahead)
		to->ahead[i] =
		    any_nan ? to->columns : ahead_of(score, to->columns, truth->number[i]);
	if (any_nan)
		none_set(to, i);
	else
		to->number[i] = (int64_t)best;
}

/* --- .npy */

static dck_tensor tensor_of(const npy_array *x)
{
	dck_tensor t = {.data = x->data, .dtype = x->dtype, .rank = (int32_t)x->rank};

	memcpy(t.dim, x->dim, sizeof t.dim);
	return t;
}

static dck_status scores_take(mem_arena *a, const npy_array *x, const labels *truth, labels *l,
			      dck_err *err)
{
	const dck_tensor t = tensor_of(x);
	const size_t n = (size_t)x->dim[0], columns = (size_t)x->dim[1];
	double *row = mem_arena_array(a, columns, sizeof *row);

	if (truth && truth->n != n)
		truth = NULL; /* refused later, with both numbers */
	DCK_TRY(labels_new(a, l->from, n, columns, truth && !truth->text, l, err));
	DCK_NEED(row, err, "for the labels of '%s'", l->from);
	for (size_t i = 0; i < n; i++) {
		if (!compared_load(&t, i * columns, columns, row))
			DCK_FAIL(err, E_FORMAT, "'%s' holds %s: scores are real numbers", l->from,
				 dck_dtype_text(x->dtype));
		labels_pick(l, i, row, truth);
	}
	return DCK_OK;
}

/* Reads whole numbers, also of a floating type, which NumPy gives to a column with a missing
 * value. */
static dck_status numbers_take(mem_arena *a, const npy_array *x, labels *l, dck_err *err)
{
	const dck_tensor t = tensor_of(x);
	double v;

	DCK_TRY(labels_new(a, l->from, l->n, 0, false, l, err));
	for (size_t i = 0; i < l->n; i++) {
		if (x->dtype.code == DCK_DTYPE_INT && x->dtype.bits == 64) {
			memcpy(&l->number[i], (const char *)x->data + 8 * i, 8);
			if (l->number[i] == LABEL_NONE)
				DCK_FAIL(err, E_FORMAT,
					 "'%s' holds %lld at [%zu]: that is too large for a label",
					 l->from, (long long)l->number[i], i);
			continue;
		}
		if (!compared_load(&t, i, 1, &v))
			DCK_FAIL(err, E_FORMAT, "'%s' holds %s: labels are whole numbers or text",
				 l->from, dck_dtype_text(x->dtype));
		if (isnan(v)) {
			none_set(l, i);
			continue;
		}
		if (fabs(v) > 9e15)
			DCK_FAIL(err, E_FORMAT,
				 "'%s' holds %.0f at [%zu]: that is too large for a label", l->from,
				 v, i);
		if (v != floor(v))
			DCK_FAIL(err, E_FORMAT,
				 "'%s' holds %g at [%zu], no whole number: "
				 "labels are whole numbers or text; scores are an array of two "
				 "dimensions, one column for each class",
				 l->from, v, i);
		l->number[i] = (int64_t)v;
	}
	return DCK_OK;
}

static char *labels_text_of(mem_arena *a, const npy_array *x, size_t i)
{
	const char *at = (const char *)x->data + i * x->width;
	char *text = mem_arena_alloc(a, x->width + 1);
	size_t n = 0;

	for (size_t k = 0; text && x->text == 'U' && k + 4 <= x->width; k += 4) {
		uint32_t c;

		memcpy(&c, at + k, sizeof c);
		if (c == 0)
			break;
		n += utf8_put(text + n, c > 0x10ffff ? 0xfffd : c);
	}
	if (text && x->text == 'S')
		memcpy(text, at, x->width);
	return text;
}

static dck_status texts_take(mem_arena *a, const npy_array *x, labels *l, dck_err *err)
{
	l->text = true;
	l->texts = mem_arena_array(a, l->n, sizeof *l->texts);
	for (size_t i = 0; l->texts && i < l->n; i++)
		l->texts[i] = labels_text_of(a, x, i);
	return l->texts && !mem_arena_failed(a)
		   ? DCK_OK
		   : ERR_NO_MEMORY(err, "for the labels of '%s'", l->from);
}

static dck_status npy_take(mem_arena *a, const npy_array *x, bool scores, const labels *truth,
			   labels *l, dck_err *err)
{
	const bool column = x->rank == 2 && x->dim[1] == 1 && x->dtype.code != DCK_DTYPE_FLOAT;

	l->n = x->rank > 0 ? (size_t)x->dim[0] : 0;
	if (x->rank == 2 && scores && !column && !x->text && x->dim[1] > 1)
		return scores_take(a, x, truth, l, err);
	if (x->rank == 2 && scores && !column && !x->text)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' has %lld column(s) of scores: a class is picked from two or more; "
			 "for one score each, save the labels (scores > 0.5)",
			 l->from, (long long)x->dim[1]);
	if (x->rank != 1 && !column)
		DCK_FAIL(err, E_FORMAT, "'%s' has %zu dimensions: labels have one%s", l->from,
			 x->rank, scores ? ", and scores two" : "");
	return x->text ? texts_take(a, x, l, err) : numbers_take(a, x, l, err);
}

/* --- text: a label on each line, CSV of one column */

/* Cuts the line at *at off and unquotes it. */
static dck_status line_cut(const char *from, size_t number, char **at, char **ret, dck_err *err)
{
	char *line = *at, *end = line + strcspn(line, "\n"), *to;

	*at = *end ? end + 1 : end;
	while (end > line && strchr("\r \t", end[-1]))
		end--;
	*end = '\0';
	line += strspn(line, " \t");
	*ret = line;
	if (line[0] != '"') {
		if (strchr(line, ','))
			DCK_FAIL(err, E_FORMAT,
				 "line %zu of '%s' has a comma: give one label on each line, "
				 "in quotes where it has one itself",
				 number, from);
		return DCK_OK;
	}
	to = line;
	for (char *c = line + 1; *c; c++) {
		if (c[0] == '"' && c[1] != '"') {
			if (c[1] != '\0')
				break;
			*to = '\0';
			return DCK_OK;
		}
		c += c[0] == '"';
		*to++ = *c;
	}
	DCK_FAIL(err, E_FORMAT, "line %zu of '%s' has a quote that is not closed, or text after it",
		 number, from);
}

/* The bytes and a pointer for each line are at most `limit`. */
static dck_status lines_cut(mem_arena *a, const char *from, const dck_buffer *bytes, size_t limit,
			    char ***ret, size_t *ret_n, dck_err *err)
{
	char *text = mem_arena_alloc(a, bytes->n + 1), *at, **line;
	size_t most = 1, n = 0;

	DCK_NEED(text, err, "for the labels of '%s'", from);
	if (bytes->n > 0 && memchr(bytes->data, '\0', bytes->n))
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is neither a .npy file nor text: "
			 "labels are a .npy array or one on each line",
			 from);
	if (bytes->n > 0)
		memcpy(text, bytes->data, bytes->n);
	at = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
	for (const char *c = at; *c; c++)
		most += *c == '\n';
	if (bytes->n > limit || most > (limit - bytes->n) / sizeof *line)
		DCK_FAIL(err, E_LIMIT, "'%s' has %zu lines, more than there is memory for", from,
			 most);
	line = mem_arena_array(a, most, sizeof *line);
	DCK_NEED(line, err, "for the labels of '%s'", from);
	while (*at) {
		DCK_TRY(line_cut(from, n + 1, &at, &line[n], err));
		n++;
	}
	while (n > 0 && line[n - 1][0] == '\0')
		n--;
	for (size_t i = 0; i < n; i++)
		if (line[i][0] == '\0')
			DCK_FAIL(err, E_FORMAT, "line %zu of '%s' is empty: every item has a label",
				 i + 1, from);
	*ret = line;
	*ret_n = n;
	return DCK_OK;
}

/* Returns the first of line[begin..n) that is not a whole number; n: all are. */
static size_t first_text(char *const *line, size_t begin, size_t n)
{
	int64_t v;

	for (size_t i = begin; i < n; i++)
		if (labels_number_read(line[i], &v) == NUMBER_NOT)
			return i;
	return n;
}

/* Words that name a column and not a class. */
static bool is_heading(const char *word)
{
	static const char *const words[] = {
	    "label",  "labels", "class",      "classes",     "target",	  "targets", "y",
	    "y_true", "y_pred", "prediction", "predictions", "predicted", "pred"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (is_word(word, words[i]))
			return true;
	return false;
}

/* The first line is a header when it is text above numbers, or a usual heading that is not a label
 * of another line. */
static bool has_header(char *const *line, size_t n)
{
	int64_t v;

	if (n == 0)
		return false;
	if (n > 1 && labels_number_read(line[0], &v) == NUMBER_NOT && first_text(line, 1, n) == n)
		return true;
	for (size_t i = 1; i < n; i++)
		if (strcmp(line[i], line[0]) == 0)
			return false;
	return is_heading(line[0]);
}

static dck_status lines_take(mem_arena *a, char **line, size_t n, labels *l, dck_err *err)
{
	const size_t skip = has_header(line, n) ? 1 : 0;

	l->header = skip > 0 ? line[0] : NULL;
	l->n = n - skip;
	line += skip;
	l->text = first_text(line, 0, l->n) < l->n;
	if (l->text) {
		l->texts = line;
		return DCK_OK;
	}
	l->number = mem_arena_array(a, l->n, sizeof *l->number);
	DCK_NEED(l->number, err, "for the labels of '%s'", l->from);
	for (size_t i = 0; i < l->n; i++) {
		switch (labels_number_read(line[i], &l->number[i])) {
		case NUMBER_BROKEN:
			DCK_FAIL(err, E_FORMAT,
				 "line %zu of '%s' is %s: labels are whole numbers or text, "
				 "and scores a .npy array of two dimensions",
				 i + 1 + skip, l->from, line[i]);
		case NUMBER_NAN:
			none_set(l, i);
			break;
		default:
			break;
		}
	}
	return DCK_OK;
}

static dck_status labels_bytes_take(mem_arena *a, dck_buffer *bytes, size_t limit, bool scores,
				    const labels *truth, labels *l, dck_err *err)
{
	npy_array x = {0};
	char **line;
	size_t n;

	if (!npy_is(bytes)) {
		DCK_TRY(lines_cut(a, l->from, bytes, limit, &line, &n, err));
		return lines_take(a, line, n, l, err);
	}
	DCK_TRY(npy_parse_any(l->from, bytes, &x, err));
	dck_status status = npy_take(a, &x, scores, truth, l, err);
	npy_done(&x);
	return status;
}

static dck_status file_take(mem_arena *a, size_t limit, bool scores, const labels *truth, labels *l,
			    dck_err *err)
{
	dck_buffer bytes = {0};
	dck_status status;

	DCK_TRY(os_read_file(l->from, limit, &bytes, err));
	status = labels_bytes_take(a, &bytes, limit, scores, truth, l, err);
	dck_buffer_done(&bytes);
	return status;
}

static const dck_array *texts_in_memory(const dck_arrays *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->item[i].texts && strcmp(all->item[i].name, name) == 0)
			return &all->item[i];
	return NULL;
}

static dck_status texts_copy(mem_arena *a, const dck_array *from, labels *ret, dck_err *err)
{
	labels l = {.from = from->name, .n = from->ntexts, .text = true};

	l.texts = mem_arena_array(a, l.n, sizeof *l.texts);
	for (size_t i = 0; l.texts && i < l.n; i++)
		l.texts[i] = mem_arena_dup(a, from->texts[i]);
	if (!l.texts || mem_arena_failed(a))
		return ERR_NO_MEMORY(err, "for the labels of '%s'", l.from);
	*ret = l;
	return DCK_OK;
}

dck_status labels_read(mem_arena *a, const char *path, const dck_arrays *memory, size_t limit,
		       bool scores, const labels *truth, labels *ret, dck_err *err)
{
	labels l = {.from = path};
	const dck_array *texts = texts_in_memory(memory, path);
	npy_array x = {0};
	bool there = false;
	dck_status status;

	if (texts)
		return texts_copy(a, texts, ret, err);
	DCK_TRY(npy_in_memory(memory, path, &there, &x, err));
	status = there ? npy_take(a, &x, scores, truth, &l, err)
		       : file_take(a, limit, scores, truth, &l, err);
	DCK_TRY(status);
	if (l.n == 0)
		DCK_FAIL(err, E_FORMAT, "'%s' holds no labels%s", path,
			 l.header ? " but a header" : "");
	*ret = l;
	return DCK_OK;
}

/* --- lists of names */

dck_status label_names_read(mem_arena *a, const char *option, const char *text, label_names *ret,
			    dck_err *err)
{
	char **line;
	size_t n = 0;

	if (text[0] == '@') {
		const size_t most = (size_t)64 << 20;
		dck_buffer bytes = {0};
		dck_status status;

		DCK_TRY(os_read_text(text + 1, most, &bytes, err));
		status = lines_cut(a, text + 1, &bytes, 8 * most, &line, &n, err);
		dck_buffer_done(&bytes);
		DCK_TRY(status);
		*ret = (label_names){(const char **)line, n};
	} else {
		line = mem_arena_array(a, commas_count(text), sizeof *line);
		DCK_NEED(line, err, "for the labels of '%s'", option);
		for (commas_item item; commas_next(&text, &item); n++) {
			line[n] = mem_arena_fmt(a, "%.*s", (int)item.n, item.text);
			DCK_NEED(line[n], err, "for the labels of '%s'", option);
		}
		*ret = (label_names){(const char **)line, n};
	}
	for (size_t i = 0; i < n; i++)
		if (ret->name[i][0] == '\0')
			DCK_FAIL(err, E_ARG, "--%s has an empty name: write it as A,B,C or @FILE",
				 option);
	if (n == 0)
		DCK_FAIL(err, E_ARG, "--%s names nothing: write it as A,B,C or @FILE", option);
	return DCK_OK;
}
