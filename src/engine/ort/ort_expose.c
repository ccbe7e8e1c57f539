/* ort_expose.c - makes intermediate values of an ONNX model outputs of its graph.
 *
 * In the protobuf encoding, repeated occurrences of a message field are merged, and their lists are
 * joined. So a second graph with only outputs, appended to the file, adds them to the outputs of
 * the first: https://protobuf.dev/programming-guides/encoding/#last-one-wins. ONNX Runtime infers
 * the types of outputs without a type.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "engine/ort/ort_watch.h"

#include <limits.h>
#include <string.h>

/* A tag is the number of a field x 8 + 2, for one of bytes with their length before them. */
enum { MODEL_GRAPH = 7 * 8 + 2, GRAPH_OUTPUT = 12 * 8 + 2, VALUE_NAME = 1 * 8 + 2 };

/* Files in this encoding end at 2 GiB. */
#define MODEL_MAX ((size_t)INT_MAX)

static size_t varint_size(size_t v)
{
	size_t n = 1;

	for (; v >= 128; v >>= 7)
		n++;
	return n;
}

static char *varint_put(char *to, size_t v)
{
	for (; v >= 128; v >>= 7)
		*to++ = (char)(v | 128);
	*to++ = (char)v;
	return to;
}

/* Returns the encoded size of a field with n bytes. */
static size_t field_size(size_t n)
{
	return 1 + varint_size(n) + n;
}

static char *header_put(char *to, int tag, size_t n)
{
	*to++ = (char)tag;
	return varint_put(to, n);
}

static dck_status model_bytes(const dck_open_params *p, dck_buffer *ret, dck_err *err)
{
	if (p->model_path) {
		dck_status status = os_read_file(p->model_path, MODEL_MAX, ret, err);
		if (status == DCK_E_LIMIT)
			DCK_FAIL(err, E_UNSUP,
				 "'%s' is larger than 2 GiB: the values of such a model can be "
				 "observed when its weights are in a separate file (external data)",
				 p->model_path);
		return status;
	}
	char *copy = mem_alloc(p->model_bytes_n + 1);
	DCK_NEED(copy, err, "for a copy of the model");
	memcpy(copy, p->model_bytes, p->model_bytes_n);
	*ret = (dck_buffer){copy, p->model_bytes_n, p->model_bytes_n};
	return DCK_OK;
}

dck_status ort_expose(const dck_open_params *p, dck_buffer *ret, dck_err *err)
{
	dck_buffer b = {0};
	size_t outputs = 0;

	for (size_t i = 0; i < p->nvalues; i++)
		outputs += field_size(field_size(strlen(p->values[i])));
	DCK_TRY(model_bytes(p, &b, err));
	size_t more = field_size(outputs), n = b.n + more;
	if (n > MODEL_MAX) {
		dck_buffer_done(&b);
		DCK_FAIL(err, E_UNSUP,
			 "the model and the names of its values are larger than 2 GiB: its values "
			 "can be observed when its weights are in a separate file (external data)");
	}
	char *data = mem_resize(b.data, n);
	if (!data) {
		dck_buffer_done(&b);
		return ERR_NO_MEMORY(err, "for a model of %zu bytes", n);
	}
	char *to = header_put(data + b.n, MODEL_GRAPH, outputs);
	for (size_t i = 0; i < p->nvalues; i++) {
		size_t k = strlen(p->values[i]);
		to = header_put(to, GRAPH_OUTPUT, field_size(k));
		to = header_put(to, VALUE_NAME, k);
		memcpy(to, p->values[i], k);
		to += k;
	}
	*ret = (dck_buffer){data, n, n};
	return DCK_OK;
}

dck_status ort_expose_directory(const ort_lib *l, const dck_open_params *p, ort_options *o,
				dck_err *err)
{
	static const char key[] = "session.model_external_initializers_file_folder_path";
	const char *slash = p->model_path ? strrchr(p->model_path, '/') : NULL;
	char directory[PATH_MAX] = ".";

	if (p->model_folder && l->minor < ORT_MINOR_DIRECTORY)
		DCK_FAIL(err, E_UNSUP,
			 "ONNX Runtime %s cannot take weights from the file of a model that "
			 "was rewritten (--batch): that needs 1.%u",
			 l->version, ORT_MINOR_DIRECTORY);
	if (p->model_folder)
		return ort_check(l, l->api.AddSessionConfigEntry(o, key, p->model_folder), err,
				 "ONNX Runtime refuses %s=%s", key, p->model_folder);
	if (!p->model_path)
		return DCK_OK;
	if (slash) {
		size_t n = slash == p->model_path ? 1 : (size_t)(slash - p->model_path);
		if (n >= sizeof(directory))
			DCK_FAIL(err, E_ARG, "the name of the model's directory is too long");
		memcpy(directory, p->model_path, n);
		directory[n] = '\0';
	}
	return ort_check(l, l->api.AddSessionConfigEntry(o, key, directory), err,
			 "ONNX Runtime refuses %s=%s", key, directory);
}
