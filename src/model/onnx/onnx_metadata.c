/* onnx_metadata.c - the source location in the model's code from which a node was exported, as
 * PyTorch's newer exporter (dynamo=True) writes it into the node's metadata:
 *
 *   pkg.torch.onnx.name_scopes     = ['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d_1']
 *   pkg.torch.onnx.class_hierarchy = ['net.Net', 'torch...Sequential', 'net.Block',
 *                                     'torch.nn.modules.conv.Conv2d', 'aten.conv2d.default']
 *   pkg.torch.onnx.stack_trace     = File "/models/net.py", line 17, in forward
 *       x = self.conv1(x)
 *     File ".../site-packages/torch/nn/modules/conv.py", line 565, in forward
 *       return self._conv_forward(input, self.weight, self.bias)
 *
 * The lists are written as Python writes them; their last entry is the operation itself, the
 * entries before it its enclosing modules. The stack is a traceback of Python, innermost last.
 *
 * Of a graph and of an initializer it reads the texts that cost/origin.c interprets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "model/onnx/onnx_schema.h"

#include <stdlib.h>
#include <string.h>

/* A longer value of a node is left out. */
enum {
	NODE_METADATA = 9,
	VALUE_METADATA = 4,
	GRAPH_METADATA = 16,
	KEY = 1,
	VALUE = 2,
	KEY_MAX = 64,
	VALUE_MAX = 65536,
	FRAMES_MAX = 64
};

/* The last but one of a list of texts as Python writes it; NULL: the model itself, or no list.
 * Cuts `text` up. */
static char *enclosing(char *text)
{
	char *before = NULL, *last = NULL, *p = text;

	if (*p++ != '[')
		return NULL;
	while (*p) {
		if (*p != '\'' && *p != '"') {
			p++;
			continue;
		}
		char quote = *p++, *end = strchr(p, quote);
		if (!end)
			return NULL;
		before = last;
		last = p;
		p = end;
		*p++ = '\0';
	}
	return before && *before ? before : NULL;
}

static void read_module(mem_arena *a, onnx_node *node, char *text)
{
	node->module = mem_arena_dup(a, enclosing(text));
}

static void read_class(mem_arena *a, onnx_node *node, char *text)
{
	node->class_name = mem_arena_dup(a, enclosing(text));
}

/* --- the traceback */

typedef struct frame {
	const char *file, *code;
	long line;
} frame;

/* Cuts off and returns the next line of *rest without leading spaces; NULL: no more lines. */
static char *metadata_line_next(char **rest)
{
	char *line = *rest;

	if (!line)
		return NULL;
	char *end = strchr(line, '\n');
	*rest = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return line + strspn(line, " \t");
}

/* File "/models/net.py", line 17, in forward */
static bool metadata_frame_read(char *line, frame *ret)
{
	static const char file[] = "File \"", number[] = "\", line ";

	if (strncmp(line, file, sizeof file - 1) != 0)
		return false;
	char *name = line + sizeof file - 1, *end = strstr(name, number), *after;
	if (!end)
		return false;
	*end = '\0';
	*ret = (frame){.file = name, .line = strtol(end + sizeof number - 1, &after, 10)};
	return after != end + sizeof number - 1 && ret->line > 0;
}

/* PyTorch's own modules are not the model's code. */
static bool metadata_is_own(const char *file)
{
	static const char *const others[] = {"-packages/torch/", "-packages/functorch/"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strstr(file, others[i]))
			return false;
	return true;
}

/* Returns the frames of the model's own code; without such frames, as in a Sequential of a script,
 * the innermost frame. */
static void read_stack(mem_arena *a, onnx_node *node, char *text)
{
	frame own[FRAMES_MAX], innermost = {0}, f;
	char *rest = text, *line = metadata_line_next(&rest);
	size_t n = 0;

	while (line) {
		if (!metadata_frame_read(line, &f)) {
			line = metadata_line_next(&rest);
			continue;
		}
		line = metadata_line_next(&rest);
		f.code = line && strncmp(line, "File \"", 6) != 0 ? line : "";
		innermost = f;
		if (metadata_is_own(f.file) && n < FRAMES_MAX)
			own[n++] = f;
	}
	if (!n && innermost.file)
		own[n++] = innermost;
	onnx_frame *frames = mem_arena_array(a, n, sizeof *frames);
	for (size_t i = 0; i < n && frames; i++)
		frames[i] = (onnx_frame){mem_arena_fmt(a, "%s:%ld", own[i].file, own[i].line),
					 mem_arena_dup(a, own[i].code)};
	node->frames = frames;
	node->nframes = n;
}

