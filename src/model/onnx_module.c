/* onnx_module.c - the module that a node is of, where the exporter wrote it beside the node:
 * PyTorch's newer one calls nodes "node_conv2d_1", and keeps the path in their metadata:
 *
 *   pkg.torch.onnx.name_scopes = ['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d_1']
 *
 * The last entry is the operation itself, those before it the modules around it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "model/onnx_schema.h"

#include <string.h>

enum { METADATA = 9, KEY = 1, VALUE = 2, SCOPES_MAX = 16384 };

static const char scopes_key[] = "pkg.torch.onnx.name_scopes";

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

/* Whether the pair is the one with the key; *ret_value is its value then. */
static dck_status pair_read(onnx_reading *p, wire_reader in, bool *ret_found, wire_field *ret_value)
{
	char key[sizeof scopes_key];
	bool more = true, found = false, has_value = false;
	wire_field w;

	for (;;) {
		DCK_TRY(wire_next(&in, NULL, NULL, &w, &more, p->err));
		if (!more)
			break;
		if (w.type != WIRE_BYTES)
			continue;
		if (w.number == KEY && w.value == sizeof key - 1) {
			DCK_TRY(wire_source_copy(in.source, w.data, sizeof key - 1, key, p->err));
			found = memcmp(key, scopes_key, sizeof key - 1) == 0;
		} else if (w.number == VALUE) {
			*ret_value = w;
			has_value = true;
		}
	}
	*ret_found = found && has_value;
	return DCK_OK;
}

dck_status onnx_node_after(onnx_reading *p, void *object, wire_reader r)
{
	onnx_node *node = object;
	char text[SCOPES_MAX];
	bool more = true, found;
	wire_field w, value = {0};
	wire_reader in;

	for (;;) {
		DCK_TRY(wire_next(&r, NULL, NULL, &w, &more, p->err));
		if (!more)
			return DCK_OK;
		if (w.number != METADATA || w.type != WIRE_BYTES)
			continue;
		DCK_TRY(wire_enter(&r, &w, "a node's metadata", &in, p->err));
		DCK_TRY(pair_read(p, in, &found, &value));
		if (!found || value.value >= sizeof text)
			continue;
		DCK_TRY(wire_source_copy(r.source, value.data, (size_t)value.value, text, p->err));
		text[value.value] = '\0';
		const char *module = enclosing(text);
		if (module && !(node->module = mem_arena_dup(p->arena, module)))
			return onnx_fail_memory(p, &r, strlen(module) + 1);
	}
}
