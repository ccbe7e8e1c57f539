/* model_content.c - the hash of a model's content, with the files beside it.
 *
 * The names are those of an untrusted file, so only regular files are read: a device or a pipe
 * would not end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/model_content.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/name_index.h"
#include "model/onnx/onnx.h"
#include "os/os.h"
#include <string.h>

#define CONTENT_DEPTH_MAX 8 /* of directories */

typedef struct content {
	const char *path;
	mem_arena *arena;
	name_index seen;
	uint64_t hash;
	size_t weights; /* with a file of their own */
	unsigned depth;
} content;

/* Adds a file; one that is missing is another content than an empty one. */
static void content_add(content *c, const char *path)
{
	const uint64_t own = os_path_kind(path, NULL) == OS_FILE ? os_file_hash(path) : 0;

	c->hash = hash_bytes(c->hash, &own, sizeof own);
}

static void content_count(void *self, const onnx_tensor *t)
{
	content *c = self;

	c->weights += t && onnx_external(t, "location");
}

/* Locations are relative to the directory of the model. */
static void content_weights_add(void *self, const onnx_tensor *t)
{
	content *c = self;
	const char *name = t ? onnx_external(t, "location") : NULL;
	const char *slash = strrchr(c->path, '/');
	const size_t known = c->seen.n;

	if (!name || name_index_intern(&c->seen, name) < known)
		return;
	const char *path =
	    mem_arena_fmt(c->arena, "%.*s%s",
			  slash && *name != '/' ? (int)(slash - c->path + 1) : 0, c->path, name);

	if (path)
		content_add(c, path);
}

/* What is not an ONNX model names no files. */
static void content_of_onnx(content *c)
{
	onnx_model *m = NULL;

	mem_arena_limit(c->arena, ONNX_MEMORY_MAX);
	if (onnx_read_file(c->path, c->arena, &m, NULL) != DCK_OK)
		return;
	onnx_weights_each(m->graph, content_count, c);
	if (c->weights > 0 && name_index_init(&c->seen, c->arena, c->weights))
		onnx_weights_each(m->graph, content_weights_add, c);
}

static void content_of_xml(content *c)
{
	const size_t n = strlen(c->path);
	const char *path = n > 4 && strcmp(c->path + n - 4, ".xml") == 0
			       ? mem_arena_fmt(c->arena, "%.*s.bin", (int)(n - 4), c->path)
			       : NULL;

	if (path && os_path_kind(path, NULL) == OS_FILE)
		content_add(c, path);
}

/* In alphabetical order, by the names too. */
static void content_of_directory(void *self, const char *path)
{
	content *c = self;
	const char *slash = strrchr(path, '/');

	c->hash = hash_text(c->hash, slash ? slash + 1 : path);
	if (os_path_kind(path, NULL) != OS_DIRECTORY) {
		content_add(c, path);
	} else if (c->depth < CONTENT_DEPTH_MAX) {
		c->depth++;
		os_glob_each(path, "*", content_of_directory, c);
		c->depth--;
	}
}

uint64_t model_content_hash(const char *path)
{
	content c = {.path = path, .arena = mem_arena_new(0)};

	if (os_path_kind(path, NULL) == OS_DIRECTORY) {
		os_glob_each(path, "*", content_of_directory, &c);
	} else {
		c.hash = os_file_hash(path);
		if (c.arena) {
			content_of_onnx(&c);
			content_of_xml(&c);
		}
	}
	mem_arena_free(c.arena);
	return c.hash;
}
