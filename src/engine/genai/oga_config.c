/* oga_config.c - reads genai_config.json, the description of a model that ONNX Runtime GenAI opens.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/genai/oga_config.h"

#include "base/err.h"
#include "base/json/json_read.h"
#include "os/os.h"

#include <string.h>

#define FILE_MOST (1u << 20) /* bytes */

typedef struct oga_reading {
	json_reader r;
	mem_arena *arena;
	oga_settings *to;
	char path[128]; /* of the current member: "model.decoder" */
} oga_reading;

static uint64_t oga_whole_of(const char *text)
{
	double v;

	return json_number(text, &v) && v >= 1 && v <= INT32_MAX && v == (double)(uint64_t)v
		   ? (uint64_t)v
		   : 0;
}

/* Stores a value that is wanted. */
static dck_status value_take(oga_reading *g, json_token t, dck_err *err)
{
	oga_settings *to = g->to;
	const struct {
		const char *path;
		uint64_t *whole;
		const char **text;
	} wanted[] = {
	    {"model.context_length", &to->context, NULL},
	    {"model.decoder.num_hidden_layers", &to->layers, NULL},
	    {"model.decoder.outputs.present_key_names", NULL, &to->key},
	    {"model.decoder.outputs.present_value_names", NULL, &to->value},
	};

	if (t == JSON_LITERAL && strcmp(g->path, "model.vocab_size") == 0)
		to->vocabulary = (int64_t)oga_whole_of(g->r.text);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		if (strcmp(wanted[i].path, g->path) != 0)
			continue;
		if (wanted[i].whole && t == JSON_LITERAL)
			*wanted[i].whole = oga_whole_of(g->r.text);
		if (wanted[i].text && t == JSON_TEXT) {
			*wanted[i].text = mem_arena_dup(g->arena, g->r.text);
			DCK_NEED(*wanted[i].text, err, "for the model's description");
		}
	}
	return DCK_OK;
}

/* Reads the members of an object, and of those within: JSON_NESTED_MAX bounds the depth, and the
 * path one that is reached. */
static dck_status members_take(oga_reading *g, dck_err *err)
{
	const size_t n = strlen(g->path);
	json_token t;
	bool more;

	for (;;) {
		DCK_TRY(json_next_key(&g->r, &more, err));
		if (!more)
			return DCK_OK;
		const bool fits = n + 1 + g->r.n < sizeof g->path;

		if (fits && n > 0)
			g->path[n] = '.';
		if (fits)
			memcpy(g->path + n + (n > 0), g->r.text, g->r.n + 1);
		DCK_TRY(json_next(&g->r, &t, err));
		if (fits && t == JSON_OBJECT)
			DCK_TRY(members_take(g, err));
		else
			DCK_TRY(json_skip(&g->r, t, err));
		if (fits)
			DCK_TRY(value_take(g, t, err));
		g->path[n] = '\0';
	}
}

static dck_status oga_settings_read(const dck_buffer *text, oga_reading *g, dck_err *err)
{
	json_token t;

	json_read_bytes(&g->r, text->data, text->n, "genai_config.json");
	DCK_TRY(json_next(&g->r, &t, err));
	if (t == JSON_OBJECT)
		DCK_TRY(members_take(g, err));
	if (g->to->vocabulary == 0)
		DCK_FAIL(err, E_FORMAT, "genai_config.json has no model.vocab_size");
	return DCK_OK;
}

dck_status oga_config_read(const char *path, mem_arena *a, oga_settings *ret, dck_err *err)
{
	dck_buffer text = {0};
	oga_settings s = {0};
	oga_reading g = {.arena = a, .to = &s};
	dck_status status;

	DCK_TRY(os_read_file(path, FILE_MOST, &text, err));
	status = oga_settings_read(&text, &g, err);
	dck_buffer_done(&text);
	if (status != DCK_OK)
		return err_while(err, status, "reading '%s'", path);
	*ret = s;
	return DCK_OK;
}

const char *oga_layer_name(mem_arena *a, const char *pattern, uint64_t layer)
{
	const char *at = strstr(pattern, "%d");

	if (!at)
		return pattern;
	return mem_arena_fmt(a, "%.*s%llu%s", (int)(at - pattern), pattern,
			     (unsigned long long)layer, at + 2);
}
