/* prompt_ids.c - reads a file of prompts as token ids.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/prompts/prompt_ids.h"
#include "base/err.h"
#include "base/json/json_read.h"
#include "base/mem.h"
#include "measure/prompts/prompt_lines.h"
#include <stdlib.h>
#include <string.h>

static dck_status line_refuse(dck_err *err)
{
	DCK_FAIL(err, E_FORMAT,
		 "it is not token ids: write [1, 529], 1 529 or {\"prompt\": [1, 529]}; text needs "
		 "a tokenizer");
}

static dck_status id_push(prompt_ids *p, double v, dck_err *err)
{
	if (!(v >= 0) || v > INT32_MAX || v != (double)(int32_t)v)
		DCK_FAIL(err, E_FORMAT, "a token id is %g: it is a whole number from 0 to %d", v,
			 INT32_MAX);
	DCK_NEED(mem_reserve(&p->ids, &p->ids_cap, p->nids + 1, sizeof *p->ids), err,
		 "for prompts");
	p->ids[p->nids++] = (int32_t)v;
	return DCK_OK;
}

/* Reads the rest of a list of numbers. */
static dck_status ids_list_read(json_reader *r, prompt_ids *p, dck_err *err)
{
	json_token t;
	double v;

	for (;;) {
		DCK_TRY(json_next_element(r, &t, err));
		if (t == JSON_CLOSE)
			return DCK_OK;
		if (t != JSON_LITERAL || !json_number(r->text, &v))
			return line_refuse(err);
		DCK_TRY(id_push(p, v, err));
	}
}

/* Reads the list of "prompt" of an object. */
static dck_status ids_object_read(json_reader *r, prompt_ids *p, dck_err *err)
{
	json_token t;
	bool more;

	for (;;) {
		DCK_TRY(json_next_key(r, &more, err));
		if (!more)
			return DCK_OK;
		const bool wanted = strcmp(r->text, "prompt") == 0;

		DCK_TRY(json_next(r, &t, err));
		if (wanted && t == JSON_ARRAY)
			DCK_TRY(ids_list_read(r, p, err));
		else
			DCK_TRY(json_skip(r, t, err));
	}
}

static dck_status json_line_read(const prompt_line *l, prompt_ids *p, dck_err *err)
{
	json_reader r;
	json_token t;

	json_read_bytes(&r, l->text, l->n, "the line");
	DCK_TRY(json_next(&r, &t, err));
	DCK_TRY(t == JSON_ARRAY ? ids_list_read(&r, p, err) : ids_object_read(&r, p, err));
	DCK_TRY(json_next(&r, &t, err));
	return t == JSON_END ? DCK_OK : line_refuse(err);
}

static dck_status numbers_line_read(const prompt_line *l, prompt_ids *p, dck_err *err)
{
	for (const char *at = l->text + strspn(l->text, " \t"), *end; *at;
	     at = end + strspn(end, " \t")) {
		const size_t digits = strspn(at, "0123456789");

		end = at + digits;
		if (digits == 0 || (*end && *end != ' ' && *end != '\t'))
			return line_refuse(err);
		DCK_TRY(id_push(p, strtod(at, NULL), err));
	}
	return DCK_OK;
}

static dck_status line_add(void *self, const prompt_line *l, dck_err *err)
{
	const char first = l->text[strspn(l->text, " \t")];
	const bool json = first == '[' || first == '{';
	prompt_ids *p = self;
	const size_t from = p->nids;

	if (strlen(l->text) != l->n)
		return line_refuse(err);
	DCK_TRY(json ? json_line_read(l, p, err) : numbers_line_read(l, p, err));
	if (p->nids == from)
		return line_refuse(err);
	DCK_NEED(mem_reserve(&p->prompt, &p->cap, p->n + 1, sizeof *p->prompt), err, "for prompts");
	p->prompt[p->n++] = (prompt_span){from, p->nids - from, l->number};
	return DCK_OK;
}

static int shorter(const void *a, const void *b)
{
	const prompt_span *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

dck_status prompt_ids_read(const char *path, prompt_ids *ret, dck_err *err)
{
	prompt_ids p = {0};
	const dck_status status = prompt_lines_read(path, line_add, &p, err);

	if (status != DCK_OK) {
		prompt_ids_done(&p);
		return status;
	}
	qsort(p.prompt, p.n, sizeof *p.prompt, shorter);
	*ret = p;
	return DCK_OK;
}

void prompt_ids_done(prompt_ids *p)
{
	mem_free(p->ids);
	mem_free(p->prompt);
	*p = (prompt_ids){0};
}
