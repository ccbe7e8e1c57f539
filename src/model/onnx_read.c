/* onnx_read.c - reads an ONNX file, or says what it is instead; small questions to a node.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx_schema.h"
#include "base/err.h"

#include <string.h>

/* What else a file may be that people hand over as a model, by its first bytes. */
typedef struct magic {
	size_t at;
	const char *bytes;
	dck_status code;
	const char *says;
} magic;
static const magic magics[] = {
    {4, "ORTM", DCK_E_UNSUP, "it is in ONNX Runtime's own format (.ort); give the .onnx file"},
    {4, "TFL3", DCK_E_FORMAT, "it is a TensorFlow Lite model"},
    {0, "version https://git-lfs", DCK_E_FORMAT, "it is a Git LFS pointer; run 'git lfs pull'"},
    {0, "PK\003\004", DCK_E_FORMAT,
     "it is a ZIP archive, perhaps a PyTorch checkpoint; export it to ONNX"},
    {0, "\211HDF", DCK_E_FORMAT, "it is an HDF5 file, perhaps a Keras model; export it to ONNX"},
    {0, "\037\213", DCK_E_FORMAT, "it is compressed with gzip; unpack it"},
    {0, "<", DCK_E_FORMAT, "it looks like a web page"},
};

static dck_status name_other(wire_source *s, dck_status code, dck_err *err)
{
	const uint8_t *p;
	size_t n;

	if (wire_source_peek(s, 0, 64, &p, &n, NULL) != DCK_OK)
		return code;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		const magic *m = &magics[i];
		size_t len = strlen(m->bytes);
		if (n >= m->at + len && memcmp(p + m->at, m->bytes, len) == 0)
			return err_set(err, m->code, __FILE__, __LINE__,
				       "%s is not an ONNX model: %s", s->label, m->says);
	}
	return code;
}

static dck_status read_source(wire_source *s, mem_arena *a, onnx_model **ret, dck_err *err)
{
	onnx_reading p = {.arena = a, .limit = mem_arena_bytes(a) + ONNX_MEMORY_MAX, .err = err};
	wire_reader r;
	dck_status code;

	mem_arena_limit(a, p.limit);
	wire_reader_init(s, onnx_model_message.what, &r);
	onnx_model *m = mem_arena_alloc(a, sizeof(*m));
	if (!m)
		return onnx_fail_memory(&p, &r, sizeof(*m));
	m->file_bytes = s->size;
	code = onnx_decode(&p, &onnx_model_message, r, m);
	if (code == DCK_E_FORMAT && m->ir_version == 0)
		return name_other(s, code, err);
	if (code != DCK_OK)
		return code;
	if (!m->graph)
		DCK_FAIL(err, E_FORMAT, "%s holds no graph", s->label);
	*ret = m;
	return DCK_OK;
}

dck_status onnx_read_file(const char *path, mem_arena *a, onnx_model **ret, dck_err *err)
{
	wire_source s;

	DCK_TRY(wire_source_open(path, &s, err));
	dck_status code = read_source(&s, a, ret, err);
	wire_source_close(&s);
	return code;
}

dck_status onnx_read_bytes(const void *bytes, size_t n, mem_arena *a, onnx_model **ret,
			   dck_err *err)
{
	wire_source s;

	DCK_TRY(wire_source_bytes(bytes, n, &s, err));
	dck_status code = read_source(&s, a, ret, err);
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
