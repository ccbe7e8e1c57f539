/* prompt_texts.c - reads a file of prompts for a server.
 *
 * A prompt is stored as it goes into the body of a request, a JSON string with its quotes: that of
 * a JSON line as it is in the file, once the line is known to be valid, since a reader of texts
 * would bound their length; a line of text as the writer of JSON quotes it. A list of token ids is
 * stored as it is in the file, too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/prompts/prompt_texts.h"
#include "base/err.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/utf8.h"
#include "measure/prompts/prompt_lines.h"
#include <ctype.h>
#include <string.h>

/* Returns whether a line is UTF-8 without control characters but tabs. */
static bool line_is_text(const prompt_line *l)
{
	for (size_t i = 0; i < l->n;) {
		const size_t n = utf8_length(l->text + i);

		if (n == 0 || ((unsigned char)l->text[i] < ' ' && l->text[i] != '\t'))
			return false;
		i += n;
	}
	return true;
}

/* Returns whether the escapes of a string are those of JSON: the reader is more tolerant than a
 * server may be. */
static bool escapes_are_valid(const char *text, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (text[i] != '\\')
			continue;
		i++;
		if (!strchr("\"\\/bfnrtu", text[i]))
			return false;
		if (text[i] == 'u' && strspn(text + i + 1, "0123456789abcdefABCDEF") < 4)
			return false;
	}
	return true;
}

/* Returns whether a list has whole numbers alone, as JSON writes them: the reader is more tolerant
 * here too. */
static bool list_is_ids(const char *text, size_t n)
{
	size_t last = n - 1; /* the closing bracket */

	for (size_t i = 1; i < last; i++)
		if (text[i] == '0' && !isdigit((unsigned char)text[i - 1]) &&
		    isdigit((unsigned char)text[i + 1]))
			return false;
	while (last > 0 && strchr(" \t", text[last - 1]))
		last--;
	return strspn(text + 1, "0123456789, \t") == n - 2 && strchr("0123456789", text[last - 1]);
}

/* Finds the string of "prompt" or "text", or the token ids of "prompt", in a line that is a JSON
 * object. */
static dck_status object_prompt(const prompt_line *l, const char **ret, size_t *ret_n, dck_err *err)
{
	json_reader r;
	json_token t;
	bool more;

	*ret = NULL;
	json_read_bytes(&r, l->text, l->n, "the line");
	DCK_TRY(json_next(&r, &t, err));
	for (;;) {
		DCK_TRY(json_next_key(&r, &more, err));
		if (!more)
			break;
		const bool prompt = strcmp(r.text, "prompt") == 0;
		const bool wanted = prompt || strcmp(r.text, "text") == 0;
		const char *before = (const char *)r.at;

		DCK_TRY(json_next(&r, &t, err));
		DCK_TRY(json_skip(&r, t, err));
		if (!wanted || *ret || (t != JSON_TEXT && !(prompt && t == JSON_ARRAY)))
			continue;
		*ret = strpbrk(before, "\"[");
		*ret_n = (size_t)((const char *)r.at - *ret);
	}
	DCK_TRY(json_next(&r, &t, err));
	if (t != JSON_END || !*ret)
		DCK_FAIL(err, E_FORMAT, "it is not one object with \"prompt\" or \"text\"");
	if (**ret == '[' && !list_is_ids(*ret, *ret_n))
		DCK_FAIL(err, E_FORMAT, "the list is not one of token ids, whole numbers from 0");
	if (!escapes_are_valid(*ret, *ret_n))
		DCK_FAIL(err, E_FORMAT, "the string has an escape that JSON does not have");
	return DCK_OK;
}

static dck_status prompt_line_read(const prompt_line *l, mem_arena *a, const char **ret,
				   dck_err *err)
{
	dck_buffer quoted = {0};
	json_writer w;
	dck_sink s;
	const char *at;
	size_t n = 0;

	if (!line_is_text(l))
		DCK_FAIL(err, E_FORMAT, "it is not text in UTF-8");
	if (l->text[strspn(l->text, " \t")] == '{') {
		DCK_TRY(object_prompt(l, &at, &n, err));
		*ret = mem_arena_dup_n(a, at, n);
	} else {
		dck_sink_buffer(&s, &quoted);
		json_init(&w, &s, false);
		json_text(&w, l->text);
		json_done(&w);
		if (dck_sink_finish(&s, NULL) == DCK_OK) /* without the writer's newline */
			*ret = mem_arena_dup_n(a, quoted.data, strcspn(quoted.data, "\n"));
		dck_buffer_done(&quoted);
	}
	DCK_NEED(*ret, err, "for a prompt");
	return DCK_OK;
}

static dck_status prompt_push(void *self, const prompt_line *l, dck_err *err)
{
	prompt_texts *p = self;

	DCK_NEED(mem_reserve(&p->quoted, &p->cap, p->n + 1, sizeof *p->quoted), err, "for prompts");
	DCK_TRY(prompt_line_read(l, p->arena, &p->quoted[p->n], err));
	if (*p->quoted[p->n++] == '[' && p->ids_line == 0)
		p->ids_line = l->number;
	return DCK_OK;
}

dck_status prompt_texts_read(const char *path, prompt_texts *ret, dck_err *err)
{
	prompt_texts p = {.arena = mem_arena_new(0)};
	dck_status status = p.arena ? prompt_lines_read(path, prompt_push, &p, err)
				    : ERR_NO_MEMORY(err, "for prompts");

	if (status == DCK_OK)
		*ret = p;
	else
		prompt_texts_done(&p);
	return status;
}

void prompt_texts_done(prompt_texts *p)
{
	mem_arena_free(p->arena);
	mem_free((void *)p->quoted);
	*p = (prompt_texts){0};
}