/* --- the pairs */

typedef struct pair_kind {
	const char *key;
	void (*read)(mem_arena *a, onnx_node *node, char *text); /* may cut the text up */
} pair_kind;

static const pair_kind kinds[] = {
    {"pkg.torch.onnx.name_scopes", read_module},
    {"pkg.torch.onnx.class_hierarchy", read_class},
    {"pkg.torch.onnx.stack_trace", read_stack},
};

/* Reads the key of the pair, "" for a longer one, and finds its value. *ret: it has both. */
static dck_status metadata_pair_read(onnx_reading *p, wire_reader in, char key[KEY_MAX],
				     wire_field *ret_value, bool *ret)
{
	bool more = true, has_value = false;
	wire_field w;

	*key = '\0';

	for (;;) {
		DCK_TRY(wire_next(&in, NULL, NULL, &w, &more, p->err));
		if (!more)
			break;
		if (w.type != WIRE_BYTES)
			continue;
		if (w.number == KEY && w.value < KEY_MAX) {
			DCK_TRY(wire_source_copy(in.source, w.data, (size_t)w.value, key, p->err));
			key[w.value] = '\0';
		} else if (w.number == VALUE) {
			*ret_value = w;
			has_value = true;
		}
	}
	*ret = has_value && *key;
	return DCK_OK;
}

/* Reads the value of one key of a message's metadata; *ret stays if there is none. */
static dck_status metadata_text_read(onnx_reading *p, wire_reader r, uint32_t field,
				     const char *wanted, const char **ret)
{
	char key[KEY_MAX], *text;
	bool more = true, has;
	wire_field w, value = {0};
	wire_reader in;

	for (;;) {
		DCK_TRY(wire_next(&r, NULL, NULL, &w, &more, p->err));
		if (!more)
			return DCK_OK;
		if (w.number != field || w.type != WIRE_BYTES)
			continue;
		DCK_TRY(wire_enter(&r, &w, "metadata", &in, p->err));
		DCK_TRY(metadata_pair_read(p, in, key, &value, &has));
		if (!has || strcmp(key, wanted) != 0)
			continue;
		text = value.value < p->limit ? mem_arena_alloc(p->arena, (size_t)value.value + 1)
					      : NULL;
		if (!text)
			return onnx_fail_memory(p, &r, (size_t)value.value);
		DCK_TRY(wire_source_copy(r.source, value.data, (size_t)value.value, text, p->err));
		text[value.value] = '\0';
		*ret = text;
	}
}

dck_status onnx_graph_after(onnx_reading *p, void *object, wire_reader r)
{
	onnx_graph *g = object;

	return metadata_text_read(p, r, GRAPH_METADATA,
				  "pkg.torch.export.ExportedProgram.graph_signature",
				  &g->signature);
}

dck_status onnx_value_after(onnx_reading *p, void *object, wire_reader r)
{
	onnx_value *v = object;

	return metadata_text_read(p, r, VALUE_METADATA, "pkg.onnxscript.optimizer.folded_from",
				  &v->folded_from);
}

dck_status onnx_node_after(onnx_reading *p, void *object, wire_reader r)
{
	bool more = true, has;
	wire_field w, value = {0};
	wire_reader in;

	for (;;) {
		char text[VALUE_MAX], key[KEY_MAX];
		const pair_kind *kind = NULL;

		DCK_TRY(wire_next(&r, NULL, NULL, &w, &more, p->err));
		if (!more)
			return DCK_OK;
		if (w.number != NODE_METADATA || w.type != WIRE_BYTES)
			continue;
		DCK_TRY(wire_enter(&r, &w, "a node's metadata", &in, p->err));
		DCK_TRY(metadata_pair_read(p, in, key, &value, &has));
		for (size_t i = 0; has && i < sizeof kinds / sizeof *kinds; i++)
			if (strcmp(kinds[i].key, key) == 0)
				kind = &kinds[i];
		if (!kind || value.value >= VALUE_MAX)
			continue;
		DCK_TRY(wire_source_copy(r.source, value.data, (size_t)value.value, text, p->err));
		text[value.value] = '\0';
		kind->read(p->arena, object, text);
		if (mem_arena_failed(p->arena))
			return onnx_fail_memory(p, &r, (size_t)value.value);
	}
}
