/* onnx_read.c - reads an ONNX file; small questions to a node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/onnx_schema.h"
#include "base/err.h"
#include "model/onnx/file_type.h"

#include <string.h>

/* path: of a file, NULL: none. */
static dck_status onnx_read_source(wire_source *s, const char *path, mem_arena *a, onnx_model **ret,
				   dck_err *err)
{
	onnx_reading p = {.arena = a, .limit = mem_arena_bytes(a) + ONNX_MEMORY_MAX, .err = err};
	wire_reader r;
	dck_status code;

	mem_arena_limit(a, p.limit);
	wire_reader_init(s, onnx_model_message.what, &r);
	onnx_model *m = mem_arena_alloc(a, sizeof *m);
	if (!m)
		return onnx_fail_memory(&p, &r, sizeof *m);
	m->file_bytes = s->size;
	m->ir_version = -1;
	code = onnx_decode(&p, &onnx_model_message, r, m);
	if (code == DCK_OK && !m->graph)
		code = ERR_SET(err, E_FORMAT, "%s holds no graph", s->label);
	if (code == DCK_E_FORMAT)
		return file_type_describe(s, path, m->ir_version >= 0, code, err);
	if (code != DCK_OK)
		return code;
	*ret = m;
	return DCK_OK;
}

const wire_kind wire_onnx = {"model", "an ONNX file", "an ONNX model"};

dck_status onnx_read_file(const char *path, mem_arena *a, onnx_model **ret, dck_err *err)
{
	wire_source s;

	DCK_TRY(wire_source_open(path, &wire_onnx, &s, err));
	dck_status code = onnx_read_source(&s, path, a, ret, err);
	wire_source_close(&s);
	return code;
}

dck_status onnx_read_bytes(const void *bytes, size_t n, mem_arena *a, onnx_model **ret,
			   dck_err *err)
{
	wire_source s;

	DCK_TRY(wire_source_bytes(bytes, n, &wire_onnx, &s, err));
	dck_status code = onnx_read_source(&s, NULL, a, ret, err);
	wire_source_close(&s);
	return code;
}

const onnx_attribute *onnx_find_attribute(const onnx_node *n, const char *name)
{
	for (size_t i = 0; i < n->nattributes; i++)
		if (n->attributes[i].name && strcmp(n->attributes[i].name, name) == 0)
			return &n->attributes[i];
	return NULL;
}

int64_t onnx_attribute_int(const onnx_node *n, const char *name, int64_t otherwise)
{
	const onnx_attribute *a = onnx_find_attribute(n, name);

	return a && (a->type == ONNX_ATTR_INT || a->type == ONNX_ATTR_NONE) ? a->i : otherwise;
}

int64_t onnx_opset_version(const onnx_model *m)
{
	for (size_t i = 0; i < m->nopsets; i++)
		if (!m->opsets[i].domain || !*m->opsets[i].domain ||
		    strcmp(m->opsets[i].domain, "ai.onnx") == 0)
			return m->opsets[i].version;
	return 0;
}
