/* server_prompts.c - reads a file of prompts.
 *
 * A prompt is stored as it goes into the body of a request, a JSON string with its quotes: that of
 * a JSON line as it is in the file, once the line is known to be valid, since a reader of texts
 * would bound their length; a line of text as the writer of JSON quotes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/server/server_prompts.h"
#include "base/err.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/os.h"
#include <string.h>

#define FILE_MOST    (64u << 20) /* bytes */
#define PROMPTS_MOST 1000000

typedef struct prompt_line {
	const char *path;
	unsigned long number;
	const char *text; /* NUL-terminated */
	size_t n;
} prompt_line;

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

/* Finds the string of "prompt" or "text" in a line that is a JSON object. */
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
		const bool wanted = strcmp(r.text, "prompt") == 0 || strcmp(r.text, "text") == 0;
		const char *before = (const char *)r.at;

		DCK_TRY(json_next(&r, &t, err));
		DCK_TRY(json_skip(&r, t, err));
		if (!wanted || t != JSON_TEXT || *ret)
			continue;
		*ret = strchr(before, '"');
		*ret_n = (size_t)((const char *)r.at - *ret);
	}
	DCK_TRY(json_next(&r, &t, err));
	if (t != JSON_END || !*ret)
		DCK_FAIL(err, E_FORMAT, "it is not one object with \"prompt\" or \"text\"");
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
	if (l->text[0] == '{') {
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

static dck_status prompt_push(server_prompts *p, size_t *cap, const prompt_line *l, dck_err *err)
{
	dck_status status;

	if (p->n == PROMPTS_MOST)
		DCK_FAIL(err, E_LIMIT, "'%s' has more than %d prompts", l->path, PROMPTS_MOST);
	if (p->n == *cap) {
		const size_t more = *cap > 0 ? 2 * *cap : 256;
		const char **to = mem_resize((void *)p->quoted, more * sizeof *to);

		DCK_NEED(to, err, "for prompts");
		p->quoted = to;
		*cap = more;
	}
	status = prompt_line_read(l, p->arena, &p->quoted[p->n], err);
	if (status != DCK_OK)
		return err_while(err, status, "reading '%s', line %lu", l->path, l->number);
	p->n++;
	return DCK_OK;
}

/* Cuts the text into lines, in place. */
static dck_status lines_read(const char *path, dck_buffer *text, server_prompts *p, dck_err *err)
{
	char *at = text->data, *last = text->data + text->n;
	size_t cap = 0;

	for (unsigned long number = 1; at < last; number++) {
		char *end = memchr(at, '\n', (size_t)(last - at));
		char *next = end ? end + 1 : last;

		end = end ? end : last;
		while (end > at && (end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
		if (end > at) {
			const prompt_line l = {path, number, at, (size_t)(end - at)};

			DCK_TRY(prompt_push(p, &cap, &l, err));
		}
		at = next;
	}
	if (p->n == 0)
		DCK_FAIL(err, E_FORMAT, "'%s' has no prompts: write one a line", path);
	return DCK_OK;
}

dck_status server_prompts_read(const char *path, server_prompts *ret, dck_err *err)
{
	server_prompts p = {0};
	dck_buffer text = {0};
	dck_status status;

	DCK_TRY(os_read_file(path, FILE_MOST, &text, err));
	p.arena = mem_arena_new(0);
	status = p.arena ? lines_read(path, &text, &p, err) : ERR_NO_MEMORY(err, "for prompts");
	dck_buffer_done(&text);
	if (status == DCK_OK)
		*ret = p;
	else
		server_prompts_done(&p);
	return status;
}

void server_prompts_done(server_prompts *p)
{
	mem_arena_free(p->arena);
	mem_free((void *)p->quoted);
	*p = (server_prompts){0};
}
