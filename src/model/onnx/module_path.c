/* SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/module_path.h"
#include <stdbool.h>
#include <string.h>

/* Names without '/' are cut at their last '.', and "p2o.Conv.0" has the type and not a module. */
static const char *dotted(mem_arena *a, const onnx_node *node)
{
	const char *last = strrchr(node->name, '.');
	size_t n = last ? (size_t)(last - node->name) : 0, type = node->op ? strlen(node->op) : 0;

	if (type && n > type && node->name[n - type - 1] == '.' &&
	    memcmp(node->name + n - type, node->op, type) == 0)
		n -= type + 1;
	else if (type && n == type && memcmp(node->name, node->op, type) == 0)
		n = 0;
	return n ? mem_arena_dup_n(a, node->name, n) : NULL;
}

/* "/layer1/layer1.0/conv1/Conv" is in "layer1.0/conv1": exporters of PyTorch repeat the parents of
 * a module. */
static const char *slashed(mem_arena *a, const char *name)
{
	char *text = mem_arena_dup_n(a, name, (size_t)(strrchr(name, '/') - name));
	char *out = text, *before = NULL;

	for (char *part = text, *next; part; part = next) {
		next = strchr(part, '/');
		if (next)
			*next++ = '\0';
		size_t n = strlen(part), nbefore = before ? strlen(before) : 0;
		if (!n)
			continue;
		if (before && n > nbefore && part[nbefore] == '.' &&
		    !strncmp(part, before, nbefore))
			out = before;
		else if (out != text)
			*out++ = '/';
		before = memmove(out, part, n + 1);
		out += n;
	}
	return text && *text && out != text ? text : NULL;
}

const char *module_path_of(mem_arena *a, const onnx_node *node)
{
	if (node->module)
		return node->module;
	if (!node->name)
		return NULL;
	return strchr(node->name, '/') ? slashed(a, node->name) : dotted(a, node);
}

static bool path_ends(char c)
{
	return c == '/' || c == '.' || c == '\0';
}

size_t module_path_common(const char *a, const char *b)
{
	size_t whole = 0;

	for (size_t i = 0;; i++) {
		if (path_ends(a[i]) && path_ends(b[i]))
			whole = i;
		if (a[i] == '\0' || b[i] == '\0' ||
		    (a[i] != b[i] && !(path_ends(a[i]) && path_ends(b[i]))))
			return whole;
	}
}
